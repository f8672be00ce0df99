"""Which rows are data: the others are skipped with a code, and blank cells are filled down within their block."""

from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.cells import Cleaned, ColumnKind, clean, conspicuous, name_of, trimmed
from logistics_batch.mapping.rows.column_kinds import column_kinds
from logistics_batch.mapping.rows.filling import as_above, fill_down, unfilled, without_dittos
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.rows.patterns import fits
from logistics_batch.mapping.rows.repeated_header import repeats_header, resembles_header
from logistics_batch.mapping.rows.totals import is_called_total, totals_as_goods
from logistics_batch.mapping.spec.words import SIGNED, TOTAL_INVOICE
from logistics_batch.model.sheet import CellFact, Sheet

_DRAWN: Final = r"^[-=_+]{3,}$"
_SHOWN_CHARACTERS: Final = 40  # of a cell in a reason
_HIDDEN: Final = "hidden row.skipped"
_BY_PATTERN: Final = ("skip_rows_where", "only_rows_where")
LEFT_OUT: Final = (*_BY_PATTERN, "hidden row")
"""The rules by which a mapping leaves out rows that might be data."""

_SKIPPED: Final = {"row": pl.UInt32, "code": pl.String, "values": pl.String}
_NO_VALUES: Final = pl.lit("")


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


@dataclass(frozen=True, slots=True)
class _Rule:
    """Why a row is no data.

    suspected: by the cells in use, clean. holds: by all cells, where they say more; `raw`: as they stand, for a damaged
    cell is not blank. values: of the code, packed.
    """

    code: str
    suspected: pl.Expr
    holds: pl.Expr | None = None
    raw: bool = False
    values: pl.Expr = _NO_VALUES


def classify_rows(mapping: Mapping, sheet: Sheet, header: Header) -> Rows:
    """Tell data from the rest, clean the columns in use, fill down."""
    body = _without_header(sheet, header)
    uses = column_kinds(mapping, header)
    used = body.select("row", *map(name_of, uses))
    unclean = [name for name in conspicuous(used) if name != "row"]
    bare = trimmed(used, unclean)
    cleaned = clean(bare, {number: use for number, use in uses.items() if name_of(number) in unclean})
    declared = header.numbers(mapping, mapping.spec.sheet.fill_down)
    frame, dittos = without_dittos(cleaned.frame, uses, declared)
    skipped = _skipped(mapping, sheet, header, body=body, bare=bare, cleaned=frame)
    marked = _with_codes(frame, skipped)
    for further in (_continuations, totals_as_goods):
        if not (more := further(mapping, header, marked)).is_empty():
            skipped = pl.concat([skipped, more.cast(skipped.schema)]).sort("row")
            marked = _with_codes(frame, skipped)
    filled = as_above(dittos, fill_down(mapping, sheet, header, marked, may_be_data=_may_be_data()))
    cleaned = replace(cleaned, frame=frame, damage=pl.concat([cleaned.damage, unfilled(dittos, filled)]))
    in_use = {"row", *(f"{before}{name_of(number)}" for number in uses for before in ("", "own:"))}
    wanted = [name for name in filled.columns if name in in_use]
    data = filled if skipped.is_empty() else filled.filter(pl.col("code").is_null())
    hidden = filled.clear() if skipped.is_empty() else filled.filter(pl.col("code") == _HIDDEN)
    return Rows(data.select(wanted), skipped, hidden.select(wanted), cleaned)


def _without_header(sheet: Sheet, header: Header) -> pl.DataFrame:
    """All rows but the header's, and no result columns of ours; columns are row, c1, c2 …"""
    own = {name_of(number) for number in header.own}
    renamed = sheet.frame.rename({name: name_of(int(name)) for name in sheet.frame.columns if name != "row"})
    renamed = renamed.drop(own & set(renamed.columns))
    begins_with_it = renamed["row"].head(1).to_list() == [header.row]
    return renamed.slice(1) if begins_with_it else renamed.filter(pl.col("row") != header.row)


def _with_codes(frame: pl.DataFrame, skipped: pl.DataFrame) -> pl.DataFrame:
    """The rows with `code` and `values`, null where a row is data."""
    blank = pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    places = frame["row"].search_sorted(skipped["row"])
    names = ("code", "values")
    return frame.with_columns(
        (blank if skipped.is_empty() else blank.clone().scatter(places, skipped[name])).alias(name) for name in names
    )


def _may_be_data() -> pl.Expr:
    """Whether a row is data, or would be if the user could see it."""
    return pl.col("code").is_null() | (pl.col("code") == _HIDDEN)


def where(mapping: Mapping, header: Header, conditions: dict[str, list[str]]) -> list[tuple[str, pl.Expr]]:
    """Each condition as the header's text and whether the row fits; columns that the sheet lacks are left out."""
    found: list[tuple[str, pl.Expr]] = []
    for name, patterns in conditions.items():
        column = header.column(mapping.names_of(name))
        if column is not None:
            found.append((header.texts[column - 1].strip(), fits(pl.col(name_of(column)), patterns)))
    return found


def _skipped(
    mapping: Mapping, sheet: Sheet, header: Header, *, body: pl.DataFrame, bare: pl.DataFrame, cleaned: pl.DataFrame
) -> pl.DataFrame:
    """The rows that are no data: row, code, values.

    body: all cells as they stand. bare, cleaned: those in use, trimmed and cleaned. Only rows that a rule might hold
    for are looked at with all their cells; the first rule that holds counts.
    """
    resembles = bare.select(resembles_header(header, _numbers(mapping, header))).to_series()
    rules = _rules(mapping, sheet, header, bare, resembles=resembles)
    suspects = [rule.suspected.fill_null(value=False).alias(str(place)) for place, rule in enumerate(rules)]
    suspected = cleaned.select(suspects)
    places = suspected.select(pl.any_horizontal(pl.all())).to_series().arg_true()
    if places.is_empty():
        return pl.DataFrame(schema=_SKIPPED | {"row": body.schema["row"]})
    every = body[places]
    every = trimmed(every, [name for name in every.columns if name != "row"])
    again = repeats_header(mapping, sheet, header, every.filter(resembles.gather(places)))
    marked = every.with_columns(*cleaned[places].drop("row"), *suspected[places])
    marked = marked.with_columns(pl.col("row").is_in(again).alias("again"))
    for place, rule in enumerate(rules):
        if rule.raw and rule.holds is not None:
            held = every.select(rule.holds.alias(str(place))).to_series()
            marked = marked.with_columns((held & marked[str(place)]).alias(str(place)))
        elif rule.holds is not None:
            marked = marked.with_columns((pl.col(str(place)) & rule.holds).alias(str(place)))
    code = pl.coalesce(pl.when(str(place)).then(pl.lit(rule.code)) for place, rule in enumerate(rules))
    values = pl.coalesce(pl.when(str(place)).then(rule.values) for place, rule in enumerate(rules))
    found = marked.select("row", code.alias("code"), values.alias("values")).drop_nulls("code")
    looks_empty = pl.col("code").is_in(["blank", *_COMMENTS]) & pl.col("row").is_in(
        _uncalculated(mapping, sheet, header)
    )
    return found.filter(~looks_empty)


_COMMENTS: Final = ("comment.remark", "comment.line", "comment.signature", "comment.unmapped")


def _rules(mapping: Mapping, sheet: Sheet, header: Header, bare: pl.DataFrame, *, resembles: pl.Series) -> list[_Rule]:
    """Every rule by which a row is no data, those that count first at the head."""
    cells = [name_of(column) for column in range(1, sheet.width + 1)]
    cells = [name for name in cells if name not in {name_of(number) for number in header.own}]
    keys = [pl.col(name_of(column)) for column in _key_numbers(mapping, header)]
    numbers = [pl.col(name_of(column)) for column in _numbers(mapping, header)]
    needed = _needed(mapping, header)
    lacks = pl.any_horizontal(pl.col(name_of(column)).is_null() for column in needed)
    unmapped = _nothing_mapped(mapping, header)
    invoice = mapping.spec.fields.get("invoice_number")
    invoices = [column for names in (invoice.columns if invoice else ()) if (column := header.column(names))]
    bare_of = [key.is_null() | key.str.contains(SIGNED) for key in keys] + [number.is_null() for number in numbers]
    drawn = pl.all_horizontal(pl.col(name).is_null() | pl.col(name).str.contains(_DRAWN) for name in cells)
    hidden = sheet.hidden_rows if mapping.spec.sheet.hidden_rows != "read" else ()
    declared = [where(mapping, header, control.row_where) for control in mapping.spec.checks.control_total]
    goods = needed if mapping.spec.sheet.fill_down else []
    first = pl.coalesce(cells)
    return [
        _Rule("blank", lacks | unmapped, pl.all_horizontal(pl.col(cells).is_null()), raw=True),
        _Rule("title", pl.col("row") < header.row),
        _Rule("repeated header", pl.lit(resembles), pl.col("again")),
        _Rule("comment.remark", lacks, first.str.starts_with(";")),
        _Rule(
            "comment.line", pl.any_horizontal(lacks, *(key.str.contains(_DRAWN) for key in keys[:1])), drawn, raw=True
        ),
        *_by_pattern(mapping, header),
        _Rule("total", lacks, is_called_total(keys, cells, goods, body=bare)),
        *(_Rule("total", pl.col(name_of(column)).str.contains(TOTAL_INVOICE)) for column in invoices),
        *(_Rule("total", pl.all_horizontal(fit for _, fit in each)) for each in declared if each),
        _Rule("comment.signature", lacks, pl.all_horizontal(first.str.contains(SIGNED), *bare_of)),
        _Rule("comment.unmapped", unmapped, unmapped, raw=True),
        _Rule(_HIDDEN, pl.col("row").is_in(list(hidden))),
    ]


def _by_pattern(mapping: Mapping, header: Header) -> list[_Rule]:
    """The rules of the mapping: rows that it skips, and those that are none of what it takes."""
    sheet, rules = mapping.spec.sheet, list[_Rule]()
    for rule, conditions in zip(_BY_PATTERN, (sheet.skip_rows_where, sheet.only_rows_where), strict=True):
        for name, patterns in conditions.items():
            for text, fit in where(mapping, header, {name: patterns}):
                cell = pl.col(name_of(header.numbers(mapping, [name])[0]))
                said = cell.str.strip_chars().str.slice(0, _SHOWN_CHARACTERS).alias("value")
                told = [said] if rule == "skip_rows_where" else [pl.lit(patterns).alias("patterns")]
                values = pl.struct(*told, pl.lit(text).alias("name")).struct.json_encode()
                rules.append(_Rule(f"{rule}.row", fit if rule == "skip_rows_where" else ~fit, values=values))
    return rules


def _numbers(mapping: Mapping, header: Header) -> list[int]:
    """The columns of amounts, counts, phone numbers and PINs."""
    wanted = (ColumnKind.NUMBER, ColumnKind.DIGITS)
    return [column for column, use in column_kinds(mapping, header).items() if use in wanted]


def _uncalculated(mapping: Mapping, sheet: Sheet, header: Header) -> list[int]:
    """The rows with a formula in a key column that no program has worked out: they may be orders."""
    facts = sheet.facts_of(CellFact.NO_VALUE)
    return facts.filter(pl.col("column").is_in(_key_numbers(mapping, header)))["row"].to_list()


def _key_numbers(mapping: Mapping, header: Header) -> list[int]:
    """The columns by which a row is known: those of the key; of receipts the invoice number's."""
    if mapping.spec.key:
        return header.numbers(mapping, mapping.spec.key)
    groups = mapping.spec.fields["invoice_number"].columns[:1]
    return [column for names in groups if (column := header.column(names)) is not None]


def _needed(mapping: Mapping, header: Header) -> list[int]:
    """The columns that data needs; those that are filled down may be blank in a row."""
    filled = set(header.numbers(mapping, mapping.spec.sheet.fill_down))
    needed = {column for names in mapping.required if (column := header.column(names)) is not None}
    return sorted(needed - filled or needed)


def _nothing_mapped(mapping: Mapping, header: Header) -> pl.Expr:
    groups = [names for field in mapping.spec.everything.values() for names in field.columns]
    columns = {column for names in groups if (column := header.column(names)) is not None}
    columns |= set(header.numbers(mapping, mapping.spec.key))
    return pl.all_horizontal(pl.col(name_of(column)).is_null() for column in sorted(columns))


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
    leads = rule.is_in(_BY_PATTERN).fill_null(value=False) & ~is_blank
    leads &= pl.any_horizontal(cell.is_not_null() for cell in cells)
    follows = pl.col("code").is_null() & is_blank & same_key.fill_null(value=False)
    told = marked.select("row", rule.alias("rule"), follows.alias("follows"), leads.alias("leads"))
    told = told.with_columns((~pl.col("follows")).cum_sum().alias("block"))
    of_block = [pl.col(name).first().over("block").alias(f"first:{name}") for name in ("row", "rule", "leads")]
    told = told.with_columns(of_block).filter("follows", "first:leads")
    values = pl.struct(pl.col("first:row").alias("row")).struct.json_encode()
    return told.select("row", (pl.col("first:rule") + ".continued").alias("code"), values.alias("values"))
