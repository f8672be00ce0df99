"""What was being sent when its run ended has no sender any more: it becomes a doubt, and the next run says so."""

from logistics_batch.flows.parts import Parts
from logistics_batch.model.counting import counted

_FILES_NAMED = 3


def take_over(parts: Parts) -> list[str]:
    """Take all of it as doubts; gives what a run's report should mention. Call while holding the sending lock."""
    files = parts.ledger.being_sent()
    parts.ledger.take_over(parts.clock.now().isoformat())
    if not files:
        return []
    more = f" and {counted(len(files) - _FILES_NAMED, 'other file')}" if len(files) > _FILES_NAMED else ""
    named = ", ".join(f"{name} (run {run})" for name, run in list(files)[:_FILES_NAMED]) + more
    sent = counted(sum(files.values()), "document")
    return [f"A run broke off while it sent {sent} of {named}: in doubt, and looked for at the service."]
