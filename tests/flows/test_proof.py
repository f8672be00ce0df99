"""What a look at an order that was just accepted says about the acceptance."""

import json
from types import SimpleNamespace
from typing import cast

import pytest

from logistics_batch.api.answers import OrderDetails
from logistics_batch.flows.orders.awb_ownership import Look
from logistics_batch.flows.push.proof import borne_out
from logistics_batch.ledger import Outcome, StoredDocument

MOBILE = "9876500001"
GOODS = ({"item_name": "SKU-1", "item_quantity": 1},)
BODY = json.dumps({"reference_number": "B", "customer_mobile": MOBILE, "item_details": GOODS})
DOCUMENT = cast("StoredDocument", SimpleNamespace(reference="B", body=BODY, purged=False))


@pytest.mark.parametrize(("status", "state"), [("Pending", "accepted"), ("Cancelled", "in_doubt")])
def test_an_acceptance_is_not_believed_where_the_order_is_shown_cancelled(status: str, state: str) -> None:
    shown = OrderDetails(reference_number="B", awb_number="SH-1", status=status, customer_mobile=MOBILE, items=GOODS)
    said = Outcome(7, "accepted", "accepted", awb_number="SH-1")
    told = borne_out(DOCUMENT, said, Look(shown), sent_before=False)
    assert (told.state, told.awb_number) == (state, "SH-1" if state == "accepted" else "")
