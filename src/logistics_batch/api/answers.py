"""What each reply proves, and what it tells: a reply in, a verdict or the thing that was asked for out. Pure.

The rule behind it: a refusal or an acceptance must be said in the service's own words; everything else that may have
reached the service proves nothing: not a gateway's page, and not an answer that says neither yes nor no. Every key of
an answer is optional, and nothing here raises.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from logistics_batch.api.endpoints import ENDPOINTS
from logistics_batch.api.envelopes import (
    AsnPage,
    Decoded,
    as_text,
    confirms,
    decode_json,
    find_lines,
    find_records,
    invoice_told,
    looks_like_html,
    message_of,
    plain,
    says_no,
    says_yes,
    status_word,
)
from logistics_batch.api.reply import LARGEST_LIST_BYTES, Reply
from logistics_batch.errors import KeyRefused, ServiceMisaddressed

_WRONG_ADDRESS = (404, 405, 415)
# With the service's own FAIL these may be about one document, or about the address or the account.
_OF_ADDRESS_TOO = (402, 403, 404, 405, 410, 415)


class ReplyVerdict(StrEnum):
    """What a clean attempt proves; after an earlier doubt only ACCEPTED keeps its meaning."""

    ACCEPTED = "accepted"  # the service took it
    REFUSED = "refused"  # the service said no, and nothing happened
    DECLINED = "declined"  # it said no in its own words, to this or to all that is sent so; nothing happened
    NOT_SENT = "not_sent"  # the service never saw it
    UNAUTHORIZED = "unauthorized"  # the key is not taken; nothing happened
    SLOW_DOWN = "slow_down"  # too many calls; nothing happened
    MISADDRESSED = "misaddressed"  # wrong address or path; behind a redirect something else may stand (3xx)
    UNKNOWN = "unknown"  # nothing is proven


def by_status(reply: Reply) -> ReplyVerdict | None:
    """The meaning where trace and status decide alone; None where the content must be read.

    A 4xx with the service's own FAIL is its answer; without one 404, 405 and 415 tell of a wrong address.
    """
    status = reply.status
    if status is None:
        return ReplyVerdict.UNKNOWN if reply.trace.send_started else ReplyVerdict.NOT_SENT
    if status == 401:
        return ReplyVerdict.UNAUTHORIZED
    if status == 429:
        return ReplyVerdict.SLOW_DOWN
    if 300 <= status < 400 or (status in _WRONG_ADDRESS and not says_no(content(reply).value)):
        return ReplyVerdict.MISADDRESSED
    if status >= 500 or status < 200:
        return ReplyVerdict.UNKNOWN
    return None


def raise_for_every_call(meaning: ReplyVerdict, message: str) -> None:
    """Raise KeyRefused or ServiceMisaddressed where an answer means that no other call would fare better."""
    if meaning is ReplyVerdict.UNAUTHORIZED:
        raise KeyRefused(
            f"The service does not take the API key: {message}",
            remedy="Check service.api_key_file; a mailed key may have to be decoded from base64 first, and a proxy may "
            "drop the header API_KEY.",
        )
    if meaning is ReplyVerdict.MISADDRESSED:
        raise ServiceMisaddressed(
            f"What answers is not the service: {message}", remedy="Check service.base_url and service.paths."
        )


def content(reply: Reply) -> Decoded:
    """The reply's JSON; none if the body is cut, too long or damaged."""
    if reply.failure or reply.truncated:
        return Decoded(problem="incomplete")
    return decode_json(reply.body, largest_bytes=LARGEST_LIST_BYTES)  # no more is read of a call than may be


def is_page(reply: Reply) -> bool:
    """Whether a web page came back."""
    return reply.status is not None and looks_like_html(reply.content_type, reply.body)


# Endpoints whose replies the contract does not show (API §4.1-4.3, §4.12).
_UNDOCUMENTED = ("asn.fetch", "asn.create", "asn.update", "webhook.update")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a reply means, and what the service told with it.

    message: the service's own text, one line, at most 500 characters, safe to show. items: by item id, as the reply
    has them. awb_number "" beside ACCEPTED: taken, but the AWB is not known. invoice_number: of
    the one ASN that an acceptance names.
    """

    meaning: ReplyVerdict
    message: str = ""
    awb_number: str = ""
    order_id: str = ""
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    child_awb_numbers: tuple[str, ...] = ()
    delivery_hub: str = ""
    looks_like_html: bool = False
    invoice_number: str = ""

    @property
    def is_about_document(self) -> bool:
        """Whether the service itself answered about what was sent; such an answer says nothing against the service."""
        return self.meaning in (ReplyVerdict.ACCEPTED, ReplyVerdict.REFUSED, ReplyVerdict.DECLINED)


def judge(reply: Reply, *, operation: str) -> Answer:
    """What a clean attempt of an operation proves; the caller knows whether an earlier attempt is in doubt.

    A redirect is MISADDRESSED although what stands behind it is not known: see the reply's status.

    operation: an endpoint's name, such as "order.create".
    """
    value = content(reply).value
    decided = by_status(reply) or _by_content(reply, value, operation)
    if decided is ReplyVerdict.ACCEPTED:
        return _accepted(value, operation)
    return Answer(decided, message_of(value), looks_like_html=is_page(reply))


def _by_content(reply: Reply, value: object, operation: str) -> ReplyVerdict:
    """With 2xx the contract's word is a yes, or where no answer is shown what confirms it in any form.

    With 4xx the service's own FAIL is a no, of whatever kind; without one a gateway may have answered, which says
    nothing about what the service behind it did.
    """
    status = reply.status or 0
    if status < 300:
        agrees = confirms if operation in _UNDOCUMENTED else says_yes
        return ReplyVerdict.ACCEPTED if agrees(value) else ReplyVerdict.UNKNOWN
    if not says_no(value):
        return ReplyVerdict.UNKNOWN
    endpoint = ENDPOINTS.get(operation)
    # In the path, or in the body of a label call.
    names_an_order = operation == "label.create" or (endpoint is not None and endpoint.needs_order_id)
    of_address_too = status in _OF_ADDRESS_TOO and not (status == 404 and names_an_order)
    return ReplyVerdict.DECLINED if of_address_too else ReplyVerdict.REFUSED


def _accepted(value: object, operation: str) -> Answer:
    """What a success tells; every key is optional."""
    message = value.get("message") if isinstance(value, dict) else None
    if isinstance(message, list) and len(message) == 1:
        message = message[0]
    told = message if isinstance(message, dict) else {}
    children = told.get("child_awb_numbers")
    items = {}  # by their id, also where a list holds the ids inside
    for line in find_lines(told, "item_details"):
        if item_id := as_text(line.get("item_id")) or as_text(line.get("id")):
            items[item_id] = {name: value for name, value in line.items() if name != "id"}
    return Answer(
        ReplyVerdict.ACCEPTED,
        message=message_of(value) if isinstance(message, str) else "",
        awb_number=as_text(told.get("awb_number")),
        order_id=as_text(told.get("order_id")),
        items=items,
        child_awb_numbers=tuple(filter(None, map(as_text, children))) if isinstance(children, list) else (),
        delivery_hub=as_text(told.get("delivery_hub")),
        invoice_number=invoice_told(value) if operation.startswith("asn.") else "",
    )


@dataclass(frozen=True, slots=True)
class ReadFailed:
    """Nothing could be read, so nothing is known: neither that it is there nor that it is not.

    message: with the service's own words, which may name people. brief: without them, for alerts and logs. signature:
    how the service said no itself (status, envelope, message), which may mean that there is none; else "".
    """

    meaning: ReplyVerdict
    message: str
    brief: str
    signature: str = ""


@dataclass(frozen=True, slots=True)
class OrderDetails:
    """An order as the service tells it (API §2.3); "" for what it does not tell. `raw` is all of it."""

    order_id: str = ""
    reference_number: str = ""
    awb_number: str = ""
    status: str = ""
    delivery_hub: str = ""
    delivery_postal_code: str = ""
    cash_on_delivery: str = ""
    customer_name: str = field(default="", repr=False)
    customer_mobile: str = field(default="", repr=False)
    delivery_address: str = field(default="", repr=False)
    items: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    raw: dict[str, Any] = field(default_factory=dict, repr=False)

    def is_called(self, number: str) -> bool:
        """Whether this is the order that was asked for by a number, and not another one that came back."""
        return number in (self.awb_number, self.order_id, self.reference_number)


@dataclass(frozen=True, slots=True)
class OrderAbsent:
    """The service says that it has no such order, or something that may mean this.

    signature: how it says so (status, envelope, message); the asked id stands in it as the service wrote it.
    """

    signature: str
    message: str


@dataclass(frozen=True, slots=True)
class AsnHeader:
    """The header of an ASN record as text; "" for what the record does not tell (API §2.1)."""

    id: str = ""
    invoice_number: str = ""
    supplier: str = ""
    supplier_name: str = ""
    site: str = ""
    site_name: str = ""
    status: str = ""
    description: str = ""
    delivery_date: str = ""
    expiry_date: str = ""
    created_date: str = ""
    modified_date: str = ""
    total_price: str = ""
    batch: str = ""


@dataclass(frozen=True, slots=True)
class LabelLink:
    """The signed link to a label; whoever has it has the label."""

    url: str = field(repr=False)


def read_order(reply: Reply) -> OrderDetails | OrderAbsent | ReadFailed:
    """Read the reply of fetching one order (API §4.5)."""
    decided = _of_a_read(reply, names_an_order=True)
    decoded = content(reply)
    if decided is not None or decoded.problem:
        return _failed(reply, decided)
    details = _order_details(decoded.value)
    if details is not None and not says_no(decoded.value) and _is_success(reply):
        told = [name for name in OrderDetails.__dataclass_fields__ if name not in ("items", "raw")]
        texts = {name: as_text(details.get(name)) for name in told}
        return OrderDetails(**texts, items=find_lines(details, "item_details"), raw=details)
    if not (_is_success(reply) or reply.status in (400, 404)) or not status_word(decoded.value):
        return _failed(reply, None)
    message = message_of(decoded.value)
    return OrderAbsent(f"{reply.status} {status_word(decoded.value)} {message}".strip(), message)


def read_asns(reply: Reply) -> AsnPage | ReadFailed:
    """Read the reply of an ASN search, whose body the contract does not show (API §4.1)."""
    decided = _of_a_read(reply)
    decoded = content(reply)
    if decided is not None or decoded.problem or not _is_success(reply) or says_no(decoded.value):
        return _failed(reply, decided)
    return find_records(decoded.value) or _failed(reply, None)


def read_label(reply: Reply) -> LabelLink | ReadFailed:
    """Read the reply of a label call: SUCCESS and a link (API §4.4)."""
    decided = _of_a_read(reply, names_an_order=True)
    value = content(reply).value
    if decided is None and _is_success(reply) and says_yes(value):
        for place in (value, value.get("message"), value.get("data")):
            url = place.get("url") if isinstance(place, dict) else None
            if isinstance(url, str) and url.strip():
                return LabelLink(url.strip())
    return _failed(reply, decided)


def asn_header(record: dict[str, Any]) -> AsnHeader:
    """The header of a record; supplier and site come as id, as name or as an object with both."""
    supplier, supplier_name = _id_and_name(record, "supplier")
    site, site_name = _id_and_name(record, "site")
    named = {"supplier": supplier, "supplier_name": supplier_name, "site": site, "site_name": site_name}
    others = {name: as_text(record.get(name)) for name in AsnHeader.__dataclass_fields__ if name not in named}
    return AsnHeader(**named, **others)


def _id_and_name(record: dict[str, Any], key: str) -> tuple[str, str]:
    value, name, own_id = record.get(key), record.get(f"{key}_name"), as_text(record.get(f"{key}_id"))
    if isinstance(value, dict):
        return own_id or as_text(value.get("id")), as_text(name) or as_text(value.get("name"))
    if isinstance(name, dict):
        return own_id or as_text(value) or as_text(name.get("id")), as_text(name.get("name"))
    if own_id and isinstance(value, str) and value.strip() != own_id:  # what stands beside an id is the name
        return own_id, as_text(name) or as_text(value)
    return own_id or as_text(value), as_text(name)


def _of_a_read(reply: Reply, *, names_an_order: bool = False) -> ReplyVerdict | None:
    """As `by_status`; what may be about the address counts so, but for a 404 about a named order in its own words."""
    of_address = reply.status in _WRONG_ADDRESS and not (reply.status == 404 and names_an_order)
    return by_status(reply) or (ReplyVerdict.MISADDRESSED if of_address else None)


def _is_success(reply: Reply) -> bool:
    return reply.status is not None and 200 <= reply.status < 300


def _order_details(value: object) -> dict[str, Any] | None:
    """The order wherever the envelope holds it."""
    for _ in range(4):
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, dict):
            return None
        if isinstance(value.get("order_details"), dict | list):
            value = value["order_details"]
        elif "awb_number" in value or "reference_number" in value:
            return value
        else:
            value = value.get("message")
    return None


def _failed(reply: Reply, decided: ReplyVerdict | None) -> ReadFailed:
    value = content(reply).value
    said = message_of(value)
    meaning = decided or (ReplyVerdict.REFUSED if reply.status in (400, 404, 422) and said else ReplyVerdict.UNKNOWN)
    if reply.status is None:
        silent = f"no answer ({reply.failure})"
        return ReadFailed(meaning, silent + (f": {plain(reply.detail)}" if reply.detail else ""), silent)
    if is_page(reply):
        page = f"a web page came back instead of an answer of the service (status {reply.status})"
        return ReadFailed(meaning, page, page)
    reason = said or (f"the answer broke off ({reply.failure})" if reply.failure else "the answer cannot be read")
    own = reply.status in (400, 404, 422) and says_no(value)
    signature = f"{reply.status} {status_word(value)} {message_of(value)}".strip() if own else ""
    return ReadFailed(
        meaning, f"{reason} (status {reply.status})", f"it answered with status {reply.status}", signature
    )
