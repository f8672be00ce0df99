"""Several lines in one row: pieces of a cell, parallel cells and numbered columns, one line each."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from logistics_batch.mapping.findings import SHOWN_CHARACTERS
from logistics_batch.mapping.lines.exploded import BoundSheet, Line, Lines, exploded
from logistics_batch.mapping.loaded import Mapping as LoadedMapping
from logistics_batch.mapping.rows.cells import BLANKS
from logistics_batch.mapping.rows.header import Header, bind
from logistics_batch.mapping.spec.model import NUMBERS_AT_MOST, LinesFromSpec, MappingSpec, parts_of
from logistics_batch.mapping.spec.names import ColumnName, names_match, same
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.messages.words import listed
from logistics_batch.model.sheet import Sheet

_LONGEST_NUMBER: Final = 9  # digits, with zeros before it; Python itself refuses 4,301
_NUMERIC: Final = (Form.COUNT, Form.QUANTITY, Form.MONEY, Form.DECIMAL, Form.PERCENT)
_NUMBER: Final = r"((?:(?:₹|rs\.?|inr)\s*)?[0-9][0-9.,]*(?:\s*/-)?)"


def split_rows(
    mapping: LoadedMapping, form: LinesFromSpec, sheet: Sheet, header: Header, *, notes: tuple[str, ...]
) -> BoundSheet:
    """The sheet of a mapping with `lines_from`, exploded: rows above the header stay one line each."""
    numbered = [numbered_columns(template, header.texts) for template in form.columns or ()]
    notes = (*_not_there(form.columns or (), numbered, header), *notes)
    if form.pattern is not None:
        name, *_ = form.split or [""]
        columns = [*numbered[0].values()] if form.columns else [header.column([name]) or 1]
        lines = _by_pattern(form, mapping.spec, sheet, header, columns or [1])
        used, names = set(columns), form.parts
    elif form.columns is not None:
        lines = _numbered(form.columns, numbered, sheet, header)
        used, names = {column for found in numbered for column in found.values()}, form.columns
    else:
        columns = [column for name in form.split or () if (column := header.column([name])) is not None]
        lines = _parallel(form, sheet, header, columns)
        used, names = set(), [""] * len(columns)
    texts = (*header.texts, *names)
    bound = bind(mapping, header.row, texts)
    spare = {header.texts[column - 1].strip() for column in used if column <= len(header.texts)}
    bound = replace(
        bound,
        unknown=tuple(text for text in bound.unknown if text not in spare),
        unused=tuple(text for text in bound.unused if text not in spare),
        printed=tuple((*each, *("" for _ in names)) for each in header.printed),
    )
    return BoundSheet(mapping, exploded(sheet, header, lines), bound, notes, lines)


def numbered_columns(template: str, texts: Sequence[str]) -> dict[int, int]:
    """For a name with {n} the columns of a header that bear it, by their numbers.

    >>> numbered_columns("SKU {n}", ["Order", "SKU 1", "sku-3", "SKU"])
    {1: 2, 3: 3}
    >>> numbered_columns("SKU {n}", ["SKU 01", "SKU 02"])
    {1: 1, 2: 2}
    """
    names = {position: ColumnName.of(text) for position, text in enumerate(texts, 1) if re.search(r"\d", text)}
    found: dict[int, int] = {}
    for position, name in names.items():
        for digits in re.findall(r"\d+", name.literal):
            if len(digits) > _LONGEST_NUMBER or not 0 < int(digits) <= NUMBERS_AT_MOST:
                continue
            wanted = ColumnName.of(template.replace("{n}", digits))
            if same(name, wanted) or names_match(name, wanted):
                found.setdefault(int(digits), position)
    return dict(sorted(found.items()))


def _by_pattern(form: LinesFromSpec, spec: MappingSpec, sheet: Sheet, header: Header, columns: Sequence[int]) -> Lines:
    """`tea x 2; milk x 1`: every piece must fit the pattern, and in one way only; a numbered column holds one each."""
    count = len(form.parts)
    lines = Lines(range(sheet.width + 1, sheet.width + 1 + count))
    nothing = (None,) * count
    numeric = _numeric_parts(spec, form.parts)
    title, cells = header.texts[columns[0] - 1].strip(), [_texts(sheet, column) for column in columns]
    below = _body(sheet, header)
    texts = {text: _pieces(text, form.on) if form.split else [text] for each in cells for text in each[below:] if text}
    read, example = (
        _items(form, numeric, [piece for pieces in texts.values() for piece in pieces]),
        _example(form, numeric),
    )
    code = "pattern.pieces" if form.split else "pattern.cell"
    for row, row_texts in enumerate(zip(*cells, strict=True)):
        if row_texts[0] == title:
            lines.add(row, form.parts, [columns[0]] * count)
            continue
        for column, text in zip(columns, row_texts, strict=True) if row >= below else ():
            for piece in filter(None, texts[text] if text else ()):
                values = read.get(piece)
                lines.add(row, values or nothing, [column] * count)
                if values is None:
                    lines.blame(column, code, piece=piece[:SHOWN_CHARACTERS], example=example)
        if lines.at[-1:] != [row]:  # blank, or marks alone
            lines.add(row, nothing, [columns[0]] * count)
    return lines


def _parallel(form: LinesFromSpec, sheet: Sheet, header: Header, columns: Sequence[int]) -> Lines:
    """`tea|milk` beside `2|1`: the first belongs to the first; the cells must hold equally many.

    The pieces stand in place of their cells, which themselves are the made columns: what is wrong is told of these.
    """
    whole = {column: sheet.width + place for place, column in enumerate(columns, 1)}
    lines = Lines([*columns, *whole.values()])
    sources, below = [*columns, *columns], _body(sheet, header)
    names = {column: header.texts[column - 1].strip() for column in columns}
    for row, texts in enumerate(zip(*(_texts(sheet, column) for column in columns), strict=True)):
        if row < below or not any(texts):
            lines.add(row, [*texts, *texts], sources)
            continue
        pieces = [_pieces(text or "", form.on) for text in texts]
        while all(each and not each[-1] for each in pieces):  # a mark at the end
            pieces = [each[:-1] for each in pieces]
        counts = [len(each) for each in pieces]
        if len(set(counts)) > 1:
            lines.add(row, [*(None for _ in texts), *texts], sources)
            for column in (column for column, count in zip(columns, counts, strict=True) if count != counts[0]):
                lines.blame(whole[column], "pieces", held=list(zip(names.values(), counts, strict=True)))
            continue
        for line in zip(*pieces, strict=True):
            lines.add(row, [*(piece or None for piece in line), *texts], sources)
            for column, piece, text in zip(columns, line, texts, strict=True):
                if text and not piece:
                    lines.blame(whole[column], "half_filled.piece", name=names[column])
        if lines.at[-1:] != [row]:
            lines.add(row, [*(None for _ in texts), *texts], sources)
    return lines


def _numbered(templates: Sequence[str], numbered: Sequence[Mapping[int, int]], sheet: Sheet, header: Header) -> Lines:
    """`SKU 1, Qty 1, SKU 2, Qty 2`: a line for each number with anything in its columns."""
    lines = Lines(range(sheet.width + 1, sheet.width + 1 + len(templates)))
    nothing, first = (None,) * len(templates), [min(found.values(), default=1) for found in numbered]
    texts = {column: _texts(sheet, column) for column in {*first, *(c for found in numbered for c in found.values())}}
    titles = [header.texts[column - 1].strip() for column in first]
    below = _body(sheet, header)
    for row in range(sheet.frame.height):
        if [texts[column][row] for column in first] == titles:
            lines.add(row, templates, first)
            continue
        for number in sorted({number for found in numbered for number in found}) if row >= below else ():
            places = [found.get(number, 0) for found in numbered]
            line = [texts[place][row] if place else None for place in places]
            if any(line):
                lines.add(row, line, [place or spare for place, spare in zip(places, first, strict=True)])
                _blame_gaps(lines, header, line, places, [_named(each, number) for each in templates])
        if lines.at[-1:] != [row]:
            lines.add(row, nothing, first)
    return lines


def _blame_gaps(lines: Lines, header: Header, line: Line, places: Sequence[int], names: Sequence[str]) -> None:
    """An item with a blank cell, or of which the sheet has only some columns: that is not known to be nothing."""
    filled = next(place for place, value in zip(places, line, strict=True) if value)
    there = header.texts[filled - 1].strip()
    for place, value in zip(places, line, strict=True):
        if value is None and place:
            lines.blame(place, "half_filled.numbered", name=header.texts[place - 1].strip(), there=there)
    if not all(places):
        lacking = [name for place, name in zip(places, names, strict=True) if not place]
        lines.blame(filled, "no_column.numbered", there=there, lacking=lacking)


def _not_there(templates: Sequence[str], columns: Sequence[Mapping[int, int]], header: Header) -> Iterator[str]:
    """What is odd about the numbers: some are passed over, or some columns end before others."""
    numbers = {number for found in columns for number in found}
    if passed_over := sorted({*range(1, max(numbers, default=0))} - numbers):
        names = listed((_named(template, number) for number in passed_over for template in templates), limit=6)
        yield f"Numbered columns that others follow are missing: {names}."
    for number in sorted(numbers):
        there = [header.texts[found[number] - 1].strip() for found in columns if number in found]
        lacking = [_named(each, number) for each, found in zip(templates, columns, strict=True) if number not in found]
        if lacking:
            yield f"The sheet has {listed(there)} and no column {listed(lacking)} beside it."


def _named(template: str, number: int) -> str:
    return template.replace("{n}", str(number))


def _body(sheet: Sheet, header: Header) -> int:
    """The position of the first row below the header."""
    return int((sheet.frame["row"] <= header.row).sum())


def _texts(sheet: Sheet, column: int) -> list[str | None]:
    bare = sheet.frame[str(column)].str.strip_chars(BLANKS)
    return [text or None for text in bare.to_list()]


def _pieces(text: str, marks: Sequence[str]) -> list[str]:
    return [piece.strip(BLANKS) for piece in re.split("|".join(map(re.escape, marks)), text)]


def _numeric_parts(spec: MappingSpec, parts: Sequence[str]) -> set[str]:
    """The parts that are read as numbers."""
    numeric: set[str] = set()
    for place, each in spec.everything.items():
        part, target = place.split(".", 1)
        if part != "keep" and form_of(target, spec.operation) in _NUMERIC:
            numeric.update(name for names in each.columns for name in names)
    return numeric & set(parts)


def _items(form: LinesFromSpec, numeric: Collection[str], texts: Iterable[str]) -> dict[str, Line]:
    """From each text to its parts; without those that fit no pattern or could be read in two ways.

    numeric: the parts that are numbers. Polars matches in linear time; Python's own patterns would try one long cell,
    which anybody may send, for days.
    """
    pieces = pl.Series("text", list(dict.fromkeys(texts)), dtype=pl.String)
    read: dict[str, set[Line]] = {text: set() for text in pieces}
    for pattern in form.pattern or ():
        for part in (r"(.+)", r"(.+?)"):
            for text, line in zip(
                pieces, _parts_of(form, pattern, _regex(pattern, numeric, part), pieces), strict=True
            ):
                if None not in line:
                    read[text].add(line)
    return {text: tuple(value or None for value in lines.pop()) for text, lines in read.items() if len(lines) == 1}


def _parts_of(form: LinesFromSpec, pattern: str, regex: str, pieces: pl.Series) -> Iterator[Line]:
    """The parts of each text, in the order of the first pattern; of one that does not fit all are null."""
    order = parts_of(pattern)
    groups = pieces.to_frame().select(pl.col("text").str.extract_groups(regex).struct.unnest())
    cells = groups.select(pl.all().str.strip_chars(BLANKS))
    return cells.select(cells.columns[order.index(name)] for name in form.parts).iter_rows()


def _example(form: LinesFromSpec, numeric: Collection[str]) -> str:
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
