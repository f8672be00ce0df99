"""Feeds of changed orders: each made once, with the bytes that are delivered until somebody has them."""

import hashlib
from collections.abc import Callable, Sequence

from sqlalchemy import Select, func, select

from logistics_batch.ledger.connection import Repository, named_for
from logistics_batch.ledger.orders.orders import lock_changes
from logistics_batch.ledger.records import StoredFeed, stored
from logistics_batch.ledger.schema import document, feed, order_state

WriteFeed = Callable[[int, Sequence[int]], tuple[str, bytes]]
"""From the feed's number and the documents of the orders that changed to its name and bytes."""


class Feeds(Repository):
    """One series of numbered feeds a job; a series has no gap, and a change stands in exactly one of its feeds."""

    def waiting(self, job: str) -> StoredFeed | None:
        """The feed that has to be delivered before another is made, None if there is none."""
        return self._value(StoredFeed, self._of(job).where(feed.c.delivered_at == ""))

    def has_news(self, job: str) -> bool:
        """Whether anything changed since the last feed that was made."""
        (read_to,) = self._column(self._of(job).with_only_columns(func.max(feed.c.up_to)))
        return self._exists(self._changed_since(read_to or 0))

    def next(self, job: str, write: WriteFeed, *, at: str, above: int = 0) -> StoredFeed | None:
        """The feed that waits, or a new one of what changed since the last; None if nothing did.

        `write` must give the same for the same state of the ledger. above: the highest number that was seen elsewhere,
        which a ledger that was restored does not know.
        """
        with self._write() as connection:
            lock_changes(connection, named_for("order-changes", self.account))
            newest = self._of(job).order_by(feed.c.number.desc()).limit(1)
            last = connection.execute(newest).mappings().first()
            if last and not last["delivered_at"]:
                return stored(StoredFeed, last)
            number, read_to = (last["number"], last["up_to"]) if last else (0, 0)
            changed = connection.execute(self._changed_since(read_to)).all()
            if not changed:
                return None
            number = max(number, above) + 1
            name, content = write(number, [each.document_id for each in changed])
            digest = hashlib.sha256(content).hexdigest()
            made = StoredFeed(job, number, name, len(changed), digest, content, made_at=at, delivered_at="")
            values = {each: getattr(made, each) for each in StoredFeed.__dataclass_fields__}
            connection.execute(feed.insert().values(values | {"account": self.account, "up_to": changed[-1].change}))
            return made

    def delivered(self, found: StoredFeed, *, at: str) -> None:
        """A feed lies where it belongs; its bytes are no longer kept here."""
        mine = feed.update().where(feed.c.account == self.account, feed.c.job == found.job)
        left = mine.where(feed.c.number == found.number, feed.c.delivered_at == "")
        self._execute(left.values(delivered_at=at, content=b""))

    def all(self, job: str, *, limit: int = 20) -> list[StoredFeed]:
        """The latest feeds of a job, newest first."""
        return self._values(StoredFeed, self._of(job).order_by(feed.c.number.desc()).limit(limit))

    def _of(self, job: str) -> Select[tuple[object, ...]]:
        return feed.select().where(feed.c.account == self.account, feed.c.job == job)

    def _changed_since(self, change: int) -> Select[tuple[int, int]]:
        return (
            select(order_state.c.document_id, order_state.c.change)
            .join(document, order_state.c.document_id == document.c.id)
            .where(document.c.account == self.account, order_state.c.change > change)
            .order_by(order_state.c.change)
        )
