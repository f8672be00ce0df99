"""Which doubts are looked into and when, and which are never sent again by themselves."""

import csv
import io
from contextlib import closing
from datetime import datetime, timedelta

import pytest
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, order_lines

from logistics_batch.ledger.failures import sqlite3


def held(workspace: Workspace) -> list[tuple[str, str]]:
    return [(line["reference"], line["rule"]) for line in workspace.run("held", "list", "--json").json["held"]]


def fates(workspace: Workspace, name: str) -> dict[str, str]:
    text = (workspace.root / f"reports/{name}.result.csv").read_text("utf-8-sig")
    return {line["document"]: line["fate"] for line in csv.DictReader(io.StringIO(text))}


def doubt(workspace: Workspace, sandbox: RunningSandbox, reference: str) -> str:
    """A run whose one order never arrived and had no answer, and which nobody looked for yet; gives its name."""
    sandbox.set_faults([{"endpoint": "order.create", "reference": reference, "times": 1, "kind": "drop_before"}])
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    file = workspace.drop(f"{reference}.csv", order_lines([reference]))
    done = slow.run("push", file, "--mapping", "orders", "--json")
    assert done.code == 4, done.err
    Workspace(workspace.root, url=sandbox.url, settle_after="0s")
    return str(done.json["run"])


def accepted(workspace: Workspace, reference: str) -> None:
    """An order that the service certainly has, by which its answers are tried."""
    file = workspace.drop(f"{reference}.csv", order_lines([reference]))
    assert workspace.run("push", file, "--mapping", "orders").code == 0


def change(workspace: Workspace, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger, ledger:
        assert ledger.execute(statement, values).rowcount == 1


@pytest.mark.parametrize(("hours", "again"), [(23, True), (25, False)])
def test_what_was_first_sent_more_than_a_day_ago_waits_for_a_person(
    workspace: Workspace, sandbox: RunningSandbox, hours: int, again: bool
) -> None:
    """By then somebody may have acted by hand, and what the service shows may be the end of that."""
    accepted(workspace, "A")
    doubt(workspace, sandbox, "B")
    first = (datetime.now().astimezone() - timedelta(hours=hours)).isoformat()
    change(
        workspace,
        "UPDATE attempt SET intent_at = ? WHERE document_id = (SELECT id FROM document WHERE state = 'in_doubt')",
        first,
    )
    assert workspace.run("settle", "--wait").code == (0 if again else 4)
    assert created(sandbox) == dict.fromkeys("AB" if again else "A", 1)
    assert held(workspace) == [("B", "not_found")] * (not again)
    assert len(sandbox.received("order.create")) == 2 + again


def test_a_doubt_of_an_older_copy_is_looked_for_and_never_sent_again_by_itself(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """How it ended may stand in the history that was lost, and it may have been cancelled since."""
    accepted(workspace, "A")
    doubt(workspace, sandbox, "B")
    change(workspace, "UPDATE document SET code = 'restored' WHERE state = 'in_doubt'")
    assert workspace.run("settle", "--wait").code == 4
    assert held(workspace) == [("B", "not_found")]
    assert created(sandbox) == {"A": 1}
    assert len(sandbox.received("order.create")) == 2


def test_settling_one_run_asks_about_that_run_only(workspace: Workspace, sandbox: RunningSandbox) -> None:
    accepted(workspace, "A")
    runs = {reference: doubt(workspace, sandbox, reference) for reference in ("B", "C")}
    before = len(sandbox.received())
    settled = workspace.run("settle", "--run", runs["C"], "--json")
    assert settled.code == 0, settled.out + settled.err
    assert created(sandbox) == {"A": 1, "C": 1}
    assert (fates(workspace, "B"), fates(workspace, "C")) == ({"B": "in_doubt"}, {"C": "accepted"})
    asked = [line for line in sandbox.received()[before:] if "B" in str(line.get("path", "")).split("/")]
    assert asked == []
    assert workspace.run("settle", "--run", runs["B"]).code == 0
    assert created(sandbox) == dict.fromkeys("ABC", 1)


def test_a_due_doubt_is_settled_before_anything_new_is_sent(workspace: Workspace, sandbox: RunningSandbox) -> None:
    """What is new may be the next version of what is in doubt, and a service that is unwell shows it by that."""
    accepted(workspace, "A")
    doubt(workspace, sandbox, "B")
    before = len(sandbox.received())
    accepted(workspace, "C")
    calls = sandbox.received()[before:]
    sent = [line["body"]["reference_number"] for line in calls if line["endpoint"] == "order.create"]
    assert sent == ["B", "C"]
    new = next(n for n, line in enumerate(calls) if line["endpoint"] == "order.create")
    assert "order.fetch" in [line["endpoint"] for line in calls[:new]]
    assert created(sandbox) == dict.fromkeys("ABC", 1)
