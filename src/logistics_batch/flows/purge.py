"""Data of people goes when the time that the settings give it is over."""

from datetime import datetime, timedelta

from logistics_batch.flows.label_fetch import LABELS
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Purged


def purge_old(parts: Parts) -> Purged | None:
    """Empty payloads, replies, cells and events of long ago; remove originals and labels; None if all is kept.

    Call while holding the ledger's sending lock.
    """
    if not parts.policy.purge_after_seconds:
        return None
    before = parts.clock.now() - timedelta(seconds=parts.policy.purge_after_seconds)
    purged = parts.ledger.purge(before=before.isoformat())
    over = set(purged.originals)
    for path in list(parts.files.iterdir()) if over and parts.files.is_dir() else ():
        # The same bytes may just have come in again, for a run that has not planned them yet.
        if path.stem in over and path.stat().st_mtime < before.timestamp():
            path.unlink()
    _purge_labels(parts, before)
    return purged


def _purge_labels(parts: Parts, before: datetime) -> None:
    """Remove labels that were fetched long ago, and what an interrupted run left behind."""
    named = parts.ledger.forget_labels(before=before.isoformat())
    folder = parts.files / LABELS
    for path in list(folder.iterdir()) if folder.is_dir() else ():
        if path.stem not in named and path.stat().st_mtime < before.timestamp():
            path.unlink()
