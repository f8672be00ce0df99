"""`run`: one job now."""

from datetime import date

import click

from logistics_batch.cli.opening import DAY, early_worker, in_workspace, json_option, stopping, watched


@click.command(epilog="Example: logistics-batch run orders-nightly --business-date 2026-11-03")
@click.argument("job")
@click.option("--business-date", type=DAY, metavar="D", help="The day the run is for; by default today.")
@click.option("--dry-run", is_flag=True, help="Send and write nothing; show what would happen.")
@json_option
@in_workspace
def run(*, folder: str, job: str, business_date: date | None, dry_run: bool, as_json: bool) -> int:
    """Run one job of jobs/ now, as its schedule would.

    Exit code: 0 all done, 3 rows invalid, blocked or refused, 4 in doubt or held, 5 stopped early, 75 ledger in use.
    """
    from pathlib import Path

    with early_worker() as worker, stopping() as stop:
        from logistics_batch.cli.job_report import print_outcome
        from logistics_batch.cli.watching import observed_run
        from logistics_batch.jobs import load_job
        from logistics_batch.operate.run_job import Order, run_job
        from logistics_batch.wiring import Need, Workspace

        workspace = Workspace(Path(folder), worker=worker)
        spec = load_job(workspace.folder, job)
        need = Need(calls=not dry_run, writes=not dry_run, progress=watched(), stop=stop)
        with workspace.parts(need) as parts:
            order = Order(business_date or parts.clock.now().date(), dry_run=dry_run)
            outcome = run_job(parts, spec, order) if dry_run else observed_run(workspace, parts, spec, order)
            print_outcome(parts, outcome, as_json=as_json)
            return outcome.exit_code
