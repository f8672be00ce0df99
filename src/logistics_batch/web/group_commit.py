"""Many events, one durable transaction: whatever came while the last one was written goes into the next."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from logistics_batch.errors import LogisticsBatchError
from logistics_batch.ledger import NewEvent
from logistics_batch.web.troubles import Troubles

_LARGEST_BATCH = 200

Keep = Callable[[Sequence[NewEvent]], list[bool]]


class NotKept(Exception):
    """An event is not known to be durable; the sender has to send it again."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    event: NewEvent
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[bool]

    def tell(self, is_new: bool | None) -> None:
        """From the thread that writes; when the loop is closed, nobody waits any more."""
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._settle, is_new)

    def _settle(self, is_new: bool | None) -> None:
        if self.answer.done():  # nobody waits any more
            return
        if is_new is None:
            self.answer.set_exception(NotKept())
        else:
            self.answer.set_result(is_new)


class GroupCommit:
    """A thread of its own that keeps events.

    keep: durable when it returns; raises LogisticsBatchError if nothing was kept. say: told why.
    patience_seconds: how long a sender waits for it.
    """

    def __init__(self, keep: Keep, *, patience_seconds: float, say: Callable[[str], None]) -> None:
        self._keep = keep
        self._patience_seconds = patience_seconds
        self._say = say
        self._troubles = Troubles(time.monotonic)
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="events", daemon=True)
        self._thread.start()

    @property
    def works(self) -> bool:
        """Whether the thread is alive."""
        return self._thread.is_alive()

    async def kept(self, event: NewEvent) -> bool:
        """Wait until an event is durable; True if it is new, False if it came before. Raises NotKept."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(event, loop, loop.create_future())
        self._queue.put(waiting)
        try:
            async with asyncio.timeout(self._patience_seconds):
                return await waiting.answer
        except TimeoutError:
            raise NotKept from None

    def close(self, *, timeout_seconds: float) -> None:
        """Keep what waits, then end; a thread that hangs is left behind."""
        self._queue.put(None)
        self._thread.join(timeout_seconds)

    def _work(self) -> None:
        while True:
            batch, more = self._batch()
            if batch:
                self._write(batch)
            if not more:
                return

    def _batch(self) -> tuple[list[_Waiting], bool]:
        """What waits now, at least one; and whether more may come."""
        found: list[_Waiting] = []
        first = self._queue.get()
        while first is not None:
            if not first.answer.done():
                found.append(first)
            if self._queue.empty() or len(found) >= _LARGEST_BATCH:
                return found, True
            first = self._queue.get()
        return found, False

    def _write(self, batch: Sequence[_Waiting]) -> None:
        try:
            news: list[bool] = self._keep([waiting.event for waiting in batch])
        except LogisticsBatchError as error:
            if line := self._troubles.line(f"events were not kept and have to come again: {error.message}"):
                self._say(line)
            for waiting in batch:
                waiting.tell(None)
            return
        for waiting, is_new in zip(batch, news, strict=True):
            waiting.tell(is_new)
