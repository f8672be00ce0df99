"""Archives that were dropped become the files in them, each with rows and answers of its own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from logistics_batch.errors import FileHeld
from logistics_batch.flows.files.receive_file import ReceivedFile
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.intake.containers import Member
from logistics_batch.intake.names import printable
from logistics_batch.model.issue import Issue, stored_notes


def unpacked(parts: Parts, files: Sequence[ReceivedFile], *, to: Path) -> tuple[ReceivedFile, ...]:
    """The files with every archive replaced by its members, which lie in the folder `to`.

    An archive that cannot be opened stays, with the reason as `held`; the copy of one that was opened is removed.
    """
    found: list[ReceivedFile] = []
    for file in files:
        try:
            with holding_file(file.name):
                members = parts.unpack(file.path, name=file.name, to=to)
        except FileHeld as held:
            found.append(replace(file, held=held))
            continue
        found += _members(file, members) if members else [file]
    # Our own copies of what was opened would keep the rows' data a second time; two files may share one.
    for path in {file.path for file in files if file.path.parent == to} - {file.path for file in found}:
        path.unlink()
    return tuple(found)


def _members(file: ReceivedFile, members: Sequence[Member]) -> list[ReceivedFile]:
    """What is to be read of an archive; the notes of each file say where it lay, and what was left out beside it."""
    left_out = [
        Issue.of("archive.left_out", name=printable(each.name), why=[each.left_out.pair])
        for each in members
        if each.left_out
    ]
    taken: dict[tuple[str, str], Member] = {}
    for each in members:
        if each.left_out:
            continue
        if (each.path.name, each.name) in taken:
            left_out.append(Issue.of("archive.same", inside=each.inside, name=printable(each.name)))
        taken.setdefault((each.path.name, each.name), each)
    return [
        replace(
            file,
            path=each.path,
            name=each.name,
            origin=file.origin
            | {"archive": file.name, "archive_notes": stored_notes([_came_in(file, each), *left_out])},
            held=each.held,
        )
        for each in taken.values()
    ]


def _came_in(file: ReceivedFile, member: Member) -> Issue:
    archive = printable(file.name)
    return (
        Issue.of("archive.inside", archive=archive, inside=member.inside)
        if member.inside
        else Issue.of("archive.file", archive=archive)
    )
