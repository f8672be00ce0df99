"""Reads what the service tells: orders, lists of ASNs, label links. Every key is optional, nothing raises."""

from dataclasses import dataclass, field
from typing import Any

from logistics_batch.api.envelopes import (
    as_text,
    find_lines,
    find_records,
    message_of,
    plain,
    says_no,
    says_yes,
    status_word,
)
from logistics_batch.api.reply import Reply
from logistics_batch.api.verdicts import Meaning, by_status, content, is_page


@dataclass(frozen=True, slots=True)
class ReadFailed:
    """Nothing could be read, so nothing is known: neither that it is there nor that it is not.

    message: with the service's own words, which may name people. brief: without them, for alerts and logs.
    """

    meaning: Meaning
    message: str
    brief: str


@dataclass(frozen=True, slots=True)
class OrderDetails:
    """An order as the service tells it (API §2.3); "" for what it does not tell. `raw` is all of it."""

    order_id: str = ""
    reference_number: str = ""
    awb_number: str = ""
    status: str = ""
    delivery_hub: str = ""
    delivery_hub_sn: str = ""
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
class OrderFound:
    """The service has the order."""

    order: OrderDetails


@dataclass(frozen=True, slots=True)
class OrderAbsent:
    """The service says that it has no such order, or something that may mean this.

    signature: how it says so (status, envelope, message); the asked id stands in it as the service wrote it.
    """

    signature: str
    message: str


@dataclass(frozen=True, slots=True)
class AsnPage:
    """What one ASN fetch returned: records as they came, and count and next as the envelope gives them."""

    records: tuple[dict[str, Any], ...] = field(repr=False)
    count: int | None = None
    next: str | None = None


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
    serial_number: str = ""


@dataclass(frozen=True, slots=True)
class LabelLink:
    """The signed link to a label; whoever has it has the label."""

    url: str = field(repr=False)


def read_order(reply: Reply) -> OrderFound | OrderAbsent | ReadFailed:
    """Read the reply of fetching one order (API §4.5)."""
    decided = by_status(reply, names_an_order=True)
    decoded = content(reply)
    if decided is not None or decoded.problem:
        return _failed(reply, decided)
    details = _order_details(decoded.value)
    if details is not None and not says_no(decoded.value) and _is_success(reply):
        return OrderFound(_order(details))
    if not (_is_success(reply) or reply.status in (400, 404)) or not status_word(decoded.value):
        return _failed(reply, None)
    message = message_of(decoded.value)
    return OrderAbsent(f"{reply.status} {status_word(decoded.value)} {message}".strip(), message)


def read_asns(reply: Reply) -> AsnPage | ReadFailed:
    """Read the reply of an ASN search, whose body the contract does not show (API §4.1)."""
    decided = by_status(reply)
    decoded = content(reply)
    if decided is not None or decoded.problem or not _is_success(reply) or says_no(decoded.value):
        return _failed(reply, decided)
    found = find_records(decoded.value)
    if found is None:
        return _failed(reply, None)
    return AsnPage(found.records, found.count, found.next)


def read_label(reply: Reply) -> LabelLink | ReadFailed:
    """Read the reply of a label call: SUCCESS and a link (API §4.4)."""
    decided = by_status(reply, names_an_order=True)
    value = content(reply).value
    if decided is None and _is_success(reply) and says_yes(value):
        for place in (value, value.get("message"), value.get("data")):
            url = place.get("url") if isinstance(place, dict) else None
            if isinstance(url, str) and url.strip():
                return LabelLink(url.strip())
    return _failed(reply, decided)


def asn_lines(record: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """The SKU lines of a record, under whatever name and in whatever form they come."""
    return find_lines(record)


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


def _order(details: dict[str, Any]) -> OrderDetails:
    texts = {
        name: as_text(details.get(name)) for name in OrderDetails.__dataclass_fields__ if name not in ("items", "raw")
    }
    return OrderDetails(**texts, items=find_lines(details, "item_details"), raw=details)


def _failed(reply: Reply, decided: Meaning | None) -> ReadFailed:
    said = message_of(content(reply).value)
    meaning = decided or (Meaning.REFUSED if reply.status in (400, 404, 422) and said else Meaning.UNKNOWN)
    if reply.status is None:
        silent = f"no answer ({reply.failure})"
        return ReadFailed(meaning, silent + (f": {plain(reply.detail)}" if reply.detail else ""), silent)
    if is_page(reply):
        page = f"a web page came back instead of an answer of the service (status {reply.status})"
        return ReadFailed(meaning, page, page)
    reason = said or (f"the answer broke off ({reply.failure})" if reply.failure else "the answer cannot be read")
    return ReadFailed(meaning, f"{reason} (status {reply.status})", f"it answered with status {reply.status}")
