"""The whole reconciliation: files really pushed, a service that misbehaves, receipts, four papers, an exit code."""

import csv
import gzip
import io
import json
import zipfile
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import openpyxl
import pytest
from flows.asn_service import record
from flows.audit_room import audit_room

from logistics_batch.errors import FileHeld, KeyRefused, StoreError, UsageError
from logistics_batch.flows.push.push import push_by_hand
from logistics_batch.flows.reconcile import gather as reconcile_gather
from logistics_batch.flows.reconcile.reconcile import ListPlan, ReconcilePlan, plan_of_job, run_reconcile
from logistics_batch.model.jobs.job import JobPlace, Lists, ReconcileJob, Tolerance


@pytest.fixture
def drawn() -> None:
    """Workbook and page are drawn for tests that ask for this, and left blank for others."""


@pytest.fixture(autouse=True)
def papers(request: pytest.FixtureRequest) -> None:
    if "drawn" not in request.fixturenames:
        request.getfixturevalue("papers_left_blank")


TODAY = date(2026, 11, 5)
HEADER = "Supplier,Site,Invoice,Due,SKU,Qty,Rate"
RECEIPTS_HEADER = "Invoice,SKU,Received,Condition,Date"


def asn_row(invoice: str, sku: str, qty: str, *, due: str = "2026-11-02", rate: str = "5.00") -> str:
    return f"Acme,Bhiwandi,{invoice},{due},{sku},{qty},{rate}"


def push(parts, tmp_path: Path, *rows: str, name: str = "asn.csv") -> None:
    path = tmp_path / name
    path.write_text("\n".join([HEADER, *rows, ""]))
    push_by_hand(parts, [path], mapping="asns", results=None, dry_run=False)


def receipts(tmp_path: Path, *rows: str, name: str = "receipts.csv") -> Path:
    path = tmp_path / name
    path.write_text("\n".join([RECEIPTS_HEADER, *rows, ""]))
    return path


def plan(tmp_path: Path, **changes) -> ReconcilePlan:
    usual = {
        "by": "delivery",
        "date_from": date(2026, 11, 1),
        "date_to": date(2026, 11, 8),
        "business_date": TODAY,
        "output": tmp_path / "out",
    }
    return ReconcilePlan(**(usual | changes))


def with_receipts(tmp_path: Path, *rows: str, **changes) -> ReconcilePlan:
    return plan(tmp_path, receipts=ListPlan(receipts(tmp_path, *rows), "receipts"), **changes)


def found(report) -> list[tuple[str, str, str]]:
    return sorted((one["code"], one["invoice_number"], one["sku_name"]) for one in report.document["exceptions"])


def test_what_was_announced_served_and_received_alike_has_no_exceptions(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I1", "V", "4"), asn_row("I2", "W", "7"))
    report = run_reconcile(parts, with_receipts(tmp_path, "I1,W,10,,2026-11-02", "I1,V,4,good,", "I2,W,7,,"))
    assert (report.exit_code, report.complete, report.counts) == (0, True, {"matched": 3})
    assert [path.name for path in report.files] == [
        f"reconciliation.{kind}" for kind in ("xlsx", "html", "csv", "json")
    ]


def test_each_kind_of_difference_is_found_with_its_row_and_worth(parts, service, tmp_path):
    push(
        parts,
        tmp_path,
        asn_row("I-SHORT", "W", "10"),
        asn_row("I-OVER", "W", "10"),
        asn_row("I-SWAP", "W", "10"),
        asn_row("I-LOST", "W", "10"),
        asn_row("I-NEVER", "W", "10"),
        asn_row("I-PRICE", "W", "10"),
        asn_row("I-BAD", "W", "ten"),
    )
    gone = next(one for one in service.records if one["invoice_number"] == "I-LOST")
    service.records.remove(gone)
    dear = next(one for one in service.records if one["invoice_number"] == "I-PRICE")
    dear["sku_lines"][0]["price_per_qty"] = "6.00"
    service.records.append(record(7, "I-ALIEN", ("W", "3", "2.00")))
    report = run_reconcile(
        parts,
        with_receipts(
            tmp_path,
            "I-SHORT,W,7,,",
            "I-OVER,W,12,,",
            "I-SWAP,X,10,,",
            "I-LOST,W,10,,",
            "I-PRICE,W,9,,",
            "I-PRICE,W,1,damaged,",
            "I-STRAY,W,2,,",
        ),
    )
    assert found(report) == [
        ("DAMAGED", "I-PRICE", "W"),
        ("MISSING_IN_SERVICE", "I-LOST", "W"),
        ("NOT_RECEIVED", "I-NEVER", "W"),
        ("NOT_SENT", "I-BAD", "W"),
        ("NO_ASN", "I-STRAY", "W"),
        ("OVER", "I-OVER", "W"),
        ("SHORT", "I-SHORT", "W"),
        ("UNEXPECTED_IN_SERVICE", "I-ALIEN", "W"),
        ("WRONG_SKU", "I-SWAP", "W"),
    ]
    assert report.exit_code == 3
    by_code = {one["code"]: one for one in report.document["exceptions"]}
    assert (by_code["SHORT"]["impact_inr"], by_code["SHORT"]["qty_delta"]) == ("15.00", "-3")
    assert (by_code["SHORT"]["file_name"], by_code["SHORT"]["rows"]) == ("asn.csv", "2")
    assert (by_code["SHORT"]["receipt_file"], by_code["SHORT"]["receipt_rows"]) == ("receipts.csv", "2")
    assert by_code["WRONG_SKU"]["found_sku"] == "X"
    assert (by_code["NOT_SENT"]["supplier"], by_code["NOT_SENT"]["site"]) == ("Acme", "Bhiwandi")
    assert by_code["NOT_SENT"]["rows"] == "8" and "not a whole number" in by_code["NOT_SENT"]["reason"]


@pytest.mark.parametrize("left", [0, 2])
def test_an_answer_with_nothing_of_ours_is_doubted_and_nothing_is_called_missing(parts, service, tmp_path, left):
    push(parts, tmp_path, *(asn_row(f"I{nth}", "W", "10") for nth in range(1, 4)))
    service.records[left:] = []
    for one in service.records:
        one["invoice_number"] = "0.35"
    report = run_reconcile(parts, plan(tmp_path))
    assert (report.exit_code, report.complete) == (4, False)
    assert "none of the 3 that it accepted in this range" in report.doubts[0]
    assert not {"MISSING_IN_SERVICE"} & {code for code, *_ in found(report)}


def test_a_search_that_shows_only_other_invoice_numbers_is_doubted(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "10"))
    service.records.pop()
    service.envelope = lambda shown, count: {
        "count": 1,
        "result": shown or [record(9, "Z9", ("W", "1"), day="2026-12-02")],
    }
    report = run_reconcile(parts, plan(tmp_path))
    assert report.exit_code == 4 and 'only ASNs with other numbers (the first: "Z9")' in report.doubts[0]


@pytest.mark.parametrize("cap", [10, None])
def test_an_answer_is_doubted_where_more_days_have_no_more_though_some_lie_there(parts, service, tmp_path, cap):
    push(parts, tmp_path, *(asn_row(f"I{nth}", "W", "10") for nth in range(8)))
    service.true_count, service.cap = False, cap
    service.records += [record(nth, f"A{nth}", ("W", "1")) for nth in (1, 2)]
    service.records += [record(nth, f"A{nth}", ("W", "1"), day="2026-11-10") for nth in (3, 4, 5)]
    report = run_reconcile(parts, plan(tmp_path))
    assert report.exit_code == (4 if cap else 3)
    assert ["the service sends no more than 10 ASNs either" in doubt for doubt in report.doubts] == [True] * bool(cap)


def test_the_four_papers_tell_the_same(drawn, parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "10"))
    report = run_reconcile(parts, with_receipts(tmp_path, "I1,W,4,,"))
    told = json.loads((tmp_path / "out" / "reconciliation.json").read_bytes())
    assert told == report.document
    assert told["window"] == {"by": "delivery", "from": "2026-11-01", "to": "2026-11-08", "timezone": "Asia/Kolkata"}
    assert told["complete"] is True and told["totals"]["impact_inr"] == "80.00"
    ids = [one["exception_id"] for one in told["exceptions"]]
    text = (tmp_path / "out" / "reconciliation.csv").read_text(encoding="utf-8-sig")
    assert [line["exception_id"] for line in csv.DictReader(io.StringIO(text))] == ids
    sheet = openpyxl.load_workbook(tmp_path / "out" / "reconciliation.xlsx")["Exceptions"]
    heads = [cell.value for cell in sheet[1]]
    assert [row[heads.index("exception_id")].value for row in sheet.iter_rows(min_row=2)] == ids
    page = (tmp_path / "out" / "reconciliation.html").read_text()
    assert all(one in page for one in ids) and "the report itself is complete" in page


def test_tolerance_grace_and_claim_window_of_a_plan_are_kept_and_a_wrong_tolerance_refused(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "100"), asn_row("I2", "W", "10"))
    came = "I1,W,98,,"
    report = run_reconcile(parts, with_receipts(tmp_path, came, "I2,W,10,,", tolerance={"SHORT": Tolerance(units=2)}))
    assert (report.exit_code, report.counts) == (0, {"within tolerance": 1, "matched": 1})
    for days, judged in ((2, "NOT_RECEIVED"), (3, "too early")):
        limits = {"SHORT": Tolerance(units=2), "NOT_RECEIVED": Tolerance(days=days)}
        report = run_reconcile(parts, with_receipts(tmp_path, came, tolerance=limits))
        assert report.counts == {"within tolerance": 1, judged: 1}
    report = run_reconcile(parts, with_receipts(tmp_path, came, "I2,W,10,,", claim_days=9))
    (line,) = report.document["exceptions"]
    assert (line["claim_until"], line["claim_days_left"]) == ("2026-11-11", 6)
    with pytest.raises(UsageError, match='class "NO_ASN" has no tolerance'):
        run_reconcile(parts, plan(tmp_path, tolerance={"NO_ASN": Tolerance(units=2)}))
    with pytest.raises(UsageError, match="not measured in rupees"):
        run_reconcile(parts, plan(tmp_path, tolerance={"SHORT": Tolerance(amount="1.00")}))


def test_an_asn_whose_date_was_moved_at_the_service_is_not_called_missing(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    service.records[0]["delivery_date"] = "2026-12-24"
    report = run_reconcile(parts, plan(tmp_path))
    assert found(report) == [("HEADER_DIFF", "I1", "")]
    assert "2026-12-24" in report.document["exceptions"][0]["reason"]


def test_an_asn_without_a_delivery_date_is_judged_when_it_was_announced(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10", due=""))
    report = run_reconcile(parts, with_receipts(tmp_path, "I9,V,1,,"))
    assert found(report) == [("NO_ASN", "I9", "V"), ("UNVERIFIABLE", "I1", "W")]


def test_an_asn_that_an_update_moved_into_the_range_is_missed_there(service, tmp_path):
    with audit_room(tmp_path, url=service.url, updates=True) as parts:
        push(parts, tmp_path, asn_row("I1", "W", "10", due="2026-11-25"))
        moved = tmp_path / "moved.csv"
        moved.write_text(f"{HEADER}\n{asn_row('I1', 'W', '10')}\n")
        push_by_hand(parts, [moved], mapping="updates", results=None, dry_run=False)
        assert service.records.pop()["delivery_date"] == "2026-11-02"
        assert found(run_reconcile(parts, plan(tmp_path))) == [("MISSING_IN_SERVICE", "I1", "W")]


def test_what_was_not_searched_is_not_called_missing(parts, service, tmp_path, monkeypatch):
    push(parts, tmp_path, *(asn_row(f"I{nth}", "W", "10") for nth in range(3)))
    moved = [one for one in service.records if one["invoice_number"] in ("I0", "I1")]
    for one in moved:
        one["delivery_date"] = "2026-12-24"
    monkeypatch.setattr(reconcile_gather, "SEARCHED_BY_INVOICE", 1)
    report = run_reconcile(parts, plan(tmp_path))
    assert sorted(found(report)) == [("HEADER_DIFF", "I0", ""), ("UNVERIFIABLE", "I1", "W")]
    assert (
        "1 invoice numbers that the range does not show were not searched one by one (the first: I1)." in report.doubts
    )


def test_what_the_range_and_a_search_both_show_counts_once(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), "Zeta,Bhiwandi,I1,2026-11-02,W,20,5.00")
    service.records[1]["delivery_date"] = "2026-12-24"
    report = run_reconcile(parts, plan(tmp_path))  # the search for Zeta's I1 shows Acme's again
    assert found(report) == [("HEADER_DIFF", "I1", "")]


def test_a_cut_answer_brands_the_report_and_proves_no_absence(drawn, parts, service, tmp_path):
    push(parts, tmp_path, *(asn_row(f"I{nth}", "W", "10") for nth in range(5)))
    service.cap = 3
    service.envelope = lambda shown, count: {"count": count, "result": shown[:1] if count == 1 else shown}
    service.records = [one for one in service.records if one["invoice_number"] != "I4"]
    report = run_reconcile(parts, plan(tmp_path))
    assert (report.exit_code, report.complete) == (4, False)
    assert any("the service names 4 ASNs and sent 3" in doubt for doubt in report.doubts)
    assert found(report) == [("UNVERIFIABLE", "I4", "W")]
    book = openpyxl.load_workbook(tmp_path / "out" / "reconciliation.xlsx")
    assert book["Summary"]["A6"].value.startswith("MAY BE INCOMPLETE")
    assert book["Summary"]["A6"].fill.fgColor.rgb == "FFC0392B"
    assert "MAY BE INCOMPLETE" in (tmp_path / "out" / "reconciliation.html").read_text()


def test_nothing_to_report_still_gives_a_report(drawn, parts, service, tmp_path):
    report = run_reconcile(parts, plan(tmp_path))
    assert (report.exit_code, report.counts) == (0, {})
    book = openpyxl.load_workbook(tmp_path / "out" / "reconciliation.xlsx")
    assert book["Exceptions"]["A2"].value == "0 exceptions, 0 lines checked."
    assert json.loads((tmp_path / "out" / "reconciliation.json").read_bytes())["exceptions"] == []


def test_receipts_rows_that_cannot_be_read_make_the_report_incomplete(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    report = run_reconcile(parts, with_receipts(tmp_path, "I1,W,10,,", "I1,W,some,,"))
    assert report.exit_code == 4
    assert "receipts.csv: 1 row could not be read" in report.doubts[0] and "C3" in report.doubts[0]


def test_each_receipts_row_that_cannot_be_read_is_listed_with_its_cell_and_what_to_write(
    drawn, parts, service, tmp_path
):
    push(parts, tmp_path, asn_row("I1", "W", "120"))
    report = run_reconcile(parts, with_receipts(tmp_path, "I1,W,12O,,", *(f"X{nth},V,1O,," for nth in range(9))))
    listed = report.document["receipt_rows_not_read"]
    assert len(listed) == 10 and (listed[0]["invoice_number"], listed[0]["sku_name"]) == ("I1", "W")
    told = 'C2 "12O": The letter "O" stands among the digits: is it a 0? Write digits only'
    spot = f"receipts.csv row 2, cell {told}"
    assert listed[0]["spot"].startswith(spot) and spot in report.document["exceptions"][0]["reason"]
    assert told in report.doubts[0]
    sheet = openpyxl.load_workbook(tmp_path / "out" / "reconciliation.xlsx")["Receipt rows not read"]
    assert sheet.max_row == 11 and [cell.value for cell in sheet[2]][-1] == listed[0]["spot"]


def test_goods_of_a_day_that_has_not_come_yet_are_not_received(parts, service, tmp_path):
    push(parts, tmp_path, *(asn_row(invoice, "W", "10", due="2026-11-03") for invoice in ("I1", "I2")))
    today = max(TODAY, parts.clock.now().date())
    rows = [f"I{nth},W,10,,{today + timedelta(days=nth - 1)}" for nth in (1, 2)]
    report = run_reconcile(parts, with_receipts(tmp_path, *rows))
    assert found(report) == [("UNVERIFIABLE", "I2", "W")]
    to_come = f'receipts.csv row 3, received date "{today + timedelta(days=1)}": this day has not come yet'
    assert to_come in report.document["exceptions"][0]["reason"]
    assert to_come in report.doubts[0]


def test_a_receipts_row_that_cannot_be_read_claims_nothing_on_its_line(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "10"), asn_row("I3", "W", "10"))
    rows = ("I1,W,10 pcs,,", "I2,W,12,,", "I2,W,-2,,", "I3,W,10,,", "I3,Sub Total,30,,")
    report = run_reconcile(parts, with_receipts(tmp_path, *rows))
    assert found(report) == [("UNVERIFIABLE", "I1", "W")]
    [line] = report.document["exceptions"]
    assert line["impact_inr"] is None
    assert 'receipts.csv row 2, cell C2 "10 pcs": Behind the number stands "pcs"' in line["reason"]
    assert (report.exit_code, report.counts["matched"]) == (4, 2)


def test_rows_that_were_never_sent_show_what_can_be_read_of_them_dearest_first(parts, service, tmp_path):
    rows = (asn_row("D1", "W", "10.5"), asn_row("D1", "V", "5", rate="100.00"), asn_row("D2", "U", "10", rate="$12"))
    push(parts, tmp_path, *rows, asn_row("D3", "W", "9"))
    service.records[0]["sku_lines"][0]["qty"] = "6"
    told = run_reconcile(parts, plan(tmp_path)).document["exceptions"]
    seen = [(one["code"], one["sku_name"], one["qty_affected"], one["impact_inr"], one["due_date"]) for one in told]
    assert seen == [
        ("NOT_SENT", "V", "5", "500.00", "2026-11-02"),
        ("SHORT", "W", "3", "15.00", "2026-11-02"),
        ("NOT_SENT", "W", None, None, "2026-11-02"),
        ("NOT_SENT", "U", "10", None, "2026-11-02"),
    ]
    assert {one["bucket"] for one in told} == {"2-3"}


def test_a_row_that_is_dropped_again_until_it_is_right_is_at_stake_once(parts, service, tmp_path):
    bad, again = asn_row("I1", "W", "10", due="soon"), asn_row("I1", "W", "12", due="soon")
    for name, rows in (("a.csv", (bad, bad)), ("b.csv", (asn_row("I2", "V", "1"), bad)), ("c.csv", (again,))):
        push(parts, tmp_path, *rows, name=name)
    told = run_reconcile(parts, plan(tmp_path)).document["exceptions"]
    unsent = {(one["file_name"], one["rows"]): one for one in told if one["code"] == "NOT_SENT"}
    assert {place: one["impact_inr"] for place, one in unsent.items()} == {
        ("b.csv", "3"): "50.00",
        ("a.csv", "3"): "50.00",  # two rows alike in one file may be two pallets
        ("c.csv", "2"): "60.00",  # another quantity
    }
    assert "a.csv row 2" in unsent["b.csv", "3"]["reason"]
    assert "before" not in unsent["a.csv", "3"]["reason"]


@pytest.mark.parametrize(("days_after", "listed"), [(7, True), (8, False)])
def test_rows_never_sent_are_listed_of_files_that_came_up_to_a_week_around_the_range(
    parts, service, tmp_path, days_after, listed
):
    push(parts, tmp_path, asn_row("I-BAD", "W", "ten"))  # today, the 5th
    last, first = TODAY - timedelta(days=days_after), TODAY + timedelta(days=days_after)
    for window in ({"date_from": last, "date_to": last}, {"date_from": first, "date_to": first}):
        report = run_reconcile(parts, plan(tmp_path, **window))
        assert found(report) == ([("NOT_SENT", "I-BAD", "W")] if listed else [])


def test_a_row_never_sent_is_listed_when_it_is_due_however_early_it_was_announced(parts, service, tmp_path):
    push(parts, tmp_path, "Acme,Bhiwandi,I-BAD,2026-12-20,W,ten,5.00", "Acme,Bhiwandi,I-BAD,2026-12-20,V,5,100.00")
    due = plan(tmp_path, date_from=date(2026, 12, 18), date_to=date(2026, 12, 21))
    assert sorted(found(run_reconcile(parts, due))) == [("NOT_SENT", "I-BAD", "V"), ("NOT_SENT", "I-BAD", "W")]
    later = plan(tmp_path, date_from=date(2026, 12, 21), date_to=date(2026, 12, 22))
    assert found(run_reconcile(parts, later)) == []


def test_receipts_come_from_a_folder_and_repeat_nothing(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "5"))
    drop = tmp_path / "receipts"
    drop.mkdir()
    receipts(drop, "I1,W,10,,2026-11-02", name="monday.csv")
    receipts(drop, "I1,W,10,,2026-11-02", "I2,W,5,,2026-11-03", name="tuesday.csv")
    receipts(drop, "I1,W,99,,2026-11-02", name="notes.txt")
    (drop / "~$monday.csv").write_text("x")
    source = Lists(folder=str(drop), path="/", pattern=("*.csv",), mapping="receipts")
    report = run_reconcile(parts, plan(tmp_path, receipts=ListPlan(place=source)))
    assert (report.exit_code, report.counts) == (0, {"matched": 2})
    assert "1 line is left out;" in " ".join(report.notes)


def packed(path: Path, **lists: tuple[str, ...]) -> Path:
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, rows in lists.items():
            archive.writestr(f"lists/{name}.csv", "\n".join([RECEIPTS_HEADER, *rows, ""]))
    return path


def test_receipts_come_in_archives_and_repeat_nothing(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "5"), asn_row("I3", "W", "2"))
    drop = tmp_path / "receipts"
    packed(drop / "monday.zip", day=("I1,W,10,,2026-11-02",))
    packed(drop / "tuesday.zip", day=("I1,W,10,,2026-11-02", "I2,W,5,,2026-11-03"), late=("I3,W,2,,2026-11-04",))
    (drop / "wednesday.csv.gz").write_bytes(gzip.compress(f"{RECEIPTS_HEADER}\nI3,W,2,,2026-11-04\n".encode()))
    source = Lists(folder=str(drop), path="/", pattern=("*",), mapping="receipts")
    report = run_reconcile(parts, plan(tmp_path, receipts=ListPlan(place=source)))
    assert (report.exit_code, report.counts) == (0, {"matched": 3})
    assert "2 lines are left out;" in " ".join(report.notes)


def test_a_file_in_an_archive_of_receipts_that_cannot_be_read_makes_the_report_incomplete(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    path = packed(tmp_path / "receipts.zip", good=("I1,W,10,,",))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("scan.pdf", b"%PDF-1.7")
    report = run_reconcile(parts, plan(tmp_path, receipts=ListPlan(path, "receipts")))
    assert (report.exit_code, report.counts) == (4, {"matched": 1})
    assert "receipts.zip/scan.pdf" in report.doubts[0]


def test_no_receipts_file_is_not_nothing_received(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    (tmp_path / "receipts").mkdir()
    source = Lists(folder=str(tmp_path / "receipts"), path="/", pattern=("*.csv",), mapping="receipts")
    report = run_reconcile(parts, plan(tmp_path, receipts=ListPlan(place=source)))
    assert (report.exit_code, report.counts) == (4, {"matched": 1})
    assert "No receipts file" in report.doubts[0]
    nowhere = Lists(folder=str(tmp_path / "nowhere"), path="/", pattern=("*.csv",), mapping="receipts")
    with pytest.raises(StoreError):
        run_reconcile(parts, plan(tmp_path, receipts=ListPlan(place=nowhere)))


def test_receipts_that_cannot_be_used_are_refused_before_anything_is_written(parts, service, tmp_path):
    with pytest.raises(UsageError, match="no receipts file"):
        run_reconcile(parts, plan(tmp_path, receipts=ListPlan(tmp_path / "none.csv", "receipts")))
    with pytest.raises(UsageError, match="not for receipts"):
        run_reconcile(parts, plan(tmp_path, receipts=ListPlan(receipts(tmp_path), "asns")))
    with pytest.raises(UsageError, match="not said how"):
        run_reconcile(parts, plan(tmp_path, receipts=ListPlan(receipts(tmp_path))))
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("Colour,Size\nred,7\n")
    with pytest.raises(FileHeld):
        run_reconcile(parts, plan(tmp_path, receipts=ListPlan(wrong, "receipts")))
    assert not (tmp_path / "out").exists()


def test_an_earlier_workbook_with_notes_is_kept(drawn, parts, service, tmp_path):
    place = JobPlace(folder=str(tmp_path / "shared"), path="/reports")
    first = run_reconcile(parts, plan(tmp_path, results=place))
    noted = (tmp_path / "shared" / "reports" / "reconciliation.xlsx").read_bytes()
    run_reconcile(parts, plan(tmp_path, results=place))
    kept = list((tmp_path / "shared" / "reports" / "earlier").iterdir())
    assert [one.read_bytes() for one in kept] == [noted]
    assert len(first.delivered) == 4 and first.delivered[0].endswith("/reports/reconciliation.xlsx")


def test_ids_are_the_same_the_next_night(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "10"))
    monday = run_reconcile(parts, with_receipts(tmp_path, "I1,W,4,,"))
    push(parts, tmp_path, asn_row("I3", "W", "10"), name="asn2.csv")
    tuesday = run_reconcile(parts, with_receipts(tmp_path, "I1,W,4,,", "I3,W,9,,", "I2,W,11,,"))
    ids = [
        {one["invoice_number"]: one["exception_id"] for one in night.document["exceptions"]}
        for night in (monday, tuesday)
    ]
    assert ids[0] == {number: ids[1][number] for number in ids[0]} and len(ids[1]) == 3


def test_the_created_range_overlaps_a_day_and_judges_only_its_own(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    service.records[0]["created_date"] = "2026-11-05T23:59:00+05:30"
    service.records.append(record(7, "I-EVE", ("W", "1"), day="2026-11-04"))
    service.records.append(record(8, "I-UTC", ("W", "1"), day="2026-11-05", created_date="2026-11-04T19:00:00+00:00"))
    report = run_reconcile(parts, plan(tmp_path, by="created", date_from=TODAY, date_to=TODAY))
    assert service.asked[-1]["created_date_start"] == "2026-11-04"
    assert found(report) == [("UNEXPECTED_IN_SERVICE", "I-UTC", "W")]
    assert report.counts == {"UNEXPECTED_IN_SERVICE": 1, "matched": 1, "outside window": 1}


def test_more_in_the_service_than_was_announced_is_said_to_be_so(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    service.records[0]["sku_lines"][0]["qty"] = "12"
    report = run_reconcile(parts, plan(tmp_path))
    assert found(report) == [("OVER", "I1", "W")]
    assert "the service holds 12" in report.document["exceptions"][0]["reason"]


def test_a_refused_key_ends_the_run_in_the_history(parts, service, tmp_path):
    service.answers = [(401, "application/json", b'{"status": "FAIL", "message": "Unauthorized"}')]
    with pytest.raises(KeyRefused):
        run_reconcile(parts, plan(tmp_path))
    [run] = parts.ledger.runs.latest(job="reconcile")
    assert (run.state, run.exit_code, run.kind) == ("stopped", 5, "reconcile")
    assert "API key" in run.stopped


def test_a_lone_end_of_the_range_is_refused_before_the_service_is_asked(parts, service, tmp_path):
    with pytest.raises(UsageError, match="no last day"):
        run_reconcile(parts, plan(tmp_path, date_to=None))
    assert not service.asked and not parts.ledger.runs.latest(job="reconcile")


def test_what_was_sent_and_does_not_come_back_is_said_to_be_not_compared(parts, service, tmp_path):
    mapping = tmp_path / "workspace" / "mappings" / "asns.yaml"
    sums = mapping.read_text().replace("lines:", "  total_price: {from: Rate, read: money}\nlines:")
    mapping.write_text(f"{sums.rstrip()}\n  discount: {{from: Rate, read: money}}\n")
    push(parts, tmp_path, asn_row("I1", "W", "1"), asn_row("I2", "W", "1"))
    del service.records[0]["total_price"], service.records[0]["sku_lines"][0]["discount"]
    report = run_reconcile(parts, plan(tmp_path))
    assert (report.counts, report.complete) == ({"matched": 2}, True)
    words = "or show it in a form that cannot be read, for 1 ASN sent with it; it could not be compared."
    for name in ("total_price", "discounts"):
        assert f"The service's replies lack {name}, {words}" in report.notes


def test_a_job_file_becomes_a_plan():
    job = ReconcileJob.model_validate(
        {
            "kind": "reconcile",
            "name": "nightly",
            "window": {"by": "delivery", "from": "-3d", "to": "+7d"},
            "receipts": {"folder": "drop", "path": "/in/{date}", "mapping": "receipts", "pattern": "*.csv"},
            "tolerance": {"SHORT": {"percent": 1, "units": 2}},
            "claim_days": 45,
            "results": {"path": "/out"},
        }
    )
    made = plan_of_job(job, TODAY)
    assert made.claim_days == 45 and made.tolerance["SHORT"].units == 2
    assert (made.date_from, made.date_to, made.job) == (date(2026, 11, 2), date(2026, 11, 12), "nightly")
    source = made.receipts.place
    assert source is not None and source.path == "/in/2026-11-05" and source.pattern == ("*.csv",)
    assert made.purchase_orders == ListPlan()
    assert made.results.folder == "drop" and made.results.path == "/out"


def test_money_in_the_workbook_is_exact(drawn, parts, service, tmp_path):
    push(parts, tmp_path, *(asn_row(f"I{nth}", "W", "1", rate="0.10") for nth in range(30)))
    report = run_reconcile(parts, with_receipts(tmp_path, "I99,Q,1,,"))
    assert report.document["totals"]["impact_inr"] == "3.00"
    sheet = openpyxl.load_workbook(tmp_path / "out" / "reconciliation.xlsx")["Exceptions"]
    worth = [row[2].value for row in sheet.iter_rows(min_row=2) if row[2].value is not None]
    assert sum(Decimal(str(value)) for value in worth) == Decimal("3.00")


def test_it_is_never_too_early_twice(tmp_path, service):
    with audit_room(tmp_path, url=service.url, at=datetime(2026, 11, 3, 22, tzinfo=ZoneInfo("Asia/Kolkata"))) as parts:
        push(parts, tmp_path, asn_row("I1", "W", "10", due="2026-11-02"))
        early = run_reconcile(parts, with_receipts(tmp_path, "I9,Q,1,,", business_date=date(2026, 11, 3)))
        late = run_reconcile(parts, with_receipts(tmp_path, "I9,Q,1,,", business_date=date(2026, 11, 4)))
    assert early.counts["too early"] == 1 and late.counts["NOT_RECEIVED"] == 1


def test_a_later_version_that_waits_for_a_person_puts_only_its_changes_at_stake(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I1", "X", "4"), asn_row("I1", "Y", "3"))
    push(parts, tmp_path, asn_row("I1", "W", "12"), asn_row("I1", "X", "4", rate="6.50"), name="again.csv")
    report = run_reconcile(parts, plan(tmp_path))
    lines = {one["sku_name"]: one for one in report.document["exceptions"]}
    assert {sku: (one["code"], one["qty_affected"], one["impact_inr"]) for sku, one in lines.items()} == {
        "W": ("NOT_SENT", "2", "10.00"),
        "X": ("NOT_SENT", "0", "6.00"),
    }
    assert "It says 12 instead of 10; it no longer has Y." in lines["W"]["reason"]
    legs = {leg["leg"]: leg for leg in report.document["legs"]}
    assert (legs["announced"]["units"], legs["in service"]["units"]) == ("19.000", "17.000")


# What is left of the version's two pieces is what the accepted version's own line does not call missing or too many.
VERSIONS = [
    ("8", "8", ("SHORT", "2", "10.00"), ("0", "0.00")),
    ("7", "8", ("SHORT", "2", "10.00"), ("1", "5.00")),
    ("8", "6", ("SHORT", "4", "20.00"), ("0", "0.00")),
    ("8", None, ("NOT_RECEIVED", "10", "50.00"), ("0", "0.00")),
    ("8", "10", None, ("2", "10.00")),
    ("8", "12", ("OVER", "2", "10.00"), ("2", "10.00")),
    ("12", "8", ("SHORT", "2", "10.00"), ("2", "10.00")),
    ("12", "12", ("OVER", "2", "10.00"), ("0", "0.00")),
]


def test_pieces_of_a_held_version_that_the_receipts_show_as_well_are_at_stake_once(parts, service, tmp_path):
    push(parts, tmp_path, *(asn_row(f"I{nth}", "W", "10") for nth in range(len(VERSIONS))))
    again = [asn_row(f"I{nth}", "W", version) for nth, (version, *_) in enumerate(VERSIONS)]
    push(parts, tmp_path, *again, name="again.csv")
    received = [f"I{nth},W,{came},," for nth, (_, came, *_) in enumerate(VERSIONS) if came]
    report = run_reconcile(parts, with_receipts(tmp_path, *received))
    for nth, (version, _, own, left) in enumerate(VERSIONS):
        exceptions = [one for one in report.document["exceptions"] if one["invoice_number"] == f"I{nth}"]
        lines = {one["code"]: one for one in exceptions}
        held = lines.pop("NOT_SENT")
        found = [(code, one["qty_affected"], one["impact_inr"]) for code, one in lines.items()]
        assert found == ([] if own is None else [own]), nth
        assert (held["qty_affected"], held["impact_inr"]) == left, nth
        told = abs(10 - int(version)) - int(left[0])
        place = f"asn.csv row {2 + nth}"
        words = f"Not counted again: {told} pieces, which the line of the accepted version ({place}) has as "
        assert (words in held["reason"]) == (told > 0), nth
        assert not told or held["reason"].endswith(f"{own[0]}."), nth


def test_a_sku_that_a_held_version_adds_and_that_came_is_at_stake_once(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I1", "V", "3"), name="again.csv")
    report = run_reconcile(parts, with_receipts(tmp_path, "I1,W,10,,", "I1,V,3,,"))
    lines = {one["code"]: one for one in report.document["exceptions"]}
    assert {code: one["qty_affected"] for code, one in lines.items()} == {"NOT_SENT": "0", "EXTRA_SKU": "3"}
