"""Items written as one text, `tea x 2`, read by a pattern of their parts, `{sku} x {qty}`."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import polars as pl

from logistics_batch.mapping.rows.cells import BLANKS
from logistics_batch.mapping.spec.model import LinesFromSpec, parts_of

Line = tuple[str | None, ...]

_NUMBER: Final = r"((?:(?:₹|rs\.?|inr)\s*)?[0-9][0-9.,]*(?:\s*/-)?)"


def read_items(form: LinesFromSpec, numeric: Collection[str], texts: Iterable[str]) -> dict[str, Line]:
    """From each text to its parts; without those that fit no pattern or could be read in two ways.

    numeric: the parts that are numbers. Polars matches in linear time; Python's own patterns would try one long cell,
    which anybody may send, for days.
    """
    pieces = pl.Series("text", list(dict.fromkeys(texts)), dtype=pl.String)
    read: dict[str, set[Line]] = {text: set() for text in pieces}
    for pattern in form.pattern or ():
        for part in (r"(.+)", r"(.+?)"):
            for text, line in zip(pieces, _lines(form, pattern, _regex(pattern, numeric, part), pieces), strict=True):
                if None not in line:
                    read[text].add(line)
    return {text: tuple(value or None for value in lines.pop()) for text, lines in read.items() if len(lines) == 1}


def _lines(form: LinesFromSpec, pattern: str, regex: str, pieces: pl.Series) -> Iterator[Line]:
    """The parts of each text, in the order of the first pattern; of one that does not fit all are null."""
    order = parts_of(pattern)
    groups = pieces.to_frame().select(pl.col("text").str.extract_groups(regex).struct.unnest())
    cells = groups.select(pl.all().str.strip_chars(BLANKS))
    return cells.select(cells.columns[order.index(name)] for name in form.parts).iter_rows()


def example_item(form: LinesFromSpec, numeric: Collection[str]) -> str:
    """The pattern filled in: numbers are 2, texts their own names in capitals."""
    return str((form.pattern or [""])[0]).format(
        **{part: "2" if part in numeric else part.upper() for part in form.parts}
    )


def _regex(pattern: str, numeric: Collection[str], text: str) -> str:
    """A blank of the pattern may be missing in a piece, but not where a word would run into a text: `box 2` is no
    `{sku} x {qty}`."""
    pieces = re.split(r"\{(\w+)\}", pattern)
    made = ""
    for number, piece in enumerate(pieces):
        if number % 2:
            made += _NUMBER if piece in numeric else text
            continue
        words = piece.split()
        before, after = (piece[:1].isspace(), piece[-1:].isspace()) if words else (bool(piece), False)
        made += _blank(words[:1], pieces[number - 1 : number], numeric) if before else ""
        made += r"\s+".join(map(pl.escape_regex, words))
        made += _blank(words[-1:], pieces[number + 1 : number + 2], numeric) if after else ""
    return rf"(?is)^(?:{made})$"


def _blank(word: Sequence[str], part: Sequence[str], numeric: Collection[str]) -> str:
    """What stands for a blank between a word of the pattern and the part beside it."""
    runs_together = (
        bool(part) and part[0] not in numeric and (not word or word[0][:1].isalnum() or word[0][-1:].isalnum())
    )
    return r"\s+" if runs_together else r"\s*"
