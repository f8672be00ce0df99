"""Feeds of changed orders: each made once, with the bytes that are delivered until somebody has them."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, func, select

from logistics_batch.ledger.connection import Repository, named_for
from logistics_batch.ledger.orders.orders import lock_changes
from logistics_batch.ledger.records import StoredFeed
from logistics_batch.ledger.schema import document, feed, order_state

WriteFeed = Callable[[int, Sequence[int]], tuple[str, bytes]]
"""From the feed's number and the documents of the orders that changed to its name and bytes."""


class Feeds(Repository):
    """One series of numbered feeds a job; a series has no gap, and a change stands in exactly one of its feeds."""

    def waiting(self, job: str) -> StoredFeed | None:
        """The feed that has to be delivered before another is made, None if there is none."""
        with self._read() as connection:
            return _waiting(connection, self.account, job)

    def has_news(self, job: str) -> bool:
        """Whether anything changed since the last feed that was made."""
        fed = select(func.max(feed.c.up_to)).where(feed.c.account == self.account, feed.c.job == job)
        with self._read() as connection:
            read_to = connection.execute(fed).scalar() or 0
            return connection.execute(self._changed_since(read_to).limit(1)).first() is not None

    def next(self, job: str, write: WriteFeed, *, at: str, above: int = 0) -> StoredFeed | None:
        """The feed that waits, or a new one of what changed since the last; None if nothing did.

        `write` must give the same for the same state of the ledger. above: the highest number that was seen elsewhere,
        which a ledger that was restored does not know.
        """
        with self._write() as connection:
            lock_changes(connection, named_for("order-changes", self.account))
            if found := _waiting(connection, self.account, job):
                return found
            mine = feed.select().where(feed.c.account == self.account, feed.c.job == job)
            last = connection.execute(mine.order_by(feed.c.number.desc()).limit(1)).mappings().first()
            number, read_to = (last["number"], last["up_to"]) if last else (0, 0)
            changed = connection.execute(self._changed_since(read_to)).all()
            if not changed:
                return None
            number = max(number, above) + 1
            name, content = write(number, [each.document_id for each in changed])
            values: dict[str, Any] = {
                "number": number,
                "name": name,
                "orders": len(changed),
                "sha256": hashlib.sha256(content).hexdigest(),
                "content": content,
                "made_at": at,
                "delivered_at": "",
            }
            up_to = changed[-1].change
            connection.execute(feed.insert().values(account=self.account, job=job, up_to=up_to, **values))
            return StoredFeed(job=job, **values)

    def delivered(self, found: StoredFeed, *, at: str) -> None:
        """A feed lies where it belongs; its bytes are no longer kept here."""
        with self._write() as connection:
            mine = (feed.c.account == self.account) & (feed.c.job == found.job) & (feed.c.number == found.number)
            left = feed.update().where(mine, feed.c.delivered_at == "")
            connection.execute(left.values(delivered_at=at, content=b""))

    def all(self, job: str, *, limit: int = 20) -> list[StoredFeed]:
        """The latest feeds of a job, newest first."""
        query = feed.select().where(feed.c.account == self.account, feed.c.job == job)
        with self._read() as connection:
            found = connection.execute(query.order_by(feed.c.number.desc()).limit(limit)).mappings()
            return [_stored(record) for record in found]

    def _changed_since(self, change: int) -> Select[tuple[int, int]]:
        return (
            select(order_state.c.document_id, order_state.c.change)
            .join(document, order_state.c.document_id == document.c.id)
            .where(document.c.account == self.account, order_state.c.change > change)
            .order_by(order_state.c.change)
        )


def _waiting(connection: Connection, account: str, job: str) -> StoredFeed | None:
    query = feed.select().where(feed.c.account == account, feed.c.job == job, feed.c.delivered_at == "")
    record = connection.execute(query).mappings().first()
    return _stored(record) if record else None


def _stored(record: RowMapping) -> StoredFeed:
    values = {name: record[name] for name in StoredFeed.__dataclass_fields__}
    return StoredFeed(**values | {"content": bytes(record["content"])})
