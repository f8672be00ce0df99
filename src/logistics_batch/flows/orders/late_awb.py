"""Orders that the service accepted without telling their AWB number: it is looked for until it is known.

An answer may lack it, or say no more than that the reference is taken. Without it an order has no label and cannot be
changed.
"""

from datetime import timedelta

from logistics_batch.flows.doubts.order_search import OrderSearch
from logistics_batch.flows.doubts.probe import Presence
from logistics_batch.flows.parts import Parts

_LOOKED_FOR = timedelta(days=7)
_LISTED_AT_MOST = 1000  # in one round, the newest
_ASKED_AT_MOST = 50  # by reference; what events point to is no fruitless question
_FRUITLESS_UNTIL_STOP = 3  # in a row: the service does not show orders under their references


def fill_in_awb_numbers(parts: Parts) -> int:
    """Find AWB numbers that are missing, where events point or by reference; call while holding the sending lock.

    Gives how many were found. Only what the service shows with our content counts.
    """
    since = (parts.clock.now() - _LOOKED_FOR).isoformat()
    missing = parts.ledger.attempts.without_awb_number(since=since, at_most=_LISTED_AT_MOST)
    search = OrderSearch(parts.client, parts.ledger, missing)
    hinted = [document for document in missing if search.has_hint(document)]
    known = {document.id for document in hinted}
    others = [document for document in missing if document.id not in known][:_ASKED_AT_MOST]
    found = fruitless = 0
    for document in (*hinted, *others):
        if parts.stop.is_set() or fruitless == _FRUITLESS_UNTIL_STOP:
            break
        probe = search.look_for(document)
        if probe.presence in (Presence.PRESENT, Presence.CANCELLED) and probe.awb_number:
            now = parts.clock.now().isoformat()
            if probe.named:
                parts.ledger.attempts.give_back_number(probe.awb_number, reference=document.reference, at=now)
            parts.ledger.attempts.fill_in_awb_number(
                document.id, probe.awb_number, order_id=probe.order_id, now=now, seen=probe.named
            )
            if probe.presence is Presence.CANCELLED:
                parts.ledger.orders.found_cancelled(document.id, at=now)
            found, fruitless = found + 1, 0
        elif document.id not in known or probe.presence is Presence.UNREACHABLE:
            fruitless += 1
    return found
