"""Orders that were cancelled from here by a number that the ledger does not know: one of them may be an order in doubt.

Created, cancelled and not found would else be created a second time.
"""

from functools import cached_property

from logistics_batch.api.answers import OrderFound, ReadFailed
from logistics_batch.api.client import Client
from logistics_batch.flows.doubts.probe import Presence, Probe, Sight, fetch_order, judge_found
from logistics_batch.ledger import Ledger, StoredDocument
from logistics_batch.model.document import Operation


class StrayCancellations:
    """Those since a moment; each is looked up once."""

    def __init__(self, client: Client, ledger: Ledger, *, since: str) -> None:
        self._client = client
        self._ledger = ledger
        self._since = since
        self._sights: dict[str, Sight] = {}

    def look_for(self, document: StoredDocument) -> Probe | None:
        """The order in doubt among them; None if it is surely none of them, or only an earlier attempt of it."""
        unclear = ""
        before = self._ledger.orders.cancelled_before(document.id) if self._numbers else set()
        for number in self._numbers:
            if number in before:
                continue
            if number not in self._sights:
                self._sights[number] = fetch_order(self._client, number)
            seen = self._sights[number]
            if isinstance(seen, ReadFailed):
                return Probe(Presence.UNREACHABLE, f"order {number}, cancelled from here, cannot be asked for now")
            if not isinstance(seen, OrderFound):
                unclear = unclear or number
            elif seen.order.reference_number == document.reference and seen.order.awb_number not in before:
                return judge_found(document, seen)
        if not unclear:
            return None
        text = f"order {unclear} was cancelled from here, and the service does not show whether it is this one"
        return Probe(Presence.UNKNOWN, text, never_blindly=True)

    @cached_property
    def _numbers(self) -> list[str]:
        """What they were called, without the numbers of orders that are known."""
        by_hand = self._ledger.orders.asked_since(self._since)
        cancels = self._ledger.documents.select(operations=[Operation.ORDER_CANCEL], planned_from=self._since[:10])
        by_file = [one.order_id for one in cancels if one.attempts]
        asked = dict.fromkeys((*by_hand, *by_file))
        known = self._ledger.documents.select(operations=[Operation.ORDER_CREATE], references=list(asked))
        ours = {name for one in known for name in (one.awb_number, one.order_id)}
        return [number for number in asked if number and number not in ours]
