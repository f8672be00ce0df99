"""The status feed: numbered files of the orders that changed, each change in exactly one of them.

A feed is written into the ledger before it leaves. One that could not be delivered is delivered again, under the same
name and with the same bytes, before there is another; whoever reads them may leave out a number that was read before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from logistics_batch.crash_points import crash_point
from logistics_batch.errors import StoreError
from logistics_batch.flows.order_followed import lines_of
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import StoredFeed, WriteFeed
from logistics_batch.model.job import Feed, OrderStatusJob, Place
from logistics_batch.paper.order_status import status_feed_csv, status_feed_workbook


@dataclass(frozen=True, slots=True)
class FeedOutcome:
    """Which feeds were delivered, as "store:path", with how many orders; and why one was not."""

    delivered: tuple[str, ...] = ()
    orders: int = 0
    failed: str = ""

    def and_then(self, other: "FeedOutcome") -> "FeedOutcome":
        """Both together."""
        return FeedOutcome((*self.delivered, *other.delivered), self.orders + other.orders, other.failed)


def hand_over_feed(parts: Parts, job: OrderStatusJob, *, waiting_only: bool = False) -> FeedOutcome:
    """Deliver the feed that waits, or (unless `waiting_only`) a new one if anything changed."""
    if job.feed is None:
        return FeedOutcome()
    if waiting_only:
        found = parts.ledger.waiting_feed(job.name)
    else:
        found = parts.ledger.next_feed(job.name, _writer(parts, job, job.feed), at=parts.clock.now().isoformat())
    if found is None:
        return FeedOutcome()
    crash_point("feed.made")
    try:
        delivered = _put(parts, job.feed, found)
    except StoreError as error:
        return FeedOutcome(failed=f"The feed {found.name} waits: {error.message} {error.remedy}".strip())
    crash_point("feed.delivered")
    parts.ledger.feed_delivered(found, at=parts.clock.now().isoformat())
    return FeedOutcome((delivered,), found.orders)


def _put(parts: Parts, feed: Feed, found: StoredFeed) -> str:
    """Where it belongs, and beside the reports, so that it can be looked up."""
    places = [Place(folder=str((parts.reports / "feeds" / found.job).absolute())), feed]
    for place in places:
        store = parts.open_store(place)
        try:
            store.put(str(PurePosixPath(place.path) / found.name), found.content)
            delivered = f"{store.label}:{PurePosixPath(place.path) / found.name}"
        finally:
            store.close()
    return delivered


def _writer(parts: Parts, job: OrderStatusJob, feed: Feed) -> WriteFeed:
    def write(number: int, document_ids: Sequence[int]) -> tuple[str, bytes]:
        """The name and the bytes of a feed: one line an order, in the order of their last change."""
        known = {order.document_id: order for order in parts.ledger.orders_of(document_ids)}
        orders = [known[document_id] for document_id in document_ids]
        lines = list(lines_of(parts, orders, now=parts.clock.now(), end_statuses=job.end_statuses))
        content = status_feed_csv(lines) if feed.format == "csv" else status_feed_workbook(lines)
        return f"{job.name}-{number:06d}.{feed.format}", content

    return write
