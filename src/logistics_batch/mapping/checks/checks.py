"""What is checked beside the fields' own rules: damaged cells, required ones, COD, totals, samples, swapped dates."""

import re
from decimal import Decimal
from typing import Final

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.checks.altered_values import CODES, altered_values, reads_dates
from logistics_batch.mapping.checks.doubtful_cells import Users, find_doubtful
from logistics_batch.mapping.checks.ragged import ragged
from logistics_batch.mapping.fields.compile import PERCENTAGE, CompiledSheet, marked_rows
from logistics_batch.mapping.fields.fields import Field, amount
from logistics_batch.mapping.fields.grouping import rows_where
from logistics_batch.mapping.fields.values import dates
from logistics_batch.mapping.fields.values.numbers import UNIT_NAMES, spellings_of
from logistics_batch.mapping.fields.values.reading import ReadContext, Words, message, say
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.rows import cells
from logistics_batch.mapping.rows.cells import Cleaned, Damage, name_of
from logistics_batch.mapping.rows.column_kinds import column_kinds
from logistics_batch.mapping.spec.model import DateRead, UnitRead
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.messages.words import row_list
from logistics_batch.model.sheet import CellFact

_DAMAGING: Final = {
    CellFact.ERROR.value: Damage.ERROR_VALUE.value,
    CellFact.NO_VALUE.value: Damage.NO_VALUE.value,
    CellFact.IMPRECISE.value: Damage.IMPRECISE.value,
}
NOT_SHOWN: Final = ";"
"""The number format text of a cell that shows nothing."""

_SAME_NUMBER: Final = "0(?: 0)* ?"  # blanks part thousands
_PIECES: Final = "nos?|pcs?|pieces?|units?|each|ea"
_NO_ADDRESS: Final = r"(?i)^(?:[^\p{L}]*|nan|none|null|nil|n\s?[/.]?\s?a\.?)$"  # one has letters
_ADDRESSES: Final = ("delivery_address", "shipping_address")
_NOTHING: Final = r"(?i)^(?:nan|none|null|n/a|[-\u{2013}\u{2014}.]{1,3})$"  # as programs and people write it
_SAMPLES: Final = {
    "fields.reference_number": r"(?i)^(?:ord|order|ref|sample|test|demo)[\s_#-]*0*(?:1|12|123|1234|12345)?$",
    "fields.invoice_number": r"(?i)^(?:inv|invoice|sample|test|demo)[\s_#-]*0*(?:1|12|123|1234|12345)?$",
    "fields.customer_name": r"(?i)^(?:john|jane)\s+doe$|^(?:test|sample|demo)(?:\s+(?:user|customer|name))?$",
    "fields.customer_mobile": r"^(?:6{10}|7{10}|8{10}|9{10})$",
}


def check(table: CompiledSheet, cleaned: Cleaned) -> Findings:
    """Every broken rule of every row."""
    found = Findings()
    ragged(found, table)
    users = _users(table)
    find_doubtful(found, table, users)
    _damaged(found, table, cleaned, users)
    _keyless(found, table)
    for field in table.header:
        for index, rule in enumerate(field.rules):
            rows = rows_of_heads(table, pl.col(field.rule_name(index)), field)
            found.add(rows, field.column, f"{field.target}|{rule.name}", rule.words)
        _required_in_header(found, table, field)
    for field in table.line:
        for index, rule in enumerate(field.rules):
            rows = rows_where(table.grouped.lines, pl.col(field.rule_name(index)))
            found.add(rows, field.column, f"{field.target}|{rule.name}", rule.words)
    for field in (*table.line, *table.keep):
        _required_in_line(found, table, field)
    for place, column, rule in table.sums:
        rows = rows_where(table.grouped.lines, rule.failed.fill_null(value=False))
        found.add(rows, column, f"{place.split('.', 1)[1]}|{rule.name}", rule.words)
    _cod(found, table)
    _line_total(found, table)
    _samples(found, table)
    _placeholders(found, table)
    _addresses(found, table)
    return found


def rows_of_heads(table: CompiledSheet, mask: pl.Expr, field: Field | None = None) -> pl.Series:
    """The rows whose header cells a mask is true for; of a filled-down or `first` cell only where it really stands."""
    heads, lines = table.grouped.heads.select(pl.col("head").filter(mask))["head"], table.grouped.lines
    if heads.is_empty():
        return pl.Series("row", [], dtype=pl.UInt32)
    stands = [pl.col("head").is_in(heads.implode())]
    if field is not None and field.column is not None and f"own:{name_of(field.column)}" in lines.columns:
        stands.append(pl.col(f"own:{name_of(field.column)}"))
    if field is not None and field.column is not None and field.spec.source == "first":
        stands.append(pl.col(name_of(field.column)) == pl.col(f"first:{name_of(field.column)}"))
    return rows_where(lines, pl.all_horizontal(stands))


def _damaged(found: Findings, table: CompiledSheet, cleaned: Cleaned, users: Users) -> None:
    """Cells of mapped columns whose value is lost: error values, formulas without one, too many digits."""
    if table.sheet.facts.is_empty() and cleaned.damage.is_empty():
        return
    lost = table.sheet.facts.filter(pl.col("kind").is_in(list(_DAMAGING))).select(
        "row", "column", pl.col("kind").replace_strict(_DAMAGING, return_dtype=pl.String).alias("damage")
    )
    damage = pl.concat([lost, cleaned.damage, _worded(table), *altered_values(table)]).filter(
        pl.col("row").is_in(table.data_rows.implode())
    )
    for (column, kind), rows in damage.group_by("column", "damage", maintain_order=True):
        if column in users:
            found.add(rows["row"], int(str(column)), f"{users[column]}|{kind}", say(*cells.WORDS[Damage(str(kind))]))


def _worded(table: CompiledSheet) -> pl.DataFrame:
    """Number cells that show something else than they hold; phones and PINs lose nothing by words and signs."""
    uses = column_kinds(table.mapping, table.bound)
    facts = table.sheet.facts_of(CellFact.NUMBER_FORMAT_TEXT).sort("row", "column").select("row", "column", "detail")
    units, shares = (_units(table), _of_percentages(table)) if facts.height else ({}, set())
    found = [
        (row, column, Damage.WORDED.value)
        for row, column, shown in facts.iter_rows()
        if column in uses
        and not (column in shares and shown == PERCENTAGE)
        and not (uses[column] is cells.ColumnKind.DIGITS and shown != NOT_SHOWN)
        and not (
            uses[column] is cells.ColumnKind.NUMBER and re.fullmatch(rf"(?i){_SAME_NUMBER}({units[column]})\.?", shown)
        )
    ]
    return pl.DataFrame(found, schema=cells.DAMAGE_SCHEMA, orient="row")


def _of_percentages(table: CompiledSheet) -> set[int | None]:
    """The columns that are read as percentages: a cell of 0.05 that shows 5% says 5."""
    fields = (*table.header, *table.line, *table.keep)
    natural = {each.column for each in fields if not each.spec.read and _form_of(table, each) is Form.PERCENT}
    return natural | {each.column for each in fields if "percent" in (each.spec.read or ())}


def _form_of(table: CompiledSheet, field: Field) -> Form:
    return Form.TEXT if field.place.startswith("keep.") else form_of(field.target, table.mapping.operation)


def _units(table: CompiledSheet) -> dict[int, str]:
    """For each column the words, as a pattern, that a number in it may be followed by: pieces, or the declared unit."""
    measures = {column: ColumnName.of(text).measure for column, text in enumerate(table.bound.texts, 1)}
    declared = {column: {said.name} if said and said.name in UNIT_NAMES else {""} for column, said in measures.items()}
    for field in (*table.header, *table.line, *table.keep):
        steps = [step for step in field.spec.read or () if isinstance(step, UnitRead)]
        if field.column is not None:
            declared[field.column] |= {step.unit.partition("->")[0].strip().lower() for step in steps}
    words = {column: [word for unit in units for word in spellings_of(unit)] for column, units in declared.items()}
    return {column: "|".join([*map(re.escape, each), _PIECES]) for column, each in words.items()}


def _users(table: CompiledSheet) -> Users:
    users: Users = {}
    for field in (*table.header, *table.line):
        for names in field.spec.columns:
            users.setdefault(table.bound.column(names), field.target)
    for name in table.mapping.spec.key:
        users.setdefault(table.bound.column(table.mapping.names_of(name)), "key")
    return users


def _keyless(found: Findings, table: CompiledSheet) -> None:
    found.add(table.keyless["row"], table.key_column, "key|required", message("required.key"))


def _required_words(table: CompiledSheet, field: Field) -> Words:
    names = field.spec.columns[0] if field.spec.columns else [field.target]
    header = table.bound.texts[field.column - 1].strip() if field.column else names[0]
    return message("required", name=header)


def _required_in_header(found: Findings, table: CompiledSheet, field: Field) -> None:
    """Blank where a value is demanded; where other rows of the document have one, the rows disagree instead."""
    if not table.mapping.is_required(field.place):
        return
    blank = field.empty if field.applies is None else field.empty & field.applies
    heads = table.grouped.heads
    if not heads.select(blank.any()).item():
        return
    filled = heads.select(pl.col("doc").filter(~blank))["doc"]
    nowhere = blank & ~pl.col("doc").is_in(filled.implode())
    found.add(rows_of_heads(table, nowhere), field.column, f"{field.target}|required", _required_words(table, field))


def _required_in_line(found: Findings, table: CompiledSheet, field: Field) -> None:
    if table.mapping.is_required(field.place):
        blank = field.empty if field.applies is None else field.empty & field.applies
        rows = rows_where(table.grouped.lines, blank.fill_null(value=True))
        found.add(rows, field.column, f"{field.target}|required", _required_words(table, field))


def _cod(found: Findings, table: CompiledSheet) -> None:
    """Cash on delivery needs an amount, and an amount needs cash on delivery."""
    flag = table.field("fields.is_cod")
    cash = table.field("fields.cash_on_delivery") or table.field("fields.amount_to_collect")  # the latter of a label
    if flag is None and (cash is None or table.mapping.operation.changes_order):  # the order's own flag is not known
        return
    read = [pl.col(each.rule_name(n)) for each in (flag, cash) if each for n in range(len(each.rules))]
    unread = pl.any_horizontal(_uncounted(table), *read)
    is_cod = pl.col(flag.value_name).eq_missing("true") if flag else pl.lit(value=False)
    due = pl.col(cash.value_name).cast(pl.Float64, strict=False).fill_null(0) if cash else pl.lit(0.0)
    column = (cash or flag or table.header[0]).column
    rule = f"{cash.target if cash else 'cash_on_delivery'}|cod"
    nothing = say(
        "The order is cash on delivery, but the amount to collect is 0 or blank.",
        "Write the amount to collect, or correct the payment method.",
    )
    found.add(rows_of_heads(table, is_cod & (due <= 0) & ~unread), column, rule, nothing)
    surplus = say(
        "There is an amount to collect, but the order is not cash on delivery.",
        "Remove the amount, or correct the payment method.",
    )
    found.add(rows_of_heads(table, ~is_cod & (due > 0) & ~unread), column, rule, surplus)


def _uncounted(table: CompiledSheet) -> pl.Expr:
    """Whether a sum of the document has a cell that is no number: then its total says nothing."""
    masks = [rule.failed.fill_null(value=False) for _, _, rule in table.sums]
    if not masks:
        return pl.lit(value=False)
    docs = table.grouped.lines.select(pl.col("doc").filter(pl.any_horizontal(masks)))["doc"].unique()
    return pl.col("doc").is_in(docs.implode())


def _line_total(found: Findings, table: CompiledSheet) -> None:
    """Quantity times price is the row's total."""
    rule = table.mapping.spec.checks.line_total
    if rule is None:
        return
    around = surroundings(table)
    numbers = [table.bound.column(table.mapping.names_of(name)) for name in (rule.quantity, rule.price, rule.total)]
    quantity, price, total = (amount(pl.col(name_of(number or 1)), around) for number in numbers)
    gap = ((quantity * price).cast(pl.Decimal(38, 6)) - total).abs()
    rows = rows_where(table.grouped.lines, (gap > pl.lit(Decimal(rule.tolerance))).fill_null(value=False))
    words = say(
        "Quantity times price is not the total of the row.",
        "Correct the quantity, the price or the total.",
    )
    target = next((each.target for each in (*table.line, *table.keep) if each.column == numbers[2]), "row")
    found.add(rows, numbers[2], f"{target}|line_total", words)


def _samples(found: Findings, table: CompiledSheet) -> None:
    """Values of templates and examples, which nobody wants delivered."""
    if not table.mapping.spec.checks.sample_values:
        return
    words = say("This looks like a value of a template.", "Write the real value, or remove the row.")
    for place, pattern in _SAMPLES.items():
        field = table.field(place)
        if field is not None:
            mask = pl.col(field.value_name).str.contains(pattern).fill_null(value=False)
            found.add(rows_of_heads(table, mask, field), field.column, f"{field.target}|sample", words)


def _placeholders(found: Findings, table: CompiledSheet) -> None:
    """Words for nothing, where a number or name must stand by which a document or its goods are known."""
    words = say("This is a placeholder: it stands for no value.", "Write the real value, or leave the row out.")
    natural = {f"fields.{target}" for group in table.mapping.targets.natural for target in group}
    for field in (*table.header, *table.line):
        wanted = field.place in natural or table.mapping.is_required(field.place)
        if wanted and form_of(field.target, table.mapping.operation) in CODES:
            mask = pl.col(field.value_name).str.contains(_NOTHING).fill_null(value=False)
            in_header = field.place.startswith("fields.")
            rows = rows_of_heads(table, mask, field) if in_header else rows_where(table.grouped.lines, mask)
            found.add(rows, field.column, f"{field.target}|placeholder", words)


def _addresses(found: Findings, table: CompiledSheet) -> None:
    """An address without a letter, or a word for nothing, where one is required: nobody finds the customer."""
    words = say("This is no address.", "Write street, house and town, or leave the row out.")
    for field in table.header:
        if field.target in _ADDRESSES and table.mapping.is_required(field.place):
            mask = pl.col(field.value_name).str.contains(_NO_ADDRESS).fill_null(value=False)
            found.add(rows_of_heads(table, mask, field), field.column, f"{field.target}|placeholder", words)


def surroundings(table: CompiledSheet) -> ReadContext:
    """What numbers of the sheet are read with."""
    return ReadContext(table.run.business_date, table.run.timezone, decimal=table.mapping.spec.sheet.decimal)


def hold_mixed_dates(table: CompiledSheet) -> None:
    """Refuse a file in which a column has true dates and dates written as text.

    That is what a spreadsheet program leaves when it took some texts for dates with day and month changed over.
    Raises FileHeld.
    """
    for field in (*table.header, *table.line, *table.keep):
        if field.column is None or not reads_dates(table, field):
            continue
        lines, own = table.grouped.lines, f"own:{name_of(field.column)}"
        lines = lines.filter(own) if own in lines.columns else lines  # what was filled down has no mark of its own
        rows = lines.select("row", pl.col(name_of(field.column)).alias("cell")).drop_nulls("cell")
        true_dates = marked_rows(table.sheet, field.column, (CellFact.DATE, CellFact.DATETIME))
        is_date = pl.col("row").is_in(true_dates.implode())
        written = rows.filter(~is_date & dates.looks_like_a_date(pl.col("cell")))
        if written.is_empty() or not rows.filter(is_date).height:
            continue
        why = {cell: dates.no_such_day(cell, _date_formats(field)) for cell in written["cell"].unique().to_list()}
        # What no calendar has stays text, whatever became of the others; of digits it may be a month.
        texts = [(row, cell) for row, cell in written.iter_rows() if not (why[cell] and re.search("[A-Za-z]", cell))]
        if texts:
            name = table.bound.texts[field.column - 1].strip()
            where_texts = row_list(table.sheet.physical_rows(row for row, _ in texts))
            hint = next((f' "{cell}": {why[cell]}' for _, cell in texts if why[cell]), "")
            raise file_held(
                f'Column "{name}" has true dates and dates written as text (rows {where_texts}): '
                f"the program may have changed day and month over in the true ones.{hint}",
                rule=f"{field.target}|mixed_dates",
                remedy="Make the whole column one or the other, check day and month, and send the file again.",
                table=table,
            )


def hold_swapped_dates(table: CompiledSheet) -> None:
    """Refuse a file whose dates in a column fit only with day and month changed over, and others would fit both ways.

    Then the others are read wrong, too; one date that fits as declared and not the other way shows that they are not.
    Raises FileHeld.
    """
    for field in (*table.header, *table.line, *table.keep):
        day_first = dates.is_day_first(_date_formats(field))
        if field.column is None or day_first is None:
            continue
        cells = table.grouped.lines.select("row", pl.col(name_of(field.column)).alias("cell"))
        swapped, sound, either = dates.day_and_month(pl.col("cell"), day_first=day_first)
        different = cells["cell"].unique().to_frame()  # many rows have the same date
        has_swapped, has_sound, has_either = different.select(
            swapped.any().alias("swapped"), sound.any().alias("sound"), either.any().alias("either")
        ).row(0)
        if has_sound or not (has_swapped and has_either):
            continue
        name = table.bound.texts[field.column - 1].strip()
        where_swapped = row_list(table.sheet.physical_rows(cells.filter(swapped)["row"]))
        raise file_held(
            f'Column "{name}" has dates that fit only with day and month changed over (rows {where_swapped}), and '
            "others that fit both ways: the whole column may be written so.",
            rule=f"{field.target}|swapped_dates",
            remedy="Write all dates as agreed, or ask the operator to change the date format of the mapping.",
            table=table,
        )


def _date_formats(field: Field) -> list[str]:
    return [each for step in field.spec.read or () if isinstance(step, DateRead) for each in step.date]


def file_held(reason: str, *, rule: str, remedy: str, table: CompiledSheet) -> FileHeld:
    """What is said of a file that is refused for what stands in its table."""
    rows, header_row = table.sheet.frame.height - 1, table.bound.row
    return FileHeld(reason, rule=rule, remedy=remedy, rows_read=rows, sheet=table.sheet.name, header_row=header_row)
