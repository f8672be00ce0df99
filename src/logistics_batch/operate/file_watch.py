"""Expected files: whether they came, what lies there instead, and how a job's files may be named to people."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

from logistics_batch.errors import FileHeld, FileUnstable, FileVanished, LedgerRefused, LogisticsBatchError
from logistics_batch.flows.parts import Parts
from logistics_batch.intake.names import name_matches, printable
from logistics_batch.intake.stores.readiness import judge_listings
from logistics_batch.intake.stores.store import FileStore, RemoteFile
from logistics_batch.ledger import FileArrival, NewNotice, StoredNotice, StoredRun, digest_of_names, identity_of
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import JobSpec, PushJob
from logistics_batch.model.jobs.job_watch import Expect
from logistics_batch.scratch import scratch_folder

_SHORTEST = 4  # a shorter name would be found in every other word


def shown_name(parts: Parts, job: JobSpec, name: str) -> str:
    """How an alert of a job calls a file."""
    if parts.policy.names_in_alerts:
        return printable(name)
    return masked(name, job.source.pattern if isinstance(job, PushJob) else ())


def masked(name: str, patterns: Iterable[str]) -> str:
    """A name with "…" for all that the first pattern which fits leaves open; "a file" if that is everything.

    >>> masked("orders_asha_rao.csv", ["orders_*.csv"]), masked("Asha Rao.xlsx", ["*"]), masked("a.csv", [])
    ('orders_….csv', 'a file', 'a file')
    """
    fits = next((each for each in patterns if name_matches(name, [each])), "*")
    shown = re.sub(r"[*?]+", "…", fits.strip())
    return shown if any(sign.isalnum() for sign in shown) else "a file"


def without_names(parts: Parts, job: JobSpec, text: str, names: Iterable[str]) -> str:
    """A text with each of these names as an alert may show it; also where it stands in a path, or begins an answer's.

    names: of files; longer ones first, so that none is left over behind a shorter.
    """
    for name in sorted(set(names), key=len, reverse=True):
        if len(name) < _SHORTEST:
            continue
        shown = shown_name(parts, job, name)
        text = text.replace(name, shown).replace(printable(name), shown)
        if not parts.policy.names_in_alerts and len(stem := PurePosixPath(name).stem) >= _SHORTEST:
            text = re.sub(rf"(?<![^/\s]){re.escape(stem)}(?=\.\w)", "…", text)
    return text


_LOOKS_BACK_DAYS = 8
_COMES_TO_REST = timedelta(hours=1)  # so long after `by` a file that lies there may still be on its way


class Coming(StrEnum):
    """How it stands with a day's file; those with "on_" are told as jobs name them in `notify`."""

    NOT_YET = "not yet"
    CAME = "came"
    LIES_THERE = "lies there"
    MISSING = "on_missing_file"
    LATE = "on_late_file"
    EMPTY = "on_empty_file"
    DUPLICATE = "on_duplicate_file"


ALERTS = (Coming.MISSING, Coming.LATE, Coming.EMPTY, Coming.DUPLICATE)


@dataclass(frozen=True, slots=True)
class Lying:
    """A file that lies at the source and was not read yet.

    identity: what tells it from others there. why: what it waits for, if anything.
    """

    name: str
    identity: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of a job for one day."""

    expect: Expect
    day: date
    zone: ZoneInfo
    calendar: Calendar

    @property
    def opens(self) -> datetime:
        """From when on a file counts."""
        return self.expect.opens(self.day, self.zone)

    @property
    def deadline(self) -> datetime:
        """Until when it has to be there."""
        return self.expect.deadline(self.day, self.zone)

    @property
    def closes(self) -> datetime:
        """From when on a file counts for the next day."""
        return self.expect.closes(self.day, self.zone, self.calendar)

    def needs_a_look(self, now: datetime) -> bool:
        """Whether it matters what lies at the source."""
        return self.deadline <= now < self.closes


@dataclass(frozen=True, slots=True)
class Judgement:
    """How it stands with a day's file, and a sentence about it."""

    coming: Coming
    text: str = ""


def expected_days(expect: Expect, zone: ZoneInfo, calendar: Calendar, *, now: datetime) -> list[Expected]:
    """The days whose file is expected, or was until lately; oldest first."""
    today = now.astimezone(zone).date()
    days = [today + timedelta(days=n) for n in range(-_LOOKS_BACK_DAYS, 2)]
    each = [Expected(expect, day, zone, calendar) for day in days if calendar.is_working(day)]
    return [one for one in each if one.opens <= now]


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known about a job's files.

    arrivals: what was read since long enough, oldest first. lying: what lies at the source and is not the same as
    before. missed: whether somebody looked after the deadline and found nothing; without that nothing is called late.
    """

    arrivals: Sequence[FileArrival] = ()
    lying: Sequence[Lying] = ()
    missed: bool = False


def judge(expected: Expected, seen: Seen, *, now: datetime) -> Judgement:
    """How it stands with the file of a day."""
    arrivals, lying = seen.arrivals, seen.lying
    mine = [file for file in arrivals if _is_for(file, expected)]
    new = [file for file in mine if file.first_at >= expected.opens]
    if good := [file for file in new if not is_empty(file)]:
        return _came(expected, good[0], late=seen.missed)
    if lying:
        return _lies_there(expected, lying, now)
    if mine and is_empty(mine[-1]):  # all empty files are alike: that one came before says nothing
        return Judgement(Coming.EMPTY, f"{mine[-1].name} came at {_clock(mine[-1].at, expected)} and holds no rows.")
    if mine:
        again = mine[-1]
        first = again.first_at.astimezone(expected.zone)
        text = f"{again.name} came, and its content is that of {first:%Y-%m-%d %H:%M} to the byte."
        return Judgement(Coming.DUPLICATE, text)
    if now < expected.deadline:
        return Judgement(Coming.NOT_YET)
    return Judgement(Coming.MISSING, f"No file came until {_clock(expected.deadline, expected)}.")


def _is_for(file: FileArrival, expected: Expected) -> bool:
    """Whether a file counts for a day: by when it came, unless it was read in a run for an earlier day."""
    same_day = expected.expect.since <= expected.expect.by  # else a run of the evening before is no earlier day's
    if same_day and file.business_date and file.business_date < f"{file.at.astimezone(expected.zone):%Y-%m-%d}":
        return file.business_date == expected.day.isoformat()
    return expected.opens <= file.at < expected.closes


def is_empty(file: FileArrival) -> bool:
    """Whether a file holds no rows; one that cannot be read is not empty but held."""
    return file.rule == "file|empty" or (not file.rule and file.rows_read == 0)


def _came(expected: Expected, file: FileArrival, *, late: bool) -> Judgement:
    text = f"{file.name} came at {_clock(file.at, expected)}"
    if not late:
        return Judgement(Coming.CAME, f"{text}.")
    by = f"{_length(file.at - expected.deadline)} after {_clock(expected.deadline, expected)}"
    return Judgement(Coming.LATE, f"{text}, {by}.")


def _lies_there(expected: Expected, lying: Sequence[Lying], now: datetime) -> Judgement:
    stuck = [file for file in lying if file.why]
    named = ", ".join(file.name for file in lying[:3])
    if now >= expected.deadline + _COMES_TO_REST and len(stuck) == len(lying):
        return Judgement(Coming.LATE, f"{named} lies there and is not complete: {stuck[0].why}.")
    return Judgement(Coming.LIES_THERE, f"{named} lies there, to be read by the next run.")


def _clock(moment: datetime, expected: Expected) -> str:
    return f"{moment.astimezone(expected.zone):%Y-%m-%d %H:%M%z}"


def _length(span: timedelta) -> str:
    minutes = int(span.total_seconds() // 60)
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours else f"{rest} min"


def lying_files(parts: Parts, job: PushJob) -> list[Lying]:
    """The files of a job that lie at its source, but for those that were read before and stayed there.

    Raises StoreError or UsageError if the source cannot be looked at.
    """
    rule = job.source.ready
    store = parts.open_store(job.source.place)
    try:
        listing = store.list(job.source.path)
        found = judge_listings([listing] * rule.unchanged_for, rule, job.source.pattern)
        files = [(file, "") for file in found.ready] + [(file, why.reason) for file, why in found.waiting]
        old = parts.ledger.files.sizes_at(job.name) if files else set()
        return [
            Lying(file.name, identity_of(file.path, file.size, file.modified), why)
            for file, why in files
            if (digest_of_names(file.path), file.size) not in old or not _came_before(parts, store, job, file)
        ]
    finally:
        store.close()


def _came_before(parts: Parts, store: FileStore, job: PushJob, file: RemoteFile) -> bool:
    """Name and size are those of an earlier file, so its bytes have to tell."""
    with scratch_folder() as folder:
        try:
            fetched = store.fetch(file, to=folder / "file")
        except (FileHeld, FileUnstable):
            return False
        except FileVanished:
            return True
    return parts.ledger.files.was_read(job.name, fetched.sha256)


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
