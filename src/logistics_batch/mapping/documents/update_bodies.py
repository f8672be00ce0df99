"""The body of an update that turns what was accepted into what a file says now, or why no single call can.

An update puts values over those that are there (API §4.3, §4.7): what is gone from the file would stay as it was, so
that a field or line that is missing now cannot be updated. Pure.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import PAYLOADS

_ITEMS: Final = "item_details"
_SPELT_IN_SAMPLES: Final = ("delivery_lon", "pickup_lon")  # API §2.3


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the service has by our knowledge: the bodies that it took, the created one first.

    items: those of an order by the ids that the service gave.
    """

    bodies: Sequence[str]
    items: Mapping[str, Mapping[str, Any]]


class CannotUpdate(ValueError):
    """The change cannot go out as an update; `why` says why not."""

    def __init__(self, code: str, **values: Any) -> None:
        self.why = Issue.of(code, **values)
        super().__init__(self.why.reason)


def order_update(body: str, *, accepted: Accepted, lent: Collection[str]) -> str:
    """The body of PUT /orders/shipment/{orderId} (API §4.7) that brings an order to `body`, that of a create.

    lent: fields whose difference is none. Raises CannotUpdate.
    """
    wanted, first, *later = (json.loads(text) for text in (body, *accepted.bodies))
    allowed = {*PAYLOADS[Operation.ORDER_UPDATE].model_fields, *_SPELT_IN_SAMPLES}
    own = [name for name in wanted if name not in (_ITEMS, *lent)]
    fixed = [name for name in own if name not in allowed and wanted[name] != first.get(name)]
    if fixed:
        raise CannotUpdate(".cannot_change", fields=_listed(fixed))
    _nothing_gone([first, *later], wanted, but=(_ITEMS, *lent))
    fields = {name: value for name, value in wanted.items() if name in allowed and name != _ITEMS}
    earlier = [update[_ITEMS] for update in later if _ITEMS in update]
    lines, before = wanted.get(_ITEMS, []), first.get(_ITEMS, [])
    if earlier or lines != before:
        fields[_ITEMS] = _items_by_id(lines, before, earlier, accepted.items)
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def asn_update(body: str, *, accepted: Accepted) -> str:
    """The body of PUT /wms/advance-shipping-notice (API §4.3): the whole notice as it is now. Raises CannotUpdate."""
    wanted, *before = (json.loads(text) for text in (body, *accepted.bodies))
    _nothing_gone(before, wanted, but=())
    here = {str(line.get("sku_name")) for line in wanted["sku_lines"]}
    gone = {str(line.get("sku_name")) for each in before for line in each["sku_lines"]} - here
    if gone:
        raise CannotUpdate(".line_gone", items=_listed(sorted(gone)))
    return body


def _items_by_id(
    lines: Sequence[Mapping[str, Any]],
    before: Sequence[Mapping[str, Any]],
    earlier: Sequence[Mapping[str, Mapping[str, Any]]],
    ids: Mapping[str, Mapping[str, Any]],
) -> dict[str, Mapping[str, Any]]:
    """Every item with its content, under the id that the service gave it."""
    if Counter(map(_name, lines)) != Counter(map(_name, before)):
        raise CannotUpdate(".other_items")
    by_name: dict[str, list[str]] = {}
    for item_id, item in ids.items():
        by_name.setdefault(_name(item), []).append(item_id)
    found: dict[str, Mapping[str, Any]] = {}
    for line in lines:
        own = by_name.get(_name(line), [])
        if len(own) != 1 or own[0] in found:
            raise CannotUpdate(".item_id_unknown", item=str(line.get("item_name")))
        same = [item for item in before if _name(item) == _name(line)]
        _nothing_gone([*same, *(update[own[0]] for update in earlier if own[0] in update)], line, but=())
        found[own[0]] = line
    return found


def _nothing_gone(before: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any], *, but: Collection[str]) -> None:
    gone = {name: None for each in before for name in each if name not in wanted and name not in but}
    if gone:
        raise CannotUpdate(".value_gone", fields=_listed([*gone]))


def _name(item: Mapping[str, Any]) -> str:
    return " ".join(str(item.get("item_name") or "").split()).casefold()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
