"""When a doubt may be looked into: the patience of the settings, and for each search for an ASN a longer one."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

import pytest

from logistics_batch.flows.doubts.settle import ASN_SEARCH_AT, due_at
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import StoredDocument

SINCE = datetime.fromisoformat("2026-11-21T21:15:00+05:30")
PATIENCE = timedelta(minutes=10)


@dataclass
class Doubt:
    """What a document in doubt is judged by."""

    operation: str
    checks: int
    doubt_since: str = SINCE.isoformat()


@dataclass
class Policy:
    settle_after_seconds: float = PATIENCE.total_seconds()


@dataclass
class Patient:
    policy: Policy


@pytest.mark.parametrize(("searches", "times"), [(0, 1), (1, 3), (2, 6), (3, 6), (20, 6)])
def test_an_asn_is_searched_for_at_once_three_and_six_times_the_patience(searches: int, times: int) -> None:
    assert due("asn.create", searches) == SINCE + times * PATIENCE
    assert len(ASN_SEARCH_AT) == 3


@pytest.mark.parametrize("operation", ["order.create", "order.update", "asn.update"])
@pytest.mark.parametrize("searches", [0, 1, 5])
def test_anything_else_is_looked_for_once_the_patience_is_over(operation: str, searches: int) -> None:
    assert due(operation, searches) == SINCE + PATIENCE


def due(operation: str, searches: int) -> datetime:
    return due_at(cast("Parts", Patient(Policy())), cast("StoredDocument", Doubt(operation, searches)))
