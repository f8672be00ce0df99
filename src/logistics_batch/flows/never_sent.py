"""What earlier runs left unsent is told until it went out: no other run takes it along by itself."""

from collections.abc import Sequence

from logistics_batch.ledger import NeverSent
from logistics_batch.model.counting import counted


def told_of_never_sent(left: Sequence[NeverSent], *, job: str = "") -> list[str]:
    """A sentence for each run that left something, with what sends it. job: whose next run goes on with its own."""
    by_run: dict[str, list[NeverSent]] = {}
    for each in left:
        if each.job != job:
            by_run.setdefault(each.run, []).append(each)
    return [_sentence(run, files) for run, files in by_run.items()]


def _sentence(run: str, files: Sequence[NeverSent]) -> str:
    count, first = sum(each.documents for each in files), files[0]
    more = f" and {counted(len(files) - 1, 'other file')}" if len(files) > 1 else ""
    was = "was" if count == 1 else "were"
    return (
        f"{counted(count, 'document')} of {first.file_name}{more} {was} never sent, for the run {run} ({first.job}) "
        f"stopped early: `logistics-batch retry {run}` sends what is left."
    )
