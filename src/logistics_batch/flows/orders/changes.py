"""Changes of orders: which orders and items a file's changes are about, and whether an order shows one.

References become AWB numbers, names of items their ids, for the service wants the id that it gave on create (API
§4.7-4.10). The ledger knows it for orders that were sent from here; a row whose order or item cannot be found is
answered, and nothing of its document is sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from logistics_batch.api.answers import OrderDetails, ReadFailed, read_order
from logistics_batch.api.client import Client
from logistics_batch.api.content_match import shows_change
from logistics_batch.errors import UsageError
from logistics_batch.flows.orders.awb_ownership import AwbOwner, awb_owner
from logistics_batch.flows.orders.search import creates
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Ledger, StoredDocument
from logistics_batch.mapping.documents.changes import unnamed_items, with_item_ids
from logistics_batch.messages import packed
from logistics_batch.model.document import (
    ROWS_SCHEMA,
    Document,
    DocumentState,
    MappedFile,
    Operation,
    OrderNumber,
    RowState,
)
from logistics_batch.model.issue import Issue, Place, cell_address

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


def with_orders(parts: Parts, mapped: MappedFile) -> MappedFile:
    """The same file with the order and the items of each change found; rows without are `invalid` or `held`."""
    asked = [document.order.text for document in mapped.documents if document.order]
    if not asked:
        return mapped
    known = _created(parts, asked)
    added = _added(parts, known)
    good: dict[int, Document] = {}
    unfit: dict[int, tuple[_Unfit, ...]] = {}
    by_key: dict[str, list[int]] = {}
    for position, document in enumerate(mapped.documents):
        answer = _found(parts, document, known, added)
        if isinstance(answer, Document):
            good[position] = answer
            by_key.setdefault(answer.key, []).append(position)
        else:
            unfit[position] = answer
    for key, positions in by_key.items():  # about one order: which of them counts is not for us to say
        for position in positions if len(positions) > 1 else ():
            document = mapped.documents[position]
            if document.order:
                twice = _about_order(document, document.order, "twice")
                unfit[position] = (replace(twice, values=packed({"order": key})),)
                del good[position]
    return _rewritten(mapped, good, unfit)


def _created(parts: Parts, numbers: Sequence[str]) -> dict[str, list[StoredDocument]]:
    """The orders sent from here, by reference and by AWB number, oldest first."""
    found: dict[str, list[StoredDocument]] = {}
    for created in creates(parts.ledger, dict.fromkeys(numbers)):
        for name in {created.reference, created.awb_number} - {""}:
            found.setdefault(name, []).append(created)
    return found


def _added(parts: Parts, known: Mapping[str, Sequence[StoredDocument]]) -> dict[str, dict[str, dict[str, Any]]]:
    """The items that were added to these orders from here, or may have been: by AWB number, then by item id."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    adding = [Operation.ORDER_ADD_ITEMS]
    for each in parts.ledger.documents.select(operations=adding, states=_MAY_BE_THERE, references=list(known)):
        found.setdefault(each.key, {}).update(each.payload.get("item_details", {}))
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
    if code := _why_not(document, order, created):
        unfit = _about_order(document, order, code)
        return (replace(unfit, state=RowState.HELD) if code.startswith("not_settled") else unfit,)
    order_id = created.awb_number if created and created.awb_number else order.text
    try:
        path = parts.client.path(document.operation, order_id=order_id)
    except UsageError:
        path = ""
    if not path or len(order_id) > _LONGEST_ID:
        return (_about_order(document, order, "unusable"),)
    body = _body(document, order, {**(created.items if created else {}), **added.get(order_id, {})})
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
    taken = [created for created in named if created.state == DocumentState.ACCEPTED]
    best = [created for created in taken if created.rule != "cancelled"] or taken or named
    return best[-1] if best else None


def _why_not(document: Document, order: OrderNumber, created: StoredDocument | None) -> str:
    """Why an order cannot be changed, by what is known of it; "" if it can."""
    if created is None:
        return "unknown" if order.is_reference else ""
    match created.state:
        case DocumentState.PLANNED | DocumentState.HELD:
            return f"not_settled.{created.state}"
        case DocumentState.SENDING | DocumentState.IN_DOUBT:
            return "not_settled"
        case DocumentState.REFUSED:
            return "unknown.refused"
        case DocumentState.ACCEPTED if not created.awb_number and order.is_reference:
            return "awb_unknown"
        case DocumentState.ACCEPTED if created.rule == "cancelled" and document.operation != Operation.ORDER_CANCEL:
            return "cancelled"
        case DocumentState.ACCEPTED:
            return ""
    return "unknown.withdrawn"


def _about_order(document: Document, order: OrderNumber, code: str) -> _Unfit:
    return _Unfit(f"order_id|{code}", order.text, tuple((row, order.column) for row in document.rows))


def _body(
    document: Document, order: OrderNumber, known_items: Mapping[str, dict[str, Any]]
) -> str | tuple[_Unfit, ...]:
    """The text that is sent, with the ids of items that the sheet names; or what is wrong with which rows."""
    items = unnamed_items(document.body, document.operation)
    if not items:
        return document.body
    ids_of: dict[str, list[str]] = {}  # of deleted items, too: what was meant by their names is not known
    for item_id, item in known_items.items():
        ids_of.setdefault(_folded(item), []).append(item_id)
    ids: list[str] = []
    unfit: list[_Unfit] = []
    for row, item in zip(document.line_rows, items, strict=True):
        given, name = str(item.get("item_id") or ""), str(item.get("item_name") or "")
        own = [given] if given else ids_of.get(_folded(item), [])
        ids.append(own[0] if own else "")
        if len(own) == 1 and own[0] not in ids[:-1]:
            continue
        unknown = "unknown" if known_items else "ids_unknown"
        code = unknown if not own else "ambiguous" if len(own) > 1 else "twice"
        unfit.append(_Unfit(f"item_id|{code}", given or name, ((row, order.item_column or order.column),)))
    return tuple(unfit) or with_item_ids(document.body, document.operation, ids)


def _folded(item: Mapping[str, Any]) -> str:
    """An item's name as names are compared."""
    return " ".join(str(item.get("item_name") or "").split()).casefold()


def _rewritten(mapped: MappedFile, good: Mapping[int, Document], unfit: Mapping[int, tuple[_Unfit, ...]]) -> MappedFile:
    """The file with the documents that can be sent, and with an answer for the rows of the others.

    What is wrong is told at the rows of the file's own sheet; those of a second one are blocked with them.
    """
    places = {old: new for new, old in enumerate(sorted(good))}
    told: dict[int, tuple[str, str | None, str | None]] = {}
    issues = list(mapped.issues)
    for position, reasons in unfit.items():
        blamed = {row: each.state for each in reasons for row, _ in each.rows}
        for row in mapped.documents[position].rows:
            told[row] = (str(blamed[row]), None, None) if row in blamed else ("blocked", _SIBLING, "")
        for each in reasons:
            for row, column in each.rows:
                name = mapped.columns[column - 1].strip() if column <= len(mapped.columns) else ""
                issues.append(Issue(each.code, Place(row, name, cell_address(row, column), each.value), each.values))
    lines = []
    for row, state, code, document, key, values, sheet in mapped.rows.select(list(ROWS_SCHEMA)).iter_rows():
        said = (state, code, values)
        if document in unfit and not sheet:
            said = told.get(row, said)
        elif document in unfit:
            first = unfit[document][0]
            said = ("held", first.code, first.values) if first.state is RowState.HELD else ("blocked", _SIBLING, "")
        lines.append((row, *said[:2], places.get(document), key, said[2], sheet))
    return replace(
        mapped,
        rows=pl.DataFrame(lines, schema=ROWS_SCHEMA, orient="row"),
        documents=tuple(good[position] for position in sorted(good)),
        issues=tuple(sorted(issues, key=lambda issue: (issue.sheet, issue.row))),
    )


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
    if not isinstance(seen, OrderDetails):
        return ChangeLook(False, f"the service does not show the order: {seen.message}")
    if not seen.is_called(document.order_id):
        return ChangeLook(False, "another order came back than was asked for")
    if _is_anothers(ledger, document, seen):
        text = f"under this number the service has the order {seen.reference_number}"
        return ChangeLook(False, text, anothers=seen.reference_number)
    if operation is Operation.ORDER_ADD_ITEMS and _had_before(ledger, document):
        return ChangeLook(False, "the order had an item with this id before, so that seeing it proves nothing")
    shown = shows_change(operation, document.body, seen)
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
    ids = set(document.payload.get("item_details", ()))
    known = ledger.documents.select(references=[document.order_id])
    told = ((each, each.payload.get("item_details")) for each in known if each.id != document.id)
    return any(ids & {*each.items, *(items if isinstance(items, dict) else ())} for each, items in told)
