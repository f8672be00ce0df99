"""A sheet as it was dropped: every cell as text, at its true place."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

import polars as pl


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a mapping wants its files read (`sheet:` of a mapping file); the defaults cope with ordinary files."""

    name: str | None = None
    delimiter: str = "auto"
    encoding: str = "auto"
    hidden_rows: str = "read"
    max_embedded_newlines: int = 3


class Mark(StrEnum):
    """What a cell is beyond its text; cells without a mark are plain text or plain numbers."""

    DATE = "date"  # a true date cell; the text is YYYY-MM-DD
    DATETIME = "datetime"  # a true date-time cell; the text is YYYY-MM-DD HH:MM:SS
    TIME = "time"  # a true time of day or length of time; the text is HH:MM:SS
    TRUTH = "truth"  # a cell that is true or false; the text is TRUE or FALSE
    NUMBER = "number"  # a number cell; the text is its shortest exact decimal form, integral floats without ".0"
    IMPRECISE = "imprecise"  # a number cell of more than 15 digits: Excel has already lost the rest
    ERROR = "error"  # #N/A, #REF! … ; the text is the error word
    NO_VALUE = "no_value"  # a formula that was never calculated; the text is empty


MARKS_SCHEMA = {"row": pl.UInt32, "column": pl.UInt16, "mark": pl.String}


def empty_marks() -> pl.DataFrame:
    """A marks frame without marks."""
    return pl.DataFrame(schema=MARKS_SCHEMA)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet of a file, or the whole of a CSV file.

    frame: one line a physical row, in order. Column `row` (UInt32) is the number that the spreadsheet program shows
        (in CSV a record counts as one row, blank lines count); then one String column for each sheet column, named
        by its number from 1: "1" is column A. An empty cell is null. Text is as it stands in the file, untrimmed.
    marks: sparse, see `Mark`; columns row, column (from 1), mark.
    hidden_rows: numbers of the rows that the user cannot see; they are in `frame` like the others.
    cell_counts: how many cells each record of a text file has, trailing empty ones among them, a line of `frame` each;
        None for workbooks, whose rows are all of one width.
    delimiter, encoding: of a text file what its cells are separated by, and the encoding that the mapping declares; ""
        of workbooks, and where the encoding was found.
    ends_open: of a text file whether its last line has no line break behind it.
    merges: merged ranges as first row, first column, last row, last column, from 1; the first cell's value is seen.
    worded: number cells (row, column) whose number format shows words or signs that are not in the text, as "ORD-"000,
        and what they show, with 0 for the number: ORD-0.
    struck: cells (row, column) that are struck through: of a text of which only a part is, that part and what is left;
        where the whole cell is, nothing is left.
    covered: cells (row, column) under merged cells that hold another value than the one that is seen.
    notes: what a reader had to decide or repair, in words for the report ("read as cp1252").
    origins, added: where mapping has parted rows into several lines: the physical row of each line of `frame`, whose
        `row` then numbers the lines; and how many columns were added on the right.
    """

    name: str
    frame: pl.DataFrame
    marks: pl.DataFrame = field(default_factory=empty_marks)
    hidden_rows: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    cell_counts: pl.Series | None = None
    merges: tuple[tuple[int, int, int, int], ...] = ()
    worded: tuple[tuple[int, int, str], ...] = ()
    struck: tuple[tuple[int, int, str, str], ...] = ()
    covered: tuple[tuple[int, int], ...] = ()
    ends_open: bool = False
    delimiter: str = ""
    encoding: str = ""
    origins: pl.Series | None = None
    added: int = 0

    def physical_rows(self, rows: Iterable[int]) -> list[int]:
        """The rows as the spreadsheet program numbers them, each once and in order."""
        if self.origins is None:
            return sorted(set(rows))
        place = dict(zip(self.frame["row"].to_list(), self.origins.to_list(), strict=True))
        return sorted({place.get(row, row) for row in rows})

    @property
    def width(self) -> int:
        """How many columns the sheet has."""
        return self.frame.width - 1


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The identity of a file that came in: the sha256 of its bytes, never its name."""

    name: str
    size: int
    sha256: str
    format: str  # csv, xlsx, xls, xlsb, ods
