"""What a database could not do, in an operator's words; what was to be written is never among them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, IntegrityError

from logistics_batch.errors import LedgerRefused

LOCKED = "database is locked"  # in SQLite's words


def cause_of(error: Exception) -> str:
    """The database's own words: their first line, for further ones quote values."""
    return str(error.orig if isinstance(error, DBAPIError) else error).splitlines()[0]


@contextmanager
def told_plainly(doing: str, *, patience_seconds: float = 0.0) -> Iterator[None]:
    """Whatever a database cannot do within the block is a LedgerRefused.

    doing: "read" or "written". patience_seconds: how long was waited for other writers.

    Raises:
        LedgerRefused: it is gone, full, locked or damaged, or what it holds contradicts what was to be written.
    """
    try:
        yield
    except DBAPIError as error:
        cause = cause_of(error)
        if cause == LOCKED:
            raise LedgerRefused(
                f"Another program has been writing into the ledger for {patience_seconds:g} seconds.",
                remedy="It may be suspended: see what it does, then run again.",
            ) from error
        raise LedgerRefused(f"The ledger cannot be {doing}: {cause}", remedy=_remedy(error)) from error


def _remedy(error: DBAPIError) -> str:
    if isinstance(error, IntegrityError):
        return (
            "Another program may have written into it at the same moment: run again. If that does not help, report it."
        )
    if isinstance(error.orig, sqlite3.Error):
        return "Check free space and rights, then run again."
    return "See that the database server runs and can be reached, then run again."
