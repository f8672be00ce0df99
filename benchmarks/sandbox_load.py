"""A lean load generator: simple order creates over kept-alive connections, one request in flight on each.

One thread, raw sockets, requests built beforehand: it must take far less time than the service it measures.
"""

import json
import selectors
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Load:
    """What was sent and answered: seconds of the whole run, and of each create from sending to answer."""

    creates: int
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)


def requests_for(prefix: str, *, count: int, api_key: str) -> list[bytes]:
    """Simple creates with a reference, a phone, an address and one item each."""
    built = []
    for number in range(count):
        body = {
            "reference_number": f"{prefix}-{number:06d}",
            "customer_name": "Asha Rao",
            "customer_mobile": "9876543210",
            "delivery_address": "12 MG Road, Pune",
            "delivery_postal_code": "411001",
            "item_details": [{"item_name": "Wires", "item_quantity": 2}],
        }
        content = json.dumps(body).encode()
        head = (
            "POST /orders/shipment HTTP/1.1\r\nHost: sandbox\r\nContent-Type: application/json\r\n"
            f"API_KEY: {api_key}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        built.append(head.encode() + content)
    return built


def send_all(port: int, requests: list[bytes], *, in_flight: int) -> Load:
    """Send every request, `in_flight` at a time; SystemExit when one of them is not answered with 200."""
    load = Load(creates=len(requests))
    waiting = iter(requests)
    begin = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        for _ in range(min(in_flight, len(requests))):
            connection = socket.create_connection(("127.0.0.1", port))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(connection, selectors.EVENT_READ, _Open(connection, waiting))
        while selector.get_map():
            for key, _ in selector.select():
                key.data.take(load)
                if not key.data.send_next():
                    selector.unregister(key.fileobj)
                    key.data.connection.close()
    load.seconds = time.perf_counter() - begin
    return load


class _Open:
    """One connection and its request in flight."""

    def __init__(self, connection: socket.socket, waiting: Iterator[bytes]) -> None:
        self.connection = connection
        self._waiting = waiting
        self._received = b""
        self._idle = True
        self._sent_at = 0.0
        self.send_next()

    def send_next(self) -> bool:
        """Send the next request unless one is under way; False when there is none left."""
        if not self._idle:
            return True
        request = next(self._waiting, None)
        if request is None:
            return False
        self._idle, self._sent_at = False, time.perf_counter()
        self.connection.sendall(request)
        return True

    def take(self, load: Load) -> None:
        """Read what came; note the latency when the answer is whole."""
        piece = self.connection.recv(65536)
        self._received += piece
        head, mark, body = self._received.partition(b"\r\n\r\n")
        if not piece or (mark and not head.startswith(b"HTTP/1.1 200")):
            raise SystemExit(f"a create was not answered with 200: {self._received[:300]!r}")
        if mark and len(body) >= _length(head):
            load.latencies.append(time.perf_counter() - self._sent_at)
            self._received, self._idle = b"", True


def _length(head: bytes) -> int:
    lines = (line.split(b":", 1) for line in head.split(b"\r\n")[1:])
    return next(int(line[1]) for line in lines if line[0].lower() == b"content-length")
