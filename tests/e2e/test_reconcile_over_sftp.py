"""Reconciling over a real OpenSSH server: lists are read there, the report goes there, analysts' words come back."""

from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import openpyxl
import pytest
from flows.audit_room import ASNS, RECEIPTS
from support.sandbox_process import RunningSandbox
from support.sftp_servers import RunningSshd, openssh_server
from support.workspace import Workspace

__all__ = ["openssh_server"]

JOB = """\
kind: reconcile
window: {{by: delivery, from: -7d, to: +1d}}
receipts: {{sftp: bhiwandi, path: {root}/docks, pattern: ["*.csv"], mapping: receipts}}
results: {{sftp: bhiwandi, path: {root}/reports}}
previous: results
"""


@pytest.fixture
def nights(workspace: Workspace, openssh_server: RunningSshd) -> Workspace:
    """A workspace whose job `audit` reads and writes on the SSH server."""
    for folder in ("docks", "reports"):
        (openssh_server.root / folder).mkdir()
    workspace.sftp("bhiwandi", openssh_server)
    workspace.mapping("asns", ASNS)
    workspace.mapping("receipts", RECEIPTS)
    workspace.job("audit", JOB.format(root=openssh_server.root))
    return workspace


def night(nights: Workspace, on: date) -> dict[str, dict[str, str]]:
    """One night's report: the exceptions by invoice number."""
    done = nights.run("run", "audit", "--business-date", on.isoformat(), "--json")
    assert done.code in (0, 3), done.err + done.out
    return {one["invoice_number"]: one for one in done.json["exceptions"]}


def analyst_writes(workbook: Path, invoice: str, **entries: object) -> None:
    """What an analyst writes beside an exception, into the workbook on the server."""
    book = openpyxl.load_workbook(workbook)
    titles, *rows = book["Exceptions"].iter_rows()
    places = {str(cell.value): place for place, cell in enumerate(titles)}
    [row] = [row for row in rows if row[places["Invoice number"]].value == invoice]
    for title, value in entries.items():
        row[places[title]].value = value
    book.save(workbook)


@pytest.mark.real
def test_two_nights_on_a_real_server(nights: Workspace, openssh_server: RunningSshd, sandbox: RunningSandbox) -> None:
    today = datetime.now(ZoneInfo("Asia/Kolkata")).date()
    due, tomorrow = today - timedelta(days=3), today + timedelta(days=1)
    rows = [f"Acme,Bhiwandi,{invoice},{due},W,10,5.00" for invoice in ("I1", "I2", "I3")]
    asns = nights.root / "asns.csv"
    asns.write_text("\n".join(["Supplier,Site,Invoice,Due,SKU,Qty,Rate", *rows, ""]))
    pushed = nights.run("push", str(asns), "--mapping", "asns")
    assert pushed.code == 0, pushed.err
    docks, reports = openssh_server.root / "docks", openssh_server.root / "reports"
    (docks / "monday.csv").write_text(
        f"Invoice,SKU,Received,Condition,Date\nI1,W,10,,{due}\nI2,W,8,,{due}\nI3,W,9,,{due}\n"
    )
    first = night(nights, today)
    assert {invoice: one["code"] for invoice, one in first.items()} == {"I2": "SHORT", "I3": "SHORT"}
    told = nights.run("runs", "show", "audit").out
    assert "exit 3: exceptions were found" in told and f"audit: exceptions were found ({today})" in told
    assert "drop" not in told.partition("Next:")[2]
    papers = {"reconciliation.xlsx", "reconciliation.html", "reconciliation.csv", "reconciliation.json"}
    assert papers <= {path.name for path in reports.iterdir()}
    analyst_writes(reports / "reconciliation.xlsx", "I2", Owner="Meera", Status="Accepted", Comment="lorry was full")
    analyst_writes(reports / "reconciliation.xlsx", "I3", Owner="Ravi", Comment=due)
    (docks / "tuesday.csv").write_text(f"Invoice,SKU,Received,Condition,Date\nI3,W,1,,{due}\n")
    second = night(nights, tomorrow)
    assert second == {}
    book = openpyxl.load_workbook(reports / "reconciliation.xlsx")
    accepted = {title.value: cell.value for title, cell in zip(*book["Accepted"].iter_rows(max_row=2), strict=True)}
    assert (accepted["Invoice number"], accepted["Owner"], accepted["Comment"]) == ("I2", "Meera", "lorry was full")
    resolved = {title.value: cell.value for title, cell in zip(*book["Resolved"].iter_rows(max_row=2), strict=True)}
    assert (resolved["Invoice number"], resolved["Owner"]) == ("I3", "Ravi")
    assert resolved["Comment"] == due.isoformat()
    assert len(list((reports / "earlier").iterdir())) == 1, "the workbook that was written in is kept"
