"""Proposals for a file that has no mapping yet, or no longer fits the one it has; nothing is written."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from logistics_batch.errors import FileHeld, UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.receive_file import ReceivedFile
from logistics_batch.flows.unpack import unpacked
from logistics_batch.mapping import Mapping
from logistics_batch.mapping.suggest import Draft, Drift, draft_json, draft_of, draft_text, drift_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import ReadOptions, Sheet
from logistics_batch.scratch import scratch_folder

__all__ = ["KnownMapping", "draft_json", "draft_text", "drifted", "suggest"]


@dataclass(frozen=True, slots=True)
class KnownMapping:
    """A mapping that a file once fitted: its text, where it lies, and how a changed text would load."""

    mapping: Mapping
    text: str
    path: str
    load: Callable[[str], Mapping]


def suggest(parts: Parts, path: Path, *, operation: str | None) -> Draft:
    """A draft for a file.

    Raises:
        UsageError: no such file or operation, the file cannot be read, or nothing in it looks like a header.
    """
    wanted = _operation(operation)
    draft = draft_of(_sheets(parts, path, ReadOptions()), operation=wanted)
    if draft is None:
        raise UsageError(
            f"No row of {path.name} looks like a header.",
            remedy="A header names the columns in one of the first 30 rows; --operation says what the rows are.",
        )
    return draft


def drifted(parts: Parts, path: Path, known: KnownMapping) -> Drift:
    """How a file differs from what a mapping knows.

    Raises:
        UsageError: no such file, it cannot be read, or it has nothing in common with the mapping.
    """
    sheets = _sheets(parts, path, known.mapping.read_options)
    found = drift_of(known.mapping, sheets, known.text, load=known.load)
    if found is None:
        raise UsageError(
            f"{path.name} has no column of the mapping {known.mapping.name}.",
            remedy="Leave out --like to get a draft of a new mapping.",
        )
    return found


def _operation(name: str | None) -> Operation | None:
    if name is None:
        return None
    if name not in list(Operation):
        known = ", ".join(each.value for each in Operation)
        raise UsageError(f"There is no operation “{name}”.", remedy=f"KnownMapping: {known}.")
    return Operation(name)


def _sheets(parts: Parts, path: Path, options: ReadOptions) -> tuple[Sheet, ...]:
    if not path.is_file():
        raise UsageError(f"No such file: {path}.", remedy="Check the name and the folder.")
    with scratch_folder() as folder:
        (file, *others) = unpacked(parts, [ReceivedFile(path, path.name)], to=folder)
        if others:
            raise UsageError(f"{path.name} holds {len(others) + 1} files.", remedy="Unpack it and name one of them.")
        try:
            if file.held is not None:
                raise file.held
            return parts.read_file(file.path, name=file.name, options=options)
        except FileHeld as held:
            raise UsageError(held.message, remedy=held.remedy) from held
