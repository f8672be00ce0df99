"""What a run tells of its sending beside others, also where its lease ends in the middle of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from logistics_batch.api.pacing import Pacer
from logistics_batch.flows.push import run_record
from logistics_batch.flows.push.health import DispatchResult
from logistics_batch.ledger import LeaseEnded
from logistics_batch.model.issue import Issue


def test_what_was_noted_before_a_lease_ended_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = iter((pl.Series([1, 2]), pl.Series([2]), pl.Series([2]), pl.Series(dtype=pl.Int64)))
    shared, leases, said = iter(("", "ended", "", "", "")), list[object](), list[object]()

    def share_out() -> None:
        if next(shared):
            raise LeaseEnded("It is over.")

    @contextmanager
    def sending_in_lanes(run: str) -> Iterator[Any]:
        leases.append(run)
        yield SimpleNamespace(share_out=share_out, lanes=frozenset(), calls_for_sharing=False)

    def send_in_turn(_: object, mine: pl.DataFrame, *, run: str, before: DispatchResult) -> DispatchResult:
        return DispatchResult(pauses=before.pauses + 1, notes=(*before.notes, Issue(f"{run}.{mine.height}")))

    ledger = SimpleNamespace(
        lanes=SimpleNamespace(are_shared=True),
        sending_in_lanes=sending_in_lanes,
        documents=SimpleNamespace(planned_of=lambda *_, **__: pl.DataFrame({"id": next(planned)})),
        attempts=SimpleNamespace(left_of=lambda _: 0),
        pace=SimpleNamespace(say_rate=said.append),
    )
    monkeypatch.setattr(run_record, "send_in_turn", send_in_turn)
    parts: Any = SimpleNamespace(
        ledger=ledger,
        client=SimpleNamespace(pacer=Pacer("30/min")),
        stop=SimpleNamespace(is_set=bool),
        clock=SimpleNamespace(sleep=print),
    )
    result = run_record.send_beside_others(parts, run="R1")
    assert (leases, said) == (["R1", "R1"], ["0.5/s"])
    assert (result.pauses, [note.code for note in result.notes]) == (2, ["R1.2", "R1.1"])
