"""`schedule`: jobs by the clock, in the foreground."""

import click

from logistics_batch.cli.opening import in_workspace, json_option, stopping

_PATIENCE_SECONDS = 8.0  # a supervisor that sent SIGTERM gets its exit within ten


@click.group(invoke_without_command=True, epilog="Example: logistics-batch schedule")
@in_workspace
@click.pass_context
def schedule(ctx: click.Context, *, folder: str) -> int:
    """Run the jobs of jobs/ by their schedules, until SIGTERM or Ctrl-C; `schedule list` shows when.

    One run of a job at a time; a slot that was missed is caught up within its grace, and none runs twice. A job file is
    read again for each run; a changed schedule or a new job counts from the next start. When asked to stop, nothing
    more is sent; calls that are then open are in doubt until the next run or `settle`.
    """
    if ctx.invoked_subcommand:
        ctx.obj = folder
        return 0
    from pathlib import Path

    from logistics_batch.cli.night import watch
    from logistics_batch.wiring import Workspace

    with stopping() as stop:
        left = watch(Workspace(Path(folder)), stop=stop, say=_log, patience_seconds=_PATIENCE_SECONDS)
    if left:
        _leave(left)
    return 0


def _log(line: str) -> None:
    click.echo(line, err=True)


def _leave(left: list[str]) -> None:
    """End now: runs that do not end in time would hold the process. What they sent is safe in the ledger."""
    import os
    import sys

    click.echo(f"Left while running: {', '.join(left)}. Calls without an answer are settled by the next run.", err=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@schedule.command("list", epilog="Example: logistics-batch schedule list")
@json_option
@in_workspace
def list_jobs(*, folder: str, as_json: bool) -> int:
    """List the jobs with their next and last runs."""
    from pathlib import Path

    from logistics_batch.cli.show import print_json, print_table
    from logistics_batch.jobs import load_jobs
    from logistics_batch.operate.timetable import timetable
    from logistics_batch.wiring import Need, Workspace

    workspace = Workspace(Path(folder))
    with workspace.parts(Need(calls=False, writes=False)) as parts:
        jobs = load_jobs(workspace.folder)
        lines = timetable(jobs, parts.ledger, now=parts.clock.now(), service_zone=parts.policy.timezone)
    if as_json:
        print_json({"jobs": lines})
        return 0
    print_table(
        ["job", "kind", "cron", "next run", "last run", "exit"],
        ([_shown(name, line[name]) for name in _SHOWN] for line in lines),
        empty="There is no job in jobs/ yet.",
    )
    return 0


def _shown(name: str, value: object) -> object:
    """A cell of the table: nothing for None, times to the minute."""
    if name == "last_run" and value is not None:
        from datetime import datetime

        return datetime.fromisoformat(str(value)).isoformat(timespec="minutes")
    return "" if value is None else value


_SHOWN = ("job", "kind", "cron", "next_run", "last_run", "last_exit_code")
