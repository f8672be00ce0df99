"""Lists of receipts as they are read: which rows are goods, which lists are opened, and what is said of the others."""

import os
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import openpyxl
import pytest
from flows.test_reconcile import asn_row, found, plan, push, receipts

from logistics_batch.errors import FileHeld, UsageError
from logistics_batch.flows.reconcile.goods_list import ReadList
from logistics_batch.flows.reconcile.receipts import RECEIPTS, list_by_hand, list_from
from logistics_batch.flows.reconcile.reconcile import ListPlan, run_reconcile
from logistics_batch.model.jobs.job import Lists

TODAY = date(2026, 11, 5)


def read(parts, tmp_path: Path, *rows: str) -> ReadList:
    path = tmp_path / "r.csv"
    path.write_text("\n".join(["Invoice,SKU,Received,Condition", *rows, ""]), encoding="utf-8")
    return list_by_hand(parts, path, kind=RECEIPTS, mapping="receipts", business_date=TODAY)


@pytest.mark.parametrize("sku", ["TOTAL-500", "Total 1", "total 2.0", "TOTAL-牛", "Total Clean"])
def test_goods_whose_name_contains_the_word_for_a_total_are_goods(parts, tmp_path, sku):
    found = read(parts, tmp_path, f"I1,{sku},10,")
    assert found.lines["sku_name"].to_list() == [sku] and found.notes == ()


def test_a_row_that_is_only_a_total_is_left_out_and_named(parts, tmp_path):
    found = read(parts, tmp_path, "I1,W,10,", "I1,Sub-Total:,10,")
    assert found.lines["row"].to_list() == [2]
    assert found.notes == (
        'r.csv: 1 row left out, whose SKU is only the word for a total (row 3, invoice I1: "Sub-Total:" 10).',
    )


def test_a_list_by_hand_that_cannot_be_read_is_named(parts, tmp_path):
    path = tmp_path / "k.csv"
    path.write_bytes(b"Foo,Bar\n1,2\n")
    with pytest.raises(FileHeld, match=r"^Receipts file k\.csv could not be read: "):
        list_by_hand(parts, path, kind=RECEIPTS, mapping="receipts", business_date=TODAY)


def test_a_list_by_hand_that_was_taken_back_is_refused(parts, tmp_path):
    read(parts, tmp_path, "I1,W,10,")
    (tmp_path / "r.csv.retracted").touch()
    with pytest.raises(UsageError, match=r"was taken back by a file r\.csv\.retracted"):
        list_by_hand(parts, tmp_path / "r.csv", kind=RECEIPTS, mapping="receipts", business_date=TODAY)


def listed(parts, drop: Path) -> ReadList:
    place = Lists(folder=str(drop), path="/", pattern=("*.csv",), mapping="receipts")
    return list_from(parts, place, kind=RECEIPTS, since=TODAY, business_date=TODAY)


def test_a_list_whose_name_is_no_unicode_is_named_and_the_others_are_read(parts, tmp_path):
    drop = tmp_path / "lists"
    drop.mkdir()
    receipts(drop, "I1,W,10,,2026-11-02", name="monday.csv")
    (drop / "monday.csv").rename(drop / os.fsdecode(b"tuesday\xff.csv"))
    receipts(drop, "I1,W,10,,2026-11-02", name="monday.csv")
    told = listed(parts, drop)
    assert told.lines["invoice_number"].to_list() == ["I1"]
    assert (told.complete, told.refused, told.lying) == (False, (r"tuesday\udcff.csv",), {"monday.csv"})
    assert (
        r"tuesday\udcff.csv could not be read, and nothing of it counts: its name is not valid Unicode"
        in told.doubts[0]
    )


def test_a_list_on_which_the_program_fails_is_named_and_the_others_are_read(parts, tmp_path):
    drop = tmp_path / "lists"
    drop.mkdir()
    for name in ("monday.csv", "tuesday.csv"):
        receipts(drop, "I1,W,10,,2026-11-02", name=name)

    def limited(work, *, about, returns=()):
        if about == "tuesday.csv":
            raise RecursionError("98765 43210")
        return parts.limited(work, about=about, returns=returns)

    told = listed(replace(parts, limited=limited), drop)
    assert told.lines.height == 1
    assert (told.complete, told.refused) == (False, ("tuesday.csv",))
    assert "the program itself failed on it (RecursionError)" in told.doubts[0]


def test_a_list_that_was_written_in_a_year_that_no_calendar_has_is_read(parts, tmp_path):
    drop = tmp_path / "lists"
    drop.mkdir()
    receipts(drop, "I1,W,10,,2026-11-02", name="monday.csv")
    os.utime(drop / "monday.csv", (10**12, 10**12))
    assert listed(parts, drop).lines.height == 1


@pytest.mark.parametrize("ending", [".retracted", ".RETRACTED", ".Retracted"])
def test_the_mark_that_takes_a_list_back_may_be_in_capitals(parts, tmp_path, ending):
    drop = tmp_path / "lists"
    drop.mkdir()
    receipts(drop, "I1,W,10,,2026-11-02", name="monday.csv")
    (drop / f"monday.csv{ending}").touch()
    for path in ("/", "/monday.csv"):
        place = Lists(folder=str(drop), path=path, pattern=("*",), mapping="receipts")
        told = list_from(parts, place, kind=RECEIPTS, since=TODAY, business_date=TODAY)
        assert told.lines is None and "took it back: monday.csv." in told.notes[0]


def written(tmp_path: Path, *rows: str, day: date) -> None:
    """A list of receipts that was written on a day."""
    drop = tmp_path / "lists"
    drop.mkdir(exist_ok=True)
    path = receipts(drop, *rows, name=f"r-{day}.csv")
    at = datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo("Asia/Kolkata")).timestamp()
    os.utime(path, (at, at))


def by_modified(parts, tmp_path: Path, service, *, window: date = TODAY):
    """A nightly report on what the service changed today."""
    for one in service.records:
        one["modified_date"] = f"{window}T10:00:00+05:30"
        one["status"] = "Completed"
    place = Lists(folder=str(tmp_path / "lists"), path="/", pattern=("*.csv",), mapping="receipts")
    days = {"date_from": window, "date_to": window, "business_date": window}
    return run_reconcile(parts, plan(tmp_path, by="modified", receipts=ListPlan(place=place), **days))


def test_lists_are_opened_back_to_the_day_when_the_oldest_asn_may_have_come(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10", due="2026-10-10"), asn_row("I2", "W", "5", due="2026-10-10"))
    written(tmp_path, "I1,W,10,,2026-10-08", "OLD,W,3,,2026-10-08", day=date(2026, 10, 8))
    written(tmp_path, "NEW,W,3,,2026-11-04", day=date(2026, 11, 4))
    report = by_modified(parts, tmp_path, service)
    assert found(report) == [("NOT_RECEIVED", "I2", "W"), ("NO_ASN", "NEW", "W")]
    assert report.counts["matched"] == 1 and report.complete
    assert any("Opened besides" in note and "1 list of receipts" in note for note in report.notes)


def test_what_may_stand_in_lists_too_old_to_be_opened_is_not_called_missing(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10", due="2026-06-10"), asn_row("I2", "W", "5", due="2026-06-10"))
    written(tmp_path, "I1,W,10,,2026-06-10", day=date(2026, 6, 10))
    written(tmp_path, "I2,W,5,,2026-11-04", day=date(2026, 11, 4))
    report = by_modified(parts, tmp_path, service)
    assert ("UNVERIFIABLE", "I1", "W") in found(report)
    assert any(note.startswith("Not opened: 1 list of receipts written before 2026-07-") for note in report.notes)
    [line] = [one for one in report.document["exceptions"] if one["invoice_number"] == "I1"]
    assert "older ones, written before 2026-07-" in line["reason"]


@pytest.mark.parametrize("unreadable", [b"PK\x03\x04 cut off", b"Foo,Bar\n1,2\n"], ids=["damaged", "of another layout"])
def test_a_list_that_cannot_be_read_calls_nothing_missing(parts, service, tmp_path, unreadable):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "5"))
    written(tmp_path, "I1,W,10,,2026-11-02", day=date(2026, 11, 4))
    (tmp_path / "lists" / "other.csv").write_bytes(unreadable)
    place = Lists(folder=str(tmp_path / "lists"), path="/", pattern=("*.csv",), mapping="receipts")
    report = run_reconcile(parts, plan(tmp_path, receipts=ListPlan(place=place)))
    assert (report.exit_code, report.counts) == (4, {"UNVERIFIABLE": 1, "matched": 1})
    [line] = report.document["exceptions"]
    assert line["reason"] == "0 of 5 received as far as lists were opened, but other.csv could not be read."
    assert "other.csv could not be read, and nothing of it counts: " in report.doubts[0]


def test_without_one_list_that_can_be_read_no_rate_is_claimed(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "monday.csv").write_bytes(b"Foo,Bar\n1,2\n")
    lists = ListPlan(place=Lists(folder=str(tmp_path / "lists"), path="/", pattern=("*.csv",), mapping="receipts"))
    report = run_reconcile(parts, plan(tmp_path, receipts=lists, purchase_orders=lists))
    assert report.exit_code == 4 and report.document["lists_not_compared"] == ["receipts", "purchase orders"]
    totals = report.document["totals"]
    assert (totals["match_percent_lines"], totals["match_percent_units"], totals["lines_not_compared"]) == (
        None,
        None,
        1,
    )
    assert report.doubts[-1].startswith("Not compared with receipts: 1 line.")
    page = next(path for path in report.files if path.suffix == ".html").read_text()
    assert "NOT COMPARED: receipts and purchase orders" in page and page.count("<dd>not compared</dd>") == 2
    book = openpyxl.load_workbook(next(path for path in report.files if path.suffix == ".xlsx"))
    shown = [cell.value for row in book["Summary"].iter_rows(max_row=20) for cell in row]
    night = dict(zip(*([cell.value for cell in row] for row in book["Trend"].iter_rows(max_row=2)), strict=True))
    assert shown.count("not compared") == 2 and night["Match rate, lines"] is None
