"""Orders after they were sent: their state at the service, what people and events said of them, what was cancelled."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, select

from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import Repository, dump, named_for
from logistics_batch.ledger.documents.decide import CANCELLED
from logistics_batch.ledger.documents.documents import select_documents
from logistics_batch.ledger.documents.recording import add_evidence
from logistics_batch.ledger.records import Outcome, SentOrder, StoredDocument, stored_document
from logistics_batch.ledger.schema import cancelled_number, document, event, meta, order_state
from logistics_batch.model.issue import Issue
from logistics_batch.model.order_state import Hint, OrderState, Shown, ShownItem

Step = Callable[[OrderState], OrderState]
_EVENTS_AT_ONCE = 2000
_LOOK_BACK = 1000  # on PostgreSQL an event with a smaller number may become visible later than one with a larger
_ORDERS_AT_ONCE = 500
_PLAIN = ("status", "status_at", "source", "problem", "asked_at", "hint_status", "hint_at", "event_id", "change")
_AT_ONCE = 400  # numbers in one IN (…)
FOUND_CANCELLED = "found_cancelled"
"""The rule of an order in doubt that is held because it reached the service and was cancelled there."""
NOT_FROM_HERE = Issue("cancelled.elsewhere")
"""Of an accepted order that others cancelled."""


@dataclass(frozen=True, slots=True)
class NamedOrder:
    """An accepted order of ours with its AWB number; seen: the service has shown that the number is the order's."""

    document_id: int
    reference: str
    awb_number: str
    seen: bool


class Orders(Repository):
    """What is known of orders beside the documents that made them."""

    def sent(self, *, since: str = "", numbers: Sequence[str] | None = None) -> list[SentOrder]:
        """The accepted orders since a day (ISO date), oldest first, or those of these references or AWB numbers."""
        query = self._sent().where(document.c.settled_at >= since)
        if numbers is not None:
            wanted = list(numbers)
            query = query.where(document.c.reference.in_(wanted) | document.c.awb_number.in_(wanted))
        with self._read() as connection:
            return [_sent_order(record) for record in connection.execute(query).mappings()]

    def orders_of(self, document_ids: Sequence[int]) -> list[SentOrder]:
        """The accepted orders of these documents, in the order of their numbers."""
        found: list[SentOrder] = []
        for start in range(0, len(document_ids), _ORDERS_AT_ONCE):
            query = self._sent().where(document.c.id.in_(list(document_ids[start : start + _ORDERS_AT_ONCE])))
            with self._read() as connection:
                found += [_sent_order(record) for record in connection.execute(query).mappings()]
        return sorted(found, key=lambda order: order.document_id)

    def _sent(self) -> Select[Any]:
        heads = ("id", "reference", "awb_number", "order_id", "child_awb_numbers", "settled_at")
        columns = [column for column in order_state.c if column.name != "document_id"]
        return (
            select(*(document.c[name] for name in heads), *columns)
            .outerjoin(order_state, order_state.c.document_id == document.c.id)
            .where(document.c.account == self.account, document.c.operation == "order.create")
            .where(document.c.state == "accepted")
            .order_by(document.c.id)
        )

    def documents_of(self, document_ids: Sequence[int]) -> list[StoredDocument]:
        """The documents of these numbers with all they hold."""
        query = select_documents().where(document.c.id.in_(list(document_ids))).order_by(document.c.id)
        with self._read() as connection:
            return [stored_document(record) for record in connection.execute(query).mappings()]

    def hints(self) -> Iterator[tuple[str, Hint]]:
        """The events about orders that were not taken into account yet, as (AWB number, hint), in order."""
        with self._read() as connection:
            last = max(0, _number(connection, named_for("events-read", self.account)) - _LOOK_BACK)
        while True:
            query = (
                select(event.c.id, event.c.waybill, event.c.order_status, event.c.status_at, event.c.received_at)
                .where(event.c.account == self.account, event.c.unreadable == "", event.c.id > last)
                .order_by(event.c.id)
                .limit(_EVENTS_AT_ONCE)
            )
            with self._read() as connection:
                found = connection.execute(query).all()
            for each in found:
                yield each.waybill, Hint(each.id, each.order_status, each.status_at, each.received_at)
            if len(found) < _EVENTS_AT_ONCE:
                return
            last = found[-1].id

    def events_of(self, awb_numbers: Sequence[str]) -> list[Hint]:
        """Every stored event that names one of these AWB numbers, in the order in which they came."""
        query = select(event).where(event.c.account == self.account, event.c.waybill.in_(list(awb_numbers)))
        with self._read() as connection:
            found = connection.execute(query.where(event.c.unreadable == "").order_by(event.c.id))
            return [Hint(each.id, each.order_status, each.status_at, each.received_at) for each in found]

    def change_states(self, steps: Mapping[int, Step], *, events_read: int = 0) -> int:
        """Take steps on orders, by document, from what is known at this moment; how many changed for others.

        events_read: the number of the last event that all steps so far have taken into account.
        """
        changed = 0
        with self._write(counts=False) as connection:
            counter = _Counter(connection, named_for("order-changes", self.account))
            for document_id, step in steps.items():
                before = _state_of(connection, document_id)
                after = step(before)
                if after.differs_from(before):
                    after = replace(after, change=counter.next())
                    changed += 1
                if after != before:
                    _keep(connection, after)
            counter.keep()
            if events_read:
                _put_number(connection, named_for("events-read", self.account), events_read)
        return changed

    def orders_named(self, awb_numbers: Iterable[str]) -> dict[str, NamedOrder]:
        """The accepted orders with these AWB numbers; of several with one number, the living one that came last."""
        wanted = sorted({*awb_numbers} - {""})
        found: dict[str, NamedOrder] = {}
        query = (
            select(document.c.id, document.c.reference, document.c.awb_number, document.c.seen)
            .where(document.c.account == self.account, document.c.operation == "order.create")
            .where(document.c.state == "accepted")
            .order_by(document.c.code.not_in(CANCELLED), document.c.id)
        )
        with self._read() as connection:
            for some in _chunks(wanted):
                for each in connection.execute(query.where(document.c.awb_number.in_(some))):
                    found[each.awb_number] = NamedOrder(each.id, each.reference, each.awb_number, bool(each.seen))
        return found

    def note_seen(self, order: NamedOrder, *, at: str) -> None:
        """The service has shown this order under its AWB number; what has another number by now stays unseen."""
        with self._write() as connection:
            shown = connection.execute(
                document.update()
                .where(document.c.id == order.document_id, document.c.awb_number == order.awb_number)
                .where(document.c.state == "accepted", document.c.seen == 0)
                .values(seen=1)
            )
            if shown.rowcount:
                text = f"The service shows it under AWB number {order.awb_number}."
                add_evidence(connection, order.document_id, at=at, kind="seen", text=text)

    def cancelled_by_unknown_numbers(self, *, since: str, at_most: int) -> list[StoredDocument]:
        """Cancellations accepted since then, the newest first, whose number was no AWB number known here.

        It may be the service's own id of an order of ours (API §4.10). Those that `note_whose` closed are left out.
        """
        query = (
            select_documents()
            .where(document.c.account == self.account, document.c.operation == "order.cancel")
            .where(document.c.state == "accepted", document.c.settled_at >= since, document.c.seen == 0)
            .where(document.c.reference == document.c.order_id)
        )
        with self._read() as connection:
            found = connection.execute(query.order_by(document.c.id.desc()).limit(at_most))
            return [stored_document(record) for record in found.mappings()]

    def note_whose(self, cancellation_id: int) -> None:
        """Whose order a cancellation was about is known by now."""
        with self._write() as connection:
            connection.execute(document.update().where(document.c.id == cancellation_id).values(seen=1))

    def record_by_hand(self, *, reference_or_awb: str, at: str, text: str, cancelled: bool) -> bool:
        """Keep what a person did to an order of ours by hand; False if the ledger does not know the order."""
        with self._write() as connection:
            found = connection.execute(
                select(document.c.id)
                .where(
                    document.c.account == self.account,
                    document.c.kind == "order",
                    document.c.state == "accepted",
                    (document.c.reference == reference_or_awb)
                    | (document.c.awb_number == reference_or_awb)
                    | (document.c.order_id == reference_or_awb),
                )
                .order_by(document.c.id.desc())
                .limit(1)
            ).scalar()
            if found is None:
                return False
            if cancelled:
                connection.execute(
                    document.update().where(document.c.id == found).values({"code": "cancelled.by_hand", "values": ""})
                )
            add_evidence(connection, found, at=at, kind="by_hand", text=text)
        return True

    def found_cancelled(self, document_id: int, *, at: str, why: Issue = NOT_FROM_HERE) -> None:
        """An accepted order of ours is cancelled at the service; if that was known here, nothing changes."""
        with self._write() as connection:
            changed = connection.execute(
                document.update()
                .where(document.c.id == document_id, document.c.operation == "order.create")
                .where(document.c.state == "accepted", document.c.code.not_in(CANCELLED))
                .values({"code": why.code, "values": why.values})
            )
            if changed.rowcount:
                add_evidence(connection, document_id, at=at, kind="found", text=why.reason)

    def note_asked(self, number: str, *, at: str) -> None:
        """Keep that a person asks to cancel an order by a number that is not known here, before it is asked for."""
        with self._write() as connection:
            connection.execute(cancelled_number.insert().values(account=self.account, number=number, at=at))

    def asked_since(self, moment: str) -> list[str]:
        """The numbers, unknown here, by which people asked to cancel orders since then, oldest first."""
        query = (
            select(cancelled_number.c.number)
            .where(cancelled_number.c.account == self.account, cancelled_number.c.document_id.is_(None))
            .where(cancelled_number.c.at >= moment)
        )
        with self._read() as connection:
            return list(connection.execute(query.order_by(cancelled_number.c.id)).scalars())

    def cancelled_before(self, document_id: int) -> set[str]:
        """The AWB numbers of earlier attempts of an order, which were found cancelled: they prove nothing of the last.

        It was held for each of them, so whatever was sent since is something else.
        """
        query = select(cancelled_number.c.number).where(cancelled_number.c.document_id == document_id)
        with self._read() as connection:
            return set(connection.execute(query).scalars())


class _Counter:
    """The number of the last change; its row stays locked from the first use to the end of the transaction."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._value: int | None = None

    def next(self) -> int:
        if self._value is None:
            self._value = lock_changes(self._connection, self._name)
        self._value += 1
        return self._value

    def keep(self) -> None:
        if self._value is not None:
            _put_number(self._connection, self._name, self._value)


def lock_changes(connection: Connection, name: str) -> int:
    """The number of the last change; until the transaction ends nobody else gives out or reads one."""
    _put_number_if_missing(connection, name)
    return _number(connection, name, lock=True)


def _number(connection: Connection, name: str, *, lock: bool = False) -> int:
    query = select(meta.c.value).where(meta.c.name == name)
    return int(connection.execute(query.with_for_update() if lock else query).scalar() or 0)


def _put_number_if_missing(connection: Connection, name: str) -> None:
    connection.execute(insert_into(connection, meta).values(name=name, value="0").on_conflict_do_nothing())


def _put_number(connection: Connection, name: str, value: int) -> None:
    _put_number_if_missing(connection, name)
    connection.execute(meta.update().where(meta.c.name == name).values(value=str(value)))


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
        shown=Shown(shown.get("cash_on_delivery", ""), items),
    )


def _keep(connection: Connection, state: OrderState) -> None:
    values = {name: getattr(state, name) for name in _PLAIN} | {"shown": dump(asdict(state.shown))}
    updated = order_state.update().where(order_state.c.document_id == state.document_id).values(values)
    if not connection.execute(updated).rowcount:
        connection.execute(order_state.insert().values(document_id=state.document_id, **values))


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


def _chunks(numbers: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(numbers), _AT_ONCE):
        yield numbers[start : start + _AT_ONCE]


def keep_numbers(connection: Connection, outcomes: Sequence[Outcome], *, account: str, at: str) -> None:
    """Keep under which numbers orders in doubt were found cancelled."""
    found = [
        {"account": account, "number": each.awb_number, "document_id": each.document_id, "at": at}
        for each in outcomes
        if each.rule == FOUND_CANCELLED and each.awb_number
    ]
    if found:
        connection.execute(cancelled_number.insert(), found)
