"""A sign of life that outsiders can check: a small file of each machine, written anew every few seconds."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

from logistics_batch.processes import lives

_FOLDER, _NAMES = Path("var"), "schedule*.json"
EVERY_SECONDS = 3.0
OLD = timedelta(seconds=60)
_LAST_SIGN_SECONDS = 1.0
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


def sign_of(workspace: Path) -> Path:
    """The file of a scheduler on this machine; several may share the workspace."""
    return workspace / _FOLDER / f"schedule-{socket.gethostname()}.json"


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
    file.parent.mkdir(mode=0o700, exist_ok=True)
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
        thread.join(_LAST_SIGN_SECONDS)  # else it might say that this program lives when that has said that it ends


def last_beat(workspace: Path) -> Heartbeat | None:
    """The last sign of the scheduler on this machine, or where there never was one, of any; None if there is none."""
    signs = list(_signs(workspace))
    own = [each for each in signs if each.host == socket.gethostname()]
    return max(own or signs, key=lambda each: datetime.fromisoformat(each.at), default=None)


def _signs(workspace: Path) -> Iterator[Heartbeat]:
    for file in (workspace / _FOLDER).glob(_NAMES):
        with suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(file.read_text(encoding="utf-8"))
            yield Heartbeat(**found | {"running": tuple(found["running"])})


def others_at_work(workspace: Path, *, now: datetime) -> list[Heartbeat]:
    """The other schedulers that work in this workspace.

    Of one on this machine it is asked whether it still lives: a sign outlasts whoever was killed.
    """
    return [
        each
        for each in _signs(workspace)
        if timedelta(0) <= now - datetime.fromisoformat(each.at) <= _STILL_AT_WORK
        and (each.host != socket.gethostname() or (each.pid != os.getpid() and lives(each.pid)))
    ]


def what_is_wrong(workspace: Path, *, now: datetime) -> str:
    """Why the scheduler does not seem to work; "" if it does."""
    found = last_beat(workspace)
    if found is None:
        return "No scheduler has worked in this workspace."
    age = now - datetime.fromisoformat(found.at)
    if age > OLD:
        return f"The scheduler was last seen at {found.at} (process {found.pid} on {found.host})."
    if age < -OLD:
        return f"The scheduler was last seen at {found.at}, which is still to come: a clock is wrong."
    return ""
