"""What was being sent when its run ended has no sender any more: it becomes a doubt, and the next run says so."""

from collections import Counter

from logistics_batch.flows.parts import Parts
from logistics_batch.model.counting import counted

_FILES_NAMED = 3


def take_over(parts: Parts) -> list[str]:
    """Take all of it as doubts; gives what a run's report should mention. Call while holding the sending lock."""
    orphans = [parts.ledger.document(number) for number in parts.ledger.take_over(parts.clock.now().isoformat())]
    files = Counter(f"{each.file_name} (run {each.run})" for each in orphans if each is not None)
    if not files:
        return []
    more = f" and {counted(len(files) - _FILES_NAMED, 'other file')}" if len(files) > _FILES_NAMED else ""
    named = ", ".join(list(files)[:_FILES_NAMED]) + more
    sent = counted(files.total(), "document")
    return [f"A run broke off while it sent {sent} of {named}: in doubt, and looked for at the service."]
