"""Answers that came are written down, whatever ends the sending: no order becomes a doubt whose answer was in hand."""

import time
from collections import Counter
from typing import Any

import pytest
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, order_lines

from logistics_batch import wiring
from logistics_batch.errors import LedgerRefused
from logistics_batch.flows.push.dispatch import Dispatcher


@pytest.mark.parametrize("fault", ["lock lost", "commit not told", "interrupt", "worker"])
def test_answers_in_hand_are_written_whatever_ends_the_sending(
    workspace: Workspace, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    workspace.second_creates_are_refused()  # so that no acceptance is looked at
    workspace.configure("concurrency = 4")
    file = workspace.drop("orders.csv", order_lines([f"T-{number}" for number in range(1, 17)]))
    workspace.run("push", file, "--mapping", "orders", LOGISTICS_BATCH_CRASH_AT="file.after_commit:1")
    with wiring.Workspace(workspace.root).parts(wiring.Need()) as parts, parts.ledger.sending("a test"):
        attempts, client = parts.ledger.attempts, parts.client
        step, call, calls, broken = attempts.step, client.call, list[int](), list[str]()

        def slower(*args: Any, **values: Any) -> Any:
            calls.append(1)
            number = len(calls)
            reply = call(*args, **values)
            if number > 2:
                time.sleep(0.15 * number)  # under way while the ledger fails
            if fault == "worker" and number == 4:
                raise RuntimeError("in a worker")
            return reply

        def breaking(*, outcomes: Any, claim: Any, **values: Any) -> Any:
            now = bool(outcomes and claim and len(calls) >= 4 and not broken)
            if now:
                broken.append(fault)
                if fault == "lock lost":
                    monkeypatch.setattr(attempts, "lock_is_held", lambda: False)
                if fault == "interrupt":
                    raise KeyboardInterrupt
            intents = step(outcomes=outcomes, claim=claim, **values)
            if now and fault == "commit not told":
                raise LedgerRefused("The server was lost while it committed.", remedy="")
            return intents

        monkeypatch.setattr(client, "call", slower)
        monkeypatch.setattr(attempts, "step", breaking)
        planned = [each.id for each in parts.ledger.documents.select(states=["planned"])]
        with pytest.raises((LedgerRefused, KeyboardInterrupt, RuntimeError)):
            Dispatcher(parts, run="R").send(planned)
        states = Counter(each.state for each in parts.ledger.documents.select())
        lost = 1 if fault == "worker" else 0  # with the mistake of the program itself
        assert states["accepted"] == len(created(sandbox)) - lost
