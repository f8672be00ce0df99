"""kill -9 at random moments, again and again until all is sent: nothing lost, nothing doubled."""

import random
import time
from pathlib import Path

import pytest
from campaigns.nights import KINDS, Night, created, drain, false_so_far, judge, night, what_is_held_is_listed
from campaigns.scale import SEED, numbers, report, size
from support.commands import Forker
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace

ROUNDS = {"sample": 1, "full": 10}
KILLS = size(sample=16, full=100)  # of one round, as the numbers below
ORDERS = size(sample=60, full=2400)
ASNS = size(sample=40, full=1600)
FILES_LYING = 4
SHORTEST_SECONDS, LONGEST_SECONDS = 0.02, 0.8
LINES = 12 * (ORDERS + ASNS) // KILLS  # of the journal until a kill, at most: so the kills last about until all is sent


def kill_at_random(forker: Forker, nights: list[Night], sandbox: RunningSandbox, dice: random.Random) -> int:
    """Run a job, or settle, and kill it after a random while; 1 if it was killed, 0 if it had ended by itself.

    The while is one of time, which meets all that a run does, or one of requests that came in, which meets sending.
    """
    which = dice.random()
    asked = ("settle",) if which < 0.1 else ("run", nights[which < 0.5].kind)
    before = sandbox.journal_path.stat().st_size if sandbox.journal_path.exists() else 0
    command = forker.start(nights[0].workspace, *asked)
    lines, seconds = dice.randrange(LINES), dice.uniform(SHORTEST_SECONDS, LONGEST_SECONDS)
    if dice.random() < 0.5:
        command.wait(seconds=seconds)
    else:
        with sandbox.journal_path.open("rb") as journal:
            journal.seek(before)
            while lines > 0 and command.wait(seconds=0.005) is None:
                lines -= journal.read().count(b"\n")
    return int(command.kill().code == -9)


@pytest.mark.slow
def test_kills_at_random_moments(forker: Forker, tmp_path: Path) -> None:
    for number in numbers(**ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        sandbox = start_sandbox(folder)
        try:
            one_round(number, forker, sandbox, folder)
        finally:
            sandbox.stop()


def one_round(number: int, forker: Forker, sandbox: RunningSandbox, folder: Path) -> None:
    """One workspace with its service; each round draws its own lots."""
    dice = random.Random(f"{SEED}-{number}")
    workspace = Workspace(folder / "workspace", url=sandbox.url, settle_after="1s")
    workspace.configure("concurrency = 8")
    nights = [
        night(workspace, kind, documents=n, in_each=size(20, 50), later=True)
        for kind, n in zip(KINDS, (ORDERS, ASNS), strict=True)
    ]
    began, kills, runs = time.monotonic(), 0, 0
    while kills < KILLS and runs < 20 * KILLS:
        for each in nights:
            each.arrive(at_most=FILES_LYING)
        kills += kill_at_random(forker, nights, sandbox, dice)
        runs += 1
        assert not [false for each in nights for false in false_so_far(each, sandbox)], f"round {number}, run {runs}"
    for each in nights:
        each.arrive()
    then = {each.kind: len(created(sandbox, each.kind)) for each in nights}
    drain(forker, nights)
    verdicts = {each.kind: judge(each, sandbox) for each in nights}
    report(
        "kills",
        number=number,
        kills=kills,
        created_when_the_kills_ended=then,
        seconds=round(time.monotonic() - began),
        **{kind: verdict.figures() for kind, verdict in verdicts.items()},
    )
    assert kills == KILLS
    for verdict in verdicts.values():
        assert verdict.faults == {}
    assert all(what_is_held_is_listed(forker, each) for each in nights)
    assert set(verdicts["orders"].fates) <= {"accepted", "unchanged"}
    assert not list((workspace.root / "inbound").rglob("*.csv"))
