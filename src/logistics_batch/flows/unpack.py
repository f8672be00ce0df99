"""Archives that were dropped become the files in them, each with rows and answers of its own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from logistics_batch.errors import FileHeld
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.receive_file import ReceivedFile


def unpacked(parts: Parts, files: Sequence[ReceivedFile], *, to: Path) -> tuple[ReceivedFile, ...]:
    """The files with every archive replaced by its members, which lie in the folder `to`.

    An archive that cannot be opened stays, with the reason as `held`.
    """
    found: list[ReceivedFile] = []
    for file in files:
        try:
            members = parts.unpack(file.path, name=file.name, to=to)
        except FileHeld as held:
            found.append(replace(file, held=held))
            continue
        origin = file.origin | {"archive": file.name}
        found += [replace(file, path=each.path, name=each.name, origin=origin) for each in members] or [file]
    return tuple(found)
