"""Is what the service has the same as what we sent, and does it show a change that was asked for? Pure.

Compared are the things that make two documents different ones for a warehouse: who gets it, where, and how much of
what. Texts are compared without regard to case and to the number of blanks; absent is never equal. Fetching shows a
part of an order only (API §2.3): a change of anything else is neither shown nor not shown.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, Final

from logistics_batch.api.answers import OrderDetails, asn_header
from logistics_batch.api.envelopes import as_text, find_lines, first_of

_MOBILE_DIGITS = 10
_ORDER_NAMES = ("item_name",)
_ORDER_QUANTITIES = ("item_quantity",)
_ASN_NAMES = ("sku_name", "name", "item_name", "sku")
_ASN_QUANTITIES = ("qty", "quantity")
_QUANTITY = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")

_SHOWN_OF_ITEMS: Final = ("item_name", "item_quantity")
_AMOUNTS: Final = ("_quantity", "_delivery", "weight", "volume")
_CANCELLED: Final = ("cancelled", "canceled")

Amounts = Counter[tuple[str, Decimal | None]]


def same_order(sent_body: str, order: OrderDetails) -> bool:
    """Whether an order of the service has the content that we sent: mobile, name, address, postcode, amount and items.

    Name, address and the amount to collect decide where both sides give them. Kits are unpacked by the service in ways
    it does not publish (API §2.3); then the loose items must be among its items.
    """
    sent = _sent(sent_body)
    mobile = _mobile(as_text(sent.get("customer_mobile")))
    if not mobile or mobile != _mobile(order.customer_mobile):
        return False
    postcode = as_text(sent.get("delivery_postal_code"))
    if postcode and _postcode(postcode) != _postcode(order.delivery_postal_code):
        return False
    for name, told in (("customer_name", order.customer_name), ("delivery_address", order.delivery_address)):
        # a service may write commas, blanks and capitals in its own way
        ours, theirs = (list(filter(str.isalnum, text.casefold())) for text in (as_text(sent.get(name)), told))
        if ours and theirs and ours != theirs:
            return False
    shown, named = _decimal(order.cash_on_delivery), _decimal(as_text(sent.get("cash_on_delivery"))) or Decimal(0)
    # one that is prepaid collects none, whatever amount it names
    if shown is not None and shown not in ((named,) if sent.get("is_cod") == "true" else (named, Decimal(0))):
        return False
    our_items = find_lines(sent, "item_details")
    if _shown_of(our_items) == _shown_of(order.items):  # as nearly each service shows them; the rest takes far longer
        return True
    wanted = _amounts(our_items, _ORDER_NAMES, _ORDER_QUANTITIES)
    there = _amounts(order.items, _ORDER_NAMES, _ORDER_QUANTITIES)
    if _has_unstated(wanted):
        wanted, there = _names_only(wanted), _names_only(there)
    return wanted <= there if sent.get("kit_skus") else wanted == there


def other_goods(sent_body: str, items: Iterable[dict[str, Any]]) -> bool:
    """Whether items that an answer names (API §4.6) are not among those that we sent, in name or quantity.

    An answer without items says nothing against us, nor does one to kits, which the service unpacks (API §2.3).
    """
    answered = [item for item in items if first_of(item, _ORDER_NAMES)]
    if not answered or (sent := _sent(sent_body)).get("kit_skus"):
        return False
    ours = _amounts(find_lines(sent, "item_details"), _ORDER_NAMES, _ORDER_QUANTITIES)
    theirs = _amounts(answered, _ORDER_NAMES, _ORDER_QUANTITIES)
    if _has_unstated(ours) or _has_unstated(theirs):
        ours, theirs = _names_only(ours), _names_only(theirs)
    return not theirs <= ours


def same_asn(sent_body: str, record: dict[str, Any]) -> bool:
    """Whether a record of the service has the content that we sent: invoice, supplier, site and SKU lines.

    Where a record gives less of a party, that does not speak against it: invoice and lines must be equal in any case.
    """
    return same_parties(sent_body, record) and same_goods(sent_body, record)


def same_parties(sent_body: str, record: dict[str, Any]) -> bool:
    """Whether an ASN of the service may have the supplier and the site that we sent.

    Of a party the id decides where both sides give one, else the name.
    """
    sent, theirs = _sent(sent_body), asn_header(record)
    parties = (
        ("supplier", theirs.supplier, theirs.supplier_name),
        ("site", theirs.site, theirs.site_name),
    )
    return not any(
        _is_another(as_text(sent.get(key)), as_text(sent.get(f"{key}_name")), their_id, their_name)
        for key, their_id, their_name in parties
    )


def same_goods(sent_body: str, record: dict[str, Any]) -> bool:
    """Whether an ASN of the service has the invoice number and the SKU lines that we sent, whoever its parties are."""
    sent, invoice_number = _sent(sent_body), asn_header(record).invoice_number
    if not invoice_number or as_text(sent.get("invoice_number")) != invoice_number:
        return False
    ours = _amounts(find_lines(sent), _ASN_NAMES, _ASN_QUANTITIES)
    return bool(ours) and ours == _amounts(find_lines(record), _ASN_NAMES, _ASN_QUANTITIES)


def record_digest(record: dict[str, Any]) -> str:
    """A name for a record under which it is known again: of its id, or of its whole content if it has none.

    Not of the content beside an id: the service changes dates and states of records that are long known.
    """
    record_id = as_text(record.get("id"))
    text = f"id {record_id}" if record_id else json.dumps(record, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _sent(body: str) -> dict[str, Any]:
    value = json.loads(body) if body else {}  # a body of ours
    return value if isinstance(value, dict) else {}


def _shown_of(items: Iterable[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [tuple(item.get(name) for name in _SHOWN_OF_ITEMS) for item in items]


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _mobile(text: str) -> str:
    """The last ten digits: the number without its country."""
    return "".join(character for character in text if character.isdecimal())[-_MOBILE_DIGITS:]


def _postcode(text: str) -> str:
    return "".join(character for character in text if character.isalnum()).casefold()


def _is_another(our_id: str, our_name: str, their_id: str, their_name: str) -> bool:
    """Whether a party is certainly another one than was sent; its name may stand in the place of its id."""
    if our_id and their_id:
        unnamed = {our_name} - {""} if not their_name else set()
        return _folded(their_id) not in map(_folded, {our_id, *unnamed})
    return bool(our_name and their_name) and _folded(our_name) != _folded(their_name)


def _amounts(lines: Iterable[dict[str, Any]], names: tuple[str, ...], quantities: tuple[str, ...]) -> Amounts:
    """How much of each name there is; a line without a quantity counts as one line of unstated quantity."""
    totals: dict[str, Decimal] = {}
    found: Amounts = Counter()
    for line in lines:
        name, quantity = _folded(first_of(line, names)), _decimal(first_of(line, quantities))
        if quantity is None:
            found[name, None] += 1
        else:
            totals[name] = totals.get(name, Decimal(0)) + quantity
    found.update(dict.fromkeys(totals.items(), 1))
    return found


def _has_unstated(amounts: Amounts) -> bool:
    return any(quantity is None for _, quantity in amounts)


def _names_only(amounts: Amounts) -> Amounts:
    return Counter({(name, None): 1 for name, _ in amounts})


def _decimal(text: str) -> Decimal | None:
    return Decimal(text).normalize() if _QUANTITY.fullmatch(text) else None


def shows_change(operation: str, sent_body: str, order: OrderDetails) -> bool | None:
    """Whether the order has what the change was to bring; None where fetching cannot show all of it.

    operation: "order.update", "order.add_items", "order.delete_items" or "order.cancel".
    """
    return _SHOWN[operation](_sent(sent_body), order)


def _deleted(sent: Mapping[str, Any], order: OrderDetails) -> bool | None:
    items = order.raw.get("item_details")
    if not isinstance(items, dict):
        return None
    return not any(as_text(item_id) in items for item_id in sent.get("item_list", ()))


def _updated(sent: Mapping[str, Any], order: OrderDetails) -> bool | None:
    header = {name: value for name, value in sent.items() if name != "item_details"}
    if not set(header) <= set(order.raw):
        return None
    if not all(_same(name, as_text(value), as_text(order.raw.get(name))) for name, value in header.items()):
        return False
    return _items_shown(sent["item_details"], order, all_of_it=True) if "item_details" in sent else True


def _items_shown(wanted: object, order: OrderDetails, *, all_of_it: bool) -> bool | None:
    there = order.raw.get("item_details")
    if not isinstance(wanted, dict) or not isinstance(there, dict):
        return None
    if all_of_it and any(name not in _SHOWN_OF_ITEMS for item in wanted.values() for name in item):
        return None
    return all(_item_shown(item, there.get(item_id)) for item_id, item in wanted.items())


def _item_shown(wanted: Mapping[str, Any], there: object) -> bool:
    if not isinstance(there, dict):
        return False
    asked = [name for name in _SHOWN_OF_ITEMS if name in wanted]
    return all(_same(name, as_text(wanted[name]), as_text(there.get(name))) for name in asked)


def _same(name: str, ours: str, theirs: str) -> bool:
    """Exactly: a change may be one of letters or blanks only. Numbers may be written in another way."""
    if name.endswith("_mobile"):
        return _mobile(ours) == _mobile(theirs)
    if _QUANTITY.fullmatch(ours) and _QUANTITY.fullmatch(theirs) and name.endswith(_AMOUNTS):
        return Decimal(ours) == Decimal(theirs)
    return ours.strip() == theirs.strip()


_SHOWN: Final[dict[str, Callable[[Mapping[str, Any], OrderDetails], bool | None]]] = {
    "order.update": _updated,
    # An added item is there under the id that was chosen for it; its price and weight are not shown.
    "order.add_items": lambda sent, order: _items_shown(sent.get("item_details"), order, all_of_it=False),
    "order.delete_items": _deleted,
    "order.cancel": lambda _, order: order.status.casefold() in _CANCELLED,
}
