"""Columns that can be read in two ways, and the sheet's own totals: what only a column as a whole can show."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import polars as pl

from logistics_batch.mapping.checks.header import Held
from logistics_batch.mapping.fields.compile import CompiledSheet, is_marked
from logistics_batch.mapping.fields.fields import Field, amount
from logistics_batch.mapping.fields.values import dates
from logistics_batch.mapping.fields.values.numbers import without_currency
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.classify import LEFT_OUT, Rows, where
from logistics_batch.mapping.spec.model import ControlTotal
from logistics_batch.mapping.spec.targets import Form
from logistics_batch.model.sheet import CellFact

_EITHER: Final = r"^[-+(]? *0{0,2}[1-9][0-9]{0,2}\.[0-9]{3} *[-)]?$"
_POINT_PARTS_PAISE: Final = r"^[^.]*\.(?:[0-9]{1,2}|[0-9]{4,})?[^0-9.]*$|[0-9]{4}\.[0-9]|^[^0-9]*0*\.[0-9]|,.*\."
"""Cells in which the full stop can be nothing but the decimal mark: 12.50, 1250.000, 0.500, 1,200.000."""


def mixed_dates(table: CompiledSheet) -> Iterator[Held]:
    """Columns with true dates and dates written as text.

    That is what a spreadsheet program leaves when it took some texts for dates with day and month changed over.
    """
    for field in table.fields:
        if field.column is None or not table.reads_dates(field):
            continue
        lines, own = table.grouped.lines, f"own:{name_of(field.column)}"
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
            hint = [["mixed_dates.text", {"cell": cell, "why": [[told.code, told.values]]}] for cell, told in said]
            places = table.sheet.physical_rows(row for row, _ in texts)
            values = {"column": table.bound.texts[field.column - 1].strip(), "rows": places, "hint": hint}
            yield Held("mixed_dates", values, field.target)


def swapped_dates(table: CompiledSheet) -> Iterator[Held]:
    """Columns in which dates fit only with day and month changed over, and others fit both ways.

    Then the others are read wrong, too; one date that fits as declared and not the other way shows that they are not.
    """
    for field in table.fields:
        day_first = dates.is_day_first(field.spec.dates)
        if field.column is None or day_first is None:
            continue
        cells = table.grouped.lines.select("row", pl.col(name_of(field.column)).alias("cell"))
        swapped, sound, either = dates.day_and_month(pl.col("cell"), day_first=day_first)
        different = cells["cell"].unique().to_frame()  # many rows have the same date
        has_swapped, has_sound, has_either = different.select(
            swapped.any().alias("swapped"), sound.any().alias("sound"), either.any().alias("either")
        ).row(0)
        if has_swapped and has_either and not has_sound:
            places = table.sheet.physical_rows(cells.filter(swapped)["row"])
            column = table.bound.texts[field.column - 1].strip()
            yield Held("swapped_dates", {"column": column, "rows": places}, field.target)


def ambiguous_amounts(table: CompiledSheet) -> Iterator[Field]:
    """The columns in which nothing shows what the full stop means, each as a field with the doubtful cells as value.

    1.200 is one rupee twenty, or one thousand two hundred. A mapping that says `decimal` has settled it, and a number
    cell of a workbook has no decimal mark. What is multiplied by amounts is none itself.
    """
    seen: set[int] = set()
    for field in (*table.header, *table.line) if "decimal" not in table.mapping.spec.sheet.model_fields_set else ():
        if "money" not in (field.spec.read or ()) and table.form_of(field) is not Form.MONEY:
            continue
        for column in map(table.bound.column, field.spec.own_columns):
            if column is None or column in seen:
                continue
            seen.add(column)
            cell = without_currency(pl.col(name_of(column)))
            cells = table.grouped.lines.select("row", cell.alias("cell"))
            if not cells["cell"].str.contains(_EITHER).any():
                continue
            is_text = ~is_marked(table.sheet, column, CellFact.NUMBER)
            if not cells.filter(is_text)["cell"].str.contains(_POINT_PARTS_PAISE).any():
                doubtful = is_text & cell.str.contains(_EITHER)
                yield Field(f"lines.{field.target}", field.spec, column, doubtful, cell.is_null())


def control_totals(table: CompiledSheet, rows: Rows) -> Iterator[Held]:
    """Total rows that say something else than the rows come to."""
    for control in table.mapping.spec.checks.control_total:
        column = table.bound.column(table.mapping.names_of(control.column)) or table.key_column
        below = rows.cleaned.frame.filter(pl.col("row") > table.bound.row)  # as they stand: the sender adds no copies
        number = amount(pl.col(name_of(column)), table.context()).alias("number")
        is_total = _fit(table, control.row_where)
        totals, others = below.filter(is_total).select("row", number), below.filter(~is_total)
        would_be_data = rows.skipped_by(*LEFT_OUT)
        left_out = others.filter(pl.col("row").is_in(would_be_data.implode()))
        also = left_out.filter(_fit(table, control.also_rows_where)) if control.also_rows_where else left_out.clear()
        data = others.filter(pl.col("row").is_in(rows.data["row"].implode()))
        counted = _come_to(table, rows, control, pl.concat([data, also]), number=number)
        stated = _exact(totals["number"].sum()) if totals["number"].count() else None
        if stated == counted:
            continue
        values = {
            "counted": [[f"control_total.{control.says}", {}]],
            "number": f"{counted:f}",
            "column": table.bound.texts[column - 1].strip(),
            "stated": [_stated(table, totals, stated)],
        }
        whole = _come_to(table, rows, control, pl.concat([data, left_out]), number=number)
        if stated is not None and stated == whole:
            places = table.sheet.physical_rows(left_out["row"])
            yield Held("control_total.left_out", values | {"rows": places})
        unread = data.filter(number.is_null() & pl.col(name_of(column)).is_not_null())["row"]
        is_told = control.says == "sum" and unread.len()
        hint = [["control_total.unread", {"rows": table.sheet.physical_rows(unread)}]] if is_told else []
        yield Held("control_total", values | {"hint": hint})


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
