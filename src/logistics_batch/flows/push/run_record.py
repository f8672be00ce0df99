"""What the ledger's history says of a run, however it ends, and what runs before left behind."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date

from logistics_batch.errors import LedgerRefused, LogisticsBatchError, RunStopped, as_told
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import NeverSent
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import ExitCode

_FILES_NAMED = 3


@dataclass
class RunRecord:
    """A run while it goes on; without a word about its end it counts as stopped early."""

    id: str
    exit_code: int = ExitCode.STOPPED_EARLY
    summary: Mapping[str, int] = field(default_factory=dict)
    stopped: str = ""

    def ended(self, exit_code: int, summary: Mapping[str, int]) -> None:
        """The run came to its end, with these counts."""
        self.exit_code, self.summary = exit_code, summary


def new_run_id(parts: Parts, *, letter: str = "") -> str:
    """An id that no run has: the moment and four hexadecimal digits, which runs of one second may share by chance."""
    now = parts.clock.now()
    while True:
        run_id = f"{letter}{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        if parts.ledger.runs.get(run_id) is None:
            return run_id


@contextmanager
def recorded_run(parts: Parts, *, letter: str, kind: str, job: str, business_date: date) -> Iterator[RunRecord]:
    """Write the run's beginning and its end; a ledger that refuses has it stopped early.

    letter: begins its id, so that kinds are told apart at a glance.
    """
    with written_run(parts, letter=letter, kind=kind, job=job, business_date=business_date) as run, stopping_early():
        yield run


@contextmanager
def written_run(parts: Parts, *, letter: str, kind: str, job: str, business_date: date) -> Iterator[RunRecord]:
    """As `recorded_run`, for what has not begun when the ledger refuses."""
    now = parts.clock.now()
    run = RunRecord(new_run_id(parts, letter=letter))
    day = business_date.isoformat()
    parts.ledger.runs.start(run.id, job=job, kind=kind, business_date=day, now=now.isoformat())
    try:
        yield run
    except BaseException as error:
        told = as_told(error)
        if isinstance(told, LogisticsBatchError):
            run.exit_code, run.stopped = told.exit_code, told.message
        with suppress(LedgerRefused):  # a ledger that takes nothing any more does not take this either
            _end(parts, run)
        raise
    _end(parts, run)


def _end(parts: Parts, run: RunRecord) -> None:
    parts.ledger.runs.finish(run.id, exit_code=run.exit_code, summary=run.summary, now=parts.now, stopped=run.stopped)


@contextmanager
def stopping_early() -> Iterator[None]:
    """Once sending or settling has begun, a ledger that fails stops it early.

    Raises:
        RunStopped: in place of LedgerRefused, but where a disk failed.
    """
    try:
        yield
    except LedgerRefused as error:
        if error.exit_code == RunStopped.exit_code:
            raise
        raise RunStopped(error.message, remedy=error.remedy) from error


def recover_orphans(parts: Parts) -> list[Issue]:
    """Turn all that was being sent into doubts; gives what a run's report should mention.

    What living programs send that help a run is waited for. Call while holding the sending lock, between calls.
    """
    if parts.ledger.lanes.are_shared:
        parts.ledger.lanes.wait_for_helpers(is_asked_to_end=parts.stop.is_set)
    orphans = parts.ledger.documents.stored(parts.ledger.attempts.take_over(parts.now))
    if not orphans:
        return []
    named = list(dict.fromkeys(f"{each.file_name} (run {each.run})" for each in orphans))
    more = [(".and_more", {"count": len(named) - _FILES_NAMED})] if len(named) > _FILES_NAMED else []
    return [Issue.of("sending.broke_off", count=len(orphans), files=named[:_FILES_NAMED], more=more)]


def told_of_move(parts: Parts) -> list[Issue]:
    """A note on where the ledger was used last, once: it may be a copy, and its original may still send.

    From now on it is here. Call while holding the sending lock.
    """
    before = parts.ledger.itself.moved_from()
    parts.ledger.itself.settle_in()
    return [Issue.of("ledger.moved", path=before.path, host=before.host)] if before else []


def told_of_other_addresses(parts: Parts) -> list[Issue]:
    """A note for each other address by which alone the ledger knows the service."""
    if not parts.ledger.addresses.is_new():
        return []
    return [
        Issue.of("ledger.other_address", count=count, account=account, own=parts.ledger.account)
        for account, count in parts.ledger.addresses.sent().items()
    ]


def told_of_never_sent(left: Sequence[NeverSent]) -> list[Issue]:
    """A note for each run that left something, with what sends it."""
    by_run: dict[str, list[NeverSent]] = {}
    for each in left:
        by_run.setdefault(each.run, []).append(each)
    notes = []
    for run, files in by_run.items():
        others = [(".other_files", {"count": len(files) - 1})] if len(files) > 1 else []
        count, name = sum(each.documents for each in files), files[0].file_name
        told = {"count": count, "name": name, "others": others, "run": run, "job": files[0].job}
        notes.append(Issue.of("sending.never_sent", **told))
    return notes
