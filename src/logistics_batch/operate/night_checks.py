"""What could keep the night watch from working: alerts, calendars, the scheduler's sign of life, metrics."""

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from logistics_batch.errors import LogisticsBatchError, SettingsError
from logistics_batch.ledger import Ledger
from logistics_batch.model.calendar import Calendar
from logistics_batch.model.job import JobSpec
from logistics_batch.operate.alerts import Address
from logistics_batch.operate.doctor import Check, State
from logistics_batch.operate.heartbeat import what_is_wrong
from logistics_batch.operate.metrics import require_client

_SOON = timedelta(days=30)


def check_addresses(to: Sequence[Address], jobs: Sequence[JobSpec]) -> Iterator[Check]:
    """Whether alerts have somewhere to go, and Apprise knows each address; nothing is sent."""
    if not to and any(job.schedule or job.after for job in jobs):
        text = "Nobody is told when a job fails or a file does not come."
        yield Check("notify", State.WARNING, text, "Write addresses into notify.urls_file.")
    for address in to:
        try:
            address.open()
            yield Check("notify", State.OK, f"{address.shown} is told")
        except LogisticsBatchError as error:
            yield Check("notify", State.PROBLEM, error.message, error.remedy)


def check_owed(ledger: Ledger) -> Check:
    """Whether alerts wait because an address could not be reached."""
    waiting = [each for each in ledger.owed_notices() if each.tries]
    if not waiting:
        return Check("alerts", State.OK, "none waits")
    first = waiting[0]
    more = f", and {len(waiting) - 1} more" if len(waiting) > 1 else ""
    text = f"What could not be told yet, since {first.since[:16]}: {first.title}{more}"
    remedy = "See whether the addresses in [notify] are right and can be reached; they are tried again by themselves."
    return Check("alerts", State.WARNING, text, remedy)


def check_calendars(calendars: Iterable[Calendar], *, now: datetime) -> Iterator[Check]:
    """Whether the holidays of the coming weeks are listed."""
    year = (now + _SOON).year
    for calendar in calendars:
        last = calendar.last_year()
        if last is None or last < year:
            text = f"calendars/{calendar.name}.yaml lists no holiday of {year}."
            yield Check("calendar", State.WARNING, text, f"Add the holidays of {year}.")
        else:
            yield Check("calendar", State.OK, f"{calendar.name}: holidays up to {last}")


def check_scheduler(heartbeat: Path, jobs: Sequence[JobSpec], *, now: datetime) -> Iterator[Check]:
    """Whether something runs the jobs that have a schedule."""
    planned = [job.name for job in jobs if job.schedule or job.after]
    if not planned:
        return
    if wrong := what_is_wrong(heartbeat, now=now):
        remedy = (
            "Start `logistics-batch schedule` as a service; where cron runs the jobs, leave `schedule` out of them."
        )
        yield Check("scheduler", State.WARNING, wrong, remedy)
    else:
        yield Check("scheduler", State.OK, f"works, for {len(planned)} jobs")


def check_log(file: Path | None) -> Iterator[Check]:
    """Whether the log's file can be written; nothing is made."""
    if file is None:
        return
    if _can_be_written(file):
        yield Check("log", State.OK, str(file))
    else:
        text = f"log.file: {file} cannot be written."
        yield Check("log", State.PROBLEM, text, "Name a file in a folder that exists and is writable.")


def check_textfile(textfile: Path | None) -> Iterator[Check]:
    """Whether the metrics' file can be written; nothing is made."""
    if textfile is None:
        return
    try:
        require_client()
    except SettingsError as error:
        yield Check("metrics", State.PROBLEM, error.message, error.remedy)
        return
    if _can_be_written(textfile):
        yield Check("metrics", State.OK, str(textfile))
    else:
        text = f"metrics.textfile: {textfile} cannot be written."
        yield Check("metrics", State.PROBLEM, text, "Name a file in a folder that exists and is writable.")


def _can_be_written(file: Path) -> bool:
    """Whether a file can be written anew; folders above it that are missing can be made."""
    if file.is_dir():
        return False
    above = next(each for each in file.parents if os.path.lexists(each))
    return above.is_dir() and os.access(above, os.W_OK) and (not file.exists() or os.access(file, os.W_OK))
