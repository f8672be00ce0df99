"""The contract's rules: what goes out is what the API document has, and a clerk can read why something may not."""

import re
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from logistics_batch import messages
from logistics_batch.model.document import Operation
from logistics_batch.model.payloads import (
    PAYLOADS,
    AddItems,
    AsnCreate,
    AsnUpdate,
    DeleteItems,
    LabelRequest,
    OrderCreate,
    OrderItem,
    OrderUpdate,
    SkuLine,
    StatusEvent,
    WebhookSubscription,
    WebhookUpdate,
    body_text,
    compact,
    complaints,
)

ORDER = {"reference_number": "R-001", "customer_mobile": "9876543210", "delivery_address": "12 MG Road"}
ASN = {"supplier": "S1", "site_name": "Bhiwandi", "invoice_number": "INV-1", "sku_lines": [{"qty": "5"}]}
SHIPMENT = {
    "awb_number": "SH-1",
    "primary_mobile_no": "9876543210",
    "shipping_address": "12 MG Road",
    "delivery_pincode": "560001",
}


def findings(model: type[BaseModel], **fields: Any) -> dict[str, str]:
    """Field name to rule of everything that the model finds wrong."""
    try:
        model(**fields)
    except ValidationError as error:
        return {found.field: found.rule for found in complaints(error)}
    return {}


def names(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


# The names of API §2, written down here a second time, by hand.
ORDER_FIELDS = names(
    """
    awb_number reference_number is_hyperlocal is_inventory_managed_bh delivery_hub pickup_hub customer_name
    customer_mobile alternate_customer_mobile customer_email customer_reference_number delivery_address
    delivery_postal_code delivery_lat delivery_long pickup_address pickup_postal_code pickup_lat pickup_long
    pickup_customer_name pickup_customer_mobile is_return_order commercial_class is_commercial_address priority
    pickup_datetime expected_delivery_time division is_cod cash_on_delivery item_details weight volume length
    breadth height what3words packages_count package_id return_address return_postal_code return_lat return_lon
    return_customer_name return_customer_mobile return_hub pin_number carrier_mode kit_skus
    """
)
ORDER_UPDATE_FIELDS = names(
    """
    delivery_hub pickup_hub customer_name customer_mobile alternate_customer_mobile customer_email
    delivery_address delivery_postal_code delivery_lat delivery_long pickup_address pickup_postal_code
    pickup_lat pickup_long commercial_class is_commercial_address priority pickup_datetime
    expected_delivery_time division is_cod cash_on_delivery item_details return_address return_postal_code
    return_lat return_lon return_customer_name return_customer_mobile return_hub
    """
)
ITEM_FIELDS = names(
    """
    item_name item_quantity item_price_per_each total_item_price item_category brand weight volume length
    breadth height package_id cgst sgst igst
    """
)
ASN_FIELDS = names(
    """
    supplier supplier_name description site site_name status delivery_date expiry_date total_price batch
    serial_number invoice_number sku_lines
    """
)
LINE_FIELDS = names(
    """
    sku_name status qty price_per_qty item_desc maximum_retail_price discount discount_percentage tracking_level
    qty_received
    """
)
LABEL_FIELDS = names(
    """
    order_numbers[] awb_number primary_mobile_no shipping_address delivery_pincode order_id customer_name
    return_address is_cod amount_to_collect date_placed weight dimensions length breadth height sku_details
    """
)


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (OrderCreate, ORDER_FIELDS),
        (OrderUpdate, ORDER_UPDATE_FIELDS),
        (AsnCreate, ASN_FIELDS),
        (AsnUpdate, ASN_FIELDS),
        (LabelRequest, LABEL_FIELDS),
    ],
)
def test_every_field_of_the_document_and_no_other_in_its_order(model: type[BaseModel], names: list[str]) -> None:
    assert [each.alias or name for name, each in model.model_fields.items()] == names


def test_lines_have_the_fields_of_the_document() -> None:
    assert [*OrderItem.model_fields] == ITEM_FIELDS
    assert [*SkuLine.model_fields] == LINE_FIELDS


def test_update_takes_each_shared_field_as_create_does() -> None:
    for name, field in OrderUpdate.model_fields.items():
        if name != "item_details":
            assert str(field) == str(OrderCreate.model_fields[name])


def test_what_must_be_there() -> None:
    assert findings(OrderCreate) == dict.fromkeys(
        ("reference_number", "customer_mobile", "delivery_address"), "missing"
    )
    assert findings(OrderUpdate) == dict.fromkeys(("customer_mobile", "delivery_address"), "missing")
    assert findings(OrderCreate, **ORDER, item_details=[{"item_quantity": 1}]) == {"item_name": "missing"}
    assert findings(AsnCreate, supplier="S", site="B", sku_lines=[{}]) == {
        "invoice_number": "missing",
        "qty": "missing",
    }
    assert findings(AsnCreate, **ASN | {"sku_lines": []}) == {"sku_lines": "too_short"}
    assert findings(AddItems, item_details={}) == {"item_details": "too_short"}
    assert findings(DeleteItems, item_list=[]) == {"item_list": "too_short"}
    assert findings(WebhookSubscription) == {"callbackUrl": "missing"}


@pytest.mark.parametrize("party", ["supplier", "site"])
def test_an_asn_names_supplier_and_site_by_id_or_by_name(party: str) -> None:
    without = {name: value for name, value in ASN.items() if not name.startswith(party)}
    assert findings(AsnCreate, **without) == {"": f"{party}_or_{party}_name"}
    for names in ({party: "7"}, {f"{party}_name": "Acme"}, {party: "7", f"{party}_name": "Acme"}):
        assert findings(AsnCreate, **without, **names) == {}


@pytest.mark.parametrize(
    "place",
    [
        {"package_id": "P1"},
        {"item_details": [{"item_name": "A"}, {"item_name": "B", "package_id": "P1"}]},
        {"kit_skus": [{"name": "K", "item_details": [{"item_name": "A", "package_id": "P1"}]}]},
    ],
)
def test_packages_are_counted_or_named_never_both(place: dict[str, Any]) -> None:
    assert findings(OrderCreate, **ORDER, **place) == {}
    for count in (0, 1, 3):
        assert findings(OrderCreate, **ORDER, **place, packages_count=count) == {"": "packages_count_and_package_id"}
    assert findings(OrderCreate, **ORDER, packages_count=3) == {}


def test_a_label_is_asked_for_by_order_numbers_alone_or_by_the_whole_shipment() -> None:
    assert body_text(LabelRequest(order_numbers="SH-1,SH-2")) == '{"order_numbers[]":"SH-1,SH-2"}'
    assert findings(LabelRequest, **SHIPMENT) == {}
    assert findings(LabelRequest, order_numbers="SH-1", weight="100") == {"": "order_numbers_alone"}
    for missing in SHIPMENT:
        part = {name: value for name, value in SHIPMENT.items() if name != missing}
        assert findings(LabelRequest, **part) == {"": "shipment_incomplete"}
    assert findings(LabelRequest) == {"": "shipment_incomplete"}


def test_a_label_without_cod_collects_nothing() -> None:
    assert findings(LabelRequest, **SHIPMENT, amount_to_collect="0.00") == {}
    assert findings(LabelRequest, **SHIPMENT, is_cod=True, amount_to_collect="99.00") == {}
    assert findings(LabelRequest, **SHIPMENT, is_cod=False, amount_to_collect="99.00") == {"": "amount_without_cod"}
    assert findings(LabelRequest, **SHIPMENT, is_cod="true") == {"is_cod": "bool_type"}


def test_dimensions_of_a_label_come_as_text_or_as_in_the_sample() -> None:
    boxed = LabelRequest(**SHIPMENT, dimensions={"length": "10", "breadth": "8", "height": "5", "uom": "cm"})
    assert '"dimensions":{"length":"10","breadth":"8","height":"5","uom":"cm"}' in body_text(boxed)
    assert '"dimensions":"10x8x5 cm"' in body_text(LabelRequest(**SHIPMENT, dimensions="10x8x5 cm"))


@pytest.mark.parametrize(
    ("field", "good", "bad", "rule"),
    [
        ("reference_number", ["00017", "#1001", "A B"], ["", " ", " A", "A ", "A\nB", "A\x00"], "key_text"),
        ("customer_mobile", ["9876543210", "+91 98765-43210"], ["98765 43210 / 91234 56789", "n/a", "9.8E9"], "phone"),
        ("delivery_address", ["12 MG Road\nBengaluru", "१२ एमजी रोड"], ["", " \n ", "A\x00B"], "text"),
        ("is_cod", ["true", "false"], ["True", "Y", "1", ""], "choice"),
        ("is_hyperlocal", ["true"], ["TRUE"], "choice"),
        ("cash_on_delivery", ["0", "0.00", "1234.50"], ["1,234", "-1", "1e3", "₹5", ".5", "5."], "decimal"),
        ("weight", ["0.25"], ["0,25", "2 kg"], "decimal"),
        ("delivery_lat", ["12.9716", "-90", "90.0"], ["90.1", "91", "N12", "1e1"], "latitude"),
        ("delivery_long", ["77.5946", "-180", "180.0"], ["180.5", "181", "77,5"], "longitude"),
        (
            "expected_delivery_time",
            ["2026-11-03T18:00:00+05:30", "2026-11-03T18:00Z", "2026-11-03T18:00:00.123456", "2028-02-29T00:00:00Z"],
            ["2026-11-03", "03/11/2026", "2026-02-30T10:00:00Z", "2026-11-03 18:00:00", "2026-11-03T24:00:00Z"],
            "date_time",
        ),
    ],
)
def test_forms_of_an_order(field: str, good: list[str], bad: list[str], rule: str) -> None:
    for value in good:
        assert findings(OrderCreate, **ORDER | {field: value}) == {}, value
    for value in bad:
        assert findings(OrderCreate, **ORDER | {field: value}) == {field: rule}, value


@pytest.mark.parametrize(
    ("field", "good", "bad", "rule"),
    [
        ("status", ["New", "In-Progress", "Completed", "Expired"], ["new", "Done"], "asn_status"),
        ("delivery_date", ["2026-11-03", "2028-02-29"], ["2026-02-29", "03-11-2026", "2026-11-3", "46329"], "date"),
        ("expiry_date", ["2026-11-03"], ["2026-11-03T00:00:00"], "date"),
        ("total_price", ["1200.00"], ["1,200.00"], "decimal"),
    ],
)
def test_forms_of_an_asn(field: str, good: list[str], bad: list[str], rule: str) -> None:
    for value in good:
        assert findings(AsnCreate, **ASN | {field: value}) == {}, value
    for value in bad:
        assert findings(AsnCreate, **ASN | {field: value}) == {field: rule}, value


def test_forms_of_lines() -> None:
    def line(**fields: Any) -> dict[str, str]:
        return findings(AsnCreate, **ASN | {"sku_lines": [{"qty": "5"} | fields]})

    assert line(qty="1.5", discount_percentage="100", status="Locked") == {}
    assert line(qty="0") == {"qty": "quantity"}
    assert line(qty="0.5") == {"qty": "quantity"}
    assert line(qty="-3") == {"qty": "quantity"}
    assert line(discount_percentage="101") == {"discount_percentage": "percentage"}
    assert line(discount_percentage="5%") == {"discount_percentage": "percentage"}
    assert line(status="locked") == {"status": "line_status"}
    assert findings(LabelRequest, **SHIPMENT, date_placed="2022-03-18 05:41:08") == {}
    assert findings(LabelRequest, **SHIPMENT, date_placed="2022-03-18") == {"date_placed": "placed_at"}
    assert findings(LabelRequest, **SHIPMENT, date_placed="2022-02-30 05:41:08") == {"date_placed": "placed_at"}


@pytest.mark.parametrize("number", [1, 1.0, True, None.__class__])
def test_a_published_string_stays_a_string(number: object) -> None:
    texts = [name for name in ORDER_FIELDS if name not in ("item_details", "packages_count", "kit_skus")]
    for name in texts:
        found = findings(OrderCreate, **ORDER | {name: number})
        assert found in ({name: "not_text"}, {name: "choice"}), name
    assert findings(AsnCreate, **ASN | {"sku_lines": [{"qty": number}]}) == {"qty": "not_text"}


def test_a_published_number_stays_a_number() -> None:
    def item(quantity: object) -> dict[str, str]:
        return findings(OrderCreate, **ORDER, item_details=[{"item_name": "A", "item_quantity": quantity}])

    assert item(2) == item(2.5) == {}
    for wrong in ("2", True, 0, -1, float("nan"), float("inf")):
        assert item(wrong) == {"item_quantity": "count"}, wrong
    assert findings(OrderCreate, **ORDER, packages_count="2") == {"packages_count": "count"}
    assert findings(OrderCreate, **ORDER, packages_count=2.5) == {"packages_count": "count"}
    assert findings(OrderCreate, **ORDER, packages_count=-1) == {"packages_count": "count"}


def test_items_are_an_array_on_create_and_by_id_on_update_and_add() -> None:
    item = {"item_name": "A"}
    assert '"item_details":[{"item_name":"A"}]' in body_text(OrderCreate(**ORDER, item_details=[item]))
    update = OrderUpdate(customer_mobile="9876543210", delivery_address="x", item_details={"17": item})
    assert '"item_details":{"17":{"item_name":"A"}}' in body_text(update)
    assert body_text(AddItems(item_details={"17": item})) == '{"item_details":{"17":{"item_name":"A"}}}'
    assert findings(OrderCreate, **ORDER, item_details={"17": item}) == {"item_details": "list_type"}
    assert findings(AddItems, item_details=[item]) == {"item_details": "dict_type"}
    assert body_text(DeleteItems(item_list=["17", "18"])) == '{"item_list":["17","18"]}'
    assert findings(DeleteItems, item_list=["17", "17"]) == {"": "item_listed_twice"}


def test_kits_and_children() -> None:
    kit = {"name": "K", "description": "d", "item_details": [{"item_name": "A", "item_quantity": 2}]}
    assert body_text(OrderCreate(**ORDER, kit_skus=[kit])).endswith(
        '"kit_skus":[{"name":"K","description":"d","item_details":[{"item_name":"A","item_quantity":2}]}]}'
    )
    assert findings(OrderCreate, **ORDER, kit_skus=[{"name": "K", "item_details": []}]) == {"item_details": "too_short"}


def test_only_fields_of_the_document_go_out() -> None:
    assert findings(OrderCreate, **ORDER, delivery_lon="77.1") == {"delivery_lon": "extra_forbidden"}
    for name in sorted(set(ORDER_FIELDS) - set(ORDER_UPDATE_FIELDS)):
        fields = {"customer_mobile": "9876543210", "delivery_address": "x", name: "1"}
        assert findings(OrderUpdate, **fields) == {name: "extra_forbidden"}


def test_the_text_that_is_sent() -> None:
    order = OrderCreate(
        **ORDER | {"delivery_address": 'Café "Ü", १२'},
        item_details=[{"item_name": "A", "item_quantity": 2.0}, {"item_name": "B", "item_quantity": 0.1 + 1.1}],
    )
    assert body_text(order) == (
        '{"reference_number":"R-001","customer_mobile":"9876543210","delivery_address":"Café \\"Ü\\", १२",'
        '"item_details":[{"item_name":"A","item_quantity":2},{"item_name":"B","item_quantity":1.2000000000000002}]}'
    )


def test_half_a_character_is_no_text() -> None:
    assert findings(OrderCreate, **ORDER | {"delivery_address": "12 \ud800 Road"}) == {"delivery_address": "text"}


def test_every_complaint_is_a_sentence_without_the_value() -> None:
    wrong = {
        "customer_mobile": "secret person",
        "is_cod": "secret person",
        "delivery_lat": "secret person",
        "weight": "secret person",
        "expected_delivery_time": "secret person",
        "packages_count": "secret person",
        "kit_skus": [],
        "secret": 1,
        "item_details": ["secret person"],
    }
    with pytest.raises(ValidationError) as caught:
        OrderCreate(**wrong)
    found = complaints(caught.value)
    assert len(found) == len(wrong) + 2
    for each in found:
        told = messages.reason(each.code, each.values)
        assert re.fullmatch(r"[A-Z][^{}]*\.", told), each
        assert "person" not in told
    assert "secret person" not in str(caught.value)


def test_every_operation_with_a_body_has_a_model() -> None:
    assert set(Operation) - set(PAYLOADS) == {Operation.ORDER_CANCEL, Operation.RECEIPT_READ}


def test_payloads_do_not_change() -> None:
    order = OrderCreate(**ORDER)
    with pytest.raises(ValidationError):
        order.weight = "1"


def test_webhooks() -> None:
    subscription = WebhookSubscription(
        webhookId=3, callbackUrl="https://x.example/cb", headers={"X-Secret": "s3cret"}, verify_payload=True
    )
    assert body_text(subscription) == (
        '{"webhookId":3,"callbackUrl":"https://x.example/cb","headers":{"X-Secret":"s3cret"},"verify_payload":true}'
    )
    assert "s3cret" not in repr(subscription)
    assert findings(WebhookSubscription, callbackUrl="ftp://x") == {"callbackUrl": "web_address"}
    assert findings(WebhookUpdate, webhookId=3) == {"": "webhook_unchanged"}
    assert body_text(WebhookUpdate(webhookId=3, is_active=False)) == '{"webhookId":3,"is_active":false}'


def test_an_event_is_read_in_any_dialect() -> None:
    event = StatusEvent(WaybillNo=2270, OrderStatus=None, order_no=["odd"], ToMobileNumber=919876543210, trip_id=7)
    assert (event.WaybillNo, event.OrderStatus, event.order_no) == ("2270", None, "['odd']")
    assert "919876543210" not in repr(event)


def test_a_body_is_json_whatever_its_fields_are() -> None:
    assert compact({}) == "{}"
    assert compact({"name": "आशा"}) == '{"name":"आशा"}'
    with pytest.raises(ValueError, match="JSON"):
        compact({"quantity": float("nan")})
