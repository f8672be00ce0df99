"""Whatever shape the service's list has, the same ASNs are found; what is no list is never taken for an empty one."""

import itertools
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from flows.asn_service import AsnService, record
from flows.audit_room import audit_room
from flows.test_reconcile import asn_row, found, plan, push
from support.sandbox_process import RunningSandbox, sandbox_for_a_test

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.flows.reconcile.reconcile import run_reconcile

pytestmark = pytest.mark.usefixtures("papers_left_blank")

ENVELOPES = ("list", "pass", "success", "bare", "results", "data", "by_id")
LINES = tuple(itertools.product(("list", "by_id"), ("sku_lines", "lines", "items")))
PARTIES = ("both", "id", "name", "object")
COUNTS = ("total", "shown", "absent")


@pytest.fixture
def sandbox(tmp_path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.mark.slow
def test_every_shape_of_the_list_gives_the_same_report(sandbox, tmp_path):
    now = datetime.now(ZoneInfo("Asia/Kolkata"))
    days = {"date_from": now.date(), "date_to": now.date() + timedelta(days=1), "business_date": now.date()}
    with audit_room(tmp_path, url=sandbox.url, at=now) as parts:
        push(parts, tmp_path, *(asn_row(f"I{nth}", "W", str(10 + nth), due=now.date().isoformat()) for nth in range(3)))
        # Each form of each part occurs; they are read one after the other, whatever the others look like.
        others = zip(itertools.cycle(LINES), itertools.cycle(PARTIES), itertools.cycle(COUNTS), strict=True)
        for envelope, ((form, key), party, count) in zip(ENVELOPES, others, strict=False):
            sandbox.set_switches(
                asn_envelope=envelope, asn_lines_form=form, asn_lines_key=key, asn_parties=party, asn_count=count
            )
            report = run_reconcile(parts, plan(tmp_path, **days))
            assert (report.complete, report.counts) == (True, {"matched": 3}), (envelope, form, key, party, count)


def test_one_record_alone_is_a_list_of_one(sandbox, tmp_path):
    now = datetime.now(ZoneInfo("Asia/Kolkata"))
    days = {"date_from": now.date(), "date_to": now.date(), "business_date": now.date()}
    with audit_room(tmp_path, url=sandbox.url, at=now) as parts:
        push(parts, tmp_path, asn_row("I1", "W", "10", due=now.date().isoformat()))
        sandbox.set_switches(asn_envelope="single")
        assert run_reconcile(parts, plan(tmp_path, **days)).counts == {"matched": 1}


@pytest.mark.parametrize(
    "answer",
    [
        (200, "application/json", b'{"status": "FAIL", "message": "Something went wrong"}'),
        (200, "application/json", b""),
        (200, "text/html", b"<!doctype html><title>Login</title>"),
        (200, "application/json", b'{"hello": "world"}'),
        (200, "application/json", b'[{"id": 1}, "two"]'),
        (200, "application/json", b'{"count": 1, "result": [{"id": 7'),
    ],
    ids=["FAIL", "empty", "HTML", "no list", "not all records", "cut"],
)
def test_what_is_no_list_is_not_taken_for_nothing(tmp_path, answer):
    service = AsnService()
    try:
        with audit_room(tmp_path, url=service.url) as parts:
            push(parts, tmp_path, asn_row("I1", "W", "10"))
            service.answers = [answer] * 500  # whatever is asked
            with pytest.raises(LogisticsBatchError):
                run_reconcile(parts, plan(tmp_path))
            assert not (tmp_path / "out").exists()
    finally:
        service.stop()


def test_one_search_that_is_never_answered_costs_no_report(parts, service, tmp_path):
    push(parts, tmp_path, *(asn_row(f"I{nth}", "W", "10") for nth in range(4)))
    service.records = [one for one in service.records if one["invoice_number"] != "I2"]
    error = (500, "application/json", b'{"message": "internal error"}')
    service.fails = lambda query: error if query.get("invoice_number") else None
    report = run_reconcile(parts, plan(tmp_path))
    assert found(report) == [("UNVERIFIABLE", "I2", "W")] and report.counts["matched"] == 3
    assert (report.exit_code, report.complete) == (4, False)
    assert "invoice number I2: nothing could be fetched: it answered with status 500" in report.doubts


def test_marks_that_nobody_sees_make_no_difference_and_are_named(parts, service, tmp_path):
    rows = [asn_row("INV-1", "W-1", "10"), asn_row("INV-2", "W-2", "5"), asn_row("INV-3", "W 3", "5")]
    push(parts, tmp_path, *rows, asn_row("INV-4", "W-4", "5"))
    service.records = [
        record(1, "INV-1", ("W-1\u200b", "10", "5.00")),
        record(2, "INV\u00ad-2", ("\ufeffW-2", "5", "5.00")),
        record(3, "INV-3", ("W\u00a03", "5", "5.00")),
        record(4, "INV-4", ({"name": "W\u2060-4"}, "5", "5.00"), supplier_name="Ac\u200bme"),
    ]
    service.asked.clear()
    report = run_reconcile(parts, plan(tmp_path))
    assert (report.exit_code, report.counts) == (0, {"matched": 4})
    assert len(service.asked) == 1, "no invoice number had to be searched by itself"
    [note] = [note for note in report.notes if "nobody sees" in note]
    assert r'("W-1\u200b", "INV\xad-2", "\ufeffW-2" and 1 more)' in note


def test_fields_that_are_objects_or_lists_are_read_as_far_as_they_name_something(parts, service, tmp_path):
    push(parts, tmp_path, *(asn_row(f"INV-{nth}", "W", "10") for nth in (1, 2, 3)))
    odd = {"$date": 5}
    dates = {"delivery_date": {"date": "2026-11-02"}, "modified_date": odd, "created_date": None}
    service.records = [
        record(1, "INV-1", ("W", "10", "5.00"), site_name={"id": 7, "name": "Bhiwandi"}, status={"code": "New"}),
        record(2, "INV-2", ({"name": "W", "id": 3}, {"value": "10"}, "5.00"), supplier_name=["Acme"], total_price=[1]),
        record(
            3, "INV-3", ("W", "10", "5.00"), site_name={"code": "BHI"}, id=odd, batch=["x"], description={}, **dates
        ),
    ]
    report = run_reconcile(parts, plan(tmp_path))
    assert found(report) == [("UNVERIFIABLE", "INV-2", "W")] and report.counts["matched"] == 2
    unread = [note.split(",")[0].rpartition(" ")[2] for note in report.notes]
    assert unread == ["supplier_name", "site_name", "delivery_date"]
