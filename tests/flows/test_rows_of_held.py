"""A file that is held as a whole: which rows its answer counts."""

import pytest
from mapping.sheets import ORDERS, mapping_of, run, sheet_of

from logistics_batch.errors import FileHeld
from logistics_batch.flows.files.foreign_files import rows_of_held
from logistics_batch.model import answers as ours
from logistics_batch.model.document import MappedFile
from logistics_batch.model.reconciliation import LINES_SCHEMA
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.answers.row_answers import RESULT_FIELDS

HEADS = [["Order No", "Phone", "Address"], ["A1", "9876543210", "12 MG Road"], [], ["A2", "9876543211", "14 MG Road"]]
ITEMS = [["Packed today"], ["Order", "SKU", "Qty"], ["A1", "tea", "2"], ["A2", "rice", "1"]]
TWO_SHEETS = mapping_of(ORDERS.replace("lines:", "lines_sheet: {name: Items, key: [Order]}\nlines:"))


def held(*sheets: Sheet) -> MappedFile:
    with pytest.raises(FileHeld) as raised:
        run(TWO_SHEETS, *sheets)
    found = rows_of_held(sheets, raised.value, TWO_SHEETS)
    assert found is not None
    return found


def rows(found: MappedFile) -> dict[tuple[str, int], str]:
    return {(sheet, row): state for sheet, row, state in found.rows.select("sheet", "row", "state").rows()}


def test_of_two_sheets_every_row_of_both_is_answered() -> None:
    doubled = [[*row, more] for row, more in zip(ITEMS, ["", "Qty", "2", "1"], strict=True)]
    found = held(sheet_of(HEADS, name="Orders"), sheet_of(doubled, name="Items"))
    assert (found.sheet, found.header_row, found.lines_sheet, found.lines_header_row) == ("Orders", 1, "Items", 2)
    assert rows(found) == {
        ("", 2): "ready",
        ("", 3): "skipped",
        ("", 4): "ready",
        ("Items", 1): "ready",
        ("Items", 3): "ready",
        ("Items", 4): "ready",
    }


def test_a_sheet_whose_header_is_not_found_is_answered_too() -> None:
    found = held(sheet_of(HEADS, name="Orders"), sheet_of([["x", "y"], ["A1", "tea"]], name="Items"))
    assert (found.header_row, found.lines_header_row) == (1, 1)
    assert rows(found)["Items", 2] == "ready"
    lost = held(sheet_of([["Number"], *HEADS[1:]], name="Orders"), sheet_of(ITEMS, name="Items"))
    assert (lost.header_row, lost.lines_header_row) == (0, 2)
    assert len(rows(lost)) == 4 + 3


@pytest.mark.parametrize(
    ("columns", "begins"),
    [(RESULT_FIELDS, ours.RESULT_LIST_BEGINS), (tuple(LINES_SCHEMA), ours.RECONCILIATION_LIST_BEGINS)],
)
def test_lists_of_ours_are_known_again_by_their_first_columns(
    columns: tuple[str, ...], begins: tuple[str, ...]
) -> None:
    assert columns[: len(begins)] == begins
