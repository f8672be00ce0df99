"""Data of people goes when its time is over; what is open keeps all, and nothing that identifies goes."""

from pathlib import Path

import pytest
from ledger.arrivals import arrival, evaluated, planned
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from support.engines import engine_of

from logistics_batch.ledger import Ledger, NewEvent, Outcome

LONG_AGO, NOW = "2026-01-10T21:15:00+05:30", "2026-11-21T21:15:00+05:30"
BEFORE = "2026-10-22T21:15:00+05:30"
NAME = "Asha Ramanathan"


def filled(ledger: Ledger) -> None:
    """Long ago: A accepted, B in doubt, C planned, an event; now: D accepted, an event."""
    for run, at, orders in (("R1", LONG_AGO, "ABC"), ("R2", NOW, "D")):
        ledger.runs.start(run, job="orders", kind="push", business_date=at[:10], now=at)
        ledger.planning.plan_file(run, arrival({key: f'["{NAME} {key}"]' for key in orders}, name=f"{run}.csv", at=at))
        first, *others = planned(ledger, run)
        ledger.attempts.step(outcomes=[], claim=[first, *others[:1]], run=run, now=at)
        done = Outcome(first.id, "accepted", "accepted", status=200, reply=NAME, awb_number=f"SH-{first.key}")
        doubts = [Outcome(other.id, "in_doubt", "unknown", reply=NAME) for other in others[:1]]
        ledger.attempts.step(outcomes=[done, *doubts], claim=[], run=run, now=at)
        ledger.events.store([NewEvent(identity=run, received_at=at, raw=NAME.encode())], patience_seconds=5)


def test_only_what_is_old_and_settled_goes(ledger: Ledger) -> None:
    filled(ledger)
    before = ledger.documents.select()
    purged = ledger.purging.purge(before=BEFORE)
    assert (purged.documents, purged.events) == (1, 1)
    after = ledger.documents.select()
    assert [(each.key, each.purged) for each in after] == [("A", True), ("B", False), ("C", False), ("D", False)]
    assert [each.body_sha256 for each in after] == [each.body_sha256 for each in before]
    assert after[0].awb_number == "SH-A"
    assert [each.keep for each in after] == [{}, *(each.keep for each in before[1:])]
    assert before[0].keep
    replies = {
        record["document_id"]: record["reply"] for record in ledger.itself.records(personal=True) if "reply" in record
    }
    assert replies == {1: "", 2: NAME, 4: NAME}
    assert ledger.purging.purge(before=BEFORE).documents == 0
    assert ledger.itself.verify().findings == ()


def test_what_a_mapping_keeps_is_written_out_only_with_personal_data(ledger: Ledger) -> None:
    filled(ledger)
    assert not any("keep" in record for record in ledger.itself.records(personal=False))
    kept = [record["keep"] for record in ledger.itself.records(personal=True) if record["table"] == "document"]
    assert len(kept) == 4 and all("bin" in each for each in kept)


def test_what_was_accepted_long_ago_is_still_known(ledger: Ledger) -> None:
    filled(ledger)
    ledger.purging.purge(before=BEFORE)
    (same,) = evaluated(ledger, arrival({"A": f'["{NAME} A"]'}))
    (other,) = evaluated(ledger, arrival({"A": "[]"}))
    assert (same.action, other.action, other.rule) == ("unchanged", "hold", "changed_after_acceptance")
    again = NewEvent(identity="R1", received_at=NOW, raw=NAME.encode())
    assert ledger.events.store([again], patience_seconds=5) == [False]


def test_originals_go_once_nothing_of_them_is_open(ledger: Ledger) -> None:
    filled(ledger)
    doubt, planned = ledger.documents.select(states=["in_doubt"])[0], ledger.documents.select(states=["planned"])[0]
    for outcome, expected in (
        (Outcome(doubt.id, "accepted", "accepted"), "in_doubt"),
        (Outcome(planned.id, "abandoned", "decided"), "planned"),
    ):
        ledger.attempts.settle(outcome, expected=expected, now=LONG_AGO, evidence_text="x")
    (first, second) = ledger.files.of_run()
    assert ledger.purging.purge(before=BEFORE).needed == {second.sha256} != {first.sha256}


def test_nothing_is_left_of_it_in_the_file(ledger: Ledger, url: str) -> None:
    if not url.startswith("sqlite:"):
        return  # a server's files are its own
    filled(ledger)
    path = Path(url.removeprefix("sqlite:///"))

    def on_disk() -> bytes:
        return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))  # its write-ahead log, too

    assert f"{NAME} A".encode() in on_disk()
    ledger.purging.purge(before=BEFORE)
    assert f"{NAME} A".encode() not in on_disk()
    assert f"{NAME} B".encode() in on_disk()


def test_the_bytes_of_an_event_do_not_change(ledger: Ledger, url: str) -> None:
    filled(ledger)
    engine = engine_of(url)
    with pytest.raises(DBAPIError, match="do not change"), engine.begin() as connection:
        connection.execute(text("UPDATE event SET raw = :raw"), {"raw": b"other"})
    engine.dispose()
