"""The memory: what was sent and what was said, on SQLite or PostgreSQL."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from pathlib import Path

from logistics_batch.ledger.awb_numbers import NOT_FROM_HERE, AwbNumbers, NamedOrder
from logistics_batch.ledger.connection import HighWater, LedgerConnection
from logistics_batch.ledger.documents.attempts import Attempts
from logistics_batch.ledger.documents.decide import NEW, OTHER_SPELLING, REOPENED, Decision, Decisions
from logistics_batch.ledger.documents.documents import (
    KNOWN,
    LINES,
    PLANNED,
    Addresses,
    StoredDocuments,
    fates,
)
from logistics_batch.ledger.documents.known import Arrival, kind_of
from logistics_batch.ledger.documents.planning import Planning
from logistics_batch.ledger.documents.recording import FOUND_CANCELLED
from logistics_batch.ledger.exceptions import Exceptions, StoredNight
from logistics_batch.ledger.files import (
    FileArrival,
    Files,
    HeldFile,
    LeftFile,
    Runs,
    digest_of_names,
    identity_of,
)
from logistics_batch.ledger.itself.itself import Itself, LedgerFinding, Verification
from logistics_batch.ledger.itself.lock import WRITING_ANSWERS, require_held, sending_lock
from logistics_batch.ledger.itself.opening import (
    check_database,
    give_back,
    open_engine,
    require_local_disk,
    sqlite_path,
)
from logistics_batch.ledger.itself.purging import Purged, Purging
from logistics_batch.ledger.lanes import ClusterMember, Lanes, Lease, LeaseEnded
from logistics_batch.ledger.orders import Events, Feeds, Labels, Orders, WriteFeed
from logistics_batch.ledger.people import AuditEntry, People, StoredPerson
from logistics_batch.ledger.records import (
    Decided,
    NeverSent,
    NewEvent,
    Outcome,
    PrintLine,
    RowNotSent,
    SentOrder,
    StoredDocument,
    StoredFeed,
    StoredFile,
    StoredLabel,
    StoredNotice,
    StoredRun,
    StoredSlot,
)
from logistics_batch.ledger.schedule import RAN_THROUGH, ClaimLost, NewNotice, Notices, Slots
from logistics_batch.ledger.schema import Answered
from logistics_batch.ledger.service import Facts, Pace, ServiceFacts, TestOrder, form_of, sounds_taken
from logistics_batch.model.document import FATE_OF_STATE

__all__ = [
    "FATE_OF_STATE",
    "FOUND_CANCELLED",
    "KNOWN",
    "LINES",
    "NEW",
    "NOT_FROM_HERE",
    "OTHER_SPELLING",
    "PLANNED",
    "RAN_THROUGH",
    "REOPENED",
    "WRITING_ANSWERS",
    "Answered",
    "Arrival",
    "AuditEntry",
    "ClaimLost",
    "ClusterMember",
    "Decided",
    "Decision",
    "Decisions",
    "FileArrival",
    "HeldFile",
    "Lease",
    "LeaseEnded",
    "Ledger",
    "LedgerFinding",
    "LeftFile",
    "NamedOrder",
    "NeverSent",
    "NewEvent",
    "NewNotice",
    "Outcome",
    "People",
    "PrintLine",
    "Purged",
    "RowNotSent",
    "SentOrder",
    "ServiceFacts",
    "StoredDocument",
    "StoredFeed",
    "StoredFile",
    "StoredLabel",
    "StoredNight",
    "StoredNotice",
    "StoredPerson",
    "StoredRun",
    "StoredSlot",
    "TestOrder",
    "Verification",
    "WriteFeed",
    "digest_of_names",
    "fates",
    "form_of",
    "identity_of",
    "kind_of",
    "open_ledger",
    "require_local_disk",
    "sounds_taken",
    "sqlite_path",
]


class Ledger:
    """The repositories of the ledger over one connection, each for one subject."""

    def __init__(self, connection: LedgerConnection, *, zone: tzinfo | None = None, opened: bool = True) -> None:
        """opened: for this object, so that it closes the connections."""
        self._connection, self._zone, self._is_open = connection, zone, opened
        self.runs_for: tuple[str, str] | None = None  # the planned time (job, slot) for which this object's run is
        self.account = connection.account
        self.url = connection.url
        self.planning = Planning(connection)
        self.documents = StoredDocuments(connection)
        self.addresses = Addresses(connection)
        self.attempts = Attempts(connection)
        self.lanes = Lanes(connection)
        self.pace = Pace(connection)
        self.files = Files(connection)
        self.runs = Runs(connection)
        self.orders = Orders(connection)
        self.awb_numbers = AwbNumbers(connection)
        self.events = Events(connection)
        self.feeds = Feeds(connection)
        self.labels = Labels(connection)
        self.slots = Slots(connection)
        self.notices = Notices(connection)
        self.exceptions = Exceptions(connection)
        self.facts = Facts(connection)
        self.people = People(connection)
        self.purging = Purging(connection)
        self.itself = Itself(connection)

    @contextmanager
    def sending(self, what: str, *, wait: bool = False, stop: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Hold the ledger for one sending run; see `lock.sending_lock`.

        Raises:
            LedgerBusy: another run holds it.
            LedgerRefused: it is damaged, or an older copy.
            ClaimLost: another program goes on with the planned time that this is for.
        """
        engine = self._connection.engine
        path = sqlite_path(self.url)
        holding = sending_lock(engine, path=path, what=what, wait=wait, stop=stop, zone=self._zone)
        with holding as (orderly, is_held):
            if not orderly:
                check_database(engine)
            self.itself.require_newest()
            self.itself.keep_mark()
            if self.runs_for:
                self.slots.require_claim(*self.runs_for)
            if self.lanes.are_shared:
                self.lanes.close_runs()
            self.attempts.lock_is_held = is_held
            try:
                yield
            finally:
                self.attempts.lock_is_held = lambda: True
                self.itself.keep_mark()

    def require_lock(self) -> None:
        """Raises LedgerRefused if this object sends and its lock is gone: another run may read, plan and answer now."""
        require_held(self.attempts.lock_is_held())

    @property
    def clock_ahead_seconds(self) -> float:
        """How far this machine's clock was before the server's when a run, or a lease, began or was renewed; 0 for a
        trifle, or a ledger in a file. All who send with one ledger date what they do by one clock.
        """
        return self._connection.clock_ahead_seconds

    def of_jobs(self, jobs: Collection[str]) -> "Ledger":
        """The same ledger, of which only what belongs to some jobs is read; for people, never for what sends."""
        own = self._connection
        made = LedgerConnection(own.engine, account=own.account, url=own.url, high_water=own.high_water, jobs=jobs)
        return Ledger(made, zone=self._zone, opened=False)

    @contextmanager
    def sending_in_lanes(self, *, run: str = "") -> Iterator[Lease]:
        """Send beside others: claims are those of a lease while the block runs; see `Lanes.leased`.

        Raises:
            LedgerRefused: it cannot be written, or the sending lock is lost.
        """
        with self.lanes.leased(run=run) as lease:
            # Who held the lock when the run was opened closes it before anybody else plans.
            self.require_lock()
            self.attempts.lease = lease
            try:
                yield lease
            finally:
                self.attempts.lease = None

    def close(self) -> None:
        """Close all connections, unless somebody else in this program uses them."""
        if self._is_open:
            self._is_open = False
            give_back(self._connection.engine)


def open_ledger(
    url: str, *, account: str, read_only: bool = False, marks: Sequence[Path] = (), zone: tzinfo | None = None
) -> Ledger:
    """Open the ledger, creating it or bringing it up to date where it has to be (never when `read_only`).

    url: sqlite:///path or postgresql://…  account: whose documents these are: the service's address. marks: files
    outside of it; see `connection.HighWater`. zone: of the settings, in which people are told times.

    Raises:
        LedgerRefused: it cannot be opened or trusted.
        LedgerBusy: it has to be brought up to date, and a sending run holds it.
    """
    engine = open_engine(url, read_only=read_only)
    return Ledger(LedgerConnection(engine, account=account, url=url, high_water=HighWater(marks)), zone=zone)
