"""Whether the memory can be trusted: the ledger itself, and the originals that answers are built from."""

import hashlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from logistics_batch.errors import LedgerRefused, UsageError
from logistics_batch.flows.files.deliver import kept_file
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import LedgerFinding, Verification

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class VerifiedLedger:
    """What was found; missing: files whose original bytes are no longer kept, so that answers show only their rows."""

    ledger: Verification
    missing: int

    @property
    def sound(self) -> bool:
        """Nothing was found that does not hold together."""
        return not self.ledger.findings


def verify_ledger(parts: Parts) -> VerifiedLedger:
    """Look at everything that the ledger holds and at every kept file; changes nothing."""
    found = parts.ledger.itself.verify()
    # A file that could not even be fetched never had bytes to keep.
    files = {file.sha256: file for file in parts.ledger.files.of_run() if file.format != "unknown"}
    parts.progress.start("Looking at kept files", len(files))
    changed, missing = list[str](), 0
    for file in files.values():
        path = kept_file(parts, file)
        if not path.is_file():
            missing += 1
        else:
            with path.open("rb") as handle:
                is_sound = hashlib.file_digest(handle, "sha256").hexdigest() == file.sha256
            changed += [] if is_sound else [file.name]
        parts.progress.advance()
    parts.progress.done()
    if changed:
        named = ", ".join(changed[:_SHOWN]) + (" and more" if len(changed) > _SHOWN else "")
        remedy = "Put var/files back from a backup; answers that are written again are built from it."
        lost = LedgerFinding("kept files", f"Kept originals are not what came in: {named}.", remedy)
        found = replace(found, findings=(*found.findings, lost))
    return VerifiedLedger(found, missing)


def accept_restored(parts: Parts, *, reason: str) -> int:
    """A person confirms that an older copy of the ledger goes on; gives how many open documents it holds.

    Raises:
        UsageError: it is no older copy.
        LedgerBusy: a sending run holds the ledger.
    """
    try:
        parts.ledger.itself.require_newest()
    except LedgerRefused:
        return parts.ledger.itself.accept_restored(reason=reason, now=parts.clock.now().isoformat())
    raise UsageError(
        "This ledger is the one that was used last; there is nothing to accept.",
        remedy="Leave --accept-restored out to look at it.",
    )


def export_ledger(parts: Parts, path: Path, *, personal: bool) -> dict[str, int]:
    """Write every record as a line of JSON to a new file, whole or not at all; gives how many of each table.

    personal: also payloads, replies, events and values of cells.

    Raises:
        UsageError: the file is there already, or cannot be written.
    """
    if path.exists():
        raise UsageError(f"{path} is there already.", remedy="Name a new file.")
    beside = path.with_name(f".{path.name}.part")
    counts: dict[str, int] = {}
    try:
        with beside.open("w", encoding="utf-8") as handle:
            for record in parts.ledger.itself.records(personal=personal):
                handle.write(json.dumps(record, ensure_ascii=False) + "\n")
                counts[record["table"]] = counts.get(record["table"], 0) + 1
            handle.flush()
            os.fsync(handle.fileno())
        beside.chmod(0o600)
        beside.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", remedy="Name another file.") from error
    finally:
        beside.unlink(missing_ok=True)
    return counts
