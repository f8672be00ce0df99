"""One rate for an account over all processes and machines that share the ledger: turns are claimed in it.

A turn is a plan; a call may be held up after it. So calls are also written down when they leave.
"""

import json
import time

from sqlalchemy import Connection, select, text

from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import Repository, named_for
from logistics_batch.ledger.schema import meta

_PATIENCE_SECONDS = 2.0
_LOOKS_AT_CLOCKS = 10
_CLOCKS_READ_IN_SECONDS = 0.0005
_FARTHEST_DEPARTURE_SECONDS = 10.0  # a call that waits longer to leave does not; further ahead, a clock is wrong
_LONGEST_HOLD_SECONDS = 20 * 60.0  # what lies further ahead was written by a clock that is wrong


class Pace(Repository):
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

    def leave(
        self, *, at_most: int, in_seconds: float, lead_seconds: float, instead_of: float | None = None
    ) -> tuple[float, float]:
        """Write down that a call leaves as soon as no more than `at_most` do so `in_seconds`, after `lead_seconds`.

        Gives that moment (monotonic), and a mark under which it stands. instead_of: the mark of an earlier one of the
        same call, which did not leave then.

        Raises:
            LedgerRefused: the ledger takes nothing.
        """
        name = named_for("departures", self.account)
        with self._write(patience_seconds=_PATIENCE_SECONDS, counts=False) as connection:
            found = json.loads(_stored(connection, name, "[]"))
            now, here = _now(connection)
            near = (each for each in found if now - in_seconds < each < now + _FARTHEST_DEPARTURE_SECONDS)
            left = sorted(each for each in near if each != instead_of)
            leaves = now + lead_seconds
            again = sorted([*left, leaves])
            pairs = zip(again, again[at_most:], strict=False)
            if instead_of is None or any(last - first < in_seconds for first, last in pairs):
                if left:
                    leaves = max(leaves, left[-1] + in_seconds / at_most / 2)
                if len(left) >= at_most:
                    leaves = max(leaves, left[-at_most] + in_seconds)
            _store(connection, name, json.dumps([*left, leaves]))
        return here + leaves - now, leaves

    def _times(self, connection: Connection) -> tuple[float, float]:
        """Now, by one clock for all, and when the next turn comes."""
        next_at = float(_stored(connection, self._name(), "0"))
        now, _ = _now(connection)
        return now, next_at if next_at - now < _LONGEST_HOLD_SECONDS else now

    def _set(self, connection: Connection, next_at: float) -> None:
        _store(connection, self._name(), repr(next_at))

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


def _stored(connection: Connection, name: str, first: str) -> str:
    """What stands under a name, `first` if nothing does; nobody else changes it before the transaction ends."""
    connection.execute(insert_into(connection, meta).values(name=name, value=first).on_conflict_do_nothing())
    return str(connection.execute(select(meta.c.value).where(meta.c.name == name).with_for_update()).scalar_one())


def _store(connection: Connection, name: str, value: str) -> None:
    connection.execute(meta.update().where(meta.c.name == name).values(value=value))
