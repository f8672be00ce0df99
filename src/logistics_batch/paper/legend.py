"""The words that explain a result to whoever opens it; they hang as a comment on the header of the status column."""

from logistics_batch.model.report import Fate, FileReport

FATE_MEANINGS: dict[Fate, str] = {
    Fate.ACCEPTED: "the service took it",
    Fate.UNCHANGED: "accepted earlier; not sent again",
    Fate.REFUSED: "the service said no; see Reason",
    Fate.INVALID: "something in this row must be corrected; see the coloured cell",
    Fate.BLOCKED: "fine itself, but another row of its document is not",
    Fate.IN_DOUBT: "sent, no clear answer yet; do not send it another way",
    Fate.HELD: "a person must decide; ask the operator",
    Fate.PENDING: "not sent yet",
    Fate.SKIPPED: "not sent: blank, a title, a total, or no longer wanted",
}
"""Each fate in a few words for a clerk."""

_HELD_WITH_ITS_FILE = "not sent, because the whole file was held; see What to do"


def legend(report: FileReport, *, notes: tuple[str, ...] = ()) -> str:
    """What came of the file, what each word means, and what to do with this workbook."""
    counts = {fate: count for fate, count in report.counts.items() if count}
    lines = [f"{report.file}, run {report.run}", ""]
    meanings = FATE_MEANINGS | {Fate.HELD: _HELD_WITH_ITS_FILE} if report.reason else FATE_MEANINGS
    lines += [f"{count} {fate.value}: {meanings[fate]}" for fate, count in counts.items()]
    lines += [f"{report.rows_read} rows read in all", ""]
    if any(fate in counts for fate in (Fate.REFUSED, Fate.INVALID, Fate.BLOCKED)):
        lines.append("Correct the rows in this workbook and drop it again. What was accepted is not sent twice.")
    lines.append("These five columns are written by logistics-batch and replaced each time.")
    return "\n".join([*lines, *notes])
