"""Files inside of files: the members of a zip archive, of a gzip file, of a PGP message, each as a file of its own."""

import gzip
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO
from uuid import uuid4

from logistics_batch.errors import FileHeld
from logistics_batch.intake.limited_work import Limited, at_once
from logistics_batch.intake.names import MAX_NAME_CHARACTERS, copy_name, held, name_fault, printable
from logistics_batch.intake.readers import Limits, sniff_format
from logistics_batch.intake.readers.formats import BOUNDED_PACKINGS, damage_held, is_out_of_proportion
from logistics_batch.intake.stores.readiness import never_input
from logistics_batch.intake.stores.store import landing, local_disk, sync_folder
from logistics_batch.model.issue import Issue

MAX_MEMBERS = 100
_BLOCK_BYTES = 1 << 20
_DEBRIS = ("__macosx", "thumbs.db", "desktop.ini")  # what programs add to archives by themselves
_GZIP_ENDINGS = (".gz", ".gzip")
_PGP_ENDINGS = (".pgp", ".gpg", ".asc")
_PGP_ARMOUR = b"-----BEGIN PGP MESSAGE-----"
_SHEETS = ("csv", "xlsx", "xls", "xlsb", "ods")
_PACKINGS = ("zip", "gzip", "archive")


@dataclass(frozen=True, slots=True)
class Member:
    """A file that came in a container: its own name, and its bytes under their hash.

    inside: where it lay in an archive, if that is more than its name. held: why it cannot be taken, if that is known.
    left_out: why it is not input at all and was not even kept, None if it is. sha256: of its bytes, "" where the file
    was in no container.
    """

    path: Path
    name: str
    inside: str = ""
    held: FileHeld | None = None
    left_out: Issue | None = None
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Unpacker:
    """Opens containers; decrypt: as `PgpKey.decrypt`, None where the settings have no key."""

    decrypt: Callable[..., None] | None = None
    limits: Limits = field(default_factory=Limits)
    limited: Limited = at_once

    def __call__(self, path: Path, *, name: str, to: Path) -> tuple[Member, ...]:
        """The files in a container, written to the folder `to`; () if it is an ordinary file.

        A PGP message may hold an archive; an archive in an archive is a member that is held.
        Raises FileHeld for a container that cannot be opened, has no file for us, or is larger inside than any drop
        should be: then nothing of it is written. Raises StoreError where the local disk takes no more.
        """
        is_message = _is_pgp(path, name)
        if not is_message and not _beginning(path).startswith((b"PK", b"\x1f\x8b")):
            return ()
        with local_disk(to):
            opening = tempfile.TemporaryDirectory(dir=to, prefix=".opening-")
        with opening as folder:
            source, inner, packed = path, name, None
            if is_message:
                if self.decrypt is None:
                    raise held("file|archive.no_key", name)
                source, packed = Path(folder) / f"{uuid4().hex}.plain", path.stat().st_size
                self.decrypt(path, name=name, to=source, most_bytes=self.limits.max_unpacked_bytes)
                inner = _without(_PGP_ENDINGS, name)
            open_it = self.limited(open_container, about=name, returns=(Member,))
            found = open_it(source, inner, Path(folder), limits=self.limits, packed=packed)
            left_out = [(each.name, each.left_out.pair) for each in found if each.left_out]
            if left_out and len(left_out) == len(found):
                member, why = left_out[0]
                raise held("file|empty.none_for_us", name, member=printable(member), why=[why])
            members = tuple(_settled(each, Path(folder), to) for each in found)
        if members:
            with local_disk(to):
                sync_folder(to)
        return members


def open_container(path: Path, name: str, to: Path, *, limits: Limits, packed: int | None = None) -> tuple[Member, ...]:
    """The files in a container, written to the folder `to` under names of no meaning; () if it is an ordinary file.

    packed: the size of the message that it was decrypted from, whose content it is, ordinary file or not.
    """
    found = list(_from_archive(path, name, to, limits))
    if packed is not None and not found:
        with path.open("rb") as stream:
            found = [_with_ending(_written(name, _counted(stream, name, packed, limits), to))]
    return tuple(replace(each, held=_nested(each, name)) for each in found)


def _from_archive(path: Path, name: str, to: Path, limits: Limits) -> Iterator[Member]:
    packing = _packing(path, name)
    with damage_held(name):
        if packing == "gzip":
            with gzip.open(path) as stream:
                blocks = _counted(stream, name, path.stat().st_size, limits)
                yield _with_ending(_written(_without(_GZIP_ENDINGS, name), blocks, to))
        elif packing == "zip":
            yield from _from_zip(path, name, to, limits)


def _from_zip(path: Path, name: str, to: Path, limits: Limits) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if not _is_debris(entry.filename)]
        _check_entries(entries, name)
        size = packed = 0
        for entry in entries:
            packed += entry.compress_size
            with archive.open(entry) as stream:
                blocks = _counted(stream, name, packed, limits, before=size)
                member = _written(_own_name(entry.filename), blocks, to, entry=entry.filename)
            size += member.path.stat().st_size
            yield member


def _counted(
    stream: IO[bytes] | gzip.GzipFile, name: str, packed: int, limits: Limits, *, before: int = 0
) -> Iterator[bytes]:
    """The blocks of a member; what an archive says of its size is not believed.

    packed: bytes that it and those before it take in the archive. before: what these became.
    """
    size = before
    while block := stream.read(_BLOCK_BYTES):
        size += len(block)
        if size > limits.max_unpacked_bytes:
            raise held("file|unsafe.archive_size", name, most=limits.max_unpacked_bytes >> 20)
        if is_out_of_proportion(size, packed, limits):
            raise held("file|unsafe.archive_ratio", name, ratio=limits.max_ratio)
        yield block


def _check_entries(entries: list[zipfile.ZipInfo], name: str) -> None:
    if not entries:
        raise held("file|empty.archive", name)
    if len(entries) > MAX_MEMBERS:
        raise held("file|archive.crowd", name, count=len(entries), most=MAX_MEMBERS)
    if any(entry.flag_bits & 1 for entry in entries):
        raise held("file|encrypted.archive", name)
    if any(entry.compress_type not in BOUNDED_PACKINGS for entry in entries):
        raise held("file|archive.packing", name)


def _written(name: str, blocks: Iterator[bytes], to: Path, *, entry: str = "") -> Member:
    """A member written to the disk."""
    path = to / uuid4().hex
    with landing(path) as target:
        for block in blocks:
            target.write(block)
        digest = target.fetched.sha256
    inside = "" if entry == name else printable(entry)
    return Member(path, name, inside, left_out=never_input(name), sha256=digest)


def _settled(member: Member, folder: Path, to: Path) -> Member:
    """A member under the hash of its bytes, if it is kept. folder: where it lies."""
    path = to / copy_name(member.sha256, member.name)
    if not member.left_out:
        with local_disk(path):
            (folder / member.path.name).replace(path)
    return replace(member, path=path)


def _nested(member: Member, container: str) -> FileHeld | None:
    """Why a member is not taken that is a container again; None if it is an ordinary file."""
    if member.left_out:
        return None
    try:
        is_packed = _packing(member.path, member.name)
    except FileHeld as unsafe:
        return unsafe
    return held("file|archive.nested", member.name, container=printable(container)) if is_packed else None


def _packing(path: Path, name: str) -> str:
    """How a file is packed: zip, gzip, "message", "archive" for one that is not opened; "" for an ordinary file."""
    if _is_pgp(path, name):
        return "message"
    kind = sniff_format(path)
    if kind == "crowd":
        raise held("file|unsafe.directory", name)
    if kind == "cut" and name.lower().endswith(".zip"):
        return "zip"
    return kind if kind in _PACKINGS else ""


def _own_name(entry: str) -> str:
    """The name of an archive's entry without its folders; a name that is none gets a harmless one."""
    name = PurePosixPath(entry.replace("\\", "/")).name
    if not name_fault(name):
        return name
    harmless = "".join(char if char.isprintable() and char not in "/\\" else "_" for char in name) or "file"
    ending = PurePosixPath(harmless).suffix[:10]
    return harmless[: MAX_NAME_CHARACTERS // 2].removesuffix(ending) + ending


def _is_debris(entry: str) -> bool:
    """Whether an entry is a folder, or what programs put beside the files."""
    if entry.endswith(("/", "\\")):
        return True
    parts = [part.lower() for part in PurePosixPath(entry.replace("\\", "/")).parts]
    return any(part in _DEBRIS for part in parts) or (bool(parts) and parts[-1].startswith((".", "~$")))


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(200)


def _is_pgp(path: Path, name: str) -> bool:
    head = _beginning(path).lstrip()
    if head.startswith(_PGP_ARMOUR):
        return True
    return name.lower().endswith(_PGP_ENDINGS) and bool(head) and bool(head[0] & 0x80)


def _without(endings: tuple[str, ...], name: str) -> str:
    """The name of what was packed; a name that tells nothing of the packing is that of the content."""
    return PurePosixPath(name).stem if name.lower().endswith(endings) else name


def _with_ending(member: Member) -> Member:
    """orders.gz does not tell what it holds: then the content does."""
    if PurePosixPath(member.name).suffix or (kind := sniff_format(member.path)) not in _SHEETS:
        return member
    return replace(member, name=f"{member.name}.{kind}")
