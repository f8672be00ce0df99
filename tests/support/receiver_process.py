"""The receiver of order events as an operator runs it: a process of its own that can be killed."""

import http.client
import json
import signal
import threading
from contextlib import closing
from typing import Any

from support.workspace import Workspace

from logistics_batch.ledger.failures import sqlite3

SECRET = "0123456789abcdef0123456789abcdef-canary"
HEADER = "X-Logistics-Secret"


def event(waybill: str, status: str = "Complete", *, at: str = "2026-11-21T10:15:00+05:30", **more: Any) -> bytes:
    """An event as the API document has it (API §6)."""
    fields = {
        "WaybillNo": waybill,
        "eventType": "updateOrderStatus",
        "OrderStatus": status,
        "order_status": status,
        "StatusCode": status,
        "CourierComment": "",
        "StatusDateTime": at,
        "ToMobileNumber": "+919876543210",
        "ToName": "Asha Canary",
        "podDocs": [],
        "remarks": "",
    }
    return json.dumps(fields | more, ensure_ascii=False).encode()


class RunningReceiver:
    """`logistics-batch receive` on a free port; `start` brings it back on the same port after `stop` or `kill`."""

    def __init__(self, workspace: Workspace, *settings: str) -> None:
        self.workspace = workspace
        workspace.secret("events", SECRET)
        workspace.configure("[receive]", 'secret_file = "secrets/events"', *settings)
        self.port = 0
        self.log: list[str] = []
        self.start()

    def start(self) -> None:
        """Start it and wait until it listens."""
        self.process = self.workspace.start("receive", "--json", "--port", str(self.port))
        said = self.process.stdout.readline()
        if not said:
            raise RuntimeError(f"the receiver did not start: {self.process.stderr.read()}")
        self.port = int(json.loads(said)["url"].rpartition(":")[2])
        self._reader = threading.Thread(target=self._read_log, args=(self.process.stderr,), daemon=True)
        self._reader.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/events"

    def connection(self) -> http.client.HTTPConnection:
        """A connection of one's own; the caller closes it."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def post(self, body: bytes, headers: dict[str, str] | None = None, *, path: str = "/events") -> tuple[int, str]:
        """Send one event with the right secret, or with these headers; status and text of the answer."""
        with closing(self.connection()) as connection:
            connection.request("POST", path, body, {HEADER: SECRET} if headers is None else headers)
            reply = connection.getresponse()
            return reply.status, reply.read().decode()

    def stored(self) -> list[dict[str, Any]]:
        """Every event of the SQLite ledger, in the order in which they came."""
        with closing(sqlite3.connect(self.workspace.root / "var/ledger.db")) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute("SELECT * FROM event ORDER BY id")]

    def kill(self) -> None:
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.ended()

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        self.process.terminate()
        return self.ended()

    def ended(self) -> int:
        """Wait for its end, at most ten seconds; the exit code."""
        code = self.process.wait(timeout=10)
        self._reader.join(timeout=10)
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        return code

    def close(self) -> None:
        """End it, whatever state it is in."""
        if self.process.poll() is None:
            self.kill()

    def _read_log(self, stream: Any) -> None:
        self.log.extend(line.rstrip("\n") for line in stream)
