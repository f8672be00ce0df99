"""What a flow works with: the concrete parts that `wiring` put together, handed in as one value."""

import threading
import time
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal
from zoneinfo import ZoneInfo

from logistics_batch.api.client import Client
from logistics_batch.errors import UsageError
from logistics_batch.intake.containers import Unpacker
from logistics_batch.intake.limited_work import Limited, at_once
from logistics_batch.intake.stores.store import FileStore
from logistics_batch.ledger import Ledger, StoredRun
from logistics_batch.ledger.lanes import AT_REST
from logistics_batch.mapping import Mapping
from logistics_batch.model.jobs.job import JobPlace

OPERATOR: Final = "operator"
"""Whoever works at the command line."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock in the service's zone; waiting ends early when the process is asked to end.

    ahead: by how many seconds this machine's is before that by which all date things that share the ledger.
    """

    zone: ZoneInfo
    stop: threading.Event
    ahead: Callable[[], float] = float

    def now(self) -> datetime:
        """The wall time."""
        return datetime.now(self.zone) - timedelta(seconds=self.ahead())

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back, and goes on while the machine sleeps."""
        return time.clock_gettime(AT_REST)

    def sleep(self, seconds: float) -> None:
        """Wait, or return at once when the process was asked to end."""
        self.stop.wait(seconds)


class Progress:
    """Where long work tells how far it is; this one shows nothing."""

    def stage(self, text: str) -> None:
        """The next act of the demo begins."""

    def start(self, label: str, total: int | None) -> None:
        """Begin a piece of work of `total` steps (None: not known)."""

    def advance(self, n: int = 1, note: str = "") -> None:
        """`n` steps are done."""

    def done(self) -> None:
        """The piece of work is over."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings that change what a flow does.

    settle_after_seconds: how long after a doubt the service can still act on it.
    asn_resend: "never" or "after_absent" (at-least-once for ASNs).
    marks_asns: whether ASNs get a marker in their description, which people see, to be found again by it.
    purge_after_seconds: how long payloads and other data of people are kept once they are settled; 0: for ever.
    keep_events_seconds: how long the bytes of events are kept; 0: for ever.
    keep_reports_seconds, keep_labels_seconds: how long answers and reports, and label files, are kept; 0: for ever.
    updates_asns: whether the service's operator confirmed what identifies an ASN that is updated (API §4.3).
    label_orders_per_call: for how many orders one call asks; more than one only counts where barcodes can be read.
    longitude: how the longitude fields of orders are spelt on the wire.
    names_in_alerts: whether alerts show the whole names of files, which may be those of people.
    change_unseen: whether a change goes to the AWB number of an order that the service does not show, or is held.
    """

    timezone: str = "Asia/Kolkata"
    concurrency: int = 4
    settle_after_seconds: float = 180.0
    asn_resend: str = "never"
    marks_asns: bool = False
    purge_after_seconds: float = 0.0
    keep_events_seconds: float = 0.0
    keep_reports_seconds: float = 0.0
    keep_labels_seconds: float = 0.0
    label_hosts: tuple[str, ...] = ()
    label_orders_per_call: int = 1
    longitude: Literal["delivery_long", "delivery_lon"] = "delivery_long"
    updates_asns: bool = False
    names_in_alerts: bool = False
    change_unseen: Literal["hold", "send"] = "hold"


@dataclass(frozen=True)
class Parts:
    """Everything a flow needs.

    open_store: the file store of a place; the caller closes it. mapping: a mapping by name or path.
    kept_names: the names under `keep` of all mappings. watched: where jobs look for files of which names, None if one
        of the jobs cannot be read. person: who decides with these parts. limited: how files from outside are worked on;
        start_worker: makes it ready for them; unpack: how archives among them are opened.
    reports: the folder of reports. files: a private folder for originals and labels.
    stop: set when the process was asked to end; flows finish what is in flight and claim no more.
    """

    ledger: Ledger
    client: Client
    open_store: Callable[[JobPlace], FileStore]
    mapping: Callable[[str], Mapping]
    reports: Path
    files: Path
    clock: Clock
    policy: Policy = field(default_factory=Policy)
    progress: Progress = field(default_factory=Progress)
    stop: threading.Event = field(default_factory=threading.Event)
    kept_names: Callable[[], Collection[str]] = tuple
    watched: Callable[[], Collection[tuple[JobPlace, tuple[str, ...]]] | None] = tuple
    person: str = OPERATOR
    limited: Limited = at_once
    start_worker: Callable[[], None] = lambda: None
    unpack: Unpacker = field(default_factory=Unpacker)

    @property
    def now(self) -> str:
        """The wall time as the ledger keeps it."""
        return self.clock.now().isoformat()

    def run_called(self, name: str) -> StoredRun:
        """A run by its id, or the latest run of a job by the job's name. Raises UsageError if there is none."""
        stored = self.ledger.runs.get(name) or next(iter(self.ledger.runs.latest(job=name, limit=1)), None)
        if stored is None:
            raise UsageError(f'There is no run "{name}", and no job of that name ran.', remedy="See `runs` for all.")
        return stored

    def put_all(self, place: JobPlace, contents: dict[str, bytes]) -> tuple[str, ...]:
        """Write files into a place; returns for people where each lies. Raises StoreError."""
        with closing(self.open_store(place)) as store:
            return store.put_all(place.path, contents)
