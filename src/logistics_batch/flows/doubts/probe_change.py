"""Asking the service whether a change whose answer was lost is there: fetching the order by its AWB number (API §4.5).

That the order shows a change proves it, if it is the order that was asked for. That it does not show it proves nothing
yet.
"""

import json
from dataclasses import dataclass

from logistics_batch.api.answers import OrderDetails, OrderFound, ReadFailed, read_order, shows_change
from logistics_batch.api.client import Client
from logistics_batch.flows.orders.looks import Whose, whose
from logistics_batch.ledger import Ledger, StoredDocument
from logistics_batch.model.document import Operation


@dataclass(frozen=True, slots=True)
class Look:
    """What an order shows of a change, in words for the evidence; unreachable: the service could not be asked.

    anothers: the order whose AWB number it is that the change went to, "" if it is that of the order that was meant.
    """

    shown: bool
    text: str
    unreachable: bool = False
    anothers: str = ""


def look_for_change(client: Client, ledger: Ledger, document: StoredDocument) -> Look:
    """Look for one change of an order; an update of an ASN cannot be looked for, as no reply is documented."""
    operation = Operation(document.operation)
    if not operation.changes_order:
        return Look(shown=False, text="the service documents no way to see whether the ASN was updated (API §4.3)")
    seen = read_order(client.call("order.fetch", order_id=document.order_id))
    if isinstance(seen, ReadFailed):
        return Look(shown=False, text=f"the service could not be asked: {seen.message}", unreachable=True)
    if not isinstance(seen, OrderFound):
        return Look(shown=False, text=f"the service does not show the order: {seen.message}")
    if not seen.order.is_called(document.order_id):
        return Look(shown=False, text="another order came back than was asked for")
    if _is_anothers(ledger, document, seen.order):
        text = f"under this number the service has the order {seen.order.reference_number}"
        return Look(shown=False, text=text, anothers=seen.order.reference_number)
    if operation is Operation.ORDER_ADD_ITEMS and _had_before(ledger, document):
        return Look(shown=False, text="the order had an item with this id before, so that seeing it proves nothing")
    shown = shows_change(operation, document.body, seen.order)
    if shown is None:
        return Look(shown=False, text="fetching the order does not show everything that was to be changed")
    return Look(shown, "the order shows the change" if shown else "the order does not show the change")


def _is_anothers(ledger: Ledger, document: StoredDocument, order: OrderDetails) -> bool:
    """Whether the number to which a change went is not that of the order which it was meant for."""
    named = ledger.orders.orders_named([document.order_id]).get(document.order_id)
    if named is not None:
        return whose(ledger, named, order) is Whose.ANOTHERS
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
