"""One order: who, where, what, its history, labels, events and journal."""

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from logistics_batch.sandbox import pages_data
from logistics_batch.sandbox.orders import child_awbs, item_rows
from logistics_batch.sandbox.pages_data import Wanted
from logistics_batch.sandbox.pages_html import Html, Node, card, facts, said, table, tag
from logistics_batch.sandbox.pages_journal import Line
from logistics_batch.sandbox.pages_layout import ORDERS, badge, moment, page, tone
from logistics_batch.sandbox.pages_lists import deliveries_table, folded, journal_table, labels_table
from logistics_batch.sandbox.statuses import history_of

_RECIPIENT = ("customer_name", "customer_mobile", "alternate_customer_mobile", "customer_email")
_DELIVERY = ("delivery_address", "delivery_postal_code", "expected_delivery_time", "division", "priority")
_PICKUP = ("pickup_customer_name", "pickup_customer_mobile", "pickup_address", "pickup_postal_code", "pickup_datetime")
_RETURN = ("return_customer_name", "return_customer_mobile", "return_address", "return_postal_code")
_SHOWN = frozenset((*_RECIPIENT, *_DELIVERY, *_PICKUP, *_RETURN, "reference_number", "is_cod", "cash_on_delivery"))
_ADDRESS_LENGTH = 500


@dataclass(frozen=True)
class SeenOrder:
    """An order with all that belongs to it."""

    row: sqlite3.Row
    items: list[sqlite3.Row]
    packages: list[str]
    history: list[dict[str, Any]]
    labels: list[sqlite3.Row]
    deliveries: list[sqlite3.Row]
    attempts: dict[int, list[sqlite3.Row]]


def look(connection: sqlite3.Connection, order_id: int) -> SeenOrder | None:
    """The order with this id, if there is one."""
    row = connection.execute("SELECT * FROM orders WHERE order_id = ?", (order_id,)).fetchone()
    if row is None:
        return None
    of_it = Wanted(text=row["awb_number"])
    deliveries = pages_data.deliveries(connection, of_it)
    return SeenOrder(
        row=row,
        items=list(item_rows(connection, order_id).values()),
        packages=child_awbs(connection, order_id),
        history=history_of(connection, row),
        labels=pages_data.labels(connection, of_it),
        deliveries=deliveries,
        attempts=pages_data.attempts(connection, [one["delivery_id"] for one in deliveries]),
    )


def order_page(seen: SeenOrder, *, urls: dict[int, str], lines: list[Line]) -> bytes:
    """The page of one order."""
    row, body = seen.row, json.loads(seen.row["body"])
    columns = tag(
        "div",
        card("Recipient", _fields(body, _RECIPIENT), _fields(body, _DELIVERY)),
        card("Order", _about(seen, body)),
        card("History", _history(seen.history)),
        class_="columns",
    )
    deliveries = deliveries_table(seen.deliveries, seen.attempts, empty="No event was due: nobody has subscribed.")
    return page(
        f"Order {row['reference_number'][:40]}",
        columns,
        card("Items", _items(seen.items)),
        _legs(body),
        card("Labels", labels_table(seen.labels, urls, empty="No label was asked for.")),
        card("Events", deliveries),
        card("Journal", journal_table(lines, empty="No line in the newest part of the journal.")),
        current=ORDERS,
        lead=badge(row["status"]),
    )


def _about(seen: SeenOrder, body: dict[str, Any]) -> Html:
    row = seen.row
    cod = f"₹ {body.get('cash_on_delivery', '0.00')}" if body.get("is_cod") == "true" else "prepaid"
    rest = {name: value for name, value in body.items() if name not in _SHOWN}
    pairs: list[tuple[str, Node]] = [
        ("AWB number", tag("code", said(row["awb_number"]))),
        ("Order id", tag("code", str(row["order_id"]))),
        ("Reference number", said(row["reference_number"])),
        ("Delivery hub", said(f"{row['delivery_hub']} · {row['delivery_hub_sn']}")),
        ("Payment", said(cod)),
        ("Packages", said(", ".join(seen.packages) or "one")),
        ("Created", moment(row["created_at"])),
        ("Changed", moment(row["modified_at"])),
    ]
    return tag("div", facts(pairs), folded("all other fields", rest) if rest else None)


def _fields(body: dict[str, Any], names: tuple[str, ...]) -> Html | None:
    given = [(name.replace("_", " "), said(body[name], longest=_ADDRESS_LENGTH)) for name in names if body.get(name)]
    return facts(given) if given else None


def _legs(body: dict[str, Any]) -> Html | None:
    """Pickup and return, where the order has them."""
    parts = [(title, _fields(body, names)) for title, names in (("Pickup", _PICKUP), ("Return", _RETURN))]
    cards = [card(title, content) for title, content in parts if content is not None]
    return tag("div", cards, class_="columns") if cards else None


def _history(history: list[dict[str, Any]]) -> Html:
    steps = []
    for step in history:
        remarks = " · ".join(text for text in (step["remarks"], step["courier_comment"]) if text)
        steps.append(
            tag(
                "li",
                badge(step["status"]),
                tag("span", moment(step["at"]), tag("small", said(step["place"], longest=60))),
                tag("em", said(remarks, longest=200)) if remarks else None,
                class_=tone(step["status"]),
            )
        )
    return tag("ol", steps, class_="history")


def _items(items: list[sqlite3.Row]) -> Html:
    heads = ("Item id", "Name", "Kit", "Quantity", "Picked", "Delivered", "Each", "Total", "Package")
    return table(heads, map(_item_row, items), empty="The order names no items.")


def _item_row(row: sqlite3.Row) -> list[Node]:
    item = json.loads(row["body"])
    return [
        tag("code", said(row["item_id"], longest=40)),
        said(item["item_name"], longest=80),
        said(row["kit"] or "–", longest=40),
        item.get("item_quantity", 1),
        row["picked"],
        row["delivered"],
        said(item.get("item_price_per_each", "–")),
        said(item.get("total_item_price", "–")),
        said(item.get("package_id", "–"), longest=40),
    ]
