"""Receipts beside tonight's lists: what earlier reports read, and lists that are older than the range.

A list holds until a list of its name says otherwise of the same days, or a file with its name and `.retracted` at the
end takes it back. That it is archived takes no goods back: its rows count on as they were read. Of both kinds only the
rows of the ASNs that are judged count, so that nothing old is called new. ASNs that have left the dates that are looked
at while an exception of theirs is open are followed: looked at on.

What the next reconciliation has to know of what this one saw: rows of receipts, and how far ASNs were.
"""

import json
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

import polars as pl

from logistics_batch.flows.asns.fetch import AsnRange
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile.gather import Gathered
from logistics_batch.flows.reconcile.goods_list import ReadList
from logistics_batch.flows.reconcile.notices import Scope
from logistics_batch.flows.reconcile.receipts import (
    LOOK_BACK_DAYS,
    RECEIPTS,
    RETRACTED,
    counted_lists,
    older_lists,
)
from logistics_batch.intake.names import printable
from logistics_batch.messages.words import shortened
from logistics_batch.model.counting import counted
from logistics_batch.model.jobs.job import Lists
from logistics_batch.model.reconciliation import Earlier, ExceptionLevel, Standing
from logistics_batch.model.spelling import folded
from logistics_batch.reconciliation import KNOWN_LINES, RECEIVED_LINES, UNOPENED, Legs, day, further_status, identifier

KEPT_DAYS: Final = 90
"""So many days rows are known after the last report whose lists had them, and lists before the range are opened."""

_FOLDER = "reconciliation"
_ABOUT = "snapshot.json"
_STATUSES = "statuses.parquet"
_KEPT_DAYS = 180  # the furthest status of an ASN that no report has seen since
_NIGHT = re.compile(r"(\d{4}-\d{2}-\d{2})_(.+)")


@dataclass(frozen=True, slots=True)
class KnownLines:
    """Receipts as reports read them. lines: KNOWN_LINES; unread: UNREAD_ROWS."""

    lines: pl.DataFrame
    unread: pl.DataFrame


def keep_seen(
    parts: Parts, returned_notices: pl.DataFrame, known: KnownLines | None, *, run: str, job: str, business_date: date
) -> None:
    """Write what a report saw, whole or not at all. known: None where there never were any receipts."""
    home = parts.files / _FOLDER
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    _remember_statuses(home / _STATUSES, returned_notices, on=business_date)
    landing = home / f".{uuid4().hex}.part"
    landing.mkdir(mode=0o700)
    if known is not None:
        known.lines.write_parquet(landing / "known.parquet")
        known.unread.write_parquet(landing / "unread.parquet")
    (landing / _ABOUT).write_text(json.dumps({"job": job}), encoding="utf-8")
    landing.rename(home / f"{business_date}_{run}")


def furthest_statuses(parts: Parts) -> Mapping[str, str]:
    """The furthest status that earlier reports saw, by the service's id of the ASN."""
    known = _known_statuses(parts.files / _FOLDER / _STATUSES)
    return {} if known is None else dict(known.select("record_id", "status").iter_rows())


def _known_statuses(path: Path) -> pl.DataFrame | None:
    """None if there are none, or if a power cut damaged the file: then they are gathered anew."""
    try:
        return pl.read_parquet(path) if path.is_file() else None
    except (pl.exceptions.PolarsError, OSError):
        return None


def _remember_statuses(path: Path, notices: pl.DataFrame, *, on: date) -> None:
    seen = notices.filter(pl.col("record_id") != "").select(
        "record_id", further_status("furthest_status", "status").alias("status"), pl.lit(on).alias("seen")
    )
    known = _known_statuses(path)
    recent = pl.col("seen") >= on - timedelta(days=_KEPT_DAYS)
    together = seen if known is None else pl.concat([seen, known.filter(recent)])
    landing = path.with_name(f".{uuid4().hex}.part")
    together.unique("record_id", keep="first", maintain_order=True).write_parquet(landing)
    landing.replace(path)


def known_receipts(parts: Parts, *, job: str, run: str, until: date) -> KnownLines | None:
    """What the last report of a job up to a day knew of receipts; or that of the run of that id, where job is "".

    None if there is none, or if it never knew of receipts.
    """
    home = parts.files / _FOLDER
    nights = [found for path in (home.iterdir() if home.is_dir() else ()) if (found := _NIGHT.fullmatch(path.name))]
    for found in sorted(nights, key=lambda night: night[0], reverse=True):
        folder = home / found[0]
        try:
            about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
            if date.fromisoformat(found[1]) <= until and (found[2] == run or (job and about["job"] == job)):
                if not (folder / "known.parquet").exists():
                    return None
                return KnownLines(pl.read_parquet(folder / "known.parquet"), pl.read_parquet(folder / "unread.parquet"))
        except (pl.exceptions.PolarsError, OSError, KeyError, TypeError, ValueError):
            continue  # damaged: an earlier one knows nearly as much
    return None


_NAMED = 5

FOLLOWED: Final = 50
"""So many ASNs outside the dates are asked for, one by one, the dearest first."""


@dataclass(frozen=True, slots=True)
class Counting:
    """The receipts that count tonight, and what the next report has to know of them; None: nothing was ever read.

    unopened: UNOPENED, the invoices of which lists may tell that were not read.
    """

    receipts: ReadList
    known: pl.DataFrame | None
    unopened: pl.DataFrame


def all_receipts(
    parts: Parts,
    place: Lists | None,
    tonight: ReadList,
    known: KnownLines | None,
    *,
    judged: pl.DataFrame,
    followed: Set[str],
    on: date,
) -> Counting:
    """Tonight's receipts with those of older lists and of earlier reports, each counted once.

    place: where the lists lie; None for a list by hand. tonight: as it was read. judged: as `judged_invoices` gives
    them; followed: folded invoice numbers besides. on: the business date. Raises StoreError if the place cannot be
    read.
    """
    if tonight.lines is None and (known is None or tonight.complete):  # nothing is known, or no list was asked for
        return Counting(tonight, known.lines if known else None, pl.DataFrame(schema=UNOPENED))
    kept = pl.DataFrame(schema=KNOWN_LINES) if known is None else known.lines
    with_older, read, unopened = _with_older(parts, place, tonight, judged=judged, known=set(kept["file_name"]), on=on)
    invoices = {folded(number) for number in judged["invoice"]} | followed
    kept = kept.filter(pl.col("last_listed") >= on - timedelta(days=KEPT_DAYS))
    back = _is_taken_back(kept, with_older)
    left = _still_counting(kept.filter(~back), _lines(with_older))
    if with_older.lines is None and not left.is_empty():  # every list is archived
        with_older = replace(with_older, lines=_lines(with_older))
    whole = _with_kept(with_older, _of(left, invoices), unread=_unread_on(known, with_older, invoices))
    taken_back = _of(kept.filter(back), invoices)
    if taken_back.height:
        rows = f"{counted(taken_back.height, 'receipt row')} of {_names(taken_back)}"
        whole = replace(whole, notes=(*whole.notes, f"Retracted, and counted no more: {rows}."))
    return Counting(whole, pl.concat([left, _as_known(read, with_older, on=on)]), unopened)


def is_compared(tonight: ReadList, known: KnownLines | None) -> bool:
    """Whether tonight's receipts are compared: a list could be read, or what an earlier report read counts on."""
    if tonight.lines is not None or tonight.complete or known is None:
        return tonight.lines is not None
    return not known.lines.filter(~_is_taken_back(known.lines, tonight)).is_empty()


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
            pl.min_horizontal(day(name) for name in names).alias("first"),
        )
        for notices, names in sides
    ]
    each = pl.concat(dated).group_by("invoice", maintain_order=True).agg(pl.col("first").min())
    return each.filter((pl.col("invoice") != "") & ~pl.col("invoice").is_in(list(scope.followed)))


def with_missing_lists(unopened: pl.DataFrame, receipts: ReadList, legs: Legs, *, none_came: bool) -> pl.DataFrame:
    """UNOPENED with the lists that could not be read at all: the goods of every invoice may stand in them.

    none_came: no list of tonight was there, where lists were expected; those that are to come may have any goods.
    """
    if receipts.lines is None or not (receipts.refused or none_came):
        return unopened
    refused = shortened([printable(name) for name in receipts.refused], limit=3)
    why = f"{refused} could not be read" if refused else "no list came tonight"
    sides = (legs.announced_notices, legs.returned_notices)
    every = pl.concat([side.select(identifier("invoice_number").alias("invoice")) for side in sides]).unique()
    return pl.concat([unopened, every.select("invoice", pl.lit(why).alias("lists"))])


def _with_older(
    parts: Parts, place: Lists | None, tonight: ReadList, *, judged: pl.DataFrame, known: Set[str], on: date
) -> tuple[ReadList, pl.DataFrame, pl.DataFrame]:
    """Tonight's receipts with what older lists say of the judged invoices; all rows that were read; and UNOPENED.

    Goods may come long before they are due, and what the service changed today may have been due weeks ago: how far
    back lists are opened follows from the oldest ASN. A list that an earlier report read is not read again.
    """
    lines = _lines(tonight)
    none, first = pl.DataFrame(schema=UNOPENED), judged["first"].min()
    if place is None or tonight.opened_since is None or not tonight.older or not isinstance(first, date):
        return tonight, lines, none
    back = timedelta(days=LOOK_BACK_DAYS)
    since = min(max(first - back, tonight.opened_since - timedelta(days=KEPT_DAYS)), tonight.opened_since)
    wanted = [file for file, day in tonight.older if day >= since and file.name not in known]
    if wanted:
        far = older_lists(parts, place, wanted, kind=RECEIPTS, business_date=on)
        lines = pl.concat([_lines(far), lines])
        tonight = _together(tonight, far, judged, since)
    left = sum(day < since and file.name not in known for file, day in tonight.older)
    if not left:
        return tonight, lines, none
    note = f"Not opened: {counted(left, 'list')} of receipts written before {since}."
    perhaps = judged.filter(pl.col("first") - back < since)
    unopened = perhaps.select("invoice", pl.lit(f"older ones, written before {since}, lie there").alias("lists"))
    return replace(tonight, notes=(*tonight.notes, note)), lines, unopened


def _together(near: ReadList, far: ReadList, judged: pl.DataFrame, since: date) -> ReadList:
    ours = identifier("invoice_number").is_in(judged["invoice"].implode())
    unread = far.unread.filter(ours | (identifier("invoice_number") == ""))
    whole = unread.is_empty() and not far.refused
    note = (
        f"Opened besides, as ASNs of this report are older than the range: {counted(len(far.files), 'list')} of "
        f"receipts written since {since}; only their rows of these ASNs count."
    )
    return replace(
        near,
        lines=pl.concat([_lines(far).filter(ours), _lines(near)]),
        unread=pl.concat([unread, near.unread]),
        complete=near.complete and whole,
        doubts=(*near.doubts, *(() if whole else far.doubts)),
        notes=(*near.notes, note),
        files=(*near.files, *far.files),
        refused=(*near.refused, *far.refused),
        written=near.written | far.written,
    )


def _still_counting(kept: pl.DataFrame, tonight: pl.DataFrame) -> pl.DataFrame:
    """The known rows that no list of tonight replaces."""
    first = tonight.group_by("file_name").agg(pl.col("received_date").min().alias("first_day"), read=True)
    both = kept.join(first, on="file_name", how="left", maintain_order="left")
    # The next day stands under the same name at docks that write one file: it says nothing of the days before.
    earlier = (pl.col("received_date") < pl.col("first_day")).fill_null(value=False)
    return both.filter(pl.col("read").is_null() | earlier).select(*KNOWN_LINES)


def _is_taken_back(rows: pl.DataFrame, receipts: ReadList) -> pl.Expr:
    """Which rows are of a list, or of an archive, that was taken back after it was written."""
    named = {name: name.split("/")[0] for name in rows["file_name"].drop_nulls().unique()}
    times = {name: receipts.retracted.get(name, receipts.retracted.get(outer)) for name, outer in named.items()}
    since = pl.col("file_name").replace_strict(times, default=None, return_dtype=pl.Float64)
    return (since.is_not_null() & (pl.col("written").is_null() | (pl.col("written") <= since))).fill_null(value=False)


def _with_kept(tonight: ReadList, ours: pl.DataFrame, *, unread: pl.DataFrame) -> ReadList:
    """Tonight's receipts after the known ones, each counted once."""
    dated = pl.format("{} (as read on {})", "file_name", pl.col("last_listed").dt.to_string("%Y-%m-%d"))
    lies_there = pl.col("file_name").is_in(list(tonight.lying))
    shown = ours.with_columns(pl.when(lies_there).then("file_name").otherwise(dated).alias("file_name"))
    lines = None if tonight.lines is None else pl.concat([shown.select(*RECEIVED_LINES), tonight.lines])
    whole = counted_lists(replace(tonight, lines=lines, unread=pl.concat([tonight.unread, unread])))
    gone = ours.filter(~lies_there)
    if gone.is_empty():
        return whole
    name = printable(gone["file_name"][0].split("/")[0])  # lists of an archive are taken back with it
    last = max(gone["last_listed"].cast(pl.String))
    rows = f"{counted(gone.height, 'receipt row')} of {_names(gone)}"
    mark = f"put an empty file with its name and {RETRACTED} at the end ({name}{RETRACTED}) where the lists lie"
    kept = f"Counted on as the report of {last} read them, though no list of tonight has them: {rows}."
    return replace(whole, notes=(*whole.notes, f"{kept} If such a list did not hold, {mark}, and reconcile again."))


def _unread_on(known: KnownLines | None, tonight: ReadList, invoices: Set[str]) -> pl.DataFrame:
    """Rows of the invoices that could not be read, of lists that are gone and were not taken back."""
    if known is None:
        return tonight.unread.clear()
    read = [*_lines(tonight)["file_name"].unique(), *tonight.unread["file_name"].unique(), *tonight.retracted]
    over = pl.col("file_name").is_in(read).fill_null(value=False)
    theirs = _of(known.unread, invoices).filter(~over)
    return theirs.join(tonight.unread, on="spot", how="anti", maintain_order="left").select(tonight.unread.columns)


def _as_known(lines: pl.DataFrame, receipts: ReadList, *, on: date) -> pl.DataFrame:
    """Rows as KNOWN_LINES has them."""
    times = {name: receipts.written.get(name.split("/")[0]) for name in lines["file_name"].unique().drop_nulls()}
    written = pl.col("file_name").replace_strict(times, default=None, return_dtype=pl.Float64)
    return lines.with_columns(pl.lit(on).alias("last_listed"), written.alias("written")).select(*KNOWN_LINES)


def _lines(read: ReadList) -> pl.DataFrame:
    return pl.DataFrame(schema=RECEIVED_LINES) if read.lines is None else read.lines


def _of(rows: pl.DataFrame, invoices: Set[str]) -> pl.DataFrame:
    ours = [number for number in rows["invoice_number"].unique() if number and folded(number) in invoices]
    return rows.filter(pl.col("invoice_number").is_in(ours).fill_null(value=False))


def _names(rows: pl.DataFrame) -> str:
    names = [printable(name) for name in rows["file_name"].unique(maintain_order=True)]
    return shortened(names, limit=_NAMED, noun=" lists")


def followed(
    earlier: Earlier, wanted: AsnRange, receipts: ReadList, known: KnownLines | None
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The invoices of open exceptions whose ASN may lie outside the range, as far as they can be judged tonight.

    Their numbers as they are written, by their folded form; and notes.

    Their goods may have been listed in a night whose lists are no longer read, so what was received comes from what
    earlier reports knew: of an exception that a report without receipts has shown last, nobody did. Where that is not
    to be had, nothing is said, and the exception stays "not checked".
    """
    open_ones, compared = _outside(earlier, wanted), is_compared(receipts, known)
    if compared:
        open_ones = open_ones.filter(pl.col("by_receipts").is_not_null())
    if open_ones.is_empty() or (known is None) == compared:
        return {}, ()  # what was received is compared only in one of the two nights
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
    return invoices, (*((note,) if chosen else ()), *more)


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
