"""Fix files as clerks use them: read, corrected, dropped again."""

import io
from pathlib import Path

from openpyxl import load_workbook


def corrected(content: bytes | Path, changes: dict[str, str]) -> bytes:
    """The workbook with other texts in the cells that hold these, as a spreadsheet program saves it."""
    workbook = load_workbook(io.BytesIO(content) if isinstance(content, bytes) else content)
    touched = 0
    for line in workbook.worksheets[0].iter_rows(min_col=3):  # before stand our reason and remedy
        for cell in line:
            if str(cell.value) in changes:
                cell.value, touched = changes[str(cell.value)], touched + 1
    assert touched, f"nothing of {sorted(changes)} stands in it"
    saved = io.BytesIO()
    workbook.save(saved)
    return saved.getvalue()


def lines_of(content: bytes | Path) -> list[dict[str, str]]:
    """Its rows by the user's column names and ours, texts as they are shown."""
    workbook = load_workbook(io.BytesIO(content) if isinstance(content, bytes) else content)
    header, *rows = workbook.worksheets[0].iter_rows(values_only=True)
    texts = [["" if value is None else str(value) for value in row] for row in rows]
    return [dict(zip(map(str, header), row, strict=True)) for row in texts]
