"""What sends: files by hand, a job, what is in doubt, and what may be sent again."""

from datetime import date
from pathlib import Path

import click

from logistics_batch.cli.opening import (
    DAY,
    early_worker,
    in_workspace,
    json_option,
    names_in,
    stopping,
    watched,
    working,
)


@click.command(
    epilog="Example: logistics-batch push orders.xlsx --mapping orders_standard --dry-run",
)
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option(
    "--mapping",
    required=True,
    metavar="NAME-or-PATH",
    shell_complete=names_in("mappings"),
    help="The mapping that reads the files.",
)
@click.option("--dry-run", is_flag=True, help="Send and write nothing; show what would happen.")
@click.option("--results", metavar="DIR", help="Where the answers go; by default the reports folder.")
@json_option
@in_workspace
def push(
    *, folder: str, files: tuple[str, ...], mapping: str, dry_run: bool, results: str | None, as_json: bool
) -> int:
    """Send spreadsheets by hand: every row comes back with an answer.

    Exit code: 0 all done, 3 rows invalid, blocked or refused, 4 in doubt or held, 5 stopped early, 75 ledger in use.
    """
    with early_worker() as worker, stopping() as stop:
        from logistics_batch.cli.show import print_push, print_run_json
        from logistics_batch.flows.push.push import push_by_hand
        from logistics_batch.flows.push.run import answers_of_run
        from logistics_batch.wiring import Need, Workspace

        need = Need(calls=not dry_run, writes=not dry_run, progress=watched(), stop=stop)
        with Workspace(Path(folder), worker=worker).parts(need) as parts:
            report = push_by_hand(
                parts,
                [Path(file) for file in files],
                mapping=mapping,
                results=Path(results) if results else None,
                dry_run=dry_run,
            )
            if as_json:
                print_run_json(report)
            else:
                print_push(report, answers_of_run(parts, report.run) if report.run else [])
            return report.exit_code


@click.command(epilog="Example: logistics-batch run orders-nightly --business-date 2026-11-03")
@click.argument("job", shell_complete=names_in("jobs"))
@click.option("--business-date", type=DAY, metavar="D", help="The day the run is for; by default today.")
@click.option("--dry-run", is_flag=True, help="Send and write nothing; show what would happen.")
@json_option
@in_workspace
def run(*, folder: str, job: str, business_date: date | None, dry_run: bool, as_json: bool) -> int:
    """Run one job of jobs/ now, as its schedule would.

    Exit code: 0 all done, 3 rows invalid, blocked or refused, 4 in doubt or held, 5 stopped early, 75 ledger in use.
    """
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


@click.command(epilog="Example: logistics-batch retry orders-nightly --only refused")
@click.argument("run")
@click.option("--only", type=click.Choice(["refused", "pending"]), help="Only these; by default both.")
@json_option
@in_workspace
def retry(*, folder: str, run: str, only: str | None, as_json: bool) -> int:
    """Send again what the service refused or what was not sent yet, and write the results again.

    RUN is a run's id, or a job's name for its latest run. The same bytes go out: correct a wrong row in its file
    instead. What is in doubt is not sent again (see `settle`), nor what is held (see `held list`).
    """

    from logistics_batch.cli.job_report import print_outcome
    from logistics_batch.cli.show import plain, print_run_json
    from logistics_batch.flows.doubts.retry import retry_run
    from logistics_batch.operate.run_job import outcome_of

    with working(folder) as parts:
        done = retry_run(parts, run, only=only or "")
        outcome = outcome_of(done.report)
        left = [
            {"id": each.document.id, "reference": each.document.reference, "reason": each.reason} for each in done.left
        ]
        if as_json:
            print_run_json(done.report, more={"retry": done.run, "sent_again": done.sent, "left": left})
        else:
            click.echo(f"{done.sent} sent again.")
            for each in left:
                click.echo(f"Not sent again: {plain(each['reference'])}: {each['reason']}.")
            print_outcome(parts, outcome, as_json=False)
        return outcome.exit_code


@click.command(epilog="Example: logistics-batch settle --wait")
@click.option("--run", metavar="RUN", help="Only what that run left in doubt (a job's name: its latest run).")
@click.option("--wait", is_flag=True, help="Wait for what can only be asked later, until nothing is in doubt.")
@json_option
@in_workspace
def settle(*, folder: str, run: str | None, wait: bool, as_json: bool) -> int:
    """Ask the service about everything that was sent without a trustworthy answer, and write the results again.

    Exit code: 0 nothing is in doubt any more, 4 something still is or is held for a person, 75 ledger in use.
    """

    from logistics_batch.cli.job_report import print_outcome
    from logistics_batch.operate.run_job import settle_now

    with working(folder) as parts:
        outcome = settle_now(parts, run=run, wait=wait)
        print_outcome(parts, outcome, as_json=as_json)
        return outcome.exit_code
