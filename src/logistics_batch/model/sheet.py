"""A sheet as it was dropped: every cell as text, at its true place."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Final

import polars as pl

from logistics_batch.model.issue import Issue


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a mapping wants its files read (`sheet:` of a mapping file); the defaults cope with ordinary files.

    needs_above: whether it reads what stands above the header row, or looks for that in its place.
    filled_down: every name of the columns whose blank cells take the value above. key: of those by which a row says
    where it belongs. told_apart_by: of those of lines that are filled down, by which it says what it is.
    """

    name: str | None = None
    delimiter: str = "auto"
    encoding: str = "auto"
    hidden_rows: str = "read"
    max_embedded_newlines: int = 3
    needs_above: bool = False
    filled_down: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    told_apart_by: tuple[str, ...] = ()

    def kept(self) -> dict[str, Any]:
        """Those that are not the defaults, as the ledger keeps them beside a file."""
        return {name: value for name, value in asdict(self).items() if value != getattr(ReadOptions(), name)}

    @classmethod
    def of_kept(cls, kept: Mapping[str, Any]) -> "ReadOptions":
        """The same again; what another version of the program kept beside is left out."""
        own: dict[str, Any] = {each.name: kept[each.name] for each in fields(cls) if each.name in kept}
        own |= {name: tuple(value) for name, value in own.items() if isinstance(value, list)}
        return cls(**own)


class CellFact(StrEnum):
    """What a cell is or shows beyond its text; cells without a fact are plain text."""

    DATE = "date"  # a true date cell; the text is YYYY-MM-DD
    DATETIME = "datetime"  # a true date-time cell; the text is YYYY-MM-DD HH:MM:SS
    TIME = "time"  # a true time of day or length of time; the text is HH:MM:SS
    TRUTH = "truth"  # a cell that is true or false; the text is TRUE or FALSE
    NUMBER = "number"  # a number cell; the text is its shortest exact decimal form, integral floats without ".0"
    IMPRECISE = "imprecise"  # a number cell of more than 15 digits: Excel has already lost the rest
    ERROR = "error"  # #N/A, #REF! … ; the text is the error word
    NO_VALUE = "no_value"  # a formula that was never calculated; the text is empty
    NUMBER_FORMAT_TEXT = "number_format_text"  # of a number: words or signs that its number format shows beside it
    NUMBER_FORMAT = "number_format"  # of such a number: the code of its format
    STRIKETHROUGH = "strikethrough"  # the cell or a part of its text is struck through
    MERGED = "merged"  # the first cell of a merged range; its value is the one that is seen
    HIDDEN_BY_MERGE = "hidden_by_merge"  # under merged cells, and its value is another than the one that is seen


CELL_TYPES: Final = tuple(CellFact)[:8]
"""The facts of which a cell has at most one: as what its spreadsheet program keeps the value."""

FACTS_SCHEMA: Final = pl.Schema(
    {"row": pl.UInt32(), "column": pl.UInt16(), "kind": pl.Enum(CellFact), "detail": pl.String()}
)
"""Facts of cells: row and column of the cell from 1, `CellFact`, and its detail, null for all but these:

number_format_text: what the cell shows, with 0 for the number, as ORD-0 for "ORD-"000. number_format: that code.
strikethrough: null where the whole cell is struck through, else JSON of the part that is and of what is left. merged:
JSON of the last row and the last column of the range.
"""

CellRange = tuple[int, int, int, int]
"""First row, first column, last row and last column of merged cells, from 1."""


def facts_frame(facts: Iterable[tuple[int, int, CellFact, str | None]] = ()) -> pl.DataFrame:
    """Facts of cells as a frame of FACTS_SCHEMA."""
    return pl.DataFrame(list(facts), schema=FACTS_SCHEMA, orient="row")


def merged_facts(ranges: Iterable[CellRange]) -> pl.DataFrame:
    """The facts of merged ranges."""
    return facts_frame((top, left, CellFact.MERGED, json.dumps([*last])) for top, left, *last in ranges)


def struck_parts(detail: str | None) -> tuple[str, str]:
    """The struck part of a text and what is left of it; two empty texts where the whole cell is struck through."""
    struck, left = json.loads(detail) if detail else ("", "")
    return struck, left


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the cells of an exploded sheet stand in the file.

    lines: one line for each of the sheet's frame, in its order: `row`, its number there; `origin`, its physical row;
        `second`, its row of the second sheet, null where it has none; and for each made column, named by its number,
        the column in which its cell stands, from 1.
    second, columns: the name and header texts of the second sheet, where the made columns' cells stand on one.
    """

    lines: pl.DataFrame
    second: str = ""
    columns: tuple[str, ...] = ()

    def places(self, cells: pl.DataFrame) -> pl.DataFrame:
        """For each of some cells (row, column) where it stands: sheet, row, column; the row is null where nowhere."""
        made = [name for name in self.lines.columns if name.isdigit()]
        joined = cells.join(self.lines, on="row", how="left", maintain_order="left")
        is_made = pl.col("column").is_in([int(name) for name in made]) & pl.lit(bool(self.second))
        sources = [pl.when(pl.col("column") == int(name)).then(pl.col(name)) for name in made]
        return joined.select(
            pl.when(is_made).then(pl.lit(self.second)).otherwise(pl.lit("")).alias("sheet"),
            pl.when(is_made).then("second").otherwise("origin").alias("row"),
            pl.coalesce(*sources, "column").alias("column"),
        )


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet of a file, or the whole of a CSV file.

    frame: one line a physical row, in order. Column `row` (UInt32) is the number that the spreadsheet program shows
        (in CSV a record counts as one row, blank lines count); then one String column for each sheet column, named
        by its number from 1: "1" is column A. An empty cell is null. Text is as it stands in the file, untrimmed.
    facts: of cells, sparse and in no particular order; columns as FACTS_SCHEMA.
    hidden_rows: numbers of the rows that the user cannot see; they are in `frame` like the others.
    cell_counts: how many cells each record of a text file has, trailing empty ones among them, a line of `frame` each;
        None for workbooks, whose rows are all of one width.
    delimiter, encoding: of a text file what its cells are separated by, and the encoding that the mapping declares; ""
        of workbooks, and where the encoding was found.
    ends_open: of a text file whether its last line has no line break behind it.
    notes: what a reader had to decide or repair.
    origins, added: where mapping has exploded rows into lines, which `row` then numbers: where their cells stand; and
        how many columns were added on the right.
    above: of added columns that hold a value from outside the table in every row, by their numbers: row and column of
        the cell in which it stands. foot: the rows below the table in which such values stand.
    """

    name: str
    frame: pl.DataFrame
    facts: pl.DataFrame = field(default_factory=facts_frame)
    hidden_rows: tuple[int, ...] = ()
    notes: tuple[Issue, ...] = ()
    cell_counts: pl.Series | None = None
    ends_open: bool = False
    delimiter: str = ""
    encoding: str = ""
    origins: Origins | None = None
    added: int = 0
    above: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    foot: tuple[int, ...] = ()

    def physical_rows(self, rows: Iterable[int]) -> list[int]:
        """The rows as the spreadsheet program numbers them, each once and in order."""
        rows = rows.to_list() if isinstance(rows, pl.Series) else rows  # many at once, not one by one
        if self.origins is None:
            return sorted(set(rows))
        place = dict(self.origins.lines.select("row", "origin").iter_rows())
        return sorted({place.get(row, row) for row in rows})

    def facts_of(self, *kinds: CellFact) -> pl.DataFrame:
        """The facts of some kinds."""
        return self.facts.filter(pl.col("kind").is_in(kinds)) if self.facts.height else self.facts

    @property
    def merged_ranges(self) -> list[CellRange]:
        """The merged cells, in the order of their first cells."""
        merged = self.facts_of(CellFact.MERGED).sort("row", "column").select("row", "column", "detail")
        return [(top, left, *json.loads(last)) for top, left, last in merged.iter_rows()]

    def places(self, cells: pl.DataFrame) -> pl.DataFrame:
        """For each of some cells (row, column) where it stands in the file: sheet, row, column; see `Origins`."""
        if self.origins is None:
            return cells.select(pl.lit("").alias("sheet"), "row", "column")
        return self.origins.places(cells)

    def column_of_file(self, column: int) -> int:
        """The column where the last cell of one of this sheet stands; 0 where that is on a second sheet."""
        if self.origins is None or str(column) not in self.origins.lines.columns:
            return column
        return 0 if self.origins.second else int(self.origins.lines[str(column)][-1])

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
