"""What the API document says of fields, kits, ids and states (sections 3 and 4) beyond the rules of each endpoint."""

from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox

ASN, SHIPMENT = "/wms/advance-shipping-notice", "/orders/shipment"


def order(reference: str, **more: Any) -> dict[str, Any]:
    return {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"} | more


def created(service: httpx.Client, reference: str, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = service.post(SHIPMENT, json=order(reference, **more)).json()["message"]
    return message


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_create_and_update_keep_every_field_of_a_notice(service: httpx.Client, reference: str, method: str) -> None:
    line = {
        **{"sku_name": "Wires", "status": "Locked", "qty": "10", "price_per_qty": "5.00", "item_desc": "Red"},
        **{"maximum_retail_price": "9.00", "discount": "1.00", "discount_percentage": "11.1"},
        **{"tracking_level": "Serial", "qty_received": "0"},
    }
    header = {
        **{"supplier": "SUP-1", "supplier_name": "Acme", "description": "PO 1", "site": "S1", "site_name": "Bhiwandi"},
        **{"status": "In-Progress", "delivery_date": "2026-11-25", "expiry_date": "2027-11-25"},
        **{"total_price": "50.00", "batch": "B1", "serial_number": "SN1", "invoice_number": reference},
    }
    if method == "PUT":
        plain = {"supplier": "SUP-1", "site": "S1", "invoice_number": reference, "sku_lines": [{"qty": "1"}]}
        assert service.post(ASN, json=plain).status_code == 200
    assert service.request(method, ASN, json=header | {"sku_lines": [line]}).status_code == 200
    (record,) = service.get(ASN, params={"invoice_number": reference}).json()["result"]
    assert header.items() <= record.items()
    assert [line.items() <= one.items() for one in record["sku_lines"]] == [True]


def test_hubs_follow_from_pin_codes(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    derived = created(service, reference, delivery_postal_code="411001", pickup_postal_code="600001")
    sent = created(service, f"{reference}-2", delivery_hub="MINE", pickup_hub="YOURS", pickup_postal_code="600001")
    assert (derived["delivery_hub"], sent["delivery_hub"]) == ("PNQ-411", "MINE")
    hubs = [sandbox.orders(reference=one)[0]["pickup_hub"] for one in (reference, f"{reference}-2")]
    assert hubs == ["MAA-600", "YOURS"]


def test_kits_stand_beside_items_and_keep_their_name(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    kit = {"name": "Starter", "item_details": [{"item_name": "Cup", "package_id": "P2"}]}
    loose = [{"item_name": "Tray", "package_id": "P1"}]
    message = created(service, reference, item_details=loose, kit_skus=[kit])
    assert [item["item_name"] for item in message["item_details"].values()] == ["Tray", "Cup"]
    assert len(message["child_awb_numbers"]) == 2
    stored = sandbox.orders(reference=reference)[0]["items"]
    assert [(item["body"]["item_name"], item["kit"]) for item in stored] == [("Tray", None), ("Cup", "Starter")]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("reference_number", "X"), ("awb_number", "SH-1234567"), ("is_hyperlocal", "true"), ("weight", "1.0")),
        *(("packages_count", 2), ("package_id", "P1"), ("kit_skus", []), ("what3words", "a.b.c")),
        *(("customer_reference_number", "C"), ("is_return_order", "true"), ("pickup_customer_name", "N")),
    ],
)
def test_update_takes_only_fields_marked(service: httpx.Client, reference: str, field: str, value: Any) -> None:
    awb = created(service, reference)["awb_number"]
    change = {"customer_mobile": "9876543210", "delivery_address": "B"}
    assert service.put(f"{SHIPMENT}/{awb}", json=change | {"division": "North"}).status_code == 200
    reply = service.put(f"{SHIPMENT}/{awb}", json=change | {field: value})
    assert (reply.status_code, reply.json()["message"]) == (400, f"Unknown parameter: {field}")


@pytest.mark.parametrize("by", ["awb_number", "order_id"])
def test_items_and_cancelling_take_awb_number_or_shipment_id(
    service: httpx.Client, sandbox: RunningSandbox, reference: str, by: str
) -> None:
    item_id = next(iter(created(service, reference, item_details=[{"item_name": "A"}])["item_details"]))
    (stored,) = sandbox.orders(reference=reference)
    deleted = service.put(f"/orders/delete/items/{stored[by]}", json={"item_list": [item_id]})
    assert deleted.json()["message"] == f"Items deleted for AWB Number : {stored['awb_number']}"
    for path in ("/orders/delete/items/", "/api/orders/cancel/"):
        assert service.put(f"{path}{reference}", json={"item_list": [item_id]}).status_code == 400
    assert service.put(f"/api/orders/cancel/{stored[by]}").status_code == 200


def in_status(service: httpx.Client, sandbox: RunningSandbox, reference: str, status: str) -> str:
    """The AWB number of a new order that was put into this status."""
    awb: str = created(service, reference)["awb_number"]
    if status != "Pending":
        sandbox.control("POST", f"/orders/{awb}/status", {"status": status})
    return awb


def details(service: httpx.Client, awb: str) -> Any:
    return service.get(f"/orders/shipment/{awb}").json()["message"]["order_details"]


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
    assert before["status"] == status, "an open list of strings"
    reply = service.put(f"/api/orders/cancel/{awb}")
    assert reply.status_code == 400
    assert reply.json() == {"status": "FAIL", "message": "The order can't be cancelled now"}
    assert details(service, awb) == before
