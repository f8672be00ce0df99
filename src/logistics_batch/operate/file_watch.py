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
from logistics_batch.flows.files.misnamed import misnamed_at
from logistics_batch.flows.parts import Parts
from logistics_batch.intake.names import name_matches, printable
from logistics_batch.intake.stores.readiness import judge_listings
from logistics_batch.intake.stores.store import FileStore, RemoteFile
from logistics_batch.ledger import FileArrival, NewNotice, StoredNotice, digest_of_names, identity_of
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import Expect, JobSpec, PushJob
from logistics_batch.scratch import scratch_folder

_LOST_NAMED = 3
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
        """From when on a file counts for the day."""
        return self._opens(self.day)

    @property
    def deadline(self) -> datetime:
        """Until when it has to be there."""
        return datetime.combine(self.day, self.expect.by, self.zone)

    @property
    def closes(self) -> datetime:
        """From when on a file counts for the next expected day."""
        return self._opens(self.calendar.next_working(self.day) or self.day + timedelta(days=7))

    def clock(self, moment: datetime) -> str:
        """A moment in the job's zone, for people."""
        return moment.astimezone(self.zone).isoformat(" ", "minutes")

    def _opens(self, day: date) -> datetime:
        evening_before = self.expect.since > self.expect.by
        return datetime.combine(day - timedelta(days=1) if evening_before else day, self.expect.since, self.zone)


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
    lying = seen.lying
    mine = [file for file in seen.arrivals if _is_for(file, expected)]
    if good := [file for file in mine if file.first_at >= expected.opens and not _is_empty(file)]:
        text = f"{good[0].name} came at {expected.clock(good[0].at)}"
        if not seen.missed:
            return Judgement(Coming.CAME, f"{text}.")
        hours, minutes = divmod(int((good[0].at - expected.deadline).total_seconds() // 60), 60)
        late = f"{hours} h {minutes} min" if hours else f"{minutes} min"
        return Judgement(Coming.LATE, f"{text}, {late} after {expected.clock(expected.deadline)}.")
    if lying:
        named = ", ".join(file.name for file in lying[:3])
        if now >= expected.deadline + _COMES_TO_REST and all(file.why for file in lying):
            return Judgement(Coming.LATE, f"{named} lies there and is not complete: {lying[0].why}.")
        return Judgement(Coming.LIES_THERE, f"{named} lies there, to be read by the next run.")
    if mine and _is_empty(mine[-1]):  # all empty files are alike: that one came before says nothing
        return Judgement(Coming.EMPTY, f"{mine[-1].name} came at {expected.clock(mine[-1].at)} and holds no rows.")
    if mine:
        text = f"{mine[-1].name} came, and its content is that of {expected.clock(mine[-1].first_at)} to the byte."
        return Judgement(Coming.DUPLICATE, text)
    if now < expected.deadline:
        return Judgement(Coming.NOT_YET)
    return Judgement(Coming.MISSING, f"No file came until {expected.clock(expected.deadline)}.")


def _is_for(file: FileArrival, expected: Expected) -> bool:
    """Whether a file counts for a day: by when it came, unless it was read in a run for an earlier day."""
    same_day = expected.expect.since <= expected.expect.by  # else a run of the evening before is no earlier day's
    if same_day and file.business_date and file.business_date < f"{file.at.astimezone(expected.zone):%Y-%m-%d}":
        return file.business_date == expected.day.isoformat()
    return expected.opens <= file.at < expected.closes


def _is_empty(file: FileArrival) -> bool:
    """Whether a file holds no rows; one that cannot be read is not empty but held."""
    return file.rule == "file|empty" or (not file.rule and file.rows_read == 0)


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
    mark = _mark_of(job.expect)
    since = datetime.fromisoformat(parts.ledger.slots.schedule_seen(job.name, mark, now=now.isoformat()))
    arrivals = [replace(each, name=shown_name(parts, job, each.name)) for each in _arrivals(parts, job, now)]
    for expected in expected_days(job.expect, _zone(parts, job), calendar, now=now):
        if expected.deadline < since:
            continue  # nobody expected it then
        missed = any(each.kind == Coming.MISSING for each in _notices(parts, job, expected.day))
        seen = Seen(arrivals, (), missed)
        found = judge(expected, seen, now=now)
        asks = found.coming in (Coming.MISSING, Coming.EMPTY, Coming.DUPLICATE)
        if asks and expected.deadline <= now < expected.closes:
            found = _with_a_look(parts, job, expected, seen, now=now)
        _note(parts, job, expected, found, now=now)


def days_of_files(parts: Parts, job: PushJob, calendar: Calendar, *, now: datetime) -> list[tuple[Expected, Judgement]]:
    """How it stands with the file of each day, today's first, as the ledger knows; nobody looks at the source."""
    if job.expect is None:
        return []
    arrivals, zone = _arrivals(parts, job, now), _zone(parts, job)
    since = _since(parts, job, _mark_of(job.expect)) or now
    found = []
    for expected in reversed(expected_days(job.expect, zone, calendar, now=now)):
        if expected.deadline < since:
            break  # nobody expected it then
        missed = any(each.kind == Coming.MISSING for each in _notices(parts, job, expected.day))
        found.append((expected, judge(expected, Seen(arrivals, (), missed), now=now)))
    return found


def _arrivals(parts: Parts, job: PushJob, now: datetime) -> list[FileArrival]:
    """What was read lately, each since when it was there: before it was read it may have lain there for a while."""
    found = []
    for each in parts.ledger.files.arrivals_of(job.name, since=now - _LOOK_BACK):
        first = min(each.at, _since(parts, job, _mark(each.identity)) or each.at)
        found.append(replace(each, at=first, first_at=min(first, each.first_at)))
    return found


def _mark_of(expect: Expect) -> str:
    return f"expect {expect.by:%H:%M} {expect.since:%H:%M} {expect.calendar or ''}"[:57]


def _zone(parts: Parts, job: PushJob) -> ZoneInfo:
    return job.schedule.zone(parts.policy.timezone) if job.schedule else ZoneInfo(parts.policy.timezone)


def _notices(parts: Parts, job: PushJob, day: date) -> list[StoredNotice]:
    return [each for coming in ALERTS for each in parts.ledger.notices.notices_of(_key(job, day, coming))]


def _key(job: PushJob, day: date, coming: Coming) -> str:
    return f"{job.name}|file|{day}|{coming.value}"


def _with_a_look(parts: Parts, job: PushJob, expected: Expected, seen: Seen, *, now: datetime) -> Judgement:
    """How it stands once the source was looked at; what lay there before the day began is late for an earlier one."""
    try:
        lying = lying_files(parts, job)
    except LedgerRefused:
        raise
    except LogisticsBatchError as error:
        found = judge(expected, seen, now=now)
        return Judgement(found.coming, f"{found.text} Where it is dropped could not be looked at: {error.message}")
    last = next(iter(parts.ledger.runs.latest(job=job.name, limit=1)), None)
    run_began = datetime.fromisoformat(last.started_at) if last and last.finished_at else None
    told = []
    for file in lying:
        first = _first_seen(parts, job, file)
        if first >= expected.opens:
            left = "a run since then left it" if run_began and run_began > first else ""
            why = without_names(parts, job, file.why, [file.name]) or left
            told.append(replace(file, name=shown_name(parts, job, file.name), why=why))
    found = judge(expected, replace(seen, lying=told), now=now)
    lost = misnamed_at(parts, job) if found.coming is Coming.MISSING else ()
    lying_there = [f"{_lost_name(parts, file.name)} lies there: {why.reason}." for file, why in lost[:_LOST_NAMED]]
    return replace(found, text=" ".join([found.text, *lying_there]))


def _lost_name(parts: Parts, name: str) -> str:
    return printable(name) if parts.policy.names_in_alerts else "A file"


def _first_seen(parts: Parts, job: PushJob, file: Lying) -> datetime:
    """When a file was first seen to lie there; noted at the first look."""
    if since := _since(parts, job, _mark(file.identity)):
        return since
    now = parts.clock.now().isoformat()
    return datetime.fromisoformat(parts.ledger.slots.schedule_seen(job.name, _mark(file.identity), now=now))


def _since(parts: Parts, job: PushJob, mark: str) -> datetime | None:
    """Since when something is noted of a job."""
    known = parts.ledger.slots.of_job(job.name, [f"since {mark}"])
    return next((datetime.fromisoformat(slot.claimed_at) for slot in known.values()), None)


def _mark(identity: str) -> str:
    return f"lies {sha256(identity.encode()).hexdigest()[:32]}"


def _note(parts: Parts, job: PushJob, expected: Expected, found: Judgement, *, now: datetime) -> None:
    """Write down what is new about a day's file."""
    at, day, notices = now.isoformat(), expected.day, parts.ledger.notices
    known = _notices(parts, job, day)
    kinds = {each.kind for each in known}
    came = found.coming in (Coming.CAME, Coming.LIES_THERE) or (found.coming is Coming.LATE and Coming.MISSING in kinds)
    for each in known:
        if not each.over_at and (came or each.kind != found.coming):
            notices.over(each.key, found.text, now=at)
            if came and each.kind == Coming.EMPTY:
                _close_empty(parts, job, expected, why=found.text, now=at)
    if found.coming not in ALERTS:
        return
    # That it came late after all is told with the end of what was missing, and else to who did not hear of that.
    is_told_so = came and "on_missing_file" in job.notify
    if found.coming not in kinds and not is_told_so:
        remedy = _REMEDIES[found.coming].format(job=job.name, day=day)
        notice = NewNotice(
            key=_key(job, day, found.coming),
            kind=found.coming.value,
            job=job.name,
            business_date=day.isoformat(),
            title=f"{job.name}: {_TITLES[found.coming].format(day=day)}",
            text=f"{found.text}\nWhat to do: {remedy}",
            wanted=found.coming.value in job.notify,
        )
        notices.note(notice, now=at)
    if now >= expected.closes or (came and not is_told_so):
        notices.over(_key(job, day, found.coming), "", now=at)


def _close_empty(parts: Parts, job: PushJob, expected: Expected, *, why: str, now: str) -> None:
    """The empty file that came for a day waits for nobody once that day's file came after all."""
    for each in parts.ledger.files.held(job=job.name):
        if each.rule == "file|empty" and expected.opens <= datetime.fromisoformat(each.since) < expected.closes:
            parts.ledger.files.close_held_file(each.id, now=now, why=why)
