"""The lists: orders, ASNs, labels, events with their deliveries, and the journal."""

import json
import sqlite3
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from logistics_batch.sandbox.pages_data import Wanted
from logistics_batch.sandbox.pages_html import Html, Node, card, link, said, table, tag
from logistics_batch.sandbox.pages_journal import Line
from logistics_batch.sandbox.pages_layout import (
    ASNS,
    EVENTS,
    JOURNAL,
    LABELS,
    ORDERS,
    badge,
    moment,
    older_link,
    page,
    search_form,
    state_links,
)

ORDER_HEADS = ("Reference", "AWB", "Status", "Recipient", "Items", "Hub", "Created")
_ABOUT_ITSELF = frozenset({"seq", "at", "event", "request", "endpoint", "effect", "effect_id", "method", "path"})


def order_row(row: sqlite3.Row) -> list[Node]:
    """One order in a list."""
    cod = tag("span", "COD", class_="badge off") if row["is_cod"] == "true" else None
    return [
        link(f"{ORDERS}/{row['order_id']}", said(row["reference_number"], longest=40)),
        tag("code", said(row["awb_number"])),
        badge(row["status"]),
        tag("span", said(row["customer_name"] or "–", longest=40), " ", cod),
        row["items"],
        said(row["delivery_hub_sn"]),
        moment(row["created_at"]),
    ]


def orders_page(wanted: Wanted, rows: list[sqlite3.Row], counted: dict[str, int]) -> bytes:
    """Orders, with a search and their states."""
    listed = table(ORDER_HEADS, map(order_row, rows), empty="No order is like that.")
    return page(
        "Orders",
        state_links(ORDERS, wanted, counted),
        listed,
        older_link(ORDERS, wanted, [row["order_id"] for row in rows]),
        current=ORDERS,
        lead=search_form(ORDERS, wanted, "Reference, AWB or order id"),
    )


def asns_page(wanted: Wanted, rows: list[sqlite3.Row], counted: dict[str, int]) -> bytes:
    """ASNs, each with its lines."""
    heads = ("Invoice", "Supplier", "Site", "Status", "Delivery date", "Lines", "Created")
    return page(
        "Advance shipping notices",
        state_links(ASNS, wanted, counted),
        table(heads, map(_asn_row, rows), empty="No ASN is like that."),
        older_link(ASNS, wanted, [row["asn_id"] for row in rows]),
        current=ASNS,
        lead=search_form(ASNS, wanted, "Invoice number"),
    )


def labels_page(wanted: Wanted, rows: list[sqlite3.Row], urls: dict[int, str]) -> bytes:
    """Labels, each with a fresh link to its PDF."""
    return page(
        "Labels",
        labels_table(rows, urls, empty="No label was asked for."),
        older_link(LABELS, wanted, [row["label_id"] for row in rows]),
        current=LABELS,
        lead=search_form(LABELS, wanted, "AWB"),
    )


def labels_table(rows: list[sqlite3.Row], urls: dict[int, str], *, empty: str) -> Html:
    """Labels with their links."""
    heads = ("Label", "AWB", "Pages", "Made", "PDF")
    return table(heads, (_label_row(row, urls[row["label_id"]]) for row in rows), empty=empty)


def events_page(
    wanted: Wanted, deliveries: Html, *, ids: list[int], counted: dict[str, int], webhooks: list[dict[str, Any]]
) -> bytes:
    """Webhooks, and what was sent to them."""
    heads = ("Webhook", "Callback URL", "Headers", "State")
    subscribed = table(heads, map(_webhook_row, webhooks), empty="Nobody has subscribed. POST to /webhooks/subscribe.")
    return page(
        "Events",
        card("Webhooks", subscribed),
        tag("h2", "Deliveries"),
        state_links(EVENTS, wanted, counted),
        deliveries,
        older_link(EVENTS, wanted, ids),
        current=EVENTS,
        lead=search_form(EVENTS, wanted, "AWB"),
    )


def deliveries_table(rows: list[sqlite3.Row], attempts: dict[int, list[sqlite3.Row]], *, empty: str) -> Html:
    """The delivery log."""
    heads = ("No.", "AWB", "Order status", "Webhook", "Delivery", "Queued", "Attempts")
    return table(heads, (_delivery_row(row, attempts.get(row["delivery_id"], [])) for row in rows), empty=empty)


def journal_page(wanted: Wanted, lines: list[Line]) -> bytes:
    """The newest lines of the journal, or those that contain a text."""
    return page(
        "Journal",
        journal_table(lines, empty="No line is like that."),
        older_link(JOURNAL, wanted, [line["seq"] for line in lines]),
        current=JOURNAL,
        lead=search_form(JOURNAL, wanted, "Reference, AWB, endpoint, any text"),
    )


def journal_table(lines: Iterable[Line], *, empty: str) -> Html:
    """Lines of the journal, each with its details folded away."""
    heads = ("Seq", "Time", "Event", "What", "Request", "Details")
    return table(heads, map(_journal_row, lines), empty=empty)


def folded(summary: str, content: object) -> Html:
    """JSON behind a summary."""
    text = json.dumps(content, ensure_ascii=False, indent=1)
    return tag("details", tag("summary", summary), tag("pre", said(text, longest=20_000)))


def _asn_row(row: sqlite3.Row) -> list[Node]:
    body = json.loads(row["body"])
    return [
        said(row["invoice_number"], longest=40),
        said(body.get("supplier_name") or body.get("supplier"), longest=40),
        said(body.get("site_name") or body.get("site"), longest=40),
        badge(body["status"]),
        said(body.get("delivery_date") or "–"),
        folded(f"{len(body['sku_lines'])} lines", body["sku_lines"]),
        moment(row["created_at"]),
    ]


def _label_row(row: sqlite3.Row, url: str) -> list[Node]:
    awbs = [one["awb_number"] for one in json.loads(row["pages"])]
    shown = ", ".join(awbs[:4]) + (" …" if len(awbs) > 4 else "")
    return [row["label_id"], tag("code", said(shown)), len(awbs), moment(row["created_at"]), link(url, "PDF")]


def _webhook_row(webhook: dict[str, Any]) -> list[Node]:
    return [
        said(webhook["webhookId"]),
        said(webhook["callbackUrl"]),
        said(", ".join(webhook.get("headers", {})) or "–"),
        badge("active") if webhook["is_active"] else tag("span", "off", class_="badge off"),
    ]


def _delivery_row(row: sqlite3.Row, attempts: list[sqlite3.Row]) -> list[Node]:
    tries = [
        tag("li", moment(one["at"]), " ", tag("b", one["answer"] or one["error"]), f" {one['elapsed_seconds']:.2f} s")
        for one in attempts
    ]
    payload = json.loads(row["payload"])
    log = tag(
        "details", tag("summary", f"{row['attempts']} tries" if row["attempts"] != 1 else "1 try"), tag("ol", tries)
    )
    return [
        row["delivery_id"],
        link(f"{ORDERS}?find={quote(row['awb_number'])}", tag("code", said(row["awb_number"]))),
        tag("span", badge(str(payload.get("OrderStatus") or "–")), folded("payload", payload)),
        said(row["webhook_id"]),
        badge(row["state"]),
        moment(row["queued_at"]),
        log,
    ]


def _journal_row(line: Line) -> list[Node]:
    event = str(line["event"])
    name = line.get("endpoint") or line.get("effect") or line.get("kind") or line.get("status", "")
    details = {key: value for key, value in line.items() if key not in _ABOUT_ITSELF}
    request = line.get("request", line["seq"] if event == "received" else None)
    path = tag("small", said(f" {line['method']} {line['path']}", longest=60)) if "path" in line else None
    return [
        tag("code", str(line["seq"])),
        moment(line["at"]),
        badge(event),
        tag("span", said(name, longest=60), path),
        tag("code", str(request)) if request is not None else "–",
        folded("show", details) if details else "–",
    ]
