"""The receiver of order events as a process of its own, as an operator runs it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from logistics_batch.errors import UsageError
from logistics_batch.settings import without_settings

_STOP_SECONDS = 12.0


@contextmanager
def running_receiver(folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """The receiver of a workspace on a free port, stopped at the end; `address_of` waits until it listens."""
    command = [sys.executable, "-m", "logistics_batch", "--workspace", str(folder), "receive", "--port", "0", "--json"]
    with (folder / "receiver.txt").open("ab") as output:
        # In a session of its own: Ctrl-C is for the demo, which stops it in its turn.
        process = subprocess.Popen(
            command,
            env=without_settings(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
            start_new_session=True,
        )
    with process:
        try:
            yield process
        finally:
            _stop(process)


def address_of(receiver: "subprocess.Popen[str]") -> str:
    """Where it listens, once it does.

    Raises UsageError if it did not start.
    """
    said = receiver.stdout.readline() if receiver.stdout else ""
    if not said:
        raise UsageError(
            "The receiver of order events did not start.",
            remedy="See receiver.txt in the demo's folder; it needs the extra: pip install 'logistics-batch[web]'.",
        )
    return str(json.loads(said)["url"])


def _stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.wait(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
