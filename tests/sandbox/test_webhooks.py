"""Webhooks and their events: API §2.4, §4.11, §4.12, §6."""

import itertools
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from support.event_receiver import Receiver, receiving
from support.sandbox_process import RunningSandbox

_IDS = itertools.count(1)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as taken:
        yield taken


@pytest.fixture
def webhook(service: httpx.Client, receiver: Receiver) -> Iterator[dict[str, Any]]:
    body = {
        "webhookId": next(_IDS),
        "callbackUrl": receiver.url,
        "headers": {"X-Shop-Secret": "s3cret", "API_KEY": " Café "},
        "verify_payload": False,
    }
    reply = service.post("/webhooks/subscribe", json=body)
    assert reply.json() == {"status": "PASS", "message": "Webhook configured successfully"}
    yield body
    service.put("/webhooks/update", json={"webhookId": body["webhookId"], "is_active": False})


def create(service: httpx.Client, reference: str, **more: Any) -> str:
    body = {"reference_number": reference, "customer_mobile": "+919876543210", "delivery_address": "A"} | more
    return str(service.post("/orders/shipment", json=body).json()["message"]["awb_number"])


def test_a_change_of_status_sends_the_documented_event(
    service: httpx.Client, sandbox: RunningSandbox, receiver: Receiver, webhook: dict[str, Any], reference: str
) -> None:
    awb = create(service, reference, customer_name="Asha", delivery_lat="18.5", delivery_long="73.8")
    sandbox.control("POST", f"/orders/{awb}/status", {"status": "Complete", "remarks": "left at the gate"})
    headers, event = receiver.next()
    assert headers["X-Shop-Secret"] == "s3cret"
    assert headers["API_KEY"] == "Café"
    assert headers["Content-Type"] == "application/json"
    fixed = {
        "WaybillNo": awb,
        "eventType": "updateOrderStatus",
        "OrderStatus": "Complete",
        "order_status": "Complete",
        "StatusCode": "Complete",
        "ToMobileNumber": "+919876543210",
        "ToEmail": "",
        "ToName": "Asha",
        "order_no": reference,
        "location": {"lat": 18.5, "long": 73.8},
        "remarks": "left at the gate",
    }
    assert {name: event[name] for name in fixed} == fixed
    assert set(event) - set(fixed) == {"CourierComment", "StatusDateTime", "Client", "podDocs", "EDD"}
    assert event["StatusDateTime"].endswith("+05:30")


def test_cancelling_sends_an_event_and_creating_does_not(
    service: httpx.Client, receiver: Receiver, webhook: dict[str, Any], reference: str
) -> None:
    awb = create(service, reference)
    service.put(f"/api/orders/cancel/{awb}")
    assert receiver.next()[1]["OrderStatus"] == "cancelled"
    assert receiver.events.empty()


def test_update_changes_url_and_active_state(
    service: httpx.Client, sandbox: RunningSandbox, receiver: Receiver, webhook: dict[str, Any], reference: str
) -> None:
    off = {"webhookId": webhook["webhookId"], "is_active": False}
    assert service.put("/webhooks/update", json=off).json()["status"] == "PASS"
    awb = create(service, reference)
    sandbox.control("POST", f"/orders/{awb}/status", {"status": "Assigned"})
    on = {"webhookId": webhook["webhookId"], "is_active": True, "headers": {"X-New": "1"}}
    assert service.put("/webhooks/update", json=on).json()["status"] == "PASS"
    sandbox.control("POST", f"/orders/{awb}/status", {"status": "Picked"})
    headers, event = receiver.next()
    assert event["OrderStatus"] == "Picked"
    assert headers["X-New"] == "1"
    assert "X-Shop-Secret" not in headers


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("POST", "/webhooks/subscribe", {}, "Missing required parameters."),
        ("POST", "/webhooks/subscribe", {"webhookId": 1}, "Missing required parameters."),
        ("POST", "/webhooks/subscribe", {"webhookId": "1", "callbackUrl": "http://x"}, "Malformed value of webhookId"),
        ("POST", "/webhooks/subscribe", {"webhookId": 1, "callbackUrl": "ftp://x"}, "Malformed value of callbackUrl"),
        *(
            ("POST", "/webhooks/subscribe", {"webhookId": 1, "callbackUrl": url}, "Malformed value of callbackUrl")
            for url in ("http://", "http://a b/", "http://a/b c", "http://a:65536/", "http://a/\r\nX: 1", "https:///in")
        ),
        (
            "POST",
            "/webhooks/subscribe",
            {"webhookId": 1, "callbackUrl": "http://x", "headers": {"X-A": "1\r\nX-B: 2"}},
            "Malformed value of headers",
        ),
        (
            "POST",
            "/webhooks/subscribe",
            {"webhookId": 1, "callbackUrl": "http://x", "headers": {"Content-Length": "2"}},
            "Malformed value of headers",
        ),
        ("PUT", "/webhooks/update", {"is_active": True}, "Missing required parameters."),
        ("PUT", "/webhooks/update", {"webhookId": 987654}, "Webhook not found"),
    ],
)
def test_rules(service: httpx.Client, method: str, path: str, body: dict[str, Any], message: str) -> None:
    reply = service.request(method, path, json=body)
    assert reply.status_code == 400
    assert reply.json()["message"].startswith(message)


def test_headers_of_a_webhook_stand_neither_in_the_journal_nor_in_the_list(
    sandbox: RunningSandbox, webhook: dict[str, Any]
) -> None:
    (listed,) = (one for one in sandbox.control("GET", "/webhooks") if one["webhookId"] == webhook["webhookId"])
    assert listed["headers"] == {"X-Shop-Secret": "[hidden]", "API_KEY": "[hidden]"}
    content = sandbox.journal_path.read_text()
    assert "s3cret" not in content
    assert "X-Shop-Secret" in content
