"""Every run has an id of its own."""

import secrets
from datetime import date

import pytest

from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.run_record import recorded_run

DAY = date(2026, 11, 22)


def test_runs_of_one_second_never_share_an_id(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["beef", "beef", "cafe", "cafe", "f00d"])
    monkeypatch.setattr(secrets, "token_hex", lambda _: next(drawn))
    ids = []
    for _ in range(3):
        with recorded_run(parts, letter="C", kind="reconcile", job="nightly", business_date=DAY) as run:
            run.ended(0, {})
        ids.append(run.id.rpartition("-")[2])
    assert ids == ["beef", "cafe", "f00d"]
    assert len(parts.ledger.runs.latest()) == 3
