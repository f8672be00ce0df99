"""Sheets whose lines lie elsewhere, exploded: one line a row of the frame, each cell with the place where it stands.

Mapping reads an exploded sheet like any other. What it says of a line is told of the rows of the file by the origins.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.fields.values.reading import message
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.header import Header
from logistics_batch.model.document import ROWS_SCHEMA, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import FACTS_SCHEMA, CellFact, CellRange, Origins, Sheet, merged_facts

Line = Sequence[str | None]

_BY_WEIGHT: Final = (RowState.INVALID, RowState.HELD, RowState.BLOCKED, RowState.READY, RowState.SKIPPED)


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a cell that lines are made of, or with a row that takes them.

    line: its position among the lines. column: of the exploded sheet. field, code, values: of the issue.
    """

    line: int
    column: int
    field: str
    code: str
    values: dict[str, Any]


@dataclass(slots=True)
class Lines:
    """The lines that the rows of a sheet become, in order.

    columns: those that take the lines' values; behind the sheet's last they are made. at: for each line the position of
    its row. values, sources: by column, what each line has there and in which column of the file that stands. second:
    for each line its row on the second sheet.
    """

    columns: Sequence[int]
    at: list[int] = field(default_factory=list)
    values: list[list[str | None]] = field(default_factory=list)
    sources: list[list[int]] = field(default_factory=list)
    second: list[int | None] | None = None
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Columns without lines, where none are given."""
        self.values = self.values or [[] for _ in self.columns]
        self.sources = self.sources or [[] for _ in self.columns]

    def add(self, row: int, values: Line, sources: Sequence[int]) -> None:
        """One more line."""
        self.at.append(row)
        for place, (value, source) in enumerate(zip(values, sources, strict=True)):
            self.values[place].append(value)
            self.sources[place].append(source)

    def blame(self, column: int, code: str, **values: Any) -> None:
        """Something is wrong with the line that was added last."""
        self.faults.append(Fault(len(self.at) - 1, column, "lines_from", code, values))


@dataclass(frozen=True, slots=True)
class BoundSheet:
    """A sheet that is mapped, with its header bound to the mapping that reads it.

    notes: on the sheets that were not read, and on what the header lacks. lines: of an exploded sheet. others, lost:
    rows of a second sheet that are no line (ROWS_SCHEMA), and what is wrong with them.
    """

    mapping: Mapping
    sheet: Sheet
    header: Header
    notes: tuple[str, ...] = ()
    lines: Lines | None = None
    others: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ROWS_SCHEMA))
    lost: tuple[Issue, ...] = ()
    second: Header | None = None

    @property
    def physical_columns(self) -> tuple[str, ...]:
        """The header's texts without those of columns that were made."""
        return self.header.texts[: self.sheet.width - self.sheet.added]


def exploded(sheet: Sheet, header: Header, lines: Lines, *, second: tuple[Sheet, Header] | None = None) -> Sheet:
    """The sheet with a line in the place of each row, which `row` numbers: up to the header as the file does."""
    at = pl.Series(lines.at, dtype=pl.UInt32)
    frame = sheet.frame[at]
    above = int((sheet.frame["row"] <= header.row).sum())
    below = pl.int_range(1, frame.height - above + 1, dtype=pl.UInt32, eager=True) + header.row
    numbers = pl.concat([frame["row"][:above].cast(pl.UInt32), below])
    made = {str(column): place for place, column in enumerate(lines.columns) if column > sheet.width}
    origins = pl.DataFrame(
        [
            numbers.alias("row"),
            frame["row"].cast(pl.UInt32).alias("origin"),
            pl.Series("second", lines.second or [None] * len(lines.at), dtype=pl.UInt32),
            *(pl.Series(name, lines.sources[place], dtype=pl.UInt16) for name, place in made.items()),
        ]
    )
    columns = zip(lines.columns, lines.values, strict=True)
    frame = frame.with_columns(
        numbers.alias("row"), *(pl.Series(str(column), texts, dtype=pl.String) for column, texts in columns)
    )
    return replace(
        sheet,
        frame=frame,
        facts=_facts(sheet, origins, second[0] if second else None),
        hidden_rows=tuple(origins.filter(pl.col("origin").is_in(list(sheet.hidden_rows)))["row"]),
        cell_counts=None if sheet.cell_counts is None else sheet.cell_counts[at],
        origins=Origins(origins, second[0].name, second[1].texts) if second else Origins(origins),
        added=len(made),
    )


def _facts(sheet: Sheet, origins: pl.DataFrame, second: Sheet | None) -> pl.DataFrame:
    """The facts of cells on all lines of their rows, and on made columns those of the cells that stand there."""
    on = "second" if second else "origin"
    own, there = (
        each.facts.filter(pl.col("kind") != CellFact.MERGED).rename({"row": "from"})
        for each in (sheet, second or sheet)
    )
    found = [merged_facts(_merged_lines(sheet, origins)), own.join(origins.rename({"origin": "from"}), on="from")]
    for name in (name for name in origins.columns if name.isdigit()):
        sources = origins.select("row", pl.col(on).alias("from"), pl.col(name).alias("column"))
        here = there.join(sources, on=["from", "column"])
        found.append(here.with_columns(pl.lit(int(name), dtype=pl.UInt16).alias("column")))
    return pl.concat(each.select(*FACTS_SCHEMA) for each in found)


def _merged_lines(sheet: Sheet, origins: pl.DataFrame) -> Iterator[CellRange]:
    """The merged cells, from the first line of their first row to the last line of their last one."""
    lines = origins.group_by("origin").agg(pl.col("row").min().alias("first"), pl.col("row").max().alias("last"))
    ends = {origin: (first, last) for origin, first, last in lines.iter_rows()}
    for top, left, bottom, right in sheet.merged_ranges:
        if top in ends and bottom in ends:
            yield ends[top][0], left, ends[bottom][1], right


def blame_faults(found: Findings, table: CompiledSheet, lines: Lines | None) -> None:
    """What could not be made a line, before all other findings: such a line lacks nothing else."""
    if lines is None or not lines.faults:
        return
    faulty = Findings()
    data = set(table.data_rows)
    for fault in lines.faults:
        number = int(table.sheet.frame["row"][fault.line])
        if number in data:
            faulty.add(pl.Series([number]), fault.column, fault.field, message(fault.code, **fault.values))
    rows = faulty.bad_rows() if table.sheet.origins and not table.sheet.origins.second else pl.Series(dtype=pl.UInt32)
    required = [place for place, (_, said) in enumerate(found.rules) if said.code == "required"]
    lacks = pl.col("row").is_in(rows.implode()) & pl.col("rule").is_in(required)
    found.rows[:] = [each.filter(~(lacks & pl.col("column").is_in(list(lines.columns)))) for each in found.rows]
    behind = pl.col("rule") + len(found.rules)
    found.rows[:0] = [each.with_columns(behind.cast(pl.UInt32)) for each in faulty.rows]
    found.rules += faulty.rules


def at_rows(lines: pl.DataFrame, sheet: Sheet, issues: Sequence[Issue]) -> pl.DataFrame:
    """What became of each line, told of the rows of the file: with `sheet`, and `invalid` where an issue stands there.

    lines: row, code, values; and what rows of a second sheet are told instead, where it is something else.
    """
    if sheet.origins is None:
        return lines.with_columns(pl.lit("").alias("sheet"))  # one value, not one a row
    origins = sheet.origins.lines.select("row", "origin", "second")
    placed = lines.join(origins, on="row", how="left", maintain_order="left")
    first = placed.with_columns(pl.col("origin").alias("row"), pl.lit("").alias("sheet"))
    second = placed.drop_nulls("second").with_columns(
        pl.col("second").alias("row"),
        pl.lit(sheet.origins.second).alias("sheet"),
        *(pl.coalesce(f"{name}_there", name).alias(name) for name in ("code", "values")),
    )
    wrong = pl.DataFrame(
        list({(issue.row, issue.sheet) for issue in issues}),
        schema={"row": pl.UInt32, "sheet": pl.String},
        orient="row",
    ).with_columns(pl.lit(value=True).alias("invalid"))
    together = pl.concat([first, second]).drop("invalid").join(wrong, on=["row", "sheet"], how="left")
    return together.with_columns(pl.col("invalid").fill_null(value=False))


def rows_once(rows: pl.DataFrame) -> pl.DataFrame:
    """Each row of the file once, in order, with the weightiest of its lines' states."""
    weights = {state.value: weight for weight, state in enumerate(_BY_WEIGHT)}
    weight = pl.col("state").replace_strict(weights, return_dtype=pl.UInt8)
    ordered = rows.sort("sheet", "row", weight, maintain_order=True)
    return ordered.unique(["sheet", "row"], keep="first", maintain_order=True)
