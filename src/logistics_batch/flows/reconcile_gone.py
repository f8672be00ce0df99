"""Receipts lists that earlier reports of a job read and tonight are not there: archived, overwritten or retracted.

That a list is gone takes no goods back: its rows count on as they were read, and a note names the list. Only a person
can say that a list never held: by a file with its name and `.retracted` at the end.
"""

from collections.abc import Set
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Final

import polars as pl

from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile_receipts import ReadList
from logistics_batch.flows.snapshots import receipts_of
from logistics_batch.intake.names import printable
from logistics_batch.model.counting import counted
from logistics_batch.model.spelling import folded
from logistics_batch.reconciliation import KNOWN_LINES, counted_once, identifier, still_counting

REMEMBERED_DAYS: Final = 90
"""So many days rows are known after the last report whose lists had them."""

_NAMED = 5
_SAID = ("invoice_number", "supplier_name", "site_name", "sku_name", "qty", "condition", "received_date")


@dataclass(frozen=True, slots=True)
class Known:
    """Receipts as earlier reports read them. lines: KNOWN_LINES; unread: UNREAD_ROWS; on: the last one's date."""

    lines: pl.DataFrame
    unread: pl.DataFrame
    on: date


@dataclass(frozen=True, slots=True)
class Counting:
    """The receipts that count tonight, and what the next report has to know of them; None: nothing was ever read."""

    receipts: ReadList
    known: pl.DataFrame | None


def known_receipts(parts: Parts, *, job: str, run: str, until: date) -> Known | None:
    """What the last report of a job knew, up to a business date; by hand ("") that of the run that is read back."""
    found = receipts_of(parts, job=job, run=run, until=until)
    if found is None:
        return None
    lines, unread, on = found
    return Known(lines, unread, on)


def with_known(receipts: ReadList, known: Known | None, *, judged: Set[str], on: date) -> Counting:
    """The receipts with those rows of the judged invoices (folded) that tonight's lists lack and that still count."""
    listed = receipts.listed
    if receipts.lines is None or listed is None:
        return Counting(receipts, known.lines if known else None)
    today = listed.select(pl.lit(on).alias(name) if name == "last_listed" else pl.col(name) for name in KNOWN_LINES)
    if known is None:
        return Counting(receipts, today)
    holds = ~_is_of(known.lines, receipts.retracted)
    left = still_counting(known.lines.filter(holds), listed)
    left = left.filter(pl.col("last_listed") >= on - timedelta(days=REMEMBERED_DAYS))
    told = _counted_on(receipts, left, judged)
    told = replace(told, unread=pl.concat([told.unread, _unread_on(receipts, known, judged)]))
    retracted = _of(known.lines.filter(~holds), judged)
    return Counting(_noted(told, left=_of(left, judged), retracted=retracted), pl.concat([left, today]))


def _counted_on(receipts: ReadList, left: pl.DataFrame, judged: Set[str]) -> ReadList:
    """The receipts with the rows of the judged invoices; whole lists are compared, so that none counts twice."""
    lists = _of(left, judged)["file_name"].unique()
    if lists.is_empty() or receipts.lines is None or receipts.listed is None:
        return receipts
    theirs = left.filter(pl.col("file_name").is_in(lists.implode()))
    shown = theirs.with_columns(_shown_name(receipts)).select(receipts.listed.columns)
    both = counted_once(pl.concat([shown, receipts.listed])).lines
    return replace(receipts, lines=pl.concat([_of(receipts.lines, judged, inside=False), _of(both, judged)]))


def _shown_name(receipts: ReadList) -> pl.Expr:
    """The name of a list, with the day when it was read last unless it lies there as it was."""
    lies_there = pl.col("file_name").is_in(sorted(_lying_unread(receipts)))
    dated = pl.format("{} (as read on {})", "file_name", pl.col("last_listed").dt.to_string("%Y-%m-%d"))
    return pl.when(lies_there).then("file_name").otherwise(dated).alias("file_name")


def _lying_unread(receipts: ReadList) -> set[str]:
    """Lists that lie there and were not opened tonight, or could not be read."""
    read = set() if receipts.listed is None else set(receipts.listed["file_name"].unique())
    return set(receipts.lying) - read


def _unread_on(receipts: ReadList, known: Known, judged: Set[str]) -> pl.DataFrame:
    """Rows of gone lists that could not be read, unless a new row of tonight is about what they may be about."""
    if receipts.listed is None:
        return known.unread.clear()
    read = pl.concat([receipts.listed["file_name"], receipts.unread["file_name"]]).unique()
    theirs = _of(known.unread, judged).filter(~_is_of(_of(known.unread, judged), receipts.retracted))
    left = theirs.filter(~pl.col("file_name").is_in(read.implode()).fill_null(False))
    left = left.join(receipts.unread, on="spot", how="anti", maintain_order="left")
    new = receipts.listed.join(known.lines, on=_SAID, how="anti", nulls_equal=True)
    told = new.select(invoice=identifier("invoice_number"), sku=identifier("sku_name")).unique()
    keyed = left.with_columns(identifier("invoice_number").alias("invoice"), identifier("sku_name").alias("sku"))
    named = keyed.filter(pl.col("sku") != "").join(told, on=["invoice", "sku"], how="anti")
    nameless = keyed.filter(pl.col("sku") == "").join(told, on="invoice", how="anti")
    return pl.concat([named, nameless]).select(receipts.unread.columns)


def _noted(receipts: ReadList, *, left: pl.DataFrame, retracted: pl.DataFrame) -> ReadList:
    """The receipts with what is said of lists that are gone; left, retracted: their rows of judged invoices."""
    gone = left.filter(~pl.col("file_name").is_in(sorted(_lying_unread(receipts))))
    notes: list[str] = []
    if gone.height:
        name = printable(gone["file_name"][0])
        last = max(gone["last_listed"].cast(pl.String))
        notes.append(
            f"Counted on as the report of {last} read them, though no list of tonight has them: "
            f"{counted(gone.height, 'receipt row')} of {_names(gone)}. If such a list did not hold, put an empty file "
            f"with its name and .retracted at the end ({name}.retracted) where the lists lie, and reconcile again."
        )
    if retracted.height:
        notes.append(
            f"Retracted, and counted no more: {counted(retracted.height, 'receipt row')} of {_names(retracted)}."
        )
    return replace(receipts, notes=(*receipts.notes, *notes))


def _names(rows: pl.DataFrame) -> str:
    names = rows["file_name"].unique(maintain_order=True).to_list()
    more = f" and {len(names) - _NAMED} more lists" if len(names) > _NAMED else ""
    return ", ".join(printable(name) for name in names[:_NAMED]) + more


def _of(rows: pl.DataFrame, judged: Set[str], *, inside: bool = True) -> pl.DataFrame:
    """The rows of the invoices, or all others."""
    is_ours = pl.col("invoice_number").is_in([n for n in rows["invoice_number"].unique() if n and folded(n) in judged])
    is_ours = is_ours.fill_null(False)
    return rows.filter(is_ours if inside else ~is_ours)


def _is_of(rows: pl.DataFrame, retracted: Set[str]) -> pl.Expr:
    """Which rows are of a retracted list, or of a list in a retracted archive."""
    names = [name for name in rows["file_name"].drop_nulls().unique() if {name, name.split("/")[0]} & retracted]
    return pl.col("file_name").is_in(names).fill_null(False)
