"""ASNs that have left the dates that are looked at while an exception of theirs is open: they are looked at on.

Their goods may have been listed in a night whose lists are no longer read, so what was received comes from what earlier
reports knew. Where that is not to be had, nothing is said, and the exception stays "not checked".
"""

from dataclasses import dataclass
from typing import Final

import polars as pl

from logistics_batch.flows.asns.fetch import AsnRange
from logistics_batch.flows.reconcile.earlier_receipts import is_compared
from logistics_batch.flows.reconcile.goods_list import ReadList
from logistics_batch.flows.reconcile.snapshots import KnownLines
from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import ExceptionLevel, Standing
from logistics_batch.model.reconciliation_history import Earlier
from logistics_batch.model.spelling import folded

FOLLOWED: Final = 50
"""So many ASNs outside the dates are asked for, one by one, the dearest first."""


@dataclass(frozen=True, slots=True)
class FollowedAsns:
    """What is looked at besides the range. invoices: invoice numbers as they are written, by their folded form."""

    invoices: dict[str, str]
    notes: tuple[str, ...] = ()


def followed(earlier: Earlier, wanted: AsnRange, receipts: ReadList, known: KnownLines | None) -> FollowedAsns:
    """The invoices of open exceptions whose ASN may lie outside the range, as far as they can be judged tonight."""
    open_ones = _outside(earlier, wanted)
    if open_ones.is_empty() or (known is None) == is_compared(receipts, known):
        return FollowedAsns({})  # what was received is compared only in one of the two nights
    numbers = open_ones["invoice"].unique(maintain_order=True)
    had = set(open_ones.filter(pl.col("receipt_file") != "")["invoice"])
    read = _invoices(receipts.lines) | _invoices(known.lines if known else None)
    chosen = set(numbers.head(FOLLOWED)) - (had - read)
    left = len(numbers) - FOLLOWED
    more = (f"{counted(left, 'ASN')} with open exceptions outside the dates were not asked for.",) if left > 0 else ()
    note = (
        f"Looked at on, as exceptions of theirs are open: {counted(len(chosen), 'invoice number')} outside the dates."
    )
    written = dict(open_ones.select("invoice", pl.col("invoice_number").str.strip_chars()).iter_rows())
    invoices = {number: written[number] for number in sorted(chosen)}
    return FollowedAsns(invoices, (*((note,) if chosen else ()), *more))


def _outside(earlier: Earlier, wanted: AsnRange) -> pl.DataFrame:
    listed = earlier.listed
    waiting = pl.col("standing").fill_null("").is_in([Standing.OPEN.value, Standing.NOT_CHECKED.value])
    of_asns = pl.col("level").is_in([ExceptionLevel.LINE.value, ExceptionLevel.NOTICE.value])
    inside = pl.col("due_date").is_between(wanted.date_from, wanted.date_to).fill_null(False)
    outside = ~inside if wanted.by == "delivery" else pl.lit(True)
    invoice = pl.Series("invoice", [folded(number or "") for number in listed["invoice_number"]], dtype=pl.String)
    return listed.with_columns(invoice, pl.col("receipt_file").fill_null("")).filter(
        waiting & of_asns & outside & (pl.col("invoice") != "")
    )


def _invoices(lines: pl.DataFrame | None) -> set[str]:
    return set() if lines is None else {folded(number) for number in lines["invoice_number"].drop_nulls().unique()}
