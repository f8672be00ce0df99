"""One sender lost its lock without knowing, as a connection to PostgreSQL may: what it says late counts for nothing."""

import subprocess
import sys
from pathlib import Path

import pytest
from ledger.arrivals import arrival, evaluated

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Ledger, Outcome, StoredDocument, open_ledger

NOW, LATER = "2026-11-21T21:15:00+05:30", "2026-11-21T21:20:00+05:30"


def claimed(ledger: Ledger) -> StoredDocument:
    ledger.start_run("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)
    ledger.plan_file("R1", arrival({"A": "{}"}))
    (intent,) = ledger.step(outcomes=[], claim=ledger.planned_of("R1"), run="R1", now=NOW)
    return intent.document


@pytest.mark.parametrize("state", ["planned", "accepted", "in_doubt", "refused"])
def test_an_outcome_is_that_of_its_own_attempt(ledger: Ledger, url: str, state: str) -> None:
    document = claimed(ledger)
    other = open_ledger(url, account="http://service.test")
    assert other.take_over(LATER) == [document.id]
    (again,) = other.step(outcomes=[], claim=other.in_doubt(), run="R2", now=LATER, expected="in_doubt")
    with pytest.raises(LedgerRefused, match="changed by somebody else"):
        ledger.step(outcomes=[Outcome(document.id, state, "x")], claim=[], run="R1", now=LATER)
    assert [each.state for each in ledger.documents()] == ["sending"]
    other.step(outcomes=[Outcome(document.id, "accepted", "accepted")], claim=[], run="R2", now=LATER)
    attempts = [record for record in other.records(personal=False) if record["table"] == "attempt"]
    assert [(each["n"], each["meaning"]) for each in attempts] == [(1, ""), (again.n, "accepted")]
    other.close()


def test_whether_the_sender_is_gone_is_said_when_the_doubt_begins(ledger: Ledger, url: str) -> None:
    document = claimed(ledger)
    ledger.take_over(LATER)
    (found,) = ledger.in_doubt()
    # This very process made the attempt, and lives: only the lock of a SQLite file proves that it sends no more.
    assert (found.id, found.rule) == (document.id, "sender_died" if url.startswith("sqlite") else "sender_lost")


def test_a_sender_that_is_seen_to_be_dead_sends_no_more(ledger: Ledger, url: str) -> None:
    program = f"""
from ledger.test_two_senders import claimed
from logistics_batch.ledger import open_ledger
claimed(open_ledger({url!r}, account="http://service.test"))
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[1])
    ledger.take_over(LATER)
    assert [found.rule for found in ledger.in_doubt()] == ["sender_died"]


def test_a_correction_waits_behind_what_goes_out_again_after_a_doubt(ledger: Ledger) -> None:
    document = claimed(ledger)
    ledger.step(outcomes=[Outcome(document.id, "in_doubt", "unknown")], claim=[], run="R1", now=NOW)
    for outcome, expected in (
        (Outcome(document.id, "held", "held"), "in_doubt"),
        (Outcome(document.id, "planned", "decided"), "held"),
    ):
        assert ledger.settle_document(outcome, expected=expected, now=NOW, evidence_text="x")
    same, other = (arrival({"A": body}) for body in ("{}", "[]"))
    assert [each.action for each in evaluated(ledger, same)] == ["follow"]
    assert [(each.action, each.rule) for each in evaluated(ledger, other)] == [("hold", "earlier_in_doubt")]


def test_what_a_person_released_is_decided_anew_in_a_restored_copy(ledger: Ledger) -> None:
    document = claimed(ledger)
    ledger.step(outcomes=[Outcome(document.id, "in_doubt", "unknown")], claim=[], run="R1", now=NOW)
    ledger.settle_document(Outcome(document.id, "held", "held"), expected="in_doubt", now=NOW, evidence_text="x")
    ledger.settle_document(Outcome(document.id, "planned", "decided"), expected="held", now=NOW, evidence_text="x")
    ledger.accept_restored(reason="the disk died", now=LATER)
    (found,) = ledger.documents()
    assert (found.state, found.rule, found.released) == ("held", "restored", False)
