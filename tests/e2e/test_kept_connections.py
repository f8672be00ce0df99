"""Creates on kept connections: only where it was verified; one that breaks is a doubt, and the last of its run."""

from pathlib import Path

import pytest
from support.commands import Finished
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, order_lines

from logistics_batch.ledger import ServiceFacts
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

pytestmark = pytest.mark.slow

REFERENCES = [f"K-{number}" for number in range(30)]
NOTE = "A connection that was kept for several calls broke; from then on each call had one of its own."


@pytest.fixture
def verified(workspace: Workspace) -> Workspace:
    """A workspace for whose service `doctor --staging` saw that idle connections answer."""
    workspace.configure("concurrency = 4")
    seen = ServiceFacts("2026-11-01T08:00:00", True, "refused", "", ("reference_number",), kept_idle_seconds=2.0)
    with Opened(Path(workspace.root)).parts(Need(calls=False)) as parts:
        parts.ledger.keep_facts(seen)
    return workspace


def push(workspace: Workspace) -> Finished:
    file = workspace.drop("orders.csv", order_lines(REFERENCES))
    return workspace.run("push", file, "--mapping", "orders", "--json")


def counts(done: Finished) -> dict[str, int]:
    return {fate: n for fate, n in done.json["files"][0]["counts"].items() if n}


def break_connections_after(sandbox: RunningSandbox, request: int) -> None:
    """From that create on, what follows an answer on its connection is reset unread."""
    sandbox.set_faults([{"endpoint": "order.create", "from": request, "kind": "stale_keepalive"}])


def test_connections_that_break_are_doubts_and_none_is_kept_any_more(
    verified: Workspace, sandbox: RunningSandbox
) -> None:
    break_connections_after(sandbox, 10)
    done = push(verified)
    assert NOTE in done.json["notes"]
    assert done.code == 0, done.out  # what was in doubt is settled in the same run: the pause is none here
    assert counts(done) == {"accepted": 30}
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)
    unread = [line for line in sandbox.journal() if line["event"] == "dropped" and line.get("unread")]
    assert 1 <= len(unread) <= 4  # as many as were under way on kept connections, and no more


@pytest.mark.parametrize("forbidden", [True, False], ids=["never", "not verified"])
def test_without_leave_each_create_has_its_own(
    workspace: Workspace, sandbox: RunningSandbox, request: pytest.FixtureRequest, forbidden: bool
) -> None:
    if forbidden:
        request.getfixturevalue("verified")
        workspace.configure('reuse_connections = "never"')
    break_connections_after(sandbox, 1)
    done = push(workspace)
    assert (done.code, counts(done)) == (0, {"accepted": 30})
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)
    assert not any(line.get("unread") for line in sandbox.journal())
    assert NOTE not in done.json["notes"]


def test_answers_that_are_lost_on_kept_connections_are_settled(verified: Workspace, sandbox: RunningSandbox) -> None:
    sandbox.set_faults(
        [
            {"endpoint": "order.create", "requests": [8], "kind": "drop_after"},
            {"endpoint": "order.create", "requests": [15], "kind": "drop_before"},
        ]
    )
    done = push(verified)
    assert (done.code, counts(done)) == (0, {"accepted": 30})
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)
