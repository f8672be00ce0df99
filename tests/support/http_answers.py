"""HTTP servers that answer by a rule: a service of a few lines, or a cache, a gateway, a proxy before the real one."""

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
    """A request, perhaps on its way to the service."""

    method: str
    path: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = b""


@dataclass(frozen=True)
class Told:
    """An answer: the service's own, or one made up.

    content_type: "" for none. length: the one that is told, where it is another than the body's.
    """

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None


Service = Callable[[Asked], Told]
Rule = Callable[[Asked, Service], Told]


def said(status: int, value: object) -> Told:
    """An answer in JSON."""
    return Told(status, json.dumps(value).encode())


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


class HttpAnswers:
    """What answers each request at `url` by `rule`, until it is stopped; where that says nothing, it hangs up."""

    def __init__(self, rule: Callable[[Asked], Told | None]) -> None:
        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                told = rule(Asked(self.command, self.path, dict(self.headers.items()), body))
                if told is None:
                    self.close_connection = True
                    return
                self.send_response(told.status)
                kind = {"content-type": told.content_type} if told.content_type else {}
                length = len(told.body) if told.length is None else told.length
                for name, value in (kind | {"content-length": str(length)} | told.headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(told.body)

            do_GET = do_POST = do_PUT = answer

            def log_message(self, *_: object) -> None:
                """Nothing is said on the terminal."""

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    def stop(self) -> None:
        """Answer nothing more."""
        self._server.shutdown()
        self._server.server_close()


@dataclass
class Between:
    """What serves at `url`; once `honest`, all is passed on."""

    url: str = ""
    honest: bool = False


@contextmanager
def between(service_url: str, rule: Rule) -> Iterator[Between]:
    """Serve in front of the service at `service_url`; `rule` answers each request."""
    target = urlsplit(service_url)

    def service(asked: Asked) -> Told:
        headers = {name: value for name, value in asked.headers.items() if name.lower() not in HOP}
        connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=30)
        connection.request(asked.method, asked.path, body=asked.body, headers=headers)
        answer = connection.getresponse()
        told = Told(answer.status, answer.read(), answer.getheader("content-type") or "")
        connection.close()
        return told

    here = Between()
    server = HttpAnswers(lambda asked: service(asked) if here.honest else rule(asked, service))
    here.url = server.url
    try:
        yield here
    finally:
        server.stop()
