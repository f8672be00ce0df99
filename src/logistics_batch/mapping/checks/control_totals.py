"""The sheet's own totals: what its rows come to must be what its total row says."""

from decimal import Decimal
from typing import Final

import polars as pl

from logistics_batch.mapping.checks.checks import file_held, surroundings
from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import amount
from logistics_batch.mapping.notes.odd_values import in_rows
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.classify import LEFT_OUT, Rows, where
from logistics_batch.mapping.spec.model import ControlTotal

_COME: Final = {"sum": "rows add up", "rows": "rows amount", "documents": "documents amount"}


def hold_control_totals(table: CompiledSheet, rows: Rows) -> None:
    """Refuse a file whose own total row says something else than the rows come to. Raises FileHeld."""
    for control in table.mapping.spec.checks.control_total:
        _compare(table, rows, control)


def _compare(table: CompiledSheet, rows: Rows, control: ControlTotal) -> None:
    column = table.bound.column(table.mapping.names_of(control.column)) or table.key_column
    below = rows.cleaned.frame.filter(pl.col("row") > table.bound.row)  # as they stand: the sender adds no copies
    number = amount(pl.col(name_of(column)), surroundings(table)).alias("number")
    is_total = _fit(table, control.row_where)
    totals, others = below.filter(is_total).select("row", number), below.filter(~is_total)
    left_out = others.filter(pl.col("row").is_in(_left_out(rows).implode()))
    also = left_out.filter(_fit(table, control.also_rows_where)) if control.also_rows_where else left_out.clear()
    data = others.filter(pl.col("row").is_in(rows.data["row"].implode()))
    counted = _come_to(table, rows, control, pl.concat([data, also]), number=number)
    said = _exact(totals["number"].sum()) if totals["number"].count() else None
    if said == counted:
        return
    name, stated = table.bound.texts[column - 1].strip(), _stated(table, totals, said)
    if said is not None and said == _come_to(table, rows, control, pl.concat([data, left_out]), number=number):
        raise file_held(
            f'The {_COME[control.says]} to {counted:f} in column "{name}", but {stated}. It would be right with '
            f"{in_rows(table, left_out['row'])}, which the mapping leaves out.",
            rule="control_total",
            remedy="If the total is meant to count them, ask who maintains the mapping; else correct the sheet.",
            table=table,
        )
    unread = data.filter(number.is_null() & pl.col(name_of(column)).is_not_null())["row"]
    hint = f" There is no number in {in_rows(table, unread)}." if control.says == "sum" and unread.len() else ""
    raise file_held(
        f'The {_COME[control.says]} to {counted:f} in column "{name}", but {stated}.{hint}',
        rule="control_total",
        remedy="Check that no row is missing or doubled, correct the sheet and send it again.",
        table=table,
    )


def _fit(table: CompiledSheet, conditions: dict[str, list[str]]) -> pl.Expr:
    return pl.all_horizontal(fit for _, fit in where(table.mapping, table.bound, conditions))


def _left_out(rows: Rows) -> pl.Series:
    """The rows that would be data but for a rule of the mapping."""
    return rows.skipped.filter(pl.col("rule").is_in(LEFT_OUT))["row"]


def _come_to(
    table: CompiledSheet, rows: Rows, control: ControlTotal, counted: pl.DataFrame, *, number: pl.Expr
) -> Decimal:
    """What some rows come to, in the way of the total row; lines that were made of one row count once."""
    if control.says == "documents":
        keys = [name_of(column) for name in table.mapping.spec.key if (column := _column(table, name)) is not None]
        filled = pl.concat([rows.data.select("row", *keys), rows.hidden.select("row", *keys)])
        known = counted.select("row", *keys).update(filled, on="row")
        return Decimal(known.filter(pl.any_horizontal(pl.col(keys).is_not_null())).select(keys).n_unique())
    if table.sheet.origins is not None and not _is_parted(table, control):
        physical = table.sheet.origins.lines.select("row", "origin")
        counted = counted.join(physical, on="row", maintain_order="left").unique("origin", keep="first")
    if control.says == "rows":
        return Decimal(counted.height)
    return _exact(counted.select(number.sum()).item())


def _column(table: CompiledSheet, name: str) -> int | None:
    return table.bound.column(table.mapping.names_of(name))


def _is_parted(table: CompiledSheet, control: ControlTotal) -> bool:
    """Whether each line has a piece of the cell to itself, as of parallel cells; else it has the row's whole cell."""
    form = table.mapping.spec.lines_from
    parted = form.split or [] if form is not None and form.pattern is None else []
    return control.says == "sum" and _column(table, control.column) in {_column(table, name) for name in parted}


def _stated(table: CompiledSheet, totals: pl.DataFrame, said: Decimal | None) -> str:
    if totals.is_empty():
        return "there is no total row"
    place = in_rows(table, totals["row"])
    return f"{place}, the total, has no number there" if said is None else f"{place} says {said:f}"


def _exact(number: object) -> Decimal:
    """A sum as a decimal without trailing zeros."""
    return Decimal(str(number or 0)).normalize()
