"""A sheet laid out for its mapping: rows told apart, documents numbered, every field evaluated."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.fields import Field, compile_field, evaluate, source_columns, with_sum
from logistics_batch.mapping.fields.values.reading import ReadContext
from logistics_batch.mapping.fields.values.verbs import NATURAL, verb_of
from logistics_batch.mapping.loaded import Mapping, RunValues
from logistics_batch.mapping.rows.cells import amount, name_of, reading_of_numbers
from logistics_batch.mapping.rows.classify import Rows
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import CellFact, Sheet

_BETWEEN: Final = "\x1f"
_CELL: Final = re.compile(r"c[0-9]+")


@dataclass(frozen=True, slots=True)
class CompiledSheet:
    """Everything that is known about a sheet's rows before they are judged.

    keyless: rows of data without a key. lines: a line for each line of a payload, documents in the order of their first
    rows and each one's lines together; `doc` counts from 0, `head` numbers runs of lines of a document whose header
    cells are alike. heads: the first line of each run, without the cells that only lines are made of. Both carry the
    value v:PLACE of each of their fields, and as x:PLACE which of its rules is broken. header, line, keep: the fields.
    """

    mapping: Mapping
    sheet: Sheet
    bound: Header
    run: RunValues
    keyless: pl.DataFrame
    lines: pl.DataFrame
    heads: pl.DataFrame
    header: tuple[Field, ...]
    line: tuple[Field, ...]
    keep: tuple[Field, ...]

    @property
    def key_column(self) -> int:
        """The sheet column that stands for the row as a whole."""
        keys = self.columns(self.mapping.key_in_table)
        return keys[0] if keys else min(self.bound.columns.values(), default=1)

    def without_cells(self, *, head_values: bool) -> "CompiledSheet":
        """The same without cells and masks, for nobody asks for them any more, and they take much room.

        head_values: whether the values of header fields stay.
        """
        gone = _CELLS if head_values else (*_CELLS, "v:fields.")
        lines, heads = (
            frame.drop([name for name in frame.columns if name.startswith(gone)]) for frame in (self.lines, self.heads)
        )
        return replace(self, lines=lines, heads=heads)

    @property
    def data_rows(self) -> pl.Series:
        """The physical rows that hold data, of documents or without a key; those that became several lines repeat."""
        return pl.concat([self.lines["row"], self.keyless["row"]])

    def of_documents(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Those of some rows beside the lines that bear the key of a document: doc, key, row, by document."""
        keys = [name_of(column) for column in self.columns(self.mapping.spec.key)]
        if rows.is_empty() or "key" not in self.lines.columns:
            return pl.DataFrame(schema={"doc": pl.UInt32, "key": pl.String, "row": pl.UInt32})
        documents = self.lines.select("key", "doc").unique("doc", maintain_order=True)
        placed = with_documents(rows, keys).select("key", "row")
        return documents.join(placed, on="key", maintain_order="left_right").select("doc", "key", "row")

    def columns(self, names: Iterable[str]) -> list[int]:
        """The numbers of the columns with these names of the mapping, as far as the sheet has them."""
        return self.bound.numbers(self.mapping, names)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Every field."""
        return (*self.header, *self.line, *self.keep)

    def field(self, place: str) -> Field | None:
        """A compiled field by its place, as "fields.is_cod"."""
        return next((each for each in self.fields if each.place == place), None)

    def form_of(self, field: Field) -> FieldForm:
        """The form of a field's value; what is kept is text."""
        return FieldForm.TEXT if field.place.startswith("keep.") else form_of(field.target, self.mapping.operation)

    def verbs_of(self, field: Field) -> list[str]:
        """By which verbs a field's cells are read: those that the mapping says, or else as its target wants it."""
        natural = NATURAL.get(self.form_of(field))
        return [verb_of(step).name for step in field.spec.read or ([natural] if natural else [])]

    def reads_dates(self, field: Field) -> bool:
        """Whether a field is a date, or its cells are read as dates."""
        return "date" in self.verbs_of(field) or self.form_of(field) in (FieldForm.DATE, FieldForm.MOMENT)

    def rows_where(self, mask: pl.Expr, field: Field, *, on_each_row: bool = False) -> pl.Series:
        """The rows that a mask is true for: over lines, or over header cells where the field is a document's.

        Of a header cell that was filled down, or that is the `first` of its document, only where it really stands;
        all rows of the document where on_each_row, or the first where the cell belongs there and is filled down.
        """
        lines = self.lines
        if not field.is_of_document:
            return rows_where(lines, mask)
        if field.column in self.sheet.above:  # once is enough
            return rows_where(self.heads, mask)
        heads = self.heads.select(pl.col("head").filter(mask))["head"]
        stands = [pl.col("head").is_in(heads.implode())]
        if field.column is not None:
            cell = name_of(field.column)
            own = pl.col("first" if on_each_row else f"own:{cell}")
            stands += [own] if f"own:{cell}" in lines.columns else []
            is_first = field.spec.source == "first" and not on_each_row
            stands += [pl.col(cell) == pl.col(f"first:{cell}")] if is_first else []
        return rows_where(lines, pl.all_horizontal(stands))

    def text_of(self, column: int | None) -> str:
        """What the header says of a column."""
        return " ".join(self.bound.texts[(column or 1) - 1].split())

    def note(self, code: str, column: int | None, rows: Iterable[int], **values: Any) -> Issue:
        """A note on cells of a column: with what its header says and the rows of the file."""
        above = self.sheet.above.get(column or 0)
        there = [above[0]] if above else self.sheet.physical_rows(rows)
        return Issue.of(code, column=self.text_of(column), rows=there, **values)

    def amounts(self, column: int) -> pl.Expr:
        """A column's cells as exact decimals, null where one is none."""
        return amount(column, self.around)

    @property
    def around(self) -> ReadContext:
        """What numbers of any column are read with."""
        return reading_of_numbers(self.mapping, self.bound, self.run)


PERCENTAGE: Final = "0%"
"""The number format text of a percentage."""

_CELLS: Final = ("c", "own:", "first:", "sum:", "key", "x")
"""So begin the names of columns from which values and documents are made, and of masks of broken rules."""


def compile_sheet(mapping: Mapping, sheet: Sheet, bound: Header, rows: Rows, run: RunValues) -> CompiledSheet:
    """Number the documents and evaluate every field."""
    keys = [name_of(number) for number in bound.numbers(mapping, mapping.spec.key)]
    own = [name_of(number) for number in bound.numbers(mapping, mapping.key_in_table)]
    no_key = pl.all_horizontal(pl.col(key).is_null() for key in own) if own else pl.lit(value=False)
    keyless = rows.data.filter(no_key)
    keyed = rows.data if keyless.is_empty() else rows.data.filter(~no_key)
    lines = with_documents(keyed, [] if mapping.operation is Operation.RECEIPT_READ else keys)
    compiled: dict[str, Field] = {}
    for place, spec in mapping.spec.everything.items():
        around = _around(mapping, bound, place, run, sheet)
        compiled[place] = compile_field(mapping, bound, place, around)
        if spec.source == "sum":
            lines = with_sum(lines, bound, place, spec, around)
    compiled = _by_kit(compiled)
    firsts = {name for field in compiled.values() for name in field.cells() if name.startswith("first:")}
    lines = lines.with_columns(  # on each row the first filled cell of its document
        pl.col(name.removeprefix("first:")).drop_nulls().first().over("doc").alias(name) for name in sorted(firsts)
    )
    header, line, keep = (
        tuple(field for place, field in compiled.items() if place.startswith(part))
        for part in (("fields.",), ("lines.", "kits.", "kit_lines."), ("keep.",))
    )
    compared = {name for field in header for name in field.cells() if not name.startswith(("row", "sum:"))}
    lines, heads = with_heads(lines, sorted(compared))
    sums = [f"sum:{field.place}" for field in compiled.values() if field.spec.source == "sum"]
    lines, heads = evaluate(lines, (*line, *keep)).drop(sums), evaluate(heads, header)
    return CompiledSheet(mapping, sheet, bound, run, keyless, lines, heads, header, line, keep)


def _by_kit(compiled: dict[str, Field]) -> dict[str, Field]:
    """Items of the order in rows without a kit, contents of a kit in those with one."""
    if "kits.key" not in compiled:
        return compiled
    in_kit = compiled["kits.key"].value.is_not_null()
    masks = {"lines.": ~in_kit, **dict.fromkeys(("kits.name", "kits.description", "kit_lines."), in_kit)}
    parted = {
        place: field.in_lines(mask)
        for place, field in compiled.items()
        for part, mask in masks.items()
        if place.startswith(part)
    }
    return compiled | parted


def _around(mapping: Mapping, bound: Header, place: str, run: RunValues, sheet: Sheet) -> ReadContext:
    """What a field's cells are read with."""
    around = reading_of_numbers(mapping, bound, run)
    columns = source_columns(mapping, bound, mapping.spec.everything[place])
    if not columns:
        return around
    is_share = (pl.col("column") == columns[0]) & (pl.col("detail") == PERCENTAGE)
    shares = sheet.facts_of(CellFact.NUMBER_FORMAT_TEXT).filter(is_share)["row"]
    dates = sheet.facts_of(CellFact.DATE, CellFact.DATETIME).filter(pl.col("row") > bound.row, column=columns[0])
    return replace(
        around,
        has_dates=dates.height > 0,
        hundredths=pl.col("row").is_in(shares.implode()) if shares.len() else None,
        true_number=None if around.decimal == "." else is_marked(sheet, columns[0], CellFact.NUMBER),
    )


def is_marked(sheet: Sheet, column: int, *kinds: CellFact) -> pl.Expr:
    """Whether a fact of some kinds is known of a row's cell in a column."""
    marked = sheet.facts_of(*kinds).filter(pl.col("column") == column)["row"]
    return pl.col("row").is_in(marked.implode())


def rows_where(lines: pl.DataFrame, mask: pl.Expr) -> pl.Series:
    """The physical rows of the lines that a mask is true for; no other column is gathered."""
    return lines.select(pl.col("row").filter(mask))["row"]


def written_key(key: pl.Expr) -> pl.Expr:
    """What the key columns of a document hold, as people write it."""
    return key.str.replace_all(_BETWEEN, " | ", literal=True)


def with_documents(data: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """The rows with `doc`, sorted by it; without keys each row is its own document."""
    if not keys:
        return data.with_columns(pl.int_range(pl.len(), dtype=pl.UInt32).alias("doc"))
    parts = [pl.col(key).fill_null("") for key in keys]
    key = parts[0] if len(parts) == 1 else pl.concat_str(parts, separator=_BETWEEN)
    keyed = data.with_columns(key.alias("key"))
    begins = keyed["key"].ne_missing(keyed["key"].shift(1))
    run = (begins.cast(pl.UInt32).cum_sum() - 1).cast(pl.UInt32)
    keys_of_runs = keyed["key"].filter(begins).to_frame()
    if keys_of_runs["key"].n_unique() == keys_of_runs.height:
        return keyed.with_columns(run.set_sorted().alias("doc"))
    documents = keys_of_runs.unique(maintain_order=True).with_row_index("doc")
    docs_of_runs = keys_of_runs.join(documents, on="key", how="left", maintain_order="left")["doc"]
    return keyed.with_columns(docs_of_runs.gather(run).alias("doc")).sort("doc", maintain_order=True)


def with_heads(lines: pl.DataFrame, columns: Sequence[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The lines with the runs of those that have the same header cells, and the first line of each run.

    columns: the cells that header fields read.
    """
    first = pl.col("doc").ne_missing(pl.col("doc").shift(1))
    changes = [pl.col(name).ne_missing(pl.col(name).shift(1)) for name in columns]
    begins = pl.any_horizontal(first, *changes)
    numbered = lines.with_columns(first.alias("first"), begins.alias("begins"))
    numbered = numbered.with_columns((pl.col("begins").cast(pl.UInt32).cum_sum() - 1).alias("head"))
    of_lines = [name for name in lines.columns if _CELL.fullmatch(name) and name not in columns]
    return numbered.drop("begins"), numbered.drop(of_lines).filter("begins").drop("begins")
