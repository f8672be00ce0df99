"""What holds data of people goes when its time is over; keys, digests and what became of it stay."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.guards import PURGED_IN
from logistics_batch.ledger.schema import attempt, document, event, file, issue, row

_AT_ONCE = 2000  # records in one transaction: others want to write, too


@dataclass(frozen=True, slots=True)
class Purged:
    """How much went; originals: the digests of files whose bytes nobody needs any more."""

    documents: int
    events: int
    originals: tuple[str, ...]


class Purging(Connected):
    """Empties payloads, what mappings keep, replies, values of cells and the bytes of events."""

    def purge(self, *, before: str) -> Purged:
        """Empty what was settled or came in before a moment; what is open keeps everything, however old it is.

        Call while holding the sending lock.
        """
        documents = self._empty_documents(before)
        events = self._empty_events(before)
        return Purged(documents, events, self._files_of(before))

    def _empty_documents(self, before: str) -> int:
        full = (
            select(document.c.id)
            .where(document.c.state.in_(PURGED_IN), document.c.settled_at < before, document.c.settled_at != "")
            .where(func.length(document.c.body) > 0)
            .order_by(document.c.id)
            .limit(_AT_ONCE)
        )
        emptied = 0
        while True:
            with self._write(counts=False) as connection:
                _wipe(connection)
                found = list(connection.execute(full).scalars())
                connection.execute(document.update().where(document.c.id.in_(found)).values(body=b"", keep="{}"))
                connection.execute(attempt.update().where(attempt.c.document_id.in_(found)).values(reply=""))
            emptied += len(found)
            if len(found) < _AT_ONCE:
                return emptied

    def _empty_events(self, before: str) -> int:
        old = select(file.c.id).where(file.c.received_at < before)
        with self._write(counts=False) as connection:
            _wipe(connection)
            values = issue.update().where(issue.c.file_id.in_(old), issue.c.value != "").values(value="")
            connection.execute(values)
            return connection.execute(
                event.update().where(event.c.received_at < before, func.length(event.c.raw) > 0).values(raw=b"")
            ).rowcount

    def _files_of(self, before: str) -> tuple[str, ...]:
        """Contents that came only before the moment, and none of whose rows waits for anything."""
        waiting: Sequence[str] = ("planned", "sending", "in_doubt", "held")
        needed = select(file.c.sha256).where(file.c.received_at >= before)
        open_files = (
            select(file.c.sha256)
            .join(row, row.c.file_id == file.c.id)
            .join(document, row.c.document_id == document.c.id)
            .where(document.c.state.in_(waiting))
        )
        query = select(file.c.sha256).where(file.c.received_at < before).distinct()
        with self._read() as connection:
            found = connection.execute(
                query.where(file.c.sha256.not_in(needed), file.c.sha256.not_in(open_files)).order_by(file.c.sha256)
            )
            return tuple(found.scalars())


def _wipe(connection: Connection) -> None:
    """What is emptied is overwritten in the file, not only marked as free."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete = ON")
