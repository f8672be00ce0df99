"""What each reply proves. Pure: a reply in, a meaning out.

The rule behind it: a refusal or an acceptance must be said in the service's own words; everything else that may have
reached the service proves nothing: not a gateway's page, and not an answer that says neither yes nor no.
"""

from dataclasses import dataclass, field
from typing import Any

from logistics_batch.api.endpoints import ENDPOINTS
from logistics_batch.api.envelopes import as_text, confirms, find_lines, invoice_told, message_of, says_no, says_yes
from logistics_batch.api.fingerprints import other_goods, record_digest, same_asn, same_goods, same_order
from logistics_batch.api.readers import (
    AsnHeader,
    AsnPage,
    LabelLink,
    OrderAbsent,
    OrderDetails,
    OrderFound,
    ReadFailed,
    asn_header,
    asn_lines,
    read_asns,
    read_label,
    read_order,
)
from logistics_batch.api.reply import Reply
from logistics_batch.api.shown_changes import shows_change
from logistics_batch.api.verdicts import Meaning, by_status, content, is_page

__all__ = [
    "Answer",
    "AsnHeader",
    "AsnPage",
    "LabelLink",
    "Meaning",
    "OrderAbsent",
    "OrderDetails",
    "OrderFound",
    "ReadFailed",
    "asn_header",
    "asn_lines",
    "judge",
    "other_goods",
    "read_asns",
    "read_label",
    "read_order",
    "record_digest",
    "same_asn",
    "same_goods",
    "same_order",
    "shows_change",
]

# Endpoints whose replies the contract does not show (API §4.1-4.3, §4.12).
_UNDOCUMENTED = ("asn.fetch", "asn.create", "asn.update", "webhook.update")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reply means, and what the service told with it.

    message: the service's own text, one line, at most 500 characters, safe to show. items: by item id, as the reply
    has them. awb_number "" beside ACCEPTED: taken, but the AWB is not known. invoice_number: of
    the one ASN that an acceptance names.
    """

    meaning: Meaning
    message: str = ""
    awb_number: str = ""
    order_id: str = ""
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    child_awb_numbers: tuple[str, ...] = ()
    delivery_hub: str = ""
    looks_like_html: bool = False
    invoice_number: str = ""


def judge(reply: Reply, *, operation: str) -> Answer:
    """What a clean attempt of an operation proves; the caller knows whether an earlier attempt is in doubt.

    A redirect is MISADDRESSED although what stands behind it is not known: see the reply's status.

    operation: an endpoint's name, such as "order.create".
    """
    endpoint = ENDPOINTS.get(operation)
    value = content(reply).value
    # In the path, or in the body of a label call.
    names_an_order = operation == "label.create" or (endpoint is not None and endpoint.needs_order_id)
    decided = by_status(reply, names_an_order=names_an_order)
    if decided is None:
        undocumented = operation in _UNDOCUMENTED
        decided = _undocumented(reply, value) if undocumented else _documented(reply, value)
    if decided is Meaning.ACCEPTED:
        return _accepted(value)
    return Answer(decided, message_of(value), looks_like_html=is_page(reply))


def _documented(reply: Reply, value: object) -> Meaning:
    """Orders, labels and subscriptions: 200 with PASS or SUCCESS, 400 with FAIL (API §4.4-4.11).

    404 comes here only with the service's own FAIL about a named order. A 400 without one may be a gateway's, which
    says nothing about what the service behind it did.
    """
    if reply.status is not None and reply.status < 300:
        return Meaning.ACCEPTED if says_yes(value) else Meaning.UNKNOWN
    return Meaning.REFUSED if reply.status in (400, 404) and says_no(value) else Meaning.UNKNOWN


def _undocumented(reply: Reply, value: object) -> Meaning:
    """ASNs: what confirms it is a yes, in any form; only a clear FAIL is a no; the rest has to be looked up."""
    if reply.status is not None and reply.status < 300:
        return Meaning.ACCEPTED if confirms(value) else Meaning.UNKNOWN
    return Meaning.REFUSED if reply.status in (400, 422) and says_no(value) else Meaning.UNKNOWN


def _accepted(value: object) -> Answer:
    """What a success tells; every key is optional."""
    message = value.get("message") if isinstance(value, dict) else None
    if isinstance(message, list) and len(message) == 1:
        message = message[0]
    told = message if isinstance(message, dict) else {}
    children = told.get("child_awb_numbers")
    return Answer(
        Meaning.ACCEPTED,
        message=message_of(value) if isinstance(message, str) else "",
        awb_number=as_text(told.get("awb_number")),
        order_id=as_text(told.get("order_id")),
        items=_items(told),
        child_awb_numbers=tuple(filter(None, map(as_text, children))) if isinstance(children, list) else (),
        delivery_hub=as_text(told.get("delivery_hub")),
        invoice_number=invoice_told(value),
    )


def _items(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The items by their id, also where a list holds the ids inside."""
    items = {}
    for line in find_lines(told, "item_details"):
        item_id = as_text(line.get("item_id")) or as_text(line.get("id"))
        if item_id:
            items[item_id] = {name: value for name, value in line.items() if name != "id"}
    return items
