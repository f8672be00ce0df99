"""What the document leaves open (API §2.1, §4.1-4.3, §5, §8): every reading of it, over real HTTP."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox

ASN = "/wms/advance-shipping-notice"
SHIPMENT = "/orders/shipment"
DELAY_SECONDS = 1.0
START = "import sys, pathlib; from logistics_batch.sandbox.serve import serve; "


@pytest.fixture
def several_keys(tmp_path: Path) -> Iterator[str]:
    """The URL of a sandbox that knows two keys, the first of which begins the second."""
    call = f"serve(api_keys=('old-key', 'old-key-2'), data=pathlib.Path({str(tmp_path)!r}))"
    with subprocess.Popen([sys.executable, "-c", START + call], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split('"')[3]
        process.terminate()


def test_every_key_opens_the_service_and_none_is_in_the_journal(several_keys: str, tmp_path: Path) -> None:
    body = {"reference_number": "R", "customer_mobile": "9876543210", "delivery_address": "old-key-2 and old-key"}
    statuses = []
    for key in ("old-key", "old-key-2", "old-key-3", ""):
        reply = httpx.post(f"{several_keys}/orders/shipment", json=body, headers={"API_KEY": key}, trust_env=False)
        statuses.append(reply.status_code)
    assert statuses == [200, 400, 401, 401]
    journal = (tmp_path / "journal.jsonl").read_text()
    assert "[api key] and [api key]" in journal
    assert "old-key" not in journal


@pytest.fixture
def switched(sandbox: RunningSandbox) -> Iterator[RunningSandbox]:
    """A sandbox whose switches are put back afterwards."""
    before = sandbox.control("GET", "/switches")
    yield sandbox
    sandbox.set_switches(**before)


def order(reference: str, **more: Any) -> dict[str, Any]:
    return {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"} | more


def notice(invoice: str, **more: Any) -> dict[str, Any]:
    parties = {"supplier": "SUP-1", "supplier_name": "Acme", "site": "S1", "site_name": "Bhiwandi"}
    lines = [{"sku_name": "Wires", "qty": "10", "price_per_qty": "5.00"}, {"sku_name": "Plugs", "qty": "4"}]
    return parties | {"invoice_number": invoice, "sku_lines": lines} | more


def created(service: httpx.Client, reference: str) -> str:
    return str(service.post(SHIPMENT, json=order(reference)).json()["message"]["awb_number"])


def announced(service: httpx.Client, invoice: str, **more: Any) -> int:
    return int(service.post(ASN, json=notice(invoice, **more)).json()["message"]["id"])


def searched(service: httpx.Client, invoice: str) -> Any:
    return service.get(ASN, params={"invoice_number": invoice}).json()


def said(reply: httpx.Response) -> tuple[int, Any]:
    return reply.status_code, reply.json()["message"]


@pytest.mark.parametrize(
    ("reading", "fetched", "updated"),
    [
        ("fetch_both", {"awb", "id", "reference"}, {"awb", "id"}),
        ("both", {"awb", "id", "reference"}, {"awb", "id", "reference"}),
        ("id", {"awb", "id"}, {"awb", "id"}),
        ("reference", {"reference"}, {"reference"}),
    ],
)
def test_order_id_reading(
    service: httpx.Client, switched: RunningSandbox, reference: str, reading: str, fetched: set[str], updated: set[str]
) -> None:
    awb = created(service, reference)
    order_id = switched.orders(reference=reference)[0]["order_id"]
    switched.set_switches(order_id_reading=reading)
    names = {"awb": awb, "id": order_id, "reference": reference}
    change = {"customer_mobile": "9876543210", "delivery_address": "B"}
    assert {name for name, one in names.items() if service.get(f"{SHIPMENT}/{one}").is_success} == fetched
    assert {name for name, one in names.items() if service.put(f"{SHIPMENT}/{one}", json=change).is_success} == updated


@pytest.mark.parametrize("status", [400, 404])
def test_unknown_order_status(service: httpx.Client, switched: RunningSandbox, status: int) -> None:
    switched.set_switches(unknown_order_status=status)
    assert said(service.get(f"{SHIPMENT}/SH-NOSUCH1")) == (status, "Order not found")
    assert said(service.put("/api/orders/cancel/SH-NOSUCH1")) == (status, "Order not found")
    body = {"item_list": ["1"]}
    assert said(service.put("/orders/delete/items/SH-NOSUCH1", json=body)) == (status, "Order not found")


def test_effect_delay_seconds_of_a_create(service: httpx.Client, switched: RunningSandbox, reference: str) -> None:
    switched.set_switches(effect_delay_seconds=DELAY_SECONDS)
    awb = created(service, reference)
    assert said(service.get(f"{SHIPMENT}/{awb}")) == (400, "Order not found")
    assert switched.orders(reference=reference) == []
    (stored,) = wait_for(lambda: switched.orders(reference=reference))
    assert stored["awb_number"] == awb
    (line,) = [one for one in switched.committed("order.created") if one["reference_number"] == reference]
    (received,) = [one for one in switched.received("order.create") if one["body"]["reference_number"] == reference]
    assert line["request"] == received["seq"]
    assert service.get(f"{SHIPMENT}/{awb}").json()["message"]["order_details"]["awb_number"] == awb


def test_effect_delay_seconds_lets_the_second_of_two_creates_get_lost(
    service: httpx.Client, switched: RunningSandbox, reference: str
) -> None:
    switched.set_switches(effect_delay_seconds=DELAY_SECONDS)
    first, second = created(service, reference), created(service, reference)
    assert first != second
    (stored,) = wait_for(lambda: switched.orders(reference=reference))
    (lost,) = wait_for(lambda: [line for line in switched.journal() if line["event"] == "lost"])
    assert stored["awb_number"] == first
    assert lost["reason"] == "Shipment Reference Number already exists"
    assert len(switched.orders(reference=reference)) == 1
    assert said(service.post(SHIPMENT, json=order(reference)))[0] == 400


def test_effect_delay_seconds_of_changes(service: httpx.Client, switched: RunningSandbox, reference: str) -> None:
    awb = created(service, reference)
    announced(service, reference)
    switched.set_switches(effect_delay_seconds=DELAY_SECONDS)
    lamp = {"77": {"item_name": "Lamp", "item_quantity": 1, "item_price_per_each": "9.00", "total_item_price": "9.00"}}
    change = {"customer_mobile": "9876543210", "delivery_address": "Late Street"}
    assert service.put(f"{SHIPMENT}/{awb}", json=change).is_success
    assert (
        service.put(f"/orders/add/items/{awb}", json={"item_details": lamp}).json()["message"]["item_details"] == lamp
    )
    assert service.put(ASN, json=notice(reference, description="late")).is_success
    assert said(service.put(f"/api/orders/cancel/{awb}")) == (200, "Order Cancelled Successfully")
    details = service.get(f"{SHIPMENT}/{awb}").json()["message"]["order_details"]
    assert (details["status"], details["delivery_address"], details["item_details"]) == ("Pending", "A", {})
    assert searched(service, reference)["result"][0]["description"] is None
    (stored,) = wait_for(lambda: switched.orders(reference=reference, status="cancelled"))
    assert stored["body"]["delivery_address"] == "Late Street"
    assert [item["item_id"] for item in stored["items"]] == ["77"]
    assert searched(service, reference)["result"][0]["description"] == "late"


def test_a_late_effect_outlives_a_kill(own_sandbox: RunningSandbox) -> None:
    own_sandbox.set_switches(effect_delay_seconds=1)
    headers = {"API_KEY": own_sandbox.api_key}
    with httpx.Client(base_url=own_sandbox.url, headers=headers, trust_env=False) as service:
        awb = created(service, "LATE")
    own_sandbox.kill()
    assert own_sandbox.committed() == []
    own_sandbox.restart()
    (stored,) = wait_for(lambda: own_sandbox.orders(reference="LATE"))
    assert stored["awb_number"] == awb


def test_numbers_for_strings(service: httpx.Client, switched: RunningSandbox, reference: str) -> None:
    item = {"item_name": "Wires", "item_quantity": 2, "item_price_per_each": "10.50"}
    body = order(reference, cash_on_delivery="59.00", delivery_postal_code="411001", item_details=[item])
    awb = service.post(SHIPMENT, json=body).json()["message"]["awb_number"]
    announced(service, reference)
    switched.set_switches(numbers_for_strings=True)
    details = service.get(f"{SHIPMENT}/{awb}").json()["message"]["order_details"]
    (shown,) = details["item_details"].values()
    assert (details["cash_on_delivery"], details["delivery_postal_code"]) == (59.0, 411001)
    assert (details["customer_mobile"], shown["item_quantity"]) == ("9876543210", "2")
    assert details["reference_number"] == reference
    page = searched(service, reference)
    assert (page["count"], page["result"][0]["sku_lines"][0]["qty"]) == ("1", 10)
    again = service.post(SHIPMENT, json=body | {"reference_number": f"{reference}-2"}).json()["message"]
    assert [one["item_price_per_each"] for one in again["item_details"].values()] == [10.5]


ENVELOPES: dict[str, Any] = {
    "list": lambda records: {"count": 1, "next": 0, "previous": None, "result": records},
    "pass": lambda records: {"status": "PASS", "message": ENVELOPES["list"](records)},
    "success": lambda records: {"status": "SUCCESS", "message": ENVELOPES["list"](records)},
    "bare": lambda records: records,
    "results": lambda records: {"count": 1, "next": 0, "previous": None, "results": records},
    "data": lambda records: {"count": 1, "next": 0, "previous": None, "data": records},
    "by_id": lambda records: {"status": "PASS", "message": {str(one["id"]): one for one in records}},
    "single": lambda records: records[0],
}


@pytest.mark.parametrize("form", ENVELOPES)
def test_asn_envelope(service: httpx.Client, switched: RunningSandbox, reference: str, form: str) -> None:
    announced(service, reference)
    records = searched(service, reference)["result"]
    switched.set_switches(asn_envelope=form)
    assert searched(service, reference) == ENVELOPES[form](records)


@pytest.mark.parametrize(("count", "said_count"), [("total", 3), ("shown", 2), ("absent", None)])
def test_asn_page_cap_and_asn_count(
    service: httpx.Client, switched: RunningSandbox, reference: str, count: str, said_count: int | None
) -> None:
    ids = [announced(service, reference) for _ in range(3)]
    switched.set_switches(asn_page_cap=2, asn_count=count)
    page = searched(service, reference)
    assert [record["id"] for record in page["result"]] == ids[:2]
    assert page.get("count") == said_count


@pytest.mark.parametrize("key", ["sku_lines", "lines", "items"])
@pytest.mark.parametrize("form", ["list", "by_id"])
def test_asn_lines_form_and_asn_lines_key(
    service: httpx.Client, switched: RunningSandbox, reference: str, form: str, key: str
) -> None:
    announced(service, reference)
    before = searched(service, reference)["result"][0].pop("sku_lines")
    switched.set_switches(asn_lines_form=form, asn_lines_key=key)
    record = searched(service, reference)["result"][0]
    lines = record.pop(key)
    if form == "by_id":
        lines = [{"id": int(number), **line} for number, line in lines.items()]
    assert lines == before
    assert not {"sku_lines", "lines", "items"} & set(record)


@pytest.mark.parametrize(
    ("form", "parties"),
    [
        ("both", {"supplier": "SUP-1", "supplier_name": "Acme", "site": "S1", "site_name": "Bhiwandi"}),
        ("id", {"supplier": "SUP-1", "site": "S1"}),
        ("name", {"supplier": "Acme", "site": "Bhiwandi"}),
        ("object", {"supplier": {"id": "SUP-1", "name": "Acme"}, "site": {"id": "S1", "name": "Bhiwandi"}}),
    ],
)
def test_asn_parties(
    service: httpx.Client, switched: RunningSandbox, reference: str, form: str, parties: dict[str, Any]
) -> None:
    announced(service, reference)
    switched.set_switches(asn_parties=form)
    record = searched(service, reference)["result"][0]
    assert {name: value for name, value in record.items() if name.startswith(("supplier", "site"))} == parties


@pytest.mark.parametrize("form", ["id", "text", "record", "bare", "empty"])
@pytest.mark.parametrize(("method", "done"), [("POST", "created"), ("PUT", "updated")])
def test_asn_replies(
    service: httpx.Client, switched: RunningSandbox, reference: str, form: str, method: str, done: str
) -> None:
    if method == "PUT":
        announced(service, reference)
    switched.set_switches(asn_replies=form)
    reply = service.request(method, ASN, json=notice(reference))
    (record,) = searched(service, reference)["result"]
    forms = {
        "id": {"status": "PASS", "message": {"id": record["id"], "invoice_number": reference}},
        "text": {"status": "PASS", "message": f"Advance shipping notice {done} successfully"},
        "record": {"status": "PASS", "message": record},
        "bare": record,
    }
    assert reply.status_code == 200
    assert reply.content == b"" if form == "empty" else reply.json() == forms[form]


@pytest.mark.parametrize(("form", "key"), [("fail", "message"), ("detail", "detail")])
def test_asn_errors(service: httpx.Client, switched: RunningSandbox, form: str, key: str) -> None:
    switched.set_switches(asn_errors=form)
    for reply in (service.get(ASN), service.post(ASN, json={}), service.put(ASN, json=notice("NOWHERE"))):
        assert reply.status_code == 400
        assert set(reply.json()) == ({"status", "message"} if form == "fail" else {"detail"})
        assert reply.json()[key]
    assert set(service.post(SHIPMENT, json={}).json()) == {"status", "message"}


@pytest.mark.parametrize("answer", ["allow", "refuse"])
def test_asn_duplicate(service: httpx.Client, switched: RunningSandbox, reference: str, answer: str) -> None:
    switched.set_switches(asn_duplicate=answer)
    announced(service, reference)
    announced(service, reference, site="S2")
    second = service.post(ASN, json=notice(reference))
    assert second.is_success is (answer == "allow")
    if answer == "refuse":
        assert said(second) == (400, "Advance shipping notice already exists")
    assert searched(service, reference)["count"] == (3 if answer == "allow" else 2)


@pytest.mark.parametrize(
    ("identity", "same", "moved"),
    [("parties_and_invoice", True, False), ("invoice", True, True), ("refuse", False, False)],
)
def test_asn_identity(
    service: httpx.Client, switched: RunningSandbox, reference: str, identity: str, same: bool, moved: bool
) -> None:
    announced(service, reference)
    switched.set_switches(asn_identity=identity)
    assert service.put(ASN, json=notice(reference)).is_success is same
    assert service.put(ASN, json=notice(reference, site="S2")).is_success is moved
    assert searched(service, reference)["result"][0]["site"] == ("S2" if moved else "S1")


def test_switches_that_do_not_exist_are_refused(service: httpx.Client, sandbox: RunningSandbox) -> None:
    wrong_numbers = [
        *({"asn_page_cap": value} for value in ("few", -1, 1.5)),
        *({"link_lifetime_seconds": value} for value in ("inf", "nan", -2)),
        *({name: -0.1} for name in ("effect_delay_seconds", "webhook_first_retry_seconds")),
        {"webhook_attempts": 0},
    ]
    for wrong in ({"colour": "blue"}, {"asn_envelope": "heap"}, {"unknown_order_status": 418}, *wrong_numbers):
        assert service.put("/_sandbox/switches", json=wrong).status_code == 400, wrong
    assert "colour" not in sandbox.control("GET", "/switches")


def wait_for(look: Any) -> Any:
    """What `look` sees as soon as it sees something."""
    deadline = time.monotonic() + 20
    while not (seen := look()):
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.02)
    return seen
