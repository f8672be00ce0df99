"""The fix file as the user's own workbook: the header and all above it, and under it only the rows to correct."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from logistics_batch.model.issue import cell_address
from logistics_batch.paper.row_answers import CellNote
from logistics_batch.paper.xlsx_moved_rows import RowMover, move_surroundings
from logistics_batch.paper.xlsx_package import Package, Packed, packed
from logistics_batch.paper.xlsx_parts import (
    CONTENT_TYPES_PART,
    OFFICE,
    WorkbookParts,
    content_types_xml,
    find_sheet,
    relationships,
    relationships_xml,
    rels_part,
    workbook_part,
)
from logistics_batch.paper.xlsx_patch import Annotations, Block, SheetAnnotator
from logistics_batch.paper.xlsx_rows import RowData, RowReader
from logistics_batch.paper.xlsx_sheet import SheetPart
from logistics_batch.paper.xlsx_survey import own_words, survey
from logistics_batch.paper.xml_bytes import NotPatchable

FROZEN_FORMULA = (
    "A formula stood here. It looks at rows that are not in this file, so its value stands here now.\n"
    "If you change anything it was worked out from, write the right value here."
)
"""What a cell is told whose formula could not go with its row."""


@dataclass(frozen=True, slots=True)
class KeptRows:
    """The rows under its header that stay on a sheet; `notes` stand at their new places."""

    sheet: str
    header_row: int
    rows: Sequence[int]
    notes: Sequence[CellNote]


def fix_workbook(content: bytes, sheets: Sequence[KeptRows]) -> bytes:
    """The workbook with only these rows under the headers of some sheets, in the user's formats.

    Raises NotPatchable with what stands in the way.
    """
    moving = frozenset(kept.sheet for kept in sheets)
    for kept in sheets:
        content = _with_rows(content, kept, moving=moving)
    return content


def _with_rows(content: bytes, kept: KeptRows, *, moving: frozenset[str]) -> bytes:
    """The same for one of the sheets whose rows move."""
    header_row, rows = kept.header_row, kept.rows
    package = Package(content)
    parts = find_sheet(package, kept.sheet)
    if any(line.kind.endswith("/threadedComment") for line in relationships(package, parts.sheet)):
        raise NotPatchable("the sheet holds conversations, which cannot be moved with their rows")
    part = SheetPart.of(package.read(parts.sheet))
    reader = RowReader(part.rows, prefix=part.prefix)
    words = own_words(package, parts.shared_strings)
    found = survey(reader, header_row=header_row, own_words=words)
    moves = {row: header_row + 1 + index for index, row in enumerate(rows)}
    mover = RowMover(reader, moves, fixed_row=header_row, moving=moving)
    moved = b"".join(mover.rows())
    move_surroundings(part, mover)
    annotator = SheetAnnotator(package, parts, part, replace(found, last_row=header_row + len(rows)), move=mover.moved)
    told, hints = _with_frozen_formulas(kept.notes, mover.frozen)
    annotations = Annotations(header_row=header_row, answers={}, notes=told, legend="", adds_columns=False, hints=hints)
    fixed = annotator.annotate(annotations, [Block(RowData.of(moved), frozenset())])
    return _without_calculation_chain(Package(fixed), parts)


def _with_frozen_formulas(
    notes: Sequence[CellNote], frozen: Collection[tuple[int, int]]
) -> tuple[list[CellNote], list[CellNote]]:
    """The notes, and hints for the cells that lost their formula; a cell has one comment, so some notes hold both."""
    cells = {cell_address(row, column) for row, column in frozen}
    told = [replace(note, text=f"{note.text}\n{FROZEN_FORMULA}") if note.cell in cells else note for note in notes]
    noted = {note.cell for note in notes}
    places = (cell_address(row, column) for row, column in frozen)
    return told, [CellNote(place, FROZEN_FORMULA) for place in places if place not in noted]


def _without_calculation_chain(package: Package, parts: WorkbookParts) -> bytes:
    """The package without its list of formulas, which would name cells that hold none any more; Excel makes it anew."""
    chain = parts.calculation_chain
    if chain is None or chain not in package:
        return package.content
    workbook = workbook_part(package)
    lines = [line for line in relationships(package, workbook) if line.kind != f"{OFFICE}/calcChain"]
    changes: dict[str, Packed | None] = {
        chain: None,
        rels_part(workbook): packed([relationships_xml(lines)]),
        CONTENT_TYPES_PART: packed([content_types_xml(package, defaults={}, overrides={}, dropped=[chain])]),
    }
    return package.with_parts(changes)
