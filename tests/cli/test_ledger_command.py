"""`ledger` and `retry`: whether the memory can be trusted, going on with a backup, sending again what may be."""

import json
import os
import shlex
import shutil
import stat
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.conftest import Run
from support.commands import Finished
from support.sandbox_process import RunningSandbox, created, sandbox_for_a_test
from support.workspace import Workspace, order_lines

from logistics_batch.ledger.failures import sqlite3

ADDRESS = "Market Road"


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    return Workspace(tmp_path, url=sandbox.url)


def push(run: Run, workspace: Workspace, references: list[str], name: str = "orders.csv") -> Finished:
    return run("push", workspace.drop(name, order_lines(references)), "--mapping", "orders", "--json")


def fates(done: Finished) -> dict[str, str]:
    return {row["document"]: row["fate"] for row in done.json["files"][0]["rows"]}


def test_a_sound_ledger_says_so(run: Run, workspace: Workspace) -> None:
    push(run, workspace, ["A", "B"])
    done = run("ledger", "verify")
    assert (done.code, done.out.splitlines()[-1]) == (0, "The ledger is sound.")
    found = run("ledger", "verify", "--json").json
    assert (found["sound"], found["counted"]["documents accepted"], found["missing_files"]) == (True, 2, 0)


def test_a_workspace_that_never_ran_has_a_sound_ledger_and_still_none_afterwards(
    run: Run, workspace: Workspace
) -> None:
    assert run("ledger", "verify").code == 0
    assert not (workspace.root / "var").exists()


def test_a_kept_file_that_was_changed_is_a_problem_one_that_is_gone_a_note(run: Run, workspace: Workspace) -> None:
    push(run, workspace, ["A"])
    (kept,) = (workspace.root / "var/files").glob("*.csv")
    kept.write_text("something else")
    done = run("ledger", "verify")
    assert done.code == 2
    assert "Problem (kept files): Kept originals are not what came in: orders.csv." in done.out
    kept.unlink()
    done = run("ledger", "verify")
    assert (done.code, "of 1 file the original is no longer kept" in done.out) == (0, True)


def test_going_on_with_a_backup_takes_the_word_of_a_person(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    ledger = workspace.root / "var/ledger.db"
    push(run, workspace, ["A"])
    shutil.copy(ledger, workspace.root / "backup.db")
    push(run, workspace, ["B"], name="second.csv")
    shutil.copy(workspace.root / "backup.db", ledger)
    refused = run("push", "inbound/second.csv", "--mapping", "orders")
    assert refused.code == 2
    assert "ledger verify --accept-restored --reason TEXT" in refused.err
    assert "Problem (newest)" in run("ledger", "verify").out
    accepted = run("ledger", "verify", "--accept-restored", "--reason", "the disk died")
    assert (accepted.code, "The ledger goes on." in accepted.out) == (0, True)
    assert "the disk died" in run("ledger", "verify").out
    again = run("ledger", "verify", "--accept-restored", "--reason", "once more")
    assert (again.code, "nothing to accept" in again.err) == (2, True)
    push(run, workspace, ["B"], name="second.csv")  # the service refuses a reference that is taken
    assert created(sandbox) == {"A": 1, "B": 1}


JOB = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound, pattern: "*.csv", ready: {poll_every: 10ms}, archive: "/archive/{date}"}
"""


def test_files_that_were_put_away_since_are_dropped_again_with_what_is_listed(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    ledger = workspace.root / "var/ledger.db"
    workspace.job("nightly", JOB)
    workspace.drop("known.csv", order_lines(["A"]))
    assert run("run", "nightly").code == 0
    shutil.copy(ledger, workspace.root / "backup.db")
    workspace.drop("forgotten one.csv", order_lines(["B"]))
    assert run("run", "nightly").code == 0
    shutil.copy(workspace.root / "backup.db", ledger)
    accepted = run("ledger", "verify", "--accept-restored", "--reason", "the disk died")
    (command,) = [line for line in accepted.out.splitlines() if line.startswith("  mv ")]
    (listed,) = run("ledger", "verify", "--json").json["forgotten_files"]
    assert (listed["job"], listed["command"]) == ("nightly", command.strip())
    subprocess.run(shlex.split(command), check=True)
    assert run("run", "nightly").code == 0
    assert created(sandbox) == {"A": 1, "B": 1}
    assert run("ledger", "verify", "--json").json["forgotten_files"] == []


def test_a_file_with_a_done_file_is_dropped_again_with_it(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    ledger = workspace.root / "var/ledger.db"
    workspace.job("nightly", JOB.replace("poll_every: 10ms", 'done_file: "{name}.done"').replace('"*.csv"', '"*"'))

    def night(name: str, reference: str) -> None:
        workspace.drop(name, order_lines([reference]))
        workspace.drop(f"{name}.done", "")
        assert run("run", "nightly").code == 0

    night("known.csv", "A")
    shutil.copy(ledger, workspace.root / "backup.db")
    night("forgotten.csv", "B")
    shutil.copy(workspace.root / "backup.db", ledger)
    run("ledger", "verify", "--accept-restored", "--reason", "the disk died")
    listed = run("ledger", "verify", "--json").json["forgotten_files"]
    assert [Path(each["path"]).name for each in listed] == ["forgotten.csv", "forgotten.csv.done"]
    for each in listed:
        subprocess.run(shlex.split(each["command"]), check=True)
    assert "forgotten.csv: 1 row" in run("run", "nightly").out
    assert created(sandbox) == {"A": 1, "B": 1}


def test_everything_can_be_written_out_once_to_a_new_private_file(run: Run, workspace: Workspace) -> None:
    push(run, workspace, ["A", "B"])
    file = workspace.root / "ledger.ndjson"
    done = run("ledger", "export", file, "--json")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert done.json["records"] == Counter(line["table"] for line in lines)
    assert done.json["records"]["document"] == 2
    assert ADDRESS not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "is there already" in run("ledger", "export", file).err
    assert run("ledger", "export", workspace.root / "all.ndjson", "--personal").code == 0
    assert ADDRESS in (workspace.root / "all.ndjson").read_text()
    nowhere = run("ledger", "export", workspace.root / "nowhere/x.ndjson")
    assert (nowhere.code, "cannot be written" in nowhere.err) == (2, True)


def test_what_was_refused_goes_out_again_when_a_person_says_so(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "reference": "B", "kind": "status_400"}])
    first = push(run, workspace, ["A", "B"])
    assert fates(first) == {"A": "accepted", "B": "refused"}
    sandbox.set_faults([])
    dropped = push(run, workspace, ["A", "B"])
    assert fates(dropped) == {"A": "unchanged", "B": "refused"}  # dropping the file again is no order to send again
    pending = run("retry", first.json["run"], "--only", "pending", "--json")
    assert (pending.code, pending.json["sent_again"]) == (3, 0)
    done = run("retry", first.json["run"], "--only", "refused", "--json")
    assert (done.code, done.json["sent_again"], fates(done)) == (0, 1, {"A": "accepted", "B": "accepted"})
    assert created(sandbox) == {"A": 1, "B": 1}
    assert "accepted" in (workspace.root / "reports/orders.result.csv").read_text("utf-8-sig").splitlines()[2]
    assert run("retry", first.json["run"], "--json").json["sent_again"] == 0
    assert run("runs", "show", "push", "--json").json["run"] == dropped.json["run"]  # a retry is no run of the job


def test_what_was_not_sent_goes_out_by_the_runs_name(run: Run, workspace: Workspace, sandbox: RunningSandbox) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "from": 2, "kind": "status_401"}])
    assert push(run, workspace, ["A", "B", "C"]).code == 5
    sandbox.set_faults([])
    done = run("retry", "push")
    assert (done.code, done.out.splitlines()[0]) == (0, "2 sent again.")
    assert created(sandbox) == {"A": 1, "B": 1, "C": 1}


def test_what_is_in_doubt_or_overtaken_is_left_and_named(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    plan = [
        {"endpoint": "order.create", "reference": "B", "kind": "drop_after", "times": 1},
        {"endpoint": "order.create", "reference": "C", "kind": "status_400", "times": 1},
    ]
    sandbox.set_faults(plan)
    first = push(run, slow, ["A", "B", "C"])
    corrected = slow.drop("corrected.csv", order_lines(["A", "B", "C"]).replace("2 Market", "22 Market"))
    assert fates(first) == {"A": "accepted", "B": "in_doubt", "C": "refused"}
    lines = corrected.read_text().splitlines()
    corrected.write_text("\n".join([lines[0], lines[3].replace("Road", "Street"), ""]))
    assert run("push", corrected, "--mapping", "orders").code == 0
    done = run("retry", first.json["run"])
    assert "Not sent again: B: it may have arrived; run “settle”." in done.out
    assert "Not sent again: C: a later version of it came since." in done.out
    assert created(sandbox) == {"A": 1, "B": 1, "C": 1}


def test_there_is_no_such_run(run: Run, workspace: Workspace) -> None:
    done = run("retry", "nothing")
    assert (done.code, 'There is no run "nothing"' in done.err) == (2, True)


def test_what_is_older_than_its_time_goes_and_stays_known(
    run: Run, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    push(run, workspace, ["A"])
    database = sqlite3.connect(workspace.root / "var/ledger.db")
    with database:  # as if that had been long ago
        for table, column in (("document", "settled_at"), ("file", "received_at")):
            database.execute(f"UPDATE {table} SET {column} = '2020' || substr({column}, 5)")
    database.close()
    (original,) = (workspace.root / "var/files").glob("*.csv")
    os.utime(original, (0, 0))
    workspace.configure("[ledger]", 'purge_after = "30d"')
    assert push(run, workspace, ["B"], name="second.csv").code == 0
    kept = [path.read_text() for path in (workspace.root / "var/files").glob("*.csv")]
    assert kept == [order_lines(["B"])]
    assert run("ledger", "verify", "--json").json["missing_files"] == 1
    assert fates(push(run, workspace, ["A"], name="again.csv")) == {"A": "unchanged"}
    assert fates(push(run, workspace, ["A"], name="again.csv")) == {"A": "unchanged"}
    assert created(sandbox) == {"A": 1, "B": 1}
    labels = run("labels", "--orders", "A,B", "--json")
    assert (labels.code, labels.json["labels"]) == (3, 1)
    assert "no longer kept" in str(labels.json["missing"])


def test_a_retention_that_is_too_short_is_refused(run: Run, workspace: Workspace) -> None:
    workspace.configure("[ledger]", 'purge_after = "3d"')
    done = run("ledger", "verify")
    assert (done.code, 'Write "30d" or more' in done.err) == (2, True)


def test_an_order_that_others_cancelled_is_no_second_live_one(
    run: Run, workspace: Workspace, sandbox: RunningSandbox, tmp_path: Path
) -> None:
    push(run, workspace, ["A"])
    other = Workspace(tmp_path / "other", url=sandbox.url)
    assert run("--workspace", other.root, "order", "cancel", sandbox.orders()[0]["awb_number"]).code == 0
    changed = workspace.drop("changed.csv", order_lines(["A"]).replace("Road", "Street"))
    assert run("push", changed, "--mapping", "orders").code == 4
    number = str(run("held", "list", "--json").json["held"][0]["id"])
    assert run("held", "decide", number, "send-again", "--reissue", "--reason", "still wanted").code == 0
    assert run("push", changed, "--mapping", "orders").code == 0
    assert created(sandbox) == {"A": 2}
    assert run("ledger", "verify").code == 0
