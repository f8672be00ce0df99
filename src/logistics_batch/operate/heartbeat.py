"""A sign of life that outsiders can check: a small file, written anew every few seconds."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from logistics_batch.processes import lives

HEARTBEAT = Path("var") / "schedule.json"
EVERY_SECONDS = 3.0
OLD = timedelta(seconds=60)
_STILL_AT_WORK = timedelta(seconds=4 * EVERY_SECONDS)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """When the scheduler was last seen to work, and what it does."""

    at: str
    pid: int
    host: str
    started_at: str
    jobs: int
    running: tuple[str, ...] = ()
    next_run: str = ""


def beat(
    file: Path, *, now: datetime, started_at: datetime, jobs: int, running: tuple[str, ...], next_run: str
) -> None:
    """Write the file anew, whole or not at all.

    Raises OSError.
    """
    sign = Heartbeat(
        now.isoformat(timespec="seconds"),
        os.getpid(),
        socket.gethostname(),
        started_at.isoformat(timespec="seconds"),
        jobs,
        running,
        next_run,
    )
    beside = file.with_name(f"{file.name}.part")
    beside.write_text(json.dumps(asdict(sign), indent=1), encoding="utf-8")
    beside.replace(file)


@contextmanager
def beating(give_a_sign: Callable[[], None], *, failed: Callable[[str, Exception], None]) -> Iterator[None]:
    """Give a sign now and every few seconds, in a thread that does nothing else, so that no work can hold it up.

    failed: is told of a mistake of the program, after which there is no sign any more.
    """
    over = threading.Event()

    def beat_on() -> None:
        try:
            while not over.wait(EVERY_SECONDS):
                give_a_sign()
        except Exception as error:
            failed("sign of life", error)
            raise

    give_a_sign()
    thread = threading.Thread(target=beat_on, name="sign of life", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()


def last_beat(file: Path) -> Heartbeat | None:
    """What stands in the file; None if there is none that can be read."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return Heartbeat(**found | {"running": tuple(found["running"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def another_at_work(file: Path, *, now: datetime) -> str:
    """Which other scheduler works in this workspace, in words; "" if none does.

    Of one on this machine it is asked whether it still lives: a sign outlasts whoever was killed.
    """
    found = last_beat(file)
    if found is None or not timedelta(0) <= now - datetime.fromisoformat(found.at) <= _STILL_AT_WORK:
        return ""
    if found.host == socket.gethostname() and (found.pid == os.getpid() or not lives(found.pid)):
        return ""
    return f"another scheduler works here (process {found.pid} on {found.host}, since {found.started_at})"


def what_is_wrong(file: Path, *, now: datetime) -> str:
    """Why the scheduler does not seem to work; "" if it does."""
    found = last_beat(file)
    if found is None:
        return "No scheduler has worked in this workspace."
    age = now - datetime.fromisoformat(found.at)
    if age > OLD:
        return f"The scheduler was last seen at {found.at} (process {found.pid} on {found.host})."
    if age < -OLD:
        return f"The scheduler was last seen at {found.at}, which is still to come: a clock is wrong."
    return ""
