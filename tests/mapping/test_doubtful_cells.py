"""A row is not sent by a value that somebody struck through, or that nobody can see."""

import polars as pl
from mapping.sheets import HEADER, ORDERS, ROW, run, sheet_of
from support.cell_facts import with_facts

from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import Sheet

QTY, SKU = 6, 5


def told(found: MappedFile) -> list[tuple[str, str]]:
    return [(issue.cell, issue.rule) for issue in found.issues]


def orders(*quantities: str) -> Sheet:
    rows = [[f"A{number}", *ROW[1:5], quantity] for number, quantity in enumerate(quantities, 1)]
    return sheet_of([HEADER, *rows])


def test_a_cell_that_is_struck_through_in_part_says_both_its_texts() -> None:
    sheet = with_facts(orders("1221", "12 21", "3"), strikethrough=((2, QTY, "12", "21"), (3, QTY, "12", "21")))
    found = run(ORDERS, sheet)
    assert told(found) == [("F2", "item_quantity|struck_through"), ("F3", "item_quantity|struck_through")]
    assert found.issues[0].reason == 'The cell holds two values: "12" is struck through, "21" is not.'
    assert found.issues[0].value == "1221" and "Write only the value that counts" in found.issues[0].fix
    assert [document.rows for document in found.documents] == [(4,)]


def test_equal_values_of_which_other_parts_are_struck_through_say_each_of_them() -> None:
    found = run(ORDERS, with_facts(orders("121", "121"), strikethrough=((2, QTY, "12", "1"), (3, QTY, "1", "21"))))
    assert {issue.reason for issue in found.issues} == {
        'The cell holds two values: "1" is struck through, "21" is not, or "12" is struck through, "1" is not.'
    }


def test_a_cell_that_is_struck_through_is_asked_about() -> None:
    found = run(ORDERS, with_facts(orders("2"), strikethrough=((2, QTY, "", ""),)))
    assert told(found) == [("F2", "item_quantity|struck_through")]
    assert found.issues[0].reason.startswith("The cell is struck through")


def test_a_row_that_is_struck_through_is_told_once_and_not_sent() -> None:
    struck = tuple((2, column, "", "") for column in range(1, len(HEADER) + 1))
    found = run(ORDERS, with_facts(orders("2", "3"), strikethrough=struck))
    assert told(found) == [("A2", "struck_through")]
    assert found.issues[0].reason.startswith("The whole row is struck through")
    assert [document.rows for document in found.documents] == [(3,)]


def test_a_column_that_nothing_is_read_from_and_rows_without_data_ask_nothing() -> None:
    sheet = sheet_of([[*HEADER, "Remarks"], [*ROW, "old new"]])
    sheet = with_facts(
        sheet, strikethrough=((2, 7, "old", "new"), (1, QTY, "Pcs", "Qty")), hidden_by_merge=((2, 7), (1, QTY))
    )
    assert told(run(ORDERS + "ignore: [Remarks]\n", sheet)) == []


def test_a_value_under_merged_cells_is_not_sent() -> None:
    found = run(ORDERS, with_facts(orders("2", "7"), merged=((2, QTY, 3, QTY),), hidden_by_merge=((3, QTY),)))
    assert told(found) == [("F3", "item_quantity|covered")]
    assert 'nobody can see its "7"' in found.issues[0].reason
    assert [document.rows for document in found.documents] == [(2,)]


def test_both_are_found_on_the_lines_of_a_parted_row_and_on_a_second_sheet() -> None:
    parted = ORDERS + 'lines_from: {split: [SKU, Qty], on: ["|"]}\n'
    rows = sheet_of([HEADER, [*ROW[:4], "tea|milk", "2|1221"]])
    for doubt in ({"strikethrough": ((2, QTY, "12", "21"),)}, {"hidden_by_merge": ((2, QTY),)}):
        assert {cell for cell, _ in told(run(parted, with_facts(rows, **doubt)))} == {"F2"}  # type: ignore[arg-type]

    joined = ORDERS.replace("lines:", "lines_sheet: {name: Items, key: [Order No]}\nlines:")
    first = sheet_of([HEADER[:4], ROW[:4]], name="Orders")
    second = sheet_of([["Order No", "SKU", "Qty"], ["A1", "tea", "2"], ["A1", "milk", "1221"]], name="Items")
    for doubt in ({"strikethrough": ((3, 3, "12", "21"),)}, {"hidden_by_merge": ((3, 3),)}):
        found = run(joined, first, with_facts(second, **doubt))  # type: ignore[arg-type]
        assert [(issue.sheet, issue.cell) for issue in found.issues] == [("Items", "C3")]
        assert isinstance(found.rows, pl.DataFrame) and not found.documents
