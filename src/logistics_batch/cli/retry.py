"""`retry`: what of an earlier run may be sent again."""

import click

from logistics_batch.cli.opening import in_workspace, json_option, stopping, watched


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
    from pathlib import Path

    from logistics_batch.cli.job_report import print_outcome
    from logistics_batch.cli.show import plain, print_run_json
    from logistics_batch.flows.doubts.retry import retry_run
    from logistics_batch.operate.run_job import push_outcome
    from logistics_batch.wiring import Need, Workspace

    with stopping() as stop, Workspace(Path(folder)).parts(Need(progress=watched(), stop=stop)) as parts:
        done = retry_run(parts, run, only=only or "")
        outcome = push_outcome(done.report)
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
