"""What earlier runs left behind: what lost its sender becomes a doubt, what was not sent is told until it went out."""

from collections.abc import Sequence

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import NeverSent
from logistics_batch.model.issue import Issue

_FILES_NAMED = 3


def recover_orphans(parts: Parts) -> list[Issue]:
    """Turn all that was being sent into doubts; gives what a run's report should mention.

    Call while holding the sending lock.
    """
    files = parts.ledger.attempts.being_sent()
    parts.ledger.attempts.take_over(parts.clock.now().isoformat())
    if not files:
        return []
    named = [f"{name} (run {run})" for name, run in files]
    more = [(".and_more", {"count": len(named) - _FILES_NAMED})] if len(named) > _FILES_NAMED else []
    return [Issue.of("sending.broke_off", count=sum(files.values()), files=named[:_FILES_NAMED], more=more)]


def told_of_never_sent(left: Sequence[NeverSent]) -> list[Issue]:
    """A note for each run that left something, with what sends it."""
    by_run: dict[str, list[NeverSent]] = {}
    for each in left:
        by_run.setdefault(each.run, []).append(each)
    return [_note(run, files) for run, files in by_run.items()]


def _note(run: str, files: Sequence[NeverSent]) -> Issue:
    others = [(".other_files", {"count": len(files) - 1})] if len(files) > 1 else []
    count, first = sum(each.documents for each in files), files[0]
    return Issue.of("sending.never_sent", count=count, name=first.file_name, others=others, run=run, job=first.job)
