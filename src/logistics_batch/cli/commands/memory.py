"""The memory: what ran, whether the ledger can be trusted, and all of it as records."""

from pathlib import Path

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option, opened, reading, watched


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

    from logistics_batch.cli.show import print_json, print_table, took
    from logistics_batch.messages import moment
    from logistics_batch.model.counting import summed_up

    with reading(folder) as parts:
        found = parts.ledger.runs.latest(limit=limit, job=job)
    if as_json:
        print_json({"runs": [asdict(each) for each in found]})
        return 0
    shown = (
        (
            each.id,
            each.job,
            moment(each.started_at),
            took(each.started_at, each.finished_at),
            each.exit_code,
            "; ".join(
                filter(
                    None,
                    (
                        summed_up(each.summary) or ("no rows" if each.kind == "push" and each.exit_code == 0 else ""),
                        each.stopped,
                        "under way or interrupted" if each.state == "running" else "",
                    ),
                )
            ),
        )
        for each in found
    )
    heads = ["run", "job", "started", "took", "exit", "what came of it"]
    print_table(heads, shown, empty="Nothing ran yet.")
    return 0


@runs.command(epilog="Example: logistics-batch runs show 20261103-211500-ab12")
@click.argument("run")
@json_option
@in_workspace
def show(*, folder: str, run: str, as_json: bool) -> int:
    """Show what became of every file of a run; RUN is its id, or a job's name for its latest run."""

    from logistics_batch.cli.job_report import print_past_run
    from logistics_batch.cli.show import print_run_json
    from logistics_batch.flows.push.run import past_run
    from logistics_batch.operate.run_job import run_account

    with reading(folder) as parts:
        past = past_run(parts, run)
        account = run_account(parts, past)
        if as_json:
            print_run_json(past.report, more=account)
        else:
            print_past_run(parts, past, account)
    return 0


@runs.command(epilog="Example: logistics-batch runs report orders-nightly")
@click.argument("run")
@in_workspace
def report(*, folder: str, run: str) -> int:
    """Write the result files of a run again; RUN is its id, or a job's name for its latest run."""

    from logistics_batch.cli.show import shown_path
    from logistics_batch.flows.push.run import write_again
    from logistics_batch.model.report import ExitCode

    with opened(folder, calls=False) as parts:
        written = write_again(parts, run)
    for path in (path for delivered in written for path in delivered.paths):
        click.echo(shown_path(path))
    problems = [problem for delivered in written for problem in delivered.failed]
    for line in (*problems, *(note.reason for delivered in written for note in delivered.notes)):
        click.echo(line, err=True)
    return ExitCode.STOPPED_EARLY if problems else ExitCode.DONE


@click.group(epilog="Example: logistics-batch ledger verify")
def ledger() -> None:
    """The memory: what was sent and what was said."""


@ledger.command(epilog="Example: logistics-batch ledger verify")
@click.option("--accept-restored", is_flag=True, help="Go on with a ledger that is an older copy; needs --reason.")
@click.option("--reason", metavar="TEXT", help="Why it is an older copy; it is kept in the ledger.")
@json_option
@in_workspace
def verify(*, folder: str, accept_restored: bool, reason: str | None, as_json: bool) -> int:
    """Check that the ledger is sound, is the newest, and holds together; nothing is changed.

    Looks at every page, row, attempt and digest, and at the kept originals. Exit code: 0 sound, 2 it is not.

    --accept-restored confirms that a ledger from a backup goes on. Reconcile the days since before you do: it does not
    know what was sent after the backup was made. Files that were put away since are listed, with the command that drops
    each again.
    """
    from dataclasses import asdict

    from logistics_batch.cli.show import plain, print_json, print_table
    from logistics_batch.flows.files.pull import forgotten_files
    from logistics_batch.flows.verify_ledger import accept_restored as accept
    from logistics_batch.flows.verify_ledger import verify_ledger
    from logistics_batch.jobs import push_jobs
    from logistics_batch.messages import moment
    from logistics_batch.model.counting import counted

    if accept_restored != bool(reason):
        raise click.UsageError("--accept-restored and --reason TEXT belong together.")
    with opened(folder, calls=False, writes=accept_restored, progress=watched()) as parts:
        still_open = accept(parts, reason=reason) if reason else None
        found = verify_ledger(parts)
        jobs = push_jobs(Path(folder)) if found.ledger.restorations else {}
        forgotten, unseen = forgotten_files(parts, jobs, workspace=Path(folder).resolve())
    if as_json:
        told = {"sound": found.sound, "missing_files": found.missing, "forgotten_files": [*map(asdict, forgotten)]}
        print_json(asdict(found.ledger) | told)
        return 0 if found.sound else 2
    if still_open is not None:
        click.echo(
            f"The ledger goes on. Open in it: {counted(still_open, 'document')}; for a week the service is asked for "
            "each order before it goes out, and a refusal of what it does not show is held for a person."
        )
    if forgotten:
        click.echo("These files were put away since, and the ledger does not know them. To drop them again:")
    for lying in forgotten:
        click.echo(f"  {plain(lying.command)}")
    for why in unseen:
        click.echo(f"Not looked at for such files: {plain(why)}", err=True)
    for each in found.ledger.restorations:
        click.echo(
            f"Went on as an older copy on {moment(each['at'])}, confirmed by {each['who']}: {plain(each['reason'])}"
        )
    print_table(["what", "how many"], found.ledger.counted.items(), empty="")
    for finding in found.ledger.findings:
        click.echo(f"Problem ({finding.check}): {plain(finding.problem)}\nWhat to do: {finding.remedy}")
    if found.missing:
        lost = counted(found.missing, "file")
        click.echo(f"Note: of {lost} the original is no longer kept; their answers show what is known.")
    click.echo("The ledger is sound." if found.sound else "The ledger is not sound.")
    return 0 if found.sound else 2


@ledger.command(epilog="Example: logistics-batch ledger export ledger.ndjson")
@click.argument("file")
@click.option("--personal", is_flag=True, help="Also what holds data of people: payloads, replies, events, cells.")
@json_option
@in_workspace
def export(*, folder: str, file: str, personal: bool, as_json: bool) -> int:
    """Write the whole ledger to FILE, a new one: a line of JSON for each record.

    Each line names its table. Digests stand for the payloads unless --personal is given.
    """
    from logistics_batch.cli.show import print_json
    from logistics_batch.flows.verify_ledger import export_ledger

    with reading(folder) as parts:
        counts = export_ledger(parts, Path(file), personal=personal)
    if as_json:
        print_json({"file": file, "records": counts})
    else:
        click.echo(f"{sum(counts.values())} records in {file}.")
    return 0


@ledger.command(epilog="Example: logistics-batch ledger backup ledger-2026-11-03.db")
@click.argument("file")
@json_option
@in_workspace
def backup(*, folder: str, file: str, as_json: bool) -> int:
    """Copy the ledger to FILE, a new one, as it is at one moment; also while something sends.

    The copy holds data of people. A ledger that was restored from it sends nothing until `ledger verify
    --accept-restored` was confirmed.
    """
    from logistics_batch.cli.show import print_json

    with reading(folder) as parts:
        size = parts.ledger.itself.back_up(Path(file))
    if as_json:
        print_json({"file": file, "bytes": size})
    else:
        click.echo(f"{file}: {size} bytes, checked.")
    return 0
