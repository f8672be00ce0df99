"""Changes of orders: which orders and items a file's changes are about, and whether an order shows one.

References become AWB numbers, names of items their ids, for the service wants the id that it gave on create (API
§4.7-4.10). The ledger knows it for orders that were sent from here; a row whose order or item cannot be found is
answered, and nothing of its document is sent.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from logistics_batch.api.answers import OrderDetails, OrderFound, ReadFailed, read_order
from logistics_batch.api.client import Client
from logistics_batch.api.content_match import shows_change
from logistics_batch.errors import UsageError
from logistics_batch.flows.orders.awb_ownership import AwbOwner, awb_owner
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Ledger, StoredDocument
from logistics_batch.mapping.documents.changes import unnamed_items, with_item_ids
from logistics_batch.messages import packed
from logistics_batch.model.document import ROWS_SCHEMA, Document, MappedFile, Operation, OrderNumber, RowState
from logistics_batch.model.document_state import OPEN
from logistics_batch.model.issue import Issue, Place, cell_address

_AT_ONCE = 400  # numbers in one question to the ledger
_LONGEST_ID = 80
_MAY_BE_THERE = ("planned", "sending", "in_doubt", "accepted")
_SIBLING = "sibling.of_order"


@dataclass(frozen=True, slots=True)
class _Unfit:
    """Why a document cannot be sent: what `value` in these cells (row, column) means. Its other rows are blocked."""

    code: str
    value: str
    rows: tuple[tuple[int, int], ...]
    state: RowState = RowState.INVALID
    values: str = ""


@dataclass
class _Sorted:
    """A file's documents as far as they can be sent, and what is wrong with the others, by position."""

    good: dict[int, Document] = field(default_factory=dict)
    unfit: dict[int, tuple[_Unfit, ...]] = field(default_factory=dict)


def with_orders(parts: Parts, mapped: MappedFile) -> MappedFile:
    """The same file with the order and the items of each change found; rows without are `invalid` or `held`."""
    if not any(document.order for document in mapped.documents):
        return mapped
    asked = [document.order.text for document in mapped.documents if document.order]
    known = _created(parts, asked)
    added = _added(parts, known)
    found = _Sorted()
    for position, document in enumerate(mapped.documents):
        answer = _found(parts, document, known, added)
        if isinstance(answer, Document):
            found.good[position] = answer
        else:
            found.unfit[position] = answer
    _part_doubles(found, mapped.documents)
    return _rewritten(mapped, found)


def _created(parts: Parts, numbers: Sequence[str]) -> dict[str, list[StoredDocument]]:
    """The orders sent from here, by reference and by AWB number, oldest first."""
    found: dict[str, list[StoredDocument]] = {}
    wanted = list(dict.fromkeys(numbers))
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        for created in parts.ledger.documents.select(operations=[Operation.ORDER_CREATE], references=some):
            for name in {created.reference, created.awb_number} - {""}:
                found.setdefault(name, []).append(created)
    return found


def _added(parts: Parts, known: Mapping[str, Sequence[StoredDocument]]) -> dict[str, dict[str, dict[str, Any]]]:
    """The items that were added to these orders from here, or may have been: by AWB number, then by item id."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    names = list(known)
    for start in range(0, len(names), _AT_ONCE):
        some, adding = names[start : start + _AT_ONCE], [Operation.ORDER_ADD_ITEMS]
        for each in parts.ledger.documents.select(operations=adding, states=_MAY_BE_THERE, references=some):
            items = json.loads(each.body).get("item_details", {}) if each.body else {}
            found.setdefault(each.key, {}).update(items)
    return found


def _found(
    parts: Parts,
    document: Document,
    known: Mapping[str, Sequence[StoredDocument]],
    added: Mapping[str, Mapping[str, dict[str, Any]]],
) -> Document | tuple[_Unfit, ...]:
    """The document as it is sent, or why it cannot be."""
    order = document.order
    if order is None:
        return document
    created = _meant(order, known)
    unfit = _unfit_order(document, order, created)
    if unfit is not None:
        return (unfit,)
    order_id = created.awb_number if created and created.awb_number else order.text
    try:
        path = parts.client.path(document.operation, order_id=order_id)
    except UsageError:
        path = ""
    if not path or len(order_id) > _LONGEST_ID:
        return (_about_order(document, order, "unusable"),)
    known_items = {**(created.items if created else {}), **added.get(order_id, {})}
    body = _body(document, order, known_items)
    if not isinstance(body, str):
        return body
    reference = created.reference if created else order.text
    return replace(document, key=order_id, reference=reference, body=body, order=None, order_id=order_id, path=path)


def _meant(order: OrderNumber, known: Mapping[str, Sequence[StoredDocument]]) -> StoredDocument | None:
    """The order of that number: the living one, else one that the service took, else the newest."""
    named = [
        created
        for created in known.get(order.text, ())
        if order.text == (created.reference if order.is_reference else created.awb_number)
    ]
    taken = [created for created in named if created.state == "accepted"]
    best = [created for created in taken if created.rule != "cancelled"] or taken or named
    return best[-1] if best else None


def _unfit_order(document: Document, order: OrderNumber, created: StoredDocument | None) -> _Unfit | None:
    if created is None:
        if not order.is_reference:
            return None
        return _about_order(document, order, "unknown")
    if created.state in OPEN:
        variant = f".{created.state}" if created.state in ("planned", "held") else ""
        return replace(_about_order(document, order, f"not_settled{variant}"), state=RowState.HELD)
    if created.state != "accepted":
        return _about_order(document, order, "unknown.refused" if created.state == "refused" else "unknown.withdrawn")
    if not created.awb_number and order.is_reference:
        return _about_order(document, order, "awb_unknown")
    if created.rule == "cancelled" and document.operation is not Operation.ORDER_CANCEL:
        return _about_order(document, order, "cancelled")
    return None


def _about_order(document: Document, order: OrderNumber, code: str) -> _Unfit:
    return _Unfit(f"order_id|{code}", order.text, tuple((row, order.column) for row in document.rows))


def _body(
    document: Document, order: OrderNumber, known_items: Mapping[str, dict[str, Any]]
) -> str | tuple[_Unfit, ...]:
    """The text that is sent, with the ids of items that the sheet names; or what is wrong with which rows."""
    items = unnamed_items(document.body, document.operation)
    if not items:
        return document.body
    ids_of = _ids_by_name(known_items)
    ids: list[str] = []
    unfit: list[_Unfit] = []
    for row, item in zip(document.line_rows, items, strict=True):
        given, name = str(item.get("item_id") or ""), str(item.get("item_name") or "")
        own = [given] if given else ids_of.get(_folded(name), [])
        ids.append(own[0] if own else "")
        if len(own) != 1 or own[0] in ids[:-1]:
            place = (row, order.item_column or order.column)
            unfit.append(_unfit_item(own, given or name, place, knows=bool(known_items)))
    return tuple(unfit) or with_item_ids(document.body, document.operation, ids)


def _unfit_item(own: Sequence[str], item: str, place: tuple[int, int], *, knows: bool) -> _Unfit:
    if not own:
        code = "item_id|unknown" if knows else "item_id|ids_unknown"
    else:
        code = "item_id|ambiguous" if len(own) > 1 else "item_id|twice"
    return _Unfit(code, item, (place,))


def _ids_by_name(items: Mapping[str, dict[str, Any]]) -> dict[str, list[str]]:
    """The ids of items by their names; those that are deleted by now count, for what was meant is not known."""
    found: dict[str, list[str]] = {}
    for item_id, item in items.items():
        found.setdefault(_folded(str(item.get("item_name") or "")), []).append(item_id)
    return found


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _part_doubles(found: _Sorted, documents: Sequence[Document]) -> None:
    """Two documents that turn out to be about one order: which of them counts is not for us to say."""
    by_key: dict[str, list[int]] = {}
    for position, document in found.good.items():
        by_key.setdefault(document.key, []).append(position)
    for key, positions in by_key.items():
        for position in positions if len(positions) > 1 else ():
            document = documents[position]
            if document.order:
                twice = _about_order(document, document.order, "twice")
                found.unfit[position] = (replace(twice, values=packed({"order": key})),)
                del found.good[position]


def _rewritten(mapped: MappedFile, found: _Sorted) -> MappedFile:
    """The file with the documents that can be sent, and with an answer for the rows of the others.

    What is wrong is told at the rows of the file's own sheet; those of a second one are blocked with them.
    """
    places = {old: new for new, old in enumerate(sorted(found.good))}
    told: dict[int, tuple[str, str | None, str | None]] = {}
    issues = list(mapped.issues)
    for position, reasons in found.unfit.items():
        blamed = {row: unfit.state for unfit in reasons for row, _ in unfit.rows}
        for row in mapped.documents[position].rows:
            told[row] = (str(blamed[row]), None, None) if row in blamed else ("blocked", _SIBLING, "")
        issues += [issue for unfit in reasons for issue in _issues(mapped, unfit)]
    lines = []
    for row, state, code, document, key, values, sheet in mapped.rows.select(list(ROWS_SCHEMA)).iter_rows():
        said = (state, code, values)
        if document in found.unfit:
            said = _said_of_line(found.unfit[document][0]) if sheet else told.get(row, said)
        lines.append((row, *said[:2], places.get(document), key, said[2], sheet))
    return replace(
        mapped,
        rows=pl.DataFrame(lines, schema=ROWS_SCHEMA, orient="row"),
        documents=tuple(found.good[position] for position in sorted(found.good)),
        issues=tuple(sorted(issues, key=lambda issue: (issue.sheet, issue.row))),
    )


def _said_of_line(unfit: _Unfit) -> tuple[str, str, str]:
    """State, code and values of a row of the second sheet whose document cannot be sent."""
    if unfit.state is RowState.HELD:
        return RowState.HELD.value, unfit.code, unfit.values
    return RowState.BLOCKED.value, _SIBLING, ""


def _issues(mapped: MappedFile, unfit: _Unfit) -> Iterable[Issue]:
    """One issue for each row that is to blame."""
    for row, column in unfit.rows:
        name = mapped.columns[column - 1].strip() if column <= len(mapped.columns) else ""
        yield Issue(unfit.code, Place(row, name, cell_address(row, column), unfit.value), unfit.values)


@dataclass(frozen=True, slots=True)
class ChangeLook:
    """What an order shows of a change, in words for the evidence; unreachable: the service could not be asked.

    anothers: the order whose AWB number it is that the change went to, "" if it is that of the order that was meant.
    """

    shown: bool
    text: str
    unreachable: bool = False
    anothers: str = ""


def look_for_change(client: Client, ledger: Ledger, document: StoredDocument) -> ChangeLook:
    """Look for one change of an order whose answer was lost, in the order itself (API §4.5).

    That the order shows it proves it, if it is the order that was meant; that it does not show it proves nothing yet.
    An update of an ASN cannot be looked for, as no reply is documented.
    """
    operation = Operation(document.operation)
    if not operation.changes_order:
        return ChangeLook(False, "the service documents no way to see whether the ASN was updated (API §4.3)")
    seen = read_order(client.call("order.fetch", order_id=document.order_id))
    if isinstance(seen, ReadFailed):
        return ChangeLook(False, f"the service could not be asked: {seen.message}", unreachable=True)
    if not isinstance(seen, OrderFound):
        return ChangeLook(False, f"the service does not show the order: {seen.message}")
    if not seen.order.is_called(document.order_id):
        return ChangeLook(False, "another order came back than was asked for")
    if _is_anothers(ledger, document, seen.order):
        text = f"under this number the service has the order {seen.order.reference_number}"
        return ChangeLook(False, text, anothers=seen.order.reference_number)
    if operation is Operation.ORDER_ADD_ITEMS and _had_before(ledger, document):
        return ChangeLook(False, "the order had an item with this id before, so that seeing it proves nothing")
    shown = shows_change(operation, document.body, seen.order)
    if shown is None:
        return ChangeLook(False, "fetching the order does not show everything that was to be changed")
    return ChangeLook(shown, "the order shows the change" if shown else "the order does not show the change")


def _is_anothers(ledger: Ledger, document: StoredDocument, order: OrderDetails) -> bool:
    """Whether the number to which a change went is not that of the order which it was meant for."""
    named = ledger.awb_numbers.named([document.order_id]).get(document.order_id)
    if named is not None:
        return awb_owner(ledger, named, order) is AwbOwner.ANOTHERS
    meant = "" if document.reference == document.order_id else document.reference
    return bool(meant) and order.reference_number not in ("", meant)


def _had_before(ledger: Ledger, document: StoredDocument) -> bool:
    """Whether an item that was to be added has the id of one that the order had: fetching does not show all of it."""
    ids = set(_item_ids(document.body))
    before = [each for each in ledger.documents.select(references=[document.order_id]) if each.id != document.id]
    return any(ids & {*each.items, *_item_ids(each.body)} for each in before)


def _item_ids(body: str) -> list[str]:
    items = json.loads(body).get("item_details") if body else None
    return list(items) if isinstance(items, dict) else []
