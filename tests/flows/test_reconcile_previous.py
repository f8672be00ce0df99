"""Yesterday's workbook is found where reports go, and comes back; one that cannot be read is told in red."""

from datetime import timedelta
from pathlib import Path

import openpyxl
import pytest
from flows.asn_service import record
from flows.test_reconcile import TODAY, asn_row, push, receipts

from logistics_batch.errors import FileHeld, UsageError
from logistics_batch.flows.reconcile.reconcile import ListPlan, ReconcilePlan, plan_of_job, run_reconcile
from logistics_batch.jobs import parse_job
from logistics_batch.model.jobs.job import JobPlace

pytestmark = pytest.mark.usefixtures("page_left_blank")


def plan(tmp_path: Path, *, night: int = 0, path: str = "/", **changes) -> ReconcilePlan:
    """Two of ten pieces came; the report goes to a folder, and is read back from there."""
    usual = {
        "by": "delivery",
        "date_from": TODAY - timedelta(days=4),
        "date_to": TODAY + timedelta(days=3),
        "business_date": TODAY + timedelta(days=night),
        "receipts": ListPlan(receipts(tmp_path, "I1,W,2,,2026-11-02"), "receipts"),
        "output": tmp_path / f"out{night}",
        "results": JobPlace(folder=str(tmp_path / "reports"), path=path),
        "previous": True,
    }
    return ReconcilePlan(**(usual | changes))


def write(workbook: Path, **entries: str) -> None:
    """An analyst opens the workbook, writes beside the first exception, and saves it where it lies."""
    book = openpyxl.load_workbook(workbook)
    titles = [cell.value for cell in book["Exceptions"][1]]
    for title, text in entries.items():
        book["Exceptions"].cell(2, titles.index(title) + 1, text)
    book.save(workbook)


@pytest.mark.parametrize("path", ["/", "/daily/{date}"])
def test_an_accepted_difference_leaves_the_list_and_the_exit_code(parts, service, tmp_path, path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    first = run_reconcile(parts, plan(tmp_path, path=path))
    assert first.exit_code == 3 and any("every exception counts as new" in note for note in first.notes)
    where = f"{tmp_path}/reports{path}".rstrip("/")
    assert f"No earlier workbook lies in {where}." in first.notes
    [workbook] = (tmp_path / "reports").rglob("reconciliation.xlsx")
    write(workbook, Status="Accepted", Owner="Meera", Comment="agreed with the supplier")
    second = run_reconcile(parts, plan(tmp_path, night=3, path=path))
    assert second.exit_code == 0 and second.document["exceptions"] == []
    [accepted] = second.document["accepted"]
    assert (accepted["owner"], accepted["comment"], accepted["first_seen"]) == (
        "Meera",
        "agreed with the supplier",
        str(TODAY),
    )
    assert [night["exceptions"] for night in second.document["trend"]] == [1, 0]
    assert any(f"Compared with the report of {TODAY}" in note for note in second.notes)


def test_a_workbook_that_cannot_be_read_makes_the_report_doubtful_and_is_kept(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "reconciliation.xlsx").write_bytes(b"PK\x03\x04 cut off")
    report = run_reconcile(parts, plan(tmp_path))
    assert report.exit_code == 4 and not report.complete
    assert "What analysts wrote in it is missing here" in report.doubts[0]
    [kept] = (tmp_path / "reports" / "earlier").iterdir()
    assert kept.read_bytes() == b"PK\x03\x04 cut off"


def test_a_workbook_may_be_named_by_hand(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    run_reconcile(parts, plan(tmp_path, results=None))
    workbook = tmp_path / "out0" / "reconciliation.xlsx"
    write(workbook, Owner="Asha")
    again = run_reconcile(parts, plan(tmp_path, night=1, results=None, previous_path=workbook))
    [line] = again.document["exceptions"]
    assert (line["owner"], line["state"]) == ("Asha", "still open")
    with pytest.raises(UsageError, match="There is no workbook"):
        run_reconcile(parts, plan(tmp_path, previous_path=tmp_path / "none.xlsx"))
    broken = tmp_path / "broken.xlsx"
    broken.write_text("no workbook at all")
    with pytest.raises(FileHeld):
        run_reconcile(parts, plan(tmp_path, previous_path=broken))


def test_a_job_reads_back_from_where_its_reports_go():
    text = "kind: reconcile\nwindow: {by: delivery, from: -3d, to: 7d}\nprevious: results\nresults: {folder: out}\n"
    made = plan_of_job(parse_job(text, name="nightly", path="jobs/nightly.yaml"), TODAY)
    assert made.previous and made.results == JobPlace(folder="out", path="/")


def test_what_the_service_cut_off_is_not_called_resolved(parts, service, tmp_path):
    service.records = [record(7, "UNKNOWN", ("W", "5", "2.00"))]
    run_reconcile(parts, plan(tmp_path, receipts=ListPlan()))
    service.records = [record(number, f"S{number}", ("W", "5")) for number in range(10, 20)]
    service.cap = 2
    report = run_reconcile(parts, plan(tmp_path, night=1, receipts=ListPlan()))
    assert not report.complete and report.exit_code == 4
    assert [one["invoice_number"] for one in report.document["not_checked"]] == ["UNKNOWN"]
    assert report.document["resolved"] == []


def test_rows_that_were_deleted_from_the_workbook_lose_nothing(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    run_reconcile(parts, plan(tmp_path))
    workbook = tmp_path / "reports" / "reconciliation.xlsx"
    write(workbook, Owner="Meera", Comment="asked the carrier")
    run_reconcile(parts, plan(tmp_path, night=1))
    book = openpyxl.load_workbook(workbook)
    book["Exceptions"].delete_rows(2)
    del book["Trend"]
    book.save(workbook)
    third = run_reconcile(parts, plan(tmp_path, night=2))
    [line] = third.document["exceptions"]
    assert (line["owner"], line["comment"], line["state"], line["nights_open"]) == (
        "Meera",
        "asked the carrier",
        "still open",
        3,
    )
    assert [night["exceptions"] for night in third.document["trend"]] == [1, 1, 1]


def test_what_was_accepted_is_remembered_with_its_size_where_the_workbook_is_gone(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    run_reconcile(parts, plan(tmp_path))
    workbook = tmp_path / "reports" / "reconciliation.xlsx"
    write(workbook, Status="Accepted")
    assert run_reconcile(parts, plan(tmp_path, night=1)).exit_code == 0
    workbook.unlink()
    third = run_reconcile(parts, plan(tmp_path, night=2))
    assert third.exit_code == 0 and third.document["accepted"][0]["accepted_as"].startswith("SHORT; units 8;")
    corrected = plan(tmp_path, night=3)
    receipts(tmp_path, "I1,W,1,,2026-11-02")
    fourth = run_reconcile(parts, corrected)
    assert [line["state"] for line in fourth.document["exceptions"]] == ["changed"]


def test_a_list_without_its_heading_makes_the_report_red_and_changes_no_memory(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    run_reconcile(parts, plan(tmp_path))
    workbook = tmp_path / "reports" / "reconciliation.xlsx"
    write(workbook, Status="Accepted")
    book = openpyxl.load_workbook(workbook)
    titles = [cell.value for cell in book["Exceptions"][1]]
    book["Exceptions"].delete_cols(titles.index("exception_id") + 1)
    book.save(workbook)
    second = run_reconcile(parts, plan(tmp_path, night=1))
    assert second.exit_code == 4 and not second.complete
    [doubt] = [one for one in second.doubts if 'Sheet "Exceptions" of the earlier workbook has no heading' in one]
    assert "--previous FILE" in doubt
    assert [line["state"] for line in second.document["exceptions"]] == ["still open"]


def test_notes_beside_an_exception_that_the_ledger_does_not_know_are_told(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    run_reconcile(parts, plan(tmp_path))
    write(tmp_path / "reports" / "reconciliation.xlsx", exception_id="EX-0000", Owner="Meera")
    second = run_reconcile(parts, plan(tmp_path, night=1))
    assert any("Notes beside 1 exception that the ledger does not know stay there (EX-0000)" in n for n in second.notes)


def test_an_older_workbook_accepts_nothing_that_grew_since(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    received = {
        units: ListPlan(receipts(tmp_path, f"I1,W,{units},,2026-11-02", name=f"{units}.csv"), "receipts")
        for units in (8, 5)
    }
    run_reconcile(parts, plan(tmp_path, receipts=received[8]))
    workbook = tmp_path / "reports" / "reconciliation.xlsx"
    write(workbook, Status="Accepted", Comment="breakage")
    older = workbook.read_bytes()
    second = run_reconcile(parts, plan(tmp_path, night=1, receipts=received[5]))
    assert [one["state"] for one in second.document["exceptions"]] == ["changed"]
    workbook.write_bytes(older)  # it was open over night, and was saved in the morning
    third = run_reconcile(parts, plan(tmp_path, night=2, receipts=received[5]))
    [line] = third.document["exceptions"]
    assert (line["state"], line["analyst_status"], line["comment"]) == ("changed", "Open", "breakage")
    assert any("no Status beside what changed after it was accepted" in note for note in third.notes)
    write(workbook, Status="Accepted")
    assert run_reconcile(parts, plan(tmp_path, night=3, receipts=received[5])).exit_code == 0


def test_a_comment_holds_no_character_that_a_database_refuses(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    run_reconcile(parts, plan(tmp_path))
    write(tmp_path / "reports" / "reconciliation.xlsx", Comment="agreed_x0000_ so")
    [line] = run_reconcile(parts, plan(tmp_path, night=1)).document["exceptions"]
    assert line["comment"] == "agreed so"
