"""All checks of `doctor`, in the order in which one would mend what they find."""

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from zoneinfo import ZoneInfo

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.file_rights import words_of
from logistics_batch.flows.parts import Parts
from logistics_batch.jobs import calendar_names, job_names, load_calendar, load_job, misplaced, overlooked
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import JobSpec
from logistics_batch.operate.alerts import addresses
from logistics_batch.operate.doctor import (
    Check,
    CheckState,
    Door,
    check_accounts,
    check_addresses,
    check_answers,
    check_calendars,
    check_clock,
    check_disks,
    check_events,
    check_ledger,
    check_log,
    check_never_sent,
    check_owed,
    check_place_of_ledger,
    check_places,
    check_proxy,
    check_scheduler,
    check_service,
    check_textfile,
    check_times,
    tried,
)
from logistics_batch.operate.heartbeat import HEARTBEAT
from logistics_batch.operate.staging import assumptions, check_facts, stage
from logistics_batch.settings import (
    FILE_NAME,
    Settings,
    event_secret,
    notify_urls,
    open_secrets,
    proxies_of_environment,
)
from logistics_batch.wiring import Need, Workspace


def checkup(workspace: Workspace, *, staging: str = "", notify: bool = False) -> Iterator[Check]:
    """Every check, one after the other; what cannot be checked because of an earlier problem is left out.

    staging: the pincode of test orders; "" makes none. notify: whether each address of alerts gets a test message.
    """
    try:
        settings = workspace.settings()
    except LogisticsBatchError as error:
        yield Check("settings", CheckState.PROBLEM, error.message, error.remedy)
        return
    yield from _settings_checks(workspace, settings)
    for name in workspace.mapping_names():
        yield tried(f"mapping {name}", partial(_mapping, workspace, name))
    jobs: list[JobSpec] = []
    for name in job_names(workspace.folder):
        yield tried(f"job {name}", partial(_job, workspace, name, jobs))
    for words in overlooked(workspace.folder):
        yield Check("jobs", CheckState.WARNING, words, "Give it a name that ends in .yaml, or move it away.")
    yield from _night_checks(workspace, settings, jobs, notify=notify)
    yield from check_disks([workspace.folder, workspace.folder / "var", workspace.folder / settings.reports.dir])
    try:
        with workspace.parts(Need(writes=bool(staging))) as parts:
            yield from _parts_checks(parts, jobs)
            yield from _event_check(workspace, settings, parts)
            yield from stage(parts, pincode=staging) if staging else (check_facts(parts),)
            yield from assumptions(parts)
    except LogisticsBatchError as error:
        yield Check("service and ledger", CheckState.PROBLEM, error.message, error.remedy)


def _settings_checks(workspace: Workspace, settings: Settings) -> Iterator[Check]:
    service = settings.service
    file = workspace.folder / FILE_NAME
    yield Check("settings", CheckState.OK, str(file) if file.is_file() else "no file; from the environment alone")
    if warning := open_secrets(workspace.folder):
        yield Check("secrets", CheckState.WARNING, warning)
    yield check_times(
        settle_after_seconds=service.settle_after_seconds, create_deadline_seconds=service.create_deadline_seconds
    )
    yield check_proxy(service.proxy, unused=proxies_of_environment())
    exposed = [Check("workspace", CheckState.PROBLEM, *words_of(each)) for each in workspace.exposures(settings)]
    yield from exposed or [Check("workspace", CheckState.OK, "no other user can change what is sent")]


def _night_checks(workspace: Workspace, settings: Settings, jobs: list[JobSpec], *, notify: bool) -> Iterator[Check]:
    now = datetime.now(ZoneInfo(settings.service.timezone))
    try:
        to = addresses(notify_urls(workspace.folder, settings.notify))
        yield from check_addresses(to, jobs, test_from=workspace.folder.name if notify else "")
    except LogisticsBatchError as error:
        yield Check("notify", CheckState.PROBLEM, error.message, error.remedy)
    found: list[Calendar] = []
    for name in calendar_names(workspace.folder):
        check = tried(f"calendar {name}", partial(_calendar, workspace, name, found))
        if check.state is CheckState.PROBLEM:
            yield check
    yield from check_calendars(found, now=now)
    for job in jobs:
        for finding in misplaced(workspace.folder, job, jobs):
            yield Check(f"job {job.name}", CheckState.PROBLEM, finding.message, finding.remedy)
    yield from check_scheduler(workspace.folder / HEARTBEAT, jobs, now=now)
    yield from check_log(workspace.folder / settings.log.file if settings.log.file else None)
    textfile = settings.metrics.textfile
    yield from check_textfile(workspace.folder / textfile if textfile else None)


def _calendar(workspace: Workspace, name: str, loaded: list[Calendar]) -> str:
    loaded.append(load_calendar(workspace.folder, name))
    return name


def _mapping(workspace: Workspace, name: str) -> str:
    return str(workspace.mapping(name).operation)


def _job(workspace: Workspace, name: str, loaded: list[JobSpec]) -> str:
    job = load_job(workspace.folder, name)
    loaded.append(job)
    mapping = getattr(job, "mapping", None)
    if mapping is not None:
        workspace.mapping(mapping)
    return f"{job.kind}, {job.schedule.text}" if job.schedule else f"{job.kind}, no schedule"


def _event_check(workspace: Workspace, settings: Settings, parts: Parts) -> Iterator[Check]:
    receive = settings.receive
    if not receive.public_url:
        return
    try:
        door = Door(receive.public_url, receive.header, event_secret(workspace.folder, receive))
        yield check_events(parts, door)
    except LogisticsBatchError as error:
        yield Check("events", CheckState.PROBLEM, error.message, error.remedy)


def _parts_checks(parts: Parts, jobs: list[JobSpec]) -> Iterator[Check]:
    for warning in parts.client.settings.warnings():
        yield Check("service", CheckState.WARNING, warning)
    yield from check_service(parts)
    yield check_ledger(parts)
    yield check_never_sent(parts)
    yield from check_answers(parts)
    yield from check_accounts(parts)
    yield from check_place_of_ledger(parts)
    yield check_owed(parts.ledger)
    yield check_clock(parts)
    yield from check_places(parts, jobs)
