"""From what was accepted to what a file says now: one body, or the reason why there is none."""

import json
from typing import Any

import pytest

from logistics_batch.mapping.documents.changes import Accepted, CannotUpdate, asn_update, order_update

TEA, SALT = {"item_name": "Tea 500", "item_quantity": 1}, {"item_name": "SALT", "item_quantity": 5, "brand": "Tata"}
ORDER = {
    "reference_number": "A",
    "customer_mobile": "9876500001",
    "delivery_address": "1 Market Road",
    "delivery_lon": "77.5",
    "customer_reference_number": "2026-11-20",
    "item_details": [TEA, SALT],
}
IDS = {"17": {"item_name": "TEA 500"}, "18": {"item_name": "salt"}}


def updated(*updates: dict[str, Any], lent: tuple[str, ...] = (), ids: Any = IDS, **changes: Any) -> Any:
    wanted = {name: value for name, value in (ORDER | changes).items() if value is not None}
    bodies = tuple(json.dumps(each) for each in (ORDER, *updates))
    return json.loads(order_update(json.dumps(wanted), accepted=Accepted(bodies, ids), lent=lent))


def test_what_may_change_goes_out_whole_and_items_only_if_they_changed() -> None:
    header = {"customer_mobile": "9876500001", "delivery_address": "2 Station Road", "delivery_lon": "77.5"}
    assert updated(delivery_address="2 Station Road") == header
    more = TEA | {"item_quantity": 3}
    assert updated(delivery_address="2 Station Road", item_details=[SALT, more]) == header | {
        "item_details": {"18": SALT, "17": more}
    }


def test_items_go_back_to_what_they_were_after_an_update_of_them() -> None:
    earlier = {"customer_mobile": "1", "delivery_address": "x", "item_details": {"17": TEA | {"item_quantity": 3}}}
    assert updated(earlier)["item_details"] == {"17": TEA, "18": SALT}


def test_what_the_run_lent_is_no_change_that_cannot_be_made() -> None:
    assert "delivery_address" in updated(customer_reference_number="2026-11-21", lent=("customer_reference_number",))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"customer_reference_number": "2026-11-21"}, "customer_reference_number cannot be changed"),
        ({"delivery_lon": None}, "delivery_lon has no value any more"),
        ({"item_details": [TEA]}, "items are not the same"),
        ({"item_details": [TEA, SALT, SALT]}, "items are not the same"),
        ({"item_details": [TEA, {"item_name": "SALT", "item_quantity": 6}]}, "brand has no value any more"),
        ({"item_details": None}, "items are not the same"),
        ({"item_details": [TEA | {"item_quantity": 2}, SALT], "ids": {"17": TEA}}, "id of its item SALT"),
        ({"item_details": [TEA | {"item_quantity": 2}, SALT], "ids": IDS | {"19": TEA}}, "id of its item Tea 500"),
    ],
)
def test_what_one_call_cannot_bring_is_not_sent_in_part(changes: Any, reason: str) -> None:
    with pytest.raises(CannotUpdate, match=reason):
        updated(**changes)


def test_a_value_that_an_update_brought_and_that_is_gone_again_cannot_be_taken_away() -> None:
    with pytest.raises(CannotUpdate, match="priority has no value any more"):
        updated({"customer_mobile": "9876500001", "delivery_address": "x", "priority": "1"})


def test_an_asn_may_grow_and_change_but_loses_nothing() -> None:
    first = {"invoice_number": "I", "sku_lines": [{"sku_name": "S", "qty": "1"}]}
    accepted = Accepted((json.dumps(first),), {})
    more = json.dumps(first | {"sku_lines": [{"sku_name": "S", "qty": "2"}, {"sku_name": "T", "qty": "1"}]})
    assert asn_update(more, accepted=accepted) == more
    for less in ({"sku_lines": first["sku_lines"]}, first | {"sku_lines": [{"sku_name": "T", "qty": "1"}]}):
        with pytest.raises(CannotUpdate):
            asn_update(json.dumps(less), accepted=accepted)
