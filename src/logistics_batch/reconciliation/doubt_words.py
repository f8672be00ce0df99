"""Why nothing can be said for certain of what was received, in words that name rows and lists."""

import polars as pl

from logistics_batch.reconciliation.classes import less_than_nothing, perhaps_corrected

_SEVERAL_LISTS = ("alike_lists", "reissued")


def plain(column: str) -> pl.Expr:
    """A decimal as people write it, without trailing zeros; "none" where there is none."""
    text = pl.col(column).cast(pl.String)
    return (
        pl.when(text.str.contains(".", literal=True))
        .then(text.str.strip_chars_end("0").str.strip_chars_end("."))
        .otherwise(text)
        .fill_null("none")
    )


def receipts_in_doubt() -> pl.Expr:
    """The sentence for a line that is `doubtful`."""
    own = pl.format("but a receipt row of the invoice could not be used ({})", pl.col("unread_own"))
    near = pl.format(
        "but a receipt row that names this SKU and no invoice could not be used ({})", pl.col("unread_near")
    )
    less = pl.format("Corrections take back more than was received: {} in all.", plain("received"))
    told = pl.format(
        "{} of {} received as far as can be read, {}: correct it and reconcile again.",
        plain("received"),
        plain("expected"),
        pl.coalesce(own, near),
    )
    unopened = pl.format(
        "{} of {} received as far as lists were opened, but {}.",
        plain("received"),
        plain("expected"),
        pl.col("unopened"),
    )
    lists = [pl.when(text != "").then(text) for text in (pl.col(name).fill_null("") for name in _SEVERAL_LISTS)]
    twice = pl.format(
        "{} of {} received if all lists count, {} if a later list repeats or corrects an earlier one ({}): which of "
        "both cannot be told. Put an empty file with the name of the list that does not hold and .retracted at the end "
        "(r1.csv.retracted) where the lists lie and reconcile again, or accept the line.",
        plain("received"),
        plain("expected"),
        plain("qty_once"),
        pl.concat_str(*lists, separator="; ", ignore_nulls=True),
    )
    rest = pl.when(perhaps_corrected()).then(twice).otherwise(unopened)
    return pl.when(less_than_nothing()).then(less).otherwise(pl.coalesce(told, rest))
