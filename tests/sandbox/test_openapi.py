"""The description of the API: complete, closed, and the same as what judges the requests."""

import re
from typing import Any

import httpx
import jsonschema_rs
import pytest
from support.sandbox_process import RunningSandbox

from logistics_batch.sandbox import contract
from logistics_batch.sandbox.endpoints import endpoint_of
from logistics_batch.sandbox.openapi import openapi_document

METHODS = ("get", "post", "put", "delete", "patch")
DOCUMENT = openapi_document()
OPERATIONS = [
    (method, path, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method in METHODS
]
EVERY_ENDPOINT = {
    *("asn.fetch", "asn.create", "asn.update", "label.create", "label.download", "order.fetch", "order.create"),
    *("order.update", "order.add_items", "order.delete_items", "order.cancel", "webhook.subscribe", "webhook.update"),
}


def validator(name: str) -> jsonschema_rs.Validator:
    schema = {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def test_it_is_served_without_a_key(sandbox: RunningSandbox) -> None:
    reply = httpx.get(f"{sandbox.url}/openapi.json", trust_env=False)
    assert reply.status_code == 200
    assert reply.json() == DOCUMENT
    assert reply.json()["openapi"] == "3.1.0"


def test_every_endpoint_is_described_under_its_name() -> None:
    assert {operation["operationId"] for _, _, operation in OPERATIONS} == EVERY_ENDPOINT
    for method, path, operation in OPERATIONS:
        real = re.sub(r"\{\w+\}", "1", path)
        assert endpoint_of(method.upper(), real)[0] == operation["operationId"]


def test_the_event_is_described_with_every_field_of_section_6() -> None:
    event = DOCUMENT["components"]["schemas"]["StatusEvent"]
    assert set(event["properties"]) == {
        *("WaybillNo", "eventType", "OrderStatus", "order_status", "StatusCode", "CourierComment", "StatusDateTime"),
        *("ToMobileNumber", "ToEmail", "ToName", "Client", "podDocs", "EDD", "order_no", "location", "remarks"),
    }
    assert list(DOCUMENT["webhooks"]) == ["updateOrderStatus"]


def test_the_key_is_a_header_and_for_labels_a_parameter() -> None:
    """API §5."""
    by_name = {operation["operationId"]: operation for _, _, operation in OPERATIONS}
    assert DOCUMENT["security"] == [{"headerKey": []}]
    assert by_name["label.create"]["security"] == [{"queryKey": []}]
    assert by_name["label.download"]["security"] == []
    assert all("security" not in by_name[name] for name in EVERY_ENDPOINT - {"label.create", "label.download"})


def test_every_reference_leads_somewhere() -> None:
    named = set(re.findall(r"'#/components/schemas/(\w+)'", str(DOCUMENT)))
    assert named == set(DOCUMENT["components"]["schemas"])


def test_examples_are_valid() -> None:
    for _, _, operation in OPERATIONS:
        if "requestBody" in operation:
            media = operation["requestBody"]["content"]["application/json"]
            validator(media["schema"]["$ref"].rpartition("/")[2]).validate(media["example"])


def order(**more: Any) -> dict[str, Any]:
    return {"reference_number": "A", "customer_mobile": "9876543210", "delivery_address": "Pune", **more}


def asn(**more: Any) -> dict[str, Any]:
    return {"supplier": "S", "site": "B", "invoice_number": "I", "sku_lines": [{"qty": "1"}], **more}


SHIPMENT = {"awb_number": "SH-1", "primary_mobile_no": "987654321", "shipping_address": "a", "delivery_pincode": "4"}
JUDGED = [
    ("Order", contract.check_order, order()),
    ("Order", contract.check_order, order(reference_number=" ")),
    ("Order", contract.check_order, order(reference_number=None)),
    ("Order", contract.check_order, order(delivery_address="")),
    ("Order", contract.check_order, order(colour="red")),
    ("Order", contract.check_order, order(is_cod=True)),
    ("Order", contract.check_order, order(is_cod="true", cash_on_delivery="-1")),
    ("Order", contract.check_order, order(cash_on_delivery="-0.00")),
    ("Order", contract.check_order, order(weight="1.")),
    ("Order", contract.check_order, order(awb_number="SH_1")),
    ("Order", contract.check_order, order(customer_mobile="+91 98765-43210")),
    ("Order", contract.check_order, order(customer_mobile="९८७६५४३२१०")),
    ("Order", contract.check_order, order(delivery_lat="-18.5", delivery_lon="73")),
    ("Order", contract.check_order, order(expected_delivery_time="tomorrow")),
    ("Order", contract.check_order, order(item_details=[{"item_name": "a", "item_quantity": 0}])),
    ("Order", contract.check_order, order(item_details=[{"item_name": "a", "item_quantity": "1"}])),
    ("Order", contract.check_order, order(item_details=[{"item_name": ""}])),
    ("Order", contract.check_order, order(item_details={"1": {"item_name": "a"}})),
    ("Order", contract.check_order, order(kit_skus=[{"name": "k", "item_details": [{"item_name": "a"}]}])),
    ("Order", contract.check_order, order(kit_skus=[{"name": "k", "item_details": [{}]}])),
    ("Order", contract.check_order, order(packages_count=1000)),
    ("Order", contract.check_order, order(packages_count=2, package_id="p")),
    ("Order", contract.check_order, order(packages_count=2, item_details=[{"item_name": "a", "package_id": "p"}])),
    ("Order", contract.check_order, order(item_details=[{"item_name": "a", "package_id": "p"}])),
    (
        "Order",
        contract.check_order,
        order(packages_count=2, kit_skus=[{"item_details": [{"item_name": "a", "package_id": "p"}]}]),
    ),
    ("OrderUpdate", contract.check_order_update, {"customer_mobile": "9876543210", "delivery_address": "Pune"}),
    ("OrderUpdate", contract.check_order_update, {"customer_mobile": "9876543210"}),
    ("OrderUpdate", contract.check_order_update, order()),
    ("AddedItems", contract.check_added_items, {"item_details": {}}),
    ("AddedItems", contract.check_added_items, {"item_details": {"": {"item_name": "a"}}}),
    ("AddedItems", contract.check_added_items, {"item_details": {"1": {"item_name": "a"}}}),
    ("DeletedItems", contract.check_deleted_items, {"item_list": []}),
    ("DeletedItems", contract.check_deleted_items, {"item_list": [1]}),
    ("DeletedItems", contract.check_deleted_items, {"item_list": ["1"]}),
    ("Asn", contract.check_asn, asn()),
    ("Asn", contract.check_asn, asn(supplier="")),
    ("Asn", contract.check_asn, asn(supplier="", supplier_name="Assam")),
    ("Asn", contract.check_asn, asn(status="new")),
    ("Asn", contract.check_asn, asn(delivery_date="2026-02-30")),
    ("Asn", contract.check_asn, asn(delivery_date="2026-2-3")),
    ("Asn", contract.check_asn, asn(sku_lines=[])),
    ("Asn", contract.check_asn, asn(sku_lines=[{"qty": "0.0"}])),
    ("Asn", contract.check_asn, asn(sku_lines=[{"qty": "0.5", "status": "Locked"}])),
    ("Asn", contract.check_asn, asn(sku_lines=[{"qty": "-5"}])),
    ("LabelRequest", contract.check_label, {"order_numbers[]": "A, B"}),
    ("LabelRequest", contract.check_label, {"order_numbers[]": " , "}),
    ("LabelRequest", contract.check_label, {"order_numbers[]": ["A", ""]}),
    ("LabelRequest", contract.check_label, {"order_numbers[]": [""]}),
    ("LabelRequest", contract.check_label, {"order_numbers[]": "A"} | SHIPMENT),
    ("LabelRequest", contract.check_label, SHIPMENT),
    ("LabelRequest", contract.check_label, SHIPMENT | {"awb_number": " "}),
    ("LabelRequest", contract.check_label, SHIPMENT | {"dimensions": {"length": "1", "depth": "2"}}),
    ("LabelRequest", contract.check_label, SHIPMENT | {"dimensions": "1x2", "sku_details": [{"name": "a"}]}),
    ("LabelRequest", contract.check_label, SHIPMENT | {"sku_details": [{"weight": 5}]}),
    ("LabelRequest", contract.check_label, SHIPMENT | {"amount_to_collect": "59.00"}),
    ("LabelRequest", contract.check_label, SHIPMENT | {"amount_to_collect": "0.00", "is_cod": False}),
    ("LabelRequest", contract.check_label, SHIPMENT | {"amount_to_collect": "59.00", "is_cod": True}),
    ("Webhook", contract.check_webhook, {"webhookId": 1, "callbackUrl": "http://127.0.0.1:9/"}),
    ("Webhook", contract.check_webhook, {"webhookId": "1", "callbackUrl": "http://127.0.0.1:9/"}),
    ("Webhook", contract.check_webhook, {"webhookId": 1, "callbackUrl": "ftp://127.0.0.1:9/"}),
    ("Webhook", contract.check_webhook, {"webhookId": 1, "callbackUrl": "http://a", "headers": {"K": 1}}),
    ("Webhook", contract.check_webhook, {"webhookId": 1, "callbackUrl": "http://me:pw@[::1]:65535/in?a=b#c"}),
    ("Webhook", contract.check_webhook, {"webhookId": 1, "callbackUrl": "http://a:65536/"}),
    ("WebhookUpdate", contract.check_webhook_update, {"webhookId": 1, "is_active": False}),
    ("WebhookUpdate", contract.check_webhook_update, {"is_active": False}),
]


@pytest.mark.parametrize(("name", "judge", "body"), JUDGED)
def test_schema_and_judge_agree(name: str, judge: Any, body: dict[str, Any]) -> None:
    try:
        judge(body)
        accepted = True
    except contract.Refused:
        accepted = False
    assert validator(name).is_valid(body) is accepted


def test_the_judgements_are_of_both_kinds() -> None:
    """Bodies that only ever fail, or only ever pass, would compare nothing."""
    for name in {name for name, _, _ in JUDGED}:
        valid = {validator(name).is_valid(body) for each, _, body in JUDGED if each == name}
        assert valid == {True, False}, name
