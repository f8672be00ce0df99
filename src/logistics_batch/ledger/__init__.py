"""The memory: what was sent and what was said, on SQLite or PostgreSQL."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from logistics_batch.ledger.arrivals import Arrivals, FileArrival, digest_of_names, identity_of
from logistics_batch.ledger.backup import Backup
from logistics_batch.ledger.cancellations import FOUND_CANCELLED, NOT_FROM_HERE, Cancellations
from logistics_batch.ledger.connection import open_engine, sqlite_path
from logistics_batch.ledger.decide import NEW, OTHER_SPELLING, REOPENED, Decision, Decisions
from logistics_batch.ledger.events import Events
from logistics_batch.ledger.export import Export
from logistics_batch.ledger.facts import Facts, ServiceFacts, TestOrder, form_of
from logistics_batch.ledger.fates import FATE_OF_STATE, KNOWN, LINES, Fates, fates
from logistics_batch.ledger.feeds import Feeds, WriteFeed
from logistics_batch.ledger.held_files import HeldFile, HeldFiles, HeldNow, LeftFile
from logistics_batch.ledger.high_water import HighWater
from logistics_batch.ledger.history import History
from logistics_batch.ledger.home import Home
from logistics_batch.ledger.integrity import check_database
from logistics_batch.ledger.known_keys import kind_of
from logistics_batch.ledger.lock import sending_lock
from logistics_batch.ledger.mixed_up import MixedUp
from logistics_batch.ledger.mounts import require_local_disk
from logistics_batch.ledger.notices import NewNotice, Notices, StoredNotice
from logistics_batch.ledger.order_states import OrderStates
from logistics_batch.ledger.pace import Pace
from logistics_batch.ledger.planning import Arrival, Planning
from logistics_batch.ledger.prints import Prints
from logistics_batch.ledger.purging import Purged, Purging
from logistics_batch.ledger.recording import Intent
from logistics_batch.ledger.records import (
    NewEvent,
    Outcome,
    PrintLine,
    RowNotSent,
    SentOrder,
    StoredDocument,
    StoredEvent,
    StoredFeed,
    StoredFile,
    StoredLabel,
    StoredRun,
)
from logistics_batch.ledger.restored import RESTORED
from logistics_batch.ledger.result_names import ResultNames
from logistics_batch.ledger.seen import NamedOrder, Seen
from logistics_batch.ledger.sending import PLANNED, Sending
from logistics_batch.ledger.slots import RAN_THROUGH, Slots, StoredSlot
from logistics_batch.ledger.spill import Spill
from logistics_batch.ledger.tally import NeverSent, Tallies, Tally
from logistics_batch.ledger.verifying import Finding, Verification, Verifying

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
    "RESTORED",
    "Arrival",
    "Decision",
    "Decisions",
    "FileArrival",
    "Finding",
    "HeldFile",
    "HeldNow",
    "Intent",
    "Ledger",
    "LeftFile",
    "NamedOrder",
    "NeverSent",
    "NewEvent",
    "NewNotice",
    "Outcome",
    "PrintLine",
    "Purged",
    "RowNotSent",
    "SentOrder",
    "ServiceFacts",
    "StoredDocument",
    "StoredEvent",
    "StoredFeed",
    "StoredFile",
    "StoredLabel",
    "StoredNotice",
    "StoredRun",
    "StoredSlot",
    "Tally",
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
    "sqlite_path",
]


class Ledger(
    Planning,
    Sending,
    Cancellations,
    MixedUp,
    Seen,
    Fates,
    History,
    ResultNames,
    Slots,
    Notices,
    Arrivals,
    Tallies,
    Backup,
    Prints,
    Events,
    Verifying,
    Export,
    Facts,
    Purging,
    Pace,
    OrderStates,
    Feeds,
    HeldFiles,
    Home,
):
    """All parts of the ledger over one engine."""

    @contextmanager
    def sending(self, what: str, *, wait: bool = False, stop: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Hold the ledger for one sending run; see `lock.sending_lock`.

        Answers that an earlier run could not write are written first.

        Raises:
            LedgerBusy: another run holds it.
            LedgerRefused: it is damaged, or an older copy, or an emergency would find no room.
        """
        with sending_lock(self._engine, path=sqlite_path(self.url), what=what, wait=wait, stop=stop) as held:
            if not held.orderly:
                check_database(self._engine)
            self.require_newest()
            self._spill.reserve()
            self.take_back()
            self._keep_mark()
            self._lock_is_held = held.still
            try:
                yield
            finally:
                self._lock_is_held = lambda: True
                self._keep_mark()


def open_ledger(
    url: str, *, account: str, read_only: bool = False, marks: Sequence[Path] = (), spill: Path | None = None
) -> Ledger:
    """Open the ledger, creating it or bringing it up to date where it has to be (never when `read_only`).

    url: sqlite:///path or postgresql://…  account: whose documents these are: the service's address. marks, spill:
    files outside of it; see `high_water` and `spill`.

    Raises:
        LedgerRefused: it cannot be opened or trusted.
        LedgerBusy: it has to be brought up to date, and a sending run holds it.
    """
    engine = open_engine(url, read_only=read_only)
    return Ledger(engine, account=account, url=url, high_water=HighWater(marks), spill=Spill(spill))
