"""Repairs of cells are told with cell, what was there and what it is now; of many how many; of people nothing."""

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, notes_in, order, orders, rules, run, sheet_of
from mapping.test_lines_from import PATTERN


def test_a_few_repairs_are_told_one_by_one() -> None:
    found = orders(order(Order_No="'75008"), ROW, order(Order_No="1001.0"), order(Order_No="7\u200b1"))
    told = """A2 ("'75008" is 75008), A4 ("1001.0" is 1001), A5 ("7\\x200b1" is 71)"""
    assert notes_in(found) == (f'Column "Order No": repaired without loss: {told}.',)


def test_many_repairs_are_one_line_with_their_count_and_the_first() -> None:
    rows = [order(Order_No=f"{number}.0") for number in range(1001, 2101)]
    told = '1,100 cells were repaired without loss; the first is A2 ("1001.0" is 1001)'
    assert notes_in(orders(*rows)) == (f'Column "Order No": {told}.',)
    names = dict.fromkeys(["Order_No", "Name", "Address", "SKU"], "x\u200by")
    (note,) = notes_in(orders(*[order(**names)] * 20, mapping=ORDERS + "checks: {equal_rows: allow}\n"))
    columns = '"Order No", "Name", "Address", "SKU"'
    assert note == f"80 cells were repaired without loss in the columns {columns}; the first is A2."


@pytest.mark.parametrize(("column", "cell"), [("Name", "B2"), ("Phone", "C2"), ("Address", "D2")])
def test_of_people_no_value_is_told(column: str, cell: str) -> None:
    text = {"Phone": "'9876543210"}.get(column, "Asha\u200b 9")
    found = orders(order(**{column: text}))
    assert notes_in(found) == (f'Column "{column}": repaired without loss: {cell}.',)
    by_name = ORDERS.replace("key: [Order No]", "key: [Order No, Name]")
    assert notes_in(orders(order(Name="Asha  Rao"), mapping=by_name)) == ('Column "Name": repaired without loss: B2.',)


def test_of_a_column_that_is_ignored_nothing_is_told_also_where_a_rule_looks_at_it() -> None:
    mapping = ORDERS + "sheet: {skip_rows_where: {Remark: TOTAL}}\nignore: [Remark]\n"
    assert notes_in(orders([*ROW, "x\u200by"], mapping=mapping, header=[*HEADER, "Remark"])) == ()


def test_blanks_at_the_ends_of_cells_are_no_news() -> None:
    assert notes_in(orders([f" {cell}\u00a0" for cell in ROW])) == ()


def test_repairs_in_a_row_of_several_items_name_the_row() -> None:
    header = ["Order No", "Phone", "Address", "Items"]
    rows = [["A1", "9876543210", "x", "tea x 2; rice x 1"], ["A2", "9876543210", "x y\u200b z", "tea x 1"]]
    assert notes_in(run(PATTERN, sheet_of([header, *rows]))) == ('Column "Address": repaired without loss: in row 3.',)


@pytest.mark.parametrize(
    ("column", "written", "means"),
    [
        ("Phone", "९८७६५ ४३२१०", "98765 43210"),
        ("Phone", "+९१-९८७६५४३२१०", "+91-9876543210"),
        ("PIN", "५६०००१", "560001"),
        ("PIN", "５６０００１", "560001"),
        ("Qty", "१२", "12"),
        ("Qty", "1२", "12"),
        ("Qty", "௧௨", "12"),
        ("Weight", "२.५ kg", "2.5 kg"),
    ],
)
def test_the_digits_of_other_scripts_are_read_as_what_they_are_and_told(column: str, written: str, means: str) -> None:
    pins = (
        "  delivery_postal_code: {from: PIN, read: pincode}\n  weight: {from: Weight, read: {unit: kg -> kg}}\nlines:"
    )
    mapping, header, good = ORDERS.replace("lines:", pins), [*HEADER, "PIN", "Weight"], [*ROW, "560002", "1"]
    plain, told = (
        run(
            mapping,
            sheet_of([header, [text if name == column else cell for name, cell in zip(header, good, strict=True)]]),
        )
        for text in (means, written)
    )
    assert [document.body for document in told.documents] == [document.body for document in plain.documents] != []
    assert f'Column "{column}": repaired without loss: ' in " ".join(notes_in(told))


def test_digits_of_other_scripts_stay_in_names_addresses_and_references() -> None:
    (document,) = orders(order(Order_No="अ-१२", Name="आशा २", Address="१२ गांधी रोड", SKU="चाय १")).documents
    assert all(text in document.body for text in ("अ-१२", "आशा २", "१२ गांधी रोड", "चाय १"))


def test_too_few_digits_of_another_script_are_no_pin_and_no_mobile() -> None:
    mapping = ORDERS.replace("lines:", "  delivery_postal_code: {from: PIN, read: pincode}\nlines:")
    found = run(mapping, sheet_of([[*HEADER, "PIN"], [*order(Phone="९८७६५४३२१"), "५६००१"]]))
    assert rules(found) == [("C2", "customer_mobile|mobile"), ("G2", "delivery_postal_code|pincode")]
