"""How likely a column's name stands for a target: by what the name speaks of, and what else it says."""

from dataclasses import dataclass
from functools import cache
from typing import Final

from logistics_batch.mapping.names import ColumnName
from logistics_batch.mapping.suggest_words import Reading, reading_of
from logistics_batch.model.document import Operation

LIKELY: Final = 0.66
"""From this likeness on a name alone is a reason."""

TO: Final = frozenset(["deliver", "ship", "buyer", "party", "store"])
"""Whose a thing is that belongs to the one who gets the goods."""

_USUAL: Final = 0.97
_NOT_SAID: Final = {"buyer": 0.06, "party": 0.06, "store": 0.06, "": 0.03}  # beside a name that says ship-to
_OF_AN_UNKNOWN_WORD: Final = 0.08
_OF_UNKNOWN_WORDS: Final = 0.2  # at most
_OF_A_FURTHER_WORD: Final = 0.02

# For each target what its names speak of, the likeliest first, parted by `|`; a number is the likeness where it is not
# the usual one. Behind `+` what else a name may say; `TO` is whoever gets
# the goods, and the likelier the plainer it is said, `ANY` the same without that. Anything else speaks against it.
_ORDER: Final[dict[str, str]] = {
    "reference_number": (
        "order number|order ref|order .95|order name .9|buyer order number .8|return number .85|shipment number .82"
        "|shipment ref .85|docket number .82|docket .82|ref number .8|ref .75|document .7|asn number .6"
        "|invoice number .55|trip number .5|document number .6|po number .5|number .45 + deliver ship channel"
    ),
    "customer_reference_number": "buyer ref|buyer order number|original order number .9|buyer po .8|po number .7"
    "|original number .8|order ref number .5 + number ref ANY",
    "customer_name": "name TO|ship .93|deliver name|buyer .87|party .87|store .8|name .9|first name .9|last name .9"
    " + number address TO",
    "customer_mobile": "phone|ship phone|phone name .8 + number address TO",
    "alternate_customer_mobile": "alt phone + number address TO",
    "customer_email": "email + number address TO",
    "delivery_address": "address|deliver .8|street .85|city deliver .7|ship .6|area .7|landmark .68|city .68|state .67"
    " + TO street line city state area landmark number",
    "delivery_postal_code": "pin|ship pin|pin address + number address city TO",
    "delivery_lat": "lat + TO",
    "delivery_long": "long + TO",
    "delivery_hub": "deliver hub|hub .9|deliver site number .8 + number name",
    "pickup_address": "pickup address + line street city number site",
    "pickup_postal_code": "pickup pin + address number site",
    "pickup_customer_name": "pickup name|pickup .8|pickup store .7 + number",
    "pickup_customer_mobile": "pickup phone + number",
    "pickup_hub": "pickup hub|pickup site .9|site .68 + number name",
    "pickup_lat": "pickup lat",
    "pickup_long": "pickup long",
    "pickup_datetime": "pickup date|pickup time|pickup by + expected date time",
    "is_return_order": "return flag|return order .8",
    "is_commercial_address": "commercial address|commercial .9 + flag",
    "priority": "priority",
    "division": "division",
    "expected_delivery_time": (
        "deliver date|deliver expected|expected date .95|deliver by|deliver time|expected by .95|expected .9"
        "|arrival date .9|arrival .85|date time .7|time .5 + TO expected date time by arrival order window"
    ),
    "is_cod": "pay mode|pay|cod pay|cod .9|cod flag + mode order flag",
    "cash_on_delivery": "cod amount|cod|cod price .9|amount .5|total amount .5|order total .6|total .5"
    " + amount total price order",
    "weight": "weight + net shipment order box item",
    "volume": "volume + shipment order box",
    "length": "length + shipment order box",
    "breadth": "breadth + shipment order box",
    "height": "height + shipment order box",
    "packages_count": "box qty|box number .8|box .75|box total + number total",
    "return_address": "return address + line street city",
    "return_postal_code": "return pin + address",
    "return_customer_name": "return name",
    "return_customer_mobile": "return phone + number",
    "awb_number": "awb number|awb .9 + shipment courier",
}
_ITEM: Final[dict[str, str]] = {
    "item_name": "sku|item number .97|sku number|item sku|sku ref .9|item .88|item ref .9|item name .8|sku name .8"
    "|size number .7|item desc .7|desc .68|ean .5 + item number box",
    "item_quantity": "qty|order qty|item qty|item number .3 + item each made dispatch order ship total box deliver sku",
    "item_price_per_each": "price|price each|item price|amount each .9|supplier price .67"
    " + item each net made order sku",
    "total_item_price": "line total|item total|price total|amount .67|line amount|item amount|amount total .67|total .6"
    " + item net line order invoice tax price total",
    "item_category": "category + item",
    "brand": "brand + item",
    "item_id": "item number|line number .7",
    "package_id": "box number",
    "cgst": "cgst + amount",
    "sgst": "sgst + amount",
    "igst": "igst + amount",
    "weight": "item weight .9|sku weight .9 + each line",
}
_ASN: Final[dict[str, str]] = {
    "invoice_number": (
        "invoice number|invoice .85|invoice ref|asn number .64|note number .6|po number .6|po ref .55|po .5"
        "|document number .6|document .5|order number .5|docket number .6|ref .5|ref number .55"
    ),
    "supplier": "supplier number|party number .9|supplier .95|party .8|store number .6 + number",
    "supplier_name": "supplier name|supplier .95|party name .95|party .94|store name .6 + name",
    "site": "site number|store number .8|site .95|hub .8|hub number .9 + number deliver ship",
    "description": "po number .75|po ref .75|po .72",
    "site_name": "site name|site .95|store name .8|store .75|hub .7 + name deliver ship",
    "delivery_date": "deliver date|expected date|expected .9|deliver expected|arrival date|arrival expected|arrival .85"
    "|arrival expiry date .9|expected time .9 + date deliver time expected ship by shipment arrival site expiry",
    "total_price": "",
}
_SKU_LINE: Final[dict[str, str]] = {
    "sku_name": "sku|item number .97|sku number|item .9|sku name .85|item sku|sku ref .9|item ref .9|item name .75"
    "|channel sku .97|ref .6 + item number channel supplier",
    "qty": "dispatch qty|qty|item qty|made qty .9|order qty .87|po qty .84|deliver qty .95|total qty"
    " + item each made dispatch order ship total deliver invoice expected po sku",
    "qty_received": "qty received .6",
    "price_per_qty": "price|price each|item price|amount each .9 + item each net made po sku",
    "item_desc": "item desc|desc .95|item name .9|sku desc|sku name .88|item .7|name .5 + item name sku",
    "maximum_retail_price": "mrp",
    "discount": "discount|discount amount + amount each",
    "discount_percentage": "discount percent + percent",
}
_ITEM_BY_ID: Final = _ITEM | {"item_name": "sku|sku number|item sku|item name .9|sku name .9|item .8 + box"}
_RECEIPT: Final[dict[str, str]] = {
    "invoice_number": "invoice number|asn number .9|po number .85|invoice .85|order number .7",
    "sku_name": _SKU_LINE["sku_name"],
    "qty": "qty received|received .7|qty .9 + item received made",
    "condition": "condition|item condition|status .8",
    "received_date": "received date|asn date|date .7 + date",
    "supplier_name": _ASN["supplier_name"],
    "site_name": "site name|site .95|site number .8|store .75 + name number",
}
_CHANGED: Final = {"order_id": "awb number|awb|order number .95|order .9|order ref|ref number .85|ref .8 + number"}
_MEASURES: Final = {name: _ORDER[name] for name in ("weight", "length", "breadth", "height")}
_LABEL: Final[dict[str, str]] = {
    "order_numbers": "order number|order|order ref|awb number .9|awb .85|ref number .8",
    "awb_number": "awb number|awb",
    "primary_mobile_no": _ORDER["customer_mobile"],
    "shipping_address": _ORDER["delivery_address"],
    "delivery_pincode": _ORDER["delivery_postal_code"],
    "customer_name": _ORDER["customer_name"],
    "is_cod": _ORDER["is_cod"],
    "amount_to_collect": f"amount .7|{_ORDER['cash_on_delivery']}",
    "date_placed": "made date|order date|made .8 + date order",
    "return_address": _ORDER["return_address"],
    **_MEASURES,
}
_LABEL_ITEM: Final[dict[str, str]] = {
    "name": _ITEM["item_name"],
    "quantity": _ITEM["item_quantity"],
    "each_item_price": _ITEM["item_price_per_each"],
    "total_item_price": "line total|item total|price total + amount net",
}


def names_of_targets(operation: Operation) -> tuple[dict[str, str], dict[str, str]]:
    """For fields and for lines what the names of each target speak of, the likeliest first, parted by `|`."""
    match operation:
        case Operation.RECEIPT_READ:
            return _RECEIPT, {}
        case Operation.ASN_CREATE | Operation.ASN_UPDATE:
            return _ASN, _SKU_LINE
        case Operation.LABEL_CREATE:
            return _LABEL, _LABEL_ITEM
        case Operation.ORDER_CREATE:
            return _ORDER, {name: names for name, names in _ITEM.items() if name != "item_id"}
        case Operation.ORDER_ADD_ITEMS:
            return _CHANGED | _ORDER, _ITEM_BY_ID | _MEASURES
        case _:
            return _CHANGED | _ORDER, _ITEM_BY_ID


def likeness(column: str, names: str) -> float:
    """How likely a column's name stands for a target (0 to 1).

    >>> likeness("Shipping Pin Code", "pin + TO"), likeness("Billing PIN", "pin + TO")
    (0.97, 0.0)
    """
    return likeness_of(reading_of(column), names)


def likeness_of(reading: Reading, names: str) -> float:
    """How likely what a name says stands for a target (0 to 1)."""
    known = _alternatives(names)
    unknown = min(_OF_UNKNOWN_WORDS, _OF_AN_UNKNOWN_WORD * reading.unknown)
    best = 0.0
    for way in known:
        rest = reading.meanings - way.wanted
        if way.wanted <= reading.meanings and rest <= way.allowed:
            about = way.likely - _OF_A_FURTHER_WORD * len(rest - TO) - unknown - _whose(reading, way)
            best = max(best, round(about, 2))
    return best


def alike(one: str, other: str) -> float:
    """How alike two columns' names are, by what they speak of (0 to 1)."""
    if ColumnName.of(one).short == ColumnName.of(other).short:
        return 1.0
    mine, theirs = reading_of(one), reading_of(other)
    together = len(mine.meanings) + len(theirs.meanings) + mine.unknown + theirs.unknown
    return round(_USUAL * 2 * len(mine.meanings & theirs.meanings) / together, 2) if together else 0.0


def _whose(reading: Reading, way: "_Way") -> float:
    """What it costs that a name says customer, or nobody, where another may say ship-to."""
    if not way.is_somebodys or reading.meanings & {"deliver", "ship"}:
        return 0.0
    return max(_NOT_SAID[whose] for whose in (reading.meanings & TO) or {""})


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to name a target: what must be said, what may be, how likely it is, and whether it is somebody's."""

    wanted: frozenset[str]
    allowed: frozenset[str]
    likely: float
    is_somebodys: bool


@cache
def _alternatives(names: str) -> tuple[_Way, ...]:
    said, _, also = names.partition("+")
    words = also.split()
    allowed = frozenset(words) | (TO if {"TO", "ANY"} & set(words) else frozenset())
    found = []
    for each in filter(None, (part.strip() for part in said.split("|"))):
        *wanted, last = each.split()
        likely = float(last) if last[0] == "." else _USUAL
        wanted = wanted if last[0] == "." else [*wanted, last]
        needed = frozenset(wanted) - {"TO"}
        found.append(_Way(needed, allowed, likely, "TO" in words and not needed & TO))
    return tuple(found)
