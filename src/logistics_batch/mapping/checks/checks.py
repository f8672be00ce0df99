"""What rows must keep beside their fields' own rules: questions to the compiled sheet, all asked in one pass."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import chain
from typing import Final

import polars as pl

from logistics_batch.mapping.checks.cells import find_doubtful_cells, find_ragged
from logistics_batch.mapping.fields.compile import CompiledSheet, is_marked
from logistics_batch.mapping.fields.fields import KIT, Field, cell_of, factors, summed_columns
from logistics_batch.mapping.fields.values.numbers import without_currency
from logistics_batch.mapping.fields.values.reading import Said
from logistics_batch.mapping.fields.values.verbs import no_number
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.rows.cells import BLANKS, name_of, without_words
from logistics_batch.mapping.rows.classify import A_TOTAL, Rows, keys_filled_down
from logistics_batch.mapping.spec.targets import CODES, FieldForm
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import CellFact
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
_EITHER: Final = r"^[-+(]? *0{0,2}[1-9][0-9]{0,2}\.[0-9]{3} *[-)]?$"
_THREE_DECIMALS: Final = r"[0-9]\.[0-9]{3}(?:[^0-9]|$)"  # as all of these have, and few others
_POINT_PARTS_PAISE: Final = r"^[^.]*\.(?:[0-9]{1,2}|[0-9]{4,})?[^0-9.]*$|[0-9]{4}\.[0-9]|^[^0-9]*0*\.[0-9]|,.*\."
"""Cells in which the full stop can be nothing but the decimal mark: 12.50, 1250.000, 0.500, 1,200.000."""

_QUANTITIES: Final = ("lines.item_quantity", "lines.qty", "lines.quantity")


@dataclass(frozen=True, slots=True, eq=False)
class CheckContext:
    """A question to the rows: where a rule is broken or a value is odd, and what is said then.

    field: the one that it is about; it may be a field under another name, as which the answer is told. failed: true
    where the answer is yes, over the documents' header cells for a field of these, else over lines. on_each_row: a
    header cell is blamed on every row of its document, also where it was filled down.
    """

    field: Field
    failed: pl.Expr
    said: Said
    on_each_row: bool = False


def check_rows(table: CompiledSheet, rows: Rows) -> Findings:
    """Every broken rule of every row; of several on one cell the first counts."""
    found = Findings()
    find_ragged(found, table)
    find_doubtful_cells(found, table, rows.cleaned)
    for (head,), keyless in _without_key(table).group_by("head", maintain_order=True):
        known = Issue.of("required.key_of", row=table.sheet.physical_rows([head])[0]) if head else None
        found.add(keyless["row"], table.key_column, "key", known or Issue("required.key"))
    for each, broken in answers(table, chain.from_iterable(check(table) for check in CHECKS)):
        found.add(broken, each.field.column, each.field.target, each.said)
    return found


def _without_key(table: CompiledSheet) -> pl.DataFrame:
    """The rows without a key (row, head). head: the row above to which one belongs, as its cells that would be filled
    down are blank and that row's are not; null where there is none.
    """
    rows = table.keyless.select("row", head=pl.lit(None, pl.UInt32))
    if rows.is_empty() or not keys_filled_down(table.mapping, table.bound):
        return rows
    filled = pl.col([str(column) for column in table.columns(table.mapping.spec.sheet.fill_down)])
    cells = table.sheet.frame.select("row", leads=pl.any_horizontal(filled.str.strip_chars(BLANKS) != ""))
    rows = rows.select("row").join(cells, on="row", how="left", maintain_order="left")
    leads, is_next = pl.col("leads").fill_null(value=False), pl.col("row") == pl.col("row").shift(1) + 1
    rows = rows.with_columns(leads.alias("leads"), (leads | ~is_next.fill_null(value=False)).cum_sum().alias("block"))
    head = pl.when(pl.col("leads").first().over("block")).then(pl.col("row").first().over("block"))
    return rows.select("row", head=pl.when(~pl.col("leads")).then(head))


def answers(table: CompiledSheet, asked: Iterable[CheckContext]) -> Iterator[tuple[CheckContext, pl.Series]]:
    """The questions that some row answers with yes, in their order, and these rows; few have any."""
    every = list(asked)
    broken: set[CheckContext] = set()
    for frame, of_document in ((table.heads, True), (table.lines, False)):
        own = [each for each in every if each.field.is_of_document is of_document]
        tests = [each.failed.any().alias(str(place)) for place, each in enumerate(own)]
        said = frame.lazy().select(tests).collect(engine="in-memory").row(0) if tests else ()
        broken |= {each for each, is_broken in zip(own, said, strict=True) if is_broken}
    for each in every:
        if each in broken:
            yield each, table.rows_where(each.failed, each.field, on_each_row=each.on_each_row)


def _own_rules(table: CompiledSheet) -> Iterator[CheckContext]:
    """What fields ask of their cells by themselves; those that are kept ask nothing."""
    for field in (*table.header, *table.line):
        yield from (CheckContext(field, field.broken == n, rule.said) for n, rule in enumerate(field.rules))
    yield from _summands(table)
    yield from _factors(table)


def _factors(table: CompiledSheet) -> Iterator[CheckContext]:
    """What can be wrong with cells that a field's own cell is multiplied by."""
    for field in (*table.header, *table.line):
        for column, number, code in factors(table.bound, field.spec, table.around):
            told, own, cell = cell_of(field.target, column), pl.col(name_of(field.column or 1)), pl.col(name_of(column))
            lacks = cell.is_null() & own.is_not_null()
            there, beside = (table.bound.texts[each - 1].strip() for each in (field.column or 1, column))
            yield CheckContext(told, cell.is_not_null() & number.is_null(), Issue(code))
            yield CheckContext(told, lacks, Issue.of("half_filled", filled=there, blank=beside))


def _summands(table: CompiledSheet) -> Iterator[CheckContext]:
    """What can be wrong with cells that are added up, where the sum is asked for; a row with one factor of a product
    alone counts for nothing.
    """
    texts, mark = table.bound.texts, table.mapping.spec.sheet.decimal
    for field in table.fields:
        spec, applies = field.spec, pl.lit(value=True) if field.applies is None else field.applies
        taken_off = [*map(table.bound.column, (spec.less or (), *spec.minus))]
        factors = [*map(table.bound.column, (spec.sum or (), spec.times or ()))] if spec.times else []
        for column in summed_columns(table.bound, spec) if spec.source == "sum" else ():
            told, cell = cell_of(field.target, column), pl.col(name_of(column))
            number = pl.col(f"sum:{field.place}:{column}")
            yield CheckContext(told, applies & cell.is_not_null() & number.is_null(), no_number("sum", mark))
            if column in taken_off:
                yield CheckContext(told, applies & (number < 0), Issue("negative.taken_off"))
            for other in (each for each in factors if each and column in factors and each != column):
                lacks = applies & cell.is_null() & pl.col(name_of(other)).is_not_null()
                there, beside = texts[other - 1].strip(), texts[column - 1].strip()
                yield CheckContext(told, lacks, Issue.of("half_filled", filled=there, blank=beside))


def _required(table: CompiledSheet) -> Iterator[CheckContext]:
    """Blank where a value is demanded; where other rows of the document have one, the rows disagree instead."""
    for field in table.fields:
        if not table.mapping.is_required(field.place) and field.place != "lines.sku_name":
            continue  # the service takes a line without a SKU, and nobody can receive it
        blank = field.empty if field.applies is None else field.empty & field.applies
        if not field.is_of_document:
            blank = blank.fill_null(value=True)
        elif table.heads.select(blank.any()).item():
            blank = blank.all().over("doc")
        names = field.spec.columns[0] if field.spec.columns else [field.target]
        name = table.bound.texts[field.column - 1].strip() if field.column else names[0]
        yield CheckContext(field, blank, Issue.of("required", name=name), on_each_row=True)


def _cash(table: CompiledSheet) -> Iterator[CheckContext]:
    """Cash on delivery without an amount, and the reverse; only where both could be read.

    It is told of the amount to collect, or of what says that there is one; a change does not know the order's own flag.
    """
    flag = table.field("fields.is_cod")
    cash = table.field("fields.cash_on_delivery") or table.field("fields.amount_to_collect")
    told = cash or (flag and replace(flag, place="fields.cash_on_delivery"))
    if told is None or (flag is None and table.mapping.operation.changes_order):
        return
    unread = [each.broken.is_not_null() for each in (flag, cash) if each]
    sums = [each.failed.fill_null(value=False) for each in _summands(table)]
    if sums:  # a total with a cell that is no number says nothing
        uncounted = table.lines.select(pl.col("doc").filter(pl.any_horizontal(sums)))["doc"]
        unread.append(pl.col("doc").is_in(uncounted.unique().implode()))
    is_read = ~pl.any_horizontal(unread)
    is_cod = pl.col(flag.value_name).eq_missing("true") if flag else pl.lit(value=False)
    due = cash.number.fill_null(0) if cash else pl.lit(0.0)
    yield CheckContext(told, is_cod & (due <= 0) & is_read, Issue("cod.nothing"), on_each_row=True)
    payment = table.text_of(flag.column) if flag and flag.column else "…"
    surplus = Issue.of("cod.surplus", payment=payment)
    yield CheckContext(told, ~is_cod & (due > 0) & is_read, surplus, on_each_row=True)


def _line_totals(table: CompiledSheet) -> Iterator[CheckContext]:
    """Whether quantity times price is not the row's total."""
    rule = table.mapping.spec.checks.line_total
    if rule is None:
        return
    columns = [table.bound.column(table.mapping.names_of(name)) for name in (rule.quantity, rule.price, rule.total)]
    quantity, price, total = (table.amounts(number or 1) for number in columns)
    gap = ((quantity * price).cast(pl.Decimal(38, 6)) - total).abs()
    told = (each for each in (*table.line, *table.keep) if each.column == columns[2])
    field = next(told, cell_of("row", columns[2]))
    yield CheckContext(field, gap > pl.lit(Decimal(rule.tolerance)), Issue("line_total"))


def _invented(table: CompiledSheet) -> Iterator[CheckContext]:
    """Values of samples, and what stands for nothing in a number, name or address that is needed."""
    for place, pattern in _SAMPLES.items() if table.mapping.spec.checks.sample_values else ():
        if (field := table.field(place)) is not None:
            yield CheckContext(field, pl.col(field.value_name).str.contains(pattern), Issue("sample"))
    natural = {f"fields.{target}" for group in table.mapping.targets.natural for target in group}
    for field in (*table.header, *table.line):
        value, is_required = pl.col(field.value_name), table.mapping.is_required(field.place)
        if table.form_of(field) in CODES and (field.place in natural or is_required):
            yield CheckContext(field, value.str.contains(_NOTHING), Issue("placeholder"))
        if is_required and field.is_of_document and field.target in _ADDRESSES:
            yield CheckContext(field, value.str.contains(_NO_ADDRESS), Issue("placeholder.address"))


def _twice(table: CompiledSheet) -> Iterator[CheckContext]:
    """Whether an item stands twice in a change: one of the two would be lost, for items go by their ids."""
    field = table.field("lines.item_id") or table.field("lines.item_name")
    if field is not None and table.mapping.operation.changes_order:
        yield CheckContext(field, pl.col(field.value_name).count().over("doc", field.value_name) > 1, Issue("twice"))


def _kits(table: CompiledSheet) -> Iterator[CheckContext]:
    """Whether rows of one kit call it differently, also where only people take its key for one."""
    for field in table.line:
        if field.place in ("kits.name", "kits.description"):
            named = [field.value_name, *([KIT] if field.target == "name" else [])]
            kit = pl.col(KIT).map_elements(folded_key, return_dtype=pl.String)
            differs = pl.col(KIT).is_not_null() & (pl.struct(named).n_unique().over("doc", kit) > 1)
            told = replace(field, place=f"lines.kit_{field.target}")
            yield CheckContext(told, differs, Issue.of("disagree.kit", what=field.target))


def _totals(table: CompiledSheet) -> Iterator[CheckContext]:
    """Goods that are called as totals are: under the key of the row above, or as the sum of the document's others; and
    sums beside which no goods are called, of several rows where keys stand on each: two alike are no total.
    """
    lines, keys = table.lines, keys_filled_down(table.mapping, table.bound)
    own = [f"own:{key}" for key in keys if f"own:{key}" in lines.columns]
    quantity = next(filter(None, map(table.field, _QUANTITIES)), None)
    for field in table.line:
        if field.column is None or table.form_of(field) is not FieldForm.GOODS:
            continue
        called = pl.col(name_of(field.column)).str.contains(A_TOTAL).fill_null(value=False)
        if quantity is not None and lines.select(field.empty.any()).item():
            others = pl.when(~field.empty).then(quantity.number).sum().over("doc")
            several = pl.lit(table.mapping.key_is_above) | ((~field.empty).sum().over("doc") > 1)
            said = Issue.of("required.sum", name=table.text_of(field.column))
            yield CheckContext(field, field.empty & (quantity.number == others) & several, said)
        if not lines.select(called.any()).item():
            continue
        if table.mapping.key_is_above:
            yield CheckContext(field, called, Issue("total.alone"))
        elif keys and len(own) == len(keys):
            yield CheckContext(field, called & ~pl.any_horizontal(own), Issue("total.keyless"))
        if quantity is not None:
            others = pl.when(~called).then(quantity.number).sum().over("doc")
            yield CheckContext(field, called & (quantity.number == others), Issue("total.sum"))


def _decimal_marks(table: CompiledSheet) -> Iterator[CheckContext]:
    """Amounts and whole numbers of columns in which nothing shows what the full stop means.

    1.200 is one rupee twenty, or one thousand two hundred; 1.000 is one piece or a thousand, where no such column shows
    it. A mapping that says `decimal` has settled it, and a number cell of a workbook has no decimal mark. What is
    multiplied by amounts is none itself.
    """
    targets: dict[int, tuple[str, bool]] = {}
    for field in (*table.header, *table.line) if "decimal" not in table.mapping.spec.sheet.model_fields_set else ():
        form, verbs = table.form_of(field), table.verbs_of(field)
        is_money = "money" in verbs or form is FieldForm.MONEY
        if is_money or "integer" in verbs or form in (FieldForm.QUANTITY, FieldForm.COUNT):
            for column in filter(None, map(table.bound.column, field.spec.own_columns)):
                targets.setdefault(column, (field.target, is_money))
    has_three = (pl.col(name_of(column)).str.contains(_THREE_DECIMALS).any().alias(str(column)) for column in targets)
    seen = table.lines.select(has_three) if targets else table.lines.clear()
    for column in [each for each in targets if seen.height and seen[str(each)].any()]:
        target, is_money = targets[column]
        doubtful = _texts(table, column, _EITHER)
        proofs = [_texts(table, each, _POINT_PARTS_PAISE).any() for each in ([column] if is_money else targets)]
        if table.lines.select(doubtful.any() & ~pl.any_horizontal(proofs)).item():
            yield CheckContext(cell_of(target, column), doubtful, partial(_either, is_money=is_money))


def _texts(table: CompiledSheet, column: int, pattern: str) -> pl.Expr:
    """Whether the cell of a column is no number to the spreadsheet program, and fits a pattern without its words."""
    cell = without_currency(without_words(column, table.around))
    return ~is_marked(table.sheet, column, CellFact.NUMBER) & cell.str.contains(pattern)


def _either(value: str, *, is_money: bool) -> Issue:
    """What is said of a number with a full stop that may be read in two ways."""
    whole, part = (re.findall(r"(?<![0-9])([0-9]++)\.([0-9]{3})", value) or [("1", "000")])[0]
    rest = part.rstrip("0")
    small = f"{whole}.{rest:0<2}" if is_money else f"{whole}.{rest}".rstrip(".")
    return Issue.of("decimal_mark", value=value, small=small, large=f"{whole}{part}{'.00' if is_money else ''}")


CHECKS: Final = (_decimal_marks, _own_rules, _totals, _required, _cash, _line_totals, _invented, _twice, _kits)
"""The checks, in the order in which they count where one cell breaks several."""
