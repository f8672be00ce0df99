"""The scheduler put together: settings in force, jobs of a workspace, and one set of parts for each run."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import date, time
from os import getpid
from socket import gethostname
from threading import Event

from logistics_batch.cli.watching import log_of, records_in, teller_of, write_figures
from logistics_batch.errors import LogisticsBatchError, SpecificationError, UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.jobs import fingerprint, load_calendar, overlooked, read_jobs
from logistics_batch.model.jobs.calendar import Calendar
from logistics_batch.model.jobs.job import JobSpec, LabelsJob, PushJob, ReconcileJob
from logistics_batch.operate.agenda import Agenda
from logistics_batch.operate.heartbeat import beating, others_at_work, sign_of
from logistics_batch.operate.metrics import Figure, figures, metrics_server
from logistics_batch.operate.run_job import JobOutcome, Order, run_job
from logistics_batch.operate.schedule import Chore, Scheduler
from logistics_batch.operate.watch import Loaded, NightWatch, Station
from logistics_batch.settings import FILE_NAME, Settings
from logistics_batch.wiring import Need, Workspace


class SettingsInForce:
    """`now`: the settings as they were last read without a mistake."""

    def __init__(self, workspace: Workspace) -> None:
        """Read them. Raises UsageError, SettingsError."""
        self._workspace = workspace
        self._seen = self._stamp()
        self.now = self._first = workspace.settings()

    def were_changed(self) -> bool:
        """Whether their file was written since the last look."""
        before, self._seen = self._seen, self._stamp()
        return self._seen != before

    def read_again(self) -> None:
        """Take them as they are now. Raises SettingsError with every complaint; then they stay as they were."""
        self.now = self._workspace.settings()

    def wait_for_restart(self) -> list[str]:
        """What was changed and is only read at the start: the scheduler stands on it."""
        first, now = self._first, self.now
        pairs = {
            "service.base_url": (first.service.base_url, now.service.base_url),
            "service.timezone": (first.service.timezone, now.service.timezone),
            "notify.file_names": (first.notify.file_names, now.notify.file_names),
            "[ledger]": (first.ledger, now.ledger),
            "[reports]": (first.reports, now.reports),
        }
        return [name for name, (was, is_) in pairs.items() if was != is_]

    def _stamp(self) -> tuple[int, int, int] | None:
        with suppress(OSError):
            found = (self._workspace.folder / FILE_NAME).stat()
            return found.st_mtime_ns, found.st_size, found.st_ino
        return None


def watch(
    workspace: Workspace, *, stop: Event, say: Callable[[str], None], metrics_port: int | None, patience_seconds: float
) -> list[str]:
    """Run the jobs that have a schedule until `stop` is set; gives the names of those that then did not end in time.

    Raises UsageError, SettingsError or SpecificationError at once if something cannot work at night.
    """
    settings = SettingsInForce(workspace)
    loaded = _loaded(workspace, settings.now)
    runs = any(job.schedule or job.after for job, *_ in loaded.jobs.values())
    if not runs and not loaded.broken:
        raise UsageError(
            f"No job in {workspace.folder / 'jobs'} has a schedule.", remedy='Add `schedule: {cron: "15 21 * * *"}`.'
        )
    with workspace.parts(Need(stop=stop)) as opened, ExitStack() as around:
        parts = replace(opened, open_store=lambda place: workspace.store(settings.now, place))
        night = NightWatch(_station(workspace, settings, parts, say), Agenda(parts.ledger))
        scheduler = Scheduler(night, stop)
        scheduler.chores = _chores(workspace, settings, night, scheduler, say)
        around.enter_context(records_in(night.at.log))
        night.at.log.say("started", f"started (process {getpid()})", pid=getpid())
        night.keep_schedule()
        around.callback(night.leave_schedule)
        _say_others(workspace, night)
        night.start(loaded)
        if not runs:
            night.tell()
            raise UsageError("\n".join(loaded.broken.values()))
        if metrics_port is not None:
            port = around.enter_context(metrics_server(metrics_port, lambda: _figures(night, scheduler)))
            night.at.log.say("metrics", f"metrics at http://127.0.0.1:{port}/metrics", port=port)
        around.enter_context(beating(lambda: night.give_a_sign(list(scheduler.running())), failed=night.failed))
        left = scheduler.serve(night.planned(), patience_seconds=patience_seconds)
        night.at.log.say("stopped", f"stopped (process {getpid()})", pid=getpid())
        return [name for name in left if name in night.jobs]


def _say_others(workspace: Workspace, night: NightWatch) -> None:
    """Who keeps the schedule here, too: with a ledger on a server as many machines as one likes, else one is enough."""
    parts = night.at.parts
    for other in others_at_work(workspace.folder, now=parts.clock.now()):
        who = f"another scheduler works here (process {other.pid} on {other.host}, since {other.started_at})"
        shares = parts.ledger.lanes.are_shared and other.host != gethostname()
        enough = (
            "each planned time is run by one of them"
            if shares
            else "each job runs once all the same, but one of the two is enough"
        )
        night.at.log.say("another_scheduler", f"{who}: {enough}", level="info" if shares else "warning")


def _station(workspace: Workspace, settings: SettingsInForce, parts: Parts, say: Callable[[str], None]) -> Station:
    def run(job: JobSpec, day: date, slot: str) -> JobOutcome:
        with workspace.parts(Need(stop=parts.stop)) as its_own:
            its_own.ledger.runs_for = (job.name, slot)
            return run_job(its_own, job, Order(day, queues=True))

    def digest() -> time | None:
        text = settings.now.notify.digest
        return time.fromisoformat(text) if text else None

    return Station(
        parts=parts,
        log=log_of(workspace, settings.now, parts, say),
        run_job=run,
        teller=lambda: teller_of(workspace, settings.now, parts),
        heartbeat=sign_of(workspace.folder),
        digest=digest,
    )


def _chores(
    workspace: Workspace,
    settings: SettingsInForce,
    night: NightWatch,
    scheduler: Scheduler,
    say: Callable[[str], None],
) -> list[Chore]:
    """What is done beside the jobs; each says for itself what it cannot do."""
    seen = [fingerprint(workspace.folder)]

    def look_at_files() -> None:
        was, seen[0] = seen[0], fingerprint(workspace.folder)
        if settings.were_changed():
            _take_over(workspace, settings, night, say)
        elif seen[0] == was:
            return
        night.reload(_loaded(workspace, settings.now))
        scheduler.plan(night.planned())

    def say_figures() -> None:
        write_figures(workspace, settings.now, lambda: _figures(night, scheduler))

    def guarded(name: str, do: Callable[[], None]) -> Callable[[], None]:
        def chore() -> None:
            try:
                do()
            except (LogisticsBatchError, OSError) as error:
                night.chore_failed(name, str(error))

        return chore

    chores: list[tuple[str, float, Callable[[], None]]] = [
        ("changed files", 10.0, look_at_files),
        ("look", 20.0, scheduler.look),
        ("sweep", 60.0, lambda: night.sweep(scheduler.waiting())),
        ("expected files", 30.0, night.watch_files),
        ("alerts", 15.0, night.tell),
        ("metrics", 10.0, say_figures),
        ("retention", 600.0, night.tidy),
    ]
    return [Chore(name, every_seconds, guarded(name, do)) for name, every_seconds, do in chores]


def _take_over(workspace: Workspace, settings: SettingsInForce, night: NightWatch, say: Callable[[str], None]) -> None:
    """The settings were changed: alerts, digest, log, metrics and servers are as they say from now on."""
    parts, log = night.at.parts, night.at.log
    try:
        settings.read_again()
        log.go_on_as(log_of(workspace, settings.now, parts, say))
    except LogisticsBatchError as error:
        night.settings_broken(f"{error.message} {error.remedy}".rstrip())
    else:
        night.settings_taken(settings.wait_for_restart())


def _figures(night: NightWatch, scheduler: Scheduler) -> list[Figure]:
    parts = night.at.parts
    return figures(parts.ledger, now=parts.clock.now(), jobs=night.planned(), running=list(scheduler.running()))


def _loaded(workspace: Workspace, settings: Settings) -> Loaded:
    """The jobs as their files are now; one that cannot be used stops no other."""
    jobs: dict[str, tuple[JobSpec, Calendar, Calendar]] = {}
    specs, wrong = read_jobs(workspace.folder)
    broken = {name: str(SpecificationError(findings)) for name, findings in wrong.items()}
    for job in specs.values():
        expect = job.expect if isinstance(job, PushJob) else None
        if job.name in wrong or not (job.schedule or job.after or expect):
            continue
        with _noting(broken, job.name):
            _check(workspace, settings, job)
            named = (each.calendar if each else None for each in (job.schedule, expect))
            jobs[job.name] = (job, *(load_calendar(workspace.folder, each) for each in named))  # type: ignore[assignment]
    return Loaded(jobs, broken, overlooked(workspace.folder))


@contextmanager
def _noting(broken: dict[str, str], name: str) -> Iterator[None]:
    try:
        yield
    except LogisticsBatchError as error:
        broken[name] = f"{error.message} {error.remedy}".rstrip()


def _check(workspace: Workspace, settings: Settings, job: JobSpec) -> None:
    """Find out now what would fail at night: mappings, and names of servers."""
    read = job if isinstance(job, PushJob) else job.receipts if isinstance(job, ReconcileJob) else None
    if read is not None:
        workspace.mapping(read.mapping)
    places = [read.source.place if isinstance(read, PushJob) else read.place] if read else []
    if isinstance(job, PushJob | ReconcileJob | LabelsJob) and job.results_place:
        places.append(job.results_place)
    for place in places:
        workspace.store(settings, place).close()
