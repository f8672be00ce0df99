"""What rows must keep beside their fields' own rules: one list of checks, evaluated over the compiled sheet."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.checks.cells import find_doubtful_cells
from logistics_batch.mapping.checks.header import HEADER_CHECKS, hold, other_brackets, other_units
from logistics_batch.mapping.checks.ragged import find_ragged
from logistics_batch.mapping.checks.whole_columns import ambiguous_amounts, control_totals, mixed_dates, swapped_dates
from logistics_batch.mapping.documents.documents import KIT
from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.fields import Field, amount
from logistics_batch.mapping.fields.values.reading import Message, message
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.cells import name_of
from logistics_batch.mapping.rows.classify import Rows
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.rows.totals import A_TOTAL, keys_filled_down
from logistics_batch.mapping.spec.model import FieldSpec
from logistics_batch.mapping.spec.targets import CODES, Form
from logistics_batch.model.sheet import Sheet
from logistics_batch.model.spelling import folded_key

_ADDRESSES: Final = ("delivery_address", "shipping_address")
_NO_ADDRESS: Final = r"(?i)^(?:[^\p{L}]*|nan|none|null|nil|n\s?[/.]?\s?a\.?)$"  # one has letters
_NOTHING: Final = r"(?i)^(?:nan|none|null|n/a|[-\u{2013}\u{2014}.]{1,3})$"  # as programs and people write it
_SAMPLES: Final = {
    "fields.reference_number": r"(?i)^(?:ord|order|ref|sample|test|demo)[\s_#-]*0*(?:1|12|123|1234|12345)?$",
    "fields.invoice_number": r"(?i)^(?:inv|invoice|sample|test|demo)[\s_#-]*0*(?:1|12|123|1234|12345)?$",
    "fields.customer_name": r"(?i)^(?:john|jane)\s+doe$|^(?:test|sample|demo)(?:\s+(?:user|customer|name))?$",
    "fields.customer_mobile": r"^(?:6{10}|7{10}|8{10}|9{10})$",
}
_QUANTITIES: Final = ("lines.item_quantity", "lines.qty", "lines.quantity")

Values = Callable[[CompiledSheet, Field], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Check:
    """One rule of rows.

    code: of the catalogue. fields: those that it applies to, none where the mapping has no use for it; they may be
    fields under another name, as which the finding is told. failed: where a row breaks it, over the documents' header
    cells for a field of these, else over lines. values: those of the code. on_each_row: a header cell is blamed on
    every row of its document, also where it was filled down.
    """

    code: str
    fields: Callable[[CompiledSheet], Iterable[Field]]
    failed: Callable[[CompiledSheet, Field], pl.Expr]
    values: Values = lambda _table, _field: {}
    of_cell: Callable[[str], Message] | None = None
    on_each_row: bool = False


def hold_header(mapping: Mapping, sheet: Sheet, header: Header) -> None:
    """Refuse a file whose header does not fit its mapping. Raises FileHeld."""
    for check in HEADER_CHECKS:
        hold(check(mapping, [(sheet, header)]), sheet, header)


def hold_table(table: CompiledSheet, rows: Rows) -> None:
    """Refuse a file whose columns contradict the mapping or themselves. Raises FileHeld."""
    for check in (other_brackets, other_units, mixed_dates, swapped_dates):
        hold(check(table), table.sheet, table.bound)
    hold(control_totals(table, rows), table.sheet, table.bound)


def check_rows(table: CompiledSheet, rows: Rows) -> Findings:
    """Every broken rule of every row; of several on one cell the first counts."""
    found = Findings()
    find_ragged(found, table)
    find_doubtful_cells(found, table, rows.cleaned)
    found.add(table.keyless["row"], table.key_column, "key", message("required.key"))
    asked = [*_own_rules(table), *(_Asked.of(check, table, field) for check in CHECKS for field in check.fields(table))]
    of_documents = _broken(table.grouped.heads, [each for each in asked if each.field.is_of_document])
    of_lines = _broken(table.grouped.lines, [each for each in asked if not each.field.is_of_document])
    for each in asked:
        if each in of_documents or each in of_lines:
            broken = table.rows_where(each.failed, each.field, on_each_row=each.on_each_row)
            found.add(broken, each.field.column, each.field.target, each.message)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A rule of one field: where it is broken, and what is said then."""

    field: Field
    failed: pl.Expr
    message: Message
    on_each_row: bool = False

    @classmethod
    def of(cls, check: Check, table: CompiledSheet, field: Field) -> "_Asked":
        """A check of one of its fields."""
        said = Message(check.code, check.values(table, field), check.of_cell)
        return cls(field, check.failed(table, field), said, check.on_each_row)


def _own_rules(table: CompiledSheet) -> Iterator[_Asked]:
    """What fields ask of their cells by themselves; those that are kept ask nothing."""
    for field in (*table.header, *table.line):
        for index, rule in enumerate(field.rules):
            yield _Asked(field, pl.col(field.rule_name(index)), rule.message)
    for place, column, rule in table.sums:
        yield _Asked(_cell(place.split(".", 1)[1], column), rule.failed, rule.message)


def _broken(frame: pl.DataFrame, asked: list[_Asked]) -> set[_Asked]:
    """Those that some line of a frame breaks, found in one pass; few do."""
    tests = [each.failed.any().alias(str(place)) for place, each in enumerate(asked)]
    answers = frame.lazy().select(tests).collect(engine="in-memory").row(0) if tests else ()
    return {each for each, is_broken in zip(asked, answers, strict=True) if is_broken}


def _cell(target: str, column: int | None) -> Field:
    """A cell of lines that no field reads as it stands, under the name as which it is told."""
    nothing = pl.lit(None, dtype=pl.String)
    return Field(f"lines.{target}", FieldSpec(constant=target), column, nothing, nothing.is_null())


def _required(table: CompiledSheet) -> list[Field]:
    return [field for field in table.fields if table.mapping.is_required(field.place)]


def _is_blank(table: CompiledSheet, field: Field) -> pl.Expr:
    """Blank where a value is demanded; where other rows of the document have one, the rows disagree instead."""
    blank = field.empty if field.applies is None else field.empty & field.applies
    if not field.is_of_document:
        return blank.fill_null(value=True)
    heads = table.grouped.heads
    if not heads.select(blank.any()).item():
        return pl.lit(value=False)
    filled = heads.select(pl.col("doc").filter(~blank))["doc"]
    return blank & ~pl.col("doc").is_in(filled.implode())


def _column_name(table: CompiledSheet, field: Field) -> dict[str, Any]:
    names = field.spec.columns[0] if field.spec.columns else [field.target]
    return {"name": table.bound.texts[field.column - 1].strip() if field.column else names[0]}


def _cash(table: CompiledSheet) -> list[Field]:
    """The amount to collect, or what says that there is one; a change does not know the order's own flag."""
    flag, cash = _flag_and_amount(table)
    if flag is None and (cash is None or table.mapping.operation.changes_order):
        return []
    return [cash] if cash else [replace(flag, place="fields.cash_on_delivery")] if flag else []


def _flag_and_amount(table: CompiledSheet) -> tuple[Field | None, Field | None]:
    amount_of_label = table.field("fields.amount_to_collect")
    return table.field("fields.is_cod"), table.field("fields.cash_on_delivery") or amount_of_label


def _cod(table: CompiledSheet) -> tuple[pl.Expr, pl.Expr]:
    """Whether an order is cash on delivery without an amount, and the reverse; only where both could be read."""
    flag, cash = _flag_and_amount(table)
    sums = [rule.failed.fill_null(value=False) for _, _, rule in table.sums]
    uncounted = table.grouped.lines.select(pl.col("doc").filter(pl.any_horizontal(sums)))["doc"] if sums else None
    unread = [each.is_unread for each in (flag, cash) if each]
    if uncounted is not None:  # a total with a cell that is no number says nothing
        unread.append(pl.col("doc").is_in(uncounted.unique().implode()))
    is_cod = pl.col(flag.value_name).eq_missing("true") if flag else pl.lit(value=False)
    due = pl.col(cash.value_name).cast(pl.Float64, strict=False).fill_null(0) if cash else pl.lit(0.0)
    is_read = ~pl.any_horizontal(unread)
    return is_cod & (due <= 0) & is_read, ~is_cod & (due > 0) & is_read


def _line_totals(table: CompiledSheet) -> list[Field]:
    rule = table.mapping.spec.checks.line_total
    column = table.bound.column(table.mapping.names_of(rule.total)) if rule else None
    if rule is None:
        return []
    return [next((each for each in (*table.line, *table.keep) if each.column == column), _cell("row", column))]


def _is_no_product(table: CompiledSheet, _field: Field) -> pl.Expr:
    """Whether quantity times price is not the row's total."""
    rule = table.mapping.spec.checks.line_total
    names = (rule.quantity, rule.price, rule.total) if rule else ()
    columns = [table.bound.column(table.mapping.names_of(name)) for name in names]
    quantity, price, total = (amount(pl.col(name_of(number or 1)), table.context()) for number in columns)
    gap = ((quantity * price).cast(pl.Decimal(38, 6)) - total).abs()
    return gap > pl.lit(Decimal(rule.tolerance if rule else 0))


def _with_samples(table: CompiledSheet) -> list[Field]:
    wanted = table.mapping.spec.checks.sample_values
    return [field for place in _SAMPLES if wanted and (field := table.field(place)) is not None]


def _codes_in_need(table: CompiledSheet) -> list[Field]:
    """The numbers and names by which a document or its goods are known, and without which it is not sent."""
    natural = {f"fields.{target}" for group in table.mapping.targets.natural for target in group}
    return [
        field
        for field in (*table.header, *table.line)
        if table.form_of(field) in CODES and (field.place in natural or table.mapping.is_required(field.place))
    ]


def _addresses_in_need(table: CompiledSheet) -> list[Field]:
    return [field for field in _required(table) if field.is_of_document and field.target in _ADDRESSES]


def _fits(pattern: str) -> Callable[[CompiledSheet, Field], pl.Expr]:
    return lambda _table, field: pl.col(field.value_name).str.contains(pattern)


def _items_of_changes(table: CompiledSheet) -> list[Field]:
    if not table.mapping.operation.changes_order:
        return []
    items = (table.field("lines.item_id"), table.field("lines.item_name"))
    return [field for field in items if field is not None][:1]


def _stands_twice(_table: CompiledSheet, field: Field) -> pl.Expr:
    """Whether an item stands twice in a change: one of the two would be lost, for items go by their ids."""
    value = pl.col(field.value_name)
    return value.is_not_null() & (value.count().over("doc", field.value_name) > 1)


def _named_kits(table: CompiledSheet) -> list[Field]:
    own = ("kits.name", "kits.description")
    return [replace(field, place=f"lines.kit_{field.target}") for field in table.line if field.place in own]


def _differs_in_kit(_table: CompiledSheet, field: Field) -> pl.Expr:
    """Whether rows of one kit call it differently, also where only people take its key for one."""
    name = field.target.removeprefix("kit_")
    named = [f"v:kits.{name}", *([KIT] if name == "name" else [])]
    kit = pl.col(KIT).map_elements(folded_key, return_dtype=pl.String)
    return pl.col(KIT).is_not_null() & (pl.struct(named).n_unique().over("doc", kit) > 1)


def _called_totals(table: CompiledSheet) -> list[Field]:
    """The fields of goods with a line that is called as totals are; few files have one."""
    goods = [field for field in table.line if field.column is not None and table.form_of(field) is Form.GOODS]
    return [field for field in goods if table.grouped.lines.select(_is_called_total(field).any()).item()]


def _is_called_total(field: Field) -> pl.Expr:
    return pl.col(name_of(field.column or 1)).str.contains(A_TOTAL).fill_null(value=False)


def _totals_without_key(table: CompiledSheet) -> list[Field]:
    """Where keys are filled down, a total may stand under the key of the row above."""
    keys, known = keys_filled_down(table.mapping, table.bound), table.grouped.lines.columns
    return _called_totals(table) if keys and all(f"own:{key}" in known for key in keys) else []


def _has_no_own_key(table: CompiledSheet, field: Field) -> pl.Expr:
    own = [pl.col(f"own:{key}") for key in keys_filled_down(table.mapping, table.bound)]
    return _is_called_total(field) & ~pl.any_horizontal(own)


def _counted_totals(table: CompiledSheet) -> list[Field]:
    return _called_totals(table) if any(map(table.field, _QUANTITIES)) else []


def _is_sum_of_others(table: CompiledSheet, field: Field) -> pl.Expr:
    quantity = next(each for each in map(table.field, _QUANTITIES) if each is not None)
    number, called = pl.col(quantity.value_name).cast(pl.Float64, strict=False), _is_called_total(field)
    return called & (number == pl.when(~called).then(number).sum().over("doc"))


CHECKS: Final = (
    Check("required", _required, _is_blank, _column_name, on_each_row=True),
    Check("cod.nothing", _cash, lambda table, _: _cod(table)[0], on_each_row=True),
    Check("cod.surplus", _cash, lambda table, _: _cod(table)[1], on_each_row=True),
    Check("line_total", _line_totals, _is_no_product),
    Check("sample", _with_samples, lambda table, field: _fits(_SAMPLES[field.place])(table, field)),
    Check("placeholder", _codes_in_need, _fits(_NOTHING)),
    Check("placeholder.address", _addresses_in_need, _fits(_NO_ADDRESS)),
    Check("twice", _items_of_changes, _stands_twice),
    Check("disagree.kit", _named_kits, _differs_in_kit, lambda _, field: {"what": field.target.removeprefix("kit_")}),
    Check("total.keyless", _totals_without_key, _has_no_own_key),
    Check("total.sum", _counted_totals, _is_sum_of_others),
    Check(
        "decimal_mark",
        ambiguous_amounts,
        lambda _, field: field.value,
        of_cell=lambda value: message("decimal_mark", value=value),
    ),
)
"""The checks, in the order in which they count where one cell breaks several."""
