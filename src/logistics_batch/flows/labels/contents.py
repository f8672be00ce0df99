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


@dataclass(frozen=True, slots=True)
class Contents:
    """What an order is about: its payload with its later header fields, and its items.

    certain: whether every change of the items could be followed.
    """

    body: dict[str, Any]
    items: tuple[PickedItem, ...] = ()
    certain: bool = True


def contents_of(document: StoredDocument, changes: Sequence[StoredDocument]) -> Contents:
    """The payload of an order whose bytes are kept, after its accepted changes, oldest first."""
    body = _object(document.body)
    items = _Items(document, body)
    for change in changes:
        told = _object(change.body)
        if change.operation == "order.update":
            body |= {name: value for name, value in told.items() if name != "item_details"}
        items.change(change, told)
    return Contents(body, tuple(items.now()), items.certain)


def items_of(body: Mapping[str, Any]) -> list[_Item]:
    """The items of an order's payload and of its kits, as they were sent."""
    kits = body.get("kit_skus") or []
    return [*(body.get("item_details") or []), *(item for kit in kits for item in kit.get("item_details", []))]


class _Items:
    """The items of an order and their bins under the items' ids; one whose id is not known has its place instead."""

    def __init__(self, document: StoredDocument, body: Mapping[str, Any]) -> None:
        told = {} if body.get("kit_skus") else document.items
        sent = items_of(body)
        bins = (_bin(document, place) for place in range(1, len(sent) + 1))
        self._items = {name: (item, bin) for (name, item), bin in zip(_with_ids(sent, told), bins, strict=True)}
        self.certain = True

    def change(self, change: StoredDocument, told: Mapping[str, Any]) -> None:
        """Take over one accepted change; what does not fit the known items makes them uncertain."""
        if change.purged:
            self.certain = False
        for place, (item_id, item) in enumerate((told.get("item_details") or {}).items(), start=1):
            known = self._items.get(item_id)
            is_added = change.operation == "order.add_items"
            if is_added == (known is not None):  # added twice, or changed without being there: it may be either way
                self.certain = False
            elif known is not None:
                self._items[item_id] = ({**known[0], **item}, known[1])
            else:
                self._items[item_id] = (item, _bin(change, place))
        for item_id in told.get("item_list") or ():
            if self._items.pop(item_id, None) is None:
                self.certain = False

    def now(self) -> Iterator[PickedItem]:
        """The items in the order in which they came."""
        for item, bin in self._items.values():
            yield PickedItem(str(item.get("item_name") or ""), Decimal(str(item.get("item_quantity") or 1)), bin)


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
