"""What was being sent when its run ended has no sender any more: it becomes a doubt, and the next run says so."""

from logistics_batch.flows.parts import Parts
from logistics_batch.model.issue import Issue

_FILES_NAMED = 3


def take_over(parts: Parts) -> list[Issue]:
    """Take all of it as doubts; gives what a run's report should mention. Call while holding the sending lock."""
    files = parts.ledger.attempts.being_sent()
    parts.ledger.attempts.take_over(parts.clock.now().isoformat())
    if not files:
        return []
    named = [f"{name} (run {run})" for name, run in files]
    more = [(".and_more", {"count": len(named) - _FILES_NAMED})] if len(named) > _FILES_NAMED else []
    return [Issue.of("sending.broke_off", count=sum(files.values()), files=named[:_FILES_NAMED], more=more)]
