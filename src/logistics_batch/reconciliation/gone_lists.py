"""Receipts that an earlier report read and that tonight's lists lack: which of them still count.

A dock archives its lists, or writes them anew under one name; goods that came have come all the same. What a list of
tonight stands for does not count besides: the same rows in it, or the goods of the list in another, corrected form.
"""

import polars as pl

from logistics_batch.reconciliation.legs import RECEIVED_LINES, identifier

KNOWN_LINES = RECEIVED_LINES | {"last_listed": pl.Date}
"""Rows as they were read; `last_listed` is the business date of the last report whose lists had them."""

_DAY = "received_date"
_PARTS = ("invoice_number", "sku_name", "supplier_name", "site_name", _DAY)
_SAID = (*_PARTS, "qty", "condition")
_PLACE = ("file_name", "sheet", "row")


def still_counting(known: pl.DataFrame, listed: pl.DataFrame) -> pl.DataFrame:
    """The rows of `known` (KNOWN_LINES) that no list of tonight has or stands for; listed: RECEIVED_LINES, as read."""
    gone = known.join(listed, on=[*_PLACE, *_SAID], how="anti", nulls_equal=True)
    if gone.is_empty():
        return gone
    theirs = known.filter(pl.col("file_name").is_in(gone["file_name"].unique().implode()))
    written_anew = pl.col("file_name").is_in(listed["file_name"].unique().implode())
    absent = theirs.filter(~written_anew)
    return pl.concat(
        [
            _not_written_anew(theirs.filter(written_anew), listed),
            absent.filter(~pl.col("file_name").is_in(_repeated(absent, listed).implode())).filter(
                ~pl.col("file_name").is_in(_corrected(absent, listed, known).implode())
            ),
        ]
    )


def _not_written_anew(known: pl.DataFrame, listed: pl.DataFrame) -> pl.DataFrame:
    """Rows of lists whose name a list of tonight has, too.

    One that names goods of the earlier one is the same list, as it is now: it decides of the days that it tells of. One
    that names none of them has only the name in common.
    """
    goods = _goods(listed).select("file_name", "goods").unique()
    same = _goods(known).join(goods, on=["file_name", "goods"], how="semi")["file_name"].unique()
    told = listed.select("file_name", _DAY).unique()
    is_same = pl.col("file_name").is_in(same.implode())
    moved_on = known.filter(is_same).join(told, on=["file_name", _DAY], how="anti", nulls_equal=True)
    return pl.concat([moved_on, known.filter(~is_same)])


def _repeated(known: pl.DataFrame, listed: pl.DataFrame) -> pl.Series:
    """The lists all of whose rows stand in one list of tonight, as often."""
    ours, theirs = (_numbered(rows) for rows in (known, listed))
    found = ours.join(theirs, on=[*_SAID, "nth"], nulls_equal=True, suffix="_tonight")
    counts = found.group_by("file_name", "file_name_tonight").agg(pl.len().alias("found"))
    whole = counts.join(known.group_by("file_name").agg(pl.len().alias("rows")), on="file_name")
    return whole.filter(pl.col("found") == pl.col("rows"))["file_name"].unique()


def _corrected(known: pl.DataFrame, listed: pl.DataFrame, all_known: pl.DataFrame) -> pl.Series:
    """The lists all of whose goods, each of its day, a list names that is new tonight."""
    new = listed.filter(~pl.col("file_name").is_in(all_known["file_name"].unique().implode()))
    theirs = _goods(new).select("goods", pl.col("file_name").alias("file_name_tonight")).unique()
    ours = _goods(known).with_columns((pl.col(_DAY).fill_null("") != "").alias("dated"))
    sizes = ours.group_by("file_name").agg(pl.col("goods").n_unique().alias("count"), pl.col("dated").all())
    found = ours.select("file_name", "goods").unique().join(theirs, on="goods")
    counts = found.group_by("file_name", "file_name_tonight").agg(pl.len().alias("found"))
    whole = counts.join(sizes.filter("dated"), on="file_name")
    return whole.filter(pl.col("found") == pl.col("count"))["file_name"].unique()


def _goods(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.concat_str([identifier(name) for name in _PARTS], separator="\x1f").alias("goods"))


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """What the rows say, with the how many-th of its kind each is in its list (`nth`)."""
    said = rows.select("file_name", *_SAID)
    return said.with_columns(pl.int_range(pl.len()).over("file_name", *_SAID).alias("nth"))
