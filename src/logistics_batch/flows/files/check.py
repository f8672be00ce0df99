"""A sheet is looked at before it is dropped: what would become of each row, with cells corrected, and handing it over.

Nothing is sent or written down here. What is handed over is put where the job's files are dropped, and goes the way of
every file from there.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import polars as pl

from logistics_batch.errors import UsageError
from logistics_batch.flows.files.foreign_files import corrected_workbook, frames_of_file
from logistics_batch.flows.files.misnamed import is_meant
from logistics_batch.flows.files.receive import OPEN_GATE, ReceivedFile, gate_of, unpacked
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import held_as_mistake, holding_file
from logistics_batch.flows.push.preview import preview_files
from logistics_batch.flows.push.push import sending_mapping
from logistics_batch.intake.names import name_fault, printable
from logistics_batch.model.answers import result_stem
from logistics_batch.model.jobs.job import PushJob
from logistics_batch.model.report import FileReport

MOST_ROWS = 50_000
Cell = tuple[str, int, int]
"""A cell: the sheet's name, row and column from 1."""


@dataclass(frozen=True, slots=True)
class CheckedSheet:
    """What would become of a sheet if these very bytes were dropped. frames: by the sheet's name, as of `Sheet`."""

    name: str
    content: bytes = field(repr=False)
    report: FileReport
    frames: Mapping[str, pl.DataFrame]

    @property
    def sha256(self) -> str:
        """Of its bytes."""
        return self.report.sha256


def one_sheet(parts: Parts, name: str, content: bytes, *, folder: Path) -> tuple[str, bytes]:
    """The name and bytes of the one file that came; of an archive those of the file in it.

    Raises UsageError for a name that no file may have, and for an archive that cannot be opened or holds several.
    """
    if fault := name_fault(name):
        raise UsageError(f"This file cannot be taken: {fault.reason}.", remedy="Rename it.")
    path = folder / hashlib.sha256(content).hexdigest()
    path.write_bytes(content)
    files = unpacked(parts, [ReceivedFile(path, name)], to=folder)
    if len(files) != 1:
        names = ", ".join(printable(each.name) for each in files[:5])
        raise UsageError(f"{printable(name)} holds several files: {names}.", remedy="Check one after the other.")
    (file,) = files
    if file.held is not None:
        raise UsageError(file.held.message, remedy=file.held.remedy)
    return file.name, file.path.read_bytes()


def checked(
    parts: Parts, name: str, content: bytes, *, mapping: str, job: PushJob | None, folder: Path
) -> CheckedSheet:
    """What would become of each row; nothing is written or called. job: whose file it would be, if any's.

    Raises UsageError for more rows than are checked, and where the mapping sends nothing or cannot be used.
    """
    rules = sending_mapping(parts.mapping(mapping))
    path = folder / hashlib.sha256(content).hexdigest()
    path.write_bytes(content)
    try:
        with held_as_mistake():
            found = preview_files(
                parts,
                [ReceivedFile(path, name)],
                rules,
                business_date=parts.clock.now().date(),
                job=job.name if job else "check",
                gate=gate_of(job) if job else OPEN_GATE,
            )
            (report,) = found.files
            if report.rows_read > MOST_ROWS:
                raise UsageError(
                    f"{printable(name)} has {report.rows_read:,} rows; up to {MOST_ROWS:,} are checked here.",
                    remedy="Drop it where the job takes its files.",
                )
            sheets = tuple(each.sheet for each in report.by_sheet)
            frames: Mapping[str, pl.DataFrame] = {}
            if report.header_row:
                with holding_file(name):
                    frames = parts.limited(frames_of_file, about=name)(path, rules, name=name, sheets=sheets)
        return CheckedSheet(name, content, report, frames)
    finally:
        path.unlink(missing_ok=True)


def corrected(
    parts: Parts, sheet: CheckedSheet, cells: Mapping[Cell, str], *, mapping: str, folder: Path
) -> tuple[str, bytes]:
    """The name and bytes of a sheet in which cells have other texts: a plain workbook of the same rows.

    Raises UsageError where that would leave something out that counts.
    """
    path = folder / hashlib.sha256(sheet.content).hexdigest()
    path.write_bytes(sheet.content)
    changes = [(*cell, text) for cell, text in cells.items()]
    headers = {each.sheet: each.header_row for each in sheet.report.by_sheet}
    try:
        with held_as_mistake(), holding_file(sheet.name):
            made = parts.limited(corrected_workbook, about=sheet.name)(
                path, parts.mapping(mapping), name=sheet.name, headers=headers, cells=changes
            )
    finally:
        path.unlink(missing_ok=True)
    is_workbook = PurePosixPath(sheet.name).suffix.casefold() == ".xlsx"
    return sheet.name if is_workbook else f"{result_stem(sheet.name)}.fix.xlsx", made


def why_not_of(job: PushJob, name: str) -> str:
    """Why a job would not take a file of that name; "" if it would."""
    if is_meant(name, job.source.pattern):
        return ""
    return f"The job {job.name} takes files named {', '.join(job.source.pattern)}; this one is {printable(name)}."


def hand_to_job(parts: Parts, job: PushJob, name: str, content: bytes) -> None:
    """Put a file where the job's files are dropped, whole, and with its done-file if the job waits for one.

    Raises UsageError if the job would not take it, or a file of that name lies there; StoreError.
    """
    if why := why_not_of(job, name):
        raise UsageError(why, remedy="Rename the sheet, and check it again.")
    folder = PurePosixPath(job.source.path)
    store = parts.open_store(job.source.place)
    try:
        if name in {file.name for file in store.list(str(folder))}:
            raise UsageError(
                f"A file named {printable(name)} lies there and was not taken yet.",
                remedy="Wait until the job took it, or rename this sheet and check it again.",
            )
        store.put(str(folder / name), content)
        if done := job.source.ready.done_name(name):
            store.put(str(folder / done), b"")
    finally:
        store.close()
