"""The night watch: what the scheduler does besides keeping the time.

It claims and runs what is due, reads changed job files again, looks whether expected files came, tells people, writes
the daily digest, gives a sign of life, and says what was missed.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from itertools import takewhile
from pathlib import Path

from logistics_batch.errors import LogisticsBatchError, where_it_failed
from logistics_batch.flows.files.purge import purge_by_age
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import ClaimLost, NewNotice
from logistics_batch.messages import clock_time
from logistics_batch.model.counting import counted
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import JobSpec, PushJob
from logistics_batch.model.report import ExitCode
from logistics_batch.operate.agenda import Agenda, Due, PlannedJob, is_paused, paused, planned_job
from logistics_batch.operate.alerts import Gravity, Teller
from logistics_batch.operate.file_watch import watch_files
from logistics_batch.operate.heartbeat import beat
from logistics_batch.operate.log import Log
from logistics_batch.operate.run_job import JobOutcome
from logistics_batch.operate.run_notices import (
    Ran,
    end_lost_days,
    end_what_is_settled,
    note_digest,
    note_lost_days,
    observe,
    was_cut_short,
    watch_left_files,
)

_CRIES_AGAIN_SECONDS = 3600.0
_PURGE_FROM_HOUR = 3
_TIMES_NAMED = 3
_NO_JOB = ""
_SETTINGS, _RESTART = "|settings", "|settings|restart"
_MEND_THE_FILE = "mend the file; `logistics-batch doctor` checks it."


@dataclass(frozen=True)
class Loaded:
    """The jobs of a workspace as their files are now.

    jobs: those that can be used, with the calendars of `schedule` and of `expect`. broken: what is wrong with others.
    overlooked: what lies among them and is not read, in words.
    """

    jobs: Mapping[str, tuple[JobSpec, Calendar, Calendar]] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    overlooked: Sequence[str] = ()


@dataclass(frozen=True)
class Station:
    """Where the watch stands: what it works with.

    run_job: one run for a planned time, given its name, with parts of its own. teller: as the settings are now.
    heartbeat: the file of the sign of life. digest: when the daily digest is told, None: never.
    """

    parts: Parts
    log: Log
    run_job: Callable[[JobSpec, date, str], JobOutcome]
    teller: Callable[[], Teller]
    heartbeat: Path
    digest: Callable[[], time_of_day | None]


@dataclass
class NightWatch:
    """What `schedule.Scheduler` needs of the rest."""

    at: Station
    agenda: Agenda
    jobs: dict[str, tuple[JobSpec, Calendar, Calendar]] = field(default_factory=dict)
    _started_at: datetime | None = None
    _said: dict[str, float] = field(default_factory=dict)
    _running: set[str] = field(default_factory=set)
    _to_end: dict[tuple[str, str], int] = field(default_factory=dict)
    _digests: dict[time_of_day, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._parts, self._ledger, self._log = self.at.parts, self.at.parts.ledger, self.at.log

    def planned(self) -> list[PlannedJob]:
        """Every job that runs by itself."""
        zone = self._parts.policy.timezone
        plans = (planned_job(job, service_zone=zone, calendar=calendar) for job, calendar, _ in self.jobs.values())
        return [plan for plan in plans if plan is not None]

    def take(self, job: PlannedJob, now: datetime, *, waited: timedelta = timedelta()) -> Due | None:
        """See `Agenda.take`; nothing of a job that is paused. Raises LogisticsBatchError if it cannot be claimed."""
        if job.name not in self.jobs or is_paused(self._ledger, job.name):
            return None
        return self.agenda.take(job, self._by_our_clock(now), waited=waited)

    def last_begun(self, now: datetime) -> Mapping[str, str]:
        """When the last run of each job began, whichever program runs it; of some hours. Raises LogisticsBatchError."""
        return self.agenda.last_begun(self._by_our_clock(now))

    def due(self, jobs: Iterable[PlannedJob], now: datetime) -> list[PlannedJob]:
        """Those of some jobs for which `take` would find something. Raises LogisticsBatchError."""
        held = paused(self._ledger)
        return self.agenda.due([job for job in jobs if job.name not in held], self._by_our_clock(now))

    def run(self, job: PlannedJob, due: Due) -> None:
        """One run for a planned time; its end is written down unless the program was asked to end."""
        again = ", which was cut short" if due.goes_on else ""
        self._log.say("run_started", f"starts for {due.name}{again}", job=job.name, slot=due.name)
        spec, _, calendar = self.jobs[job.name]
        code, ran = int(ExitCode.STOPPED_EARLY), None
        end: JobOutcome | LogisticsBatchError
        self._running.add(job.name)
        try:
            try:
                end = self.at.run_job(spec, due.business_date, due.name)
            except LogisticsBatchError as error:
                end = error
            if was_cut_short(end):
                end = self._taken_over(job, due) or end
            ran = Ran(spec, due.business_date, end, calendar, due.until)
            code = ran.round_code
            observe(self._parts, ran, self._log)
        finally:
            self._running.discard(job.name)
            if not was_cut_short(ran.end if ran else None):
                self._end(job, due, code)
            elif not self._parts.stop.is_set():
                self._try_again(job, due, code)

    def _taken_over(self, job: PlannedJob, due: Due) -> ClaimLost | None:
        """Whether another program goes on with it: then nobody has to know how it ended here."""
        try:
            self._ledger.slots.require_claim(job.name, due.name)
        except ClaimLost as lost:
            return lost
        except LogisticsBatchError:  # it may be the ledger that is away
            pass
        return None

    def _try_again(self, job: PlannedJob, due: Due, code: int) -> None:
        at = self.agenda.try_again(job, due, self._now())
        if at is None:
            self._end(job, due, code)
            return
        until = due.until.astimezone(at.tzinfo)
        words = f"stopped early; goes on at {at:%H:%M:%S}, until {clock_time(until)} at the latest"
        self._log.say("run_waits", words, job=job.name, slot=due.name)

    def _end(self, job: PlannedJob, due: Due, code: int) -> None:
        self._to_end[job.name, due.name] = code
        self._end_slots()

    def not_taken(self, job: PlannedJob, error: LogisticsBatchError) -> None:
        """What is due could not be claimed; said once an hour, and cried out: the ledger itself is the trouble."""
        words = f"cannot be run: {error.message} {error.remedy}".rstrip()
        self._cry(f"{job.name}: not started", words, job=job.name)

    def clock_was_set(self, seconds: float) -> None:
        """The wall clock went forward (or back, below 0) by so much at once."""
        way = "forward" if seconds > 0 else "back"
        words = f"The clock of this machine was set {way} by {abs(seconds):.0f} s. No planned time runs twice."
        self._log.say("clock_was_set", words, level="warning", seconds=round(seconds))
        told = "\n".join([words, *self._ran_ahead(-seconds)])
        self._note("|clock", "The clock was set", told, do="look whether it is right (NTP).")
        self._over("|clock", "")

    def _ran_ahead(self, seconds: float) -> Iterator[str]:
        """What ran by a clock that was ahead, and does not run again when its time comes."""
        now = self._now()
        until = now + timedelta(seconds=max(seconds, 0.0))
        for plan in self.planned():
            names = [slot.name for slot in takewhile(lambda slot: slot.at <= until, plan.slots(now))]
            if ran := self._ledger.slots.of_job(plan.name, names):
                named = ", ".join(list(ran)[:_TIMES_NAMED]) + (" …" if len(ran) > _TIMES_NAMED else "")
                command = f"`logistics-batch run {plan.name}`"
                yield f"{plan.name} ran for {named} already; for what comes until then: {command}"

    def failed(self, name: str, error: Exception) -> None:
        """The program itself failed; its text may hold data of a row, so only its kind is told."""
        self._log.say("program_failed", where_it_failed(error), job=name, level="error")
        words = f"the program itself failed ({type(error).__name__})"
        self._cry(f"{name}: the program itself failed", words, job=name)

    def chore_failed(self, name: str, words: str) -> None:
        """Something beside the jobs could not be done; it is tried again."""
        self._cry(f"{name}: failed", words, job=name)

    def start(self, loaded: Loaded) -> None:
        """Take over the jobs, and say when each runs next."""
        self._started_at = self._now()
        self.reload(loaded)
        self.settings_taken(())

    def reload(self, loaded: Loaded) -> None:
        """Take over job files as they are now; one that cannot be used leaves its job as it was, and is told."""
        before = {plan.name: plan for plan in self.planned()}
        kept = {name: self.jobs[name] for name in loaded.broken if name in self.jobs}
        self.jobs = dict(loaded.jobs) | kept
        after = {plan.name: plan for plan in self.planned()}
        for name in before.keys() - after.keys():
            self._log.say("job_removed", "runs by itself no longer", job=name)
        for name, plan in after.items():
            if before.get(name) != plan:
                slot = plan.next_slot(self._now())
                when = slot.at.isoformat(timespec="minutes") if slot else f"after {', '.join(plan.after)}"
                self._log.say("planned", f"next run {when}", job=name, next_run=when)
        for words in loaded.overlooked:
            self._log.say("file_overlooked", words, level="warning")
        for name, words in loaded.broken.items():
            stays = "It runs as before." if name in kept else "It does not run."
            self._log.say("job_file_broken", f"{stays} {words}", job=name, level="error")
            title = f"jobs/{name}.yaml cannot be used"
            self._note(f"{name}|job file", title, f"{words}\n{stays}", do=_MEND_THE_FILE, job=name)
        for name in loaded.jobs:
            self._over(f"{name}|job file", "The file can be used.")

    def settings_broken(self, words: str) -> None:
        """The settings were changed and cannot be used."""
        stays = "The scheduler goes on with those it had; runs fail until it is mended."
        self._log.say("settings_broken", f"{stays} {words}", level="error")
        self._note(_SETTINGS, "The settings cannot be used", f"{words}\n{stays}", do=_MEND_THE_FILE)

    def settings_taken(self, waiting: Sequence[str]) -> None:
        """The settings were read. waiting: what was changed and needs a restart of the scheduler."""
        self._over(_SETTINGS, "The settings can be used.")
        if not waiting:
            self._over(_RESTART, "Nothing waits for a restart any more.")
            return
        words = f"{', '.join(waiting)} was changed: the scheduler itself takes that over when it is started again."
        self._log.say("restart_needed", words, level="warning")
        self._note(_RESTART, "The scheduler needs a restart", words, do="restart it.")

    def sweep(self, waiting: Collection[str] = ()) -> None:
        """Say for which days nothing ran, and what waits for a while or no more; write down ends of runs.

        waiting: the jobs that wait for their turn, and may run yet.
        """
        self._end_slots()
        end_what_is_settled(self._parts)
        end_lost_days(self._parts)
        told = {each.job for each in self._ledger.notices.open() if "|left|" in each.key}
        for name in told | {each.job for each in self._ledger.files.left()}:
            spec = self.jobs[name][0] if name in self.jobs else None
            if isinstance(spec, PushJob):
                watch_left_files(self._parts, spec)
        if self._running or self.agenda.waits:
            self._ledger.slots.renew(now=self._now().isoformat())
        for plan in self.planned():
            if plan.name in waiting:
                continue
            if days := self.agenda.lost_days(plan, self._now()):
                named = ", ".join(day.isoformat() for day in days)
                self._log.say("missed", f"did not run for {named}", job=plan.name, level="warning", days=len(days))
                waits = f"It waits for {', '.join(plan.after)}" if plan.after else "Nothing ran it"
                why = f"{waits}, and its grace of {plan.late_by} was over."
                if pause := paused(self._ledger).get(plan.name):
                    why = f"{pause.title}: {pause.text}"
                wanted = "on_failure" in self.jobs[plan.name][0].notify
                note_lost_days(self._parts, plan.name, days, why=why, wanted=wanted)

    def watch_files(self) -> None:
        """Look whether expected files came."""
        for spec, _, calendar in list(self.jobs.values()):
            if isinstance(spec, PushJob) and spec.expect and not self._parts.stop.is_set():
                watch_files(self._parts, spec, calendar, now=self._now())

    def tell(self) -> None:
        """Write the digest when it is time, then tell what is owed."""
        self._digest()
        told = self.at.teller().tell(self._now())
        for shown in told.failed:
            self._say_once(f"alerts: {shown}", "alert_failed", f"{told.owed} alerts wait: {shown} could not be told")
        if told.arrived:
            self._log.say("alerts_told", f"{told.arrived} messages sent")

    def leave_schedule(self) -> None:
        """This program ends: others go on at once with what it leaves."""
        with suppress(LogisticsBatchError):  # then they see it a little later
            self._ledger.lanes.leave_schedule()

    def tidy(self) -> None:
        """Once a night, remove what is older than the settings keep."""
        now = self._now()
        if now.hour >= _PURGE_FROM_HOUR and self._is_first(f"purge {now.date()}"):
            removed = purge_by_age(self._parts)
            if removed.reports or removed.labels:
                words = (
                    f"older than is kept: {counted(removed.reports, 'report')} and {counted(removed.labels, 'label')}"
                )
                self._log.say("purged", words, reports=removed.reports, labels=removed.labels)

    def give_a_sign(self, running: Sequence[str]) -> None:
        """Write the sign of life, for this machine and for others that keep the schedule."""
        now, plans = self._now(), self.planned()
        times = [slot.at for plan in plans if (slot := plan.next_slot(now))]
        try:
            beat(
                self.at.heartbeat,
                now=now,
                started_at=self._started_at or now,
                jobs=len(plans),
                running=tuple(name for name in running if name in self.jobs),
                next_run=min(times).isoformat(timespec="minutes") if times else "",
            )
        except OSError as error:
            self._say_once("heartbeat", "heartbeat_failed", f"no sign of life can be written: {error.strerror}")
        self.keep_schedule()

    def keep_schedule(self) -> None:
        """Others that share the ledger see by it that this program runs what it claimed."""
        try:
            self._ledger.lanes.keep_schedule()
        except LogisticsBatchError as error:
            self._say_once("lease", "lease_failed", f"others may go on with what runs here: {error.message}")

    def _digest(self) -> None:
        now, due = self._now(), self.at.digest()
        if due is None:
            return
        if due not in self._digests:  # known from now on, so that the first one comes at its first time
            known = self._ledger.slots.schedule_seen(_NO_JOB, f"digest {due:%H:%M}", now=now.isoformat())
            self._digests[due] = datetime.fromisoformat(known)
        today = datetime.combine(now.date(), due, now.tzinfo)
        if self._digests[due] <= today <= now and self._is_first(f"digest {now.date()}"):
            note_digest(self._parts, now=now)

    def _is_first(self, what: str) -> bool:
        """Whether nobody did it yet, here or elsewhere."""
        now = self._now().isoformat()
        mine = self._ledger.slots.claim(_NO_JOB, what, now=now)
        if mine:
            self._ledger.slots.end(_NO_JOB, what, exit_code=0, now=now)
        return mine

    def _end_slots(self) -> None:
        for (job, name), code in list(self._to_end.items()):
            try:
                self._ledger.slots.end(job, name, exit_code=code, now=self._now().isoformat())
            except LogisticsBatchError as error:
                self._say_once(f"end of {job}", "end_not_written", f"its end is not written down: {error.message}")
                return
            self._to_end.pop((job, name), None)

    def _note(self, key: str, title: str, text: str, *, do: str, job: str = _NO_JOB) -> None:
        notice = NewNotice(key, "on_failure", job, title, f"{text}\nWhat to do: {do}")
        self._ledger.notices.note(notice, now=self._now().isoformat())

    def _over(self, key: str, text: str) -> None:
        self._ledger.notices.over(key, text, now=self._now().isoformat())

    def _say_once(self, what: str, event: str, words: str, *, job: str = _NO_JOB) -> bool:
        """Log a trouble that lasts, once an hour; whether it was said now."""
        now = time.monotonic()
        if now - self._said.get(what, -_CRIES_AGAIN_SECONDS) < _CRIES_AGAIN_SECONDS:
            return False
        self._said[what] = now
        self._log.say(event, words, job=job, level="error")
        return True

    def _cry(self, title: str, words: str, *, job: str) -> None:
        """Tell people of what may be the ledger's own trouble: nothing is kept, and nothing tried again."""
        if self._say_once(f"{job} {words}", "trouble", words, job=job):
            teller, text = self.at.teller(), f"{words}\nWhat to do: `logistics-batch doctor`"
            for address in teller.to:
                try:
                    address.send(f"[{teller.site}] {title}", text, Gravity.FAILURE)
                except LogisticsBatchError as error:
                    self._log.say("alert_failed", error.message, level="error")

    def _by_our_clock(self, now: datetime) -> datetime:
        """By the clock of the ledger, where machines share one: a time is due for all of them at once."""
        return (now - timedelta(seconds=self._ledger.clock_ahead_seconds)).astimezone(self._now().tzinfo)

    def _now(self) -> datetime:
        return self._parts.clock.now()
