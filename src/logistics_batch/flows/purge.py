"""Data of people goes when the time that the settings give it is over."""

from datetime import timedelta

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Purged


def purge_old(parts: Parts) -> Purged | None:
    """Empty payloads, replies, cells and events of long ago, and remove their originals; None if all is kept.

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
    return purged
