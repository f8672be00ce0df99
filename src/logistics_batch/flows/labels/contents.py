"""What an order consists of now: as it was sent, with the changes that the service accepted since."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from logistics_batch.ledger import StoredDocument

_Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PickedItem:
    """One item of an order; bin: where it lies, "" if that is not known."""

    name: str
    quantity: Decimal
    bin: str = ""


def contents_of(
    document: StoredDocument, changes: Sequence[StoredDocument]
) -> tuple[dict[str, Any], tuple[PickedItem, ...], bool]:
    """The payload of an order whose bytes are kept, with its later header fields, its items after its accepted changes
    (oldest first), and whether every change of the items could be followed."""
    body = _object(document.body)
    sent = items_of(body)
    ids = _with_ids(sent, {} if body.get("kit_skus") else document.items)
    # Under their ids; an item whose id is not known has its place instead.
    items = {name: (item, _bin(document, place)) for place, (name, item) in enumerate(ids, start=1)}
    certain = True
    for change in changes:
        told = _object(change.body)
        if change.operation == "order.update":
            body |= {name: value for name, value in told.items() if name != "item_details"}
        certain = certain and not change.purged
        for place, (item_id, item) in enumerate((told.get("item_details") or {}).items(), start=1):
            known = items.get(item_id)
            if (change.operation == "order.add_items") == (known is not None):
                certain = False  # added twice, or changed without being there: it may be either way
            else:
                items[item_id] = ({**known[0], **item}, known[1]) if known is not None else (item, _bin(change, place))
        for item_id in told.get("item_list") or ():
            certain = items.pop(item_id, None) is not None and certain
    now = tuple(
        PickedItem(str(item.get("item_name") or ""), Decimal(str(item.get("item_quantity") or 1)), bin)
        for item, bin in items.values()
    )
    return body, now, certain


def items_of(body: Mapping[str, Any]) -> list[_Item]:
    """The items of an order's payload and of its kits, as they were sent."""
    kits = body.get("kit_skus") or []
    return [*(body.get("item_details") or []), *(item for kit in kits for item in kit.get("item_details", []))]


def _bin(document: StoredDocument, place: int) -> str:
    """The bin of an item, from 1, as the mapping keeps it: that of the first row is the first item's."""
    return document.keep.get(f"bin:{place}") or (document.keep.get("bin", "") if place == 1 else "")


def _with_ids(sent: Sequence[_Item], told: Mapping[str, _Item]) -> Iterator[tuple[str | int, _Item]]:
    """Each item that was sent, under the id that the service told for it (API §4.6)."""
    free = dict(told)
    names = [_name(item) for item in sent]
    for place, item in enumerate(sent):
        same = [item_id for item_id, other in free.items() if _name(other) == names[place]]
        if names.count(names[place]) > 1:
            same = [item_id for item_id in same if _quantity(free[item_id]) == _quantity(item)]
        if same:
            del free[same[0]]
        yield (same[0] if same else place), item


def _name(item: _Item) -> str:
    return " ".join(str(item.get("item_name") or "").split()).casefold()


def _quantity(item: _Item) -> Decimal | None:
    try:
        return Decimal(str(item.get("item_quantity") or 1))
    except InvalidOperation:
        return None


def _object(text: str) -> dict[str, Any]:
    value = json.loads(text or "{}")
    return value if isinstance(value, dict) else {}
