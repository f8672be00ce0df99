"""An ASN that has left the dates is looked at on while an exception of it is open, and settled by what is so."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from flows.test_reconcile import asn_row, found, push, receipts

from logistics_batch.flows.reconcile.reconcile import ListPlan, ReconcilePlan, run_reconcile
from logistics_batch.model.jobs.job import JobPlace

pytestmark = pytest.mark.usefixtures("papers_left_blank")

FIRST, LATER = date(2026, 11, 5), date(2026, 11, 25)


def night(parts, tmp_path: Path, day: date, *rows: str, lists: bool = True, name: str = ""):
    """A report on what is due in the days around; it reads back the last one."""
    path = receipts(tmp_path, *rows, name=name or f"receipts-{day}.csv")
    return run_reconcile(
        parts,
        ReconcilePlan(
            by="delivery",
            date_from=day - timedelta(days=4),
            date_to=day + timedelta(days=3),
            business_date=day,
            receipts=ListPlan(path, "receipts") if lists else ListPlan(),
            output=tmp_path / f"out-{day}",
            results=JobPlace(folder=str(tmp_path / "reports"), path="/"),
            previous=True,
        ),
    )


@pytest.mark.parametrize(
    ("late", "expected"),
    [
        ("I1,W,6,,2026-11-03", []),  # the other six came: settled
        ("I1,W,4,,2026-11-02", [("SHORT", "I1", "W")]),  # the old line again, in a new list
        ("I9,V,1,,", [("NO_ASN", "I9", "V"), ("SHORT", "I1", "W")]),
    ],
)
def test_a_shortage_stays_open_until_the_goods_come(parts, service, tmp_path, late, expected):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    first = night(parts, tmp_path, FIRST, "I1,W,4,,2026-11-02").document["exceptions"]
    service.records[0]["status"] = "Completed"
    second = night(parts, tmp_path, LATER, late)
    assert found(second) == expected
    assert second.document["not_checked"] == []
    assert any("1 invoice number outside the dates" in note for note in second.notes)
    if expected:
        [short] = [one for one in second.document["exceptions"] if one["code"] == "SHORT"]
        assert (short["exception_id"], short["state"], short["qty_affected"]) == (
            first[0]["exception_id"],
            "still open",
            "6",
        )
    else:
        assert [one["invoice_number"] for one in second.document["resolved"]] == ["I1"]


def test_an_asn_that_is_back_in_the_service_and_a_strange_one_that_is_gone_are_resolved(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "7"))
    lost = service.records.pop(0)
    service.add({**lost, "invoice_number": "ALIEN", "id": 99, "sku_lines": [{"sku_name": "V", "qty": "3"}]})
    assert {code for code, *_ in found(night(parts, tmp_path, FIRST, "I1,W,10,,", "I2,W,7,,"))} == {
        "MISSING_IN_SERVICE",
        "UNEXPECTED_IN_SERVICE",
    }
    assert found(night(parts, tmp_path, LATER - timedelta(days=1), "I9,V,1,,"))[0][0] == "MISSING_IN_SERVICE"
    service.records[:] = [
        lost | {"status": "Completed"},
        *(one for one in service.records if one["invoice_number"] != "ALIEN"),
    ]
    second = night(parts, tmp_path, LATER, "I9,V,1,,")
    assert found(second) == [("NO_ASN", "I9", "V")]
    assert sorted(one["invoice_number"] for one in second.document["resolved"]) == ["ALIEN", "I1"]


def test_without_receipts_tonight_nothing_is_said_of_goods(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    night(parts, tmp_path, FIRST, "I1,W,4,,2026-11-02")
    second = night(parts, tmp_path, LATER, lists=False)
    assert [one["invoice_number"] for one in second.document["not_checked"]] == ["I1"]
    assert second.document["resolved"] == []


def test_what_a_report_without_receipts_found_is_not_said_to_have_not_come(parts, service, tmp_path):
    """Its goods came in a list that no report has read."""
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "7"))
    service.records[0]["sku_lines"][0]["price_per_qty"] = "6"
    assert found(night(parts, tmp_path, FIRST, lists=False)) == [("PRICE_VAR", "I1", "W")]
    for day, rows in ((LATER, ["I9,V,1,,"]), (LATER + timedelta(days=1), ["I1,W,4,,", "I9,V,1,,"])):
        report = night(parts, tmp_path, day, *rows, name="receipts.csv")
        assert found(report) == [("NO_ASN", "I9", "V")]
        assert [(one["code"], one["invoice_number"]) for one in report.document["not_checked"]] == [("PRICE_VAR", "I1")]


def test_a_difference_that_is_not_of_goods_is_followed_before_they_are_due(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    service.records[0]["sku_lines"][0]["price_per_qty"] = "6"
    assert found(night(parts, tmp_path, date(2026, 11, 1), "I9,V,1,,"))[-1] == ("PRICE_VAR", "I1", "W")
    service.records[0]["sku_lines"][0]["price_per_qty"] = "5"
    report = night(parts, tmp_path, LATER, "I9,V,1,,", "I1,W,10,,")
    assert [(one["code"], one["invoice_number"]) for one in report.document["resolved"]] == [("PRICE_VAR", "I1")]
