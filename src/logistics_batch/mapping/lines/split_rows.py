"""Several lines in one row: pieces of a cell, parallel cells and numbered columns, one line each."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import polars as pl

from logistics_batch.mapping.findings import SHOWN_CHARACTERS
from logistics_batch.mapping.lines.exploded import OF, BoundSheet, Fault, exploded, with_made
from logistics_batch.mapping.loaded import Mapping as LoadedMapping
from logistics_batch.mapping.rows.cells import BLANKS
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.model import NUMBERS_AT_MOST, LinesFromSpec, MappingSpec
from logistics_batch.mapping.spec.names import ColumnName, names_match, same
from logistics_batch.mapping.spec.targets import Form, form_of
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet

_LONGEST_NUMBER: Final = 9  # digits, with zeros before it; Python itself refuses 4,301
_NUMERIC: Final = (Form.COUNT, Form.QUANTITY, Form.MONEY, Form.DECIMAL, Form.PERCENT)
_NUMBER: Final = r"(?:(?:₹|rs\.?|inr)\s*)?[0-9][0-9.,]*(?:\s*/-)?"

Texts = Sequence[str | None]


class Item(NamedTuple):
    """One line of a row: its values, the columns where they stand, and what is wrong: column, code, values."""

    values: Texts
    sources: Sequence[int]
    wrong: Sequence[tuple[int, str, dict[str, Any]]] = ()


class _Form(NamedTuple):
    """How a row's cells become items.

    columns: those that are read. places: those that take the values, made ones behind the sheet's last, with their
    names. sources: where the cells of a row without items stand. items: of the read cells of a row.
    """

    columns: Sequence[int]
    places: Sequence[int]
    names: Sequence[str]
    sources: Sequence[int]
    items: Callable[[Texts], Iterable[Item]]


def split_rows(
    mapping: LoadedMapping, form: LinesFromSpec, sheet: Sheet, header: Header, *, notes: tuple[Issue, ...]
) -> BoundSheet:
    """The sheet of a mapping with `lines_from`, exploded: rows above the header stay one line each."""
    numbered = [numbered_columns(template, header.texts) for template in form.columns or ()]
    if form.pattern is not None:
        read = _by_pattern(form, mapping.spec, sheet, header, numbered)
    elif form.columns is not None:
        read = _numbered(form.columns, numbered, sheet, header)
    else:
        read = _parallel(form, sheet, header)
    lines, faults = _lines(read, sheet, header)
    bound = with_made(mapping, header, read.names, used=read.columns if any(read.names) else ())
    notes = (*_not_there(form.columns or (), numbered, header), *notes)
    return BoundSheet(mapping, exploded(sheet, header, lines), bound, notes, faults)


def _lines(read: _Form, sheet: Sheet, header: Header) -> tuple[pl.DataFrame, list[Fault]]:
    """The lines that the rows become, as `exploded` takes them: one at least; the header again names what is made."""
    titles = [header.texts[column - 1].strip() for column in read.sources]
    where = [read.columns.index(column) for column in read.sources]
    again = Item(read.names if any(read.names) else titles, read.sources)
    nothing = Item([None] * len(read.places), read.sources)
    at, items, faults = list[int](), list[Item](), list[Fault]()
    cells = zip(*(_bare(sheet.frame, column) for column in read.columns), strict=True)
    for row, (number, texts) in enumerate(zip(sheet.frame["row"], cells, strict=True)):
        found = [again] if [texts[place] for place in where] == titles else []
        if not found and number > header.row:
            found = list(read.items(texts))
        for item in found or [nothing]:
            faults += (Fault(len(items), *each) for each in item.wrong)
            at.append(row)
            items.append(item)
    values, sources = [list(each) for each in zip(*(item[:2] for item in items), strict=True)]
    taken = {str(column): [each[place] for each in values] for place, column in enumerate(read.places)}
    stand = {f"{OF}{column}": [each[place] for each in sources] for place, column in enumerate(read.places)}
    schema = dict.fromkeys(taken, pl.String) | dict.fromkeys(stand, pl.UInt16)
    return pl.DataFrame({"at": at, **taken, **stand}, schema={"at": pl.UInt32, **schema}), faults


def numbered_columns(template: str, texts: Sequence[str]) -> dict[int, int]:
    """For a name with {n} the columns of a header that bear it, by their numbers.

    >>> numbered_columns("SKU {n}", ["Order", "SKU 1", "sku-3", "SKU"])
    {1: 2, 3: 3}
    >>> numbered_columns("SKU {n}", ["SKU 01", "SKU 02"])
    {1: 1, 2: 2}
    """
    found: dict[int, int] = {}
    for position, text in enumerate(texts, 1):
        if number := number_in(template, text):
            found.setdefault(number, position)
    return dict(sorted(found.items()))


def number_in(template: str, text: str) -> int:
    """The number for which a text is a name with {n}; 0 if it is none.

    >>> number_in("SKU {n}", "sku-03")
    3
    """
    for digits in re.findall(r"\d+", text):
        if len(digits) <= _LONGEST_NUMBER and 0 < int(digits) <= NUMBERS_AT_MOST:
            name, wanted = ColumnName.of(text), ColumnName.of(template.replace("{n}", digits))
            if same(name, wanted) or names_match(name, wanted):
                return int(digits)
    return 0


def _by_pattern(
    form: LinesFromSpec, spec: MappingSpec, sheet: Sheet, header: Header, numbered: Sequence[Mapping[int, int]]
) -> _Form:
    """`tea x 2; milk x 1`: every piece must fit the pattern, and in one way only; a numbered column holds one each."""
    name, *_ = form.split or [""]
    columns = [*numbered[0].values()] if form.columns else [header.column([name]) or 1]
    columns, count = columns or [1], len(form.parts)
    numeric = _numeric_parts(spec, form.parts)
    below = sheet.frame.filter(pl.col("row") > header.row)
    cells = pl.concat([_bare(below, column) for column in columns]).drop_nulls().unique()
    texts = {text: _pieces(text, form.on) if form.split else [text] for text in cells}
    read = _items(form, numeric, [piece for pieces in texts.values() for piece in pieces])
    example = _example(form, numeric)
    code = "pattern.pieces" if form.split else "pattern.cell"

    def items(row: Texts) -> Iterator[Item]:
        for column, text in zip(columns, row, strict=True):
            for piece in filter(None, texts[text] if text else ()):
                said = {"piece": piece[:SHOWN_CHARACTERS], "example": example}
                wrong = [] if piece in read else [(column, code, said)]
                yield Item(read.get(piece, (None,) * count), [column] * count, wrong)

    return _Form(columns, _behind(sheet, count), form.parts, [columns[0]] * count, items)


def _parallel(form: LinesFromSpec, sheet: Sheet, header: Header) -> _Form:
    """`tea|milk` beside `2|1`: the first belongs to the first; the cells must hold equally many.

    The pieces stand in place of their cells, which themselves are the made columns: what is wrong is told of these.
    """
    columns = [column for name in form.split or () if (column := header.column([name])) is not None]
    made, names = _behind(sheet, len(columns)), [header.texts[column - 1].strip() for column in columns]
    sources = [*columns, *columns]

    def items(row: Texts) -> Iterator[Item]:
        pieces = [_pieces(text or "", form.on) for text in row]
        while all(each and not each[-1] for each in pieces):  # a mark at the end
            pieces = [each[:-1] for each in pieces]
        counts = [len(each) for each in pieces]
        if len(set(counts)) > 1:
            said = {"held": list(zip(names, counts, strict=True))}
            odd = [place for place, count in zip(made, counts, strict=True) if count != counts[0]]
            yield Item([*(None for _ in row), *row], sources, [(place, "pieces", said) for place in odd])
            return
        for line in zip(*pieces, strict=True):
            each = zip(made, names, line, row, strict=True)
            half = [(place, {"name": name}) for place, name, piece, text in each if text and not piece]
            wrong = [(place, "half_filled.piece", said) for place, said in half]
            yield Item([*(piece or None for piece in line), *row], sources, wrong)

    return _Form(columns, [*columns, *made], [""] * len(columns), sources, items)


def _numbered(templates: Sequence[str], numbered: Sequence[Mapping[int, int]], sheet: Sheet, header: Header) -> _Form:
    """`SKU 1, Qty 1, SKU 2, Qty 2`: a line for each number with anything in its columns."""
    first = [min(found.values(), default=1) for found in numbered]
    columns = sorted({*first, *(column for found in numbered for column in found.values())})
    places = {
        number: [found.get(number, 0) for found in numbered]
        for number in sorted({number for found in numbered for number in found})
    }
    names = {number: [_named(each, number) for each in templates] for number in places}

    def items(row: Texts) -> Iterator[Item]:
        cells = dict(zip(columns, row, strict=True))
        for number, of_number in places.items():
            line = [cells.get(place) for place in of_number]
            if any(line):
                sources = [place or spare for place, spare in zip(of_number, first, strict=True)]
                yield Item(line, sources, list(_gaps(header, line, of_number, names[number])))

    return _Form(columns, _behind(sheet, len(templates)), templates, first, items)


def _gaps(
    header: Header, line: Texts, places: Sequence[int], names: Sequence[str]
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """An item with a blank cell, or of which the sheet has only some columns: that is not known to be nothing."""
    filled = next(place for place, value in zip(places, line, strict=True) if value)
    there = header.texts[filled - 1].strip()
    for place, value in zip(places, line, strict=True):
        if value is None and place:
            yield place, "half_filled.numbered", {"name": header.texts[place - 1].strip(), "there": there}
    if lacking := [name for place, name in zip(places, names, strict=True) if not place]:
        yield filled, "no_column.numbered", {"there": there, "lacking": lacking}


def _not_there(templates: Sequence[str], columns: Sequence[Mapping[int, int]], header: Header) -> Iterator[Issue]:
    """What is odd about the numbers: some are passed over, or some columns end before others."""
    numbers = {number for found in columns for number in found}
    if passed_over := sorted({*range(1, max(numbers, default=0))} - numbers):
        yield Issue.of("numbered.missing", names=[_named(each, number) for number in passed_over for each in templates])
    for number in sorted(numbers):
        there = [header.texts[found[number] - 1].strip() for found in columns if number in found]
        lacking = [_named(each, number) for each, found in zip(templates, columns, strict=True) if number not in found]
        if lacking:
            yield Issue.of("numbered.no_column", there=there, lacking=lacking)


def _named(template: str, number: int) -> str:
    return template.replace("{n}", str(number))


def _behind(sheet: Sheet, count: int) -> range:
    """The numbers of so many columns behind the sheet's last."""
    return range(sheet.width + 1, sheet.width + 1 + count)


def _bare(frame: pl.DataFrame, column: int) -> pl.Series:
    """A column's cells without the blanks around them; null where nothing is left."""
    bare = pl.col(str(column)).str.strip_chars(BLANKS)
    return frame.select(pl.when(bare != "").then(bare).alias("cell"))["cell"]


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


def _items(form: LinesFromSpec, numeric: Collection[str], texts: Iterable[str]) -> dict[str, Texts]:
    """From each text to its parts; without those that fit no pattern or could be read in two ways.

    numeric: the parts that are numbers. Polars matches in linear time; Python's own patterns would try one long cell,
    which anybody may send, for days.
    """
    pieces = pl.Series("text", list(dict.fromkeys(texts)), dtype=pl.String)
    names = {part: f"part{place}" for place, part in enumerate(form.parts)}
    read: dict[str, set[Texts]] = {text: set() for text in pieces}
    for pattern in form.pattern or ():
        for part in (".+", ".+?"):
            groups = pieces.str.extract_groups(_regex(pattern, names, numeric, part)).struct.unnest()
            lines = groups.select(pl.col(*names.values()).str.strip_chars(BLANKS)).iter_rows()
            for text, line in zip(pieces, lines, strict=True):
                if None not in line:
                    read[text].add(line)
    return {text: tuple(value or None for value in lines.pop()) for text, lines in read.items() if len(lines) == 1}


def _example(form: LinesFromSpec, numeric: Collection[str]) -> str:
    """The pattern filled in: numbers are 2, texts their own names in capitals."""
    return str((form.pattern or [""])[0]).format(
        **{part: "2" if part in numeric else part.upper() for part in form.parts}
    )


def _regex(pattern: str, names: Mapping[str, str], numeric: Collection[str], text: str) -> str:
    """A blank of the pattern may be missing in a piece, but not where a word would run into a text: `box 2` is no
    `{sku} x {qty}`."""
    pieces = re.split(r"\{(\w+)\}", pattern)
    made = ""
    for number, piece in enumerate(pieces):
        if number % 2:
            made += f"(?P<{names[piece]}>{_NUMBER if piece in numeric else text})"
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
