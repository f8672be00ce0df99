"""A real HTTP server that takes events of the sandbox, for tests."""

import itertools
import json
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on any free port; it answers 200 until told otherwise."""
    taken = Receiver()
    taken.open_door.set()
    numbers = itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = taken.answer(next(numbers))
            taken.events.put((dict(self.headers.items()), json.loads(body)))
            taken.open_door.wait()
            self.send_response(status)
            for name, value in taken.answer_headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    taken.url = f"http://127.0.0.1:{server.server_address[1]}/events?from=sandbox"
    try:
        yield taken
    finally:
        taken.open_door.set()
        server.shutdown()
        server.server_close()
