"""The description of the API: complete, closed, and the same as what judges the requests."""

import re
from typing import Any

import httpx
import jsonschema_rs
import pytest
from support.sandbox_process import RunningSandbox

from logistics_batch.sandbox.contract import bodies
from logistics_batch.sandbox.contract.forms import Refused, check
from logistics_batch.sandbox.endpoints import endpoint_of
from logistics_batch.sandbox.serve import create_api

METHODS = ("get", "post", "put", "delete", "patch")
DOCUMENT = create_api().openapi()
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
            name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            for example in DOCUMENT["components"]["schemas"][name]["examples"]:
                validator(name).validate(example)


def order(**more: Any) -> dict[str, Any]:
    return {"reference_number": "A", "customer_mobile": "9876543210", "delivery_address": "Pune", **more}


def asn(**more: Any) -> dict[str, Any]:
    return {"supplier": "S", "site": "B", "invoice_number": "I", "sku_lines": [{"qty": "1"}], **more}


SHIPMENT = {"awb_number": "SH-1", "primary_mobile_no": "987654321", "shipping_address": "a", "delivery_pincode": "4"}
JUDGED = [
    ("Order", order()),
    ("Order", order(reference_number=" ")),
    ("Order", order(reference_number=None)),
    ("Order", order(delivery_address="")),
    ("Order", order(colour="red")),
    ("Order", order(is_cod=True)),
    ("Order", order(is_cod="true", cash_on_delivery="-1")),
    ("Order", order(cash_on_delivery="-0.00")),
    ("Order", order(weight="1.")),
    ("Order", order(awb_number="SH_1")),
    ("Order", order(customer_mobile="+91 98765-43210")),
    ("Order", order(customer_mobile="९८७६५४३२१०")),
    ("Order", order(delivery_lat="-18.5", delivery_lon="73")),
    ("Order", order(expected_delivery_time="tomorrow")),
    ("Order", order(item_details=[{"item_name": "a", "item_quantity": 0}])),
    ("Order", order(item_details=[{"item_name": "a", "item_quantity": "1"}])),
    ("Order", order(item_details=[{"item_name": ""}])),
    ("Order", order(item_details={"1": {"item_name": "a"}})),
    ("Order", order(kit_skus=[{"name": "k", "item_details": [{"item_name": "a"}]}])),
    ("Order", order(kit_skus=[{"name": "k", "item_details": [{}]}])),
    ("Order", order(packages_count=1000)),
    ("Order", order(packages_count=2, package_id="p")),
    ("Order", order(packages_count=2, item_details=[{"item_name": "a", "package_id": "p"}])),
    ("Order", order(item_details=[{"item_name": "a", "package_id": "p"}])),
    (
        "Order",
        order(packages_count=2, kit_skus=[{"item_details": [{"item_name": "a", "package_id": "p"}]}]),
    ),
    ("OrderUpdate", {"customer_mobile": "9876543210", "delivery_address": "Pune"}),
    ("OrderUpdate", {"customer_mobile": "9876543210"}),
    ("OrderUpdate", order()),
    ("AddedItems", {"item_details": {}}),
    ("AddedItems", {"item_details": {"": {"item_name": "a"}}}),
    ("AddedItems", {"item_details": {"1": {"item_name": "a"}}}),
    ("DeletedItems", {"item_list": []}),
    ("DeletedItems", {"item_list": [1]}),
    ("DeletedItems", {"item_list": ["1"]}),
    ("Asn", asn()),
    ("Asn", asn(supplier="")),
    ("Asn", asn(supplier="", supplier_name="Assam")),
    ("Asn", asn(status="new")),
    ("Asn", asn(delivery_date="2026-02-30")),
    ("Asn", asn(delivery_date="2026-2-3")),
    ("Asn", asn(sku_lines=[])),
    ("Asn", asn(sku_lines=[{"qty": "0.0"}])),
    ("Asn", asn(sku_lines=[{"qty": "0.5", "status": "Locked"}])),
    ("Asn", asn(sku_lines=[{"qty": "-5"}])),
    ("LabelRequest", {"order_numbers[]": "A, B"}),
    ("LabelRequest", {"order_numbers[]": " , "}),
    ("LabelRequest", {"order_numbers[]": ["A", ""]}),
    ("LabelRequest", {"order_numbers[]": [""]}),
    ("LabelRequest", {"order_numbers[]": "A"} | SHIPMENT),
    ("LabelRequest", SHIPMENT),
    ("LabelRequest", SHIPMENT | {"awb_number": " "}),
    ("LabelRequest", SHIPMENT | {"dimensions": {"length": "1", "depth": "2"}}),
    ("LabelRequest", SHIPMENT | {"dimensions": "1x2", "sku_details": [{"name": "a"}]}),
    ("LabelRequest", SHIPMENT | {"sku_details": [{"weight": 5}]}),
    ("LabelRequest", SHIPMENT | {"amount_to_collect": "59.00"}),
    ("LabelRequest", SHIPMENT | {"amount_to_collect": "0.00", "is_cod": False}),
    ("LabelRequest", SHIPMENT | {"amount_to_collect": "59.00", "is_cod": True}),
    ("Webhook", {"webhookId": 1, "callbackUrl": "http://127.0.0.1:9/"}),
    ("Webhook", {"webhookId": "1", "callbackUrl": "http://127.0.0.1:9/"}),
    ("Webhook", {"webhookId": 1, "callbackUrl": "ftp://127.0.0.1:9/"}),
    ("Webhook", {"webhookId": 1, "callbackUrl": "http://a", "headers": {"K": 1}}),
    ("Webhook", {"webhookId": 1, "callbackUrl": "http://me:pw@[::1]:65535/in?a=b#c"}),
    ("Webhook", {"webhookId": 1, "callbackUrl": "http://a:65536/"}),
    ("WebhookUpdate", {"webhookId": 1, "is_active": False}),
    ("WebhookUpdate", {"is_active": False}),
]


@pytest.mark.parametrize(("name", "body"), JUDGED)
def test_schema_and_judge_agree(name: str, body: dict[str, Any]) -> None:
    try:
        check(getattr(bodies, name), body)
        accepted = True
    except Refused:
        accepted = False
    assert validator(name).is_valid(body) is accepted


def test_the_judgements_are_of_both_kinds() -> None:
    """Bodies that only ever fail, or only ever pass, would compare nothing."""
    for name in {name for name, _ in JUDGED}:
        valid = {validator(name).is_valid(body) for each, body in JUDGED if each == name}
        assert valid == {True, False}, name
