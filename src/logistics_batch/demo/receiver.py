"""The receiver of order events as a process of its own, as an operator runs it."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from logistics_batch.child_process import start_service
from logistics_batch.errors import UsageError

_STOP_SECONDS = 12.0


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
