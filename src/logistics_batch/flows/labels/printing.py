"""The bundles that lie below the reports, and labels to a printer: the files of a bundle as jobs of a print queue
(CUPS), which are watched until they end."""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import ValidationError

from logistics_batch.child_process import Allowance
from logistics_batch.errors import UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.model.jobs.job import LabelsJob, Printer
from logistics_batch.model.run_reports import PrintJob, PrintState

_ANSWERS_WITHIN_SECONDS, _LONGEST_WORDS = 30.0, 200
_LOOKED_AT_EVERY_SECONDS = 1.0
_IN_ENGLISH = ("env", "LC_ALL=C.UTF-8")
_REQUEST = re.compile(r"request id is (\S+) \(")
_TO_DRAW = Allowance(memory_bytes=3 << 30, resident_bytes=1 << 30, cpu_seconds=300, wait_seconds=600.0)
_JOB_STATES = {7: PrintState.REFUSED, 8: PrintState.REFUSED, 9: PrintState.PRINTED}  # cancelled, given up, done


LAYOUTS: Final[tuple[str, ...]] = get_args(LabelsJob.model_fields["layout"].annotation)
"""How labels may lie on the paper, the usual way first."""


def printer_of(told: Mapping[str, Any]) -> Printer:
    """The printer that a person names, by the keys of a job's `print`; raises UsageError for what is none."""
    try:
        return Printer.model_validate(told)
    except ValidationError as error:
        wrong = ", ".join(f'"{each["input"]}"' for each in error.errors())
        raise UsageError(f"{wrong} cannot be given to a print queue.", remedy="`lpstat -e` lists the queues.") from None


def check_printing(printer: Printer) -> None:
    """Raises UsageError if this machine has no printing system, or nothing that draws what the printer needs."""
    from logistics_batch.paper.labels.barcodes import can_read_barcodes  # what reads PDF, for those who need it

    if shutil.which("lp") is None:
        raise UsageError(
            "This machine has no `lp`, so nothing was printed.", remedy="Install CUPS' client, or print the files."
        )
    if printer.zpl is not None and not can_read_barcodes():  # the same library draws them
        raise UsageError(
            "Nothing here can draw labels as ZPL, so nothing was printed.",
            remedy='Install the extra "barcodes", as in pip install "logistics-batch[barcodes]".',
        )


def print_files(parts: Parts, files: Sequence[Path], printer: Printer, *, bundle_id: str) -> tuple[PrintJob, ...]:
    """Give files of labels to a queue, each as a job, in their order, and watch them as long as the printer's `wait`.

    Behind a file that the queue does not certainly take nothing more is given to it, for the order would be another.
    A job that the queue may have is never given to it again.

    Raises:
        UsageError: see `check_printing`. Nothing was printed.
    """
    check_printing(printer)
    jobs = [PrintJob(file.name, printer.queue, PrintState.REFUSED) for file in files]
    contents, fault = _drawn(files, printer) if printer.zpl else ([b""] * len(files), "")
    if fault:
        return tuple(replace(job, said=fault) for job in jobs)
    for place, (job, file, content) in enumerate(zip(jobs, files, contents, strict=True)):
        jobs[place] = _given(job, printer, file, title=f"Labels {bundle_id} {file.name}", content=content)
        if jobs[place].state is not PrintState.WAITING:
            break
    return tuple(_watched(parts, jobs, seconds=printer.wait_seconds))


def print_again(parts: Parts, bundle: str, printer: Printer) -> tuple[PrintJob, ...]:
    """Print a bundle that lies below the reports once more; it counts as no further copy of its labels.

    bundle: its id, or ID/FILE for one of its files.

    Raises:
        UsageError: there is no such bundle there, or it has no labels; and as `print_files`.
    """
    bundle_id, _, only = bundle.partition("/")
    names = [name for name in files_of_bundle(parts, bundle_id) if name.startswith("labels") and name.endswith(".pdf")]
    wanted = [name for name in names if only in ("", name)]
    files = [path for name in wanted if (path := file_of_bundle(parts, bundle_id, name)) is not None]
    if not files:
        raise UsageError(
            f"No labels of a bundle {bundle} lie below the reports.",
            remedy="`logistics-batch runs` lists the runs; a bundle that was made elsewhere is printed from there.",
        )
    return print_files(parts, files, printer, bundle_id=bundle_id)


def files_of_bundle(parts: Parts, bundle_id: str) -> dict[str, int]:
    """The names of a bundle's files and how many bytes each has; nothing if it lies elsewhere or is none."""
    folder = _folder(parts, bundle_id)
    found = sorted(folder.iterdir()) if folder is not None and folder.is_dir() else []
    return {path.name: path.stat().st_size for path in found if path.is_file() and not path.is_symlink()}


def file_of_bundle(parts: Parts, bundle_id: str, name: str) -> Path | None:
    """Where one file of a bundle lies; None if there is none of that name."""
    folder = _folder(parts, bundle_id)
    return folder / name if folder is not None and name in files_of_bundle(parts, bundle_id) else None


def _folder(parts: Parts, bundle_id: str) -> Path | None:
    """Where a bundle lies; None for what is no label run's id, which may lead anywhere."""
    run = parts.ledger.runs.get(bundle_id)
    return parts.reports / "labels" / run.id if run is not None and run.kind == "labels" else None


def _drawn(files: Sequence[Path], printer: Printer) -> tuple[list[bytes], str]:
    """The labels of each file as the printer draws them, and what is wrong where that cannot be."""
    from logistics_batch.paper.labels.check import LabelFault
    from logistics_batch.paper.labels.judge import LabelJudge

    assert printer.zpl is not None
    with closing(LabelJudge(processes=1, allowance=_TO_DRAW)) as judge:
        try:
            return [judge.draw(file.read_bytes(), printer.zpl, printer.copies) for file in files], ""
        except LabelFault as fault:
            return [], fault.message


def _given(job: PrintJob, printer: Printer, file: Path, *, title: str, content: bytes) -> PrintJob:
    """The job with its number, if the queue took it. content: what goes out as it is, instead of the file."""
    command = ["lp", "-d", printer.queue, "-t", title]
    if content:
        command += ["-o", "raw"]
    else:
        told = (("media", printer.media), ("InputSlot", printer.tray))
        command += ["-n", str(printer.copies), *(f"-o{name}={value}" for name, value in told if value)]
        command += ["--", str(file)]
    try:
        done = _asked(command, content)
    except (OSError, subprocess.TimeoutExpired) as error:
        return replace(job, state=PrintState.UNKNOWN, said=type(error).__name__)
    said = _words(done.stdout or done.stderr)
    if done.returncode > 0:
        return replace(job, said=said)
    request = _REQUEST.search(said)
    if request is None:  # also where a signal ended it
        return replace(job, state=PrintState.UNKNOWN, said=said)
    return replace(job, state=PrintState.WAITING, number=request[1])


def _watched(parts: Parts, jobs: list[PrintJob], *, seconds: float) -> list[PrintJob]:
    """The jobs as the queue tells of them when all are over, or so many seconds have passed."""
    until, library = parts.clock.monotonic() + seconds, _library()
    parts.progress.start("Printing", None)
    while True:
        states = _states(library) if library else None
        jobs = [_as_told(job, states) if job.state is PrintState.WAITING else job for job in jobs]
        is_over = not library or all(job.state is not PrintState.WAITING for job in jobs)
        if is_over or parts.stop.is_set() or parts.clock.monotonic() >= until:
            break
        parts.clock.sleep(_LOOKED_AT_EVERY_SECONDS)
    parts.progress.done()
    if states is None:  # nobody could be asked at last
        jobs = [replace(job, state=PrintState.UNKNOWN) if job.state is PrintState.WAITING else job for job in jobs]
    said = {} if all(job.state is PrintState.PRINTED for job in jobs) else _said(jobs[0].queue)
    return [replace(job, said=job.said or said.get(job.number, "")) if job.number else job for job in jobs]


def _as_told(job: PrintJob, states: Mapping[int, int] | None) -> PrintJob:
    """The job with its state; a queue that is removed takes its jobs along. states: see `_states`."""
    if states is None:
        return job
    state = states.get(int(job.number.rpartition("-")[2]))
    return replace(job, state=PrintState.UNKNOWN if state is None else _JOB_STATES.get(state, PrintState.WAITING))


class _Job(ctypes.Structure):
    """`cups_job_t` of CUPS' library: its commands show whether a job is over, and only this how it ended."""

    _fields_ = (
        ("id", ctypes.c_int),
        *((name, ctypes.c_char_p) for name in ("queue", "title", "user", "format")),
        *((name, ctypes.c_int) for name in ("state", "size", "priority")),
        *((name, ctypes.c_long) for name in ("completed", "created", "begun")),
    )


def _library() -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL("libcups.so.2")
    except OSError:
        return None
    library.httpConnect2.restype, library.cupsServer.restype = ctypes.c_void_p, ctypes.c_char_p
    return library


def _states(library: ctypes.CDLL) -> dict[int, int] | None:
    """The state (RFC 8011 §5.3.7) of each job that the server knows, by its number; None if it does not say.

    The library alone would wait for a server that stands still without end.
    """
    server, port, encryption = library.cupsServer(), library.ippPort(), library.cupsEncryption()
    patience = int(_ANSWERS_WITHIN_SECONDS * 1000)
    server = ctypes.c_void_p(library.httpConnect2(server, port, None, 0, encryption, 1, patience, None))
    if not server:
        return None
    library.httpSetTimeout(server, ctypes.c_double(_ANSWERS_WITHIN_SECONDS), None, None)
    listed = ctypes.POINTER(_Job)()
    count = library.cupsGetJobs2(server, ctypes.byref(listed), None, 0, -1)
    found = {listed[place].id: listed[place].state for place in range(count)}
    library.cupsFreeJobs(count, listed)
    library.httpClose(server)
    return found if count >= 0 else None


def _said(queue: str) -> dict[str, str]:
    """The printer's own words for the jobs of a queue, in the long form of `lpstat`."""
    try:
        listed = _asked(["lpstat", "-l", "-W", "all", "-o", queue]).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found, number = dict[str, str](), ""
    for line in listed.splitlines():
        if not line.startswith("\t"):
            number = line.partition(" ")[0]
        elif line.startswith("\tStatus: "):
            found[number] = _words(line.partition(": ")[2].encode())
    return found


def _asked(command: Sequence[str], content: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    timeout = _ANSWERS_WITHIN_SECONDS
    return subprocess.run([*_IN_ENGLISH, *command], input=content, capture_output=True, timeout=timeout, check=False)


def _words(said: bytes) -> str:
    return " ".join(said.decode(errors="replace").split())[:_LONGEST_WORDS]
