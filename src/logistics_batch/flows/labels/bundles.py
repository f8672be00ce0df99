"""The bundles of labels that lie below the reports: their files, to be looked at and printed from there."""

import subprocess
from pathlib import Path
from typing import Final, get_args

from logistics_batch.errors import UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.model.jobs.job import LabelsJob

_QUEUE_SECONDS, _SAID = 30.0, 200
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


def send_to_queue(file: Path, *, queue: str, title: str) -> str:
    """Give a file to a queue of this machine's printing system, whole; what that says of it.

    Raises UsageError: there is no such system, or it does not take the file.
    """
    command = ["lp", "-d", queue, "-t", title, "--", str(file)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_QUEUE_SECONDS, check=False
        )
    except FileNotFoundError:
        raise UsageError("This machine has no `lp`.", remedy="Install CUPS' client, or download and print.") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(
            f"The print queue {queue} did not answer: {type(error).__name__}.", remedy="See `lpstat -p` on the server."
        ) from error
    said = " ".join((done.stdout or done.stderr).decode(errors="replace").split())[:_SAID]
    if done.returncode:
        raise UsageError(f"The print queue {queue} does not take it: {said}", remedy="See `lpstat -p` on the server.")
    return said


def _folder(parts: Parts, bundle_id: str) -> Path | None:
    """Where a bundle lies; None for what is no label run's id, which may lead anywhere."""
    run = parts.ledger.runs.get(bundle_id)
    return parts.reports / "labels" / run.id if run is not None and run.kind == "labels" else None
