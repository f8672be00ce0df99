"""What `order status` shows."""

from dataclasses import asdict
from decimal import Decimal

import click

from logistics_batch.cli.show import plain, print_json, print_table, sentence
from logistics_batch.flows.orders.comparison import KnownOrder, known_orders, open_orders
from logistics_batch.flows.parts import Parts
from logistics_batch.model.report import ExitCode


def show_open_orders(parts: Parts, *, days: int, as_json: bool) -> int:
    """One line for each order that is not at its end, the one asked for longest ago first."""
    rows = [
        (order.reference, order.awb_number, order.state.status, order.state.status_at, order.state.asked_at)
        for order in open_orders(parts, sent_within_days=days)
    ]
    columns = ["reference_number", "awb_number", "status", "status_time", "asked_at"]
    if as_json:
        print_json({"orders": [dict(zip(columns, row, strict=True)) for row in rows]})
        return 0
    shown = [(*row[:2], row[2] or "not asked yet", *row[3:]) for row in rows]
    print_table(["reference", "AWB", "status", "since", "asked"], shown, empty="No order is open.")
    return 0


def show_known_order(parts: Parts, number: str, *, as_json: bool) -> int:
    """Its items, and the events that came; 3 if no such order was accepted from here."""
    found = known_orders(parts, number)
    if as_json:
        print_json({"orders": [_record(order) for order in found]})
    elif not found:
        click.echo(f"No order {plain(number)} was accepted from here.")
    for order in () if as_json else found:
        _show(order)
    return 0 if found else ExitCode.ROWS_NOT_DONE


def _show(order: KnownOrder) -> None:
    first = order.lines[0]
    known = f"{first.status or 'nothing is known yet'}" + (f" since {first.status_time}" if first.status_time else "")
    click.echo(f"{plain(first.reference_number)} {plain(first.awb_number)}: {plain(known)}")
    click.echo(f"  {plain(first.file)}, row {first.row}, sent {first.sent_at}, asked {first.asked_at or 'never'}")
    for line in order.lines:
        for text in (line.difference, line.note):
            if text:
                click.echo(f"  {sentence(plain(text))}")
    items = [
        (line.item, *map(_number, (line.qty_sent, line.qty_ordered, line.qty_picked, line.qty_delivered)))
        for line in order.lines
        if line.item
    ]
    print_table(["item", "sent", "ordered", "picked", "delivered"], items, empty="No items are known.")
    events = [(event.received_at, event.status, event.at) for event in order.events]
    print_table(["event came", "it says", "since"], events, empty="No event came about it.")


def _number(value: Decimal | None) -> str:
    return "" if value is None else f"{value.normalize():f}"


def _record(order: KnownOrder) -> dict[str, object]:
    lines = [{name: _plain(value) for name, value in asdict(line).items()} for line in order.lines]
    return {"lines": lines, "events": [asdict(event) for event in order.events]}


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Decimal) else value
