"""Calls of the API by hand: ASNs, one order, and the subscription to events."""

from datetime import date
from pathlib import Path
from typing import Any

import click

from logistics_batch.cli.opening import (
    DAY,
    WholeNumber,
    in_workspace,
    json_option,
    opened,
    reading,
    working,
)


@click.group(epilog="Example: logistics-batch asn fetch --by delivery --from 2026-11-01 --to 2026-11-07")
def asn() -> None:
    """Fetch ASNs from the service."""


@asn.command(epilog="Example: logistics-batch asn fetch --by modified --from 2026-11-01 --to 2026-11-03 --status New")
@click.option("--by", type=click.Choice(["created", "modified", "delivery"]), help="Which date --from and --to mean.")
@click.option("--from", "date_from", type=DAY, metavar="D", help="The first day, inclusive.")
@click.option("--to", "date_to", type=DAY, metavar="D", help="The last day, inclusive.")
@click.option("--invoice", metavar="NUMBER", help="Invoice number; without it a range of dates is needed.")
@click.option("--status", metavar="WORD", help="New, In-Progress, Completed or Expired.")
@click.option("--site", metavar="ID", help="Site id.")
@click.option("--site-name", metavar="NAME", help="Site name.")
@click.option("--supplier", metavar="ID", help="Supplier id.")
@click.option("--supplier-name", metavar="NAME", help="Supplier name.")
@click.option("--description", metavar="TEXT", help="Full or partial description.")
@json_option
@in_workspace
def fetch(
    *,
    folder: str,
    by: str | None,
    date_from: date | None,
    date_to: date | None,
    as_json: bool,
    invoice: str | None,
    **filters: str | None,
) -> int:
    """Fetch the ASNs of a range of dates, or those with one invoice number.

    Exit code: 0 everything that there is, 4 there may be more.
    """
    from zoneinfo import ZoneInfo

    from logistics_batch.cli.show import plain, print_json, print_table
    from logistics_batch.flows.asns.fetch import asn_range, asn_summary, fetch_asns
    from logistics_batch.flows.reconcile.gather import of_the_range
    from logistics_batch.flows.reconcile.notices import Scope

    if (date_from or date_to) and not by:
        raise click.UsageError("--from and --to need --by created, modified or delivery.")
    wanted = asn_range(by, date_from, date_to) if by else None
    given = {name: value for name, value in {"invoice_number": invoice, **filters}.items() if value}
    with working(folder) as parts:
        found = fetch_asns(parts, wanted, given)
        if wanted:
            found = of_the_range(found, Scope(wanted, ZoneInfo(parts.policy.timezone)))
    if as_json:
        print_json({"complete": found.complete, "notes": found.notes, "asns": found.records})
    else:
        print_table(_COLUMNS, (asn_summary(record) for record in found.records), empty="The service returned no ASN.")
        for note in found.notes:
            click.echo(f"Note: {plain(note)}")
    return 0 if found.complete else 4


_COLUMNS = ("invoice", "supplier", "site", "status", "delivery", "lines")


@click.group(epilog="Example: logistics-batch order get SH-22T70ZX")
def order() -> None:
    """Look at one order, see what is known of orders that were sent, or cancel one."""


@order.command(epilog="Example: logistics-batch order get SH-22T70ZX --json")
@click.argument("order_id", metavar="AWB-or-ID")
@json_option
@in_workspace
def get(*, folder: str, order_id: str, as_json: bool) -> int:
    """Fetch one order from the service. Exit code 3: the service does not have it."""

    from logistics_batch.cli.show import fields_of, plain, print_json, print_table
    from logistics_batch.flows.orders.commands import get_order

    with opened(folder, writes=False) as parts:
        details, message = get_order(parts, order_id)
    if as_json:
        print_json({"order": details, "message": message})
    elif details is None:
        click.echo(f"The service does not have it: {plain(message)}")
    else:
        print_table(["field", "value"], fields_of(details), empty="The service tells nothing of it.")
    return 3 if details is None else 0


@order.command(epilog="Example: logistics-batch order cancel SH-22T70ZX")
@click.argument("order_id", metavar="AWB-or-ID-or-REFERENCE")
@in_workspace
def cancel(*, folder: str, order_id: str) -> int:
    """Cancel one order at the service, and say what its answer proves. Of orders sent from here the reference will do.

    Exit code: 0 cancelled, 3 refused, 4 not known, 5 not done.
    """

    from logistics_batch.cli.show import plain
    from logistics_batch.flows.orders.commands import cancel_order

    with opened(folder) as parts:
        conclusion = cancel_order(parts, order_id)
    click.echo(plain(conclusion.text))
    return conclusion.exit_code


@order.command(epilog="Example: logistics-batch order status SO-1001")
@click.argument("number", metavar="REFERENCE-or-AWB", required=False)
@click.option("--days", type=WholeNumber(1, 3650), default=30, help="How far back open orders are listed.")
@json_option
@in_workspace
def status(*, folder: str, number: str | None, days: int, as_json: bool) -> int:
    """What the ledger knows of one order after it was sent, or of all that are not at their end.

    Nobody is asked: jobs of kind order_status ask the service. Exit code 3: no such order was accepted from here.
    """

    with reading(folder) as parts:
        return _open_orders(parts, days, as_json=as_json) if number is None else _known(parts, number, as_json=as_json)


def _open_orders(parts: Any, days: int, *, as_json: bool) -> int:
    """One line for each order that is not at its end, the one asked for longest ago first."""
    from logistics_batch.cli.show import print_json, print_table, to_the_second
    from logistics_batch.flows.orders.comparison import open_orders

    rows = [
        (order.reference, order.awb_number, order.state.status, order.state.status_at, order.state.asked_at)
        for order in open_orders(parts, sent_within_days=days)
    ]
    if as_json:
        columns = ("reference_number", "awb_number", "status", "status_time", "asked_at")
        print_json({"orders": [dict(zip(columns, row, strict=True)) for row in rows]})
        return 0
    shown = [(*row[:2], row[2] or "not asked yet", *map(to_the_second, row[3:])) for row in rows]
    print_table(["reference", "AWB", "status", "since", "asked"], shown, empty="No order is open.")
    return 0


def _known(parts: Any, number: str, *, as_json: bool) -> int:
    """The items of an order, and the events that came; 3 if no such order was accepted from here."""
    from dataclasses import asdict

    from logistics_batch.cli.show import plain, print_json
    from logistics_batch.flows.orders.comparison import known_orders

    found = known_orders(parts, number)
    if as_json:  # quantities as texts
        print_json(
            {
                "orders": [
                    {"lines": [asdict(line) for line in order.lines], "events": [asdict(each) for each in order.events]}
                    for order in found
                ]
            }
        )
    elif not found:
        click.echo(f"No order {plain(number)} was accepted from here.")
    for order in () if as_json else found:
        _print_order(order)
    return 0 if found else 3


def _print_order(order: Any) -> None:
    from logistics_batch.cli.show import plain, print_table, sentence, to_the_second

    first = order.lines[0]
    since = f" since {to_the_second(first.status_time)}" if first.status_time else ""
    click.echo(
        f"{plain(first.reference_number)} {plain(first.awb_number)}: {plain(first.status or 'nothing is known yet')}"
        f"{plain(since)}"
    )
    sent, asked = to_the_second(first.sent_at), to_the_second(first.asked_at) or "never"
    click.echo(f"  {plain(first.file)}, row {first.row}, sent {sent}, asked {asked}")
    for line in order.lines:
        for text in (line.difference, line.note):
            if text:
                click.echo(f"  {sentence(plain(text))}")
    quantities = ("qty_sent", "qty_ordered", "qty_picked", "qty_delivered")
    items = [
        (line.item, *("" if (told := getattr(line, name)) is None else f"{told.normalize():f}" for name in quantities))
        for line in order.lines
        if line.item
    ]
    print_table(["item", "sent", "ordered", "picked", "delivered"], items, empty="No items are known.")
    events = [(to_the_second(event.received_at), event.status, to_the_second(event.at)) for event in order.events]
    print_table(["event came", "it says", "since"], events, empty="No event came about it.")


@click.group(epilog="Example: logistics-batch webhook subscribe --url https://hooks.example.com/orders")
def webhook() -> None:
    """Subscribe to order events, and change the subscription."""


_ID = click.option("--id", "webhook_id", type=WholeNumber(0), metavar="N", help="Number of the webhook (webhookId).")
_HEADERS = click.option(
    "--headers-file",
    metavar="FILE",
    help='Headers of each callback, one "Name: value" a line; others must not read it.',
)
_VERIFY = click.option("--verify/--no-verify", default=None, help="Payload verification (verify_payload).")


@webhook.command(epilog="Example: logistics-batch webhook subscribe --id 7 --url https://hooks.example.com/orders")
@click.option("--url", required=True, metavar="URL", help="Where the service sends events.")
@_ID
@_HEADERS
@_VERIFY
@in_workspace
def subscribe(*, folder: str, url: str, webhook_id: int | None, headers_file: str | None, verify: bool | None) -> int:
    """Subscribe a URL to the events of orders."""
    wanted = _wanted(webhook_id, url, headers_file, verify)
    return _configure(folder, wanted, updates=False)


@webhook.command(epilog="Example: logistics-batch webhook update --id 7 --inactive")
@click.option("--url", metavar="URL", help="Where the service sends events from now on.")
@_ID
@_HEADERS
@_VERIFY
@click.option("--active/--inactive", default=None, help="Whether events are sent.")
@in_workspace
def update(
    *,
    folder: str,
    url: str | None,
    webhook_id: int | None,
    headers_file: str | None,
    verify: bool | None,
    active: bool | None,
) -> int:
    """Change a webhook: its URL, its headers, or whether events are sent."""
    wanted = _wanted(webhook_id, url, headers_file, verify)
    return _configure(folder, wanted | {"is_active": active}, updates=True)


def _wanted(webhook_id: int | None, url: str | None, headers: str | None, verify: bool | None) -> dict[str, object]:
    return {"webhookId": webhook_id, "callbackUrl": url, "headers": headers, "verify_payload": verify}


def _configure(folder: str, wanted: dict[str, object], *, updates: bool) -> int:
    from logistics_batch.cli.show import plain
    from logistics_batch.flows.orders.commands import configure_webhook
    from logistics_batch.settings import private_headers

    if isinstance(wanted["headers"], str):
        wanted["headers"] = headers = private_headers(Path(wanted["headers"]))
        if dropped := ", ".join(name for name in headers if "_" in name):
            click.echo(
                f"Note: many servers and proxies drop a header with an underscore in its name: {dropped}.", err=True
            )
    with opened(folder, writes=False) as parts:
        conclusion = configure_webhook(parts, wanted, updates=updates)
    click.echo(plain(conclusion.text))
    return conclusion.exit_code
