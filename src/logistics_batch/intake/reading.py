"""From a file's path to its sheets: a pure function of the bytes, which can as well run in a limited process."""

import hashlib
from pathlib import Path

from logistics_batch.intake.csv_reader import read_csv
from logistics_batch.intake.guards import Limits, check_archive, check_kind, check_size, recognise
from logistics_batch.model.sheet import ReadOptions, Sheet, SourceFile


def identify(path: Path, *, name: str) -> SourceFile:
    """Who a file is: its size, the sha256 of its bytes, and what these are, whatever its name says.

    `format` is csv, xlsx, xls, xlsb or ods, or another word ("html", "pdf", "encrypted", "empty" …) where `read_file`
    will hold the file.
    """
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return SourceFile(name=name, size=path.stat().st_size, sha256=digest.hexdigest(), format=recognise(path))


def read_file(path: Path, *, name: str, options: ReadOptions, limits: Limits | None = None) -> tuple[Sheet, ...]:
    """The sheets of a file that may hold the rows: visible, not empty, with a name that fits; a CSV file has one.

    name: the file's own name, which must tell its format. Raises FileHeld with a reason that its sender can act on.
    """
    bounds = limits or Limits()
    check_size(path, name=name, limits=bounds)
    kind = check_kind(recognise(path), name=name)
    if kind == "csv":
        return (read_csv(path, name=name, options=options, limits=bounds),)
    if kind != "xls":
        check_archive(path, name=name, limits=bounds)
    from logistics_batch.intake.excel_reader import read_workbook  # takes a while to import; text files need none of it

    return read_workbook(path, name=name, kind=kind, options=options, limits=bounds)
