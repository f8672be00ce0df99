"""What is known of orders, and the feeds of what changed: each change numbered once, each in one feed."""

import threading
from dataclasses import replace

import pytest
from ledger.arrivals import arrival, planned
from sqlalchemy import text

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Ledger, NewEvent, Outcome, open_ledger
from logistics_batch.model.issue import Issue
from logistics_batch.model.order_state import OrderState, Shown, ShownItem

NOW = "2026-11-21T21:15:00+05:30"
LATER = "2026-11-22T09:00:00+05:30"


def sent(ledger: Ledger, *references: str, run: str = "R1") -> list[int]:
    """Orders that were accepted, and their documents."""
    ledger.runs.start(run, job="orders", kind="push", business_date="2026-11-21", now=NOW)
    ledger.planning.plan_file(run, arrival(dict.fromkeys(references, "{}"), name=f"{run}.csv"))
    waiting = planned(ledger, run)
    ledger.attempts.step(outcomes=[], claim=waiting, run=run, now=NOW)
    outcomes = [
        Outcome(document.id, "accepted", "accepted", awb_number=f"SH-{document.reference}", accepted_run=run)
        for document in waiting
    ]
    ledger.attempts.step(outcomes=outcomes, claim=[], run=run, now=NOW)
    return [document.id for document in waiting]


def seen(status: str, *, cod: str = "", at: str = LATER):
    shown = Shown(cod, (ShownItem("Wires", "3", "1", "0"),))
    return lambda state: state.seen(status, shown, at=at)


def write(number: int, documents) -> tuple[str, bytes]:
    return f"feed-{number}.csv", f"{number}:{documents}".encode()


def test_a_state_comes_back_as_it_was_kept(ledger: Ledger) -> None:
    first, second = sent(ledger, "A", "B")
    assert [order.state for order in ledger.orders.sent()] == [OrderState(first), OrderState(second)]
    assert ledger.orders.change_states({first: seen("Picked", cod="59.00")}) == 1
    kept = ledger.orders.sent(numbers=["A"])[0]
    assert (kept.awb_number, kept.sent_at) == ("SH-A", NOW)
    assert kept.state == replace(seen("Picked", cod="59.00")(OrderState(first)), change=1)
    assert [order.reference for order in ledger.orders.sent(document_ids=[second, first])] == ["A", "B"]
    assert ledger.orders.sent(since="2026-11-22") == []
    assert [order.reference for order in ledger.orders.sent(numbers=["SH-B"])] == ["B"]


def test_only_changes_that_others_should_know_of_are_numbered(ledger: Ledger) -> None:
    first, second = sent(ledger, "A", "B")
    assert ledger.orders.change_states({first: seen("Picked"), second: seen("Picked")}) == 2
    assert ledger.orders.change_states({first: seen("PICKED", at="2026-11-22T10:00:00+05:30")}) == 0
    assert ledger.orders.change_states({first: lambda state: state.not_shown(Issue(".order_unknown"), at=LATER)}) == 0
    assert ledger.orders.change_states({first: seen("Complete")}) == 1
    assert [order.state.change for order in ledger.orders.sent()] == [3, 2]


def test_events_are_read_on_from_where_they_were(ledger: Ledger) -> None:
    def event(identity: str, waybill: str, **values: str) -> NewEvent:
        return NewEvent(identity * 64, NOW, b"{}", waybill=waybill, order_status="Picked", status_at=NOW, **values)

    ledger.events.store([event("a", "SH-A"), event("b", "", unreadable="no order")], patience_seconds=5)
    found = list(ledger.orders.hints())
    assert [(waybill, hint.status, hint.at) for waybill, hint in found] == [("SH-A", "Picked", NOW)]
    ledger.orders.change_states({}, events_read=found[-1][1].event_id + 5_000)
    assert list(ledger.orders.hints()) == []  # far behind what was read; near it they are looked at again
    assert [hint.status for hint in ledger.orders.events_of(["SH-A"])] == ["Picked"]


def test_a_feed_is_made_once_and_waits_until_it_is_delivered(ledger: Ledger) -> None:
    first, second = sent(ledger, "A", "B")
    assert ledger.feeds.next("status", write, at=NOW) is None
    ledger.orders.change_states({second: seen("Picked"), first: seen("Picked")})
    made = ledger.feeds.next("status", write, at=NOW)
    assert made is not None
    assert (made.number, made.orders, made.content) == (1, 2, f"1:{[second, first]}".encode())
    ledger.orders.change_states({first: seen("Complete")})
    assert ledger.feeds.next("status", write, at=LATER) == made == ledger.feeds.waiting("status")
    ledger.feeds.delivered(made, at=LATER)
    assert ledger.feeds.waiting("status") is None
    following = ledger.feeds.next("status", write, at=LATER)
    assert following is not None
    assert (following.number, following.content) == (2, f"2:{[first]}".encode())
    other = ledger.feeds.next("another", write, at=LATER)  # each job tells all of it
    assert other is not None
    assert (other.number, other.orders) == (1, 2)
    assert [(feed.number, feed.content) for feed in ledger.feeds.all("status")] == [(2, following.content), (1, b"")]


def test_a_feed_counts_on_from_what_was_seen_elsewhere(ledger: Ledger) -> None:
    """A ledger that was restored does not know the last numbers."""
    (only,) = sent(ledger, "A")
    assert not ledger.feeds.has_news("status")
    ledger.orders.change_states({only: seen("Picked")})
    assert ledger.feeds.has_news("status")
    made = ledger.feeds.next("status", write, at=NOW, above=7)
    assert made is not None
    assert (made.number, made.name) == (8, "feed-8.csv")
    assert not ledger.feeds.has_news("status")
    ledger.feeds.delivered(made, at=NOW)
    ledger.orders.change_states({only: seen("Complete")})
    following = ledger.feeds.next("status", write, at=LATER, above=7)
    assert following is not None
    assert following.number == 9


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE feed SET content = 'x'",
        "UPDATE feed SET content = ''",
        "UPDATE feed SET up_to = 9",
        "UPDATE feed SET name = 'x'",
        "DELETE FROM feed",
    ],
)
def test_a_feed_does_not_change(ledger: Ledger, statement: str) -> None:
    (first,) = sent(ledger, "A")
    ledger.orders.change_states({first: seen("Picked")})
    made = ledger.feeds.next("status", write, at=NOW)
    with pytest.raises(LedgerRefused), ledger._connection.write() as connection:
        connection.execute(text(statement))
    assert ledger.feeds.waiting("status") == made


def test_several_at_once_give_out_each_number_once_and_lose_no_change(ledger: Ledger, url: str) -> None:
    """Two processes follow orders, a third makes feeds meanwhile: every change stands in exactly one of them."""
    documents = sent(ledger, *(f"O-{number}" for number in range(12)))
    ways = ("Assigned", "Picked", "At-Hub", "Complete")
    opened = [open_ledger(url, account="http://service.test") for _ in range(3)]
    ended = threading.Event()
    fed: list[tuple[int, str]] = []

    def follow(mine: Ledger, part: list[int]) -> None:
        for status in ways:
            for document in part:
                mine.orders.change_states({document: seen(status)})

    def note(number: int, changed) -> tuple[str, bytes]:
        status = {order.document_id: order.state.status for order in opened[2].orders.sent(document_ids=changed)}
        fed.extend((document, status[document]) for document in changed)
        return write(number, changed)

    def feed() -> None:
        last = False
        while not last:
            last = ended.is_set()
            made = opened[2].feeds.next("status", note, at=NOW)
            if made is not None:
                opened[2].feeds.delivered(made, at=NOW)

    threads = [threading.Thread(target=follow, args=(opened[n], documents[n::2])) for n in range(2)]
    feeder = threading.Thread(target=feed)
    for thread in (*threads, feeder):
        thread.start()
    for thread in threads:
        thread.join()
    ended.set()
    feeder.join()
    changes = sorted(order.state.change for order in ledger.orders.sent())
    assert changes[-1] == len(documents) * len(ways)
    for document in documents:
        told = [status for each, status in fed if each == document]
        assert told == sorted(set(told), key=ways.index)
        assert told[-1] == "Complete"
    for each in opened:
        each.close()
