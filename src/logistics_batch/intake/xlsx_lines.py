"""The XML of an .xlsx sheet as lines of fields: one line for each cell, row and end of a row.

The few sequences of characters that ordinary programs write between values are each replaced by a sign, in one go, and
the fastest reader of tables splits what remains. The signs are control characters, which no XML may hold; so whatever
stands there can be told exactly, and turned back.
"""

import re
from typing import Final

import polars as pl

LINE: Final = "\x01"
FIELD: Final = "\x02"
STYLE: Final = "\x03"
"""Stands between a cell's address and the number of its style."""

ROW: Final = "#"
ROW_END: Final = "/"
FIELDS: Final = tuple(f"f{number}" for number in range(6))

_CODES: Final = {  # the longer of two that begin alike goes first
    '" t="inlineStr"><is><t xml:space="preserve">': f"{FIELD}p{FIELD}",
    '" t="inlineStr"><is><t>': f"{FIELD}i{FIELD}",
    "</t></is></c>": f"{FIELD}I",
    '" t="n"><v>': f"{FIELD}n{FIELD}",
    '" t="s"><v>': f"{FIELD}s{FIELD}",
    '" t="': f"{FIELD}T{FIELD}",
    '"><v>': f"{FIELD}v{FIELD}",
    '"><f': f"{FIELD}f{FIELD}",
    "</v></c>": f"{FIELD}V",
    '"></c>': f"{FIELD}e",
    '"/>': f"{FIELD}/",
    '" s="': STYLE,
    '<c r="': LINE,
    '<row r="': LINE + ROW,
    "</row>": LINE + ROW_END,
}
_SIGN: Final = re.compile(f"{FIELD}(?:[pinsTvf]{FIELD}|[IVe/])|{STYLE}")
_MEANT: Final = {code: text for text, code in _CODES.items()}
_OTHER_ENCODING: Final = re.compile(rb"""\bencoding\s{0,9}=\s{0,9}["'](?!utf-8["'])""", re.IGNORECASE)
_UNREADABLE: Final = (LINE.encode(), FIELD.encode(), STYLE.encode(), b"\r")


class NotPlain(Exception):
    """Something in a sheet is written otherwise than ordinary programs write it."""


def is_plain_beginning(content: bytes) -> bool:
    """Whether what stands before the rows or texts of a part lets them be read as they stand."""
    return b"<!" not in content and not _OTHER_ENCODING.search(content)


def coded(block: bytes) -> bytes:
    """XML with a sign for each sequence between values; raises NotPlain where one of the signs stands in it already."""
    if any(sign in block for sign in _UNREADABLE):
        raise NotPlain
    return with_codes(block, _CODES)


def with_codes(block: bytes, codes: dict[str, str]) -> bytes:
    """UTF-8 with sequences replaced, in one go; of two that begin alike the first counts. Raises NotPlain."""
    try:
        text = pl.Series([block], dtype=pl.Binary).cast(pl.String)
    except pl.exceptions.ComputeError as error:  # it is no UTF-8
        raise NotPlain from error
    replaced: bytes = text.str.replace_many(list(codes), list(codes.values()), leftmost=True).cast(pl.Binary).item()
    return replaced


def lines_of(text: bytes) -> pl.DataFrame:
    """The lines of coded XML: their fields, null where they are empty or behind the last one."""
    if not text.startswith(LINE.encode()):
        raise NotPlain
    try:
        # The first line is blank and tells how many fields there are.
        frame = pl.read_csv(
            FIELD.encode() * (len(FIELDS) - 1) + text,
            separator=FIELD,
            eol_char=LINE,
            quote_char=None,
            has_header=False,
            schema=dict.fromkeys(FIELDS, pl.String),
            infer_schema=False,
        )
    except pl.exceptions.ComputeError as error:  # a line of more fields
        raise NotPlain from error
    return frame.slice(1)


def joined(fields: pl.DataFrame) -> pl.Series:
    """Lines as they were before they were split."""
    every = [pl.col(name).fill_null("") for name in fields.columns]
    return fields.select(pl.concat_str(every, separator=FIELD).str.strip_chars_end(FIELD)).to_series()


def decoded(text: str) -> str:
    """The XML that a piece of coded XML stands for."""
    return _SIGN.sub(lambda sign: _MEANT[sign[0]], text)
