"""Labels to a printer: the files of a bundle as jobs of a print queue (CUPS), which are watched until they end."""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from logistics_batch.child_process import Allowance
from logistics_batch.errors import UsageError
from logistics_batch.flows.labels.bundles import file_of_bundle, files_of_bundle
from logistics_batch.flows.parts import Parts
from logistics_batch.model.jobs.job import Printer
from logistics_batch.model.run_reports import PrintJob, PrintState

_ANSWERS_WITHIN_SECONDS, _LONGEST_WORDS = 30.0, 200
_LOOKED_AT_EVERY_SECONDS = 1.0
_IN_ENGLISH = ("env", "LC_ALL=C.UTF-8")
_REQUEST = re.compile(r"request id is (\S+) \(")
_TO_DRAW = Allowance(memory_bytes=3 << 30, resident_bytes=1 << 30, cpu_seconds=300, wait_seconds=600.0)
_JOB_STATES = {7: PrintState.REFUSED, 8: PrintState.REFUSED, 9: PrintState.PRINTED}  # cancelled, given up, done


def printer_of(told: Mapping[str, Any]) -> Printer:
    """The printer that a person names, by the keys of a job's `print`; raises UsageError for what is none."""
    try:
        return Printer.model_validate(told)
    except ValidationError as error:
        wrong = ", ".join(f'"{each["input"]}"' for each in error.errors())
        raise UsageError(f"{wrong} cannot be given to a print queue.", remedy="`lpstat -e` lists the queues.") from None


def print_files(parts: Parts, files: Sequence[Path], printer: Printer, *, bundle_id: str) -> tuple[PrintJob, ...]:
    """Give files of labels to a queue, each as a job, in their order, and watch them as long as the printer's `wait`.

    Behind a file that the queue does not certainly take nothing more is given to it, for the order would be another.
    A job that the queue may have is never given to it again.

    Raises:
        UsageError: this machine has no printing system, or a label cannot be drawn for it. Nothing was printed.
    """
    if shutil.which("lp") is None:
        raise UsageError(
            "This machine has no `lp`, so nothing was printed.", remedy="Install CUPS' client, or print the files."
        )
    contents = list(_drawn(files, printer)) if printer.zpl else [b""] * len(files)
    jobs: list[PrintJob] = []
    for file, content in zip(files, contents, strict=True):
        job = PrintJob(file.name, printer.queue, PrintState.REFUSED)
        if all(before.state is PrintState.WAITING for before in jobs):
            job = _given(job, printer, file, title=f"Labels {bundle_id} {file.name}", content=content)
        jobs.append(job)
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


def _drawn(files: Sequence[Path], printer: Printer) -> Iterator[bytes]:
    from logistics_batch.paper.labels.barcodes import can_read_barcodes
    from logistics_batch.paper.labels.check import LabelFault  # what reads PDF, for those who need it
    from logistics_batch.paper.labels.judge import LabelJudge

    assert printer.zpl is not None
    if not can_read_barcodes():  # the same library draws them
        raise UsageError(
            "Nothing here can draw labels as ZPL, so nothing was printed.",
            remedy='Install the extra "barcodes", as in pip install "logistics-batch[barcodes]".',
        )
    with closing(LabelJudge(processes=1, allowance=_TO_DRAW)) as judge:
        for file in files:
            try:
                yield judge.draw(file.read_bytes(), printer.zpl, printer.copies)
            except LabelFault as fault:
                raise UsageError(
                    f"Nothing was printed: {file.name}: {fault.message}.", remedy="Print the bundle without ZPL."
                ) from None


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
    if done.returncode:
        return replace(job, said=said)
    request = _REQUEST.search(said)
    if request is None:
        return replace(job, state=PrintState.UNKNOWN, said=said)
    return replace(job, state=PrintState.WAITING, number=request[1])


def _watched(parts: Parts, jobs: list[PrintJob], *, seconds: float) -> list[PrintJob]:
    """The jobs as the queue tells of them when all are over, or so many seconds have passed."""
    until = parts.clock.monotonic() + seconds
    parts.progress.start("Printing", None)
    try:
        while True:
            states = _states(jobs[0].queue)
            jobs = [
                replace(job, state=states.get(job.number, job.state)) if job.state is PrintState.WAITING else job
                for job in jobs
            ]
            is_over = all(job.state is not PrintState.WAITING for job in jobs)
            if is_over or parts.stop.is_set() or parts.clock.monotonic() >= until:
                break
            parts.clock.sleep(_LOOKED_AT_EVERY_SECONDS)
    finally:
        parts.progress.done()
    return [replace(job, said=job.said or _said_of(job)) if job.number else job for job in jobs]


class _Job(ctypes.Structure):
    """`cups_job_t` of CUPS' library: its commands show whether a job is over, and only this how it ended."""

    _fields_ = (
        ("id", ctypes.c_int),
        *((name, ctypes.c_char_p) for name in ("queue", "title", "user", "format")),
        *((name, ctypes.c_int) for name in ("state", "size", "priority")),
        *((name, ctypes.c_long) for name in ("completed", "created", "begun")),
    )


def _states(queue: str) -> dict[str, PrintState]:
    """What became of each job of a queue that is over, by its number (states: RFC 8011 §5.3.7)."""
    try:
        library = ctypes.CDLL("libcups.so.2")
    except OSError:
        return {}
    listed = ctypes.POINTER(_Job)()
    count = library.cupsGetJobs(ctypes.byref(listed), queue.encode(), 0, -1)
    found = {f"{queue}-{listed[place].id}": listed[place].state for place in range(count)}
    library.cupsFreeJobs(count, listed)
    return {number: _JOB_STATES[state] for number, state in found.items() if state in _JOB_STATES}


def _said_of(job: PrintJob) -> str:
    """The printer's own words for a job, in the long form of `lpstat`."""
    try:
        listed = _asked(["lpstat", "-l", "-W", "all", "-o", job.queue]).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    _, _, behind = f"\n{listed}".partition(f"\n{job.number} ")
    for line in behind.splitlines()[1:]:
        if not line.startswith("\t"):
            break
        if line.startswith("\tStatus: "):
            return _words(line.partition(": ")[2].encode())
    return ""


def _asked(command: Sequence[str], content: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    timeout = _ANSWERS_WITHIN_SECONDS
    return subprocess.run([*_IN_ENGLISH, *command], input=content, capture_output=True, timeout=timeout, check=False)


def _words(said: bytes) -> str:
    return " ".join(said.decode(errors="replace").split())[:_LONGEST_WORDS]
