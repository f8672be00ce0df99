"""What could keep tonight's jobs from working, found out now; every finding with what to do about it."""

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from logistics_batch.api.answers import OrderAbsent, OrderFound, ReadFailed, ReplyVerdict, read_asns, read_order
from logistics_batch.api.client import Client, Reply, send_event
from logistics_batch.errors import LedgerRefused, LogisticsBatchError, SettingsError
from logistics_batch.flows.files.deliver import is_elsewhere, places_of
from logistics_batch.flows.orders.receive_event import read_event
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile.receipts import listed_at
from logistics_batch.ledger import Ledger, NewEvent, require_local_disk, sqlite_path
from logistics_batch.model.counting import counted
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import JobPlace, JobSpec, LabelsJob, OrderStatusJob, PushJob, ReconcileJob
from logistics_batch.model.report import Fate
from logistics_batch.operate.alerts import Address
from logistics_batch.operate.heartbeat import what_is_wrong
from logistics_batch.operate.metrics import document_fates, require_client

_SLOW_CREATE_SECONDS = 120.0  # creates that take so long are seen
_LITTLE_SPACE_BYTES = 1 << 30
_NO_SPACE_BYTES = 100 << 20
_CLOCK_SLACK = timedelta(minutes=2)
_FILES_NAMED = 3
_SERVER_ERROR = 500


class CheckState(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what, how it is, and what to do if it is not well."""

    name: str
    state: CheckState
    text: str
    remedy: str = ""


def tried(name: str, action: Callable[[], str]) -> Check:
    """A check that is well if the action does not raise an error of ours; the action's text says how."""
    try:
        return Check(name, CheckState.OK, action())
    except LogisticsBatchError as error:
        return Check(name, CheckState.PROBLEM, error.message, error.remedy)


def check_times(*, settle_after_seconds: float, create_deadline_seconds: float) -> Check:
    """Whether a doubt is left alone long enough for the service to be done with it."""
    least = _SLOW_CREATE_SECONDS + create_deadline_seconds
    if settle_after_seconds >= least:
        return Check("settle_after", CheckState.OK, f"a doubt is left alone for {settle_after_seconds:g} s")
    return Check(
        "settle_after",
        CheckState.WARNING,
        f"service.settle_after is {settle_after_seconds:g} s; the service may still act on a call after that.",
        f'Write "{least:g}s" or more.',
    )


def check_proxy(proxy: str, *, unused: Sequence[str]) -> Check:
    """Which way calls take. unused: variables of the environment that name another one."""
    way = f"calls and label links go through {proxy} (service.proxy)" if proxy else "none, calls go straight out"
    if not unused:
        return Check("proxy", CheckState.OK, way)
    remedy = "" if proxy else "If the service is reached only through that one, write it as service.proxy."
    return Check("proxy", CheckState.OK, f"{way}; {' and '.join(unused)} of the environment: not used", remedy)


_MISADDRESSED = "Check service.base_url and service.paths."
_REMEDIES = {
    ReplyVerdict.UNAUTHORIZED: "Check service.api_key_file; a mailed key may have to be decoded from base64 first, and "
    "a proxy on the way may drop headers with an underscore.",
    ReplyVerdict.MISADDRESSED: _MISADDRESSED,
    ReplyVerdict.NOT_SENT: "Check service.base_url, the network, and whether a proxy is needed (service.proxy).",
}
_OTHER_REMEDY = "Try again; if it stays so, ask the operator of the service."


def check_service(parts: Parts) -> Iterator[Check]:
    """Two harmless reads: an order and an ASN that certainly do not exist are asked for.

    That ASNs cannot be read is a warning: not everybody has them.
    """
    address = parts.client.settings.base_url
    nobodys = f"LB-{secrets.token_hex(8)}"
    reply = parts.client.call("order.fetch", order_id=nobodys)
    found = read_order(reply)
    if isinstance(found, ReadFailed):
        yield Check("service", CheckState.PROBLEM, f"{address}: {found.message}", _remedy(reply, found))
        return
    if isinstance(found, OrderAbsent) and found == _said_of_a_path_that_is_not_there(parts, nobodys):
        text = f"{address}: it answers, but does not have the path of orders ({found.message})."
        yield Check("service", CheckState.PROBLEM, text, _MISADDRESSED)
        return
    words = f"answers, and takes the API key ({found.message})" if isinstance(found, OrderAbsent) else "answers"
    yield Check("service", CheckState.OK, f"{address} {words}")
    reply = parts.client.call("asn.fetch", query={"invoice_number": nobodys})
    page = read_asns(reply)
    if isinstance(page, ReadFailed):
        yield Check("service, ASNs", CheckState.WARNING, f"ASNs cannot be read: {page.message}", _remedy(reply, page))
    else:
        yield Check("service, ASNs", CheckState.OK, "can be read")


def _remedy(reply: Reply, failed: ReadFailed) -> str:
    """What to do about an answer that cannot be read; a service that is there answers in the form of the contract."""
    other = _MISADDRESSED if reply.status is not None and reply.status < _SERVER_ERROR else _OTHER_REMEDY
    return _REMEDIES.get(failed.meaning, other)


def _said_of_a_path_that_is_not_there(parts: Parts, order_id: str) -> OrderFound | OrderAbsent | ReadFailed:
    """How the service answers the same question under a path that it certainly does not have."""
    client = parts.client
    nowhere = Client(replace(client.settings, paths={"order.fetch": f"/{order_id}/{{orderId}}"}), pacer=client.pacer)
    try:
        return read_order(nowhere.call("order.fetch", order_id=order_id))
    finally:
        nowhere.close()


def check_places(parts: Parts, jobs: Iterable[JobSpec]) -> Iterator[Check]:
    """Every server and folder that a job uses: host key, log-in, and whether the paths are there."""
    every = list(jobs)
    read = {place for job in every for place in places_read(job)}
    for place in dict.fromkeys(place for job in every for place in (*places_read(job), *places_written(job))):
        yield tried(_name(place), partial(_look, parts, place, must_be_there=place in read))


def places_read(job: JobSpec) -> list[JobPlace]:
    """The places from which a job takes files."""
    if isinstance(job, PushJob):
        return [job.source.place]
    if isinstance(job, ReconcileJob):
        return [lists.place for lists in (job.receipts, job.purchase_orders) if lists]
    return []


def places_written(job: JobSpec) -> list[JobPlace]:
    """The places to which a job brings files; they come into being when they are needed."""
    found: list[JobPlace | None] = []
    if isinstance(job, PushJob | ReconcileJob | LabelsJob | OrderStatusJob):
        found.append(job.results_place)
    if isinstance(job, OrderStatusJob) and job.feed:
        found.append(job.feed.place)
    return [place for place in found if place is not None]


def _name(place: JobPlace) -> str:
    return f"sftp.{place.sftp}:{place.path}" if place.sftp else f"folder {place.folder}:{place.path}"


def _look(parts: Parts, place: JobPlace, *, must_be_there: bool) -> str:
    store = parts.open_store(place)
    try:
        if "{date}" in place.path:
            store.exists("/")
            return "can be reached; the folder is made when it is needed"
        if not must_be_there and not store.exists(place.path):
            return "can be reached; the folder is made when it is needed"
        return counted(len(listed_at(store, place.path)), "file")
    finally:
        store.close()


def check_ledger(parts: Parts) -> Check:
    """Whether a run would send with this ledger, and what it holds; that it could be opened proves that it is sound."""
    try:
        parts.ledger.itself.require_newest()
    except LedgerRefused as error:
        return Check("ledger", CheckState.PROBLEM, error.message, error.remedy)
    fates = document_fates(parts.ledger)
    doubts, held = fates[Fate.IN_DOUBT], fates[Fate.HELD] + len(parts.ledger.files.held())
    if not doubts and not held:
        return Check("ledger", CheckState.OK, "sound; nothing is in doubt or held")
    text = f"sound; {doubts} in doubt, {held} held"
    remedy = "`logistics-batch settle` for what is in doubt, `logistics-batch held list` for what is held."
    return Check("ledger", CheckState.WARNING, text, remedy)


def check_never_sent(parts: Parts) -> Check:
    """Whether runs that stopped early left documents which only a further run of theirs would send."""
    left = parts.ledger.documents.never_sent()
    if not left:
        return Check("unsent", CheckState.OK, "nothing is left of earlier runs")
    runs = ", ".join(dict.fromkeys(f"{each.run} ({each.job}: {each.file_name})" for each in left[:_FILES_NAMED]))
    count = sum(each.documents for each in left)
    text = f"{counted(count, 'document')} {'was' if count == 1 else 'were'} never sent: {runs}"
    remedy = "The next run of their job goes on with them; else `logistics-batch retry` with the run sends them."
    return Check("unsent", CheckState.WARNING, text, remedy)


def check_answers(parts: Parts) -> Iterator[Check]:
    """Whether answers wait for a place that cannot be reached, also one of a removed job, or for another machine."""
    waiting: dict[JobPlace, list[str]] = {}
    for file in parts.ledger.files.stale():
        if is_elsewhere(parts, file):
            told = Issue.of("answers.not_at_hand", name=file.name, run=file.run)
            yield Check("answers", CheckState.WARNING, told.reason, told.fix)
            continue
        for place in places_of(parts, file):
            waiting.setdefault(place, []).append(f"{file.name} (run {file.run})")
    for place, files in waiting.items():
        try:
            _look(parts, place, must_be_there=False)
        except LogisticsBatchError as error:
            named = ", ".join(files[:_FILES_NAMED])
            text = f"Answers that could not be brought to {_name(place)}: {named}. {error.message}"
            yield Check("answers", CheckState.WARNING, text, error.remedy)


def check_place_of_ledger(parts: Parts) -> Iterator[Check]:
    """Whether the ledger lies where its locks do not hold, or may be a copy, whose original still sends."""
    path = sqlite_path(parts.ledger.url)
    if path is not None:
        try:
            require_local_disk(path)
        except LedgerRefused as error:
            yield Check("ledger, its place", CheckState.PROBLEM, error.message, error.remedy)
    if before := parts.ledger.itself.moved_from():
        told = Issue.of("ledger.elsewhere", path=before.path, host=before.host)
        yield Check("ledger, its place", CheckState.WARNING, told.reason, told.fix)


def check_accounts(parts: Parts) -> Iterator[Check]:
    """Whether the ledger holds what nobody looks at, for it was sent to the service under another address."""
    is_new = parts.ledger.addresses.is_new()
    unsent = {document.account for document in parts.ledger.addresses.left()}
    unsent -= parts.ledger.addresses.in_use()
    sent = parts.ledger.addresses.sent()
    for account, (count, still_open) in parts.ledger.addresses.others().items():
        if (is_new and account in sent) or still_open:
            documents = counted(count, "document")
            text = f"It holds {documents} of {account} ({still_open:,} open), and looks at none of them."
            remedy = (
                f"If {account} is the same service, write service.base_url so again: under another address its orders "
                "would be created once more. If it is another one, settle what is open with its address."
            )
            if account in unsent:
                command = f'logistics-batch held decide {account} drop --reason "…"'
                remedy += f" If it was mistyped, close what was only planned for it: `{command}`."
            yield Check("ledger, other addresses", CheckState.WARNING, text, remedy)


def check_clock(parts: Parts) -> Check:
    """Whether this machine's clock is behind what the ledger has already seen."""
    now = parts.clock.now()
    last = next(iter(parts.ledger.runs.latest(limit=1)), None)
    shown = now.isoformat(timespec="seconds")
    if last is None or datetime.fromisoformat(last.started_at) <= now + _CLOCK_SLACK:
        return Check("clock", CheckState.OK, f"{shown} ({parts.policy.timezone})")
    text = f"It is {shown} by this machine, but the last run began at {last.started_at}."
    return Check("clock", CheckState.PROBLEM, text, "Set the clock right (NTP) before anything runs.")


def check_disks(folders: Iterable[Path]) -> Iterator[Check]:
    """Whether there is room on each disk that is written to; folders that are not there yet count as those above them.

    folders: of the ledger and of what is kept; each disk is looked at once.
    """
    disks: dict[int, Path] = {}
    for folder in folders:
        there = next(each for each in (folder, *folder.parents) if each.is_dir())
        disks.setdefault(there.stat().st_dev, there)
    for folder in disks.values():
        yield _check_disk(folder)


def _check_disk(folder: Path) -> Check:
    free = shutil.disk_usage(folder).free
    text = f"{free / (1 << 30):.1f} GB free at {folder}"
    if free < _NO_SPACE_BYTES:
        return Check("disk", CheckState.PROBLEM, text, "Free some space: without it nothing can be sent.")
    if free < _LITTLE_SPACE_BYTES:
        return Check("disk", CheckState.WARNING, text, "Free some space soon.")
    return Check("disk", CheckState.OK, text)


_SOON = timedelta(days=30)


def check_addresses(to: Sequence[Address], jobs: Sequence[JobSpec], *, test_from: str = "") -> Iterator[Check]:
    """Whether alerts have somewhere to go, and Apprise knows each address; each is named by its place in the list.

    test_from: what a test message to each calls this installation; "" sends none.
    """
    if not to and any(job.schedule or job.after for job in jobs):
        text = "Nobody is told when a job fails or a file does not come."
        yield Check("notify", CheckState.WARNING, text, "Write addresses into notify.urls_file.")
    for number, address in enumerate(to, 1):
        yield _check_address(f"{address.shown} (address {number} of {len(to)})", address, test_from=test_from)


def _check_address(shown: str, address: Address, *, test_from: str) -> Check:
    try:
        address.open()
        if not test_from:
            return Check("notify", CheckState.OK, f"{shown} is told")
        words = "This is a test, sent by `logistics-batch doctor --notify`. Nothing is wrong."
        if address.send(f"[{test_from}] Test of the alerts", words):
            return Check("notify", CheckState.OK, f"{shown} took a test message; see that it arrived")
    except LogisticsBatchError as error:
        return Check("notify", CheckState.PROBLEM, error.message, error.remedy)
    remedy = "See that the address is right and can be reached from this machine, then run this again."
    return Check("notify", CheckState.PROBLEM, f"{shown} did not take a test message.", remedy)


def check_owed(ledger: Ledger) -> Check:
    """Whether alerts wait because an address could not be reached."""
    waiting = [each for each in ledger.notices.owed() if each.tries]
    if not waiting:
        return Check("alerts", CheckState.OK, "none waits")
    first = waiting[0]
    more = f", and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    text = f"What could not be told yet, since {first.since[:16]}: {first.title}{more}"
    remedy = "See whether the addresses in [notify] are right and can be reached; they are tried again by themselves."
    return Check("alerts", CheckState.WARNING, text, remedy)


def check_calendars(calendars: Iterable[Calendar], *, now: datetime) -> Iterator[Check]:
    """Whether the holidays of the coming weeks are listed."""
    year = (now + _SOON).year
    for calendar in calendars:
        last = calendar.last_year()
        if last is None or last < year:
            text = f"calendars/{calendar.name}.yaml lists no holiday of {year}."
            yield Check("calendar", CheckState.WARNING, text, f"Add the holidays of {year}.")
        else:
            yield Check("calendar", CheckState.OK, f"{calendar.name}: holidays up to {last}")


def check_scheduler(heartbeat: Path, jobs: Sequence[JobSpec], *, now: datetime) -> Iterator[Check]:
    """Whether something runs the jobs that have a schedule."""
    planned = [job.name for job in jobs if job.schedule or job.after]
    if not planned:
        return
    if wrong := what_is_wrong(heartbeat, now=now):
        remedy = (
            "Start `logistics-batch schedule` as a service; where cron runs the jobs, leave `schedule` out of them."
        )
        yield Check("scheduler", CheckState.WARNING, wrong, remedy)
    else:
        yield Check("scheduler", CheckState.OK, f"works, for {len(planned)} jobs")


def check_log(file: Path | None) -> Iterator[Check]:
    """Whether the log's file can be written; nothing is made."""
    if file is not None:
        yield _check_writing("log", "log.file", file)


def check_textfile(textfile: Path | None) -> Iterator[Check]:
    """Whether the metrics' file can be written; nothing is made."""
    if textfile is None:
        return
    try:
        require_client()
    except SettingsError as error:
        yield Check("metrics", CheckState.PROBLEM, error.message, error.remedy)
    else:
        yield _check_writing("metrics", "metrics.textfile", textfile)


def _check_writing(name: str, setting: str, file: Path) -> Check:
    if _can_be_written(file):
        return Check(name, CheckState.OK, str(file))
    remedy = "Name a file in a folder that exists and is writable."
    return Check(name, CheckState.PROBLEM, f"{setting}: {file} cannot be written.", remedy)


def _can_be_written(file: Path) -> bool:
    """Whether a file can be written anew; folders above it that are missing can be made."""
    if file.is_dir():
        return False
    above = next(each for each in file.parents if os.path.lexists(each))
    return above.is_dir() and os.access(above, os.W_OK) and (not file.exists() or os.access(file, os.W_OK))


_TOPIC = "logisticsBatchDoctor"
_NAME = "events"
_SERVER = "the server in front of the receiver"
_REMEDIES_OF_EVENTS = {
    401: f"Either {_SERVER} drops the header (it may pass on only those it is told to), or the receiver was started "
    "before the secret was changed: restart it.",
    404: f"Make receive.public_url and receive.path agree, and let {_SERVER} pass that path on.",
    405: f"Let {_SERVER} pass on POST.",
    413: f"Let {_SERVER} take bodies of 64 kB.",
    502: "Start `logistics-batch receive`, and look at the port to which requests are passed on.",
    503: "The receiver answers but cannot write the ledger: look at its log and at the disk.",
    504: "Look at the receiver's log: it does not answer in time.",
}
_OTHERWISE = "See whether `logistics-batch receive` runs, the name resolves, and the certificate is valid."


@dataclass(frozen=True, slots=True)
class Door:
    """By which address the service finds our receiver, and what opens it."""

    url: str
    header: str
    secret: str = field(repr=False)


def check_events(parts: Parts, door: Door) -> Check:
    """Send an event of a topic that means nothing, and look for it in the ledger."""
    body = json.dumps({"eventType": _TOPIC, "nonce": secrets.token_hex(16)}).encode()
    event = read_event(body, received_at=parts.clock.now(), zone=ZoneInfo(parts.policy.timezone))
    answer = send_event(
        door.url, body, headers={door.header: door.secret}, ca_file=parts.client.settings.ca_file or None
    )
    if answer != 200:
        text = f"answered {answer}" if isinstance(answer, int) else f"cannot be reached: {answer}"
        remedy = _REMEDIES_OF_EVENTS.get(answer, _OTHERWISE) if isinstance(answer, int) else _OTHERWISE
        return Check(_NAME, CheckState.PROBLEM, f"{door.url} {text}", remedy)
    if not isinstance(event, NewEvent) or not parts.ledger.events.has(event.identity):
        return Check(
            _NAME,
            CheckState.PROBLEM,
            f"{door.url} took an event, but it did not come into this ledger.",
            "Another receiver listens there, or it writes into another ledger: compare ledger.url of both.",
        )
    return Check(_NAME, CheckState.OK, f"an event to {door.url} came into the ledger")
