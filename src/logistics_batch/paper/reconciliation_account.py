"""What the papers of a reconciliation print: the audit, and under which circumstances it was made."""

from dataclasses import dataclass
from datetime import date, datetime

import polars as pl

from logistics_batch.model.reconciliation import MEANINGS, MONEY, Discrepancy, Outcome, Reconciliation
from logistics_batch.model.reconciliation_history import OPEN, TREND_SCHEMA, Since, Standing

OUTCOME_SAYS = {
    Outcome.MATCHED: "All legs agree.",
    Outcome.WITHIN_TOLERANCE: "They differ by no more than was agreed; INR is what the tolerance costs.",
    Outcome.TOO_EARLY: "Announced and in the service; not yet due, so nothing is said about receiving.",
    Outcome.ACCEPTED: "It differs, and an analyst has accepted the difference, which has not changed since.",
    Outcome.OUTSIDE_WINDOW: "Read because something in the window points to it; counted, not judged.",
}
RANGE_WORDS = {"created": "Created", "modified": "Modified", "delivery": "Delivery date"}


@dataclass(frozen=True, slots=True)
class Account:
    """One reconciliation for people.

    by, date_from, date_to: the range that was asked for, both ends inclusive, in the zone `timezone`.
    since: the exceptions beside those of the night before, with what analysts wrote.
    doubts: why the report may be incomplete; empty if it is complete. notes: what else a reader should know.
    log: facts of the run, as name and value. receipts_compared: whether there was a received leg at all.
    """

    run: str
    by: str
    date_from: date
    date_to: date
    timezone: str
    business_date: date
    made_at: datetime
    result: Reconciliation
    since: Since
    receipts_compared: bool
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
    def window_words(self) -> str:
        """The range in words."""
        days = f"{self.date_from:%d %b %Y} to {self.date_to:%d %b %Y}"
        return f"{RANGE_WORDS.get(self.by, self.by)} {days}, both days included, zone {self.timezone}"

    @property
    def open(self) -> pl.DataFrame:
        """The exceptions that a person should look at; those accepted earlier are not among them."""
        return self.since.standing(*OPEN)

    @property
    def judged(self) -> int:
        """How many lines were looked at and judged."""
        return self.result.lines.height - self.result.outcome(Outcome.OUTSIDE_WINDOW).height

    @property
    def resolved(self) -> int:
        """How many exceptions of the night before are none any more; older ones still stand on their list."""
        return self.since.standing(Standing.RESOLVED).filter(pl.col("since") == self.business_date).height

    @property
    def verdict_words(self) -> str:
        """The result in one sentence."""
        parts = [counted(self.open.height, "exception")]
        if self.since.compared:
            parts += [f"{self.since.standing(Standing.NEW).height:,} new", f"{self.resolved:,} resolved"]
        if accepted := self.since.standing(Standing.ACCEPTED).height:
            parts.append(f"{accepted:,} accepted")
        return ", ".join([*parts, f"{counted(self.judged, 'line')} checked"])

    @property
    def trend(self) -> pl.DataFrame:
        """Earlier nights and tonight (TREND_SCHEMA), the oldest first."""
        tonight = pl.DataFrame(
            [
                {
                    "business_date": self.business_date,
                    "run": self.run,
                    "complete": "complete" if self.complete else "may be incomplete",
                    "lines": self.judged,
                    "open": self.open.height,
                    **{one.value: self.since.standing(one).height for one in (Standing.NEW, Standing.ACCEPTED)},
                    "resolved": self.resolved,
                    "impact_inr": self.open["impact_inr"].sum(),
                    "match_percent": self.result.match_rate.line_percent,
                }
            ],
            schema=TREND_SCHEMA | {"impact_inr": MONEY},
        )
        return pl.concat([self.since.trend, tonight])

    @property
    def legs_words(self) -> str:
        """What was compared with what."""
        if self.receipts_compared:
            return "announced in files · in the service · received by the receipts files"
        return "announced in files · in the service (no receipts were given, so nothing is said about receiving)"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "line"), counted(1200, "line")
    ('1 line', '1,200 lines')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def class_words(word: str) -> str:
    """What a class or outcome says."""
    if word in list(Discrepancy):
        return MEANINGS[Discrepancy(word)].says
    return OUTCOME_SAYS.get(Outcome(word), "")


DEFINITIONS = (
    ("Announced", "What our files announced, as the ledger holds it: the very payload that was or would be sent."),
    (
        "In service",
        "What the service returns. Its qty_received means “requested” (API §2.1) and is shown nowhere as received.",
    ),
    ("Received", "What the receipts files say. Without them nothing is said about receiving."),
    ("Difference", "What is there minus what should be: received (or in the service) minus announced."),
    ("INR at stake", "Units concerned × price a unit, announced or else the service's; empty where no price is known."),
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
