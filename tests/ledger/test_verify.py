"""What does not hold together is found, and all of the ledger can be read as records."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from ledger.arrivals import arrival, planned
from sqlalchemy import text
from support.engines import engine_of

from logistics_batch.ledger import Ledger, Outcome, open_ledger

NOW = "2026-11-21T21:15:00+05:30"


def filled(ledger: Ledger) -> None:
    """A accepted, B in doubt, C planned, and an invalid row."""
    ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-21", now=NOW)
    ledger.planning.plan_file("R1", arrival({"A": '{"customer_name": "Asha"}', "B": "[1]", "C": "[2]"}, invalid=(5,)))
    first, second, _ = planned(ledger)
    ledger.attempts.step(outcomes=[], claim=[first, second], run="R1", now=NOW)
    done = Outcome(first.id, "accepted", "accepted", status=200, reply='{"name": "Asha"}', awb_number="SH-1")
    ledger.attempts.step(outcomes=[done, Outcome(second.id, "in_doubt", "unknown")], claim=[], run="R1", now=NOW)


def change(url: str, *statements: str) -> None:
    """As a disk, a person or an error of this program might; guards are what such a change would have to break."""
    engine = engine_of(url)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def drop_guard(url: str, name: str) -> str:
    return f"DROP TRIGGER {name}" + ("" if url.startswith("sqlite") else " ON document")


def test_a_ledger_that_holds_together(ledger: Ledger) -> None:
    filled(ledger)
    found = ledger.itself.verify()
    assert found.findings == ()
    assert found.counted == {
        "runs": 1, "files": 1, "rows": 4, "documents": 3, "attempts": 2, "evidence": 0,
        "documents accepted": 1, "documents in doubt": 1, "documents planned": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("check", "statement", "named"),
    [
        ("totals", "DELETE FROM row WHERE row = 5", "orders.csv"),
        ("fates", "UPDATE row SET document_id = NULL WHERE row = 2", "orders.csv"),
        ("attempts", "UPDATE document SET attempts = 2 WHERE key = 'A'", "1"),
        ("attempts", "UPDATE attempt SET n = 7 WHERE document_id = 2", "2"),
        ("sent bytes", "UPDATE attempt SET request_sha256 = 'x' WHERE document_id = 2", "2"),
    ],
)
def test_what_does_not_hold_together_is_named(ledger: Ledger, url: str, check: str, statement: str, named: str) -> None:
    filled(ledger)
    change(url, statement.replace(" row ", ' "row" ', 1))
    (finding,) = ledger.itself.verify().findings
    assert finding.check == check
    assert finding.problem.endswith(f": {named}.")
    assert finding.remedy


def test_bytes_that_are_not_those_that_were_written(ledger: Ledger, url: str) -> None:
    filled(ledger)
    change(url, drop_guard(url, "document_content"), "UPDATE document SET body = '[3]' WHERE key = 'C'")
    assert [finding.check for finding in ledger.itself.verify().findings] == ["bytes"]


def test_two_live_orders_under_one_reference(ledger: Ledger, url: str) -> None:
    filled(ledger)
    change(
        url,
        drop_guard(url, "document_transition"),
        drop_guard(url, "document_content"),
        "UPDATE document SET state = 'accepted', key = 'A', generation = 2 WHERE key = 'B'",
    )
    (finding,) = ledger.itself.verify().findings
    assert (finding.check, finding.problem.endswith(": A.")) == ("one live order", True)
    change(url, "UPDATE document SET code = 'cancelled' WHERE generation = 1 AND key = 'A'")
    assert ledger.itself.verify().findings == ()


def test_all_records_can_be_read_and_personal_data_only_when_asked_for(ledger: Ledger) -> None:
    filled(ledger)
    plain = list(ledger.itself.records(personal=False))
    assert "Asha" not in str(plain)
    by_table = {record["table"]: record for record in plain}
    assert {"meta", "run", "file", "document", "row", "issue", "attempt"} <= set(by_table)
    assert len(by_table["document"]["body_sha256"]) == 64
    full = [record for record in ledger.itself.records(personal=True) if record["table"] == "document"]
    assert [record["body"] for record in full] == ['{"customer_name": "Asha"}', "[1]", "[2]"]


def test_several_processes_that_find_no_ledger_make_one(url: str) -> None:
    gate = Barrier(6)

    def opened(_: int) -> Ledger:
        gate.wait()
        return open_ledger(url, account="http://service.test")

    with ThreadPoolExecutor(6) as workers:
        found = list(workers.map(opened, range(6)))
    filled(found[0])
    assert [len(each.runs.latest()) for each in found] == [1] * 6
    for each in found:
        each.close()
