"""The orders behind a label request, and the pages that they become (API §2.2, §4.4)."""

import json
import sqlite3
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from logistics_batch.sandbox.contract import Body
from logistics_batch.sandbox.contract.forms import Refused
from logistics_batch.sandbox.labels.layout import LabelPage
from logistics_batch.sandbox.orders.stored import CANCELLED, UNKNOWN_ORDER, child_awbs, find_order, item_rows

RETURN_TO = "Sandbox Logistics, Plot 7, Bhiwandi 421302"
NO_LABEL_WHEN_CANCELLED = "The order is cancelled"
ONE_BY_ONE = "Labels are made for one order a call"
OTHER_ORDER = "order_id is not the reference number of this AWB Number"


def pages_of_orders(
    connection: sqlite3.Connection, numbers: list[str], *, many: str, bad_number: str
) -> list[LabelPage]:
    """The pages for ``order_numbers[]``.

    many: what a call for several orders gives, as the switch ``multi_order_labels`` says.
    bad_number: whether one unknown or cancelled order refuses the whole call, as ``multi_order_bad_number`` says.
    """
    if len(numbers) > 1 and many == "refused":
        raise Refused(ONE_BY_ONE)
    chosen = numbers[:1] if many == "first_only" else numbers
    orders: list[list[LabelPage]] = []
    for number in chosen:
        try:
            orders.append(_pages(connection, find_order(connection, number, by_reference=True), {}))
        except Refused:
            if bad_number != "skip" or len(chosen) == 1:
                raise
    if not orders:
        raise Refused(UNKNOWN_ORDER)
    if many == "one_pdf_reversed":
        orders.reverse()
    return [page for pages in orders for page in pages]


def pages_of_shipment(connection: sqlite3.Connection, shipment: Body) -> list[LabelPage]:
    """The pages for a whole shipment: what it says stands over what the order says."""
    order = find_order(connection, shipment["awb_number"])
    if order["awb_number"] != shipment["awb_number"]:
        raise Refused(UNKNOWN_ORDER)
    if shipment.get("order_id") not in (None, "", order["reference_number"]):
        raise Refused(OTHER_ORDER)
    return _pages(connection, order, shipment)


def _pages(connection: sqlite3.Connection, order: sqlite3.Row, given: Body) -> list[LabelPage]:
    """A page for each package of the order."""
    if order["status"] == CANCELLED:
        raise Refused(NO_LABEL_WHEN_CANCELLED)
    stored = json.loads(order["body"])
    packages = child_awbs(connection, order["order_id"]) or [order["awb_number"]]
    shared: dict[str, Any] = {
        "order_awb_number": order["awb_number"],
        "reference": order["reference_number"],
        "hub": order["delivery_hub"],
        "hub_name": order["delivery_hub_sn"],
        "name": given.get("customer_name") or stored.get("customer_name", ""),
        "address": given.get("shipping_address") or stored["delivery_address"],
        "postal_code": given.get("delivery_pincode") or stored.get("delivery_postal_code", ""),
        "mobile": given.get("primary_mobile_no") or stored["customer_mobile"],
        "collect": _to_collect(stored, given),
        "return_to": given.get("return_address") or stored.get("return_address") or RETURN_TO,
        "contents": _contents(connection, order["order_id"], given.get("sku_details")),
        "packages": len(packages),
        "date_placed": given.get("date_placed") or order["created_at"][:10],
        "weight": given.get("weight") or _grams(stored.get("weight", "")),
        "dimensions": _dimensions(given) or _dimensions(stored),
    }
    return [LabelPage(awb_number=awb, package=number, **shared) for number, awb in enumerate(packages, start=1)]


def _to_collect(stored: Body, given: Body) -> str:
    """The amount for a COD label, "" for a prepaid one; a whole shipment is prepaid unless it says is_cod itself."""
    cod = given.get("is_cod", False) if given else stored.get("is_cod") == "true"
    return str(given.get("amount_to_collect") or stored.get("cash_on_delivery", "0.00")) if cod else ""


def _grams(kilograms: str) -> str:
    """An order's weight is in kilograms, a label's in grams (API §2.2, §2.3)."""
    return f"{(Decimal(kilograms) * 1000).normalize():f}" if kilograms else ""


def _dimensions(body: Body) -> str:
    """Length x breadth x height as far as they are known; a label request may give them as one text."""
    given = body.get("dimensions", body)
    if isinstance(given, str):
        return given
    sides = [str(given[name]) for name in ("length", "breadth", "height") if given.get(name)]
    return " x ".join(sides) + f" {given.get('uom') or 'cm'}" if sides else ""


def _contents(connection: sqlite3.Connection, order_id: int, given: Any) -> str:
    """Items and how many of each: those of the request, else those of the order."""
    if isinstance(given, str) and given.strip():
        return given
    if given:
        return _listed((line.get("name", ""), line.get("quantity", "1")) for line in given)
    items = [json.loads(row["body"]) for row in item_rows(connection, order_id).values()]
    return _listed((item["item_name"], item.get("item_quantity", 1)) for item in items)


def _listed(lines: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{name} x {quantity}" for name, quantity in lines)
