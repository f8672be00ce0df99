"""The cells of the columns that a mapping uses, cleaned without loss; what cannot be repaired is marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import polars as pl

from logistics_batch.model.formula_guard import GUARDED_INSIDE, GUARDED_START, SEPARATORS

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

# The noughts of Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu, Kannada, Malayalam, Urdu and wide signs.
_NOUGHTS: Final = "\u0966\u09e6\u0a66\u0ae6\u0b66\u0be6\u0c66\u0ce6\u0d66\u0660\u06f0\uff10"
_DIGITS_OF_SCRIPTS: Final = {chr(ord(nought) + digit): str(digit) for nought in _NOUGHTS for digit in range(10)}
_OF_SCRIPTS: Final = f"[{''.join(f'{nought}-{chr(ord(nought) + 9)}' for nought in _NOUGHTS)}]"

# Whatever trimming or a repair might change, or a bit more.
_CONSPICUOUS: Final = (
    rf"(?i)^['=#]|{SEPARATORS}'|^[{BLANKS}]|[{BLANKS}]$|^$|{_ODD}|  |\.0$|[0-9]e[+-]?[0-9]+$|{_OF_SCRIPTS}"
)


SHOWN_REPAIRS: Final = 3
"""So many repairs of a column are told one by one."""


class ColumnKind(StrEnum):
    """What a column is used for; it decides which repairs are without loss."""

    TEXT = "text"
    ADDRESS = "address"  # line breaks become ", "
    NUMBER = "number"  # exponents are read or refused; a line break parts two values
    GOODS = "goods"  # the name or code of goods: a line break parts two of them
    IDENTITY = "identity"  # likewise; exponents are read or refused, ".0" goes, blanks inside are one
    DIGITS = "digits"  # an identity of digits: mobile numbers, PINs


_OF_DIGITS: Final = (ColumnKind.NUMBER, ColumnKind.DIGITS)
_STRICT: Final = (ColumnKind.IDENTITY, ColumnKind.NUMBER, ColumnKind.DIGITS)
_IDENTITIES: Final = (ColumnKind.IDENTITY, ColumnKind.DIGITS)
_SINGLE: Final = (*_STRICT, ColumnKind.GOODS)


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


def conspicuous(frame: pl.DataFrame) -> list[str]:
    """The columns with a cell that trimming or a repair might change; the others are clean as they stand."""
    tests = [pl.col(name).str.contains(_CONSPICUOUS).any() for name in frame.columns if name != "row"]
    found = frame.lazy().select(tests).collect(engine="in-memory").row(0, named=True) if tests else {}
    return [name for name, might_change in found.items() if might_change]


def trimmed(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """These columns' cells without blanks at their ends; null where nothing is left."""
    bare = frame.lazy().with_columns(pl.col(name).str.strip_chars(BLANKS).alias(name) for name in names)
    nulls = [pl.when(pl.col(name) != "").then(pl.col(name)).alias(name) for name in names]
    return bare.with_columns(nulls).collect(engine="in-memory")


def clean(frame: pl.DataFrame, uses: dict[int, ColumnKind]) -> Cleaned:
    """Clean columns of a trimmed frame (row, c1, c2 …) for their uses."""
    columns = {name_of(number): use for number, use in uses.items()}
    found = _prescan(frame, columns)
    damage: list[pl.DataFrame] = []
    repairs: list[Repairs] = []
    for number, use in uses.items():
        name = name_of(number)
        signs = {sign for sign in _SIGNS if found[f"{name}:{sign}"]}
        if not signs:
            continue
        steps = _repaired(frame[name], use, signs)
        bad = steps.damaged
        if bad.is_not_null().any():
            spoilt = frame.select("row", pl.lit(number, dtype=pl.UInt16).alias("column"), bad.alias("damage"))
            damage.append(spoilt.drop_nulls("damage"))
        if (at := steps.repaired.arg_true()).len():
            few = at.head(SHOWN_REPAIRS)
            first = zip(frame[name].gather(few), steps.text.gather(few), strict=True)
            repairs.append(Repairs(number, use, frame["row"].gather(at), tuple(first)))
        frame = frame.with_columns(steps.text.alias(name))
    return Cleaned(frame, pl.concat([pl.DataFrame(schema=DAMAGE_SCHEMA), *damage]), tuple(repairs))


_SIGNS: Final = ("script", "quoted", "odd", "exponent", "float", "error", "spaced")


def _prescan(frame: pl.DataFrame, columns: dict[str, ColumnKind]) -> dict[str, bool]:
    """Which columns hold anything that needs a closer look; most hold nothing."""
    scans: list[pl.Expr] = []
    for name, use in columns.items():
        cell = pl.col(name)
        pattern = _EXPONENT if use in _STRICT else _SHOWN_EXPONENT
        tests = {
            "script": cell.str.contains(_OF_SCRIPTS) if use in _OF_DIGITS else pl.lit(value=False),
            "quoted": cell.str.starts_with("'") | cell.str.starts_with('="') | cell.str.contains(GUARDED_INSIDE),
            "odd": cell.str.contains(_ODD),
            "exponent": cell.str.contains(pattern),
            "float": cell.str.ends_with(".0") if use in _IDENTITIES else pl.lit(value=False),
            "error": cell.str.starts_with("#"),
            "spaced": cell.str.contains("  ", literal=True) if use in _IDENTITIES else pl.lit(value=False),
        }
        scans += [test.any().alias(f"{name}:{sign}") for sign, test in tests.items()]
    row = frame.lazy().select(scans).collect(engine="in-memory").row(0, named=True) if scans else {}
    return {key: bool(value) for key, value in row.items()}


@dataclass(frozen=True, slots=True)
class _Repair:
    text: pl.Series
    damaged: pl.Series
    repaired: pl.Series


def _repaired(cells: pl.Series, use: ColumnKind, signs: set[str]) -> _Repair:
    """One column with its repairs made; `damaged` names the damage of cells that are lost."""
    cell = pl.col("cell")
    steps: list[pl.Expr] = []
    if "script" in signs:
        steps.append(cell.str.replace_many(_DIGITS_OF_SCRIPTS))
    if "quoted" in signs:  # '=1+1, '+91…, '75008 and ="0012" are text that was forced to be text
        inside = cell.str.replace_all(GUARDED_INSIDE, "${1}${2}")
        bare = inside.str.replace(f"(?s){GUARDED_START}", "${1}").str.strip_chars_start(BLANKS)
        steps.append(bare.str.replace(r"^'([0-9]+)$", "${1}").str.replace(r'^="([^"]*)"$', "${1}"))
    if "odd" in signs:
        joint = ", " if use is ColumnKind.ADDRESS else " "
        breaks = cell.str.replace_all(rf"\s*,?\s*{_LINE_BREAK}+\s*", joint) if joint == ", " else cell
        spaces = breaks.str.replace_all(rf"\s*{_LINE_BREAK}+\s*", joint).str.replace_all(r"[\t\u{a0}]", " ")
        steps.append(spaces.str.replace_all(r"[\u{200b}\u{2060}\u{feff}]", ""))
    if use in _STRICT and "odd" in signs:
        steps.append(cell.str.replace_all(_UNSEEN, ""))
    if use in _IDENTITIES and signs & {"odd", "spaced"}:
        steps.append(cell.str.replace_all(r"\s+", " "))
    if "float" in signs and not (use is ColumnKind.IDENTITY and cells.str.contains(_OTHER_DECIMALS).any()):
        steps.append(cell.str.replace(r"^([0-9]+)\.0$", "$1"))
    several = pl.col("was").str.contains(_BREAK) if use in _SINGLE else pl.lit(value=False)
    frame = pl.DataFrame({"cell": cells, "was": cells}).with_columns(several.alias("several"))
    for step in steps:
        frame = frame.with_columns(step.alias("cell"))
    strict = use in _STRICT
    damaged = pl.coalesce(
        pl.when("several").then(pl.lit(Damage.SEVERAL.value)),
        pl.when(cell.is_in(ERROR_WORDS) | cell.str.contains(_TOO_NARROW)).then(pl.lit(Damage.ERROR_VALUE.value)),
        pl.when(cell.str.contains(_TURNING if use in _STRICT else _CONTROL)).then(pl.lit(Damage.CONTROL.value)),
        pl.when(cell.str.contains(_CONTROL)).then(pl.lit(Damage.CONTROL.value)),
        pl.when(_lossy(cell, strict=strict)).then(pl.lit(Damage.SCIENTIFIC.value)),
    )
    text = _expanded(cell, strict=strict)
    frame = frame.with_columns(damaged.alias("damaged"), text.alias("cell"))
    frame = frame.with_columns(pl.when(pl.col("damaged").is_null()).then(cell).alias("cell"))
    changed = pl.col("damaged").is_null() & (cell != pl.col("was"))
    return _Repair(frame["cell"], frame["damaged"], frame.select(changed.fill_null(value=False)).to_series())


def _exponent_parts(cell: pl.Expr) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Digit before the point, digits after it, exponent."""
    pattern = r"(?i)^([0-9])(?:\.([0-9]+))?e\+?([0-9]{1,3})$"
    exponent = cell.str.extract(pattern, 3).cast(pl.Int32, strict=False)
    return cell.str.extract(pattern, 1), cell.str.extract(pattern, 2).fill_null(""), exponent


def _lossy(cell: pl.Expr, *, strict: bool) -> pl.Expr:
    """An exponent whose mantissa does not show every digit."""
    written = cell.str.contains(_EXPONENT if strict else _SHOWN_EXPONENT)
    _, decimals, exponent = _exponent_parts(cell)
    complete = (decimals.str.len_bytes() >= exponent).fill_null(value=False)
    return written & ~complete


def _expanded(cell: pl.Expr, *, strict: bool) -> pl.Expr:
    """An exponent whose mantissa shows every digit, written out; other texts as they are."""
    written = cell.str.contains(_EXPONENT if strict else _SHOWN_EXPONENT)
    first, decimals, exponent = _exponent_parts(cell)
    rest = decimals.str.slice(exponent)
    point = pl.when(rest.str.len_bytes() > 0).then(pl.lit(".") + rest).otherwise(pl.lit(""))
    whole = first + decimals.str.slice(0, exponent) + point
    return pl.when(written & whole.is_not_null()).then(whole).otherwise(cell)
