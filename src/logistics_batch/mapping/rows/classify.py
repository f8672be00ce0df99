"""Which rows are data: the others are skipped with the rule, and blank cells are filled down within their block."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.cells import Cleaned, ColumnKind, clean, conspicuous, name_of, trimmed
from logistics_batch.mapping.rows.column_kinds import column_kinds
from logistics_batch.mapping.rows.continuations import continuations
from logistics_batch.mapping.rows.ditto import as_above, unfilled, without_dittos
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.rows.patterns import fits
from logistics_batch.mapping.rows.repeated_header import repeats_header, resembles_header
from logistics_batch.mapping.rows.totals_as_goods import totals_as_goods
from logistics_batch.mapping.spec.words import SIGNED, SUBTOTAL, TOTAL, TOTAL_ALONE, TOTAL_INVOICE, TOTAL_KEY
from logistics_batch.model.sheet import CellFact, Sheet

_DRAWN: Final = r"^[-=_+]{3,}$"


@dataclass(frozen=True, slots=True)
class Rows:
    """A sheet's rows but the header, told apart.

    data: row and the used columns (c1, c2 …), clean and filled down; for a filled-down column also `own:c1`, false
    where the value came from above. skipped: row, rule, reason. hidden: those of the skipped rows that would be data
    if the user could see them, with the same columns as data. cleaned: what cleaning found.
    """

    data: pl.DataFrame
    skipped: pl.DataFrame
    hidden: pl.DataFrame
    cleaned: Cleaned


_SHOWN_CHARACTERS = 40  # of a cell in a reason
_HIDDEN: Final = "hidden row"
LEFT_OUT: Final = ("skip_rows_where", "only_rows_where", _HIDDEN)
"""The rules by which a mapping leaves out rows that might be data."""

_IS_HIDDEN: Final = pl.col("rule").eq_missing(pl.lit(_HIDDEN))


def classify_rows(mapping: Mapping, sheet: Sheet, header: Header) -> Rows:
    """Tell data from the rest, clean the columns in use, fill down."""
    body = _without_header(sheet, header)
    uses = column_kinds(mapping, header)
    names = [name_of(number) for number in uses]
    used = body.select("row", *names)
    unclean = [name for name in conspicuous(used) if name != "row"]
    bare = trimmed(used, unclean)
    cleaned = clean(bare, {number: use for number, use in uses.items() if name_of(number) in unclean})
    declared = [header.column(mapping.names_of(name)) for name in mapping.spec.sheet.fill_down]
    frame, dittos = without_dittos(cleaned.frame, uses, declared)
    skipped = _skipped(mapping, sheet, header, body=body, bare=bare, cleaned=frame)
    marked = frame.with_columns(_spread_rules(frame["row"], skipped))
    if not (further := continuations(mapping, header, marked)).is_empty():
        skipped = pl.concat([skipped, further]).sort("row")
        marked = marked.with_columns(_spread_rules(marked["row"], skipped))
    if not (sums := totals_as_goods(mapping, header, marked)).is_empty():
        skipped = pl.concat([skipped, sums]).sort("row")
        marked = marked.with_columns(_spread_rules(marked["row"], skipped))
    filled = _fill_down(mapping, header, marked, spread=merged_values(mapping, sheet, header, marked))
    filled = as_above(dittos, filled)
    below = [name.removeprefix("own:") for name in filled.columns if name.startswith("own:")]
    cleaned = replace(cleaned, frame=frame, damage=pl.concat([cleaned.damage, unfilled(dittos, filled, below)]))
    wanted = ["row", *(name for name in filled.columns if name.startswith(("c", "own:")) and _is_used(name, uses))]
    data = filled if skipped.is_empty() else filled.filter(pl.col("rule").is_null())
    hidden = filled.clear() if skipped.is_empty() else filled.filter(_IS_HIDDEN)
    return Rows(data.select(wanted), skipped, hidden.select(wanted), cleaned)


def _without_header(sheet: Sheet, header: Header) -> pl.DataFrame:
    """All rows but the header's, and no result columns of ours; columns are row, c1, c2 …"""
    own = {name_of(number) for number in header.own}
    renamed = sheet.frame.rename({name: name_of(int(name)) for name in sheet.frame.columns if name != "row"})
    renamed = renamed.drop(own & set(renamed.columns))
    begins_with_it = renamed["row"].head(1).to_list() == [header.row]
    return renamed.slice(1) if begins_with_it else renamed.filter(pl.col("row") != header.row)


def _skipped(
    mapping: Mapping, sheet: Sheet, header: Header, *, body: pl.DataFrame, bare: pl.DataFrame, cleaned: pl.DataFrame
) -> pl.DataFrame:
    """The rows that are no data: row, rule, reason.

    body: all cells as they stand. bare, cleaned: those in use, trimmed and cleaned. Only rows that a rule might hold
    for are looked at with all their cells.
    """
    numbers = _numbers(mapping, header)
    hidden = sheet.hidden_rows if mapping.spec.sheet.hidden_rows != "read" else ()
    keys = _key_numbers(mapping, header)
    patterns = [holds for holds, _, _ in _by_pattern(mapping, header)]
    suspect = [
        pl.col("row") < header.row,
        pl.col("row").is_in(list(hidden)),
        bare.select(resembles_header(header, numbers)).to_series(),
        _lacks(mapping, header),
        _nothing_mapped(mapping, header),
        *(pl.col(name_of(column)).str.contains(_DRAWN) for column in keys[:1]),
        *patterns,
        *_declared_totals(mapping, header),
        *_total_invoices(mapping, header),
    ]
    places = cleaned.select(pl.any_horizontal(suspect).fill_null(value=False)).to_series().arg_true()
    if places.is_empty():
        return pl.DataFrame(schema={"row": body.schema["row"], "rule": pl.String, "reason": pl.String})
    every = body[places]
    every = trimmed(every, [name for name in every.columns if name != "row"])
    marked = every.with_columns(cleaned[places].drop("row"))
    again = repeats_header(mapping, sheet, header, every.filter(resembles_header(header, numbers)))
    marked = marked.with_columns(_rule(mapping, header, every, body=bare, hidden=hidden, again=again))
    only_looks_empty = pl.col("rule").is_in(["blank", "comment"]) & pl.col("row").is_in(_uncalculated(sheet, keys))
    return marked.filter(pl.col("rule").is_not_null() & ~only_looks_empty).select("row", "rule", "reason")


def _numbers(mapping: Mapping, header: Header) -> list[int]:
    """The columns of amounts, counts, phone numbers and PINs."""
    return [
        column for column, use in column_kinds(mapping, header).items() if use in (ColumnKind.NUMBER, ColumnKind.DIGITS)
    ]


def _uncalculated(sheet: Sheet, keys: Sequence[int]) -> list[int]:
    """The rows with a formula in a key column that no program has worked out: they may be orders."""
    return sheet.facts_of(CellFact.NO_VALUE).filter(pl.col("column").is_in(list(keys)))["row"].to_list()


def _spread_rules(rows: pl.Series, skipped: pl.DataFrame) -> list[pl.Series]:
    """Columns `rule` and `reason` of all rows, null where a row is data."""
    blank = pl.repeat(None, rows.len(), dtype=pl.String, eager=True)
    if skipped.is_empty():
        return [blank.rename("rule"), blank.rename("reason")]
    places = rows.search_sorted(skipped["row"])
    return [blank.clone().scatter(places, skipped[name]).rename(name) for name in ("rule", "reason")]


def _column(mapping: Mapping, header: Header, name: str) -> int:
    """The number of a column that the header is known to have."""
    column = header.column(mapping.names_of(name))
    if column is None:
        raise KeyError(name)
    return column


def _is_used(name: str, uses: dict[int, ColumnKind]) -> bool:
    return int(name.removeprefix("own:").removeprefix("c")) in uses


def where(mapping: Mapping, header: Header, conditions: dict[str, list[str]]) -> list[tuple[str, pl.Expr]]:
    """Each condition as the header's text and whether the row fits; columns that the sheet lacks are left out."""
    found: list[tuple[str, pl.Expr]] = []
    for name, patterns in conditions.items():
        column = header.column(mapping.names_of(name))
        if column is not None:
            found.append((header.texts[column - 1].strip(), fits(pl.col(name_of(column)), patterns)))
    return found


def _rule(
    mapping: Mapping, header: Header, frame: pl.DataFrame, *, body: pl.DataFrame, hidden: Sequence[int], again: pl.Expr
) -> list[pl.Expr]:
    """Columns `rule` and `reason`: why a row is no data, null where it is; the first rule that holds counts.

    frame: the trimmed cells before they are cleaned: a damaged cell is not blank. body: all rows of the sheet. again:
    the row repeats the header.
    """
    cells = [name for name in frame.columns if name != "row"]
    rules: list[tuple[pl.Expr, str, pl.Expr | str]] = [
        (_rows_of(frame, pl.all_horizontal(pl.col(cells).is_null())), "blank", "The row is blank."),
        (pl.col("row") < header.row, "title", "The row stands above the header."),
        (again, "repeated header", "The row repeats the header."),
        (
            pl.coalesce(cells).str.starts_with(";") & _lacks(mapping, header),
            "comment",
            "The row begins with ; and is a comment.",
        ),
        (_rows_of(frame, _is_drawn(cells)), "comment", "The row is a line that parts others."),
        *_by_pattern(mapping, header),
        (_is_total(mapping, header, cells, body=body), "total", "The row holds a total."),
        (_is_signed(mapping, header, cells), "comment", "The row is for a signature."),
        (_rows_of(frame, _nothing_mapped(mapping, header)), "comment", "No mapped column of the row is filled."),
        (pl.col("row").is_in(list(hidden)), _HIDDEN, "The row is hidden, and the mapping skips hidden rows."),
    ]
    rule: pl.Expr = pl.lit(None, dtype=pl.String)
    reason: pl.Expr = pl.lit(None, dtype=pl.String)
    for holds, name, words in reversed(rules):
        rule = pl.when(holds).then(pl.lit(name)).otherwise(rule)
        reason = pl.when(holds).then(words if isinstance(words, pl.Expr) else pl.lit(words)).otherwise(reason)
    return [rule.alias("rule"), reason.alias("reason")]


def _rows_of(frame: pl.DataFrame, mask: pl.Expr) -> pl.Expr:
    """A mask of one frame's rows, for another frame."""
    return pl.col("row").is_in(frame.filter(mask)["row"].implode())


def _by_pattern(mapping: Mapping, header: Header) -> list[tuple[pl.Expr, str, pl.Expr]]:
    sheet = mapping.spec.sheet
    skip = [
        (
            fit,
            "skip_rows_where",
            _said(header.column(mapping.names_of(name)), f' in "{text}": the mapping skips such rows.'),
        )
        for name, (text, fit) in zip(
            _present(mapping, header, sheet.skip_rows_where),
            where(mapping, header, sheet.skip_rows_where),
            strict=True,
        )
    ]
    only = [
        (~fit, "only_rows_where", pl.lit(f'Column "{text}" is not like {_shown(sheet.only_rows_where, name)}.'))
        for name, (text, fit) in zip(
            _present(mapping, header, sheet.only_rows_where),
            where(mapping, header, sheet.only_rows_where),
            strict=True,
        )
    ]
    return [*skip, *only]


def _said(column: int | None, rest: str) -> pl.Expr:
    """A cell's own words and what they led to."""
    words = pl.col(name_of(column or 1)).str.strip_chars().str.slice(0, _SHOWN_CHARACTERS)
    return pl.concat_str(pl.lit('"'), words, pl.lit('"' + rest))


def _present(mapping: Mapping, header: Header, conditions: dict[str, list[str]]) -> list[str]:
    return [name for name in conditions if header.column(mapping.names_of(name)) is not None]


def _shown(conditions: dict[str, list[str]], name: str) -> str:
    return " or ".join(f'"{pattern}"' for pattern in conditions[name])


def _is_total(mapping: Mapping, header: Header, cells: Sequence[str], *, body: pl.DataFrame) -> pl.Expr:
    """A row of totals: declared by the control total, or called so and lacking what data needs.

    The word stands in the row's first cell or in place of its key, there also behind the key of other rows, as
    spreadsheet programs write subtotals: "INV-7 Total". An order that is called TOTAL and is complete stays an order,
    and so does one whose key is filled with anything but the word: "Total Gas Agency" is a customer. No invoice is
    called TOTAL: "TOTAL, all items, 120" is no goods, though nothing lacks.
    """
    keys = [pl.col(name_of(column)) for column in _key_numbers(mapping, header)]
    subtotals = [key.str.extract(SUBTOTAL).is_in(body[key.meta.output_name()].implode()) for key in keys]
    keyless = [key.is_null() | key.str.contains(TOTAL_KEY) | of for key, of in zip(keys, subtotals, strict=True)]
    named_as_key = [key.str.contains(TOTAL_ALONE) | of for key, of in zip(keys, subtotals, strict=True)]
    first = pl.coalesce(cells)
    goods = [pl.col(name_of(column)) for column in _needed(mapping, header) if mapping.spec.sheet.fill_down]
    # where blank keys are filled down, "Total Whitening" in place of the goods is a toothpaste
    names_goods = pl.any_horizontal(cell == first for cell in goods) if goods else pl.lit(value=False)
    named = pl.when(names_goods).then(first.str.contains(TOTAL_ALONE)).otherwise(first.str.contains(TOTAL))
    called = pl.any_horizontal(named, *named_as_key).fill_null(value=False)
    called = pl.all_horizontal(called, _lacks(mapping, header), *keyless)
    return pl.any_horizontal(called, *_total_invoices(mapping, header), *_declared_totals(mapping, header))


def _is_signed(mapping: Mapping, header: Header, cells: Sequence[str]) -> pl.Expr:
    """Whether a row says in its first cell who prepared or checked the sheet, and has no key and no number."""
    keys = [pl.col(name_of(column)) for column in _key_numbers(mapping, header)]
    numbers = [pl.col(name_of(column)) for column in _numbers(mapping, header)]
    is_bare = [key.is_null() | key.str.contains(SIGNED) for key in keys] + [number.is_null() for number in numbers]
    signed = pl.coalesce(cells).str.contains(SIGNED).fill_null(value=False)
    return pl.all_horizontal(signed, _lacks(mapping, header), *is_bare)


def _is_drawn(cells: Sequence[str]) -> pl.Expr:
    """Whether a row holds nothing but dashes, as lists of SAP have between their parts."""
    return pl.all_horizontal(pl.col(name).is_null() | pl.col(name).str.contains(_DRAWN) for name in cells)


def _declared_totals(mapping: Mapping, header: Header) -> list[pl.Expr]:
    """For each control total of the mapping whether a row is what it takes for the total row."""
    found = [where(mapping, header, control.row_where) for control in mapping.spec.checks.control_total]
    return [pl.all_horizontal(fit for _, fit in each) for each in found if each]


def _total_invoices(mapping: Mapping, header: Header) -> list[pl.Expr]:
    """Of announcements and receipts whether the word for a total stands in place of the invoice number."""
    field = mapping.spec.fields.get("invoice_number")
    columns = [header.column(names) for names in field.columns] if field is not None else []
    return [pl.col(name_of(column)).str.contains(TOTAL_INVOICE) for column in columns if column is not None]


def _key_numbers(mapping: Mapping, header: Header) -> list[int]:
    """The columns by which a row is known: those of the key; of receipts the invoice number's."""
    groups = [mapping.names_of(name) for name in mapping.spec.key] or mapping.spec.fields["invoice_number"].columns[:1]
    return [column for names in groups if (column := header.column(names)) is not None]


def _lacks(mapping: Mapping, header: Header) -> pl.Expr:
    """Whether a row lacks a cell that data needs."""
    return pl.any_horizontal(pl.col(name_of(column)).is_null() for column in _needed(mapping, header))


def _needed(mapping: Mapping, header: Header) -> list[int]:
    """The columns that data needs; those that are filled down may be blank in a row."""
    filled = {header.column(mapping.names_of(name)) for name in mapping.spec.sheet.fill_down}
    needed = {header.column(names) for names in mapping.required}
    return sorted(filter(None, (needed - filled or needed) - {None}))


def _nothing_mapped(mapping: Mapping, header: Header) -> pl.Expr:
    groups = [names for field in mapping.spec.everything.values() for names in field.columns]
    groups += [list(mapping.names_of(name)) for name in mapping.spec.key]
    columns = {column for names in groups if (column := header.column(names)) is not None}
    return pl.all_horizontal(pl.col(name_of(column)).is_null() for column in sorted(columns))


def merged_values(mapping: Mapping, sheet: Sheet, header: Header, marked: pl.DataFrame) -> dict[str, dict[int, str]]:
    """For key and filled-down columns the values that blank cells get, by row: they lie under a merged cell."""
    named = [*mapping.spec.key, *mapping.spec.sheet.fill_down]
    wanted = {column for name in named if (column := header.column(mapping.names_of(name))) is not None}
    found: dict[str, dict[int, str]] = {}
    for first_row, column, last_row, _ in sheet.merged_ranges:
        if column in wanted and last_row > first_row > header.row:
            cells = marked.filter(pl.col("row").is_between(first_row, last_row)).select("row", name_of(column))
            (value, *below) = cells[name_of(column)].to_list() or [None]
            rows = cells["row"].to_list()[1:]
            blank = [row for row, text in zip(rows, below, strict=True) if text is None]
            if value is not None:
                found.setdefault(name_of(column), {}).update(dict.fromkeys(blank, value))
    return found


def _spread(marked: pl.DataFrame, values: dict[str, dict[int, str]]) -> pl.DataFrame:
    is_data = pl.col("rule").is_null() | _IS_HIDDEN
    for name, texts in values.items():
        text = pl.col("row").replace_strict(list(texts), list(texts.values()), default=None, return_dtype=pl.String)
        marked = marked.with_columns(
            pl.when(is_data).then(pl.coalesce(pl.col(name), text)).otherwise(pl.col(name)).alias(name)
        )
    return marked


def _fill_down(
    mapping: Mapping, header: Header, marked: pl.DataFrame, *, spread: dict[str, dict[int, str]]
) -> pl.DataFrame:
    """Blank cells of the declared columns take the value above, from a filled key to the next different one.

    A skipped row ends the block, but a hidden one: what follows it may be its continuation. spread: values of merged
    cells, which go before.
    """
    marked = _spread(marked, {name: texts for name, texts in spread.items() if texts})
    declared = [header.column(mapping.names_of(name)) for name in mapping.spec.sheet.fill_down]
    filling = [name_of(column) for column in dict.fromkeys(declared) if column is not None]
    keys = [name_of(_column(mapping, header, name)) for name in mapping.spec.key]
    if not filling or not keys:
        return marked
    is_data = pl.col("rule").is_null() | _IS_HIDDEN
    segment = (~is_data).cum_sum()
    sources = [pl.when(is_data).then(pl.col(name)).alias(name) for name in dict.fromkeys([*keys, *filling])]
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
    return staged.with_columns(
        *(
            (pl.col(name).is_not_null() & ~pl.col("row").is_in(list(spread.get(name, ())))).alias(f"own:{name}")
            for name in filling
        ),
        *(_filled(name, "block").alias(name) for name in filling),
    )


def _filled(name: str, block: str) -> pl.Expr:
    """A column with its blanks filled from above, as long as the block is the same."""
    origin = pl.when(pl.col(name).is_not_null()).then(pl.col(block)).forward_fill()
    return pl.when(origin == pl.col(block)).then(pl.col(name).forward_fill())
