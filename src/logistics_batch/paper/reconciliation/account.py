"""What the papers of a reconciliation print: the audit, and under which circumstances it was made."""

from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property

import polars as pl

from logistics_batch.messages.words import rupees
from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import (
    MEANINGS,
    MONEY,
    QUANTITY,
    TREND_SCHEMA,
    ComparedOutcome,
    Discrepancy,
    Reconciliation,
    Standing,
    State,
)
from logistics_batch.paper.amounts import decimal_of

OUTCOME_SAYS = {
    ComparedOutcome.MATCHED: "What was compared agrees.",
    ComparedOutcome.WITHIN_TOLERANCE: "They differ by no more than was agreed; INR is what the tolerance costs.",
    ComparedOutcome.TOO_EARLY: "Announced and in the service; not yet due, so nothing is said about receiving.",
    ComparedOutcome.ACCEPTED: "It differs, and an analyst has accepted the difference, which has not changed since.",
    ComparedOutcome.OUTSIDE_WINDOW: "Read because something in the window points to it; counted, not judged.",
}
RANGE_WORDS = {"created": "Created", "modified": "Modified", "delivery": "Delivery date"}


@dataclass(frozen=True)
class ReconciliationReport:
    """One reconciliation for people.

    by, date_from, date_to: the range that was asked for, both ends inclusive, in the zone `timezone`.
    doubts: why the report may be incomplete; empty if it is complete. notes: what else a reader should know.
    log: facts of the run, as name and value. receipts_compared, orders_compared: whether there was such a leg at all.
    missing: the lists that were to be compared and of which none could be read. not_read: rows of the receipts lists
    that could not be used: what can be read of each, and in `spot` where it stands, what is wrong and what to write.
    """

    run: str
    by: str
    date_from: date
    date_to: date
    timezone: str
    business_date: date
    made_at: datetime
    result: Reconciliation
    receipts_compared: bool
    orders_compared: bool = False
    missing: tuple[str, ...] = ()
    not_read: pl.DataFrame = field(default_factory=pl.DataFrame)
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    log: tuple[tuple[str, str], ...] = ()

    @property
    def complete(self) -> bool:
        """Nothing that belongs into the report is known to be missing."""
        return not self.doubts

    @property
    def completeness_words(self) -> str:
        """Whether a reader may rely on it, in one word or three."""
        return "COMPLETE" if self.complete else "MAY BE INCOMPLETE — do not sign off"

    @property
    def look(self) -> str:
        """What a reader should take from the report at a glance: incomplete, findings or complete (and in order)."""
        if not self.complete:
            return "incomplete"
        return "findings" if self.open.height else "complete"

    @property
    def headline(self) -> str:
        """The result and whether it is whole, in one line; of a report with exceptions they come first."""
        if self.look != "findings":
            return f"{self.completeness_words} · {self.verdict_words}"
        at_stake = rupees(decimal_of(self.open["impact_inr"].sum()))
        return f"TO BE LOOKED AT · {at_stake} at stake · {self.verdict_words} · the report itself is complete"

    @property
    def window_words(self) -> str:
        """The range in words."""
        days = f"{self.date_from:%d %b %Y} to {self.date_to:%d %b %Y}"
        return f"{RANGE_WORDS.get(self.by, self.by)} {days}, both days included, zone {self.timezone}"

    @property
    def compared(self) -> bool:
        """Whether there was a report of an earlier night."""
        return bool(self.result.previous_run)

    @cached_property
    def open(self) -> pl.DataFrame:
        """The exceptions that a person should look at; those accepted earlier are not among them."""
        return self.result.exceptions

    @cached_property
    def accepted(self) -> pl.DataFrame:
        """The differences that analysts accepted."""
        return self.result.outcome(ComparedOutcome.ACCEPTED)

    @property
    def by_class(self) -> pl.DataFrame:
        """The classes of the open exceptions (CLASSES_SCHEMA), the gravest first."""
        return self.result.classes.filter(pl.col("severity") != "")

    @property
    def by_supplier(self) -> pl.DataFrame:
        """`supplier`, lines, units, INR of those with most at stake."""
        return self._open_by("supplier").sort("impact_inr", "lines", descending=True, maintain_order=True).head(10)

    @property
    def ageing(self) -> pl.DataFrame:
        """Open exceptions by age, class, supplier and site, ready for a pivot table; the oldest first."""
        order = {bucket: -place for place, bucket in enumerate(self.result.ageing["bucket"])}
        found = self._open_by("bucket", "code", "severity", "supplier", "site")
        rank = pl.col("bucket").replace_strict(order, default=1, return_dtype=pl.Int32)
        return found.sort(rank, pl.col("impact_inr").neg(), maintain_order=True)

    def _open_by(self, *names: str) -> pl.DataFrame:
        """Open exceptions by these columns: `lines`, `qty_affected`, `impact_inr`, in the order of their first line."""
        return self.open.group_by(*names, maintain_order=True).agg(
            pl.len().cast(pl.UInt32).alias("lines"),
            pl.col("qty_affected").sum().cast(QUANTITY),
            pl.col("impact_inr").sum().cast(MONEY),
        )

    def gone(self, standing: Standing) -> pl.DataFrame:
        """What was an exception and is none tonight (RESOLVED_SCHEMA)."""
        return self.result.resolved.filter(pl.col("standing") == standing.value)

    def first(self, most: int) -> pl.DataFrame:
        """The open exceptions to look at first, one a cause: the others of its class and ASN are counted in `alike`.

        Nor is the other half of a pair whose differences cancel out a cause of its own.
        """
        cause = ("code", "invoice_number", "supplier", "level")
        each = self.open.with_columns((pl.len().over(cause) - 1).alias("alike"))
        once = each.unique(cause, keep="first", maintain_order=True).with_row_index("place")
        halves = once.select("exception_id", pl.col("place").alias("other"))
        paired = once.join(halves, left_on="pair_id", right_on="exception_id", how="left", maintain_order="left")
        return paired.filter((pl.col("other") > pl.col("place")).fill_null(True)).head(most)

    @property
    def new(self) -> int:
        """How many open exceptions are new tonight."""
        return self.open.filter(pl.col("state") == State.NEW.value).height

    @property
    def resolved(self) -> int:
        """How many exceptions of the night before are none any more; older ones still stand on their list."""
        return self.gone(Standing.RESOLVED).filter(pl.col("gone_since") == self.business_date).height

    @property
    def judged(self) -> int:
        """How many lines were looked at and judged."""
        return self.result.line_count - self.result.outcome(ComparedOutcome.OUTSIDE_WINDOW).height

    @property
    def verdict_words(self) -> str:
        """The result in one sentence."""
        parts = [counted(self.open.height, "exception")]
        if self.compared:
            parts += [f"{self.new:,} new", f"{self.resolved:,} resolved"]
        if self.accepted.height:
            parts.append(f"{self.accepted.height:,} accepted")
        if unchecked := self.gone(Standing.NOT_CHECKED).height:
            parts.append(f"{unchecked:,} not checked any more")
        return ", ".join([*parts, f"{counted(self.judged, 'line')} checked"])

    @cached_property
    def trend(self) -> pl.DataFrame:
        """Earlier nights and tonight (TREND_SCHEMA), the oldest first."""
        rate = self.result.match_rate
        tonight = {
            "business_date": self.business_date,
            "run": self.run,
            "complete": self.complete,
            "lines": self.judged,
            "exceptions": self.open.height,
            "new": self.new,
            "still_open": self.open.height - self.new,
            "resolved": self.resolved,
            "accepted": self.accepted.height,
            "impact_inr": self.open["impact_inr"].sum(),
            "line_percent": rate.line_percent,
            "unit_percent": rate.unit_percent,
        }
        return pl.concat([self.result.trend, pl.DataFrame([tonight], schema=TREND_SCHEMA)])

    @property
    def legs_words(self) -> str:
        """What was compared with what."""
        ordered = "ordered · " if self.orders_compared else ""
        absent = f" — NOT COMPARED: {' and '.join(self.missing)}, as no list could be read" if self.missing else ""
        if self.receipts_compared:
            return f"{ordered}announced in files · in the service · received by the receipts files{absent}"
        unsaid = absent or " (no receipts were compared, so nothing is said about receiving)"
        return f"{ordered}announced in files · in the service{unsaid}"

    @property
    def no_rate_words(self) -> str:
        """What stands in the place of a share that there is not."""
        return "not compared" if "receipts" in self.missing else "nothing to judge"


def class_words(word: str) -> str:
    """What a class or outcome says."""
    if word in list(Discrepancy):
        return MEANINGS[Discrepancy(word)].says
    return OUTCOME_SAYS.get(ComparedOutcome(word), "")


DEFINITIONS = (
    ("Announced", "What our files announced, as the ledger holds it: the very payload that was or would be sent."),
    (
        "In service",
        "What the service returns. Its qty_received means “requested” (API §2.1) and is shown nowhere as received.",
    ),
    ("Ordered", "What the purchase orders say. An ASN belongs to the order that its file or description names."),
    ("Received", "What the receipts files say. Without them nothing is said about receiving."),
    ("Difference", "What is there minus what should be: received (or in the service) minus announced."),
    (
        "INR at stake",
        "Units concerned × price a unit, and what prices differ by, of all causes; empty where no price is known.",
    ),
    ("Units concerned", "Missing, surplus or in bad condition, each piece once; where only a price differs, all."),
    (
        "Class · Also",
        "A line has one class: the gravest that applies, of equally grave ones the dearest. Also: the others.",
    ),
    ("INR by class", "Of what the INR at stake is the sum. The INR of a class is that of its lines, with all in them."),
    ("Match rate", "Matched and within tolerance, of the lines that could be judged; unverifiable lines do not match."),
    ("Within tolerance", "A difference that was agreed to be small enough; it stays visible on a sheet of its own."),
    ("Too early", "Fewer received than announced, but delivery date and days of grace have not passed."),
    (
        "Outside window",
        "Read only because a receipt or a record points to it; counted so that sums tie out, not judged.",
    ),
    (
        "Matched by",
        "The strictest way in which both sides agree on which ASN it is; looser ways only where nothing else fits.",
    ),
    ("exception_id", "The same every night for the same invoice, supplier, site, SKU and batch, whatever the class."),
    ("Owner … Status", "The analyst's; they come back the next night. Accepted: it leaves the list unless it grows."),
    ("Since last time", "new, still open, or open again: it was accepted or resolved, and has grown or come back."),
    ("Resolved", "It was an exception, and its line agrees now or nothing shows it any more; listed for 14 days."),
    (
        "Not checked",
        "It was open, but its ASN lies outside the dates looked at now, or tonight's report may be incomplete.",
    ),
)
