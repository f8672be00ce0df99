"""Events that the service sent about orders: each kept once, and how often it came.

The same AWB number, status and time with other bytes (a remark was added, or somebody forged it) are kept beside the
first: which of them is right is not for us to say.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.records import NewEvent, StoredEvent
from logistics_batch.ledger.schema import event


class Events(Repository):
    """Storing events, and reading them back; short transactions of their own, without the lock of a sending run."""

    def store(self, events: Sequence[NewEvent], *, patience_seconds: float) -> list[bool]:
        """Keep events durably, all or none; True for each that is new, False for one that came before.

        patience_seconds: how long to wait for another writer.

        Raises:
            LedgerRefused: nothing of it was kept.
        """
        with self._write(patience_seconds=patience_seconds, counts=False) as connection:
            return [self._keep(connection, each) for each in events]

    def kept(self) -> tuple[int, int]:
        """How many events have their bytes still, and how many bytes these are."""
        query = select(func.count(), func.coalesce(func.sum(func.length(event.c.raw)), 0))
        ((number, size),) = self._rows(query.where(func.length(event.c.raw) > 0))
        return int(number), int(size)

    def has(self, identity: str) -> bool:
        """Whether an event of this identity was kept."""
        return self._exists(select(event.c.id).where(event.c.account == self.account, event.c.identity == identity))

    def of_orders(self, *, received_from: str) -> Iterator[StoredEvent]:
        """The events about orders that came since a time (ISO 8601), oldest first; not those whose bytes are gone."""
        since = datetime.fromisoformat(received_from)
        day_before = (since - timedelta(days=1)).date().isoformat()  # texts with other offsets sort by day at most
        query = (
            select(event.c.received_at, event.c.waybill, event.c.raw)
            .where(event.c.account == self.account, event.c.unreadable == "", func.length(event.c.raw) > 0)
            .where(event.c.received_at >= day_before)
            .order_by(event.c.id)
        )
        with self._read() as connection:
            for line in connection.execution_options(stream_results=True).execute(query):
                if datetime.fromisoformat(line.received_at) >= since:
                    yield StoredEvent(line.received_at, line.waybill, bytes(line.raw))

    def _keep(self, connection: Connection, new: NewEvent) -> bool:
        own = {"account": self.account, "zone_assumed": int(new.zone_assumed), "seen": 1}
        statement = (
            insert_into(connection, event)
            .values(asdict(new) | own | {"content": hashlib.sha256(new.raw).hexdigest()})
            .on_conflict_do_update(index_elements=["account", "identity", "content"], set_={"seen": event.c.seen + 1})
            .returning(event.c.seen)
        )
        return bool(connection.execute(statement).scalar_one() == 1)
