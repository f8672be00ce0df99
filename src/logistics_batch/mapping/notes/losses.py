"""What reading has taken off numbers or rounded, and zeros that cells may have lost: told in notes, with the rows."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet, marked_rows
from logistics_batch.mapping.fields.fields import Field
from logistics_batch.mapping.fields.values.verbs import verb_of
from logistics_batch.mapping.rows.cells import ColumnKind, name_of
from logistics_batch.mapping.rows.column_kinds import column_kinds
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import CellFact

_PLACES: Final = {"money": ("two", 2), **dict.fromkeys(("decimal", "percent", "unit"), ("nine", 9))}  # kept decimals
_READ_AS: Final = {Form.MONEY: "money", Form.DECIMAL: "decimal", Form.PERCENT: "percent", Form.DEGREES: "decimal"}
_COLUMNS_ON_THEIR_OWN: Final = 3
_DRESSED: Final = r"[^0-9.,\-]|,[0-9]+,|^0[0-9]"
_LED_BY_ZERO: Final = "^0[0-9]+$"
_WITH_DECIMALS: Final = r"^[0-9]+\.[0-9]+$"


def losses(table: CompiledSheet) -> Iterator[Issue]:
    """The notes: numbers rounded or written with more than digits, and identities that may lack leading zeros."""
    yield from _numbers(table)
    yield from _lost_zeros(table)


def _numbers(table: CompiledSheet) -> Iterator[Issue]:
    fields = {field.column: field for field in (*table.line, *table.header) if field.column is not None}
    dressed: dict[int, tuple[Field, pl.Series]] = {}
    for column, field in fields.items():
        verb, cell, lines = _verb(table, field), pl.col(name_of(column)), table.grouped.lines
        if verb is None or name_of(column) not in lines.columns:
            continue
        words, places = _PLACES[verb]
        beyond = f"[0-9]{{{places}}}[0-9]*[1-9]"
        if not lines.select(cell.str.contains(rf"[.,]{beyond}|{_DRESSED}").any()).item():
            continue  # as of most columns
        if (rows := _read(table, field, _has_decimals(table, column, beyond))).len():
            yield _of_numbers(table, "rounded", field, rows, places=words)
        if (rows := _read(table, field, _is_dressed(table, cell))).len():
            dressed[column] = field, rows
    yield from _undressed(table, list(dressed.values()))


def _undressed(table: CompiledSheet, found: Sequence[tuple[Field, pl.Series]]) -> Iterator[Issue]:
    """What was taken off numbers, column by column, or of many columns together."""
    if len(found) > _COLUMNS_ON_THEIR_OWN:
        names = [table.text_of(field.column) for field, _ in found]
        cells = sum(rows.n_unique() for _, rows in found)
        yield Issue.of("taken_off.columns", count=cells, columns=names, example=_example(table, *found[0]))
        return
    for field, rows in found:
        yield _of_numbers(table, "taken_off", field, rows)


def _of_numbers(table: CompiledSheet, code: str, field: Field, rows: pl.Series, **values: Any) -> Issue:
    """A note on numbers of a column, with the first as an example."""
    places, example = table.sheet.physical_rows(rows), _example(table, field, rows)
    return Issue.of(code, column=table.text_of(field.column), rows=places, example=example, **values)


def _example(table: CompiledSheet, field: Field, rows: pl.Series) -> list[Any]:
    """What the first of some cells was and what it is now, as messages."""
    cell = pl.col(name_of(field.column or 1))
    frame = table.grouped.lines if field in table.line else table.grouped.heads
    first = frame.filter(pl.col("row") == rows.min()).select(cell, field.value_name)
    return [["number_was", dict(zip(("was", "now"), first.row(0), strict=True))]] if first.height else []


def _read(table: CompiledSheet, field: Field, lost: pl.Expr) -> pl.Series:
    """The rows that have lost something, of those that are read at all."""
    return table.rows_where(lost.fill_null(value=False) & ~field.is_unread, field)


def _verb(table: CompiledSheet, field: Field) -> str | None:
    """By which verb a field's cell is read as a number with decimals, None if by none."""
    if field.spec.source not in ("from", "first"):
        return None
    verbs = [verb_of(step).name for step in field.spec.read or ()]
    natural = None if verbs else _READ_AS.get(form_of(field.target, table.mapping.operation))
    return next((verb for verb in verbs if verb in _PLACES), natural)


def _has_decimals(table: CompiledSheet, column: int, pattern: str) -> pl.Expr:
    """Whether decimals of a column's cells fit a pattern; a true number has a full stop, whatever texts have."""
    cell = pl.col(name_of(column))
    with_point, with_comma = (cell.str.contains(f"(?:^|[^A-Za-z]){sign}{pattern}") for sign in (r"\.", ","))
    if table.mapping.spec.sheet.decimal == ".":
        return with_point
    is_number = pl.col("row").is_in(marked_rows(table.sheet, column, (CellFact.NUMBER,)).implode())
    return pl.when(is_number).then(with_point).otherwise(with_comma)


def _is_dressed(table: CompiledSheet, cell: pl.Expr) -> pl.Expr:
    """Whether a number is written with more than digits, a minus and its decimal mark."""
    groups = "," if table.mapping.spec.sheet.decimal == "." else r"\..*\.|\..*,"
    return cell.str.contains(rf"[^0-9.,\-]|^0[0-9]|{groups}")


def _lost_zeros(table: CompiledSheet) -> Iterator[Issue]:
    """Numbers among codes with leading zeros or decimals: the program takes zeros off where a cell is no text."""
    for column, use in column_kinds(table.mapping, table.bound).items():
        name = name_of(column)
        if use not in (ColumnKind.IDENTITY, ColumnKind.GOODS) or name not in table.grouped.lines.columns:
            continue
        numbers = marked_rows(table.sheet, column, (CellFact.NUMBER,))
        if numbers.is_empty():
            continue
        cells = table.grouped.lines.select(
            "row", pl.col(name).alias("cell"), number=pl.col("row").is_in(numbers.implode())
        )
        parted = pl.col("cell").str.contains(_WITH_DECIMALS)
        if (whole := cells.filter("number", ~parted)["row"]).len() and (others := cells.filter(parted)["row"]).len():
            yield _of_codes(table, "lost_zeros.decimals", column, whole, others)
        led = cells.filter(~pl.col("number") & pl.col("cell").str.contains(_LED_BY_ZERO))
        longest = led["cell"].str.len_bytes().max() or 0
        is_short = pl.col("number") & (pl.col("cell").str.len_bytes() < longest) & ~pl.col("cell").str.starts_with("0")
        if (short := cells.filter(is_short)["row"]).len():
            yield _of_codes(table, "lost_zeros.leading", column, short, led["row"])


def _of_codes(table: CompiledSheet, code: str, column: int, rows: pl.Series, others: pl.Series) -> Issue:
    """A note on codes of a column, some of which have what others lack."""
    here, there = table.sheet.physical_rows(rows), table.sheet.physical_rows(others)
    return Issue.of(code, column=table.bound.texts[column - 1].strip(), rows=here, others=there)
