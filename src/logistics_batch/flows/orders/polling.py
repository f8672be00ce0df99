"""Asking for orders: those that events hint at, and those of which nothing was heard for a while, within a budget.

An event counts only once the service shows the same (API §4.5): whoever learned the secret of the receiver could send
one.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from logistics_batch.api.envelopes import as_text
from logistics_batch.api.fingerprints import same_order
from logistics_batch.api.readers import OrderDetails, OrderFound, ReadFailed, read_order
from logistics_batch.api.shown_changes import shows_change
from logistics_batch.errors import UsageError
from logistics_batch.flows.orders.by_hand import raise_for_every_call
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import SentOrder
from logistics_batch.model.document import Operation
from logistics_batch.model.job import OrderStatusJob
from logistics_batch.model.order_state import ANOTHERS, UNKNOWN, Hint, OrderState, Shown, ShownItem, has_ended
from logistics_batch.model.run_reports import Asked
from logistics_batch.model.spelling import folded

_STEPS_AT_ONCE = 500
_FAILURES_IN_A_ROW = 3
_LONGEST_REFERENCE = 80  # of a stranger's order, as it is told
_SHARE_OF_SILENT = 4  # of so many calls at least one is for an order without news, however many events come

Step = Callable[[OrderState], OrderState]


def take_in_events(parts: Parts, orders: Sequence[SentOrder]) -> int:
    """Let the events that came since the last time hint at their orders; how many there were about these orders.

    An event may name the AWB number of a package, or leave out its “SH-”.
    """
    known = {
        name: order.document_id
        for order in orders
        for number in (order.awb_number, *order.child_awb_numbers)
        for name in (number, number.removeprefix("SH-"))
        if name
    }
    read_to = {order.document_id: order.state.event_id for order in orders}
    hints: dict[int, list[Hint]] = {}
    last = count = 0
    for awb_number, hint in parts.ledger.orders.hints():
        last = hint.event_id
        document_id = known.get(awb_number)
        if document_id is not None and hint.event_id > read_to[document_id]:
            hints.setdefault(document_id, []).append(hint)
            count += 1
    steps = [(document_id, _hearing(heard)) for document_id, heard in hints.items()]
    for start in range(0, len(steps), _STEPS_AT_ONCE):
        parts.ledger.orders.change_states(dict(steps[start : start + _STEPS_AT_ONCE]))
    if last:
        parts.ledger.orders.change_states({}, events_read=last)
    return count


def _hearing(hints: Sequence[Hint]) -> Step:
    def step(state: OrderState) -> OrderState:
        for hint in hints:
            state = state.heard(hint)
        return state

    return step


def choose(orders: Sequence[SentOrder], job: OrderStatusJob, *, now: datetime) -> list[SentOrder]:
    """Whom to ask for, the most urgent first: what events hint at, and the longest silent of those not at their end."""
    hinted = sorted((order for order in orders if order.state.is_hinted), key=_waits_since)
    silent_since = now - timedelta(seconds=job.poll_after_seconds)
    silent = sorted(
        (
            order
            for order in orders
            if not order.state.is_hinted
            and not has_ended(order.state.status, job.end_statuses)
            and _last_news(order) <= silent_since
        ),
        key=_last_news,
    )
    for_silent = min(len(silent), max(job.max_calls // _SHARE_OF_SILENT, job.max_calls - len(hinted)))
    first = hinted[: job.max_calls - for_silent]
    return [*first, *silent, *hinted[len(first) :]]


def _waits_since(order: SentOrder) -> datetime:
    """Since when an event waits to be verified; one of an order that was asked for in vain stands behind others."""
    hint_at, state = _moment(order.state.hint_at), order.state
    return max(hint_at, _moment(state.asked_at)) if state.problem and state.asked_at else hint_at


def _last_news(order: SentOrder) -> datetime:
    return _moment(order.state.asked_at or order.sent_at)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def ask(parts: Parts, orders: Sequence[SentOrder], *, max_calls: int) -> Asked:
    """Ask for orders one after the other at the pace allowed; what was learned of each is kept at once.

    It ends after some failures in a row: the service is away. While it answers for others, an order for which asking
    failed before says nothing about that.

    Raises KeyRefused or ServiceMisaddressed, where asking for another would bring the same.
    """
    wanted = orders[:max_calls]
    asked = changed = failed = in_a_row = 0
    stopped = ""
    parts.progress.start("Asking for orders", len(wanted))
    for order in wanted:
        if parts.stop.is_set():
            stopped = "the program was asked to end"
            break
        answer = _look(parts, order)
        if isinstance(answer, ReadFailed):
            raise_for_every_call(answer.meaning, answer.brief)
            failed += 1
            in_a_row += not (asked and order.state.could_not_be_asked)
            parts.ledger.orders.change_states({order.document_id: _failing(answer, at=parts.clock.now().isoformat())})
            if in_a_row == _FAILURES_IN_A_ROW:
                stopped = f"the service could not be asked: {answer.brief}"
                break
            continue
        in_a_row = 0
        asked += 1
        now = parts.clock.now().isoformat()
        changed += parts.ledger.orders.change_states({order.document_id: _seeing(answer, at=now)})
        if isinstance(answer, OrderDetails) and shows_change("order.cancel", "", answer):
            parts.ledger.orders.found_cancelled(order.document_id, at=now)
        parts.progress.advance()
    parts.progress.done()
    return Asked(asked, changed, left=len(orders) - asked, failed=failed, stopped=stopped)


def _look(parts: Parts, order: SentOrder) -> OrderDetails | str | ReadFailed:
    """The order as the service shows it, or what is wrong with the answer in words."""
    number = order.awb_number or order.order_id or order.reference
    try:
        found = read_order(parts.client.call("order.fetch", order_id=number))
    except UsageError:
        return "the service cannot be asked for such a number"
    if isinstance(found, ReadFailed):
        return found
    if not isinstance(found, OrderFound):
        return f"{UNKNOWN}: {found.message}" if found.message else UNKNOWN
    shown = found.order
    if order.awb_number and shown.awb_number:
        is_it = shown.awb_number.removeprefix("SH-") == order.awb_number.removeprefix("SH-")
    else:
        is_it = shown.reference_number == order.reference
    if not is_it:
        return "the service showed another order than it was asked for"
    if _is_anothers(parts, order, shown):
        number, reference = shown.awb_number or number, shown.reference_number[:_LONGEST_REFERENCE]
        return f"{ANOTHERS}: the service shows {number} with the reference “{reference}”; no status is taken from it"
    return shown if shown.status else "the service showed the order without a status"


def _is_anothers(parts: Parts, order: SentOrder, shown: OrderDetails) -> bool:
    """Whether what the service shows under our order's number is another one, as after answers that were exchanged.

    A reference that no order of ours has may be ours in the service's spelling: what is read as the same name is, and
    for others the content decides.
    """
    reference = shown.reference_number
    if reference in ("", order.reference):
        return False
    others = parts.ledger.documents.select(operations=[Operation.ORDER_CREATE], references=[reference])
    if any(other.reference == reference for other in others):
        return True
    created = parts.ledger.documents.get(order.document_id)
    is_same = created is not None and same_order(created.body, shown)
    return not is_same and folded(reference) != folded(order.reference)


def _failing(answer: ReadFailed, *, at: str) -> Step:
    return lambda state: state.not_asked(answer.message, at=at)


def _seeing(answer: OrderDetails | str, *, at: str) -> Step:
    if isinstance(answer, str):
        return lambda state: state.not_shown(answer, at=at)
    items = tuple(
        ShownItem(
            name=as_text(item.get("item_name")),
            quantity=as_text(item.get("item_quantity")),
            picked=as_text(item.get("item_qty_picked")),
            delivered=as_text(item.get("item_qty_delivered")),
        )
        for item in answer.items
    )
    shown = Shown(answer.cash_on_delivery, items)
    return lambda state: state.seen(answer.status[:80], shown, at=at)
