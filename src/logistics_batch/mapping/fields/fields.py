"""From a field of the mapping to expressions: its value, and beside it the rules that a row may break."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.dates import KEPT_DAYS
from logistics_batch.mapping.fields.values.numbers import cartons, shortest
from logistics_batch.mapping.fields.values.reading import ReadContext, Reading, Rule
from logistics_batch.mapping.fields.values.verbs import checked, converted, final_text
from logistics_batch.mapping.loaded import Mapping, RunValues
from logistics_batch.mapping.rows.cells import EXACT, amount, name_of, repeats
from logistics_batch.mapping.rows.header import Header, where
from logistics_batch.mapping.spec.model import FieldSpec
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.model.answers import answered_name
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue

KIT: Final = "v:kits.key"
"""The column of lines that names the kit whose contents they are; the others are items of the order itself."""

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

    @property
    def broken(self) -> pl.Expr:
        """In frames the position of the first of its rules that a cell breaks, null if none; there is no value then."""
        return pl.col(f"x:{self.place}") if self.rules else pl.lit(None, dtype=pl.UInt8)

    @property
    def number(self) -> pl.Expr:
        """Its value as a number, null where it is none."""
        return pl.col(self.value_name).cast(pl.Float64, strict=False)

    def in_lines(self, lines: pl.Expr) -> "Field":
        """The field where a mask is true; elsewhere it has no value, breaks no rule and is not required."""
        return replace(
            self,
            value=pl.when(lines).then(self.value),
            applies=lines if self.applies is None else lines & self.applies,
            rules=tuple(replace(rule, failed=rule.failed & lines) for rule in self.rules),
        )

    def cells(self) -> set[str]:
        """The columns of lines that it is read from."""
        read = (self.value, self.empty, *([] if self.applies is None else [self.applies]))
        return {name for each in (*read, *(rule.failed for rule in self.rules)) for name in each.meta.root_names()}


def cell_of(target: str, column: int | None) -> Field:
    """A cell of lines that no field reads as it stands, under the name as which it is told."""
    nothing = pl.lit(None, dtype=pl.String)
    return Field(f"lines.{target}", FieldSpec(constant=target), column, nothing, nothing.is_null())


def evaluate(frame: pl.DataFrame, fields: Sequence[Field]) -> pl.DataFrame:
    """The frame with the value of each field, and which rule it breaks, in one pass that shares common work.

    What is read of one column with few different cells is worked out once for each of these.
    """
    every: list[pl.Expr] = []
    for field in fields:
        made = [field.value.alias(field.value_name)]
        broken = [pl.when(rule.failed).then(pl.lit(n, dtype=pl.UInt8)) for n, rule in enumerate(field.rules)]
        made += [pl.coalesce(broken).alias(f"x:{field.place}")] if broken else []
        read = sorted(field.cells())
        if broken and len(read) == 1 and repeats(frame[read[0]]):
            different = frame.select(read).unique().lazy().with_columns(made).collect(engine="in-memory")
            placed = frame.select(read).join(different, on=read, how="left", nulls_equal=True, maintain_order="left")
            frame = frame.hstack(placed.drop(read))
        else:
            every += made
    return frame.lazy().with_columns(every).collect(engine="in-memory") if every else frame


def source_columns(mapping: Mapping, header: Header, field: FieldSpec) -> list[int]:
    """The sheet columns that a field is made of and that the sheet has, those of `when` last."""
    groups = [*field.columns, *(mapping.names_of(name) for name in field.when or ())]
    return [*filter(None, map(header.column, groups))]


def compile_field(mapping: Mapping, header: Header, place: str, around: ReadContext) -> Field:
    """Compile one field of the mapping for a sheet.

    The frame that evaluates it has the cells as c1, c2 …, the document's first filled cell of column 3 as first:c3, and
    sums of a document as sum:PLACE.
    """
    spec = mapping.spec.everything[place]
    part, target = place.split(".", 1)
    wanted = form_of(target, mapping.operation) if part != "keep" else FieldForm.TEXT
    if target == "order_id" and mapping.spec.order_id is not None and mapping.spec.order_id.ledger is not None:
        wanted = FieldForm.IDENTITY  # a reference number may have a blank in it
    source = _source(header, place, spec, around.run)
    around = replace(around, wanted=wanted, second=second_phone_of(mapping, header, place) is not None)
    if target == "expiry_date":
        around = replace(around, latest_days=KEPT_DAYS)
    if spec.source == "sum" and wanted is FieldForm.MONEY:
        source = source.str.strip_suffix("0000")  # as amounts are written, which are read fastest
    if spec.source in ("sum", "constant"):  # its digits are not the sheet's
        around = replace(around, decimal=".", true_number=None)
    reading = converted(Reading(source), spec.read or [], around, wanted)
    reading = _multiplied(reading, header, spec, around)
    corrected = mapping.operation is Operation.RECEIPT_READ and target == "qty"  # "-2" takes back two that were booked
    reading = checked(reading, target, wanted, numeric=part != "keep" and not corrected)
    value = reading.value
    if spec.default is not None:
        value = pl.when(source.is_null()).then(pl.lit(final_text(spec.default, around, wanted))).otherwise(value)
    columns = source_columns(mapping, header, spec)
    column = columns[0] if columns and spec.columns else None
    field = Field(place, spec, column, value, source.is_null(), rules=reading.rules)
    if spec.when is None:
        return field
    conditions = [fit for _, fit in where(mapping, header, spec.when)]
    # A condition on a column that the sheet lacks cannot hold.
    is_there = len(conditions) == len(spec.when)
    return field.in_lines(pl.all_horizontal(conditions) if is_there else pl.lit(value=False))


def second_phone_of(mapping: Mapping, header: Header, place: str) -> int | None:
    """The column of two phone numbers whose second one a field takes; None where it takes its own column's first."""
    mobiles = (mapping.spec.fields.get(name) for name in ("customer_mobile", _ALTERNATE))
    first, column = (header.column((field and (field.from_ or field.above)) or ()) for field in mobiles)
    return column if place == f"fields.{_ALTERNATE}" and column == first else None


def _source(header: Header, place: str, spec: FieldSpec, run: RunValues) -> pl.Expr:
    """The text that is read, null where there is none."""
    names = [name_of(column) for column in filter(None, map(header.column, spec.columns))]
    if spec.source == "constant":
        return pl.lit(spec.constant, dtype=pl.String)
    if spec.source == "run":
        # A corrected result that is dropped again is the file that it answered; else its documents would be new ones.
        return pl.lit(answered_name(run.file_name) if spec.run == "file_name" else run.business_date.isoformat())
    if spec.source == "sum":
        return pl.col(f"sum:{place}")
    if not names:
        return pl.lit(None, dtype=pl.String)
    if spec.source == "join":
        joined = pl.concat_str(names, separator=" " if spec.with_ is None else spec.with_, ignore_nulls=True)
        return pl.when(joined != "").then(joined)
    return pl.col(f"first:{names[0]}" if spec.source == "first" else names[0])


def factors(header: Header, spec: FieldSpec, around: ReadContext) -> Iterator[tuple[int, pl.Expr, str]]:
    """What a field's own cell is multiplied by: the column, its number or how many cartons it names, and the code of
    what is said where it has none.
    """
    for code, names in (("times", spec.times), ("cartons", spec.cartons)) if spec.source == "from" else ():
        if (column := header.column(names or ())) is not None:
            counted = cartons(pl.col(name_of(column))).cast(EXACT, strict=False)
            yield column, amount(column, around) if code == "times" else counted, code


def _multiplied(reading: Reading, header: Header, spec: FieldSpec, around: ReadContext) -> Reading:
    """A number times what stands in another column of the row; nothing where that is none."""
    for _, number, _ in factors(header, spec, around):
        product = (reading.value.cast(EXACT, strict=False) * number).cast(EXACT).cast(pl.String)
        shown = product.str.strip_suffix("0000") if reading.form is FieldForm.MONEY else shortest(product)
        reading = replace(reading, value=shown)
        if reading.form is FieldForm.COUNT:
            reading = reading.checked(shown.str.contains(".", literal=True).fill_null(value=False), Issue("times.part"))
    return reading


def with_sum(lines: pl.DataFrame, header: Header, place: str, spec: FieldSpec, around: ReadContext) -> pl.DataFrame:
    """The rows with the numbers of each column that is added up as sum:PLACE:COLUMN, and their document's sum as
    sum:PLACE."""
    columns = summed_columns(header, spec)
    lines = lines.with_columns(amount(column, around).alias(f"sum:{place}:{column}") for column in columns)

    def number(names: Sequence[str]) -> pl.Expr:
        return pl.col(f"sum:{place}:{header.column(names)}")

    part = number(spec.sum or ())
    part = part - number(spec.less).fill_null(0) if spec.less else part
    part = (part * number(spec.times) if spec.times else part).cast(EXACT)
    shares = [*spec.plus, *spec.minus]
    firsts = (number(names).drop_nulls().first().fill_null(0).alias(f"share{n}") for n, names in enumerate(shares))
    read = {f"sum:{place}:{column}" for column in columns}
    documents = lines.select("doc", *sorted(read), part=part).group_by("doc", maintain_order=True)
    sums = documents.agg(pl.col("part").sum(), *firsts, parts=pl.col("part").count())
    total = pl.col("part")
    for n in range(len(shares)):
        total = total + pl.col(f"share{n}") if n < len(spec.plus) else total - pl.col(f"share{n}")
    texts = sums.select(pl.when(pl.col("parts") > 0).then(total.cast(EXACT)).cast(pl.String)).to_series()
    return lines.with_columns(texts.gather(lines["doc"]).alias(f"sum:{place}"))  # documents are counted from 0


def summed_columns(header: Header, spec: FieldSpec) -> list[int]:
    """The columns that a sum is made of; a sheet that lacks one is not read."""
    return list(dict.fromkeys(filter(None, map(header.column, spec.columns))))
