"""A sheet of a workbook, annotated in place: only its own part, the styles and its comments change.

Everything else in the package (other sheets, charts, text boxes, shared strings) is copied byte for byte, and so is
every cell that we say nothing about, formula and cached value alike.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from logistics_batch.paper.answer_cells import Answer, AnswerCells
from logistics_batch.paper.comment_boxes import placed_notes
from logistics_batch.paper.row_answers import CellNote
from logistics_batch.paper.status_columns import COLUMN_WIDTHS
from logistics_batch.paper.xlsx_annotations import SheetComments
from logistics_batch.paper.xlsx_comments import Note, RowMove, stays
from logistics_batch.paper.xlsx_filter import with_filter_named
from logistics_batch.paper.xlsx_package import Package, packed
from logistics_batch.paper.xlsx_parts import WorkbookParts, find_sheet
from logistics_batch.paper.xlsx_rows import RowChanges, RowData, RowReader, changed_rows
from logistics_batch.paper.xlsx_sheet import LAST_COLUMN, Area, SheetPart, checked
from logistics_batch.paper.xlsx_styles import StyleSheet
from logistics_batch.paper.xlsx_survey import Survey, drawn_areas, own_words, place_for, survey
from logistics_batch.paper.xml_bytes import NotPatchable

MOST_COMMENTS = 2_000
"""A sheet with more comments than this opens slowly; the cells beyond are coloured and explained in their row."""

_DEEPEST_FROZEN_HEADER = 12


@dataclass(frozen=True, slots=True)
class Annotations:
    """What is to be written into a sheet.

    answers: our cells by row number, beside the header row. notes: failing cells with what is wrong. legend: the
    comment on our first header. adds_columns: False where the sheet keeps its own columns only. hints: comments on
    cells that are not wrong and keep their colour.
    """

    header_row: int
    answers: Mapping[int, Answer]
    notes: Sequence[CellNote]
    legend: str
    adds_columns: bool = True
    hints: Sequence[CellNote] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a sheet as XML, and the numbers of the rows that our cells go to with them."""

    rows: RowData
    answered: frozenset[int]


def annotated(content: bytes, sheet: str, annotations: Annotations) -> bytes:
    """The user's own workbook with our columns, colours and comments; those of an earlier round are replaced.

    Raises NotPatchable with what stands in the way.
    """
    package = Package(content)
    parts = find_sheet(package, sheet)
    part = SheetPart.of(package.read(parts.sheet))
    words = own_words(package, parts.shared_strings)
    found = survey(RowReader(part.rows, prefix=part.prefix), header_row=annotations.header_row, own_words=words)
    everything = Block(part.rows, frozenset(annotations.answers) | {annotations.header_row})
    filtered = part.filtered_area()
    changed = SheetAnnotator(package, parts, part, found).annotate(annotations, [everything])
    widened = part.filtered_area()
    if filtered is None or widened is None or widened == filtered:
        return changed
    return with_filter_named(changed, sheet, widened)


class SheetAnnotator:
    """Puts annotations into one sheet of a package whose rows were surveyed.

    move: where rows have gone, if the blocks to come do not hold them at their places; comments follow.
    """

    def __init__(
        self, package: Package, parts: WorkbookParts, part: SheetPart, found: Survey, *, move: RowMove = stays
    ) -> None:
        self._package = package
        self._parts = parts
        self._part = part
        self._found = found
        self._styles = StyleSheet(package.read(parts.styles))
        self._comments = SheetComments.of(package, parts.sheet, part, move=move)

    def annotate(self, annotations: Annotations, blocks: Iterable[Block]) -> bytes:
        """The package with the annotations; `blocks` are the sheet's rows."""
        first = self._first_column(annotations)
        changes = self._changes(annotations, first)
        if annotations.adds_columns:
            self._lay_out(annotations, first)
        parts = self._comments.put(self._notes(annotations, first), self._part)
        rows = self._rows(changes, blocks)
        parts[self._parts.sheet] = packed(checked(self._part.pieces(rows)))
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

    def _changes(self, annotations: Annotations, first: int) -> RowChanges:
        cells = AnswerCells(
            self._styles,
            annotations.answers,
            header_row=annotations.header_row,
            first_column=first,
            prefix=self._part.prefix,
        )
        answers, line_height = annotations.answers, self._part.line_height()
        return RowChanges(
            first_column=first,
            width=len(COLUMN_WIDTHS),
            answers=cells.of,
            answered=self._answered(annotations, first),
            failing=_columns_by_row(annotations.notes),
            failing_style=self._styles.failing,
            removed=self._found.earlier,
            restored=self._styles.restored,
            column_styles=self._part.column_style,
            heights={row: lines * line_height for row, answer in answers.items() if (lines := answer.lines) > 1},
        )

    def _answered(self, annotations: Annotations, first: int) -> frozenset[int]:
        """The rows that get cells of ours: not those of merged titles that reach over our columns."""
        if not annotations.adds_columns:
            return frozenset()
        titles = [area for area in self._part.merged_areas() if area.bottom < annotations.header_row]
        covered = {row for area in titles if area.right >= first for row in range(area.top, area.bottom + 1)}
        return (frozenset(annotations.answers) | {annotations.header_row}) - covered

    def _rows(self, changes: RowChanges, blocks: Iterable[Block]) -> Iterator[bytes]:
        for block in blocks:
            reader = RowReader(block.rows, prefix=self._part.prefix)
            yield from changed_rows(reader, replace(changes, answered=changes.answered & block.answered))

    def _lay_out(self, annotations: Annotations, first: int) -> None:
        part, header_row = self._part, annotations.header_row
        last_row = max([self._found.last_row, *annotations.answers])
        last_column = first + len(COLUMN_WIDTHS) - 1
        part.set_widths(first, COLUMN_WIDTHS)
        part.widen_dimension(right=last_column, bottom=last_row)
        if header_row <= _DEEPEST_FROZEN_HEADER:
            part.freeze_above(header_row + 1)
        if last_row > header_row:
            area = Area(header_row, self._found.first_column, last_row, last_column)
            part.filter(area, earlier=self._found.earlier)

    def _notes(self, annotations: Annotations, first: int) -> list[Note]:
        shown = [*annotations.notes, *annotations.hints][:MOST_COMMENTS]
        texts = [(annotations.header_row, first, annotations.legend)] if annotations.legend else []
        for note in shown:
            area = Area.of(note.cell.encode())
            if area is not None:
                texts.append((area.top, area.left, note.text))
        return placed_notes(self._part, texts)


def _columns_by_row(notes: Sequence[CellNote]) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for note in notes:
        area = Area.of(note.cell.encode())
        if area is not None:
            found.setdefault(area.top, set()).add(area.left)
    return {row: frozenset(columns) for row, columns in found.items()}
