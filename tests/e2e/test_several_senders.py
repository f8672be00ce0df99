"""Several machines send with one ledger; how they die, sleep and take over stands in `verification/campaigns`."""

import json
import signal
from pathlib import Path

import pytest
from support.cluster import JOB, SLOW, Cluster, a_cluster, once, said, sandbox_with_sftp  # noqa: F401 - the fixtures `cluster` and `sandbox`
from support.postgres import postgres_of_a_module  # noqa: F401 - the fixture `postgres`
from support.workspace import Workspace, order_lines

from logistics_batch import __version__
from logistics_batch.processes import this_process


@pytest.mark.slow
@pytest.mark.real
def test_workers_help_a_run_and_end_when_asked(cluster: Cluster) -> None:
    cluster.sandbox.set_faults([SLOW])
    workers = [cluster.worker(name) for name in ("second", "third")]
    cluster.until(lambda: cluster.helpers() == 2)
    run = cluster.run(60)
    cluster.until(lambda: all(cluster.sent_by(each) for each in workers))
    told = json.loads(cluster.forker.run(cluster.machine("fourth"), "cluster", "status", "--json").out)
    assert sorted(each["does"].split()[0] for each in told["programs"]) == ["helps", "helps", "sends"]
    workers[0].signal(signal.SIGTERM)
    assert workers[0].end(seconds=60).code == 0
    done = run.end(seconds=120)
    assert (done.code, cluster.created()) == (0, once(60)), done.err
    assert cluster.helpers() == 1
    assert cluster.ask("SELECT state, count(*) FROM document GROUP BY state") == [("accepted", 60)]
    workers[1].signal(signal.SIGTERM)
    assert workers[1].end(seconds=60).code == 0
    assert cluster.ask("SELECT * FROM lease") == []
    assert cluster.ask("SELECT 1 FROM lane WHERE lease_id <> 0") == []


def test_a_ledger_in_a_file_has_one_sender(workspace: Workspace) -> None:
    refused = workspace.run("worker")
    assert refused.code == 2
    assert "SQLite" in refused.err
    assert "postgresql://" in refused.err
    assert workspace.run("cluster", "status").out.strip() == "No program sends or keeps the schedule now."


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
