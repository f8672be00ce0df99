"""Fetching ASNs: is the answer whole, and what is said when it is not."""

import json
import stat
from dataclasses import replace
from datetime import date
from zoneinfo import ZoneInfo

import pytest
from flows.asn_service import record

from logistics_batch.errors import KeyRefused, RunStopped, ServiceMisaddressed, UsageError
from logistics_batch.flows.asns.fetch import asn_range, fetch_asns, fetch_by_invoice
from logistics_batch.flows.reconcile.gather import of_the_range
from logistics_batch.flows.reconcile.notices import Scope

FIRST, LAST = date(2026, 11, 1), date(2026, 11, 8)
TOO_LONG = 1 << 20
WINDOW = asn_range("delivery", FIRST, LAST)


def read_little(parts) -> None:
    parts.client.settings = replace(parts.client.settings, largest_list_bytes=TOO_LONG)


def fill(service, *, days: int, each: int) -> set[int]:
    service.records = [
        record(day * 1000 + nth, f"I-{day}-{nth}", ("W", "1"), day=f"2026-11-{day:02}")
        for day in range(1, days + 1)
        for nth in range(each)
    ]
    return {one["id"] for one in service.records}


def ids(found) -> set[int]:
    assert len(found.records) == len({one["id"] for one in found.records})
    return {one["id"] for one in found.records}


@pytest.mark.parametrize(
    ("by", "first", "last", "message"),
    [
        ("delivery", FIRST, None, "no last day"),
        ("created", None, LAST, "no first day"),
        ("delivery", LAST, FIRST, "ends before it begins"),
        ("received", FIRST, LAST, 'no range by "received"'),
    ],
)
def test_a_range_needs_both_ends_in_order(by, first, last, message):
    with pytest.raises(UsageError, match=message):
        asn_range(by, first, last)


def test_both_ends_are_included_and_one_request_is_enough(parts, service):
    expected = fill(service, days=9, each=1)
    found = fetch_asns(parts, WINDOW)
    assert ids(found) == {number for number in expected if number < 9000}
    assert found.complete and len(service.asked) == 1
    assert service.asked[0] == {"delivery_date_start": "2026-11-01", "delivery_date_end": "2026-11-08"}


@pytest.mark.parametrize("cap", [7, 30, 100])
def test_a_cut_answer_is_fetched_again_in_halves_until_it_is_whole(parts, service, cap):
    expected = fill(service, days=8, each=7)
    service.cap = cap
    found = fetch_asns(parts, WINDOW)
    assert ids(found) == expected and found.complete


def test_a_day_that_stays_short_is_said_to_be_incomplete(parts, service):
    fill(service, days=8, each=7)
    service.cap = 5
    found = fetch_asns(parts, WINDOW)
    assert not found.complete
    assert len(found.records) == 8 * 5
    assert any(
        "2026-11-03 to 2026-11-03, status New: the service names 7 ASNs and sent 5" in note for note in found.notes
    )


def test_a_cut_day_is_completed_by_its_statuses(parts, service):
    expected = fill(service, days=1, each=8)
    for nth, one in enumerate(service.records):
        one["status"] = ("New", "In-Progress", "Completed", "Expired")[nth % 4]
    service.cap = 4
    found = fetch_asns(parts, asn_range("delivery", FIRST, FIRST))
    assert ids(found) == expected and found.complete


@pytest.mark.parametrize("says_count", [True, False])
@pytest.mark.parametrize("cap", [37, 61, 100, 137])
def test_a_hidden_cap_is_found_by_the_halves(parts, service, cap, says_count):
    expected = fill(service, days=8, each=18)
    service.cap, service.says_count, service.true_count = cap, says_count, False
    found = fetch_asns(parts, WINDOW)
    assert ids(found) == expected and found.complete


def test_a_hidden_cap_below_one_day_is_branded(parts, service):
    fill(service, days=8, each=60)
    service.cap, service.true_count = 37, False
    found = fetch_asns(parts, WINDOW)
    assert not found.complete and "an answer with 37 ASNs was seen to be cut" in " ".join(found.notes)


def test_a_round_number_that_was_surpassed_is_no_cap(parts, service):
    fill(service, days=2, each=50)
    service.records += [record(9, "I-9", ("W", "1"), day="2026-11-05")]
    found = fetch_asns(parts, WINDOW)
    # The halves are held against the whole, and nothing else is asked for.
    assert found.complete and len(found.records) == 101 and len(service.asked) == 3


def test_a_next_page_that_the_api_does_not_describe_is_a_doubt(parts, service):
    fill(service, days=1, each=3)
    service.envelope = lambda shown, count: {"count": count, "next": "https://x/?page=2", "result": shown}
    found = fetch_asns(parts, asn_range("delivery", FIRST, FIRST))
    assert not found.complete and "next page" in found.notes[0]


def test_an_answer_too_long_to_be_read_is_fetched_in_pieces(parts, service):
    read_little(parts)
    expected = fill(service, days=8, each=30)
    for one in service.records:
        one["description"] = "x" * (TOO_LONG // 200)
    found = fetch_asns(parts, WINDOW)
    assert ids(found) == expected and found.complete


def test_one_day_that_is_too_long_to_be_read_is_branded(parts, service):
    read_little(parts)
    fill(service, days=1, each=60)
    for one in service.records:
        one["description"] = "x" * (TOO_LONG // 50)
    found = fetch_asns(parts, asn_range("delivery", FIRST, FIRST))
    assert not found.complete and "longer than what is read of one" in " ".join(found.notes)


@pytest.mark.parametrize(
    "envelope",
    [
        lambda shown, count: shown,
        lambda shown, count: {"status": "PASS", "message": {"count": count, "result": shown}},
        lambda shown, count: {"data": {str(one["id"]): one for one in shown}},
    ],
    ids=["bare", "passed", "keyed"],
)
def test_other_envelopes_are_read_too(parts, service, envelope):
    expected = fill(service, days=3, each=3)
    service.envelope = envelope
    assert ids(fetch_asns(parts, WINDOW)) == expected


def test_raw_replies_are_kept_and_private(parts, service):
    fill(service, days=2, each=2)
    found = fetch_asns(parts, WINDOW)
    [kept] = sorted(found.folder.iterdir())
    assert len(json.loads(kept.read_bytes())["result"]) == 4
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and stat.S_IMODE(found.folder.stat().st_mode) == 0o700


def test_a_wrong_key_says_so_after_one_call(parts, service):
    service.answers = [(401, "application/json", b'{"status": "FAIL", "message": "Unauthorized"}')] * 9
    with pytest.raises(KeyRefused, match="status 401"):
        fetch_asns(parts, WINDOW)
    assert len(service.asked) == 1


@pytest.mark.parametrize("status", [200, 404])
def test_a_web_page_is_not_the_service(parts, service, status):
    service.answers = [(status, "text/html", b"<!doctype html><html>Welcome</html>")] * 9
    with pytest.raises(ServiceMisaddressed, match="is not the service"):
        fetch_asns(parts, WINDOW)
    assert len(service.asked) == 1


@pytest.mark.parametrize("status", [502, 503])
def test_a_page_that_a_proxy_shows_meanwhile_is_an_outage(parts, service, status):
    service.answers = [(status, "text/html", b"<!doctype html><html>Maintenance</html>")] * 99
    with pytest.raises(RunStopped, match=f"status {status}") as caught:
        fetch_asns(parts, WINDOW)
    assert not isinstance(caught.value, ServiceMisaddressed) and "later" in caught.value.remedy


def test_the_services_own_no_is_passed_on(parts, service):
    service.answers = [(400, "application/json", b'{"status": "FAIL", "message": "Malformed value"}')]
    with pytest.raises(UsageError, match="Malformed value"):
        fetch_asns(parts, WINDOW)


def test_errors_that_pass_are_asked_again(parts, service):
    expected = fill(service, days=1, each=3)
    service.answers = [
        (500, "application/json", b'{"status": "FAIL", "message": "Unexpected error"}'),
        (429, "application/json", b"{}"),
    ]
    assert ids(fetch_asns(parts, WINDOW)) == expected


def test_errors_that_stay_stop_the_run(parts, service):
    service.answers = [(500, "application/json", b'{"status": "FAIL", "message": "Unexpected error"}')] * 99
    with pytest.raises(RunStopped, match="status 500"):
        fetch_asns(parts, WINDOW)
    assert len(service.asked) == 4 + 11 * 2  # parts of the range might be answered; twelve were tried


BAD_ROW = (500, "application/json", b'{"message": "bad row"}')
NONE_FOUND = (404, "application/json", b'{"status": "FAIL", "message": "No ASN found"}')


def test_a_day_that_is_never_answered_is_told_and_all_others_are_fetched(parts, service):
    expected = fill(service, days=8, each=2)

    def holds_the_third(query):
        return BAD_ROW if query["delivery_date_start"] <= "2026-11-03" <= query["delivery_date_end"] else None

    service.fails = holds_the_third
    found = fetch_asns(parts, WINDOW)
    assert ids(found) == {number for number in expected if number // 1000 != 3} and not found.complete
    assert "delivery 2026-11-03 to 2026-11-03, status New: nothing could be fetched: it answered with status 500" in (
        found.notes
    )
    service.fails = lambda query: None if query.get("status") else holds_the_third(query)
    found = fetch_asns(parts, WINDOW)
    assert ids(found) == expected and not found.complete, "the statuses that are known may not be all there are"


def test_part_of_a_range_for_which_the_service_says_no_is_a_doubt(parts, service):
    expected = fill(service, days=3, each=8)
    service.fails = lambda query: None if _any_in(service, query) else NONE_FOUND
    found = fetch_asns(parts, WINDOW)
    assert ids(found) == expected and not found.complete
    assert any("No ASN found (status 404)" in note for note in found.notes)


def test_a_range_without_asns_is_none_where_the_service_answers_for_more_days(parts, service):
    fill(service, days=1, each=3)  # on the first of November
    quiet = asn_range("delivery", date(2026, 11, 5), date(2026, 11, 7))
    service.fails = lambda query: None if _any_in(service, query) else NONE_FOUND
    found = fetch_asns(parts, quiet)
    assert found.complete and not found.records
    [note] = found.notes
    assert "No ASN found (status 404)" in note and "taken for none" in note


def test_where_nothing_but_not_found_comes_it_cannot_be_told_from_a_wrong_address(parts, service):
    service.fails = lambda query: NONE_FOUND
    found = fetch_asns(parts, WINDOW)
    assert not found.complete and not found.records
    [note] = found.notes
    assert "No ASN found (status 404)" in note and "service.base_url" in note


@pytest.mark.parametrize("parts_too", [False, True], ids=["its parts hold some", "the days around hold some"])
def test_not_found_for_a_range_that_has_asns_is_a_doubt(parts, service, parts_too):
    expected = fill(service, days=3, each=2)

    def fails(query):
        inside = query["delivery_date_start"] >= "2026-11-01" and query["delivery_date_end"] <= "2026-11-08"
        whole = (query["delivery_date_start"], query["delivery_date_end"]) == ("2026-11-01", "2026-11-08")
        return NONE_FOUND if (inside if parts_too else whole) else None

    service.fails = fails
    found = fetch_asns(parts, WINDOW)
    assert not found.complete and ids(found) == (set() if parts_too else expected)
    assert any("it shows 6 of the range" in note or "parts of it hold ASNs" in note for note in found.notes)


def _any_in(service, query) -> bool:
    days = {one["delivery_date"] for one in service.records}
    return any(query["delivery_date_start"] <= day <= query["delivery_date_end"] for day in days)


def test_searches_that_are_not_answered_are_doubts_only_after_another_answer(parts, service):
    fill(service, days=1, each=3)
    service.fails = lambda query: BAD_ROW if query["invoice_number"] == "I-1-1" else None
    found = fetch_by_invoice(parts, ["I-1-0", "I-1-1", "I-1-2"])
    assert ids(found) == {1000, 1002} and not found.complete
    assert found.notes == ("invoice number I-1-1: nothing could be fetched: it answered with status 500",)
    with pytest.raises(RunStopped, match="status 500"):
        fetch_by_invoice(parts, ["I-1-1"])
    assert not fetch_by_invoice(parts, ["I-1-1"], answered=True).complete


def test_after_many_searches_without_an_answer_no_more_are_made(parts, service):
    service.fails = lambda query: BAD_ROW
    service.asked.clear()
    found = fetch_by_invoice(parts, [f"I{nth}" for nth in range(100)], answered=True)
    assert len(service.asked) == 4 + 11 * 2 and not found.complete
    assert found.notes[-1] == "After 12 questions without an answer, 88 more were not asked."


def test_a_key_that_is_refused_halfway_stops_the_run(parts, service):
    service.fails = lambda query: (401, "application/json", b'{"status": "FAIL"}')
    with pytest.raises(KeyRefused):
        fetch_by_invoice(parts, ["I1"], answered=True)


def test_filters_go_along_and_unknown_ones_are_refused(parts, service):
    fill(service, days=1, each=3)
    fetch_asns(parts, WINDOW, {"supplier_name": "Acme", "site": ""})
    assert service.asked[0]["supplier_name"] == "Acme" and "site" not in service.asked[0]
    with pytest.raises(UsageError, match='filtered by "colour"'):
        fetch_asns(parts, WINDOW, {"colour": "red"})
    with pytest.raises(UsageError, match="only by a range of dates or by an invoice number"):
        fetch_asns(parts, None, {"supplier": "7"})


def test_what_the_service_matched_in_part_only_is_left_out_and_counted(parts, service):
    fill(service, days=1, each=3)
    names = ("Bhiwandi", "Bhiwandi 2", "")
    for one, name in zip(service.records, names, strict=True):
        one |= {"site_name": name, "description": "PO 77 urgent"}
    found = fetch_asns(parts, WINDOW, {"site_name": "bhiwandi", "description": "po 77"})
    assert [one["site_name"] for one in found.records] == ["Bhiwandi", ""]  # what is not shown contradicts nothing
    assert found.complete and "1 other ASNs" in found.notes[0]


def test_a_record_without_an_id_that_shows_the_minute_of_the_request_is_one_record(parts, service):
    service.records = [record(number, f"I{number}", ("W", "5")) for number in range(15)]
    requests = iter(range(10_000))

    def changing(shown, _):
        minute = next(requests)
        bare = ({name: value for name, value in one.items() if name != "id"} for one in shown)
        return [one | {"modified_date": f"2026-11-02T10:{minute:02}:00+05:30"} for one in bare]

    service.envelope = changing
    found = fetch_asns(parts, WINDOW)
    assert (len(found.records), found.complete) == (15, True)


def test_records_of_other_dates_than_were_asked_for_are_left_out_and_told(parts, service):
    service.records = [record(1, "I1", ("W", "5")), record(2, "I2", ("W", "5"), delivery_date="2027-01-01")]
    service.envelope = lambda shown, _: service.records
    scope = Scope(WINDOW, ZoneInfo("Asia/Kolkata"))
    found = of_the_range(fetch_asns(parts, scope.wanted), scope)
    assert [one["invoice_number"] for one in found.records] == ["I1"]
    assert "1 ASN that the service returned lies outside the range delivery 2026-11-01 to 2026-11-08" in found.notes[-1]


def test_by_invoice_number(parts, service):
    fill(service, days=3, each=3)
    found = fetch_by_invoice(parts, ["I-1-1", "I-3-0", "I-9-9"])
    assert ids(found) == {1001, 3000} and found.requests == 3


def test_a_process_that_is_to_end_asks_no_more(parts, service):
    fill(service, days=3, each=3)
    parts.stop.set()
    with pytest.raises(RunStopped, match="asked to end"):
        fetch_by_invoice(parts, ["I-1-1", "I-3-0"])
    assert not service.asked


def large_day(service, *, count: int) -> set[int]:
    """One day's ASNs, together far longer than 1 MB."""
    lines = [(f"SKU-{nth:08}", str(nth), "10.00") for nth in range(8)]
    service.records = [
        record(nth, f"I-{nth}", *lines, day="2026-11-03", status="New" if nth % 2 else "In-Progress")
        for nth in range(count)
    ]
    return {one["id"] for one in service.records}


def test_a_day_with_three_thousand_asns_is_whole(parts, service):
    expected = large_day(service, count=3001)
    day = date(2026, 11, 3)
    found = fetch_asns(parts, asn_range("delivery", day, day))
    assert ids(found) == expected
    assert found.complete and not found.notes


def test_a_day_with_a_round_number_of_asns_is_whole_where_the_days_around_show_more(parts, service):
    day = date(2026, 11, 3)
    expected = large_day(service, count=3000)
    for one in service.records:
        one["status"] = "New"
    assert fetch_asns(parts, asn_range("delivery", day, day)).complete
    service.records.append(record(9999, "I-next", ("W", "1"), day="2026-11-04"))
    found = fetch_asns(parts, asn_range("delivery", day, day))
    assert ids(found) == expected
    assert found.complete and not found.notes


def test_the_days_around_show_no_more_of_a_cut_day(parts, service):
    large_day(service, count=300)
    for one in service.records:
        one["status"] = "New"
    service.records.append(record(9999, "I-next", ("W", "1"), day="2026-11-04"))
    service.cap, service.true_count = 200, False
    assert not fetch_asns(parts, asn_range("delivery", date(2026, 11, 3), date(2026, 11, 3))).complete


def one_day(service, *, ours: int, strangers: int, **strange) -> set[int]:
    """Our ASNs of one delivery day, and strangers behind them that a cap of as many hides."""
    day = {"day": "2026-11-03", "created_date": "2026-11-01T10:00:00+05:30"}
    service.records = [record(nth, f"I-{nth}", ("W", "1"), **day) for nth in range(ours)]
    service.records += [record(900 + nth, f"S-{nth}", ("W", "1"), **(day | strange)) for nth in range(strangers)]
    service.cap, service.true_count = ours, False
    return {one["id"] for one in service.records}


@pytest.mark.parametrize(
    "strange", [{"status": "Completed"}, {"created_date": "2026-11-02T09:00:00+05:30"}, {"day": "2026-11-04"}]
)
@pytest.mark.parametrize("cap", [18, 20])
def test_a_cap_of_just_as_many_as_are_ours_is_found_where_a_question_parts_them(parts, service, cap, strange):
    expected = one_day(service, ours=cap, strangers=6, **strange)
    found = fetch_asns(parts, WINDOW)
    assert ids(found) == expected
    assert len(service.asked) < 40


@pytest.mark.parametrize("count", [10, 18, 20, 30, 50, 100])
def test_a_day_of_any_number_that_no_question_parts_is_whole(parts, service, count):
    one_day(service, ours=count, strangers=0)
    found = fetch_asns(parts, WINDOW)
    assert len(found.records) == count and found.complete and not found.notes


@pytest.mark.parametrize(
    "more", [{"total": 64}, {"meta": {"totalCount": 64}}, {"has_more": True}, {"pagination": {"next_cursor": "c2"}}]
)
def test_an_answer_that_says_in_other_words_that_it_is_cut_is_not_whole(parts, service, more):
    fill(service, days=2, each=7)
    service.envelope = lambda shown, count: {"status": "PASS", "message": shown, **more}
    found = fetch_asns(parts, WINDOW)
    assert not found.complete and len(found.records) == 14
    assert any("64 ASNs and sent 7" in note or "more to come" in note for note in found.notes)
