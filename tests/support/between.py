"""Something between the program and the service that answers itself, or passes on: a cache, a gateway, a proxy."""

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

HOP = ("transfer-encoding", "connection", "content-length")


@dataclass(frozen=True)
class Asked:
    """A request on its way to the service."""

    method: str
    path: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = b""


@dataclass(frozen=True)
class Told:
    """An answer: the service's own, or one made up."""

    status: int
    body: bytes
    content_type: str = "application/json"


Service = Callable[[Asked], Told]
Rule = Callable[[Asked, Service], Told]


def said(status: int, value: object) -> Told:
    """An answer in JSON."""
    return Told(status, json.dumps(value).encode())


@dataclass
class Between:
    """What serves at `url`; once `honest`, all is passed on."""

    url: str
    honest: bool = False


@contextmanager
def between(service_url: str, rule: Rule) -> Iterator[Between]:
    """Serve in front of the service at `service_url`; `rule` answers each request."""
    target = urlsplit(service_url)

    def service(asked: Asked) -> Told:
        connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=30)
        connection.request(asked.method, asked.path, body=asked.body, headers=asked.headers)
        answer = connection.getresponse()
        told = Told(answer.status, answer.read(), answer.getheader("content-type") or "")
        connection.close()
        return told

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
            asked = Asked(self.command, self.path, headers, body)
            told = service(asked) if here.honest else rule(asked, service)
            self.send_response(told.status)
            self.send_header("content-type", told.content_type)
            self.send_header("content-length", str(len(told.body)))
            self.end_headers()
            self.wfile.write(told.body)

        do_GET = do_POST = do_PUT = answer

        def log_message(self, *_: object) -> None:
            """Nothing is said on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here = Between(f"http://127.0.0.1:{server.server_port}")
    Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
