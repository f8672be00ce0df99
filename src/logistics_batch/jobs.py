"""Job files and calendars: `jobs/NAME.yaml` and `calendars/NAME.yaml` of a workspace."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from logistics_batch.errors import Finding, SpecificationError, UsageError
from logistics_batch.model.jobs.calendar import EVERY_DAY, Calendar, CheckedCalendar
from logistics_batch.model.jobs.job import JOB_KINDS, JobPlace, JobSpec, PushJob, ReconcileJob, calendars_of
from logistics_batch.specification import load_specification, nearest

FOLDER = "jobs"
CALENDARS = "calendars"
_BY_HAND = ("push", "labels", "reconcile", "retry")  # the jobs of runs by hand


class _Kind(BaseModel):
    model_config = ConfigDict(extra="allow")

    kind: Literal["push", "reconcile", "labels", "order_status", "settle"]


def job_names(workspace: Path) -> list[str]:
    """The names of a workspace's jobs, sorted; also of those whose file is a link that leads nowhere."""
    return _names(workspace / FOLDER)


def _names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.yaml") if _is_taken(path))


def _is_taken(path: Path) -> bool:
    return path.suffix == ".yaml" and not path.name.startswith(".") and not path.is_dir()


def overlooked(workspace: Path) -> list[str]:
    """What lies among jobs and calendars as if it were one and is not read, in words that say why."""
    return [
        f"{folder}/{path.name} is not read: {'it is a folder' if path.is_dir() else 'its name does not end in .yaml'}."
        for folder in (FOLDER, CALENDARS)
        for path in sorted((workspace / folder).glob("*"))
        if not _is_taken(path) and path.suffix.lower() in (".yaml", ".yml") and not path.name.startswith(".")
    ]


def load_job(workspace: Path, name: str) -> JobSpec:
    """The job of that name.

    Raises UsageError if there is none, SpecificationError with every finding if its file cannot be used.
    """
    path = workspace / FOLDER / f"{name}.yaml"
    if path.stem != name or not os.path.lexists(path) or not _is_taken(path):
        raise UsageError(
            f'There is no job "{name}" in {workspace / FOLDER}.',
            remedy=nearest(name, job_names(workspace)) or "Write one there, or see `logistics-batch init --help`.",
        )
    shown = f"{FOLDER}/{path.name}"
    return parse_job(_text(path, shown, "job file"), name=name, path=shown)


class JobFiles(NamedTuple):
    """The jobs of a workspace by name, and what is wrong with one or its file: that one cannot run, the others can."""

    jobs: dict[str, JobSpec]
    wrong: dict[str, list[Finding]]

    @property
    def usable(self) -> list[JobSpec]:
        """The jobs with which nothing is wrong."""
        return [job for name, job in self.jobs.items() if name not in self.wrong]

    @property
    def findings(self) -> list[Finding]:
        """What is wrong with the others."""
        return [finding for findings in self.wrong.values() for finding in findings]


def read_jobs(workspace: Path) -> JobFiles:
    """Every job file of a workspace as it is now."""
    jobs: dict[str, JobSpec] = {}
    wrong: dict[str, list[Finding]] = {}
    for name in job_names(workspace):
        try:
            jobs[name] = load_job(workspace, name)
        except SpecificationError as error:
            wrong[name] = error.findings
        except UsageError:
            continue  # the file went meanwhile
    after = dict.fromkeys(wrong, ()) | {job.name: tuple(job.after) for job in jobs.values()}
    misplaced = {name: found for name, job in jobs.items() if (found := _misplaced(workspace, job, after))}
    return JobFiles(jobs, wrong | misplaced)


def load_jobs(workspace: Path) -> list[JobSpec]:
    """Every job of a workspace, by name.

    Raises SpecificationError with the findings of all files.
    """
    found = read_jobs(workspace)
    if found.wrong:
        raise SpecificationError(found.findings)
    return found.usable


def calendars_by_job(workspace: Path, jobs: Iterable[JobSpec]) -> dict[str, Calendar]:
    """The calendar of each job that has a schedule, by the job's name; raises SpecificationError."""
    return {job.name: load_calendar(workspace, job.schedule.calendar) for job in jobs if job.schedule}


def _misplaced(workspace: Path, job: JobSpec, after: Mapping[str, Sequence[str]]) -> list[Finding]:
    """What is wrong with a job among the others: whom it waits for, and its calendars.

    after: for whom each job waits, of all.
    """
    path = f"{FOLDER}/{job.name}.yaml"
    findings = [
        Finding(path, 0, 0, f'It runs after "{name}", and there is no such job.', nearest(name, sorted(after)))
        for name in job.after
        if name not in after
    ]
    if job.name in _waited_for(job.after, after):
        findings.append(Finding(path, 0, 0, "It waits for itself (`after`).", "Remove one of the jobs that it names."))
    for name in calendars_of(job):
        try:
            load_calendar(workspace, name)
        except SpecificationError as error:
            findings += error.findings
    return findings


def _waited_for(names: Sequence[str], after: Mapping[str, Sequence[str]]) -> set[str]:
    """Every job that has to end before, directly or not."""
    found: set[str] = set()
    open_ = list(names)
    while open_:
        name = open_.pop()
        if name not in found:
            found.add(name)
            open_ += after.get(name, ())
    return found


def calendar_names(workspace: Path) -> list[str]:
    """The names of a workspace's calendars, sorted."""
    return _names(workspace / CALENDARS)


def load_calendar(workspace: Path, name: str | None) -> Calendar:
    """The calendar of that name; without a name every day is a working day.

    Raises SpecificationError with every finding if there is none, or its file cannot be used.
    """
    if name is None:
        return EVERY_DAY
    shown = f"{CALENDARS}/{name}.yaml"
    path = workspace / shown
    if not path.is_file():
        remedy = nearest(name, calendar_names(workspace)) or f"Write {shown}, with `weekend` and `holidays`."
        raise SpecificationError([Finding(shown, 0, 0, "There is no such calendar.", remedy)])
    file = load_specification(_text(path, shown, "calendar"), path=shown, model=CheckedCalendar)
    return Calendar(name, file.weekend, file.holidays, file.working)


def _text(path: Path, shown: str, what: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = "It is not UTF-8 text." if isinstance(error, UnicodeDecodeError) else f"{error.strerror}."
        raise SpecificationError([Finding(shown, 0, 0, f"The {what} cannot be read. {reason}")]) from error


def push_jobs(workspace: Path) -> dict[str, PushJob]:
    """The push jobs of a workspace by name; a file that cannot be used is left out."""
    return {name: job for name, job in read_jobs(workspace).jobs.items() if isinstance(job, PushJob)}


def watched_places(workspace: Path) -> list[tuple[JobPlace, tuple[str, ...]]] | None:
    """Where the jobs of a workspace look for files and done-files, and of which names; None if a job cannot be read."""
    found, wrong = read_jobs(workspace)
    if wrong.keys() - found.keys():
        return None
    jobs = found.values()
    sources = [job.source for job in jobs if isinstance(job, PushJob)]
    pushed = [(each.place, (*each.pattern, *filter(None, map(each.ready.done_name, each.pattern)))) for each in sources]
    audits = [job for job in jobs if isinstance(job, ReconcileJob)]
    lists = [each for job in audits for each in (job.receipts, job.purchase_orders) if each is not None]
    return pushed + [(each.place, each.pattern) for each in lists]


def parse_job(text: str, *, name: str, path: str) -> JobSpec:
    """A job from the text of its file; `path` names the file in findings.

    Raises SpecificationError with every finding.
    """
    kind = load_specification(text, path=path, model=_Kind).kind
    spec: JobSpec = load_specification(text, path=path, model=JOB_KINDS[kind])
    if spec.name not in ("", name):
        raise SpecificationError(
            [
                Finding(
                    path, 0, 0, f'The file calls its job "{spec.name}".', "A job has the name of its file; remove it."
                )
            ]
        )
    if spec.partner and name in _BY_HAND:  # else people of the partner would see it
        told = f'A job of a partner cannot be called "{name}": what is done by hand is noted under that name.'
        raise SpecificationError([Finding(path, 0, 0, told, "Give the file another name.")])
    return spec.model_copy(update={"name": name})


def fingerprint(workspace: Path) -> tuple[tuple[str, int, int], ...]:
    """Something that is another one once a job file or calendar was changed, came or went, or may be read now.

    What copies files with their times (rsync, tar) leaves the time of change of the file's entry.
    """
    found = []
    for folder in (FOLDER, CALENDARS):
        with suppress(OSError), os.scandir(workspace / folder) as entries:
            for entry in entries:
                with suppress(OSError):  # it went meanwhile
                    if entry.name.endswith(".yaml"):
                        seen = entry.stat()
                        found.append((f"{folder}/{entry.name}", seen.st_ctime_ns, seen.st_ino))
    return tuple(sorted(found))
