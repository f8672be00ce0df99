"""One rate for an account over all processes and machines that share the ledger: turns are claimed in it."""

import time

from sqlalchemy import Connection, select, text
from sqlalchemy.dialects import postgresql, sqlite

from logistics_batch.ledger.connection import Connected, named_for
from logistics_batch.ledger.schema import meta

_PATIENCE_SECONDS = 2.0
_LONGEST_HOLD_SECONDS = 20 * 60.0  # what lies further ahead was written by a clock that is wrong


class Pace(Connected):
    """When the next call may leave, whoever makes it; short transactions of their own."""

    def take_turn(self, interval_seconds: float, *, ahead_seconds: float = 0.0, late_seconds: float = 0.0) -> float:
        """The seconds until the next turn; it is taken if that is no more than `ahead_seconds`.

        The one after a turn that is taken is `interval_seconds` later; one that is taken no more than `late_seconds`
        after it came does not push those behind it.

        Raises:
            LedgerRefused: the ledger takes nothing.
        """
        with self._write(patience_seconds=_PATIENCE_SECONDS, counts=False) as connection:
            now, next_at = self._times(connection)
            wait = max(0.0, next_at - now)
            if wait <= ahead_seconds:
                due = next_at if now - next_at < late_seconds else now + wait
                self._set(connection, due + interval_seconds)
        return wait

    def hold_turns(self, seconds: float) -> None:
        """Give nobody a turn for so long: the service asked for it.

        Raises:
            LedgerRefused: the ledger takes nothing.
        """
        with self._write(patience_seconds=_PATIENCE_SECONDS, counts=False) as connection:
            now, next_at = self._times(connection)
            self._set(connection, max(next_at, now + seconds))

    def _times(self, connection: Connection) -> tuple[float, float]:
        """Now, by one clock for all, and when the next turn comes."""
        dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
        connection.execute(dialect.insert(meta).values(name=self._name(), value="0").on_conflict_do_nothing())
        stored = select(meta.c.value).where(meta.c.name == self._name()).with_for_update()
        next_at = float(connection.execute(stored).scalar_one())
        if connection.dialect.name == "sqlite":
            now = time.time()
        else:
            now = float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
        return now, next_at if next_at - now < _LONGEST_HOLD_SECONDS else now

    def _set(self, connection: Connection, next_at: float) -> None:
        connection.execute(meta.update().where(meta.c.name == self._name()).values(value=repr(next_at)))

    def _name(self) -> str:
        return named_for("pace", self.account)
