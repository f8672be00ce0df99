"""Where a service repeats its first answer for a reference, an acceptance is believed once the order shows itself."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace, order_lines

REFERENCES = [f"R-{number}" for number in range(1, 6)]


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path, duplicate_reference="replay")
    yield running
    running.stop()


def created_by_others(sandbox: RunningSandbox, reference: str, **other: Any) -> None:
    """Somebody else enters an order with the goods of ours."""
    index = REFERENCES.index(reference) + 1
    order = {
        "reference_number": reference,
        "customer_mobile": f"98765{index:05d}",
        "delivery_address": f"{index} Market Road",
        "delivery_postal_code": f"560{index % 900:03d}",
        "item_details": [{"item_name": "SKU-1", "item_quantity": 1}],
    }
    headers = {"API_KEY": sandbox.api_key, "Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{sandbox.url}/orders/shipment", json.dumps(order | other).encode(), headers, method="POST"
    )
    with urllib.request.urlopen(request) as reply:
        assert json.load(reply)["status"] == "PASS"


def push(workspace: Workspace, lines: str, *, name: str = "orders.csv") -> dict[str, str]:
    done = workspace.run("push", workspace.drop(name, lines), "--mapping", "orders", "--json")
    return {row["reference_number"]: row["fate"] for row in done.json["files"][0]["rows"]}


OTHERWISE: dict[str, dict[str, Any]] = {
    "R-2": {"customer_mobile": "9000000000"},
    "R-3": {"delivery_address": "1 Other Road"},
    "R-4": {"is_cod": "true", "cash_on_delivery": "500.00"},
    "R-5": {"item_details": [{"item_name": "SKU-1", "item_quantity": 2}]},
}


def test_an_order_of_others_with_our_reference_is_not_taken_for_ours(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """Whichever of its fields is another one."""
    for reference, other in OTHERWISE.items():
        created_by_others(sandbox, reference, **other)
    fates = push(workspace, order_lines(REFERENCES))
    assert fates == {"R-1": "accepted", **dict.fromkeys(OTHERWISE, "held")}  # found out behind the sending
    listed = workspace.run("held", "list", "--json").json["held"]
    assert {held["reference"]: held["rule"] for held in listed} == dict.fromkeys(OTHERWISE, "reference_taken")
    assert all("other content" in held["reason"] for held in listed)


def test_while_the_service_cannot_be_asked_nothing_is_taken_for_ours(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """Nor is it given up, as where a service shows nothing: each is told from others once it can be asked."""
    three = ["R-1", "R-2", "R-5"]
    lines = "".join(
        line + "\n" for line in order_lines(REFERENCES).splitlines() if line.split(",")[0] not in ("R-3", "R-4")
    )
    created_by_others(sandbox, "R-5", **OTHERWISE["R-5"])
    sandbox.set_faults([{"endpoint": "order.fetch", "kind": "status_503", "page": False}])
    assert push(workspace, lines) == dict.fromkeys(three, "in_doubt")
    sandbox.set_faults([])
    sandbox.set_switches(order_id_reading="id")  # by the number of its answer alone
    workspace.run("settle", "--wait")
    assert push(workspace, lines) == {"R-1": "unchanged", "R-2": "unchanged", "R-5": "held"}


def test_the_very_same_order_entered_by_others_is_ours(workspace: Workspace, sandbox: RunningSandbox) -> None:
    created_by_others(sandbox, "R-3")
    assert push(workspace, order_lines(REFERENCES)) == dict.fromkeys(REFERENCES, "accepted")


def test_a_corrected_address_after_a_dropped_version_is_not_taken_for_accepted(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_switches(order_id_reading="id")  # nobody finds out by reference what became of the first version
    sandbox.set_faults([{"endpoint": "order.create", "reference": "R-1", "kind": "drop_after", "times": 1}])
    push(workspace, order_lines(["R-1"]))
    workspace.run("settle", "--wait")
    (first,) = workspace.run("held", "list", "--json").json["held"]
    assert workspace.run("held", "decide", str(first["id"]), "drop", "--reason", "wrong address").code == 0
    corrected = order_lines(["R-1"]).replace("Market Road", "Station Road")
    assert push(workspace, corrected, name="corrected.csv") == {"R-1": "in_doubt"}


def test_where_test_orders_showed_a_refusal_nothing_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "refusing").mkdir()
    running = start_sandbox(tmp_path / "refusing")
    try:
        workspace = Workspace(tmp_path / "staged", url=running.url)
        assert workspace.run("doctor", "--staging", "--pincode", "560001").code in (0, 3)
        before = len(running.received("order.fetch"))
        assert push(workspace, order_lines(REFERENCES)) == dict.fromkeys(REFERENCES, "accepted")
        assert len(running.received("order.fetch")) == before
    finally:
        running.stop()


def test_elsewhere_each_accepted_order_is_looked_at(workspace: Workspace, sandbox: RunningSandbox) -> None:
    many = [f"MANY-{number}" for number in range(60)]
    assert set(push(workspace, order_lines(many)).values()) == {"accepted"}
    assert len(sandbox.received("order.fetch")) == len(many)
