"""When something is asked about: after the patience of the settings, then after ever longer pauses."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from logistics_batch.flows.doubts.settle import due_at
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import StoredDocument

SINCE = datetime.fromisoformat("2026-11-21T21:15:00+05:30")
PATIENCE = timedelta(minutes=10)


@dataclass
class Doubt:
    """What a document in doubt is judged by."""

    operation: str
    checks: int
    attempts: int = 1
    doubt_since: str = SINCE.isoformat()
    id: int = 7


@dataclass
class Policy:
    settle_after_seconds: float = PATIENCE.total_seconds()


@dataclass
class Attempts:
    """So many attempts may have arrived."""

    doubtful: int

    def of(self, document_id: int) -> list[SimpleNamespace]:
        assert document_id == Doubt.id
        return [SimpleNamespace(may_have_arrived=True)] * self.doubtful


@dataclass
class Ledger:
    attempts: Attempts


@dataclass
class Patient:
    policy: Policy
    ledger: Ledger


@pytest.mark.parametrize("operation", ["order.create", "order.update", "asn.create"])
@pytest.mark.parametrize(("asked", "times"), [(0, 1), (1, 3), (2, 6), (3, 10), (20, 231)])
def test_what_may_be_there_is_asked_about_with_growing_pauses(operation: str, asked: int, times: int) -> None:
    assert due(operation, asked) == SINCE + times * PATIENCE


@pytest.mark.parametrize(("attempts", "times"), [(1, 1), (3, 1), (4, 3), (6, 10)])
def test_what_is_sent_again_and_again_waits_longer_from_the_fourth_attempt_on(attempts: int, times: int) -> None:
    assert due("order.create", 0, attempts=attempts) == SINCE + times * PATIENCE


def test_attempts_that_were_answered_without_an_effect_make_nothing_wait() -> None:
    assert due("order.create", 0, attempts=33, doubtful=1) == SINCE + PATIENCE


def due(operation: str, checks: int, *, attempts: int = 1, doubtful: int | None = None) -> datetime:
    parts = Patient(Policy(), Ledger(Attempts(attempts if doubtful is None else doubtful)))
    return due_at(cast("Parts", parts), cast("StoredDocument", Doubt(operation, checks, attempts)))
