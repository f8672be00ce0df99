"""`reconcile`: ASNs against the ledger and the receipts."""

from datetime import date
from pathlib import Path

import click

from logistics_batch.cli.opening import DAY, in_workspace, json_option, reading, working


@click.command(epilog="Example: logistics-batch reconcile --by delivery --from 2026-11-01 --to 2026-11-07")
@click.option(
    "--by", type=click.Choice(["created", "modified", "delivery"]), help="Which date of an ASN is meant. [required]"
)
@click.option("--from", "date_from", type=DAY, metavar="D", help="The first day, inclusive. [required]")
@click.option("--to", "date_to", type=DAY, metavar="D", help="The last day, inclusive. [required]")
@click.option("--receipts", metavar="FILE", help="What was received; without it receiving is not judged.")
@click.option("--receipts-mapping", metavar="NAME", help="The receipt.read mapping that reads the receipts.")
@click.option("--purchase-orders", metavar="FILE", help="What was ordered; without it ordering is not judged.")
@click.option("--purchase-orders-mapping", metavar="NAME", help="The receipt.read mapping that reads the orders.")
@click.option("--previous", metavar="FILE", help="An earlier reconciliation.xlsx with what analysts wrote in it.")
@click.option(
    "--compare", nargs=2, metavar="RUN RUN", help="Instead: what changed between two reports, by run or business date."
)
@click.option("--output", metavar="DIR", help="Where the report goes; by default a folder below the reports.")
@json_option
@in_workspace
def reconcile(
    *,
    folder: str,
    by: str | None,
    date_from: date | None,
    date_to: date | None,
    receipts: str | None,
    receipts_mapping: str | None,
    purchase_orders: str | None,
    purchase_orders_mapping: str | None,
    previous: str | None,
    compare: tuple[str, str] | None,
    output: str | None,
    as_json: bool,
) -> int:
    """Compare the ASNs of a range of dates: ordered, announced by files, returned by the service, received.

    Writes reconciliation.xlsx, .html, .csv and .json. Exit code: 0 no exceptions, 3 exceptions, 4 it may be incomplete.
    """
    if compare and (by or date_from or date_to or receipts or purchase_orders):
        raise click.UsageError("--compare takes two reports as they were kept; leave out the range and the lists.")
    if compare:
        return _compared(folder, compare, output=output, as_json=as_json)
    missing = [name for name, given in (("--by", by), ("--from", date_from), ("--to", date_to)) if given is None]
    if by is None or missing:
        raise click.UsageError(f"Missing option '{missing[0]}'.")
    from logistics_batch.cli.job_report import print_outcome
    from logistics_batch.cli.show import print_json
    from logistics_batch.errors import FileHeld
    from logistics_batch.flows.reconcile.reconcile import ListPlan, ReconcilePlan, run_reconcile
    from logistics_batch.operate.run_job import outcome_of

    if receipts_mapping and not receipts:
        raise click.UsageError("--receipts-mapping reads the file of --receipts; give both.")
    if purchase_orders_mapping and not purchase_orders:
        raise click.UsageError("--purchase-orders-mapping reads the file of --purchase-orders; give both.")
    with working(folder) as parts:
        plan = ReconcilePlan(
            by=by,
            date_from=date_from,
            date_to=date_to,
            business_date=parts.clock.now().date(),
            receipts=ListPlan(Path(receipts) if receipts else None, receipts_mapping),
            purchase_orders=ListPlan(Path(purchase_orders) if purchase_orders else None, purchase_orders_mapping),
            previous_path=Path(previous) if previous else None,
            output=Path(output) if output else None,
        )
        try:
            report = run_reconcile(parts, plan)
        except FileHeld as held:
            if as_json:
                window = {"by": by, "from": date_from, "to": date_to}
                doubt = f"{held.message} {held.remedy or ''}".strip()
                print_json({"window": window, "complete": False, "exceptions": [], "doubts": [doubt]})
            raise
        outcome = outcome_of(report)
        print_outcome(parts, outcome, as_json=as_json)
        return outcome.exit_code


def _compared(folder: str, nights: tuple[str, str], *, output: str | None, as_json: bool) -> int:
    from logistics_batch.cli.show import plain, print_json
    from logistics_batch.flows.reconcile.memory import compare_nights, document_of

    with reading(folder) as parts:
        compared = compare_nights(parts, *nights, output=Path(output) if output else None)
    if as_json:
        print_json(document_of(compared))
        return 0
    for warning in compared.warnings:
        click.echo(f"Note: {plain(warning)}")
    for night in (compared.first, compared.second):
        click.echo(f"Run {night.run}, business date {night.business_date}")
    for change, count in compared.counts.items():
        click.echo(f"  {change:<16}{count:>7} exceptions")
    for path in compared.files:
        click.echo(f"  {path}")
    return 0
