"""What a page or a person asks of one order or run is found by an index, however many documents there are."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from logistics_batch.ledger import Ledger

QUESTIONS: dict[str, Callable[[Ledger], object]] = {
    "by the beginning of a name": lambda ledger: ledger.documents.named("R-1", limit=20),
    "by reference or AWB number": lambda ledger: ledger.documents.select(references=["R-1"]),
    "of a run": lambda ledger: ledger.documents.select(run="nightly-1"),
    "sent along with a run": lambda ledger: ledger.documents.sent_along("nightly-1"),
    "how far a run is": lambda ledger: ledger.documents.states_of("nightly-1"),
    "settled in a run": lambda ledger: ledger.documents.settled_in("nightly-1"),
    "what became of the files of a run": lambda ledger: ledger.documents.tallies("nightly-1"),
    "what was seen of one": lambda ledger: ledger.documents.evidence(1),
    "what was decided of one": lambda ledger: ledger.documents.decisions(1),
}
ALL_OF_AN_ACCOUNT = "(account=?)"


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Of SQLite alone: PostgreSQL decides by what it has counted."""
    return f"sqlite:///{tmp_path}/ledger.db"


@pytest.mark.parametrize("asked", QUESTIONS)
def test_no_question_about_one_reads_all(ledger: Ledger, asked: str) -> None:
    plans: list[str] = []

    def explain(connection: Connection, _: object, statement: str, values: object, *__: object) -> None:
        cursor = connection.connection.cursor()
        if statement.startswith("SELECT"):
            plans.extend(step for *_, step in cursor.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall())

    event.listen(Engine, "before_cursor_execute", explain)
    try:
        QUESTIONS[asked](ledger)
    finally:
        event.remove(Engine, "before_cursor_execute", explain)
    assert plans
    tables = [step for step in plans if "VIRTUAL TABLE" not in step]
    assert not [step for step in tables if step.startswith("SCAN") or step.endswith(ALL_OF_AN_ACCOUNT)]
