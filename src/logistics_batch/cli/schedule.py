"""`schedule`: jobs by the clock, in the foreground."""

from pathlib import Path

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option, stopping

_PATIENCE_SECONDS, _END_SECONDS = 8.0, 9.5  # a supervisor that sent SIGTERM gets its exit within ten


@click.group(invoke_without_command=True, epilog="Example: logistics-batch schedule")
@click.option(
    "--check", is_flag=True, help="Only say whether a scheduler works here; exit code 0 if it does, 5 if not."
)
@click.option("--metrics-port", type=WholeNumber(0), metavar="N", help="Answer Prometheus on this port of 127.0.0.1.")
@in_workspace
@click.pass_context
def schedule(ctx: click.Context, *, folder: str, check: bool, metrics_port: int | None) -> int:
    """Run the jobs of jobs/ by their schedules, until SIGTERM or Ctrl-C; `schedule list` shows when.

    One run of a job at a time; a time that was missed is caught up within its grace, and none runs twice. Changed job
    files and calendars are read while it runs; one with a mistake leaves its job as it was. When asked to stop, nothing
    more is sent; calls that are then open are in doubt until the next run or `settle`, and an interrupted run goes on
    at the next start.
    """
    if ctx.invoked_subcommand:
        ctx.obj = folder
        return 0
    from logistics_batch.wiring import Workspace

    workspace = Workspace(Path(folder))
    if check:
        return _check(workspace.folder)
    from logistics_batch.cli.night import watch

    with stopping(within_seconds=_END_SECONDS) as stop:
        left = watch(workspace, stop=stop, say=_log, metrics_port=metrics_port, patience_seconds=_PATIENCE_SECONDS)
        _leave(left)
    return 0


def _check(folder: Path) -> int:
    """For supervisors, containers and monitoring: the sign of life alone; neither ledger nor service is asked."""
    from datetime import datetime

    from logistics_batch.errors import RunStopped
    from logistics_batch.operate.heartbeat import HEARTBEAT, last_beat, what_is_wrong

    now = datetime.now().astimezone()
    if wrong := what_is_wrong(folder / HEARTBEAT, now=now):
        raise RunStopped(wrong, remedy="Start it: `logistics-batch schedule`, as a service that is started again.")
    found = last_beat(folder / HEARTBEAT)
    if found:
        click.echo(f"The scheduler works: seen at {found.at}, {found.jobs} jobs, next run {found.next_run or 'none'}.")
    return 0


def _log(line: str) -> None:
    click.echo(line, err=True)


def _leave(left: list[str]) -> None:
    """End now: runs and messages that do not end in time would hold the process. What was sent is in the ledger."""
    import os
    import sys

    if left:
        told = "Calls without an answer are settled by the next run."
        click.echo(f"Left while running: {', '.join(left)}. {told}", err=True)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@schedule.command("list", epilog="Example: logistics-batch schedule list")
@json_option
@in_workspace
def list_jobs(*, folder: str, as_json: bool) -> int:
    """List the jobs with their next and last runs."""
    from logistics_batch.cli.show import print_json, print_table
    from logistics_batch.jobs import load_calendar, load_jobs
    from logistics_batch.operate.agenda import timetable
    from logistics_batch.wiring import Need, Workspace

    workspace = Workspace(Path(folder))
    with workspace.parts(Need(calls=False, writes=False)) as parts:
        jobs = load_jobs(workspace.folder)
        named = ((job.name, job.schedule.calendar) for job in jobs if job.schedule)
        calendars = {name: load_calendar(workspace.folder, calendar) for name, calendar in named}
        now, zone = parts.clock.now(), parts.policy.timezone
        lines = timetable(jobs, calendars, parts.ledger, now=now, service_zone=zone)
    if as_json:
        print_json({"jobs": lines})
        return 0
    print_table(
        ["job", "kind", "schedule", "next run", "last run", "exit"],
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


_SHOWN = ("job", "kind", "schedule", "next_run", "last_run", "last_exit_code")
