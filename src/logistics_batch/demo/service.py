"""The processes of the demo: the sandbox (service, SFTP server, warehouse), and the receiver of order events."""

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from logistics_batch.child_process import start_service
from logistics_batch.errors import StoreError, UsageError

_START_SECONDS = 30.0
_STOP_SECONDS = 12.0
_CALL_SECONDS = 30.0
_POLL_SECONDS = 0.02
_CREATED = {"order": ("order.created", "reference_number"), "ASN": ("asn.created", "invoice_number")}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Where a running sandbox listens. sftp: `host, port, username, password, host_key, root`."""

    url: str
    sftp: dict[str, Any]
    journal: Path
    api_key: str

    def advance_orders(self, statuses: Sequence[str]) -> dict[str, int]:
        """Drivers take every order that waits through these statuses; how many orders reached each."""
        waiting = self._control("GET", "/orders?status=Pending")
        for order in waiting:
            for status in statuses:
                self._control("POST", f"/orders/{order['awb_number']}/status", {"status": status})
        return dict.fromkeys(statuses, len(waiting))

    def open_asns(self) -> list[dict[str, Any]]:
        """The ASNs whose goods the warehouse expects."""
        return [asn for asn in self._control("GET", "/asns") if asn["status"] in ("New", "In-Progress")]

    def created(self, noun: str) -> list[str]:
        """The orders (by reference) or ASNs (by invoice number) that the service made, by its own journal."""
        effect, name = _CREATED[noun]
        records = [json.loads(line) for line in self.journal.read_bytes().split(b"\n")[:-1]]
        return [line[name] for line in records if line["event"] == "committed" and line["effect"] == effect]

    def _control(self, method: str, path: str, content: dict[str, Any] | None = None) -> Any:
        headers = {"API_KEY": self.api_key, "Content-Type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - always http on this machine
            f"{self.url}/_sandbox{path}", data=json.dumps(content or {}).encode(), headers=headers, method=method
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=_CALL_SECONDS) as reply:
                return json.load(reply)
        except (urllib.error.URLError, TimeoutError) as error:
            raise StoreError(f"The sandbox did not answer to {path}: {error}.", remedy="Run the demo again.") from error


@contextmanager
def running_sandbox(folder: Path, *, api_key_file: Path, sftp_root: Path) -> Iterator[Sandbox]:
    """A sandbox with an SFTP server on free ports, stopped at the end. `folder` keeps its data and journal.

    Raises UsageError if it does not start.
    """
    folder.mkdir(mode=0o700)
    ready, journal, output = folder / "ready.json", folder / "journal.jsonl", folder / "output.txt"
    options = {
        "--data": (folder / "data").resolve(),
        "--journal": journal.resolve(),
        "--api-key-file": api_key_file.resolve(),
        "--sftp-port": 0,
        "--sftp-root": sftp_root.resolve(),
        "--ready-file": ready.resolve(),
    }
    arguments = [str(word) for option in options.items() for word in option]
    with output.open("ab") as file:
        process = start_service("logistics_batch.sandbox", arguments, output=file, errors=file)
    try:
        said = _wait_for(ready, process, output)
        yield Sandbox(said["url"], said["sftp"], journal, api_key_file.read_text(encoding="utf-8").strip())
    finally:
        _stop(process)
        ready.unlink(missing_ok=True)  # it holds the SFTP password


def _wait_for(ready: Path, process: "subprocess.Popen[bytes]", output: Path) -> dict[str, Any]:
    deadline = time.monotonic() + _START_SECONDS
    while not ready.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            said = output.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise UsageError(
                f"The sandbox did not start: {said[-1] if said else 'it said nothing'}.",
                remedy=f"See {output}; it needs the extra: pip install 'logistics-batch[sandbox]'.",
            )
        time.sleep(_POLL_SECONDS)
    said_when_ready: dict[str, Any] = json.loads(ready.read_text(encoding="utf-8"))
    return said_when_ready


@contextmanager
def running_receiver(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The receiver of a workspace on a free port, stopped at the end; `address_of` waits until it listens."""
    arguments = ["--workspace", str(folder.resolve()), "receive", "--port", "0", "--json"]
    with (folder / "receiver.txt").open("ab") as output:
        process = start_service("logistics_batch", arguments, output=subprocess.PIPE, errors=output)
    with process:
        try:
            yield process
        finally:
            _stop(process)


def address_of(receiver: "subprocess.Popen[bytes]") -> str:
    """Where it listens, once it does.

    Raises UsageError if it did not start.
    """
    said = receiver.stdout.readline() if receiver.stdout else b""
    if not said:
        raise UsageError(
            "The receiver of order events did not start.",
            remedy="See receiver.txt in the demo's folder; it needs the extra: pip install 'logistics-batch[web]'.",
        )
    return str(json.loads(said)["url"])


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
