"""Sheets whose lines lie elsewhere, exploded: one line a row of the frame, each cell with the place where it stands.

Mapping reads an exploded sheet like any other. What it says of a line is told of the rows of the file by the origins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.compile import CompiledSheet
from logistics_batch.mapping.findings import Findings
from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.header import Header, bind
from logistics_batch.model.document import ROWS_SCHEMA, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import FACTS_SCHEMA, CellFact, Origins, Sheet, merged_facts

OF: Final = "of:"
"""What stands before a column's name in the name of one that says where its cells stand."""

_BY_WEIGHT: Final = (RowState.INVALID, RowState.HELD, RowState.BLOCKED, RowState.READY, RowState.SKIPPED)


@dataclass(frozen=True, slots=True)
class BoundSheet:
    """A sheet that is mapped, with its header bound to the mapping that reads it.

    notes: on the sheets that were not read, and on what the header lacks. faults: cells that lines could not be made
    of, and rows that could take none. others, lost: rows of a second sheet that are no line (ROWS_SCHEMA), and what is
    wrong with them. second: its header.
    """

    mapping: Mapping
    sheet: Sheet
    header: Header
    notes: tuple[Issue, ...] = ()
    faults: Findings = field(default_factory=Findings)
    others: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=ROWS_SCHEMA))
    lost: tuple[Issue, ...] = ()
    second: Header | None = None


def with_made(mapping: Mapping, header: Header, names: Sequence[str], *, used: Sequence[int] = ()) -> Header:
    """The header with the names of made columns behind it, bound to a mapping.

    used: columns that these are made of, which are not read by themselves.
    """
    own = ["" if number in used else text for number, text in enumerate(header.texts, 1)]
    bound = bind(mapping, header.row, [*own, *names])
    return replace(bound, texts=(*header.texts, *names), printed=header.printed, made_of=tuple(used))


def exploded(sheet: Sheet, header: Header, lines: pl.DataFrame, *, second: tuple[Sheet, Header] | None = None) -> Sheet:
    """The sheet with a line in the place of each row, which `row` numbers: up to the header as the file does.

    lines: in order, `at`, the position of the row that each is made of; `second`, its row on the second sheet, if there
    is one; and by its name each column that takes the lines' values: made behind the sheet's last, with the columns in
    which its cells stand as `of:NAME`; or one of the sheet, for the rows below the header.
    """
    frame = sheet.frame[lines["at"]]
    above = int((sheet.frame["row"] <= header.row).sum())
    below = pl.int_range(1, frame.height - above + 1, dtype=pl.UInt32, eager=True) + header.row
    numbers = pl.concat([frame["row"][:above].cast(pl.UInt32), below])
    values = lines.select(name for name in lines.columns if name.isdigit())
    origins = lines.select(
        numbers.alias("row"),
        frame["row"].cast(pl.UInt32).alias("origin"),
        (pl.col("second") if second else pl.lit(None)).cast(pl.UInt32).alias("second"),
        *(pl.col(f"{OF}{name}").cast(pl.UInt16).alias(name) for name in values.columns if int(name) > sheet.width),
    )
    own = [pl.concat([frame[name][:above], values[name][above:]]) for name in values.columns if name in frame.columns]
    return replace(
        sheet,
        frame=frame.with_columns(*values).with_columns(*own, numbers.alias("row")),
        facts=_facts(sheet, origins, second[0] if second else None),
        hidden_rows=tuple(origins.filter(pl.col("origin").is_in(list(sheet.hidden_rows)))["row"]),
        cell_counts=None if sheet.cell_counts is None else sheet.cell_counts[lines["at"]],
        origins=Origins(origins, second[0].name, second[1].texts) if second else Origins(origins),
        added=origins.width - 3,
    )


def _facts(sheet: Sheet, origins: pl.DataFrame, second: Sheet | None) -> pl.DataFrame:
    """The facts of cells on all lines of their rows, and on made columns those of the cells that stand there.

    Merged cells reach from the first line of their first row to the last line of their last one.
    """
    on = "second" if second else "origin"
    first, last = (dict(each.select("origin", "row").iter_rows()) for each in (origins.reverse(), origins))
    merged = [
        (first[top], left, last[bottom], right)
        for top, left, bottom, right in sheet.merged_ranges
        if top in first and bottom in last
    ]
    own, there = (
        each.facts.filter(pl.col("kind") != CellFact.MERGED).rename({"row": "from"})
        for each in (sheet, second or sheet)
    )
    made = origins.unpivot("^[0-9]+$", index=["row", on], variable_name="made", value_name="column")
    made = made.cast({"made": pl.String, "column": pl.UInt16})  # without types where nothing is made
    here = there.join(made.rename({on: "from"}), on=["from", "column"])
    own = own.join(origins.rename({"origin": "from"}), on="from")
    found = (merged_facts(merged), own, here.with_columns(column=pl.col("made").cast(pl.UInt16)))
    return pl.concat(each.select(*FACTS_SCHEMA) for each in found)


def blame_faults(found: Findings, table: CompiledSheet, faults: Findings) -> None:
    """What could not be made a line, before all other findings: such a line lacks nothing else."""
    origins = table.sheet.origins
    if origins is None or not faults.rows:
        return
    behind, is_data = pl.col("rule") + len(found.rules), pl.col("row").is_in(table.data_rows.implode())
    faulty = pl.concat(faults.rows).filter(is_data).with_columns(behind.cast(pl.UInt32))
    if not origins.second:
        told = ((place, said) for place, (_, said) in enumerate(found.rules))
        required = [place for place, said in told if isinstance(said, Issue) and said.code == "required"]
        made = origins.lines.select(pl.col("^[0-9]+$").unique().implode())
        taking = {*map(int, made.columns), *(column for columns in made.row(0) for column in columns)}
        lacks = pl.col("rule").is_in(required) & pl.col("column").is_in(list(taking))
        found.rows[:] = [each.filter(~(lacks & pl.col("row").is_in(faulty["row"].implode()))) for each in found.rows]
    found.rows.insert(0, faulty)
    found.rules += faults.rules


def at_rows(lines: pl.DataFrame, sheet: Sheet) -> pl.DataFrame:
    """What became of each line, told of the rows of the file that it stands in, with `sheet`.

    lines: row, code, values; and what rows of a second sheet are told instead, where it is something else.
    """
    if sheet.origins is None:
        return lines.with_columns(pl.lit("").alias("sheet"))  # one value, not one a row
    origins = sheet.origins.lines.select("row", "origin", "second")
    placed = lines.join(origins, on="row", how="left", maintain_order="left")
    second = placed.drop_nulls("second").with_columns(
        *(pl.coalesce(f"{name}_there", name).alias(name) for name in ("code", "values")),
        row="second",
        sheet=pl.lit(sheet.origins.second),
    )
    return pl.concat([placed.with_columns(row="origin", sheet=pl.lit("")), second])


def rows_once(rows: pl.DataFrame) -> pl.DataFrame:
    """Each row of the file once, in order, with the weightiest of its lines' states."""
    weight = pl.col("state").cast(pl.Enum([state.value for state in _BY_WEIGHT]))
    ordered = rows.sort("sheet", "row", weight, maintain_order=True)
    return ordered.unique(["sheet", "row"], keep="first", maintain_order=True)
