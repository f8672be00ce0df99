"""The story of orders after they were sent: hear, ask, compare, report, and tell the warehouse system what changed.

An event counts only once the service shows the same (API §4.5): whoever learned the secret of the receiver could send
one. Orders are asked for within a budget: those that events hint at, and those of which nothing was heard for a while.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial, reduce
from operator import methodcaller

from logistics_batch.api.answers import OrderDetails, ReadFailed, raise_for_every_call
from logistics_batch.api.content_match import shows_change
from logistics_batch.api.envelopes import as_text
from logistics_batch.errors import StoreError
from logistics_batch.flows.orders.awb_ownership import AwbOwner, awb_owner
from logistics_batch.flows.orders.comparison import lines_of
from logistics_batch.flows.orders.search import creates, fetch_order
from logistics_batch.flows.orders.status_feed import hand_over_feed
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.run_record import recorded_run
from logistics_batch.ledger import NamedOrder, SentOrder
from logistics_batch.model.issue import Issue
from logistics_batch.model.jobs.job import JobPlace, OrderStatusJob
from logistics_batch.model.order_state import Hint, OrderState, Shown, ShownItem, has_ended
from logistics_batch.model.report import ExitCode
from logistics_batch.model.run_reports import Asked, OrderLine, OrderStatusReport, asked_in_words
from logistics_batch.model.spelling import folded
from logistics_batch.paper.order_status import order_status_csv, order_status_workbook

_NAME = "order_status"
_STEPS_AT_ONCE = 500
_FAILURES_IN_A_ROW = 3
_LONGEST_WORD = 80  # of a status, or of a stranger's reference, as it is told
_SHARE_OF_SILENT = 4  # of so many calls at least one is for an order without news, however many events come


def run_order_status(parts: Parts, job: OrderStatusJob, *, business_date: date) -> OrderStatusReport:
    """Follow the orders of a job once.

    Raises:
        KeyRefused, ServiceMisaddressed: no order can be asked for; a feed that waited was delivered before.
        UsageError, SettingsError: a place of the job cannot be used.
        LedgerRefused: it is an older copy, which does not know what was fed; nothing was asked.
    """
    if job.feed is not None:
        parts.ledger.itself.require_newest()
    with recorded_run(parts, letter="O", kind="order_status", job=job.name, business_date=business_date) as run:
        feed = hand_over_feed(parts, job, waiting_only=True)
        orders = _followed(parts, job)
        events = take_in_events(parts, orders)
        before = {order.document_id: order.state for order in orders}
        orders = _followed(parts, job)
        asked = ask(parts, choose(orders, job, now=parts.clock.now()), max_calls=job.max_calls)
        orders = _followed(parts, job)
        found = lines_of(parts, orders, now=parts.clock.now(), end_statuses=job.end_statuses)
        lines = [line for of_order in found for line in of_order]
        if not feed.failed:
            feed = feed.and_then(hand_over_feed(parts, job))
        report = OrderStatusReport(
            run=run.id,
            exit_code=ExitCode.DONE,
            orders=len(orders),
            at_end=sum(1 for order in orders if has_ended(order.state.status, job.end_statuses)),
            events=events,
            asked=asked,
            differences=len({line.awb_number or line.reference_number for line in lines if line.difference}),
            feed=feed,
        )
        report = _hand_over(parts, job, report, lines, business_date=business_date)
        changed = {order.reference for order in orders if _is_news(order.state, before.get(order.document_id))}
        report = replace(report, exit_code=_exit_code(report, lines, changed))
        run.ended(report.exit_code, report.counts)
        run.stopped = asked.stopped
        return report


def _followed(parts: Parts, job: OrderStatusJob) -> list[SentOrder]:
    since = parts.clock.now() - timedelta(seconds=job.sent_within_seconds)
    return parts.ledger.orders.sent(since=since.date().isoformat())


def _hand_over(
    parts: Parts, job: OrderStatusJob, report: OrderStatusReport, lines: Sequence[OrderLine], *, business_date: date
) -> OrderStatusReport:
    """The report on this machine, and where the job's results go."""
    formats = job.results.formats if job.results else ("xlsx", "csv")
    papers: dict[str, bytes] = {}
    if "xlsx" in formats:
        papers[f"{_NAME}.xlsx"] = order_status_workbook(
            lines, facts=_facts(parts, job, report), zone=parts.clock.now().tzinfo
        )
    if "csv" in formats:
        papers[f"{_NAME}.csv"] = order_status_csv(lines)
    folder = (parts.reports / _NAME / report.run).absolute()
    parts.put_all(JobPlace(folder=str(folder)), papers)
    files = tuple(folder / name for name in papers)
    if job.results_place is None:
        return replace(report, files=files)
    try:
        delivered = parts.put_all(job.results_place.on(business_date), papers)
    except StoreError as error:
        return replace(report, files=files, failed=(f"The report: {error.message} {error.remedy}".strip(),))
    return replace(report, files=files, delivered=delivered)


def _facts(parts: Parts, job: OrderStatusJob, report: OrderStatusReport) -> list[tuple[str, str]]:
    return [
        ("Run", report.run),
        ("Made", parts.clock.now().isoformat(sep=" ", timespec="minutes")),
        ("Orders", f"{report.orders:,} sent within {job.sent_within_seconds / 86400:g} days, {report.at_end:,} at end"),
        ("Asked", asked_in_words(report.asked)),
        ("Not as sent, or short", f"{report.differences:,} orders"),
    ]


def _is_news(state: OrderState, before: OrderState | None) -> bool:
    """Whether what is known of an order is another than before the run, or the service has it no more."""
    known = before or OrderState(state.document_id)
    is_gone = (state.is_unknown and not known.is_unknown) or (state.is_anothers and not known.is_anothers)
    return state.change > known.change or is_gone


def _exit_code(report: OrderStatusReport, lines: Sequence[OrderLine], changed: set[str]) -> int:
    """A difference counts on the night on which it shows; it stays in the report as long as the order does."""
    if report.asked.stopped or report.failed or report.feed.failed:
        return ExitCode.STOPPED_EARLY
    if any(line.difference and line.reference_number in changed for line in lines):
        return ExitCode.ROWS_NOT_DONE
    return ExitCode.DONE


def take_in_events(parts: Parts, orders: Sequence[SentOrder]) -> int:
    """Let the events that came since the last time hint at their orders; how many there were about these orders.

    An event may name the AWB number of a package, or leave out its “SH-”.
    """
    known = {
        name: order
        for order in orders
        for number in (order.awb_number, *order.child_awb_numbers)
        for name in (number, number.removeprefix("SH-"))
        if name
    }
    hints: dict[int, list[Hint]] = {}
    last = 0
    for awb_number, hint in parts.ledger.orders.hints():
        last, order = hint.event_id, known.get(awb_number)
        if order is not None and hint.event_id > order.state.event_id:
            hints.setdefault(order.document_id, []).append(hint)
    steps = [(number, partial(reduce, OrderState.heard, heard)) for number, heard in hints.items()]
    for start in range(0, len(steps), _STEPS_AT_ONCE):
        parts.ledger.orders.change_states(dict(steps[start : start + _STEPS_AT_ONCE]))
    if last:
        parts.ledger.orders.change_states({}, events_read=last)
    return sum(map(len, hints.values()))


def choose(orders: Sequence[SentOrder], job: OrderStatusJob, *, now: datetime) -> list[SentOrder]:
    """Whom to ask for, the most urgent first: what events hint at, and the longest silent of those not at their end."""
    hinted = sorted((order for order in orders if order.state.is_hinted), key=_waits_since)
    silent_since = now - timedelta(seconds=job.poll_after_seconds)
    others = [order for order in orders if not order.state.is_hinted]
    going_on = [order for order in others if not has_ended(order.state.status, job.end_statuses)]
    silent = sorted((order for order in going_on if _last_news(order) <= silent_since), key=_last_news)
    for_silent = min(len(silent), max(job.max_calls // _SHARE_OF_SILENT, job.max_calls - len(hinted)))
    first = hinted[: job.max_calls - for_silent]
    return [*first, *silent, *hinted[len(first) :]]


def _waits_since(order: SentOrder) -> datetime:
    """Since when an event waits to be verified; one of an order that was asked for in vain stands behind others."""
    hint_at, state = datetime.fromisoformat(order.state.hint_at), order.state
    return max(hint_at, datetime.fromisoformat(state.asked_at)) if state.problem.code and state.asked_at else hint_at


def _last_news(order: SentOrder) -> datetime:
    return datetime.fromisoformat(order.state.asked_at or order.sent_at)


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
        seen, now = _look(parts, order), parts.now
        if isinstance(seen, ReadFailed):
            raise_for_every_call(seen.meaning, seen.brief)
            failed += 1
            in_a_row += not (asked and order.state.could_not_be_asked)
            parts.ledger.orders.change_states({order.document_id: methodcaller("not_asked", seen.message, at=now)})
            if in_a_row == _FAILURES_IN_A_ROW:
                stopped = f"the service could not be asked: {seen.brief}"
                break
            continue
        in_a_row = 0
        asked += 1
        if isinstance(seen, Issue):
            step = methodcaller("not_shown", seen, at=now)
        else:
            step = methodcaller("seen", seen.status[:_LONGEST_WORD], _shown(seen), at=now)
        changed += parts.ledger.orders.change_states({order.document_id: step})
        if isinstance(seen, OrderDetails) and shows_change("order.cancel", "", seen):
            parts.ledger.awb_numbers.found_cancelled(order.document_id, at=now)
        parts.progress.advance()
    parts.progress.done()
    return Asked(asked, changed, left=len(orders) - asked, failed=failed, stopped=stopped)


def _look(parts: Parts, order: SentOrder) -> OrderDetails | Issue | ReadFailed:
    """The order as the service shows it, or what is wrong with the answer."""
    number = order.awb_number or order.order_id or order.reference
    found = fetch_order(parts.client, number)
    if found is None:
        return Issue(".order_unaskable")
    if isinstance(found, ReadFailed):
        return found
    if not isinstance(found, OrderDetails):
        return Issue.of(".order_unknown.said", said=found.message) if found.message else Issue(".order_unknown")
    shown, reference = found, found.reference_number
    if order.awb_number and shown.awb_number:
        is_it = shown.awb_number.removeprefix("SH-") == order.awb_number.removeprefix("SH-")
    else:
        is_it = reference == order.reference
    if not is_it:
        return Issue(".other_order_shown")
    # As after answers that were exchanged; what is read as the same name is our reference in the service's spelling.
    named = NamedOrder(order.document_id, order.reference, shown.awb_number, seen=False)
    anothers = reference and awb_owner(parts.ledger, named, shown) is AwbOwner.ANOTHERS
    # Not read as the same name where an order of ours has exactly this one.
    if anothers and (
        folded(reference) != folded(order.reference)
        or any(each.reference == reference for each in creates(parts.ledger, [reference]))
    ):
        return Issue.of(".order_anothers", number=shown.awb_number or number, reference=reference[:_LONGEST_WORD])
    return shown if shown.status else Issue(".no_status")


def _shown(order: OrderDetails) -> Shown:
    """What a status report compares."""
    names = ("item_name", "item_quantity", "item_qty_picked", "item_qty_delivered")
    items = tuple(ShownItem(*(as_text(item.get(name)) for name in names)) for item in order.items)
    return Shown(order.cash_on_delivery, items)
