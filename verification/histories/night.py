"""A night of `schedule` on the stage: its own watch and agenda, every few seconds of the stage's clock."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date

from histories.stage import KINDS, Killed, Stage, job_of, settle_job

from logistics_batch.model.jobs.calendar import EVERY_DAY
from logistics_batch.model.jobs.job import JobSpec
from logistics_batch.operate.agenda import Agenda
from logistics_batch.operate.alerts import Teller
from logistics_batch.operate.heartbeat import sign_of
from logistics_batch.operate.log import Log
from logistics_batch.operate.run_job import JobOutcome, Order, run_job
from logistics_batch.operate.watch import Loaded, NightWatch, Station

LOOKS_EVERY_SECONDS = 5.0


@dataclass
class Night:
    """The scheduler over a stage; one that is killed is started again, as a service manager does.

    lines: its log.
    """

    stage: Stage
    lines: list[str] = field(default_factory=list)
    _open: ExitStack = field(default_factory=ExitStack)
    _watch: NightWatch | None = None

    def goes_on_for(self, seconds: float, *, each: Callable[[], None] = lambda: None) -> None:
        """Let so much time pass; each: what else happens at every look."""
        until = self.stage.clock.seconds + seconds
        while self.stage.clock.seconds < until:
            each()
            try:
                self._look(self._watch or self._started())
            except Killed:
                self.close()
            self.stage.clock.sleep(LOOKS_EVERY_SECONDS)
            self.stage.service.time_passed()

    def close(self) -> None:
        """The scheduler ends."""
        self._watch = None
        self._open.close()

    def _started(self) -> NightWatch:
        self._open = ExitStack()
        parts = self._open.enter_context(self.stage.program())
        station = Station(
            parts=parts,
            log=Log(self.lines.append, self.stage.clock.now),
            run_job=self._run,
            teller=lambda: Teller(parts.ledger, (), "stage"),
            heartbeat=sign_of(self.stage.root),
            digest=lambda: None,
        )
        jobs = {job.name: (job, EVERY_DAY, EVERY_DAY) for job in (*map(job_of, KINDS), settle_job())}
        self._watch = NightWatch(station, Agenda(parts.ledger))
        self._watch.start(Loaded(jobs))
        return self._watch

    def _run(self, job: JobSpec, day: date, _slot: str) -> JobOutcome:
        with self.stage.program(of_same_process=True) as parts:
            return run_job(parts, job, Order(day, queues=True))

    @staticmethod
    def _look(watch: NightWatch) -> None:
        for plan in watch.planned():
            while due := watch.take(plan, watch.at.parts.clock.now()):
                watch.run(plan, due)
        watch.sweep()
        watch.tell()
