"""Limits before parsing: what a file really is, whether its name tells so, and that unpacking it cannot hurt."""

import re
import struct
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from logistics_batch.errors import FileHeld
from logistics_batch.intake.names import printable
from logistics_batch.intake.xml_events import UnsafeXml
from logistics_batch.intake.zip_directory import (
    BOUNDED_PACKINGS,
    ZIP_FAULTS,
    SparingFile,
    TooLarge,
    is_of_the_disk,
    is_out_of_memory,
)

_FORMATS = {
    "csv": "csv",
    "tsv": "csv",
    "txt": "csv",
    "tab": "csv",
    "xlsx": "xlsx",
    "xls": "xls",
    "xlsb": "xlsb",
    "ods": "ods",
}
_PACKED = ("xlsx", "xlsb", "ods")
_WORDS = {
    "csv": "plain text",
    "xlsx": "an .xlsx workbook",
    "xls": "an old .xls workbook",
    "xlsb": "a binary .xlsb workbook",
    "ods": "an .ods spreadsheet",
    "xlsm": "a workbook with macros",
    "encrypted": "a workbook with a password",
    "html": "a web page",
    "xml": "an XML file",
    "fods": "a flat LibreOffice spreadsheet (.fods)",
    "json": "a JSON file",
    "pdf": "a PDF",
    "zip": "a zip archive",
    "cut": "a damaged zip archive",
    "crowd": "an archive of more files than anybody packs",
    "gzip": "a gzip archive",
    "archive": "an archive",
    "picture": "a picture",
    "rtf": "a text document",
    "ole": "an Office document, but no workbook",
    "document": "an Office document, but no workbook",
    "program": "a program",
    "binary": "no spreadsheet and no text",
}
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
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_XLS_BEGIN = b"\x09\x08\x10\0\0\x06\x05\0"  # the first record of a workbook's stream
_XLS_PASSWORD = 0x2F
_BLOCK_BYTES = 1 << 20
_MOST_ELEMENT_BYTES = 32 << 20
_ODS_MANIFEST = "META-INF/manifest.xml"
_ENTRY_HEAD_BYTES = 30  # before the name of each part
_JSON_BEGIN = re.compile(rb'(?:\[\s*)?\{\s*["}]|\[\s*["\[]')
_XML_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?\s*<|\xff\xfe<\0|\xfe\xff\0<|<\0|\0<")
_DOCTYPES = (b"!DOCTYPE", b"!\0D\0O\0C\0T\0Y\0P\0E")  # the second in UTF-16, whichever byte comes first


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a file is read at most; beyond, it is held.

    max_gap_rows: empty rows between two rows with content. max_line_bytes: of a text file, up to the next line break.
    max_ratio: unpacked to packed bytes, of a part of a workbook and of all parts so far.
    """

    max_file_bytes: int = 512 << 20
    max_line_bytes: int = 1 << 20

    max_columns: int = 512
    max_gap_rows: int = 1_000
    max_csv_rows: int = 1_048_576  # as many as a spreadsheet program shows
    max_sheets: int = 100  # visible ones, of a name that fits
    max_workbook_rows: int = 200_000
    max_workbook_cells: int = 25_000_000
    max_cell_characters: int = 32_767
    max_text_characters: int = 256 << 20  # of all cells of a sheet of a workbook together
    max_entries: int = 1_000
    max_unpacked_bytes: int = 512 << 20
    max_ratio: int = 200


def recognise(path: Path) -> str:
    """What the bytes of a file are: csv, xlsx, xls, xlsb, ods, "empty", or a word for what we do not read.

    An archive without its end is "cut", whatever it was to be.
    """
    with path.open("rb") as file:
        head = file.read(4096)
    if not head:
        return "empty"
    if head.startswith(b"PK"):
        return _recognise_archive(path)
    if head.startswith(_OLE):
        return _recognise_ole(path)
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    return _recognise_text(head)


def check_kind(kind: str, *, name: str) -> str:
    """The format to read a file as; raises FileHeld unless its content is one that we read and its name says so."""
    shown = printable(name)
    ending = PurePosixPath(name).suffix.lower().lstrip(".")
    if kind == "empty":
        raise FileHeld(f"{shown} is empty: it has 0 bytes.", rule="file|empty", remedy="Send the file again.")
    if kind == "encrypted":
        remedy = "Open it, remove the password (File > Info > Protect Workbook), save it and send it again."
        raise FileHeld(f"{shown} is protected with a password.", rule="file|encrypted", remedy=remedy)
    if kind == "xlsm" or ending == "xlsm":
        remedy = "Save it as an Excel workbook (.xlsx), which holds no macros, and send that."
        raise FileHeld(
            f"{shown} is a workbook with macros, and those are not taken.", rule="file|macros", remedy=remedy
        )
    expected = _FORMATS.get(ending)
    if kind == "cut" and expected in _PACKED:
        raise damaged(name)
    if kind not in _FORMATS.values() or expected is None:
        what = (
            _WORDS[kind]
            if expected or kind not in _FORMATS.values()
            else f"named .{ending}"
            if ending
            else "without an ending"
        )
        remedy = "Save it as .xlsx, .xls, .xlsb, .ods or .csv from your spreadsheet program and send that."
        raise FileHeld(f"{shown} cannot be read: it is {what}.", rule="file|format", remedy=remedy)
    if kind != expected:
        raise FileHeld(
            f"{shown} is named .{ending}, but its content is {_WORDS[kind]}.",
            rule="file|disguised",
            remedy=f"Rename it to end in .{kind}, or save it as a real .{ending} from your spreadsheet program.",
        )
    return kind


def check_archive(path: Path, *, name: str, limits: Limits) -> None:
    """Raise FileHeld for a workbook that cannot be unpacked safely; what it says of its size is not believed."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_entries(archive.infolist(), name=name, limits=limits)
            total = packed = 0
            for entry in archive.infolist():
                total += _check_part(
                    archive, entry, name=name, limits=limits, allowed=limits.max_unpacked_bytes - total
                )
                packed += entry.compress_size
                if is_out_of_proportion(total, packed, limits):
                    raise unsafe(name, f"its parts together unpack to over {limits.max_ratio} times its size")
    except ZIP_FAULTS as error:
        if is_of_the_disk(error) or is_out_of_memory(error):
            raise
        raise damaged(name) from error


def check_size(path: Path, *, name: str, limits: Limits) -> None:
    """Raise FileHeld for a file that is larger than any that people fill."""
    if path.stat().st_size > limits.max_file_bytes:
        raise FileHeld(
            f"{printable(name)} is larger than {limits.max_file_bytes >> 20} MB.",
            rule="file|too_large",
            remedy="Split it into several files.",
        )


def is_out_of_proportion(size: int, packed: int, limits: Limits) -> bool:
    """Whether packed bytes become more than ordinary content ever does."""
    return size > 10 * _BLOCK_BYTES and size > limits.max_ratio * max(packed, 1)


def damaged(name: str) -> FileHeld:
    """A file whose beginning is right, but which cannot be read to its end."""
    return FileHeld(
        f"{printable(name)} is damaged or did not arrive completely.",
        rule="file|damaged",
        remedy="Send it again and wait until it is uploaded; if that does not help, save it again in your spreadsheet "
        "program and send that.",
    )


def part_blocks(archive: zipfile.ZipFile, part: str, *, end: bytes, or_before: bytes = b"") -> Iterator[bytes]:
    """The content of a part in blocks of some megabytes, each cut behind an `end` tag, so that no element is torn.

    or_before: where no such tag stands, the beginning of an element before which it may be cut as well: empty elements
    have no end tag. Raises UnsafeXml where an element is as large as none is.
    """
    rest = b""
    with archive.open(part) as stream:
        while block := stream.read(4 * _BLOCK_BYTES):
            block = rest + block
            cut = block.rfind(end) + len(end)
            if cut < len(end):
                cut = block.rfind(or_before) if or_before else 0
            if cut <= 0:
                rest = block
                if len(rest) > _MOST_ELEMENT_BYTES:
                    raise UnsafeXml(f"one element of it is larger than {_MOST_ELEMENT_BYTES >> 20} MB")
                continue
            yield block[:cut]
            rest = block[cut:]
    yield rest


def _recognise_archive(path: Path) -> str:
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
    except ZIP_FAULTS as error:
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
        return stream.read(_BLOCK_BYTES)


def _recognise_ole(path: Path) -> str:
    content = path.read_bytes()
    kinds = {"EncryptedPackage": "encrypted", "_VBA_PROJECT_CUR": "xlsm", "Workbook": "xls", "Book": "xls"}
    found = next((kind for stream, kind in kinds.items() if stream.encode("utf-16-le") + b"\0\0" in content), "ole")
    return "encrypted" if found == "xls" and _has_password(content) else found


def _has_password(content: bytes) -> bool:
    """Whether the record that tells of a password stands at the beginning of an .xls workbook's stream."""
    place = content.find(_XLS_BEGIN)
    for _ in range(5 if place >= 0 else 0):
        if place + 4 > len(content):
            break
        kind, length = struct.unpack_from("<HH", content, place)
        if kind == _XLS_PASSWORD:
            return True
        place += 4 + length
    return False


def _recognise_text(head: bytes) -> str:
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


def _check_entries(entries: list[zipfile.ZipInfo], *, name: str, limits: Limits) -> None:
    names = Counter(entry.filename for entry in entries)
    if len(entries) > limits.max_entries:
        raise unsafe(name, f"it consists of {len(entries):,} parts")
    if len(names) != len(entries):
        raise unsafe(name, f"the part {printable(names.most_common(1)[0][0])} stands in it twice")
    if any(entry.flag_bits & 1 for entry in entries):
        raise unsafe(name, "parts of it are encrypted")
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise unsafe(name, "parts of it are packed in an unusual way")
    if any(".." in PurePosixPath(entry.filename).parts for entry in entries):
        raise unsafe(name, "the name of a part leads out of it")
    if any(entry.header_offset < 0 for entry in entries):
        raise damaged(name)
    by_place = sorted(entries, key=lambda entry: entry.header_offset)
    for entry, following in pairwise(by_place):
        if entry.header_offset + _ENTRY_HEAD_BYTES + entry.compress_size > following.header_offset:
            raise unsafe(name, "parts of it overlap")


def _check_part(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, *, name: str, limits: Limits, allowed: int) -> int:
    """Unpack one part, keeping nothing; returns its true size."""
    size = 0
    tail = b""
    is_xml = entry.filename.lower().endswith((".xml", ".rels", ".vml"))
    with archive.open(entry) as stream:
        while block := stream.read(_BLOCK_BYTES):
            if not size and block.startswith((b"PK\3\4", _OLE)):
                raise unsafe(name, f"another file is packed into it ({printable(entry.filename)})")
            size += len(block)
            if size > allowed:
                raise unsafe(name, f"unpacked it is larger than {limits.max_unpacked_bytes >> 20} MB")
            if is_out_of_proportion(size, entry.compress_size, limits):
                raise unsafe(
                    name, f"the part {printable(entry.filename)} unpacks to over {limits.max_ratio} times its size"
                )
            if is_xml and size == len(block) and not _XML_BEGIN.match(block):
                raise unsafe(name, f"the part {printable(entry.filename)} is written in an unusual encoding")
            seam = tail + block[:32]
            may_declare = is_xml and (b"!" in block or b"!" in seam)  # most blocks have none: the fastest way to know
            if may_declare and any(word in block or word in seam for word in _DOCTYPES):
                raise unsafe(name, f"the part {printable(entry.filename)} declares a document type")
            tail = block[-32:]
    return size


def unsafe(name: str, why: str) -> FileHeld:
    """A workbook that would hurt whoever opens it; why: what is wrong with it."""
    return FileHeld(
        f"{printable(name)} is not opened: {why}, as no ordinary workbook does.",
        rule="file|unsafe",
        remedy="Copy the rows into a new workbook, save it as .xlsx and send that.",
    )
