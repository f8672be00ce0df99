"""Advance shipping notices: rules and search of API §2.1, §4.1-4.3, §8."""

import re
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox

ASN = "/wms/advance-shipping-notice"


def notice(invoice: str, **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "supplier": "SUP-1",
        "supplier_name": "Acme Traders",
        "site": "S1",
        "site_name": "Bhiwandi",
        "description": "PO 4711 of November",
        "delivery_date": "2026-11-25",
        "invoice_number": invoice,
        "sku_lines": [{"sku_name": "Wires", "qty": "10", "price_per_qty": "5.00"}, {"sku_name": "Plugs", "qty": "4"}],
    }
    return {name: value for name, value in (body | more).items() if value is not None}


def create(service: httpx.Client, invoice: str, **more: Any) -> int:
    reply = service.post(ASN, json=notice(invoice, **more))
    assert reply.status_code == 200, reply.text
    assert reply.json()["status"] == "PASS"
    return int(reply.json()["message"]["id"])


def found(service: httpx.Client, **query: str) -> list[str]:
    reply = service.get(ASN, params=query)
    assert reply.status_code == 200, reply.text
    return [record["invoice_number"] for record in reply.json()["result"]]


def refusal(reply: httpx.Response) -> str:
    assert reply.status_code == 400, reply.text
    assert reply.json()["status"] == "FAIL"
    return str(reply.json()["message"])


def test_create_then_fetch_by_invoice(service: httpx.Client, reference: str) -> None:
    asn_id = create(service, reference)
    page = service.get(ASN, params={"invoice_number": reference}).json()
    assert {name: page[name] for name in ("count", "next", "previous")} == {"count": 1, "next": 0, "previous": None}
    record = page["result"][0]
    assert record["id"] == asn_id
    assert record["status"] == "New"
    assert record["site_name"] == "Bhiwandi"
    assert [(line["sku_name"], line["qty"]) for line in record["sku_lines"]] == [("Wires", "10"), ("Plugs", "4")]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+05:30", record["created_date"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"supplier": None, "supplier_name": None}, "Either supplier or supplier_name is required"),
        ({"site": None, "site_name": None}, "Either site or site_name is required"),
        ({"invoice_number": None}, "Missing required parameters."),
        ({"sku_lines": None}, "Missing required parameters."),
        ({"sku_lines": []}, "Missing required parameters."),
        ({"sku_lines": [{"sku_name": "Wires"}]}, "Missing required parameters."),
        ({"sku_lines": [{"qty": 10}]}, "Malformed value of sku_lines[0].qty"),
        ({"sku_lines": [{"qty": "0"}]}, "Malformed value of sku_lines[0].qty"),
        ({"sku_lines": [{"qty": "1", "status": "Open"}]}, "Malformed value of sku_lines[0].status"),
        ({"sku_lines": [{"qty": "1", "quantity": "1"}]}, "Unknown parameter: sku_lines[0].quantity"),
        ({"status": "Done"}, "Malformed value of status"),
        ({"delivery_date": "25-11-2026"}, "Malformed value of delivery_date"),
        ({"expiry_date": "2026-02-30"}, "Malformed value of expiry_date"),
        ({"po_number": "4711"}, "Unknown parameter: po_number"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_rules_of_create_and_update(service: httpx.Client, method: str, changes: dict[str, Any], message: str) -> None:
    assert refusal(service.request(method, ASN, json=notice("INV-RULES", **changes))).startswith(message)


@pytest.mark.parametrize("gone", ["supplier", "supplier_name", "site", "site_name"])
def test_one_of_id_and_name_is_enough(service: httpx.Client, reference: str, gone: str) -> None:
    create(service, reference, **{gone: None})


@pytest.mark.parametrize("status", ["New", "In-Progress", "Completed", "Expired"])
def test_every_documented_status_is_taken_and_found(service: httpx.Client, reference: str, status: str) -> None:
    create(service, reference, status=status)
    assert found(service, invoice_number=reference, status=status) == [reference]
    others = {"New", "In-Progress", "Completed", "Expired"} - {status}
    assert all(found(service, invoice_number=reference, status=other) == [] for other in others)


def test_update_finds_by_supplier_site_and_invoice(service: httpx.Client, reference: str) -> None:
    first = create(service, reference)
    create(service, reference, supplier="SUP-2", supplier_name="Other")
    change = notice(reference, sku_lines=[{"sku_name": "Lamp", "qty": "1"}], description="changed")
    assert service.put(ASN, json=change).json()["message"]["id"] == first
    records = service.get(ASN, params={"invoice_number": reference}).json()["result"]
    by_supplier = {record["supplier"]: record for record in records}
    assert [line["sku_name"] for line in by_supplier["SUP-1"]["sku_lines"]] == ["Lamp"]
    assert by_supplier["SUP-1"]["description"] == "changed"
    assert by_supplier["SUP-1"]["modified_date"] > by_supplier["SUP-1"]["created_date"]
    assert len(by_supplier["SUP-2"]["sku_lines"]) == 2


def test_update_finds_by_name_where_there_is_no_id(service: httpx.Client, reference: str) -> None:
    asn_id = create(service, reference, supplier=None)
    assert service.put(ASN, json=notice(reference, supplier=None, site=None)).json()["message"]["id"] == asn_id


def test_update_of_none_or_of_several_is_refused(service: httpx.Client, reference: str) -> None:
    assert refusal(service.put(ASN, json=notice(reference))) == "Advance shipping notice not found"
    create(service, reference)
    assert refusal(service.put(ASN, json=notice(reference, site="S9"))) == "Advance shipping notice not found"
    create(service, reference)
    assert refusal(service.put(ASN, json=notice(reference))).startswith("More than one advance shipping notice")


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"status": "New"},
        {"site": "S1", "supplier": "SUP-1", "description": "PO"},
        {"delivery_date_start": "2026-11-01"},
        {"created_date_end": "2026-11-30", "modified_date_start": "2026-11-01"},
        {"invoice_number": ""},
    ],
)
def test_a_search_needs_a_whole_range_or_an_invoice(service: httpx.Client, query: dict[str, str]) -> None:
    assert refusal(service.get(ASN, params=query)).startswith("At least one of")


@pytest.mark.parametrize(
    ("query", "hit"),
    [
        ({"description": "4711"}, True),
        ({"description": "po 4711 OF"}, True),
        ({"description": "4712"}, False),
        ({"site": "S1"}, True),
        ({"site": "S"}, False),
        ({"site_name": "Bhiwandi"}, True),
        ({"site_name": "Bhiw"}, True),
        ({"site_name": "Pune"}, False),
        ({"supplier": "SUP-1"}, True),
        ({"supplier": "SUP-2"}, False),
        ({"supplier_name": "acme"}, True),
        ({"supplier_name": "Acme Ltd"}, False),
    ],
)
def test_each_filter(service: httpx.Client, reference: str, query: dict[str, str], hit: bool) -> None:
    create(service, reference)
    assert found(service, invoice_number=reference, **query) == ([reference] if hit else [])


@pytest.mark.parametrize(
    ("start", "end", "hit"),
    [
        ("2026-11-25", "2026-11-25", True),
        ("2026-11-24", "2026-11-25", True),
        ("2026-11-25", "2026-11-26", True),
        ("2026-11-26", "2026-11-30", False),
        ("2026-11-01", "2026-11-24", False),
        ("2026-11-26", "2026-11-24", False),
    ],
)
@pytest.mark.parametrize("which", ["delivery_date", "created_date", "modified_date"])
def test_ranges_include_both_ends(
    service: httpx.Client, sandbox: RunningSandbox, reference: str, which: str, start: str, end: str, hit: bool
) -> None:
    asn_id = create(service, reference)
    late = "2026-11-25T23:59:59+05:30"
    sandbox.control("POST", f"/asns/{asn_id}", {"created_date": late, "modified_date": late})
    assert (reference in found(service, **{f"{which}_start": start, f"{which}_end": end})) is hit


@pytest.mark.parametrize("moment", ["2026-11-30T20:00:00+00:00", "2026-12-01T01:30:00"])
def test_a_day_is_a_day_of_the_service(
    service: httpx.Client, sandbox: RunningSandbox, reference: str, moment: str
) -> None:
    asn_id = create(service, reference)
    sandbox.control("POST", f"/asns/{asn_id}", {"created_date": moment})
    (record,) = service.get(ASN, params={"invoice_number": reference}).json()["result"]
    assert record["created_date"] == "2026-12-01T01:30:00.000000+05:30"
    assert reference in found(service, created_date_start="2026-12-01", created_date_end="2026-12-01")


def test_a_line_has_an_id_of_its_own(service: httpx.Client, reference: str) -> None:
    for name in ("a", "b"):
        create(service, f"{reference}-{name}", sku_lines=[{"qty": "1"}] * 1001)
    ids = [
        line["id"]
        for name in ("a", "b")
        for line in service.get(ASN, params={"invoice_number": f"{reference}-{name}"}).json()["result"][0]["sku_lines"]
    ]
    assert len(set(ids)) == 2002


def test_an_asn_is_amended_only_in_its_own_fields(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    asn_id = create(service, reference)
    sandbox.control("POST", f"/asns/{asn_id}", {"status": "Completed", "delivery_date": "2026-12-01"})
    (record,) = service.get(ASN, params={"invoice_number": reference}).json()["result"]
    assert (record["status"], record["delivery_date"]) == ("Completed", "2026-12-01")
    reply = service.post(f"/_sandbox/asns/{asn_id}", json={"received": "yes"})
    assert refusal(reply) == "Unknown parameter: received"
    assert refusal(service.post(f"/_sandbox/asns/{2**63}", json={})) == "Malformed data"


def test_a_range_with_one_end_does_not_narrow_a_search(service: httpx.Client, reference: str) -> None:
    create(service, reference)
    assert found(service, invoice_number=reference, delivery_date_start="2027-01-01") == [reference]


def test_filters_are_checked(service: httpx.Client) -> None:
    assert refusal(service.get(ASN, params={"invoice": "1"})) == "Unknown parameter: invoice"
    assert "status" in refusal(service.get(ASN, params={"invoice_number": "1", "status": "Done"}))
    query = {"delivery_date_start": "25/11/2026", "delivery_date_end": "26/11/2026"}
    assert "delivery_date_start" in refusal(service.get(ASN, params=query))
