"""What a file really is by its bytes, and whether its name says so."""

import re
import zipfile
from pathlib import Path, PurePosixPath

from logistics_batch.intake.names import held
from logistics_batch.intake.readers.archives import (
    BOUNDED_PACKINGS,
    OLE,
    PACKED_FAULTS,
    SparingFile,
    TooLarge,
    is_of_the_disk,
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
    expected = _FORMATS.get(ending)
    if kind == "cut" and expected in _PACKED:
        raise held("file|damaged", name)
    if kind not in _FORMATS.values():
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
