"""The bundles of labels that lie below the reports: their files, to be looked at and printed from there."""

from pathlib import Path
from typing import Final, get_args

from logistics_batch.flows.parts import Parts
from logistics_batch.model.jobs.job import LabelsJob

LAYOUTS: Final[tuple[str, ...]] = get_args(LabelsJob.model_fields["layout"].annotation)
"""How labels may lie on the paper, the usual way first."""


def files_of_bundle(parts: Parts, bundle_id: str) -> dict[str, int]:
    """The names of a bundle's files and how many bytes each has; nothing if it lies elsewhere or is none."""
    folder = _folder(parts, bundle_id)
    found = sorted(folder.iterdir()) if folder is not None and folder.is_dir() else []
    return {path.name: path.stat().st_size for path in found if path.is_file() and not path.is_symlink()}


def file_of_bundle(parts: Parts, bundle_id: str, name: str) -> Path | None:
    """Where one file of a bundle lies; None if there is none of that name."""
    folder = _folder(parts, bundle_id)
    return folder / name if folder is not None and name in files_of_bundle(parts, bundle_id) else None


def _folder(parts: Parts, bundle_id: str) -> Path | None:
    """Where a bundle lies; None for what is no label run's id, which may lead anywhere."""
    run = parts.ledger.runs.get(bundle_id)
    return parts.reports / "labels" / run.id if run is not None and run.kind == "labels" else None
