"""`asn`: advance shipping notices by hand."""

from datetime import date

import click

from logistics_batch.cli.opening import DAY, in_workspace, json_option, stopping, watched


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
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from logistics_batch.cli.show import plain, print_json, print_table
    from logistics_batch.flows.asns.fetch import fetch_asns
    from logistics_batch.flows.asns.ranges import asn_range
    from logistics_batch.flows.doubts.answer_doubts import of_the_range
    from logistics_batch.flows.orders.by_hand import asn_summary
    from logistics_batch.flows.reconcile.notices import Scope
    from logistics_batch.wiring import Need, Workspace

    if (date_from or date_to) and not by:
        raise click.UsageError("--from and --to need --by created, modified or delivery.")
    wanted = asn_range(by, date_from, date_to) if by else None
    given = {name: value for name, value in {"invoice_number": invoice, **filters}.items() if value}
    with stopping() as stop, Workspace(Path(folder)).parts(Need(progress=watched(), stop=stop)) as parts:
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
