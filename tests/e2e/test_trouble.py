"""One clear message for each thing that goes wrong, the agreed exit code, and nothing lost or doubled."""

import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from support.canary import key_of_tests
from support.commands import Finished
from support.raw_servers import answering, serving
from support.sandbox_process import RunningSandbox, created
from support.workspace import Workspace, asn_lines, order_lines

from logistics_batch import wiring
from logistics_batch.api.pacing import Pacer
from logistics_batch.flows.push.dispatch import Dispatcher
from logistics_batch.ledger.failures import sqlite3

# A program whose wall clock is an hour ahead at every other reading.
JUMPING = """
import itertools, sys, time
real, readings = time.time, itertools.count()
time.time = lambda: real() + 3600 * (next(readings) % 2)
from logistics_batch.cli import main
sys.exit(main())
"""
REFERENCES = [f"T-{number}" for number in range(1, 9)]


def push(workspace: Workspace, *extra: str, mapping: str = "orders", **environment: str) -> Finished:
    drop = workspace.drop(f"{mapping}.csv", order_lines(REFERENCES) if mapping == "orders" else asn_lines(REFERENCES))
    return workspace.run("push", drop, "--mapping", mapping, "--json", *extra, **environment)


def counts(done: Finished) -> dict[str, int]:
    return {fate: n for fate, n in done.json["files"][0]["counts"].items() if n}


def said(done: Finished) -> str:
    assert "Traceback" not in done.out + done.err
    return done.out + done.err


def test_a_wrong_key_stops_after_one_call_and_the_right_one_goes_on(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.secret("api-key", "not-the-key-at-all")
    stopped = push(workspace)
    assert stopped.code == 5
    assert "API key" in said(stopped)
    assert "not-the-key-at-all" not in said(stopped)
    assert counts(stopped) == {"pending": 8}
    assert len(sandbox.received("order.create")) == 1
    workspace.secret("api-key", key_of_tests())
    done = push(workspace)
    assert (done.code, counts(done)) == (0, {"accepted": 8})
    assert done.json["run"] == stopped.json["run"]  # the interrupted run went on
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)


def test_a_key_revoked_in_the_middle_leaves_the_rest_pending_which_rows_to_correct_do_not_hide(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """Who only looks at the exit code runs the job again, which is what the pending rows need."""
    workspace.configure("concurrency = 1")
    revoked = {"endpoint": "order.create", "from": 4, "kind": "status_401"}
    sandbox.set_faults([revoked, {"endpoint": "order.create", "requests": [2], "kind": "status_400"}])
    file = workspace.drop("orders.csv", order_lines(REFERENCES) + "T-9,9876500009,9 Market Road,560009,SKU-1,zero\n")
    stopped = workspace.run("push", file, "--mapping", "orders", "--json")
    assert (stopped.code, counts(stopped)) == (5, {"accepted": 2, "refused": 1, "invalid": 1, "pending": 5})
    assert len(sandbox.received("order.create")) == 4, "no second try with a key that is not taken"
    sandbox.set_faults([])
    done = workspace.run("push", file, "--mapping", "orders", "--json")
    assert (done.code, counts(done)) == (3, {"accepted": 7, "refused": 1, "invalid": 1}), said(done)
    assert set(created(sandbox).values()) == {1}


def test_what_was_written_ahead_for_many_lines_is_put_back_when_sending_stops(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    lines, doubts = 40, 40 + 5 + 5
    workspace.configure(f"concurrency = {lines}")
    references = [f"T-{number}" for number in range(1, 121)]
    # They go wrong slowly: an answer that came after a doubt would begin the count of doubts in a row anew.
    slowly = {"endpoint": "order.create", "from": 30, "kind": "delay", "seconds": 0.7}
    sandbox.set_faults([slowly, {"endpoint": "order.create", "from": 30, "kind": "drop_before"}])
    file = workspace.drop("orders.csv", order_lines(references))
    stopped = workspace.run("push", file, "--mapping", "orders", "--json")
    found = counts(stopped)
    assert found["accepted"] == 29
    assert 1 <= found["in_doubt"] <= doubts
    assert found["accepted"] + found["in_doubt"] + found["pending"] == 120
    assert len(sandbox.received("order.create")) <= 29 + lines + 5 + 5  # and as many probes
    sandbox.set_faults([])
    done = workspace.run("push", file, "--mapping", "orders", "--json")
    assert counts(done).get("pending", 0) == 0
    assert set(created(sandbox).values()) == {1}
    assert len(created(sandbox)) >= 120 - doubts


def test_a_web_site_at_base_url_is_recognised_after_one_document(tmp_path: Path) -> None:
    """It answers every request with a page and 200, as a portal or a parked domain does."""
    with serving(answering(200, b"<!DOCTYPE html><html>Welcome</html>", content_type="text/html")) as web_site:
        done = push(Workspace(tmp_path / "elsewhere", url=web_site.url))
    assert done.code == 4  # one document was sent, and nobody knows where to
    assert "web page" in said(done)
    assert "base_url" in said(done)
    assert counts(done) == {"in_doubt": 1, "pending": 7}


def test_nobody_at_base_url_leaves_everything_pending(tmp_path: Path, sandbox: RunningSandbox) -> None:
    workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
    sandbox.stop()
    done = push(workspace)
    assert done.code == 5
    assert counts(done) == {"pending": 8}
    assert "could not be reached" in said(done)
    sandbox.restart()
    assert push(workspace).code == 0
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)


def test_the_first_create_of_a_run_goes_alone(workspace: Workspace, sandbox: RunningSandbox) -> None:
    slow = {"endpoint": "order.create", "kind": "delay", "seconds": 0.3}
    sandbox.set_faults([slow, {"endpoint": "order.create", "kind": "status_404", "page": True}])
    assert push(workspace).code == 5
    assert len(sandbox.received("order.create")) == 1


def test_lost_answers_are_listed_and_settled_without_a_second_order(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults(
        [
            {"endpoint": "order.create", "requests": [3], "kind": "drop_before"},
            {"endpoint": "order.create", "requests": [5], "kind": "drop_after"},
            {"endpoint": "order.create", "requests": [7], "kind": "error_500_after"},
        ]
    )
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    doubtful = push(slow)
    assert doubtful.code == 4
    assert counts(doubtful) == {"accepted": 5, "in_doubt": 3}
    assert len(created(sandbox)) == 7
    doubtful_rows = [row for row in doubtful.json["files"][0]["rows"] if row["fate"] == "in_doubt"]
    assert all("may or may not have arrived" in row["reason"] for row in doubtful_rows)
    Workspace(workspace.root, url=sandbox.url, settle_after="0s")
    settled = workspace.run("settle", "--wait", "--json")
    assert settled.code == 0, said(settled)
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)
    result = (workspace.root / "reports/orders.result.csv").read_text("utf-8-sig")
    assert "in_doubt" not in result  # the answer that the clerk has is written again
    assert result.count(",accepted,") == 8


def test_an_asn_without_an_answer_is_found_or_held_but_never_sent_twice(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults(
        [
            {"endpoint": "asn.create", "requests": [2], "kind": "drop_before"},
            {"endpoint": "asn.create", "requests": [4], "kind": "drop_after"},
        ]
    )
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    assert push(slow, mapping="asns").code == 4
    Workspace(workspace.root, url=sandbox.url, settle_after="0s")
    settled = workspace.run("settle", "--wait", "--json")
    assert settled.code == 4, said(settled)
    sent = Counter(line["invoice_number"] for line in sandbox.committed("asn.created"))
    lost = set(REFERENCES) - set(sent)
    assert (len(lost), set(sent.values())) == (1, {1})
    held = workspace.run("held", "list", "--json").json["held"]
    assert [line["reference"] for line in held] == list(lost)
    at = r"[0-9-]{10} [0-9:]{5}\+05:30"
    searched = rf"Sent {at}, no answer; not found in 3 searches until {at}\."
    again = rf" The service is asked again from {at} on, until {at}\."
    assert re.fullmatch(searched + again, held[0]["reason"]), held[0]["reason"]
    number = str(held[0]["id"])
    decided = workspace.run("held", "decide", number, "send-again", "--reason", "asked the service desk")
    assert decided.code == 0, said(decided)
    again = push(workspace, mapping="asns")
    assert again.code == 0, said(again)
    sent = Counter(line["invoice_number"] for line in sandbox.committed("asn.created"))
    assert sent == dict.fromkeys(REFERENCES, 1)


def test_a_dead_service_makes_few_doubts(workspace: Workspace, sandbox: RunningSandbox) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "every": 1, "kind": "drop_after"}])
    references = [f"D-{number}" for number in range(60)]
    file = workspace.drop("many.csv", order_lines(references))
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    done = slow.run("push", file, "--mapping", "orders", "--json")
    assert done.code == 4
    assert counts(done)["in_doubt"] <= 4 + 5
    assert counts(done)["in_doubt"] + counts(done)["pending"] == 60
    assert "no trustworthy answer" in said(done)


def test_it_pauses_for_as_long_as_the_service_asks_however_often_it_does(
    workspace: Workspace, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where the service names no time, pauses grow by a measure of our own."""
    push(workspace, LOGISTICS_BATCH_CRASH_AT="file.after_commit:1")
    again = {"endpoint": "order.create", "requests": [2, 3, 4], "kind": "status_429", "retry_after": "0.05"}
    sandbox.set_faults([again])
    pauses: list[float] = []
    slow_down = Pacer.slow_down

    def noted(pacer: Pacer, seconds: float) -> None:
        pauses.append(seconds)
        slow_down(pacer, seconds)

    monkeypatch.setattr(Pacer, "slow_down", noted)
    with wiring.Workspace(workspace.root).parts(wiring.Need()) as parts, parts.ledger.sending("again"):
        planned = parts.ledger.documents.select(states=["planned"])
        Dispatcher(parts, run="R").send([each.id for each in planned])
    assert set(pauses) == {0.05}
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)


def test_a_service_that_takes_less_than_the_rate_is_called_as_often_as_it_takes(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "kind": "rate_limit", "per_second": 10, "burst": 5}])
    workspace.configure("concurrency = 8")
    references = [f"L-{number}" for number in range(30)]
    done = workspace.run("push", workspace.drop("many.csv", order_lines(references)), "--mapping", "orders", "--json")
    assert (done.code, counts(done)) == (0, {"accepted": 30})
    assert created(sandbox) == dict.fromkeys(references, 1)
    assert len(sandbox.received("order.create")) - 30 <= 15
    assert any("to slow down (429): calls came down to" in note for note in done.json["notes"])


@pytest.mark.parametrize("asked_by", [signal.SIGTERM, signal.SIGINT])
def test_a_polite_stop_finishes_what_is_in_flight(
    workspace: Workspace, sandbox: RunningSandbox, asked_by: signal.Signals
) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "every": 1, "kind": "delay", "seconds": 0.3}])
    references = [f"S-{number}" for number in range(40)]
    process = workspace.start(
        "push", workspace.drop("many.csv", order_lines(references)), "--mapping", "orders", "--json"
    )
    while len(sandbox.received("order.create")) < 5:
        time.sleep(0.05)
    process.send_signal(asked_by)
    out, err = process.communicate(timeout=20)
    done = Finished(process.returncode, out, err)
    assert done.code == 5, err
    assert counts(done)["accepted"] + counts(done)["pending"] == 40
    assert counts(done)["accepted"] == len(created(sandbox))
    told = (workspace.root / "reports/many.result.csv").read_text("utf-8-sig")
    assert told.count(",pending,") == counts(done)["pending"] > 0
    sandbox.set_faults([])
    assert workspace.run("push", "inbound/many.csv", "--mapping", "orders").code == 0
    assert created(sandbox) == dict.fromkeys(references, 1)


def test_the_key_is_nowhere(workspace: Workspace, sandbox: RunningSandbox) -> None:
    canary = "canary-7f3a9c51e2"
    workspace.secret("api-key", canary)
    done = push(workspace)
    looked = workspace.run("doctor")
    everything = said(done) + said(looked)
    found = [
        str(path)
        for path in workspace.root.rglob("*")
        if path.is_file() and path.parent.name != "secrets" and canary.encode() in path.read_bytes()
    ]
    assert canary not in everything
    assert found == []


def test_answers_that_the_ledger_does_not_take_are_doubts_and_nothing_is_sent_twice(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """It takes three answers more; the others come while four calls are under way."""
    workspace.configure("concurrency = 4")
    workspace.run("push", workspace.drop("first.csv", order_lines(["F-1"])), "--mapping", "orders")
    database = workspace.root / "var/ledger.db"
    with closing(sqlite3.connect(database)) as ledger, ledger:
        ledger.execute(
            "CREATE TRIGGER full BEFORE UPDATE OF status ON attempt "
            "WHEN (SELECT count(*) FROM attempt WHERE finished_at <> '') > 3 "
            "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
    sandbox.set_faults([{"endpoint": "order.create", "kind": "delay", "seconds": 0.2, "phase": "after"}])
    stopped = push(workspace)
    assert stopped.code == 5
    assert "database or disk is full" in said(stopped)
    with closing(sqlite3.connect(database)) as ledger, ledger:
        ledger.execute("DROP TRIGGER full")
        sent = {line[0] for line in ledger.execute("SELECT reference FROM document WHERE state = 'sending'")}
    assert len(sent) >= 4
    sandbox.set_faults([])
    assert workspace.run("settle", "--json").json["open"] == []  # each is found at the service
    with closing(sqlite3.connect(database)) as ledger:
        accepted = [line[0] for line in ledger.execute("SELECT reference FROM document WHERE state = 'accepted'")]
    assert sent <= set(accepted)
    assert sorted(accepted) == sorted(created(sandbox))


def test_a_wall_clock_that_jumps_breaks_no_call(workspace: Workspace, sandbox: RunningSandbox) -> None:
    """Deadlines, pauses and the age of an intent are measured on a clock that cannot be set."""
    workspace.configure('rate = "100/s"')
    workspace.settings.remove('rate = "none"')
    workspace.configure("concurrency = 4")
    path = workspace.drop("orders.csv", order_lines(REFERENCES))
    command = [sys.executable, "-c", JUMPING, "push", str(path), "--mapping", "orders", "--json"]
    pushed = subprocess.run(command, cwd=workspace.root, env=workspace.environment({}), capture_output=True, timeout=60)
    assert pushed.returncode == 0, pushed.stderr
    assert created(sandbox) == dict.fromkeys(REFERENCES, 1)
    assert len(sandbox.received("order.create")) == len(REFERENCES)
