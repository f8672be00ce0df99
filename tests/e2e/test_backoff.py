"""What a run does while nothing of it arrives: it pauses, probes with one call, goes on, and ends at last."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import httpcore
import pytest
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, asn_lines, order_lines

from logistics_batch import wiring
from logistics_batch.api.transport import Connections, TimedNetwork
from logistics_batch.flows.parts import Clock, Progress
from logistics_batch.flows.push import health
from logistics_batch.flows.push.dispatch import Dispatcher
from logistics_batch.flows.push.health import DispatchResult

REFERENCES = [f"T-{number}" for number in range(1, 7)]


@dataclass
class Hurried:
    """A clock on which waiting costs no time."""

    awake: Clock
    waited: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> datetime:
        return self.awake.now()

    def monotonic(self) -> float:
        return self.awake.monotonic() + self.waited

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.waited += max(0.0, seconds)


@dataclass
class Room:
    """What was planned, a way to send it, the clock, what the pacer was told to pause (seconds), and what was shown."""

    send: Callable[[], DispatchResult]
    clock: Hurried
    pauses: list[float]
    shown: list[str]
    states: Callable[[], Counter[str]]


@dataclass
class Shown(Progress):
    """Progress that keeps what it was told."""

    notes: list[str] = field(default_factory=list)

    def advance(self, n: int = 1, note: str = "") -> None:
        self.notes.append(note)


Open = Callable[..., Any]


@pytest.fixture
def opened(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a room with the planned documents of a run that was cut short."""

    @contextmanager
    def room(mapping: str, references: Sequence[str] = REFERENCES, *, concurrency: int = 1) -> Iterator[Room]:
        workspace.second_creates_are_refused()  # so that no acceptance is looked at
        workspace.configure(f"concurrency = {concurrency}")
        lines = order_lines(references) if mapping == "orders" else asn_lines(references)
        file = workspace.drop(f"{mapping}.csv", lines)
        workspace.run("push", file, "--mapping", mapping, LOGISTICS_BATCH_CRASH_AT="file.after_commit:1")
        with wiring.Workspace(workspace.root).parts(wiring.Need()) as parts, monkeypatch.context() as patch:
            clock, pacer, pauses = Hurried(parts.clock), parts.client.pacer, list[float]()
            patch.setattr(pacer, "_clock", clock.monotonic)
            patch.setattr(pacer, "_sleep", clock.sleep)
            patch.setattr(pacer, "_shared", [])  # other processes keep to the clock of the machine
            slow_down = pacer.slow_down

            def noted(seconds: float) -> None:
                pauses.append(seconds)
                slow_down(seconds)

            patch.setattr(pacer, "slow_down", noted)

            shown = Shown()

            def send() -> DispatchResult:
                with parts.ledger.sending("again"):
                    planned = parts.ledger.documents.select(states=["planned"])
                    dispatcher = Dispatcher(replace(parts, clock=clock, progress=shown), run="R")
                    return dispatcher.send([each.id for each in planned])

            yield Room(
                send,
                clock,
                pauses,
                shown.notes,
                lambda: Counter(each.state for each in parts.ledger.documents.select()),
            )

    return room


@pytest.fixture
def unreachable(monkeypatch: pytest.MonkeyPatch) -> Callable[[Room, set[int]], list[float]]:
    """Refuses the connections with these numbers, one for each call; gives the moments at which each one was tried."""

    def refuse(room: Room, numbers: set[int]) -> list[float]:
        tried, connect = list[float](), TimedNetwork.connect_tcp

        def refused(backend: TimedNetwork, *arguments: Any, **options: Any) -> httpcore.NetworkStream:
            tried.append(room.clock.monotonic())
            if len(tried) in numbers:
                raise httpcore.ConnectError("connection refused")
            return connect(backend, *arguments, **options)

        monkeypatch.setattr(TimedNetwork, "connect_tcp", refused)
        monkeypatch.setattr(Connections, "keeps", property(lambda _: False))
        return tried

    return refuse


def test_a_network_that_comes_back_costs_pauses_only(opened: Open, unreachable: Any, sandbox: RunningSandbox) -> None:
    """Each pause is kept, grows from failure to failure, and begins anew once a call got through."""
    refused, pauses = {2, 3, 5, 6, 8}, [1, 2, 1, 2, 1]
    with opened("orders") as room:
        tried = unreachable(room, refused)
        assert room.send().stopped == ""
        assert room.pauses == pauses
        kept = [tried[number] - tried[number - 1] for number in sorted(refused)]
        assert all(gap >= pause for gap, pause in zip(kept, pauses, strict=True))
        assert room.states() == {"accepted": 6}
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)


@pytest.mark.parametrize(
    ("answered", "pauses"), [(2, [1, 2, 4, 8, 16]), (0, [1, 2, 4])], ids=["answered before", "nobody answered yet"]
)
def test_a_service_that_stays_away_ends_the_sending_and_nothing_is_in_doubt(
    opened: Open, unreachable: Any, sandbox: RunningSandbox, answered: int, pauses: list[int]
) -> None:
    with opened("orders") as room:
        tried = unreachable(room, set(range(answered + 1, answered + 2 + len(pauses))))
        result = room.send()
        assert "Nothing could be sent" in result.stopped
        assert "Check the network" in result.remedy
        assert not result.lasting
        assert (room.pauses, result.pauses, result.paused_seconds) == (pauses, len(pauses), sum(pauses))
        assert (len(tried), result.doubts) == (answered + 1 + len(pauses), 0)
        assert room.states() == Counter(accepted=answered, planned=6 - answered)
        assert room.send().stopped == ""
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)


MANY = [f"M-{number}" for number in range(1, 121)]


def test_a_service_that_is_away_for_seconds_costs_a_pause_with_one_call_as_a_probe(
    opened: Open, sandbox: RunningSandbox
) -> None:
    """It answers 503 with a page for as long as two probes: five doubts and those, and all others are sent."""
    sandbox.set_faults([{"endpoint": "order.create", "from": 26, "to": 32, "kind": "status_503"}])
    with opened("orders", MANY) as room:
        result = room.send()
        assert (result.stopped, room.states()) == ("", {"accepted": 113, "in_doubt": 7})
        assert (room.pauses, result.pauses, result.paused_seconds) == ([1, 2, 4], 3, 7)
        waited = [note for note in room.shown if "waits until" in note]
        assert len(waited) == 3
        assert "5 calls in a row had no trustworthy answer" in waited[0]


def test_bad_answers_between_good_ones_end_no_run(opened: Open, sandbox: RunningSandbox) -> None:
    """Half of them, by chance, and once more in a row than are borne without a pause."""
    by_chance = {"endpoint": "order.create", "kind": "status_502", "probability": 0.5, "seed": 3}
    in_a_row = {"endpoint": "order.create", "kind": "status_502", "from": 21, "to": 26}
    sandbox.set_faults([in_a_row, by_chance])
    with opened("orders", MANY, concurrency=4) as room:
        result = room.send()
        states = room.states()
        assert (result.stopped, states["planned"], sum(states.values())) == ("", 0, 120)
        assert result.pauses > 0


def test_a_page_of_a_gateway_that_has_no_service_behind_it_is_waited_for(opened: Open, sandbox: RunningSandbox) -> None:
    """At the first call, too: a page with 502 or 503 is no other web site."""
    sandbox.set_faults([{"endpoint": "order.create", "to": 3, "kind": "status_503"}])
    with opened("orders") as room:
        result = room.send()
        assert result.stopped == ""
        assert room.states() == {"in_doubt": 3, "accepted": 3}
        assert room.pauses == [1, 2, 4]


def test_a_service_that_never_stops_asking_to_slow_down_ends_the_run(opened: Open, sandbox: RunningSandbox) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "from": 3, "kind": "status_429", "retry_after": "none"}])
    with opened("orders") as room:
        result = room.send()
        assert "keeps asking to slow down (429)" in result.stopped
        assert not result.lasting
        assert "Lower service.rate" in result.remedy
        assert len(sandbox.received("order.create")) == 2 + health.SLOW_DOWNS_UNTIL_STOP
        assert room.states() == {"accepted": 2, "planned": 4}
        assert max(room.pauses) == 64.0  # by the measure of our own, as it names no time
        sandbox.set_faults([])
        assert room.send().stopped == ""
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)


@pytest.mark.parametrize("fault", ["status_429", "error_500_before"])
def test_an_asn_is_asked_about_again_before_it_is_sent(opened: Open, sandbox: RunningSandbox, fault: str) -> None:
    sandbox.set_faults([{"endpoint": "asn.fetch", "requests": [2, 3], "kind": fault}])
    with opened("asns") as room:
        assert room.send().stopped == ""
        assert room.states() == {"accepted": 6}
    assert len(sandbox.received("asn.fetch")) == 6 + 2
    assert created(sandbox, "asn.created") == dict.fromkeys(REFERENCES, 1)
