"""Whoever knows the receiver's secret cannot fill the disk with it; whoever does not leaves an address in the log."""

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.receiver_process import RunningReceiver, event
from support.workspace import Workspace

from logistics_batch.errors import LedgerRefused
from logistics_batch.flows.files.purge import purge_old
from logistics_batch.flows.orders.receive_event import EventStore
from logistics_batch.ledger import NewEvent, open_ledger
from logistics_batch.ledger.failures import sqlite3
from logistics_batch.web.receiver import Troubles
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

SERVICE = "https://service.invalid"
NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
WHO = b"Asha Ramanathan"


def raw_bytes(workspace: Workspace) -> int:
    with closing(sqlite3.connect(workspace.root / "var/ledger.db")) as connection:
        return int(connection.execute("SELECT coalesce(sum(length(raw)), 0) FROM event").fetchone()[0])


def test_a_flood_of_true_events_ends_at_the_quota(tmp_path: Path) -> None:
    receiver = RunningReceiver(Workspace(tmp_path, url=SERVICE), "quota_mb = 1")
    try:
        large = "x" * 60_000
        answers = [receiver.post(event(f"SH-{number}", remarks=large))[0] for number in range(40)]
        assert answers[:10] == [200] * 10
        assert answers[-10:] == [503] * 10
        assert raw_bytes(receiver.workspace) < 1 << 20
    finally:
        receiver.close()
    told = [line for line in receiver.log if "receive.quota_mb" in line]
    assert 1 <= len(told) <= 5


def test_there_is_room_again_when_the_time_of_events_is_over(tmp_path: Path) -> None:
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", account=SERVICE)
    now = [NOW]
    store = EventStore(ledger, keep_seconds=90 * 86_400.0, quota_bytes=5000, now=lambda: now[0])
    first = [NewEvent(identity=f"a{n}", received_at=NOW.isoformat(), raw=WHO * 30) for n in range(5)]
    assert store.keep(first, patience_seconds=5) == [True] * 5
    more = [NewEvent(identity="b", received_at=NOW.isoformat(), raw=WHO * 30)]
    with pytest.raises(LedgerRefused, match=r"receive\.quota_mb"):
        store.keep(more, patience_seconds=5)
    now[0] += timedelta(days=91)
    assert store.keep(more, patience_seconds=5) == [True]
    ledger.close()


def test_the_quota_counts_what_was_there_before_and_small_events_too(tmp_path: Path) -> None:
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", account=SERVICE)
    ledger.events.store(
        [NewEvent(identity=f"a{n}", received_at=NOW.isoformat(), raw=b"{}") for n in range(50)], patience_seconds=5
    )
    store = EventStore(ledger, keep_seconds=0, quota_bytes=20_000, now=lambda: NOW)
    with pytest.raises(LedgerRefused):
        store.keep([NewEvent(identity="b", received_at=NOW.isoformat(), raw=b"{}")], patience_seconds=5)
    ledger.close()


@pytest.mark.parametrize("by", ["the receiver", "a run"])
def test_events_are_kept_for_ninety_days_without_any_setting(tmp_path: Path, by: str) -> None:
    workspace = Workspace(tmp_path, url=SERVICE)
    (tmp_path / "var").mkdir(mode=0o700)
    ledger = open_ledger(f"sqlite:///{tmp_path}/var/ledger.db", account=SERVICE)
    today = datetime.now(UTC)
    ages = {"old": 91, "young": 89}
    ledger.events.store(
        [
            NewEvent(identity=name, received_at=(today - timedelta(days=days)).isoformat(), raw=WHO)
            for name, days in ages.items()
        ],
        patience_seconds=5,
    )
    ledger.close()
    if by == "the receiver":
        RunningReceiver(workspace).close()
    else:
        with Opened(tmp_path).parts(Need(calls=False)) as parts:
            purge_old(replace(parts))
    assert raw_bytes(workspace) == len(WHO)


def test_a_refusal_names_the_address_at_a_bounded_rate(tmp_path: Path) -> None:
    receiver = RunningReceiver(Workspace(tmp_path, url=SERVICE))
    try:
        for _ in range(300):
            assert receiver.post(event("SH-1"), {"X-Logistics-Secret": "guess" * 8})[0] == 401
        assert receiver.post(b"", path="/admin")[0] == 404
    finally:
        receiver.close()
    lines = [line for line in receiver.log if "refused 401" in line]
    assert "127.0.0.1" in lines[0]
    assert len(lines) <= 5
    assert any("refused 404" in line and "127.0.0.1" in line for line in receiver.log)


def test_neither_many_addresses_nor_many_kinds_flood_the_log_or_the_memory() -> None:
    clock = [0.0]
    troubles = Troubles(lambda: clock[0])
    lines = [troubles.line("refused 401", f"2001:db8::{n:x}") for n in range(10_000)]
    assert [line for line in lines if line] == ["refused 401, from 2001:db8::0"]
    clock[0] = 11.0
    told = troubles.line("refused 401", "192.0.2.1")
    assert told.startswith("refused 401 (10000 times), from ")
    assert "others" in told
    assert len(told) < 200
    lines = [troubles.line(f"refused 400: {n}", "192.0.2.1") for n in range(10_000)]
    assert len([line for line in lines if line]) < 100
