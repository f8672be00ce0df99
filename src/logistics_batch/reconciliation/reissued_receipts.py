"""Receipts that may be a correction of an earlier list, and not goods that came besides.

Two lists of one day that name the same goods are two lorries, or one list that was corrected and sent again: nothing in
them says which. All rows count, and those that would not if the later list held alone are marked.
"""

import polars as pl

from logistics_batch.reconciliation.legs import identifier

_DAY = "received_date"
_PARTS = (*("invoice_number", "sku_name", "supplier_name", "site_name"), _DAY)


def with_reissues(kept: pl.DataFrame) -> pl.DataFrame:
    """The rows that count, with `again` and `reissued`.

    kept: with `line`, `list` (in order of their writing), `thing` (what a row says), `nth` (the how many-th of it in
    its list) and `place` (in words). again: another list has the row once more, or a later one has all goods of its
    list and of these other quantities. reissued: the rows of both lists that name these goods.
    """
    goods = kept.with_columns(pl.struct(identifier(name) for name in _PARTS).rank("dense").alias("goods"))
    pairs = _covering(goods)
    changed = _changed(goods, pairs)
    earlier = pl.col("list") > pl.col("list").min().over("thing", "nth")
    told = _places(goods, changed)
    replaced = changed["line"].unique()
    return (
        goods.join(told, on="line", how="left", maintain_order="left")
        .with_columns(
            (earlier | pl.col("line").is_in(replaced.implode())).alias("again"), pl.col("reissued").fill_null("")
        )
        .drop("goods")
    )


def _covering(rows: pl.DataFrame) -> pl.DataFrame:
    """Pairs of lists of which the later one names all goods of the earlier one, of the days that both tell of."""
    days = rows.group_by("list", _DAY).agg(pl.col("goods").n_unique().alias("count"))
    wanted = (
        days.join(days, on=_DAY, suffix="_later", nulls_equal=True)
        .filter(pl.col("list") < pl.col("list_later"))
        .group_by("list", "list_later")
        .agg(pl.col("count").sum())
    )
    few = rows.select("list", "goods").unique()
    found = (
        few.join(few, on="goods", suffix="_later")
        .filter(pl.col("list") < pl.col("list_later"))
        .group_by("list", "list_later")
        .agg(pl.len().alias("found"))
    )
    return found.join(wanted, on=["list", "list_later"]).filter(pl.col("found") == pl.col("count"))


def _changed(rows: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Rows of the earlier lists (`line`) of whose goods the later one (`line_later`) says otherwise."""
    few = rows.select("line", "list", "goods", "thing")
    both = few.join(few, on="goods", suffix="_later").join(pairs, on=["list", "list_later"], how="semi")
    same = rows.select("list", "thing").unique().rename({"list": "list_later"})
    return both.join(same, on=["list_later", "thing"], how="anti").select("line", "line_later")


def _places(rows: pl.DataFrame, changed: pl.DataFrame) -> pl.DataFrame:
    """By row (`line`) the places of the rows that say otherwise, its own among them (`reissued`)."""
    lines = pl.concat([changed["line"], changed["line_later"]]).unique()
    ours = rows.filter(pl.col("line").is_in(lines.implode()))
    return ours.select("line", pl.col("place").sort_by("line").str.join("; ").over("goods").alias("reissued"))
