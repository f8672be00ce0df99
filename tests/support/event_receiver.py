"""A real HTTP server that takes events of the sandbox, for tests."""

import itertools
import json
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from support.http_answers import Asked, HttpAnswers, Told

WAIT_SECONDS = 15

Event = tuple[dict[str, str], dict[str, Any]]


@dataclass
class Receiver:
    """Events with their headers as they came; `answer` decides the status of the n-th, `open_door` when it is given."""

    url: str = ""
    events: "queue.Queue[Event]" = field(default_factory=queue.Queue)
    answer: Callable[[int], int] = lambda _number: 200
    open_door: threading.Event = field(default_factory=threading.Event)
    answer_headers: dict[str, str] = field(default_factory=dict)

    def next(self) -> Event:
        return self.events.get(timeout=WAIT_SECONDS)

    def take(self, count: int) -> list[dict[str, Any]]:
        """The bodies of the next `count` events."""
        return [self.next()[1] for _ in range(count)]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on any free port; it answers 200 until told otherwise."""
    taken = Receiver()
    taken.open_door.set()
    numbers = itertools.count(1)

    def answer(asked: Asked) -> Told:
        status = taken.answer(next(numbers))
        taken.events.put((asked.headers, json.loads(asked.body)))
        taken.open_door.wait()
        return Told(status, content_type="", headers=taken.answer_headers)

    server = HttpAnswers(answer)
    taken.url = f"{server.url}/events?from=sandbox"
    try:
        yield taken
    finally:
        taken.open_door.set()
        server.stop()
