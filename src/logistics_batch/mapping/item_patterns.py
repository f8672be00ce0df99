"""Items written as one text, `tea x 2`, read by a pattern of their parts, `{sku} x {qty}`."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

import polars as pl

from logistics_batch.mapping.cells import BLANKS
from logistics_batch.mapping.spec_lines import LinesFromSpec

Line = tuple[str | None, ...]

_NUMBER: Final = r"((?:(?:₹|rs\.?|inr)\s*)?[0-9][0-9.,]*(?:\s*/-)?)"


def read_items(form: LinesFromSpec, numeric: Collection[str], texts: Iterable[str]) -> dict[str, Line]:
    """From each text to its parts; without those that do not fit or could be read in two ways.

    numeric: the parts that are numbers. Polars matches in linear time; Python's own patterns would try one long cell,
    which anybody may send, for days.
    """
    pieces = pl.DataFrame({"text": list(dict.fromkeys(texts))}, schema={"text": pl.String})
    longest, shortest = (
        pieces.select(pl.col("text").str.extract_groups(_regex(form.pattern or "", numeric, part)).struct.unnest())
        .select(pl.all().str.strip_chars(BLANKS))
        .iter_rows()
        for part in (r"(.+)", r"(.+?)")
    )
    found = zip(pieces["text"], longest, shortest, strict=True)
    return {
        text: tuple(value or None for value in most)
        for text, most, least in found
        if None not in most and most == least
    }


def example_item(form: LinesFromSpec, numeric: Collection[str]) -> str:
    """The pattern filled in: numbers are 2, texts their own names in capitals."""
    return str(form.pattern).format(**{part: "2" if part in numeric else part.upper() for part in form.parts})


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
