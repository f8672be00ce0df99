"""An Excel package as a zip of parts: read some, replace some, copy the others byte for byte, still compressed."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from logistics_batch.paper.xlsx.xml_bytes import NotPatchable

LARGEST_PART_BYTES = 768 * 1024 * 1024
"""A part that unpacks to more than this is not touched."""

_COMPRESSION_LEVEL = 2  # takes half the time of 5 on sheet parts, which become an eighth larger
_EARLIEST_DOS_DATE = (1 << 5) | 1  # 1980-01-01
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_UTF8_NAME = 0x800
_LARGEST_ZIP_BYTES = 0xFFFF_FFFE


@dataclass(frozen=True, slots=True)
class Packed:
    """A part as it lies in the zip: compressed data, checksum and size unpacked."""

    data: bytes
    checksum: int
    size: int
    method: int = zipfile.ZIP_DEFLATED


def packed(chunks: Iterable[bytes]) -> Packed:
    """Compresses a part that is made piece by piece, so that it never lies whole in memory."""
    deflater = zlib.compressobj(_COMPRESSION_LEVEL, zlib.DEFLATED, -15)
    out: list[bytes] = []
    checksum = size = 0
    for chunk in chunks:
        checksum = zlib.crc32(chunk, checksum)
        size += len(chunk)
        out.append(deflater.compress(chunk))
    out.append(deflater.flush())
    return Packed(b"".join(out), checksum, size)


class Package:
    """The parts of one package. Names are those of the zip, without a leading slash.

    Raises NotPatchable for what is no sound zip: encrypted, a name twice, or larger than this module copies.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise NotPatchable("the file is not a sound zip package") from error
        self._entries = self._zip.infolist()
        self._names = {entry.filename: entry for entry in self._entries}
        if len(self._names) != len(self._entries):
            raise NotPatchable("the package holds a part twice")
        if any(entry.flag_bits & 1 for entry in self._entries):
            raise NotPatchable("the package is encrypted")
        if len(content) > _LARGEST_ZIP_BYTES or len(self._entries) > 0xFFF0:
            raise NotPatchable("the package is too large")

    @classmethod
    def of(cls, parts: Mapping[str, Packed]) -> "Package":
        """A new package of these parts."""
        out = _ZipWriter()
        for name, part in parts.items():
            out.add(name, part, like=None)
        return cls(out.finished())

    def __contains__(self, name: str) -> bool:
        return name in self._names

    @property
    def names(self) -> tuple[str, ...]:
        """The parts' names in the order of the zip."""
        return tuple(self._names)

    def read(self, name: str) -> bytes:
        """A part unpacked. Raises NotPatchable if it is missing, damaged or too large."""
        entry = self._names.get(name)
        if entry is None:
            raise NotPatchable(f"the package has no part {name}")
        if entry.file_size > LARGEST_PART_BYTES:
            raise NotPatchable(f"the part {name} is too large")
        try:
            part = self._unpacked(entry)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise NotPatchable(f"the part {name} is damaged") from error
        if len(part) != entry.file_size or zlib.crc32(part) != entry.CRC:
            raise NotPatchable(f"the part {name} is damaged")
        return part

    def _unpacked(self, entry: zipfile.ZipInfo) -> bytes:
        if entry.compress_type != zipfile.ZIP_DEFLATED:
            return self._zip.read(entry)
        # Into memory of the right size at once: `zipfile` needs twice as much for a moment.
        return zlib.decompress(self._packed_as_it_is(entry).data, wbits=-15, bufsize=max(entry.file_size, 1))

    def with_parts(self, changes: Mapping[str, Packed | None]) -> bytes:
        """The package with some parts replaced, added (at the end) or, where None, left out."""
        out = _ZipWriter()
        for entry in self._entries:
            if entry.filename not in changes:
                out.add(entry.filename, self._packed_as_it_is(entry), like=entry)
            elif (part := changes[entry.filename]) is not None:
                out.add(entry.filename, part, like=entry)
        for name, part in changes.items():
            if name not in self._names and part is not None:
                out.add(name, part, like=None)
        return out.finished()

    def _packed_as_it_is(self, entry: zipfile.ZipInfo) -> Packed:
        start = entry.header_offset
        if self.content[start : start + 4] != b"PK\x03\x04":
            raise NotPatchable(f"the part {entry.filename} is damaged")
        name_length, extra_length = struct.unpack_from("<2H", self.content, start + 26)
        start += _LOCAL.size + name_length + extra_length
        data = self.content[start : start + entry.compress_size]
        return Packed(data, entry.CRC, entry.file_size, entry.compress_type)


class _ZipWriter:
    """Writes a zip whose sizes are known beforehand; zipfile cannot copy compressed data."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._directory: list[bytes] = []
        self._offset = 0

    def add(self, name: str, part: Packed, *, like: zipfile.ZipInfo | None) -> None:
        raw_name, flags = _encoded(name, utf8=like is None or bool(like.flag_bits & _UTF8_NAME))
        moment = _dos_moment(like)
        fields = (flags, part.method, *moment, part.checksum, len(part.data), part.size, len(raw_name), 0)
        header = _LOCAL.pack(b"PK\x03\x04", 20, *fields) + raw_name
        attributes = (like.internal_attr, like.external_attr) if like is not None else (0, 0)
        system = like.create_system << 8 if like is not None else 0
        self._directory.append(
            _CENTRAL.pack(b"PK\x01\x02", system | 20, 20, *fields, 0, 0, *attributes, self._offset) + raw_name
        )
        self._pieces += [header, part.data]
        self._offset += len(header) + len(part.data)

    def finished(self) -> bytes:
        directory = b"".join(self._directory)
        count = len(self._directory)
        end = _END.pack(b"PK\x05\x06", 0, 0, count, count, len(directory), self._offset, 0)
        if self._offset + len(directory) > _LARGEST_ZIP_BYTES:
            raise NotPatchable("the package is too large")
        return b"".join([*self._pieces, directory, end])


def _encoded(name: str, *, utf8: bool) -> tuple[bytes, int]:
    if utf8:
        return name.encode(), _UTF8_NAME
    try:
        return name.encode("cp437"), 0
    except UnicodeEncodeError:
        return name.encode(), _UTF8_NAME


def _dos_moment(like: zipfile.ZipInfo | None) -> tuple[int, int]:
    if like is None:
        return 0, _EARLIEST_DOS_DATE
    year, month, day, hour, minute, second = like.date_time
    return hour << 11 | minute << 5 | second // 2, max(year - 1980, 0) << 9 | month << 5 | day
