"""The story of orders after they were sent: hear, ask, compare, report, and tell the warehouse system what changed."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import PurePosixPath

from logistics_batch.errors import StoreError
from logistics_batch.flows.orders.followed import lines_of
from logistics_batch.flows.orders.polling import ask, choose, take_in_events
from logistics_batch.flows.orders.status_feed import hand_over_feed
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.run_record import recorded_run
from logistics_batch.ledger import SentOrder
from logistics_batch.model.job import OrderStatusJob, Place
from logistics_batch.model.order_line import OrderLine
from logistics_batch.model.order_state import OrderState, has_ended
from logistics_batch.model.report import ExitCode
from logistics_batch.model.run_reports import OrderStatusReport, asked_in_words
from logistics_batch.paper.order_status import order_status_csv, order_status_workbook

_NAME = "order_status"


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
        papers[f"{_NAME}.xlsx"] = order_status_workbook(lines, facts=_facts(parts, job, report))
    if "csv" in formats:
        papers[f"{_NAME}.csv"] = order_status_csv(lines)
    folder = (parts.reports / _NAME / report.run).absolute()
    _put(parts, Place(folder=str(folder)), papers)
    files = tuple(folder / name for name in papers)
    if job.results_place is None:
        return replace(report, files=files)
    try:
        delivered = _put(parts, job.results_place.on(business_date), papers)
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


def _put(parts: Parts, place: Place, papers: dict[str, bytes]) -> tuple[str, ...]:
    store = parts.open_store(place)
    try:
        for name, content in papers.items():
            store.put(str(PurePosixPath(place.path) / name), content)
        return tuple(f"{store.label}:{PurePosixPath(place.path) / name}" for name in papers)
    finally:
        store.close()


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
