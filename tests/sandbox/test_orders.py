"""Shipment orders: rules, messages and answers of API §2.3, §3, §4.5-4.10, §7 and §8."""

import re
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox

SHIPMENT = "/orders/shipment"


def order(reference: str, **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "reference_number": reference,
        "customer_mobile": "9876543210",
        "delivery_address": "12 MG Road, Pune",
        "delivery_postal_code": "411001",
        "item_details": [
            {"item_name": "Wires", "item_quantity": 2, "item_price_per_each": "10.00", "total_item_price": "20.00"},
            {"item_name": "Plugs", "item_quantity": 1},
        ],
    }
    return {name: value for name, value in (body | more).items() if value is not None}


def create(service: httpx.Client, reference: str, **more: Any) -> dict[str, Any]:
    reply = service.post(SHIPMENT, json=order(reference, **more))
    assert reply.status_code == 200, reply.text
    assert reply.json()["status"] == "PASS"
    message: dict[str, Any] = reply.json()["message"]
    return message


def refusal(reply: httpx.Response) -> str:
    assert reply.status_code == 400, reply.text
    assert set(reply.json()) == {"status", "message"}
    assert reply.json()["status"] == "FAIL"
    return str(reply.json()["message"])


def test_create_answers_awb_hub_and_items_by_id(service: httpx.Client, reference: str) -> None:
    message = create(service, reference)
    assert re.fullmatch(r"SH-[0-9A-Z]{7}", message["awb_number"])
    assert message["delivery_hub"] == "PNQ-411"
    assert message["child_awb_numbers"] == []
    assert list(message["item_details"].values()) == [
        {"item_name": "Wires", "item_quantity": 2, "item_price_per_each": "10.00", "total_item_price": "20.00"},
        {"item_name": "Plugs", "item_quantity": 1, "item_price_per_each": "", "total_item_price": ""},
    ]


def test_fetch_shows_the_documented_fields(service: httpx.Client, reference: str) -> None:
    created = create(service, reference, cash_on_delivery="59.00", is_cod="true", pickup_customer_name="Asha")
    details = service.get(f"{SHIPMENT}/{created['awb_number']}").json()["message"]["order_details"]
    assert details["reference_number"] == reference
    assert details["awb_number"] == created["awb_number"]
    assert details["status"] == "Pending"
    assert details["customer_mobile"] == 9876543210
    assert details["alternate_customer_mobile"] is None
    assert details["cash_on_delivery"] == "59.00"
    assert set(details["item_details"]) == set(created["item_details"])
    first = details["item_details"][next(iter(created["item_details"]))]
    assert first == {"item_name": "Wires", "item_quantity": 2, "item_qty_picked": 0, "item_qty_delivered": 0}
    documented = """order_id reference_number awb_number status delivery_hub_sn delivery_address delivery_postal_code
        pickup_address pickup_postal_code customer_name customer_mobile alternate_customer_mobile pickup_customer_name
        pickup_customer_mobile delivery_hub item_details return_address return_postal_code return_customer_name
        return_customer_mobile return_hub cash_on_delivery"""
    assert set(details) == set(documented.split())


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("reference_number", "Shipment Reference Number is required"),
        ("customer_mobile", "Missing required parameters."),
        ("delivery_address", "Missing required parameters."),
    ],
)
def test_a_missing_field_is_named_as_documented(
    service: httpx.Client, reference: str, missing: str, message: str
) -> None:
    assert refusal(service.post(SHIPMENT, json=order(reference, **{missing: None}))) == message
    assert refusal(service.post(SHIPMENT, json=order(reference, **{missing: "  "}))) == message


@pytest.mark.parametrize("quantity", [0, -1, "2", True, 10**12, 1e300])
def test_a_quantity_is_a_sensible_number(service: httpx.Client, reference: str, quantity: Any) -> None:
    body = order(reference, item_details=[{"item_name": "Wires", "item_quantity": quantity}])
    assert "item_quantity" in refusal(service.post(SHIPMENT, json=body))


def test_an_item_needs_its_name(service: httpx.Client, reference: str) -> None:
    body = order(reference, item_details=[{"item_quantity": 1}])
    assert refusal(service.post(SHIPMENT, json=body)) == "Missing required parameters."


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("customer_mobile", 9876543210),
        ("is_cod", True),
        ("cash_on_delivery", "1,200"),
        ("weight", "1.2 kg"),
        ("expected_delivery_time", "2026-11-21"),
        ("item_details", {"1": {"item_name": "Wires"}}),
        ("packages_count", 1000),
        ("awb_number", "SH/1"),
        ("awb_number", "SH-" + "9" * 30),
        ("customer_name", None),
        ("deliveryaddress", "a name that the document does not know"),
    ],
)
def test_a_value_of_another_form_is_refused_by_name(
    service: httpx.Client, reference: str, field: str, value: Any
) -> None:
    body = order(reference) | {field: value}
    assert field in refusal(service.post(SHIPMENT, json=body))


@pytest.mark.parametrize("longitude", ["delivery_long", "delivery_lon"])
def test_both_names_of_the_longitude_are_known(service: httpx.Client, reference: str, longitude: str) -> None:
    create(service, reference, delivery_lat="18.52", **{longitude: "73.85"})


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"[1]", "application/json"),
        (b"{", "application/json"),
        (b'{"reference_number": "a", "reference_number": "b"}', "application/json"),
        (b'{"reference_number": NaN}', "application/json"),
        (b'{"reference_number": "\\ud800"}', "application/json"),
        (b"[" * 100_000, "application/json"),
        (b'{"reference_number": "\xff"}', "application/json"),
        (b"\xef\xbb\xbf{}", "application/json"),
        ('{"reference_number": "a"}'.encode("utf-16"), "application/json"),
        (b"", "application/json"),
        (b"reference_number=1", "application/x-www-form-urlencoded"),
    ],
)
def test_a_body_that_is_no_json_object_is_malformed(service: httpx.Client, content: bytes, kind: str) -> None:
    assert refusal(service.post(SHIPMENT, content=content, headers={"Content-Type": kind})).startswith("Malformed data")


@pytest.mark.parametrize("where", ["order", "item", "kit"])
def test_packages_count_and_package_id_exclude_each_other(service: httpx.Client, reference: str, where: str) -> None:
    item = {"item_name": "Wires", "package_id": "P1"}
    more: dict[str, Any] = {
        "order": {"package_id": "P1"},
        "item": {"item_details": [item]},
        "kit": {"kit_skus": [{"name": "Set", "item_details": [item]}]},
    }[where]
    body = order(reference, packages_count=0, **more)
    assert refusal(service.post(SHIPMENT, json=body)) == "Both packages_count and package_id cannot be sent"


def test_packages_get_child_awbs(service: httpx.Client, reference: str) -> None:
    counted = create(service, f"{reference}-a", packages_count=3)
    assert len(set(counted["child_awb_numbers"])) == 3
    named = [{"item_name": name, "package_id": box} for name, box in (("A", "P1"), ("B", "P2"), ("C", "P1"))]
    assert len(create(service, f"{reference}-b", item_details=named)["child_awb_numbers"]) == 2
    assert create(service, f"{reference}-c", packages_count=1)["child_awb_numbers"] == []


def test_a_live_reference_is_refused_and_free_again_after_cancelling(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    first = create(service, reference)["awb_number"]
    assert refusal(service.post(SHIPMENT, json=order(reference))) == "Shipment Reference Number already exists"
    cancelled = service.put(f"/api/orders/cancel/{first}")
    assert cancelled.json() == {"status": "PASS", "message": "Order Cancelled Successfully"}
    second = create(service, reference)["awb_number"]
    assert second != first
    found = service.get(f"{SHIPMENT}/{reference}").json()["message"]["order_details"]
    assert found["awb_number"] == second
    assert service.get(f"{SHIPMENT}/{first}").json()["message"]["order_details"]["status"] == "cancelled"
    mine = [line for line in sandbox.committed() if line.get("reference_number") == reference]
    assert [line["effect"] for line in mine] == ["order.created", "order.cancelled", "order.created"]


def test_a_duplicate_can_be_replayed_or_fail(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    first = create(service, reference)
    try:
        sandbox.set_switches(duplicate_reference="replay")
        assert create(service, reference) == first
        sandbox.set_switches(duplicate_reference="error")
        failed = service.post(SHIPMENT, json=order(reference))
    finally:
        sandbox.set_switches(duplicate_reference="refuse")
    assert failed.status_code == 500
    assert failed.json() == {"status": "FAIL", "message": "Unexpected error"}
    assert len(sandbox.orders(reference=reference)) == 1


def test_an_own_awb_is_kept_and_unique(service: httpx.Client, reference: str) -> None:
    awb = "OWN-7654321"
    assert create(service, reference, awb_number=awb)["awb_number"] == awb
    assert refusal(service.post(SHIPMENT, json=order(f"{reference}-2", awb_number=awb))) == "AWB Number already exists"


def test_no_two_parcels_bear_the_same_awb(service: httpx.Client, reference: str) -> None:
    (child, _) = create(service, f"{reference}-1", packages_count=2)["child_awb_numbers"]
    taken = "AWB Number already exists"
    assert refusal(service.post(SHIPMENT, json=order(f"{reference}-2", awb_number=child))) == taken
    create(service, f"{reference}-3", awb_number="OWN-PARCEL-02")
    both = order(f"{reference}-4", awb_number="OWN-PARCEL", packages_count=2)
    assert refusal(service.post(SHIPMENT, json=both)) == taken


def test_update_changes_the_order_and_its_items_by_id(service: httpx.Client, reference: str) -> None:
    created = create(service, reference)
    first, second = created["item_details"]
    change = {
        "customer_mobile": "9000000001",
        "delivery_address": "Flat 3, Chennai",
        "delivery_postal_code": "600001",
        "item_details": {first: {"item_name": "Wires", "item_quantity": 5}},
    }
    reply = service.put(f"{SHIPMENT}/{created['awb_number']}", json=change).json()
    assert reply["status"] == "PASS"
    assert "child_awb_numbers" not in reply["message"]
    assert reply["message"]["delivery_hub"] == "MAA-600"
    assert reply["message"]["item_details"][first]["item_quantity"] == 5
    assert reply["message"]["item_details"][second]["item_name"] == "Plugs"
    details = service.get(f"{SHIPMENT}/{created['awb_number']}").json()["message"]["order_details"]
    assert details["customer_mobile"] == 9000000001
    assert details["delivery_address"] == "Flat 3, Chennai"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"customer_mobile": None}, "Missing required parameters."),
        ({"delivery_address": None}, "Missing required parameters."),
        ({"reference_number": "X"}, "Unknown parameter: reference_number"),
        ({"item_details": {"999999": {"item_name": "Wires"}}}, "Items do not belong to the order: 999999"),
        ({"item_details": [{"item_name": "Wires"}]}, "Malformed value of item_details"),
    ],
)
def test_update_rules(service: httpx.Client, reference: str, change: dict[str, Any], message: str) -> None:
    awb = create(service, reference)["awb_number"]
    body = {"customer_mobile": "9876543210", "delivery_address": "A"} | change
    body = {name: value for name, value in body.items() if value is not None}
    assert refusal(service.put(f"{SHIPMENT}/{awb}", json=body)).startswith(message)


def test_add_and_delete_items(service: httpx.Client, reference: str) -> None:
    created = create(service, reference)
    awb, first = created["awb_number"], next(iter(created["item_details"]))
    new = {"900001": {"item_name": "Lamp", "item_quantity": 3, "weight": "250"}}
    added = service.put(f"/orders/add/items/{awb}", json={"item_details": new}).json()
    assert added["status"] == "PASS"
    assert added["message"]["item_details"]["900001"] == {
        "item_name": "Lamp",
        "item_quantity": 3,
        "item_price_per_each": "",
        "total_item_price": "",
    }
    again = service.put(f"/orders/add/items/{awb}", json={"item_details": new})
    assert refusal(again) == "Items belong to the order already: 900001"
    deleted = service.put(f"/orders/delete/items/{awb}", json={"item_list": [first, "900001"]}).json()
    assert deleted == {"status": "PASS", "message": f"Items deleted for AWB Number : {awb}"}
    details = service.get(f"{SHIPMENT}/{awb}").json()["message"]["order_details"]
    assert [item["item_name"] for item in details["item_details"].values()] == ["Plugs"]


def test_items_of_another_order_are_not_deleted(service: httpx.Client, reference: str) -> None:
    mine, other = create(service, reference), create(service, f"{reference}-other")
    own, foreign = next(iter(mine["item_details"])), next(iter(other["item_details"]))
    reply = service.put(f"/orders/delete/items/{mine['awb_number']}", json={"item_list": [own, foreign]})
    assert refusal(reply) == f"Items do not belong to the order: {foreign}"
    kept = service.get(f"{SHIPMENT}/{mine['awb_number']}").json()["message"]["order_details"]["item_details"]
    assert own in kept


@pytest.mark.parametrize("body", [{}, {"item_list": []}])
def test_deleting_nothing_lacks_parameters(service: httpx.Client, reference: str, body: dict[str, Any]) -> None:
    awb = create(service, reference)["awb_number"]
    assert refusal(service.put(f"/orders/delete/items/{awb}", json=body)) == "Missing required parameters."


@pytest.mark.parametrize("body", [{}, {"item_details": {}}, {"item_details": {"7": {"item_quantity": 1}}}])
def test_adding_nothing_lacks_parameters(service: httpx.Client, reference: str, body: dict[str, Any]) -> None:
    awb = create(service, reference)["awb_number"]
    assert refusal(service.put(f"/orders/add/items/{awb}", json=body)) == "Missing required parameters."


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/orders/shipment/SH-NOSUCH1", None),
        ("PUT", "/orders/shipment/SH-NOSUCH1", {"customer_mobile": "9876543210", "delivery_address": "A"}),
        ("PUT", "/orders/add/items/SH-NOSUCH1", {"item_details": {"1": {"item_name": "A"}}}),
        ("PUT", "/orders/delete/items/SH-NOSUCH1", {"item_list": ["1"]}),
        ("PUT", "/api/orders/cancel/SH-NOSUCH1", None),
    ],
)
def test_an_unknown_order_is_said_to_be_unknown(service: httpx.Client, method: str, path: str, body: Any) -> None:
    assert refusal(service.request(method, path, json=body)) == "Order not found"


def test_a_closed_order_does_not_change(service: httpx.Client, reference: str) -> None:
    awb = create(service, reference)["awb_number"]
    service.put(f"/api/orders/cancel/{awb}")
    change = {"customer_mobile": "9876543210", "delivery_address": "A"}
    assert refusal(service.put(f"{SHIPMENT}/{awb}", json=change)) == "The order can't be updated now"
