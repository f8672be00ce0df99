"""Answers that a ledger does not take are kept beside it, and count when it goes again."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from ledger.arrivals import arrival
from sqlalchemy import create_engine, text

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger import Ledger, Outcome, StoredDocument, open_ledger
from logistics_batch.model.issue import Issue

NOW = "2026-11-21T21:15:00+05:30"
LATER = "2026-11-21T22:15:00+05:30"
Opened = Callable[[], Ledger]

# How a test makes a ledger that takes no outcome: any write of one is refused by the database itself.
BREAK = {
    "sqlite": [
        "CREATE TRIGGER broken BEFORE UPDATE OF status ON attempt BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
    ],
    "postgresql": [
        """CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'the disk is full' USING ERRCODE = 'disk_full'; END $$""",
        "CREATE TRIGGER broken BEFORE UPDATE OF status ON attempt FOR EACH ROW EXECUTE FUNCTION broken()",
    ],
}
MEND = {"sqlite": "DROP TRIGGER broken", "postgresql": "DROP TRIGGER broken ON attempt"}


@pytest.fixture
def spill(tmp_path: Path) -> Path:
    return tmp_path / "var/ledger.spill"


@pytest.fixture
def opened(url: str, spill: Path) -> Opened:
    return lambda: open_ledger(url, account="http://service.test", spill=spill)


def execute(url: str, *statements: str) -> None:
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def dialect(url: str) -> str:
    return "sqlite" if url.startswith("sqlite") else "postgresql"


def begun(ledger: Ledger) -> list[StoredDocument]:
    """Three orders of which the intents are written."""
    ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)
    ledger.planning.plan_file("R1", arrival({"A": "{}", "B": "[]", "C": "1"}))
    documents = ledger.documents.stored(ledger.documents.planned_of("R1")["id"])
    ledger.attempts.step(outcomes=[], claim=documents, run="R1", now=NOW)
    return documents


def lose(url: str, ledger: Ledger, outcomes: list[Outcome]) -> None:
    execute(url, *BREAK[dialect(url)])
    with pytest.raises(Exception, match="disk is full"):
        ledger.attempts.step(outcomes=outcomes, claim=[], run="R1", now=NOW)
    execute(url, MEND[dialect(url)])


def test_what_was_answered_counts_and_the_rest_is_in_doubt(url: str, opened: Opened) -> None:
    ledger = opened()
    with ledger.sending("orders"):
        a, b, _ = begun(ledger)
        accepted = Outcome(a.id, "accepted", "accepted", awb_number="SH-1", items={"7": {"n": "ä"}}, reply="{“ok”}")
        refused = Outcome(b.id, "refused", "refused", why=Issue.of("refused", message="no"), child_awb_numbers=("x",))
        lose(url, ledger, [accepted, refused])
    ledger.close()
    ledger = opened()
    with ledger.sending("orders"):
        ledger.attempts.take_over(LATER)
        found = ledger.documents.select()
        assert [document.state for document in found] == ["accepted", "refused", "in_doubt"]
        assert (found[0].awb_number, found[0].items, found[0].settled_at) == ("SH-1", {"7": {"n": "ä"}}, NOW)
        assert [kind for _, kind, _, _ in ledger.documents.evidence(a.id)] == ["spill"]
    with ledger.sending("orders"):  # it is taken back once
        assert [kind for _, kind, _, _ in ledger.documents.evidence(a.id)] == ["spill"]
    ledger.close()


def test_a_kept_answer_with_the_number_of_another_order_is_not_believed(url: str, opened: Opened) -> None:
    """It was kept because nobody could look up whose the number is."""
    ledger = opened()
    with ledger.sending("orders"):
        a, b, c = begun(ledger)
        lose(url, ledger, [Outcome(one.id, "accepted", "accepted", awb_number="SH-1") for one in (b, a)])
        ledger.attempts.keep_answers([Outcome(c.id, "accepted", "accepted", awb_number="SH-2")], now=NOW)
    with ledger.sending("orders"):
        ledger.attempts.take_over(LATER)
        found = [(one.state, one.awb_number) for one in ledger.documents.select()]
        assert found == [("in_doubt", ""), ("accepted", "SH-1"), ("accepted", "SH-2")]
    ledger.close()


def test_an_answer_never_counts_for_a_later_attempt(url: str, opened: Opened, spill: Path) -> None:
    ledger = opened()
    with ledger.sending("orders"):
        documents = begun(ledger)
        lose(url, ledger, [Outcome(documents[0].id, "planned", "slow_down")])
        kept = spill.read_bytes()
    with ledger.sending("orders"):
        (again,) = ledger.documents.select(states=["planned"])
        ledger.attempts.step(outcomes=[], claim=[again], run="R1", now=LATER)
        spill.write_bytes(kept)  # as if clearing it had been lost in a power cut
    with ledger.sending("orders"):
        assert ledger.documents.select(states=["planned"]) == []
        assert documents[0].id in ledger.attempts.take_over(LATER)
    ledger.close()


def test_a_doubt_that_another_machine_took_over_is_settled_by_it(url: str, opened: Opened) -> None:
    ledger = opened()
    with ledger.sending("orders"):
        documents = begun(ledger)
        lose(url, ledger, [Outcome(document.id, "accepted", "accepted") for document in documents[:1]])
    without = open_ledger(url, account="http://service.test")
    with without.sending("orders"):
        assert len(without.attempts.take_over(LATER)) == 3
    without.close()
    with ledger.sending("orders"):
        assert [document.state for document in ledger.documents.select()] == ["accepted", "in_doubt", "in_doubt"]
    ledger.close()


@pytest.mark.parametrize("cut", [2, 40, 200])
def test_a_torn_line_is_no_line(url: str, opened: Opened, spill: Path, cut: int) -> None:
    ledger = opened()
    with ledger.sending("orders"):
        documents = begun(ledger)
        lose(url, ledger, [Outcome(document.id, "accepted", "accepted") for document in documents[:2]])
    content = spill.read_bytes().rstrip(b"\0")
    spill.write_bytes(content[:-cut])
    with ledger.sending("orders"):
        assert [document.state for document in ledger.documents.select()] == ["accepted", "sending", "sending"]
    ledger.close()


def test_its_space_is_taken_beforehand_and_only_we_can_read_it(opened: Opened, spill: Path) -> None:
    ledger = opened()
    with ledger.sending("orders"):
        before = spill.stat()
        assert before.st_size == before.st_blocks * 512 == 1 << 22
        assert stat.S_IMODE(before.st_mode) == 0o600
    ledger.close()


def test_without_room_for_it_nothing_is_sent(opened: Opened, spill: Path) -> None:
    spill.mkdir(parents=True)
    ledger = opened()
    with pytest.raises(LedgerRefused, match="no room"), ledger.sending("orders"):
        pytest.fail("it was allowed to send")
    ledger.close()
