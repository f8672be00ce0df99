"""How far the ledger has come, noted outside of it: a ledger that is behind its own mark is an older copy.

The ledger carries a name of its own (`epoch`) and counts its writing transactions (`seq`). After each commit the count
is noted in files beside it. A note is never ahead of what is durable, so that no power cut makes a sound ledger look
old; a ledger that is behind a note has lost transactions, and with them the memory of what was sent.
"""

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import Connection

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.bulk import execute_plain
from logistics_batch.ledger.failures import require_known
from logistics_batch.ledger.schema import meta

_LINE_BYTES = 128  # one small write within a sector: whole or not at all
_REMEDY = (
    "Do not send anything yet. Find the ledger as it was last, and put it back. If it is lost: “reconcile” the days "
    "since, look single orders up with “order get”, then confirm that this ledger goes on: "
    "logistics-batch ledger verify --accept-restored --reason TEXT"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """Which ledger, and how many transactions it has seen."""

    epoch: str
    seq: int


_FOUND = "value, (SELECT value FROM meta WHERE name = 'epoch'), (SELECT value FROM meta WHERE name = 'schema_version')"
_COUNT = f"UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS VARCHAR) WHERE name = 'seq' RETURNING {_FOUND}"  # noqa: S608 - our own words
_READ = f"SELECT {_FOUND} FROM meta WHERE name = 'seq'"  # noqa: S608


def count_transaction(connection: Connection) -> Mark:
    """Count the transaction that is about to commit. Raises LedgerRefused if a newer program changed the schema."""
    return _mark(connection, _COUNT)


def read_mark(connection: Connection) -> Mark:
    """How far the ledger is. Raises LedgerRefused if a newer program changed the schema."""
    return _mark(connection, _READ)


def _mark(connection: Connection, statement: str) -> Mark:
    if connection.dialect.name == "sqlite":  # with each commit of answers
        seq, epoch, version = execute_plain(connection, statement, ()).fetchone()
    else:
        seq, epoch, version = connection.exec_driver_sql(statement).one()
    require_known(int(version))
    return Mark(epoch, int(seq))


def start_anew(connection: Connection, *, above: int) -> Mark:
    """Give the ledger a new name and a count above all that was seen: what other copies say of it is over."""
    mark = Mark(secrets.token_hex(8), above + 1)
    for name, value in (("epoch", mark.epoch), ("seq", str(mark.seq))):
        connection.execute(meta.update().where(meta.c.name == name).values(value=value))
    return mark


class HighWater:
    """The notes of one ledger; without paths nothing is noted and nothing is found."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        """paths: the first is written after each commit, all of them around each sending run."""
        self._paths = tuple(paths)

    def noted(self) -> list[Mark]:
        """What the files say; a file that is not there or cannot be read says nothing."""
        return [mark for path in self._paths if (mark := _read(path)) is not None]

    def note(self, mark: Mark) -> None:
        """After a commit: for the death of this process, not for that of the machine, so it costs no sync."""
        if self._paths:
            _write(self._paths[0], mark, durable=False)

    def keep(self, mark: Mark) -> None:
        """Around a sending run: at every place, durably."""
        for path in self._paths:
            _write(path, mark, durable=True)

    def check(self, found: Mark, *, noted: Sequence[Mark]) -> None:
        """Compare the ledger with its notes, which were read before it: others may be writing.

        Raises:
            LedgerRefused: it is an older copy, or another ledger than the one that was used last.
        """
        for mark in noted:
            if mark.epoch != found.epoch:
                raise LedgerRefused(
                    "This ledger is not the one with which this workspace sent before: it was deleted, replaced, or "
                    "restored from a copy of another time. It does not know what was sent since.",
                    remedy=_REMEDY,
                )
            if mark.seq > found.seq:
                raise LedgerRefused(
                    f"This ledger is an older copy: {mark.seq - found.seq} transactions that were written are not in "
                    "it, so it does not know everything that was sent.",
                    remedy=_REMEDY,
                )


def _read(path: Path) -> Mark | None:
    try:
        written = json.loads(path.read_bytes())
        return Mark(str(written["epoch"]), int(written["seq"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(path: Path, mark: Mark, *, durable: bool) -> None:
    """One write over the old line, or nothing: a note that cannot be made (no space) leaves the older one."""
    line = json.dumps(asdict(mark)).ljust(_LINE_BYTES - 1) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    except OSError:
        return
    try:
        os.pwrite(descriptor, line.encode(), 0)
        if durable:
            os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
