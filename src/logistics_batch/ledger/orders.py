"""Orders after they were sent: their state at the service, the events and feeds about it, and their labels."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, RowMapping, Select, func, select, text

from logistics_batch.ledger.bulk import insert_all, insert_into
from logistics_batch.ledger.connection import Repository, dump, entry, named_for, put_entry
from logistics_batch.ledger.records import (
    CANCELLED,
    NewEvent,
    PrintLine,
    SentOrder,
    StoredDocument,
    StoredFeed,
    StoredLabel,
    stored,
)
from logistics_batch.ledger.schema import document, event, feed, label, meta, order_state, print_line, run
from logistics_batch.model.issue import Issue
from logistics_batch.model.order_state import Hint, OrderState, Shown, ShownItem

Step = Callable[[OrderState], OrderState]
WriteFeed = Callable[[int, Sequence[int]], tuple[str, bytes]]
"""From the feed's number and the documents of the orders that changed to its name and bytes."""
_EVENTS_AT_ONCE = 2000
_LOOK_BACK = 1000  # on PostgreSQL an event with a smaller number may become visible later than one with a larger
_PLAIN = ("status", "status_at", "source", "asked_at", "hint_status", "hint_at", "event_id", "change")


class Orders(Repository):
    """What is known of orders beside the documents that made them."""

    def sent(
        self, *, since: str = "", numbers: Sequence[str] | None = None, document_ids: Sequence[int] | None = None
    ) -> list[SentOrder]:
        """The accepted orders, oldest first: since a day (ISO date), of references or AWB numbers, of documents."""
        heads = ("id", "reference", "awb_number", "order_id", "child_awb_numbers", "settled_at")
        columns = [column for column in order_state.c if column.name != "document_id"]
        query = (
            select(*(document.c[name] for name in heads), *columns)
            .outerjoin(order_state, order_state.c.document_id == document.c.id)
            .where(document.c.account == self.account, document.c.operation == "order.create")
            .where(document.c.state == "accepted", document.c.settled_at >= since)
            .order_by(document.c.id)
        )
        if numbers is not None:
            named = self._among(document.c.reference, numbers) | self._among(document.c.awb_number, numbers)
            query = query.where(named)
        if document_ids is not None:
            query = query.where(self._among(document.c.id, document_ids))
        return [_sent_order(found._mapping) for found in self._rows(query)]

    def hints(self) -> Iterator[tuple[str, Hint]]:
        """The events about orders that were not taken into account yet, as (AWB number, hint), in order."""
        with self._read() as connection:
            read_to = int(entry(connection, named_for("events-read", self.account)) or 0)
        last = max(0, read_to - _LOOK_BACK)
        while True:
            query = _readable_events().where(event.c.account == self.account, event.c.id > last)
            found = self._rows(query.limit(_EVENTS_AT_ONCE))
            yield from ((each.waybill, _hint(each)) for each in found)
            if len(found) < _EVENTS_AT_ONCE:
                return
            last = found[-1].id

    def events_of(self, awb_numbers: Sequence[str]) -> list[Hint]:
        """Every stored event that names one of these AWB numbers, in the order in which they came."""
        # By the number alone: with the account to choose from, SQLite goes through all events of it.
        query = _readable_events().add_columns(event.c.account).where(self._among(event.c.waybill, awb_numbers))
        return [_hint(each) for each in self._rows(query) if each.account == self.account]

    def change_states(self, steps: Mapping[int, Step], *, events_read: int = 0) -> int:
        """Take steps on orders, by document, from what is known at this moment; how many changed for others.

        events_read: the number of the last event that all steps so far have taken into account.
        """
        changed, last = 0, 0
        counter = named_for("order-changes", self.account)
        with self._write(counts=False) as connection:
            for document_id, step in steps.items():
                before = _state_of(connection, document_id)
                after = step(before)
                if after.differs_from(before):
                    last = (last or _lock_changes(connection, counter)) + 1
                    after = replace(after, change=last)
                    changed += 1
                if after != before:
                    _keep(connection, after)
            if last:
                put_entry(connection, counter, str(last))
            if events_read:
                put_entry(connection, named_for("events-read", self.account), str(events_read))
        return changed


def _readable_events() -> Select[Any]:
    columns = ("id", "waybill", "order_status", "status_at", "received_at")
    return select(*(event.c[name] for name in columns)).where(event.c.unreadable == "").order_by(event.c.id)


def _hint(found: Row[Any]) -> Hint:
    return Hint(found.id, found.order_status, found.status_at, found.received_at)


def _lock_changes(connection: Connection, name: str) -> int:
    """The number of the last change; until the transaction ends nobody else gives out or reads one."""
    connection.execute(insert_into(connection, meta).values(name=name, value="0").on_conflict_do_nothing())
    return int(entry(connection, name, lock=True) or 0)


def _state_of(connection: Connection, document_id: int) -> OrderState:
    query = select(order_state).where(order_state.c.document_id == document_id).with_for_update()
    record = connection.execute(query).mappings().first()
    return _state(document_id, record) if record else OrderState(document_id)


def _state(document_id: int, record: RowMapping) -> OrderState:
    shown = json.loads(record["shown"])
    items = tuple(ShownItem(**item) for item in shown.get("items", ()))
    return OrderState(
        document_id,
        **{name: record[name] for name in _PLAIN},
        problem=Issue(record["code"], values=record["values"]),
        shown=Shown(shown.get("cash_on_delivery", ""), items),
    )


def _keep(connection: Connection, state: OrderState) -> None:
    values = {name: getattr(state, name) for name in _PLAIN} | {"shown": dump(asdict(state.shown))}
    values |= {"code": state.problem.code, "values": state.problem.values}
    new = insert_into(connection, order_state).values(values | {"document_id": state.document_id})
    connection.execute(new.on_conflict_do_update(index_elements=["document_id"], set_=values))


def _sent_order(record: RowMapping) -> SentOrder:
    state = OrderState(record["id"]) if record["shown"] is None else _state(record["id"], record)
    return SentOrder(
        document_id=record["id"],
        reference=record["reference"],
        awb_number=record["awb_number"],
        order_id=record["order_id"],
        child_awb_numbers=tuple(json.loads(record["child_awb_numbers"])),
        sent_at=record["settled_at"],
        state=state,
    )


class Events(Repository):
    """Events that the service sent about orders: each kept once, and how often it came.

    The same AWB number, status and time with other bytes (a remark was added, or somebody forged it) are kept beside
    the first: which of them is right is not for us to say. Short transactions, without the lock of a sending run.
    """

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

    def of_orders(self, *, received_from: str) -> Iterator[tuple[datetime, str, bytes]]:
        """The events about orders that came since a time (ISO 8601), oldest first; not those whose bytes are gone.

        Of each: when it came, the AWB number that it names, and its exact bytes.
        """
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
                if (at := datetime.fromisoformat(line.received_at)) >= since:
                    yield at, line.waybill, bytes(line.raw)

    def _keep(self, connection: Connection, new: NewEvent) -> bool:
        own = {"account": self.account, "zone_assumed": int(new.zone_assumed), "seen": 1}
        statement = (
            insert_into(connection, event)
            .values(asdict(new) | own | {"content": hashlib.sha256(new.raw).hexdigest()})
            .on_conflict_do_update(index_elements=["account", "identity", "content"], set_={"seen": event.c.seen + 1})
            .returning(event.c.seen)
        )
        return bool(connection.execute(statement).scalar_one() == 1)


class Feeds(Repository):
    """Feeds of changed orders: one series of numbered feeds a job, each with its bytes until it was delivered.

    A series has no gap, and a change stands in exactly one of its feeds.
    """

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
        with self._write(unhurried=True) as connection:
            _lock_changes(connection, named_for("order-changes", self.account))
            newest = self._of(job).order_by(feed.c.number.desc()).limit(1)
            last = connection.execute(newest).first()
            if last and not last.delivered_at:
                return stored(StoredFeed, [last])[0]
            number, read_to = (last.number, last.up_to) if last else (0, 0)
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

    def _of(self, job: str) -> Select[Any]:
        return select(feed).where(feed.c.account == self.account, feed.c.job == job)

    def _changed_since(self, change: int) -> Select[Any]:
        return (
            select(order_state.c.document_id, order_state.c.change)
            .join(document, order_state.c.document_id == document.c.id)
            .where(document.c.account == self.account, order_state.c.change > change)
            .order_by(order_state.c.change)
        )


class Labels(Repository):
    """Labels that were fetched, and the print ledger: who printed which label when, and why again."""

    def record_labels(self, labels: Sequence[StoredLabel]) -> None:
        """Remember the contents of labels, so that their links are needed once; a newer fetch replaces an older one."""
        latest = {each.awb_number: asdict(each) for each in labels}
        with self._write() as connection:
            connection.execute(label.delete().where(self._among(label.c.awb_number, latest)))
            insert_all(connection, label, list(latest.values()))

    def of_orders(self, awb_numbers: Sequence[str]) -> dict[str, StoredLabel]:
        """The labels that are kept for these AWBs."""
        query = select(label).where(self._among(label.c.awb_number, awb_numbers))
        return {each.awb_number: each for each in self._values(StoredLabel, query)}

    def record_print(
        self, bundle_id: str, copies: Mapping[str, int], *, reason: str = "", who: str = "", at: str
    ) -> list[str]:
        """All labels of one bundle were written for printing; each gets its next copy number.

        copies: how often each was printed before, by AWB number. Returns those that were printed since, by somebody
        else: then nothing is written.
        """
        with self._write() as connection:
            if connection.dialect.name != "sqlite":  # there one writes at a time anyway
                connection.execute(text("LOCK TABLE print_line IN SHARE ROW EXCLUSIVE MODE"))
            query = select(print_line.c.awb_number, func.max(print_line.c.copy)).group_by(print_line.c.awb_number)
            found = connection.execute(query.where(self._among(print_line.c.awb_number, copies)))
            known = dict(map(tuple, found))
            if others := [number for number, times in copies.items() if known.get(number, 0) != times]:
                return others
            said = {"bundle_id": bundle_id, "reason": reason, "who": who, "at": at}
            lines = [said | {"awb_number": number, "copy": times + 1} for number, times in copies.items()]
            insert_all(connection, print_line, lines)
        return []

    def printing_now(self) -> list[str]:
        """The bundles whose labels count as printed and whose runs have no end: they go on, or died."""
        query = select(run.c.id).where(run.c.kind == "labels", run.c.finished_at == "")
        printed = select(print_line.c.id).where(print_line.c.bundle_id == run.c.id)
        return self._column(query.where(printed.exists()).order_by(run.c.started_at, run.c.id))

    def printed_by(self, bundle_id: str) -> set[str]:
        """Who made a bundle, "" where a job did; nobody if no label is in it."""
        return set(self._column(select(print_line.c.who).where(print_line.c.bundle_id == bundle_id).distinct()))

    def last_prints(self, awb_numbers: Sequence[str]) -> dict[str, PrintLine]:
        """The last print of each of these labels; those never printed are left out."""
        return {line.awb_number: line for line in self.prints(awb_numbers)}

    def prints(self, awb_numbers: Sequence[str]) -> list[PrintLine]:
        """Every print of these labels, first copies first."""
        query = select(print_line).where(self._among(print_line.c.awb_number, awb_numbers))
        return self._values(PrintLine, query.order_by(print_line.c.copy))

    def unprinted_orders(self) -> list[StoredDocument]:
        """Accepted orders that were not cancelled and of which no label was printed."""
        return self._documents(
            document.c.operation == "order.create",
            document.c.state == "accepted",
            document.c.code.not_in(CANCELLED),
            document.c.awb_number.not_in(select(print_line.c.awb_number)),
        )
