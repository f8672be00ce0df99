"""What waits for a person without being a document: files held as a whole, files left, and the notes of a run."""

import pytest
from ledger.arrivals import arrival
from support.issues import own

from logistics_batch.errors import FileHeld
from logistics_batch.ledger import Ledger
from logistics_batch.model.issue import Issue

NOW, LATER = "2026-11-22T21:15:00+05:30", "2026-11-22T22:15:00+05:30"
LINK, GROWS = Issue("left.link"), Issue("left.changes")
CUT = FileHeld(own("unreadable"), values={"reason": "The workbook is cut off.", "remedy": "Ask for it again."})


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    for run in ("R1", "R2", "R3"):
        ledger.runs.start(run, job="orders", kind="push", business_date="2026-11-22", now=NOW)
    return ledger


def hold(ledger: Ledger, *, run: str = "R1", name: str = "orders.csv", identity: str = "i1") -> int:
    """A file arrives and is held as a whole; gives its number."""
    number = ledger.planning.plan_file(run, arrival({identity: "{}"}, name=name, held=CUT))
    held, stem = ledger.files.get(number), name.partition(".")[0]
    ledger.files.hold_file(held, job="orders", stem=stem, identity=identity, now=NOW)
    return number


def waiting(ledger: Ledger) -> list[int]:
    return [each.id for each in ledger.files.held(job="orders")]


def test_a_held_file_waits_with_its_reason_until_it_is_closed(ledger: Ledger) -> None:
    number = hold(ledger)
    (found,) = ledger.files.held()
    assert (found.id, found.run, found.name, found.since) == (number, "R1", "orders.csv", NOW)
    assert (found.rule, found.reason, found.remedy) == ("unreadable", "The workbook is cut off.", "Ask for it again.")
    assert ledger.files.close_held_file(number, now=LATER, why="came again by mail", who="asha")
    assert ledger.files.held() == []
    assert not ledger.files.close_held_file(number, now=LATER, why="again", who="asha")


def test_the_same_file_still_lying_there_is_no_second_one(ledger: Ledger) -> None:
    first = hold(ledger)
    hold(ledger, run="R2")
    assert waiting(ledger) == [first]
    ledger.files.close_held_file(first, now=LATER, why="not wanted", who="asha")
    hold(ledger, run="R3")  # a person's word about it stands
    assert waiting(ledger) == []


def test_another_file_of_the_name_takes_its_place_and_one_of_another_name_does_not(ledger: Ledger) -> None:
    hold(ledger)
    second = hold(ledger, run="R2", identity="i2")
    assert waiting(ledger) == [second]
    third = hold(ledger, run="R2", name="more.csv", identity="i3")
    assert waiting(ledger) == [second, third]


def test_what_is_left_is_known_since_it_was_first_seen_and_goes_when_it_is_gone(ledger: Ledger) -> None:
    ledger.files.note_left_files("orders", {"a": ("a.csv", LINK), "b": ("b.csv", GROWS)}, now=NOW)
    ledger.files.note_left_files("other", {"a": ("a.csv", LINK)}, now=NOW)
    ledger.files.note_left_files("orders", {"a": ("a.csv", GROWS)}, now=LATER)
    assert [(each.name, each.why, each.since) for each in ledger.files.left(job="orders")] == [("a.csv", GROWS, NOW)]
    hold(ledger)
    assert ledger.files.counts_of_waiting_files() == ({"orders": 1}, {"orders": 1, "other": 1})
    ledger.files.note_left_files("orders", {}, now=LATER)
    assert ledger.files.left(job="orders") == []


def test_a_run_keeps_its_notes(ledger: Ledger) -> None:
    ledger.runs.keep_notes("R1", [LINK, Issue.of("file.gone", name="b.csv")])
    ledger.runs.keep_notes("R1", [LINK])
    assert ledger.runs.notes_of("R1") == (LINK,)
    assert ledger.runs.notes_of("R2") == ()
