"""How an answer reaches the client: whole, in drops, cut short, or with a connection that does not last."""

import asyncio
import socket
import struct
from collections.abc import Iterator

from starlette.types import Receive, Scope, Send

from logistics_batch.sandbox.faults.fault_responses import FaultyAnswer
from logistics_batch.sandbox.faults.plan import Fault

DELIVERIES = frozenset({"slow_drip", "drop_midway", "close_after", "reset_after", "stale_keepalive"})
_DROPS_A_SECOND = 10


class Connection:
    """The connection of one request, to be used well or broken."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.transport: asyncio.Transport = scope["state"]["transport"]
        self._receive = receive
        self._send = send

    async def deliver(self, answer: FaultyAnswer, fault: Fault | None) -> None:
        """Give the answer as the fault has it; without one as it is."""
        if fault is None or fault.kind == "stale_keepalive":
            await answer.send(self._send)
        elif fault.kind == "slow_drip":
            await self._drip(answer, fault)
        elif fault.kind == "drop_midway":
            await self._cut(answer, fault)
        else:
            await answer.send(self._send)
            await self._flushed()
            self._break() if fault.kind == "reset_after" else self.transport.close()

    async def reset(self) -> None:
        """Break the connection: the client sees it break, not close."""
        self._break()
        await self._until_gone()

    async def _drip(self, answer: FaultyAnswer, fault: Fault) -> None:
        rate = fault.options["bytes_per_second"]
        drop = max(1, int(rate / _DROPS_A_SECOND))
        if fault.options["part"] == "head":
            for piece in _slices([answer.head(), *answer.pieces], drop):
                self.transport.write(piece)
                await asyncio.sleep(len(piece) / rate)
                if self.transport.is_closing():
                    break
            self.transport.close()
            await self._until_gone()
            return
        await answer.send_head(self._send)
        for piece in _slices(answer.pieces, drop):
            if self.transport.is_closing():
                await self._until_gone()
                return
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
            await asyncio.sleep(len(piece) / rate)
        await self._send({"type": "http.response.body", "body": b""})

    async def _cut(self, answer: FaultyAnswer, fault: Fault) -> None:
        share = fault.options["share"]
        if fault.options["part"] == "head":
            head = answer.head()
            self.transport.write(head[: int(len(head) * share)])
        else:
            await answer.send_head(self._send)
            part = answer.body()[: int(answer.length() * share)]
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
        await self._flushed()
        self.transport.close()
        await self._until_gone()

    async def _flushed(self) -> None:
        """Until the operating system has every byte."""
        while self.transport.get_write_buffer_size() and not self.transport.is_closing():
            await asyncio.sleep(0.01)

    def _break(self) -> None:
        connection = self.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass


def _slices(pieces: list[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]
