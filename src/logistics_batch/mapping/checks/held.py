"""What holds a file: its header does not fit the mapping, its columns contradict themselves, or its own totals do.

Each check gives what it finds as issues; `hold` refuses the file for the first one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet, is_marked, rows_where
from logistics_batch.mapping.fields.values import dates
from logistics_batch.mapping.fields.values.numbers import contradicts, meant_by
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.classify import LEFT_OUT, Rows
from logistics_batch.mapping.rows.header import Header, nearest, refused, where
from logistics_batch.mapping.spec.model import ControlTotal, FieldSpec
from logistics_batch.mapping.spec.names import ColumnName, Measure, differently_bracketed, measure_of
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.model.issue import Issue, Place
from logistics_batch.model.sheet import CellFact, Sheet

_PARTS_SENT: Final = ("fields", "lines", "kit_lines")
_DAY_FIRST, _MONTH_FIRST, _PIECES = measure_of("ddmm"), measure_of("mmdd"), measure_of("pcs")

Read = tuple[Sheet, Header]


def hold_header(mapping: Mapping, sheet: Sheet, header: Header) -> None:
    """Refuse a file whose header does not fit its mapping. Raises FileHeld."""
    for check in (idle_skips, idle_conditions, idle_payment, renamed_columns):
        hold(check(mapping, [(sheet, header)]), sheet, header)


def hold_table(table: CompiledSheet, rows: Rows) -> None:
    """Refuse a file whose columns contradict the mapping or themselves. Raises FileHeld."""
    for check in (other_brackets, other_units, mixed_dates, swapped_dates):
        hold(check(table), table.sheet, table.bound)
    hold(control_totals(table, rows), table.sheet, table.bound)


def hold(found: Iterable[Issue], sheet: Sheet, header: Header) -> None:
    """Refuse a file for the first finding. Raises FileHeld."""
    for issue in found:
        raise refused(issue.code, sheet, header, field=issue.place.field, **issue.given)


def idle_skips(mapping: Mapping, read: Sequence[Read]) -> Iterator[Issue]:
    """Columns of `skip_rows_where` that no sheet has: misspelt or renamed, each would switch its rule off silently."""
    for name in mapping.spec.sheet.skip_rows_where:
        if all(header.column(mapping.names_of(name)) is None for _, header in read):
            yield Issue.of("skip_rows_where", **_lacking(name, read))


def idle_conditions(mapping: Mapping, read: Sequence[Read]) -> Iterator[Issue]:
    """Fields that could be read but for a column of their `when`; one whose own columns lack is of another layout."""
    header = read[0][1]
    for place, field in mapping.spec.everything.items():
        for name in field.when or ():
            by_itself = field.source in ("constant", "run") or field.default is not None
            could_be = by_itself or any(header.column(names) is not None for names in field.columns)
            if could_be and header.column(mapping.names_of(name)) is None:
                target = place.split(".", 1)[1]
                yield Issue.of("when", Place(field=target), target=target, **_lacking(name, read))


def idle_payment(mapping: Mapping, read: Sequence[Read]) -> Iterator[Issue]:
    """New orders without the column that says whether money is collected: renamed, it would make all of them paid.

    A default says what holds where the column is not there.
    """
    field = mapping.spec.fields.get("is_cod")
    if field is None or not field.columns or field.default is not None or not mapping.operation.creates:
        return
    if all(read[0][1].column(names) is None for names in field.columns):
        yield Issue.of("no_column", Place(field="is_cod"), **_lacking(field.columns[0][0], read))


def _lacking(name: str, read: Sequence[Read]) -> dict[str, Any]:
    text = nearest((header for _, header in read), [name])
    hint = [["no_column.meant", {"text": text, "name": name}]] if text else []
    return {"name": name, "sheets": len(read), "hint": hint}


def renamed_columns(mapping: Mapping, read: Sequence[Read]) -> Iterator[Issue]:
    """Renamed columns that would be replaced without a word.

    A default would stand for what the column says (one piece for each of ten), or a town alone for a whole address.
    """
    sheet, header = read[0]
    for place, field, group in _absent(mapping, header) if header.unknown else ():
        target = place.split(".", 1)[1]
        form = form_of(target, mapping.operation)
        values = {"column": group[0], "target": target}
        if field.default is not None:
            shape = "whole number" if form is FieldForm.QUANTITY else ""
            code, values = "renamed.default", values | {"default": field.default}
        elif form is FieldForm.ADDRESS and mapping.is_required(place) and any(map(header.column, field.join or ())):
            shape = "words" if group in (field.join or [])[:1] else ""
            code = "renamed.part"
        else:
            continue
        if new := _successor(mapping, sheet, header, group, shape=shape):
            yield Issue.of(code, Place(field=target), **values, new=new)


def renamed_notes(mapping: Mapping, sheet: Sheet, header: Header) -> Iterator[Issue]:
    """New columns that may be missing ones, and columns that were read by a later name while new ones were not."""
    if not header.unknown:
        return
    for name, group in {group[0]: group for _, _, group in _absent(mapping, header)}.items():
        if new := _successor(mapping, sheet, header, group):
            yield Issue.of("columns.renamed", new=new, name=name)
    later = {
        header.texts[column - 1].strip(): group[0]
        for _, _, group in _sent(mapping)
        if group[0] not in header.columns and (column := header.column(group))
    }
    if later:
        pairs = [["columns.read_as", {"text": text, "name": name}] for text, name in later.items()]
        yield Issue.of("columns.later_name", pairs=pairs[:5], more=" …" if len(pairs) > 5 else "")


def _sent(mapping: Mapping) -> Iterator[tuple[str, FieldSpec, list[str]]]:
    """The columns of what is sent: place, field, the column's names."""
    for place, field in mapping.spec.everything.items():
        for group in field.columns if place.split(".", 1)[0] in _PARTS_SENT else ():
            yield place, field, group


def _absent(mapping: Mapping, header: Header) -> Iterator[tuple[str, FieldSpec, list[str]]]:
    """Those that the sheet lacks."""
    return (each for each in _sent(mapping) if header.column(each[2]) is None)


def _successor(mapping: Mapping, sheet: Sheet, header: Header, group: list[str], *, shape: str = "") -> str:
    """The new column that may be a missing one, "" if none; most files lack none, and load nothing for it."""
    from logistics_batch.mapping.suggest.table import successor_of

    return successor_of(mapping, sheet, header, group, shape=shape)


def other_brackets(table: CompiledSheet) -> Iterator[Issue]:
    """Columns that are the mapping's but for what stands in brackets, where there is none without."""
    for group in table.mapping.groups:
        for text in table.bound.unknown if table.bound.column(group) is None else ():
            header = ColumnName.of(text)
            for name in group:
                wanted = ColumnName.of(name)
                if header.short == wanted.short and differently_bracketed(header, wanted):
                    yield Issue.of("header.brackets", name=name, column=text)


def other_units(table: CompiledSheet) -> Iterator[Issue]:
    """Columns whose headers contradict what the mapping takes their values for: the same digits, another value."""
    for place, field, names, column, said in _said_in_headers(table):
        meant = meant_by(place, field, table.mapping.operation)
        named = next((each for each in _measures(names) if each.kind == said.kind), None)
        if said.kind == "date":
            named = named or _declared_order(table, field, column, said)
        elif meant is not None and contradicts(said, meant):
            named = meant
        if named is not None:
            yield Issue.of("header.measure", column=table.text_of(column), said=said.name, named=named.name)


def units_taken_over(table: CompiledSheet) -> list[Issue]:
    """Notes on headers that name a unit of which the mapping does not speak, as "Qty (Box)" for "Qty"."""
    found: dict[Issue, None] = {}
    for place, field, names, column, said in _said_in_headers(table):
        if said.kind == "date" or said == _PIECES or place.startswith("keep."):
            continue
        if said != meant_by(place, field, table.mapping.operation):
            name = next(name for name in names if table.bound.columns.get(name) == column)
            found[Issue.of("columns.unit", column=table.text_of(column), name=name)] = None
    return list(found)


def _said_in_headers(table: CompiledSheet) -> Iterator[tuple[str, FieldSpec, list[str], int, Measure]]:
    """Measures that headers say and names do not, of the columns whose own values fields are made of.

    place, field, names, number of the column, measure.
    """
    for place, field in table.mapping.spec.everything.items():
        for names in field.own_columns:
            column = table.bound.column(names)
            said = ColumnName.of(table.text_of(column)).measure if column is not None else None
            if column is not None and said is not None and said not in _measures(names):
                yield place, field, names, column, said


def _measures(names: list[str]) -> list[Measure]:
    return [measure for name in names if (measure := ColumnName.of(name).measure) is not None]


def _declared_order(table: CompiledSheet, field: FieldSpec, column: int, said: Measure) -> Measure | None:
    """The order of day and month that the mapping declares, if dates of the column depend on it and none proves it."""
    day_first = dates.is_day_first(field.dates)
    declared = _DAY_FIRST if day_first else _MONTH_FIRST
    if day_first is None or declared == said:
        return None
    _, proven, doubtful = _orders_of_dates(table, column, day_first=day_first)
    return declared if doubtful and not proven else None


def _orders_of_dates(table: CompiledSheet, column: int, *, day_first: bool) -> tuple[bool, bool, bool]:
    """Whether a date of a column fits only with day and month changed over, one only as declared, and one both ways."""
    cells = table.lines.select(pl.col(name_of(column)).unique().alias("cell"))  # many rows have the same date
    fits = dates.day_and_month(pl.col("cell"), day_first=day_first)
    swapped, sound, either = cells.select(each.any().alias(str(n)) for n, each in enumerate(fits)).row(0)
    return swapped, sound, either


def mixed_dates(table: CompiledSheet) -> Iterator[Issue]:
    """Columns with true dates and dates written as text.

    That is what a spreadsheet program leaves when it took some texts for dates with day and month changed over.
    """
    for field in table.fields:
        if field.column is None or not table.reads_dates(field):
            continue
        lines, own = table.lines, f"own:{name_of(field.column)}"
        lines = lines.filter(own) if own in lines.columns else lines  # what was filled down has no mark of its own
        rows = lines.select("row", pl.col(name_of(field.column)).alias("cell")).drop_nulls("cell")
        is_date = is_marked(table.sheet, field.column, CellFact.DATE, CellFact.DATETIME)
        written = rows.filter(~is_date & dates.looks_like_a_date(pl.col("cell")))
        if written.is_empty() or not rows.filter(is_date).height:
            continue
        why = {cell: dates.no_such_day(cell, field.spec.dates) for cell in written["cell"].unique()}
        # What no calendar has stays text, whatever became of the others; of digits it may be a month.
        texts = [(row, cell) for row, cell in written.iter_rows() if not (why[cell] and re.search("[A-Za-z]", cell))]
        if texts:
            said = [(cell, told) for _, cell in texts if (told := why[cell])][:1]
            hint = [["mixed_dates.text", {"cell": cell, "why": [[told.code, told.given]]}] for cell, told in said]
            rows_of_texts = [row for row, _ in texts]
            yield table.note("mixed_dates", field.column, rows_of_texts, hint=hint).at(field=field.target)


def swapped_dates(table: CompiledSheet) -> Iterator[Issue]:
    """Columns in which dates fit only with day and month changed over, and others fit both ways.

    Then the others are read wrong, too; one date that fits as declared and not the other way shows that they are not.
    """
    for field in table.fields:
        day_first = dates.is_day_first(field.spec.dates)
        if field.column is None or day_first is None:
            continue
        has_swapped, has_sound, has_either = _orders_of_dates(table, field.column, day_first=day_first)
        if has_swapped and has_either and not has_sound:
            swapped, *_ = dates.day_and_month(pl.col(name_of(field.column)), day_first=day_first)
            yield table.note("swapped_dates", field.column, rows_where(table.lines, swapped)).at(field=field.target)


def control_totals(table: CompiledSheet, rows: Rows) -> Iterator[Issue]:
    """Total rows that say something else than the rows come to."""
    for control in table.mapping.spec.checks.control_total:
        column = table.bound.column(table.mapping.names_of(control.column)) or table.key_column
        below = rows.cleaned.frame.filter(pl.col("row") > table.bound.row)  # as they stand: the sender adds no copies
        number = table.amounts(column).alias("number")
        is_total = _fit(table, control.row_where)
        totals, others = below.filter(is_total).select("row", number), below.filter(~is_total)
        would_be_data = rows.skipped_by(*LEFT_OUT)
        left_out = others.filter(pl.col("row").is_in(would_be_data.implode()))
        also = left_out.filter(_fit(table, control.also_rows_where)) if control.also_rows_where else left_out.clear()
        data = others.filter(pl.col("row").is_in(rows.data["row"].implode()))
        counted = _come_to(table, rows, control, pl.concat([data, also]), number=number)
        stated = _exact(totals["number"].sum()) if totals["number"].count() else None
        is_ours = totals.is_empty() and bool(table.bound.own)  # a fix file has the rows to correct, and no total
        if stated == counted or is_ours:
            continue
        values = {
            "counted": [[f"control_total.{control.says}", {}]],
            "number": f"{counted:f}",
            "column": table.text_of(column),
            "stated": [_stated(table, totals, stated)],
        }
        whole = _come_to(table, rows, control, pl.concat([data, left_out]), number=number)
        if stated is not None and stated == whole:
            yield Issue.of("control_total.left_out", **values, rows=table.sheet.physical_rows(left_out["row"]))
        unread = data.filter(number.is_null() & pl.col(name_of(column)).is_not_null())["row"]
        is_told = control.says == "sum" and unread.len()
        hint = [["control_total.unread", {"rows": table.sheet.physical_rows(unread)}]] if is_told else []
        yield Issue.of("control_total", **values, hint=hint)


def _fit(table: CompiledSheet, conditions: dict[str, list[str]]) -> pl.Expr:
    return pl.all_horizontal(fit for _, fit in where(table.mapping, table.bound, conditions))


def _come_to(
    table: CompiledSheet, rows: Rows, control: ControlTotal, counted: pl.DataFrame, *, number: pl.Expr
) -> Decimal:
    """What some rows come to, in the way of the total row; lines that were made of one row count once."""
    if control.says == "documents":
        keys = [name_of(column) for column in table.columns(table.mapping.spec.key)]
        filled = pl.concat([rows.data.select("row", *keys), rows.hidden.select("row", *keys)])
        known = counted.select("row", *keys).update(filled, on="row")
        return Decimal(known.filter(pl.any_horizontal(pl.col(keys).is_not_null())).select(keys).n_unique())
    if table.sheet.origins is not None and not _is_parted(table, control):
        physical = table.sheet.origins.lines.select("row", "origin")
        counted = counted.join(physical, on="row", maintain_order="left").unique("origin", keep="first")
    if control.says == "rows":
        return Decimal(counted.height)
    return _exact(counted.select(number.sum()).item())


def _is_parted(table: CompiledSheet, control: ControlTotal) -> bool:
    """Whether each line has a piece of the cell to itself, as of parallel cells; else it has the row's whole cell."""
    form = table.mapping.spec.lines_from
    parted = form.split or [] if form is not None and form.pattern is None else []
    return control.says == "sum" and bool({*table.columns([control.column])} & {*table.columns(parted)})


def _stated(table: CompiledSheet, totals: pl.DataFrame, number: Decimal | None) -> list[object]:
    """What the total row says, as a message."""
    if totals.is_empty():
        return ["control_total.no_row", {}]
    places = {"rows": table.sheet.physical_rows(totals["row"])}
    if number is None:
        return ["control_total.no_number", places]
    return ["control_total.says", places | {"number": f"{number:f}"}]


def _exact(number: object) -> Decimal:
    """A sum as a decimal without trailing zeros."""
    return Decimal(str(number or 0)).normalize()
