"""Receipts that an earlier report read and that tonight's lists lack: which of them still count, and which perhaps.

A dock archives its lists, or writes them anew under one name; goods that came have come all the same. So a row counts
on unless the very row stands in a list of tonight; where tonight's rows may speak of the same goods, it is in doubt.
"""

from collections.abc import Sequence

import polars as pl

from logistics_batch.reconciliation.legs import RECEIVED_LINES, identifier

KNOWN_LINES = RECEIVED_LINES | {"last_listed": pl.Date, "written": pl.Float64, "doubt": pl.String}
"""Rows as they were read. last_listed: the business date of the last report whose lists had them; written: when their
list was (seconds since 1970, null if nobody tells); doubt: rows of a later night that may be the same goods, in words.
"""

_DAY = "received_date"
_PLACE = ("file_name", "sheet", "row")
_SAID = ("invoice", "sku", "qty", "condition_said", "day")


def still_counting(known: pl.DataFrame, tonight: pl.DataFrame) -> pl.DataFrame:
    """The rows of `known` (KNOWN_LINES) that no row of tonight (RECEIVED_LINES) is, with the doubts of tonight."""
    before, now = _keyed(known).with_row_index("nth_known"), _keyed(tonight)
    before = before.filter(~pl.col("file_name").is_in(rewritten(known, tonight).implode()))
    left = _numbered(before).join(_numbered(now), on=[*_SAID, "nth"], how="anti", nulls_equal=True)
    again = _reissues(before, now)
    # A list that goes on with rows that it had has new rows for new goods.
    goes_on = before.join(now, on=["file_name", *_SAID], how="semi", nulls_equal=True)["file_name"].unique()
    doubts = pl.concat([_of_the_line(left, now, again, goes_on=goes_on), _left_out(left, now, again)])
    told = doubts.group_by("nth_known").agg(pl.col("perhaps").unique(maintain_order=True).str.join("; "))
    both = left.join(told, on="nth_known", how="left", maintain_order="left")
    # What a new form of a list has made doubtful stays so in later nights, in which that is new no more.
    return both.with_columns(pl.coalesce("perhaps", "doubt").alias("doubt")).select(*KNOWN_LINES)


def rewritten(known: pl.DataFrame, tonight: pl.DataFrame) -> pl.Series:
    """The lists of which at least half the rows stand where they stood, corrected or read by another mapping.

    Such a list says itself what counts.
    """
    sizes = known.group_by("file_name").agg(pl.len().alias("rows"))
    places = [*_PLACE, "invoice_number", "qty", _DAY]
    same = known.join(tonight.select(*places, "sku_name"), on=places, nulls_equal=True, suffix="_now")
    as_it_was = pl.col("sku_name") == pl.col("sku_name_now")
    found = same.group_by("file_name").agg(pl.len().alias("found"), as_it_was.any().alias("sure"))
    most = found.join(sizes, on="file_name").filter(2 * pl.col("found") >= pl.col("rows"))
    return most.filter(pl.col("sure") | (pl.col("found") > 1))["file_name"]


def _keyed(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows as they are compared: names of suppliers and sites do not count, they are filled in and spelled anew."""
    blank = pl.col(_DAY).fill_null("").str.strip_chars()
    return rows.with_columns(
        identifier("invoice_number").alias("invoice"),
        identifier("sku_name").alias("sku"),
        pl.col("condition").fill_null("").str.strip_chars().str.to_lowercase().alias("condition_said"),
        pl.when(blank != "").then(blank).alias("day"),
    )


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(pl.int_range(pl.len()).over(*_SAID).alias("nth"))


def _reissues(before: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """Pairs of an earlier list and one of tonight (`file_name`, `file_name_now`) that names half its goods or more.

    One that was known beside it is no new form of it.
    """
    goods = before.select("file_name", "invoice", "sku").unique()
    theirs = now.select("invoice", "sku", pl.col("file_name").alias("file_name_now")).unique()
    both = goods.join(theirs, on=["invoice", "sku"]).group_by("file_name", "file_name_now").agg(pl.len().alias("found"))
    sizes = goods.group_by("file_name").agg(pl.len().alias("goods"))
    new = ~pl.col("file_name_now").is_in(before["file_name"].unique().implode())
    own = pl.col("file_name") == pl.col("file_name_now")
    most = both.join(sizes, on="file_name").filter((new | own) & (2 * pl.col("found") >= pl.col("goods")))
    return most.select("file_name", "file_name_now")


def _of_the_line(left: pl.DataFrame, now: pl.DataFrame, again: pl.DataFrame, *, goes_on: pl.Series) -> pl.DataFrame:
    """Rows of which tonight has others of the invoice and SKU: of the same day, of no day, or under their list's name.

    In a new form of their list also of another day, if they are as many.
    """
    theirs = now.select("invoice", "sku", *_renamed(now, ("file_name", "row", "qty", "day")))
    related = again.with_columns(pl.lit(True).alias("related"))
    pairs = left.join(theirs, on=["invoice", "sku"]).join(related, on=["file_name", "file_name_now"], how="left")
    same_day = (pl.col("day") == pl.col("day_now")).fill_null(True)
    as_many = (pl.col("qty") == pl.col("qty_now")) & pl.col("related").fill_null(False)
    place = pl.format("{} row {}", "file_name_now", "row_now")
    itself = (pl.col("file_name") == pl.col("file_name_now")) & ~pl.col("file_name").is_in(goes_on.implode())
    return pairs.filter(same_day | itself | as_many).select("nth_known", place.alias("perhaps"))


def _left_out(left: pl.DataFrame, now: pl.DataFrame, again: pl.DataFrame) -> pl.DataFrame:
    """Rows that a new form of their list, of the same day or of no day, has no more."""
    lines = now.select("invoice", "sku").unique()
    gone = left.join(lines, on=["invoice", "sku"], how="anti").join(again, on="file_name")
    told = now.select(*_renamed(now, ("file_name", "day"))).unique().with_columns(pl.lit(True).alias("tells"))
    of_its_day = told.rename({"day_now": "day"})
    dateless = told.filter(pl.col("day_now").is_null()).select("file_name_now", pl.lit(True).alias("dateless"))
    both = gone.join(of_its_day, on=["file_name_now", "day"], how="left", nulls_equal=True)
    both = both.join(dateless, on="file_name_now", how="left")
    tells = pl.col("day").is_null() | pl.col("tells").fill_null(False) | pl.col("dateless").fill_null(False)
    return both.filter(tells).select("nth_known", pl.format("{} lacks it", "file_name_now").alias("perhaps"))


def _renamed(rows: pl.DataFrame, names: Sequence[str]) -> list[pl.Series]:
    return [rows[name].alias(f"{name}_now") for name in names]
