"""All checks of `doctor`, in the order in which one would mend what they find."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from logistics_batch.errors import LogisticsBatchError, SettingsError
from logistics_batch.file_rights import words_of
from logistics_batch.flows.labels.orders import sort_orders
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.push import sending_mapping
from logistics_batch.flows.reconcile.receipts import PURCHASE_ORDERS, RECEIPTS, list_mapping
from logistics_batch.flows.reconcile.reconcile import limits_of
from logistics_batch.jobs import calendar_names, job_names, load_calendar, load_job, overlooked, read_jobs
from logistics_batch.model.counting import counted
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import JobSpec, LabelsJob, PushJob, ReconcileJob
from logistics_batch.operate.alerts import addresses
from logistics_batch.operate.doctor import (
    Check,
    CheckState,
    Door,
    assumptions,
    check_events,
    check_facts,
    check_parts,
    check_writing,
    ok,
    once,
    problem,
    stage,
    tried,
    warning,
)
from logistics_batch.operate.heartbeat import check_cluster, what_is_wrong
from logistics_batch.operate.metrics import require_client
from logistics_batch.settings import (
    FILE_NAME,
    Settings,
    event_secret,
    notify_urls,
    open_secrets,
    proxies_of_environment,
)
from logistics_batch.wiring import Need, Workspace

_SLOW_CREATE_SECONDS = 120.0  # creates that take so long are seen
_LITTLE_SPACE_BYTES = 1 << 30
_NO_SPACE_BYTES = 100 << 20
_SOON = timedelta(days=30)
_TEST_MESSAGE = "This is a test, sent by `logistics-batch doctor --notify`. Nothing is wrong."
_NOT_REACHED = "See that the address is right and can be reached from this machine, then run this again."
_START_IT = "Start `logistics-batch schedule` as a service; where cron runs the jobs, leave `schedule` out of them."


@dataclass
class _Looked:
    """What is looked at; jobs and calendars are those whose files can be used.

    notify: whether each address of alerts gets a test message.
    """

    workspace: Workspace
    settings: Settings
    notify: bool
    jobs: list[JobSpec] = field(default_factory=list)
    calendars: list[Calendar] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.workspace.folder


def checkup(workspace: Workspace, *, staging: str = "", notify: bool = False, writing: bool = False) -> Iterator[Check]:
    """Every check, one after the other; what cannot be checked because of an earlier problem is left out.

    staging: the pincode of test orders; "" makes none. notify: whether each address of alerts gets a test message.
    writing: whether a file is put, moved and removed where jobs write.
    """
    try:
        at = _Looked(workspace, workspace.settings(), notify)
    except LogisticsBatchError as error:
        yield problem("settings", error.message, error.remedy)
        return
    for look in _CHECKS_OF_WORKSPACE:
        yield from look(at)
    try:
        with workspace.parts(Need(writes=bool(staging))) as parts:
            yield from check_parts(parts, at.jobs)
            yield from check_cluster(parts)
            yield from once(check_writing(parts, at.jobs)) if writing else ()
            yield from _check_events(at, parts)
            yield from stage(parts, pincode=staging) if staging else (check_facts(parts),)
            yield from assumptions(parts)
    except LogisticsBatchError as error:
        yield problem("service and ledger", error.message, error.remedy)


def _check_settings(at: _Looked) -> Iterator[Check]:
    """Where the settings come from, and whether the times in them leave the service time enough."""
    service, file = at.settings.service, at.folder / FILE_NAME
    yield ok("settings", str(file) if file.is_file() else "no file; from the environment alone")
    if inline := open_secrets(at.folder):
        yield warning("secrets", inline)
    least = _SLOW_CREATE_SECONDS + service.create_deadline_seconds
    patience = f"{service.settle_after_seconds:g} s"
    if service.settle_after_seconds >= least:
        yield ok("settle_after", f"a doubt is left alone for {patience}")
    else:
        text = f"service.settle_after is {patience}; the service may still act on a call after that."
        yield warning("settle_after", text, f'Write "{least:g}s" or more.')


def _check_proxy(at: _Looked) -> Iterator[Check]:
    """Which way calls take, and which variables of the environment name another one."""
    proxy, unused = at.settings.service.proxy, proxies_of_environment()
    way = f"calls and label links go through {proxy} (service.proxy)" if proxy else "none, calls go straight out"
    remedy = "If the service is reached only through that one, write it as service.proxy." * (not proxy)
    named = f"; {' and '.join(unused)} of the environment: not used" if unused else ""
    yield ok("proxy", way + named, remedy if unused else "")


def _check_rights(at: _Looked) -> Iterator[Check]:
    """Whether another user can change what is sent."""
    exposed = [problem("workspace", *words_of(each)) for each in at.workspace.exposures(at.settings)]
    yield from exposed or [ok("workspace", "no other user can change what is sent")]


def _check_files(at: _Looked) -> Iterator[Check]:
    """Whether mappings and jobs can be used, and what lies among them and is not read."""
    for name in at.workspace.mapping_names():
        yield tried(f"mapping {name}", lambda name=name: at.workspace.mapping(name).operation)  # type: ignore[misc]
    for name in job_names(at.folder):
        yield tried(f"job {name}", partial(_job, at, name))
    for words in overlooked(at.folder):
        yield warning("jobs", words, "Give it a name that ends in .yaml, or move it away.")


def _job(at: _Looked, name: str) -> str:
    """What a job is; raises what its run would raise before it reads or sends anything."""
    job = load_job(at.folder, name)
    at.jobs.append(job)
    if isinstance(job, PushJob):
        sending_mapping(at.workspace.mapping(job.mapping))
    if isinstance(job, ReconcileJob):
        limits_of(job.tolerance)
        for kind, lists in ((RECEIPTS, job.receipts), (PURCHASE_ORDERS, job.purchase_orders)):
            if lists:
                list_mapping(at.workspace.mapping(lists.mapping), kind=kind)
    if isinstance(job, LabelsJob):
        sort_orders([], job.sort, kept=at.workspace.kept_names())
    return f"{job.kind}, {job.schedule.text if job.schedule else 'no schedule'}"


def _check_addresses(at: _Looked) -> Iterator[Check]:
    """Whether alerts have somewhere to go, and Apprise knows each address; each is named by its place in the list."""
    try:
        to = addresses(notify_urls(at.folder, at.settings.notify))
    except LogisticsBatchError as error:
        yield problem("notify", error.message, error.remedy)
        return
    if not to and any(job.schedule or job.after for job in at.jobs):
        text = "Nobody is told when a job fails or a file does not come."
        yield warning("notify", text, "Write addresses into notify.urls_file.")
    for number, address in enumerate(to, 1):
        shown = f"{address.shown} (address {number} of {len(to)})"
        try:
            address.open()
            if not at.notify:
                yield ok("notify", f"{shown} is told")
            elif address.send(f"[{at.folder.name}] Test of the alerts", _TEST_MESSAGE):
                yield ok("notify", f"{shown} took a test message; see that it arrived")
            else:
                yield problem("notify", f"{shown} did not take a test message.", _NOT_REACHED)
        except LogisticsBatchError as error:
            yield problem("notify", error.message, error.remedy)


def _check_calendars(at: _Looked) -> Iterator[Check]:
    """Whether calendars can be used and list the holidays of the coming weeks, and jobs find them and one another."""
    year = (_now(at) + _SOON).year
    for name in calendar_names(at.folder):
        check = tried(f"calendar {name}", partial(_calendar, at, name))
        if check.state is CheckState.PROBLEM:
            yield check
    for calendar in at.calendars:
        last = calendar.last_year()
        if last is None or last < year:
            text = f"calendars/{calendar.name}.yaml lists no holiday of {year}."
            yield warning("calendar", text, f"Add the holidays of {year}.")
        else:
            yield ok("calendar", f"{calendar.name}: holidays up to {last}")
    jobs, wrong = read_jobs(at.folder)
    for name in filter(wrong.get, jobs):  # files that cannot be read at all are told before
        for finding in wrong[name]:
            yield problem(f"job {name}", finding.message, finding.remedy)


def _calendar(at: _Looked, name: str) -> str:
    at.calendars.append(load_calendar(at.folder, name))
    return name


def _check_scheduler(at: _Looked) -> Iterator[Check]:
    """Whether something runs the jobs that have a schedule."""
    planned = [job.name for job in at.jobs if job.schedule or job.after]
    if planned:
        wrong = what_is_wrong(at.folder, now=_now(at))
        yield (
            warning("scheduler", wrong, _START_IT)
            if wrong
            else ok("scheduler", f"works, for {counted(len(planned), 'job')}")
        )


def _now(at: _Looked) -> datetime:
    return datetime.now(ZoneInfo(at.settings.service.timezone))


def _check_written_files(at: _Looked) -> Iterator[Check]:
    """Whether the files of the log and of the metrics can be written; nothing is made."""
    if file := at.settings.log.file:
        yield tried("log", partial(_writable, "log.file", at.folder / file))
    if file := at.settings.metrics.textfile:
        yield tried("metrics", partial(_writable, "metrics.textfile", at.folder / file, require_client))


def _writable(setting: str, file: Path, require: Callable[[], None] = lambda: None) -> str:
    """The path of a file that can be written anew; folders above it that are missing can be made.

    Raises SettingsError if it cannot, or a library that writes it is missing.
    """
    require()
    above = next(each for each in file.parents if os.path.lexists(each))
    can_be_made = above.is_dir() and os.access(above, os.W_OK) and not file.is_dir()
    if not can_be_made or (file.exists() and not os.access(file, os.W_OK)):
        remedy = "Name a file in a folder that exists and is writable."
        raise SettingsError(f"{setting}: {file} cannot be written.", remedy=remedy)
    return str(file)


def _check_disks(at: _Looked) -> Iterator[Check]:
    """Whether there is room on each disk that is written to; folders that are not there yet count as those above."""
    disks: dict[int, Path] = {}
    for folder in (at.folder, at.folder / "var", at.folder / at.settings.reports.dir):
        there = next(each for each in (folder, *folder.parents) if each.is_dir())
        disks.setdefault(there.stat().st_dev, there)
    for folder in disks.values():
        free = shutil.disk_usage(folder).free
        text = f"{free / (1 << 30):.1f} GB free at {folder}"
        if free < _NO_SPACE_BYTES:
            yield problem("disk", text, "Free some space: without it nothing can be sent.")
        elif free < _LITTLE_SPACE_BYTES:
            yield warning("disk", text, "Free some space soon.")
        else:
            yield ok("disk", text)


def _check_events(at: _Looked, parts: Parts) -> Iterator[Check]:
    receive = at.settings.receive
    if receive.public_url:
        try:
            yield check_events(parts, Door(receive.public_url, receive.header, event_secret(at.folder, receive)))
        except LogisticsBatchError as error:
            yield problem("events", error.message, error.remedy)


_CHECKS_OF_WORKSPACE: Sequence[Callable[[_Looked], Iterator[Check]]] = (
    _check_settings,
    _check_proxy,
    _check_rights,
    _check_files,
    _check_addresses,
    _check_calendars,
    _check_scheduler,
    _check_written_files,
    _check_disks,
)
