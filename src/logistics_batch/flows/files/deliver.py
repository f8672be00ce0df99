"""The answer files of a run: built from the ledger alone, written whole or not at all, re-creatable at any time."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from logistics_batch.crash_points import crash_point
from logistics_batch.errors import FileHeld, RunStopped, StoreError, UsageError
from logistics_batch.flows.files.answer_names import FIX, path_at, places_of, put_fix, take_name
from logistics_batch.flows.files.foreign_files import answer_files
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.intake.names import copy_name, printable
from logistics_batch.ledger import WRITING_ANSWERS, Answered, NewNotice, StoredFile
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import FileReport
from logistics_batch.model.sheet import ReadOptions
from logistics_batch.paper.answers.json_answers import ack_json

_FEW = 200  # files


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was written for one file: paths by store; `failed` says where it could not be written, and why.

    notes: what else people should know of it.
    """

    paths: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    notes: tuple[Issue, ...] = ()


def acknowledge(parts: Parts, file: StoredFile, *, result_due: str) -> Delivered:
    """Write NAME.ack.json: the file was read, so much was found, and so it goes on."""
    report = replace(parts.ledger.documents.file_report(file.id), result_due=result_due)
    return _put_everywhere(parts, file, {"ack.json": ack_json(report)})


def deliver(parts: Parts, file: StoredFile, *, acknowledge: bool = False, first: bool = False) -> Delivered:
    """Write the result files of one arrival to all its places.

    Answers that were written before stay as they are where the original file is not at hand: only that holds the
    sender's columns.

    acknowledge: NAME.ack.json too, as things stand now. first: by its own run, so that it may be put away then.

    Raises:
        RunStopped: the rows' fates do not add up to the rows read; nothing is written then.
    """
    parts.ledger.require_lock()
    if not is_elsewhere(parts, file):
        parts.ledger.files.set_answered(file.id, Answered.IN_WRITING)
    report = parts.ledger.documents.file_report(file.id)
    if report.rows_read != sum(report.counts.values()):
        raise RunStopped(
            f"The totals of {file.name} do not add up: {report.rows_read} rows read, {sum(report.counts.values())} "
            "have a fate.",
            remedy="This must never happen: keep the ledger and report it. No result was written.",
        )
    if is_elsewhere(parts, file):
        return _left_as_written(parts, file, report)
    crash_point("report.before")
    receipt = {"ack.json": ack_json(report)} if acknowledge else {}
    found, told = _safe_contents(parts, file, report)
    written = _put_everywhere(parts, file, receipt | found)
    written = replace(written, notes=(*written.notes, *told))
    crash_point("report.after")
    if written.failed:
        parts.ledger.files.set_answered(file.id, Answered.UNWRITTEN)
    else:
        parts.ledger.files.set_answered(file.id, Answered.FRESH, first=first)
    if file.rows_read and not kept_file(parts, file).exists():  # better than none, which their sender would have else
        less = Issue.of("answers.without_columns", name=file.name, run=file.run)
        written = replace(written, notes=(*written.notes, less))
    return written


def _left_as_written(parts: Parts, file: StoredFile, report: FileReport) -> Delivered:
    """Another machine that shares the ledger took the file, and writes its answers; or its original was purged."""
    kept_for = parts.policy.purge_after_seconds
    if kept_for and datetime.fromisoformat(report.received_at) < parts.clock.now() - timedelta(seconds=kept_for):
        parts.ledger.files.set_answered(file.id, Answered.IN_WRITING, Answered.FRESH)  # they stay as they are
        return Delivered(notes=(Issue.of("answers.purged", name=file.name, run=file.run),))
    return Delivered(notes=(Issue.of("answers.elsewhere", name=file.name, run=file.run),))


def is_elsewhere(parts: Parts, file: StoredFile) -> bool:
    """Whether answers with the sender's columns were written before, and the original that they need is not here."""
    return file.rows_read > 0 and file.state != "planned" and not kept_file(parts, file).exists()


def _safe_contents(parts: Parts, file: StoredFile, report: FileReport) -> tuple[dict[str, bytes], list[Issue]]:
    """The result files; where the program fails on the sender's own cells, those without them. And notes."""
    try:
        with holding_file(file.name):
            path = kept_file(parts, file)
            was_read = bool(file.rows_read or not file.rule)  # else there is nothing of the sender's to show
            found, taken_out = _rendered(parts, file, report, path if was_read and path.exists() else None)
            name = printable(file.name)
            return found, [Issue.of("answers.taken_out", name=name, what=[note.pair]) for note in taken_out]
    except FileHeld as held:
        why = [(held.code, held.values)]
        note = Issue.of("answers.program_failed", name=printable(file.name), why=why)
        return _rendered(parts, file, report, None)[0], [note]


def _rendered(
    parts: Parts, file: StoredFile, report: FileReport, path: Path | None
) -> tuple[dict[str, bytes], tuple[Issue, ...]]:
    """The result files by the ending that follows NAME, and notes on what was taken out of the sender's workbook."""
    options = ReadOptions()
    if "read" in file.origin:
        options = ReadOptions.of_kept(file.origin["read"])
    else:  # an earlier version read it
        with suppress(UsageError):  # the mapping is gone or broken by now: the defaults read ordinary files
            options = parts.mapping(file.mapping).read_options
    render = answer_files
    if path is not None:
        render = parts.limited(answer_files, about=file.name, rows_read=file.rows_read)
    return render(
        replace(report, documents=report.documents.clear()),  # answers are about rows; bodies need not travel
        path,
        name=file.name,
        kind=file.format,
        options=options,
        formats=tuple(file.origin.get("formats") or ["xlsx", "csv"]),
    )


def answers_as_known(parts: Parts, file: StoredFile) -> dict[str, bytes]:
    """The answers of a file as the ledger knows them now, by the ending that follows NAME; nothing is written."""
    return _safe_contents(parts, file, parts.ledger.documents.file_report(file.id))[0]


def kept_file(parts: Parts, file: StoredFile) -> Path:
    """Where the original bytes of a file are kept."""
    return parts.files / copy_name(file.sha256, file.name)


def _put_everywhere(parts: Parts, file: StoredFile, contents: dict[str, bytes]) -> Delivered:
    """contents: by the ending that follows NAME; with results a fix file that is not among them is out of date."""
    paths: list[str] = []
    failed: list[str] = []
    notes: list[Issue] = []
    for place in places_of(parts, file):
        try:
            store = parts.open_store(place)
            try:
                stem, told = take_name(parts, store, place, file)
                notes += told
                for ending, content in contents.items():
                    if ending != FIX:
                        store.put(path_at(place, stem, ending), content)
                        paths.append(f"{store.label}:{path_at(place, stem, ending)}")
                if contents.keys() - {"ack.json"}:
                    notes += put_fix(parts, store, place, stem, contents.get(FIX), run=file.run)
                if FIX in contents:
                    paths.append(f"{store.label}:{path_at(place, stem, FIX)}")
            finally:
                store.close()
        except (StoreError, UsageError) as error:  # also a server whose section is gone, or whose key is another one
            failed.append(f"The results of {file.name} could not be written: {error.message} {error.remedy}".strip())
    return Delivered(tuple(paths), tuple(failed), tuple(notes))


def deliver_stale(parts: Parts, *, leave_out_run: str = "") -> list[Delivered]:
    """Write again every result that no longer shows what is known: a doubt was settled, a version replaced …

    And for the first time those that could not be written when their run ended.
    """
    found = []
    for file in [file for file in parts.ledger.files.stale() if file.run != leave_out_run]:
        first = file.state == "planned"
        if not first and _came_again(parts, file):
            parts.ledger.files.set_answered(file.id, Answered.IN_WRITING, Answered.FRESH)  # they stay as they are
            continue
        found.append(deliver(parts, file, acknowledge=first, first=first))
        _tell(parts, file, found[-1])
    return found


def deliver_stale_beside(parts: Parts) -> list[Delivered]:
    """The same for whoever holds no ledger: one that writes beside a run would put what it read before over newer.

    Raises LedgerBusy: a run holds it, which writes them at its end, or leaves them to the next one.
    """
    with parts.ledger.sending(WRITING_ANSWERS):
        return deliver_stale(parts)


def _came_again(parts: Parts, file: StoredFile) -> bool:
    """Whether its answers lie under names that answer the same file since it came once more."""
    again = [
        each for each in parts.ledger.files.of_run(sha256=file.sha256) if each.id > file.id and each.state != "planned"
    ]
    same = (file.name, file.mapping, places_of(parts, file))
    return any((each.name, each.mapping, places_of(parts, each)) == same for each in again)


def _tell(parts: Parts, file: StoredFile, delivered: Delivered) -> None:
    """That an answer could not be written is news of the job that it belongs to, whoever tried."""
    now, key = parts.clock.now().isoformat(), f"answer|{file.id}"
    if not delivered.failed:
        parts.ledger.notices.over(key, "They were written.", now=now)
        return
    run = parts.ledger.runs.get(file.run)
    job = run.job if run is not None else ""
    named = f" of {file.name}" if parts.policy.names_in_alerts else ""
    text = f"The answers{named} (run {file.run}) could not be written. Each run tries again, `doctor` says why."
    parts.ledger.notices.note(NewNotice(key, "on_failure", job, f"{job}: answers could not be written", text), now=now)


class FileReports(Sequence[FileReport]):
    """The reports of some files in order, each read when it is looked at; those of a few files are then kept.

    So what is known of every row of thousands of files is never held at once. read: gives the report of a file by its
    number in the ledger.
    """

    def __init__(self, read: Callable[[int], FileReport], numbers: Sequence[int]) -> None:
        self._numbers = tuple(numbers)
        self._read = cache(read) if len(self._numbers) <= _FEW else read

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(map(self._read, self._numbers[index]))
        return self._read(self._numbers[index])
