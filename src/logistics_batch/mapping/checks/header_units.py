"""Headers that say another unit, currency or meaning than the mapping: the same digits would be another value."""

import re
from collections.abc import Iterator
from typing import Final

import polars as pl

from logistics_batch.mapping.checks.checks import file_held
from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.values import dates
from logistics_batch.mapping.fields.values.numbers import contradicts, meant_by
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.spec.model import DateRead, FieldSpec
from logistics_batch.mapping.spec.names import ColumnName, Measure, differently_bracketed, measure_of

_DAY_FIRST: Final = measure_of("ddmmyyyy")
_PIECES: Final = measure_of("pcs")


def hold_other_units(table: CompiledSheet) -> None:
    """Refuse a file with a column whose header contradicts what the mapping takes its values for. Raises FileHeld."""
    _hold_other_brackets(table)
    for place, field, names, column in _read_columns(table):
        text = _text(table, column)
        said, own = ColumnName.of(text).measure, _measures(names)
        if said is None or said in own:
            continue
        meant = meant_by(place, field, table.mapping.operation)
        named = next((each for each in own if each.kind == said.kind), None)
        if said.kind == "date":
            named = named or _declared_order(table, field, column, said)
        elif meant is not None and contradicts(said, meant):
            named = meant
        if named is not None:
            raise file_held(
                f'Column "{text}" is in {said.name} by its header, and the mapping reads it as {named.name}.',
                rule="header",
                remedy=_remedy(text, said, meant),
                table=table,
            )


def _remedy(text: str, said: Measure, meant: Measure | None) -> str:
    wanted = meant.name if meant is not None and meant.kind == said.kind else ""
    how = f'`{{from: "{text}", read: {{unit: {said.name} -> {wanted}}}}}`' if said.kind in _CONVERTED and wanted else ""
    return f"If the header is right, the mapping must say so{': ' + how if how else ''}; else correct the header."


_CONVERTED: Final = ("weight", "length", "volume")


def _hold_other_brackets(table: CompiledSheet) -> None:
    """Refuse a file with a column that is the mapping's but for what stands in brackets, and no column without."""
    for group in table.mapping.groups:
        for text in table.bound.unknown if table.bound.column(group) is None else ():
            header = ColumnName.of(text)
            for name in group:
                wanted = ColumnName.of(name)
                if header.short == wanted.short and differently_bracketed(header, wanted):
                    raise file_held(
                        f'The mapping reads the column "{name}", and the file has "{text}": they may mean two things.',
                        rule="header",
                        remedy=f'If they mean the same, add "{text}" to the names of the column in the mapping; if '
                        "the file's column is not wanted, name it under `ignore`.",
                        table=table,
                    )


def units_taken_over(table: CompiledSheet) -> list[str]:
    """Notes on headers that name a unit of which the mapping does not speak, as "Qty (Box)" for "Qty"."""
    found: dict[str, None] = {}
    for place, field, names, column in _read_columns(table):
        said = ColumnName.of(_text(table, column)).measure
        if said is None or said.kind == "date" or said == _PIECES or place.startswith("keep."):
            continue
        if said not in _measures(names) and said != meant_by(place, field, table.mapping.operation):
            name = next(name for name in names if table.bound.columns.get(name) == column)
            found[f'Column "{_text(table, column)}" was read as "{name}" of the mapping; check the unit.'] = None
    return list(found)


def _read_columns(table: CompiledSheet) -> Iterator[tuple[str, FieldSpec, list[str], int]]:
    """The columns whose own values fields are made of: place, field, names, number."""
    for place, field in table.mapping.spec.everything.items():
        single = [names for names in (field.from_, field.first, field.sum, field.less) if names is not None]
        for names in (*single, *field.plus, *field.minus):
            column = table.bound.column(names)
            if column is not None:
                yield place, field, names, column


def _measures(names: list[str]) -> list[Measure]:
    return [measure for name in names if (measure := ColumnName.of(name).measure) is not None]


def _text(table: CompiledSheet, column: int) -> str:
    return " ".join(table.bound.texts[column - 1].split())


def _declared_order(table: CompiledSheet, field: FieldSpec, column: int, said: Measure) -> Measure | None:
    """The order of day and month that the mapping declares, if dates of the column depend on it and none proves it."""
    formats = [each for step in field.read or () if isinstance(step, DateRead) for each in step.date]
    orders = {tuple(part[-1].replace("e", "d") for part in re.findall(r"%-?[dem]", each)) for each in formats}
    declared = measure_of("ddmm") if ("d", "m") in orders else measure_of("mmdd") if ("m", "d") in orders else None
    if declared in (None, said):
        return None
    cells = table.grouped.lines.select(pl.col(name_of(column)).unique().alias("cell"))
    _, sound, either = dates.day_and_month(pl.col("cell"), day_first=declared == _DAY_FIRST)
    proven, doubtful = cells.select(sound.any().alias("sound"), either.any().alias("either")).row(0)
    return declared if doubtful and not proven else None
