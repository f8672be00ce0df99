"""Repairs of cells are told with cell, what was there and what it is now; of many how many; of people nothing."""

import pytest
from mapping.sheets import ORDERS, ROW, order, orders, run, sheet_of
from mapping.test_lines_from import PATTERN


def test_a_few_repairs_are_told_one_by_one() -> None:
    found = orders(order(Order_No="'75008"), ROW, order(Order_No="1001.0"), order(Order_No="7\u200b1"))
    told = """A2 ("'75008" is 75008), A4 ("1001.0" is 1001), A5 ("7\\x200b1" is 71)"""
    assert found.notes == (f'Column "Order No": repaired without loss: {told}.',)


def test_many_repairs_are_one_line_with_their_count_and_the_first() -> None:
    rows = [order(Order_No=f"{number}.0") for number in range(1001, 2101)]
    told = '1,100 cells were repaired without loss; the first is A2 ("1001.0" is 1001)'
    assert orders(*rows).notes == (f'Column "Order No": {told}.',)
    names = dict.fromkeys(["Order_No", "Name", "Address", "SKU"], "x\u200by")
    (note,) = orders(*[order(**names)] * 20, mapping=ORDERS + "checks: {equal_rows: allow}\n").notes
    columns = '"Order No", "Name", "Address", "SKU"'
    assert note == f"80 cells were repaired without loss in the columns {columns}; the first is A2."


@pytest.mark.parametrize(("column", "cell"), [("Name", "B2"), ("Phone", "C2"), ("Address", "D2")])
def test_of_people_no_value_is_told(column: str, cell: str) -> None:
    text = {"Phone": "'9876543210"}.get(column, "Asha\u200b 9")
    found = orders(order(**{column: text}))
    assert found.notes == (f'Column "{column}": repaired without loss: {cell}.',)
    by_name = ORDERS.replace("key: [Order No]", "key: [Order No, Name]")
    assert orders(order(Name="Asha  Rao"), mapping=by_name).notes == ('Column "Name": repaired without loss: B2.',)


def test_blanks_at_the_ends_of_cells_are_no_news() -> None:
    assert orders([f" {cell}\u00a0" for cell in ROW]).notes == ()


def test_repairs_in_a_row_of_several_items_name_the_row() -> None:
    header = ["Order No", "Phone", "Address", "Items"]
    rows = [["A1", "9876543210", "x", "tea x 2; rice x 1"], ["A2", "9876543210", "x y\u200b z", "tea x 1"]]
    assert run(PATTERN, sheet_of([header, *rows])).notes == ('Column "Address": repaired without loss: in row 3.',)
