"""What a fetched order shows of a change, and what it cannot show."""

import json
from typing import Any

import pytest

from logistics_batch.api.answers import shows_change
from logistics_batch.api.readers import OrderDetails

MUG = {"item_name": "Mug", "item_quantity": 1}
ORDER = OrderDetails(raw={"item_details": {"77": MUG}, "customer_name": "Asha"})


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        (MUG, True),
        (MUG | {"item_quantity": 2}, False),
        (MUG | {"item_price": 250}, None),  # which may be that of an item that was there before
    ],
)
def test_an_added_item_counts_only_if_all_of_it_is_shown(item: dict[str, Any], shown: bool | None) -> None:
    assert shows_change("order.add_items", json.dumps({"item_details": {"77": item}}), ORDER) is shown


def test_an_item_that_is_not_there_was_not_added() -> None:
    assert shows_change("order.add_items", json.dumps({"item_details": {"78": MUG}}), ORDER) is False
