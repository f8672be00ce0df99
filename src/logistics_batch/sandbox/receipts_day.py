"""A day at the dock, from the order for it to the answer: goods are counted, the service changes, the file is written.

What takes long with many lines runs in a thread, and the service changes in blocks: requests are answered meanwhile.
"""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TypeVar

from logistics_batch.sandbox.asns import records_of, stored_asns
from logistics_batch.sandbox.receipts import receipts_csv, receipts_workbook, usual_receipts
from logistics_batch.sandbox.receipts_plan import Outcome, received_with
from logistics_batch.sandbox.receipts_service import Asn, ServiceChange, apply, move_asns
from logistics_batch.sandbox.service import Service
from logistics_batch.sandbox.store import Change

LINES_AT_ONCE = 1_000  # in one change of the service
_OPEN = ("New", "In-Progress")

One = TypeVar("One", Asn, ServiceChange)


@dataclass(frozen=True)
class WantedDay:
    """What is to come in on a day. plan: oddities, None for an ordinary day; moves: whether ASNs get its statuses.

    place: where the receipts file goes, None for nowhere; form: csv or xlsx.
    """

    received_on: date
    seed: int = 0
    plan: dict[str, float] | None = None
    moves: bool = False
    place: Path | None = None
    form: str = "csv"


async def receive(service: Service, wanted: WantedDay) -> bytes:
    """Have the day; the answer as JSON. Refused: there is no room for what the plan wants."""
    rows = await service.store.read(stored_asns)
    asns, outcome = await asyncio.to_thread(_counted, rows, wanted)
    received = _units(outcome)
    for block in _blocks(asns if wanted.moves else []):
        await service.store.write(partial(move_asns, asns=block, received=received, received_on=wanted.received_on))
    for changes in _blocks(outcome.changes):
        await service.store.write(partial(_apply_all, changes=changes))
    return await asyncio.to_thread(_reported, outcome, wanted)


def _counted(rows: list[sqlite3.Row], wanted: WantedDay) -> tuple[list[Asn], Outcome]:
    """The open ASNs, and what the dock writes about them."""
    asns = [asn for asn in records_of(rows) if asn["status"] in _OPEN]
    if wanted.plan is None:
        lines = usual_receipts(asns, seed=wanted.seed)
        return asns, Outcome(lines, [])
    return asns, received_with(asns, wanted.plan, seed=wanted.seed, received_on=wanted.received_on)


def _units(outcome: Outcome) -> dict[str, float]:
    """Units received by invoice number."""
    received: dict[str, float] = {}
    for row in outcome.receipts:
        received[row.invoice_number] = received.get(row.invoice_number, 0) + row.quantity
    return received


def _apply_all(change: Change, changes: list[ServiceChange]) -> None:
    for wanted in changes:
        apply(change, wanted)


def _blocks(things: list[One]) -> Iterator[list[One]]:
    """ASNs, or changes of them, in blocks of about `LINES_AT_ONCE` lines."""
    block: list[One] = []
    lines = 0
    for one in things:
        block.append(one)
        lines += len(one["sku_lines"]) if isinstance(one, dict) else LINES_AT_ONCE // 10
        if lines >= LINES_AT_ONCE:
            yield block
            block, lines = [], 0
    if block:
        yield block


def _reported(outcome: Outcome, wanted: WantedDay) -> bytes:
    """Write the file if one is wanted; what was planted where, and the file's text."""
    text = receipts_csv(outcome.receipts, received_on=wanted.received_on)
    if wanted.place is not None:
        is_csv = wanted.form == "csv"
        wanted.place.write_bytes(
            text.encode() if is_csv else receipts_workbook(outcome.receipts, received_on=wanted.received_on)
        )
    odd = outcome.oddities if wanted.plan is not None else [line for line in outcome.receipts if line.oddity]
    said = {
        "lines": len(outcome.receipts),
        "odd": [vars(one) for one in odd],
        "not_due": outcome.not_due,
        "csv": text,
    }
    return json.dumps(said, ensure_ascii=False).encode()
