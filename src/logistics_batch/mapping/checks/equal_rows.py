"""Rows of one document that are equal in every cell: pasted twice they double the goods, and nothing looks wrong."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.header import Header
from logistics_batch.messages.words import listed
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet

_CELL: Final = re.compile(r"c[0-9]+")
_MOST_ROWS: Final = 20_000
_MOST_COLUMNS: Final = 100
_ONE: Final = ("1", "01", "001", "1.0", "1.")


def equal_rows(table: CompiledSheet) -> tuple[pl.DataFrame, list[str]]:
    """Lines with an equal one in another row of their document (doc, row), and the columns that were left aside.

    Cells in use are compared clean and filled down, the others as they stand; our own result columns are not, nor one
    that only counts the rows.
    """
    lines = table.grouped.lines
    values = [field.value_name for field in table.line]
    each_has_one = lines.is_empty() or lines.height == int(lines["doc"][-1]) + 1
    if not values or each_has_one or table.mapping.operation is Operation.RECEIPT_READ:
        return lines.select("doc", "row").clear(), []
    suspects = _alike(lines, ["doc", *values])
    cells = [name for name in suspects.columns if _CELL.fullmatch(name)]
    own = {name_of(number) for number in table.bound.own}
    unused = {name: name_of(int(name)) for name in table.sheet.frame.columns if name != "row"}
    unused = {name: cell for name, cell in unused.items() if cell not in {*cells, *own}}
    their_own = table.sheet.frame.filter(pl.col("row").is_in(suspects["row"].implode()))
    others = their_own.select("row", *(pl.col(name).str.strip_chars().alias(unused[name]) for name in unused))
    compared = suspects.select("doc", "row", *cells).join(others, on="row", how="left", maintain_order="left")
    named = [str(number) for number, text in enumerate(table.bound.texts, 1) if text.strip() and str(number) in unused]
    aside = counting_columns(table.sheet.frame, lines, named) if _alike(suspects, ["doc", *cells]).height else []
    told_apart_by = [cell for name, cell in unused.items() if name not in aside]
    return _alike(compared, ["doc", *cells, *told_apart_by]).select("doc", "row"), _headers(table.bound.texts, aside)


def _headers(texts: Sequence[str], columns: Sequence[str]) -> list[str]:
    return [texts[int(column) - 1].strip() for column in columns]


def _alike(lines: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The lines that are equal to another one in some columns; few are, and only those are compared cell by cell."""
    digest = pl.lit(0, dtype=pl.UInt64)
    for seed, name in enumerate(names):
        digest = digest ^ pl.col(name).hash(seed)
    digests = lines.lazy().select(digest.alias("digest")).collect(engine="in-memory")["digest"]
    ordered = digests.sort()
    twice = ordered.filter(ordered == ordered.shift(1))
    return lines.filter(digests.is_in(twice.implode())).filter(pl.struct(names).is_duplicated())


def in_cells(aside: Sequence[str]) -> str:
    """In which cells rows are equal, in words."""
    return f"in every cell but {listed(aside)}, which only counts the rows" if aside else "in every cell"


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
    equal, aside = equal_rows(table)
    found = equal.group_by("doc", maintain_order=True).agg("row")
    rows = {doc: table.sheet.physical_rows(numbers) for doc, numbers in found.iter_rows()}
    return {doc: numbers for doc, numbers in rows.items() if len(numbers) > 1}, aside


def equal_lines(
    sheet: Sheet, header: Header, keys: Mapping[int, tuple[str, ...]], *, filled: Mapping[int, Mapping[int, str]]
) -> tuple[dict[tuple[str, ...], list[int]], list[str]]:
    """Of lines on a sheet of their own those that are equal in every cell, by their key; and columns left aside.

    keys: of the rows that are data, by number. filled: cells filled down, by column and row.
    """
    frame = sheet.frame.filter(pl.col("row").is_in([row for row, key in keys.items() if any(key)]))
    cells = [str(column) for column in range(1, sheet.width + 1) if column not in header.own]
    frame = frame.select("row", *(pl.col(name).str.strip_chars() for name in cells)).with_columns(
        pl.col("row")
        .replace_strict(dict(values), default=pl.col(str(column)), return_dtype=pl.String)
        .alias(str(column))
        for column, values in filled.items()
        if values and str(column) in cells
    )
    found: dict[tuple[str, ...], list[int]] = {}
    read = {str(column) for column in header.columns.values()}
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
    aside: list[str] = []
    if _alike(frame, sorted(read & set(cells))).height:
        docs = pl.Series("doc", [numbers[keys[row]] for row in frame["row"]], dtype=pl.UInt32)
        titled = [str(number) for number, text in enumerate(header.texts, 1) if text.strip()]
        unread = [name for name in titled if name in cells and name not in read]
        aside = counting_columns(sheet.frame, frame.select("row", docs), unread)
    for row in _alike(frame, [name for name in cells if name not in aside])["row"] if cells else ():
        found.setdefault(keys[row], []).append(row)
    return found, _headers(header.texts, aside)


def counting_columns(frame: pl.DataFrame, rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
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
