"""Vans that drive: open orders move on along their ways. Everything is drawn from the seed."""

import asyncio
import random
import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from logistics_batch.sandbox.orders import CANCELLED, find_order, item_rows
from logistics_batch.sandbox.service import Service
from logistics_batch.sandbox.simulator_journey import Kind, kind_of, next_status
from logistics_batch.sandbox.simulator_words import words_for
from logistics_batch.sandbox.statuses import HANDED_OVER, Goods, Move, move_order, quantity_of
from logistics_batch.sandbox.store import Change

PARTIAL_SHARE = 0.06  # of the orders with more than one unit, at picking and again at the door
_LOOK_SECONDS = 0.2
_AT_ONCE = 200  # orders in one change: requests are answered between two


@dataclass(frozen=True)
class Drive:
    """One round of the vans. steps: statuses an order goes on, None to its end; share: of the orders, this many move.

    references: only these orders (reference or AWB), also those that were moved by hand; none: all others.
    """

    seed: int = 0
    steps: int | None = None
    share: float = 1.0
    references: tuple[str, ...] = ()


async def advance(service: Service, drive: Drive) -> dict[str, int]:
    """Let the vans drive; counts of the statuses reached. Refused when a reference is not known."""
    ids = await service.store.read(lambda connection: _order_ids(connection, drive))
    reached: Counter[str] = Counter()
    for start in range(0, len(ids), _AT_ONCE):
        part = ids[start : start + _AT_ONCE]
        reached += await service.store.write(partial(_advance_some, order_ids=part, drive=drive))
    return dict(reached)


async def drive_for_ever(service: Service) -> None:
    """Every `move_orders_every_seconds` each open order goes one status on, until cancelled; 0: nothing moves."""
    waited_seconds = 0.0
    while True:
        every_seconds = service.switches.move_orders_every_seconds
        pause_seconds = min(_LOOK_SECONDS, every_seconds or _LOOK_SECONDS)
        await asyncio.sleep(pause_seconds)
        waited_seconds += pause_seconds
        if every_seconds and waited_seconds >= every_seconds:
            waited_seconds = 0.0
            await advance(service, Drive(seed=service.switches.event_seed, steps=1))


def _order_ids(connection: sqlite3.Connection, drive: Drive) -> list[int]:
    """Who may move: the orders named, else all that are not cancelled and were not put somewhere by hand."""
    if drive.references:
        return [find_order(connection, one, by_reference=True)["order_id"] for one in drive.references]
    rows = connection.execute(
        "SELECT order_id FROM orders WHERE status <> ? AND COALESCE((SELECT moved_by FROM order_history AS history"
        " WHERE history.order_id = orders.order_id ORDER BY history_id DESC LIMIT 1), '') <> 'hand' ORDER BY order_id",
        (CANCELLED,),
    )
    return [row["order_id"] for row in rows]


def _advance_some(change: Change, order_ids: list[int], drive: Drive) -> Counter[str]:
    reached: Counter[str] = Counter()
    for order_id in order_ids:
        order = change.connection.execute("SELECT * FROM orders WHERE order_id = ?", (order_id,)).fetchone()
        if order["status"] != CANCELLED:
            reached.update(_advance_one(change, order, drive))
    return reached


def _advance_one(change: Change, order: sqlite3.Row, drive: Drive) -> list[str]:
    """Move one order on; the times of its new statuses lie evenly between its last change and now."""
    past, awb = _past(change.connection, order), order["awb_number"]
    if random.Random(f"{drive.seed}:{awb}:{len(past)}:share").random() >= drive.share:  # noqa: S311
        return []
    way = _way_on(awb, past, drive, kind_of(order["body"]))
    for status, at in zip(way, _times(order["modified_at"], change.at, len(way)), strict=True):
        chance = random.Random(f"{drive.seed}:{awb}:{len(past)}:goods")  # noqa: S311
        goods = _goods(item_rows(change.connection, order["order_id"]), status, chance)
        remarks, comment = words_for(status, chance)
        move_order(
            change,
            order,
            Move(status, remarks, comment, moved_by="warehouse", at=at, goods=goods),
        )
        past = (*past, status)
    return way


def _past(connection: sqlite3.Connection, order: sqlite3.Row) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT status FROM order_history WHERE order_id = ? ORDER BY history_id", (order["order_id"],)
    )
    return tuple(row["status"] for row in rows)


def _way_on(awb: str, past: tuple[str, ...], drive: Drive, kind: Kind) -> list[str]:
    way: list[str] = []
    while drive.steps is None or len(way) < drive.steps:
        status = next_status(awb, (*past, *way), seed=drive.seed, kind=kind)
        if not status:
            break
        way.append(status)
    return way


def _times(last: str, now: str, count: int) -> list[str]:
    """`count` rising times after `last`, the final one now."""
    end = datetime.fromisoformat(now)
    span = max(end - datetime.fromisoformat(last), timedelta(microseconds=count))
    return [
        (end - span * (count - number) / count).isoformat(timespec="microseconds") for number in range(1, count + 1)
    ]


def _goods(items: Mapping[str, sqlite3.Row], status: str, chance: random.Random) -> dict[str, Goods]:
    """What is picked, or delivered, at this status: seldom less of one item than there should be."""
    if status == "Picked":
        counts = {name: quantity_of(item) for name, item in items.items()}
        return {name: Goods(count, 0) for name, count in _less(counts, chance).items()}
    if status in HANDED_OVER:
        counts = {name: min(item["picked"], quantity_of(item)) for name, item in items.items()}
        delivered = _less(counts, chance)
        return {name: Goods(count, delivered[name]) for name, count in counts.items()}
    return {}


def _less(counts: dict[str, float], chance: random.Random) -> dict[str, float]:
    """The counts, or in `PARTIAL_SHARE` of the cases fewer units of one item (never none of it)."""
    several = sorted(name for name, count in counts.items() if count >= 2)
    if not several or chance.random() >= PARTIAL_SHARE:
        return counts
    name = chance.choice(several)
    return counts | {name: counts[name] - chance.randint(1, int(counts[name]) - 1)}
