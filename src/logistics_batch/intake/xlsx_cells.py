"""The cells of a sheet of an .xlsx workbook as ordinary programs write them, in one pass over its XML.

Plain texts and plain numbers, which most cells are, are taken over by whole columns. Every other cell is odd: it is
put down once for each way it is written, and the general reader says what it holds (`xlsx_odd_cells`). Whatever is not
provably one or the other raises NotPlain, and the general reader takes the whole sheet.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from logistics_batch.intake.cells import IMPRECISE_FROM
from logistics_batch.intake.shared_texts import SharedTexts
from logistics_batch.intake.sheet_facts import Address
from logistics_batch.intake.xlsx_lines import FIELD, STYLE, NotPlain, coded, is_plain_beginning, joined, lines_of
from logistics_batch.intake.xlsx_parts import CellStyles
from logistics_batch.intake.xlsx_rows import Placed, placed
from logistics_batch.model.sheet import MARKS_SCHEMA, Mark

_BEGIN, _END = b"<sheetData>", b"</sheetData>"
_MOST_ODD = 100_000  # different ones; a sheet of more is read as fast by the general reader
_MOST_AROUND_BYTES = 32 << 20  # what stands before and behind the rows
_TEXT_OVERHEAD_BYTES = 60  # at most so much stands around a shared text
_ODD_TEXT: Final = "[&<]|_x"  # signs that stand for others, or XML within the text
# So many digits, and a spreadsheet program's number is this text, and this text the number's shortest.
_PLAIN_DECIMAL: Final = r"^-?(?:0|[1-9][0-9]{0,13})\.[0-9]{0,13}[1-9]$"
_MOST_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a plain sheet has at most; the general reader judges larger ones."""

    rows: int
    columns: int
    cells: int
    gap_rows: int
    characters: int


@dataclass(frozen=True, slots=True)
class Numbers:
    """What styles make of a number. plain: the styles that leave it a number; said: what the other facts need."""

    plain: frozenset[int]
    said: CellStyles


@dataclass(slots=True)
class PlainCells:
    """One sheet. frame: text columns named from "1", all rows from the first. marks: of the numbers in it.

    odd: row, column and number of each odd cell; spelt: how each of these is written, behind its address. around: the
    XML before and behind the rows. padded: columns and widths of numbers with leading zeros; worded: as in SheetFacts;
    struck: the places of cells that their style strikes through.
    """

    frame: pl.DataFrame
    marks: pl.DataFrame
    odd: pl.DataFrame
    spelt: tuple[str, ...]
    around: tuple[bytes, bytes]
    hidden_rows: list[int]
    padded: set[tuple[int, int]]
    worded: dict[Address, str]
    struck: list[Address]


_ODD_SCHEMA: Final = {"row": pl.UInt32, "column": pl.UInt16, "odd": pl.UInt32}


class PlainReader:
    """Reads the blocks of one sheet, each of whole rows."""

    def __init__(self, *, bounds: Bounds, numbers: Numbers, texts: SharedTexts) -> None:
        self._bounds = bounds
        self._numbers = numbers
        self._texts = texts
        self._last_row = 0
        self._characters = 0
        self._frames: list[pl.DataFrame] = []
        self._marks: list[pl.DataFrame] = [pl.DataFrame(schema=MARKS_SCHEMA)]
        self._odd: list[pl.DataFrame] = [pl.DataFrame(schema=_ODD_SCHEMA)]
        self._spelt: dict[str, int] = {}
        self._hidden: list[int] = []
        self._padded: set[tuple[int, int]] = set()
        self._worded: dict[Address, str] = {}
        self._struck: list[Address] = []

    def read(self, blocks: Iterable[bytes]) -> PlainCells:
        """The cells of a sheet, from the blocks of its part; raises NotPlain."""
        inner = _Inner(blocks)
        for block in inner.rows():
            self._take(block)
        width = max((frame.width for frame in self._frames), default=0)
        columns = {str(number): pl.String for number in range(1, width + 1)}
        return PlainCells(
            frame=pl.concat([pl.DataFrame(schema=columns), *self._frames], how="diagonal"),
            marks=pl.concat(self._marks),
            odd=pl.concat(self._odd),
            spelt=tuple(self._spelt),
            around=(inner.before, inner.behind),
            hidden_rows=self._hidden,
            padded=self._padded,
            worded=self._worded,
            struck=self._struck,
        )

    def _take(self, block: bytes) -> None:
        """Read some rows."""
        signs = coded(block)
        cells = placed(lines_of(signs))
        self._check(cells)
        judged = _judged(cells.fields, may_be_odd=any(sign in signs for sign in (b"&", b"<", b"_x")))
        judged = self._with_shared(judged)
        judged = self._with_numbers(judged, cells)
        is_odd = ~(judged["plain"] | judged["blank"])
        if is_odd.any():
            self._note_odd(cells, is_odd)
        self._frames.append(_unfolded(judged["text"], judged["plain"], cells, above=self._last_row))
        self._note_numbers(cells, judged["number"])
        if self._numbers.said.struck:
            self._note_struck(cells, judged["plain"])
        self._hidden += cells.rows.hidden
        self._last_row = int(cells.rows.numbers[-1])

    def _check(self, cells: Placed) -> None:
        """Raise NotPlain for rows that are not in order, or for more than fits."""
        bounds, numbers = self._bounds, cells.rows.numbers
        steps = pl.concat([pl.Series([self._last_row], dtype=pl.UInt32), numbers]).cast(pl.Int64)
        apart = steps.diff(null_behavior="drop")
        if not apart.is_between(1, bounds.gap_rows).all() or int(numbers[-1]) > bounds.rows:
            raise NotPlain
        width = int(cells.column.max() or 0)  # type: ignore[arg-type]
        if width > bounds.columns or width * int(numbers[-1]) > bounds.cells:
            raise NotPlain

    def _with_shared(self, judged: pl.DataFrame) -> pl.DataFrame:
        """The texts that cells share put in their places; `plain` where they are."""
        if not judged["shared"].any():
            return judged
        written = judged.select(pl.when("shared").then("text")).to_series()
        index = written.cast(pl.UInt32, strict=False)
        index = index.set(~((index < self._texts.texts.len()) & (index.cast(pl.String) == written)), None)
        text = self._texts.texts.gather(index)
        self._characters += int(text.str.len_bytes().sum()) + _TEXT_OVERHEAD_BYTES * text.len()
        if self._characters > self._bounds.characters:
            raise NotPlain
        is_known = self._texts.are_plain.gather(index).fill_null(value=False)
        return judged.with_columns(
            text=pl.when("shared").then(pl.lit(text)).otherwise("text"), plain=pl.col("plain") | pl.lit(is_known)
        )

    def _with_numbers(self, judged: pl.DataFrame, cells: Placed) -> pl.DataFrame:
        """Which numbers are written as they are shown, and those with leading zeros as their cells show them."""
        at = judged["number"].arg_true()
        if at.is_empty():
            return judged
        written, style = judged["text"].gather(at), cells.style.gather(at)
        is_plain = _is_plain_number(written)
        if (style >= 0).any():
            is_plain &= (style < 0) | style.is_in(list(self._numbers.plain))
        if not is_plain.all():
            at, style = at.filter(is_plain), style.filter(is_plain)
            number = pl.repeat(False, judged.height, eager=True).scatter(at, True)
            judged = judged.with_columns(number=number)
        judged = judged.with_columns(plain=pl.col("plain") | pl.col("number"))
        return judged.with_columns(text=self._as_shown(judged["text"], cells, at=at, style=style))

    def _as_shown(self, text: pl.Series, cells: Placed, *, at: pl.Series, style: pl.Series) -> pl.Series:
        """The texts with the leading zeros that number formats show; at: where the numbers are, style: theirs."""
        for each in style.unique().to_list():
            width, shown = self._numbers.said.padded.get(each), self._numbers.said.worded.get(each)
            if not width and not shown:
                continue
            own = at.filter(style == each)
            columns = cells.column.gather(own)
            if width:
                self._padded |= {(column, width) for column in columns.unique().to_list()}
                whole = text.gather(own)
                text = text.scatter(own, whole.zip_with(~whole.str.contains("^[0-9]+$"), whole.str.zfill(width)))
            if shown:
                places = zip(_rows(cells, own).to_list(), columns.to_list(), strict=True)
                self._worded |= dict.fromkeys(places, shown)
        return text

    def _note_numbers(self, cells: Placed, is_number: pl.Series) -> None:
        at = is_number.arg_true()
        marks = pl.repeat(Mark.NUMBER.value, at.len(), dtype=pl.String, eager=True)
        values = {"row": _rows(cells, at), "column": cells.column.gather(at), "mark": marks}
        self._marks.append(pl.DataFrame(values, schema=MARKS_SCHEMA))

    def _note_struck(self, cells: Placed, is_plain: pl.Series) -> None:
        """Put down the plain cells that are struck through; what is said of odd ones comes with them."""
        at = (is_plain & cells.style.is_in(list(self._numbers.said.struck))).arg_true()
        self._struck += zip(_rows(cells, at).to_list(), cells.column.gather(at).to_list(), strict=True)

    def _note_odd(self, cells: Placed, is_odd: pl.Series) -> None:
        """Put down the odd cells, each way of writing once."""
        at = is_odd.arg_true()
        style = cells.style.gather(at)
        behind = joined(cells.fields[at].drop("f0"))
        sign = pl.when(style >= 0).then(pl.concat_str(pl.lit(STYLE), style.cast(pl.String))).otherwise(pl.lit(""))
        spelt = pl.select(pl.concat_str(sign, pl.lit(FIELD), behind)).to_series()
        for each in spelt.unique(maintain_order=True).to_list():
            self._spelt.setdefault(each, len(self._spelt))
        if len(self._spelt) > _MOST_ODD:
            raise NotPlain
        number = spelt.replace_strict(self._spelt, return_dtype=pl.UInt32)
        self._odd.append(pl.DataFrame({"row": _rows(cells, at), "column": cells.column.gather(at), "odd": number}))


class _Inner:
    """The rows of a sheet's part, and what stands before and behind them."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self.before = b""
        self.behind = b""

    def rows(self) -> Iterator[bytes]:
        """Blocks of whole rows."""
        block = next(self._blocks, b"")
        begin = block.find(_BEGIN)
        if begin < 0 or not is_plain_beginning(block[:begin]):
            raise NotPlain
        self.before, block = block[:begin], block[begin + len(_BEGIN) :]
        while (end := block.find(_END)) < 0:
            if block:
                yield block
            block = next(self._blocks, b"")
            if not block:
                raise NotPlain
        if end:
            yield block[:end]
        behind = [block[end + len(_END) :]]
        for rest in self._blocks:
            behind.append(rest)
            if sum(map(len, behind)) > _MOST_AROUND_BYTES:
                raise NotPlain
        self.behind = b"".join(behind)


def _judged(fields: pl.DataFrame, *, may_be_odd: bool) -> pl.DataFrame:
    """Of each cell its text as it is written, and which kind of ordinary cell it may be."""
    kind, end = pl.col("f1"), pl.col("f3")
    is_single = pl.col("f4").is_null()
    is_value = is_single & (end == "V")
    is_kept = (kind == "p") | ((kind == "i") & (pl.col("f2").str.strip_chars() == pl.col("f2")))  # else it is trimmed
    is_text = is_single & (end == "I") & is_kept
    if may_be_odd:
        is_text &= ~pl.col("f2").str.contains(_ODD_TEXT).fill_null(value=False)
    judged = fields.lazy().select(
        text=pl.col("f2"),
        plain=is_text.fill_null(value=False),
        number=(is_value & ((kind == "n") | (kind == "v"))).fill_null(value=False),
        shared=(is_value & (kind == "s")).fill_null(value=False),
        blank=(kind == "/").fill_null(value=False) & pl.col("f2").is_null() & is_single,
    )
    return judged.collect(engine="in-memory")


def _is_plain_number(written: pl.Series) -> pl.Series:
    """Which numbers are written as a spreadsheet program shows them, and no longer than it keeps them."""
    whole = written.cast(pl.Int64, strict=False)
    is_plain = ((whole.cast(pl.String) == written) & (whole.abs() < int(IMPRECISE_FROM))).fill_null(value=False)
    if is_plain.all():
        return is_plain
    is_decimal = written.str.contains(_PLAIN_DECIMAL) & (written.str.len_bytes() <= _MOST_DIGITS + len("."))
    return is_plain | is_decimal.fill_null(value=False)


def _rows(cells: Placed, at: pl.Series) -> pl.Series:
    """The numbers of the rows in which some cells stand."""
    return cells.rows.numbers.gather(cells.place.gather(at))


def _unfolded(text: pl.Series, is_plain: pl.Series, cells: Placed, *, above: int) -> pl.DataFrame:
    """The plain cells as columns, a line for each row since the one `above`; other cells are null."""
    if not is_plain.all():
        text = text.set(~is_plain, None)
    numbers, width = cells.rows.numbers, int(cells.column.max() or 0)  # type: ignore[arg-type]
    height = int(numbers[-1]) - above
    if not (cells.is_table and height == numbers.len()):
        if not width:
            return pl.DataFrame({"1": pl.repeat(None, height, dtype=pl.String, eager=True)})
        cell = (numbers.gather(cells.place) - (above + 1)).cast(pl.UInt32) * width + (cells.column - 1)
        at = pl.repeat(None, height * width, dtype=pl.UInt32, eager=True)
        text = text.gather(at.scatter(cell, pl.int_range(text.len(), dtype=pl.UInt32, eager=True)))
    columns = [pl.col("text").gather_every(width, number).alias(str(number + 1)) for number in range(width)]
    return text.alias("text").to_frame().lazy().select(columns).collect(engine="in-memory")
