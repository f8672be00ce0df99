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


def check_addresses(to: Sequence[Address], jobs: Sequence[JobSpec], *, test_from: str = "") -> Iterator[Check]:
    """Whether alerts have somewhere to go, and Apprise knows each address; each is named by its place in the list.

    test_from: what a test message to each calls this installation; "" sends none.
    """
    if not to and any(job.schedule or job.after for job in jobs):
        text = "Nobody is told when a job fails or a file does not come."
        yield Check("notify", State.WARNING, text, "Write addresses into notify.urls_file.")
    for number, address in enumerate(to, 1):
        yield _check_address(f"{address.shown} (address {number} of {len(to)})", address, test_from=test_from)


def _check_address(shown: str, address: Address, *, test_from: str) -> Check:
    try:
        address.open()
        if not test_from:
            return Check("notify", State.OK, f"{shown} is told")
        words = "This is a test, sent by `logistics-batch doctor --notify`. Nothing is wrong."
        if address.send(f"[{test_from}] Test of the alerts", words):
            return Check("notify", State.OK, f"{shown} took a test message; see that it arrived")
    except LogisticsBatchError as error:
        return Check("notify", State.PROBLEM, error.message, error.remedy)
    remedy = "See that the address is right and can be reached from this machine, then run this again."
    return Check("notify", State.PROBLEM, f"{shown} did not take a test message.", remedy)


def check_owed(ledger: Ledger) -> Check:
    """Whether alerts wait because an address could not be reached."""
    waiting = [each for each in ledger.notices.owed() if each.tries]
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
    if file is not None:
        yield _check_writing("log", "log.file", file)


def check_textfile(textfile: Path | None) -> Iterator[Check]:
    """Whether the metrics' file can be written; nothing is made."""
    if textfile is None:
        return
    try:
        require_client()
    except SettingsError as error:
        yield Check("metrics", State.PROBLEM, error.message, error.remedy)
    else:
        yield _check_writing("metrics", "metrics.textfile", textfile)


def _check_writing(name: str, setting: str, file: Path) -> Check:
    if _can_be_written(file):
        return Check(name, State.OK, str(file))
    remedy = "Name a file in a folder that exists and is writable."
    return Check(name, State.PROBLEM, f"{setting}: {file} cannot be written.", remedy)


def _can_be_written(file: Path) -> bool:
    """Whether a file can be written anew; folders above it that are missing can be made."""
    if file.is_dir():
        return False
    above = next(each for each in file.parents if os.path.lexists(each))
    return above.is_dir() and os.access(above, os.W_OK) and (not file.exists() or os.access(file, os.W_OK))
