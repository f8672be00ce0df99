"""Goods that stand in several lists: what only repeats an earlier list, and what may be a correction of one.

A warehouse's list often holds yesterday's lines again, and the same list may be dropped under two names. Two lorries
with as many pieces of one SKU on one day look alike, too: so receipts are left out only where a whole list repeats. Two
lists of one day that name the same goods are two lorries, or one list that was corrected and sent again: nothing in
them says which, so all rows count, and those that would not if the later list held alone are marked. A line of an order
that stands in several files is the same line each time, and the latest file says what it is now.
"""

from dataclasses import dataclass

import polars as pl

from logistics_batch.reconciliation.legs.reading import identifier, order_number

_NOT_SAID = ("file_name", "sheet", "row", "repeats", "alike", "reissued", "again")
_DAY = "received_date"
_GOODS = ("invoice_number", "sku_name", "supplier_name", "site_name", _DAY)
_PAIR = ["list", "list_later"]
_ORDER_LINE = ["order", "sku"]


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


def counted_once(goods: pl.DataFrame) -> Counted:
    """Receipts or orders of several files, the earliest first, without what a later one only repeats.

    A list of receipts repeats an earlier one if it holds every line of it, as often, of the days that both tell of.
    Within one file equal lines all count, since two pallets may be alike.
    """
    if goods["file_name"].n_unique() < 2:
        return Counted(goods)
    if _DAY not in goods.columns:
        orders = _as_last_listed(goods)
        return Counted(orders, replaced=goods.height - orders.height)
    lines = _numbered(goods)
    repeated = _two_lists(lines, on=["thing", "nth"])
    out = repeated.join(_covered(lines, ["thing", "nth"]), on=_PAIR, how="semi")["line_later"].unique()
    is_out = pl.col("line").is_in(out.implode())
    left_out = (
        lines.filter(is_out).group_by("thing", "nth", maintain_order=True).agg(repeats=pl.col("place").str.join("; "))
    )
    kept = lines.filter(~is_out).drop("repeats", "alike", "again", "reissued", strict=False)
    everywhere = pl.col("place").sort_by("line").str.join("; ").over("thing")
    told = kept.join(left_out, on=["thing", "nth"], how="left", maintain_order="left").with_columns(
        pl.when(pl.col("list").n_unique().over("thing") > 1).then(everywhere).fill_null("").alias("alike"),
        pl.col("repeats").fill_null(""),
    )
    marked = _with_reissues(told)
    alike = marked.filter(pl.col("alike") != "").height
    return Counted(marked.sort("line").select(goods.columns), out.len(), alike)


def _numbered(received: pl.DataFrame) -> pl.DataFrame:
    """The lines with `line`, `list` (their file), `thing` (what they say), `nth` (which of several of it), `place`."""
    said = [name for name in received.columns if name not in _NOT_SAID]
    things = received.select(said).unique(maintain_order=True).with_row_index("thing")
    known = received.with_row_index("line").join(things, on=said, how="left", nulls_equal=True, maintain_order="left")
    return _with_lists(known).with_columns(
        pl.int_range(pl.len()).over("thing", "list").alias("nth"),
        pl.format("{} row {}", "file_name", "row").alias("place"),
    )


def _with_lists(lines: pl.DataFrame) -> pl.DataFrame:
    lists = lines.select("file_name").unique(maintain_order=True).with_row_index("list")
    return lines.join(lists, on="file_name", how="left", nulls_equal=True, maintain_order="left")


def _two_lists(rows: pl.DataFrame, *, on: list[str]) -> pl.DataFrame:
    """Each two rows of an earlier `list` and of a `list_later` that are alike in these columns."""
    return rows.join(rows, on=on, suffix="_later", nulls_equal=True).filter(pl.col("list") < pl.col("list_later"))


def _covered(rows: pl.DataFrame, said: list[str]) -> pl.DataFrame:
    """Pairs of lists of which the later one says all that the earlier one does, of the days that both tell of."""
    each = rows.select("list", _DAY, *said).unique()
    days = each.group_by("list", _DAY).agg(pl.len().alias("said"))
    wanted = _two_lists(days, on=[_DAY]).group_by(_PAIR).agg(pl.col("said").sum())
    found = _two_lists(each.drop(_DAY), on=said).group_by(_PAIR).agg(pl.len().alias("found"))
    return found.join(wanted, on=_PAIR).filter(pl.col("found") == pl.col("said"))


def _with_reissues(kept: pl.DataFrame) -> pl.DataFrame:
    """The rows that count, with `again` and `reissued`.

    again: another list has the row once more, or a later one has all goods of its list and of these other quantities.
    reissued: the rows of both lists that name these goods.
    """
    goods = kept.with_columns(pl.struct(identifier(name) for name in _GOODS).rank("dense").alias("goods"))
    few = goods.select("line", "list", "goods", "thing")
    both = _two_lists(few, on=["goods"]).join(_covered(goods, ["goods"]), on=_PAIR, how="semi")
    same = few.select(pl.col("list").alias("list_later"), "thing").unique()
    changed = both.join(same, on=["list_later", "thing"], how="anti")
    either = pl.col("line").is_in(pl.concat([changed["line"], changed["line_later"]]).implode())
    places = goods.filter(either).select(
        "line", pl.col("place").sort_by("line").str.join("; ").over("goods").alias("reissued")
    )
    earlier = pl.col("list") > pl.col("list").min().over("thing", "nth")
    return goods.join(places, on="line", how="left", maintain_order="left").with_columns(
        (earlier | pl.col("line").is_in(changed["line"].implode())).alias("again"), pl.col("reissued").fill_null("")
    )


def _as_last_listed(ordered: pl.DataFrame) -> pl.DataFrame:
    """The order lines (ORDERED_LINES) as the latest file with an order's SKU has them.

    `repeats` names the lines of earlier files that this leaves out. A later file that names the order without the SKU
    stands in `absent_from`: whether that cancels the line, or only adds others, it does not say.
    """
    number, invoice = order_number("po_number"), identifier("invoice_number")
    lines = _with_lists(ordered.with_row_index("line")).with_columns(
        pl.when(number != "").then("po:" + number).when(invoice != "").then("invoice:" + invoice).alias("order"),
        identifier("sku_name").alias("sku"),
        pl.format("{} row {}", pl.col("file_name").fill_null(""), "row").alias("place"),
    )
    named = pl.col("order").is_not_null()
    lines = lines.with_columns(
        pl.when(named).then(pl.col("list").max().over(_ORDER_LINE)).alias("last_list"),
        pl.when(named).then(pl.col("list").max().over("order")).alias("order_list"),
    )
    is_last = (pl.col("list") == pl.col("last_list")).fill_null(True)
    replaced = (
        lines.filter(~is_last).group_by(_ORDER_LINE).agg(pl.col("place").sort_by("line").str.join("; ").alias("said"))
    )
    names = lines.select(pl.col("list").alias("order_list"), pl.col("file_name").alias("order_file")).unique()
    kept = lines.filter(is_last)
    for frame, on in ((replaced, _ORDER_LINE), (names, ["order_list"])):
        kept = kept.join(frame, on=on, how="left", maintain_order="left")
    absent = pl.when(pl.col("list") < pl.col("order_list")).then("order_file")
    told = kept.with_columns(pl.col("said").fill_null("").alias("repeats"), absent.fill_null("").alias("absent_from"))
    return told.sort("line").select(ordered.columns)
