"""A sheet of a workbook, annotated in place: only its own part, the styles and its comments change.

Everything else in the package (other sheets, charts, text boxes, shared strings) is copied byte for byte, and so is
every cell that we say nothing about, formula and cached value alike.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from logistics_batch.model.answers import ANSWER_COLUMNS, earlier_columns
from logistics_batch.model.issue import column_letters
from logistics_batch.model.report import Fate
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.answers.row_answers import ANSWERS, CellNote, header_texts
from logistics_batch.paper.safe_text import cell_xml, escaped_columns, formula_like, visible_column
from logistics_batch.paper.xlsx.comments import Note, put_notes
from logistics_batch.paper.xlsx.package import Package, WorkbookParts, find_sheet, main, sound, written
from logistics_batch.paper.xlsx.rows import RowChanges, RowReader, changed_rows
from logistics_batch.paper.xlsx.sheet import Area, ColumnWidths, SheetPart, Survey, drawn_areas, place_for
from logistics_batch.paper.xlsx.styles import StyleSheet

_WIDTHS = (13.0, 62.0, 62.0, 24.0, 22.0)  # of our columns, in characters of the default font
_WRAPPED = ("reason", "fix")
_LETTERS_A_DIGIT = 1.15  # widths count digits; the letters of a sentence are a little narrower
_MOST_COMMENTS = 2_000  # with more a sheet opens slowly; the cells beyond are coloured and explained in their row
_DEEPEST_FROZEN_HEADER = 12
_SCREEN_PIXELS = 1_200  # of columns that are seen at once
_FILTER_NAME = "_xlnm._FilterDatabase"
_NAMED_AREA = re.compile(r"(.*!)\$[A-Z]{1,3}\$\d+:\$[A-Z]{1,3}\$\d+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Annotations:
    """What is to be written into a sheet.

    answers: our cells, see ANSWERS; where there are none, the sheet keeps its own columns only. notes: failing cells
    with what is wrong. legend: the comment on our first header.
    """

    header_row: int
    answers: pl.DataFrame
    notes: Sequence[CellNote]
    legend: str


@dataclass(frozen=True, slots=True)
class Additions:
    """What a sheet's rows get.

    styles: open for additions. first_column: of ours. answers: our texts, the titles among them. cells: gives for some
    of these rows our cells as XML (`cells`), and what each row needs for our text, in points (`height`, null for one
    line); those of all rows together would take much memory. failing: for a row the columns to colour.
    """

    styles: StyleSheet
    first_column: int
    answers: pl.DataFrame
    cells: Callable[[pl.DataFrame], pl.DataFrame]
    failing: dict[int, frozenset[int]]


def annotate(package: Package, sheet: Sheet, annotations: Annotations) -> None:
    """Put our columns, colours and comments into the user's own workbook; those of an earlier round are replaced.

    sheet: as it was read from there. Raises NotPatchable with what stands in the way.
    """
    parts = find_sheet(package, sheet.name)
    part = SheetPart.of(package.read(parts.sheet))
    found = _surveyed(sheet, annotations.header_row, last_formula=RowReader(part.rows).last_formula())
    filtered = part.filtered_area()

    def rows(added: Additions) -> Iterable[bytes]:
        cells = added.cells(added.answers)
        changes = RowChanges(
            first_column=added.first_column,
            width=len(_WIDTHS),
            answers={row: xml.encode("utf-8", "replace") for row, xml, _ in cells.iter_rows()},
            heights=dict(cells.drop_nulls("height").select("row", "height").iter_rows()),
            failing=added.failing,
            styles=added.styles,
            column_style=part.column_style,
            removed=found.earlier,
        )
        return changed_rows(part.rows, changes)

    add_to_sheet(package, parts, (part, found), annotations, rows)
    widened = part.filtered_area()
    if filtered is not None and widened is not None and widened != filtered:
        _name_filter(package, parts.workbook, sheet.name, widened)


def _surveyed(sheet: Sheet, header_row: int, *, last_formula: int) -> Survey:
    """last_formula: its column; a formula that shows nothing is not among the texts, and is the user's all the same."""
    headers = header_texts(sheet, header_row)
    earlier = frozenset(position + 1 for position in earlier_columns(headers))
    filled = sheet.frame.select(pl.exclude("row").is_not_null().any()).row(0)
    used = {column for column, has_text in enumerate(filled, 1) if has_text}
    used.add(last_formula)
    named = {column for column, text in enumerate(headers, 1) if text}
    last_row = int(sheet.frame["row"][-1])
    return Survey(min(named - earlier, default=1), max(used - earlier, default=0), last_row, earlier)


def add_to_sheet(
    package: Package,
    parts: WorkbookParts,
    surveyed: tuple[SheetPart, Survey],
    annotations: Annotations,
    make_rows: Callable[[Additions], Iterable[bytes]],
    *,
    is_ours: bool = False,
) -> None:
    """Put annotations into one sheet of a package, and the rows that are made with them.

    is_ours: the rows hold no XML of anybody else, so that they need not be read again to see that they are sound.
    """
    part, found = surveyed
    header_row, answers = annotations.header_row, annotations.answers
    styles = StyleSheet(package.tree(parts.styles))
    drawings = drawn_areas(package, parts.sheet, part)
    first = place_for(len(_WIDTHS), sheet=part, found=found, header_row=header_row, drawings=drawings)
    failing: dict[int, frozenset[int]] = {}
    notes = [Note(header_row, first, annotations.legend)] if annotations.legend else []
    for note in annotations.notes:
        area = Area.of(note.cell)
        if area is not None and not (answers.height and first <= area.left < first + len(_WIDTHS)):
            failing[area.top] = failing.get(area.top, frozenset()) | {area.left}
            notes.append(Note(area.top, area.left, note.text))
    _lay_out(part, found, annotations, first)
    put_notes(package, parts.sheet, part, notes[: _MOST_COMMENTS + 1])
    titles = [area for area in part.merged_areas() if area.bottom < header_row and area.right >= first]
    covered = [row for area in titles for row in range(area.top, area.bottom + 1)]  # by titles over our columns
    if answers.height:
        titles_row = pl.DataFrame([(header_row, *ANSWER_COLUMNS)], schema=ANSWERS, orient="row")
        answers = pl.concat([titles_row, answers])
        answers = answers.filter(~pl.col("row").is_in(covered)) if covered else answers
    cells = _answer_cells(answers, styles, first, part, header_row=header_row)
    pieces = part.pieces(make_rows(Additions(styles, first, answers, cells, failing)))
    package.put(parts.sheet, pieces if is_ours else sound(pieces))
    package.put(parts.styles, [styles.written()])


def _lay_out(part: SheetPart, found: Survey, annotations: Annotations, first: int) -> None:
    """Widths, dimension, frozen header and filter of a sheet with our columns from the first one on."""
    header_row = annotations.header_row
    ours = _WIDTHS if annotations.answers.height else ()
    last_row = max([found.last_row, *annotations.answers["row"].tail(1)])
    last_column = first + len(ours) - 1
    part.set_widths(first, ours)
    part.widen_dimension(right=last_column, bottom=last_row)
    if header_row <= _DEEPEST_FROZEN_HEADER:
        part.freeze_above(header_row + 1)
    if ours and ColumnWidths(part).reach(1, _SCREEN_PIXELS)[0] < first:
        part.open_at(first)
    if last_row > header_row:
        part.filter(Area(header_row, found.first_column, last_row, last_column), earlier=found.earlier)


def _name_filter(package: Package, workbook: str, sheet: str, area: Area) -> None:
    """Let the workbook's name for that sheet's filter, if it has one, say this area."""
    root = package.tree(workbook)
    names = [each.get("name") for each in root.iter(main("sheet"))]
    number = str(names.index(sheet))
    left, right = column_letters(area.left), column_letters(area.right)
    for each in root.iter(main("definedName")):
        known = _NAMED_AREA.fullmatch(each.text or "")
        if known is not None and (each.get("name"), each.get("localSheetId")) == (_FILTER_NAME, number):
            each.text = f"{known[1]}${left}${area.top}:${right}${area.bottom}"
            package.put(workbook, [written(root)])


# -- our cells --------------------------------------------------------------------------------------------------------


def _answer_cells(
    answers: pl.DataFrame, styles: StyleSheet, first: int, part: SheetPart, *, header_row: int
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """What gives our cells of some of the rows: row, cells as XML, height."""
    names, cells = ANSWERS.names()[1:], []
    escaped = escaped_columns(answers.select(names))
    is_muted, is_title = pl.col("fate") == Fate.SKIPPED.value, pl.col("row") == header_row
    title_style = styles.header()
    for index, name in enumerate(names):
        if name == "fate":
            statuses = {fate.value: styles.status(fate) for fate in Fate}
            style = pl.col("fate").replace_strict(statuses, default=title_style)
        else:
            style = pl.lit(0)
            for muted, guarded in ((True, True), (True, False), (False, True), (False, False)):
                number = styles.text(muted=muted, wrap=name in _WRAPPED, guarded=guarded)
                fits = (is_muted == muted) & (formula_like(name) == guarded)
                style = pl.when(fits).then(number).otherwise(style)
            style = pl.when(is_title).then(title_style).otherwise(style)
        cells.append(
            text_cell(name, first + index, style, is_escaped=name in escaped, prefix=part.rows.prefix.decode())
        )
    lines = pl.max_horizontal(lines_of(name, _WIDTHS[names.index(name)]) for name in _WRAPPED)
    height = pl.when(lines > 1).then(lines * part.line_height()).cast(pl.Float64)
    visible = [visible_column(name).alias(name) for name in escaped]
    made = ("row", pl.concat_str(cells, ignore_nulls=True).alias("cells"), height.alias("height"))
    return lambda some: some.with_columns(visible).select(made)


def lines_of(name: str, width: float) -> pl.Expr:
    """How many lines a text takes in a column of this width; words that do not fit make a line a little shorter."""
    line, width = pl.element().str.len_chars(), int(width * _LETTERS_A_DIGIT)
    lines = pl.max_horizontal((line / (width * 0.93)).ceil(), pl.lit(1))
    return (
        pl.when(pl.col(name).str.len_chars() <= width)
        .then(pl.col(name).str.count_matches("\n", literal=True) + 1)
        .otherwise(pl.col(name).str.split("\n").list.eval(lines).list.sum().cast(pl.UInt32))
    )


def text_cell(
    name: str, column: int, style: pl.Expr, *, is_escaped: bool, prefix: str = "", row: str = "row"
) -> pl.Expr:
    """The cell of each row's text, in that column of its sheet, as XML; null where there is no text.

    row: the column with the rows' numbers.
    """
    p = prefix
    text, tag = (cell_xml(name), f'<{p}t xml:space="preserve">') if is_escaped else (pl.col(name), f"<{p}t>")
    begin = (pl.lit(f'<{p}c r="{column_letters(column)}'), pl.col(row), pl.lit('" s="'), style)
    end = (pl.lit(f'" t="inlineStr"><{p}is>{tag}'), text, pl.lit(f"</{p}t></{p}is></{p}c>"))
    return pl.when(pl.col(name) != "").then(pl.concat_str(*begin, *end))
