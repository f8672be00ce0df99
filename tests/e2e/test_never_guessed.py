"""Doubts that once were settled by a guess: by hand, by an earlier order, by refusals that may mean anything."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from support.http_answers import Asked, Service, Told, between
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace, order_lines

from logistics_batch.ledger.failures import sqlite3

ADD_ITEMS = """\
operation: order.add_items
order_id: {from: AWB}
key: [AWB]
lines:
  item_id: {from: Id, required: true}
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer}
  item_price_per_each: {from: Rate, read: money}
"""


def created(sandbox: RunningSandbox) -> list[str]:
    found = [line["reference_number"] for line in sandbox.committed("order.created")]
    return [reference for reference in found if not reference.startswith("LB-TEST")]


def held(workspace: Workspace) -> list[str]:
    return [line["rule"] for line in workspace.run("held", "list", "--json").json["held"]]


def push(workspace: Workspace, *references: str, name: str = "orders.csv") -> int:
    return workspace.run("push", workspace.drop(name, order_lines(references)), "--mapping", "orders").code


def awb_of(sandbox: RunningSandbox, reference: str) -> str:
    return str(sandbox.orders(reference=reference)[0]["awb_number"])


def test_a_cancelling_whose_answer_was_lost_is_looked_for(workspace: Workspace, sandbox: RunningSandbox) -> None:
    assert push(workspace, "A") == 0
    awb = awb_of(sandbox, "A")
    sandbox.set_faults(
        [
            {"endpoint": "order.cancel", "kind": "drop_after", "times": 1},
            {"endpoint": "order.fetch", "kind": "error_500_before", "times": 1},
        ]
    )
    assert workspace.run("order", "cancel", awb).code == 4
    again = workspace.run("order", "cancel", awb)
    assert (again.code, "is cancelled: the service shows it so" in again.out) == (0, True)
    assert len(sandbox.committed("order.cancelled")) == 1


def test_an_order_in_doubt_that_was_cancelled_by_hand_is_not_created_again(tmp_path: Path) -> None:
    sandbox = start_sandbox(tmp_path, order_id_reading="id")
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url, settle_after="1h")
        assert workspace.run("doctor", "--staging").code == 0
        sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
        assert push(workspace, "A") == 4
        assert "held now" in workspace.run("order", "cancel", awb_of(sandbox, "A")).out
        (line,) = workspace.run("held", "list", "--json").json["held"]
        assert (line["rule"], created(sandbox)) == ("found_cancelled", ["A"])
        # What was found of the first attempt says nothing of the next.
        workspace.run("held", "decide", str(line["id"]), "send-again", "--reissue", "--reason", "wanted")
        sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_before", "times": 1}])
        assert push(workspace, "A") == 4
        assert "held now" not in workspace.run("order", "cancel", awb_of(sandbox, "A")).out
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        assert workspace.run("settle", "--wait").code == 0
        assert created(sandbox) == ["A", "A"]
    finally:
        sandbox.stop()


def test_an_order_cancelled_by_a_number_that_nobody_here_knew_is_not_created_again(tmp_path: Path) -> None:
    """Cancelled by a file, by hand while it cannot be looked at, and by hand after the program was killed."""
    sandbox = start_sandbox(tmp_path, order_id_reading="id")
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url, settle_after="1h")
        workspace.mapping("cancel", "operation: order.cancel\nkey: [AWB]\norder_id: {from: AWB}\n")
        assert workspace.run("doctor", "--staging").code == 0
        sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 2}])
        assert push(workspace, "A", "B") == 4
        by_file = workspace.drop("cancel.csv", f"AWB\n{awb_of(sandbox, 'A')}\n")
        workspace.run("push", by_file, "--mapping", "cancel")
        sandbox.set_faults([{"endpoint": "order.fetch", "kind": "error_500_before", "requests": [2]}])
        workspace.run("order", "cancel", awb_of(sandbox, "B"))
        killed = workspace.drop("killed.csv", order_lines(["C"]))
        workspace.run("push", killed, "--mapping", "orders", LOGISTICS_BATCH_CRASH_AT="send.after:1")
        workspace.run("order", "cancel", awb_of(sandbox, "C"))
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        workspace.run("settle", "--wait")
        assert held(workspace) == ["found_cancelled"] * 3
        assert created(sandbox) == ["A", "B", "C"]
    finally:
        sandbox.stop()


def test_the_number_of_an_earlier_order_says_nothing_of_its_reissue(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    assert push(workspace, "A") == 0
    old = awb_of(sandbox, "A")
    assert workspace.run("order", "cancel", old).code == 0
    changed = workspace.drop("b.csv", order_lines(["A"]).replace("Market", "Station"))
    workspace.run("push", changed, "--mapping", "orders")
    (line,) = workspace.run("held", "list", "--json").json["held"]
    workspace.run("held", "decide", str(line["id"]), "send-again", "--reissue", "--reason", "wanted")
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
    later = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    later.run("push", changed, "--mapping", "orders")
    assert "held now" not in later.run("order", "cancel", old).out
    assert held(later) == []
    assert created(sandbox) == ["A", "A"]


def test_an_order_accepted_without_its_number_is_known_when_it_is_cancelled(tmp_path: Path) -> None:
    sandbox = start_sandbox(tmp_path, order_id_reading="id")
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        assert workspace.run("doctor", "--staging").code == 0
        sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
        push(workspace, "A")
        assert workspace.run("settle", "--wait").code == 0
        assert "The ledger knows it." in workspace.run("order", "cancel", awb_of(sandbox, "A")).out
        changed = workspace.drop("b.csv", order_lines(["A"]).replace("Market", "Station"))
        workspace.run("push", changed, "--mapping", "orders")
        assert held(workspace) == ["cancelled"]
    finally:
        sandbox.stop()


def test_an_item_that_was_there_before_does_not_show_that_it_was_added(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("items", ADD_ITEMS)
    assert push(workspace, "A") == 0
    awb = awb_of(sandbox, "A")
    first = workspace.drop("i1.csv", f"AWB,Id,SKU,Qty,Rate\n{awb},77,Mug,1,100\n")
    assert workspace.run("push", first, "--mapping", "items").code == 0
    sandbox.set_faults([{"endpoint": "order.add_items", "kind": "drop_before", "times": 1}])
    second = workspace.drop("i2.csv", f"AWB,Id,SKU,Qty,Rate\n{awb},77,Mug,1,250\n")
    workspace.run("push", second, "--mapping", "items")
    workspace.run("settle", "--wait")
    assert held(workspace) == ["not_shown"]


def test_a_doubt_from_a_clock_that_ran_ahead_does_not_wait_for_that_day(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
    assert push(slow, "A") == 4
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as connection, connection:
        connection.execute("UPDATE document SET doubt_since = '2099-01-01T10:00:00+05:30'")
    Workspace(workspace.root, url=sandbox.url)
    assert workspace.run("settle", "--wait", timeout=60).code == 0
    assert created(sandbox) == ["A"]


def test_behind_a_redirect_an_order_is_not_tried_for_ever(tmp_path: Path, sandbox: RunningSandbox) -> None:
    tries: list[Asked] = []

    def rule(asked: Asked, service: Service) -> Told:
        if asked.method != "POST":
            return service(asked)
        tries.append(asked)
        return Told(302, b"") if b'"B"' in asked.body else service(asked)

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url)
        assert push(workspace, "A", name="first.csv") == 0
        push(workspace, "B")
        for _ in range(3):
            workspace.run("settle", "--wait")
        assert held(workspace) == ["not_found"]
    assert len(tries) == 1 + 3


@pytest.mark.parametrize("shown", [True, False])
def test_after_a_restored_ledger_all_orders_are_asked_for_before_any_goes_out(
    workspace: Workspace, sandbox: RunningSandbox, shown: bool
) -> None:
    """Forty were planned in the copy and sent since; without a way to ask they are held, and asked about again."""
    references = [f"R-{number}" for number in range(40)]
    sandbox.set_faults([{"endpoint": "order.create", "kind": "status_401"}])
    assert push(workspace, *references) == 5
    sandbox.set_faults([])
    copy = workspace.root / "copy.db"
    assert workspace.run("ledger", "backup", copy).code == 0
    assert push(workspace, *references) == 0
    for leftover in (workspace.root / "var").glob("ledger.db-*"):
        leftover.unlink()
    shutil.copy(copy, workspace.root / "var/ledger.db")
    assert workspace.run("ledger", "verify", "--accept-restored", "--reason", "disk broke").code == 0
    sandbox.set_switches(order_id_reading="both" if shown else "id")
    before = len(sandbox.received("order.create"))
    assert push(workspace, *references) == (0 if shown else 4)
    assert len(sandbox.received("order.create")) - before == (0 if shown else 40), "no breaker ends it"
    sandbox.set_switches(order_id_reading="both")
    assert workspace.run("settle").code == 0
    assert workspace.run("held", "list", "--json").json["held"] == []
    assert sorted(created(sandbox)) == sorted(references)


def test_what_a_broken_retry_left_goes_out_with_the_next_run(workspace: Workspace, sandbox: RunningSandbox) -> None:
    refused = [{"endpoint": "order.create", "kind": "status_400"}]
    sandbox.set_faults(refused)
    assert push(workspace, "A", "B", "C") == 3
    sandbox.set_faults([])
    broken = workspace.run("retry", "push", LOGISTICS_BATCH_CRASH_AT="intent.after_commit:1")
    assert broken.code not in (0, 3)
    push(workspace, "D", name="later.csv")
    workspace.run("settle", "--wait")
    assert sorted(created(sandbox)) == ["A", "B", "C", "D"]


@pytest.mark.parametrize("shown", ["asha  rao", "Asha Rao"])
def test_a_change_of_letters_or_blanks_is_a_change(shown: str) -> None:
    from logistics_batch.api.answers import OrderDetails
    from logistics_batch.api.content_match import shows_change

    order = OrderDetails(raw={"customer_name": shown})
    assert shows_change("order.update", '{"customer_name": "Asha Rao"}', order) is (shown == "Asha Rao")


def test_nothing_is_sent_again_to_an_account_that_does_not_know_our_orders(tmp_path: Path) -> None:
    """As with the key of another seller; that references are unique there says nothing about the order in doubt."""
    sandbox = start_sandbox(tmp_path, order_id_reading="id")
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        assert workspace.run("doctor", "--staging").code == 0
        assert push(workspace, "Q") == 0
        gone = {"endpoint": "order.fetch", "reference": awb_of(sandbox, "Q"), "kind": "status_400"}
        sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_before", "times": 1}, gone])
        push(workspace, "A", name="a.csv")
        assert workspace.run("settle", "--wait").code == 4
        assert (held(workspace), created(sandbox)) == (["unknown"], ["Q"])
    finally:
        sandbox.stop()
