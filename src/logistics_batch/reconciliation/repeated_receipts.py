"""Receipts of several files: what only repeats an earlier list, and lines that are alike and still count.

A warehouse's list often holds yesterday's lines again, and the same list may be dropped under two names. Two lorries
with as many pieces of one SKU on one day look alike, too: so receipts are left out only where a whole list repeats. A
line of an order that stands in several files is the same line each time, and the latest file says what it is now.
"""

from dataclasses import dataclass

import polars as pl

from logistics_batch.reconciliation.amended_orders import as_last_listed

_NOT_SAID = ("file_name", "sheet", "row", "repeats", "alike")
_DAY = "received_date"


@dataclass(frozen=True, slots=True)
class Counted:
    """The lines that count.

    lines: as they came (RECEIVED_LINES or ORDERED_LINES); `repeats` names the rows that were left out for a line, and
    of receipts `alike` rows of other lists that look like it and count. left_out, alike: how many lines of each.
    replaced: how many lines of orders a later list has anew.
    """

    lines: pl.DataFrame
    left_out: int = 0
    alike: int = 0
    replaced: int = 0


def counted_once(received: pl.DataFrame) -> Counted:
    """Receipts or orders of several files, the earliest first, without what a later one only repeats.

    A list of receipts repeats an earlier one if it holds every line of it, as often, of the days that both tell of.
    Within one file equal lines all count, since two pallets may be alike.
    """
    if received["file_name"].n_unique() < 2:
        return Counted(received)
    if _DAY not in received.columns:
        orders, replaced = as_last_listed(received)
        return Counted(orders, replaced=replaced)
    lines = _numbered(received)
    shared = _shared(lines)
    repeated = shared.join(_repeating(lines, shared), on=["list", "list_later"], how="semi")
    out = repeated["line_later"].unique()
    places = pl.format("{} row {}", "file_name", "row")
    named = lines.with_columns(places.alias("place"))
    kept = named.filter(~pl.col("line").is_in(out.implode()))
    left_out = _places_by(named.filter(pl.col("line").is_in(out.implode())), "repeats")
    kept = kept.drop("repeats", "alike").join(left_out, on=["thing", "nth"], how="left", maintain_order="left")
    often = pl.col("list").n_unique().over("thing") > 1
    everywhere = pl.col("place").sort_by("line").str.join("; ").over("thing")
    told = kept.with_columns(
        pl.when(often).then(everywhere).fill_null("").alias("alike"), pl.col("repeats").fill_null("")
    )
    alike = told.filter(pl.col("alike") != "").height
    return Counted(told.sort("line").select(received.columns), out.len(), alike)


def _numbered(received: pl.DataFrame) -> pl.DataFrame:
    """The lines with `line`, `list` (their file), `thing` (what they say) and `nth` (the how many-th of it there)."""
    said = [name for name in received.columns if name not in _NOT_SAID]
    things = received.select(said).unique(maintain_order=True).with_row_index("thing")
    lists = received.select("file_name").unique(maintain_order=True).with_row_index("list")
    known = received.with_row_index("line").join(things, on=said, how="left", nulls_equal=True, maintain_order="left")
    placed = known.join(lists, on="file_name", how="left", nulls_equal=True, maintain_order="left")
    return placed.with_columns(pl.int_range(pl.len()).over("thing", "list").alias("nth"))


def _shared(lines: pl.DataFrame) -> pl.DataFrame:
    """Each pair of lines of two lists that say the same: `line` of the earlier `list`, `line_later` of `list_later`."""
    few = lines.select("line", "list", "thing", "nth")
    both = few.join(few, on=["thing", "nth"], suffix="_later")
    return both.filter(pl.col("list") < pl.col("list_later"))


def _repeating(lines: pl.DataFrame, shared: pl.DataFrame) -> pl.DataFrame:
    """The pairs of lists of which the later one has all lines of the earlier one, of the days that both tell of."""
    days = lines.group_by("list", _DAY).agg(pl.len().alias("lines"))
    both = days.join(days, on=_DAY, suffix="_later", nulls_equal=True)
    wanted = (
        both.filter(pl.col("list") < pl.col("list_later")).group_by("list", "list_later").agg(pl.col("lines").sum())
    )
    found = shared.group_by("list", "list_later").agg(pl.len().alias("found"))
    return found.join(wanted, on=["list", "list_later"]).filter(pl.col("found") == pl.col("lines"))


def _places_by(lines: pl.DataFrame, name: str) -> pl.DataFrame:
    return lines.group_by("thing", "nth", maintain_order=True).agg(pl.col("place").str.join("; ").alias(name))
