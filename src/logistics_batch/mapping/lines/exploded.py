"""A sheet whose rows hold several lines, made longer for mapping, and what mapping says told of its rows again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from logistics_batch.mapping.findings import SHOWN_CHARACTERS
from logistics_batch.mapping.lines.split_rows import Parting, numbered_columns, part_rows
from logistics_batch.mapping.loading import Mapping
from logistics_batch.mapping.rows.header import Header, choose, passed_over
from logistics_batch.mapping.spec.model import FieldSpec
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.model.document import ROWS_SCHEMA, Document, MappedFile, RowState
from logistics_batch.model.issue import Issue, cell_address
from logistics_batch.model.sheet import FACTS_SCHEMA, CellFact, CellRange, Sheet, merged_facts

_SEARCHED_ROWS: Final = 200
_BY_WEIGHT: Final = (RowState.INVALID, RowState.HELD, RowState.BLOCKED, RowState.READY, RowState.SKIPPED)


@dataclass(frozen=True, slots=True)
class ExplodedSheet:
    """A longer sheet with the mapping that reads it.

    sheet: its `row` numbers the lines; up to the header they are the physical rows. header: of the physical sheet,
    `physical`. notes: on numbered columns, and on the sheets that were not read.
    """

    mapping: Mapping
    sheet: Sheet
    header: Header
    parting: Parting
    physical: Sheet
    notes: tuple[str, ...]

    def text(self, line: int, column: int) -> str:
        """What stands in the physical row of a line."""
        return self.physical.frame[str(column)][self.parting.rows[line]] or ""


def parted(mapping: Mapping, sheets: Sequence[Sheet]) -> ExplodedSheet:
    """The longer sheet of a mapping with `lines_from`. Raises FileHeld as `choose` does."""
    outer = outer_mapping(mapping, sheets)
    sheet, header = choose(outer, sheets)
    parting = part_rows(mapping.spec, sheet, header)
    notes = (*parting.notes, *passed_over(outer, sheets, sheet))
    return ExplodedSheet(
        _inner(mapping, header, parting), longer(sheet, header, parting), header, parting, sheet, notes
    )


def outer_mapping(mapping: Mapping, sheets: Sequence[Sheet]) -> Mapping:
    """The mapping as the physical sheet sees it: what is made of lines is left out, what they are made of is there."""
    spec, form = mapping.spec, mapping.spec.lines_from
    if form is None:
        return mapping
    made = {ColumnName.of(name).identity for name in form.made}
    sources = {name: FieldSpec(from_=[name], required=True) for name in form.split or ()}
    for template in form.columns or ():
        spelt: dict[int, dict[str, None]] = {}  # SKU 2 may be SKU 02
        for texts in (texts for sheet in sheets for texts in _rows(sheet)):
            for number, place in numbered_columns(template, texts).items():
                spelt.setdefault(number, {})[texts[place - 1].strip()] = None
        wanted = range(1, (form.up_to or 0) + 1)
        for number in sorted({*spelt, *wanted}) or [1]:
            name = template.replace("{n}", str(number))
            names = [name, *spelt.get(number, {})]
            sources[name] = FieldSpec(from_=names, required=number in wanted or number == min(spelt, default=1))
    kept = {name: field for name, field in spec.keep.items() if not _speaks_of(field, made)}
    named = {f"lines_from: {name}": field for name, field in sources.items()}
    lines = {name: field for name, field in spec.lines.items() if not _speaks_of(field, made)}
    fields = {name: field for name, field in spec.fields.items() if not _speaks_of(field, made)}
    changed = spec.model_copy(update={"fields": fields, "lines": lines, "keep": kept | named, "lines_from": None})
    return replace(mapping, spec=changed)


def _rows(sheet: Sheet) -> list[list[str]]:
    return [[text or "" for text in texts] for _, *texts in sheet.frame.head(_SEARCHED_ROWS).iter_rows()]


def _speaks_of(field: FieldSpec, made: set[str]) -> bool:
    return any(ColumnName.of(name).identity in made for names in field.columns for name in names)


def _inner(mapping: Mapping, header: Header, parting: Parting) -> Mapping:
    """The mapping as the longer sheet sees it; the columns that the lines were made of are used up."""
    spec = mapping.spec
    used = {column for sources in parting.sources[:1] for column in sources}
    if spec.lines_from is not None and spec.lines_from.columns is not None:
        used |= {place for name in spec.lines_from.columns for place in numbered_columns(name, header.texts).values()}
    texts = [header.texts[column - 1] for column in sorted(used) if column <= len(header.texts)]
    sheet = spec.sheet.model_copy(update={"header": header.row})
    own = {
        ColumnName.of(name).identity for field in spec.everything.values() for names in field.columns for name in names
    }
    spare = [text for text in texts if ColumnName.of(text).identity not in own]
    return replace(mapping, spec=spec.model_copy(update={"sheet": sheet, "ignore": [*spec.ignore, *spare]}))


def longer(sheet: Sheet, header: Header, parting: Parting) -> Sheet:
    """The sheet with a line in the place of each row, and the facts of cells where their lines are now."""
    positions = pl.Series("position", parting.rows, dtype=pl.UInt32)
    frame = sheet.frame[positions]
    origins = frame["row"].cast(pl.UInt32)
    body = int((sheet.frame["row"] <= header.row).sum())
    below = pl.int_range(1, frame.height - body + 1, dtype=pl.UInt32, eager=True) + header.row
    numbers = pl.concat([origins[:body], below]).alias("row")
    cells = zip(parting.columns, parting.cells, strict=True)
    frame = frame.with_columns(numbers, *(pl.Series(str(column), texts, dtype=pl.String) for column, texts in cells))
    moved = pl.DataFrame({"origin": origins, "line": numbers})
    hidden = moved.filter(pl.col("origin").is_in(list(sheet.hidden_rows)))
    return replace(
        sheet,
        frame=frame,
        facts=_facts(sheet, moved, parting),
        hidden_rows=tuple(hidden["line"].to_list()),
        cell_counts=None if sheet.cell_counts is None else sheet.cell_counts[positions],
        origins=origins,
        added=max(0, frame.width - 1 - sheet.width),
    )


def _facts(sheet: Sheet, moved: pl.DataFrame, parting: Parting) -> pl.DataFrame:
    """Each cell's facts on all lines of its row, and on the made columns those of the cells that they came from."""
    if sheet.facts.is_empty():
        return sheet.facts
    cells = sheet.facts.filter(pl.col("kind") != CellFact.MERGED).rename({"row": "origin"})
    on_lines = cells.join(moved, on="origin", maintain_order="right").rename({"line": "row"}).select(*FACTS_SCHEMA)
    found = [on_lines, merged_facts(_merged_lines(sheet, moved))]
    for position, column in enumerate(parting.columns):
        if column > sheet.width:
            came = pl.Series("column", [each[position] for each in parting.sources], dtype=pl.UInt16)
            there = pl.DataFrame([moved["line"].alias("row"), came])
            here = on_lines.join(there, on=["row", "column"])
            found.append(here.with_columns(pl.lit(column, dtype=pl.UInt16).alias("column")))
    return pl.concat(found)


def _merged_lines(sheet: Sheet, moved: pl.DataFrame) -> Iterator[CellRange]:
    """The merged cells, from the first line of their first row to the last line of their last one."""
    lines = moved.group_by("origin").agg(pl.col("line").min().alias("first"), pl.col("line").max().alias("last"))
    ends = {origin: (first, last) for origin, first, last in lines.iter_rows()}
    for top, left, bottom, right in sheet.merged_ranges:
        if top in ends and bottom in ends:
            yield ends[top][0], left, ends[bottom][1], right


def told_of_rows(mapped: MappedFile, made: ExplodedSheet) -> MappedFile:
    """The result for the longer sheet, told of the physical sheet: every row once, every cell where it stands."""
    lines = made.sheet.frame["row"].to_list()
    row_of = dict(zip(lines, made.physical.frame["row"][made.parting.rows].to_list(), strict=True))
    physical = pl.col("row").replace_strict(list(row_of), list(row_of.values()), return_dtype=pl.UInt32)
    return replace(
        mapped,
        header_row=made.header.row,
        columns=made.header.texts,
        rows=_rows_once(mapped.rows.with_columns(physical)),
        documents=tuple(_document(each, made, row_of) for each in mapped.documents),
        issues=_issues(mapped.issues, made, row_of),
        notes=(*mapped.notes, *made.notes),
        keep=mapped.keep.with_columns(physical) if "row" in mapped.keep.columns else mapped.keep,
    )


def _issues(issues: Sequence[Issue], made: ExplodedSheet, row_of: dict[int, int]) -> tuple[Issue, ...]:
    """Each issue at the cell that is to blame; a line that could not be made lacks nothing else."""
    positions = {number: place for place, number in enumerate(made.sheet.frame["row"].to_list())}
    faulty = {issue.row for issue in issues if issue.rule.startswith("lines_from|")}
    told: list[Issue] = []
    for issue in issues:
        column, texts = _column_of(issue.cell), made.header.texts
        is_made = column in made.parting.columns
        if is_made and issue.row in faulty and issue.rule.endswith("|required"):
            continue
        if is_made:
            column = made.parting.sources[positions[issue.row]][made.parting.columns.index(column)]
        name = texts[column - 1].strip() if column <= len(texts) else issue.column
        moved = issue.at(row=row_of[issue.row], column=name, cell=cell_address(row_of[issue.row], column))
        whole = made.text(positions[issue.row], column) if issue.rule.startswith("lines_from|") else issue.value
        told.append(moved.renamed(issue.column, name).at(value=whole[:SHOWN_CHARACTERS]))
    return tuple(dict.fromkeys(sorted(told, key=lambda issue: issue.row)))


def _column_of(cell: str) -> int:
    """The number of the column in a cell's address."""
    number = 0
    for letter in cell.rstrip("0123456789"):
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _rows_once(rows: pl.DataFrame) -> pl.DataFrame:
    """Each row with the weightiest of its lines' states."""
    weights = {state.value: weight for weight, state in enumerate(_BY_WEIGHT)}
    weighed = rows.with_columns(pl.col("state").replace_strict(weights, return_dtype=pl.UInt8).alias("weight"))
    once = weighed.sort("row", "weight", maintain_order=True).unique("row", keep="first", maintain_order=True)
    return once.select(ROWS_SCHEMA.keys())


def _document(document: Document, made: ExplodedSheet, row_of: dict[int, int]) -> Document:
    rows = dict.fromkeys(row_of[row] for row in document.rows)
    order, columns = document.order, made.parting.columns
    if order is not None and order.item_column in columns and made.parting.sources:
        item_column = made.parting.sources[-1][columns.index(order.item_column)]
        order = replace(order, item_column=item_column)
    line_rows = tuple(row_of[row] for row in document.line_rows)
    return replace(document, rows=tuple(rows), line_rows=line_rows, order=order)
