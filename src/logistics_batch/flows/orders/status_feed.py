"""The status feed: numbered files of the orders that changed, each change in exactly one of them.

A feed is written into the ledger before it leaves. One that could not be delivered is delivered again, under the same
name and with the same bytes, before there is another; whoever reads them may leave out a number that was read before.
So a number must never come twice with other contents, also where the ledger was restored from a backup and does not
know the last ones: it counts on from the highest that is found, here or where feeds lie, and writes over none.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath

from logistics_batch.crash_points import crash_point
from logistics_batch.errors import FileVanished, StoreError
from logistics_batch.flows.orders.comparison import lines_of
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import StoredFeed
from logistics_batch.model.jobs.job import Feed, JobPlace, OrderStatusJob
from logistics_batch.model.run_reports import FeedOutcome
from logistics_batch.paper.order_status import status_feed_csv, status_feed_workbook

_LAST = ".last"  # its name begins with a dot: it stays when reports are removed by age


def hand_over_feed(parts: Parts, job: OrderStatusJob, *, waiting_only: bool = False) -> FeedOutcome:
    """Deliver the feed that waits, or (unless `waiting_only`) a new one if anything changed."""
    if job.feed is None:
        return FeedOutcome()
    found = parts.ledger.feeds.waiting(job.name)
    if found is None and not waiting_only and parts.ledger.feeds.has_news(job.name):
        try:
            above = _last_seen(parts, job.name, job.feed)
        except StoreError as error:
            return FeedOutcome(failed=f"No feed was made: {error.message} {error.remedy}".strip())
        write = partial(_written, parts, job, job.feed.format)
        found = parts.ledger.feeds.next(job.name, write, at=parts.now, above=above)
    if found is None:
        return FeedOutcome()
    crash_point("feed.made")
    try:
        delivered = _put(parts, job.feed, found)
    except StoreError as error:
        return FeedOutcome(failed=f"The feed {found.name} waits: {error.message} {error.remedy}".strip())
    crash_point("feed.delivered")
    parts.ledger.feeds.delivered(found, at=parts.now)
    return FeedOutcome((delivered,), found.orders)


def _copies(parts: Parts, job: str) -> JobPlace:
    """Beside the reports, so that a feed can be looked up."""
    return JobPlace(folder=str(parts.reports.absolute()), path=f"/feeds/{job}")


def _last_seen(parts: Parts, job: str, feed: Feed) -> int:
    """The highest number that was given, as far as it is seen here or where feeds lie.

    Raises StoreError if nobody can know: the ledger was restored, no copy is left, and the place cannot be looked at.
    """
    here = _last_number(parts, _copies(parts, job), job)
    try:
        return max(here, _last_number(parts, feed, job))
    except StoreError:
        if here or not parts.ledger.itself.restorations():
            return here
        raise


def _last_number(parts: Parts, place: JobPlace, job: str) -> int:
    """The highest number of a job's feeds at a place, 0 if there is none; what was read may be renamed or gone.

    Raises StoreError if the place cannot be looked at.
    """
    if place.folder and not place.path.strip("/"):  # a folder that nobody made yet, seen from above
        place = JobPlace(folder=str(Path(place.folder).parent), path=f"/{Path(place.folder).name}")
    store = parts.open_store(place)
    try:
        if not store.exists(place.path):
            return 0
        names = [file.name for file in store.list(place.path)]
        noted = ""
        with suppress(FileVanished):  # reports may be purged by age; the note of the last number stays
            noted = store.read(str(PurePosixPath(place.path) / _LAST)).decode(errors="replace")
    finally:
        store.close()
    numbers = [int(found[1]) for name in names if (found := re.match(rf"{re.escape(job)}-(\d{{6,}})(?!\d)", name))]
    return max([0, *numbers, *([int(noted)] if noted.strip().isdecimal() else [])])


def _put(parts: Parts, feed: Feed, found: StoredFeed) -> str:
    """Where it belongs, and beside the reports with a note of its number.

    Raises StoreError if it cannot be written, or other contents lie there under its name.
    """
    copies = _copies(parts, found.job)
    for place in (copies, feed):
        store = parts.open_store(place)
        try:
            path = str(PurePosixPath(place.path) / found.name)
            if not store.exists(path):
                store.put(path, found.content)
            elif store.read(path) != found.content:
                raise StoreError(
                    f"{store.label}: {path} lies there with other contents, and is not written over.",
                    remedy="Whoever reads the feeds may have read it. Ask them, then move it away; the next run "
                    "delivers.",
                )
            if place is copies:
                store.put(str(PurePosixPath(place.path) / _LAST), f"{found.number}\n".encode())
            delivered = f"{store.label}:{path}"
        finally:
            store.close()
    return delivered


def _written(
    parts: Parts, job: OrderStatusJob, form: str, number: int, document_ids: Sequence[int]
) -> tuple[str, bytes]:
    """The name and the bytes of a feed: one line an order, in the order of their last change."""
    known = {order.document_id: order for order in parts.ledger.orders.sent(document_ids=document_ids)}
    orders = [known[document_id] for document_id in document_ids]
    lines = list(lines_of(parts, orders, now=parts.clock.now(), end_statuses=job.end_statuses))
    content = status_feed_csv(lines) if form == "csv" else status_feed_workbook(lines)
    return f"{job.name}-{number:06d}.{form}", content
