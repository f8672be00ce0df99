"""One rate for an account over all processes and machines that share the ledger: the next turn is one row of it."""

import math
import time

from sqlalchemy import Connection, select, text

from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import Repository, named_for
from logistics_batch.ledger.schema import meta

_PATIENCE_SECONDS = 2.0
_LOOKS_AT_CLOCKS = 10
_CLOCKS_READ_IN_SECONDS = 0.0005
_NEXT_SPACINGS = 1.2  # behind a turn: the next one, which nobody has; clocks differ a trifle
_LONGEST_HOLD_SECONDS = 20 * 60.0  # what lies further ahead was written by a clock that is wrong


class Pace(Repository):
    """When the next call may leave, whoever makes it; short transactions of their own."""

    def take_turns(
        self,
        count: int,
        *,
        spacing_seconds: float,
        ahead_seconds: float,
        lead_seconds: float = 0.0,
        instead_of: float = -math.inf,
    ) -> tuple[float, bool]:
        """The moment of the next turn (monotonic), and whether it and those behind it were taken: if it comes so soon.

        lead_seconds: no turn comes before, and so much later may one come that is taken. instead_of: a turn that was
        missed; it is given back, unless somebody has one behind it.

        Raises:
            LedgerRefused: the ledger takes nothing.
        """
        with self._write(patience_seconds=_PATIENCE_SECONDS, counts=False) as connection:
            now, here, next_at = self._times(connection)
            missed = instead_of - here + now
            if next_at <= missed + _NEXT_SPACINGS * spacing_seconds:
                next_at = missed
            first = max(next_at, now + lead_seconds)
            taken = first - now <= ahead_seconds + lead_seconds
            if taken:
                self._set(connection, first + count * spacing_seconds)
        return here + first - now, taken

    def hold_turns(self, seconds: float) -> None:
        """Give nobody a turn for so long: the service asked for it.

        Raises:
            LedgerRefused: the ledger takes nothing.
        """
        with self._write(patience_seconds=_PATIENCE_SECONDS, counts=False) as connection:
            now, _, next_at = self._times(connection)
            self._set(connection, max(next_at, now + seconds))

    def _times(self, connection: Connection) -> tuple[float, float, float]:
        """Now, by one clock for all and by this machine's monotonic one, and when the next turn comes."""
        name = self._name()
        connection.execute(insert_into(connection, meta).values(name=name, value="0").on_conflict_do_nothing())
        stored = connection.execute(select(meta.c.value).where(meta.c.name == name).with_for_update()).scalar_one()
        now, here = _now(connection)
        next_at = float(stored)
        return now, here, next_at if next_at - now < _LONGEST_HOLD_SECONDS else now

    def _set(self, connection: Connection, next_at: float) -> None:
        connection.execute(meta.update().where(meta.c.name == self._name()).values(value=repr(next_at)))

    def _name(self) -> str:
        return named_for("pace", self.account)


def _now(connection: Connection) -> tuple[float, float]:
    """The same moment by one clock for all that share the ledger, and by this machine's monotonic one."""
    if connection.dialect.name != "sqlite":
        now = float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())
        return now, time.monotonic()
    for _ in range(_LOOKS_AT_CLOCKS):
        before, now, after = time.monotonic(), time.time(), time.monotonic()
        if after - before < _CLOCKS_READ_IN_SECONDS:
            break  # else this thread was held up between the clocks
    return now, before
