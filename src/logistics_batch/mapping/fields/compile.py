"""A sheet laid out for its mapping: rows told apart, documents numbered, every field evaluated."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.fields import (
    Field,
    amount,
    compile_field,
    evaluate,
    of_some_lines,
    source_columns,
    summed,
)
from logistics_batch.mapping.fields.grouping import Grouped, document_sums, rows_where, with_documents, with_heads
from logistics_batch.mapping.fields.values.reading import ReadContext, Rule
from logistics_batch.mapping.loading import Mapping, RunValues
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.classify import Rows
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import DateRead
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.model.answer_files import answered_name
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import CellFact, Sheet


@dataclass(frozen=True, slots=True)
class CompiledSheet:
    """Everything that is known about a sheet's rows before they are judged.

    keyless: rows of data without a key. grouped: the others by document; its frames carry the value v:PLACE of each
    field and its masks. header, line, keep: the fields, compiled. sums: masks on lines for cells that are added up.
    torn: documents whose rows give different values for an addend of a sum: doc, place (of its column). hidden:
    documents of which a row is hidden and skipped: doc, row.
    """

    mapping: Mapping
    sheet: Sheet
    bound: Header
    run: RunValues
    keyless: pl.DataFrame
    grouped: Grouped
    header: tuple[Field, ...]
    line: tuple[Field, ...]
    keep: tuple[Field, ...]
    sums: tuple[tuple[str, int, Rule], ...]
    torn: pl.DataFrame
    hidden: pl.DataFrame

    @property
    def key_column(self) -> int:
        """The sheet column that stands for the row as a whole."""
        names = self.mapping.names_of(self.mapping.spec.key[0]) if self.mapping.spec.key else ()
        return self.bound.column(names) or min(self.bound.columns.values(), default=1)

    def without(self, *beginnings: str) -> "CompiledSheet":
        """The same without the columns whose names begin so; nobody asks for them any more, and they take much room."""
        lines, heads = (
            frame.drop([name for name in frame.columns if name.startswith(beginnings)])
            for frame in (self.grouped.lines, self.grouped.heads)
        )
        return replace(self, grouped=Grouped(lines, heads))

    @property
    def data_rows(self) -> pl.Series:
        """The physical rows that hold data, of documents or without a key; those that became several lines repeat."""
        return pl.concat([self.grouped.lines["row"], self.keyless["row"]])

    def columns(self, names: Iterable[str]) -> list[int]:
        """The numbers of the columns with these names of the mapping, as far as the sheet has them."""
        found = (self.bound.column(self.mapping.names_of(name)) for name in names)
        return [column for column in found if column is not None]

    @property
    def fields(self) -> tuple[Field, ...]:
        """Every field."""
        return (*self.header, *self.line, *self.keep)

    def field(self, place: str) -> Field | None:
        """A compiled field by its place, as "fields.is_cod"."""
        return next((each for each in self.fields if each.place == place), None)

    def form_of(self, field: Field) -> Form:
        """The form of a field's value; what is kept is text."""
        return Form.TEXT if field.place.startswith("keep.") else form_of(field.target, self.mapping.operation)

    def reads_dates(self, field: Field) -> bool:
        """Whether a field is a date, or its cells are read as dates."""
        declared = any(isinstance(step, DateRead) for step in field.spec.read or ())
        return declared or self.form_of(field) in (Form.DATE, Form.MOMENT)

    def rows_where(self, mask: pl.Expr, field: Field, *, on_each_row: bool = False) -> pl.Series:
        """The rows that a mask is true for: over lines, or over header cells where the field is a document's.

        Of a header cell that was filled down, or that is the `first` of its document, only where it really stands;
        all rows of the document where on_each_row.
        """
        lines = self.grouped.lines
        if not field.is_of_document:
            return rows_where(lines, mask)
        heads = self.grouped.heads.select(pl.col("head").filter(mask))["head"]
        if heads.is_empty():
            return pl.Series("row", [], dtype=pl.UInt32)
        stands = [pl.col("head").is_in(heads.implode())]
        if field.column is not None and not on_each_row:
            cell = name_of(field.column)
            stands += [pl.col(f"own:{cell}")] if f"own:{cell}" in lines.columns else []
            stands += [pl.col(cell) == pl.col(f"first:{cell}")] if field.spec.source == "first" else []
        return rows_where(lines, pl.all_horizontal(stands))

    def text_of(self, column: int | None) -> str:
        """What the header says of a column."""
        return " ".join(self.bound.texts[(column or 1) - 1].split())

    def context(self) -> ReadContext:
        """What numbers of the sheet are read with."""
        return ReadContext(self.run.business_date, self.run.timezone, decimal=self.mapping.spec.sheet.decimal)


PERCENTAGE: Final = "0%"
"""The number format text of a percentage."""

COLUMN: Final = "column:"
"""So begins the place of a column that is no field's own, as one that a sum adds."""

CELLS: Final = ("c", "own:", "first:", "sum:", "run:", "uncounted:", "key")
"""So begin the names of columns from which values and documents are made."""

LINE_VALUES: Final = ("v:lines.", "v:kit")
"""So begin the names of values that stand in a payload's lines."""

HEAD_VALUES: Final = ("v:fields.",)
"""So begin the names of values of the documents' header fields."""

RULES: Final = ("x",)
"""So begin the names of masks of broken rules."""

_TORN: Final = {"doc": pl.UInt32, "place": pl.String}


def compile_sheet(mapping: Mapping, sheet: Sheet, bound: Header, rows: Rows, run: RunValues) -> CompiledSheet:
    """Number the documents and evaluate every field."""
    keys = _key_columns(mapping, bound)
    no_key = pl.all_horizontal(pl.col(key).is_null() for key in keys) if keys else pl.lit(value=False)
    keyless = rows.data.filter(no_key)
    keyed = rows.data if keyless.is_empty() else rows.data.filter(~no_key)
    lines = with_documents(keyed, [] if _by_row(mapping) else keys)
    lines, sums, torn = _with_sums(lines, mapping, bound, run, sheet)
    lines = _with_firsts(_with_run_values(lines, mapping, run), mapping, bound)
    compiled = {
        place: compile_field(mapping, bound, place, _around(mapping, bound, place, run, sheet))
        for place in mapping.spec.everything
    }
    header, line, keep = (
        tuple(field for place, field in _by_kit(compiled).items() if place.startswith(part))
        for part in (("fields.",), ("lines.", "kits.", "kit_lines."), ("keep.",))
    )
    grouped = with_heads(lines, _header_cells(mapping, bound, lines))
    grouped = Grouped(evaluate(grouped.lines, (*line, *keep)), evaluate(grouped.heads, header))
    left_out = mapping.spec.sheet.hidden_rows == "leave_out"
    hidden = _hidden(rows.hidden.clear() if left_out else rows.hidden, grouped.lines, keys)
    return CompiledSheet(mapping, sheet, bound, run, keyless, grouped, header, line, keep, sums, torn, hidden)


def _by_kit(compiled: dict[str, Field]) -> dict[str, Field]:
    """Items of the order in rows without a kit, contents of a kit in those with one."""
    key = compiled.get("kits.key")
    if key is None:
        return compiled
    in_kit = key.value.is_not_null()
    own = {place: of_some_lines(field, ~in_kit) for place, field in compiled.items() if place.startswith("lines.")}
    kits = ("kits.name", "kits.description", "kit_lines.")
    contents = {place: of_some_lines(field, in_kit) for place, field in compiled.items() if place.startswith(kits)}
    return compiled | own | contents


def _hidden(hidden: pl.DataFrame, lines: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Which documents have lost a row to hiding."""
    if hidden.is_empty() or not keys or "key" not in lines.columns:
        return pl.DataFrame(schema={"doc": pl.UInt32, "row": pl.UInt32})
    keyed = with_documents(hidden, keys).select("key", "row")
    return lines.select("key", "doc").unique(maintain_order=True).join(keyed, on="key").select("doc", "row")


def _by_row(mapping: Mapping) -> bool:
    return mapping.operation is Operation.RECEIPT_READ


def _key_columns(mapping: Mapping, bound: Header) -> list[str]:
    numbers = [bound.column(mapping.names_of(name)) for name in mapping.spec.key]
    return [name_of(number) for number in numbers if number is not None]


def _header_cells(mapping: Mapping, bound: Header, lines: pl.DataFrame) -> list[str]:
    """The cells in which rows of a document may differ from each other: what header fields read."""
    cells: dict[str, None] = {}
    for place, field in mapping.spec.everything.items():
        if place.startswith("fields.") and field.source != "sum":
            prefix = "first:" if field.source == "first" else ""
            own = [bound.column(names) for names in field.columns]
            cells.update({f"{prefix}{name_of(column)}": None for column in own if column is not None})
        if place.startswith("fields."):
            conditions = source_columns(mapping, bound, field)[len(field.columns) :] if field.when else []
            cells.update({name_of(column): None for column in conditions})
    return [name for name in cells if name in lines.columns]


def _around(mapping: Mapping, bound: Header, place: str, run: RunValues, sheet: Sheet) -> ReadContext:
    around = ReadContext(run.business_date, run.timezone, decimal=mapping.spec.sheet.decimal)
    columns = source_columns(mapping, bound, mapping.spec.everything[place])
    if columns:
        is_share = (pl.col("column") == columns[0]) & (pl.col("detail") == PERCENTAGE)
        shares = sheet.facts_of(CellFact.NUMBER_FORMAT_TEXT).filter(is_share)["row"]
        around = replace(around, hundredths=pl.col("row").is_in(shares.implode()) if shares.len() else None)
    if around.decimal == "." or not columns:
        return around
    return replace(
        around, true_number=pl.col("row").is_in(marked_rows(sheet, columns[0], (CellFact.NUMBER,)).implode())
    )


def marked_rows(sheet: Sheet, column: int, kinds: Sequence[CellFact]) -> pl.Series:
    """The rows of whose cell in a column a fact of some kinds is known."""
    return sheet.facts_of(*kinds).filter(pl.col("column") == column)["row"]


def _with_run_values(lines: pl.DataFrame, mapping: Mapping, run: RunValues) -> pl.DataFrame:
    # A result that was corrected and dropped again is the file that it answered; else its documents would be new ones.
    values = {"file_name": answered_name(run.file_name), "business_date": run.business_date.isoformat()}
    return lines.with_columns(
        pl.lit(values[field.run]).alias(f"run:{place}")
        for place, field in mapping.spec.everything.items()
        if field.run is not None
    )


def _with_firsts(lines: pl.DataFrame, mapping: Mapping, bound: Header) -> pl.DataFrame:
    """For each `first` field the document's first filled cell, on each of its rows."""
    groups = [field.first for field in mapping.spec.everything.values() if field.first is not None]
    columns = {column for names in groups if (column := bound.column(names)) is not None}
    return lines.with_columns(
        pl.col(name_of(column)).drop_nulls().first().over("doc").alias(f"first:{name_of(column)}")
        for column in sorted(columns)
    )


def _with_sums(
    lines: pl.DataFrame, mapping: Mapping, bound: Header, run: RunValues, sheet: Sheet
) -> tuple[pl.DataFrame, tuple[tuple[str, int, Rule], ...], pl.DataFrame]:
    """The rows with each document's sums, the masks of cells that are no numbers, and the torn documents."""
    masks: list[tuple[str, int, Rule]] = []
    torn = [pl.DataFrame(schema=_TORN)]
    for place, field in mapping.spec.everything.items():
        if field.source != "sum":
            continue
        around = _around(mapping, bound, place, run, sheet)
        part, rules = summed(mapping, bound, field, around)
        for column, rule in rules:
            name = f"uncounted:{place}:{column}:{rule.message.code}"
            lines = lines.with_columns(rule.failed.fill_null(value=False).alias(name))
            masks.append((place, column, replace(rule, failed=pl.col(name))))
        extra = [(_amount(bound, names, around), 1) for names in field.plus]
        extra += [(_amount(bound, names, around), -1) for names in field.minus]
        sums = document_sums(lines, part, extra)
        columns = [f"{COLUMN}{bound.column(names)}" for names in (*field.plus, *field.minus)]
        differing = sums.select("doc", "torn").explode("torn").drop_nulls("torn")
        places = pl.Series("place", columns, dtype=pl.String).gather(differing["torn"])
        torn.append(differing.select("doc", places))
        lines = lines.with_columns(sums["total"].gather(lines["doc"]).alias(f"sum:{place}"))
    return lines, tuple(masks), pl.concat(torn)


def _amount(bound: Header, names: Sequence[str], around: ReadContext) -> pl.Expr:
    column = bound.column(names)
    if column is None:
        return pl.lit(None, dtype=pl.Decimal(38, 6))
    return amount(pl.col(name_of(column)), around)
