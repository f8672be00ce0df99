"""Whether the database itself is sound: looked at when it is opened, but not all of a large one at every opening."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from logistics_batch.errors import LedgerRefused
from logistics_batch.ledger.connection import entry, put_entry

_ALWAYS_BELOW_BYTES = 32 << 20  # takes a tenth of a second; a larger ledger is looked at once a day
_EVERY = timedelta(days=1)
_CHECKED_AT = "checked_at"


def check_at_opening(engine: Engine, path: Path | None, *, read_only: bool) -> None:
    """Look at a SQLite file that is small, or was not looked at today; a reader of a large one does not wait for that.

    Raises:
        LedgerRefused: it is damaged.
    """
    if path is None or not path.exists():
        return
    if path.stat().st_size < _ALWAYS_BELOW_BYTES:
        check_database(engine)
    elif not read_only and _is_due(engine):
        check_database(engine)
        with engine.connect().execution_options(write=True) as connection, connection.begin():
            put_entry(connection, _CHECKED_AT, datetime.now(UTC).isoformat())


def check_database(engine: Engine, *, thorough: bool = False) -> None:
    """Have SQLite look at its own pages; thorough: also whether every index fits its table. PostgreSQL does it itself.

    Raises:
        LedgerRefused: it is damaged.
    """
    if engine.dialect.name != "sqlite":
        return
    pragma = "integrity_check(1)" if thorough else "quick_check(1)"
    try:
        with engine.connect() as connection:
            verdict = connection.exec_driver_sql(f"PRAGMA {pragma}").scalar()
    except DBAPIError as exc:
        verdict = str(exc.orig)
    if verdict != "ok":
        raise LedgerRefused(
            f"The ledger is damaged: {verdict}.", remedy="Restore a backup; nothing is sent with a damaged ledger."
        )


def _is_due(engine: Engine) -> bool:
    with engine.connect() as connection, connection.begin():
        last = entry(connection, _CHECKED_AT)
    return last is None or not timedelta(0) <= datetime.now(UTC) - datetime.fromisoformat(last) < _EVERY
