"""One sending run at a time: a lock that the kernel or the database server releases when its holder dies."""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from logistics_batch.errors import LedgerBusy, LedgerRefused
from logistics_batch.ledger.failures import told_plainly

_ADVISORY_KEY = 0x6C6F6762  # "logb"
_POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Held:
    """orderly: whether the run before it let go in good order. still: whether the lock is held yet."""

    orderly: bool
    still: Callable[[], bool]


@contextmanager
def sending_lock(
    engine: Engine, *, path: Path | None, what: str, wait: bool, stop: Callable[[], bool] = lambda: False
) -> Iterator[Held]:
    """Hold the ledger for one sending run.

    path: the SQLite file (None: PostgreSQL). what: job or command, shown to whoever finds the ledger busy.
    wait: queue for it, until `stop()` says to give up.

    Raises:
        LedgerBusy: another run holds it.
        LedgerRefused: the name of the holder cannot be written down, as on a full disk.
    """
    while True:
        try:
            with _file_lock(path, what) if path else _advisory_lock(engine) as held:
                yield held
                return
        except _Taken as taken:
            if not wait or stop():
                raise LedgerBusy(
                    f"Another sending run holds the ledger{taken.by}.",
                    remedy="Wait until it has ended; scheduled jobs queue by themselves.",
                ) from None
        time.sleep(_POLL_SECONDS)


class _Taken(Exception):
    def __init__(self, by: str = "") -> None:
        super().__init__(by)
        self.by = by


@contextmanager
def _file_lock(path: Path, what: str) -> Iterator[Held]:
    """flock: the kernel releases it when the holder dies, and keeps it while the holder is suspended.

    Whoever dies with it leaves its name in the file.
    """
    descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _Taken(_holder(handle)) from None
        orderly = not handle.read(1)
        _leave_name(descriptor, what)
        try:
            yield Held(orderly, still=lambda: True)
        finally:
            os.ftruncate(descriptor, 0)


def _leave_name(descriptor: int, what: str) -> None:
    name = {"pid": os.getpid(), "since": datetime.now().astimezone().isoformat("T", "seconds"), "what": what}
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(name).encode(), 0)
    except OSError as error:
        raise LedgerRefused(
            f"The ledger cannot be written: {error.strerror}", remedy="Check free space and rights, then run again."
        ) from error


def _holder(handle: IO[str]) -> str:
    try:
        owner = json.loads(handle.read())
    except ValueError:
        return ""
    return f" ({owner['what']}, process {owner['pid']}, since {owner['since']})"


@contextmanager
def _advisory_lock(engine: Engine) -> Iterator[Held]:
    """A lock that belongs to a session: whoever breaks its connection, or ends the server, takes it away."""
    with told_plainly("read"), engine.connect() as connection:
        if not connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _ADVISORY_KEY}).scalar():
            raise _Taken
        connection.commit()  # the lock belongs to the session, not to this transaction
        session = _Session(connection)
        try:
            yield Held(orderly=True, still=session.lives)
        finally:
            if session.lives():  # else the server has released it
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _ADVISORY_KEY})
                connection.commit()


class _Session:
    """The session that holds a lock; SQLAlchemy would connect anew after it broke, and that one holds nothing."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._broke = False

    def lives(self) -> bool:
        """Ask the server; what broke once stays broken."""
        if not self._broke:
            try:
                self._connection.execute(text("SELECT 1"))
                self._connection.commit()
            except DBAPIError:
                self._broke = True
        return not self._broke
