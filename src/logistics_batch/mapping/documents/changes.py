"""Changes of orders and ASNs: what sheets of changes give, and updates of what was accepted (API §4.3, §4.7-4.9).

Until the ids of all items are known the items of a change stand in its body as a list, each with its `item_name`;
`with_item_ids` gives the text that is sent. An update puts values over those that are there: what is gone from the file
would stay as it was, so that a field or line that is missing now cannot be updated. Pure.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ValidationError

from logistics_batch.mapping.spec.targets import Targets, targets_of
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import PAYLOADS, Complaint, compact, complaints

SPELT_IN_SAMPLES: Final = {"delivery_long": "delivery_lon", "pickup_long": "pickup_lon"}
"""Fields that the API's samples spell otherwise than its tables do (API §2.3)."""

_LITERAL_NAMES: Final = {"order_numbers": "order_numbers[]"}  # API §2.2
_ITEMS: Final = "item_details"


def finished(body: str, operation: Operation) -> str:
    """A body in the operation's own form, from one with lines as a list and all values as they were read."""
    if operation is Operation.ORDER_CANCEL:
        return ""
    if operation is Operation.LABEL_CREATE:
        fields = {_LITERAL_NAMES.get(name, name): value for name, value in json.loads(body).items()}
        if "is_cod" in fields:
            fields["is_cod"] = fields["is_cod"] == "true"
        return compact(fields)
    ids = [str(line.get("item_id") or "") for line in unnamed_items(body, operation)]
    return with_item_ids(body, operation, ids) if all(ids) else body


def unnamed_items(body: str, operation: Operation) -> list[dict[str, Any]]:
    """The items of a change whose ids are still to be found, in order; none if the body is as it is sent."""
    lines = json.loads(body).get(targets_of(operation).lines_field) if body else None
    listed = isinstance(lines, list) and all(isinstance(line, dict) for line in lines)
    return list(lines) if listed and lines else []


def with_item_ids(body: str, operation: Operation, item_ids: Sequence[str]) -> str:
    """The text that is sent: the listed items under these ids, or for a deletion the ids alone (API §4.9)."""
    fields = json.loads(body)
    name = targets_of(operation).lines_field
    lines = fields.get(name)
    if not lines:
        return body
    if operation is Operation.ORDER_DELETE_ITEMS:
        fields[name] = list(item_ids)
    else:
        bare = [{key: value for key, value in line.items() if key != "item_id"} for line in lines]
        fields[name] = dict(zip(item_ids, bare, strict=True))
    return compact(fields)


def check_change(body: str, targets: Targets, published: Mapping[str, str]) -> list[Complaint]:
    """What the contract's model says against a change; items without an id get one for the time being.

    published: the names that the model knows, by those that the body has instead. A place names an item by its
    position.
    """
    if not body:
        return []
    known = unnamed_items(body, targets.operation)
    ids = [str(line.get("item_id") or f"?{number}") for number, line in enumerate(known)]
    sent = json.loads(with_item_ids(body, targets.operation, ids) if known else body)
    fields = {published.get(name, name): value for name, value in sent.items()}
    items = fields.get(targets.lines_field)
    named = items if isinstance(items, dict) else {}
    positions: dict[str | int, int] = {name: number for number, name in enumerate(named)}
    try:
        PAYLOADS[targets.operation].model_validate(fields)
    except ValidationError as error:
        found = complaints(error)
        return [replace(each, place=tuple(positions.get(step, step) for step in each.place)) for each in found]
    return []


@dataclass(frozen=True, slots=True)
class Accepted:
    """What the service has by our knowledge: the bodies that it took, the created one first.

    items: those of an order by the ids that the service gave; None if some were added or deleted since.
    """

    bodies: Sequence[str]
    items: Mapping[str, Mapping[str, Any]] | None


class CannotUpdate(ValueError):
    """The change cannot go out as an update; `why` says why not."""

    def __init__(self, code: str, **values: Any) -> None:
        self.why = Issue.of(code, **values)
        super().__init__(self.why.reason)


def order_update(body: str, *, accepted: Accepted, lent: Collection[str]) -> str:
    """The body of PUT /orders/shipment/{orderId} (API §4.7) that brings an order to `body`, that of a create.

    lent: fields whose difference is none. Raises CannotUpdate.
    """
    if accepted.items is None:
        raise CannotUpdate(".items_changed")
    wanted, first, *later = (json.loads(text) for text in (body, *accepted.bodies))
    allowed = {*PAYLOADS[Operation.ORDER_UPDATE].model_fields, *SPELT_IN_SAMPLES.values()}
    own = [name for name in wanted if name not in (_ITEMS, *lent)]
    fixed = [name for name in own if name not in allowed and wanted[name] != first.get(name)]
    if fixed:
        raise CannotUpdate(".cannot_change", fields=", ".join(fixed))
    _nothing_gone([first, *later], wanted, but=(_ITEMS, *lent))
    fields = {name: value for name, value in wanted.items() if name in allowed and name != _ITEMS}
    earlier = [update[_ITEMS] for update in later if _ITEMS in update]
    lines, before = wanted.get(_ITEMS, []), first.get(_ITEMS, [])
    if earlier or lines != before:
        fields[_ITEMS] = _items_by_id(lines, before, earlier, accepted.items)
    return compact(fields)


def asn_update(body: str, *, accepted: Accepted) -> str:
    """The body of PUT /wms/advance-shipping-notice (API §4.3): the whole notice as it is now. Raises CannotUpdate."""
    wanted, *before = (json.loads(text) for text in (body, *accepted.bodies))
    _nothing_gone(before, wanted, but=())
    here = {str(line.get("sku_name")) for line in wanted["sku_lines"]}
    gone = {str(line.get("sku_name")) for each in before for line in each["sku_lines"]} - here
    if gone:
        raise CannotUpdate(".line_gone", items=", ".join(sorted(gone)))
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
        raise CannotUpdate(".value_gone", fields=", ".join([*gone]))


def _name(item: Mapping[str, Any]) -> str:
    return " ".join(str(item.get("item_name") or "").split()).casefold()
