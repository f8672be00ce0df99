"""What the model remembers: documents in the ledger, workers, requests on their way, the service's records.

Everything is a tuple of plain values, so that a state can be hashed and compared. Words are those of the glossary.
"""

from enum import StrEnum
from typing import Any, NamedTuple

NOBODY = -1


class Broken(StrEnum):
    """Designs that look right and are not; the model with one of them must break a promise."""

    NONE = ""
    ERROR_IS_REFUSAL = "an answer 500 is taken as a refusal"
    FAIL_IS_ACCEPTANCE = "any answer 200 is taken as an acceptance"
    RETRY_AFTER_TIMEOUT = "after a timeout the document is planned again at once"
    RETRY_IN_TRANSPORT = "the transport repeats a request whose connection broke"
    BYTES_BEFORE_INTENT = "the intent is written together with the outcome"
    NO_AGE_CHECK = "the intent's age is not checked before the first byte"
    LOCK_ENDS_IN_PAUSE = "the lock is given up while its holder is suspended"
    TAKE_OVER_WITHOUT_LOCK = "a second process takes over what a live one is sending"
    TAKEN_OVER_IS_PLANNED = "what a dead process was sending is planned again"
    ABSENCE_WITHOUT_CALIBRATION = "“not found” is believed without the controls"
    SECOND_REFUSAL_COUNTS = "a refusal of a second attempt is taken as a refusal"
    SETTLE_AT_ONCE = "doubts are settled before the pause is over"
    ANY_CONTENT_IS_OURS = "an order found under the reference is ours whatever it holds"
    ACCEPTANCE_UNSEEN = "an answer of success is believed although it may be the first one again"
    DECISION_WITHOUT_CHECKS = "“send-again” goes out beside another living version"
    CORRECTION_BESIDE_DOUBT = "a corrected file goes out beside a version in doubt"
    CORRECTION_REPLACES_RELEASED = "a corrected file replaces a doubt that a person released"
    FIRST_PAGE_ONLY = "what is not on the first page of a search is absent"
    TAKEN_IS_OURS = "“the reference is taken” on a first attempt is taken as an acceptance"
    SENDER_LOOKED_FOR_LATE = "whether the sender is gone is asked before a second send, not when the doubt begins"
    SENDER_MAY_LIVE = "a doubt is sent again while its sender may only sleep"
    NO_BASELINE = "an ASN is sent without asking what was there before"
    OUTCOME_OF_ANY_ATTEMPT = "an outcome is written whichever attempt is under way"
    FILE_AWAY_FIRST = "a file is put away before it is in the ledger"
    RETRY_BESIDE_OTHERS = "a refused version is retried beside a later one"
    OLD_COPY_GOES_ON = "a ledger that was restored from a copy goes on by itself"
    RELEASE_OUTLIVES_COPY = "“send-again” of before the copy still counts in a restored ledger"
    ABSENCE_WITHOUT_CONTROL = "an ASN that is not found is sent again although no search was seen to show anything"
    DOUBT_OUTLIVES_COPY = "a doubt of before the copy is sent again by itself"
    TAKE_OVER_UNDER_LEASE = "what a helper is sending is taken over although its lease lasts"
    LEASE_UNSEEN = "whether the lease lasts is not asked before the first byte"
    OLD_COPY_IS_BELIEVED = "what a restored copy takes for never sent counts as never sent"


class World(NamedTuple):
    """What may happen in one search, how often, and how the service behaves where its document is silent.

    lock: "kernel" is held while its holder is suspended and ends with it; "session" may be lost by a live holder.
    duplicate: the answer to a second create of a live reference. readable: orders are found by their reference.
    verified: test orders showed that references are unique, and how "taken" is said.
    known_asn: an ASN of ours is known to be accepted. blind: searches show nothing of what is there.
    foreign: something that others entered under our key before. informed: people look at the service before they
    decide, and wait for the pause before they let a restored copy go on. cancels_elsewhere: orders are cancelled at the
    service, too, not only those that the ledger calls accepted.
    helpers: so many of the workers only send, for the run of another one. guarded: nobody claims without a lease.
    late_after_pause, proxy_repeats, reads_lag, disk_lies, acts_despite_401,
    sleeps_after_look: what is assumed not to happen.
    The numbers say how often a thing may happen; `faults` counts lost, late, wrong and unreadable answers together.
    """

    name: str
    kind: str = "order"
    contents: str = "A"
    lock: str = "kernel"
    duplicate: str = "refuse"
    readable: bool = True
    unique: bool = True
    verified: bool = False
    resend_asns: bool = False
    foreign: str = ""
    hidden_page: bool = False
    known_asn: bool = True
    blind: bool = False
    informed: bool = True
    workers: int = 2
    helpers: int = 0
    guarded: bool = True
    arrivals: int = 1
    faults: int = 2
    crashes: int = 1
    pauses: int = 0
    cancels: int = 0
    cancels_elsewhere: bool = True
    refusals: int = 0
    decisions: int = 1
    full_ledgers: int = 0
    retries: int = 0
    restores: int = 0
    attempts_at_most: int = 3
    late_after_pause: bool = False
    proxy_repeats: bool = False
    reads_lag: bool = False
    disk_lies: bool = False
    acts_despite_401: bool = False
    sleeps_after_look: bool = False
    broken: Broken = Broken.NONE


class Document(NamedTuple):
    """One generation of the key. due: the pause after its doubt is over. doubtful: attempts that may have arrived.

    open_attempt: the end of the last attempt is not written. releases: how often a person decided to send it.
    before: how many like it were there before the first send. of_copy: refused, by a copy that a person let go on.
    """

    content: str
    state: str = "planned"
    rule: str = ""
    attempts: int = 0
    doubtful: int = 0
    tainted: bool = False
    due: bool = False
    checks: int = 0
    open_attempt: bool = False
    releases: int = 0
    released: bool = False
    before: int = NOBODY
    of_copy: bool = False


class Worker(NamedTuple):
    """A process. step: away, locked, ready, asked, based, baselined, intent, looked_at_clock, waiting,
    answered, looked. lease: "lasts", "over", or "" for none; only where there are helpers.

    document, attempt, again, tainted: what it works on, as it read it. heard: what came back. late: it was suspended
    for longer than an intent may age.
    """

    step: str = "away"
    has_lock: bool = False
    lease: str = ""
    suspended: bool = False
    late: bool = False
    document: int = NOBODY
    attempt: int = 0
    again: bool = False
    tainted: bool = False
    heard: str = ""


class Request(NamedTuple):
    """A create on its way to the service; worker: who waits for the answer, NOBODY if nobody does any more."""

    document: int
    attempt: int
    worker: int


class Record(NamedTuple):
    """An order or ASN at the service; document: which of ours made it, NOBODY if others did. shown: reads see it."""

    document: int
    content: str
    live: bool = True
    shown: bool = False


class Left(NamedTuple):
    """How often each thing may still happen."""

    arrivals: int
    faults: int
    crashes: int
    pauses: int
    cancels: int
    refusals: int
    decisions: int
    full_ledgers: int
    retries: int
    restores: int


class State(NamedTuple):
    """Everything at one moment. arrived: the contents that were ever dropped.

    inbox: the files that lie there, each by the letter of its content, small once it is in the ledger.
    copy: a copy of the ledger, None if there is none. is_old: the ledger is that copy. history_lost: a copy goes on, so
    that orders are asked for before they are sent. lane: the worker that holds the key's lane. run_open: others may
    send for the run.
    """

    documents: tuple[Document, ...]
    workers: tuple[Worker, ...]
    network: tuple[Request, ...]
    records: tuple[Record, ...]
    inbox: str
    arrived: str
    left: Left
    copy: tuple[Document, ...] | None = None
    is_old: bool = False
    history_lost: bool = False
    lane: int = NOBODY
    run_open: bool = False


class Label(NamedTuple):
    """The name of a transition: what happened, to which worker and document, and how it went."""

    kind: str
    worker: int = NOBODY
    document: int = NOBODY
    detail: str = ""

    def __str__(self) -> str:
        worker = f" by worker {self.worker + 1}" if self.worker >= 0 else ""
        document = f" of generation {self.document + 1}" if self.document >= 0 else ""
        return f"{self.kind}{document}{worker}" + (f": {self.detail}" if self.detail else "")


def first_state(world: World) -> State:
    """Nothing has come yet; the service may hold what others entered."""
    left = Left(*(getattr(world, name) for name in Left._fields))
    records = tuple(Record(NOBODY, content, shown=True) for content in world.foreign)
    return State((), (Worker(),) * world.workers, (), records, "", "", left)


def with_document(state: State, index: int, /, **changes: Any) -> State:
    """The state with one document changed."""
    documents = list(state.documents)
    documents[index] = documents[index]._replace(**changes)
    return state._replace(documents=tuple(documents))


def with_worker(state: State, index: int, /, **changes: Any) -> State:
    """The state with one worker changed."""
    workers = list(state.workers)
    workers[index] = workers[index]._replace(**changes)
    return state._replace(workers=tuple(workers))


def spend(state: State, **one_less: int) -> State:
    """The state with budgets used up by the given amounts."""
    left = state.left
    return state._replace(left=left._replace(**{name: getattr(left, name) - n for name, n in one_less.items()}))
