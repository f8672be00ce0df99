"""Lists of receipts that are older than the range, for ASNs whose goods may stand in them.

What the service changed today may have been due weeks ago, and goods may come long before they are due: how far back
lists are opened follows from the ASNs that are judged, not from the range alone. Of older lists only the rows of these
ASNs count, so that nothing old is called new.
"""

from dataclasses import replace
from datetime import date, timedelta
from typing import Final

import polars as pl

from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile.gather import Gathered
from logistics_batch.flows.reconcile.list import ReadList
from logistics_batch.flows.reconcile.notices import Scope
from logistics_batch.flows.reconcile.receipts import LOOK_BACK_DAYS, RECEIPTS, ListPlace, list_from
from logistics_batch.intake.names import printable
from logistics_batch.model.counting import counted
from logistics_batch.reconciliation import UNOPENED, Legs, identifier

OPENED_DAYS: Final = 90
"""So many days before the range lists are opened at most."""

_NAMED: Final = 3


def judged_invoices(legs: Legs, gathered: Gathered, scope: Scope) -> pl.DataFrame:
    """The invoices that are judged by their dates (`invoice`), and when each was first heard of (`first`).

    That is the earliest of the days when it is due, was announced and was created. Those that are followed are not
    among them, since they have the receipts of the earlier night.
    """
    planned = pl.Series("planned", [one.planned_at[:10] for one in gathered.documents], dtype=pl.String)
    sides = (
        (legs.announced_notices.with_columns(planned), ("delivery_date", "planned")),
        (legs.returned_notices, ("delivery_date", "created_at")),
    )
    dated = [
        notices.filter(pl.col("in_window")).select(
            identifier("invoice_number").alias("invoice"),
            pl.min_horizontal(
                pl.col(name).str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False) for name in names
            ).alias("first"),
        )
        for notices, names in sides
    ]
    each = pl.concat(dated).group_by("invoice", maintain_order=True).agg(pl.col("first").min())
    return each.filter((pl.col("invoice") != "") & ~pl.col("invoice").is_in(list(scope.followed)))


def with_older_lists(
    parts: Parts, place: ListPlace | None, receipts: ReadList, *, judged: pl.DataFrame, business_date: date
) -> tuple[ReadList, pl.DataFrame]:
    """The receipts with what older lists say of the judged invoices, and UNOPENED: of which even older ones may tell.

    judged: as `judged_invoices` gives them. Raises StoreError if the place cannot be read.
    """
    first = judged["first"].min()
    if place is None or receipts.opened_since is None or not receipts.older or not isinstance(first, date):
        return receipts, pl.DataFrame(schema=UNOPENED)
    back = timedelta(days=LOOK_BACK_DAYS)
    earliest = max(first - back, receipts.opened_since - timedelta(days=OPENED_DAYS))
    since = min(earliest, receipts.opened_since)
    told = receipts
    if any(day >= since for day in receipts.older):
        far = list_from(parts, place, kind=RECEIPTS, since=since + back, business_date=business_date)
        told = _together(receipts, far, judged)
    left = sum(day < since for day in receipts.older)
    if not left:
        return told, pl.DataFrame(schema=UNOPENED)
    note = f"Not opened: {counted(left, 'list')} of receipts written before {since}."
    perhaps = judged.filter(pl.col("first") - back < since)
    unopened = perhaps.select("invoice", pl.lit(f"older ones, written before {since}, lie there").alias("lists"))
    return replace(told, notes=(*told.notes, note)), unopened


def with_refused(unopened: pl.DataFrame, receipts: ReadList, legs: Legs) -> pl.DataFrame:
    """UNOPENED with the lists that could not be read at all: the goods of every invoice may stand in them."""
    if receipts.lines is None or not receipts.refused:
        return unopened
    more = f" and {len(receipts.refused) - _NAMED} more" if len(receipts.refused) > _NAMED else ""
    names = ", ".join(printable(name) for name in receipts.refused[:_NAMED])
    sides = (legs.announced_notices, legs.returned_notices)
    every = pl.concat([side.select(identifier("invoice_number").alias("invoice")) for side in sides]).unique()
    return pl.concat([unopened, every.select("invoice", pl.lit(f"{names}{more} could not be read").alias("lists"))])


def _together(near: ReadList, far: ReadList, judged: pl.DataFrame) -> ReadList:
    """What both read: of the judged invoices all that the lists of the longer time say, of others only the near."""
    if near.lines is None or far.lines is None:
        return near
    ours = identifier("invoice_number").is_in(judged["invoice"].implode())
    nameless = identifier("invoice_number") == ""
    lines = pl.concat([near.lines.filter(~ours), far.lines.filter(ours)])
    unread = pl.concat([near.unread.filter(~ours & ~nameless), far.unread.filter(ours | nameless)])
    whole = far.complete or (far.refused == near.refused and unread.height == near.unread.height)
    more = tuple(note for note in far.notes if note not in near.notes) if not whole else ()
    count = len(far.files) - len(near.files)
    note = (
        f"Opened besides, as ASNs of this report are older than the range: {counted(count, 'list')} of receipts "
        f"written since {far.opened_since}; only their rows of these ASNs count."
    )
    return replace(
        near,
        lines=lines,
        unread=unread,
        complete=near.complete and whole,
        notes=(*near.notes, *more, note),
        files=far.files,
        written=far.written,
    )
