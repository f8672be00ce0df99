"""Answers, reports and labels go when their time is over; the ledger has a time of its own (`flows.purge`)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from logistics_batch.flows.label_fetch import LABELS
from logistics_batch.flows.parts import Parts


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
        reports = _remove_older(parts.reports, before)
    if parts.policy.keep_labels_seconds:
        before = now - timedelta(seconds=parts.policy.keep_labels_seconds)
        labels = _remove_older(parts.files / LABELS, before)
    return Removed(reports, labels)


def _remove_older(folder: Path, before: datetime) -> int:
    """Files of a folder and below it, and the folders that are then empty; what begins with a dot is ours to keep."""
    removed = 0
    for path in sorted(folder.rglob("*"), key=lambda each: len(each.parts), reverse=True):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.lstat().st_mtime < before.timestamp():
            path.unlink()
            removed += 1
    return removed
