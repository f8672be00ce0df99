"""Does an order, as it is fetched, show a change that was asked for? Pure.

Fetching shows a part of an order only (API §2.3): a change of anything else is neither shown nor not shown.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from logistics_batch.api.envelopes import as_text, decode_json
from logistics_batch.api.readers import OrderDetails

_MOBILE_DIGITS: Final = 10
_SHOWN_OF_ITEMS: Final = ("item_name", "item_quantity")
_AMOUNTS: Final = ("_quantity", "_delivery", "weight", "volume")
_NUMBER: Final = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_CANCELLED: Final = ("cancelled", "canceled")


def shows_change(operation: str, sent_body: str, order: OrderDetails) -> bool | None:
    """Whether the order has what the change was to bring; None where fetching cannot show all of it.

    operation: "order.update", "order.add_items", "order.delete_items" or "order.cancel".
    """
    value = decode_json(sent_body.encode(errors="replace")).value if sent_body else {}
    sent: Mapping[str, Any] = value if isinstance(value, dict) else {}
    return _SHOWN[operation](sent, order)


def _cancelled(_sent: Mapping[str, Any], order: OrderDetails) -> bool | None:
    return order.status.casefold() in _CANCELLED


def _deleted(sent: Mapping[str, Any], order: OrderDetails) -> bool | None:
    items = order.raw.get("item_details")
    if not isinstance(items, dict):
        return None
    return not any(as_text(item_id) in items for item_id in sent.get("item_list", ()))


def _added(sent: Mapping[str, Any], order: OrderDetails) -> bool | None:
    """An added item is there under the id that was chosen for it; its price and weight are not shown."""
    return _items_shown(sent.get("item_details"), order, all_of_it=False)


def _updated(sent: Mapping[str, Any], order: OrderDetails) -> bool | None:
    header = {name: value for name, value in sent.items() if name != "item_details"}
    if not set(header) <= set(order.raw):
        return None
    if not all(_same(name, as_text(value), as_text(order.raw.get(name))) for name, value in header.items()):
        return False
    return _items_shown(sent["item_details"], order, all_of_it=True) if "item_details" in sent else True


def _items_shown(wanted: object, order: OrderDetails, *, all_of_it: bool) -> bool | None:
    there = order.raw.get("item_details")
    if not isinstance(wanted, dict) or not isinstance(there, dict):
        return None
    if all_of_it and any(name not in _SHOWN_OF_ITEMS for item in wanted.values() for name in item):
        return None
    return all(_item_shown(item, there.get(item_id)) for item_id, item in wanted.items())


def _item_shown(wanted: Mapping[str, Any], there: object) -> bool:
    if not isinstance(there, dict):
        return False
    asked = [name for name in _SHOWN_OF_ITEMS if name in wanted]
    return all(_same(name, as_text(wanted[name]), as_text(there.get(name))) for name in asked)


def _same(name: str, ours: str, theirs: str) -> bool:
    """Exactly: a change may be one of letters or blanks only. Numbers may be written in another way."""
    if name.endswith("_mobile"):
        return _digits(ours) == _digits(theirs)
    if _NUMBER.fullmatch(ours) and _NUMBER.fullmatch(theirs) and name.endswith(_AMOUNTS):
        return Decimal(ours) == Decimal(theirs)
    return ours.strip() == theirs.strip()


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdecimal())[-_MOBILE_DIGITS:]


_SHOWN: Final[dict[str, Callable[[Mapping[str, Any], OrderDetails], bool | None]]] = {
    "order.update": _updated,
    "order.add_items": _added,
    "order.delete_items": _deleted,
    "order.cancel": _cancelled,
}
