"""`settle`: what became of calls without an answer."""

import click

from logistics_batch.cli.opening import in_workspace, json_option, stopping, watched


@click.command(epilog="Example: logistics-batch settle --wait")
@click.option("--run", metavar="RUN", help="Only what that run left in doubt.")
@click.option("--wait", is_flag=True, help="Wait for what can only be asked later, until nothing is in doubt.")
@json_option
@in_workspace
def settle(*, folder: str, run: str | None, wait: bool, as_json: bool) -> int:
    """Ask the service about everything that was sent without a trustworthy answer, and write the results again.

    Exit code: 0 nothing is in doubt any more, 4 something still is or is held for a person, 75 ledger in use.
    """
    from pathlib import Path

    from logistics_batch.cli.job_report import print_outcome
    from logistics_batch.operate.run_job import settle_now
    from logistics_batch.wiring import Need, Workspace

    with stopping() as stop, Workspace(Path(folder)).parts(Need(progress=watched(), stop=stop)) as parts:
        outcome = settle_now(parts, run=run, wait=wait)
        print_outcome(parts, outcome, as_json=as_json)
        return outcome.exit_code
