"""Section 3 of the API document, line by line: states and transitions."""

from typing import Any

import httpx
import pytest
from support.api_document import check_section
from support.sandbox_process import RunningSandbox

TESTS = {
    "ASN statuses are New, In-Progress, Completed, Expired": (
        "test_asns.py::test_every_documented_status_is_taken_and_found"
    ),
    "an ASN is New unless said otherwise": "test_asns.py::test_create_then_fetch_by_invoice",
    "order statuses are an open list of strings": "test_document_section_3.py::test_any_status_is_shown_as_it_is",
    "Pending can be cancelled": "test_document_section_3.py::test_what_can_be_cancelled",
    "New-Order, the other name of Pending, can be cancelled": "test_document_section_3.py::test_what_can_be_cancelled",
    "Pickup-Failed can be cancelled": "test_document_section_3.py::test_what_can_be_cancelled",
    "no other status can be cancelled, and nothing changes": (
        "test_document_section_3.py::test_no_other_status_can_be_cancelled_and_nothing_changes"
    ),
    "cancelling answers PASS, Order Cancelled Successfully": "test_document_section_3.py::test_what_can_be_cancelled",
    "the reference number of a cancelled order may be used again": (
        "test_orders.py::test_a_live_reference_is_refused_and_free_again_after_cancelling"
    ),
}


def test_every_line_has_a_test() -> None:
    check_section("3", TESTS)


def in_status(service: httpx.Client, sandbox: RunningSandbox, reference: str, status: str) -> str:
    """The AWB number of a new order that was put into this status."""
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"}
    awb: str = service.post("/orders/shipment", json=body).json()["message"]["awb_number"]
    if status != "Pending":
        sandbox.control("POST", f"/orders/{awb}/status", {"status": status})
    return awb


def details(service: httpx.Client, awb: str) -> Any:
    return service.get(f"/orders/shipment/{awb}").json()["message"]["order_details"]


@pytest.mark.parametrize("status", ["Pending", "New-Order", "Pickup-Failed", "Complete", "cancelled", "At-Hub-RTO"])
def test_any_status_is_shown_as_it_is(
    service: httpx.Client, sandbox: RunningSandbox, reference: str, status: str
) -> None:
    assert details(service, in_status(service, sandbox, reference, status))["status"] == status


@pytest.mark.parametrize("status", ["Pending", "New-Order", "Pickup-Failed"])
def test_what_can_be_cancelled(service: httpx.Client, sandbox: RunningSandbox, reference: str, status: str) -> None:
    awb = in_status(service, sandbox, reference, status)
    reply = service.put(f"/api/orders/cancel/{awb}")
    assert reply.status_code == 200
    assert reply.json() == {"status": "PASS", "message": "Order Cancelled Successfully"}
    assert details(service, awb)["status"] == "cancelled"


@pytest.mark.parametrize(
    "status",
    [
        *("Assigned", "Out-For-Pickup", "Picked", "At-Hub", "Moving-To-Hub", "Out-For-Delivery", "Attempted"),
        *("Delivered", "Complete", "Returned", "cancelled", "pending"),
    ],
)
def test_no_other_status_can_be_cancelled_and_nothing_changes(
    service: httpx.Client, sandbox: RunningSandbox, reference: str, status: str
) -> None:
    awb = in_status(service, sandbox, reference, status)
    before = details(service, awb)
    reply = service.put(f"/api/orders/cancel/{awb}")
    assert reply.status_code == 400
    assert reply.json() == {"status": "FAIL", "message": "The order can't be cancelled now"}
    assert details(service, awb) == before
