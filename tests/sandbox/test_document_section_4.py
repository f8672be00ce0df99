"""Section 4 of the API document, line by line: the endpoints."""

from typing import Any

import httpx
import pytest
from support.api_document import check_section
from support.sandbox_process import RunningSandbox

ASNS, ORDERS, LABELS = "test_asns.py::", "test_orders.py::", "test_labels.py::"
HERE, GATE, HOOKS = "test_document_section_4.py::", "test_middleware.py::", "test_webhooks.py::"
UNAUTHORIZED = GATE + "test_every_endpoint_needs_the_key"
UNEXPECTED = HERE + "test_an_unexpected_failure_of_every_endpoint"
REFUSED = HERE + "test_what_each_endpoint_refuses_is_a_fail"
TESTS = {
    "4 every endpoint needs the key, by default in the header API_KEY": UNAUTHORIZED,
    "4.1 fetch returns one or many ASNs with items, quantities and prices": (
        HERE + "test_fetch_gives_one_or_many_notices_with_items_quantities_and_prices"
    ),
    "4.1 at least one range or invoice_number": ASNS + "test_a_search_needs_a_whole_range_or_an_invoice",
    "4.1 description matches in full or in part": ASNS + "test_each_filter",
    "4.1 site, site_name, supplier, supplier_name filter": ASNS + "test_each_filter",
    "4.1 status filters": ASNS + "test_every_documented_status_is_taken_and_found",
    "4.1 delivery, created and modified ranges are inclusive": ASNS + "test_ranges_include_both_ends",
    "4.1 a range applies only when both ends are given": ASNS + "test_a_range_with_one_end_does_not_narrow_a_search",
    "4.1 dates have the form YYYY-MM-DD": ASNS + "test_filters_are_checked",
    "4.1 invoice_number filters": ASNS + "test_create_then_fetch_by_invoice",
    "4.2 create takes the fields of an ASN": HERE + "test_create_and_update_keep_every_field_of_a_notice",
    "4.2 supplier or its name, site or its name": ASNS + "test_one_of_id_and_name_is_enough",
    "4.2 invoice_number and sku_lines with qty are required": ASNS + "test_rules_of_create_and_update",
    "4.3 update takes the same fields as create": HERE + "test_create_and_update_keep_every_field_of_a_notice",
    "4.3 which ASN is updated is not shown": "test_switches.py::test_asn_identity",
    "4.4 the key is the query parameter API_KEY": LABELS + "test_the_key_is_a_query_parameter_here",
    "4.4 SUCCESS with a url to a PDF": LABELS + "test_a_label_is_a_4_by_6_page_with_the_awb_as_barcode",
    "4.4 the url is signed and limited in time": LABELS + "test_a_link_needs_its_signature",
    "4.4 400 AWB Number is mandatory for shipping label": LABELS + "test_rules",
    "4.4 401 Unauthorized": UNAUTHORIZED,
    "4.4 500 Unexpected error": UNEXPECTED,
    "4.5 PASS with order_details of the documented fields": ORDERS + "test_fetch_shows_the_documented_fields",
    "4.5 orderId is what create returned": (ORDERS + "test_fetch_by_awb_by_order_id_and_by_reference_finds_the_same"),
    "4.5 400 for malformed data or missing values": ORDERS + "test_an_unknown_order_is_said_to_be_unknown",
    "4.5 401 Unauthorized": UNAUTHORIZED,
    "4.5 500 Unexpected error": UNEXPECTED,
    "4.6 reference_number, customer_mobile, delivery_address and item_name are required": (
        ORDERS + "test_a_missing_field_is_named_as_documented"
    ),
    "4.6 rule 1: hubs follow from pin codes unless they are sent": HERE + "test_hubs_follow_from_pin_codes",
    "4.6 rule 2: packages_count and package_id together are refused": (
        ORDERS + "test_packages_count_and_package_id_exclude_each_other"
    ),
    "4.6 rule 3: kits instead of item_details": ORDERS + "test_a_kit_brings_its_items",
    "4.6 rule 3: kits beside item_details": HERE + "test_kits_stand_beside_items_and_keep_their_name",
    "4.6 PASS with awb_number, delivery_hub, items by id, child_awb_numbers": (
        ORDERS + "test_create_answers_awb_hub_and_items_by_id"
    ),
    "4.6 400 Shipment Reference Number is required": ORDERS + "test_a_missing_field_is_named_as_documented",
    "4.6 401 Unauthorized": UNAUTHORIZED,
    "4.6 500 Unexpected error": UNEXPECTED,
    "4.7 orderId is the id received on create": "test_switches.py::test_order_id_reading",
    "4.7 only fields marked U, customer_mobile and delivery_address required": HERE
    + "test_update_takes_only_fields_marked",
    "4.7 items are named by their ids": ORDERS + "test_update_changes_the_order_and_its_items_by_id",
    "4.7 the answer of create without child_awb_numbers": (
        ORDERS + "test_update_changes_the_order_and_its_items_by_id"
    ),
    "4.7 400, 401 and 500 as create": REFUSED,
    "4.8 items by id, item_name required": ORDERS + "test_adding_nothing_lacks_parameters",
    "4.8 the answer of update": ORDERS + "test_add_and_delete_items",
    "4.8 400, 401 and 500 as create": REFUSED,
    "4.9 orderId is AWB number or shipment id": HERE + "test_items_and_cancelling_take_awb_number_or_shipment_id",
    "4.9 PASS, Items deleted for AWB Number : <awb_number>": ORDERS + "test_add_and_delete_items",
    "4.9 400 Missing required parameters.": ORDERS + "test_deleting_nothing_lacks_parameters",
    "4.9 400 for items of another order": ORDERS + "test_items_of_another_order_are_not_deleted",
    "4.9 401 and 500 as create": UNEXPECTED,
    "4.10 orderId is AWB number or shipment id": HERE + "test_items_and_cancelling_take_awb_number_or_shipment_id",
    "4.10 PASS, Order Cancelled Successfully": "test_document_section_3.py::test_what_can_be_cancelled",
    "4.10 400 The order can't be cancelled now": (
        "test_document_section_3.py::test_no_other_status_can_be_cancelled_and_nothing_changes"
    ),
    "4.10 401 and 500 as create": UNEXPECTED,
    "4.11 PASS, Webhook configured successfully": HERE + "test_a_webhook_is_configured",
    "4.11 subscribes to order status updates": HOOKS + "test_a_change_of_status_sends_the_documented_event",
    "4.12 changes callback URL or active state": HOOKS + "test_update_changes_url_and_active_state",
}
ASN, SHIPMENT = "/wms/advance-shipping-notice", "/orders/shipment"
CALLS = [
    ("GET", ASN),
    ("POST", ASN),
    ("PUT", ASN),
    ("POST", "/order/shippinglabel/"),
    ("GET", f"{SHIPMENT}/1"),
    ("POST", SHIPMENT),
    ("PUT", f"{SHIPMENT}/1"),
    ("PUT", "/orders/add/items/1"),
    ("PUT", "/orders/delete/items/1"),
    ("PUT", "/api/orders/cancel/1"),
    ("POST", "/webhooks/subscribe"),
    ("PUT", "/webhooks/update"),
]


def test_every_line_has_a_test() -> None:
    check_section("4", TESTS)


def order(reference: str, **more: Any) -> dict[str, Any]:
    return {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"} | more


def created(service: httpx.Client, reference: str, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = service.post(SHIPMENT, json=order(reference, **more)).json()["message"]
    return message


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_an_unexpected_failure_of_every_endpoint(
    service: httpx.Client, sandbox: RunningSandbox, method: str, path: str
) -> None:
    sandbox.set_faults([{"kind": "error_500_before"}])
    reply = service.request(method, path, params={"API_KEY": sandbox.api_key} if "label" in path else {})
    assert reply.status_code == 500
    assert reply.json() == {"status": "FAIL", "message": "Unexpected error"}


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_what_each_endpoint_refuses_is_a_fail(
    service: httpx.Client, sandbox: RunningSandbox, method: str, path: str
) -> None:
    asked = path.replace("/1", "/SH-NOSUCH1")
    query = {"API_KEY": sandbox.api_key} if "label" in path else {}
    reply = service.request(method, asked, params=query, json=None if method == "GET" else {})
    assert reply.status_code == 400
    assert reply.json()["status"] == "FAIL"
    assert reply.json()["message"]


def test_fetch_gives_one_or_many_notices_with_items_quantities_and_prices(
    service: httpx.Client, reference: str
) -> None:
    line = {"sku_name": "Wires", "qty": "10", "price_per_qty": "5.00"}
    for supplier in ("A", "B"):
        body = {"supplier": supplier, "site": "S", "invoice_number": reference, "sku_lines": [line]}
        assert service.post(ASN, json=body).status_code == 200
        page = service.get(ASN, params={"invoice_number": reference, "supplier": supplier}).json()
        assert [one["supplier"] for one in page["result"]] == [supplier]
    page = service.get(ASN, params={"invoice_number": reference}).json()
    assert [record["supplier"] for record in page["result"]] == ["A", "B"]
    for record in page["result"]:
        assert line.items() <= record["sku_lines"][0].items()


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


def test_a_webhook_is_configured(service: httpx.Client, sandbox: RunningSandbox) -> None:
    body = {"webhookId": 44, "callbackUrl": "http://127.0.0.1:9/none", "headers": {"X": "1"}, "verify_payload": False}
    reply = service.post("/webhooks/subscribe", json=body)
    assert reply.json() == {"status": "PASS", "message": "Webhook configured successfully"}
    assert 44 in [webhook["webhookId"] for webhook in sandbox.control("GET", "/webhooks")]
    service.put("/webhooks/update", json={"webhookId": 44, "is_active": False})
