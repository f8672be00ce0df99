"""Checks beside the fields' own rules: which cells they look at, and what they leave alone."""

import pytest
from mapping.sheets import rules, run, sheet_of, states

from logistics_batch.errors import FileHeld
from logistics_batch.model.sheet import CellFact

NOTICES = """
operation: asn.create
sheet: {fill_down: [Invoice, Due]}
key: [Invoice]
fields:
  invoice_number: {from: Invoice, required: true}
  supplier_name: {constant: Suvarna}
  site: {constant: BLR}
  delivery_date: {from: Due, read: {date: "%d/%m/%Y"}}
lines:
  sku_name: {from: SKU, required: true}
  qty: {from: Qty, read: integer, required: true}
"""
ROWS = [["Invoice", "Due", "SKU", "Qty"], ["A1", "2026-11-05", "tea", "2"], ["", "", "mug", "1"]]


def test_a_true_date_filled_down_is_not_mixed_with_itself() -> None:
    """A merged cell has its mark on the first row only: the rows below are not dates that somebody typed."""
    assert states(run(NOTICES, sheet_of(ROWS, types=[(2, 2, CellFact.DATE)]))) == {2: "ready", 3: "ready"}


def test_goods_left_blank_are_a_total_only_where_they_are_the_sum_of_several_rows() -> None:
    rows = [*ROWS, ["", "", "", "3"], ["A2", "2026-11-05", "tea", "1"], ["", "", "", "1"]]
    told = run(NOTICES, sheet_of(rows)).issues
    assert [(issue.cell, issue.code) for issue in told] == [("C4", "required.sum"), ("C6", "required")]


def test_a_date_typed_below_a_true_one_still_holds_the_file() -> None:
    rows = [*ROWS, ["A2", "13/11/2026", "tea", "1"]]
    with pytest.raises(FileHeld) as caught:
        run(NOTICES, sheet_of(rows, types=[(2, 2, CellFact.DATE)]))
    assert caught.value.rule == "delivery_date|mixed_dates"
    assert "(rows 4)" in caught.value.message


@pytest.mark.parametrize(
    ("dues", "held"),
    [
        (["11/24/2026", "05/06/2027"], True),  # nothing shows that the second one is not the 6th of May
        (["11/24/2026", "05/06/2027", "24/11/2026"], False),  # one slip: the column is written as agreed
        (["11/24/2026", "05/05/2027"], False),  # the same both ways
        (["24/11/2026", "05/06/2027"], False),
    ],
)
def test_a_column_written_month_first_is_not_read_day_first(dues: list[str], held: bool) -> None:
    rows = [ROWS[0], *([f"A{n}", due, "tea", "2"] for n, due in enumerate(dues, 1))]
    try:
        run(NOTICES, sheet_of(rows))
    except FileHeld as caught:
        assert held
        assert caught.rule == "delivery_date|swapped_dates"
        assert "rows 2" in caught.message
    else:
        assert not held


@pytest.mark.parametrize("others", ['"%d-%b-%Y"', '"%Y-%m-%d"', '"%d.%m.%y", "%F"'])
def test_a_format_that_cannot_be_mistaken_does_not_switch_that_check_off(others: str) -> None:
    mapping = NOTICES.replace('"%d/%m/%Y"', f'["%d/%m/%Y", {others}]')
    rows = [ROWS[0], ["A1", "11/24/2026", "tea", "2"], ["A2", "05/06/2027", "tea", "2"]]
    with pytest.raises(FileHeld) as caught:
        run(mapping, sheet_of(rows))
    assert caught.value.rule == "delivery_date|swapped_dates"


def test_formats_of_both_orders_say_nothing_of_day_and_month() -> None:
    mapping = NOTICES.replace('"%d/%m/%Y"', '["%d/%m/%Y", "%m-%d-%Y"]')
    found = run(mapping, sheet_of([ROWS[0], ["A1", "11-24-2026", "tea", "2"], ["A2", "05/06/2027", "tea", "2"]]))
    assert states(found) == {2: "ready", 3: "ready"}


def test_a_supplier_that_is_named_nowhere_is_told_at_a_cell_for_it_and_not_at_the_invoice() -> None:
    mapping = NOTICES.replace("{constant: Suvarna}", "{from: Party}\n  supplier: {from: Code}")
    found = run(mapping, sheet_of([[*ROWS[0], "Party", "Code"], ["A1", "2026-11-05", "tea", "2", "", ""]]))
    assert rules(found) == [("F2", "supplier_or_supplier_name|contract")]


def test_packages_said_twice_are_told_at_the_number_of_packages() -> None:
    mapping = """\
operation: order.create
key: [Order]
fields: {reference_number: {from: Order}, customer_mobile: {from: Phone}, delivery_address: {from: Address},
  packages_count: {from: Packs}}
lines: {item_name: {from: SKU}, package_id: {from: Pack}}
"""
    rows = [["Order", "Phone", "Address", "Packs", "SKU", "Pack"], ["A1", "9876543210", "12 MG Road", "2", "tea", "P1"]]
    assert rules(run(mapping, sheet_of(rows))) == [("D2", "packages_count_and_package_id|contract")]
