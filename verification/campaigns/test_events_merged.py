"""Thousands of events about orders, most of them late, repeated or forged: of each order is told what was so."""

import random
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from campaigns.scale import SEED, report, size
from support.order_room import Room, order_room
from support.sandbox_process import RunningSandbox

from logistics_batch.model.order_state import status_word

EVENTS = size(120, 10_000)
ORDERS = size(6, 100)
ROUNDS = size(4, 40)
WAY = ("Assigned", "Picked", "Moving-To-Hub", "At-Hub", "Out-For-Delivery", "Complete")


class World:
    """Orders that go their way, and a stream of events of which some are true."""

    def __init__(self, room: Room, dice: random.Random) -> None:
        self.room, self.dice = room, dice
        self.references = [f"M-{number}" for number in range(ORDERS)]
        room.send(*(f"{reference},Wires,{1 + number % 4},0.00" for number, reference in enumerate(self.references)))
        self.awbs = {reference: room.awb(reference) for reference in self.references}
        self.reached = dict.fromkeys(self.references, -1)
        self.told: list[tuple[str, str, str]] = []  # every true event so far: order, status, time
        self.sent: Counter[str] = Counter()

    def goes_on(self, events: int) -> None:
        """Some orders move, each with its event; beside them come others that tell nothing, or lies."""
        now = self.room.parts.clock.now()
        for _ in range(events):
            kind = self.dice.choice(("true", "late", "again", "other_words", "forged", "future", "stranger"))
            self.sent[kind] += 1
            reference = self.dice.choice(self.references)
            if kind == "true" and self.reached[reference] + 1 < len(WAY):
                self._moves(reference, now)
            elif kind in ("late", "again", "other_words") and self.told:
                self.hears(*self.dice.choice(self.told), words="once more" if kind == "other_words" else "")
            elif kind == "stranger":
                self.room.hear(reference, "Complete", now.isoformat(), waybill=f"SH-{self.dice.randrange(10**7):07}")
            else:
                at = now + timedelta(days=400 if kind == "future" else -self.dice.random())
                self.hears(reference, self.dice.choice(WAY), at.isoformat())

    def _moves(self, reference: str, now: datetime) -> None:
        self.reached[reference] += 1
        status = WAY[self.reached[reference]]
        self.room.move(reference, status)
        told = (reference, status, now.isoformat())
        self.told.append(told)
        if self.dice.random() < 0.7:  # else it is lost, or comes later
            self.hears(*told)

    def hears(self, reference: str, status: str, at: str, words: str = "") -> None:
        spelt = self.dice.choice((status, status.upper(), status.replace("-", " ")))
        number = self.awbs[reference].removeprefix("SH-") if self.dice.random() < 0.2 else self.awbs[reference]
        self.room.hear(reference, spelt, at, waybill=number, remarks=words)

    def status(self, reference: str) -> str:
        return "pending" if self.reached[reference] < 0 else status_word(WAY[self.reached[reference]])


@pytest.mark.slow
def test_whatever_comes_each_order_is_told_as_it_was(tmp_path: Path, sandbox: RunningSandbox) -> None:
    with order_room(tmp_path / "workspace", sandbox) as room:
        world = World(room, random.Random(SEED))
        asked = heard = 0
        for number in range(ROUNDS):
            world.goes_on(EVENTS // ROUNDS)
            hinted = number % 2 == 0
            done = room.run(poll_after_seconds=3600.0 if hinted else 0.0)
            assert done.exit_code == 0, done
            asked += done.asked.asked
            heard += done.events
            known = {order.reference: order.state for order in room.parts.ledger.orders.sent()}
            for reference in world.references:
                state = known[reference]
                assert not state.is_hinted
                if not hinted or state.asked_at:
                    reached = status_word(state.status)
                    assert reached in ("pending", *map(status_word, WAY[: world.reached[reference] + 1])), reference
                if not hinted:  # everybody who is not at the end was asked
                    assert status_word(state.status) == world.status(reference), reference
        lines = [line for feed in room.feeds().values() for line in feed]
        way = ["pending", *map(status_word, WAY)]
        told: dict[str, list[int]] = defaultdict(list)
        for line in lines:
            told[line["reference_number"]].append(way.index(status_word(line["status"])))
        assert set(told) == set(world.references)
        for reference, statuses in told.items():
            assert statuses == sorted(set(statuses)), (reference, statuses)  # forward only, and each change once
            assert way[statuses[-1]] == world.status(reference)
        numbers = [int(name[-10:-4]) for name in room.feeds()]
        assert numbers == list(range(1, len(numbers) + 1))
        assert heard <= sum(world.sent.values()) - world.sent["stranger"]
        report("events merged", orders=ORDERS, events=sum(world.sent.values()), heard=heard, asked=asked,
               feeds=len(numbers), fed=len(lines), **world.sent)  # fmt: skip
