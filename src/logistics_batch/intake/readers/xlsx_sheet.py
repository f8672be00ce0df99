"""One sheet of an .xlsx workbook: its cells as text columns and facts, and what else its XML says of them.

The XML is read in blocks of whole rows. A pattern takes what almost every program writes, a whole block at a time; a
block in which anything is written otherwise goes through an XML parser, which gives the same fields. What fits neither
is damaged: no cell is left out.
"""

import gc
import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from xml.etree.ElementTree import Element

import polars as pl

from logistics_batch.intake.readers.cells import Address, SheetCells, Shown, shown, shown_date, shown_numbers
from logistics_batch.intake.readers.limits import ReadBudget, refuse_gap
from logistics_batch.intake.readers.xlsx_book import (
    YES,
    CellStyles,
    SharedTexts,
    Struck,
    as_text,
    inner_blocks,
    rich_text,
    stripped,
    unescaped,
    without_references,
)
from logistics_batch.intake.readers.xml_trees import read_fragment, read_tree
from logistics_batch.model.sheet import FACTS_SCHEMA, CellFact, facts_frame

_ROW: Final = r'^#r="([0-9]{1,9})"((?: [A-Za-z][A-Za-z0-9:]{0,40}="[^<>"]*")*)(?:/>|>)(?:</row>)?$'
_CELL: Final = (
    r'^r="(?P<letters>[A-Z]{1,3})(?P<row>[0-9]{1,9})"(?: s="(?P<style>[0-9]{1,6})")?(?: t="(?P<kind>[A-Za-z]{1,9})")?'
    r'(?: [cpv][mh]="[0-9]{1,9}")*(?:/>|>(?P<formula><f(?:>| [^<>]*[^<>/]>)[^<]*</f>|<f [^<>]*/>)?'
    r"(?:<v>(?P<value>[^<]*)</v>|<is><t(?P<space> [^<>]*[^<>/])?>(?P<text>[^<]*)</t></is>)?</c>)(?:</row>)?$"
)
_HIDDEN: Final = r' (?:hidden="(?:1|true)"|ht="0(?:\.0*)?")'
_NO_SIZE: Final = re.compile(r"0(?:\.0*)?")
_MOST_DIGITS: Final = 9  # of the number of a row or a style
_ADDRESS: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,9})")
_RANGE: Final = re.compile(r"([A-Z]{1,3})([0-9]{1,7})(?::([A-Z]{1,3})([0-9]{1,7}))?")
_TRUTHS: Final = {"1": "TRUE", "true": "TRUE", "0": "FALSE", "false": "FALSE"}
_SEVERAL: Final = 1 << 16  # more than any sheet has columns
_CELLS: Final = {
    "row": pl.Int64,
    "column": pl.Int64,
    "style": pl.Int32,
    "kind": pl.String,
    "formula": pl.Boolean,
    "value": pl.String,
}


_END_OF_ROW: Final = re.compile(rb"</(?:[\w.-]+:)?row>")
_PARSED_BYTES: Final = 1 << 19  # at a time by the parser
_LONGEST_BY_PATTERN: Final = 1 << 20  # bytes of a cell; a pattern takes long for what only a hostile file has


@dataclass(slots=True)
class _Block:
    """Some rows: their numbers and their cells, in the order in which they stand. hidden: the numbers of those that
    cannot be seen. struck: what is struck through in texts that cells do not share."""

    rows: pl.Series
    cells: pl.DataFrame
    hidden: list[int]
    struck: dict[Address, Struck] = field(default_factory=dict)


class SheetReader:
    """Reads one sheet; name: the sheet's, for messages."""

    def __init__(self, archive: zipfile.ZipFile, part: str, *, name: str, budget: ReadBudget) -> None:
        self._archive = archive
        self._part = part
        self._name = name
        self._budget = budget
        self._sheet = SheetCells()
        self._frames: list[pl.DataFrame] = []
        self._facts: list[pl.DataFrame] = [self._sheet.facts]
        self._last_row = self._filled_row = self._width = self._characters = 0
        self._last_place = _SEVERAL  # no cell stands above the first row

    def read(self, values: "CellValues") -> SheetCells:
        """The whole sheet. Raises ValueError for what is damaged, FileHeld for what is larger than any sheet is."""
        around = bytearray()
        for block in self._blocks(around):
            self._check_order(block)
            self._sheet.hidden_rows += block.hidden
            if block.cells.height:
                self._take(block, values)
        _note_around(bytes(around), self._sheet)
        sheet = self._sheet
        sheet.frame = pl.concat([pl.DataFrame(), *self._frames], how="diagonal")
        sheet.facts = pl.concat(self._facts)
        return sheet

    def _blocks(self, around: bytearray) -> Iterator[_Block]:
        """The rows; what stands around them goes to `around`. Trees are built of less at a time, for their size."""
        for content in inner_blocks(self._archive, self._part, b"sheetData", b"row", around=around):
            if (block := _by_pattern(content)) is not None:
                yield block
                continue
            begin = 0
            while begin < len(content):
                cut = _END_OF_ROW.search(content, begin + _PARSED_BYTES)
                end = cut.end() if cut else len(content)
                with _collector_paused():
                    block = _by_parser(content[begin:end], after=self._last_row)
                yield block
                begin = end

    def _check_order(self, block: _Block) -> None:
        """Raise ValueError where rows or cells stand there twice or in no order: one of them would be lost."""
        rows = block.rows.diff(null_behavior="drop")
        place = block.cells["row"] * _SEVERAL + block.cells["column"]
        is_rising = (rows > 0).all() and (place.diff(null_behavior="drop") > 0).all()
        if block.rows.len():
            is_rising &= int(block.rows[0]) > self._last_row
            self._last_row = int(block.rows[-1])
        if place.len():
            is_rising &= int(place[0]) > self._last_place
            self._last_place = int(place[-1])
        if not is_rising:
            raise ValueError("a row or a cell stands there twice")

    def _take(self, block: _Block, values: "CellValues") -> None:
        """Put down the cells of some rows in which anything stands."""
        lengths = values.shared_lengths(block.cells)
        self._budget.check_longest(self._name, int(lengths.max() or 0))  # type: ignore[arg-type]
        self._characters += int(lengths.sum())
        self._budget.check_texts(self._name, self._characters)
        texts, types = values.shown(block.cells)
        filled = texts.is_not_null() | (types == CellFact.NO_VALUE.value).fill_null(value=False)
        cells = block.cells.with_columns(text=texts, type=types).filter(filled)
        if not cells.height:
            return
        self._check_extent(cells)
        values.note(cells, self._sheet)
        self._facts += values.facts(cells, block.struck)
        self._frames.append(_unfolded(cells, above=self._filled_row))
        self._filled_row = int(cells["row"][-1])

    def _check_extent(self, cells: pl.DataFrame) -> None:
        """Raise FileHeld for filled cells that stand too far away."""
        rows = cells["row"]
        self._width = max(self._width, int(cells["column"].max()))  # type: ignore[arg-type]
        self._budget.check(self._name, int(rows[-1]), self._width)
        above = pl.Series([self._filled_row], dtype=rows.dtype)
        refuse_gap(pl.concat([above, rows]), what=self._budget.sheet(self._name), limits=self._budget.limits)


def _unfolded(cells: pl.DataFrame, *, above: int) -> pl.DataFrame:
    """Cells as columns, with a line for each row since the one `above`."""
    width, height = int(cells["column"].max()), int(cells["row"][-1]) - above  # type: ignore[arg-type]
    place = (cells["row"] - (above + 1)) * width + (cells["column"] - 1)
    index = pl.repeat(None, height * width, dtype=pl.UInt32, eager=True)
    index = index.scatter(place, pl.int_range(cells.height, dtype=pl.UInt32, eager=True))
    texts = cells["text"].gather(index).alias("text").to_frame().lazy()
    columns = (pl.col("text").gather_every(width, number).alias(str(number + 1)) for number in range(width))
    return texts.select(columns).collect(engine="in-memory")


def _note_around(content: bytes, sheet: SheetCells) -> None:
    """Put down what the XML around the rows says. Raises ValueError where it breaks off."""
    root = read_tree(io.BytesIO(content))
    for column in root.iter("col"):
        if column.get("hidden") in YES or _NO_SIZE.fullmatch(column.get("width", "")):
            sheet.hidden_columns.append((int(column.attrib["min"]), int(column.attrib["max"])))
    sheet.is_filtered |= next(root.iter("filterColumn"), None) is not None
    for merged in root.iter("mergeCell"):
        found = _RANGE.fullmatch(merged.get("ref", ""))
        if found is None:
            raise ValueError("merged cells have no place")
        left, top, right, bottom = found.groups()
        if right:
            sheet.merged.append((int(top), _number(left), int(bottom), _number(right)))


def _by_pattern(content: bytes) -> _Block | None:
    """Rows that are written as most programs write them; None for others."""
    if not content.startswith(b"<row ") or b"<!" in content:
        return None
    if b"<v/>" in content:
        content = content.replace(b"<v/>", b"<v></v>")
    items = as_text(content).str.replace_all("<row ", "<c #", literal=True).str.split("<c ")
    items = items.explode(empty_as_null=False).slice(1)
    if (items.str.len_bytes().max() or 0) > _LONGEST_BY_PATTERN:  # type: ignore[operator]
        return None
    is_row = items.str.starts_with("#")
    is_last = items.str.ends_with("</row>") | (is_row & items.str.ends_with("/>"))
    rows = items.filter(is_row).str.extract_groups(_ROW).struct.unnest()
    fields = items.filter(~is_row).str.extract_groups(_CELL).struct.unnest()
    if not (is_last == is_row.shift(-1, fill_value=True)).all() or rows["1"].null_count() or fields["row"].null_count():
        return None
    kind = fields["kind"].fill_null("n")
    if not fields["text"].is_null().all():
        if (fields["text"].is_not_null() & (kind != "inlineStr")).any():
            return None
        fields = fields.with_columns(pl.coalesce("value", stripped("text", "space")).alias("value"))
    if b"&" in content:
        fields = fields.with_columns(without_references(fields["value"]))
    letters = fields["letters"].unique().to_list()
    column_numbers = pl.Series([_number(each) for each in letters], dtype=pl.Int64)
    column = pl.col("letters").replace_strict(letters, column_numbers) if letters else pl.lit(None, pl.Int64)
    cells = fields.select(
        pl.col("row").cast(pl.Int64),
        column.alias("column"),
        pl.col("style").cast(pl.Int32).fill_null(-1),
        kind,
        pl.col("formula").is_not_null(),
        "value",
    )
    numbers = rows["1"].cast(pl.Int64)
    hidden = numbers.filter(rows["2"].str.contains(_HIDDEN)).to_list()
    return _Block(numbers, cells, hidden)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """While the block runs, memory of cycles is not looked for: cells make none, and each look visits all of them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _by_parser(content: bytes, *, after: int) -> _Block:
    """Any rows; after: the number of the row before them. Raises ValueError."""
    rows: list[int] = []
    hidden: list[int] = []
    cells: list[tuple[object, ...]] = []
    struck: dict[Address, Struck] = {}
    row, root = after, read_fragment(content)
    for line in root:
        if line.tag != "row":
            continue
        given_row, column = line.get("r"), 0
        row = _whole(given_row) if given_row else row + 1
        rows.append(row)
        if line.attrib and (line.get("hidden") in YES or _NO_SIZE.fullmatch(line.get("ht", ""))):
            hidden.append(row)
        for cell in line:
            if cell.tag != "c":
                continue
            place = row, column + 1
            if given := cell.get("r"):  # the XML may leave it out
                found = _ADDRESS.fullmatch(given)
                if found is None:
                    raise ValueError("a cell has no place")
                place = int(found[2]), _number(found[1])
            column = place[1]
            is_formula, value, parts = _content(cell)
            if parts:
                struck[place] = parts
            style = _whole(style) if (style := cell.get("s")) else -1
            cells.append((*place, style, cell.get("t", "n"), is_formula, value))
    if len([*root.iter("row"), *root.iter("c")]) != len(rows) + len(cells):
        raise ValueError("a row or a cell stands where none should")
    columns = zip(*cells, strict=True) if cells else [()] * len(_CELLS)
    frame = pl.DataFrame(dict(zip(_CELLS, columns, strict=True)), schema=_CELLS)
    return _Block(pl.Series(rows, dtype=pl.Int64), frame, hidden, struck)


def _content(cell: Element) -> tuple[bool, str | None, Struck | None]:
    """Whether a cell has a formula, what stands in it, and which part of that is struck through."""
    is_formula, value = False, None
    for each in cell:
        if each.tag == "f":
            is_formula = True
        elif each.tag in ("v", "is"):
            if value is not None:
                raise ValueError("a cell holds two values")
            value = each
    if value is None:
        return is_formula, None, None
    if value.tag == "is":
        return is_formula, *rich_text(value)
    text = "".join(value.itertext()) if len(value) else value.text or ""
    return is_formula, text, None


class CellValues:
    """What stands in the cells of a workbook, by their kinds and styles. is_1904, is_stale: see `Book`."""

    def __init__(self, *, styles: CellStyles, texts: SharedTexts, is_1904: bool, is_stale: bool) -> None:
        self._styles = styles
        self._texts = texts
        self._lengths = texts.texts.str.len_chars()
        self._is_1904 = is_1904
        self._is_stale = is_stale
        self._dates: dict[tuple[float, int], tuple[str, str]] = {}

    def shared_lengths(self, cells: pl.DataFrame) -> pl.Series:
        """The lengths of the texts that cells share. Raises ValueError where there is no such text."""
        shared = cells.filter((pl.col("kind") == "s") & pl.col("value").is_not_null())["value"]
        return self._lengths.gather(self._index(shared))

    def _index(self, values: pl.Series) -> pl.Series:
        index = values.cast(pl.UInt32, strict=False)
        is_there = (index < self._lengths.len()) & (index.cast(pl.String) == values)
        if not is_there.fill_null(value=False).all():
            raise ValueError("a cell has a shared text that is not there")
        return index

    def shown(self, cells: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
        """The texts and types of cells; null where there are none."""
        texts = pl.repeat(None, cells.height, dtype=pl.String, eager=True)
        types = texts.clone()
        has_value = cells["value"].is_not_null()
        for kind in cells["kind"].unique().to_list():
            at = (has_value & (cells["kind"] == kind)).arg_true()
            values, styles = cells["value"].gather(at), cells["style"].gather(at)
            found, told = self._of_kind(kind, values, styles)
            texts, types = texts.scatter(at, found), types.scatter(at, told)
        texts = texts.set(texts == "", None)
        if cells["formula"].any():
            is_left = self._is_uncalculated(cells)
            texts, types = texts.set(is_left, None), types.set(is_left, CellFact.NO_VALUE.value)
        return texts, types

    def _of_kind(self, kind: str, values: pl.Series, styles: pl.Series) -> tuple[pl.Series, pl.Series | str | None]:
        """The texts of cells of one kind, and the types of each or of all."""
        if kind == "n":
            return self._numbers(values, styles)
        if kind == "s":
            return self._texts.texts.gather(self._index(values)), None
        if kind in ("str", "inlineStr"):
            return unescaped(values), None
        if kind == "b":
            return values.replace_strict(_TRUTHS, return_dtype=pl.String), CellFact.TRUTH.value
        if kind == "e":
            return values, CellFact.ERROR.value
        if kind == "d":
            return _iso_dates(values)
        raise ValueError("a cell is of a kind that is not known")

    def _is_uncalculated(self, cells: pl.DataFrame) -> pl.Series:
        """Which cells have a formula that no program has calculated."""
        value, is_text = pl.col("value"), pl.col("kind") == "str"
        is_left = value.is_null() | (~is_text & (value == ""))
        if self._is_stale:
            is_left |= ~is_text & value.str.contains(r"^0(?:\.0*)?$")
        return cells.select((pl.col("formula") & is_left).fill_null(value=False)).to_series()

    def _numbers(self, values: pl.Series, styles: pl.Series) -> tuple[pl.Series, pl.Series]:
        """The texts and types of number cells; what is no number stays the text that it is."""
        numbers = values.cast(pl.Float64, strict=False)
        if not numbers.null_count():
            texts, types = shown_numbers(numbers)
        else:
            at = numbers.is_not_null().arg_true()
            found, told = shown_numbers(numbers.gather(at))
            types = pl.repeat(None, values.len(), dtype=pl.String, eager=True).scatter(at, told)
            texts = values.scatter(at, found)
        if self._styles.dates:
            at = (styles.is_in(list(self._styles.dates)) & numbers.is_finite()).arg_true()
            dates = [self._date(*each) for each in zip(numbers.gather(at), styles.gather(at), strict=True)]
            texts = texts.scatter(at, [text for text, _ in dates])
            types = types.scatter(at, [kind for _, kind in dates])
        for style, width in self._styles.padded.items():
            is_whole = (styles == style) & (types == CellFact.NUMBER.value) & texts.str.contains("^[0-9]+$")
            texts = texts.zip_with(~is_whole.fill_null(value=False), texts.str.zfill(width))
        return texts, types

    def _date(self, number: float, style: int) -> tuple[str, str]:
        found = self._dates.get((number, style))
        if found is None:
            is_length = self._styles.dates[style] == "length"
            text, kind = shown_date(number, is_1904=self._is_1904, is_length=is_length)
            found = self._dates[number, style] = text, str(kind)
        return found

    def note(self, cells: pl.DataFrame, sheet: SheetCells) -> None:
        """Put down which columns show leading zeros."""
        if self._styles.padded:
            is_padded = (pl.col("type") == CellFact.NUMBER) & pl.col("style").is_in(list(self._styles.padded))
            sheet.padded |= set(cells.filter(is_padded)["column"].to_list())

    def facts(self, cells: pl.DataFrame, struck: dict[Address, Struck]) -> Iterator[pl.DataFrame]:
        """The facts of filled cells; struck: what is struck through in texts that they do not share."""
        styles = self._styles
        yield _as_facts(cells.drop_nulls("type"), kind=pl.col("type"))
        if styles.worded:
            worded = cells.filter(type=CellFact.NUMBER).filter(pl.col("style").is_in(list(styles.worded)))
            for kind, told in ((CellFact.NUMBER_FORMAT_TEXT, styles.worded), (CellFact.NUMBER_FORMAT, styles.codes)):
                detail = pl.col("style").replace_strict(told, return_dtype=pl.String)
                yield _as_facts(worded, kind=pl.lit(kind.value), detail=detail)
        found: dict[Address, str | None] = {}
        if styles.struck:
            whole = cells.filter(pl.col("style").is_in(list(styles.struck))).select("row", "column")
            found |= dict.fromkeys(whole.iter_rows())
        if self._texts.struck:
            shared = cells.filter(kind="s").select("row", "column", pl.col("value").cast(pl.Int64))
            for row, column, text in shared.filter(pl.col("value").is_in(list(self._texts.struck))).iter_rows():
                found[row, column] = _detail(self._texts.struck[text])
        if struck:
            places = (place for place in cells.select("row", "column").iter_rows() if place in struck)
            found |= {place: _detail(struck[place]) for place in places}
        if found:
            yield facts_frame((*place, CellFact.STRIKETHROUGH, detail) for place, detail in found.items())


def _detail(struck: Struck) -> str | None:
    """What is told of a text of which a part is struck through; null where nothing is left."""
    return json.dumps(struck) if struck[1] else None


def _as_facts(cells: pl.DataFrame, *, kind: pl.Expr, detail: pl.Expr | None = None) -> pl.DataFrame:
    what = pl.lit(None) if detail is None else detail
    return cells.select("row", "column", kind.alias("kind"), what.alias("detail")).cast(FACTS_SCHEMA)


def _iso_dates(values: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Dates that are written as such; what is none stays text."""
    found: list[Shown] = []
    for value in values:
        try:
            found.append(shown(datetime.fromisoformat(value).replace(tzinfo=None)))
        except ValueError:
            found.append((value, None))
    texts, types = [text for text, _ in found], [kind and kind.value for _, kind in found]
    return pl.Series(texts, dtype=pl.String), pl.Series(types, dtype=pl.String)


def _whole(digits: str) -> int:
    """A number of a row or a style. Raises ValueError for one that is none."""
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS):
        raise ValueError("a row or a style has no number")
    return int(digits)


def _number(letters: str) -> int:
    """The number of a column, from 1."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
