"""A service that accepts every order after a fixed time, as cheaply as Python can: `python push_server.py SECONDS`.

Prints its port. GET / answers the moments (seconds of the monotonic clock) at which other calls came in, and forgets
them; any other GET answers the order whose number ends the path (API §4.5).
"""

import asyncio
import itertools
import json
import sys
import time

ACCEPTED = (
    b'{"status":"PASS","message":{"awb_number":"SH-%07X","order_id":"%d","delivery_hub":"BLR","item_details":{},'
    b'"child_awb_numbers":[]}}'
)


def _reply(content: bytes, *, keep: bool) -> bytes:
    kept = b"keep-alive" if keep else b"close"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: %b\r\nContent-Length: %d\r\n\r\n"
    return head % (kept, len(content)) + content


class Service:
    """One service; its moments are the arrivals of calls, its bodies the orders by AWB number, read when asked for."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._moments: list[float] = []
        self._bodies: dict[bytes, bytes] = {}
        self._numbers = itertools.count(1)  # the number of another order is not believed

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        keep = True
        try:
            while keep:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                keep = b"connection: close" not in head
                _, _, length = head.partition(b"content-length:")
                body = await reader.readexactly(int(length.split(b"\r\n")[0])) if length else b""
                writer.write(_reply(await self._answer(head, body), keep=keep))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, head: bytes, body: bytes) -> bytes:
        if head.startswith(b"get / "):
            moments, self._moments = self._moments, []
            return json.dumps(moments).encode()
        self._moments.append(time.monotonic())
        if self._seconds:
            await asyncio.sleep(self._seconds)
        if head.startswith(b"get"):
            return self._order(head.split(maxsplit=2)[1].rpartition(b"/")[2].upper())
        number = next(self._numbers)
        accepted = ACCEPTED % (number, number)
        self._bodies[b"SH-%07X" % number] = body
        return accepted

    def _order(self, awb_number: bytes) -> bytes:
        order = json.loads(self._bodies[awb_number]) | {"awb_number": awb_number.decode(), "status": "Created"}
        return json.dumps({"status": "PASS", "message": {"order_details": order}}).encode()


async def main(seconds: float) -> None:
    """Serve until killed."""
    server = await asyncio.start_server(Service(seconds).serve, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
