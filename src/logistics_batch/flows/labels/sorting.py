"""The order in which people walk: labels sorted by keys, blanks last, numbers as numbers."""

import re
from collections.abc import Callable, Collection, Sequence

from logistics_batch.errors import UsageError
from logistics_batch.flows.labels.orders import LabelOrder
from logistics_batch.specification import nearest

DEFAULT_KEYS = ("hub", "route", "pincode", "sku", "file")

_DIGITS = re.compile(r"(\d+)")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d")
# Leading keys of these make groups with subtotals and separators; so do `keep` names.
_GROUPING = ("hub", "route", "cut_off", "single")


def sort_orders(
    orders: Sequence[LabelOrder], keys: Sequence[str] = DEFAULT_KEYS, *, kept: Collection[str] = ()
) -> list[LabelOrder]:
    """The orders in walking order; equal ones stay in file order, or in that of the list.

    keys: of `hub route pincode cut_off single sku bin file`, or a name that a mapping keeps. kept: the names that
    mappings keep now, beside those of the orders; a misspelt key is refused also when there is nothing to sort.

    Raises:
        UsageError: a key is none of these.
    """
    known = [*_KEYS, *sorted({*kept, *(name for order in orders for name in order.keep)} - set(_KEYS))]
    unknown = next((key for key in keys if key not in known), None)
    if unknown is not None:
        raise UsageError(f'Labels cannot be sorted by "{unknown}".', remedy=nearest(unknown, known))
    return sorted(orders, key=lambda order: (*(_rank(order, key) for key in keys), order.place))


def _rank(order: LabelOrder, key: str) -> tuple[object, ...]:
    if key == "file":
        return (order.place,)
    value = value_of(order, key)
    return (not value, natural(value))


def group_of(order: LabelOrder, keys: Sequence[str] = DEFAULT_KEYS) -> str:
    """The group of an order: the values of the grouping keys that lead the sort, "" if none does.

    A key that makes no group (as `sku`) ends the lead. A date-time is shown to the minute.
    """
    words = []
    for key in keys:
        if key in _KEYS and key not in _GROUPING:
            break
        value = value_of(order, key)
        words.append(f"{value[:10]} {value[11:16]}" if _MOMENT.match(value) else value or f"no {key.replace('_', ' ')}")
    return " · ".join(words)


def value_of(order: LabelOrder, key: str) -> str:
    """What an order has for a sort key, as text."""
    found = _KEYS.get(key)
    return found(order) if found else order.keep.get(key, "")


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """How people sort a text that holds numbers: R-2 before R-10."""
    pieces = _DIGITS.split(text.casefold())
    numbers = [piece.lstrip("0") for piece in pieces]  # compared by length, then by digits: some have thousands
    return tuple(
        (0, len(numbers[place]), numbers[place]) if place % 2 else (1, 0, piece) for place, piece in enumerate(pieces)
    )


def _skus(order: LabelOrder) -> list[str]:
    return list(dict.fromkeys(item.name for item in order.items))


_KEYS: dict[str, Callable[[LabelOrder], str]] = {
    "hub": lambda order: order.document.delivery_hub or order.text("delivery_hub"),
    "route": lambda order: order.keep.get("route", ""),
    "pincode": lambda order: order.text("delivery_postal_code"),
    "cut_off": lambda order: order.keep.get("cut_off", "") or order.text("expected_delivery_time"),
    "single": lambda order: "one SKU" if len(_skus(order)) <= 1 else "several SKUs",
    "sku": lambda order: " ".join(_skus(order)),
    "bin": lambda order: next((item.bin for item in order.items if item.bin), ""),  # the first that is known
    "file": lambda order: order.document.file_name,
}
