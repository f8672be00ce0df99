"""A mistyped address of the service: nothing of it stays behind once it is corrected."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.conftest import Run
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import APPROVED_JOB, Workspace, order_lines

JOB = APPROVED_JOB.replace("required", "never")


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    """Its address is that of a path which the service does not have."""
    workspace = Workspace(tmp_path, url=f"{sandbox.url}/v2", settle_after="180s")
    workspace.job("nightly", JOB)
    workspace.job("approved", APPROVED_JOB.replace("inbound", "watched"))
    return workspace


def correct(workspace: Workspace) -> None:
    workspace.settings = [each.replace("/v2", "") for each in workspace.settings]
    workspace.configure()


def test_the_first_run_with_the_right_address_sends(run: Run, workspace: Workspace, sandbox: RunningSandbox) -> None:
    workspace.drop("orders.csv", order_lines(["A-1", "A-2"]))
    command = ("push", "inbound/orders.csv", "--mapping", "orders")
    stopped = run(*command)
    assert (stopped.code, "service.paths" in stopped.out + stopped.err) == (5, True)
    assert sandbox.committed("order.created") == []
    correct(workspace)
    done = run(*command, "--json")
    assert done.code == 0, done.out
    assert [row["fate"] for row in done.json["files"][0]["rows"]] == ["accepted"] * 2
    assert len(sandbox.committed("order.created")) == 2
    assert run(*command).code == 0
    assert len(sandbox.committed("order.created")) == 2


def test_what_was_planned_for_the_wrong_one_is_listed_and_dropped(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """Also what waited for an approval; the answers stay those of the run that sent."""
    wrong = f"{sandbox.url}/v2"
    workspace.drop("orders.csv", order_lines(["A-1", "A-2"]))
    workspace.drop("others.csv", order_lines(["B-1"]), folder="watched")
    assert (run("run", "nightly").code, run("run", "approved").code) == (5, 4)
    correct(workspace)
    assert (run("run", "nightly").code, run("run", "approved").code) == (0, 4)

    (finding,) = [each for each in run("doctor", "--json").json["checks"] if "other addresses" in each["name"]]
    command = f'held decide {wrong} drop --reason "…"'
    assert f"logistics-batch {command}" in finding["remedy"]
    (address,) = run("held", "list", "--json").json["addresses"]
    assert (address["id"], len(address["documents"])) == (wrong, 3)
    assert any(line.split()[:3] == [wrong, "3", "documents"] for line in run("held", "list").out.splitlines())
    assert '"A-1"' in run("held", "show", wrong).out
    shown = run("held", "show", address["documents"][0])
    assert "planned for another address" in shown.out
    assert "the next run sends it" not in shown.out
    assert run("held", "decide", wrong, "send-again", "--reason", "x").code == 2
    done = run("held", "decide", wrong, "drop", "--reason", "mistyped")
    assert (done.code, f"3 documents planned for {wrong}: dropped." in done.out) == (0, True)

    assert run("held", "list", "--json").json["addresses"] == []
    assert [each for each in run("doctor", "--json").json["checks"] if "other addresses" in each["name"]] == []
    assert "skipped" not in (workspace.root / "results/orders.result.csv").read_text("utf-8-sig")
    (preview,) = run("held", "list", "--json").json["previews"]
    assert run("held", "decide", preview["id"], "approve", "--reason", "looked at").code == 0
    assert run("run", "approved").code == 0
    assert len(sandbox.committed("order.created")) == 3


def test_what_may_have_arrived_there_is_not_dropped(run: Run, workspace: Workspace, sandbox: RunningSandbox) -> None:
    """Another service answered it: whoever wants to close that asks there."""
    correct(workspace)
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
    assert run("push", workspace.drop("lost.csv", order_lines(["A-1"])), "--mapping", "orders").code == 4
    workspace.settings = [each.replace("127.0.0.1", "localhost") for each in workspace.settings]
    workspace.configure()
    assert run("held", "list", "--json").json["addresses"] == []
    assert run("held", "decide", sandbox.url, "drop", "--reason", "x").code == 2


def test_what_is_held_where_others_were_accepted_is_not_dropped_as_mistyped(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """While the address is mistyped, what waits at the right one is named with its own reason."""
    correct(workspace)
    lines = order_lines(["A-1"])
    assert run("push", workspace.drop("orders.csv", lines), "--mapping", "orders").code == 0
    changed = workspace.drop("changed.csv", lines.replace("Market", "Station"))
    assert run("push", changed, "--mapping", "orders").code == 4
    workspace.settings = [each.replace(sandbox.url, f"{sandbox.url}/v2") for each in workspace.settings]
    workspace.configure()
    (address,) = run("held", "list", "--json").json["addresses"]
    assert "already accepted this document with other content" in address["reason"]
    assert "drop" not in address["fix"]
    assert "changed.csv" in run("held", "list").out
    for held in (sandbox.url, address["documents"][0]):
        refused = run("held", "decide", held, "drop", "--reason", "x")
        assert (refused.code, "Write service.base_url so again" in refused.err) == (2, True)


def test_what_was_dropped_unsent_is_not_told_of(run: Run, workspace: Workspace, sandbox: RunningSandbox) -> None:
    workspace.drop("orders.csv", order_lines(["A-1"]))
    assert run("run", "nightly").code == 5
    correct(workspace)
    assert run("held", "decide", f"{sandbox.url}/v2", "drop", "--reason", "mistyped").code == 0
    assert [each for each in run("doctor", "--json").json["checks"] if "other addresses" in each["name"]] == []
    done = run("push", workspace.drop("others.csv", order_lines(["B-1"])), "--mapping", "orders", "--json")
    assert (done.code, done.json["notes"]) == (0, [])
