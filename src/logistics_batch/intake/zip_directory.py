"""What a zip archive says of itself, looked at before anything opens it.

A small file can name millions of parts, each of which takes memory as soon as the archive is opened, or pack a few
bytes so that they can only be unpacked all at once.
"""

import errno
import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Final

from logistics_batch.errors import FileHeld
from logistics_batch.intake.names import printable

_MOST_DIRECTORY_BYTES = 1 << 20  # a workbook of a thousand parts takes a tenth of it
_END = struct.Struct("<4s4H2LH")  # what an archive ends with
_PEEKED_AT = "mimetype"  # the part that is read to recognise a format

ZIP_FAULTS: Final = (
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
"""What opening a damaged zip archive or reading its parts may raise."""

BOUNDED_PACKINGS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How ordinary archives are packed: a part can be read in pieces, however large it unpacks."""


def is_of_the_disk(error: BaseException) -> bool:
    """Whether one of ZIP_FAULTS tells of the disk and not of the archive; a place that cannot be is the archive's."""
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def ends_plainly(path: Path) -> bool:
    """Whether an archive begins with its first part and ends with its directory: no two readers differ about it."""
    size = path.stat().st_size
    if size < _END.size:
        return False
    with path.open("rb") as file:
        begin = file.read(4)
        file.seek(size - _END.size)
        sign, disk, first_disk, here, entries, length, offset, comment = _END.unpack(file.read())
    whole = offset + length + _END.size == size and here == entries
    return begin == b"PK\3\4" and sign == b"PK\5\6" and whole and not (disk or first_disk or comment)


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


def check_directory(path: Path, *, name: str) -> None:
    """Raise FileHeld for a zip archive, workbooks among them, that would hurt whoever only opens it.

    An ordinary file, and an archive that is cut off, pass: whoever reads them says what is wrong.
    """
    with SparingFile(path) as file:
        if file.read(2) != b"PK":
            return
        try:
            with zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
        except TooLarge:
            raise _unsafe(name, "it names more files than anybody packs") from None
        except ZIP_FAULTS:
            return
    unusual = [each for each in entries if each.compress_type not in BOUNDED_PACKINGS]
    if any(each.filename == _PEEKED_AT for each in unusual):
        raise _unsafe(name, "it is packed in an unusual way")


def _unsafe(name: str, why: str) -> FileHeld:
    return FileHeld(
        f"{printable(name)} is not opened: {why}.",
        rule="file|unsafe",
        remedy="Send the spreadsheet without an archive around it.",
    )
