"""From a field of the mapping to expressions: its value, and beside it the rules that a row may break."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.dates import KEPT_DAYS
from logistics_batch.mapping.fields.values.numbers import plain_number
from logistics_batch.mapping.fields.values.reading import ReadContext, Reading, Rule, message
from logistics_batch.mapping.fields.values.verbs import checked, converted, final_text
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.classify import where
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import FieldSpec
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.model.document import Operation

_ALTERNATE: Final = "alternate_customer_mobile"


@dataclass(frozen=True, slots=True)
class Field:
    """One compiled field.

    place: "fields.weight". target: its name alone. column: the sheet's column that its issues point to, None if it has
    none. value: a text, or null. rules: what can be wrong. empty: true where the source cell is blank.
    applies: false where `when` rules the field out.
    """

    place: str
    spec: FieldSpec
    column: int | None
    value: pl.Expr
    empty: pl.Expr
    applies: pl.Expr | None = None
    rules: tuple[Rule, ...] = ()

    @property
    def target(self) -> str:
        """The target's name."""
        return self.place.split(".", 1)[1]

    @property
    def is_of_document(self) -> bool:
        """Whether its value stands once in a document, and not on each of its lines."""
        return self.place.startswith("fields.")

    @property
    def value_name(self) -> str:
        """The name of its value in frames."""
        return f"v:{self.place}"

    def rule_name(self, index: int) -> str:
        """The name of one of its masks in frames."""
        return f"x{index}:{self.place}"

    @property
    def is_unread(self) -> pl.Expr:
        """Whether the cell breaks one of its rules."""
        wrong = [pl.col(self.rule_name(index)) for index in range(len(self.rules))]
        return pl.any_horizontal(wrong) if wrong else pl.lit(value=False)


def evaluate(frame: pl.DataFrame, fields: Sequence[Field]) -> pl.DataFrame:
    """The frame with a value and the masks of each field, in one pass that shares common work."""
    made: list[pl.Expr] = []
    for field in fields:
        made.append(field.value.alias(field.value_name))
        made += [rule.failed.fill_null(value=False).alias(field.rule_name(n)) for n, rule in enumerate(field.rules)]
    return frame.lazy().with_columns(made).collect(engine="in-memory") if made else frame


def source_columns(mapping: Mapping, header: Header, field: FieldSpec) -> list[int]:
    """The sheet columns that a field is made of and that the sheet has, those of `when` last."""
    groups = [*field.columns, *(mapping.names_of(name) for name in field.when or ())]
    return [column for names in groups if (column := header.column(names)) is not None]


def compile_field(mapping: Mapping, header: Header, place: str, around: ReadContext) -> Field:
    """Compile one field of the mapping for a sheet.

    The frame that evaluates it has the cells as c1, c2 …, the document's first filled cell of column 3 as first:c3, and
    sums of a document as sum:PLACE.
    """
    spec = mapping.spec.everything[place]
    part, target = place.split(".", 1)
    wanted = form_of(target, mapping.operation) if part != "keep" else Form.TEXT
    if target == "order_id" and mapping.spec.order_id is not None and mapping.spec.order_id.ledger is not None:
        wanted = Form.IDENTITY  # a reference number may have a blank in it
    columns = source_columns(mapping, header, spec)
    column = columns[0] if columns and spec.columns else None
    source = _source(header, place, spec)
    around = replace(around, wanted=wanted, second=second_phone_of(mapping, header, place) is not None)
    if target == "expiry_date":
        around = replace(around, latest_days=KEPT_DAYS)
    if spec.source in ("sum", "constant"):  # its digits are not the sheet's
        around = replace(around, decimal=".", true_number=None)
    reading = converted(Reading(source), spec.read or [], around, wanted)
    corrected = mapping.operation is Operation.RECEIPT_READ and target == "qty"  # "-2" takes back two that were booked
    reading = checked(reading, target, wanted, numeric=part != "keep" and not corrected)
    applies = _applies(mapping, header, spec)
    value = reading.value
    if spec.default is not None:
        value = pl.when(source.is_null()).then(pl.lit(final_text(spec.default, around, wanted))).otherwise(value)
    rules = reading.rules
    if applies is not None:
        value = pl.when(applies).then(value)
        rules = tuple(replace(rule, failed=rule.failed & applies) for rule in rules)
    return Field(place, spec, column, value, source.is_null(), applies, rules)


def second_phone_of(mapping: Mapping, header: Header, place: str) -> int | None:
    """The column of two phone numbers whose second one a field takes; None where it takes its own column's first."""
    first, own = mapping.spec.fields.get("customer_mobile"), mapping.spec.fields.get(_ALTERNATE)
    if place != f"fields.{_ALTERNATE}" or first is None or own is None or first.from_ is None or own.from_ is None:
        return None
    column = header.column(own.from_)
    return column if column == header.column(first.from_) else None


def of_some_lines(field: Field, lines: pl.Expr) -> Field:
    """The field where a mask of lines is true; elsewhere it has no value, breaks no rule and is not required."""
    return replace(
        field,
        value=pl.when(lines).then(field.value),
        applies=lines if field.applies is None else lines & field.applies,
        rules=tuple(replace(rule, failed=rule.failed & lines) for rule in field.rules),
    )


def _source(header: Header, place: str, spec: FieldSpec) -> pl.Expr:
    """The text that is read, null where there is none."""
    columns = [header.column(names) for names in spec.columns]
    present = [pl.col(name_of(column)) for column in columns if column is not None]
    if spec.source == "constant":
        return pl.lit(spec.constant, dtype=pl.String)
    if spec.source in ("run", "sum"):
        return pl.col(f"{spec.source}:{place}")
    if not present:
        return pl.lit(None, dtype=pl.String)
    if spec.source == "join":
        joined = pl.concat_str(present, separator=" " if spec.with_ is None else spec.with_, ignore_nulls=True)
        return pl.when(joined != "").then(joined)
    return pl.col(f"first:{name_of(columns[0])}") if spec.source == "first" and columns[0] else present[0]


def _applies(mapping: Mapping, header: Header, spec: FieldSpec) -> pl.Expr | None:
    if spec.when is None:
        return None
    conditions = [fit for _, fit in where(mapping, header, spec.when)]
    # A condition on a column that the sheet lacks cannot hold.
    return pl.all_horizontal(conditions) if len(conditions) == len(spec.when) else pl.lit(value=False)


def summed(
    mapping: Mapping, header: Header, spec: FieldSpec, around: ReadContext
) -> tuple[pl.Expr, list[tuple[int, Rule]]]:
    """One row's part of a document's sum as an exact decimal, and for each column that is added up its rule."""
    rules: list[tuple[int, Rule]] = []
    numbers: dict[int, pl.Expr] = {}
    for names in spec.columns:
        column = header.column(names)
        if column is not None:
            cell = pl.col(name_of(column))
            numbers[column] = amount(cell, around)
            rules.append((column, Rule(cell.is_not_null() & numbers[column].is_null(), message("sum"))))
    taken_off = {column for names in [spec.less or [], *spec.minus] if (column := header.column(names)) is not None}
    rules += [(column, Rule(numbers[column] < 0, message("negative.taken_off"))) for column in sorted(taken_off)]
    rules += _half_filled(header, spec, _applies(mapping, header, spec))
    part = numbers[header.column(spec.sum or ()) or 0]
    if spec.less:
        part = part - numbers[header.column(spec.less) or 0].fill_null(0)
    if spec.times:
        part = part * numbers[header.column(spec.times) or 0]
    return part.cast(pl.Decimal(38, 6)), rules


def _half_filled(header: Header, spec: FieldSpec, applies: pl.Expr | None) -> list[tuple[int, Rule]]:
    """The rules that a row with one factor of a product has the other, too: else it counts for nothing."""
    factors = [header.column(names) for names in (spec.sum, spec.times) if names]
    found: list[tuple[int, Rule]] = []
    for column, other in zip(factors, reversed(factors), strict=True) if len(factors) > 1 else ():
        if column is not None and other is not None:
            there, beside = header.texts[other - 1].strip(), header.texts[column - 1].strip()
            lacks = pl.col(name_of(column)).is_null() & pl.col(name_of(other)).is_not_null()
            found.append(
                (
                    column,
                    Rule(
                        lacks if applies is None else lacks & applies,
                        message("half_filled", filled=there, blank=beside),
                    ),
                )
            )
    return found


def amount(cell: pl.Expr, around: ReadContext) -> pl.Expr:
    """A cell as an exact decimal; null where it is blank or no number."""
    return plain_number(cell, around).cast(pl.Decimal(38, 6), strict=False)
