"""What an order consists of now: as it was sent, with the changes that the service accepted since."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from logistics_batch.ledger import StoredDocument

_Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Contents:
    """An order's payload with its later header fields and items.

    certain: whether every change of the items could be followed. first_is_sent: whether the first item is still the one
    that was sent first, whose bin the mapping keeps.
    """

    body: dict[str, Any]
    certain: bool = True
    first_is_sent: bool = True


def contents_of(document: StoredDocument, changes: Sequence[StoredDocument]) -> Contents:
    """The payload of an order whose bytes are kept, after its accepted changes, oldest first."""
    body = _object(document.body)
    sent: Sequence[_Item] = body.get("item_details") or []
    items = _Items(sent, {} if body.get("kit_skus") else document.items)
    for change in changes:
        told = _object(change.body)
        if change.operation == "order.update":
            body |= {name: value for name, value in told.items() if name != "item_details"}
        items.change(change, told)
    if not items.touched:
        return Contents(body, certain=items.certain)
    return Contents(body | {"item_details": items.now()}, items.certain, items.begins_with(sent))


class _Items:
    """The items of an order under their ids; one whose id is not known has its place instead."""

    def __init__(self, sent: Sequence[_Item], told: Mapping[str, _Item]) -> None:
        self._items: dict[str | int, _Item] = dict(_with_ids(sent, told))
        self._first = next(iter(self._items), None)
        self.certain = True
        self.touched = False

    def change(self, change: StoredDocument, told: Mapping[str, Any]) -> None:
        """Take over one accepted change; what does not fit the known items makes them uncertain."""
        if change.purged:
            self.certain = False
        for item_id, item in (told.get("item_details") or {}).items():
            self._put(item_id, item, added=change.operation == "order.add_items")
        for item_id in told.get("item_list") or ():
            self.touched = True
            if self._items.pop(item_id, None) is None:
                self.certain = False

    def _put(self, item_id: str, item: _Item, *, added: bool) -> None:
        known = self._items.get(item_id)
        if added == (known is not None):  # added twice, or changed without being there: it may be either way
            self.certain = False
        else:
            self.touched = True
            self._items[item_id] = {**(known or {}), **item}

    def now(self) -> list[_Item]:
        """The items in the order in which they came."""
        return list(self._items.values())

    def begins_with(self, sent: Sequence[_Item]) -> bool:
        """Whether the first item that was sent is still there."""
        return bool(sent) and self._first in self._items


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
