"""The legs after matching: every line under the notice of the match, surplus notices set apart."""

from dataclasses import dataclass

import polars as pl

from logistics_batch.reconciliation.faces import faces, filled
from logistics_batch.reconciliation.legs import Legs, header_keys
from logistics_batch.reconciliation.lines import notice_side, received_side
from logistics_batch.reconciliation.matching import match_notices, match_receipts
from logistics_batch.reconciliation.receipts import receipt_groups
from logistics_batch.reconciliation.stray_receipts import (
    contradicting,
    other_names,
    stray_rows,
    stray_words,
    strays,
)
from logistics_batch.reconciliation.unread import unread_by_notice


@dataclass(frozen=True, slots=True)
class Sides:
    """Matched notices and the lines of each leg, whose `notice` is that of the match.

    whole: see `faces`, plus `receipt_tier`, how receipts were matched. received: None without receipts.
    unread: receipt rows that could not be read, see `unread_by_notice`.
    """

    whole: pl.DataFrame
    announced: pl.DataFrame
    returned: pl.DataFrame
    received: pl.DataFrame | None
    unread: pl.DataFrame

    @property
    def judged_returned(self) -> pl.DataFrame:
        """The service's lines but those of surplus notices, which are reported as a whole."""
        surplus = self.whole.filter(pl.col("duplicate") & pl.col("announced").is_null())
        return self.returned.join(surplus, on="notice", how="anti", maintain_order="left")


def matched_sides(legs: Legs) -> Sides:
    """Match the legs; every line of every leg stands in the result exactly once."""
    announced_lines, returned_lines = notice_side(legs.announced_lines), notice_side(legs.returned_lines)
    announced = _keyed(legs.announced_notices, announced_lines)
    returned = _keyed(legs.returned_notices, returned_lines)
    notices = match_notices(announced, returned, lines=(announced_lines, returned_lines))
    whole = faces(notices, announced=announced, returned=returned, legs=legs)
    received = None
    to_place = legs.received is not None or not legs.unread.is_empty()
    targets = _targets(whole if to_place else whole.clear())
    unread = unread_by_notice(legs.unread, targets)
    ours = _under_the_match(announced_lines, notices, leg="announced")
    theirs = _under_the_match(returned_lines, notices, leg="returned")
    if legs.received is None:
        whole = whole.with_columns(pl.lit(None, pl.UInt8).alias("receipt_tier"))
    else:
        whole, received, stray = _with_receipts(whole, legs.received, targets, expected=_expected(ours, theirs))
        unread = pl.concat([unread, stray], how="diagonal_relaxed")
    return Sides(whole=with_stray_columns(whole), announced=ours, returned=theirs, received=received, unread=unread)


def with_stray_columns(whole: pl.DataFrame) -> pl.DataFrame:
    """The notices with `stray` and `receipts_name`, null where no receipts were matched."""
    absent = [name for name in ("stray", "receipts_name") if name not in whole.columns]
    return whole.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)


def _expected(announced: pl.DataFrame, returned: pl.DataFrame) -> pl.DataFrame:
    """The lines that should come: those announced, of ASNs that nobody announced the service's."""
    columns = ("notice", "sku", "units")
    others = returned.join(announced, on="notice", how="anti", maintain_order="left")
    return pl.concat([announced.select(columns), others.select(columns)])


def _keyed(notices: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    sums = lines.group_by("notice").agg(pl.col("units").sum())
    keyed = header_keys(notices).join(sums, on="notice", how="left", maintain_order="left")
    return keyed.with_columns(pl.col("units").fill_null(0))


def _under_the_match(lines: pl.DataFrame, notices: pl.DataFrame, *, leg: str) -> pl.DataFrame:
    numbers = notices.filter(pl.col(leg).is_not_null()).select("notice", pl.col(leg))
    return lines.rename({"notice": leg}).join(numbers, on=leg, how="left", maintain_order="left").drop(leg)


def _with_receipts(
    whole: pl.DataFrame, receipts: pl.DataFrame, targets: pl.DataFrame, *, expected: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Receipt lines under their notice, and those that fit several (see `stray_rows`).

    Groups that fit none become notices of their own.
    """
    grouped, groups = receipt_groups(receipts, targets)
    rows = received_side(grouped).with_row_index("line")
    matched = match_receipts(groups, targets)
    others = contradicting(matched, groups, targets)
    found = matched.join(others, on=["group", "notice"], how="anti", maintain_order="left")
    lonely = groups.join(found, on="group", how="anti", maintain_order="left")
    stray = strays(rows, lonely, targets, others=others, expected=expected)
    left = rows.join(stray.allotted, on="line", how="anti").select("group").unique()
    lonely = lonely.join(left, on="group", how="semi", maintain_order="left")
    lonely = lonely.with_columns((pl.int_range(pl.len()) + whole.height).cast(pl.UInt32).alias("notice"))
    places = pl.concat([found.select("group", "notice"), lonely.select("group", "notice")])
    placed = rows.join(places, on="group", how="left", maintain_order="left")
    placed = placed.join(stray.allotted, on="line", how="left", maintain_order="left", suffix="_allotted")
    received = placed.with_columns(pl.coalesce("notice_allotted", "notice").alias("notice")).drop("notice_allotted")
    by_contents = stray.allotted.select(pl.lit(5, pl.UInt8).alias("tier"), "notice")
    # A notice is as surely matched as its least sure receipt.
    told = pl.concat([found.select("tier", "notice"), by_contents])
    tiers = told.group_by("notice").agg(pl.col("tier").max().alias("receipt_tier"))
    named = whole.join(tiers, on="notice", how="left", maintain_order="left")
    named = named.join(other_names(groups, rows, found, targets), on="notice", how="left", maintain_order="left")
    words = stray_words(rows, stray.candidates, whole)
    faces_apart = _faces_of_receipts(lonely.join(words, on="group", how="left", maintain_order="left"), received)
    both = pl.concat([named, faces_apart], how="diagonal")
    return both, received.drop("line"), stray_rows(rows, stray.candidates, whole)


def _targets(whole: pl.DataFrame) -> pl.DataFrame:
    single = whole.filter(~(pl.col("duplicate") & pl.col("announced").is_null()))
    ordered = single.sort(pl.col("announced").is_null(), ~pl.col("in_window"), "notice", maintain_order=True)
    return ordered.select("notice", "invoice", "batch_key", _either("parties"), _either("places"))


def _either(name: str) -> pl.Expr:
    empty = pl.lit([], dtype=pl.List(pl.String))
    both = pl.concat_list(pl.col(f"a_{name}").fill_null(empty), pl.col(f"r_{name}").fill_null(empty))
    return both.list.unique(maintain_order=True).alias(name)


def _faces_of_receipts(lonely: pl.DataFrame, received: pl.DataFrame) -> pl.DataFrame:
    first = received.group_by("notice").agg(
        filled("invoice_number").drop_nulls().first().fill_null("").alias("invoice_number"),
        filled("supplier_name").drop_nulls().first().fill_null("").alias("supplier_shown"),
        filled("site_name").drop_nulls().first().fill_null("").alias("site_shown"),
    )
    shown = lonely.drop("group").join(first, on="notice", how="left", maintain_order="left")
    return shown.with_columns(
        pl.lit("").alias("batch_key"),
        pl.lit("").alias("batch_shown"),
        pl.lit(True).alias("in_window"),
        pl.lit(False).alias("duplicate"),
        pl.lit(0, pl.UInt32).alias("returned_lines"),
    )
