"""Whether a file that came has its end: an upload that stopped half-way may lie still for a while."""

import os
import struct
from pathlib import Path

_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_END = b"PK\x05\x06"
_ZIP_END_BYTES = 22
_LONGEST_COMMENT_BYTES = 65_535
_TEXT_ENDINGS = (".csv", ".tsv", ".txt")
_LINE_ENDS = (b"\n", b"\r", b"\n\x00", b"\r\x00")  # the last two in UTF-16


def why_unclosed(path: Path, *, name: str) -> str:
    """Why a file may be only the beginning of what was uploaded, "" if it has its end.

    A workbook or another zip archive ends with its directory's record; the last line of a text may lack its line end
    although nothing is missing. `name`: the file's own, for its ending.
    """
    size = path.stat().st_size
    if not size:
        return ""
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(max(0, size - _ZIP_END_BYTES - _LONGEST_COMMENT_BYTES), os.SEEK_SET)
        tail = file.read()
    if start in _ZIP_STARTS:
        return "" if _has_zip_end(tail) else "it begins as a workbook or archive, and its end is missing"
    if name.lower().endswith(_TEXT_ENDINGS) and not tail.endswith(_LINE_ENDS):
        return "its last line does not end"
    return ""


def _has_zip_end(tail: bytes) -> bool:
    """Whether the record that ends a zip archive is there with all of its comment, and nothing behind it."""
    at = tail.rfind(_ZIP_END)
    while at >= 0:
        if len(tail) - at >= _ZIP_END_BYTES:
            (comment,) = struct.unpack_from("<H", tail, at + _ZIP_END_BYTES - 2)
            if at + _ZIP_END_BYTES + comment == len(tail):
                return True
        at = tail.rfind(_ZIP_END, 0, at)
    return False
