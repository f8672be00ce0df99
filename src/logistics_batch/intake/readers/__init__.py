"""From a file's path to its sheets: a pure function of the bytes, which runs in a limited process.

What others may use stands here: `read_file`, `identify`, `sniff_format` and the `Limits` of what is read.
"""

import hashlib
from pathlib import Path

from logistics_batch.intake.names import held
from logistics_batch.intake.readers.formats import check_archive, check_kind, sniff_format
from logistics_batch.intake.readers.limits import Limits
from logistics_batch.model.sheet import ReadOptions, Sheet, SourceFile

__all__ = ["Limits", "identify", "read_file", "sniff_format"]


def identify(path: Path, *, name: str) -> SourceFile:
    """Who a file is: its size and the sha256 of its bytes; what these are is not looked at."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return SourceFile(name=name, size=path.stat().st_size, sha256=digest.hexdigest(), format="unknown")


def read_file(path: Path, *, name: str, options: ReadOptions, limits: Limits | None = None) -> tuple[Sheet, ...]:
    """The sheets of a file that may hold the rows: visible, not empty, with a name that fits; a CSV file has one.

    name: the file's own name, which must tell its format. Raises FileHeld with a reason that its sender can act on.
    """
    bounds = limits or Limits()
    if path.stat().st_size > bounds.max_file_bytes:
        raise held("file|too_large", name, most=bounds.max_file_bytes >> 20)
    kind = check_kind(sniff_format(path), name=name)
    if kind == "csv":
        from logistics_batch.intake.readers.csv_files import read_csv  # who only sniffs needs nothing of it

        return (read_csv(path, name=name, options=options, limits=bounds),)
    if kind != "xls":
        check_archive(path, name=name, limits=bounds)
    from logistics_batch.intake.readers.workbooks import read_workbook  # text files need nothing of what it imports

    return read_workbook(path, name=name, kind=kind, options=options, limits=bounds)
