"""Statuses set by hand, and their quantities (API §3, §6)."""

from typing import Any

import httpx
from support.sandbox_process import RunningSandbox


def create(client: httpx.Client, reference: str, *, quantity: float = 3, **more: Any) -> str:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"} | more
    items = [{"item_name": "Wires", "item_quantity": quantity}, {"item_name": "Plugs", "item_quantity": 8}]
    reply = client.post("/orders/shipment", json=body | {"item_details": items}).json()
    return str(reply["message"]["awb_number"])


def details(client: httpx.Client, awb: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/orders/shipment/{awb}").json()["message"]["order_details"]
    return found


def test_a_cancelled_order_does_not_come_back_when_its_reference_is_taken(
    sandbox: RunningSandbox, service: httpx.Client, reference: str
) -> None:
    """API §8.4: one live order for each reference, whatever is set by hand."""
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"}
    awb = service.post("/orders/shipment", json=body).json()["message"]["awb_number"]
    service.put(f"/api/orders/cancel/{awb}")
    assert service.post("/orders/shipment", json=body).status_code == 200
    reply = service.post(f"/_sandbox/orders/{awb}/status", json={"status": "Pending"})
    assert (reply.status_code, reply.json()["message"]) == (400, "Shipment Reference Number already exists")
    assert [one["status"] for one in sandbox.orders(reference=reference)] == ["cancelled", "Pending"]


def test_partial_pick_and_delivery_by_hand(sandbox: RunningSandbox, service: httpx.Client) -> None:
    awb = create(service, "PARTIAL", quantity=2)
    first, second = details(service, awb)["item_details"]
    path = f"/orders/{awb}/status"
    goods = {first: {"picked": 2, "delivered": 0}, second: {"picked": 4, "delivered": 0}}
    sandbox.control("POST", path, {"status": "Picked", "items": goods})
    goods = {first: {"picked": 2, "delivered": 2}, second: {"picked": 4, "delivered": 3}}
    sandbox.control("POST", path, {"status": "Delivered", "items": goods})
    items = details(service, awb)["item_details"]
    assert [(one["item_qty_picked"], one["item_qty_delivered"]) for one in items.values()] == [(2, 2), (4, 3)]
    for wrong in ({first: {"picked": 3}}, {first: {"picked": 1, "delivered": 2}}, {"no-such-item": {"picked": 1}}):
        reply = service.post(f"/_sandbox{path}", json={"status": "Picked", "items": wrong})
        assert reply.status_code == 400, wrong


def test_an_asn_is_deleted_by_hand(sandbox: RunningSandbox, service: httpx.Client) -> None:
    asn = {"supplier": "S", "site": "B", "invoice_number": "GONE-1", "sku_lines": [{"qty": "1"}]}
    asn_id = service.post("/wms/advance-shipping-notice", json=asn).json()["message"]["id"]
    assert sandbox.control("DELETE", f"/asns/{asn_id}") == {"id": asn_id}
    assert asn_id not in [one["id"] for one in sandbox.control("GET", "/asns")]
    assert service.delete(f"/_sandbox/asns/{asn_id}").status_code == 404
    assert sandbox.committed("asn.deleted")[-1]["invoice_number"] == "GONE-1"
