"""Further rows of an order whose first row the mapping skips: what makes it skip the order stands on that row only."""

from typing import Final

import polars as pl

from logistics_batch.mapping.cells import name_of
from logistics_batch.mapping.header import Header
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.patterns import fits

SKIPPED: Final = "skip_rows_where"


def with_continuations(mapping: Mapping, header: Header, *, cells: pl.DataFrame, skipped: pl.DataFrame) -> pl.DataFrame:
    """The skipped rows (row, rule, reason) and those that continue one of them.

    A row continues the one above if its key is blank or the same and all columns that are filled down are blank in it;
    a row that is skipped for another reason, as a blank one, ends the block.
    It is skipped with its first row if a cell that the first row is skipped for is blank in it: so a cancelled order
    goes as a whole, while lines that say for themselves what they are keep their own fate.
    """
    sheet = mapping.spec.sheet
    columns = {name: header.column(mapping.names_of(name)) for name in (*sheet.fill_down, *sheet.skip_rows_where)}
    filling = [name_of(column) for name in sheet.fill_down if (column := columns[name]) is not None]
    keys = [name_of(column) for name in mapping.spec.key if (column := header.column(mapping.names_of(name)))]
    causes = skipped.filter(pl.col("rule") == SKIPPED)
    if not filling or not keys or causes.is_empty():
        return skipped
    same_key = [pl.col(key).is_null() | (pl.col(key) == pl.col(key).forward_fill().shift(1)) for key in keys]
    others = skipped["row"].filter(skipped["rule"] != SKIPPED)  # they end a block
    is_open = ~pl.col("row").is_in(others.implode())
    continues = pl.all_horizontal(is_open, *same_key, pl.col(filling).is_null()).fill_null(value=False)
    first = pl.when(~continues).then(pl.int_range(pl.len(), dtype=pl.UInt32)).forward_fill()
    goes_with_it = [
        fits(pl.col(name_of(column)), patterns).gather(first) & pl.col(name_of(column)).is_null()
        for name, patterns in sheet.skip_rows_where.items()
        if (column := columns[name]) is not None
    ]
    found = cells.select(
        "row",
        pl.lit(SKIPPED).alias("rule"),
        pl.format("The row continues row {}, which the mapping skips.", pl.col("row").gather(first)).alias("reason"),
        (
            continues & pl.any_horizontal(goes_with_it) & pl.col("row").gather(first).is_in(causes["row"].implode())
        ).alias("goes"),
    )
    added = found.filter("goes").drop("goes").join(skipped, on="row", how="anti")
    return skipped if added.is_empty() else pl.concat([skipped, added]).sort("row")
