"""The scheduler as a process: it starts, says what comes, runs jobs, and ends cleanly when told to."""

import signal
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cli.conftest import Run
from support.event_receiver import receiving
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace, order_lines

from logistics_batch.ledger import open_ledger

NIGHTLY = """\
kind: push
mapping: orders
source: {{folder: ., path: /inbound, ready: {{unchanged_for: 2, poll_every: 10ms}}, archive: /archive}}
results: {{folder: results}}
schedule: {{cron: "{cron}", timezone: {zone}, missed: last, grace: 6h}}
"""
LATER = NIGHTLY.format(cron="15 21 1 1 *", zone="Asia/Kolkata")


class Watched:
    """A scheduler process with the lines that it says, as they come."""

    def __init__(self, workspace: Workspace, *options: str) -> None:
        self.process = workspace.start("schedule", *options)
        self.lines: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stderr:
            with self._more:
                self.lines.append(line.rstrip())
                self._more.notify_all()

    def wait_for(self, words: str, *, seconds: float = 60) -> str:
        ends_at = time.monotonic() + seconds
        with self._more:
            while True:
                for line in self.lines:
                    if words in line:
                        return line
                left = ends_at - time.monotonic()
                assert left > 0, f"{words!r} was not said: {self.lines}"
                self._more.wait(min(left, 1.0))

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        code = self.process.wait(10)
        self._reader.join(10)
        return code


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def served(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
    (workspace.root / "inbound").mkdir()
    return workspace


def missed_job(workspace: Workspace) -> None:
    """A job that a scheduler knew and that was due an hour ago: a scheduler that starts now catches it up."""
    due = datetime.now(UTC) - timedelta(hours=1)
    cron = f"{due.minute} {due.hour} * * *"
    workspace.job("nightly", NIGHTLY.format(cron=cron, zone="UTC"))
    ledger = open_ledger(f"sqlite:///{workspace.root}/var/ledger.db", account="https://api.example.com")
    ledger.slots.schedule_seen("nightly", f"{cron} UTC", now=(due - timedelta(hours=1)).isoformat())
    ledger.close()
    done = workspace.run("run", "nightly")
    assert done.code == 0, done.out + done.err


def test_it_says_when_each_job_is_next_and_ends_with_0_when_told_to(workspace: Workspace) -> None:
    workspace.job("orders-nightly", LATER)
    (workspace.root / "inbound").mkdir()
    watched = Watched(workspace)
    line = watched.wait_for("next run")
    assert "orders-nightly: next run " in line
    assert line.endswith("-01-01T21:15+05:30")
    assert watched.end(signal.SIGINT) == 0
    assert f"started (process {watched.process.pid})" in watched.lines[0]
    assert watched.lines[-1].endswith(f"stopped (process {watched.process.pid})"), "two may write into one log"


def test_a_second_one_in_a_workspace_says_so(workspace: Workspace) -> None:
    """Also of one that was killed it is not said: that one works no more."""
    workspace.job("orders-nightly", LATER)
    (workspace.root / "inbound").mkdir()
    first = Watched(workspace)
    first.wait_for("next run")
    second = Watched(workspace)
    second.wait_for("next run")
    words = f"another scheduler works here (process {first.process.pid} on {socket.gethostname()}"
    assert any(words in line for line in second.lines)
    assert not any("another scheduler" in line for line in first.lines)
    assert second.end() == 0
    first.end(signal.SIGKILL)
    third = Watched(workspace)
    third.wait_for("next run")
    assert third.end() == 0
    assert not any("another scheduler" in line for line in third.lines)


def test_outsiders_see_that_it_works(workspace: Workspace) -> None:
    workspace.job("settle", 'kind: settle\nschedule: {cron: "15 21 1 1 *"}\n')
    watched = Watched(workspace, "--metrics-port", "0")
    address = watched.wait_for("metrics at").rpartition(" ")[2]
    text = urllib.request.urlopen(address, timeout=30).read().decode()
    assert 'logistics_batch_job_running{job="settle"}' in text
    assert 'logistics_batch_job_next_run_timestamp_seconds{job="settle"}' in text
    watched.wait_for("next run")
    while (done := workspace.run("schedule", "--check")).code != 0:
        time.sleep(0.1)
    assert "The scheduler works" in done.out
    assert watched.end() == 0


def test_a_missed_night_is_caught_up_once_across_restarts(served: Workspace, sandbox: RunningSandbox) -> None:
    missed_job(served)
    served.job("other", LATER)
    served.drop("a.csv", order_lines(["A-1"]).replace("1 Market Road", "Secret Lane 7"))
    first = Watched(served)
    outcome = first.wait_for("nightly: exit 0")
    assert first.end() == 0
    second = Watched(served)
    second.wait_for("other: next run")
    assert second.end() == 0
    assert not any("starts" in line for line in second.lines)
    assert [line["reference_number"] for line in sandbox.committed("order.created")] == ["A-1"]
    assert outcome.endswith("1 file: 1 accepted")
    assert "Secret Lane" not in "\n".join(first.lines)  # the log names files and counts, never data of rows


@pytest.mark.slow
def test_a_run_that_is_on_is_ended_within_ten_seconds_and_nothing_is_lost(
    served: Workspace, sandbox: RunningSandbox
) -> None:
    missed_job(served)
    references = [f"S-{number}" for number in range(20)]
    sandbox.set_faults([{"endpoint": "order.create", "from": 2, "kind": "delay", "seconds": 40}])
    served.drop("a.csv", order_lines(references))
    watched = Watched(served)
    watched.wait_for("starts for")
    while len(sandbox.received("order.create")) < 2:
        time.sleep(0.05)
    assert watched.end() == 0
    assert any("Left while running: nightly" in line for line in watched.lines)
    sandbox.kill()  # what it had not answered yet never happened
    sandbox.restart()
    sandbox.set_faults([])
    served.run("run", "nightly")
    assert served.run("settle", "--wait").code == 0
    created = [line["reference_number"] for line in sandbox.committed("order.created")]
    assert sorted(created) == sorted(references)


def test_what_cannot_work_at_night_is_said_at_once(run: Run, workspace: Workspace) -> None:
    assert "has a schedule" in run("schedule").err
    workspace.job("nightly", LATER.replace("mapping: orders", "mapping: ordres"))
    done = run("schedule")
    assert done.code == 2
    assert "Did you mean `orders`?" in done.err
    workspace.job("nightly", LATER.replace("{folder: results}", "{sftp: nowhere}"))
    done = run("schedule")
    assert done.code == 2
    assert 'no SFTP server "nowhere"' in done.err
    workspace.job("nightly", LATER.replace("15 21 1 1 *", "75 21 1 1 *"))
    done = run("schedule")
    assert done.code == 2
    assert '"75" is no minute' in done.err


def test_a_job_file_with_a_mistake_keeps_no_other_job_from_running_and_is_told(workspace: Workspace) -> None:
    """Also at the start: a machine that reboots in the evening must not leave all jobs out for the mistake in one."""
    with receiving() as people:
        workspace.configure("[notify]", f'urls = ["json://{people.url.removeprefix("http://")}"]')
        workspace.job("settle", 'kind: settle\nschedule: {cron: "15 21 1 1 *"}\n')
        workspace.job("nightly", 'kind: settle\nschedule: {cron: "0 25 * * *"}\n')
        (workspace.root / "jobs/other.yml").write_text("kind: settle\n")
        watched = Watched(workspace)
        watched.wait_for("settle: next run")
        assert "It does not run." in watched.wait_for("jobs/nightly.yaml:2:12")
        watched.wait_for("jobs/other.yml is not read")
        assert people.next()[1]["title"].endswith("jobs/nightly.yaml cannot be used")
        assert watched.end() == 0
        (workspace.root / "jobs/settle.yaml").unlink()
        done = workspace.run("schedule")
        assert (done.code, '"25" is no hour' in done.err) == (2, True)


def test_the_list_shows_next_and_last_runs_in_the_zone_of_each_job(run: Run, workspace: Workspace) -> None:
    workspace.job("orders-nightly", LATER)
    workspace.job("by-hand", "kind: settle\n")
    workspace.job("settle", 'kind: settle\nschedule: {cron: "0 6 1 1 *", timezone: Europe/Berlin}\n')
    assert run("run", "settle").code == 0
    jobs = {each["job"]: each for each in run("schedule", "list", "--json").json["jobs"]}
    assert jobs["orders-nightly"]["next_run"].endswith("-01-01T21:15+05:30")
    assert jobs["settle"]["next_run"].endswith("-01-01T06:00+01:00")
    assert jobs["settle"]["last_exit_code"] == 0
    assert jobs["by-hand"]["next_run"] is None
    shown = run("schedule", "list").out
    assert "orders-nightly" in shown
    assert jobs["settle"]["last_run"][:16] in shown  # to the minute, as people read it
    workspace.job("odd", "kind: push\n")
    workspace.job("behind", "kind: settle\nafter: [odd]\n")
    done = run("schedule", "list")
    assert (done.code, "orders-nightly" in done.out, "jobs/odd.yaml" in done.err) == (2, True, True)
    assert "behind" in done.out and "there is no such job" not in done.err


def test_a_paused_job_is_named_by_list_and_doctor_until_it_is_resumed(workspace: Workspace) -> None:
    workspace.job("nightly", LATER)
    paused = workspace.run("schedule", "pause", "nightly", "--reason", "stock is counted")
    assert paused.code == 0
    assert paused.out == "nightly is paused by operator: stock is counted\n"
    assert workspace.run("schedule", "pause", "nightly", "--reason", "again").code == 2
    assert workspace.run("schedule", "pause", "nothing", "--reason", "x").code == 2
    assert "paused" in workspace.run("schedule", "list").out
    assert "nightly is paused by operator since" in " ".join(workspace.run("doctor").out.split())
    assert workspace.run("schedule", "resume", "nightly", "--reason", "counted").code == 0
    assert "paused" not in workspace.run("schedule", "list").out
    assert "is paused by" not in " ".join(workspace.run("doctor").out.split())
