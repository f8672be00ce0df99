"""The received and the ordered leg: lists of goods, by hand or from a server, read by a `receipt.read` mapping."""

import math
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path, PurePosixPath
from uuid import uuid4

import polars as pl

from logistics_batch.errors import FileHeld, FileUnstable, FileVanished, LogisticsBatchError, StoreError, UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.flows.reconcile.goods_list import ListKind, ReadList, read_list
from logistics_batch.intake.containers import Member
from logistics_batch.intake.names import copy_name, name_fault, name_matches, printable
from logistics_batch.intake.stores.readiness import never_input
from logistics_batch.intake.stores.store import FileStore, RemoteFile
from logistics_batch.mapping import Mapping, RunValues
from logistics_batch.messages.words import shortened
from logistics_batch.model.counting import counted
from logistics_batch.model.document import Operation
from logistics_batch.model.jobs.job import Lists
from logistics_batch.reconciliation import ORDERED_LINES, RECEIVED_LINES, UNREAD_ROWS, Counted, counted_once
from logistics_batch.scratch import scratch_folder

LOOK_BACK_DAYS = 7
"""Goods may come, and lists of them be written, this many days before the first day of the range."""
_ORDERED_BEFORE_DAYS = 90

RETRACTED = ".retracted"
"""At the end of a list's name: what was written before under this name did not hold."""

_ROWS_NAMED = 5
_LISTS_NAMED = 5


RECEIPTS = ListKind("receipts", "receipts file", RECEIVED_LINES, LOOK_BACK_DAYS, "--receipts")
PURCHASE_ORDERS = ListKind(
    "purchase orders", "purchase-order file", ORDERED_LINES, _ORDERED_BEFORE_DAYS, "--purchase-orders"
)


@dataclass(frozen=True, slots=True)
class _Reader:
    """How the files of a list are read."""

    kind: ListKind
    mapping: Mapping
    business_date: date


def list_by_hand(parts: Parts, path: Path, *, kind: ListKind, mapping: str, business_date: date) -> ReadList:
    """The lines of one file, as it has them.

    Raises UsageError if there is no such file or the mapping is not for lists, FileHeld if it cannot be read.
    """
    reader = _reader(parts, mapping, kind=kind, business_date=business_date)
    if not path.is_file():
        raise UsageError(f"There is no {kind.file_word} {path}.", remedy=f"Check the path after {kind.option}.")
    with scratch_folder() as folder, holding_file(path.name):
        try:
            members = parts.unpack(path, name=path.name, to=folder)
            read = _members_read(parts, path.name, members, reader)
            read += [] if members else [_read(parts, path, path.name, reader)]
        except FileHeld as held:
            which = f"{kind.file_word.capitalize()} {printable(path.name)}"
            held.message = f"{which} could not be read: {held.message}"
            held.args = (held.message,)
            raise
    beside = path.parent.glob(f"{path.name}*")
    retracted = _retracted((file.name, file.stat().st_mtime) for file in beside)
    written = {path.name: path.stat().st_mtime}
    if _is_retracted(path.name, written[path.name], retracted):
        remedy = f"Remove {path.name}{RETRACTED}, or name another list."
        raise UsageError(f"{path} was taken back by a file {path.name}{RETRACTED}.", remedy=remedy)
    return replace(_put_together(read), lying=frozenset([path.name]), written=written, retracted=retracted)


def list_from(parts: Parts, source: Lists, *, kind: ListKind, since: date, business_date: date) -> ReadList:
    """The lines of all files at a place that were written in the days of the range or shortly before.

    The files stay where they lie. Raises UsageError if the mapping is not for lists, StoreError if the place cannot
    be read.
    """
    reader = _reader(parts, source.mapping, kind=kind, business_date=business_date)
    oldest = since - timedelta(days=kind.look_back_days)
    with closing(parts.open_store(source)) as store:
        listing = listed_at(store, source.path)
        lists = [file for file in listing if _is_list(file, source.pattern)]
        read = [_misnamed(file, reader) for file in lists if name_fault(file.name)]
        retracted = _retracted((file.name, file.modified) for file in listing if not name_fault(file.name))
        days = {file: _day_of(file, parts) for file in lists if not name_fault(file.name)}
        aside = [file for file in days if _is_retracted(file.name, file.modified, retracted)]
        set_aside = _said_of_set_aside([file for file in aside if (days[file] or oldest) >= oldest])
        lying = {file: day for file, day in days.items() if file not in aside}
        wanted = [file for file, day in lying.items() if day is None or day >= oldest]
        read += _fetched_each(parts, store, wanted, reader)
    together = _put_together(read)
    if not read:
        named = f"No {kind.file_word} written since {oldest} lies in {store.label} {source.path}"
        together = replace(together, doubts=(f"{named}: no list of tonight was compared.",))
    return replace(
        together,
        notes=(*together.notes, *set_aside),
        opened_since=oldest,
        older=tuple((file, day) for file, day in lying.items() if day is not None and day < oldest),
        lying=frozenset(file.name for file in lying),
        written=_written(wanted),
        retracted=retracted,
    )


def older_lists(
    parts: Parts, source: Lists, files: Sequence[RemoteFile], *, kind: ListKind, business_date: date
) -> ReadList:
    """The lines of lists that `list_from` left as `older`. Raises StoreError if the place cannot be read."""
    reader = _reader(parts, source.mapping, kind=kind, business_date=business_date)
    with closing(parts.open_store(source)) as store:
        return replace(_put_together(_fetched_each(parts, store, files, reader)), written=_written(files))


def _fetched_each(parts: Parts, store: FileStore, files: Sequence[RemoteFile], reader: _Reader) -> list[ReadList]:
    read: list[ReadList] = []
    parts.progress.start(f"Reading {reader.kind.word}", len(files))
    for file in files:
        read += _fetched(parts, store, file, reader)
        parts.progress.advance()
    parts.progress.done()
    return read


def _written(files: Sequence[RemoteFile]) -> dict[str, float]:
    return {file.name: file.modified for file in files if file.modified is not None}


def _reader(parts: Parts, name: str, *, kind: ListKind, business_date: date) -> _Reader:
    return _Reader(kind, list_mapping(parts.mapping(name), kind=kind), business_date)


def list_mapping(mapping: Mapping, *, kind: ListKind) -> Mapping:
    """The mapping of a list; UsageError if it is for anything else."""
    if mapping.operation is not Operation.RECEIPT_READ:
        raise UsageError(
            f'The mapping "{mapping.name}" is for {mapping.operation}, not for {kind.word}.',
            remedy="Name a mapping with operation: receipt.read.",
        )
    return mapping


def listed_at(store: FileStore, path: str) -> list[RemoteFile]:
    """The files of a folder, or the one file that the path names."""
    named = PurePosixPath(path)
    try:
        return store.list(path)
    except StoreError:
        beside = (
            [file for file in store.list(str(named.parent)) if _is_of(file.name, named.name)] if named.suffix else []
        )
        if not beside:
            raise
        return beside


def _is_of(name: str, wanted: str) -> bool:
    """Whether a file is a list, or takes it back."""
    return name == wanted or (_is_mark(name) and name[: -len(RETRACTED)] == wanted)


def _is_list(file: RemoteFile, patterns: Sequence[str]) -> bool:
    usable = not file.is_link and not never_input(file.name) and not _is_mark(file.name)
    return usable and name_matches(file.name, patterns)


def _retracted(files: Iterable[tuple[str, float | None]]) -> dict[str, float]:
    """When lists were taken back, by their names."""
    marks = {name[: -len(RETRACTED)]: at for name, at in files if _is_mark(name)}
    return {name: math.inf if at is None else at for name, at in marks.items()}


def _is_mark(name: str) -> bool:
    """Whether a file takes a list back; some programs write the ends of names in capitals."""
    return name.lower().endswith(RETRACTED)


def _is_retracted(name: str, written: float | None, retracted: dict[str, float]) -> bool:
    """Whether a list was written before lists of its name were taken back."""
    return name in retracted and (written is None or written <= retracted[name])


def _said_of_set_aside(files: Sequence[RemoteFile]) -> tuple[str, ...]:
    """Lists that lie there and were not read, as they were taken back: a corrected one may have kept an older time."""
    if not files:
        return ()
    names = [printable(file.name) for file in files]
    named = shortened(names, limit=_LISTS_NAMED, noun=" lists")
    kept = f"Not read, though it lies there, since a file with its name and {RETRACTED} took it back: {named}."
    mark = f"{names[0]}{RETRACTED}"
    hint = f"If it is the corrected list, its time is older than the mark's: save it anew, or remove {mark}."
    return (f"{kept} {hint}",)


def _day_of(file: RemoteFile, parts: Parts) -> date | None:
    """The day when a file was written, as far as the server tells."""
    if file.modified is None:
        return None
    try:
        return datetime.fromtimestamp(file.modified, tz=parts.clock.now().tzinfo).date()
    except (ValueError, OverflowError, OSError):  # a year that no calendar has
        return None


def _fetched(parts: Parts, store: FileStore, file: RemoteFile, reader: _Reader) -> list[ReadList]:
    """A file of a server, or each in it if it is an archive.

    One that cannot be read makes the receipts incomplete, and the others go on.
    """
    folder = parts.files / "receipts"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    landing = folder / f".{uuid4().hex}.part"
    try:
        with holding_file(file.name):
            kept = folder / copy_name(store.fetch(file, to=landing).sha256, file.name)
            landing.replace(kept)
            members = parts.unpack(kept, name=file.name, to=folder)
            if members:
                return _members_read(parts, file.name, members, reader)
            return [_read(parts, kept, file.name, reader)]
    except (FileHeld, FileVanished, FileUnstable) as error:
        return [_unreadable(file.name, error, reader)]
    finally:
        landing.unlink(missing_ok=True)


def _members_read(parts: Parts, archive: str, members: Sequence[Member], reader: _Reader) -> list[ReadList]:
    """Each file of an archive; one that cannot be read makes the receipts incomplete."""
    read: list[ReadList] = []
    for member in members:
        if member.left_out:
            continue
        # Lists in two archives may have one name, and what one repeats of the other must not count twice.
        name = f"{archive}/{member.inside or member.name}"
        try:
            if member.held is not None:
                raise member.held
            with holding_file(name):
                read.append(_read(parts, member.path, name, reader))
        except FileHeld as held:
            read.append(_unreadable(name, held, reader))
    return read


def _misnamed(file: RemoteFile, reader: _Reader) -> ReadList:
    """A list that cannot be fetched for its name."""
    fault = name_fault(file.name)
    why = f"{fault.reason}." if fault else ""
    return _unreadable(printable(file.name), StoreError(why, remedy="Rename it, then run again."), reader)


def _unreadable(name: str, error: LogisticsBatchError, reader: _Reader) -> ReadList:
    told = f"{error.message} {error.remedy or ''}".strip()
    note = f"{reader.kind.file_word.capitalize()} {printable(name)} could not be read, and nothing of it counts: {told}"
    return ReadList(None, complete=False, doubts=(note,), refused=(name,))


def _read(parts: Parts, path: Path, name: str, reader: _Reader) -> ReadList:
    values = RunValues(file_name=name, business_date=reader.business_date, timezone=parts.policy.timezone)
    today = max(reader.business_date, parts.clock.now().date())
    return parts.limited(read_list, about=name, returns=(ReadList,))(
        path, reader.mapping, kind=reader.kind, run_values=values, today=today
    )


def _put_together(read: Sequence[ReadList]) -> ReadList:
    frames = [one.lines for one in read if one.lines is not None]
    return ReadList(
        pl.concat(frames) if frames else None,
        complete=bool(frames) and all(one.complete for one in read),
        doubts=tuple(doubt for one in read for doubt in one.doubts),
        notes=tuple(note for one in read for note in one.notes),
        files=tuple(name for one in read for name in one.files),
        unread=pl.concat([one.unread for one in read]) if read else pl.DataFrame(schema=UNREAD_ROWS),
        refused=tuple(name for one in read for name in one.refused),
    )


def counted_lists(read: ReadList) -> ReadList:
    """The same without lines that only repeat an earlier list, and notes on these."""
    if read.lines is None:
        return read
    kept = counted_once(read.lines)
    notes = list(read.notes)
    if kept.left_out:
        notes.append(
            f"What only repeats an earlier list counts once: {counted(kept.left_out, 'line')} {_are(kept.left_out)} "
            "left out; the reason of a line that differs names them."
        )
    if kept.replaced:
        notes.append(
            "An order that stands in several lists counts as the latest one has it: "
            f"{counted(kept.replaced, 'line')} of earlier lists {_are(kept.replaced)} left out; the reason of a line "
            "that differs names them."
        )
    if kept.alike:
        notes.append(
            f"Receipt lines alike in several lists count each time, as deliveries of their own: {_first(kept)}"
        )
    return replace(read, lines=kept.lines, notes=tuple(notes))


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _first(kept: Counted) -> str:
    """The first of the lines that are alike in several lists, so that nobody need search for them."""
    alike = kept.lines.filter(pl.col("alike") != "").unique("alike", maintain_order=True)
    named = [
        f"invoice {printable(invoice or '')} SKU {printable(sku or '')} ({printable(places)})"
        for invoice, sku, places in alike.select("invoice_number", "sku_name", "alike").iter_rows()
    ]
    return f"{shortened(named, limit=_ROWS_NAMED, separator='; ')}."
