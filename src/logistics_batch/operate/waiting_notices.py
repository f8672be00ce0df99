"""What waits for a person after a run, told once: documents in doubt or held, files held as a whole, files left lying.

A notice of a run lasts as long as anything of that run waits, whatever other runs and jobs do meanwhile. A later run
in which only the same waits is no news; one with something new is told of its own.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from hashlib import sha256

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import LeftFile, NewNotice, StoredNotice
from logistics_batch.model.job import JobSpec, PushJob
from logistics_batch.operate.file_names import shown_name, without_names

_LEFT_FOR = timedelta(hours=1)  # an upload may take its time
_TOLD_ONE_BY_ONE = 20


def held_key(job: str, run: str) -> str:
    """The key of the notice of what waits of a run."""
    return f"{job}|on_held|run {run}"


def _run_of(notice: StoredNotice) -> str:
    """The run that a notice is about; "" if it is about none."""
    return notice.key.partition("|on_held|run ")[2]


def is_news(parts: Parts, job: str, run: str) -> bool:
    """Whether something of a run waits for a person that was not told of with an earlier one."""
    told = {_run_of(each) for each in parts.ledger.notices.open(job=job)} - {"", run}
    return bool(_waiting(parts, job, {run}) - _waiting(parts, job, told))


def _waiting(parts: Parts, job: str, runs: Collection[str]) -> set[str]:
    """What of some runs of a job waits for a person."""
    held = {f"file {each.id}" for each in parts.ledger.files.held(job=job) if each.run in runs}
    return held | {f"document {number}" for run in runs for number in parts.ledger.documents.open_documents_of(run)}


def end_what_is_settled(parts: Parts) -> None:
    """Whatever of a run waited for a person waits no more: that is over, too."""
    for each in parts.ledger.notices.open():
        run = _run_of(each)
        if run and not _waiting(parts, each.job, {run}):
            parts.ledger.notices.over(each.key, "Nothing of it is in doubt or held any more.", now=_now(parts))


def end_without_run(parts: Parts, job: JobSpec) -> None:
    """What a job told without naming a run is over once it came to its end with nothing in doubt or held."""
    for each in parts.ledger.notices.open(job=job.name):
        if each.kind == "on_held" and not _run_of(each) and "|left|" not in each.key:
            parts.ledger.notices.over(each.key, "Nothing of it is in doubt or held any more.", now=_now(parts))


def watch_left_files(parts: Parts, job: PushJob) -> None:
    """Tell of files that lie there for a while and are not taken, and that they are gone."""
    left, now = parts.ledger.files.left(job=job.name), parts.clock.now()
    told = [each for each in parts.ledger.notices.open(job=job.name) if "|left|" in each.key]
    lying = {_left_key(each): each for each in left}
    for notice in told:
        if notice.key not in lying:
            parts.ledger.notices.over(notice.key, "It was taken, or is gone from there.", now=_now(parts))
    long = {key: each for key, each in lying.items() if now - datetime.fromisoformat(each.since) >= _LEFT_FOR}
    open_keys = {each.key for each in told}
    for key in list(long)[:_TOLD_ONE_BY_ONE]:
        if key not in open_keys:
            parts.ledger.notices.note(_of_left(parts, job, long[key], key, others=len(left) - 1), now=_now(parts))


def _left_key(left: LeftFile) -> str:
    return f"{left.job}|left|{sha256(left.name.encode()).hexdigest()[:16]}"


def _of_left(parts: Parts, job: PushJob, left: LeftFile, key: str, *, others: int) -> NewNotice:
    name = shown_name(parts, job, left.name)
    why = without_names(parts, job, left.why.reason, [left.name]).rstrip(".")
    more = f" {others:,} more are left." if others else ""
    return NewNotice(
        key=key,
        kind="on_held",
        job=job.name,
        title=f"{job.name}: something lies there and is not taken",
        text=(
            f"{name} lies there since {left.since[:16]} or longer: {why}.{more}\nWhat to do: put that right where it "
            f"lies, or remove it. `logistics-batch runs show {job.name}` names what the latest run left."
        ),
        wanted="on_held" in job.notify,
    )


def _now(parts: Parts) -> str:
    return parts.clock.now().isoformat()
