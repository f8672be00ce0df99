"""The key, what is no endpoint, and the journal of it all: API §5 and §7."""

import socket

import httpx
import pytest
from support.sandbox_process import RunningSandbox

CALLS = [
    ("asn.fetch", "GET", "/wms/advance-shipping-notice"),
    ("asn.create", "POST", "/wms/advance-shipping-notice"),
    ("asn.update", "PUT", "/wms/advance-shipping-notice"),
    ("label.create", "POST", "/order/shippinglabel/"),
    ("order.fetch", "GET", "/orders/shipment/1"),
    ("order.create", "POST", "/orders/shipment"),
    ("order.update", "PUT", "/orders/shipment/1"),
    ("order.add_items", "PUT", "/orders/add/items/1"),
    ("order.delete_items", "PUT", "/orders/delete/items/1"),
    ("order.cancel", "PUT", "/api/orders/cancel/1"),
    ("webhook.subscribe", "POST", "/webhooks/subscribe"),
    ("webhook.update", "PUT", "/webhooks/update"),
]


@pytest.mark.parametrize(("endpoint", "method", "path"), CALLS)
@pytest.mark.parametrize("key", [None, "", "wrong-key-canary"])
def test_every_endpoint_needs_the_key(
    sandbox: RunningSandbox, endpoint: str, method: str, path: str, key: str | None
) -> None:
    headers = {} if key is None else {"API_KEY": key}
    query = headers if endpoint == "label.create" else {}
    reply = httpx.request(method, sandbox.url + path, headers=headers, params=query, trust_env=False)
    assert reply.status_code == 401
    assert reply.json() == {"status": "FAIL", "message": "Unauthorized"}
    line = sandbox.received(endpoint)[-1]
    assert line["key_ok"] is False
    assert (line["method"], line["path"]) == (method, path)


@pytest.mark.parametrize(("endpoint", "method", "path"), CALLS)
def test_what_each_endpoint_refuses_or_fails_at_is_a_fail(
    service: httpx.Client, sandbox: RunningSandbox, endpoint: str, method: str, path: str
) -> None:
    query = {"API_KEY": sandbox.api_key} if endpoint == "label.create" else {}
    asked = path.replace("/1", "/SH-NOSUCH1")
    reply = service.request(method, asked, params=query, json=None if method == "GET" else {})
    assert (reply.status_code, reply.json()["status"]) == (400, "FAIL")
    assert reply.json()["message"]
    sandbox.set_faults([{"kind": "error_500_before"}])
    reply = service.request(method, path, params=query)
    assert (reply.status_code, reply.json()) == (500, {"status": "FAIL", "message": "Unexpected error"})


@pytest.mark.parametrize("path", ["/orders", "/faults", "/journal", "/switches", "/webhooks"])
def test_the_strings_of_the_sandbox_need_the_key(sandbox: RunningSandbox, path: str) -> None:
    assert httpx.get(f"{sandbox.url}/_sandbox{path}", trust_env=False).status_code == 401


def test_health_needs_no_key(sandbox: RunningSandbox) -> None:
    assert httpx.get(f"{sandbox.url}/_sandbox/health", trust_env=False).json() == {"status": "up"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/orders/shipment/", 404),
        ("POST", "/order/shippinglabel", 404),
        ("POST", "/api/orders/shipment", 404),
        ("DELETE", "/orders/shipment/1", 405),
        ("POST", "/api/orders/cancel/1", 405),
    ],
)
def test_what_is_no_endpoint_is_refused(service: httpx.Client, method: str, path: str, status: int) -> None:
    reply = service.request(method, path, json={}, follow_redirects=False)
    assert reply.status_code == status
    assert reply.json()["status"] == "FAIL"


def test_a_body_that_is_too_large_is_refused(service: httpx.Client) -> None:
    assert service.post("/orders/shipment", content=b"x" * 5_000_001).status_code == 413


def test_a_request_is_journaled_before_and_after_its_effect(
    sandbox: RunningSandbox, service: httpx.Client, reference: str
) -> None:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "पुणे"}
    message = service.post("/orders/shipment", json=body).json()["message"]
    received = sandbox.received("order.create")[-1]
    assert received["body"] == body
    assert received["key_ok"] is True
    later = [line for line in sandbox.journal() if line.get("request") == received["seq"]]
    assert [line["event"] for line in later] == ["committed", "answered"]
    assert later[0]["effect"] == "order.created"
    assert (later[0]["reference_number"], later[0]["awb_number"]) == (reference, message["awb_number"])
    assert later[1]["status"] == 200


def test_sequence_numbers_have_no_gap(sandbox: RunningSandbox) -> None:
    numbers = [line["seq"] for line in sandbox.journal()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_no_key_reaches_the_journal(sandbox: RunningSandbox, service: httpx.Client) -> None:
    key = sandbox.api_key
    service.post("/orders/shipment", json={"reference_number": key})
    service.post("/orders/shipment", content=f"not json {key}".encode())
    service.get(f"/orders/shipment/{key}")
    service.post("/order/shippinglabel/", params={"API_KEY": key, "also": key}, json={})
    content = sandbox.journal_path.read_text()
    assert key not in content
    assert "wrong-key-canary" not in content
    assert content.count("[api key]") >= 4


def test_text_that_is_no_text_is_journaled_all_the_same(sandbox: RunningSandbox, service: httpx.Client) -> None:
    content = b'{"reference_number": "\\ud800"}'
    reply = service.post("/orders/shipment", content=content, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400
    assert sandbox.received("order.create")[-1]["body"] == {"reference_number": "\ud800"}


def test_a_cut_request_is_no_request(sandbox: RunningSandbox) -> None:
    before = len(sandbox.received())
    host, _, port = sandbox.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        head = (
            f"POST /orders/shipment HTTP/1.1\r\nHost: x\r\nAPI_KEY: {sandbox.api_key}\r\nContent-Type: application/json"
        )
        connection.sendall(f"{head}\r\nContent-Length: 500\r\n\r\n{{".encode())
    assert httpx.get(f"{sandbox.url}/_sandbox/health", trust_env=False).status_code == 200
    assert len(sandbox.received()) == before
