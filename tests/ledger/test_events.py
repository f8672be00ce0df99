"""Events of orders in the ledger: each once, counted, and never changed."""

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Ledger, NewEvent, open_ledger


def new(identity: str, **values: str) -> NewEvent:
    return NewEvent(identity=identity * 64, received_at="2026-11-21T21:00:00+05:30", raw=b"\x00\xff{}", **values)  # type: ignore[arg-type]


def stored(ledger: Ledger) -> list[tuple[str, int, bytes]]:
    with ledger._read() as connection:
        found = connection.execute(text("SELECT waybill, seen, raw FROM event ORDER BY id"))
        return [(line.waybill, line.seen, bytes(line.raw)) for line in found]


def test_each_is_kept_once_with_its_bytes_and_counted(ledger: Ledger) -> None:
    first, other = new("a", waybill="SH-1"), new("b", waybill="Łódź आशा")
    assert ledger.store_events([first, other, first], patience_seconds=5) == [True, True, False]
    assert ledger.store_events([first], patience_seconds=5) == [False]
    assert stored(ledger) == [("SH-1", 3, b"\x00\xff{}"), ("Łódź आशा", 1, b"\x00\xff{}")]


def test_another_account_has_events_of_its_own(ledger: Ledger, url: str) -> None:
    other = open_ledger(url, account="http://staging.test")
    assert ledger.store_events([new("a")], patience_seconds=5) == [True]
    assert other.store_events([new("a")], patience_seconds=5) == [True]
    other.close()


@pytest.mark.parametrize(
    "statement", ["UPDATE event SET raw = 'x'", "UPDATE event SET waybill = 'x'", "DELETE FROM event"]
)
def test_what_came_is_never_changed(ledger: Ledger, statement: str) -> None:
    ledger.store_events([new("a", waybill="SH-1")], patience_seconds=5)
    with pytest.raises(DBAPIError), ledger._write() as connection:
        connection.execute(text(statement))
    assert stored(ledger) == [("SH-1", 1, b"\x00\xff{}")]


def test_all_or_none_are_kept(ledger: Ledger) -> None:
    ledger.store_events([new("a")], patience_seconds=5)
    broken = NewEvent(identity="b" * 64, received_at=None, raw=b"")  # type: ignore[arg-type]
    with pytest.raises(LedgerRefused):
        ledger.store_events([new("c"), broken], patience_seconds=5)
    assert len(stored(ledger)) == 1
