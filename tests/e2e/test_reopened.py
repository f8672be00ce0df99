"""A drop that is taken back: the file comes again, and nothing is created twice."""

from typing import Any

import pytest
from support.sandbox_process import RunningSandbox, created
from support.workspace import APPROVED_JOB, Workspace, asn_lines, order_lines


def held(workspace: Workspace) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workspace.run("held", "list", "--json").json["held"]
    return found


def decide(workspace: Workspace, number: object, decision: str) -> str:
    done = workspace.run("held", "decide", str(number), decision, "--reason", "looked at")
    assert done.code == 0, done.err
    return done.out


def push(workspace: Workspace, name: str, content: str, mapping: str = "orders") -> list[dict[str, Any]]:
    done = workspace.run("push", workspace.drop(name, content), "--mapping", mapping, "--json")
    found: list[dict[str, Any]] = done.json["files"][0]["rows"]
    return found


def test_what_was_never_sent_goes_out_when_its_file_comes_again(workspace: Workspace, sandbox: RunningSandbox) -> None:
    push(workspace, "first.csv", order_lines(["ab-1"]))
    push(workspace, "second.csv", order_lines(["AB-1"]).replace("Market", "Station"))
    (asked,) = held(workspace)
    assert asked["rule"] == "other_spelling"
    assert f"held decide {asked['id']} reopen" in decide(workspace, asked["id"], "drop")
    (row,) = push(workspace, "second.csv", order_lines(["AB-1"]).replace("Market", "Station"))
    assert (row["fate"], f"“reopen” about {asked['id']}" in row["fix"]) == ("skipped", True)
    assert "drop the file again" in decide(workspace, asked["id"], "reopen")
    (row,) = push(workspace, "second.csv", order_lines(["AB-1"]).replace("Market", "Station"))
    assert (row["fate"], row["rule"]) == ("held", "other_spelling"), "what it was asked for is asked again"
    decide(workspace, held(workspace)[0]["id"], "send-again")
    for _ in "12":
        workspace.run("push", workspace.root / "inbound/second.csv", "--mapping", "orders")
    assert created(sandbox) == {"ab-1": 1, "AB-1": 1}


def test_a_file_whose_approval_was_refused_by_mistake_waits_again(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.job("watched", APPROVED_JOB)
    workspace.drop("orders.csv", order_lines(["A-1", "A-2"]))
    workspace.run("run", "watched")
    (preview,) = workspace.run("held", "list", "--json").json["previews"]
    no = workspace.run("held", "decide", str(preview["id"]), "send-again", "--reason", "no")
    assert (no.code, decide(workspace, preview["id"], "drop") != "") == (2, True)
    waiting = workspace.run("held", "list", "--json").json
    assert waiting == {"held": [], "previews": [], "addresses": [], "files": []}
    assert workspace.run("run", "watched").code == 0
    assert "2 documents reopened" in decide(workspace, preview["id"], "reopen")
    assert created(sandbox) == {}
    workspace.run("run", "watched")
    (again,) = workspace.run("held", "list", "--json").json["previews"]
    decide(workspace, again["id"], "approve")
    assert workspace.run("run", "watched").code == 0
    assert created(sandbox) == {"A-1": 1, "A-2": 1}


@pytest.mark.parametrize("arrived", [True, False])
def test_what_may_have_arrived_is_held_again_and_a_person_looks(
    arrived: bool, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """An ASN in doubt, which nothing keeps from being created twice but asking."""
    sandbox.set_faults([{"endpoint": "asn.create", "kind": "drop_before", "times": 1}])
    push(workspace, "asns.csv", asn_lines(["INV-1"]), "asns")
    for _ in range(3):
        workspace.run("settle", "--wait")
    (doubt,) = held(workspace)
    decide(workspace, doubt["id"], "drop")
    decide(workspace, doubt["id"], "reopen")
    rows = push(workspace, "asns.csv", asn_lines(["INV-1"]), "asns")
    assert {(row["fate"], row["rule"]) for row in rows} == {("held", "reopened")}
    assert created(sandbox, "asn.created") == {}
    (again,) = held(workspace)
    decide(workspace, again["id"], "accept" if arrived else "send-again")
    for _ in "12":
        workspace.run("push", workspace.root / "inbound/asns.csv", "--mapping", "asns")
    assert created(sandbox, "asn.created") == ({} if arrived else {"INV-1": 1})


def test_only_what_was_dropped_is_reopened_and_only_once(workspace: Workspace) -> None:
    push(workspace, "first.csv", order_lines(["ab-1"]))
    push(workspace, "second.csv", order_lines(["AB-1"]).replace("Market", "Station"))
    (asked,) = held(workspace)
    for number in (asked["id"], "1", "4711", "preview-0123456789", "file-1"):
        refused = workspace.run("held", "decide", str(number), "reopen", "--reason", "x")
        assert refused.code == 2, number
    decide(workspace, asked["id"], "drop")
    decide(workspace, asked["id"], "reopen")
    twice = workspace.run("held", "decide", str(asked["id"]), "reopen", "--reason", "x")
    assert (twice.code, "Only a drop can be taken back" in twice.err) == (2, True)
