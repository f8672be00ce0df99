"""All that interprets the bytes and cells of files from outside; each function runs in a limited process.

`Parts.limited` calls them there. What they need is imported in them: the command that names them here needs none of it,
and the process imports beforehand what most files need (`WORKER_PRELOAD`).
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from logistics_batch.errors import FileHeld, UsageError
from logistics_batch.intake.readers import read_file, sniff_format
from logistics_batch.mapping import Mapping, RunValues
from logistics_batch.model import answers as ours
from logistics_batch.model.document import ROWS_SCHEMA, MappedFile, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.payloads import LongitudeName
from logistics_batch.model.reconciliation import Entries
from logistics_batch.model.report import FileReport
from logistics_batch.model.sheet import CELL_TYPES, CellFact, ReadOptions, Sheet

_LISTS = {
    ours.RESULT_LIST_BEGINS: "own_report.answers",
    ours.RECONCILIATION_LIST_BEGINS: "own_report.reconciliation",
    ours.INDEX_COLUMNS[:5]: "own_report.label_index",
}
_RECONCILIATION_SHEETS = {"Exceptions", "Ageing", "Supplier scorecard"}


@dataclass(frozen=True, slots=True)
class Mapped:
    """What mapping made of a file. format: what its bytes are. held: why it is held as a whole, if it is."""

    format: str
    mapped: MappedFile | None = None
    held: FileHeld | None = None


def map_file(
    path: Path, mapping: Mapping, *, name: str, run_values: RunValues, longitude: LongitudeName = "delivery_long"
) -> Mapped:
    """Read a file and map it; of one that is held the rows that can be counted."""
    from logistics_batch.mapping.alike import stands_in
    from logistics_batch.mapping.whole_file import apply_mapping

    kind = sniff_format(path)
    sheets: Sequence[Sheet] = ()
    try:
        sheets = read_file(path, name=name, options=mapping.read_options)
        if own_report := _own_report(sheets):
            raise FileHeld(own_report, values={"name": name})
        mapped = apply_mapping(mapping, sheets, run_values=run_values, longitude=longitude)
    except FileHeld as held:
        return Mapped(kind, rows_of_held(sheets, held, mapping), held)
    own = next((sheet for sheet in sheets if sheet.name == mapped.sheet), None)
    return Mapped(kind, replace(mapped, stands_in=stands_in(mapped, own)) if own else mapped)


def _own_report(sheets: Sequence[Sheet]) -> str:
    """The code of a report of ours that somebody dropped by mistake, known by what stands in it; "" for other files.

    A returned workbook and a fix file are none of these: they are made to be corrected and dropped.
    """
    names = {sheet.name for sheet in sheets}
    if names == {ours.HELD_SHEET}:
        return "own_report.held_file"
    if names >= _RECONCILIATION_SHEETS:
        return "own_report.reconciliation"
    firsts = (sheet.frame.select(pl.all().exclude("row")).head(1).rows() for sheet in sheets)
    first_texts = (tuple((text or "").strip() for text in row[:5]) for rows in firsts for row in rows)
    return next((_LISTS[texts] for texts in first_texts if texts in _LISTS), "")


def legible_of_file(path: Path, mapping: Mapping, *, name: str, run_values: RunValues) -> pl.DataFrame:
    """What can be read of each row of a file, wrong or not; raises FileHeld."""
    from logistics_batch.mapping.whole_file import legible_rows

    return legible_rows(mapping, read_file(path, name=name, options=mapping.read_options), run_values=run_values)


def frames_of_file(path: Path, mapping: Mapping, *, name: str, sheets: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The rows of some sheets of a file as they stand, by the sheet's name; raises FileHeld."""
    read = read_file(path, name=name, options=mapping.read_options)
    return {sheet.name: sheet.frame for sheet in read if sheet.name in sheets}


def corrected_workbook(
    path: Path, mapping: Mapping, *, name: str, headers: dict[str, int], cells: Sequence[tuple[str, int, int, str]]
) -> bytes:
    """A plain workbook of some sheets of a file, in which cells have other texts.

    headers: the header row of each sheet that is in it. cells: sheet, row, column from 1, and the text.

    Raises FileHeld; UsageError where rows that the mapping leaves out, for they are hidden, would be seen.
    """
    from logistics_batch.paper.answers.row_answers import ANSWERS
    from logistics_batch.paper.xlsx.annotate import Annotations
    from logistics_batch.paper.xlsx.plain import plain_workbook

    made = []
    for sheet in read_file(path, name=name, options=mapping.read_options):
        if sheet.name not in headers:
            continue
        if sheet.hidden_rows and mapping.read_options.hidden_rows != "read":
            raise UsageError(
                f'The sheet "{sheet.name}" has hidden rows, which would be seen in a corrected copy.',
                remedy="Correct it in your spreadsheet program, and check it again.",
            )
        changed = [cell[1:] for cell in cells if cell[0] == sheet.name]
        annotations = Annotations(headers[sheet.name], ANSWERS.to_frame(), (), "")
        made.append((_with_texts(sheet, changed), annotations))
    return plain_workbook(*made)


def _with_texts(sheet: Sheet, cells: Sequence[tuple[int, int, str]]) -> Sheet:
    """A sheet in which some cells (row, column, text) are other, plain texts."""
    changes = pl.DataFrame(cells, schema={"row": pl.UInt32, "column": pl.UInt16, "text": pl.String}, orient="row")
    frame = sheet.frame
    for (column,), some in changes.group_by("column"):
        texts = dict(some.select("row", "text").iter_rows())
        own = pl.col(str(column))
        other = pl.col("row").replace_strict(texts, default=None, return_dtype=pl.String)
        frame = frame.with_columns(
            pl.when(pl.col("row").is_in(list(texts))).then(other).otherwise(own).alias(str(column))
        )
    frame = frame.with_columns(pl.exclude("row").replace("", None))
    return replace(sheet, frame=frame, facts=sheet.facts.join(changes, on=["row", "column"], how="anti"))


def cells_of_file(path: Path, *, name: str, options: ReadOptions) -> str:
    """A digest of what stands in a file, alike whichever program saved it; raises FileHeld.

    As what its program keeps a value does not count, nor how a format is written; what is struck through, merged or
    hidden does.
    """
    told = hashlib.sha256()
    for sheet in read_file(path, name=name, options=options):
        cells = sheet.frame.unpivot(index="row", variable_name="column").drop_nulls().sort("row", "column")
        facts = sheet.facts.filter(pl.col("kind").is_in((*CELL_TYPES, CellFact.NUMBER_FORMAT)).not_()).sort(
            "row", "column", "kind"
        )
        told.update(cells.write_json().encode() + facts.write_json().encode() + repr(sheet.hidden_rows).encode())
    return told.hexdigest()


def workbook_entries(path: Path, *, name: str) -> Entries:
    """What analysts wrote in a reconciliation workbook; the open list must be there, another may be gone.

    Raises FileHeld.
    """
    from logistics_batch.paper.reconciliation.entries import LISTS, LOG, entries_of

    sheets: list[Sheet] = []
    for title in (*LISTS, LOG):
        try:
            sheets += read_file(path, name=name, options=ReadOptions(name=f"{title}*"))
        except FileHeld:
            if not sheets:
                raise
    return entries_of(sheets)


def answer_files(
    report: FileReport,
    path: Path | None,
    *,
    name: str,
    kind: str,
    options: ReadOptions,
    formats: Sequence[str],
) -> tuple[dict[str, bytes], tuple[Issue, ...]]:
    """The result files by the ending that follows NAME, and notes on what was taken out of the sender's workbook.

    path: the original, None where it is not at hand.
    """
    from logistics_batch.mapping.rows.sortable import sortable
    from logistics_batch.paper.answers.fix_file import fix_file, rows_to_correct
    from logistics_batch.paper.answers.result_csv import result_csv
    from logistics_batch.paper.answers.result_workbook import result_workbook
    from logistics_batch.paper.xlsx.inert import inert_workbook

    sources: dict[str, Sheet] = {}
    if path is not None:
        with suppress(FileHeld):  # its answer says why
            sources = {sheet.name: sheet for sheet in read_file(path, name=name, options=options)}
    sheet, lines = sources.get(report.sheet), sources.get(report.lines_sheet) if report.lines_sheet else None
    found: dict[str, bytes] = {}
    notes: tuple[Issue, ...] = ()
    if "xlsx" in formats:
        original = inert_workbook(path.read_bytes() if path is not None else b"") if kind == "xlsx" else None
        found["result.xlsx"] = result_workbook(report, sheet=sheet, original=original, lines=lines)
        notes = original.notes if original is not None else ()
    if "csv" in formats:
        found["result.csv"] = result_csv(report, sheet, lines)
    if sheet is not None and any(map(len, rows_to_correct(report, options))):
        own, *second = report.by_sheet
        sheet, issues = sortable(sheet, own, options)
        if lines is not None:
            lines, more = sortable(lines, second[0], options)
            issues = (*issues, *more)
        report = replace(report, issues=issues)
    fix = fix_file(report, sheet=sheet, lines=lines, options=options)
    if fix is not None:
        found["fix.xlsx"] = fix
    return found, notes


def rows_of_held(sheets: Sequence[Sheet], held: FileHeld, mapping: Mapping) -> MappedFile | None:
    """The countable rows of a file that mapping refused, of both sheets if it reads two; None if it has none."""
    from logistics_batch.mapping.lines.two_sheets import both_sheets

    named = [sheet for sheet in sheets if sheet.name == held.sheet] or sorted(
        sheets, key=lambda sheet: -sheet.frame.height
    )
    if not named:
        return None
    (sheet, header_row), *second = both_sheets(mapping, sheets) or [(named[0], held.header_row)]
    rows = [_rows_of_held(sheet, header_row, place="")]
    rows += [_rows_of_held(lines, row, place=lines.name) for lines, row in second]
    columns = tuple("" for _ in range(sheet.width))
    found = MappedFile(sheet.name, header_row, columns, pl.concat(rows), (), (), sheet.notes)
    return replace(found, lines_sheet=second[0][0].name, lines_header_row=second[0][1]) if second else found


def _rows_of_held(sheet: Sheet, header_row: int, *, place: str) -> pl.DataFrame:
    """The rows of one sheet. place: the second sheet's name, "" for the file's own."""
    frame = sheet.frame.filter(pl.col("row") != header_row)
    names = _own_cells(sheet, header_row)
    blank = pl.all_horizontal([pl.col(name).is_null() for name in names] or [pl.lit(value=True)])
    rows = frame.select(
        pl.col("row").cast(pl.UInt32),
        pl.when(blank).then(pl.lit(RowState.SKIPPED.value)).otherwise(pl.lit(RowState.READY.value)).alias("state"),
        pl.when(blank).then(pl.lit("blank.of_held")).alias("code"),
        pl.lit(None, dtype=pl.UInt32).alias("document"),
        pl.lit(None, dtype=pl.String).alias("key"),
        pl.when(blank).then(pl.lit("")).alias("values"),
        pl.lit(place).alias("sheet"),
    )
    return rows.cast(ROWS_SCHEMA)  # type: ignore[arg-type]


def _own_cells(sheet: Sheet, header_row: int) -> list[str]:
    """The user's columns: those of an earlier answer of ours do not make a blank row data."""
    names = [name for name in sheet.frame.columns if name != "row"]
    headers = sheet.frame.filter(pl.col("row") == header_row).select(names)
    answers = ours.earlier_columns([text or "" for text in headers.row(0)]) if headers.height else ()
    return [name for position, name in enumerate(names) if position not in answers]
