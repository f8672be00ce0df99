"""A process that slept between writing its intent and the first byte does not send: the intent was for then."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from zoneinfo import ZoneInfo

import pytest
from support.commands import Forker
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines

from logistics_batch import wiring
from logistics_batch.flows.doubts.settle import send_again
from logistics_batch.flows.parts import Clock
from logistics_batch.flows.push.dispatch import Dispatcher
from logistics_batch.ledger.lanes import AT_REST


@dataclass
class Sleeper:
    """A clock of a machine that is suspended whenever nobody looks."""

    awake: Clock
    moments: Iterator[int]

    def now(self) -> datetime:
        return self.awake.now()

    def monotonic(self) -> float:
        return float(next(self.moments))

    def sleep(self, seconds: float) -> None:
        self.awake.sleep(seconds)


def test_what_is_sent_again_does_not_leave_late(workspace: Workspace, sandbox: RunningSandbox, forker: Forker) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "times": 1, "kind": "drop_before"}])
    file = workspace.drop("orders.csv", order_lines(["A"]))
    assert forker.run(workspace, "push", file, "--mapping", "orders").code == 4
    with wiring.Workspace(workspace.root).parts(wiring.Need()) as opened, opened.ledger.sending("again"):
        for seconds, came_of_it, asked in ((10, "unreachable", 1), (1, "settled", 2)):
            (doubt,) = opened.ledger.attempts.in_doubt()
            parts = replace(opened, clock=Sleeper(opened.clock, count(0, seconds)))
            assert send_again(parts, doubt, run="R") == came_of_it
            assert len(sandbox.received("order.create")) == asked


@dataclass
class Suspended:
    """A clock of a machine that was suspended for so long, all in all."""

    awake: Clock
    seconds: float = 0.0

    def now(self) -> datetime:
        return self.awake.now()

    def monotonic(self) -> float:
        return self.awake.monotonic() + self.seconds

    def sleep(self, seconds: float) -> None:
        self.awake.sleep(seconds)


def test_what_is_sent_the_first_time_does_not_leave_late(
    workspace: Workspace, sandbox: RunningSandbox, forker: Forker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The intent that grew too old is given up, and what leaves has a new one."""
    file = workspace.drop("orders.csv", order_lines(["A"]))
    broken_off = {"LOGISTICS_BATCH_CRASH_AT": "file.after_commit:1"}
    forker.start(workspace, "push", file, "--mapping", "orders", environment=broken_off).end()
    with wiring.Workspace(workspace.root).parts(wiring.Need()) as opened, opened.ledger.sending("again"):
        clock = Suspended(opened.clock)

        def before_the_first_byte(point: str) -> None:
            if point == "send.before" and not clock.seconds:
                clock.seconds = 10.0

        monkeypatch.setattr("logistics_batch.flows.push.dispatch.crash_point", before_the_first_byte)
        monkeypatch.setattr(opened.client.pacer, "_clock", clock.monotonic)  # it is the same machine
        (planned,) = opened.ledger.documents.select(states=["planned"])
        Dispatcher(replace(opened, clock=clock), run="R").send([planned.id])
        (sent,) = opened.ledger.documents.select()
        assert (sent.state, sent.attempts) == ("accepted", 2)
    assert len(sandbox.received("order.create")) == 1


def test_an_intent_ages_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine's other clocks stand still meanwhile."""
    clock, read = Clock(ZoneInfo("UTC"), threading.Event()), time.clock_gettime
    since = clock.monotonic()
    monkeypatch.setattr(time, "clock_gettime", lambda which: read(which) + (3600.0 if which == AT_REST else 0.0))
    assert clock.monotonic() - since >= 3600
