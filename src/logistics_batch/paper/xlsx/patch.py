"""A sheet of a workbook, annotated in place: only its own part, the styles and its comments change.

Everything else in the package (other sheets, charts, text boxes, shared strings) is copied byte for byte, and so is
every cell that we say nothing about, formula and cached value alike.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from logistics_batch.model.issue import column_letters
from logistics_batch.paper.answers.answer_cells import AnswerCells, lines_needed
from logistics_batch.paper.answers.row_answers import CellNote
from logistics_batch.paper.answers.status_columns import COLUMN_WIDTHS
from logistics_batch.paper.xlsx.comments import Note, SheetComments, placed_notes
from logistics_batch.paper.xlsx.package import Package, packed
from logistics_batch.paper.xlsx.parts import MAIN, WorkbookParts, find_sheet, parsed, workbook_part
from logistics_batch.paper.xlsx.rows import RowChanges, RowReader, changed_rows
from logistics_batch.paper.xlsx.sheet import LAST_COLUMN, Area, SheetPart, checked
from logistics_batch.paper.xlsx.styles import StyleSheet
from logistics_batch.paper.xlsx.survey import Survey, drawn_areas, own_words, place_for, survey
from logistics_batch.paper.xlsx.xml_bytes import NotPatchable, attribute, element_pattern, opening_tag

MOST_COMMENTS = 2_000
"""A sheet with more comments than this opens slowly; the cells beyond are coloured and explained in their row."""

_DEEPEST_FROZEN_HEADER = 12


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
class Looks:
    """What a sheet's rows are written with.

    styles: open for additions. first_column: of ours. answered: the rows that get cells of ours. heights: what rows
    need for our text, in points.
    """

    styles: StyleSheet
    first_column: int
    answered: frozenset[int]
    heights: Mapping[int, float]


def annotated(content: bytes, sheet: str, annotations: Annotations) -> bytes:
    """The user's own workbook with our columns, colours and comments; those of an earlier round are replaced.

    Raises NotPatchable with what stands in the way.
    """
    package = Package(content)
    parts = find_sheet(package, sheet)
    part = SheetPart.of(package.read(parts.sheet))
    words = own_words(package, parts.shared_strings)
    found = survey(RowReader(part.rows, prefix=part.prefix), header_row=annotations.header_row, own_words=words)

    def rows(looks: Looks) -> Iterator[bytes]:
        return changed_rows(RowReader(part.rows, prefix=part.prefix), _changes(annotations, looks, part, found))

    filtered = part.filtered_area()
    changed = SheetAnnotator(package, parts, part, found).annotate(annotations, rows)
    widened = part.filtered_area()
    if filtered is None or widened is None or widened == filtered:
        return changed
    return with_filter_named(changed, sheet, widened)


def _changes(annotations: Annotations, looks: Looks, part: SheetPart, found: Survey) -> RowChanges:
    styles, first = looks.styles, looks.first_column
    cells = AnswerCells(
        styles, annotations.answers, header_row=annotations.header_row, first_column=first, prefix=part.prefix
    )
    return RowChanges(
        first_column=first,
        width=len(COLUMN_WIDTHS),
        answers=cells.of,
        answered=looks.answered,
        failing=columns_by_row(annotations.notes),
        failing_style=styles.failing,
        removed=found.earlier,
        restored=styles.restored,
        column_styles=part.column_style,
        heights=looks.heights,
    )


class SheetAnnotator:
    """Puts annotations into one sheet of a package whose rows were surveyed."""

    def __init__(self, package: Package, parts: WorkbookParts, part: SheetPart, found: Survey) -> None:
        self._package = package
        self._parts = parts
        self._part = part
        self._found = found
        self._styles = StyleSheet(package.read(parts.styles))
        self._comments = SheetComments.of(package, parts.sheet, part)

    def annotate(
        self, annotations: Annotations, rows: Callable[[Looks], Iterable[bytes]], *, is_ours: bool = False
    ) -> bytes:
        """The package with the annotations; `rows` gives the sheet's rows with them.

        is_ours: the rows hold no XML of anybody else, so that they need not be read again to see that they are sound.
        """
        first = self._first_column(annotations)
        line_height = self._part.line_height()
        heights = {row: lines * line_height for row, lines in lines_needed(annotations.answers).items()}
        looks = Looks(self._styles, first, self._answered(annotations, first), heights)
        self._lay_out(annotations, first)
        parts = self._comments.put(self._notes(annotations, first), self._part)
        pieces = self._part.pieces(rows(looks))
        parts[self._parts.sheet] = packed(pieces if is_ours else checked(pieces))
        parts[self._parts.styles] = packed(checked([self._styles.rendered()]))
        return self._package.with_parts(parts)

    def _first_column(self, annotations: Annotations) -> int:
        width = len(COLUMN_WIDTHS)
        drawings = drawn_areas(self._package, self._parts.sheet, self._part)
        first = place_for(
            width, sheet=self._part, found=self._found, header_row=annotations.header_row, drawings=drawings
        )
        if first + width - 1 > LAST_COLUMN:
            raise NotPatchable("the sheet has no room for more columns")
        return first

    def _answered(self, annotations: Annotations, first: int) -> frozenset[int]:
        """The rows that get cells of ours: not those of merged titles that reach over our columns."""
        if annotations.answers.is_empty():
            return frozenset()
        titles = [area for area in self._part.merged_areas() if area.bottom < annotations.header_row]
        covered = {row for area in titles if area.right >= first for row in range(area.top, area.bottom + 1)}
        return (frozenset(annotations.answers["row"].to_list()) | {annotations.header_row}) - covered

    def _lay_out(self, annotations: Annotations, first: int) -> None:
        part, header_row = self._part, annotations.header_row
        ours = COLUMN_WIDTHS if annotations.answers.height else ()
        last_row = max([self._found.last_row, *annotations.answers["row"].tail(1)])
        last_column = first + len(ours) - 1
        part.set_widths(first, ours)
        part.widen_dimension(right=last_column, bottom=last_row)
        if header_row <= _DEEPEST_FROZEN_HEADER:
            part.freeze_above(header_row + 1)
        if last_row > header_row:
            area = Area(header_row, self._found.first_column, last_row, last_column)
            part.filter(area, earlier=self._found.earlier)

    def _notes(self, annotations: Annotations, first: int) -> list[Note]:
        shown = annotations.notes[:MOST_COMMENTS]
        texts = [(annotations.header_row, first, annotations.legend)] if annotations.legend else []
        for note in shown:
            area = Area.of(note.cell.encode())
            if area is not None:
                texts.append((area.top, area.left, note.text))
        return placed_notes(self._part, texts)


def columns_by_row(notes: Sequence[CellNote]) -> dict[int, frozenset[int]]:
    """The columns of the failing cells of each row."""
    found: dict[int, set[int]] = {}
    for note in notes:
        area = Area.of(note.cell.encode())
        if area is not None:
            found.setdefault(area.top, set()).add(area.left)
    return {row: frozenset(columns) for row, columns in found.items()}


_NAME = b"_xlnm._FilterDatabase"
_AREA = re.compile(rb"(.*!)\$[A-Z]{1,3}\$\d+:\$[A-Z]{1,3}\$\d+", re.DOTALL)
_DEFINED_NAME = re.compile(rb"<((?:[\w.-]+:)?definedName)(?=\s)")


def with_filter_named(content: bytes, sheet: str, area: Area) -> bytes:
    """The workbook whose name for that sheet's filter says this area; one without such a name stays as it is."""
    package = Package(content)
    workbook = workbook_part(package)
    xml = package.read(workbook)
    tag = _DEFINED_NAME.search(xml)
    if tag is None or _NAME not in xml:
        return content
    names = [line.get("name") for line in parsed(xml, part=workbook).iter(f"{{{MAIN}}}sheet")]
    number = str(names.index(sheet)).encode()
    changed = element_pattern(tag[1]).sub(lambda found: _named(found, number, area), xml)
    return package.with_parts({workbook: packed(checked([changed]))})


def _named(found: re.Match[bytes], sheet_number: bytes, area: Area) -> bytes:
    known = _AREA.fullmatch(found[2] or b"")
    if known is None or (attribute(found[1], b"name"), attribute(found[1], b"localSheetId")) != (_NAME, sheet_number):
        return found[0]
    left, right = column_letters(area.left), column_letters(area.right)
    written = f"${left}${area.top}:${right}${area.bottom}".encode()
    return b"".join([opening_tag(found[0]), known[1], written, found[0][found.end(2) - found.start() :]])
