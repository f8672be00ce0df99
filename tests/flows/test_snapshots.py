"""Any two nights can be compared, and what the next one needs of receipts and statuses is kept."""

import csv
import json
import stat
from datetime import date

import pytest
from flows.asn_service import record
from flows.test_reconcile import asn_row, found, plan, push, receipts

from logistics_batch.errors import UsageError
from logistics_batch.flows.reconcile.earlier_receipts import known_receipts
from logistics_batch.flows.reconcile.memory import compare_nights
from logistics_batch.flows.reconcile.reconcile import ListPlan, run_reconcile

pytestmark = pytest.mark.usefixtures("papers_left_blank")

MONDAY, TUESDAY = date(2026, 11, 4), date(2026, 11, 5)


def night(parts, tmp_path, day: date, *rows: str, **changes):
    path = receipts(tmp_path, *rows, name=f"receipts-{day}.csv")
    return run_reconcile(parts, plan(tmp_path, business_date=day, receipts=ListPlan(path, "receipts"), **changes))


def test_what_the_next_night_needs_is_kept_private(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "5"))
    report = night(parts, tmp_path, TUESDAY, "I1,W,10,,", "I2,W,4,,")
    kept = parts.files / "reconciliation" / f"2026-11-05_{report.run}"
    assert {path.name for path in kept.iterdir()} == {"snapshot.json", "unread.parquet", "known.parquet"}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert known_receipts(parts, job="", run=report.run, until=TUESDAY).lines["qty"].to_list() == ["10", "4"]


def test_two_nights_are_compared_by_date_or_run(parts, service, tmp_path):
    rows = [asn_row(f"I{nth}", "W", "10") for nth in range(1, 6)]
    push(parts, tmp_path, *rows)
    monday = night(parts, tmp_path, MONDAY, "I1,W,4,,", "I2,W,7,,", "I3,W,8,,", "I4,W,10,,", "I5,W,9,,")
    ours = {one["invoice_number"]: one for one in service.records}
    ours["I1"]["delivery_date"] = "2026-11-03"
    ours["I5"] |= {"invoice_number": "I5-X", "sku_lines": []}
    service.records.append(record(77, "I-NEW", ("Q", "1")))
    night(parts, tmp_path, TUESDAY, "I1,W,10,,", "I2,W,7,,", "I3,W,12,,", "I4,W,3,,", "I5,W,9,,")
    compared = compare_nights(parts, "2026-11-04", "2026-11-05", output=tmp_path / "compared")
    changes = {
        line["invoice_number"]: (line["change"], line["code_first"], line["code_second"])
        for line in compared.exceptions.to_dicts()
        if line["sku_name"] == "W"
    }
    assert changes["I1"] == ("resolved", "SHORT", "")
    assert changes["I2"] == ("still open", "SHORT", "SHORT")
    assert changes["I3"] == ("changed", "SHORT", "OVER")
    assert changes["I4"] == ("new", "", "SHORT")
    assert changes["I5"] == ("changed", "SHORT", "MISSING_IN_SERVICE")
    written = list(csv.DictReader((tmp_path / "compared" / "exceptions.csv").open(encoding="utf-8-sig")))
    assert len(written) == compared.exceptions.height
    document = json.loads((tmp_path / "compared" / "comparison.json").read_text())
    assert document["first"]["run"] == monday.run and document["counts"] == compared.counts


def test_what_the_later_night_did_not_look_at_is_not_called_resolved(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"), asn_row("I2", "W", "10", due="2026-11-04"))
    night(parts, tmp_path, MONDAY, "I1,W,4,,", "I2,W,10,,")
    night(parts, tmp_path, TUESDAY, "I2,W,10,,", date_from=date(2026, 11, 4))
    compared = compare_nights(parts, "2026-11-04", "2026-11-05")
    assert {change: count for change, count in compared.counts.items() if count} == {"not looked at": 1}


def test_a_branded_night_is_said_to_be_so(parts, service, tmp_path):
    push(parts, tmp_path, *(asn_row(f"I{nth}", "W", "10") for nth in range(8)))
    monday = run_reconcile(parts, plan(tmp_path, business_date=MONDAY))
    service.cap = 3
    tuesday = run_reconcile(parts, plan(tmp_path))
    compared = compare_nights(parts, monday.run, tuesday.run)
    assert compared.warnings == (f"The report of {tuesday.run} may be incomplete.",)


def test_a_night_that_was_not_kept_is_refused(parts, service, tmp_path):
    with pytest.raises(UsageError, match='No reconciliation "2026-11-04" is known'):
        compare_nights(parts, "2026-11-04", "2026-11-05")


def test_a_status_that_goes_back_is_noticed_the_next_night(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    service.records[0]["status"] = "Completed"
    assert found(night(parts, tmp_path, MONDAY, "I1,W,10,,")) == []
    service.records[0]["status"] = "New"
    for day in (TUESDAY, date(2026, 11, 6)):
        report = night(parts, tmp_path, day, "I1,W,10,,")
        assert found(report) == [("STATUS_REGRESSION", "I1", "")]
    assert 'The status is "New"; an earlier report saw "Completed".' in report.document["exceptions"][0]["reason"]


def test_files_that_a_power_cut_damaged_stop_nothing_but_their_own_use(parts, service, tmp_path):
    push(parts, tmp_path, asn_row("I1", "W", "10"))
    report = night(parts, tmp_path, MONDAY, "I1,W,9,,")
    home = parts.files / "reconciliation"
    (home / "statuses.parquet").write_bytes(b"")
    (home / f"2026-11-04_{report.run}" / "known.parquet").write_bytes(b"PAR1")
    assert found(night(parts, tmp_path, TUESDAY, "I1,W,9,,")) == [("SHORT", "I1", "W")]
