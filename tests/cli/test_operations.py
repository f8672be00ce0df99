"""What operators have besides: backup, logs, metrics, retention, alerts of runs by cron."""

import itertools
import json
import os
import re
import stat
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.conftest import Run
from support.event_receiver import Receiver, receiving
from support.workspace import Workspace

from logistics_batch.flows.files.purge import purge_by_age
from logistics_batch.ledger import open_ledger
from logistics_batch.ledger.failures import sqlite3
from logistics_batch.operate.metrics import Figure, metrics_server
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Wired

PUSH = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound, ready: {unchanged_for: 2, poll_every: 10ms}}
results: {folder: results}
"""


@pytest.fixture
def people() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


class TestBackup:
    def test_a_backup_is_whole_and_private_also_while_the_ledger_is_written(
        self, run: Run, workspace: Workspace
    ) -> None:
        workspace.job("settle", "kind: settle\n")
        assert run("run", "settle").code == 0
        ledger = open_ledger(f"sqlite:///{workspace.root}/var/ledger.db", account="https://service.invalid")
        over = threading.Event()

        def keep_writing() -> None:
            with ledger.sending("orders"):
                for number in itertools.count():
                    ledger.files.hold_name(place="folder:/x", name=f"file-{number}", sha256="0" * 64)
                    if over.wait(0.01):
                        return

        writer = threading.Thread(target=keep_writing)
        writer.start()
        done = run("ledger", "backup", "copy.db", "--json")
        over.set()
        writer.join()
        ledger.close()
        assert done.code == 0, done.err
        copy = workspace.root / "copy.db"
        assert done.json["bytes"] == copy.stat().st_size
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        with sqlite3.connect(copy) as opened:
            assert opened.execute("SELECT job FROM run").fetchall() == [("settle",)]
            assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)

    def test_it_replaces_nothing(self, run: Run, workspace: Workspace) -> None:
        workspace.drop("copy.db", "precious", folder=".")
        done = run("ledger", "backup", "copy.db")
        assert done.code == 2
        assert "is there already" in done.err
        assert (workspace.root / "copy.db").read_text() == "precious"


def test_the_log_is_a_line_of_json_for_each_thing(run: Run, workspace: Workspace) -> None:
    workspace.configure("[log]", 'format = "json"', 'file = "var/log.jsonl"')
    workspace.job("settle", "kind: settle\n")
    run("run", "settle", "--business-date", "2026-11-03")
    (line,) = (workspace.root / "var/log.jsonl").read_text().splitlines()
    told = json.loads(line)
    assert {name: told[name] for name in ("level", "event", "job", "exit_code", "business_date")} == {
        "level": "info",
        "event": "run_ended",
        "job": "settle",
        "exit_code": 0,
        "business_date": "2026-11-03",
    }
    (workspace.root / "var/log.jsonl").rename(workspace.root / "var/log.jsonl.1")
    run("run", "settle")
    assert len((workspace.root / "var/log.jsonl").read_text().splitlines()) == 1


def test_metrics_are_written_after_each_run(run: Run, workspace: Workspace) -> None:
    workspace.configure("[metrics]", 'textfile = "metrics/lb.prom"')
    workspace.job("settle", "kind: settle\n")
    run("run", "settle")
    run("run", "settle")
    file = workspace.root / "metrics/lb.prom"
    text = file.read_text()
    assert 'logistics_batch_runs_total{exit_code="0",job="settle"} 2.0' in text
    assert 'logistics_batch_job_last_exit_code{job="settle"} 0.0' in text
    assert "logistics_batch_notices_untold 0.0" in text
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert [path.name for path in file.parent.iterdir()] == ["lb.prom"]


def test_metrics_are_given_as_they_are_when_asked() -> None:
    count = iter(range(1, 9))
    with metrics_server(0, lambda: [Figure("asked", "How often.", (), {(): next(count)})]) as port:
        answers = [
            urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode() for _ in range(2)
        ]
    assert [re.findall(r"^logistics_batch_asked (.+)$", text, re.MULTILINE) for text in answers] == [["1.0"], ["2.0"]]


def test_a_failed_run_by_cron_is_told_and_so_is_its_recovery(run: Run, workspace: Workspace, people: Receiver) -> None:
    workspace.secret("alerts", f"json://{people.url.removeprefix('http://')}\n")
    workspace.configure("[notify]", 'urls_file = "secrets/alerts"')
    workspace.job("orders", PUSH)  # its folder is missing
    assert run("run", "orders", "--business-date", "2026-11-03").code == 5
    message = people.next()[1]
    assert message["title"].endswith("orders failed for 2026-11-03")
    assert "inbound" in message["message"]
    assert "`logistics-batch run orders --business-date 2026-11-03`" in message["message"]
    assert run("run", "orders").code == 5
    assert people.events.empty(), "what lasts is told once"
    (workspace.root / "inbound").mkdir()
    assert run("run", "orders").code == 0
    assert "Over: orders failed for 2026-11-03" in people.next()[1]["message"]


def test_alerts_that_cannot_be_told_break_no_run(run: Run, workspace: Workspace) -> None:
    workspace.configure("[notify]", 'urls = ["json://127.0.0.1:9/?cto=1", "pigeon://nowhere"]')
    workspace.job("settle", "kind: settle\nnotify: [on_success]\n")
    done = run("run", "settle")
    assert done.code == 0
    assert "could not be told; 1 alerts wait" in done.err


def test_what_is_too_old_goes_and_nothing_else(workspace: Workspace) -> None:
    workspace.configure("[reports]", 'purge_after = "60d"', 'purge_labels_after = "30d"')
    old, young = 70 * 86400, 40 * 86400
    ours = ("reports/{}.result.csv", "reports/{}.ack.json", "reports/run-{}.json", "reports/feeds/s/s-00000{}.csv")
    runs = (
        "reports/order_status/O20260601-211500-ab{}/order_status.xlsx",
        "reports/labels/L20260601-211500-ab{}/a/b.pdf",
    )
    gone = {name.format(1): old for name in (*ours, *runs)} | {"var/files/labels/a.pdf": young}
    kept = {name.format(2): young for name in (*ours, *runs)} | {"var/files/original.csv": old}
    others = ("logo.png", "2026/sums.xlsx", "labels/2026/x.pdf", "feeds/s/notes.csv", "feeds/s/.last", ".ledger.mark")
    kept |= {f"reports/{name}": old for name in others}
    for name, age in (kept | gone).items():
        path = workspace.drop(Path(name).name, "x", folder=str(Path(name).parent))
        at = path.stat().st_mtime - age
        os.utime(path, (at, at))
    with Wired(workspace.root).parts(Need(calls=False)) as parts:
        removed = purge_by_age(parts)
    assert (removed.reports, removed.labels) == (6, 1)
    assert all((workspace.root / name).exists() for name in kept)
    assert not any((workspace.root / name).exists() for name in gone)
    assert not (workspace.root / "reports/labels/L20260601-211500-ab1").exists()


def test_check_says_that_no_scheduler_works(run: Run, workspace: Workspace) -> None:
    done = run("schedule", "--check")
    assert done.code == 5
    assert "No scheduler has worked" in done.err
