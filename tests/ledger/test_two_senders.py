"""One sender lost its lock without knowing, as a connection to PostgreSQL may: what it says late counts for nothing."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from ledger.arrivals import arrival, evaluated, planned

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import WRITING_ANSWERS, Ledger, Outcome, StoredDocument, open_ledger
from logistics_batch.processes import is_gone, this_process

NOW, LATER = "2026-11-21T21:15:00+05:30", "2026-11-21T21:20:00+05:30"


def claimed(ledger: Ledger) -> StoredDocument:
    ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)
    ledger.planning.plan_file("R1", arrival({"A": "{}"}))
    (intent,) = ledger.attempts.step(outcomes=[], claim=planned(ledger), run="R1", now=NOW)
    return intent.document


@pytest.mark.parametrize("state", ["planned", "accepted", "in_doubt", "refused"])
def test_an_outcome_is_that_of_its_own_attempt(ledger: Ledger, url: str, state: str) -> None:
    document = claimed(ledger)
    other = open_ledger(url, account="http://service.test")
    assert other.attempts.take_over(LATER) == [document.id]
    (again,) = other.attempts.step(
        outcomes=[], claim=other.attempts.in_doubt(), run="R2", now=LATER, expected="in_doubt"
    )
    with pytest.raises(LedgerRefused, match="changed by somebody else"):
        ledger.attempts.step(outcomes=[Outcome(document.id, state, "x")], claim=[], run="R1", now=LATER)
    assert [each.state for each in ledger.documents.select()] == ["sending"]
    other.attempts.step(outcomes=[Outcome(document.id, "accepted", "accepted")], claim=[], run="R2", now=LATER)
    attempts = [record for record in other.itself.records(personal=False) if record["table"] == "attempt"]
    assert [(each["n"], each["meaning"]) for each in attempts] == [(1, ""), (again.n, "accepted")]
    other.close()


def test_whether_the_sender_is_gone_is_said_when_the_doubt_begins(ledger: Ledger, url: str) -> None:
    document = claimed(ledger)
    ledger.attempts.take_over(LATER)
    (found,) = ledger.attempts.in_doubt()
    # This very process made the attempt, and lives: only the lock of a SQLite file proves that it sends no more.
    assert (found.id, found.rule) == (document.id, "sender_died" if url.startswith("sqlite") else "sender_lost")


def test_a_sender_that_is_seen_to_be_dead_sends_no_more(ledger: Ledger, url: str) -> None:
    program = f"""
from ledger.test_two_senders import claimed
from logistics_batch.ledger import open_ledger
claimed(open_ledger({url!r}, account="http://service.test"))
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[1])
    ledger.attempts.take_over(LATER)
    assert [found.rule for found in ledger.attempts.in_doubt()] == ["sender_died"]


CONTAINERS = {
    "the same": ({}, "sender_lost"),  # this very process, which lives
    "another process with its number": ({"start": "1"}, "sender_died"),
    "a number that nobody has": ({"pid": 2**22}, "sender_died"),
    "number 1 of another container on a host of this name": ({"namespace": "pid:[1]", "start": "1"}, "sender_lost"),
    "a number of another container that nobody has here": ({"namespace": "pid:[1]", "pid": 2**22}, "sender_lost"),
    "a machine of the same name": ({"boot": "another", "pid": 2**22}, "sender_lost"),
    "written by an earlier version": ({"namespace": None, "start": None, "pid": 2**22}, "sender_lost"),
}


@pytest.mark.parametrize("who", CONTAINERS)
def test_a_sender_that_may_live_is_never_taken_for_dead(
    ledger: Ledger, url: str, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    change, rule = CONTAINERS[who]
    written = json.loads(this_process()) | change
    monkeypatch.setattr("logistics_batch.ledger.documents.attempts.this_process", lambda: json.dumps(written))
    document = claimed(ledger)
    assert ledger.attempts.take_over(LATER) == [document.id]
    found = [(each.id, each.rule) for each in ledger.attempts.in_doubt()]
    assert found == [(document.id, "sender_died" if url.startswith("sqlite") else rule)]


def test_a_process_of_another_user_is_alive_though_nobody_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr("os.kill", forbidden)
    assert is_gone(json.dumps(json.loads(this_process()) | {"pid": 2**22})) is None


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="makes namespaces of its own")
def test_a_process_in_a_namespace_of_its_own_judges_nobody_else() -> None:
    program = f"""
import os
from logistics_batch.processes import is_gone, this_process
print(os.getpid(), is_gone({this_process()!r}), is_gone(this_process()), this_process())
"""
    command = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr:  # not allowed here
        pytest.skip(done.stderr)
    pid, ours, own, inside = done.stdout.split(maxsplit=3)
    assert (pid, ours, own) == ("1", "None", "False")
    assert is_gone(inside) is None  # though it has ended: who lives there is not seen from here


def test_a_correction_waits_behind_what_goes_out_again_after_a_doubt(ledger: Ledger) -> None:
    document = claimed(ledger)
    ledger.attempts.step(outcomes=[Outcome(document.id, "in_doubt", "unknown")], claim=[], run="R1", now=NOW)
    for outcome, expected in (
        (Outcome(document.id, "held", "held"), "in_doubt"),
        (Outcome(document.id, "planned", "decided"), "held"),
    ):
        assert ledger.attempts.settle(outcome, expected=expected, now=NOW, evidence_text="x")
    same, other = (arrival({"A": body}) for body in ("{}", "[]"))
    assert [each.action for each in evaluated(ledger, same)] == ["follow"]
    assert [(each.action, each.rule) for each in evaluated(ledger, other)] == [("hold", "earlier_in_doubt")]


def test_what_a_person_released_is_decided_anew_in_a_restored_copy(ledger: Ledger) -> None:
    document = claimed(ledger)
    ledger.attempts.step(outcomes=[Outcome(document.id, "in_doubt", "unknown")], claim=[], run="R1", now=NOW)
    ledger.attempts.settle(Outcome(document.id, "held", "held"), expected="in_doubt", now=NOW, evidence_text="x")
    ledger.attempts.settle(Outcome(document.id, "planned", "decided"), expected="held", now=NOW, evidence_text="x")
    ledger.itself.accept_restored(reason="the disk died", now=LATER)
    (found,) = ledger.documents.select()
    assert (found.state, found.rule, found.send_approved) == ("held", "restored", False)


def test_whoever_only_writes_answers_is_waited_for(ledger: Ledger, url: str) -> None:
    """A decision on a page has answers written for a second: a run of that moment is not sent away."""
    other = open_ledger(url, account="http://service.test")
    ends = threading.Event()

    def writes_answers() -> None:
        with other.sending(WRITING_ANSWERS):
            begun.set()
            ends.wait(30)

    begun = threading.Event()
    writer = threading.Thread(target=writes_answers)
    writer.start()
    assert begun.wait(30)
    threading.Timer(0.3, ends.set).start()
    with ledger.sending("push"):
        assert ends.is_set()
    writer.join()
    other.close()
