"""Events of orders in the ledger: each once, counted, and never changed."""

from dataclasses import replace

import pytest
from sqlalchemy import text

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Ledger, NewEvent, open_ledger


def new(identity: str, **values: str) -> NewEvent:
    return NewEvent(identity=identity * 64, received_at="2026-11-21T21:00:00+05:30", raw=b"\x00\xff{}", **values)  # type: ignore[arg-type]


def stored(ledger: Ledger) -> list[tuple[str, int, bytes]]:
    with ledger._connection.read() as connection:
        found = connection.execute(text("SELECT waybill, seen, raw FROM event ORDER BY id"))
        return [(line.waybill, line.seen, bytes(line.raw)) for line in found]


def test_each_is_kept_once_with_its_bytes_and_counted(ledger: Ledger) -> None:
    first, other = new("a", waybill="SH-1"), new("b", waybill="Łódź आशा")
    assert ledger.events.store([first, other, first], patience_seconds=5) == [True, True, False]
    assert ledger.events.store([first], patience_seconds=5) == [False]
    assert stored(ledger) == [("SH-1", 3, b"\x00\xff{}"), ("Łódź आशा", 1, b"\x00\xff{}")]


def test_the_same_event_with_other_bytes_is_kept_beside_the_first(ledger: Ledger) -> None:
    first = new("a", waybill="SH-1")
    other = replace(first, raw=b'{"remarks": "left at the gate"}')
    assert ledger.events.store([first, other, first, other], patience_seconds=5) == [True, True, False, False]
    assert stored(ledger) == [("SH-1", 2, b"\x00\xff{}"), ("SH-1", 2, b'{"remarks": "left at the gate"}')]


def test_another_account_has_events_of_its_own(ledger: Ledger, url: str) -> None:
    other = open_ledger(url, account="http://staging.test")
    assert ledger.events.store([new("a")], patience_seconds=5) == [True]
    assert other.events.store([new("a")], patience_seconds=5) == [True]
    other.close()


@pytest.mark.parametrize(
    "statement", ["UPDATE event SET raw = 'x'", "UPDATE event SET waybill = 'x'", "DELETE FROM event"]
)
def test_what_came_is_never_changed(ledger: Ledger, statement: str) -> None:
    ledger.events.store([new("a", waybill="SH-1")], patience_seconds=5)
    with pytest.raises(LedgerRefused), ledger._connection.write() as connection:
        connection.execute(text(statement))
    assert stored(ledger) == [("SH-1", 1, b"\x00\xff{}")]


def test_all_or_none_are_kept(ledger: Ledger) -> None:
    ledger.events.store([new("a")], patience_seconds=5)
    broken = NewEvent(identity="b" * 64, received_at=None, raw=b"")  # type: ignore[arg-type]
    with pytest.raises(LedgerRefused):
        ledger.events.store([new("c"), broken], patience_seconds=5)
    assert len(stored(ledger)) == 1


def test_events_about_orders_are_read_back_from_a_moment_on(ledger: Ledger) -> None:
    def at(identity: str, received_at: str, **values: str) -> NewEvent:
        return replace(new(identity, **values), received_at=received_at)

    events = [
        at("a", "2026-11-21T20:59:59+05:30", waybill="EARLY"),
        at("b", "2026-11-21T15:30:00+00:00", waybill="SAME-MOMENT"),
        at("c", "2026-11-21T21:05:00+05:30", waybill="LATER"),
        at("d", "2026-11-21T21:06:00+05:30", unreadable="another topic"),
        replace(at("e", "2026-11-21T21:07:00+05:30", waybill="PURGED"), raw=b""),
    ]
    ledger.events.store(events, patience_seconds=5)
    found = list(ledger.events.of_orders(received_from="2026-11-21T21:00:00+05:30"))
    assert [waybill for _, waybill, _ in found] == ["SAME-MOMENT", "LATER"]
    assert found[0][2] == b"\x00\xff{}"
