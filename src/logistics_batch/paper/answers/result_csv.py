"""NAME.result.csv: one line a row, our answer first, then the source's own columns.

UTF-8 with a byte order mark: without it Excel opens the file in the machine's code page and every Devanagari or Tamil
name turns to rubbish. Lines end as RFC 4180 says. No cell can be run as a formula.

A file without rows gives one line: `row` empty, rule `file`, and the reason; its fate is `held` where the file was
refused, `skipped` where it has a header and nothing below.
"""

import io
from collections.abc import Collection, Iterable, Sequence

import polars as pl

from logistics_batch import messages
from logistics_batch.model.answers import earlier_columns
from logistics_batch.model.issue import column_letters
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.answers.row_answers import FILE_RULE, RESULT_FIELDS, answered_in_blocks, header_texts
from logistics_batch.paper.safe_text import guarded

_ROWS_A_BLOCK = 5000
_OUR_CHARACTERS = 150  # in a line, about


def result_csv(report: FileReport, sheet: Sheet | None, lines: Sheet | None = None) -> bytes:
    """One line a row of the report, in its order; see the module for the form. lines: the second sheet."""
    if report.rows.is_empty():
        return csv_bytes(pl.DataFrame(_file_line(report)))
    parts = [
        (of_sheet, _source(source, of_sheet)) for of_sheet, source in zip(report.by_sheet, (sheet, lines), strict=False)
    ]
    names = list(dict.fromkeys([*RESULT_FIELDS, *(name for _, source in parts for name in source.columns[1:])]))
    blocks = (
        block.join(_between(source, block["row"]), on="row", how="left", maintain_order="left").cast(pl.String)
        for of_sheet, source in parts
        for block in (answers.select(RESULT_FIELDS) for answers in answered_in_blocks(of_sheet))
    )
    return _written(names, blocks, room=report.size + _OUR_CHARACTERS * report.rows.height)


def csv_bytes(frame: pl.DataFrame) -> bytes:
    """A frame of texts as guarded CSV, UTF-8 with a byte order mark and CRLF; the column names are guarded too."""
    return _written(frame.columns, frame.iter_slices(_ROWS_A_BLOCK))


def _written(names: Sequence[str], blocks: Iterable[pl.DataFrame], *, room: int = 0) -> bytes:
    """CSV of blocks of rows, each with some of the columns. room: how many bytes it will about take."""
    out = io.BytesIO(bytes(room))
    out.write("\ufeff".encode())
    header = guarded(pl.DataFrame({str(index): [name] for index, name in enumerate(names)}))
    header.write_csv(out, include_header=False, line_terminator="\r\n")
    for block in blocks:
        missing = (pl.lit(None, dtype=pl.String).alias(name) for name in names if name not in block.columns)
        whole = guarded(block).with_columns(missing).select(names)
        whole.write_csv(out, include_header=False, line_terminator="\r\n")
    out.truncate()
    return out.getvalue()


def _source(sheet: Sheet | None, report: FileReport) -> pl.DataFrame:
    """The source's own columns by their names here, beside `row`."""
    if sheet is None:
        return pl.DataFrame(schema={"row": pl.UInt32})
    headers = header_texts(sheet, report.header_row)
    ours = set(earlier_columns(headers))
    names: dict[str, str] = {}
    for position, header in enumerate(headers):
        column = sheet.frame.columns[position + 1]
        if position not in ours and (header or (sheet.frame[column] != "").any()):
            names[_source_name(header, position, names)] = column
    return sheet.frame.select("row", **names)


def _between(source: pl.DataFrame, rows: pl.Series) -> pl.DataFrame:
    """The source from the first of some rows to the last."""
    return source.filter(pl.col("row").is_between(rows.min(), rows.max()))


def _source_name(header: str, position: int, taken: Collection[str]) -> str:
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
        "reason": report.reason or messages.reason("file.no_rows", {}),
        "fix": report.remedy,
        "run": report.run,
    }
    return {name: values.get(name, "") for name in RESULT_FIELDS}
