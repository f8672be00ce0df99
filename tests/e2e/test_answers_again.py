"""Answers hold every row and can be written at any time; none is taken for input by accident."""

import io
import json
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from support.commands import Finished, Forker
from support.fix_files import corrected
from support.sandbox_process import RunningSandbox
from support.sftp_servers import RunningSshd, openssh_server
from support.workspace import ASNS_MAPPING, ORDER_COLUMNS, Workspace, order_lines

from logistics_batch.ledger.failures import sqlite3

__all__ = ["openssh_server"]

MANIFEST = ASNS_MAPPING.replace("{from: Invoice, required: true}", "{run: file_name}").replace(", Invoice]", "]")
SFTP_JOB = """\
kind: push
mapping: orders
source:
  sftp: bhiwandi
  path: {root}/inbound
  pattern: ["*"]
  ready: {{unchanged_for: 2, poll_every: 10ms}}
  archive: {root}/archive
  quarantine: {root}/rejected
results: {{path: {root}/{results}, formats: [xlsx, csv]}}
"""


@pytest.fixture
def office(tmp_path: Path, service: RunningSandbox) -> Workspace:
    return Workspace(tmp_path / "workspace", url=service.url)


def run(forker: Forker, office: Workspace, *arguments: str | Path, crash_at: str = "") -> Finished:
    environment = {"LOGISTICS_BATCH_CRASH_AT": crash_at} if crash_at else None
    return forker.run(office, *arguments, environment=environment)


def created(service: RunningSandbox, prefix: str) -> Counter[str]:
    orders = (str(line["reference_number"]) for line in service.committed("order.created"))
    return Counter(order for order in orders if order.startswith(prefix))


def test_a_run_that_does_not_balance_fails_and_answers_nothing(
    office: Workspace, service: RunningSandbox, forker: Forker
) -> None:
    """A fate is withheld on purpose, between sending and answering."""
    file = office.drop("orders.csv", order_lines(["BAL-1", "BAL-2", "BAL-3"]))
    run(forker, office, "push", file, "--mapping", "orders", crash_at="report.before")
    ledger = sqlite3.connect(office.root / "var/ledger.db")
    (lost,) = ledger.execute("select * from row where row = 3").fetchall()
    ledger.execute("delete from row where row = 3")
    ledger.commit()
    unbalanced = run(forker, office, "push", file, "--mapping", "orders")
    assert unbalanced.code == 5
    assert "do not add up: 3 rows read, 2 have a fate" in unbalanced.err
    assert [path.name for path in (office.root / "reports").glob("orders*")] == ["orders.ack.json"]
    ledger.execute(f"insert into row values ({', '.join('?' * len(lost))})", lost)
    ledger.commit()
    assert run(forker, office, "push", file, "--mapping", "orders").code == 0
    assert (office.root / "reports/orders.result.csv").exists()
    assert created(service, "BAL-") == {"BAL-1": 1, "BAL-2": 1, "BAL-3": 1}


def test_answers_are_written_again_just_as_they_were(office: Workspace, forker: Forker) -> None:
    file = office.drop("orders.csv", order_lines(["AGN-1", "AGN-2"]) + "AGN-3,12345,3 Road,560001,SKU,1\n")
    told = run(forker, office, "push", file, "--mapping", "orders", "--json").json
    reports = office.root / "reports"
    before = {path.name: path.read_bytes() for path in reports.glob("orders.*")}
    assert set(before) == {"orders.ack.json", "orders.result.xlsx", "orders.result.csv", "orders.fix.xlsx"}
    for path in reports.glob("orders.*"):
        path.unlink()
    assert run(forker, office, "runs", "report", told["run"]).code == 0
    after = {path.name: path.read_bytes() for path in reports.glob("orders.*")}
    receipts = [json.loads(written.pop("orders.ack.json")) for written in (before, after)]
    assert after == before
    assert [receipt["state"] for receipt in receipts] == ["going out", "nothing to send"], "as things stand now"


def test_a_name_that_makes_an_invoice_number_stays_the_name_of_the_first_file(
    office: Workspace, forker: Forker, service: RunningSandbox
) -> None:
    """NAME.result.xlsx comes back for NAME.txt: the ASN is the same one."""
    office.mapping("manifests", MANIFEST)
    first, answer = "STA-7", "STA-7.result (1).xlsx"
    lines = "Supplier\tSite\tSKU\tQty\nAcme\tPune\tSKU-1\t5\nAcme\tAgra\tSKU-1\tmany\n"
    run(forker, office, "push", office.drop(f"{first}.txt", lines), "--mapping", "manifests")
    came = (office.root / "reports" / answer.replace(" (1)", "")).read_bytes()
    dropped = office.drop(answer, corrected(came, {"many": "6"}))
    (file,) = run(forker, office, "push", dropped, "--mapping", "manifests", "--json").json["files"]
    assert {row["document"].split("|")[-1]: row["fate"] for row in file["rows"] if row["document"]}
    made = [line for line in service.committed("asn.created") if str(line["invoice_number"]).startswith(first)]
    assert {line["invoice_number"] for line in made} == {f"{first}.txt"}
    assert len(made) == 2


@pytest.mark.real
def test_our_reports_in_the_drop_folder_are_no_input(
    office: Workspace, forker: Forker, service: RunningSandbox, openssh_server: RunningSshd
) -> None:
    root, name, results = openssh_server.root, "OURS", "inbound"
    (root / results).mkdir()
    office.sftp("bhiwandi", openssh_server)
    office.job("nightly", SFTP_JOB.format(root=root, results=results))
    first = order_lines([f"{name}-1"]) + f"{name}-2,12345,2 Road,560001,SKU,1\n"
    (root / "inbound/orders.csv").write_text(first)
    assert run(forker, office, "run", "nightly").code == 3
    ours = {path.name: path.read_bytes() for path in (root / results).glob("orders.*")}
    assert set(ours) == {"orders.ack.json", "orders.result.csv", "orders.result.xlsx", "orders.fix.xlsx"}
    for kind in ("ack.json", "result.csv"):
        (root / "inbound" / f"orders.{kind}").write_bytes(ours[f"orders.{kind}"])
    (root / "inbound/orders_list.csv").write_bytes(ours["orders.result.csv"])
    (root / "inbound/receipt.csv").write_bytes(ours["orders.ack.json"])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        for member, content in ours.items():
            is_fix = member.endswith("fix.xlsx")
            members.writestr(member, corrected(content, {"12345": "9876543210"}) if is_fix else content)
    (root / "inbound/answers.zip").write_bytes(archive.getvalue())
    done = run(forker, office, "run", "nightly", "--json")
    assert done.code == 4, done.err
    files = {file["file"]: file for file in done.json["files"]}
    assert set(files) == {"orders_list.csv", "receipt.csv", "orders.result.xlsx", "orders.fix.xlsx"}
    assert "one of our own reports" in files["orders_list.csv"]["reason"]
    assert files["receipt.csv"]["reason"]
    assert files["orders.result.xlsx"]["counts"]["unchanged"] == 1
    assert files["orders.fix.xlsx"]["counts"]["accepted"] == 1, "a corrected fix file is understood"
    assert created(service, name) == {f"{name}-1": 1, f"{name}-2": 1}
    left = {path.name for path in (root / "inbound").iterdir()}
    assert {"orders.ack.json", "orders.result.csv"} <= left, "left where they lie"
    assert ORDER_COLUMNS.encode() not in (root / results / "orders.result.csv").read_bytes()


def test_answers_that_could_not_be_written_are_not_told_and_are_written_later(
    office: Workspace, service: RunningSandbox, forker: Forker
) -> None:
    """The reports folder is a file at first; whoever writes answers next writes these, and says so while it cannot."""
    reports = office.root / "reports"
    reports.write_text("in the way")
    stopped = run(forker, office, "push", office.drop("late.csv", order_lines(["LATE-1"])), "--mapping", "orders")
    assert (stopped.code, "Answers:" in stopped.out) == (5, False)
    assert "accepted         1" in stopped.out and "The results of late.csv could not be written" in stopped.out
    still = run(forker, office, "settle", "--wait")
    assert (still.code, "The results of late.csv could not be written" in still.out) == (5, True)
    reports.unlink()
    assert run(forker, office, "settle", "--wait").code == 0
    assert "LATE-1" in (reports / "late.result.csv").read_text("utf-8-sig")
    assert (reports / "late.ack.json").exists()
    assert created(service, "LATE") == {"LATE-1": 1}


def test_a_sender_whose_file_was_read_by_a_run_that_died_gets_a_receipt(
    office: Workspace, service: RunningSandbox, forker: Forker
) -> None:
    file = office.drop("receipt.csv", order_lines(["RECEIPT-1"]))
    run(forker, office, "push", file, "--mapping", "orders", crash_at="file.after_commit")
    assert not (office.root / "reports/receipt.ack.json").exists()
    assert run(forker, office, "push", file, "--mapping", "orders").code == 0
    assert (office.root / "reports/receipt.ack.json").exists()
    assert created(service, "RECEIPT") == {"RECEIPT-1": 1}
