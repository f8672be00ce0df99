"""Files that wait for a person, followed from run to run: held as a whole until they or their successors are read, or
left lying until they are gone."""

import getpass
import hashlib
from collections.abc import Iterable, Sequence

from logistics_batch.errors import UsageError
from logistics_batch.flows.files.receive import first_name
from logistics_batch.flows.parts import OPERATOR, Parts
from logistics_batch.intake.names import printable
from logistics_batch.intake.stores.store import RemoteFile
from logistics_batch.ledger import HeldFile, StoredFile
from logistics_batch.model.answers import result_stem
from logistics_batch.model.issue import Issue

_MOST_KEPT = 1000
"""So many files that are left are followed one by one: a folder without its done-files may hold any number."""


def follow_held_files(parts: Parts, job: str, files: Sequence[StoredFile]) -> None:
    """At the end of a run: what it holds as a whole waits from now on, and what its files take the place of is over.

    A file takes the place of one of the same job that has the name of its answers, or is the very same bytes; pushed
    by hand, it may come from anywhere, but for the same mapping. Whoever pushes by hand sees what is held.
    """
    waiting = [(each, parts.ledger.files.get(each.id)) for each in parts.ledger.files.held()]
    now = parts.clock.now().isoformat()
    for file in files:
        by_hand = not file.origin.get("store")
        if file.reason and not by_hand:
            stem, identity = _stem(parts, file), _identity(file)
            parts.ledger.files.hold_file(file, job=job, stem=stem, identity=identity, now=now)
        elif not file.reason and waiting and file.rows_read:
            stem = _stem(parts, file)
            for each, earlier in waiting:
                is_its_own = earlier.mapping == file.mapping if by_hand else each.job == job
                is_same = each.stem == stem or earlier.sha256 == file.sha256
                if is_its_own and is_same and earlier.id < file.id:
                    why = f"{file.name} was read in run {file.run}."
                    parts.ledger.files.close_held_file(each.id, now=now, why=why)


def _stem(parts: Parts, file: StoredFile) -> str:
    """What a file shares with a corrected answer to it: the name of its answers."""
    return result_stem(first_name(parts, file.name, mapping=file.mapping))


def _identity(file: StoredFile) -> str:
    """What tells it from another file of that name; one that still lies there is the same, one dropped anew is not."""
    where = "|".join(str(file.origin.get(name, "")) for name in ("store", "path", "modified"))
    return hashlib.sha256(f"{where}|{file.name}|{file.sha256}".encode()).hexdigest()


def follow_left_files(parts: Parts, job: str, left: Iterable[tuple[RemoteFile, Issue]]) -> None:
    """At the end of a run: what lies there and was not taken, with the reason."""
    found = {
        hashlib.sha256(file.path.encode(errors="surrogatepass")).hexdigest(): (printable(file.name), why)
        for file, why in list(left)[:_MOST_KEPT]
    }
    parts.ledger.files.note_left_files(job, found, now=parts.clock.now().isoformat())


def close_held_file(parts: Parts, held_id: str, *, decision: str, reason: str, dry_run: bool = False) -> HeldFile:
    """A person's word that a file which is held as a whole is done with, written down with the reason.

    dry_run: it is looked at whether that can be decided, and nothing is written.

    Raises UsageError: no such file waits, or the decision does not fit.
    """
    found = next((each for each in parts.ledger.files.held() if f"file-{each.id}" == held_id), None)
    if found is None:
        raise UsageError(f"Nothing with the number {held_id} is held.", remedy="See “held list”.")
    if decision != "drop":
        raise UsageError(
            f"“{decision}” does not fit a file that is held as a whole: nothing of it is known to be right.",
            remedy="Correct it and drop it again, or decide “drop” if it is done with.",
        )
    if dry_run:
        return found
    who = getpass.getuser() if parts.person == OPERATOR else parts.person
    if not parts.ledger.files.close_held_file(found.id, now=parts.clock.now().isoformat(), why=reason, who=who):
        raise UsageError(f"{held_id} is no longer held.", remedy="Look at “held list” again.")
    return found
