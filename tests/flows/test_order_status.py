"""Orders after they were sent: what events hint at is asked for, what differs is named, every change is fed once."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from openpyxl import load_workbook
from support.order_room import Room, order_room
from support.sandbox_process import RunningSandbox, sandbox_for_a_test

from logistics_batch.api.answers import OrderDetails
from logistics_batch.api.client import Client
from logistics_batch.api.reply import Reply
from logistics_batch.errors import KeyRefused
from logistics_batch.flows.orders.comparison import Followed, order_lines
from logistics_batch.flows.orders.status import _look
from logistics_batch.flows.parts import Parts
from logistics_batch.model.order_state import Shown, ShownItem
from logistics_batch.operate.run_job import outcome_of


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def room(tmp_path: Path, sandbox: RunningSandbox) -> Iterator[Room]:
    """Every test has orders of its own, named after it."""
    sandbox.set_faults([])
    with order_room(tmp_path, sandbox) as opened:
        yield opened
    sandbox.set_faults([])


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    return f"{abs(hash(request.node.name)) % 10**8}"


def test_a_first_run_asks_for_each_and_feeds_each(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,3,0.00", f"{name}-B,Wires,2,59.00", f"{name}-B,Tape,1,59.00")
    report = room.run()
    assert (report.exit_code, report.counts) == (
        0,
        {"orders": 2, "at_end": 0, "events": 0, "asked": 2, "not_asked": 0, "changed": 2, "differences": 0, "fed": 2},
    )
    lines = room.report()
    assert [(line["reference_number"], line["item"], line["qty_sent"], line["cod_sent"]) for line in lines] == [
        (f"{name}-A", "Wires", "3", "0.00"),
        (f"{name}-B", "Wires", "2", "59.00"),
        (f"{name}-B", "Tape", "1", ""),  # the amount stands once, so that sums are right
    ]
    assert {(line["status"], line["source"], line["file"]) for line in lines} == {("Pending", "fetch", "orders.csv")}
    assert [line["row"] for line in lines] == ["2", "3", "4"]
    fed = room.feeds()["order-status-000001.csv"]
    assert [(line["reference_number"], line["status"], line["qty_ordered"]) for line in fed] == [
        (f"{name}-A", "Pending", "3"),
        (f"{name}-B", "Pending", "3"),
    ]


def test_what_is_short_or_not_as_sent_is_named_once_it_shows(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,3,450.00", f"{name}-B,Wires,1,0.00")
    room.run()
    stored = room.sandbox.orders(reference=f"{name}-A")[0]
    item = str(stored["items"][0]["item_id"])
    room.move(f"{name}-A", "Complete", items={item: {"picked": 3, "delivered": 2}})
    room.move(f"{name}-B", "cancelled")
    report = room.run()
    assert (report.exit_code, report.differences, report.at_end) == (3, 2, 2)
    differences = {line["reference_number"]: line["difference"] for line in room.report()}
    assert differences == {
        f"{name}-A": "2 of 3 × Wires delivered",
        f"{name}-B": "the order is cancelled, and not from here",
    }
    again = room.run()
    assert (again.exit_code, again.differences, again.asked.asked) == (0, 2, 0)  # no news, and nobody to ask for


def test_another_amount_to_collect_is_a_difference(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,1,450.00")
    body = '{"customer_mobile": "9876543210", "delivery_address": "1 Market Road", "cash_on_delivery": "400.00"}'
    changed = room.parts.client.call("order.update", order_id=room.awb(f"{name}-A"), body=body)
    assert changed.status == 200, changed.body
    report = room.run()
    assert report.exit_code == 3
    assert room.report()[0]["difference"] == "COD of 450.00 INR was sent, the service shows 400.00 INR"
    book = load_workbook(room.root / "out/reports/order_status.xlsx")
    assert book.sheetnames == ["Differences", "Orders", "About"]
    assert book["Differences"]["A2"].value == f"{name}-A"


def test_an_event_is_verified_before_it_counts(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,1,0.00", f"{name}-B,Wires,1,0.00")
    room.run()
    asked = room.fetched()
    soon = (room.parts.clock.now() + timedelta(seconds=1)).isoformat()
    room.move(f"{name}-A", "Picked")
    room.hear(f"{name}-A", "PICKED", soon, waybill=room.awb(f"{name}-A").removeprefix("SH-"))
    room.hear(f"{name}-B", "Complete", soon)  # forged
    report = room.run(poll_after_seconds=3600.0)
    assert (report.events, report.asked.asked, report.asked.changed) == (2, 2, 1)
    assert room.fetched() == asked + 2
    lines = {line["reference_number"]: line for line in room.report()}
    picked, forged = lines[f"{name}-A"], lines[f"{name}-B"]
    assert (picked["status"], picked["source"], picked["status_time"]) == ("Picked", "event", soon)
    assert (forged["status"], forged["source"]) == ("Pending", "fetch")
    assert forged["note"] == "an event said “Complete”, the service shows “Pending”"
    assert list(room.feeds()) == ["order-status-000001.csv", "order-status-000002.csv"]
    assert [line["reference_number"] for line in room.feeds()["order-status-000002.csv"]] == [f"{name}-A"]
    again = room.run(poll_after_seconds=3600.0)
    assert (again.events, again.asked.asked) == (0, 0), "they are read once more, and were counted"


def test_nothing_new_asks_nobody_and_feeds_nothing(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,1,0.00")
    room.run()
    asked = room.fetched()
    report = room.run(poll_after_seconds=3600.0)
    assert (report.exit_code, report.counts["asked"], report.counts["fed"]) == (0, 0, 0)
    assert (room.fetched(), list(room.feeds())) == (asked, ["order-status-000001.csv"])


def test_an_event_about_nobodys_order_asks_nobody(room: Room, name: str) -> None:
    """It comes after the orders were followed once, and is no news about any of them, also when it is read again."""
    room.send(f"{name}-A,Wires,1,0.00")
    room.run()
    asked = room.fetched()
    room.hear(f"{name}-A", "Complete", room.parts.clock.now().isoformat(), waybill=f"SH-{name}-ELSEWHERE")
    for _ in range(2):
        report = room.run(poll_after_seconds=3600.0)
        assert (report.exit_code, report.events, room.fetched()) == (0, 0, asked)


def showing(room: Room, message: dict[str, object]) -> Parts:
    """The parts with a service that shows this order, whatever it is asked for."""
    body = json.dumps({"status": "SUCCESS", "message": message}).encode()
    reply = Reply("order.fetch", status=200, content_type="application/json", body=body)
    return replace(room.parts, client=cast("Client", SimpleNamespace(call=lambda *_, **__: reply)))


def test_an_answer_that_shows_neither_its_number_nor_its_reference_tells_nothing(room: Room, name: str) -> None:
    """What comes back under its number, or under its reference, must be it."""
    room.send(f"{name}-A,Wires,1,0.00")
    (order,) = room.parts.ledger.orders.sent(numbers=[f"{name}-A"])
    for number, shown in ((order.awb_number, True), ("SH-ELSEWHERE", False)):
        parts = showing(room, {"awb_number": number, "status": "Complete"})
        assert isinstance(_look(parts, order), OrderDetails) is shown
        assert not isinstance(_look(parts, replace(order, awb_number="")), OrderDetails)


def test_a_budget_goes_to_the_longest_silent_and_the_rest_is_told(room: Room, name: str) -> None:
    room.send(*(f"{name}-{number},Wires,1,0.00" for number in range(5)))
    first = room.run(max_calls=2)
    assert (first.asked.asked, first.asked.left) == (2, 3)
    waiting = {line["reference_number"] for line in room.report() if not line["asked_at"]}
    notes = {line["note"] for line in room.report() if not line["asked_at"]}
    assert (len(waiting), notes) == (3, {"the service was not asked for it yet"})
    room.run(max_calls=2)
    still = {line["reference_number"] for line in room.report() if not line["asked_at"]}
    assert len(still) == 1  # nobody was asked for twice
    assert still < waiting


def test_a_feed_that_could_not_be_delivered_comes_again_as_it_was(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,1,0.00")
    (room.root / "out").mkdir()
    (room.root / "out/status").write_text("a file where a folder should be")
    report = room.run()
    assert report.exit_code == 5
    assert "order-status-000001.csv waits" in report.feed.failed
    room.move(f"{name}-A", "Picked")
    assert room.run().exit_code == 5
    waiting = room.parts.ledger.feeds.waiting("order-status")
    assert waiting is not None
    (room.root / "out/status").unlink()
    report = room.run()
    assert report.exit_code == 0
    feeds = room.feeds()
    assert (room.root / "out/status/order-status-000001.csv").read_bytes() == waiting.content
    assert [(feed, line["status"]) for feed, lines in feeds.items() for line in lines] == [
        ("order-status-000001.csv", "Pending"),
        ("order-status-000002.csv", "Picked"),
    ]
    assert room.parts.ledger.feeds.all("order-status")[1].content == b""


def test_an_order_that_the_service_does_not_know_is_the_gravest_difference(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,1,0.00")
    assert room.run().exit_code == 0
    soon = (room.parts.clock.now() + timedelta(seconds=1)).isoformat()
    room.hear(f"{name}-A", "Picked", soon)
    room.sandbox.set_faults([{"endpoint": "order.fetch", "times": 2, "kind": "status_404"}])
    report = room.run()
    assert (report.exit_code, report.differences) == (3, 1)
    assert "the service does not know the order: Not Found" in room.report()[0]["difference"]
    again = room.run(poll_after_seconds=3600.0)
    assert (again.exit_code, again.differences, again.asked.asked) == (0, 1, 1), "no news; the event still asks for it"
    room.move(f"{name}-A", "Picked")
    room.run(poll_after_seconds=3600.0)
    line = room.report()[0]
    assert (line["status"], line["source"], line["difference"], line["note"]) == ("Picked", "event", "", "")


def exchange(room: Room, one: str, other: str) -> None:
    """As if the answers to these two creates had been exchanged on the way."""
    numbers = {one: room.awb(other), other: room.awb(one)}
    with room.parts.ledger._connection.engine.connect().execution_options(write=True) as connection, connection.begin():
        for reference, number in numbers.items():
            statement = "UPDATE document SET awb_number = ? WHERE reference = ?"
            connection.exec_driver_sql(statement, (number, reference))


def test_the_status_of_another_order_is_not_taken(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,1,0.00", f"{name}-B,Tape,2,0.00")
    exchange(room, f"{name}-A", f"{name}-B")
    room.move(f"{name}-B", "Complete")
    report = room.run()
    assert (report.exit_code, report.differences, report.counts["fed"]) == (3, 2, 0)
    line = next(line for line in room.report() if line["reference_number"] == f"{name}-A")
    assert (line["status"], line["note"]) == ("", "")
    assert line["difference"] == (
        f"its AWB number is another order's: the service shows {room.awb(f'{name}-A')} with the reference "
        f"“{name}-B”; no status is taken from it"
    )
    room.sandbox.set_faults([{"endpoint": "order.fetch", "kind": "error_500_before"}])
    room.run()
    assert line["difference"] in {line["difference"] for line in room.report()}, "that is no less so"


@pytest.mark.parametrize(
    ("shown", "taken"),
    [
        ("", True),
        ("{}", True),
        (" ab-{} ", True),  # with a word before it: the content is ours
        ("another", False),
    ],
)
def test_a_reference_in_the_services_spelling_is_ours(room: Room, name: str, shown: str, taken: bool) -> None:
    room.send(f"{name}-a,Wires,1,0.00", f"{name}-b,Tape,2,0.00")
    order = room.parts.ledger.orders.sent(numbers=[f"{name}-a"])[0]
    goods = "Tape" if shown == "another" else "Wires"
    details = {
        "reference_number": shown.format(f"{name}-A"),
        "awb_number": order.awb_number,
        "status": "Pending",
        "customer_mobile": "9876543210",
        "item_details": [{"item_name": goods, "item_quantity": "1"}],
    }
    assert isinstance(_look(showing(room, details), order), OrderDetails) is taken


def test_orders_that_cannot_be_asked_for_keep_no_others_from_it(room: Room, name: str) -> None:
    room.send(*(f"{name}-{number},Wires,1,0.00" for number in range(8)))
    # Asked for in the order of their answers, which is not that of the sheet where the machine is busy.
    oldest = sorted(room.parts.ledger.orders.sent(), key=lambda order: order.sent_at)
    bad = [order.awb_number for order in oldest[:4]]
    fault = {"endpoint": "order.fetch", "kind": "error_500_before"}
    room.sandbox.set_faults([fault | {"reference": awb} for awb in bad])
    first = room.run()
    assert (first.exit_code, first.asked.asked, first.asked.failed) == (5, 0, 3)
    assert first.asked.stopped == "the service could not be asked: it answered with status 500"
    assert "Unexpected error" not in outcome_of(first).line, "the service's words may name people"
    second = room.run()
    assert (second.exit_code, second.asked.asked, second.asked.failed, second.asked.left) == (0, 4, 4, 4)
    assert "4 were left for the next run, 4 of them after asking failed" in outcome_of(second).line
    notes = {line["reference_number"]: line["note"] for line in room.report()}
    assert notes[oldest[0].reference] == "it could not be asked for: Unexpected error (status 500)"
    room.sandbox.set_faults([])
    assert (room.run().asked.asked, {line["note"] for line in room.report()}) == (8, {""})


def shown(**item: str) -> ShownItem:
    return ShownItem(**{"name": "TEA", "quantity": "3", "picked": "3", "delivered": "3"} | item)


@pytest.mark.parametrize(
    ("items", "cash", "difference", "note"),
    [
        ((shown(),), "450.00", "", ""),
        ((), "450.00", "", "the service shows no items; quantities are not compared"),
        ((shown(delivered="5"),), "450", "5 of 3 × TEA delivered", ""),
        ((shown(delivered="-1"),), "450", "", "the service shows “-1” delivered of TEA, which is no quantity"),
        ((shown(delivered="3 PCS"),), "450", "", "the service shows “3 PCS” delivered of TEA, which is no quantity"),
        ((shown(delivered=""),), "450", "", "how much of TEA was delivered is not shown"),
        ((shown(),), "", "", "the service does not show the amount to collect"),
        ((shown(),), "₹450.00", "", "the service shows “₹450.00” to collect, which is no amount"),
    ],
)
def test_what_cannot_be_compared_is_said(
    room: Room, name: str, items: tuple[ShownItem, ...], cash: str, difference: str, note: str
) -> None:
    room.send(f"{name}-A,TEA,3,450.00")
    (order,) = room.parts.ledger.orders.sent(numbers=[f"{name}-A"])
    now = room.parts.clock.now()
    state = order.state.seen("Complete", Shown(cash, items), at=now.isoformat())
    (document,) = room.parts.ledger.documents.stored([order.document_id])
    (line,) = order_lines(Followed(document, state), now=now, end_statuses=())
    assert (line.difference, line.note) == (difference, note)


def test_a_service_that_is_away_ends_the_asking_and_loses_nothing(room: Room, name: str) -> None:
    room.send(*(f"{name}-{number},Wires,1,0.00" for number in range(5)))
    room.sandbox.set_faults([{"endpoint": "order.fetch", "times": 3, "kind": "status_503"}])
    report = room.run()
    assert (report.exit_code, report.asked.asked, report.asked.left) == (5, 0, 5)
    assert "the service could not be asked" in report.asked.stopped
    assert room.run().asked.asked == 5


def test_a_refused_key_is_told_after_the_waiting_feed_went_out(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,1,0.00")
    (room.root / "out").mkdir()
    (room.root / "out/status").write_text("in the way")
    room.run()
    (room.root / "out/status").unlink()
    room.sandbox.set_faults([{"endpoint": "order.fetch", "kind": "status_401"}])
    with pytest.raises(KeyRefused):
        room.run()
    assert list(room.feeds()) == ["order-status-000001.csv"]
    assert room.parts.ledger.runs.latest(job="order-status", limit=1)[0].state == "stopped"


def test_an_unknown_status_is_kept_as_it_is(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,1,0.00")
    room.move(f"{name}-A", "Lost-In-Transit")
    room.run()
    line = room.report()[0]
    assert line["status"] == "Lost-In-Transit"
    assert line["note"] == "the status “Lost-In-Transit” is not known here; it is kept as it is"


def test_orders_of_long_ago_are_left_alone(room: Room, name: str) -> None:
    room.send(f"{name}-A,Wires,1,0.00")
    sent = datetime.fromisoformat(room.parts.ledger.orders.sent(numbers=[f"{name}-A"])[0].sent_at)
    later = room.parts.ledger.orders.sent(since=(sent + timedelta(days=1)).date().isoformat())
    assert later == []
