"""One sending run at a time: a lock that the kernel or the database server releases when its holder dies.

Who holds it stands in the ledger, for whoever finds it busy; whoever dies with it leaves its name there.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from logistics_batch.errors import LedgerBusy, LedgerRefused
from logistics_batch.ledger.connection import dump, entry, put_entry
from logistics_batch.ledger.failures import told_plainly
from logistics_batch.ledger.lanes import is_asleep
from logistics_batch.ledger.schema import meta
from logistics_batch.processes import host_and_number, is_gone, this_process

WRITING_ANSWERS = "writing answers"
_ADVISORY_KEY = 0x6C6F6762  # "logb"
_HOLDER = (
    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = :key AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_POLL_SECONDS = 0.5
_LOOK_SECONDS = 2.0  # how often who queues looks at who holds it
_ANSWERS_SECONDS = 30.0  # whoever writes answers alone, after a decision, is waited for so long
_SENDER = "sender"  # in the table `meta`


@contextmanager
def sending_lock(
    engine: Engine,
    *,
    path: Path | None,
    what: str,
    wait: bool,
    stop: Callable[[], bool] = lambda: False,
    zone: tzinfo | None = None,
) -> Iterator[tuple[bool, Callable[[], bool]]]:
    """Hold the ledger for one sending run; tells whether the run before it let go in good order, and whether it holds.

    path: the SQLite file (None: PostgreSQL). what: job or command, shown to whoever finds the ledger busy.
    wait: queue for it, until `stop()` says to give up; who only writes answers is waited for by everybody. zone: in
    which it is told since when; this machine's if None.

    Raises:
        LedgerBusy: another run holds it.
        LedgerRefused: the name of the holder cannot be written down, as on a full disk.
    """
    begun, asleep, looks_at = time.monotonic(), 0, 0.0
    while True:
        try:
            with _file_lock(path) if path else _advisory_lock(engine) as still:
                before = _sender(engine)
                if path and before and _lives_elsewhere(before["process"]):  # its lock file was removed
                    raise _Taken
                with _named(engine, what, zone):
                    yield not (path and before), still
                return
        except _Taken:
            if wait and not stop() and time.monotonic() < looks_at:
                time.sleep(_POLL_SECONDS)
                continue
            looks_at = time.monotonic() + _LOOK_SECONDS
            sender = _sender(engine)
            brief = sender.get("what") == WRITING_ANSWERS and time.monotonic() - begun < _ANSWERS_SECONDS
            if not (wait or brief) or stop():
                raise LedgerBusy(
                    f"Another sending run holds the ledger{_shown(sender)}.",
                    remedy="Wait until it has ended; scheduled jobs queue by themselves.",
                ) from None
        if wait and not path:
            asleep = _end_of_sleeper(engine, sender, seen_before=asleep)
        time.sleep(_POLL_SECONDS)


def sending_now(engine: Engine) -> str:
    """Who sends now, in brackets; "" if nobody does, as far as can be seen from here."""
    sender = _sender(engine)
    return "" if not sender or is_gone(sender["process"]) else _shown(sender)


def require_held(is_held: bool) -> None:
    """Raises LedgerRefused if the lock of a sending run is gone."""
    if not is_held:
        raise LedgerRefused(
            "What held the ledger for this run is gone (connection, lock file); another run may be sending.",
            remedy="See that the ledger can be reached, then run again: it goes on where it stopped.",
        )


class _Taken(Exception):
    """Another run holds the lock."""


@contextmanager
def _file_lock(path: Path) -> Iterator[Callable[[], bool]]:
    """flock: the kernel releases it when the holder dies, and keeps it while the holder is suspended.

    It lies beside the file itself, whatever links lead there; once it was removed, it is held no longer.
    """
    real = path.resolve()
    lock = real.with_name(real.name + ".lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)

    def still() -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(descriptor), lock.stat())
        return False

    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _Taken from None
        if not still():  # it was removed just now
            raise _Taken
        yield still
    finally:
        os.close(descriptor)


def _end_of_sleeper(engine: Engine, sender: dict[str, str], *, seen_before: int) -> int:
    """Take the lock from a program that keeps the schedule and was not heard of for long: others run what it claimed.

    The server ends the session that holds it, so that the program claims nothing more when it wakes; but not at the
    first look, at which the name may be that of the holder before. Gives the session, 0 if there is no such program.
    """
    with suppress(LedgerRefused), told_plainly("read"), engine.connect() as connection, connection.begin():
        if is_asleep(connection, sender.get("process", "")):
            holder = int(connection.execute(text(_HOLDER), {"key": _ADVISORY_KEY}).scalar() or 0)
            if holder and holder == seen_before:
                connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": holder})
            return holder
    return 0


def _sender(engine: Engine) -> dict[str, str]:
    """Who wrote its name down last and did not take it back; nothing if nobody sends."""
    with told_plainly("read"), engine.connect() as connection, connection.begin():
        found = entry(connection, _SENDER)
    return dict(json.loads(found)) if found else {}


def _lives_elsewhere(process: str) -> bool:
    return process != this_process() and is_gone(process) is False


def _shown(sender: dict[str, str]) -> str:
    if not sender:
        return ""
    host, number = host_and_number(sender["process"])
    return f" ({sender['what']}, process {number} on {host}, since {sender['since']})"


@contextmanager
def _named(engine: Engine, what: str, zone: tzinfo | None) -> Iterator[None]:
    since = datetime.now(UTC).astimezone(zone).isoformat(" ", "seconds")
    mine = dump({"what": what, "process": this_process(), "since": since})
    with _write(engine) as connection:
        put_entry(connection, _SENDER, mine)
    try:
        yield
    finally:
        with suppress(LedgerRefused), _write(engine) as connection:  # of one that is lost, the first failure is told
            connection.execute(meta.delete().where(meta.c.name == _SENDER, meta.c.value == mine))


@contextmanager
def _write(engine: Engine) -> Iterator[Connection]:
    with (
        told_plainly("written"),
        engine.connect().execution_options(write=True) as connection,
        connection.begin(),
    ):
        yield connection


@contextmanager
def _advisory_lock(engine: Engine) -> Iterator[Callable[[], bool]]:
    """A lock that belongs to a session: whoever breaks its connection, or ends the server, takes it away.

    SQLAlchemy would connect anew after a session broke, and that one holds nothing: what broke once stays broken.
    """
    lives = True

    def still() -> bool:
        nonlocal lives
        if lives:
            try:
                connection.execute(text("SELECT 1"))
                connection.commit()
            except DBAPIError:
                lives = False
        return lives

    with told_plainly("read"), engine.connect() as connection:
        if not connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": _ADVISORY_KEY}).scalar():
            raise _Taken
        connection.commit()  # the lock belongs to the session, not to this transaction
        try:
            yield still
        finally:
            if still():  # else the server has released it
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _ADVISORY_KEY})
                connection.commit()
