"""What could keep tonight's jobs from working, found out now; every finding with what to do about it."""

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from itertools import combinations
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

from logistics_batch.api.answers import OrderAbsent, OrderDetails, ReadFailed, ReplyVerdict, read_asns, read_order
from logistics_batch.api.client import Client, Reply
from logistics_batch.api.own_event import send_event
from logistics_batch.errors import LedgerRefused, LogisticsBatchError
from logistics_batch.flows.doubts.staging import verify_service
from logistics_batch.flows.files.answer_names import places_of
from logistics_batch.flows.files.deliver import is_elsewhere
from logistics_batch.flows.files.misnamed import misnamed_at
from logistics_batch.flows.orders.receive_event import read_event
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.proof import is_of_this_key
from logistics_batch.flows.reconcile.receipts import listed_at
from logistics_batch.intake.names import name_matches, printable
from logistics_batch.ledger import NewEvent, require_local_disk, sqlite_path
from logistics_batch.messages import moment
from logistics_batch.model.counting import counted
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import JobPlace, JobSpec, OrderStatusJob, PushJob, ReconcileJob, SettleJob
from logistics_batch.model.report import Fate
from logistics_batch.operate.agenda import paused
from logistics_batch.operate.metrics import document_fates

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


def ok(name: str, text: str, remedy: str = "") -> Check:
    """A check that is well."""
    return Check(name, CheckState.OK, text, remedy)


def warning(name: str, text: str, remedy: str = "") -> Check:
    """A check that somebody should look at."""
    return Check(name, CheckState.WARNING, text, remedy)


def problem(name: str, text: str, remedy: str = "") -> Check:
    """A check that fails."""
    return Check(name, CheckState.PROBLEM, text, remedy)


def tried(name: str, action: Callable[[], str]) -> Check:
    """A check that is well if the action does not raise an error of ours; the action's text says how."""
    try:
        return ok(name, action())
    except LogisticsBatchError as error:
        return problem(name, error.message, error.remedy)


def check_parts(parts: Parts, jobs: Sequence[JobSpec]) -> Iterator[Check]:
    """Whether service, ledger, clock and the places of jobs are as a run needs them."""
    yield from (warning("service", text) for text in parts.client.settings.warnings())
    yield from check_service(parts)
    yield check_ledger(parts)
    yield check_never_sent(parts)
    yield from check_answers(parts)
    yield from check_accounts(parts)
    yield from check_place_of_ledger(parts)
    yield check_owed(parts)
    yield from check_paused(parts)
    yield check_clock(parts)
    yield from once(check_places(parts, jobs))
    yield from check_names(parts, jobs)
    yield from check_shared(jobs)


_MISADDRESSED = "Check service.base_url and service.paths."
_REMEDIES = {
    ReplyVerdict.UNAUTHORIZED: "Check service.api_key_file; a mailed key may have to be decoded from base64 first, and "
    "a proxy on the way may drop headers with an underscore.",
    ReplyVerdict.MISADDRESSED: _MISADDRESSED,
    ReplyVerdict.SLOW_DOWN: "Nothing has to be done: runs wait until the service takes calls again.",
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
        told = warning if found.meaning is ReplyVerdict.SLOW_DOWN else problem
        yield told("service", f"{address}: {found.message}", _remedy(reply, found))
        return
    if isinstance(found, OrderAbsent) and found == _said_of_a_path_that_is_not_there(parts, nobodys):
        text = f"{address}: it answers, but does not have the path of orders ({found.message})."
        yield problem("service", text, _MISADDRESSED)
        return
    words = f"answers, and takes the API key ({found.message})" if isinstance(found, OrderAbsent) else "answers"
    yield ok("service", f"{address} {words}")
    reply = parts.client.call("asn.fetch", query={"invoice_number": nobodys})
    page = read_asns(reply)
    if isinstance(page, ReadFailed):
        yield warning("service, ASNs", f"ASNs cannot be read: {page.message}", _remedy(reply, page))
    else:
        yield ok("service, ASNs", "can be read")


def _remedy(reply: Reply, failed: ReadFailed) -> str:
    """What to do about an answer that cannot be read; a service that is there answers in the form of the contract."""
    other = _MISADDRESSED if reply.status is not None and reply.status < _SERVER_ERROR else _OTHER_REMEDY
    return _REMEDIES.get(failed.meaning, other)


def _said_of_a_path_that_is_not_there(parts: Parts, order_id: str) -> OrderDetails | OrderAbsent | ReadFailed:
    """How the service answers the same question under a path that it certainly does not have."""
    client = parts.client
    nowhere = Client(replace(client.settings, paths={"order.fetch": f"/{order_id}/{{orderId}}"}), pacer=client.pacer)
    try:
        return read_order(nowhere.call("order.fetch", order_id=order_id))
    finally:
        nowhere.close()


def check_places(parts: Parts, jobs: Iterable[JobSpec]) -> Iterator[Check]:
    """Every server and folder that a job uses: host key, log-in, and whether the paths are there.

    Places to which a job brings files come into being when they are needed.
    """
    used: dict[JobPlace, bool] = {}  # whether it must be there
    for job in jobs:
        if isinstance(job, PushJob):
            used[job.source.place] = True
        if isinstance(job, ReconcileJob):
            used |= {lists.place: True for lists in (job.receipts, job.purchase_orders) if lists}
        for place in _answered_at(job):
            used.setdefault(place, False)
    for place, must_be_there in used.items():
        yield tried(_name(place), partial(_look, parts, place, must_be_there=must_be_there))


def once(checks: Iterable[Check]) -> Iterator[Check]:
    """The checks, but what is wrong with a whole server not again for each of its folders."""
    told: set[str] = set()
    for check in checks:
        if check.state == CheckState.OK or check.text not in told:
            yield check
        told.add(check.text)


def _answered_at(job: JobSpec) -> list[JobPlace]:
    """Where a job's answers, reports and feeds go, beside the folder of reports."""
    written = [] if isinstance(job, SettleJob) else [job.results_place]
    if isinstance(job, OrderStatusJob) and job.feed:
        written.append(job.feed.place)
    return [place for place in written if place is not None]


def check_names(parts: Parts, jobs: Iterable[JobSpec]) -> Iterator[Check]:
    """Whether files lie where jobs look whose names fit none of them; a place that is out of reach was told."""
    sources = {job.source.place: job for job in jobs if isinstance(job, PushJob)}
    for place, job in sources.items():
        with suppress(LogisticsBatchError):
            for file, why in misnamed_at(parts, job):
                yield warning(
                    _name(place), f"{printable(file.name)} is not taken.", f"{why.reason[:1].upper()}{why.reason[1:]}."
                )


def check_shared(jobs: Iterable[JobSpec]) -> Iterator[Check]:
    """Whether jobs take the same files with different mappings: whichever runs first gets them."""
    for one, other in combinations((job for job in jobs if isinstance(job, PushJob)), 2):
        ours, theirs = one.source.pattern, other.source.pattern
        alike = any(name_matches(each, theirs) for each in ours) or any(name_matches(each, ours) for each in theirs)
        if alike and one.source.place == other.source.place and one.mapping != other.mapping:
            text = f"It takes files at {_name(other.source.place)} that the job {one.name} takes with another mapping."
            yield warning(f"job {other.name}", text, "Give each of them names of its own, under source.pattern.")


def check_writing(parts: Parts, jobs: Iterable[JobSpec]) -> Iterator[Check]:
    """Whether a file can be put where answers go, and moved to where files are put away; it is removed again."""
    today = parts.clock.now().date()
    tries: dict[JobPlace, JobPlace] = {}  # where to, and from where
    for job in jobs:
        tries |= {place: place for place in (each.on(today) for each in _answered_at(job))}
        if isinstance(job, PushJob):
            here = job.source.place
            folders = [path for path in (job.source.archive, job.source.quarantine) if path]
            tries |= {here.model_copy(update={"path": path}).on(today): here for path in folders}
    reports = JobPlace(folder=str(parts.reports))
    for to, source in {reports: reports, **tries}.items():
        yield tried(f"writing, {_name(to)}", partial(_write, parts, source, to))


def _write(parts: Parts, source: JobPlace, to: JobPlace) -> str:
    name = f"logistics-batch-{secrets.token_hex(4)}.tmp"  # no job takes it
    store = parts.open_store(source)
    try:
        path = str(PurePosixPath(source.path) / name)
        folders = (each for place in {to.path, source.path} for each in (place, *PurePosixPath(place).parents))
        made = [folder for folder in dict.fromkeys(map(str, folders)) if not store.exists(folder)]
        try:
            store.put(path, b"Written by `logistics-batch doctor --write-test`; it may be removed.\n")
            if to != source:
                path = store.move(path, to_folder=to.path)
        finally:
            store.remove(path)
            for folder in made:
                store.remove_folder(folder)
    finally:
        store.close()
    return (
        "a file was put there and removed" if to == source else f"a file of {source.path} was moved there and removed"
    )


def _name(place: JobPlace) -> str:
    path = f":{place.path}" if place.path.strip("/") else ""  # a server's or a folder's own root goes without saying
    return f"sftp.{place.sftp}{path}" if place.sftp else f"folder {place.folder}{path}"


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
        return problem("ledger", error.message, error.remedy)
    fates = document_fates(parts.ledger)
    doubts, held = fates[Fate.IN_DOUBT], fates[Fate.HELD] + len(parts.ledger.files.held())
    if not doubts and not held:
        return ok("ledger", "sound; nothing is in doubt or held")
    steps = ["`logistics-batch held list` for what is held"] if held else []
    if sending := parts.ledger.itself.sending_now():
        text = f"sound; a run is sending{sending}: {doubts} under way or in doubt, {held} held"
        return warning("ledger", text, f"{steps[0]}.") if held else ok("ledger", text)
    steps = [*(["`logistics-batch settle` for what is in doubt"] if doubts else []), *steps]
    return warning("ledger", f"sound; {doubts} in doubt, {held} held", f"{', '.join(steps)}.")


def check_never_sent(parts: Parts) -> Check:
    """Whether runs that stopped early left documents which only a further run of theirs would send."""
    left = parts.ledger.documents.never_sent()
    if not left:
        return ok("unsent", "nothing is left of earlier runs")
    if parts.ledger.itself.sending_now():
        return ok("unsent", "a run is sending")
    runs = ", ".join(dict.fromkeys(f"{each.run} ({each.job}: {each.file_name})" for each in left[:_FILES_NAMED]))
    count = sum(each.documents for each in left)
    text = f"{counted(count, 'document')} {'was' if count == 1 else 'were'} never sent: {runs}"
    remedy = "The next run of their job, or push of their file, sends them; else `logistics-batch retry` with the run."
    return warning("unsent", text, remedy)


def check_answers(parts: Parts) -> Iterator[Check]:
    """Whether answers wait for a place that cannot be reached, also one of a removed job, or for another machine."""
    waiting: dict[JobPlace, list[str]] = {}
    for file in parts.ledger.files.stale():
        if is_elsewhere(parts, file):
            told = Issue.of("answers.not_at_hand", name=file.name, run=file.run)
            yield warning("answers", told.reason, told.fix)
            continue
        for place in places_of(parts, file):
            waiting.setdefault(place, []).append(f"{file.name} (run {file.run})")
    for place, files in waiting.items():
        try:
            _look(parts, place, must_be_there=False)
        except LogisticsBatchError as error:
            named = ", ".join(files[:_FILES_NAMED])
            text = f"Answers that could not be brought to {_name(place)}: {named}. {error.message}"
            yield warning("answers", text, error.remedy)


def check_place_of_ledger(parts: Parts) -> Iterator[Check]:
    """Whether the ledger lies where its locks do not hold, or may be a copy, whose original still sends."""
    path = sqlite_path(parts.ledger.url)
    if path is not None:
        try:
            require_local_disk(path)
        except LedgerRefused as error:
            yield problem("ledger, its place", error.message, error.remedy)
    if before := parts.ledger.itself.moved_from():
        told = Issue.of("ledger.elsewhere", path=before.path, host=before.host)
        yield warning("ledger, its place", told.reason, told.fix)


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
            yield warning("ledger, other addresses", text, remedy)


def check_clock(parts: Parts) -> Check:
    """Whether this machine's clock is behind what the ledger has already seen."""
    now = parts.clock.now()
    last = next(iter(parts.ledger.runs.latest(limit=1)), None)
    shown = now.isoformat(timespec="seconds")
    if last is None or datetime.fromisoformat(last.started_at) <= now + _CLOCK_SLACK:
        return ok("clock", f"{shown} ({parts.policy.timezone})")
    text = f"It is {shown} by this machine, but the last run began at {last.started_at}."
    return problem("clock", text, "Set the clock right (NTP) before anything runs.")


def check_owed(parts: Parts) -> Check:
    """Whether alerts wait because an address could not be reached."""
    waiting = [each for each in parts.ledger.notices.owed() if each.tries]
    if not waiting:
        return ok("alerts", "none waits")
    first = waiting[0]
    more = f", and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    text = f"What could not be told yet, since {moment(first.since)}: {first.title}{more}"
    remedy = "See whether the addresses in [notify] are right and can be reached; they are tried again by themselves."
    return warning("alerts", text, remedy)


_TOPIC = "logisticsBatchDoctor"
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


def check_paused(parts: Parts) -> Iterator[Check]:
    """Which jobs the scheduler leaves alone, and why."""
    for job, each in paused(parts.ledger).items():
        text = f"{each.title} since {moment(each.since)}: {each.text}"
        yield warning(f"job {job}", text, f'`logistics-batch schedule resume {job} --reason "…"`')


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
        return problem("events", f"{door.url} {text}", remedy)
    if not isinstance(event, NewEvent) or not parts.ledger.events.has(event.identity):
        text = f"{door.url} took an event, but it did not come into this ledger."
        remedy = "Another receiver listens there, or it writes into another ledger: compare ledger.url of both."
        return problem("events", text, remedy)
    return ok("events", f"an event to {door.url} came into the ledger")


_DUPLICATES = {
    "refused": "a second create of a live reference is refused",
    "repeated": "a second create of a live reference is answered like the first",
    "unclear": "the answer to a second create of a live reference proves nothing",
}
_NOT_UNIQUE = (
    "That a reference makes one order could not be shown",
    "An order in doubt is sent again only where asking for it by its reference is certain; else a person decides.",
)


def check_facts(parts: Parts) -> Check:
    """What is known by now; makes no call."""
    facts = parts.ledger.facts.verified()
    if facts is None:
        text = "references are unique: documented (API §8.4), not verified on this account"
        return ok("uniqueness", f"{text}; see `doctor --staging`")
    if not is_of_this_key(parts, facts):
        told = Issue("facts.other_key")
        return warning("uniqueness", told.reason, told.fix)
    if not facts.unique:
        return warning("uniqueness", f"{_NOT_UNIQUE[0]} on {facts.at[:10]}.", _NOT_UNIQUE[1])
    return ok("uniqueness", f"references are unique: documented (API §8.4), verified on {facts.at[:10]}")


def assumptions(parts: Parts) -> Iterator[Check]:
    """What the promise rests on besides unique references, and how far each is known; makes no call."""
    patience = parts.policy.settle_after_seconds
    for name, text in {
        "cancelling": "assumed: nobody cancels an order between a doubt and its second send; a cancelled one is held",
        "late effects": f"assumed: a call without effect within {patience:g} s (service.settle_after) never has one",
        "reading": "verified in each settling: orders that certainly exist are found, before an absence is believed",
        "disk writes": "assumed: what the disk confirmed survives a power cut",
        "no effect": "assumed: a call that is answered 401 or 429, or a first one that is answered 400, did nothing",
    }.items():
        yield ok(name, text)


def stage(parts: Parts, *, pincode: str) -> Iterator[Check]:
    """Make test orders and cancel them; see `flows.doubts.staging`.

    Raises RunStopped if none is taken, LedgerBusy.
    """
    report = verify_service(parts, pincode=pincode)
    facts = report.facts
    if facts.unique:
        yield ok("one order for a reference", "verified, also for four creates at once")
    else:
        yield warning("one order for a reference", f"{_NOT_UNIQUE[0]}.", _NOT_UNIQUE[1])
    yield ok(
        "duplicate reference", _DUPLICATES[facts.duplicate] + (", in words of its own" * bool(facts.duplicate_form))
    )
    names = " or ".join(name.replace("_", " ") for name in facts.found_by)
    if "reference_number" in facts.found_by:
        yield ok("orderId", f"an order is found by {names}")
    else:
        text = f"An order is found by {names}, not by its reference." if names else "An order cannot be fetched."
        yield warning("orderId", text, "Orders in doubt cannot be looked for: see `one order for a reference`.")
    if report.left:
        named = ", ".join(" ".join((order.reference, *order.awb_numbers)) for order in report.left)
        remedy = "Look them up at the service and cancel them; the next `doctor --staging` tries again."
        yield problem("test orders", f"These may still be there: {named}.", remedy)
    else:
        yield ok("test orders", "all are cancelled")
