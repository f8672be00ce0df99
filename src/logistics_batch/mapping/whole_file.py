"""A whole file mapped: one sheet whose rows are lines, rows that hold several lines, or lines on a second sheet."""

from collections.abc import Sequence

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.apply import apply_mapping as apply_to_sheet
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.lines.exploded import parted, told_of_rows
from logistics_batch.mapping.lines.two_sheet_answers import told_of_both
from logistics_batch.mapping.lines.two_sheets import joined
from logistics_batch.mapping.loading import Mapping
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
    if mapping.spec.lines_sheet is not None:
        both = joined(mapping, sheets)
        made = both.parted
    elif mapping.spec.lines_from is not None:
        both, made = None, parted(mapping, sheets)
    else:
        return apply_to_sheet(mapping, sheets, run_values=run_values, longitude=longitude)
    faults = made.parting.faults
    try:
        mapped = apply_to_sheet(made.mapping, [made.sheet], run_values=run_values, longitude=longitude, faults=faults)
    except FileHeld as held:
        held.rows_read = made.physical.frame.height - 1
        raise
    return told_of_both(mapped, both) if both is not None else told_of_rows(mapped, made)
