"""What serves until it is stopped: the scheduler, the receiver of events, and the sandbox."""

from pathlib import Path
from typing import Any

import click

from logistics_batch.cli.opening import WholeNumber, in_workspace, json_option, names_in, opened, reading, stopping

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
    from logistics_batch.cli.commands.night import watch

    with stopping(within_seconds=_END_SECONDS) as stop:
        left = watch(workspace, stop=stop, say=_log, metrics_port=metrics_port, patience_seconds=_PATIENCE_SECONDS)
        _leave(left)
    return 0


def _check(folder: Path) -> int:
    """For supervisors, containers and monitoring: the sign of life alone; neither ledger nor service is asked."""
    from datetime import datetime

    from logistics_batch.errors import RunStopped
    from logistics_batch.model.counting import counted
    from logistics_batch.operate.heartbeat import last_beat, what_is_wrong

    now = datetime.now().astimezone()
    if wrong := what_is_wrong(folder, now=now):
        raise RunStopped(wrong, remedy="Start it: `logistics-batch schedule`, as a service that is started again.")
    found = last_beat(folder)
    if found:
        jobs = counted(found.jobs, "job")
        click.echo(f"The scheduler works: seen at {found.at}, {jobs}, next run {found.next_run or 'none'}.")
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
    """List the jobs with their next and last runs; what is wrong with others is told behind them (exit 2)."""
    from datetime import datetime

    from logistics_batch.cli.show import print_json, print_table
    from logistics_batch.errors import SpecificationError
    from logistics_batch.jobs import calendars_by_job, read_jobs
    from logistics_batch.operate.agenda import timetable
    from logistics_batch.wiring import Need, Workspace

    workspace = Workspace(Path(folder))
    with workspace.parts(Need(calls=False, writes=False)) as parts:
        found = read_jobs(workspace.folder)
        jobs, calendars = found.usable, calendars_by_job(workspace.folder, found.usable)
        lines = timetable(jobs, calendars, parts.ledger, now=parts.clock.now(), service_zone=parts.policy.timezone)
    if as_json:
        print_json({"jobs": lines})
    else:
        for line in lines:
            last = line["last_run"]
            line["next_run"] = "paused" if line["paused"] else line["next_run"]
            line["last_run"] = datetime.fromisoformat(str(last)).isoformat(timespec="minutes") if last else None
        names = ("job", "kind", "schedule", "next_run", "last_run", "last_exit_code")
        shown = ([line[name] for name in names] for line in lines)
        heads = ["job", "kind", "schedule", "next run", "last run", "exit"]
        print_table(heads, shown, empty="There is no job in jobs/ yet.")
    if found.wrong:
        raise SpecificationError(found.findings)
    return 0


@schedule.command(epilog='Example: logistics-batch schedule pause orders-nightly --reason "the supplier counts stock"')
@click.argument("job", shell_complete=names_in("jobs"))
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is kept.")
@in_workspace
def pause(*, folder: str, job: str, reason: str) -> int:
    """Leave a job alone until it is resumed; by hand it runs as ever."""
    from logistics_batch.jobs import load_job
    from logistics_batch.operate.agenda import pause as pause_job

    load_job(Path(folder), job)
    with opened(folder, calls=False) as parts:
        click.echo(pause_job(parts, job, why=reason))
    return 0


@schedule.command(epilog='Example: logistics-batch schedule resume orders-nightly --reason "the stock is counted"')
@click.argument("job", shell_complete=names_in("jobs"))
@click.option("--reason", required=True, metavar="TEXT", help="Why; it is kept.")
@in_workspace
def resume(*, folder: str, job: str, reason: str) -> int:
    """Let a paused job run by its schedule again."""
    from logistics_batch.operate.agenda import resume as resume_job

    with opened(folder, calls=False) as parts:
        click.echo(resume_job(parts, job, why=reason))
    return 0


@click.command(epilog="Example: logistics-batch worker")
@in_workspace
def worker(*, folder: str) -> int:
    """Help the runs of other machines to send, until SIGTERM or Ctrl-C; needs a ledger on PostgreSQL.

    As many may run as you like, each with the settings of the service and of the ledger; jobs and mappings stay where
    `run` or `schedule` plans and answers. When asked to stop, it finishes what is under way, and others go on.
    """
    from logistics_batch.flows.push.run_record import help_to_send

    with stopping() as stop, opened(folder, stop=stop) as parts:
        help_to_send(parts, say=_log)
    return 0


@click.group(epilog="Example: logistics-batch cluster status")
def cluster() -> None:
    """Which programs send or keep the schedule with this ledger."""


@cluster.command(epilog="Example: logistics-batch cluster status")
@json_option
@in_workspace
def status(*, folder: str, as_json: bool) -> int:
    """List the programs that send now, wait to help or keep the schedule.

    With their lanes and versions, how far their clocks are off, and those that were not heard of since they ended.
    """
    from logistics_batch.cli.show import print_json, print_table
    from logistics_batch.operate.heartbeat import CLOCKS_APART_SECONDS, shown

    with reading(folder) as parts:
        lines = [shown(each) for each in parts.ledger.lanes.members()]
    if as_json:
        print_json({"programs": lines})
        return 0
    heads = ["host", "process", "does", "lanes", "version", "clock ahead (s)"]
    print_table(heads, (list(line.values()) for line in lines), empty="No program sends or keeps the schedule now.")
    for line in lines:
        if abs(line["clock_ahead_seconds"]) > CLOCKS_APART_SECONDS:
            _log(f"The clock of {line['host']} is off by {line['clock_ahead_seconds']:.1f} s. Set it right (NTP).")
    return 0


@click.command(epilog="Example: logistics-batch receive --port 8480")
@click.option("--port", type=WholeNumber(0, 65535), help="0: any free one; by default that of the settings.")
@json_option
@in_workspace
def receive(*, folder: str, port: int | None, as_json: bool) -> int:
    """Take the events that the service sends about orders, until SIGTERM or Ctrl-C.

    Each is stored with its exact bytes before it is answered; one that comes again is answered, but not stored twice.
    Senders need the secret of [receive] in its header. When it listens, one line says where; with --json it is
    {"url": …}. Put a server that speaks TLS in front.
    """
    from logistics_batch.errors import UsageError
    from logistics_batch.settings import event_secret
    from logistics_batch.wiring import Workspace

    try:
        from logistics_batch.web.receiver import Gate
        from logistics_batch.web.serve import ListeningPlace
    except ModuleNotFoundError as error:
        remedy = "Install the extra: pip install 'logistics-batch[web]'."
        raise UsageError(f"The receiver needs {error.name}, which is not installed.", remedy=remedy) from error
    workspace = Workspace(Path(folder))
    settings = workspace.settings().receive
    place = ListeningPlace(settings.host, settings.port if port is None else port)
    gate = Gate(settings.path, settings.header, event_secret(workspace.folder, settings))
    with stopping(within_seconds=_END_SECONDS) as stop:
        _store_events(workspace, place, gate, stop=stop, as_json=as_json)
    return 0


def _store_events(workspace: Any, place: Any, gate: Any, *, stop: Any, as_json: bool) -> None:
    """Store events until `stop` is set; once it listens, its address is printed: the path may be secret."""
    import json
    from functools import partial
    from zoneinfo import ZoneInfo

    from logistics_batch.cli.watching import log_of
    from logistics_batch.flows.orders.receive_event import EventStore
    from logistics_batch.web.receiver import Surroundings
    from logistics_batch.web.serve import receive as serve
    from logistics_batch.wiring import Need

    def tell(url: str) -> None:
        click.echo(json.dumps({"url": url}) if as_json else f"Listening on {url}, at the path of [receive].")

    settings = workspace.settings()
    with workspace.parts(Need(calls=False, stop=stop)) as parts:
        log = partial(log_of(workspace, settings, parts, _log).say, "receiver")
        if not place.is_local:
            log(f"listens on {place.host}, where others can read the secret unless a server in front speaks TLS")
        around = Surroundings(parts.clock.now, ZoneInfo(parts.policy.timezone), log, tell)
        store = EventStore(
            parts.ledger,
            keep_seconds=settings.receive.purge_after_seconds,
            quota_bytes=settings.receive.quota_mb << 20,
            now=parts.clock.now,
        )
        log(f"stopped: {serve(place, gate, store, around, stop=stop)}")


_PATHS = ("data", "journal", "faults", "sftp_root", "api_key_file")
_REMEDY = "Check port, folders, switches and fault plan; docs/how-to/sandbox.md explains them."


@click.command(epilog="Example: logistics-batch sandbox --port 8080 --sftp-port 2222 --data sandbox-data")
@click.option("--port", type=WholeNumber(0, 65535), default=0, show_default=True, help="0: any free one.")
@click.option("--data", metavar="DIR", help="Keeps everything; by default a temporary folder.")
@click.option(
    "--api-key",
    "api_keys",
    metavar="KEY",
    multiple=True,
    help="Opens the service; by default sandbox-key. May stand several times.",
)
@click.option("--api-key-file", metavar="FILE", help="A file with such keys, one a line.")
@click.option("--journal", metavar="FILE", help="A line for every request; by default in the data folder.")
@click.option("--faults", metavar="FILE", help="A fault plan in YAML: which requests go wrong.")
@click.option(
    "--switch", "switches", metavar="NAME=VALUE", multiple=True, help="How it answers where the API document is silent."
)
@click.option("--sftp-port", type=WholeNumber(0, 65535), help="Serve SFTP too, on this port (0: any free one).")
@click.option("--sftp-root", metavar="DIR", help="The folder behind SFTP; by default in the data folder.")
def sandbox(*, api_keys: tuple[str, ...], switches: tuple[str, ...], **given: Any) -> int:
    """Serve every call of the API on this machine, and an SFTP server, until SIGTERM or Ctrl-C.

    When it listens, one JSON line says where: {"url": …, "sftp": …}. The page URL/_sandbox/ shows what is in it. By
    default there are no faults and no rate limit, and orders move only when told.
    """
    from logistics_batch.errors import UsageError

    try:
        from logistics_batch.sandbox.serve import read_keys, read_switches, reason, serve
    except ModuleNotFoundError as error:
        remedy = "Install the extra: pip install 'logistics-batch[sandbox]'."
        raise UsageError(f"The sandbox needs {error.name}, which is not installed.", remedy=remedy) from error
    paths = {name: Path(value) if value else None for name, value in given.items() if name in _PATHS}
    try:
        serve(
            port=given["port"],
            sftp_port=given["sftp_port"],
            data=paths["data"],
            journal=paths["journal"],
            faults=paths["faults"],
            sftp_root=paths["sftp_root"],
            api_keys=read_keys(api_keys, paths["api_key_file"]),
            switches=read_switches(switches),
        )
    except (OSError, ValueError) as error:
        raise UsageError(f"The sandbox cannot start: {reason(error)}.", remedy=_REMEDY) from error
    return 0
