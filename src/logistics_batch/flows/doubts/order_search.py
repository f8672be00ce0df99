"""Looking for orders in doubt: first where stored events point, then by reference.

An event is a hint (API §6): it names our reference and an AWB number, and nothing vouches for it. The order is fetched
by that number, and only what the service shows counts. No event ever says that an order is not there.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property

from logistics_batch.api.client import Client
from logistics_batch.flows.doubts.probe import Calibration, Presence, Probe, calibrate, probe_awb, probe_order
from logistics_batch.flows.orders.receive_event import order_named_by
from logistics_batch.flows.orders.stray_cancellations import StrayCancellations
from logistics_batch.ledger import Ledger, StoredDocument
from logistics_batch.model.document import Operation

_HINTS_AT_MOST = 3  # AWB numbers that are fetched for one order, the newest first


class OrderSearch:
    """One round of looking for orders in doubt; the controls are made only when something is asked by reference."""

    def __init__(self, client: Client, ledger: Ledger, doubts: Sequence[StoredDocument]) -> None:
        self._client = client
        self._ledger = ledger
        self._doubts = doubts

    def look_for(self, document: StoredDocument) -> Probe:
        """What can be found out about one order now."""
        hinted = self._follow_hints(document)
        if hinted is not None and hinted.presence in (Presence.PRESENT, Presence.UNREACHABLE):
            return hinted
        probe = self._by_reference(document)
        # A cancelled order counts where nothing else was found: without this it might be created a second time.
        if probe.presence in (Presence.ABSENT, Presence.UNKNOWN):
            return hinted or self._strays.look_for(document) or probe
        return probe

    def has_hint(self, document: StoredDocument) -> bool:
        """Whether events point to where the order is to be found."""
        return bool(self._hinted(document))

    def _by_reference(self, document: StoredDocument) -> Probe:
        """What the service shows under the reference; an earlier order of ours under it says nothing about this one."""
        probe = probe_order(self._client, document, self._calibration)
        if probe.awb_number and self._earlier([probe.awb_number], document, named=probe.named):
            return Probe(Presence.UNKNOWN, f"what is shown is an earlier order of ours (AWB {probe.awb_number})")
        return probe

    def _earlier(self, awb_numbers: Sequence[str], document: StoredDocument, *, named: bool = False) -> set[str]:
        """Which of these AWB numbers belong to other orders of ours, or to earlier, cancelled attempts of this one.

        named: the service shows our reference with them, so that they can only be those of earlier orders under it.
        """
        known = self._ledger.documents.select(operations=[Operation.ORDER_CREATE], references=awb_numbers)
        others = [found for found in known if found.id != document.id]
        taken = {found.awb_number for found in others if not named or found.reference == document.reference}
        return (taken | self._ledger.orders.cancelled_before(document.id)) & set(awb_numbers)

    @cached_property
    def _strays(self) -> StrayCancellations:
        since = min(document.planned_at for document in self._doubts)
        return StrayCancellations(self._client, self._ledger, since=since)

    @cached_property
    def _calibration(self) -> Calibration:
        return calibrate(self._client, self._ledger)

    def _follow_hints(self, document: StoredDocument) -> Probe | None:
        """The order that events point to: if it is there, else cancelled, else None."""
        cancelled = None
        for awb_number in self._hinted(document):
            probe = probe_awb(self._client, document, awb_number)
            probe = replace(probe, text=f"an event led to it: {probe.text}")
            if probe.presence in (Presence.PRESENT, Presence.UNREACHABLE):
                return probe
            if probe.presence is Presence.CANCELLED:
                cancelled = probe
        return cancelled

    def _hinted(self, document: StoredDocument) -> list[str]:
        """The AWB numbers to fetch, the newest first; those of orders that are known belong to earlier versions."""
        numbers = list(self._hints.get(document.reference, ()))[-_HINTS_AT_MOST:]
        taken = self._earlier(numbers, document) if numbers else set()
        return [number for number in reversed(numbers) if number not in taken]

    @cached_property
    def _hints(self) -> dict[str, dict[str, None]]:
        """By reference the AWB numbers in events that came since the order was planned, in their order."""
        since: dict[str, datetime] = {}
        for document in self._doubts:
            planned = datetime.fromisoformat(document.planned_at)
            since[document.reference] = min(planned, since.get(document.reference, planned))
        found: dict[str, dict[str, None]] = {}
        events = self._ledger.events.of_orders(received_from=min(since.values()).isoformat()) if since else ()
        for event in events:
            reference = order_named_by(event.raw)
            if reference in since and datetime.fromisoformat(event.received_at) >= since[reference]:
                found.setdefault(reference, {})[event.waybill] = None
        return found
