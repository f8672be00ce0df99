"""The cells of the columns that a mapping uses, cleaned without loss and as numbers; what is past repair is marked."""

from collections.abc import Mapping as Table
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.numbers import plain_number, without_suffix
from logistics_batch.mapping.fields.values.reading import ReadContext
from logistics_batch.mapping.fields.values.verbs import verb_of
from logistics_batch.mapping.loaded import Mapping, RunValues
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import SuffixRead
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.model.answers import GUARDED_INSIDE, GUARDED_START, SEPARATORS

BLANKS: Final = (
    " \t\r\n\x0b\x0c\u00a0\u1680\u2000\u2001\u2002\u2003\u2007\u2009\u202f\u3000\u200b\u2060\ufeff"
    "\u180e\u200e\u202a\u202c\u202d\u2066\u2068\u2069"
)
"""What is taken away at the ends of a cell, as spreadsheet users see nothing there."""

ERROR_WORDS: Final = ("#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#N/A!", "#SPILL!")

_ODD: Final = (
    r"[\x00-\x1f\x7f\u{85}\u{a0}\u{ad}\u{61c}\u{180e}\u{200b}-\u{200f}"
    r"\u{2028}-\u{202e}\u{2060}\u{2066}-\u{2069}\u{feff}]"
)
_UNSEEN: Final = r"[\u{180e}\u{200c}-\u{200e}\u{202a}\u{202c}\u{2066}\u{2068}\u{2069}]"
_TURNING: Final = r"[\u{ad}\u{61c}\u{200f}\u{202b}\u{202d}\u{202e}\u{2067}]"  # signs beside it may show elsewhere
_BREAK: Final = r"[\t\r\n\x0b\x0c\u{85}\u{2028}\u{2029}]"
_LINE_BREAK: Final = r"[\r\n\x0b\x0c\u{85}\u{2028}\u{2029}]"
_CONTROL: Final = r"[\x00-\x08\x0e-\x1f\x7f]"
_EXPONENT: Final = r"(?i)^[0-9](?:[.,][0-9]+)?e\+?[0-9]{1,3}$|^[0-9][.,][0-9]+e-[0-9]{1,3}$|^[0-9]+e\+?[0-9]+$"
_SHOWN_EXPONENT: Final = r"(?i)^[0-9](?:[.,][0-9]+)?e\+[0-9]{2,3}$"
_OTHER_DECIMALS: Final = r"^[0-9]+\.(?:[0-9]{2,}|[1-9])$"  # beside 1001.10 a code of 1001.0 may be meant so
_TOO_NARROW: Final = "^#{3,}$"  # what a column shows that is too narrow for its number

_QUOTED: Final = rf"^['=]|{SEPARATORS}'"

# The noughts of Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu, Kannada, Malayalam, Urdu and wide signs.
_NOUGHTS: Final = "\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0660\u06f0\uff10"
DIGITS_OF_SCRIPTS: Final = {chr(ord(nought) + digit): str(digit) for nought in _NOUGHTS for digit in range(10)}
_OF_SCRIPTS: Final = f"[{''.join(f'{nought}-{chr(ord(nought) + 9)}' for nought in _NOUGHTS)}]"

# Whatever trimming or a repair might change, or a bit more.
_CONSPICUOUS: Final = (
    rf"(?i)^['=#]|{SEPARATORS}'|^[{BLANKS}]|[{BLANKS}]$|^$|{_ODD}|  |\.0$|[0-9]e[+-]?[0-9]+$|{_OF_SCRIPTS}"
)


SHOWN_REPAIRS: Final = 3
"""So many repairs of a column are told one by one."""


class ColumnKind(StrEnum):
    """What a column is used for; it decides which repairs are without loss. The strictest stands first."""

    DIGITS = "digits"  # an identity of digits: mobile numbers, PINs
    IDENTITY = "identity"  # exponents are read or refused, ".0" goes, blanks inside are one; a line break parts two
    NUMBER = "number"  # exponents are read or refused; a line break parts two values
    GOODS = "goods"  # the name or code of goods: a line break parts two of them
    ADDRESS = "address"  # line breaks become ", "
    TEXT = "text"


OF_DIGITS: Final = (ColumnKind.NUMBER, ColumnKind.DIGITS)
"""Of which no cell is without a digit."""

_STRICT: Final = (ColumnKind.IDENTITY, ColumnKind.NUMBER, ColumnKind.DIGITS)
_IDENTITIES: Final = (ColumnKind.IDENTITY, ColumnKind.DIGITS)
_SINGLE: Final = (*_STRICT, ColumnKind.GOODS)


_KINDS: Final = {
    **dict.fromkeys(
        (FieldForm.MONEY, FieldForm.DECIMAL, FieldForm.PERCENT, FieldForm.DEGREES, FieldForm.QUANTITY, FieldForm.COUNT),
        ColumnKind.NUMBER,
    ),
    **dict.fromkeys((FieldForm.MOBILE, FieldForm.PINCODE), ColumnKind.DIGITS),
    **dict.fromkeys((FieldForm.IDENTITY, FieldForm.WAYBILL), ColumnKind.IDENTITY),
    FieldForm.GOODS: ColumnKind.GOODS,
    FieldForm.ADDRESS: ColumnKind.ADDRESS,
}
_READ_AS: Final[dict[str, ColumnKind]] = {
    **dict.fromkeys(("integer", "decimal", "percent", "money", "unit"), ColumnKind.NUMBER),
    **dict.fromkeys(("mobile", "pincode"), ColumnKind.DIGITS),
}
CODES_IN_TEXTS: Final = frozenset({"batch", "serial_number", "package_id", "pin_number"})
"""The targets of plain text that hold a code all the same."""


class Damage(StrEnum):
    """Why a cell cannot be used; the values are rule names."""

    SEVERAL = "several_values"
    CONTROL = "control"
    SCIENTIFIC = "scientific"
    ERROR_VALUE = "error_value"
    NO_VALUE = "no_value"
    IMPRECISE = "imprecise"
    WORDED = "number_format"
    DATED = "date_cell"
    TRUTH = "truth_cell"
    DECIMALS = "decimal_code"
    DITTO = "ditto"


@dataclass(frozen=True, slots=True)
class Repairs:
    """What was repaired in a column: its number and use, in which rows, and of the first few what was there before."""

    column: int
    use: ColumnKind
    rows: pl.Series
    first: tuple[tuple[str, str], ...]


DAMAGE_SCHEMA: Final = pl.Schema({"row": pl.UInt32, "column": pl.UInt16, "damage": pl.String})
"""Cells that are damaged: their place, from 1, and the `Damage`."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A frame whose columns are clean: null where a cell is empty or damaged.

    damage: one line a damaged cell, as DAMAGE_SCHEMA. repairs: of each column that had any.
    """

    frame: pl.DataFrame
    damage: pl.DataFrame
    repairs: tuple[Repairs, ...]


def name_of(column: int) -> str:
    """The name of a sheet column in frames of this room: `c7` is column G."""
    return f"c{column}"


def column_kinds(mapping: Mapping, header: Header) -> dict[int, ColumnKind]:
    """What each bound column is used for; of several uses the strictest."""
    every = _all_uses(mapping, header)
    return {column: next((use for use in ColumnKind if use in uses), ColumnKind.TEXT) for column, uses in every.items()}


def columns_of_codes(mapping: Mapping, header: Header) -> list[int]:
    """The columns that hold what something is known by, and that nothing reads as a number."""
    sent = [each for each in mapping.spec.everything.items() if not each[0].startswith("keep.")]
    codes = (names for place, field in sent if place.split(".", 1)[1] in CODES_IN_TEXTS for names in field.columns)
    named = header.bound(codes)
    return sorted(
        column
        for column, uses in _all_uses(mapping, header).items()
        if (column in named or uses & {ColumnKind.IDENTITY, ColumnKind.GOODS}) and not uses & set(OF_DIGITS)
    )


def _all_uses(mapping: Mapping, header: Header) -> dict[int, set[ColumnKind]]:
    found: dict[int, set[ColumnKind]] = {column: set() for column in header.columns.values()}
    for column in header.numbers(mapping, mapping.spec.key):
        found[column].add(ColumnKind.IDENTITY)
    for place, field in mapping.spec.everything.items():
        part, target = place.split(".", 1)
        form = form_of(target, mapping.operation) if part != "keep" else FieldForm.TEXT
        # What the steps of `read` make of a cell counts also where the target itself is plain text.
        steps = {_READ_AS[name] for step in field.read or () if (name := verb_of(step).name) in _READ_AS}
        for column in header.bound(field.columns):
            found[column].update([_KINDS.get(form, ColumnKind.TEXT), *steps])
    return found


def bare(name: str) -> pl.Expr:
    """A column's cells without blanks at their ends; null where nothing is left."""
    stripped = pl.col(name).str.strip_chars(BLANKS)
    return pl.when(stripped != "").then(stripped).alias(name)


def repeats(column: pl.Series) -> bool:
    """Whether few cells of a column are different, as its first tenth shows."""
    some = column.head(column.len() // 10)
    return some.n_unique() * 4 < some.len()


def clean(frame: pl.DataFrame, uses: dict[int, ColumnKind]) -> tuple[pl.DataFrame, Cleaned]:
    """The columns of a frame (row, c1, c2 …) without blanks at the ends of cells; and clean for their uses."""
    damage, repairs, trimmed = [pl.DataFrame(schema=DAMAGE_SCHEMA)], list[Repairs](), frame
    names = {number: name_of(number) for number in uses}
    few = [name for name in names.values() if repeats(frame[name])]
    of_few = frame.lazy().select(pl.col(name).unique().str.contains(_CONSPICUOUS).any() for name in few)
    sound = [each.name for each in of_few.collect(engine="in-memory") if not each.item()]
    masks = (
        frame.lazy()
        .select(pl.col(name).str.contains(_CONSPICUOUS) for name in names.values() if name not in sound)
        .collect(engine="in-memory")
    )
    for number, use in uses.items():  # the other cells are clean as they stand
        name = names[number]
        if name in sound or (places := masks[name].arg_true()).is_empty():
            continue
        cells = frame[name]
        seen = pl.DataFrame({"row": frame["row"].gather(places), "was": cells.gather(places)}).with_columns(bare("was"))
        trimmed = trimmed.with_columns(cells.clone().scatter(places, seen["was"]))
        decimals = trimmed[cells.name].str.contains(_OTHER_DECIMALS).any() if use is ColumnKind.IDENTITY else False
        found = _repaired(seen, use, has_decimals=bool(decimals))
        column = pl.lit(number, dtype=pl.UInt16).alias("column")
        damage.append(found.drop_nulls("damage").select("row", column, "damage").cast(DAMAGE_SCHEMA))
        changed = found.filter(pl.col("cell") != pl.col("was"))
        if not changed.is_empty():
            first = changed.select("was", "cell").head(SHOWN_REPAIRS)
            repairs.append(Repairs(number, use, changed["row"], tuple(first.iter_rows())))
        frame = frame.with_columns(cells.clone().scatter(places, found["cell"]))
    return trimmed, Cleaned(frame, pl.concat(damage), tuple(repairs))


def _repaired(seen: pl.DataFrame, use: ColumnKind, *, has_decimals: bool) -> pl.DataFrame:
    """Cells of a column (row, was) with `damage`, and `cell`, repaired; null where it is damaged.

    has_decimals: whether codes of the column have decimals, so that ".0" may be meant.
    """
    cell = pl.col("was")
    if use in OF_DIGITS:
        cell = cell.str.replace_many(DIGITS_OF_SCRIPTS)
    if seen["was"].str.contains(_QUOTED).any():  # '=1+1, '+91…, '75008 and ="0012" are text that was forced to be text
        cell = cell.str.replace_all(GUARDED_INSIDE, "${1}${2}").str.replace(f"(?s){GUARDED_START}", "${1}")
        cell = cell.str.strip_chars_start(BLANKS)
        cell = cell.str.replace(r"^'([0-9]+)$", "${1}").str.replace(r'^="([^"]*)"$', "${1}")
    if use is ColumnKind.ADDRESS:
        cell = cell.str.replace_all(rf"\s*,?\s*{_LINE_BREAK}+\s*", ", ")
    cell = cell.str.replace_all(rf"\s*{_LINE_BREAK}+\s*", " ").str.replace_all(r"[\t\u{a0}]", " ")
    cell = cell.str.replace_all(r"[\u{200b}\u{2060}\u{feff}]", "")
    if use in _STRICT:
        cell = cell.str.replace_all(_UNSEEN, "")
    if use in _IDENTITIES:
        cell = cell.str.replace_all(r"\s+", " ")
        cell = cell if has_decimals else cell.str.replace(r"^([0-9]+)\.0$", "$1")
    found = seen.with_columns(cell.alias("cell"))
    cell = pl.col("cell")
    lossy, text = _exponents(cell, _EXPONENT if use in _STRICT else _SHOWN_EXPONENT)
    tests = {
        Damage.SEVERAL: pl.col("was").str.contains(_BREAK) if use in _SINGLE else pl.lit(value=False),
        Damage.ERROR_VALUE: cell.is_in(ERROR_WORDS) | cell.str.contains(_TOO_NARROW),
        Damage.CONTROL: cell.str.contains(f"{_TURNING}|{_CONTROL}" if use in _STRICT else _CONTROL),
        Damage.SCIENTIFIC: lossy,
    }
    damage = pl.coalesce(pl.when(test).then(pl.lit(kind.value)) for kind, test in tests.items())
    found = found.with_columns(damage.alias("damage"), text.alias("cell"))
    return found.with_columns(pl.when(pl.col("damage").is_null()).then("cell").alias("cell"))


def _exponents(cell: pl.Expr, pattern: str) -> tuple[pl.Expr, pl.Expr]:
    """Whether a cell is an exponent whose mantissa does not show every digit; and those that do, written out."""
    parts = r"(?i)^([0-9])(?:\.([0-9]+))?e\+?([0-9]{1,3})$"
    first, decimals = cell.str.extract(parts, 1), cell.str.extract(parts, 2).fill_null("")
    exponent = cell.str.extract(parts, 3).cast(pl.Int32, strict=False)
    written, complete = cell.str.contains(pattern), (decimals.str.len_bytes() >= exponent).fill_null(value=False)
    rest = decimals.str.slice(exponent)
    whole = first + decimals.str.slice(0, exponent) + pl.when(rest != "").then(pl.lit(".") + rest).otherwise(pl.lit(""))
    return written & ~complete, pl.when(written & complete).then(whole).otherwise(cell)


EXACT: Final = pl.Decimal(38, 6)


def reading_of_numbers(mapping: Mapping, header: Header, run: RunValues) -> ReadContext:
    """What numbers of any column are read with: the words too that some field declares behind those of a column."""
    found: dict[int, Table[str, int]] = {}
    for field in mapping.spec.everything.values():
        for step in field.read or ():
            if isinstance(step, SuffixRead):
                found |= dict.fromkeys(header.bound(field.columns[:1]), step.suffix)
    return ReadContext(run, decimal=mapping.spec.sheet.decimal, suffixes=found)


def amount(column: int, around: ReadContext) -> pl.Expr:
    """A column's cells as exact decimals; null where one is blank or no number."""
    return plain_number(without_words(column, around), around).cast(EXACT, strict=False)


def without_words(column: int, around: ReadContext) -> pl.Expr:
    """A column's cells without the words that are declared behind its numbers."""
    cell, suffix = pl.col(name_of(column)), around.suffixes.get(column)
    return without_suffix(cell, suffix, around) if suffix else cell
