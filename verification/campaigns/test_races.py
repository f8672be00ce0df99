"""Two to four programs over the same files at once; and one that sleeps between its intent and its first byte."""

import random
import signal
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from campaigns.nights import Night, created, drain, judge, night, what_is_held_is_listed
from campaigns.scale import FULL, SEED, numbers, report, size
from support.commands import Command, Forker
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace

from logistics_batch.ledger.failures import sqlite3

RACES = {"sample": 6, "full": 200}
SLEEPERS = size(sample=3, full=12)
SLEEP_SECONDS = 30 if FULL else 6  # an intent that is older than five seconds is not sent any more
BUSY = 75


def commands(each: Night, dice: random.Random) -> list[tuple[str | Path, ...]]:
    """What two to four people and schedulers start at the same moment."""
    inbox = each.workspace.root / "inbound" / each.kind
    by_hand = [("push", path, "--mapping", each.kind) for path in sorted(inbox.glob("*.csv"))]
    choices: list[tuple[str | Path, ...]] = [("run", each.kind), ("run", each.kind), *by_hand, ("settle",)]
    return [("run", each.kind), *dice.choices(choices, k=dice.randint(1, 3))]


@pytest.mark.slow
def test_races(forker: Forker, workspace: Workspace, sandbox: RunningSandbox, tmp_path: Path) -> None:
    codes: Counter[int] = Counter()
    raced: list[int] = []
    sandbox.set_faults(
        [
            {"endpoint": ["order.create", "asn.create"], "kind": "drop_after", "every": 9},
            {"endpoint": "order.create", "kind": "drop_before", "every": 7},  # so that not all silence is a yes
        ]
    )
    for number in numbers(**RACES):
        dice = random.Random(f"{SEED}-{number}")
        kind = dice.choice(("orders", "asns"))
        each = night(workspace, kind, documents=4, in_each=2, mark=f"{number}-")
        started = [forker.start(workspace, *arguments) for arguments in commands(each, dice)]
        codes.update(command.end().code for command in started)
        drain(forker, [each])
        assert judge(each, sandbox).faults == {}, f"race {number}"
        assert what_is_held_is_listed(forker, each), f"race {number}"
        raced.append(number)
    report(
        "races", first=raced[0], races=len(raced), programs=sum(codes.values()), exit_codes=dict(sorted(codes.items()))
    )
    assert set(codes) <= {0, 3, 4, 5, BUSY}
    assert codes[BUSY] > 0, "nobody ever met another"


def is_stopped(command: Command) -> bool:
    """Whether it sleeps now; False once it has ended."""
    while command.wait(seconds=0) is None:
        if Path(f"/proc/{command.process}/stat").read_text().rpartition(")")[2].split()[0] == "T":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.slow
def test_a_sleeper_does_not_send_late(forker: Forker, sandbox: RunningSandbox, tmp_path: Path) -> None:
    dice = random.Random(SEED)
    nights: list[Night] = []
    sleepers: list[Command] = []
    for number in range(SLEEPERS):
        workspace = Workspace(tmp_path / f"sleeper-{number}", url=sandbox.url, settle_after="0s")
        # In the sample nobody sleeps in the middle of a commit, for which others wait half a minute.
        workspace.configure(f"concurrency = {4 if FULL else 1}")
        nights.append(night(workspace, dice.choice(("orders", "asns")), documents=12, mark=f"{number}-"))
        point = {"LOGISTICS_BATCH_CRASH_AT": f"send.{('before', 'after')[number % 2]}:{dice.randint(1, 8)}"}
        sleepers.append(forker.start(workspace, "run", nights[-1].kind, environment=point, stops=True))
    asleep = [is_stopped(each) for each in sleepers]
    codes = [each.run(forker).code for each in nights]  # a second scheduler meanwhile
    time.sleep(SLEEP_SECONDS)
    sent = [sum(created(sandbox, each.kind).get(one, 0) for one in each.references) for each in nights]
    for sleeper in sleepers:
        sleeper.signal(signal.SIGCONT)
        sleeper.end()
    not_sent = [unsent(each.workspace) for each in nights]
    for each in nights:
        drain(forker, [each])
    report(
        "sleepers",
        sleepers=len(sleepers),
        seconds=SLEEP_SECONDS,
        sent_before_waking=sent,
        intents_grown_too_old=not_sent,
        exit_codes_of_the_second=codes,
    )
    assert codes == [BUSY] * SLEEPERS
    assert all(asleep)
    assert any(not_sent)
    for each in nights:
        assert judge(each, sandbox).faults == {}
        assert what_is_held_is_listed(forker, each)


def unsent(workspace: Workspace) -> int:
    """How many intents were given up because they had grown too old."""
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM attempt WHERE meaning = 'not_sent'").fetchone()[0])
