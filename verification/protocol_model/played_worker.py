"""A process that sends, settles and dies: the real ledger and flows, led from place to place over a pipe.

At each place the process waits to be told to go on, or is killed there. Places are crash points, calls to the service,
and the moments at which it has nothing to do.
"""

import resource
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from protocol_model.played_service import ACCESS, AT, RUN, dropped, open_played

from logistics_batch import crash_points
from logistics_batch.api.client import Reply
from logistics_batch.api.pacing import Pacer
from logistics_batch.errors import LedgerRefused, LogisticsBatchError
from logistics_batch.flows.doubts import retry
from logistics_batch.flows.doubts.settle import settle_due
from logistics_batch.flows.parts import Parts, Policy
from logistics_batch.flows.push.dispatch import Dispatcher
from logistics_batch.ledger import Lease, LeaseEnded, Ledger, lanes

CREATES = ("order.create", "asn.create")
STOPS = ("intent.before_commit", "intent.after_commit", "send.after", "resend.after")
LEASE_SECONDS = 3600.0  # ends when the one who leads says so
_FULL_AT_BYTES = 2048  # no journal fits, an answer in the space that was taken before does


@dataclass(frozen=True)
class Told:
    """What the one who leads says: the seconds that have passed on every clock, and what is wanted or answered.

    asleep: those that have passed for this process alone. not_renewed: those that have passed for its leases alone.
    """

    seconds: float
    asleep: float = 0.0
    not_renewed: float = 0.0
    wanted: tuple[object, ...] = ()
    reply: Reply | None = None
    full: bool = False


@dataclass
class Stage:
    """The process's end of the pipe; whoever asks waits for an answer."""

    pipe: Connection
    seconds: float = 0.0
    asleep: float = 0.0
    not_renewed: float = 0.0
    stop: threading.Event = field(default_factory=threading.Event)

    def ask(self, place: str, detail: str = "") -> Told:
        """Say where the process is, and wait there."""
        self.pipe.send((place, detail))
        told: Told = self.pipe.recv()
        self.seconds, self.asleep, self.not_renewed = told.seconds, told.asleep, told.not_renewed
        if told.full:  # from now on the disk takes nothing
            resource.setrlimit(resource.RLIMIT_FSIZE, (_FULL_AT_BYTES, _FULL_AT_BYTES))
        return told

    def passes(self, point: str) -> None:
        """A crash point is passed; at some of them the process waits."""
        if point == "send.before":
            self.stop.set()  # one document at a time: the dispatcher is asked to end
        if point in STOPS:
            self.ask(point)


class EveryPoint(str):
    """As the armed crash point it is told of every point that is passed, and kills at none."""

    stage: Stage

    def __ne__(self, point: object) -> bool:
        self.stage.passes(str(point))
        return True


@dataclass
class PlayedClock:
    """The time of the one who leads; sleeping takes none of it."""

    stage: Stage
    slept: float = 0.0

    def now(self) -> datetime:
        return datetime.fromisoformat(AT) + timedelta(seconds=self.stage.seconds)

    def monotonic(self) -> float:
        return time.monotonic() + self.stage.seconds + self.stage.asleep + self.slept

    def sleep(self, seconds: float) -> None:
        self.slept += seconds


class PlayedClient:
    """Calls to the service; what it answers comes over the pipe."""

    def __init__(self, stage: Stage, clock: PlayedClock) -> None:
        self._stage = stage
        self.settings = ACCESS
        self.pacer = Pacer("none", clock=clock.monotonic, sleep=clock.sleep)

    def call(
        self,
        endpoint: str,
        *,
        order_id: str | None = None,
        query: Mapping[str, str] | None = None,
        may_leave: Callable[[], bool] = lambda: True,
        **_given: object,
    ) -> Reply:
        if not may_leave():
            return Reply(endpoint, failure="late")
        asked = order_id or (query or {}).get("invoice_number", "")
        reply = self._stage.ask(f"call {endpoint}", asked).reply
        assert reply is not None, f"nobody said what {endpoint} answers"
        return reply


def work(pipe: Connection, folder: Path, policy: Policy, url: str = "", helps: bool = False) -> None:
    """The life of the process: take the lock, take over, do what is wanted, end; who helps takes only a lease."""
    stage = Stage(pipe)
    armed = EveryPoint("every point")
    armed.stage = stage
    clock = PlayedClock(stage)
    try:
        ledger = open_played(folder, url=url)
        _lead_leases(ledger, stage)
        crash_points._armed.name = armed
        parts = Parts(
            ledger,
            PlayedClient(stage, clock),  # type: ignore[arg-type]
            open_store=None,  # type: ignore[arg-type]
            mapping=None,  # type: ignore[arg-type]
            reports=folder,
            files=folder,
            clock=clock,
            policy=policy,
            stop=stage.stop,
        )
        if helps:
            _do_in_lanes(parts, stage)
        else:
            with ledger.sending("play"):
                stage.ask("locked")
                ledger.attempts.take_over(clock.now().isoformat())
                if url:
                    _do_in_lanes(parts, stage, run=RUN)
                else:
                    _do_all(parts, stage)
        pipe.send(("ended", ""))
    except LogisticsBatchError as error:
        pipe.send((type(error).__name__, str(error)))


def _lead_leases(ledger: Ledger, stage: Stage) -> None:
    """A lease ends when that is told, and how many they are is seen when that is wanted: never in between."""
    lanes._clock = lambda: time.clock_gettime(lanes.AT_REST) + stage.asleep + stage.not_renewed
    lanes._LOOK_SECONDS = LEASE_SECONDS
    ledger.lanes.leased = partial(ledger.lanes.leased, seconds=LEASE_SECONDS)  # type: ignore[method-assign]


def _do_in_lanes(parts: Parts, stage: Stage, *, run: str = "") -> None:
    """With a lease, and with another one after it; as `send_beside_others`, or as `help_to_send` if there is no run."""
    ended = False
    while not ended:
        with suppress(LeaseEnded if run else LedgerRefused), parts.ledger.sending_in_lanes(run=run) as lease:
            _do_all(parts, stage, lease, goes_on=not run)
            ended = True


def _do_all(parts: Parts, stage: Stage, lease: Lease | None = None, *, goes_on: bool = False) -> None:
    """goes_on: after the ledger refused something, with a new lease once that is wanted."""
    while (wanted := stage.ask("ready").wanted) != ("end",):
        stage.stop.clear()
        if lease is not None and wanted == ("new lease",):
            lease.require()
        try:
            _do(parts, wanted)
        except LedgerRefused:
            if not goes_on:
                raise


def _do(parts: Parts, wanted: tuple[object, ...]) -> None:
    lease = parts.ledger.attempts.lease
    match wanted:
        case "plan", str(kind), str(content), str(name):
            parts.ledger.planning.plan_file(RUN, dropped(kind, content, name=name))
        case "send", int(number):
            Dispatcher(parts, run=RUN).send([number])
            if lease is not None and lease.may_send:
                lease.share_out()
        case "settle", bool(give_up):  # a run does so before it opens itself to others, and after
            parts.ledger.attempts.lease = None
            settle_due(parts, run=RUN, give_up=give_up)
            parts.ledger.attempts.lease = lease
        case ("take over",):
            parts.ledger.attempts.take_over(parts.now)
        case ("share out",) if lease is not None:
            lease._senders = -1  # as if its thread had seen that there are more, or fewer
            lease.share_out()
        case ("give back",) if lease is not None:
            lease.give_back()
        case ("retry",):
            run = parts.ledger.runs.get(RUN)
            assert run is not None
            retry._chosen(parts, run.id, retry.REFUSED)
        case _:
            raise ValueError(wanted)


def heedless(*given: object) -> None:
    """The life of a process that does not ask its lease before the first byte."""
    Dispatcher._may_leave = lambda _: True  # type: ignore[method-assign]
    work(*given)  # type: ignore[arg-type]
