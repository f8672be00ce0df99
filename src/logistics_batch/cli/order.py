"""`order`: one order by hand."""

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option


@click.group(epilog="Example: logistics-batch order get SH-22T70ZX")
def order() -> None:
    """Look at one order, see what is known of orders that were sent, or cancel one."""


@order.command(epilog="Example: logistics-batch order get SH-22T70ZX --json")
@click.argument("order_id", metavar="AWB-or-ID")
@json_option
@in_workspace
def get(*, folder: str, order_id: str, as_json: bool) -> int:
    """Fetch one order from the service. Exit code 3: the service does not have it."""
    from pathlib import Path

    from logistics_batch.cli.show import plain, print_json, print_table
    from logistics_batch.flows.orders.by_hand import get_order
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(writes=False)) as parts:
        found = get_order(parts, order_id)
    if as_json:
        print_json({"order": found.details, "message": found.message})
    elif found.details is None:
        click.echo(f"The service does not have it: {plain(found.message)}")
    else:
        print_table(["field", "value"], found.details.items(), empty="The service tells nothing of it.")
    return 3 if found.details is None else 0


@order.command(epilog="Example: logistics-batch order cancel SH-22T70ZX")
@click.argument("order_id", metavar="AWB-or-ID-or-REFERENCE")
@in_workspace
def cancel(*, folder: str, order_id: str) -> int:
    """Cancel one order at the service, and say what its answer proves. Of orders sent from here the reference will do.

    Exit code: 0 cancelled, 3 refused, 4 not known, 5 not done.
    """
    from pathlib import Path

    from logistics_batch.cli.show import plain
    from logistics_batch.flows.orders.by_hand import cancel_order
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need()) as parts:
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
    from pathlib import Path

    from logistics_batch.cli.order_status import show_known_order, show_open_orders
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(calls=False, writes=False)) as parts:
        if number is None:
            return show_open_orders(parts, days=days, as_json=as_json)
        return show_known_order(parts, number, as_json=as_json)
