"""What the ledger's history says of a run, however it ends, and what runs before left behind.

Several programs send for one run: who runs the job opens it, sends in its own lanes and waits; workers help.

See decision 23. Where one program has all lanes, it sends as if there were none.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date

import polars as pl

from logistics_batch.errors import LedgerRefused, LogisticsBatchError, RunStopped, UsageError, as_told
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.dispatch import send_in_turn
from logistics_batch.flows.push.health import DispatchResult
from logistics_batch.ledger import Lease, LeaseEnded, NeverSent
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


_LOOK_SECONDS = 0.3  # how soon something to do is seen
_AGAIN_SECONDS = 5.0  # after the ledger failed, or a lease ended
_PAUSE_SECONDS = 60.0  # of a worker, after the service did not do well; others go on with its lanes


def send_beside_others(parts: Parts, *, run: str) -> DispatchResult:
    """Send what a run has planned, with all who help; returns when nothing of it is left, or sending stopped.

    What others have under way then comes to its end by itself. Call while holding the ledger's sending lock.
    """
    parts.ledger.pace.say_rate(parts.client.pacer.rate)
    result = DispatchResult()
    while True:
        # Once more with a new lease: where the lock is gone as well, nothing is claimed.
        with suppress(LeaseEnded), parts.ledger.sending_in_lanes(run=run) as lease:
            for so_far in _send_own_lanes(parts, lease, run=run, before=result):
                result = so_far  # it stays where the lease ends behind it
            return result


def _send_own_lanes(parts: Parts, lease: Lease, *, run: str, before: DispatchResult) -> Iterator[DispatchResult]:
    """Send what lies in the lanes of this run's own program, again and again until nothing is left in any; gives how
    all went so far.
    """
    result, last = before, pl.Series(dtype=pl.Int64)
    while not result.stopped:
        lease.share_out()
        mine = parts.ledger.documents.planned_of(run, lanes=lease.lanes)
        if not mine.is_empty() and not mine["id"].equals(last):
            result = send_in_turn(parts, mine, run=run, before=result)
            yield result
            last = last.clear() if lease.calls_for_sharing else mine["id"]
        elif parts.ledger.attempts.left_of(run) == mine.height:
            break
        elif parts.stop.is_set():
            asked = "The program was asked to end.", "Run it again: it goes on where it stopped."
            yield replace(result, stopped=asked[0], remedy=asked[1])
            break
        else:
            parts.clock.sleep(_LOOK_SECONDS)


def help_to_send(parts: Parts, *, say: Callable[[str], None]) -> None:
    """Send for the runs of others, until asked to end.

    Raises:
        UsageError: one program alone can send with this ledger.
    """
    if not parts.ledger.lanes.are_shared:
        raise UsageError(
            "The ledger is a SQLite file, with which one program sends at a time.",
            remedy='Several machines need one PostgreSQL: write ledger.url = "postgresql://…" in the settings of each.',
        )
    for note in told_of_other_addresses(parts):  # it would wait for runs that never come
        say(note.reason)
    say("waits for runs to help")
    while not parts.stop.is_set():
        pause = _AGAIN_SECONDS
        try:
            parts.ledger.itself.require_newest()
            with parts.ledger.sending_in_lanes() as lease:
                stopped = _help(parts, lease, say)
        except LedgerRefused as error:
            stopped = f"{error.message} {error.remedy}"
        else:
            pause = _PAUSE_SECONDS
        if not parts.stop.is_set():
            say(f"pauses for {pause:g} s: {stopped}")
        parts.clock.sleep(pause)
    say("stopped")


def _help(parts: Parts, lease: Lease, say: Callable[[str], None]) -> str:
    """Send what lies in this program's lanes while a run is open; gives what stopped it."""
    helps = ""
    while not parts.stop.is_set():
        run = parts.ledger.lanes.open_run()
        if run != helps:
            say(f"helps run {run}" if run else "waits for runs to help")
            helps = run
            own, said = parts.client.pacer.rate, parts.ledger.pace.said_rate()
            if run and own != said:  # the quicker one would take all turns, and more than the run may
                return f"service.rate is {own} here and {said} where the run was begun. Write the same on all machines."
        if run:
            lease.share_out()
            mine = parts.ledger.documents.planned_of(run, lanes=lease.lanes)
            result = send_in_turn(parts, mine, run=run) if not mine.is_empty() else DispatchResult()
            for note in result.notes:
                say(note.reason)
            if result.stopped:
                return f"{result.stopped} {result.remedy}"
        else:
            lease.give_back()
        parts.clock.sleep(_LOOK_SECONDS)
    return ""
