"""Our bodies, our client and our readers against the sandbox, which knows the API document and nothing of us."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from support.sandbox_process import RunningSandbox, sandbox_for_a_test

from logistics_batch.api.answers import (
    Answer,
    LabelLink,
    ReplyVerdict,
    judge,
    read_label,
)
from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import Secret
from logistics_batch.model.payloads import (
    LabelRequest,
    OrderCreate,
    body_text,
)

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


def call(client: Client, operation: str, **options: Any) -> Answer:
    return judge(client.call(operation, **options), operation=operation)


def test_packages_and_kits_are_taken(client: Client) -> None:
    kit = {"name": "K", "item_details": [{"item_name": "A", "item_quantity": 1, "package_id": "P1"}]}
    assert call(client, "order.create", body=order("KIT", kit_skus=[kit])).meaning is ReplyVerdict.ACCEPTED
    assert call(client, "order.create", body=order("SPLIT", packages_count=3)).meaning is ReplyVerdict.ACCEPTED


def test_labels_in_both_forms(client: Client) -> None:
    awb = call(client, "order.create", body=order("LABEL-1")).awb_number
    by_number = read_label(client.call("label.create", body=body_text(LabelRequest(order_numbers=awb))))
    shipment = LabelRequest(
        awb_number=awb, primary_mobile_no="9876543210", shipping_address="12 MG Road", delivery_pincode="560001"
    )
    by_shipment = read_label(client.call("label.create", body=body_text(shipment)))
    assert isinstance(by_number, LabelLink)
    assert isinstance(by_shipment, LabelLink)
