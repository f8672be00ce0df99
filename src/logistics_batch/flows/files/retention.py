"""Answers, reports and labels go when their time is over; the ledger has a time of its own (`flows.files.purge`)."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from logistics_batch.flows.labels.fetch import LABELS
from logistics_batch.flows.parts import Parts

_ANSWERS = ("*.ack.json", "*.result.xlsx", "*.result.csv", "*.fix.xlsx", "run-*.json")
_FOLDERS_OF_RUNS = ("reconciliation", "order_status", "labels")
_RUN = re.compile(r"\d{8}-\d{6}")  # in the ids of runs and bundles


@dataclass(frozen=True, slots=True)
class Removed:
    """How many files went."""

    reports: int = 0
    labels: int = 0


def purge_by_age(parts: Parts) -> Removed:
    """Remove what is older than the settings keep; without a time nothing goes.

    A label that is wanted again is asked for again; an answer is written again by `runs report`.
    """
    now = parts.clock.now()
    reports = labels = 0
    if parts.policy.keep_reports_seconds:
        before = now - timedelta(seconds=parts.policy.keep_reports_seconds)
        reports = _remove_older(_reports(parts.reports), before, below=parts.reports)
    if parts.policy.keep_labels_seconds:
        before = now - timedelta(seconds=parts.policy.keep_labels_seconds)
        labels = _remove_older((parts.files / LABELS).rglob("*"), before, below=parts.files / LABELS)
    return Removed(reports, labels)


def _reports(folder: Path) -> Iterator[Path]:
    """What this program wrote into the folder of reports, by its names: whatever else lies there is somebody else's."""
    for pattern in _ANSWERS:
        yield from folder.glob(pattern)
    for name in _FOLDERS_OF_RUNS:
        for of_run in (folder / name).glob("*"):
            if _RUN.search(of_run.name):
                yield from of_run.rglob("*")
    yield from (each for each in folder.glob("feeds/*/*") if each.name.startswith(f"{each.parent.name}-"))


def _remove_older(paths: Iterable[Path], before: datetime, *, below: Path) -> int:
    """Remove files, and the folders below `below` that are then empty; what begins with a dot is ours to keep."""
    removed = 0
    for path in list(paths):
        if path.name.startswith(".") or (path.is_dir() and not path.is_symlink()):
            continue
        if path.lstat().st_mtime < before.timestamp():
            path.unlink()
            removed += 1
            with suppress(OSError):  # one of them holds something else
                for folder in path.relative_to(below).parents[:-1]:
                    (below / folder).rmdir()
    return removed
