"""Expected files, watched: what is noticed of each day's file, and that it came after all."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from hashlib import sha256
from zoneinfo import ZoneInfo

from logistics_batch.errors import LedgerRefused, LogisticsBatchError
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import FileArrival, NewNotice, StoredNotice, StoredRun
from logistics_batch.model.calendar import Calendar
from logistics_batch.model.job import PushJob
from logistics_batch.operate.expectations import (
    ALERTS,
    Coming,
    Expected,
    Judgement,
    Lying,
    Seen,
    expected_days,
    judge,
)
from logistics_batch.operate.file_names import shown_name, without_names
from logistics_batch.operate.waiting_files import lying_files

_LOOK_BACK = timedelta(days=10)
_TITLES = {
    Coming.MISSING: "no file came for {day}",
    Coming.LATE: "the file for {day} is late",
    Coming.EMPTY: "the file for {day} is empty",
    Coming.DUPLICATE: "the file for {day} is one that came before",
}
_REMEDIES = {
    Coming.MISSING: "Ask the sender. When it is there: `logistics-batch run {job} --business-date {day}`",
    Coming.LATE: "If it is not read by a run of tonight: `logistics-batch run {job} --business-date {day}`",
    Coming.EMPTY: "Ask the sender for the file with its rows.",
    Coming.DUPLICATE: "Ask the sender for the new file; nothing of the old one was sent again.",
}


def watch_files(parts: Parts, job: PushJob, calendar: Calendar, *, now: datetime) -> None:
    """Notice what is wrong with the files that are expected of a job, and what is over.

    Raises LedgerRefused if that cannot be written down.
    """
    if job.expect is None:
        return
    mark = f"expect {job.expect.by:%H:%M} {job.expect.since:%H:%M} {job.expect.calendar or ''}"[:57]
    since = datetime.fromisoformat(parts.ledger.slots.schedule_seen(job.name, mark, now=now.isoformat()))
    arrivals = [_as_told(parts, job, each) for each in parts.ledger.files.arrivals_of(job.name, since=now - _LOOK_BACK)]
    for expected in expected_days(job.expect, _zone_info(parts, job), calendar, now=now):
        if expected.deadline < since:
            continue  # nobody expected it then
        notices = _notices(parts, job, expected.day)
        missed = any(each.kind == Coming.MISSING for each in notices)
        found = judge(expected, Seen(arrivals, (), missed), now=now)
        if found.coming in (Coming.MISSING, Coming.EMPTY, Coming.DUPLICATE) and expected.needs_a_look(now):
            found = _with_a_look(parts, job, expected, Seen(arrivals, (), missed), now=now)
        _note(parts, job, expected, found, now=now)


def _zone_info(parts: Parts, job: PushJob) -> ZoneInfo:
    if job.schedule is not None:
        return job.schedule.zone(parts.policy.timezone)
    return ZoneInfo(parts.policy.timezone)


def _notices(parts: Parts, job: PushJob, day: date) -> list[StoredNotice]:
    return [each for coming in ALERTS for each in parts.ledger.notices.notices_of(_key(job, day, coming))]


def _key(job: PushJob, day: date, coming: Coming) -> str:
    return f"{job.name}|file|{day}|{coming.value}"


def _with_a_look(parts: Parts, job: PushJob, expected: Expected, seen: Seen, *, now: datetime) -> Judgement:
    try:
        lying = lying_files(parts, job)
    except LedgerRefused:
        raise
    except LogisticsBatchError as error:
        found = judge(expected, seen, now=now)
        return Judgement(found.coming, f"{found.text} Where it is dropped could not be looked at: {error.message}")
    last = next(iter(parts.ledger.runs.latest(job=job.name, limit=1)), None)
    first_seen = _first_seen(parts, job, lying)
    told = [
        replace(
            file,
            name=shown_name(parts, job, file.name),
            why=without_names(parts, job, file.why, [file.name]) or _why_left(first, last),
        )
        for file, first in zip(lying, first_seen, strict=True)
        if first >= expected.opens  # what lay there before is that of an earlier day, and late
    ]
    return judge(expected, Seen(seen.arrivals, told, seen.missed), now=now)


def _as_told(parts: Parts, job: PushJob, file: FileArrival) -> FileArrival:
    """A file as it may be named, and since when it was there: before it was read it may have lain there for a while."""
    known = parts.ledger.slots.of_job(job.name, [f"since {_mark(file.identity)}"])
    times = [file.at, *(datetime.fromisoformat(slot.claimed_at) for slot in known.values())]
    first = min(times)
    return replace(file, name=shown_name(parts, job, file.name), at=first, first_at=min(first, file.first_at))


def _first_seen(parts: Parts, job: PushJob, files: Sequence[Lying]) -> list[datetime]:
    """When each was first seen to lie there; noted at the first look."""
    now = parts.clock.now().isoformat()
    marks = [_mark(file.identity) for file in files]
    known = parts.ledger.slots.of_job(job.name, [f"since {mark}" for mark in marks])
    times = {name: slot.claimed_at for name, slot in known.items()}
    return [
        datetime.fromisoformat(times.get(f"since {mark}") or parts.ledger.slots.schedule_seen(job.name, mark, now=now))
        for mark in marks
    ]


def _mark(identity: str) -> str:
    return f"lies {sha256(identity.encode()).hexdigest()[:32]}"


def _why_left(first_seen: datetime, last: StoredRun | None) -> str:
    """Whether a run that began after the file was first seen there is over, and it still lies there."""
    if last is None or not last.finished_at or datetime.fromisoformat(last.started_at) <= first_seen:
        return ""
    return "a run since then left it"


def _note(parts: Parts, job: PushJob, expected: Expected, found: Judgement, *, now: datetime) -> None:
    """Write down what is new about a day's file."""
    at, day = now.isoformat(), expected.day
    known = _notices(parts, job, day)
    came = found.coming in (Coming.CAME, Coming.LIES_THERE) or (
        found.coming is Coming.LATE and any(each.kind == Coming.MISSING for each in known)
    )
    if found.coming in ALERTS and not came and not any(each.kind == found.coming for each in known):
        parts.ledger.notices.note(_notice(job, day, found), now=at)
    for each in known:
        if not each.over_at and (came or each.kind != found.coming):
            parts.ledger.notices.over(each.key, found.text, now=at)
            if came and each.kind == Coming.EMPTY:
                _close_empty(parts, job, expected, why=found.text, now=at)
    if found.coming is Coming.LATE and came and "on_missing_file" not in job.notify:
        # Whoever did not want to hear that it was missing may want to hear that it came late.
        if not any(each.kind == Coming.LATE for each in known):
            parts.ledger.notices.note(_notice(job, day, found), now=at)
        parts.ledger.notices.over(_key(job, day, Coming.LATE), "", now=at)
    if found.coming in ALERTS and now >= expected.closes:
        parts.ledger.notices.over(_key(job, day, found.coming), "", now=at)


def _close_empty(parts: Parts, job: PushJob, expected: Expected, *, why: str, now: str) -> None:
    """The empty file that came for a day waits for nobody once that day's file came after all."""
    for each in parts.ledger.files.held(job=job.name):
        if each.rule == "file|empty" and expected.opens <= datetime.fromisoformat(each.since) < expected.closes:
            parts.ledger.files.close_held_file(each.id, now=now, why=why)


def _notice(job: PushJob, day: date, found: Judgement) -> NewNotice:
    coming = found.coming
    remedy = _REMEDIES[coming].format(job=job.name, day=day)
    return NewNotice(
        key=_key(job, day, coming),
        kind=coming.value,
        job=job.name,
        business_date=day.isoformat(),
        title=f"{job.name}: {_TITLES[coming].format(day=day)}",
        text=f"{found.text}\nWhat to do: {remedy}",
        wanted=coming.value in job.notify,
    )
