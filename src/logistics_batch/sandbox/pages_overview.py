"""The first page: what there is, at a glance."""

import sqlite3
from dataclasses import dataclass
from typing import Any

from logistics_batch.sandbox import pages_data
from logistics_batch.sandbox.pages_data import Wanted
from logistics_batch.sandbox.pages_html import Html, Node, card, link, said, table, tag
from logistics_batch.sandbox.pages_journal import Line
from logistics_batch.sandbox.pages_layout import (
    ASNS,
    BEHAVIOUR,
    EVENTS,
    HOME,
    JOURNAL,
    LABELS,
    ORDERS,
    TONES,
    badge,
    page,
    share_bar,
    tone,
    with_query,
)
from logistics_batch.sandbox.pages_lists import ORDER_HEADS, journal_table, order_row

_NEWEST = 8


@dataclass(frozen=True)
class Overview:
    """What the first page shows."""

    orders: dict[str, int]
    newest: list[sqlite3.Row]
    asns: int
    labels: int
    events: dict[str, int]


def look(connection: sqlite3.Connection) -> Overview:
    """Count everything."""
    return Overview(
        orders=pages_data.counts(connection, "orders", "status"),
        newest=pages_data.orders(connection, Wanted(count=_NEWEST)),
        asns=pages_data.size(connection, "asns"),
        labels=pages_data.size(connection, "labels"),
        events=pages_data.counts(connection, "event_deliveries", "state"),
    )


def overview_page(seen: Overview, *, lines: list[Line], rules: list[dict[str, Any]], changed: dict[str, Any]) -> bytes:
    """The page; changed: the switches that are not at their defaults."""
    figures = tag(
        "div",
        _figure("Orders", sum(seen.orders.values()), ORDERS),
        _figure("ASNs", seen.asns, ASNS),
        _figure("Labels", seen.labels, LABELS),
        _figure("Events", sum(seen.events.values()), EVENTS, note=_event_note(seen.events)),
        _figure("Fault rules", len(rules), BEHAVIOUR, note=_rule_note(rules), alarm=bool(rules)),
        class_="figures",
    )
    newest = table(ORDER_HEADS, map(order_row, seen.newest), empty="No orders yet. POST one to /orders/shipment.")
    requests = journal_table(lines, empty="Nothing was received yet.")
    return page(
        "Overview",
        figures,
        _by_status(seen.orders),
        _off_default(changed),
        card(tag("span", "Newest orders ", link(ORDERS, "all", class_="more")), newest),
        card(tag("span", "Journal ", link(JOURNAL, "all", class_="more")), requests),
        current=HOME,
    )


def _figure(name: str, number: int, address: str, *, note: str = "", alarm: bool = False) -> Html:
    content = [tag("strong", number), tag("span", name), tag("small", note or "\u00a0")]
    return link(address, *content, class_="figure alarm" if alarm else "figure")


def _event_note(events: dict[str, int]) -> str:
    return " · ".join(f"{number:,} {state}" for state, number in events.items())


def _rule_note(rules: list[dict[str, Any]]) -> str:
    return f"struck {sum(rule['fired'] for rule in rules):,} times" if rules else "all well"


def _by_status(orders: dict[str, int]) -> Html | None:
    if not orders:
        return None
    together = dict(sorted(orders.items(), key=lambda each: TONES.index(tone(each[0]))))
    legend = [
        tag("li", link(with_query(ORDERS, state=state), badge(state), tag("b", number)))
        for state, number in together.items()
    ]
    return card("Orders by status", share_bar(together, says="Orders by status"), tag("ul", legend, class_="legend"))


def _off_default(changed: dict[str, Any]) -> Node:
    if not changed:
        return None
    named = [tag("li", tag("code", name), " = ", tag("code", said(value))) for name, value in changed.items()]
    return card("Switches off their defaults", tag("ul", named, class_="plain"))
