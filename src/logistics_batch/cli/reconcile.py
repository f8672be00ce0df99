"""`reconcile`: ASNs against the ledger and the receipts."""

from datetime import date

import click

from logistics_batch.cli.opening import DAY, in_workspace, json_option, stopping, watched


@click.command(epilog="Example: logistics-batch reconcile --by delivery --from 2026-11-01 --to 2026-11-07")
@click.option(
    "--by", required=True, type=click.Choice(["created", "modified", "delivery"]), help="Which date of an ASN is meant."
)
@click.option("--from", "date_from", required=True, type=DAY, metavar="D", help="The first day, inclusive.")
@click.option("--to", "date_to", required=True, type=DAY, metavar="D", help="The last day, inclusive.")
@click.option("--receipts", metavar="FILE", help="What was received; without it receiving is not judged.")
@click.option("--receipts-mapping", metavar="NAME", help="The receipt.read mapping that reads the receipts.")
@click.option("--previous", metavar="FILE", help="An earlier reconciliation.xlsx with what analysts wrote in it.")
@click.option("--output", metavar="DIR", help="Where the report goes; by default a folder below the reports.")
@json_option
@in_workspace
def reconcile(
    *,
    folder: str,
    by: str,
    date_from: date,
    date_to: date,
    receipts: str | None,
    receipts_mapping: str | None,
    previous: str | None,
    output: str | None,
    as_json: bool,
) -> int:
    """Compare the ASNs of a range of dates: what files announced, what the service returns, what was received.

    Writes reconciliation.xlsx, .html, .csv and .json. Exit code: 0 no exceptions, 3 exceptions, 4 it may be incomplete.
    """
    from pathlib import Path

    from logistics_batch.cli.job_report import print_outcome
    from logistics_batch.flows.reconcile import ReconcilePlan, run_reconcile
    from logistics_batch.operate.run_job import reconcile_outcome
    from logistics_batch.wiring import Need, Workspace

    if receipts_mapping and not receipts:
        raise click.UsageError("--receipts-mapping reads the file of --receipts; give both.")
    with stopping() as stop, Workspace(Path(folder)).parts(Need(progress=watched(), stop=stop)) as parts:
        plan = ReconcilePlan(
            by=by,
            date_from=date_from,
            date_to=date_to,
            business_date=parts.clock.now().date(),
            receipts_path=Path(receipts) if receipts else None,
            receipts_mapping=receipts_mapping,
            previous_path=Path(previous) if previous else None,
            output=Path(output) if output else None,
        )
        outcome = reconcile_outcome(run_reconcile(parts, plan))
        print_outcome(parts, outcome, as_json=as_json)
        return outcome.exit_code
