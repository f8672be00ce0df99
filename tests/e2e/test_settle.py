"""What becomes of doubts and of what is held, with a service that behaves in each of the ways it may."""

import csv
import io
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from support.commands import Finished
from support.http_answers import Asked, Service, Told, between
from support.receiver_process import RunningReceiver, event
from support.sandbox_process import RunningSandbox, created, start_sandbox
from support.workspace import ASNS_MAPPING, Workspace, asn_lines, order_lines

from logistics_batch.api.key_print import key_print
from logistics_batch.flows.doubts.settle import settle_due
from logistics_batch.flows.orders.receive_event import read_event
from logistics_batch.flows.parts import Progress
from logistics_batch.ledger import NewEvent, Outcome, ServiceFacts
from logistics_batch.ledger.failures import sqlite3
from logistics_batch.model.issue import Issue
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened


def fates(workspace: Workspace, name: str = "orders") -> dict[str, str]:
    text = (workspace.root / f"reports/{name}.result.csv").read_text("utf-8-sig")
    return {line["document"]: line["fate"] for line in csv.DictReader(io.StringIO(text))}


def doubtful_push(workspace: Workspace, sandbox: RunningSandbox, fault: str, references: list[str]) -> Finished:
    """The last of the orders loses its answer, and nothing is settled yet."""
    sandbox.set_faults([{"endpoint": "order.create", "reference": references[-1], "times": 1, "kind": fault}])
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    done = slow.run("push", workspace.drop("orders.csv", order_lines(references)), "--mapping", "orders")
    Workspace(workspace.root, url=sandbox.url, settle_after="0s")
    assert done.code == 4, done.err
    return done


def cancelled_elsewhere(workspace: Workspace, awb_number: str) -> None:
    """By somebody with the same key and a ledger of their own."""
    other = Workspace(workspace.root.with_name("elsewhere"), url=workspace.url)
    assert other.run("order", "cancel", awb_number).code == 0


def held(workspace: Workspace) -> list[dict[str, str]]:
    found: list[dict[str, str]] = workspace.run("held", "list", "--json").json["held"]
    return found


def decide(workspace: Workspace, *arguments: str) -> Finished:
    return workspace.run("held", "decide", str(held(workspace)[0]["id"]), *arguments, "--reason", "looked it up")


def test_without_a_way_to_ask_a_person_decides_and_nothing_is_sent_again(tmp_path: Path) -> None:
    sandbox = start_sandbox(tmp_path, order_id_reading="id")
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        doubtful_push(workspace, sandbox, "drop_before", ["A", "B"])
        settled = workspace.run("settle", "--wait")
        assert settled.code == 4
        assert fates(workspace) == {"A": "accepted", "B": "held"}
        assert len(sandbox.received("order.create")) == 2
        assert decide(workspace, "send-again").code == 0
        assert workspace.run("push", "inbound/orders.csv", "--mapping", "orders").code == 0
        assert created(sandbox) == {"A": 1, "B": 1}
    finally:
        sandbox.stop()


def test_an_order_of_somebody_else_under_our_reference_is_never_taken_for_ours(
    workspace: Workspace, sandbox: RunningSandbox, tmp_path: Path
) -> None:
    other = Workspace(tmp_path / "other", url=sandbox.url)
    other.run(
        "push", other.drop("x.csv", order_lines(["B"]).replace("Market", "Station").replace("98765", "88888")),
        "--mapping", "orders",
    )  # fmt: skip
    doubtful_push(workspace, sandbox, "drop_before", ["A", "B"])
    workspace.run("settle", "--wait")
    assert [line["rule"] for line in held(workspace)] == ["reference_taken"]
    assert created(sandbox) == {"A": 1, "B": 1}


def test_an_order_cancelled_meanwhile_is_not_created_again_by_itself(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    doubtful_push(workspace, sandbox, "drop_after", ["A", "B"])
    awb = sandbox.orders(reference="B")[0]["awb_number"]
    cancelled_elsewhere(workspace, awb)
    assert workspace.run("settle", "--wait").code == 4
    assert [line["rule"] for line in held(workspace)] == ["found_cancelled"]
    refused = decide(workspace, "send-again")
    assert refused.code == 2
    assert "--reissue" in refused.err
    assert decide(workspace, "send-again", "--reissue").code == 0
    sandbox.set_faults([{"endpoint": "order.create", "kind": "drop_before", "times": 1}])
    assert workspace.run("push", "inbound/orders.csv", "--mapping", "orders").code == 4
    workspace.run("settle", "--wait")  # what was found of the first says nothing about the second, which never arrived
    assert [line["rule"] for line in held(workspace)] == ["unknown"]
    assert decide(workspace, "send-again").code == 0
    assert workspace.run("push", "inbound/orders.csv", "--mapping", "orders").code == 0
    assert created(sandbox) == {"A": 1, "B": 2}
    assert [order["status"] for order in sandbox.orders(reference="B")].count("cancelled") == 1


def test_the_order_of_an_earlier_version_says_nothing_about_its_successor(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """The first was cancelled; the second never arrived, and asking by reference leads to the first."""
    workspace.run("push", workspace.drop("first.csv", order_lines(["A", "B"])), "--mapping", "orders")
    assert workspace.run("order", "cancel", sandbox.orders(reference="B")[0]["awb_number"]).code == 0
    changed = workspace.drop("second.csv", order_lines(["B"]).replace("Market Road", "Lake Road"))
    assert workspace.run("push", changed, "--mapping", "orders").code == 4
    assert decide(workspace, "send-again", "--reissue").code == 0
    sandbox.set_faults([{"endpoint": "order.create", "reference": "B", "times": 1, "kind": "drop_before"}])
    assert workspace.run("push", changed, "--mapping", "orders").code == 4
    workspace.run("settle", "--wait")
    assert [line["rule"] for line in held(workspace)] == ["unknown"]
    assert created(sandbox) == {"A": 1, "B": 1}


@pytest.mark.parametrize("known", [True, False])
def test_a_refusal_in_the_words_for_a_taken_reference_must_be_borne_out(
    workspace: Workspace, sandbox: RunningSandbox, known: bool
) -> None:
    """The service does not show the order, refuses it in those words, and does not show it afterwards.

    It contradicts itself: the order may be there, and show later. known: test orders showed that these are the words.
    """
    doubtful_push(workspace, sandbox, "drop_before", ["A", "B"])
    words = "Reference number already exists"
    if known:
        with Opened(workspace.root).parts(Need()) as parts:  # facts are those of the key that is used
            mark, now = key_print(parts.client.settings), parts.clock.now().isoformat()
            parts.ledger.facts.keep(ServiceFacts(now, True, "refused", words, ("reference_number",), mark))
    sandbox.set_faults([{"endpoint": "order.create", "every": 1, "kind": "status_400", "message": words}])
    assert workspace.run("settle", "--wait").code == 4
    assert [line["rule"] for line in held(workspace)] == ["refused_after_doubt"]
    workspace.run("settle")  # asked again: it is no more certain than before
    assert [line["rule"] for line in held(workspace)] == ["refused_after_doubt"]
    assert created(sandbox) == {"A": 1}


def test_what_a_sender_had_that_may_live_is_not_sent_again(workspace: Workspace, sandbox: RunningSandbox) -> None:
    """Its lock was lost with its connection, and it may be about to send: that the order is not there is no proof."""
    doubtful_push(workspace, sandbox, "drop_before", ["A", "B"])
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger, ledger:
        ledger.execute("UPDATE document SET code = 'sender_lost' WHERE state = 'in_doubt'")
    assert workspace.run("settle", "--wait").code == 4
    assert [line["rule"] for line in held(workspace)] == ["not_found"]
    assert len(sandbox.received("order.create")) == 2


def test_what_is_held_is_asked_about_again_and_settled_when_the_service_shows_it(tmp_path: Path) -> None:
    sandbox = start_sandbox(tmp_path, order_id_reading="id")
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        doubtful_push(workspace, sandbox, "drop_after", ["A", "B"])
        assert workspace.run("settle", "--wait").code == 4
        (waiting,) = held(workspace)
        assert (waiting["rule"], "is asked again from 20" in waiting["reason"]) == ("unknown", True)
        sandbox.set_switches(order_id_reading="both")
        later = workspace.run("push", workspace.drop("later.csv", order_lines(["C"])), "--mapping", "orders")
        assert later.code == 0, later.err
        assert held(workspace) == []
        assert fates(workspace) == {"A": "accepted", "B": "accepted"}
        assert created(sandbox) == {"A": 1, "B": 1, "C": 1}
    finally:
        sandbox.stop()


def test_an_asn_is_found_after_it_was_held(workspace: Workspace, sandbox: RunningSandbox) -> None:
    sandbox.set_faults([{"endpoint": "asn.create", "kind": "drop_before", "times": 1}])
    workspace.run("push", workspace.drop("asns.csv", asn_lines(["INV-1"])), "--mapping", "asns")
    assert workspace.run("settle", "--wait").code == 4
    assert [line["rule"] for line in held(workspace)] == ["not_found"]
    other = Workspace(workspace.root.with_name("other"), url=sandbox.url)  # what was lost comes after all
    assert other.run("push", other.drop("asns.csv", asn_lines(["INV-1"])), "--mapping", "asns").code == 0
    assert workspace.run("settle").code == 0
    assert fates(workspace, "asns") == {"Acme | Bhiwandi | INV-1": "accepted"}


def test_what_certainly_is_not_there_goes_out_again_in_each_run_until_it_is_taken(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.run("push", workspace.drop("first.csv", order_lines(["A"])), "--mapping", "orders")
    sandbox.set_faults([{"endpoint": "order.create", "times": 5, "kind": "drop_before"}])
    workspace.run("push", workspace.drop("orders.csv", order_lines(["B"])), "--mapping", "orders")
    ends = [workspace.run("settle").code for _ in range(5)]
    assert (ends[0], ends[-1], held(workspace)) == (4, 0, [])
    assert created(sandbox) == {"A": 1, "B": 1}


def test_a_refusal_of_what_certainly_is_not_there_counts_with_its_words(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    doubtful_push(workspace, sandbox, "drop_before", ["A", "B"])
    sandbox.set_faults([{"endpoint": "order.create", "every": 1, "kind": "status_400", "message": "No such city"}])
    workspace.run("settle")
    assert fates(workspace) == {"A": "accepted", "B": "refused"}
    assert "No such city" in (workspace.root / "reports/orders.result.csv").read_text("utf-8-sig")


def test_a_version_that_never_arrived_makes_way_for_its_correction(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    doubtful_push(workspace, sandbox, "drop_before", ["A", "B"])
    slow = Workspace(workspace.root, url=sandbox.url, settle_after="1h")
    corrected = order_lines(["A", "B"]).replace("Market", "Station")
    corrected = order_lines(["A"]) + corrected.splitlines(keepends=True)[-1]
    assert slow.run("push", slow.drop("orders.csv", corrected), "--mapping", "orders").code == 4
    Workspace(workspace.root, url=sandbox.url, settle_after="0s")
    later = workspace.run("push", workspace.drop("later.csv", order_lines(["C"])), "--mapping", "orders")
    assert later.code == 0, later.err
    assert created(sandbox) == {"A": 1, "B": 1, "C": 1}
    sent = [line["body"] for line in sandbox.received("order.create")]
    assert ["Station" in body["delivery_address"] for body in sent if body["reference_number"] == "B"] == [False, True]
    assert held(workspace) == []


def test_a_decision_shows_in_the_answer(workspace: Workspace, sandbox: RunningSandbox) -> None:
    workspace.run("push", workspace.drop("orders.csv", order_lines(["A"])), "--mapping", "orders")
    changed = workspace.drop("changed.csv", order_lines(["A"]).replace("Market", "Station"))
    assert workspace.run("push", changed, "--mapping", "orders").code == 4
    assert [line["rule"] for line in held(workspace)] == ["changed_after_acceptance"]
    assert decide(workspace, "send-again", "--reissue").code == 2  # the accepted order still lives
    refused = decide(workspace, "accept")  # the service has what was accepted, not this
    assert (refused.code, "Decide send-again or drop." in refused.err) == (2, True)
    assert decide(workspace, "drop").code == 0
    assert fates(workspace, "changed") == {"A": "skipped"}
    assert created(sandbox) == {"A": 1}
    assert held(workspace) == []


def test_an_asn_is_not_sent_again_where_the_service_shows_a_part_only(tmp_path: Path) -> None:
    """Two others lie under the invoice number, and the service shows one at a time: not seen is not absent."""
    sandbox = start_sandbox(tmp_path, asn_page_cap=1)
    try:
        workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
        workspace.configure("[service.asn]", 'resend = "after_absent"')
        for number in (1, 2):
            other = asn_lines(["INV-1"]).replace("Acme", f"Other {number}")
            assert workspace.run("push", workspace.drop(f"{number}.csv", other), "--mapping", "asns").code == 0
        sandbox.set_faults([{"endpoint": "asn.create", "kind": "drop_after", "times": 1}])
        workspace.run("push", workspace.drop("asns.csv", asn_lines(["INV-1"])), "--mapping", "asns")
        assert workspace.run("settle", "--wait").code == 4
        assert [line["rule"] for line in held(workspace)] == ["not_all_shown"]
        assert len(sandbox.received("asn.create")) == 3
    finally:
        sandbox.stop()


@pytest.mark.parametrize("blind", [True, False])
def test_an_asn_is_sent_again_only_where_the_service_shows_what_it_has(
    workspace: Workspace, sandbox: RunningSandbox, blind: bool
) -> None:
    """Its search shows nothing for a while, also of what it accepted: then “not found” means nothing."""
    workspace.configure("[service.asn]", 'resend = "after_absent"')
    first = workspace.drop("first.csv", asn_lines(["INV-0"]))
    assert workspace.run("push", first, "--mapping", "asns").code == 0
    sandbox.set_faults([{"endpoint": "asn.create", "kind": "drop_before", "times": 1}])
    workspace.run("push", workspace.drop("asns.csv", asn_lines(["INV-1"])), "--mapping", "asns")
    if blind:
        (database,) = sandbox.data.glob("*.db")
        with closing(sqlite3.connect(database, timeout=30)) as connection, connection:
            connection.execute("DELETE FROM asns")
    assert workspace.run("settle", "--wait").code == (4 if blind else 0)
    assert [line["rule"] for line in held(workspace)] == ["search_not_believed"] * blind
    assert len(sandbox.received("asn.create")) == (2 if blind else 3)


def test_an_asn_that_a_sender_had_that_may_live_is_not_sent_again(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    """Not even where the settings ask for it: the sender may send it after the last search."""
    workspace.configure("[service.asn]", 'resend = "after_absent"')
    first = workspace.drop("first.csv", asn_lines(["INV-0"]))
    assert workspace.run("push", first, "--mapping", "asns").code == 0
    sandbox.set_faults([{"endpoint": "asn.create", "kind": "drop_before", "times": 1}])
    late = {"LOGISTICS_BATCH_SERVICE__SETTLE_AFTER": "1h"}
    workspace.run("push", workspace.drop("asns.csv", asn_lines(["INV-1"])), "--mapping", "asns", **late)
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as ledger, ledger:
        assert ledger.execute("UPDATE document SET code = 'sender_lost' WHERE state = 'in_doubt'").rowcount == 1
    assert workspace.run("settle", "--wait").code == 4
    assert [line["rule"] for line in held(workspace)] == ["not_found"]
    assert len(sandbox.received("asn.create")) == 2


def test_an_asn_that_may_be_there_with_its_parties_in_another_form_is_not_sent_again(
    tmp_path: Path, sandbox: RunningSandbox
) -> None:
    """It was sent with ids, and is shown with names in their place: neither it nor another one."""

    def rule(asked: Asked, service: Service) -> Told:
        told = service(asked)
        body = told.body.replace(b'"S-1"', b'"Acme"').replace(b'"W-1"', b'"Bhiwandi"')
        return replace(told, body=body) if asked.method == "GET" else told

    with between(sandbox.url, rule) as proxy:
        workspace = Workspace(tmp_path / "workspace", url=proxy.url)
        workspace.configure("[service.asn]", 'resend = "after_absent"')
        by_id = ASNS_MAPPING.replace("supplier_name", "supplier").replace("site_name", "site")
        workspace.mapping("asns", by_id)
        first, second = (
            workspace.drop(f"{number}.csv", asn_lines([number]).replace("Acme,Bhiwandi", "S-1,W-1"))
            for number in ("INV-0", "INV-1")
        )
        assert workspace.run("push", first, "--mapping", "asns").code == 0
        sandbox.set_faults([{"endpoint": "asn.create", "kind": "drop_after", "times": 1}])
        workspace.run("push", second, "--mapping", "asns")
        workspace.run("settle", "--wait")
        assert [line["rule"] for line in held(workspace)] == ["not_distinct"]
    assert len(sandbox.received("asn.create")) == 2


@pytest.fixture
def mute(tmp_path: Path) -> Iterator[RunningSandbox]:
    """A service that shows an order under its AWB number only."""
    running = start_sandbox(tmp_path, order_id_reading="id")
    yield running
    running.stop()


def event_came(workspace: Workspace, body: bytes) -> None:
    with Opened(workspace.root).parts(Need(calls=False)) as parts:
        read = read_event(body, received_at=parts.clock.now(), zone=UTC)
        assert isinstance(read, NewEvent)
        parts.ledger.events.store([read], patience_seconds=5)


def test_an_event_leads_to_an_order_in_doubt_with_a_single_question(tmp_path: Path, mute: RunningSandbox) -> None:
    workspace = Workspace(tmp_path / "workspace", url=mute.url)
    doubtful_push(workspace, mute, "drop_after", ["A", "B"])
    awb = mute.orders(reference="B")[0]["awb_number"]
    receiver = RunningReceiver(workspace)
    try:
        assert receiver.post(event(awb, "Pending", order_no="B"))[0] == 200
    finally:
        receiver.close()
    before = len(mute.received("order.fetch"))
    assert workspace.run("settle").code == 0
    assert fates(workspace) == {"A": "accepted", "B": "accepted"}
    assert awb in (workspace.root / "reports/orders.result.csv").read_text("utf-8-sig")
    assert len(mute.received("order.fetch")) == before + 1
    assert len(mute.received("order.create")) == 2


def test_an_awb_number_that_the_answer_lacks_is_found_in_the_same_run(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    sandbox.set_faults([{"endpoint": "order.create", "kind": "pass_without_awb", "requests": [2]}])
    assert workspace.run("push", workspace.drop("orders.csv", order_lines("AB")), "--mapping", "orders").code == 0
    assert sandbox.orders(reference="B")[0]["awb_number"] in answer_file(workspace)


def test_an_awb_number_is_filled_in_when_an_event_brings_it(tmp_path: Path, mute: RunningSandbox) -> None:
    workspace = Workspace(tmp_path / "workspace", url=mute.url)
    mute.set_faults([{"endpoint": "order.create", "kind": "pass_without_awb", "requests": [2]}])
    assert workspace.run("push", workspace.drop("orders.csv", order_lines("AB")), "--mapping", "orders").code == 0
    awb = mute.orders(reference="B")[0]["awb_number"]
    assert awb not in answer_file(workspace)
    event_came(workspace, event(awb, "Pending", order_no="B"))
    assert workspace.run("settle").code == 0
    assert awb in answer_file(workspace)
    assert fates(workspace) == {"A": "accepted", "B": "accepted"}
    assert workspace.run("labels", "--orders", "B").code == 0


def test_orders_that_cannot_be_found_do_not_hide_an_older_one_that_events_point_to(
    tmp_path: Path, mute: RunningSandbox
) -> None:
    workspace = Workspace(tmp_path / "workspace", url=mute.url)
    mute.set_faults([{"endpoint": "order.create", "kind": "pass_without_awb"}])
    assert workspace.run("push", workspace.drop("orders.csv", order_lines("ABCDE")), "--mapping", "orders").code == 0
    awb = mute.orders(reference="A")[0]["awb_number"]
    event_came(workspace, event(awb, "Pending", order_no="A"))
    assert workspace.run("settle").code == 0
    assert awb in answer_file(workspace)


def answer_file(workspace: Workspace) -> str:
    return (workspace.root / "reports/orders.result.csv").read_text("utf-8-sig")


def test_an_event_proves_nothing_by_itself(tmp_path: Path, mute: RunningSandbox) -> None:
    """One leads nowhere, one to somebody else's order, one to another order of ours, one out of its path."""
    workspace = Workspace(tmp_path / "workspace", url=mute.url)
    other = Workspace(tmp_path / "other", url=mute.url)
    other.run("push", other.drop("x.csv", order_lines(["X"]).replace("98765", "88888")), "--mapping", "orders")
    doubtful_push(workspace, mute, "drop_before", ["A", "B"])
    ours, foreign = (mute.orders(reference=name)[0]["awb_number"] for name in ("A", "X"))
    for awb in ("SH-NOWHERE", foreign, ours, "../../wms/advance-shipping-notice"):
        event_came(workspace, event(awb, "Delivered", order_no="B"))
    assert workspace.run("settle", "--wait").code == 4
    assert [line["rule"] for line in held(workspace)] == ["unknown"]
    assert len(mute.received("order.create")) == 3


def test_an_order_that_an_event_shows_cancelled_is_not_created_again(tmp_path: Path, mute: RunningSandbox) -> None:
    workspace = Workspace(tmp_path / "workspace", url=mute.url)
    doubtful_push(workspace, mute, "drop_after", ["A", "B"])
    awb = mute.orders(reference="B")[0]["awb_number"]
    cancelled_elsewhere(workspace, awb)
    event_came(workspace, event(awb, "Cancelled", order_no="B"))
    assert workspace.run("settle").code == 4
    assert [line["rule"] for line in held(workspace)] == ["found_cancelled"]


def test_what_somebody_else_settled_meanwhile_does_not_end_the_round(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    doubtful_push(workspace, sandbox, "drop_after", ["A", "B"])
    doubtful_push(workspace, sandbox, "drop_after", ["A", "C"])
    with Opened(workspace.root).parts(Need()) as parts, Opened(workspace.root).parts(Need(calls=False)) as others:
        (first, second) = parts.ledger.attempts.in_doubt()

        class Meanwhile(Progress):
            def start(self, label: str, total: int | None) -> None:
                gone = Outcome(first.id, "held", "held", why=Issue("unknown"))
                assert others.ledger.attempts.settle(
                    gone, expected="in_doubt", now=first.doubt_since, evidence_text="x"
                )

        report = settle_due(replace(parts, progress=Meanwhile()), run="settle", give_up=False)
        assert (report.settled, report.open) == ((second.id,), ())
        found = parts.ledger.documents.get(first.id)
        assert found is not None
        assert found.state == "held"
