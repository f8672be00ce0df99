"""Which rows are data: the others are skipped with a code, and blank cells are filled down within their block."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from typing import Final, NamedTuple

import polars as pl

from logistics_batch.mapping.loaded import Mapping, RunValues, is_above
from logistics_batch.mapping.rows.cells import (
    DAMAGE_SCHEMA,
    OF_DIGITS,
    Cleaned,
    ColumnKind,
    Damage,
    amount,
    bare,
    clean,
    column_kinds,
    name_of,
    reading_of_numbers,
)
from logistics_batch.mapping.rows.header import Header, where
from logistics_batch.mapping.rows.no_data import (
    notes_below,
    repeats_header,
    repeats_title,
    resembles_header,
    units_below,
)
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.spec.words import PAGE, SIGNED, SUBTOTAL, TOTAL, TOTAL_ALONE, TOTAL_INVOICE, TOTAL_KEY
from logistics_batch.model.report import HIDDEN_ROW
from logistics_batch.model.sheet import CellFact, Sheet

_DRAWN: Final = r"^[-=_+]{3,}$"
_SHOWN_CHARACTERS: Final = 40  # of a cell in a reason
BY_PATTERN: Final = ("skip_rows_where", "only_rows_where")
LEFT_OUT: Final = (*BY_PATTERN, "hidden row")
"""The rules by which a mapping leaves out rows that might be data."""

FOOT: Final = "title.below"
"""The code of rows below the table in which values stand that are read once for the whole file."""

_DITTO: Final = "ditto:"
_SEEN: Final = "seen:"
MARKS: Final = ("〃", '"', "''", "-do-", "-Do-", "-DO-", "- do -", "- Do -", "ditto", "Ditto", "DITTO", "-〃-", '-"-')
_MAY_BE_DATA: Final = pl.col("code").is_null() | (pl.col("code") == HIDDEN_ROW)
A_TOTAL: Final = (  # and nothing more: "Total Whitening" is a toothpaste
    r"(?i)^(?:(?:(?:grand|sub|page|net|gross|g|running|invoice|bill|order|cartons?|ctns?)?[\s\-.]*(?:totals?|ttl)"
    r"[\s(]*(?:no\.?\s*(?:of\s+)?)?(?:(?:qty|quantity|amount|value|items?|pcs|pieces|units|cartons?|ctns?|boxes)\b\.?)?"
    r"(?:\s+in\s+(?:pcs|pieces|nos|units))?\)?)"
    rf"|{PAGE}|sum|nett?|[cb]/f|(?:carried|brought) forward|\x{{3a3}}|कुल)[\s:.=]*$"
)
_QUANTITIES: Final = ("item_quantity", "qty", "quantity")


@dataclass(frozen=True, slots=True)
class Rows:
    """A sheet's rows but the header, told apart.

    data: row and the used columns (c1, c2 …), clean and filled down; for a filled-down column also `own:c1`, false
    where the value came from above. skipped: row, code, values. hidden: those of the skipped rows that would be data
    if the user could see them, with the same columns as data. cleaned: what cleaning found.
    """

    data: pl.DataFrame
    skipped: pl.DataFrame
    hidden: pl.DataFrame
    cleaned: Cleaned

    def skipped_by(self, *rules: str) -> pl.Series:
        """The rows that are skipped by some rules."""
        return self.skipped.filter(pl.col("code").str.extract(r"^([^.]*)").is_in(rules))["row"]


class _Rule(NamedTuple):
    """Why a row is no data: a code, whether it holds, and the code's values, packed.

    `c1` is a cell, clean if it is in use, and `raw:c1` as it stands, for a damaged cell is not blank.
    """

    code: str
    holds: pl.Expr
    values: pl.Expr = pl.lit("")


def classify_rows(mapping: Mapping, sheet: Sheet, header: Header) -> Rows:
    """Tell data from the rest, clean the columns in use, fill down."""
    begins = int(sheet.frame["row"][0] == header.row)  # then nothing need be copied
    body = sheet.frame.slice(begins) if begins else sheet.frame.filter(pl.col("row") != header.row)
    uses = column_kinds(mapping, header)
    wanted = [*_own_columns(sheet, header), *sheet.above]
    body = body.select("row", *(pl.col(str(number)).alias(name_of(number)) for number in wanted))
    trimmed, cleaned = clean(body.select("row", *map(name_of, uses)), uses)
    once = [replace(each, rows=each.rows.head(1)) if each.column in sheet.above else each for each in cleaned.repairs]
    body = body.drop(map(name_of, sheet.above))
    frame = without_dittos(cleaned.frame, uses, header.numbers(mapping, mapping.spec.sheet.fill_down))
    numbers = [column for column, use in uses.items() if use in OF_DIGITS and column not in sheet.above]
    seen = _as_seen(mapping, sheet, header, frame)
    skipped = _skipped(mapping, sheet, header, numbers, body=body, trimmed=trimmed, cleaned=seen)
    if skipped.is_empty():  # a join would copy all cells
        told = (pl.lit(None, dtype=skipped.schema[name]).alias(name) for name in ("code", "values"))
        marked = frame.with_columns(told)
    else:
        marked = frame.join(skipped, on="row", how="left", maintain_order="left")
    for further in (_continuations, totals_as_goods):
        if not (more := further(mapping, header, marked)).is_empty():
            marked = marked.update(more, on="row")
    skipped = marked.select("row", "code", "values").drop_nulls("code")
    filled, unfilled = as_above(fill_down(mapping, sheet, header, marked))
    filled = _as_in_document(mapping, header, filled)
    cleaned = replace(cleaned, frame=frame, damage=pl.concat([cleaned.damage, unfilled]), repairs=tuple(once))
    in_use = {"row", *(f"{before}{name_of(number)}" for number in uses for before in ("", "own:"))}
    kept = [name for name in filled.columns if name in in_use]
    data = filled if skipped.is_empty() else filled.filter(pl.col("code").is_null())
    hidden = filled.clear() if skipped.is_empty() else filled.filter(pl.col("code") == HIDDEN_ROW)
    return Rows(data.select(kept), skipped, hidden.select(kept), cleaned)


def nameless(sheet: Sheet, header: Header, rows: Rows) -> list[str]:
    """What those columns without a name are called that the mapping does not speak of, and that rows of data fill."""
    named = {str(number): name for number, name in header.nameless.items()}
    if not named:
        return []
    data = sheet.frame.filter(pl.col("row").is_in(rows.data["row"].implode())).select(*named)
    return [named[column.name] for column in data if column.str.contains(r"\S").any()]


def _own_columns(sheet: Sheet, header: Header) -> list[int]:
    """The numbers of the sheet's columns without our earlier answers and what stands above the table."""
    return [number for number in range(1, sheet.width + 1) if number not in header.own and number not in sheet.above]


def _skipped(
    mapping: Mapping,
    sheet: Sheet,
    header: Header,
    numbers: Sequence[int],
    *,
    body: pl.DataFrame,
    trimmed: pl.DataFrame,
    cleaned: pl.DataFrame,
) -> pl.DataFrame:
    """The rows that are no data: row, code, values.

    numbers: the columns that hold numbers, of any kind. body: all cells as they stand. trimmed, cleaned: those in use.
    Only rows that a rule might hold for are looked at with all their cells; the first rule that holds counts.
    """
    resembles = resembles_header(header, numbers, trimmed)
    rules, suspects = _rules(mapping, sheet, header, numbers, body=trimmed)
    is_suspect = cleaned.select(pl.any_horizontal(pl.lit(resembles), *suspects).fill_null(value=False)).to_series()
    places = is_suspect.arg_true()
    if places.is_empty():
        return pl.DataFrame(schema={"row": pl.UInt32, "code": pl.String, "values": pl.String})
    every = body[places].with_columns(map(bare, body.columns[1:]))
    again = repeats_header(mapping, sheet, header, every.filter(resembles.gather(places)))
    raw = every.drop("row").select(pl.all().name.prefix("raw:"))
    titles = repeats_title(sheet, header, every)
    last = int(cleaned["row"].filter(~is_suspect).max() or 0)  # type: ignore[arg-type]
    notes = notes_below(every, _kinds_read(mapping, sheet, header), last=last, body=trimmed) if last else []
    told = {"again": again, "title": titles.to_list(), "note": notes, "units": units_below(every, header=header.row)}
    is_told = {name: pl.col("row").is_in(numbers) for name, numbers in told.items()}
    marked = every.with_columns(*cleaned[places].drop("row"), *raw, **is_told)
    code = pl.coalesce(pl.when(rule.holds).then(pl.lit(rule.code)) for rule in rules)
    values = pl.coalesce(pl.when(rule.holds).then(rule.values) for rule in rules)
    found = marked.select("row", code=code, values=values).drop_nulls("code")
    # A formula in a key column that no program has worked out may be an order.
    facts = sheet.facts_of(CellFact.NO_VALUE).filter(pl.col("column").is_in(_key_numbers(mapping, header)))
    looks_empty = (pl.col("code") == "blank") | pl.col("code").str.starts_with("comment.")
    return found.filter(~(looks_empty & pl.col("row").is_in(facts["row"].implode())))


def _rules(
    mapping: Mapping, sheet: Sheet, header: Header, numbers: Sequence[int], *, body: pl.DataFrame
) -> tuple[list[_Rule], list[pl.Expr]]:
    """Every rule by which a row is no data, those that count first at the head; and what the cells in use of such a row
    show, if it is not like the header.
    """
    cells = [name_of(column) for column in _own_columns(sheet, header)]
    keys = [pl.col(name_of(column)) for column in _key_numbers(mapping, header)]
    filled = header.numbers(mapping, mapping.spec.sheet.fill_down)  # which may be blank in a row
    required = {*header.bound(mapping.required), *(() if keys else _goods(mapping, header))}
    needed = sorted(required.difference(filled) or required)
    lacks = pl.any_horizontal(pl.col(name_of(column)).is_null() for column in needed)
    invoice = mapping.spec.fields.get("invoice_number")
    invoices = header.bound(invoice.columns) if invoice else []
    mapped = [*map(name_of, _kinds_read(mapping, sheet, header))]
    first, of_keys = pl.coalesce(cells), {key.meta.output_name() for key in keys}
    # A person's name may stand in place of the key, and nothing else.
    others = [pl.col(name) for name in mapped if name not in of_keys]
    alone = pl.all_horizontal(pl.lit(value=True), *(cell.is_null() | (cell == first) for cell in others))
    bare_of = [key.is_null() | key.str.contains(SIGNED) | alone for key in keys]
    bare_of += [cell.is_null() | cell.str.contains(SIGNED) for cell in map(pl.col, map(name_of, numbers))]
    raw = [pl.col(f"raw:{name}") for name in cells]
    drawn = pl.all_horizontal(cell.is_null() | cell.str.contains(_DRAWN) for cell in raw)
    line = pl.any_horizontal(lacks, *(key.str.contains(_DRAWN) for key in keys[:1]))
    hidden = sheet.hidden_rows if mapping.spec.sheet.hidden_rows != "read" else ()
    declared = [where(mapping, header, control.row_where) for control in mapping.spec.checks.control_total]
    by_pattern = _by_pattern(mapping, header)
    totals = [
        *(_Rule("total", pl.col(name_of(column)).str.contains(TOTAL_INVOICE)) for column in invoices),
        *(_Rule("total", pl.all_horizontal(fit for _, fit in each)) for each in declared if each),
    ]
    title, unseen = pl.col("row") < header.row, pl.col("row").is_in(list(hidden))
    foot = pl.col("row").is_in(list(sheet.foot))
    rules = [
        _Rule(FOOT, foot),
        _Rule("blank", pl.all_horizontal(cell.is_null() for cell in raw)),
        _Rule("title", title),
        _Rule("repeated header", pl.col("again")),
        _Rule("title.again", pl.col("title")),
        _Rule("comment.remark", lacks & first.str.starts_with(";")),
        _Rule("comment.line", line & drawn),
        *by_pattern,
        _Rule("total", lacks & is_called_total(keys, cells, needed if filled else [], body=body)),
        *totals,
        _Rule("comment.signature", lacks & pl.all_horizontal(first.str.contains(SIGNED), *bare_of)),
        _Rule("comment.units", lacks & pl.col("units")),
        _Rule("comment.note", lacks & pl.col("note")),
        _Rule("comment.unmapped", pl.all_horizontal(pl.col(f"raw:{name}").is_null() for name in mapped)),
        _Rule(HIDDEN_ROW, unseen),
    ]
    above = sheet.frame.filter(pl.col("row") < header.row)[str(needed[0])].drop_nulls().str.strip_chars()
    suspects = [
        line,
        pl.col(name_of(needed[0])).is_in(above.implode()),
        pl.all_horizontal(pl.col(name).is_null() for name in mapped),
        title,
        foot,
        unseen,
    ]
    return rules, [*suspects, *(rule.holds for rule in (*by_pattern, *totals))]


def _by_pattern(mapping: Mapping, header: Header) -> list[_Rule]:
    """The rules of the mapping: rows that it skips, and those that are none of what it takes."""
    sheet, rules = mapping.spec.sheet, list[_Rule]()
    for rule, conditions in zip(BY_PATTERN, (sheet.skip_rows_where, sheet.only_rows_where), strict=True):
        for name, patterns in conditions.items():
            for text, fit in where(mapping, header, {name: patterns}, prefix=_SEEN):
                cell = pl.col(_SEEN + name_of(header.numbers(mapping, [name])[0]))
                said = cell.str.strip_chars().str.slice(0, _SHOWN_CHARACTERS).alias("value")
                told = [said] if rule == "skip_rows_where" else [pl.lit(patterns).alias("patterns")]
                values = pl.struct(*told, pl.lit(text).alias("name")).struct.json_encode()
                rules.append(_Rule(f"{rule}.row", fit if rule == "skip_rows_where" else ~fit, values=values))
    return rules


def _kinds_read(mapping: Mapping, sheet: Sheet, header: Header) -> dict[int, ColumnKind]:
    """What the columns of the table are used for that a field reads or the key names."""
    read = header.bound(names for field in mapping.spec.everything.values() for names in field.columns)
    wanted = {*read, *header.numbers(mapping, mapping.spec.key)} - {*sheet.above}
    return {column: kind for column, kind in column_kinds(mapping, header).items() if column in wanted}


def _as_seen(mapping: Mapping, sheet: Sheet, header: Header, frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with `seen:c1` for each column of a rule: a merged cell says the same of every row that it covers."""
    form = mapping.spec.sheet
    for column in header.numbers(mapping, (*form.skip_rows_where, *form.only_rows_where)):
        cell = spread(sheet, header, column, frame).alias(_SEEN + name_of(column))
        frame = frame.with_columns(cell)
    return frame


def _key_numbers(mapping: Mapping, header: Header) -> list[int]:
    """The columns of the table by which a row is known: those of the key; of receipts the invoice number's."""
    if mapping.spec.key:
        return header.numbers(mapping, mapping.key_in_table)
    invoice = mapping.spec.fields["invoice_number"].columns[:1]
    return [] if any(map(is_above, invoice)) else header.bound(invoice)


def _goods(mapping: Mapping, header: Header) -> list[int]:
    """The columns of goods that are lines."""
    lines = mapping.spec.lines.items()
    of_goods = (field.columns for place, field in lines if form_of(place, mapping.operation) is FieldForm.GOODS)
    return header.bound(chain.from_iterable(of_goods))


def _continuations(mapping: Mapping, header: Header, marked: pl.DataFrame) -> pl.DataFrame:
    """The rows (row, code, values) that go with a row which a rule on a filled-down column leaves out.

    They follow it without a gap, have the same key or none, and are blank in that column: filled down, they would be
    left out, too. marked: rows with their cells and their own `code`, null where a row is data.
    """
    form = mapping.spec.sheet
    filled = set(header.numbers(mapping, form.fill_down))
    asked = set(header.numbers(mapping, (*form.skip_rows_where, *form.only_rows_where)))
    keys = header.numbers(mapping, mapping.spec.key)
    once = sorted((asked & filled) - set(keys))
    cells = [pl.col(name_of(key)) for key in sorted(keys)]
    if not once or not cells:
        return marked.select("row", "code", "values").clear()
    is_blank = pl.all_horizontal(pl.col(name_of(column)).is_null() for column in once)
    same_key = pl.all_horizontal(cell.is_null() | (cell == cell.forward_fill().shift(1)) for cell in cells)
    rule = pl.col("code").str.strip_suffix(".row")
    leads = rule.is_in(BY_PATTERN).fill_null(value=False) & ~is_blank
    leads &= pl.any_horizontal(cell.is_not_null() for cell in cells)
    follows = pl.col("code").is_null() & is_blank & same_key.fill_null(value=False)
    block = (~follows).cum_sum()
    row, code, led = (each.first().over(block) for each in (pl.col("row"), rule + ".continued", leads))
    values = pl.struct(row.alias("row")).struct.json_encode()
    told = marked.select("row", code=code, values=values, continues=follows & led)
    return told.filter("continues").drop("continues")


def fill_down(mapping: Mapping, sheet: Sheet, header: Header, marked: pl.DataFrame) -> pl.DataFrame:
    """Blank cells of the declared columns take the value above, from a filled key to the next different one.

    A skipped row ends the block, but a hidden one: what follows it may be its continuation. Values of merged cells go
    before. marked: with `code`, null where a row is data.
    """
    under: dict[str, pl.DataFrame] = {}
    for column in header.numbers(mapping, [*mapping.spec.key, *mapping.spec.sheet.fill_down]):
        name = name_of(column)
        under[name] = _under_merged(sheet, header, column, marked)
        if not under[name].is_empty():
            text = pl.when(_MAY_BE_DATA).then(pl.coalesce(name, "under")).otherwise(name).alias(name)
            marked = marked.join(under[name], on="row", how="left", maintain_order="left")
            marked = marked.with_columns(text).drop("under")
    filling = [name_of(column) for column in header.numbers(mapping, mapping.spec.sheet.fill_down)]
    keys = [name_of(column) for column in header.numbers(mapping, mapping.spec.key)]
    if not filling or not keys:
        return marked
    segment = (~_MAY_BE_DATA).cum_sum()
    sources = [pl.when(_MAY_BE_DATA).then(pl.col(name)).alias(name) for name in dict.fromkeys([*keys, *filling])]
    staged = marked.with_columns(segment.alias("segment"), *sources)
    staged = staged.with_columns(_filled(key, "segment").shift(1).alias(f"before:{key}") for key in keys)
    same_segment = pl.col("segment") == pl.col("segment").shift(1)
    before = {key: pl.when(same_segment).then(pl.col(f"before:{key}")) for key in keys}
    differs = pl.any_horizontal(pl.col(key).ne(before[key]).fill_null(value=False) for key in keys)
    begins = pl.any_horizontal(pl.col(key).is_not_null() for key in keys) & pl.all_horizontal(
        before[key].is_null() for key in keys
    )
    block = (differs | begins | ~same_segment.fill_null(value=False)).cum_sum()
    staged = staged.with_columns(block.alias("block"))
    own = {name: pl.col(name).is_not_null() & ~pl.col("row").is_in(under[name]["row"].implode()) for name in filling}
    return staged.with_columns(
        *(expression.alias(f"own:{name}") for name, expression in own.items()),
        *(_filled(name, "block").alias(name) for name in filling),
    )


def _as_in_document(mapping: Mapping, header: Header, filled: pl.DataFrame) -> pl.DataFrame:
    """The rows in which a blank cell that is filled down takes what another row of its document says.

    Whoever sorted the rows left nothing above it. Of lines it takes nothing: these differ from row to row.
    """
    keys = [name_of(column) for column in header.numbers(mapping, mapping.spec.key)]
    of_lines = header.bound(mapping.columns_of_lines)
    names = [name_of(each) for each in header.numbers(mapping, mapping.spec.sheet.fill_down) if each not in of_lines]
    names = [name for name in names if filled[name].null_count()]
    if not keys or not names:
        return filled
    has_key = _MAY_BE_DATA & pl.all_horizontal(pl.col(key).is_not_null() for key in keys)
    others = {name: pl.when(has_key).then(pl.col(name).drop_nulls().first().over(keys)) for name in names}
    return filled.with_columns(pl.coalesce(name, other) for name, other in others.items())


def _filled(name: str, block: str) -> pl.Expr:
    """A column with its blanks filled from above, as long as the block is the same."""
    origin = pl.when(pl.col(name).is_not_null()).then(pl.col(block)).forward_fill()
    return pl.when(origin == pl.col(block)).then(pl.col(name).forward_fill())


def spread(sheet: Sheet, header: Header, column: int, frame: pl.DataFrame) -> pl.Series:
    """A column's cells, the value of a merged one in every row that it covers."""
    own, under = frame[name_of(column)], _under_merged(sheet, header, column, frame)
    if under.is_empty():
        return own
    covered = frame.select("row").join(under, on="row", how="left", maintain_order="left")["under"]
    return pl.select(pl.coalesce(own, covered)).to_series()


def _under_merged(sheet: Sheet, header: Header, column: int, marked: pl.DataFrame) -> pl.DataFrame:
    """The rows in which a column is blank under a merged cell below the header, with the value of that: row, under."""
    spans = [
        (top, bottom) for top, left, bottom, _ in sheet.merged_ranges if left == column and bottom > top > header.row
    ]
    if not spans:
        return pl.DataFrame(schema={"row": pl.UInt32, "under": pl.String})
    ends = pl.DataFrame(spans, schema={"top": marked.schema["row"], "bottom": pl.UInt32}, orient="row")
    cells = marked.select("row", pl.col(name_of(column)).alias("cell"))
    within = cells.join_asof(ends, left_on="row", right_on="top").filter(pl.col("row") <= pl.col("bottom"))
    valued = within.with_columns(pl.col("cell").first().over("top").alias("under"))
    return valued.filter(pl.col("cell").is_null()).select("row", "under").drop_nulls()


def without_dittos(frame: pl.DataFrame, uses: dict[int, ColumnKind], filled: Collection[int]) -> pl.DataFrame:
    """The cells with null for each "as above" mark; `ditto:c1` says where c1 bears one, if it does anywhere.

    filled: columns that are filled down. Elsewhere a mark in a column of numbers is none, which is said of it anyway.
    """
    columns = [name_of(each) for each, use in uses.items() if each in filled or use not in OF_DIGITS]
    is_mark = {name: pl.col(name).is_in(MARKS) for name in columns if frame[name].is_in(MARKS).any()}
    masks = [mask.fill_null(value=False).alias(f"{_DITTO}{name}") for name, mask in is_mark.items()]
    return frame.with_columns(*masks, *(pl.when(~mask).then(name).alias(name) for name, mask in is_mark.items()))


def as_above(filled: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows in which each mark takes what stands above it, also in a row of another document; and the marks that
    have nothing above them to stand for, as DAMAGE_SCHEMA.

    Nothing is taken over a row that is no data. filled: with `code`, null where a row is data; only columns that are
    filled down have `own:`.
    """
    damage = [pl.DataFrame(schema=DAMAGE_SCHEMA)]
    for mark in [name for name in filled.columns if name.startswith(_DITTO)]:
        name = mark.removeprefix(_DITTO)
        if f"own:{name}" in filled.columns:
            is_mark = pl.col(mark) & pl.col(name).is_null() & pl.col("code").is_null()
            above = pl.col(name).first().over((~is_mark).cum_sum())
            filled = filled.with_columns(pl.when(is_mark).then(above).otherwise(pl.col(name)).alias(name))
        column, kind = pl.lit(int(name[1:])).alias("column"), pl.lit(Damage.DITTO.value).alias("damage")
        left = filled.filter(pl.col(mark) & pl.col(name).is_null())
        damage.append(left.select("row", column, kind).cast(DAMAGE_SCHEMA))
    return filled, pl.concat(damage)


def is_called_total(
    keys: Sequence[pl.Expr], cells: Sequence[str], goods: Sequence[int], *, body: pl.DataFrame
) -> pl.Expr:
    """Whether a row that lacks what data needs is called a total.

    The word stands in the row's first cell or in place of its key, there also behind the key of other rows, as
    spreadsheet programs write subtotals: "INV-7 Total". A row whose key is filled with anything but the word stays
    data: "Total Gas Agency" is a customer. goods: columns in which, where blank keys are filled down, "Total Whitening"
    is a toothpaste. body: all rows of the sheet.
    """
    subtotals = [key.str.extract(SUBTOTAL).is_in(body[key.meta.output_name()].implode()) for key in keys]
    keyless = [key.is_null() | key.str.contains(TOTAL_KEY) | of for key, of in zip(keys, subtotals, strict=True)]
    named_as_key = [key.str.contains(TOTAL_ALONE) | of for key, of in zip(keys, subtotals, strict=True)]
    first = pl.coalesce(cells)
    names_goods = pl.any_horizontal(pl.lit(value=False), *(pl.col(name_of(column)) == first for column in goods))
    named = pl.when(names_goods).then(first.str.contains(TOTAL_ALONE)).otherwise(first.str.contains(TOTAL))
    return pl.all_horizontal(pl.any_horizontal(named, *named_as_key).fill_null(value=False), *keyless)


def totals_as_goods(mapping: Mapping, header: Header, marked: pl.DataFrame) -> pl.DataFrame:
    """The rows (row, code, values) without a key that are the sum of those above and say a total in place of goods, or
    no word at all: where keys are filled down, or stand above, these may be goods whose name was forgotten.

    marked: the cleaned rows with `code`, null where a row is data.
    """
    keys = keys_filled_down(mapping, header)
    lines, none = mapping.spec.lines.items(), marked.select("row", "code", "values").clear()
    goods = [name_of(column) for column in _goods(mapping, header)]
    quantity = header.bound(names for place, field in lines if place in _QUANTITIES for names in field.columns)
    if not goods or not quantity:
        return none
    own = [*map(name_of, header.numbers(mapping, mapping.key_in_table))]
    keyless = pl.all_horizontal(pl.col("row").is_not_null(), *(pl.col(key).is_null() for key in own))
    read = header.bound(
        names for field in mapping.spec.everything.values() for names in field.columns if not is_above(names)
    )
    words = [name_of(column) for column in read if column_kinds(mapping, header)[column] not in OF_DIGITS]
    is_bare = pl.all_horizontal(pl.lit(bool(own) and not keys), *(pl.col(name).is_null() for name in words))
    called = pl.any_horizontal(pl.col(name).str.contains(A_TOTAL) for name in goods).fill_null(value=False)
    called = called & pl.lit(bool(keys or mapping.key_is_above)) | is_bare
    data = marked.filter(pl.col("code").is_null())
    if not data.select((keyless & called).any()).item():
        return none
    number = amount(quantity[0], reading_of_numbers(mapping, header, RunValues("", date.min, "")))
    data = data.with_columns(
        number.alias("number"), (keyless & called).alias("total"), (~keyless).cum_sum().alias("of")
    )
    data = data.with_columns(pl.col("total").cum_sum().shift(1, fill_value=0).alias("page"))
    counted = pl.when(~pl.col("total")).then(pl.col("number")).fill_null(0)
    above = [counted.cum_sum(), counted.cum_sum().over("of"), counted.cum_sum().over("page")]
    is_sum = pl.any_horizontal(pl.col("number") == each for each in above)
    is_whole = (pl.col("number") == above[0]) & ((~pl.col("total")).cum_sum() > 1)
    is_sum = pl.when(is_bare).then(is_whole).otherwise(is_sum | pl.col("number").is_null())
    return data.filter("total", is_sum).select("row", pl.lit("total").alias("code"), pl.lit("").alias("values"))


def keys_filled_down(mapping: Mapping, header: Header) -> list[str]:
    """The key columns, if all of them are filled down."""
    keys, filled = (header.numbers(mapping, names) for names in (mapping.key_in_table, mapping.spec.sheet.fill_down))
    return [name_of(key) for key in keys] if set(keys) <= set(filled) else []
