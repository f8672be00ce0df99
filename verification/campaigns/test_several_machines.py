"""Several machines send and keep the schedule: everything once, whoever dies, sleeps or is asked to end."""

import json
import signal
import time
from collections import Counter

import psycopg
import pytest
from support.cluster import SLOW, Cluster, a_cluster, once, orders, said, sandbox_with_sftp  # noqa: F401 - the fixtures `cluster` and `sandbox`
from support.commands import Command
from support.postgres import postgres_of_a_module  # noqa: F401 - the fixture `postgres`
from support.workspace import Workspace, order_lines

from logistics_batch import __version__
from logistics_batch.ledger.schema import SCHEMA_VERSION


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
@pytest.mark.parametrize("point", ["intent.after_commit:2", "send.after:3"])
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
        cluster.until(lambda: "newer version" in said(worker))
        received = len(cluster.sandbox.received("order.create"))
        time.sleep(6)
        assert len(cluster.sandbox.received("order.create")) == received
        server.execute("UPDATE meta SET value = %s WHERE name = 'schema_version'", [str(SCHEMA_VERSION)])
    cluster.forker.run(cluster.machine("first"), "run", "orders")
    cluster.forker.run(cluster.machine("first"), "settle", "--wait")
    none_is_doubled_and_what_lacks_is_told(cluster, 150)


def scheduled(cluster: Cluster) -> tuple[Workspace, Command, Command]:
    """Two machines that keep the schedule, the first of them in the middle of a run; and the workspace of both."""
    cluster.sandbox.set_faults([SLOW])
    shared = cluster.plans("orders", files={"orders": orders(150)})
    east, west = (cluster.scheduler(shared, machine) for machine in ("east", "west"))
    cluster.until(lambda: cluster.sent_by(east) > 5)
    return shared, east, west


@pytest.mark.slow
@pytest.mark.real
def test_a_machine_that_dies_in_a_run_is_followed_by_another_within_a_minute(cluster: Cluster) -> None:
    """As one that loses its power: nobody can see that its program is gone."""
    shared, east, west = scheduled(cluster)
    assert "each planned time is run by one of them" in said(west)
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
    shared, east, west = scheduled(cluster)
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


@pytest.mark.slow
@pytest.mark.real
def test_jobs_in_ten_folders_and_many_others_are_run_once_each_by_four_machines(cluster: Cluster) -> None:
    names = [f"job-{number:03}" for number in range(50)]
    files = {name: order_lines([f"{name}-{row}" for row in range(3)]) for name in names[:10]}
    shared = cluster.plans(*names, files=files, folders=10)
    for name in names[10:]:
        schedule = (shared.root / f"jobs/{name}.yaml").read_text().partition("schedule:")[2]
        shared.job(name, f"kind: settle\nschedule:{schedule}")
    keepers = [cluster.scheduler(shared, machine) for machine in ("north", "east", "south", "west")]
    cluster.until(lambda: len(cluster.ended()) == len(names), seconds=400)
    assert sorted(job for job, _ in cluster.ended()) == names
    assert len({host for _, host in cluster.ended()}) > 1  # who is there first claims what is due
    assert [
        line for each in keepers for line in said(each).splitlines() if "exit " in line and "exit 0" not in line
    ] == []
    assert cluster.ask("SELECT count(*) FROM run") == [(50,)]
    assert cluster.created() == Counter(f"{name}-{row}" for name in files for row in range(3))


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
    done = cluster.run(20).end(seconds=120)
    assert (done.code, cluster.created(), cluster.sent_by(worker)) == (0, once(20), 0), done.err
    assert "service.rate is 500/s here and none where the run was begun" in said(worker)


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
    cluster.until(lambda: "waits for runs" in said(worker))
    assert f"1 document of {cluster.sandbox.url} and none of http://localhost" in said(worker)
