"""What goes when the time that the settings give it is over: data of people, answers, reports and labels.

What dead processes left goes after a day.
"""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import Purged, sqlite_path
from logistics_batch.model.answers import EARLIER
from logistics_batch.scratch import remove_stale_folders

_NOBODY_WRITES_SO_LONG = timedelta(days=1)
_ANSWERS = ("*.ack.json", "*.result.xlsx", "*.result.csv", "*.fix.xlsx", "run-*.json")
_FOLDERS_OF_RUNS = ("reconciliation", "order_status", "labels")
_RUN = re.compile(r"\d{8}-\d{6}")  # in the ids of runs and bundles
_KEPT_BY_NAME = ("receipts/*", "asn-replies/*")  # lists of receipts, and what the service answered to searches


def purge_old(parts: Parts) -> Purged | None:
    """Empty what the ledger holds of long ago, and remove the files that belong to it; None if all is kept.

    Events have a time of their own. What a process left half written, and its folders for temporary files, go in any
    case. Call while holding the ledger's sending lock.
    """
    remove_leftovers(parts)
    if parts.policy.keep_events_seconds:
        events_before = parts.clock.now() - timedelta(seconds=parts.policy.keep_events_seconds)
        parts.ledger.purging.purge_events(before=events_before.isoformat())
    if not parts.policy.purge_after_seconds:
        return None
    before = parts.clock.now() - timedelta(seconds=parts.policy.purge_after_seconds)
    purged = parts.ledger.purging.purge(before=before.isoformat())
    _remove(_older(_files_of(parts, needed=purged.needed, before=before.date()), before))
    return purged


def remove_leftovers(parts: Parts) -> None:
    """Remove what a dead process left half written: in what is kept, among the reports and beside the ledger."""
    remove_stale_folders()
    before = parts.clock.now() - _NOBODY_WRITES_SO_LONG
    ledger = sqlite_path(parts.ledger.url)
    beside = ledger.parent.glob(f"{ledger.name}*.part") if ledger else ()
    half_written = [*_hidden(parts.files), *_hidden(parts.reports), *beside]
    ours = (path for path in half_written if path.name.startswith(".opening-") or ".part" in path.name)
    _remove(_older(ours, before))


def _hidden(folder: Path) -> Iterator[Path]:
    """Hidden files and folders at any depth; those that go meanwhile stop nothing, as they do `Path.rglob`."""
    for at, folders, files in os.walk(folder):
        yield from (Path(at, name) for name in (*folders, *files) if name.startswith("."))


def _files_of(parts: Parts, *, needed: frozenset[str], before: date) -> Iterator[Path]:
    """Originals, also archives that they came in, which nothing needs; what reconciliations saw; copies of the ledger.

    needed: digests of contents. The same bytes may just have come in again, for a run that has not planned them yet:
    so it also counts how old each file is.
    """
    for path in parts.files.glob("*"):
        if path.is_file() and path.stem not in needed:
            yield path
    for pattern in _KEPT_BY_NAME:
        yield from parts.files.glob(pattern)
    for path in parts.files.glob("reconciliation/????-??-??_*"):  # as `snapshots` names them
        if date.fromisoformat(path.name[:10]) < before:
            yield path
    if ledger := sqlite_path(parts.ledger.url):
        yield from ledger.parent.glob(f"{ledger.name}.version-*")


def _older(paths: Iterable[Path], before: datetime) -> list[Path]:
    found = []
    for path in paths:
        with suppress(FileNotFoundError):  # another process was quicker
            if path.lstat().st_mtime < before.timestamp():
                found.append(path)
    return found


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Removed:
    """How many files went."""

    reports: int = 0
    labels: int = 0


def purge_by_age(parts: Parts) -> Removed:
    """Remove what is older than the settings keep; without a time nothing goes.

    A label that is wanted again is asked for again; an answer is written again by `runs report`.
    """
    labels = parts.files / "labels"
    return Removed(
        reports=_remove_older(parts, _reports(parts.reports), parts.policy.keep_reports_seconds, below=parts.reports),
        labels=_remove_older(parts, labels.rglob("*"), parts.policy.keep_labels_seconds, below=labels),
    )


def _reports(folder: Path) -> Iterator[Path]:
    """What this program wrote into the folder of reports, by its names: whatever else lies there is somebody else's."""
    for pattern in _ANSWERS:
        yield from (*folder.glob(pattern), *(folder / EARLIER).glob(pattern))
    for name in _FOLDERS_OF_RUNS:
        for of_run in (folder / name).glob("*"):
            if _RUN.search(of_run.name):
                yield from of_run.rglob("*")
    yield from (each for each in folder.glob("feeds/*/*") if each.name.startswith(f"{each.parent.name}-"))


def _remove_older(parts: Parts, paths: Iterable[Path], seconds: float, *, below: Path) -> int:
    """Remove files, and the folders below `below` that are then empty; what begins with a dot is ours to keep."""
    if not seconds:
        return 0
    ours = [path for path in paths if not path.name.startswith(".") and (path.is_symlink() or not path.is_dir())]
    old = _older(ours, parts.clock.now() - timedelta(seconds=seconds))
    for path in old:
        path.unlink()
        with suppress(OSError):  # one of them holds something else
            for folder in path.relative_to(below).parents[:-1]:
                (below / folder).rmdir()
    return len(old)
