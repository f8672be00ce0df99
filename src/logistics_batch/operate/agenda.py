"""What is due now: which planned time of a job a run that starts now is for; claimed in the ledger before it starts.

What was taken stands in the ledger and nowhere else, so restarts, downtime and a clock that was set change nothing:
what was claimed is never claimed again, and what was not is found by looking back as far as the job's grace.

A run that stopped early is taken again, later and later, until as long after its time as the job may be tried; who
dies meanwhile leaves its time as one that was interrupted.

A job that runs `after` others runs once for each of their rounds: when each of them ran n times to its end for a
business date, it runs the n-th time for that date. A run that failed is no round, so that a later one that does not
fail lets the job go on. With a schedule of its own, too, its time waits until all of them had a round.

A paused job is not begun by the scheduler until a person resumes it; by hand it runs as ever.

A pause is a notice that lasts: it stands among what was noticed, and is kept with its end.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from hashlib import sha256
from itertools import islice, takewhile
from random import random
from zoneinfo import ZoneInfo

from logistics_batch.errors import LedgerRefused, UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import RAN_THROUGH, Ledger, NewNotice, StoredNotice, StoredSlot
from logistics_batch.model.jobs.calendar import EVERY_DAY, Calendar
from logistics_batch.model.jobs.job import JobSpec, Missed, PushJob, SettleJob
from logistics_batch.model.jobs.timing import Cron, Every, Slot

_ON_TIME = timedelta(seconds=60)  # a run that starts this late is still on time
_LOOKS_BACK = timedelta(days=35)  # for days that were lost
_FIRST_WAIT = timedelta(seconds=30)
_SHARE_WAITED = 0.25  # of the time since it stopped: ten minutes late at most where that lasted forty
_SHARE_BY_CHANCE = 0.2
_LONGEST_WAIT = timedelta(days=1)  # for its turn; longer, the clock was set
_LONG_AGO = timedelta(hours=6)  # whose last run began before that is as urgent as one that never ran
_MOST_PLANNED = 300  # times of a job, in what people look at
_SHOWN_OF_DAY = 2
_A_MOMENT = timedelta(seconds=1)
_NEVER = timedelta(days=400)  # a calendar that leaves no day for so long leaves none


@dataclass(frozen=True, slots=True)
class PlannedJob:
    """A job that runs by itself: by the clock, after others, or both.

    grace: how late a run may still start. tried_for: how late one that stopped early may be tried again. sends: its
    runs hold the ledger, one at a time.
    """

    name: str
    zone: ZoneInfo
    timing: Cron | Every | None = None
    calendar: Calendar = EVERY_DAY
    missed: Missed = Missed.LAST
    grace: timedelta = timedelta(hours=6)
    tried_for: timedelta = timedelta(hours=6)
    after: tuple[str, ...] = ()
    text: str = ""
    sends: bool = False

    def slots(self, after: datetime) -> Iterator[Slot]:
        """The planned times later than `after`, on working days; none for a job that only runs after others."""
        last = after
        for slot in self.timing.slots(after, self.zone) if self.timing else ():
            if slot.at - last > _NEVER and self.calendar is not EVERY_DAY:
                return
            if self.calendar.is_working(slot.business_date):
                yield slot
                last = slot.at

    def next_slot(self, now: datetime) -> Slot | None:
        """The next planned time; None if there is none to be seen."""
        return next(self.slots(now), None)

    @property
    def late_by(self) -> timedelta:
        """How late a run may start; a job that waits for others has its grace in any case."""
        waits = self.missed is not Missed.NONE or bool(self.after)
        return max(self.grace, _ON_TIME) if waits else _ON_TIME


def planned_job(job: JobSpec, *, service_zone: str, calendar: Calendar = EVERY_DAY) -> PlannedJob | None:
    """A job as the scheduler needs it; None if it only runs by hand. A schedule without a zone is in the service's."""
    schedule = job.schedule
    if schedule is None and not job.after:
        return None
    words = [schedule.text] if schedule else []
    if job.after:
        words.append(f"after {', '.join(job.after)}")
    plan = PlannedJob(
        name=job.name,
        zone=ZoneInfo(service_zone),
        missed=Missed.ALL,  # each round of the others is a day's work of its own: none stands for another
        tried_for=job.tried_for,
        after=job.after,
        text="; ".join(words),
        sends=isinstance(job, PushJob | SettleJob),
    )
    if schedule is None:
        return plan
    return replace(
        plan,
        zone=schedule.zone(service_zone),
        timing=schedule.timing,
        calendar=calendar,
        missed=schedule.missed,
        grace=timedelta(seconds=schedule.grace_seconds),
    )


@dataclass(frozen=True, slots=True)
class Due:
    """A planned time that was claimed for a run.

    until: when it is tried again at the latest. goes_on: the end of its process cut it short, or it stopped early.
    stopped_at: when it stopped early first.
    """

    name: str
    business_date: date
    until: datetime
    goes_on: bool = False
    stopped_at: datetime | None = None


def next_try(
    *, stopped_at: datetime, now: datetime, until: datetime, chance: Callable[[], float] = random
) -> datetime | None:
    """When a run that stopped early first at some moment is tried again, for the last time at `until`; None after it.

    chance: 0 to 1, so that not all come at once.

    >>> nine, ten = datetime(2026, 11, 3, 21), datetime(2026, 11, 3, 22)
    >>> next_try(stopped_at=nine, now=ten, until=datetime(2026, 11, 4), chance=lambda: 0).isoformat()
    '2026-11-03T22:15:00'
    """
    wait = max(_FIRST_WAIT, (now - stopped_at) * _SHARE_WAITED)
    return min(now + wait * (1 + chance() * _SHARE_BY_CHANCE), until) if now < until else None


@dataclass(frozen=True, slots=True)
class _Candidate:
    name: str
    business_date: date
    at: datetime


@dataclass
class Agenda:
    """Takes what is due out of the ledger."""

    ledger: Ledger
    chance: Callable[[], float] = random
    _stopped: dict[str, list[tuple[datetime, Due]]] = field(default_factory=dict)  # and when each is tried again
    _marks: dict[tuple[str, str], datetime] = field(default_factory=dict)
    _looked: dict[str, datetime] = field(default_factory=dict)
    _taken: dict[str, set[str]] = field(default_factory=dict)  # planned times that somebody took, of late
    _ran: dict[str, set[date]] = field(default_factory=dict)  # the days for which a run began

    def take(self, job: PlannedJob, now: datetime, *, waited: timedelta = timedelta()) -> Due | None:
        """Claim the planned time for which a run of the job starts now; None if there is none.

        waited: how long the job waited for its turn, which does not make it late.

        Raises LedgerRefused if it cannot be written down; then nothing may start.
        """
        for each in self._stopped.get(job.name, [])[:]:
            at, due = each
            if at <= now and self._claim(job, due.name, due.business_date, now, again=True):
                self._stopped[job.name].remove(each)
                return due
            if not self.ledger.slots.holds(job.name, due.name):  # another scheduler went on with it
                self._stopped[job.name].remove(each)
        if interrupted := self._interrupted(job, now):
            return interrupted
        waited = min(max(waited, timedelta()), _LONGEST_WAIT)
        for chosen in self._choice(job, self._open(job, now, waited))[:1]:  # else another scheduler runs the job now
            if self._claim(job, chosen.name, chosen.business_date, now):
                return Due(chosen.name, chosen.business_date, until=chosen.at + job.tried_for)
        return None

    def _claim(self, job: PlannedJob, name: str, day: date, now: datetime, *, again: bool = False) -> bool:
        dates = {"now": now.isoformat(), "business_date": day.isoformat()}
        return self.ledger.slots.claim(job.name, name, **dates, again=again)

    def last_begun(self, now: datetime) -> Mapping[str, str]:
        """When the last run of each job began, by any program; without those of long ago."""
        return self.ledger.slots.last_begun(since=(now - _LONG_AGO).isoformat())

    def due(self, jobs: Iterable[PlannedJob], now: datetime) -> list[PlannedJob]:
        """Those of some jobs for which `take` would find something; writes nothing but since when a schedule is known.

        Hundreds of jobs are looked at again and again by many programs: what is known of the past is not asked again.
        """
        left, elsewhere = self.ledger.slots.claims_of_others(now=now.isoformat())
        return [
            job
            for job in jobs
            if job.name in left
            or any(at <= now for at, _ in self._stopped.get(job.name, []))
            or (job.name not in elsewhere and self._choice(job, self._open(job, now)))
        ]

    def try_again(self, job: PlannedJob, due: Due, now: datetime) -> datetime | None:
        """Take a planned time whose run stopped early again, later: gives when; None if that is too late.

        None, too, where another scheduler went on with it, or another time of that day waits, which goes on with all
        that the day's runs left.
        """
        with suppress(LedgerRefused):  # it may be the ledger that is away
            if not self.ledger.slots.holds(job.name, due.name):
                return None  # another scheduler went on with it
        waiting = self._stopped.setdefault(job.name, [])
        first = due.stopped_at or now
        at = next_try(stopped_at=first, now=now, until=due.until, chance=self.chance)
        if at is None or any(each.business_date == due.business_date for _, each in waiting):
            return None
        waiting.append((at, replace(due, goes_on=True, stopped_at=first)))
        with suppress(LedgerRefused):
            self.ledger.slots.rest(job.name, due.name, now=now.isoformat())
        return at

    @property
    def waits(self) -> bool:
        """Whether a run waits to be tried again."""
        return any(self._stopped.values())

    def lost_days(self, job: PlannedJob, now: datetime) -> list[date]:
        """The business dates for which the job did not run and will not by itself; each is given once, ever."""
        since = max(self._known_since(job, now), now - _LOOKS_BACK)
        if (looked := self._looked.get(job.name, since)) <= now:
            since = max(since, looked - job.late_by - timedelta(days=2))
        self._looked[job.name] = now
        days = sorted({each.business_date for each in self._candidates(job, since, now)})
        if not days:
            return []
        ran = self._ran.setdefault(job.name, set())
        if not ran.issuperset(days):
            ran |= {date.fromisoformat(day) for day in self.ledger.slots.days_run(job.name, since=days[0].isoformat())}
        horizon = now - job.late_by
        lost = [day for day in days if day not in ran and not self._is_to_come(job, day, horizon, ran)]
        if not lost:
            return []
        new = self.ledger.slots.note_lost_days(job.name, [day.isoformat() for day in lost], now=now.isoformat())
        return [date.fromisoformat(day) for day in new]

    def _is_to_come(self, job: PlannedJob, day: date, horizon: datetime, ran: set[date]) -> bool:
        """Whether a time of that day lies ahead, or is not too late and no later day stands for it."""
        if job.missed is Missed.LAST and any(day < later for later in ran):
            return False
        if job.timing is None:
            return any(each.business_date == day for each in self._rounds(job, horizon, horizon + _LOOKS_BACK))
        start = datetime.combine(day, datetime.min.time(), job.zone) - timedelta(seconds=1)
        following = next(job.slots(max(start, horizon)), None)
        return following is not None and following.business_date <= day

    def _interrupted(self, job: PlannedJob, now: datetime) -> Due | None:
        for slot in self.ledger.slots.abandoned(job.name, now=now.isoformat()):
            day = date.fromisoformat(slot.business_date)
            if self._claim(job, slot.slot, day, now):
                until = datetime.fromisoformat(slot.claimed_at) + job.tried_for
                return Due(slot.slot, day, until=until, goes_on=True)
        return None

    def _open(self, job: PlannedJob, now: datetime, waited: timedelta = timedelta()) -> list[_Candidate]:
        """Planned times that are due and nobody took, oldest first."""
        passed = self._candidates(job, max(self._known_since(job, now), now - job.late_by - waited), now)
        names = {each.name for each in passed}
        known = self._taken.get(job.name, set()) & names
        if new := names - known:
            known |= self.ledger.slots.of_job(job.name, [*new]).keys()
            self._taken[job.name] = known
        latest = max((each.at for each in passed if each.name in known), default=None)
        open_ = [each for each in passed if each.name not in known]
        if job.missed is Missed.LAST and latest:
            return [each for each in open_ if each.at > latest or each.at > now - _ON_TIME]
        return open_

    def _choice(self, job: PlannedJob, open_: Sequence[_Candidate]) -> list[_Candidate]:
        """Of what is open, what may start now, the best first."""
        if job.after and job.timing:
            rounds_of = self.ledger.slots.rounds_of
            open_ = [
                each for each in open_ if all(rounds_of(name, each.business_date.isoformat()) for name in job.after)
            ]
        return list(open_) if job.missed is Missed.ALL else list(open_[-1:])

    def _candidates(self, job: PlannedJob, since: datetime, now: datetime) -> list[_Candidate]:
        """Every planned time later than `since` and not later than now, oldest first."""
        if job.timing is None:
            return [each for each in self._rounds(job, since, now) if since < each.at <= now]
        until = now.astimezone(UTC)  # instants of one zone would be compared by their wall time
        passed = takewhile(lambda slot: slot.at.astimezone(UTC) <= until, job.slots(since))
        return [_Candidate(slot.name, slot.business_date, slot.at.astimezone(UTC)) for slot in passed]

    def _rounds(self, job: PlannedJob, since: datetime, now: datetime) -> list[_Candidate]:
        """The n-th time that all the others ran to their end for a day, for each day and n."""
        first = (min(since, now).date() - timedelta(days=1)).isoformat()
        days = {day for name in job.after for day in self.ledger.slots.recent_days(name, since=first)}
        found = []
        for day in days:
            ends = [_ends(self.ledger.slots.day_slots(name, day)) for name in job.after]
            for number, at in enumerate(map(max, zip(*ends, strict=False)), 1):
                found.append(_Candidate(f"{day} round {number}", date.fromisoformat(day), at))
        return sorted(found, key=lambda each: each.at)

    def _known_since(self, job: PlannedJob, now: datetime) -> datetime:
        key = (job.name, job.text)
        if key not in self._marks:
            text = f"{job.text} {job.zone.key}"
            short = text if len(text) <= 50 else f"{text[:33]} {sha256(text.encode()).hexdigest()[:16]}"
            seen = self.ledger.slots.schedule_seen(job.name, short, now=now.isoformat())
            self._marks[key] = datetime.fromisoformat(seen).astimezone(UTC)
        # Seen by a clock that was ahead: what is due now is not left for that.
        return self._marks[key] if self._marks[key] <= now else now - _ON_TIME


def _ends(slots: Sequence[StoredSlot]) -> list[datetime]:
    return sorted(
        datetime.fromisoformat(each.ended_at).astimezone(UTC) for each in slots if each.exit_code in RAN_THROUGH
    )


def timetable(
    jobs: Sequence[JobSpec], calendars: Mapping[str, Calendar], ledger: Ledger, *, now: datetime, service_zone: str
) -> list[dict[str, object]]:
    """A line for each job: its next planned time in its own zone, who paused it, and its last run.

    calendars: those of schedules, by the job's name.
    """
    lines: list[dict[str, object]] = []
    pauses = paused(ledger)
    for job in jobs:
        plan = planned_job(job, service_zone=service_zone, calendar=calendars.get(job.name, EVERY_DAY))
        slot = plan.next_slot(now) if plan else None
        lines.append(
            {
                "job": job.name,
                "kind": job.kind,
                "cron": job.schedule.cron.text if job.schedule and job.schedule.cron else None,
                "schedule": plan.text if plan else None,
                "timezone": plan.zone.key if plan and plan.timing else None,
                "next_run": slot.at.isoformat(timespec="minutes") if slot else None,
                "paused": pauses[job.name].title if job.name in pauses else None,
                "last_run": None,
                "last_run_id": None,
                "last_exit_code": None,
            }
        )
        for last in ledger.runs.latest(job=job.name, limit=1):
            lines[-1] |= {"last_run": last.started_at, "last_run_id": last.id, "last_exit_code": last.exit_code}
    return lines


def planned_times(
    jobs: Sequence[JobSpec],
    calendars: Mapping[str, Calendar],
    ledger: Ledger,
    *,
    now: datetime,
    within: timedelta,
    service_zone: str,
) -> list[dict[str, str]]:
    """The planned times around now for which no run began: those to come, and those that are late.

    A time is late a minute after it came, where the scheduler took an earlier one of that job and no later one.
    """
    found = []
    paused_jobs = paused(ledger)
    for job in jobs:
        plan = planned_job(job, service_zone=service_zone, calendar=calendars.get(job.name, EVERY_DAY))
        if plan is None or job.name in paused_jobs:
            continue
        around = takewhile(lambda slot: slot.at <= now + within, plan.slots(now - within))
        slots = list(islice(around, _MOST_PLANNED))
        taken = ledger.slots.of_job(job.name, [each.name for each in slots])
        is_known = bool(ledger.slots.recent_days(job.name, since=(now - _LOOKS_BACK).date().isoformat()))
        latest = max((slot.at for slot in slots if slot.name in taken), default=now - _LOOKS_BACK)
        for slot in slots:
            state = "late" if slot.at < now - _ON_TIME else "planned"
            if slot.name not in taken and (state == "planned" or (is_known and slot.at > latest)):
                found.append({"job": job.name, "at": slot.at.isoformat(timespec="minutes"), "state": state})
    return found


def planned_days(
    jobs: Sequence[JobSpec], calendars: Mapping[str, Calendar], *, now: datetime, days: int, service_zone: str
) -> list[dict[str, object]]:
    """The next days of each job that runs by the clock, from today: the first times still to come, whether there are
    more, and why there are none where its calendar says so. Times are those of the job's zone.
    """
    found: list[dict[str, object]] = []
    for job in jobs:
        plan = planned_job(job, service_zone=service_zone, calendar=calendars.get(job.name, EVERY_DAY))
        if plan is None or plan.timing is None:
            continue
        today = now.astimezone(plan.zone).date()
        of_job = [_day_of(plan, today + timedelta(days=n), now=now) for n in range(days)]
        found.append({"job": job.name, "timezone": plan.zone.key, "days": of_job})
    return found


def _day_of(plan: PlannedJob, day: date, *, now: datetime) -> dict[str, object]:
    begins, ends = (datetime.combine(each, time(), plan.zone) for each in (day, day + timedelta(days=1)))
    to_come = takewhile(lambda slot: slot.at < ends, plan.slots(max(now, begins - _A_MOMENT)))
    times = [f"{slot.at.astimezone(plan.zone):%H:%M}" for slot in islice(to_come, _SHOWN_OF_DAY + 1)]
    off = "" if times or plan.calendar.is_working(day) else plan.calendar.holidays.get(day) or "no working day"
    return {
        "day": day.isoformat(),
        "times": times[:_SHOWN_OF_DAY],
        "more": len(times) > _SHOWN_OF_DAY,
        "off": off,
    }


_KIND = "paused"


def pause(parts: Parts, job: str, *, why: str) -> str:
    """Pause a job in the name of `parts.person`; what to tell. Raises UsageError if it is paused already."""
    title = f"{job} is paused by {parts.person}"
    # Asked first, for what is noticed again takes on the new words.
    if is_paused(parts.ledger, job) or not parts.ledger.notices.note(
        NewNotice(_key(job), _KIND, job, title, why, wanted=False), now=parts.now
    ):
        raise UsageError(f"{job} is paused already.", remedy="Resume it first.")
    return f"{title}: {why}"


def resume(parts: Parts, job: str, *, why: str) -> str:
    """Resume a job; what to tell. Raises UsageError if it is not paused."""
    told = f"{job} is resumed by {parts.person}"
    if not parts.ledger.notices.over(_key(job), f"{told}: {why}", now=parts.now):
        raise UsageError(f"{job} is not paused.", remedy="Nothing has to be done.")
    return f"{told}: {why}"


def is_paused(ledger: Ledger, job: str) -> bool:
    """Whether the scheduler leaves a job alone."""
    return job in paused(ledger)


def paused(ledger: Ledger) -> Mapping[str, StoredNotice]:
    """What is paused, by the job's name: since when, by whom (title) and why (text)."""
    return {each.job: each for each in ledger.notices.open() if each.kind == _KIND}


def pauses_of(ledger: Ledger, job: str) -> list[StoredNotice]:
    """Every pause of a job, the newest first."""
    return ledger.notices.notices_of(_key(job))[::-1]


def _key(job: str) -> str:
    return f"{job}|{_KIND}"
