"""What answers are never written over: what a clerk corrected in a fix file, and the sender's columns."""

import csv
from contextlib import closing
from pathlib import Path

import pytest
from openpyxl import load_workbook
from support.commands import Forker
from support.fix_files import corrected, lines_of
from support.sandbox_process import RunningSandbox
from support.workspace import ORDER_COLUMNS, Workspace, order_lines

from logistics_batch.ledger.failures import sqlite3

WRONG = ",12345,3 Road,560001,SKU,1\n"
NIGHTLY = """\
kind: push
mapping: orders
source: {folder: ., path: /inbound, ready: {unchanged_for: 2, poll_every: 50ms}}
results: {folder: results}
"""


@pytest.fixture
def office(tmp_path: Path, service: RunningSandbox) -> Workspace:
    service.set_faults([])
    return Workspace(tmp_path / "workspace", url=service.url)


def pushed(office: Workspace, service: RunningSandbox, prefix: str, *, fault: str) -> Path:
    """An order with a fault, and one whose row is invalid; returns the folder of the answers."""
    service.set_faults([{"endpoint": "order.create", "kind": fault, "times": 1}])
    file = office.drop("orders.csv", order_lines([f"{prefix}-1"]) + f"{prefix}-2" + WRONG)
    Workspace(office.root, url=service.url, settle_after="1h").run("push", file, "--mapping", "orders")
    Workspace(office.root, url=service.url)  # from now on doubts are settled at once
    service.set_faults([])
    return office.root / "reports"


def correct(fix: Path) -> bytes:
    content = corrected(fix, {"12345": "9876500001"})
    fix.write_bytes(content)
    return content


def refused_now(office: Workspace, service: RunningSandbox) -> str:
    """What was pending goes out and is refused: there is more to correct."""
    service.set_faults([{"endpoint": "order.create", "kind": "status_400", "times": 1}])
    return office.run("retry", "push", "--only", "pending").out


def to_correct(folder: Path) -> dict[str, list[str]]:
    """The references in each fix file."""
    return {path.name: [line["Order No"] for line in lines_of(path)] for path in sorted(folder.glob("*.fix.xlsx"))}


def test_what_a_clerk_corrected_in_the_fix_file_is_moved_and_never_written_over(
    office: Workspace, service: RunningSandbox
) -> None:
    """One fix file at a time: what is to be corrected by now. The corrected one is understood as well."""
    reports = pushed(office, service, "CLERK", fault="status_401")
    assert to_correct(reports) == {"orders.fix.xlsx": ["CLERK-2"]}
    mine = correct(reports / "orders.fix.xlsx")
    told = refused_now(office, service)
    assert to_correct(reports) == {"orders.fix.xlsx": ["CLERK-1", "CLERK-2"]}
    (moved,) = (reports / "earlier").iterdir()
    assert moved.read_bytes() == mine
    assert "orders.fix.xlsx in folder:" in told
    assert f"It was moved to /earlier/{moved.name}; what is to be corrected by now stands in orders.fix.xlsx" in told
    office.run("runs", "report", "push")
    newer = correct(reports / "orders.fix.xlsx")
    office.run("runs", "report", "push")
    assert (reports / "orders.fix.xlsx").read_bytes() == newer, "there is nothing newer to say"
    content = corrected(newer, {"1 Market Road": "2 Market Road"})
    file = office.drop(moved.name, content)
    done = office.run("push", file, "--mapping", "orders", "--json").json
    fates = {row["document"]: row["fate"] for row in done["files"][0]["rows"]}
    assert fates == {"CLERK-1": "accepted", "CLERK-2": "accepted"}
    assert {path.name for path in reports.glob("orders.*")} == {
        "orders.ack.json",
        "orders.result.csv",
        "orders.result.xlsx",
    }, "it is the next round of orders, and nothing is left to correct"


def test_a_fix_file_goes_also_after_a_kill_right_behind_its_writing(
    office: Workspace, forker: Forker, service: RunningSandbox
) -> None:
    """It is known as ours, though the ledger had not been told yet."""
    service.set_faults([{"endpoint": "order.create", "kind": "status_400", "times": 1}])
    file, reports = office.drop("orders.csv", order_lines(["KILLED-1"])), office.root / "reports"
    at = {"LOGISTICS_BATCH_CRASH_AT": "answers.fix:1"}
    assert forker.start(office, "push", file, "--mapping", "orders", environment=at).end().code == -9
    assert to_correct(reports) == {"orders.fix.xlsx": ["KILLED-1"]}
    assert office.run("push", file, "--mapping", "orders").code == 3
    assert office.run("retry", "push").code == 0
    assert to_correct(reports) == {}
    assert not (reports / "earlier").exists(), "nobody had changed it"


def fates(reports: Path) -> dict[str, str]:
    lines = csv.DictReader((reports / "orders.result.csv").read_text("utf-8-sig").splitlines())
    return {line["document"]: line["fate"] for line in lines if line["src:Address"]}


def test_answers_keep_the_senders_columns_where_another_machine_has_the_original(
    office: Workspace, service: RunningSandbox
) -> None:
    """Two machines share a ledger: the other one settles the doubt."""
    reports = pushed(office, service, "ELSE", fault="drop_after")
    before = {path.name: path.read_bytes() for path in reports.glob("orders.*")}
    here, there = office.root / "var/files", office.root / "var/files of the first"
    here.rename(there)
    told = office.run("settle", "--wait")
    assert (told.code, "stay as they were written: its original is not here" in told.out) == (0, True)
    assert {path.name: path.read_bytes() for path in reports.glob("orders.*")} == before
    (warned,) = [
        check for check in office.run("doctor", "--json").json["checks"] if "its original is not here" in check["text"]
    ]
    assert (warned["state"], "copy its var/files here" in warned["remedy"]) == ("warning", True)
    assert "its original is not here" in office.run("runs", "report", "push").err
    assert {path.name: path.read_bytes() for path in reports.glob("orders.*")} == before
    there.rename(here)
    assert office.run("settle").code == 0
    assert fates(reports) == {"ELSE-1": "accepted", "ELSE-2": "invalid"}
    sheet = load_workbook(reports / "orders.result.xlsx").active
    assert sheet is not None
    assert [cell.value for cell in sheet[1]][: len(ORDER_COLUMNS.split(","))] == ORDER_COLUMNS.split(",")
    assert not [check for check in office.run("doctor", "--json").json["checks"] if check["name"] == "answers"]


def test_first_answers_without_the_original_are_written_and_told(office: Workspace, service: RunningSandbox) -> None:
    """The machine that took the file broke off before it answered; the next one has the ledger only."""
    office.job("nightly", NIGHTLY)
    dropped = office.drop("orders.csv", order_lines(["FIRST-1"]))
    office.run("run", "nightly", LOGISTICS_BATCH_CRASH_AT="report.before:1")
    (original,) = (office.root / "var/files").glob("*.csv")
    kept = original.rename(office.root / "elsewhere.csv")
    dropped.unlink()
    answers = office.root / "results/orders.result.csv"
    assert not answers.exists()
    (note,) = [each for each in office.run("run", "nightly", "--json").json["notes"] if "orders.csv" in each]
    assert note.startswith("The answers to orders.csv (run ")
    assert "without the sender's columns" in note
    text = answers.read_text("utf-8-sig")
    assert "FIRST-1" in text
    assert "src:" not in text
    kept.rename(original)
    office.run(*note.partition("`logistics-batch ")[2].partition("`")[0].split())
    assert "src:Order No" in answers.read_text("utf-8-sig")
    office.drop("other.csv", order_lines(["FIRST-2"]))
    assert not [each for each in office.run("run", "nightly", "--json").json["notes"] if "columns" in each]


def test_answers_to_a_file_that_was_purged_wait_for_nobody(office: Workspace, service: RunningSandbox) -> None:
    reports = pushed(office, service, "PURGED", fault="drop_after")
    before = (reports / "orders.result.csv").read_bytes()
    office.configure("[ledger]", 'purge_after = "30d"')
    with closing(sqlite3.connect(office.root / "var/ledger.db")) as ledger, ledger:
        ledger.execute("update file set received_at = '2020-01-01T00:00:00+05:30'")
    (office.root / "var/files").rename(office.root / "var/gone")
    assert "stay as they are: it was purged" in office.run("settle", "--wait").out
    assert (reports / "orders.result.csv").read_bytes() == before
    assert "purged" not in office.run("settle").out
