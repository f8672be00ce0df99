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
from logistics_batch.flows.reconcile.list import ReadList
from logistics_batch.flows.reconcile.receipts import RETRACTED
from logistics_batch.flows.reconcile.snapshots import receipts_of
from logistics_batch.intake.names import printable
from logistics_batch.model.counting import counted
from logistics_batch.model.spelling import folded
from logistics_batch.reconciliation import KNOWN_LINES, RECEIVED_LINES, identifier, rewritten, still_counting

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
    lines = receipts.lines
    if lines is None:
        return Counting(receipts, known.lines if known else None)
    today = lines.with_columns(
        pl.lit(on).alias("last_listed"),
        _written(lines, receipts).alias("written"),
        pl.lit(None, pl.String).alias("doubt"),
    ).select(*KNOWN_LINES)
    if known is None:
        return Counting(receipts, today)
    kept = known.lines.filter(pl.col("last_listed") >= on - timedelta(days=REMEMBERED_DAYS))
    back = _is_taken_back(kept, receipts)
    left = still_counting(kept.filter(~back), lines)
    ours = _of(left, judged)
    unread = pl.concat([receipts.unread, _unread_on(receipts, known, judged)])
    told = replace(receipts, lines=pl.concat([lines, _counted_on(ours, receipts)]), unread=unread)
    anew = _of(kept.filter(pl.col("file_name").is_in(rewritten(kept, lines).implode())), judged)
    anew = anew.join(lines, on=["file_name", "invoice_number", "sku_name", "qty"], how="anti", nulls_equal=True)
    notes = (
        *_said_of_gone(ours, receipts),
        *_said_of_dropped(anew),
        *_said_of_retracted(_of(kept.filter(back), judged)),
    )
    return Counting(replace(told, notes=(*told.notes, *notes)), pl.concat([left, today]))


def _written(lines: pl.DataFrame, receipts: ReadList) -> pl.Series:
    """When the list of each row was written."""
    times = {name: receipts.written.get(name.split("/")[0]) for name in lines["file_name"].unique().drop_nulls()}
    return lines["file_name"].replace_strict(times, default=None, return_dtype=pl.Float64)


def _counted_on(ours: pl.DataFrame, receipts: ReadList) -> pl.DataFrame:
    """The rows as they count tonight; one in doubt is marked as one that a later list repeats or corrects."""
    place = pl.format("{} row {}", "file_name", "row")
    perhaps = pl.col("doubt").is_not_null()
    return (
        ours.with_columns(_shown_name(receipts))
        .with_columns(
            pl.lit("").alias("repeats"),
            pl.lit("").alias("alike"),
            perhaps.alias("again"),
            pl.when(perhaps)
            .then(pl.concat_str(place, "doubt", separator="; "))
            .otherwise(pl.lit(""))
            .alias("reissued"),
        )
        .select(*RECEIVED_LINES)
    )


def _shown_name(receipts: ReadList) -> pl.Expr:
    """The name of a list, with the day when it was read last unless it lies there as it was."""
    lies_there = pl.col("file_name").is_in(sorted(_lying_unread(receipts)))
    dated = pl.format("{} (as read on {})", "file_name", pl.col("last_listed").dt.to_string("%Y-%m-%d"))
    return pl.when(lies_there).then("file_name").otherwise(dated).alias("file_name")


def _lying_unread(receipts: ReadList) -> set[str]:
    """Lists that lie there and were not opened tonight, or could not be read."""
    read = set() if receipts.lines is None else set(receipts.lines["file_name"].unique())
    return set(receipts.lying) - read


def _unread_on(receipts: ReadList, known: Known, judged: Set[str]) -> pl.DataFrame:
    """Rows of gone lists that could not be read, unless a new row of tonight is about what they may be about."""
    if receipts.lines is None:
        return known.unread.clear()
    read = pl.concat([receipts.lines["file_name"], receipts.unread["file_name"]]).unique()
    theirs = _of(known.unread, judged)
    back = pl.col("file_name").is_in(list(receipts.retracted)).fill_null(False)
    left = theirs.filter(~pl.col("file_name").is_in(read.implode()).fill_null(False) & ~back)
    left = left.join(receipts.unread, on="spot", how="anti", maintain_order="left")
    new = receipts.lines.join(known.lines, on=_SAID, how="anti", nulls_equal=True)
    told = new.select(invoice=identifier("invoice_number"), sku=identifier("sku_name")).unique()
    keyed = left.with_columns(identifier("invoice_number").alias("invoice"), identifier("sku_name").alias("sku"))
    named = keyed.filter(pl.col("sku") != "").join(told, on=["invoice", "sku"], how="anti")
    nameless = keyed.filter(pl.col("sku") == "").join(told, on="invoice", how="anti")
    return pl.concat([named, nameless]).select(receipts.unread.columns)


def _said_of_gone(ours: pl.DataFrame, receipts: ReadList) -> tuple[str, ...]:
    """What is said of rows that count on, but for lists that lie there unopened."""
    gone = ours.filter(~pl.col("file_name").is_in(sorted(_lying_unread(receipts))))
    if gone.is_empty():
        return ()
    name = printable(gone["file_name"][0].split("/")[0])  # lists of an archive are taken back with it
    last = max(gone["last_listed"].cast(pl.String))
    rows = f"{counted(gone.height, 'receipt row')} of {_names(gone)}"
    mark = f"put an empty file with its name and {RETRACTED} at the end ({name}{RETRACTED}) where the lists lie"
    kept = f"Counted on as the report of {last} read them, though no list of tonight has them: {rows}."
    return (f"{kept} If such a list did not hold, {mark}, and reconcile again.",)


def _said_of_dropped(anew: pl.DataFrame) -> tuple[str, ...]:
    named = anew.head(_NAMED).select("file_name", "row", "invoice_number", "sku_name", "qty").fill_null("")
    rows = [printable("{} row {}, invoice {} SKU {} {}".format(*row)) for row in named.iter_rows()]
    more = f"; and {anew.height - _NAMED} more" if anew.height > _NAMED else ""
    told = f"{counted(anew.height, 'receipt row')} ({'; '.join(rows)}{more})"
    return (f"Counted no more, since the list itself says otherwise now: {told}.",) if rows else ()


def _said_of_retracted(rows: pl.DataFrame) -> tuple[str, ...]:
    told = f"{counted(rows.height, 'receipt row')} of {_names(rows)}"
    return (f"Retracted, and counted no more: {told}.",) if rows.height else ()


def _names(rows: pl.DataFrame) -> str:
    names = rows["file_name"].unique(maintain_order=True).to_list()
    more = f" and {len(names) - _NAMED} more lists" if len(names) > _NAMED else ""
    return ", ".join(printable(name) for name in names[:_NAMED]) + more


def _of(rows: pl.DataFrame, judged: Set[str], *, inside: bool = True) -> pl.DataFrame:
    """The rows of the invoices, or all others."""
    is_ours = pl.col("invoice_number").is_in([n for n in rows["invoice_number"].unique() if n and folded(n) in judged])
    is_ours = is_ours.fill_null(False)
    return rows.filter(is_ours if inside else ~is_ours)


def _is_taken_back(rows: pl.DataFrame, receipts: ReadList) -> pl.Expr:
    """Which rows are of a list, or of an archive, that was taken back after it was written."""
    named = {name: name.split("/")[0] for name in rows["file_name"].drop_nulls().unique()}
    times = {name: receipts.retracted.get(name, receipts.retracted.get(outer)) for name, outer in named.items()}
    since = pl.col("file_name").replace_strict(times, default=None, return_dtype=pl.Float64)
    return (since.is_not_null() & (pl.col("written").is_null() | (pl.col("written") <= since))).fill_null(False)
