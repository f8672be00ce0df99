"""Rows of one document that are equal in every cell: pasted twice they double the goods, and nothing looks wrong."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.header import Header
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet

_CELL: Final = re.compile(r"c[0-9]+")
_MOST_ROWS: Final = 20_000
_MOST_COLUMNS: Final = 100
_ONE: Final = ("1", "01", "001", "1.0", "1.")


def equal_rows(lines: pl.DataFrame, sheet: Sheet, header: Header) -> tuple[pl.DataFrame, list[str]]:
    """Of lines of documents (doc, row, c1, c2 …) those with an equal one in another row of their document (doc, row),
    and the headers of columns that were left aside.

    Cells in use, which the lines hold, are compared clean and filled down, the others of the sheet as they stand; our
    own result columns are not, nor one that only counts the rows.
    """
    used = [name for name in lines.columns if _CELL.fullmatch(name)]
    suspects = _alike(lines.select("doc", "row", *used), ["doc", *used])
    if suspects.is_empty():
        return suspects.select("doc", "row"), []
    skipped = {*used, *(name_of(number) for number in header.own)}
    names = [str(number) for number in range(1, sheet.width + 1) if name_of(number) not in skipped]
    there = sheet.frame.filter(pl.col("row").is_in(suspects["row"].implode()))
    others = there.select("row", *(pl.col(name).str.strip_chars() for name in names))
    aside = _counting_columns(sheet.frame, lines, [name for name in names if _text(header, name)])
    compared = suspects.join(others, on="row", how="left", maintain_order="left")
    equal = _alike(compared, ["doc", *used, *(name for name in names if name not in aside)])
    return equal.select("doc", "row"), [_text(header, name) for name in aside]


def _text(header: Header, name: str) -> str:
    return header.texts[int(name) - 1].strip() if int(name) <= len(header.texts) else ""


def _alike(lines: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The lines that are equal to another one in some columns; few are, and only those are compared cell by cell."""
    alike = lines.filter(lines.select(names).hash_rows().is_duplicated())
    return alike.filter(pl.struct(names).is_duplicated())


def note_of_equal_rows(table: CompiledSheet) -> Iterator[Issue]:
    """A note on rows that may have been pasted twice."""
    if table.mapping.spec.checks.equal_rows == "note":
        found, aside = _rows_of_documents(table)
        rows = sorted(row for numbers in found.values() for row in numbers)
        if rows:
            yield Issue.of("equal_rows.note_counted" if aside else "equal_rows.note", rows=rows, aside=aside)


def documents_with_equal_rows(table: CompiledSheet) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The documents that are not sent for it, where the mapping wants so: doc, code, values."""
    if table.mapping.spec.checks.equal_rows == "block":
        found, aside = _rows_of_documents(table)
        code = "equal rows.counted" if aside else "equal rows"
        yield from ((doc, code, {"rows": rows, "aside": aside}) for doc, rows in found.items())


def _rows_of_documents(table: CompiledSheet) -> tuple[dict[int, list[int]], list[str]]:
    """For each document with equal rows their physical numbers; items twice in one cell are no rows pasted twice."""
    lines = table.lines
    each_has_one = lines.is_empty() or lines.height == int(lines["doc"][-1]) + 1
    if not table.line or each_has_one or table.mapping.operation is Operation.RECEIPT_READ:
        return {}, []
    equal, aside = equal_rows(lines, table.sheet, table.bound)
    found = equal.group_by("doc", maintain_order=True).agg("row")
    rows = {doc: table.sheet.physical_rows(numbers) for doc, numbers in found.iter_rows()}
    return {doc: numbers for doc, numbers in rows.items() if len(numbers) > 1}, aside


def _counting_columns(frame: pl.DataFrame, rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Of some columns of a sheet's frame those that count its rows of data, all of them or those of each document.

    rows: the rows of data by document: doc, row. Every number must be there: a column of anything else, as of boxes or
    batches, tells rows apart. Rows that are no data may be counted or not. Of a large sheet none is looked for.
    """
    if not 1 < rows.height <= _MOST_ROWS or not names:
        return []
    ordered = rows.select("doc", "row").unique("row", keep="first").sort("row")
    begin = frame.filter(pl.col("row") == ordered["row"][0]).select(names).row(0)
    hopeful = [name for name, text in zip(names, begin, strict=True) if (text or "").strip() in _ONE][:_MOST_COLUMNS]
    cells = frame.select("row", *hopeful).filter(pl.col("row").is_in(ordered["row"].implode()))
    return [name for name in hopeful if _counts(ordered.with_columns(_number(cells[name])))]


def _number(cells: pl.Series) -> pl.Series:
    return cells.str.strip_chars().cast(pl.Float64, strict=False).rename("number")


def _counts(rows: pl.DataFrame) -> bool:
    """Whether the numbers go on from row to row, or from row to row of each document."""
    if rows["number"].null_count():
        return False
    step, apart = pl.col("number").diff(), pl.col("row").cast(pl.Float64).diff()
    goes_on = (step == 1) | (step == apart)
    begins = pl.col("number") == 1
    same_document = pl.col("doc") == pl.col("doc").shift(1)
    through_the_sheet = rows.select(goes_on.fill_null(begins).all()).item()
    through_each = rows.sort("doc", "row").select(pl.when(same_document).then(goes_on).otherwise(begins).all()).item()
    return bool(through_the_sheet or through_each)
