"""ASNs that have left the dates that are looked at while an exception of theirs is open: they are looked at on.

Their goods may have been listed in a night whose lists are no longer read, so what was received comes from the snapshot
of the earlier report. Where that is not to be had, nothing is said, and the exception stays "not checked".
"""

from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.errors import UsageError
from logistics_batch.flows.answer_doubts import folded
from logistics_batch.flows.asn_ranges import AsnRange
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile_receipts import ReadList
from logistics_batch.flows.snapshots import Snapshot, load_snapshot
from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import Level, Standing
from logistics_batch.model.reconciliation_history import Earlier
from logistics_batch.reconciliation import RECEIVED_LINES

FOLLOWED: Final = 50
"""So many ASNs outside the dates are asked for, one by one, the dearest first."""

_PLACE = ("file_name", "sheet", "row")
_PLACES = (*_PLACE, "repeats", "alike", "reissued", "again")


@dataclass(frozen=True, slots=True)
class Followed:
    """What is looked at besides the range, and the receipts with those of earlier nights.

    invoices: invoice numbers as they are written, by their folded form.
    """

    invoices: dict[str, str]
    receipts: ReadList
    notes: tuple[str, ...] = ()


def followed(parts: Parts, earlier: Earlier | None, wanted: AsnRange, receipts: ReadList) -> Followed:
    """The invoices of open exceptions whose ASN may lie outside the range, as far as they can be judged tonight."""
    nothing = Followed({}, receipts)
    open_ones = _outside(earlier, wanted)
    if earlier is None or open_ones.is_empty():
        return nothing
    try:
        kept = load_snapshot(parts, earlier.run)
    except UsageError:
        return nothing
    if (kept.legs.received is None) != (receipts.lines is None):
        return nothing  # what was received is compared only in one of the two nights
    numbers = open_ones["invoice"].unique(maintain_order=True)
    chosen = set(numbers.head(FOLLOWED))
    together = _with_earlier(receipts, kept, chosen)
    had = set(open_ones.filter(pl.col("receipt_file") != "")["invoice"])
    chosen -= had - _invoices(together.lines)
    left = len(numbers) - FOLLOWED
    more = (f"{counted(left, 'ASN')} with open exceptions outside the dates were not asked for.",) if left > 0 else ()
    note = (
        f"Looked at on, as exceptions of theirs are open: {counted(len(chosen), 'invoice number')} outside the dates."
    )
    written = dict(open_ones.select("invoice", pl.col("invoice_number").str.strip_chars()).iter_rows())
    invoices = {number: written[number] for number in sorted(chosen)}
    return Followed(invoices, together, (*((note,) if chosen else ()), *more))


def _outside(earlier: Earlier | None, wanted: AsnRange) -> pl.DataFrame:
    listed = (earlier or Earlier()).listed
    waiting = pl.col("standing").fill_null("").is_in(["", Standing.NOT_CHECKED.value])
    of_asns = pl.col("level").is_in([Level.LINE.value, Level.NOTICE.value])
    inside = pl.col("due_date").is_between(wanted.date_from, wanted.date_to).fill_null(False)
    outside = ~inside if wanted.by == "delivery" else pl.lit(True)
    invoice = pl.Series("invoice", [folded(number or "") for number in listed["invoice_number"]], dtype=pl.String)
    return listed.with_columns(invoice, pl.col("receipt_file").fill_null("")).filter(
        waiting & of_asns & outside & (pl.col("invoice") != "")
    )


def _with_earlier(receipts: ReadList, kept: Snapshot, chosen: set[str]) -> ReadList:
    """The receipts with those that an earlier night saw of the invoices; what a list of tonight repeats counts once."""
    if receipts.lines is None or kept.legs.received is None:
        return receipts
    said = [name for name in RECEIVED_LINES if name not in _PLACES]
    # What an older release kept lacks columns of this one.
    absent = [pl.lit(None, kind).alias(name) for name, kind in RECEIVED_LINES.items()]
    saved = kept.legs.received.with_columns(
        one for one in absent if one.meta.output_name() not in kept.legs.received.columns
    )
    before = _of(saved, chosen).join(receipts.lines, on=said, how="anti", nulls_equal=True)
    # A list of the same name may be today's: a row is the same one only where it speaks of the same goods.
    before = before.join(receipts.lines, on=[*_PLACE, "invoice_number", "sku_name"], how="anti", nulls_equal=True)
    unread = _of(kept.legs.unread, chosen).join(receipts.unread, on="spot", how="anti")
    lines = pl.concat([receipts.lines, before.select(receipts.lines.columns)])
    return replace(receipts, lines=lines, unread=pl.concat([receipts.unread, unread]))


def _of(lines: pl.DataFrame, chosen: set[str]) -> pl.DataFrame:
    return lines.filter(
        pl.Series([folded(number or "") in chosen for number in lines["invoice_number"]], dtype=pl.Boolean)
    )


def _invoices(lines: pl.DataFrame | None) -> set[str]:
    return set() if lines is None else {folded(number or "") for number in lines["invoice_number"]}
