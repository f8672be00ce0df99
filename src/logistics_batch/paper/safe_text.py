"""Text that is safe to open in a spreadsheet program and comes back unchanged when it is read again.

A cell that may be run as a formula by the program that opens a CSV file gets a `'` before it (see
`model.formula_guard`), which our readers strip again. A plain negative number is no formula and stays as it is;
`+919876543210` is a telephone number and would lose its `+`, so it is guarded. Characters that no XML part may hold
stand in our own texts as visible escapes (`\\x07`); in the cells of a workbook they stay what they are, so that a cell
that was wrong for them is still wrong when it comes back.
"""

import re

import polars as pl

from logistics_batch.model.answers import FORMULA_INSIDE, FORMULA_START

CELL_LIMIT_CHARACTERS = 32_767
"""What a cell of a workbook can hold, counted in UTF-16; longer text is cut by the programs without a word."""

CUT_MARK = " … [cut here; the whole text is in the CSV result]"

_PLAIN_NUMBER = r"^-[0-9]+(?:\.[0-9]+)?$"
_CONTROLS = [chr(code) for code in range(32) if chr(code) not in "\t\n\r"] + ["\x7f", "\ufffe", "\uffff"]
_ESCAPES = [f"\\x{ord(sign):02x}" for sign in _CONTROLS]
_CELL_ESCAPES = [f"_x{ord(sign):04X}_" for sign in _CONTROLS]
_ESCAPE_TABLE = str.maketrans(dict(zip(_CONTROLS, _ESCAPES, strict=True)))
_XML_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
_XML_TABLE = str.maketrans(_XML_ESCAPES)
_FORMULA_LIKE = re.compile(FORMULA_START)
_NUMBER = re.compile(_PLAIN_NUMBER)
_TWO_UNITS = re.compile("[\U00010000-\U0010ffff]")  # emoji and other signs that take two in UTF-16
_ALWAYS_FITS = CELL_LIMIT_CHARACTERS // 2
_EXCEL_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_GUARDED_INSIDE = [";", "\t", "\r", "\n", *_CONTROLS]
_ESCAPED_IN_XML = [*_XML_ESCAPES, "_x", "\t", "\n", *_CONTROLS]
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_BLANKS_OUTSIDE = r"^\s|\s$"


def is_formula_like(text: str) -> bool:
    """Whether a spreadsheet program might run the text as a formula when it is typed or read from CSV.

    >>> [is_formula_like(text) for text in ("=1+1", "+9198", "-12.50", "A-1", "")]
    [True, True, False, False, False]
    """
    return _FORMULA_LIKE.match(text) is not None and _NUMBER.match(text) is None


def visible(text: str) -> str:
    r"""The text with every character that XML forbids as an escape people can see.

    >>> visible("a\x07b")
    'a\\x07b'
    """
    return text.translate(_ESCAPE_TABLE)


def cell_text(text: str) -> str:
    """The text as a workbook cell can hold it: visible escapes, cut at the limit of a cell with a mark that says so."""
    shown = visible(text)
    units = len(shown) + len(_TWO_UNITS.findall(shown)) if len(shown) > _ALWAYS_FITS else len(shown)
    if units <= CELL_LIMIT_CHARACTERS:
        return shown
    most = CELL_LIMIT_CHARACTERS if units == len(shown) else _ALWAYS_FITS
    return shown[: most - len(CUT_MARK)] + CUT_MARK


def workbook_text(text: str) -> str:
    """The text as a part of a workbook holds it; `_x0041_` is kept from being read as an escape of Excel's."""
    return _EXCEL_ESCAPE.sub("_x005F_", cell_text(text))


def xml_text(text: str) -> bytes:
    """The text of a cell as XML character data, UTF-8."""
    return workbook_text(text).translate(_XML_TABLE).encode("utf-8", "replace")


def guarded(frame: pl.DataFrame) -> pl.DataFrame:
    """Text columns as CSV may hold them: `'` before what could be run as a formula, and visible escapes.

    Most columns hold nothing that needs either, which is found out at a tenth of what it takes to look for each place.
    """
    every = pl.all()
    risky = every.str.contains(FORMULA_START) | every.str.contains_any(_GUARDED_INSIDE)
    text = pl.col(_where(frame, risky)).str.replace_many(_CONTROLS, _ESCAPES)
    inside = text.str.replace_all(FORMULA_INSIDE, "${1}'${2}")
    formula = text.str.contains(FORMULA_START) & ~text.str.contains(_PLAIN_NUMBER)
    whole = frame.with_columns(pl.when(formula).then(pl.lit("'") + inside).otherwise(inside).name.keep())
    return whole.select(pl.when(every != "").then(every).name.keep())


def visible_column(name: str) -> pl.Expr:
    """The texts of a column, the same as `visible` gives one by one."""
    return pl.col(name).str.replace_many(_CONTROLS, _ESCAPES)


def formula_like(name: str) -> pl.Expr:
    """Which texts of a column a spreadsheet program might run as a formula."""
    return pl.col(name).str.contains(FORMULA_START) & ~pl.col(name).str.contains(_PLAIN_NUMBER)


def _where(frame: pl.DataFrame, condition: pl.Expr) -> list[str]:
    """The columns in which a condition on each of them holds for any text."""
    if not frame.height:
        return []
    return [name for (name, found) in zip(frame.columns, frame.select(condition.any()).row(0), strict=True) if found]


def formula_columns(frame: pl.DataFrame) -> frozenset[str]:
    """The text columns with any text that a spreadsheet program might run as a formula, perhaps more."""
    return frozenset(_where(frame, pl.all().str.contains(FORMULA_START)))


def escaped_columns(frame: pl.DataFrame) -> frozenset[str]:
    """The text columns with any text that is another one as XML (see `cell_xml`), or whose blanks need care."""
    every = pl.all()
    is_other = every.str.contains_any(_ESCAPED_IN_XML) | (every.str.len_bytes() > _ALWAYS_FITS)
    return frozenset(_where(frame, is_other | every.str.contains(_BLANKS_OUTSIDE)))


def cell_xml(name: str) -> pl.Expr:
    """The texts of a column as XML character data; control characters in the way of workbooks, as `_x0007_`."""
    text = pl.col(name)
    length = text.str.len_chars()
    units = length + text.str.count_matches(_TWO_UNITS.pattern)
    most = pl.when(units == length).then(CELL_LIMIT_CHARACTERS).otherwise(_ALWAYS_FITS) - len(CUT_MARK)
    cut = pl.concat_str(text.str.head(most), pl.lit(CUT_MARK))
    fitting = pl.when(units > CELL_LIMIT_CHARACTERS).then(cut).otherwise(text)
    escaped = fitting.str.replace_all(r"_(x[0-9A-Fa-f]{4}_)", "_x005F_$1").str.replace_many(_CONTROLS, _CELL_ESCAPES)
    return escaped.str.replace_many(list(_XML_ESCAPES), list(_XML_ESCAPES.values())).alias(name)


def page_text(text: str) -> str:
    """The text as a page shows it: also characters that turn the direction of reading become visible escapes.

    >>> page_text("a\u202eb")
    'a\\\\u202eb'
    """
    if text.isascii() and text.isprintable():  # as nearly all are
        return text
    return _TURNING.sub(lambda sign: f"\\u{ord(sign[0]):04x}", visible(text))
