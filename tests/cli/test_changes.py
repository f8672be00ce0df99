"""Changes of orders from spreadsheets, pushed to the sandbox: what it did by its journal, what each row is told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import Run
from support.commands import Finished
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace, order_lines

BY_REFERENCE = "order_id: {ledger: Order No}\nkey: [Order No]\n"
CANCEL = f"operation: order.cancel\n{BY_REFERENCE}"
UPDATE = f"""operation: order.update
{BY_REFERENCE}fields:
  customer_mobile: {{from: Phone}}
  delivery_address: {{from: Address}}
"""
UPDATE_ITEMS = UPDATE + "lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}\n"
ADD = f"""operation: order.add_items
{BY_REFERENCE}lines:
  item_id: {{from: Item}}
  item_name: {{from: SKU}}
  item_quantity: {{from: Qty}}
"""
DELETE = f"operation: order.delete_items\n{BY_REFERENCE}lines: {{item_name: {{from: SKU}}}}\n"


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    workspace = Workspace(tmp_path, url=sandbox.url)
    mappings = {"cancel": CANCEL, "update": UPDATE, "update_items": UPDATE_ITEMS, "add": ADD, "delete": DELETE}
    for name, text in mappings.items():
        workspace.mapping(name, text)
    return workspace


@pytest.fixture
def awbs(run: Run, workspace: Workspace) -> dict[str, str]:
    """Two orders A and B of two items each, accepted; their AWB numbers."""
    done = run("push", workspace.drop("orders.csv", order_lines(["A", "B"], items=2)), "--mapping", "orders", "--json")
    assert done.code == 0, done.err
    return {row["document"]: row["awb_number"] for row in done.json["files"][0]["rows"]}


def push(run: Run, workspace: Workspace, mapping: str, *lines: str, name: str = "changes.csv") -> Finished:
    return run("push", workspace.drop(name, "\n".join([*lines, ""])), "--mapping", mapping, "--json")


def rows(done: Finished) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = done.json["files"][0]["rows"]
    return found


def fates(done: Finished) -> list[str]:
    return [row["fate"] for row in rows(done)]


def order(run: Run, awb: str) -> dict[str, Any]:
    found: dict[str, Any] = run("order", "get", awb, "--json").json["order"]
    return found


def items(run: Run, awb: str) -> dict[str, dict[str, Any]]:
    """The items that the service has, by name."""
    return {item["item_name"]: {"id": number, **item} for number, item in order(run, awb)["item_details"].items()}


def test_an_order_is_updated_under_its_awb(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    path = workspace.drop("changes.csv", "Order No,Phone,Address\nA,9000000001,7 New Road\n")
    (planned,) = run("push", path, "--mapping", "update", "--dry-run", "--json").json["files"][0]["documents"]
    assert (planned["would"], planned["path"]) == ("update", f"/orders/shipment/{awbs['A']}")
    assert not sandbox.received("order.update")
    done = run("push", path, "--mapping", "update", "--json")
    assert (done.code, fates(done)) == (0, ["accepted"])
    assert (rows(done)[0]["awb_number"], rows(done)[0]["reference_number"]) == (awbs["A"], "A")
    document = done.json["files"][0]["documents"][0]
    assert (document["method"], document["path"]) == ("PUT", f"/orders/shipment/{awbs['A']}")
    assert [line["awb_number"] for line in sandbox.committed("order.updated")] == [awbs["A"]]
    assert order(run, awbs["A"])["delivery_address"] == "7 New Road"
    header = "Order No,Phone,Address,SKU,Qty"  # items are known by the ids that the create told
    assert fates(push(run, workspace, "update_items", header, "B,9000000001,7 New Road,SKU-2,9")) == ["accepted"]
    assert {name: item["item_quantity"] for name, item in items(run, awbs["B"]).items()} == {"SKU-1": 1, "SKU-2": 9}


def test_items_are_added_and_deleted(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    added = push(run, workspace, "add", "Order No,Item,SKU,Qty", "A,n1,SKU-9,3", "A,n2,SKU-8,1", "B,n3,SKU-1,7")
    deleted = push(run, workspace, "delete", "Order No,SKU", "A,SKU-1", name="gone.csv")
    assert (fates(added), fates(deleted)) == (["accepted"] * 3, ["accepted"])
    which = push(run, workspace, "delete", "Order No,SKU", "B,SKU-1", "A,SKU-8", name="which.csv")
    assert [(row["fate"], row["rule"]) for row in rows(which)] == [("invalid", "item_id|ambiguous"), ("accepted", "")]
    assert set(items(run, awbs["A"])) == {"SKU-2", "SKU-9"}
    assert items(run, awbs["A"])["SKU-9"]["id"] == "n1"
    again = push(run, workspace, "add", "Order No,Item,SKU,Qty", "A,n1,SKU-9,3", "A,n2,SKU-8,1", name="again.csv")
    assert [(row["fate"], row["rule"]) for row in rows(again)] == [("held", "undone_since")] * 2
    assert [line["effect"] for line in sandbox.committed() if "items" in line["effect"]] == [
        "order.items_added",
        "order.items_added",
        "order.items_deleted",
        "order.items_deleted",
    ]


def drop(workspace: Workspace, name: str, *lines: str) -> str:
    return str(workspace.drop(name, "\n".join([*lines, ""])))


def test_two_sheets_that_add_items_to_one_order_both_go_out_one_after_the_other(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    header = "Order No,Item,SKU,Qty"
    morning = drop(workspace, "morning.csv", header, "A,n1,MUG,2", "B,n2,MUG,2")
    noon = drop(workspace, "noon.csv", header, "A,n3,SPOON,5")
    done = run("push", morning, noon, "--mapping", "add", "--json")
    assert done.code == 0, done.err
    assert {"MUG", "SPOON"} <= set(items(run, awbs["A"]))
    effects = [line["effect"] for line in sandbox.committed()]
    assert effects.count("order.items_added") == 3


def test_behind_a_change_in_doubt_the_next_ones_wait_and_none_is_thrown_away(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    slow.mapping("add", ADD)
    sandbox.set_faults([{"endpoint": "order.add_items", "times": 1, "kind": "drop_after"}])
    header = "Order No,Item,SKU,Qty"
    first = drop(slow, "first.csv", header, "A,n1,MUG,2")
    second = drop(slow, "second.csv", header, "A,n2,SPOON,5")
    done = run("push", first, second, "--mapping", "add", "--json")
    assert [row["fate"] for file in done.json["files"] for row in file["rows"]] == ["in_doubt", "held"]
    push(run, slow, "add", header, "A,n3,PLATE,1", name="third.csv")
    waiting = run("held", "list", "--json").json["held"]
    assert sorted(found["file_name"] for found in waiting) == ["second.csv", "third.csv"]
    assert len(sandbox.received("order.add_items")) == 1


@pytest.mark.slow
def test_an_order_is_cancelled_and_its_reference_is_free_by_decision_only(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    assert fates(push(run, workspace, "cancel", "Order No", "A")) == ["accepted"]
    assert [line["awb_number"] for line in sandbox.committed("order.cancelled")] == [awbs["A"]]
    assert fates(push(run, workspace, "cancel", "Order No", "A")) == ["unchanged"]
    assert len(sandbox.received("order.cancel")) == 1
    again = run("push", workspace.drop("again.csv", order_lines(["A"])), "--mapping", "orders", "--json")
    assert (again.code, rows(again)[0]["fate"], rows(again)[0]["rule"]) == (4, "held", "cancelled")
    late = push(run, workspace, "update", "Order No,Phone,Address", "A,9000000001,x", name="late.csv")
    assert (late.code, rows(late)[0]["rule"]) == (3, "order_id|cancelled")


@pytest.mark.slow
def test_a_refused_change_says_what_the_service_said(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    run("order", "cancel", awbs["A"])
    done = push(run, workspace, "cancel", "Order No", "A", "B")
    assert (done.code, fates(done)) == (3, ["refused", "accepted"])
    assert "The order can't be cancelled now" in rows(done)[0]["reason"]


@pytest.mark.slow
def test_there_and_back_again_goes_out_three_times_and_an_older_file_is_held(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    header, old, new = "Order No,Phone,Address", "A,9000000001,Old Road", "A,9000000001,New Road"
    told = [
        fates(push(run, workspace, "update", header, *lines))
        for lines in ([old], [old, ""], [new], [old, "", ""], [new], [new, "", "", ""])
    ]
    # accepted, the same content, changed, changed back; then the very bytes of the third file, and its content anew
    assert told[0] == told[2] == ["accepted"]
    assert told[1][0] == "unchanged"
    assert told[3][0] == "accepted"
    assert told[4] == ["held"]
    assert len(sandbox.committed("order.updated")) == 3
    (held,) = run("held", "list", "--json").json["held"]
    assert held["rule"] == "older_file"
    decided = run("held", "decide", str(held["id"]), "send-again", "--reason", "it is right")
    assert decided.code == 0, decided.err
    push(run, workspace, "cancel", "Order No", "B")
    assert len(sandbox.committed("order.updated")) == 4


@pytest.mark.slow
def test_what_the_ledger_does_not_know_is_an_issue_at_its_cell(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    for mapping, lines, rule, cell in (
        ("cancel", ["Why,Order No", "late,Z"], "order_id|unknown", "B2"),
        ("delete", ["Order No,SKU", "A,SKU-7"], "item_id|unknown", "B2"),
        ("update_items", ["Order No,Phone,Address,SKU,Qty", "A,9000000001,x,SKU-7,1"], "item_id|unknown", "D2"),
    ):
        done = push(run, workspace, mapping, *lines, name=f"{mapping}.csv")
        (row,) = rows(done)
        assert (done.code, row["fate"], row["rule"], row["cell"]) == (3, "invalid", rule, cell)
        assert row["value"] in lines[1] and row["fix"]
    assert not [line for line in sandbox.received() if line["endpoint"] not in ("order.create", "order.fetch", None)]


@pytest.mark.slow
def test_one_item_that_is_unknown_blocks_the_others_of_its_order(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    done = push(run, workspace, "delete", "Order No,SKU", "A,SKU-1", "A,SKU-7", "B,sku-2")
    assert fates(done) == ["blocked", "invalid", "accepted"]
    assert set(items(run, awbs["A"])) == {"SKU-1", "SKU-2"}
    assert set(items(run, awbs["B"])) == {"SKU-1"}


@pytest.mark.slow
def test_an_order_that_is_not_settled_holds_its_changes(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "times": 1, "kind": "drop_after"}])
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    slow.mapping("cancel", CANCEL)
    run("push", slow.drop("orders.csv", order_lines(["A"])), "--mapping", "orders")
    done = push(run, slow, "cancel", "Order No", "A")
    (row,) = rows(done)
    assert (done.code, row["fate"], row["rule"]) == (4, "held", "order_id|not_settled")
    assert "in doubt" in row["reason"] and row["cell"] == "A2"
    assert not sandbox.received("order.cancel")


@pytest.mark.slow
def test_orders_of_others_are_changed_by_their_awb(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str], tmp_path: Path
) -> None:
    other = Workspace(tmp_path / "other", url=sandbox.url)
    other.mapping("cancel", "operation: order.cancel\norder_id: {from: AWB}\nkey: [AWB]\n")
    path = other.drop("cancel.csv", f"AWB\n{awbs['A']}\nSH-NOWHERE\n")
    done = run("--workspace", other.root, "push", path, "--mapping", "cancel", "--json")
    assert (done.code, fates(done)) == (3, ["accepted", "refused"])
    assert rows(done)[0]["awb_number"] == awbs["A"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mapping", "endpoint", "lines", "fault"),
    [
        ("cancel", "order.cancel", ["Order No", "A"], "drop_after"),
        ("cancel", "order.cancel", ["Order No", "A"], "drop_before"),
        ("add", "order.add_items", ["Order No,Item,SKU,Qty", "A,n1,SKU-9,3"], "drop_after"),
        ("delete", "order.delete_items", ["Order No,SKU", "A,SKU-1"], "drop_after"),
    ],
)
def test_a_change_in_doubt_is_proven_by_the_order_or_held_and_never_sent_twice(
    run: Run,
    workspace: Workspace,
    sandbox: RunningSandbox,
    awbs: dict[str, str],
    mapping: str,
    endpoint: str,
    lines: list[str],
    fault: str,
) -> None:
    sandbox.set_faults([{"endpoint": endpoint, "times": 1, "kind": fault}])
    done = push(run, workspace, mapping, *lines)
    reached = fault == "drop_after"
    assert fates(done) == (["accepted"] if reached else ["held"])  # doubts are due at once here
    assert len(sandbox.received(endpoint)) == 1
    again = push(run, workspace, mapping, *lines)
    assert fates(again) == (["unchanged"] if reached else ["held"])
    assert len(sandbox.received(endpoint)) == 1
    if not reached:
        (held,) = run("held", "list", "--json").json["held"]
        run("held", "decide", str(held["id"]), "send-again", "--reason", "looked it up")
        assert fates(push(run, workspace, mapping, *lines)) == ["accepted"]
        assert len(sandbox.received(endpoint)) == 2


@pytest.mark.slow
def test_an_asn_is_updated_where_the_settings_vouch_for_its_identity(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    asns = (workspace.root / "mappings/asns.yaml").read_text()
    workspace.mapping("asns_update", asns.replace("asn.create", "asn.update"))
    sheet = workspace.drop("asns.csv", "Supplier,Site,Invoice,SKU,Qty\nAcme,Bhiwandi,I1,SKU-1,10\n")
    assert run("push", sheet, "--mapping", "asns").code == 0
    refused = run("push", sheet, "--mapping", "asns_update")
    assert (refused.code, "update_identity" in refused.err) == (2, True)
    workspace.configure("[service.asn]", 'update_identity = "invoice_number"')
    changed = workspace.drop("more.csv", "Supplier,Site,Invoice,SKU,Qty\nAcme,Bhiwandi,I1,SKU-1,25\n")
    done = run("push", changed, "--mapping", "asns_update", "--json")
    assert (done.code, fates(done)) == (0, ["accepted"])
    assert len(sandbox.committed("asn.updated")) == 1
    assert fates(run("push", changed, "--mapping", "asns_update", "--json")) == ["unchanged"]


def test_an_update_of_an_asn_without_an_answer_waits_for_a_person_and_is_not_sent_twice(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """Nothing that the service documents would show it, and a second one may undo what others changed meanwhile."""
    workspace.configure("[service.asn]", 'update_identity = "invoice_number"')
    asns = (workspace.root / "mappings/asns.yaml").read_text()
    workspace.mapping("asns_update", asns.replace("asn.create", "asn.update"))
    header, line = "Supplier,Site,Invoice,SKU,Qty", "Acme,Bhiwandi,I1,SKU-1,"
    assert push(run, workspace, "asns", header, f"{line}10", name="asns.csv").code == 0
    sandbox.set_faults([{"endpoint": "asn.update", "times": 1, "kind": "drop_after"}])
    done = push(run, workspace, "asns_update", header, f"{line}25")  # doubts are due at once here
    assert (done.code, fates(done), rows(done)[0]["rule"]) == (4, ["held"], "not_shown")
    assert "no way to see whether the ASN was updated" in rows(done)[0]["reason"]
    assert run("settle", "--wait").code == 4  # a person decides
    assert fates(push(run, workspace, "asns_update", header, f"{line}25")) == ["held"]
    assert len(sandbox.received("asn.update")) == 1
    assert not sandbox.received("order.fetch")


@pytest.mark.slow
def test_labels_are_printed_for_the_orders_of_a_spreadsheet_and_push_refuses_it(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str], tmp_path: Path
) -> None:
    workspace.mapping(
        "labels",
        "operation: label.create\nkey: [Order]\nfields: {order_numbers: {from: Order}}\nkeep: {bin: {from: Bin}}\n",
    )
    sheet = workspace.drop("print.csv", "Order,Bin\nB,7\nA,8\n")
    done = run("labels", "--orders", sheet, "--mapping", "labels", "--output", tmp_path / "bundle", "--json")
    assert done.code == 0, done.err
    index = (tmp_path / "bundle/index.csv").read_text("utf-8-sig")
    assert awbs["A"] in index and awbs["B"] in index
    some = workspace.drop("some.csv", "Order,Bin\nA,7\n1.05E+05,8\nB,1\n,9\n")
    again = ("labels", "--orders", some, "--mapping", "labels", "--output", tmp_path / "again", "--json")
    done = run(*again, "--reprint", "--reason", "torn")
    missing = [each["reference_number"] for each in done.json["missing"]]
    assert (done.code, done.json["labels"]) == (3, 2), done.err  # a bad row stops no other, and is listed
    assert missing == ["1.05E+05 (row 3)", "the cell is blank (row 5)"]
    pushed = run("push", sheet, "--mapping", "labels")
    assert (pushed.code, "sends nothing" in pushed.err) == (2, True)


def test_an_old_sheet_of_changes_is_held_once_its_reference_is_another_order(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, awbs: dict[str, str]
) -> None:
    assert rows(push(run, workspace, "cancel", "Order No", "A"))[0]["fate"] == "accepted"
    orders = workspace.root / "inbound/orders.csv"
    assert run("push", orders, "--mapping", "orders").code == 4
    assert run("held", "decide", "--rule", "cancelled", "send-again", "--reissue", "--reason", "wanted").code == 0
    assert run("push", orders, "--mapping", "orders").code == 0
    (again,) = rows(push(run, workspace, "cancel", "Order No", "A"))
    assert (again["fate"], again["rule"]) == ("held", "older_file")
    assert awbs["A"] in again["reason"] and "another order has it now" in again["reason"]
    assert [line["awb_number"] for line in sandbox.committed("order.cancelled")] == [awbs["A"]]
    assert run("held", "decide", "--rule", "older_file", "send-again", "--reason", "this one, too").code == 0
    assert rows(push(run, workspace, "cancel", "Order No", "A"))[0]["fate"] == "accepted"
    assert len(sandbox.committed("order.cancelled")) == 2
