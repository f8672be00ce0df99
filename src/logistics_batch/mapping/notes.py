"""What a report should mention about a file beside its rows' issues: to look at, never held against a row."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.checks.checks import CheckContext, answers
from logistics_batch.mapping.checks.held import renamed_notes, units_taken_over
from logistics_batch.mapping.fields.compile import (
    CompiledSheet,
    is_marked,
    rows_where,
)
from logistics_batch.mapping.fields.fields import Field, second_phone_of
from logistics_batch.mapping.fields.values.numbers import unit_wanted
from logistics_batch.mapping.fields.values.phones import holds_two, second_of_two, ten_digits
from logistics_batch.mapping.fields.values.reading import about
from logistics_batch.mapping.rows.cells import ERROR_WORDS, SHOWN_REPAIRS, ColumnKind, Repairs, column_kinds, name_of
from logistics_batch.mapping.rows.classify import LEFT_OUT, Rows, nameless
from logistics_batch.mapping.spec.texts import printable_text
from logistics_batch.messages.words import shortened
from logistics_batch.model.issue import Issue, cell_address
from logistics_batch.model.sheet import CellFact

_COLUMNS_ON_THEIR_OWN: Final = 3
_SHOWN: Final = (ColumnKind.NUMBER, ColumnKind.GOODS, ColumnKind.IDENTITY)  # what says nothing of a person
_A_CODE: Final = re.compile(r"(?=.*[0-9])[^ ]{1,40}")  # an identity may be made of a person's name
_SHOWN_RANGES: Final = 5

_PLACES: Final = {"money": ("two", 2), **dict.fromkeys(("decimal", "percent", "unit"), ("nine", 9))}  # kept decimals
_LED_BY_ZERO: Final = "^0[0-9]+$"
_WITH_DECIMALS: Final = r"^[0-9]+\.[0-9]+$"

LIGHTEST_KG: Final = 0.01
HEAVIEST_KG: Final = 100.0
MOST_PIECES: Final = 99_999
E_WAY_BILL_ABOVE_INR: Final = 50_000

_PIN_IN_TEXT: Final = r"(?:^|[^0-9])[1-9][0-9]{2} ?[0-9]{3}(?:[^0-9]|$)"
_PINS: Final = (
    ("fields.delivery_postal_code", "fields.delivery_address"),
    ("fields.pickup_postal_code", "fields.pickup_address"),
    ("fields.return_postal_code", "fields.return_address"),
    ("fields.delivery_pincode", "fields.shipping_address"),
)

# The first digits of PINs by state; at the end of an address, where a state is meant and no road is named after it.
_REGIONS: Final = {
    "1": "Delhi|Haryana|Punjab|Himachal Pradesh|Jammu|Kashmir|Ladakh|Chandigarh",
    "2": "Uttar Pradesh|Uttarakhand|Uttaranchal",
    "3": "Rajasthan|Gujarat|Daman|Diu|Dadra",
    "4": "Maharashtra|Goa|Madhya Pradesh|Chhattisgarh",
    "5": "Telangana|Andhra Pradesh|Karnataka",
    "6": "Tamil Nadu|Tamilnadu|Kerala|Puducherry|Pondicherry|Lakshadweep",
    "7": "West Bengal|Odisha|Orissa|Assam|Arunachal Pradesh|Nagaland|Manipur|Mizoram|Tripura|Meghalaya|Sikkim|Andaman",
    "8": "Bihar|Jharkhand",
}
_AT_THE_END: Final = r"(?i)(?:^|[^a-z])(?:{names})(?:[^\p{{L}}]|india|pin(?: ?code)?)*$"
_NORTH, _EAST = (6.0, 38.0), (68.0, 98.0)  # degrees between which India lies
_E_MAIL: Final = r"^[^@\s,;]+@[^@\s,;]+\.[^@\s,;.]+$"


def notes_of(table: CompiledSheet, rows: Rows) -> list[Issue]:
    """The reader's notes (hidden rows among them), columns that only the sheet or only the mapping has, repairs."""
    bound = table.bound
    left_out = rows.skipped_by(*LEFT_OUT).len()
    lists = {
        "unknown": [*bound.unknown, *nameless(table.sheet, bound, rows)],
        "unused": bound.unused,
        "absent": bound.absent,
    }
    return [
        *_of_reading(table, rows),
        *([Issue.of("columns.own")] if bound.own else []),
        *(Issue.of(f"columns.{what}", names=list(names)) for what, names in lists.items() if names),
        *renamed_notes(table.mapping, table.sheet, bound),
        *units_taken_over(table),
        # A rule of the mapping that fits every row is wrong, or the file is.
        *([Issue.of("left_out.all", rows=left_out)] if left_out and rows.data.is_empty() else []),
        *_repairs(table, rows.cleaned.repairs),
        *_unused_errors(table),
        *_two_numbers(table),
        *_odd_values(table),
        *_losses(table),
    ]


def _of_reading(table: CompiledSheet, rows: Rows) -> Iterator[Issue]:
    """What the reader noted; of merged cells those of rows of data in columns that are read and not filled down."""
    origins, sheet = table.sheet.origins, table.sheet
    form = table.mapping.spec.sheet
    by_rules = {*table.columns([*form.skip_rows_where, *form.only_rows_where])}
    by_rules -= {*table.bound.bound(names for field in table.fields for names in field.spec.columns)}
    filled = by_rules.union(table.columns([*table.mapping.spec.key, *form.fill_down]))
    data, read = {*rows.data["row"]}, {name_of(number): number for number in range(1, sheet.width + 1)}
    read_columns = {read[name] for name in rows.data.columns if name in read}
    open_ = [(top, left, bottom, right) for top, left, bottom, right in sheet.merged_ranges
             if read_columns.intersection(range(left, right + 1)) and data.intersection(range(top, bottom + 1))
             and not (left == right and left in filled)]  # fmt: skip
    for note in sheet.notes:
        if note.code != "merged_cells" or (origins and origins.second):  # of both sheets
            yield note
        elif open_:
            ends = [
                [cell_address(sheet.physical_rows([row])[0], column) for row, column in ((top, left), (bottom, right))]
                for top, left, bottom, right in open_
            ]
            yield Issue.of("merged_cells", ranges=shortened([":".join(each) for each in ends], limit=_SHOWN_RANGES))


def _repairs(table: CompiledSheet, repairs: Sequence[Repairs]) -> Iterator[Issue]:
    """What was repaired in cells that are read: one by one where it is little, else how much and the first.

    What only tells by a pattern which rows are left out is not.
    """
    read = {*table.bound.bound(names for field in table.fields for names in field.spec.columns)}
    read |= {*table.columns(table.mapping.spec.key)}
    repairs = [each for each in repairs if each.column in read]
    names = [table.bound.texts[each.column - 1].strip() for each in repairs]
    if len(repairs) > _COLUMNS_ON_THEIR_OWN:
        count = sum(each.rows.len() for each in repairs)
        yield Issue.of("repaired.columns", count=count, columns=names, cells=[_repaired(table, repairs[0], 0)])
        return
    for name, each in zip(names, repairs, strict=True):
        if (count := each.rows.len()) > SHOWN_REPAIRS:
            yield Issue.of("repaired.column", column=name, count=count, cells=[_repaired(table, each, 0)])
        else:
            cells = [_repaired(table, each, place) for place in range(count)]
            yield Issue.of("repaired.cells", column=name, cells=cells)


def _repaired(table: CompiledSheet, repairs: Repairs, place: int) -> list[Any]:
    """One repaired cell, as a message; what it holds is told of codes only."""
    row = int(repairs.rows[place])
    above = table.sheet.above.get(repairs.column)
    where = ["repaired.cell", {"cell": cell_address(*above or (row, repairs.column))}]
    if table.sheet.origins is not None and above is None:
        where = ["repaired.row", {"row": table.sheet.physical_rows([row])[0]}]
    was, now = repairs.first[place]
    if repairs.use not in _SHOWN or not _A_CODE.fullmatch(now):
        return where
    return ["repaired.value", {"place": [where], "was": printable_text(was), "now": now}]


def _unused_errors(table: CompiledSheet) -> Iterator[Issue]:
    """Errors of the spreadsheet program in columns that nothing is read from."""
    unread = {*table.bound.unknown, *table.bound.unused}
    for number, text in enumerate(table.bound.texts, 1):
        if text.strip() in unread:
            shows_error = pl.col(str(number)).str.strip_chars().is_in(ERROR_WORDS)
            below = pl.col("row") > table.bound.row
            if (rows := table.sheet.frame.filter(shows_error & below)["row"]).len():
                yield table.note("columns.errors", number, rows)


def _two_numbers(table: CompiledSheet) -> Iterator[Issue]:
    """Cells with two phone numbers, of which only the first is sent."""
    both = second_phone_of(table.mapping, table.bound, "fields.alternate_customer_mobile")
    for field in table.header:
        second = second_phone_of(table.mapping, table.bound, field.place)
        if field.column is not None and field.target.endswith("_mobile") and second is None:
            cell = pl.col(name_of(field.column))
            lines = table.lines.filter(holds_two(cell))  # few: the rest is not looked at number by number
            unsent = ten_digits(cell).is_not_null() & second_of_two(cell).ne_missing(ten_digits(cell))
            if field.column == both:
                unsent &= second_of_two(cell).is_null()
            if (two := rows_where(lines, unsent)).len():
                yield table.note("two_numbers", field.column, two)


def _losses(table: CompiledSheet) -> Iterator[Issue]:
    """The notes: numbers rounded or written with more than digits, and identities that may lack leading zeros."""
    found = [(about(each.said), each.field, rows) for each, rows in answers(table, _lost_of_numbers(table))]
    dressed = [(field, rows) for issue, field, rows in found if issue.code == "taken_off"]
    one_by_one = len(dressed) <= _COLUMNS_ON_THEIR_OWN
    for issue, field, rows in sorted(found, key=lambda each: each[0].code):
        if one_by_one or issue.code == "rounded":
            yield table.note(issue.code, field.column, rows, example=_example(table, field, rows), **issue.given)
    if not one_by_one:
        cells = sum(rows.n_unique() for _, rows in dressed)
        names = [table.text_of(field.column) for field, _ in dressed]
        yield Issue.of("taken_off.columns", count=cells, columns=names, example=_example(table, *dressed[0]))
    yield from _lost_zeros(table)


def _lost_of_numbers(table: CompiledSheet) -> Iterator[CheckContext]:
    """What numbers with decimals have lost where they are read: decimals, and signs that are no digits."""
    groups = "," if table.mapping.spec.sheet.decimal == "." else r"\..*\.|\..*,"
    for field in {each.column: each for each in (*table.line, *table.header) if each.column is not None}.values():
        if (verb := _verb(table, field)) is not None:
            words, places = _PLACES[verb]
            beyond = _has_decimals(table, field, f"[0-9]{{{places}}}[0-9]*[1-9]")
            is_dressed = pl.col(_cell(field)).str.contains(rf"[^0-9.,\-]|^0[0-9]|{groups}")
            is_read = field.broken.is_null() & pl.col(field.value_name).is_not_null()  # not of orders that are paid
            yield CheckContext(field, beyond & is_read, Issue.of("rounded", places=words))
            yield CheckContext(field, is_dressed & is_read, Issue("taken_off"))


def _cell(field: Field) -> str:
    """The name of the cell that a field is read from, in the frame that has its value."""
    return f"first:{name_of(field.column or 1)}" if field.spec.source == "first" else name_of(field.column or 1)


def _example(table: CompiledSheet, field: Field, rows: pl.Series) -> list[Any]:
    """What the first of some cells was and what it is now, as messages."""
    frame = table.heads if field.is_of_document else table.lines
    first = frame.filter(pl.col("row") == rows.min()).select(_cell(field), field.value_name)
    return [["number_was", dict(zip(("was", "now"), first.row(0), strict=True))]] if first.height else []


def _verb(table: CompiledSheet, field: Field) -> str | None:
    """By which verb a field's cell is read as a number with decimals, None if by none."""
    if field.spec.source not in ("from", "first"):
        return None
    return next((verb for verb in table.verbs_of(field) if verb in _PLACES), None)


def _has_decimals(table: CompiledSheet, field: Field, pattern: str) -> pl.Expr:
    """Whether decimals of a cell fit a pattern; a true number has a full stop, whatever texts have."""
    cell = pl.col(_cell(field))
    with_point, with_comma = (cell.str.contains(f"(?:^|[^A-Za-z]){sign}{pattern}") for sign in (r"\.", ","))
    if table.mapping.spec.sheet.decimal == ".":
        return with_point
    return pl.when(is_marked(table.sheet, field.column or 1, CellFact.NUMBER)).then(with_point).otherwise(with_comma)


def _lost_zeros(table: CompiledSheet) -> Iterator[Issue]:
    """Numbers among codes with leading zeros or decimals: the program takes zeros off where a cell is no text."""
    if table.sheet.facts.is_empty():
        return
    for column, use in column_kinds(table.mapping, table.bound).items():
        name = name_of(column)
        if use not in (ColumnKind.IDENTITY, ColumnKind.GOODS) or name not in table.lines.columns:
            continue
        is_number = is_marked(table.sheet, column, CellFact.NUMBER)
        cells = table.lines.select("row", pl.col(name).alias("cell"), number=is_number)
        parted = pl.col("cell").str.contains(_WITH_DECIMALS)
        led = cells.filter(~pl.col("number") & pl.col("cell").str.contains(_LED_BY_ZERO))
        longest = led["cell"].str.len_bytes().max() or 0
        is_short = pl.col("number") & (pl.col("cell").str.len_bytes() < longest) & ~pl.col("cell").str.starts_with("0")
        lacking = {
            "decimals": (cells.filter("number", ~parted), cells.filter(parted)),
            "leading": (cells.filter(is_short), led),
        }
        for what, (short, others) in lacking.items():
            if short.height and others.height:
                there = table.sheet.physical_rows(others["row"])
                yield table.note(f"lost_zeros.{what}", column, short["row"], others=there)


def _odd_values(table: CompiledSheet) -> Iterator[Issue]:
    """A note for each column with values that look odd."""
    for each, rows in answers(
        table, chain.from_iterable(find(table) for find in (_goods, _days, _pins, _amounts, _places))
    ):
        if each.field.column is not None and rows.len():
            yield table.note(about(each.said).code, each.field.column, rows, **about(each.said).given)


def _odd(code: str, field: Field, odd: pl.Expr, **given: Any) -> CheckContext:
    """Whether a value of a field is odd; where the field's cell cannot be read nothing is."""
    return CheckContext(field, odd.fill_null(value=False) & field.broken.is_null(), Issue.of(f"odd.{code}", **given))


def _fields(table: CompiledSheet, *places: str) -> Iterator[Field]:
    """Those fields that are mapped."""
    return filter(None, map(table.field, places))


def _pairs(table: CompiledSheet, *places: tuple[str, str]) -> Iterator[tuple[Field, Field]]:
    """Pairs of fields of which both are mapped."""
    for pair in places:
        if len(fields := (*_fields(table, *pair),)) == len(pair):
            yield fields[0], fields[1]


def _goods(table: CompiledSheet) -> Iterator[CheckContext]:
    """Grams in a column of kilograms make a parcel of 820 kg, kilograms in a column of grams one of 1 g."""
    grams = 1000 if unit_wanted("weight", table.mapping.operation) == "g" else 1
    for field in _fields(table, "fields.weight", "lines.weight"):
        weight = field.number / grams
        yield _odd("weight", field, (weight > 0) & ~weight.is_between(LIGHTEST_KG, HEAVIEST_KG))
    for field in _fields(table, "lines.item_quantity", "lines.qty", "lines.quantity"):
        yield _odd("pieces", field, field.number > MOST_PIECES, most=MOST_PIECES)


def _days(table: CompiledSheet) -> Iterator[CheckContext]:
    """Goods that are to come on a day that is over: a notice that is late, or an old file."""
    day = table.run.business_date.isoformat()
    for field in _fields(table, "fields.delivery_date", "fields.expected_delivery_time"):
        yield _odd("past", field, pl.col(field.value_name).str.slice(0, 10) < day, day=day)


def _pins(table: CompiledSheet) -> Iterator[CheckContext]:
    """A PIN that is also in the address, but another one there: one of them leads to the wrong town."""
    for pin, address in _pairs(table, *_PINS):
        text, digits = pl.col(address.value_name), pl.col(pin.value_name)
        same = text.str.replace_all(" ", "", literal=True).str.contains(digits, literal=True)
        yield _odd("pin", pin, text.str.contains(_PIN_IN_TEXT) & ~same)


def _amounts(table: CompiledSheet) -> Iterator[CheckContext]:
    """Within a state CGST and SGST in equal halves, across states IGST, never both; e-way bills go by orders' worth."""
    for mrp, paid in _pairs(table, ("lines.maximum_retail_price", "lines.price_per_qty")):
        yield _odd("price", mrp, mrp.number < paid.number)
    for central, state in _pairs(table, ("lines.cgst", "lines.sgst")):
        yield _odd("tax_halves", central, (central.number.fill_null(0) - state.number.fill_null(0)).abs() > 0.01)
    halves = [field.number.fill_null(0) > 0 for field in _fields(table, "lines.cgst", "lines.sgst")]
    for integrated in _fields(table, "lines.igst"):
        yield _odd("taxes", integrated, (integrated.number > 0) & pl.any_horizontal(pl.lit(value=False), *halves))
    price, pieces = table.field("lines.item_price_per_each"), table.field("lines.item_quantity")
    if price is not None and price.column is not None:
        worth = price.number * (pieces.number.fill_null(1) if pieces is not None else 1)
        together = table.lines.select("doc", worth=worth).group_by("doc").agg(pl.col("worth").sum())
        dear = together.filter(pl.col("worth") > E_WAY_BILL_ABOVE_INR)["doc"]
        yield _odd("e_way_bill", price, pl.col("doc").is_in(dear.implode()), most=E_WAY_BILL_ABOVE_INR)


def _places(table: CompiledSheet) -> Iterator[CheckContext]:
    """A PIN whose first digit is that of another region than the state at the end of the address, and places abroad."""
    for pin, address in _pairs(table, *_PINS[:3]):
        first, text = pl.col(pin.value_name).str.slice(0, 1), pl.col(address.value_name)
        of_region = [
            text.str.contains(_AT_THE_END.format(names=names)) & (first != digit) for digit, names in _REGIONS.items()
        ]
        yield _odd("state", pin, pl.any_horizontal(of_region) & (first != "9"))  # 9 is the army's
    for way, lengthwise in (("delivery", "long"), ("pickup", "long"), ("return", "lon")):
        for name, (least, most) in (("lat", _NORTH), (lengthwise, _EAST)):
            for field in _fields(table, f"fields.{way}_{name}"):
                yield _odd("place", field, ~field.number.is_between(least, most))
    for field in _fields(table, "fields.customer_email"):
        yield _odd("e_mail", field, ~pl.col(field.value_name).str.strip_chars().str.contains(_E_MAIL))
