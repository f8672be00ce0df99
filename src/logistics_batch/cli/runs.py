"""`runs`: what ran, and its reports again."""

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option


@click.group(invoke_without_command=True, epilog="Example: logistics-batch runs --job orders-nightly")
@click.option("--job", metavar="JOB", help="Only the runs of that job.")
@click.option("--limit", type=WholeNumber(1), default=20, show_default=True, help="How many, the newest first.")
@json_option
@in_workspace
@click.pass_context
def runs(ctx: click.Context, *, folder: str, job: str | None, limit: int, as_json: bool) -> int:
    """List what ran, the newest first; with a sub-command look at one run."""
    if ctx.invoked_subcommand:
        ctx.obj = folder
        return 0
    from dataclasses import asdict
    from pathlib import Path

    from logistics_batch.cli.show import moment, print_json, print_table
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(calls=False, writes=False)) as parts:
        found = parts.ledger.runs.latest(limit=limit, job=job)
    if as_json:
        print_json({"runs": [asdict(each) for each in found]})
        return 0
    print_table(
        ["run", "job", "started", "ended", "exit", "what came of it"],
        (
            (
                each.id,
                each.job,
                moment(each.started_at),
                moment(each.finished_at),
                _code(each.exit_code),
                _summary(each.summary, state=each.state, stopped=each.stopped),
            )
            for each in found
        ),
        empty="Nothing ran yet.",
    )
    return 0


@runs.command(epilog="Example: logistics-batch runs show 20261103-211500-ab12")
@click.argument("run")
@json_option
@in_workspace
def show(*, folder: str, run: str, as_json: bool) -> int:
    """Show what became of every file of a run; RUN is its id, or a job's name for its latest run."""
    from pathlib import Path

    from logistics_batch.cli.job_report import print_past_run
    from logistics_batch.cli.show import print_run_json
    from logistics_batch.flows.push.past_runs import past_run
    from logistics_batch.operate.run_job import run_account
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(calls=False, writes=False)) as parts:
        past = past_run(parts, run)
        account = run_account(parts, past)
        if as_json:
            print_run_json(past.report, more=account.document())
        else:
            print_past_run(parts, past.report, account)
    return 0


@runs.command(epilog="Example: logistics-batch runs report orders-nightly")
@click.argument("run")
@in_workspace
def report(*, folder: str, run: str) -> int:
    """Write the result files of a run again; RUN is its id, or a job's name for its latest run."""
    from pathlib import Path

    from logistics_batch.cli.show import shown_path
    from logistics_batch.flows.push.past_runs import write_again
    from logistics_batch.model.report import ExitCode
    from logistics_batch.wiring import Need, Workspace

    with Workspace(Path(folder)).parts(Need(calls=False)) as parts:
        written = write_again(parts, run)
    for path in (path for delivered in written for path in delivered.paths):
        click.echo(shown_path(path))
    problems = [problem for delivered in written for problem in delivered.failed]
    for line in (*problems, *(note.reason for delivered in written for note in delivered.notes)):
        click.echo(line, err=True)
    return ExitCode.STOPPED_EARLY if problems else ExitCode.DONE


def _code(exit_code: int | None) -> str:
    return "" if exit_code is None else str(exit_code)


def _summary(counts: dict[str, object], *, state: str, stopped: str) -> str:
    words = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
    return "; ".join(
        part for part in (words, stopped, "under way or interrupted" if state == "running" else "") if part
    )
