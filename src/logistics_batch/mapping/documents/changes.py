"""Changes of orders: which order a sheet means, and items by their ids, as far as the sheet gives them (API §4.7-4.9).

Until the ids of all items are known the items stand in the body as a list, each with its `item_name`; `with_item_ids`
gives the text that is sent.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import ValidationError

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.spec.targets import Targets, targets_of
from logistics_batch.model.document import Operation, OrderNumber
from logistics_batch.model.payloads import PAYLOADS, Complaint, complaints

_LITERAL_NAMES: Final = {"order_numbers": "order_numbers[]"}  # API §2.2


def order_named(table: CompiledSheet) -> OrderNumber | None:
    """How the sheet names the orders that its documents are about, without a number yet; None if they change none."""
    spec = table.mapping.spec
    if spec.order_id is None or not table.mapping.operation.changes_order:
        return None
    named = table.field("fields.order_id")
    items = table.field("lines.item_name") or table.field("lines.item_id")
    return OrderNumber(
        "",
        is_reference=spec.order_id.ledger is not None,
        column=(named.column if named else None) or table.key_column,
        item_column=table.sheet.column_of_file((items.column if items else None) or 0),
    )


def finished(body: str, operation: Operation) -> str:
    """A body in the operation's own form, from one with lines as a list and all values as they were read."""
    if operation is Operation.ORDER_CANCEL:
        return ""
    if operation is Operation.LABEL_CREATE:
        fields = {_LITERAL_NAMES.get(name, name): value for name, value in json.loads(body).items()}
        if "is_cod" in fields:
            fields["is_cod"] = fields["is_cod"] == "true"
        return _compact(fields)
    if not operation.changes_order:
        return body
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
    return _compact(fields)


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
    positions = {name: number for number, name in enumerate(items)} if isinstance(items, dict) else {}
    try:
        PAYLOADS[targets.operation].model_validate(fields)
    except ValidationError as error:
        found = complaints(error)
        return [replace(each, place=_placed(each, positions, targets.lines_field)) for each in found]
    return []


def _placed(found: Complaint, positions: dict[str, int], lines_field: str) -> tuple[str | int, ...]:
    if found.place[:1] != (lines_field,) or len(found.place) < 2:
        return found.place
    step = found.place[1]
    return (lines_field, positions.get(step, 0) if isinstance(step, str) else step, *found.place[2:])


def _compact(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
