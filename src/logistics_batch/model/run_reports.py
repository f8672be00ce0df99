"""What runs come to that are no push: settling, labels, reconciliations, the status of orders."""

from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

from logistics_batch.model.issue import Issue


@dataclass(frozen=True, slots=True)
class SettleReport:
    """What settling came to, as document numbers; `unreachable` are those open because nobody could be asked.

    open: all that is in doubt by now, also what became so meanwhile. held: what this settling held for a person;
    still_held: what was held before, may be at the service, and is no nearer to its end.

    notes: what a report should mention.
    """

    settled: tuple[int, ...] = ()
    held: tuple[int, ...] = ()
    still_held: tuple[int, ...] = ()
    open: tuple[int, ...] = ()
    unreachable: tuple[int, ...] = ()
    notes: tuple[Issue, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingLabel:
    """An order that was asked for and has no label in the bundle; reason and remedy are for the clerk."""

    reference_number: str
    awb_number: str
    reason: str
    remedy: str = ""
    file: str = ""
    sheet: str = ""
    rows: tuple[int, ...] = ()


class PrintState(StrEnum):
    """What is known of a job of a print queue."""

    PRINTED = "printed"  # the queue says that it is done
    WAITING = "waiting"  # the queue has it, and has not said yet what became of it
    REFUSED = "refused"  # the queue did not take it, or gave it up
    UNKNOWN = "unknown"  # the queue may have it


@dataclass(frozen=True, slots=True)
class PrintJob:
    """A file of labels at a print queue. number: as the queue counts its jobs, "dock-7"; said: its own words."""

    file: str
    queue: str
    state: PrintState
    number: str = ""
    said: str = ""

    def issue(self, bundle_id: str) -> Issue | None:
        """What a person has to see to; None for what was printed."""
        if self.state is PrintState.PRINTED:
            return None
        told = {"file": self.file, "queue": self.queue, "number": self.number, "said": self.said, "bundle": bundle_id}
        return Issue.of(f"printing.{self.state}", **told)


@dataclass(frozen=True, slots=True)
class LabelReport:
    """What came of a label run.

    labels, orders: how many are in the bundle. missing: asked for and not there. printed_before: left out because they
    were printed. files: the paths written on this machine. delivered: where else, as "store:path". printing: what
    became of its files at the printer, where one was asked for; owed: what earlier runs died before they could say.
    """

    bundle_id: str
    exit_code: int
    labels: int
    orders: int
    missing: tuple[MissingLabel, ...]
    printed_before: tuple[str, ...]
    files: tuple[Path, ...]
    delivered: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    printing: tuple[PrintJob, ...] = ()
    owed: tuple[Issue, ...] = ()

    @property
    def unprinted(self) -> list[Issue]:
        """What a person has to see to at the printer."""
        return [*self.owed, *(told for job in self.printing if (told := job.issue(self.bundle_id)) is not None)]

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of the run, for its summary."""
        return {
            "labels": self.labels,
            "orders": self.orders,
            "missing": len(self.missing),
            "printed_before": len(self.printed_before),
        }


@dataclass(frozen=True, slots=True)
class ReconcileReport:
    """What came of a reconciliation.

    complete: nothing is known to be missing in it; `doubts` say what may be. counts: lines by class, exceptions and
    others. document: the report for programs, as in reconciliation.json. files: written on this machine;
    delivered: where else, as "store:path".
    """

    run: str
    exit_code: int
    complete: bool
    counts: dict[str, int]
    document: dict[str, Any] = field(repr=False)
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    delivered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking: how many orders were asked for, how many of them changed, how many had to be left for later.

    failed: how many of those that are left the service could not be asked for. stopped: why it ended early, "" if it
    did not.
    """

    asked: int = 0
    changed: int = 0
    left: int = 0
    failed: int = 0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class FeedOutcome:
    """Which feeds were delivered, as "store:path", with how many orders; and why one was not."""

    delivered: tuple[str, ...] = ()
    orders: int = 0
    failed: str = ""

    def and_then(self, other: "FeedOutcome") -> "FeedOutcome":
        """Both together."""
        return FeedOutcome((*self.delivered, *other.delivered), self.orders + other.orders, other.failed)


@dataclass(frozen=True, slots=True)
class OrderLine:
    """One item of an order that was sent, beside what the service shows of it now: the line of a status report.

    Quantities are None where the service does not tell them; amounts, in INR, stand on an order's first line only.

    source: what the status's time comes from: "event", or "fetch", which is when it was first seen. item: "" for an
    order of which nothing is known. difference: what is not as it was sent, or short, in words. note: what else should
    be known. row: of the source file; 0 where no row names the item.
    """

    reference_number: str
    awb_number: str
    status: str
    status_time: str
    source: str
    asked_at: str
    sent_at: str
    days_since_sent: int
    at_end: bool
    item: str = ""
    qty_sent: Decimal | None = None
    qty_ordered: Decimal | None = None
    qty_picked: Decimal | None = None
    qty_delivered: Decimal | None = None
    cod_sent: Decimal | None = None
    cod_shown: Decimal | None = None
    difference: str = ""
    note: str = ""
    file: str = ""
    sheet: str = ""
    row: int = 0


@dataclass(frozen=True, slots=True)
class OrderStatusReport:
    """What came of a run.

    orders, at_end: how many are followed, and how many of them are at their end. events: that were news. left: orders
    whose turn did not come. changed: in this run. differences: orders that are not as sent, or short. files: written on
    this machine; delivered: elsewhere, as "store:path". failed: what could not be delivered, and why.
    """

    run: str
    exit_code: int
    orders: int
    at_end: int
    events: int
    asked: Asked
    differences: int
    feed: FeedOutcome
    files: tuple[Path, ...] = ()
    delivered: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of the run, for its summary."""
        return {
            "orders": self.orders,
            "at_end": self.at_end,
            "events": self.events,
            "asked": self.asked.asked,
            "not_asked": self.asked.left,
            "changed": self.asked.changed,
            "differences": self.differences,
            "fed": self.feed.orders,
        }


def asked_in_words(asked: Asked) -> str:
    """How far asking came, as a sentence without its full stop.

    >>> asked_in_words(Asked(asked=900, changed=12, left=100))
    '900 orders asked for, 12 changed; 100 were left for the next run'
    """
    words = f"{asked.asked:,} orders asked for, {asked.changed:,} changed"
    if asked.left:
        words += f"; {asked.left:,} were left for the next run"
        words += f", {asked.failed:,} of them after asking failed" if asked.failed else ""
    return f"{words}; stopped early: {asked.stopped}" if asked.stopped else words
