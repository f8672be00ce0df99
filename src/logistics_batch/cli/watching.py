"""Log, alerts and metrics of a workspace, as its settings want them."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from logistics_batch.errors import LedgerBusy, LogisticsBatchError, SettingsError
from logistics_batch.flows.parts import Parts
from logistics_batch.jobs import load_calendar
from logistics_batch.messages import clock_time
from logistics_batch.model.jobs.job import JobSpec, PushJob
from logistics_batch.operate.agenda import next_try
from logistics_batch.operate.alerts import Teller, addresses
from logistics_batch.operate.log import Log, file_writer
from logistics_batch.operate.metrics import Figure, figures, write_metrics
from logistics_batch.operate.run_job import JobOutcome, Order, run_job, waits
from logistics_batch.operate.run_notices import Ran, observe
from logistics_batch.settings import Settings, notify_urls
from logistics_batch.wiring import Workspace


def log_of(workspace: Workspace, settings: Settings, parts: Parts, say: Callable[[str], None]) -> Log:
    """The log: to its file if the settings name one, else through `say`.

    Raises SettingsError if the file cannot be opened.
    """
    write = say
    if settings.log.file:
        path = workspace.folder / settings.log.file
        try:
            write = file_writer(path)
        except OSError as error:
            raise SettingsError(f"log.file: {path} cannot be written: {error.strerror}.") from error
    return Log(write, parts.clock.now, as_json=settings.log.format == "json")


class _Records(logging.Handler):
    """Hands the records of the program's own loggers to the log, and to `echo`."""

    def __init__(self, log: Log, echo: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._log, self._echo = log, echo

    def emit(self, record: logging.LogRecord) -> None:
        words = record.getMessage()
        self._log.say("trouble", words, level=record.levelname.lower())
        self._echo(words)


@contextmanager
def records_in(log: Log, *, echo: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Write into the log, within the block, what the rooms of the program note with Python's `logging`."""
    ours, handler = logging.getLogger("logistics_batch"), _Records(log, echo)
    ours.addHandler(handler)
    try:
        yield
    finally:
        ours.removeHandler(handler)


def teller_of(workspace: Workspace, settings: Settings, parts: Parts) -> Teller:
    """Who tells people; tells nobody if no address is given.

    Raises SettingsError if the file of addresses cannot be used.
    """
    to = addresses(notify_urls(workspace.folder, settings.notify))
    return Teller(parts.ledger, to, workspace.folder.name, parts.stop.is_set)


def write_figures(workspace: Workspace, settings: Settings, compute: Callable[[], Sequence[Figure]]) -> None:
    """Write the metrics' text file, if the settings name one.

    Raises SettingsError, OSError.
    """
    if textfile := settings.metrics.textfile:
        write_metrics(workspace.folder / textfile, compute())


def observed_run(workspace: Workspace, parts: Parts, job: JobSpec, order: Order) -> JobOutcome:
    """A run by hand or by cron, of which people are told as if the scheduler had made it; it goes on when it can again.

    Raises what the run raises; LedgerBusy is no failure, and told to nobody else.
    """
    expect = job.expect if isinstance(job, PushJob) else None
    calendar = load_calendar(workspace.folder, expect.calendar if expect else None)
    until, stopped_at = parts.clock.now() + job.tried_for, None
    end: JobOutcome | LogisticsBatchError
    log = _log_of_run(workspace, parts)
    while True:
        try:
            with records_in(log, echo=lambda words: click.echo(words, err=True)):
                end = run_job(parts, job, order)
        except LogisticsBatchError as error:
            end = error
        if not isinstance(end, LedgerBusy):
            again = until if waits(end) else None
            _after_run(workspace, parts, Ran(job, order.business_date, end, calendar, again), log)
        elif stopped_at is None:
            raise end
        now = parts.clock.now()
        stopped_at = stopped_at or now
        at = next_try(stopped_at=stopped_at, now=now, until=until)
        if at is None or parts.stop.is_set() or not waits(end):
            break
        why = end.cause if isinstance(end, JobOutcome) else f"{end.message} {end.remedy}".strip()
        click.echo(f"Stopped early; goes on at {at:%H:%M:%S}, until {clock_time(until)} at the latest: {why}", err=True)
        parts.progress.start(f"Waits until {at:%H:%M:%S}", None)
        parts.clock.sleep((at - now).total_seconds())
        parts.progress.done()
        if parts.stop.is_set():
            break
    if isinstance(end, LogisticsBatchError):
        raise end
    return end


def _log_of_run(workspace: Workspace, parts: Parts) -> Log:
    """The log's file, if the settings name one; the run fails for nothing that is wrong with it."""
    try:
        return log_of(workspace, workspace.settings(), parts, _nowhere)
    except LogisticsBatchError as error:
        _warn(str(error))
        return Log(_nowhere, parts.clock.now)


def _after_run(workspace: Workspace, parts: Parts, ran: Ran, log: Log) -> None:
    """Log, alerts, metrics; the run fails for nothing of that."""
    now = parts.clock.now()
    try:
        settings = workspace.settings()  # somebody may change them while it waits
        parts.ledger.slots.note_round(ran.job.name, ran.day.isoformat(), exit_code=ran.round_code, now=now.isoformat())
        observe(parts, ran, log)
        told = teller_of(workspace, settings, parts).tell(now)
        for shown in told.failed:
            _warn(f"{shown} could not be told; {told.owed} alerts wait for the next run or the scheduler.")
        write_figures(workspace, settings, lambda: figures(parts.ledger, now=now))
    except (LogisticsBatchError, OSError) as error:
        _warn(str(error))


def _warn(words: str) -> None:
    click.echo(f"Note: {words}", err=True)


def _nowhere(_line: str) -> None:
    """The run says on its own what became of it; only a log's file gets a line besides."""
