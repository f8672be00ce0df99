"""A whole file mapped: one sheet whose rows are lines, rows that hold several lines, or lines on a second sheet."""

from collections.abc import Sequence

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.apply import map_sheet
from logistics_batch.mapping.lines.exploded import BoundSheet
from logistics_batch.mapping.lines.split_rows import split_rows
from logistics_batch.mapping.lines.two_sheets import join_sheets
from logistics_batch.mapping.lines.views import views
from logistics_batch.mapping.loading import Mapping, RunValues
from logistics_batch.mapping.rows.header import choose, passed_over
from logistics_batch.model.document import MappedFile
from logistics_batch.model.payloads import LongitudeName
from logistics_batch.model.sheet import Sheet


def apply_mapping(
    mapping: Mapping,
    sheets: Sequence[Sheet],
    *,
    run_values: RunValues,
    longitude: LongitudeName = "delivery_long",
) -> MappedFile:
    """Map a file: every row but the header once, the documents that can be sent, an issue for each cell that is wrong.

    sheets: the candidates; the one whose header fits is taken. longitude: how the longitude fields are spelt on the
    wire. Raises FileHeld where the file as a whole cannot be trusted.
    """
    bound = _bound(mapping, sheets)
    try:
        return map_sheet(bound, run_values=run_values, longitude=longitude)
    except FileHeld as held:
        if bound.sheet.origins is not None:
            held.rows_read = bound.sheet.origins.lines["origin"].n_unique() - 1
        raise


def _bound(mapping: Mapping, sheets: Sequence[Sheet]) -> BoundSheet:
    if mapping.spec.lines_sheet is not None:
        return join_sheets(mapping, sheets)
    ((view, candidates),) = views(mapping, sheets)
    sheet, header = choose(view, candidates)
    notes = passed_over(view, candidates, sheet)
    if mapping.spec.lines_from is not None:
        return split_rows(mapping, mapping.spec.lines_from, sheet, header, notes=notes)
    return BoundSheet(mapping, sheet, header, notes)
