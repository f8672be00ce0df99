"""A cancellation goes to the order that is meant, and the ledger knows of it, whatever number it was called by."""

from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines

BY_ID = "operation: order.cancel\nkey: [Shipment]\norder_id: {from: Shipment}\n"


def push(workspace: Workspace, *references: str, name: str = "orders.csv") -> int:
    return workspace.run("push", workspace.drop(name, order_lines(references)), "--mapping", "orders").code


def held(workspace: Workspace) -> list[tuple[str, str]]:
    found = workspace.run("held", "list", "--json").json["held"]
    return [(line["reference"], line["rule"]) for line in found]


def cancelled(sandbox: RunningSandbox) -> list[str]:
    return [line["awb_number"] for line in sandbox.committed("order.cancelled")]


def test_a_reference_is_never_taken_for_the_services_own_id(workspace: Workspace, sandbox: RunningSandbox) -> None:
    """Our order 1 is in doubt; under the id 1 the service has the order 77."""
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    assert push(slow, "77") == 0
    own_id = str(sandbox.orders(reference="77")[0]["order_id"])
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_after", "times": 1}])
    assert push(slow, own_id, name="later.csv") == 4
    done = slow.run("order", "cancel", own_id)
    assert (done.code, cancelled(sandbox)) == (4, [])
    assert "settle --wait" in done.out


def test_a_number_under_which_the_service_has_another_order_is_asked_about(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    other = Workspace(workspace.root / "other", url=sandbox.url)
    assert push(other, "X") == 0
    found = sandbox.orders(reference="X")[0]
    done = workspace.run("order", "cancel", str(found["order_id"]))
    assert (done.code, cancelled(sandbox)) == (4, [])
    assert f"`order cancel {found['awb_number']}`" in done.out
    assert workspace.run("order", "cancel", str(found["awb_number"])).code == 0
    assert cancelled(sandbox) == [found["awb_number"]]


def test_nothing_is_cancelled_by_a_number_that_cannot_be_looked_at(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults([{"endpoint": "order.fetch", "kind": "error_500_before"}])
    assert workspace.run("order", "cancel", "1").code == 5
    assert cancelled(sandbox) == []


def test_an_order_that_a_sheet_cancelled_by_the_services_id_is_known_to_be_cancelled(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("cancel", BY_ID)
    assert push(workspace, "A", "B") == 0
    sheet = workspace.drop("cancel.csv", f"Shipment\n{sandbox.orders(reference='A')[0]['order_id']}\n")
    assert workspace.run("push", sheet, "--mapping", "cancel").code == 0
    assert push(workspace, "A", "B") == 4
    assert held(workspace) == [("A", "cancelled")]
    assert workspace.run("ledger", "verify").code == 0


def test_it_is_found_later_where_the_service_could_not_be_asked_at_once(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("cancel", BY_ID)
    assert push(workspace, "A") == 0
    sheet = workspace.drop("cancel.csv", f"Shipment\n{sandbox.orders(reference='A')[0]['order_id']}\n")
    sandbox.set_faults([{"endpoint": "order.fetch", "kind": "error_500_before"}])
    assert workspace.run("push", sheet, "--mapping", "cancel").code == 0
    sandbox.set_faults([])
    assert workspace.run("settle").code == 0
    assert push(workspace, "A") == 4
    assert held(workspace) == [("A", "cancelled")]


def test_an_order_that_others_cancelled_is_not_unchanged_once_it_was_seen(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.job("status", "kind: order_status\nresults: {folder: feed}\npoll_after: 0s\n")
    assert push(workspace, "A", "B") == 0
    sandbox.control("POST", "/orders/A/status", {"status": "cancelled"})
    assert workspace.run("run", "status").code == 3
    assert "cancelled, and not from here" in workspace.run("order", "status", "A").out
    assert push(workspace, "A", "B") == 4
    assert held(workspace) == [("A", "cancelled")]
