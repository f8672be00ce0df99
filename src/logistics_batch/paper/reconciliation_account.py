"""What the papers of a reconciliation print: the audit, and under which circumstances it was made."""

from dataclasses import dataclass
from datetime import date, datetime

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import MEANINGS, Discrepancy, Outcome, Reconciliation

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
    receipts_compared: bool
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    log: tuple[tuple[str, str], ...] = ()

    @property
    def complete(self) -> bool:
        """Nothing that belongs into the report is known to be missing."""
        return not self.doubts

    @property
    def window_words(self) -> str:
        """The range in words."""
        days = f"{self.date_from:%d %b %Y} to {self.date_to:%d %b %Y}"
        return f"{RANGE_WORDS.get(self.by, self.by)} {days}, both days included, zone {self.timezone}"

    @property
    def verdict_words(self) -> str:
        """The result in one sentence."""
        exceptions = self.result.exceptions.height
        judged = self.result.lines.height - self.result.outcome(Outcome.OUTSIDE_WINDOW).height
        return f"{counted(exceptions, 'exception')}, {counted(judged, 'line')} checked"

    @property
    def legs_words(self) -> str:
        """What was compared with what."""
        if self.receipts_compared:
            return "announced in files · in the service · received by the receipts files"
        return "announced in files · in the service (no receipts were given, so nothing is said about receiving)"


def class_words(word: str) -> str:
    """What a class or outcome says."""
    if word in list(Discrepancy):
        return MEANINGS[Discrepancy(word)].says
    return OUTCOME_SAYS.get(Outcome(word), "")
