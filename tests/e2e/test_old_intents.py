"""A process that slept between writing its intent and the first byte does not send: the intent was for then."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from support.commands import Forker
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines

from logistics_batch import wiring
from logistics_batch.flows.parts import Clock
from logistics_batch.flows.send_again import send_again


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
    assert forker.start(workspace, "push", file, "--mapping", "orders").end().code == 4
    with wiring.Workspace(workspace.root).parts(wiring.Need()) as opened, opened.ledger.sending("again"):
        for seconds, came_of_it, asked in ((10, "unreachable", 1), (1, "settled", 2)):
            (doubt,) = opened.ledger.in_doubt()
            parts = replace(opened, clock=Sleeper(opened.clock, count(0, seconds)))
            assert send_again(parts, doubt, run="R") == came_of_it
            assert len(sandbox.received("order.create")) == asked
