"""NAME.result.csv: one line a row, our answer first, then the source's own columns.

UTF-8 with a byte order mark: without it Excel opens the file in the machine's code page and every Devanagari or Tamil
name turns to rubbish. Lines end as RFC 4180 says. No cell can be run as a formula.

A file without rows gives one line: `row` empty, rule `file`, and the reason; its fate is `held` where the file was
refused, `skipped` where it has a header and nothing below.
"""

import io

import polars as pl

from logistics_batch.model.answer_columns import earlier_columns
from logistics_batch.model.issue import column_letters
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.row_answers import FILE_RULE, NO_ROWS, RESULT_FIELDS, answered
from logistics_batch.paper.safe_text import guarded, guarded_text
from logistics_batch.paper.status_columns import header_texts

_ROWS_A_BLOCK = 20_000


def result_csv(report: FileReport, sheet: Sheet | None, lines: Sheet | None = None) -> bytes:
    """One line a row of the report, in its order; see the module for the form. lines: the second sheet."""
    if report.rows.is_empty():
        return csv_bytes(pl.DataFrame(_file_line(report)))
    frames = []
    for of_sheet, source in zip(report.by_sheet, (sheet, lines), strict=False):
        answers = answered(of_sheet).select(RESULT_FIELDS).cast(pl.String)
        frames.append(answers if source is None else _with_source(answers, of_sheet, source))
    return csv_bytes(pl.concat(frames, how="diagonal"))


def csv_bytes(frame: pl.DataFrame) -> bytes:
    """A frame of texts as guarded CSV, UTF-8 with a byte order mark and CRLF; the column names are guarded too."""
    out = io.BytesIO("\ufeff".encode())
    out.seek(0, io.SEEK_END)
    names = [pl.Series(str(index), [guarded_text(name)]) for index, name in enumerate(frame.columns)]
    pl.DataFrame(names).write_csv(out, include_header=False, line_terminator="\r\n")
    for block in frame.iter_slices(_ROWS_A_BLOCK):
        guarded(block).write_csv(out, include_header=False, line_terminator="\r\n")
    return out.getvalue()


def _with_source(answers: pl.DataFrame, report: FileReport, sheet: Sheet) -> pl.DataFrame:
    headers = header_texts(sheet, report.header_row)
    ours = set(earlier_columns(headers))
    source = [pl.col("row").cast(pl.String)]
    taken: set[str] = set()
    for position, header in enumerate(headers):
        column = sheet.frame.columns[position + 1]
        if position in ours or (not header and not (sheet.frame[column] != "").any()):
            continue
        name = _source_name(header, position, taken)
        taken.add(name)
        source.append(pl.col(column).alias(name))
    return answers.join(sheet.frame.select(source), on="row", how="left", maintain_order="left")


def _source_name(header: str, position: int, taken: set[str]) -> str:
    """The column's name: its header, and its letters where it has none or one that stands before it too."""
    letters = column_letters(position + 1)
    name = f"src:{header}" if header.strip() else f"src:(column {letters})"
    return f"{name} (column {letters})" if name in taken else name


def _file_line(report: FileReport) -> dict[str, str]:
    values = {
        "file": report.file,
        "sheet": report.sheet,
        "fate": (Fate.HELD if report.reason else Fate.SKIPPED).value,
        "rule": FILE_RULE,
        "reason": report.reason or NO_ROWS,
        "fix": report.remedy,
        "run": report.run,
    }
    return {name: values.get(name, "") for name in RESULT_FIELDS}
