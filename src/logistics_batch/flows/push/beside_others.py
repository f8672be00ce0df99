"""Several programs send for one run: who runs the job opens it, sends in its own lanes and waits; workers help.

See decision 23. Where one program has all lanes, it sends as if there were none.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import polars as pl

from logistics_batch.errors import LedgerRefused, UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.dispatch import send_in_turn
from logistics_batch.flows.push.health import DispatchResult
from logistics_batch.flows.push.run_record import told_of_other_addresses
from logistics_batch.ledger import Lease, LeaseEnded

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
