"""Files inside of files: the members of a zip archive, of a gzip file, of a PGP message, each as a file of its own."""

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol
from uuid import uuid4

from logistics_batch.errors import FileHeld
from logistics_batch.intake.guards import Limits, damaged, is_out_of_proportion, recognise
from logistics_batch.intake.landing import landing
from logistics_batch.intake.names import name_fault, printable

MAX_MEMBERS = 100
_BLOCK_BYTES = 1 << 20
_UNREADABLE = (
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    ValueError,
    RuntimeError,
)
_DEBRIS = ("__macosx", "thumbs.db", "desktop.ini")  # what programs add to archives by themselves
_PGP_ENDINGS = (".pgp", ".gpg", ".asc")
_PGP_ARMOUR = b"-----BEGIN PGP MESSAGE-----"


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes:
        """At most so many bytes."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file that came in a container: its own name, and its bytes under their hash."""

    path: Path
    name: str


class Decrypt(Protocol):
    """Decrypts a PGP message; raises FileHeld if it is not for us."""

    def __call__(self, source: Path, *, name: str, to: Path) -> None:
        """Write the plain bytes to `to`."""


@dataclass(frozen=True, slots=True)
class Unpacker:
    """Opens containers; decrypt: None where the settings have no PGP key."""

    decrypt: Decrypt | None = None
    limits: Limits = field(default_factory=Limits)

    def __call__(self, path: Path, *, name: str, to: Path) -> tuple[Member, ...]:
        """The files in a container, written to the folder `to`; () if it is an ordinary file.

        A PGP message may hold an archive; an archive in an archive is left as it is, to be refused as a spreadsheet.
        Raises FileHeld for a container that cannot be opened, is empty, or is larger inside than any drop should be.
        """
        if _is_pgp(path, name):
            (plain,) = self._take([(_without_ending(name), self._decrypted(path, name, to))], to)
            return self(plain.path, name=plain.name, to=to) or (plain,)
        kind = recognise(path)
        if kind not in ("zip", "gzip") and not (kind == "cut" and name.lower().endswith(".zip")):
            return ()
        with _translated(name):
            if kind == "gzip":
                with gzip.open(path) as stream:
                    return self._take([(_without_ending(name), self._counted(stream, name, path.stat().st_size))], to)
            return self._from_zip(path, name, to)

    def _from_zip(self, path: Path, name: str, to: Path) -> tuple[Member, ...]:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_debris(entry.filename)]
            if not entries:
                raise _held(name, "is empty: there is no file in it", rule="file|empty", remedy="Send it again.")
            if len(entries) > MAX_MEMBERS:
                remedy = "Send several smaller archives."
                raise _held(name, f"holds {len(entries):,} files; at most {MAX_MEMBERS} are taken", remedy=remedy)
            if any(entry.flag_bits & 1 for entry in entries):
                remedy = "Pack it again without a password and send that."
                raise _held(name, "is protected with a password", rule="file|encrypted", remedy=remedy)
            size = packed = 0
            found: list[Member] = []
            for entry in entries:
                packed += entry.compress_size
                with archive.open(entry) as stream:
                    blocks = self._counted(stream, name, packed, before=size)
                    found += self._take([(_own_name(entry.filename), blocks)], to)
                size += found[-1].path.stat().st_size
            return tuple(found)

    def _counted(self, stream: _Readable, name: str, packed: int, *, before: int = 0) -> Iterator[bytes]:
        """The blocks of a member; what an archive says of its size is not believed.

        packed: bytes that it and those before it take in the archive. before: what these became.
        """
        size = before
        while block := stream.read(_BLOCK_BYTES):
            size += len(block)
            if size > self.limits.max_unpacked_bytes:
                raise _unsafe(name, f"unpacked it is larger than {self.limits.max_unpacked_bytes >> 20} MB")
            if is_out_of_proportion(size, packed, self.limits):
                raise _unsafe(name, f"it unpacks to over {self.limits.max_ratio} times its size")
            yield block

    def _decrypted(self, path: Path, name: str, to: Path) -> Iterator[bytes]:
        if self.decrypt is None:
            remedy = "Send it unencrypted, or ask the operator to set key_file under [pgp] in the settings."
            raise _held(name, "is encrypted with PGP, and there is no key here to open it", remedy=remedy)
        plain = to / f".{uuid4().hex}.part"
        try:
            self.decrypt(path, name=name, to=plain)
            with plain.open("rb") as stream:
                yield from self._counted(stream, name, plain.stat().st_size)
        finally:
            plain.unlink(missing_ok=True)

    def _take(self, streams: list[tuple[str, Iterator[bytes]]], to: Path) -> tuple[Member, ...]:
        return tuple(_kept(name, blocks, to) for name, blocks in streams)


def _kept(name: str, blocks: Iterator[bytes], to: Path) -> Member:
    """A member written to the disk under the hash of its bytes."""
    arriving = to / f".{uuid4().hex}.in"
    with landing(arriving) as target:
        for block in blocks:
            target.write(block)
        digest = target.fetched.sha256
    return Member(arriving.replace(to / (digest + PurePosixPath(name).suffix.lower())), name)


def _own_name(entry: str) -> str:
    """The name of an archive's entry without its folders; a name that is none gets a harmless one."""
    name = PurePosixPath(entry.replace("\\", "/")).name
    return printable(name).replace("\\", "_") if name_fault(name) else name


def _is_debris(entry: str) -> bool:
    parts = [part.lower() for part in PurePosixPath(entry.replace("\\", "/")).parts]
    return any(part in _DEBRIS for part in parts) or (bool(parts) and parts[-1].startswith((".", "~$")))


def _is_pgp(path: Path, name: str) -> bool:
    with path.open("rb") as file:
        head = file.read(200).lstrip()
    if head.startswith(_PGP_ARMOUR):
        return True
    return name.lower().endswith(_PGP_ENDINGS) and bool(head) and bool(head[0] & 0x80)


def _without_ending(name: str) -> str:
    return PurePosixPath(name).stem


def _held(name: str, what: str, *, remedy: str, rule: str = "file|archive") -> FileHeld:
    return FileHeld(f"{printable(name)} {what}.", rule=rule, remedy=remedy)


def _unsafe(name: str, why: str) -> FileHeld:
    remedy = "Send the spreadsheet without an archive around it, or split it."
    return _held(name, f"is not opened: {why}, as no ordinary archive does", rule="file|unsafe", remedy=remedy)


@contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except _UNREADABLE as error:
        raise damaged(name) from error
