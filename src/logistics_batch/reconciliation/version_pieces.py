"""Pieces of a later version that the accepted ASN's own line claims already: one fact, at stake there only.

The version that waits says 8 instead of 10, and 8 came: that two are missing is told by the line of what was accepted;
so it is with 12 instead of 10 where 12 came. Pieces the other way are others, and both lines count them.
"""

import polars as pl

from logistics_batch.model.reconciliation import QUANTITY, Discrepancy
from logistics_batch.reconciliation.causes import unreadable
from logistics_batch.reconciliation.doubt_words import plain

_D = Discrepancy
_ZERO = pl.lit(0, QUANTITY)
_LINE = ["version_of", "sku"]
# What says of all pieces of a line that they are missing.
_ALL_MISSING = (_D.MISSING_IN_SERVICE, _D.MISSING_SKU, _D.WRONG_SKU, _D.NOT_RECEIVED, _D.EXPIRED_UNRECEIVED)
_TOLD = " Not counted again: {} pieces, which the line of the accepted version ({}) has as {}."


def with_pieces_told(judged: pl.DataFrame) -> pl.DataFrame:
    """The lines with `units_told`, how many of their pieces the accepted version's line claims, and `told_in`, words.

    Needs verdicts, causes and `version_of`; `told_in` is null where nothing is claimed.
    """
    if judged["version_of"].null_count() == judged.height:
        return judged.with_columns(_ZERO.alias("units_told"), pl.lit(None, pl.String).alias("told_in"))
    joined = judged.join(_claims(judged), on=_LINE, how="left", maintain_order="left")
    change = pl.col("qty_announced")
    of_version = pl.col("verdict") == _D.NOT_SENT.value
    told = joined.with_columns(
        pl.when(of_version & (change < 0))
        .then(pl.min_horizontal(-change, pl.col("fewer").fill_null(_ZERO)))
        .when(of_version & (change > 0))
        .then(pl.min_horizontal(change, pl.col("more").fill_null(_ZERO)))
        .otherwise(_ZERO)
        .cast(QUANTITY)
        .alias("units_told")
    )
    words = pl.format(
        _TOLD,
        plain("units_told"),
        "place_told",
        pl.when(change < 0).then("fewer_as").otherwise("more_as"),
    )
    return told.with_columns(pl.when(pl.col("units_told") > 0).then(words).alias("told_in")).drop(
        "fewer", "fewer_as", "more", "more_as", "place_told"
    )


def _claims(judged: pl.DataFrame) -> pl.DataFrame:
    """By accepted ASN and SKU, how many pieces its exception calls too few or too many, as what, and the row."""
    inside = pl.col("in_window").fill_null(False) & pl.col("verdict").is_in([code.value for code in _D])
    ours = judged.filter(inside & pl.col("announced").is_not_null() & pl.col("accepted").fill_null(False))
    all_missing = pl.col("verdict").is_in([code.value for code in _ALL_MISSING])
    unannounced = ~pl.col("has_announced")
    fewer, more = (
        pl.when(~unreadable()).then(f"units_of_{code.value}").otherwise(_ZERO) for code in (_D.SHORT, _D.OVER)
    )
    row = pl.concat_str(pl.lit(" row "), "rows")
    return ours.select(
        pl.col("announced").alias("version_of"),
        "sku",
        pl.when(all_missing).then("largest_leg").otherwise(fewer).alias("fewer"),
        pl.when(all_missing).then("verdict").otherwise(pl.lit(_D.SHORT.value)).alias("fewer_as"),
        pl.when(unannounced).then("largest_leg").otherwise(more).alias("more"),
        pl.when(unannounced).then("verdict").otherwise(pl.lit(_D.OVER.value)).alias("more_as"),
        pl.concat_str(pl.col("file_name").fill_null(""), row.fill_null("")).alias("place_told"),
    )
