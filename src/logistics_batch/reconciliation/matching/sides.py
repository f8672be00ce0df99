"""The legs after matching: every line under the notice of the match, surplus notices set apart."""

from dataclasses import dataclass

import polars as pl

from logistics_batch.reconciliation.legs.columns import Legs
from logistics_batch.reconciliation.legs.lines import notice_side, received_side
from logistics_batch.reconciliation.legs.reading import header_keys
from logistics_batch.reconciliation.matching.notices import match_notices
from logistics_batch.reconciliation.matching.receipts import match_receipts, receipt_groups
from logistics_batch.reconciliation.matching.unmatched_receipts import contradicting, other_names, unmatched_receipts
from logistics_batch.reconciliation.matching.unread_receipts import unread_by_notice
from logistics_batch.reconciliation.notices.headers import filled, notice_headers

_OF_RECEIPTS = {"receipt_tier": pl.UInt8, "stray": pl.String, "receipts_name": pl.String}


@dataclass(frozen=True, slots=True)
class Sides:
    """Matched notices and the lines of each leg, whose `notice` is that of the match.

    whole: see `notice_headers`, plus `receipt_tier`, how receipts were matched, `stray`, why receipts were not, and
    `receipts_name`, other names in receipts. received: None without receipts. unread: see `unread_by_notice`.
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
    whole = notice_headers(notices, announced=announced, returned=returned, lines=returned_lines)
    ours = _under_the_match(announced_lines, notices, leg="announced")
    theirs = _under_the_match(returned_lines, notices, leg="returned")
    targets = _targets(whole)
    unread = unread_by_notice(legs.unread, targets)
    received = None
    if legs.received is not None:
        # The lines that should come: those announced, and of ASNs that nobody announced the service's.
        lines = (ours, theirs.join(ours, on="notice", how="anti", maintain_order="left"))
        expected = pl.concat(side.select("notice", "sku", "units") for side in lines)
        whole, received, stray = _with_receipts(whole, legs.received, targets, expected=expected)
        unread = pl.concat([unread, stray], how="diagonal_relaxed")
    absent = [pl.lit(None, kind).alias(name) for name, kind in _OF_RECEIPTS.items() if name not in whole.columns]
    return Sides(whole=whole.with_columns(absent), announced=ours, returned=theirs, received=received, unread=unread)


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
    """The notices, receipt lines under their notice, and those that fit several (see `as_unread`).

    Groups that fit none become notices of their own.
    """
    grouped, groups = receipt_groups(receipts, targets)
    rows = received_side(grouped).with_row_index("line")
    matched = match_receipts(groups, targets)
    others = contradicting(matched, groups, targets)
    found = matched.join(others, on=["group", "notice"], how="anti", maintain_order="left")
    lonely = groups.join(found, on="group", how="anti", maintain_order="left")
    unmatched = unmatched_receipts(rows, lonely, whole, targets=targets, others=others, expected=expected)
    left = rows.join(unmatched.allotted, on="line", how="anti").select("group").unique()
    lonely = lonely.join(left, on="group", how="semi", maintain_order="left")
    lonely = lonely.with_columns((pl.int_range(pl.len()) + whole.height).cast(pl.UInt32).alias("notice"))
    places = pl.concat([found.select("group", "notice"), lonely.select("group", "notice")])
    placed = rows.join(places, on="group", how="left", maintain_order="left")
    placed = placed.join(unmatched.allotted, on="line", how="left", maintain_order="left", suffix="_allotted")
    received = placed.with_columns(pl.coalesce("notice_allotted", "notice").alias("notice")).drop("notice_allotted")
    # A notice is as surely matched as its least sure receipt.
    by_contents = unmatched.allotted.select(pl.lit(5, pl.UInt8).alias("tier"), "notice")
    each = pl.concat([found.select("tier", "notice"), by_contents]).group_by("notice")
    tiers = each.agg(pl.col("tier").max().alias("receipt_tier"))
    named = whole.join(tiers, on="notice", how="left", maintain_order="left")
    named = named.join(other_names(groups, rows, found, targets), on="notice", how="left", maintain_order="left")
    apart = _headers_of_receipts(
        lonely.join(unmatched.words(), on="group", how="left", maintain_order="left"), received
    )
    return pl.concat([named, apart], how="diagonal"), received.drop("line"), unmatched.as_unread()


def _targets(whole: pl.DataFrame) -> pl.DataFrame:
    """The notices that receipts may belong to (see `match_receipts`), but no surplus ones."""
    single = whole.filter(~(pl.col("duplicate") & pl.col("announced").is_null()))
    ordered = single.sort(pl.col("announced").is_null(), ~pl.col("in_window"), "notice", maintain_order=True)
    return ordered.select("notice", "invoice", "batch_key", _either("parties"), _either("places"))


def _either(name: str) -> pl.Expr:
    empty = pl.lit([], dtype=pl.List(pl.String))
    both = pl.concat_list(pl.col(f"a_{name}").fill_null(empty), pl.col(f"r_{name}").fill_null(empty))
    return both.list.unique(maintain_order=True).alias(name)


def _headers_of_receipts(lonely: pl.DataFrame, received: pl.DataFrame) -> pl.DataFrame:
    names = {"invoice_number": "invoice_number", "supplier_name": "supplier_shown", "site_name": "site_shown"}
    first = received.group_by("notice").agg(
        filled(name).drop_nulls().first().fill_null("").alias(shown) for name, shown in names.items()
    )
    return (
        lonely.drop("group")
        .join(first, on="notice", how="left", maintain_order="left")
        .with_columns(
            *(pl.lit("").alias(name) for name in ("batch_key", "batch_shown")),
            pl.lit(True).alias("in_window"),
            pl.lit(False).alias("duplicate"),
            pl.lit(0, pl.UInt32).alias("returned_lines"),
        )
    )
