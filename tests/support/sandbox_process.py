"""The sandbox in its own process, for tests: it judges by its journal and can be killed."""

import json
import os
import signal
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.canary import key_of_tests
from support.commands import Command, forker_of_tests

START_SECONDS = 180.0


@dataclass(frozen=True)
class SftpPlace:
    """Where the SFTP server listens, who may log in, and the folder behind it."""

    host: str
    port: int
    username: str
    password: str
    host_key: str
    root: Path


class RunningSandbox:
    """A sandbox process; `restart` brings it back with the same data, journal, key and ports."""

    def __init__(self, folder: Path, *, api_key: str, options: list[str], sftp: bool) -> None:
        self.folder = folder
        self.api_key = api_key
        self.data = folder / "data"
        self.journal_path = folder / "journal.jsonl"
        self.url = ""
        self.sftp: SftpPlace | None = None
        self._options = options
        self._read, self._lines = 0, list[dict[str, Any]]()
        self._wants_sftp = sftp
        self.process = self._start()

    def committed(self, effect: str | None = None) -> list[dict[str, Any]]:
        """What was done, by the journal: the ``committed`` lines, or those of one effect (``order.created`` …)."""
        lines = [line for line in self.journal() if line["event"] == "committed"]
        return [line for line in lines if effect is None or line["effect"] == effect]

    def received(self, endpoint: str | None = None) -> list[dict[str, Any]]:
        """What the sandbox got: the ``received`` lines, or those of one endpoint (``order.create`` …)."""
        lines = [line for line in self.journal() if line["event"] == "received"]
        return [line for line in lines if endpoint is None or line["endpoint"] == endpoint]

    def journal(self) -> list[dict[str, Any]]:
        """Every whole line of the journal; those that were read before are not read again."""
        if self.journal_path.exists():
            with self.journal_path.open("rb") as journal:
                journal.seek(self._read)
                whole, newline, _ = journal.read().rpartition(b"\n")
            self._read += len(whole) + len(newline)
            self._lines += [json.loads(line) for line in whole.split(b"\n") if line]
        return list(self._lines)

    def control(self, method: str, path: str, content: Any = None) -> Any:
        """A call of a control endpoint, `path` without ``/_sandbox``; the JSON it answers."""
        return self.call(method, f"/_sandbox{path}", content)

    def call(self, method: str, path: str, content: Any = None) -> Any:
        """A call with the key; the JSON it answers."""
        headers = {"API_KEY": self.api_key, "Content-Type": "application/json"}
        body = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(f"{self.url}{path}", data=body, headers=headers, method=method)
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30) as reply:
            return json.load(reply)

    def orders(self, **filters: str) -> list[dict[str, Any]]:
        """Orders as stored; `filters`: reference, status."""
        query = "&".join(f"{name}={urllib.request.quote(value)}" for name, value in filters.items())
        found: list[dict[str, Any]] = self.control("GET", f"/orders?{query}")
        return found

    def set_faults(self, rules: list[dict[str, Any]]) -> None:
        """Exchange the fault plan; counting begins anew."""
        self.control("PUT", "/faults", {"faults": rules})

    def set_switches(self, **switches: Any) -> None:
        """Change switches."""
        self.control("PUT", "/switches", switches)

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()

    def stop(self) -> None:
        """End it at once, when nobody looks at it any more."""
        self.kill()

    def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.process.signal(signal.SIGTERM)
        return self.process.end(seconds=10).code

    def restart(self) -> None:
        """Start again, after `kill` too, on the same ports."""
        self.terminate()
        self.process = self._start()

    def _start(self) -> Command:
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        process = forker_of_tests().fork(
            "logistics_batch.sandbox",
            *self._arguments(ready),
            folder=self.folder,
            environment=dict(os.environ),
            output=self.folder / "output",
        )
        deadline = time.monotonic() + START_SECONDS
        while not ready.exists():
            if (ended := process.wait(seconds=0.01)) or time.monotonic() > deadline:
                raise RuntimeError(f"the sandbox did not start: {ended or process.kill()}")
        said = json.loads(ready.read_text())
        self.url = said["url"]
        self.sftp = SftpPlace(**said["sftp"] | {"root": Path(said["sftp"]["root"])}) if said["sftp"] else None
        return process

    def _arguments(self, ready: Path) -> list[str]:
        command = ["--data", str(self.data)]
        command += ["--api-key-file", str(self.folder / "api-key"), "--journal", str(self.journal_path)]
        command += ["--ready-file", str(ready), "--port", self.url.rpartition(":")[2] or "0", *self._options]
        if self._wants_sftp:
            command += [
                "--sftp-port",
                str(self.sftp.port if self.sftp else 0),
                "--sftp-root",
                str(self.folder / "sftp"),
            ]
        return command


def start_sandbox(
    tmp_path: Path,
    *,
    api_key: str = "",
    faults: list[dict[str, Any]] | None = None,
    sftp: bool = False,
    options: Sequence[str] = (),
    **switches: Any,
) -> RunningSandbox:
    """A running sandbox with its files under `tmp_path`/sandbox; the caller stops it.

    `faults` are rules of a fault plan, `switches` those of `logistics_batch.sandbox.switches`, such as
    ``duplicate_reference="replay"``, `options` further arguments of the command line.
    """
    folder = tmp_path / "sandbox"
    folder.mkdir()
    api_key = api_key or key_of_tests()
    descriptor = os.open(folder / "api-key", os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(api_key)
    more = [*options, *(part for name, value in switches.items() for part in ("--switch", f"{name}={value}"))]
    if faults is not None:
        (folder / "faults.yaml").write_text(json.dumps(faults))
        more += ["--faults", str(folder / "faults.yaml")]
    return RunningSandbox(folder, api_key=api_key, options=more, sftp=sftp)


def created(sandbox: RunningSandbox, effect: str = "order.created") -> Counter[str]:
    """How often each order was created, by its reference; with "asn.created" each ASN, by its invoice number."""
    name = "reference_number" if effect == "order.created" else "invoice_number"
    return Counter(line[name] for line in sandbox.committed(effect))


def sandbox_for_a_test(folder: Path, *, sftp: bool = False) -> Iterator[RunningSandbox]:
    """What a fixture yields from: a sandbox of its own, ended with the test."""
    running = start_sandbox(folder, sftp=sftp)
    yield running
    running.stop()
