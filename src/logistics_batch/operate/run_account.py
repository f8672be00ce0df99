"""What an operator wants to know of a run that is over: how it ended, what it did besides its files, who was told."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.past_runs import PastRun
from logistics_batch.flows.push.run import not_in_files
from logistics_batch.ledger import StoredDocument, StoredNotice, StoredRun
from logistics_batch.model.report import ExitCode, Fate

_FOLDERS = {"reconcile": "reconciliation", "order_status": "order_status"}
_NEXT = {
    ExitCode.USAGE: "Mend what is wrong, then run it again: `logistics-batch doctor` checks it.",
    ExitCode.ROWS_NOT_DONE: "Correct the rows by the answers, and drop the file again.",
    ExitCode.DOUBT: "`logistics-batch settle` for what is in doubt, `logistics-batch held list` for what is held.",
    ExitCode.STOPPED_EARLY: "Run it again: `logistics-batch run {job} --business-date {day}`",
}
_PUSH_AGAIN = "Push the same files again: `logistics-batch push FILE --mapping NAME`"
_MEANINGS = {
    ExitCode.DONE: "nothing left to do",
    ExitCode.USAGE: "it could not run as it is set up",
    ExitCode.ROWS_NOT_DONE: "not everything could be done",
    ExitCode.DOUBT: "something is in doubt or held",
    ExitCode.STOPPED_EARLY: "stopped early",
    ExitCode.BUSY: "another run held the ledger",
}


@dataclass(frozen=True, slots=True)
class RunAccount:
    """A run besides its files.

    seconds: how long it took, None while it goes on. settled: documents of earlier files that were found to be accepted
    in it. reports: where it wrote a report of its own, if anywhere. notices: what people were told, or could be.
    """

    stored: StoredRun
    seconds: float | None
    meaning: str
    next_step: str
    settled: Sequence[StoredDocument]
    reports: str
    notices: Sequence[StoredNotice]

    def document(self) -> dict[str, object]:
        """As --json prints it."""
        return {
            "kind": self.stored.kind,
            "business_date": self.stored.business_date,
            "started_at": self.stored.started_at,
            "finished_at": self.stored.finished_at,
            "seconds": self.seconds,
            "summary": dict(self.stored.summary),
            "settled": [{"reference": each.reference, "awb_number": each.awb_number} for each in self.settled],
            "reports": self.reports,
            "alerts": [
                {
                    "since": each.since,
                    "kind": each.kind,
                    "title": each.title,
                    "over_at": each.over_at,
                    "told": told(each),
                }
                for each in self.notices
            ],
            "next": self.next_step,
        }


def run_account(parts: Parts, past: PastRun) -> RunAccount:
    """Everything that the ledger holds of a run besides its files."""
    stored = past.stored
    known = {each.id for each in parts.ledger.documents.sent_along(stored.id)}
    settled = not_in_files(parts.ledger.documents.select(run=stored.id), past.report.files)
    own = parts.reports / _FOLDERS[stored.kind] / stored.id if stored.kind in _FOLDERS else None
    code = stored.exit_code
    return RunAccount(
        stored=stored,
        seconds=_seconds(stored),
        meaning="under way, or interrupted" if code is None else _MEANINGS.get(code, ""),
        next_step=_next_step(past),
        settled=[each for each in settled if each.id not in known],
        reports=str(own) if own and Path(own).is_dir() else "",
        notices=_notices(parts, stored),
    )


def told(notice: StoredNotice) -> str:
    """Who knows of a notice: "told", "not told yet", or "not sent" where the job does not want it."""
    if not notice.wanted:
        return "not sent"
    return "told" if notice.told or not notice.owed else "not told yet"


def _seconds(stored: StoredRun) -> float | None:
    if not stored.finished_at:
        return None
    span = datetime.fromisoformat(stored.finished_at) - datetime.fromisoformat(stored.started_at)
    return round(span.total_seconds(), 1)


def _next_step(past: PastRun) -> str:
    stored = past.stored
    steps = [] if stored.exit_code is None else [_NEXT.get(stored.exit_code, "")]
    by_hand = stored.exit_code == ExitCode.STOPPED_EARLY and stored.kind == "push" and stored.job == "push"
    if by_hand:  # there is no job of that name
        steps = [_PUSH_AGAIN]
    if past.report.held_files:
        steps.insert(0, "Correct the files that are held as a whole (see why above), and drop them again.")
        if not past.report.counts[Fate.IN_DOUBT] and not _decisions(past):
            del steps[1:]
    elif stored.exit_code == ExitCode.DOUBT and _is_settled(past):
        return ""
    return " ".join(steps).format(job=stored.job, day=stored.business_date)


def _is_settled(past: PastRun) -> bool:
    """Whether everything that was in doubt or held in a run's files is so no longer."""
    counts = past.report.counts
    return bool(past.report.files) and not counts[Fate.IN_DOUBT] and not counts[Fate.HELD]


def _decisions(past: PastRun) -> bool:
    """Whether a document waits for a person, besides files that are held as a whole."""
    return any(file.counts[Fate.HELD] for file in past.report.files if not file.reason)


def _notices(parts: Parts, stored: StoredRun) -> list[StoredNotice]:
    """What was noticed of the job from its beginning until a minute after its end, or lasted on through it."""
    until = datetime.fromisoformat(stored.finished_at or parts.clock.now().isoformat()).timestamp() + 60
    found = parts.ledger.notices.notices_since(stored.started_at) + parts.ledger.notices.open(job=stored.job)
    mine = {each.id: each for each in found if each.job == stored.job}
    return [mine[number] for number in sorted(mine) if datetime.fromisoformat(mine[number].since).timestamp() <= until]
