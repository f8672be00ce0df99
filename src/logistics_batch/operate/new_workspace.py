"""A new workspace: settings with a word on each key, and the shipped mappings and jobs to begin from."""

import shutil
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from logistics_batch.errors import UsageError
from logistics_batch.specification import nearest

SETTINGS_FILE = "logistics-batch.toml"
_FOLDERS = ("mappings", "jobs", "sample_data")
_HIDDEN = shutil.ignore_patterns("__pycache__", ".*", "*.py")

STARTERS: Final = (
    "asn_handmade",
    "asn_unicommerce",
    "orders_standard",
    "receipts",
    "shiprocket_orders",
    "shopify_orders",
)
"""The mappings that every workspace begins with: those of the shipped jobs."""


def create_workspace(folder: Path) -> list[Path]:
    """Make a workspace in `folder`; gives the files that were written. What is there already stays as it is.

    Raises UsageError if the folder is a workspace already, or cannot be written.
    """
    settings = folder / SETTINGS_FILE
    if settings.exists():
        raise UsageError(f"{folder} is a workspace already.", remedy="Name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "secrets").mkdir(mode=0o700, exist_ok=True)
        written = [path for name in _FOLDERS for path in _copy(shipped(name), folder / name)]
        settings.write_bytes((files("logistics_batch.operate") / SETTINGS_FILE).read_bytes())
    except OSError as error:
        raise _unwritable(error, folder) from error
    return [settings, *written]


def more_layouts() -> list[str]:
    """The names of the shipped mappings that a workspace does not begin with, sorted."""
    return sorted(path.stem for path in shipped("mappings").glob("*.yaml") if path.stem not in STARTERS)


def add_layouts(folder: Path, names: Sequence[str]) -> list[Path]:
    """Put shipped mappings with their examples into a workspace; gives the files that were written.

    What is there already stays as it is. Raises UsageError if there is no such mapping, or the folder cannot be
    written.
    """
    known = [*STARTERS, *more_layouts()]
    for name in names:
        if name not in known:
            remedy = nearest(name, known) or f"There are: {', '.join(sorted(known))}."
            raise UsageError(f'No layout "{name}" comes with the program.', remedy=remedy)
    try:
        (folder / "mappings").mkdir(parents=True, exist_ok=True)
        return _copy(shipped("mappings"), folder / "mappings", mappings=names)
    except OSError as error:
        raise _unwritable(error, folder) from error


def shipped(name: str) -> Path:
    """A folder that comes with the program: inside the installed package, or at the top of a checkout."""
    package = Path(str(files("logistics_batch")))
    installed = package / "_shipped" / name
    return installed if installed.is_dir() else package.parent.parent / name


def left_out(folder: str, names: Iterable[str], mappings: Sequence[str] = STARTERS) -> set[str]:
    """Which names in a shipped folder are not copied: programs, and other mappings with their examples."""
    found = set(_HIDDEN(folder, [*names]))
    if Path(folder).name in ("mappings", "examples"):
        found |= {name for name in names if name != "examples" and name.removesuffix(".yaml") not in mappings}
    return found


def _unwritable(error: OSError, folder: Path) -> UsageError:
    return UsageError(f"{error.filename or folder} cannot be written: {error.strerror}.")


def _copy(source: Path, target: Path, mappings: Sequence[str] = STARTERS) -> list[Path]:
    written: list[Path] = []
    target.mkdir(exist_ok=True)
    for path in sorted(source.rglob("*")) if source.is_dir() else ():
        goal = target / path.relative_to(source)
        if left_out(str(path.parent), [path.name], mappings) or goal.exists():
            continue
        if path.is_dir():
            goal.mkdir()
        elif goal.parent.is_dir():
            goal.write_bytes(path.read_bytes())
            written.append(goal)
    return written
