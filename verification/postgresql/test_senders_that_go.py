"""Of several senders on one PostgreSQL one is cut off, killed or frozen: the others go on with its lanes."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from ledger.test_lanes import ACCOUNT, LATER, ORDERS, claims, told, until

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Lease, Ledger
from logistics_batch.ledger.lanes import LANES


@pytest.mark.real
def test_a_lost_connection_ends_the_use_of_a_lease(runner: Ledger, helper: Ledger) -> None:
    with runner.sending("orders"), runner.sending_in_lanes(run="R1"), helper.sending_in_lanes() as lease:
        lease.share_out()
        until = time.monotonic() + 30
        with psycopg.connect(runner.url, autocommit=True) as server:
            while lease.may_send and time.monotonic() < until:
                server.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
                time.sleep(0.1)
        assert not lease.may_send
        with pytest.raises(LedgerRefused):
            claims(helper)


@pytest.mark.real
def test_lanes_of_a_killed_process_are_free_at_once(runner: Ledger) -> None:
    program = (
        "import os, signal\nfrom logistics_batch.ledger import open_ledger\n"
        f"ledger = open_ledger({runner.url!r}, account={ACCOUNT!r})\n"
        "with ledger.lanes.leased() as lease:\n    lease.share_out()\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=False)
    with runner.lanes.leased() as lease:
        lease.share_out()
        assert len(lease.lanes) == LANES
        (alone,) = runner.lanes.members()
        assert (alone.lanes, alone.run) == (LANES, "")
        assert abs(alone.clock_ahead_seconds) < 5


@pytest.mark.real
def test_a_sender_sees_soon_that_another_one_of_its_machine_was_killed(runner: Ledger) -> None:
    with runner.lanes.leased() as lease:
        lease.share_out()
        with another(runner.url, "import time; time.sleep(600)") as process:
            until(lambda: shared_out(lease) == LANES // 2)
            process.kill()
            process.wait()
            until(lambda: lease.calls_for_sharing, seconds=5)
            lease.share_out()
            assert len(lease.lanes) == LANES


@pytest.mark.real
@pytest.mark.parametrize("within", ["claim_all", "mark_stale"])
def test_a_sender_that_freezes_in_the_middle_of_a_commit_stops_nobody(runner: Ledger, within: str) -> None:
    """What it holds there nobody else gets; the server takes it away, as it does where its machine has lost power."""
    frozen = (
        "from logistics_batch.ledger.documents import attempts, recording\n"
        "numbers = ledger.documents.planned_of('R1', lanes=lease.lanes)['id']\n"
        "first, second, *_ = ledger.documents.stored(numbers)\n"
        "step = lambda **told: ledger.attempts.step(run='R1', now='2026-11-21T21:15:00+05:30', **told)\n"
        "step(outcomes=[], claim=[first])\n"
        f"usual = recording.{within}\n"
        "def freezes(*told, **more):\n    usual(*told, **more)\n    os.kill(os.getpid(), signal.SIGSTOP)\n"
        f"recording.{within} = attempts.{within} = freezes\n"
        "step(outcomes=[Outcome(first.id, 'accepted', 'accepted')], claim=[second])\n"
    )
    with runner.sending("orders"), runner.sending_in_lanes(run="R1") as lease:
        with another(runner.url, frozen) as process:
            until(lambda: shared_out(lease) and is_stopped(process.pid))
            began = time.monotonic()
            until(lambda: shared_out(lease) == LANES, seconds=45)
            runner.attempts.take_over(LATER)
            assert time.monotonic() - began < 40
        assert told(runner) == {"in_doubt": 1, "planned": len(ORDERS) - 1}


def shared_out(lease: Lease) -> int:
    lease.share_out()
    return len(lease.lanes)


def is_stopped(process: int) -> bool:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@contextmanager
def another(url: str, does: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A program that helps, and does something once it has its share of the lanes."""
    program = (
        "import os, signal, time\nfrom logistics_batch.ledger import Outcome, open_ledger\n"
        f"ledger = open_ledger({url!r}, account={ACCOUNT!r})\n"
        "with ledger.sending_in_lanes() as lease:\n"
        "    while len(lease.lanes) < 32:\n        lease._senders = -1\n        lease.share_out()\n"
        "        time.sleep(0.1)\n"
    ) + "".join(f"    {line}\n" for line in does.splitlines())
    process = subprocess.Popen([sys.executable, "-c", program])
    try:
        yield process
    finally:
        process.kill()
        process.wait()
