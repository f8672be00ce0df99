"""What earlier runs left unsent is told until it went out: no other run takes it along by itself."""

from collections.abc import Sequence

from logistics_batch.ledger import NeverSent
from logistics_batch.model.issue import Issue


def told_of_never_sent(left: Sequence[NeverSent], *, job: str = "") -> list[Issue]:
    """A note for each run that left something, with what sends it. job: whose next run goes on with its own."""
    by_run: dict[str, list[NeverSent]] = {}
    for each in left:
        if each.job != job:
            by_run.setdefault(each.run, []).append(each)
    return [_note(run, files) for run, files in by_run.items()]


def _note(run: str, files: Sequence[NeverSent]) -> Issue:
    others = [(".other_files", {"count": len(files) - 1})] if len(files) > 1 else []
    count, first = sum(each.documents for each in files), files[0]
    return Issue.of("sending.never_sent", count=count, name=first.file_name, others=others, run=run, job=first.job)
