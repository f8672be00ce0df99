"""The scheduler put together: jobs of a workspace, slots in its ledger, one set of parts for each run."""

from collections.abc import Callable
from datetime import date
from threading import Event

from logistics_batch.errors import LogisticsBatchError, UsageError
from logistics_batch.jobs import load_job, load_jobs
from logistics_batch.model.job import JobSpec, LabelsJob, PushJob, ReconcileJob
from logistics_batch.operate.run_job import Order, run_job
from logistics_batch.operate.schedule import Duty, Scheduler, planned_jobs
from logistics_batch.wiring import Need, Workspace


def watch(workspace: Workspace, *, stop: Event, say: Callable[[str], None], patience_seconds: float) -> list[str]:
    """Run the jobs that have a schedule until `stop` is set; gives the names of those that then did not end in time.

    Raises UsageError, SettingsError or SpecificationError at once if something cannot work at night.
    """
    settings = workspace.settings()
    jobs = [job for job in load_jobs(workspace.folder) if job.schedule is not None]
    if not jobs:
        raise UsageError(
            f"No job in {workspace.folder / 'jobs'} has a schedule.", remedy='Add `schedule: {cron: "15 21 * * *"}`.'
        )
    for job in jobs:
        _check(workspace, job)
    planned = planned_jobs(jobs, service_zone=settings.service.timezone)
    with workspace.parts(Need(stop=stop)) as parts:

        def log(line: str) -> None:
            say(f"{parts.clock.now().isoformat(timespec='seconds')} {' '.join(line.split())}")

        for each in planned:
            log(f"{each.name}: next run {each.next_slot(parts.clock.now()).at.isoformat(timespec='minutes')}")
        duty = Duty(
            run=lambda name, day: _run(workspace, name, day, stop=stop),
            claim=lambda name, slot: parts.ledger.claim_slot(name, slot, now=parts.clock.now().isoformat()),
            has_run=lambda name: bool(parts.ledger.runs(job=name, limit=1)),
            say=log,
        )
        left = Scheduler(planned, duty).serve(stop, patience_seconds=patience_seconds)
        log("stopped")
        return left


def _check(workspace: Workspace, job: JobSpec) -> None:
    """Find out now what would fail at night: mappings, and names of servers."""
    settings = workspace.settings()
    if isinstance(job, PushJob):
        workspace.mapping(job.mapping)
        workspace.store(settings, job.source.place).close()
    if isinstance(job, ReconcileJob) and job.receipts:
        workspace.mapping(job.receipts.mapping)
        workspace.store(settings, job.receipts.place).close()
    if isinstance(job, PushJob | ReconcileJob | LabelsJob) and job.results_place:
        workspace.store(settings, job.results_place).close()


def _run(workspace: Workspace, name: str, day: date, *, stop: Event) -> str:
    try:
        job = load_job(workspace.folder, name)  # as its file is now
        with workspace.parts(Need(stop=stop)) as parts:
            outcome = run_job(parts, job, Order(day, queues=True))
    except LogisticsBatchError as error:
        return f"exit {error.exit_code}: {error.message} {error.remedy}".rstrip()
    return f"exit {outcome.exit_code}: {outcome.line}"
