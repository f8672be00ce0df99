"""What waits for an earlier version is decided anew when that has its end."""

from dataclasses import replace

import pytest
from ledger.arrivals import arrival

from logistics_batch.ledger import Ledger, Outcome
from logistics_batch.model.issue import Issue

NOW = "2026-11-21T21:15:00+05:30"
WRONG, RIGHT = '{"n": 1}', '{"n": 2}'


@pytest.fixture(autouse=True)
def run(ledger: Ledger) -> None:
    ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)


def doubt_with_correction(ledger: Ledger, *, corrected: str = "orders.csv", approval: bool = False) -> None:
    """The first version was sent without an answer, and a corrected one waits."""
    ledger.planning.plan_file("R1", arrival({"A": WRONG}))
    (first,) = ledger.documents.select()
    ledger.attempts.step(outcomes=[], claim=[first], run="R1", now=NOW)
    end(ledger, "in_doubt", "in_doubt")
    ledger.planning.plan_file("R1", replace(arrival({"A": RIGHT}, name=corrected), approval=approval))
    assert told(ledger) == [("in_doubt", "in_doubt"), ("held", "earlier_in_doubt")]


def end(ledger: Ledger, state: str, code: str = "") -> None:
    why = Issue.of(code, message="No.") if code else Issue("")
    ledger.attempts.step(outcomes=[Outcome(1, state, "said", why=why)], claim=[], run="R1", now=NOW)


def settle(ledger: Ledger, state: str, code: str) -> None:
    why = Issue.of(code, message="No.")
    assert ledger.attempts.settle(Outcome(1, state, "said", why=why), expected="in_doubt", now=NOW)


def told(ledger: Ledger) -> list[tuple[str, str]]:
    return [(each.state, each.rule) for each in ledger.documents.select()]


def test_a_version_that_is_certainly_absent_makes_way_for_its_correction(ledger: Ledger) -> None:
    doubt_with_correction(ledger)
    assert not ledger.planning.decide_anew(now=NOW), "it may still be there"
    assert ledger.planning.decide_anew(now=NOW, absent=1)
    assert told(ledger) == [("superseded", "superseded"), ("planned", "earlier_ended")]
    assert ledger.documents.planned_of("another run")["id"].to_list() == [2], "any run takes it along"


def test_a_correction_that_a_person_must_approve_waits_for_that(ledger: Ledger) -> None:
    doubt_with_correction(ledger, approval=True)
    assert ledger.planning.decide_anew(now=NOW, absent=1)
    assert told(ledger) == [("superseded", "superseded"), ("held", "approval")]


def test_another_file_that_says_otherwise_is_no_correction_and_a_person_says_which_counts(ledger: Ledger) -> None:
    doubt_with_correction(ledger, corrected="south.csv")
    assert ledger.planning.decide_anew(now=NOW, absent=1)
    assert told(ledger) == [("held", "two_files")] * 2
    assert not ledger.planning.decide_anew(now=NOW), "asked once"


@pytest.mark.parametrize(
    ("state", "then"),
    [
        ("accepted", ("held", "changed_after_acceptance")),
        ("held", ("held", "earlier_held")),
    ],
)
def test_what_waited_is_told_what_became_of_the_version_before_it(
    ledger: Ledger, state: str, then: tuple[str, str]
) -> None:
    doubt_with_correction(ledger)
    settle(ledger, state, "settled" if state == "accepted" else "found_cancelled.numberless")
    assert not ledger.planning.decide_anew(now=NOW)
    assert told(ledger)[1] == then


def test_what_waited_for_one_that_was_dropped_and_may_be_there_goes_on_waiting_for_a_person(ledger: Ledger) -> None:
    doubt_with_correction(ledger)
    settle(ledger, "held", "found_cancelled.numberless")
    dropped = Outcome(1, "abandoned", "decided", why=Issue("dropped"))
    assert ledger.attempts.settle(dropped, expected="held", now=NOW)
    ledger.planning.decide_anew(now=NOW)
    assert told(ledger)[1] == ("held", "earlier_in_doubt")


def test_what_may_exist_stays_when_its_file_is_made_anew(ledger: Ledger) -> None:
    """Whatever it waits for, as in an older copy of the ledger that goes on."""
    ledger.planning.plan_file("R1", replace(arrival({"A": WRONG, "B": WRONG}), approval=True))
    ledger.itself.accept_restored(reason="the disk died", now=NOW)
    assert ledger.planning.sent_of(1) == 2
    ledger.planning.replan_file(1, arrival({"A": RIGHT, "B": WRONG}))
    assert told(ledger) == [("held", "approval")] * 2
