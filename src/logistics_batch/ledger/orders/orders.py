"""Orders after they were sent: their state at the service, what people and events said of them, what was cancelled."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, select

from logistics_batch.ledger.bulk import insert_into
from logistics_batch.ledger.connection import Repository, dump, named_for
from logistics_batch.ledger.records import SentOrder, StoredDocument, select_documents, stored_document
from logistics_batch.ledger.schema import document, event, meta, order_state
from logistics_batch.model.issue import Issue
from logistics_batch.model.order_state import Hint, OrderState, Shown, ShownItem

Step = Callable[[OrderState], OrderState]
_EVENTS_AT_ONCE = 2000
_LOOK_BACK = 1000  # on PostgreSQL an event with a smaller number may become visible later than one with a larger
_ORDERS_AT_ONCE = 500
_PLAIN = ("status", "status_at", "source", "asked_at", "hint_status", "hint_at", "event_id", "change")
_AT_ONCE = 400  # numbers in one IN (…)


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
        problem=Issue(record["code"], values=record["values"]),
        shown=Shown(shown.get("cash_on_delivery", ""), items),
    )


def _keep(connection: Connection, state: OrderState) -> None:
    values = {name: getattr(state, name) for name in _PLAIN} | {"shown": dump(asdict(state.shown))}
    values |= {"code": state.problem.code, "values": state.problem.values}
    updated = order_state.update().where(order_state.c.document_id == state.document_id).values(values)
    if not connection.execute(updated).rowcount:
        connection.execute(order_state.insert().values(values | {"document_id": state.document_id}))


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
