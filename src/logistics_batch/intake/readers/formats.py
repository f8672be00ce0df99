"""What a file really is by its bytes, whether its name says so, and whether an archive can be unpacked safely.

A small archive can name millions of parts, pack megabytes into a few bytes, or say of its parts what is not so; what it
says of its sizes is not believed.
"""

import errno
import io
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final

from logistics_batch.intake.names import held, printable
from logistics_batch.intake.readers.limits import Limits

OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How a compound file begins, as .xls workbooks and workbooks with a password are."""

PACKED_FAULTS: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    LookupError,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,  # a part with a password; NotImplementedError is one too
)
"""What opening a damaged archive or reading its parts may raise."""

BOUNDED_PACKINGS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How ordinary archives are packed: a part can be read in pieces, however large it unpacks."""

_MOST_DIRECTORY_BYTES = 1 << 20  # a workbook of a thousand parts takes a tenth of it
_BLOCK_BYTES = 1 << 20
_ENTRY_HEAD_BYTES = 30  # before the name of each part
_XML_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*<|\xff\xfe<\0|\xfe\xff\0<|<\0|\0<")
_DOCTYPES = (b"!DOCTYPE", b"!\0D\0O\0C\0T\0Y\0P\0E")  # the second in UTF-16, whichever byte comes first
FORMATS: Final = {
    "csv": "csv",
    "tsv": "csv",
    "txt": "csv",
    "tab": "csv",
    "xlsx": "xlsx",
    "xls": "xls",
    "xlsb": "xlsb",
    "ods": "ods",
}
"""As what a file is read, by the ending of its name."""
_PACKED = ("xlsx", "xlsb", "ods")
_MAGIC = (
    (b"%PDF", "pdf"),
    (b"\x1f\x8b", "gzip"),
    (b"Rar!", "archive"),
    (b"7z\xbc\xaf", "archive"),
    (b"\x89PNG", "picture"),
    (b"\xff\xd8\xff", "picture"),
    (b"{\\rtf", "rtf"),
    (b"MZ", "program"),
    (b"\x7fELF", "program"),
    (b"MIME-Version:", "html"),  # a web page with its pictures in one file, as old programs export tables
)
_PEEKED_BYTES = 1 << 20
_ODS_MANIFEST = "META-INF/manifest.xml"
_JSON_BEGIN = re.compile(rb'(?:\[\s*)?\{\s*["}]|\[\s*["\[]')


def is_of_the_disk(error: BaseException) -> bool:
    """Whether one of PACKED_FAULTS is the disk's and not the archive's, as a place is that cannot be."""
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


@contextmanager
def damage_held(name: str) -> Iterator[None]:
    """Raise FileHeld for a damaged archive; what the disk says, and a want of memory, stay what they are."""
    try:
        yield
    except PACKED_FAULTS as error:
        if is_of_the_disk(error) or is_out_of_memory(error):
            raise
        raise held("file|damaged", name) from error


def is_out_of_memory(error: BaseException) -> bool:
    """Whether unpacking ended for want of memory, which says nothing of the archive."""
    return isinstance(error, MemoryError) or (isinstance(error, zlib.error) and str(error).startswith("Error -4 "))


class SparingFile(io.FileIO):
    """A file that gives no directory larger than any archive for us has; raises TooLarge instead."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _MOST_DIRECTORY_BYTES:
            raise TooLarge
        return super().read(-1 if size is None else size) or b""


class TooLarge(Exception):
    """The directory of an archive names more files than anybody packs."""


def check_archive(path: Path, *, name: str, limits: Limits) -> None:
    """Raise FileHeld for a workbook that cannot be unpacked safely; what it says of its size is not believed."""
    with damage_held(name), zipfile.ZipFile(path) as archive:
        _check_entries(archive.infolist(), name=name, limits=limits)
        total = packed = 0
        for entry in archive.infolist():
            total += _check_part(archive, entry, name=name, limits=limits, allowed=limits.max_unpacked_bytes - total)
            packed += entry.compress_size
            if is_out_of_proportion(total, packed, limits):
                raise held("file|unsafe.workbook_ratio", name, ratio=limits.max_ratio)


def is_out_of_proportion(size: int, packed: int, limits: Limits) -> bool:
    """Whether packed bytes become more than ordinary content ever does."""
    return size > 10 * _BLOCK_BYTES and size > limits.max_ratio * max(packed, 1)


def _check_entries(entries: list[zipfile.ZipInfo], *, name: str, limits: Limits) -> None:
    names = Counter(entry.filename for entry in entries)
    if len(entries) > limits.max_entries:
        raise held("file|unsafe.workbook_parts", name, count=len(entries))
    if len(names) != len(entries):
        raise held("file|unsafe.workbook_twice", name, part=printable(names.most_common(1)[0][0]))
    if any(entry.flag_bits & 1 for entry in entries):
        raise held("file|unsafe.workbook_encrypted", name)
    if any(entry.compress_type not in BOUNDED_PACKINGS for entry in entries):
        raise held("file|unsafe.workbook_packing", name)
    if any(".." in PurePosixPath(entry.filename).parts for entry in entries):
        raise held("file|unsafe.workbook_leads_out", name)
    if any(entry.header_offset < 0 for entry in entries):
        raise held("file|damaged", name)
    by_place = sorted(entries, key=lambda entry: entry.header_offset)
    for entry, following in pairwise(by_place):
        if entry.header_offset + _ENTRY_HEAD_BYTES + entry.compress_size > following.header_offset:
            raise held("file|unsafe.workbook_overlaps", name)


def _check_part(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, *, name: str, limits: Limits, allowed: int) -> int:
    """Unpack one part, keeping nothing; returns its true size."""
    size, tail, part = 0, b"", printable(entry.filename)
    is_xml = entry.filename.lower().endswith((".xml", ".rels", ".vml"))
    with archive.open(entry) as stream:
        while block := stream.read(_BLOCK_BYTES):
            if not size and block.startswith((b"PK\3\4", OLE)):
                raise held("file|unsafe.workbook_nested", name, part=part)
            size += len(block)
            if size > allowed:
                raise held("file|unsafe.workbook_size", name, most=limits.max_unpacked_bytes >> 20)
            if is_out_of_proportion(size, entry.compress_size, limits):
                raise held("file|unsafe.workbook_part_ratio", name, part=part, ratio=limits.max_ratio)
            if is_xml and size == len(block) and not _XML_BEGIN.match(block):
                raise held("file|unsafe.workbook_encoding", name, part=part)
            seam = tail + block[:32]
            may_declare = is_xml and (b"!" in block or b"!" in seam)  # most blocks have none: the fastest way to know
            if may_declare and any(word in block or word in seam for word in _DOCTYPES):
                raise held("file|unsafe.workbook_doctype", name, part=part)
            tail = block[-32:]
    return size


def sniff_format(path: Path) -> str:
    """What the bytes of a file are: csv, xlsx, xls, xlsb, ods, "empty", or a word for what we do not read.

    An archive without its end is "cut", whatever it was to be.
    """
    with path.open("rb") as file:
        head = file.read(4096)
    if not head:
        return "empty"
    if head.startswith(b"PK"):
        return _sniff_archive(path)
    if head.startswith(OLE):
        content = path.read_bytes()
        kinds = {"EncryptedPackage": "encrypted", "_VBA_PROJECT_CUR": "xlsm", "Workbook": "xls", "Book": "xls"}
        return next((kind for stream, kind in kinds.items() if stream.encode("utf-16-le") + b"\0\0" in content), "ole")
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    return _sniff_text(head)


def check_kind(kind: str, *, name: str) -> str:
    """The format to read a file as; raises FileHeld unless its content is one that we read and its name says so."""
    ending = PurePosixPath(name).suffix.lower().lstrip(".")
    if kind == "empty":
        raise held("file|empty.bytes", name)
    if kind == "encrypted":
        raise held("file|encrypted.workbook", name)
    if kind == "xlsm" or ending == "xlsm":
        raise held("file|macros", name)
    expected = FORMATS.get(ending)
    if kind == "cut" and expected in _PACKED:
        raise held("file|damaged", name)
    if kind not in FORMATS.values():
        raise held(f"file|format.{kind}", name)
    if expected is None:
        raise held("file|format.ending" if ending else "file|format.no_ending", name, ending=ending)
    if kind != expected:
        raise held(f"file|disguised.{kind}", name, ending=ending)
    return kind


def _sniff_archive(path: Path) -> str:
    try:
        with SparingFile(path) as file, zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            if any(name.lower().endswith("vbaproject.bin") for name in names):
                return "xlsm"
            if "mimetype" in names and b"opendocument.spreadsheet" in _beginning(archive, "mimetype"):
                manifest = _beginning(archive, _ODS_MANIFEST) if _ODS_MANIFEST in names else b""
                return "encrypted" if b"encryption-data" in manifest else "ods"
    except TooLarge:
        return "crowd"
    except PACKED_FAULTS as error:
        if is_of_the_disk(error):
            raise
        return "cut"  # the directory of an archive stands at its end
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "xl/workbook.bin" in names:
        return "xlsb"
    return "document" if "[Content_Types].xml" in names else "zip"


def _beginning(archive: zipfile.ZipFile, part: str) -> bytes:
    entry = archive.getinfo(part)
    if entry.header_offset < 0:
        raise zipfile.BadZipFile("a part begins before the archive")
    if entry.compress_type not in BOUNDED_PACKINGS:
        return b""  # others are unpacked in one piece, however large; no ordinary program packs these parts so
    with archive.open(part) as stream:
        return stream.read(_PEEKED_BYTES)


def _sniff_text(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "csv"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:200].lower()
    if re.match(rb"<(!doctype html|html|head|table|meta|body|style|div)\b", start):
        return "html"
    if start.startswith(b"<?xml"):
        return "html" if b"<html" in head.lower() else "fods" if b"opendocument.spreadsheet" in head else "xml"
    if _JSON_BEGIN.match(start):
        return "json"
    odd = sum(head.count(byte) for byte in (b"\1", b"\2", b"\3", b"\4", b"\5", b"\6"))
    return "binary" if odd > len(head) // 50 else "csv"
