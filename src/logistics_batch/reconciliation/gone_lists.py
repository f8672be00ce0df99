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
    new = listed.filter(~pl.col("file_name").is_in(known["file_name"].unique().implode()))
    taken_over = pl.col("file_name").is_in(_taken_over(absent, listed, new=new).implode())
    return pl.concat([_not_written_anew(theirs.filter(written_anew), listed), absent.filter(~taken_over)])


def _not_written_anew(known: pl.DataFrame, listed: pl.DataFrame) -> pl.DataFrame:
    """Rows of lists whose name a list of tonight has, too.

    One with half of the earlier one's rows, or with some of its goods and their dates, is the same list as it is now:
    it decides of the days that it tells of, and of all where most rows stand where they stood (another mapping may read
    them). Any other has only the name in common.
    """
    unmoved = known.join(listed, on=[*_PLACE, "invoice_number", "qty"], how="semi", nulls_equal=True)
    rows = known.filter(~pl.col("file_name").is_in(_most(unmoved, of=known).implode()))
    alike = rows.join(listed, on=["file_name", *_SAID], how="semi", nulls_equal=True)
    goods = _goods(rows).filter(_is_dated()).join(_goods(listed), on=["file_name", "goods"], how="semi")
    same = pl.concat([_most(alike, of=rows), goods["file_name"]]).unique()
    is_same = pl.col("file_name").is_in(same.implode())
    told = listed.select("file_name", _DAY).unique()
    moved_on = rows.filter(is_same).join(told, on=["file_name", _DAY], how="anti", nulls_equal=True)
    return pl.concat([moved_on, rows.filter(~is_same)])


def _most(part: pl.DataFrame, *, of: pl.DataFrame) -> pl.Series:
    """The lists of which at least half the rows are in a part of them."""
    sizes = of.group_by("file_name").agg(pl.len().alias("rows"))
    counts = part.group_by("file_name").agg(pl.len().alias("found")).join(sizes, on="file_name")
    return counts.filter(2 * pl.col("found") >= pl.col("rows"))["file_name"]


def _taken_over(known: pl.DataFrame, listed: pl.DataFrame, *, new: pl.DataFrame) -> pl.Series:
    """The lists all of whose rows stand in one list of tonight, as often, or that a new one of tonight corrects.

    That is one that names all goods of the list, if they have dates, or at least half of its rows as they were.
    """
    sizes = (
        _goods(known)
        .group_by("file_name")
        .agg(pl.len().alias("rows"), pl.col("goods").n_unique().alias("count"), _is_dated().all().alias("dated"))
    )
    found = _numbered(known).join(_numbered(listed), on=[*_SAID, "nth"], nulls_equal=True, suffix="_tonight")
    rows = found.group_by("file_name", "file_name_tonight").agg(pl.len().alias("found"))
    repeated = rows.join(sizes, on="file_name").filter(pl.col("found") == pl.col("rows"))
    ours = _goods(known).select("file_name", "goods").unique()
    both = ours.join(_goods(new).select("file_name", "goods").unique(), on="goods", suffix="_tonight")
    goods = both.group_by("file_name", "file_name_tonight").agg(pl.len().alias("goods"))
    all_named = goods.join(sizes, on="file_name").filter(pl.col("goods") == pl.col("count"))
    told = all_named.join(rows, on=["file_name", "file_name_tonight"], how="left")
    corrected = told.filter(pl.col("dated") | (2 * pl.col("found").fill_null(0) >= pl.col("rows")))
    return pl.concat([repeated["file_name"], corrected["file_name"]]).unique()


def _is_dated() -> pl.Expr:
    return pl.col(_DAY).fill_null("").str.strip_chars() != ""


def _goods(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.concat_str([identifier(name) for name in _PARTS], separator="\x1f").alias("goods"))


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """What the rows say, with the how many-th of its kind each is in its list (`nth`)."""
    said = rows.select("file_name", *_SAID)
    return said.with_columns(pl.int_range(pl.len()).over("file_name", *_SAID).alias("nth"))
