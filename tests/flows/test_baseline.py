"""Which of the service's records are new since an ASN was sent, where they have no ids to be known again by."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ledger.arrivals import arrival

from logistics_batch.api.content_match import record_digest
from logistics_batch.flows.asns.search import Baseline, Found, is_new, new_since
from logistics_batch.ledger import StoredDocument, open_ledger

LINES = [{"sku_name": "TEA", "qty": "10"}]
SENT = {"invoice_number": "I-1", "supplier_name": "Acme", "site_name": "Bhiwandi", "sku_lines": LINES}
THERE: dict[str, Any] = SENT | {"status": "New"}


@pytest.fixture
def sent(tmp_path: Path) -> StoredDocument:
    """An ASN; before it was sent, another one with its content stood there."""
    ledger = open_ledger(f"sqlite:///{tmp_path}/ledger.db", account="http://service.test")
    ledger.runs.start("R1", job="asns", kind="push", business_date="2026-11-22", now="2026-11-22T09:00:00+05:30")
    ledger.planning.plan_file("R1", arrival({"I-1": json.dumps(SENT)}))
    (planned,) = ledger.documents.stored(ledger.documents.planned_of("R1")["id"])
    ledger.close()
    return replace(planned, baseline=Baseline((record_digest(THERE),), like_it=1).text)


@pytest.mark.parametrize(
    ("records", "new"),
    [
        ([THERE], 0),
        ([THERE | {"status": "Received"}], 0),  # the same one, changed by the service
        ([THERE, THERE | {"created": "x"}], 1),
        ([THERE | {"status": "Received"}, THERE], 1),
        ([THERE | {"status": "Received"}, THERE | {"status": "Created"}], 1),
        ([THERE, THERE | {"id": 7}], 1),
        ([THERE, THERE | {"id": 7, "status": "Expired"}], 0),
        ([], 0),
    ],
)
def test_a_known_record_that_changed_is_not_taken_for_a_new_one(
    sent: StoredDocument, records: list[dict[str, Any]], new: int
) -> None:
    assert len(new_since(sent, Found(tuple(records)))) == new


@pytest.mark.parametrize(("number", "new"), [(7, 0), (8, 1)])
def test_a_record_that_was_there_before_is_not_new(sent: StoredDocument, number: int, new: int) -> None:
    before = replace(sent, baseline=Baseline((record_digest(THERE | {"id": 7}),)).text)
    record = THERE | {"id": number}
    assert len(new_since(before, Found((record,)))) == is_new(before, record) == new
