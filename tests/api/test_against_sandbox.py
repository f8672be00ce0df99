"""Our bodies, our client and our readers against the sandbox, which knows the API document and nothing of us."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any, get_args

import pytest
from support.sandbox_process import RunningSandbox, sandbox_for_a_test

from logistics_batch.api.answers import (
    Answer,
    LabelLink,
    OrderAbsent,
    OrderDetails,
    ReplyVerdict,
    judge,
    read_asns,
    read_label,
    read_order,
)
from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.content_match import record_digest, same_asn, same_order
from logistics_batch.api.envelopes import AsnPage, find_lines
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import Secret
from logistics_batch.model.payloads import (
    AddItems,
    AsnCreate,
    AsnUpdate,
    DeleteItems,
    LabelRequest,
    OrderCreate,
    OrderUpdate,
    WebhookSubscription,
    WebhookUpdate,
    body_text,
)
from logistics_batch.sandbox.switches import Switches

ITEMS = [{"item_name": "Wires", "item_quantity": 2, "weight": "0.5"}, {"item_name": "Plug", "item_quantity": 1}]


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("api"))


@pytest.fixture
def client(sandbox: RunningSandbox) -> Iterator[Client]:
    sandbox.set_faults([])
    access = ServiceAccess(sandbox.url, Secret(sandbox.api_key))
    with closing(Client(access, pacer=Pacer("none"))) as found:
        yield found


def order(reference: str, **fields: Any) -> str:
    wanted = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "12 MG Road"}
    return body_text(OrderCreate(**wanted | {"delivery_postal_code": "560001", "item_details": ITEMS} | fields))


def notice(invoice: str, qty: str = "5") -> str:
    lines = [{"sku_name": "Wires", "qty": qty, "price_per_qty": "2.50"}]
    return body_text(AsnCreate(supplier_name="Acme", site="7", invoice_number=invoice, sku_lines=lines))


def call(client: Client, operation: str, **options: Any) -> Answer:
    return judge(client.call(operation, **options), operation=operation)


def test_the_life_of_an_order(client: Client) -> None:
    body = order("LIFE-1", delivery_lat="12.97", delivery_long="77.59", is_cod="true", cash_on_delivery="59.00")
    created = call(client, "order.create", body=body)
    assert created.meaning is ReplyVerdict.ACCEPTED
    awb = created.awb_number
    assert awb.startswith("SH-")
    assert sorted(item["item_name"] for item in created.items.values()) == ["Plug", "Wires"]

    found = read_order(client.call("order.fetch", order_id=awb))
    assert isinstance(found, OrderDetails)
    assert found.reference_number == "LIFE-1"
    assert same_order(body, found)
    assert not same_order(order("LIFE-1", customer_mobile="9876543211"), found)

    update = OrderUpdate(customer_mobile="9876543211", delivery_address="13 MG Road")
    assert call(client, "order.update", order_id=awb, body=body_text(update)).meaning is ReplyVerdict.ACCEPTED
    add = AddItems(item_details={"501": {"item_name": "Cap", "item_quantity": 3, "weight": "20"}})
    added = call(client, "order.add_items", order_id=awb, body=body_text(add))
    assert added.meaning is ReplyVerdict.ACCEPTED
    caps = [item_id for item_id, item in added.items.items() if item["item_name"] == "Cap"]
    deleted = call(client, "order.delete_items", order_id=awb, body=body_text(DeleteItems(item_list=caps)))
    assert (deleted.meaning, deleted.message) == (ReplyVerdict.ACCEPTED, f"Items deleted for AWB Number : {awb}")
    unknown = call(client, "order.delete_items", order_id=awb, body=body_text(DeleteItems(item_list=["0"])))
    assert unknown.meaning is ReplyVerdict.REFUSED

    cancelled = call(client, "order.cancel", order_id=awb)
    assert cancelled == Answer(ReplyVerdict.ACCEPTED, "Order Cancelled Successfully")
    again = call(client, "order.cancel", order_id=awb)
    assert again == Answer(ReplyVerdict.REFUSED, "The order can't be cancelled now")


def test_what_the_service_refuses(client: Client) -> None:
    assert call(client, "order.create", body=order("TWICE")).meaning is ReplyVerdict.ACCEPTED
    assert call(client, "order.create", body=order("TWICE")).meaning is ReplyVerdict.REFUSED
    both = json.loads(order("BOTH")) | {"packages_count": 2, "package_id": "P1"}
    assert call(client, "order.create", body=json.dumps(both)).meaning is ReplyVerdict.REFUSED
    nothing = call(client, "order.create", body="{}")
    assert nothing == Answer(ReplyVerdict.REFUSED, "Shipment Reference Number is required")


def test_packages_and_kits_are_taken(client: Client) -> None:
    kit = {"name": "K", "item_details": [{"item_name": "A", "item_quantity": 1, "package_id": "P1"}]}
    assert call(client, "order.create", body=order("KIT", kit_skus=[kit])).meaning is ReplyVerdict.ACCEPTED
    assert call(client, "order.create", body=order("SPLIT", packages_count=3)).meaning is ReplyVerdict.ACCEPTED


def test_an_unknown_order_leaves_one_stable_signature(client: Client) -> None:
    seen = [read_order(client.call("order.fetch", order_id=name)) for name in ("NOWHERE-1", "NOWHERE-2")]
    assert all(isinstance(each, OrderAbsent) for each in seen)
    signatures = {each.signature.replace(f"NOWHERE-{n}", "*") for n, each in enumerate(seen, 1)}  # type: ignore[union-attr]
    assert len(signatures) == 1


@pytest.mark.parametrize("envelope", get_args(Switches.model_fields["asn_envelope"].annotation))
def test_the_life_of_an_asn(sandbox: RunningSandbox, client: Client, envelope: str) -> None:
    sandbox.set_switches(asn_envelope=envelope)
    invoice = f"INV {envelope} & more"
    empty = read_asns(client.call("asn.fetch", query={"invoice_number": invoice}))
    assert isinstance(empty, AsnPage)
    assert empty.records == ()
    body = notice(invoice)
    assert call(client, "asn.create", body=body).meaning is ReplyVerdict.ACCEPTED
    page = read_asns(client.call("asn.fetch", query={"invoice_number": invoice}))
    assert isinstance(page, AsnPage)
    (record,) = page.records
    assert same_asn(body, record)
    assert not same_asn(notice(invoice, qty="6"), record)
    assert len(find_lines(record)) == 1

    changed = AsnUpdate(**json.loads(body) | {"status": "In-Progress"})
    assert call(client, "asn.update", body=body_text(changed)).meaning is ReplyVerdict.ACCEPTED
    later = read_asns(client.call("asn.fetch", query={"invoice_number": invoice}))
    assert isinstance(later, AsnPage)
    assert [record_digest(each) for each in later.records] == [record_digest(record)]


@pytest.mark.parametrize("form", get_args(Switches.model_fields["asn_replies"].annotation))
def test_an_asn_is_taken_in_whatever_form_the_service_says_so(
    sandbox: RunningSandbox, client: Client, form: str
) -> None:
    """An empty 200 says nothing: then only a look can tell."""
    sandbox.set_switches(asn_replies=form, asn_envelope="list")
    for operation in ("asn.create", "asn.update"):
        answer = call(client, operation, body=notice(f"INV-{form}"))
        assert answer.meaning is (ReplyVerdict.UNKNOWN if form == "empty" else ReplyVerdict.ACCEPTED)
    page = read_asns(client.call("asn.fetch", query={"invoice_number": f"INV-{form}"}))
    assert isinstance(page, AsnPage)
    assert len(page.records) == 1


def test_a_search_without_a_filter_is_an_error_and_no_empty_list(client: Client) -> None:
    assert not isinstance(read_asns(client.call("asn.fetch")), AsnPage)
    half = client.call("asn.fetch", query={"created_date_start": "2026-11-01"})
    assert not isinstance(read_asns(half), AsnPage)


def test_labels_in_both_forms(client: Client) -> None:
    awb = call(client, "order.create", body=order("LABEL-1")).awb_number
    by_number = read_label(client.call("label.create", body=body_text(LabelRequest(order_numbers=awb))))
    shipment = LabelRequest(
        awb_number=awb, primary_mobile_no="9876543210", shipping_address="12 MG Road", delivery_pincode="560001"
    )
    by_shipment = read_label(client.call("label.create", body=body_text(shipment)))
    assert isinstance(by_number, LabelLink)
    assert isinstance(by_shipment, LabelLink)


def test_webhooks_are_configured(client: Client) -> None:
    subscription = WebhookSubscription(webhookId=3, callbackUrl="http://127.0.0.1:9/cb", headers={"X-Key": "v"})
    subscribed = call(client, "webhook.subscribe", body=body_text(subscription))
    assert subscribed == Answer(ReplyVerdict.ACCEPTED, "Webhook configured successfully")
    update = WebhookUpdate(webhookId=3, is_active=False)
    assert call(client, "webhook.update", body=body_text(update)).meaning is ReplyVerdict.ACCEPTED


def test_a_wrong_key_is_told_from_everything_else(sandbox: RunningSandbox) -> None:
    access = ServiceAccess(sandbox.url, Secret("not-the-key"))
    with closing(Client(access, pacer=Pacer("none"))) as stranger:
        for operation in ("order.create", "asn.create", "label.create", "webhook.subscribe"):
            assert call(stranger, operation, body="{}") == Answer(ReplyVerdict.UNAUTHORIZED, "Unauthorized")


def test_a_wrong_path_is_told_from_a_refusal(sandbox: RunningSandbox) -> None:
    access = ServiceAccess(sandbox.url, Secret(sandbox.api_key), paths={"order.create": "/v9/orders"})
    with closing(Client(access, pacer=Pacer("none"))) as lost:
        assert call(lost, "order.create", body=order("LOST")).meaning is ReplyVerdict.DECLINED
