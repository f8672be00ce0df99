"""The memory: what was sent and what was said, on SQLite or PostgreSQL."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from logistics_batch.ledger.connection import open_engine, sqlite_path
from logistics_batch.ledger.decide import Decision
from logistics_batch.ledger.events import Events
from logistics_batch.ledger.fates import FATE_OF_STATE, Fates, row_result
from logistics_batch.ledger.history import History
from logistics_batch.ledger.lock import sending_lock
from logistics_batch.ledger.planning import Arrival, Planning, kind_of
from logistics_batch.ledger.prints import Prints
from logistics_batch.ledger.records import (
    NewEvent,
    Outcome,
    PrintLine,
    RowNotSent,
    StoredDocument,
    StoredFile,
    StoredLabel,
    StoredRun,
)
from logistics_batch.ledger.sending import Intent, Sending

__all__ = [
    "FATE_OF_STATE",
    "Arrival",
    "Decision",
    "Intent",
    "Ledger",
    "NewEvent",
    "Outcome",
    "PrintLine",
    "RowNotSent",
    "StoredDocument",
    "StoredFile",
    "StoredLabel",
    "StoredRun",
    "kind_of",
    "open_ledger",
    "row_result",
]


class Ledger(Planning, Sending, Fates, History, Prints, Events):
    """All parts of the ledger over one engine."""

    def sending(
        self, what: str, *, wait: bool = False, stop: Callable[[], bool] = lambda: False
    ) -> AbstractContextManager[None]:
        """Hold the ledger for one sending run; see `lock.sending_lock` (raises LedgerBusy)."""
        return sending_lock(self._engine, path=sqlite_path(self.url), what=what, wait=wait, stop=stop)


def open_ledger(url: str, *, account: str, read_only: bool = False) -> Ledger:
    """Open the ledger, creating it or bringing it up to date where it has to be (never when `read_only`).

    url: sqlite:///path or postgresql://…  account: whose documents these are: the service's address.

    Raises:
        LedgerRefused: it cannot be opened or trusted.
        LedgerBusy: it has to be brought up to date, and a sending run holds it.
    """
    return Ledger(open_engine(url, read_only=read_only), account=account, url=url)
