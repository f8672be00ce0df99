"""Orders that come in parts: each date's pieces are due on their own day, whatever is still to come."""

import polars as pl

from logistics_batch.model.reconciliation import QUANTITY, Discrepancy
from logistics_batch.reconciliation.classes import Rules
from logistics_batch.reconciliation.legs import day
from logistics_batch.reconciliation.tolerance import near_quantity

_KEYS = ["link", "sku"]


def with_open_part(whole: pl.DataFrame, orders: pl.DataFrame, *, rules: Rules) -> pl.DataFrame:
    """The order lines with `open_for` and `qty_due_part`, null where there is one date, or all that is due came.

    open_for: the first date up to which fewer were announced than ordered. qty_due_part: what was ordered up to the
    last date that is judged today, if `open_for` is one. Rows without a date are due with the last one.
    """
    dated = orders.with_columns(day("delivery_date").alias("part")).with_columns(
        pl.col("part").fill_null(pl.col("part").max().over(_KEYS))
    )
    several = dated.filter(pl.col("part").n_unique().over(_KEYS) > 1)
    parts = several.group_by(*_KEYS, "part").agg(pl.col("units").sum()).sort(*_KEYS, "part")
    upto = parts.with_columns(pl.col("units").cum_sum().over(_KEYS).cast(QUANTITY).alias("upto"))
    said = whole.select(*_KEYS, "a_parties", "r_parties", pl.col("qty_announced").fill_null(pl.lit(0, QUANTITY)))
    delta = pl.col("qty_announced") - pl.col("upto")
    near = near_quantity(delta, of=pl.col("upto"), limit=rules.limit(Discrepancy.SHORT))
    due = pl.col("part") <= rules.judged_until
    opened = (
        upto.join(said, on=_KEYS)
        .group_by(_KEYS)
        .agg(
            pl.col("part").filter((delta < 0) & ~near).min().alias("open_for"),
            pl.col("upto").filter(due).max().alias("qty_due_part"),
        )
    )
    told = pl.when(pl.col("open_for") <= rules.judged_until).then("qty_due_part").alias("qty_due_part")
    return whole.join(opened.with_columns(told), on=_KEYS, how="left", maintain_order="left")
