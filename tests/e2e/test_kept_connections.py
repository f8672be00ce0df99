"""Creates on kept connections: one that breaks is a doubt, which is settled, and the last of its run."""

import pytest
from support.commands import Finished
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, order_lines

pytestmark = pytest.mark.slow

REFERENCES = [f"K-{number}" for number in range(30)]


def push(workspace: Workspace) -> Finished:
    workspace.configure("concurrency = 4")
    file = workspace.drop("orders.csv", order_lines(REFERENCES))
    return workspace.run("push", file, "--mapping", "orders", "--json")


def counts(done: Finished) -> dict[str, int]:
    return {fate: n for fate, n in done.json["files"][0]["counts"].items() if n}


def test_connections_that_break_are_doubts_and_none_is_kept_any_more(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """From the tenth create on, what follows an answer on its connection is reset unread."""
    sandbox.set_faults([{"endpoint": "order.create", "from": 10, "kind": "stale_keepalive"}])
    done = push(workspace)
    assert done.code == 0, done.out  # what was in doubt is settled in the same run: the pause is none here
    assert counts(done) == {"accepted": 30}
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)
    unread = [line for line in sandbox.journal() if line["event"] == "dropped" and line.get("unread")]
    assert 1 <= len(unread) <= 4  # as many as were under way on kept connections, and no more
