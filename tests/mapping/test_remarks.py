"""Rows of words below the table, and of units below the header: skipped where they can be nothing else."""

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, order, orders, run, sheet_of, states
from support.issues import reasons

from logistics_batch.model.sheet import Sheet

LIST = """
operation: asn.create
key: file
fields: {invoice_number: {cell: B1}, supplier_name: {constant: Ludhiana Hosiery Mills}, site: {constant: GGN-1}}
lines:
  sku_name: {from: Art. No.}
  qty: {from: Qty/Ctn, read: {suffix: {PCS: 1, DOZ: 12}}}
  maximum_retail_price: {from: MRP}
ignore: [S.No, Particulars]
"""
LIST_HEADER = ["S.No", "Art. No.", "Particulars", "Qty/Ctn", "MRP"]
FILLED = ORDERS + "sheet: {fill_down: [Order No, Name, Phone, Address]}\n"
BLANK = [""] * 5


def packing_list(*below: list[str]) -> Sheet:
    """A packing list of two lines with its invoice number above, its total, and what stands below."""
    table = [["1", "LHM-300", "Cap 0", "24 PCS", "349"], ["2", "LHM-304", "Vest", "2 DOZ", "349"]]
    return sheet_of([["Invoice No", "LHM/0774"], LIST_HEADER, *table, ["", "TOTAL", "", "48 PCS", ""], [], *below])


def test_one_line_below_a_packing_list_does_not_hold_all_of_it() -> None:
    received = ["Received the above goods in good condition", "", "", "For Ludhiana Hosiery Mills", ""]
    found = run(LIST, packing_list(received))
    assert [state.split()[0] for state in states(found).values()] == ["skipped", "ready", "ready", *["skipped"] * 3]
    assert (len(found.documents), reasons(found.rows)[-1]) == (1, "The row is a note below the table.")


@pytest.mark.parametrize(
    "cells",
    [
        ["", "Received the above goods in good condition", "", "", ""],
        ["Received the above goods in good condition", "", "", "24 PCS", ""],
        ["Received the above goods", "LHM-9", "", "", ""],
        ["", "", "", "To follow", ""],
    ],
    ids=["in place of goods", "with a quantity", "with goods", "two words"],
)
def test_what_may_be_a_line_of_the_packing_list_is_still_asked_about(cells: list[str]) -> None:
    assert "invalid" in states(run(LIST, packing_list(cells))).values()


@pytest.mark.parametrize("mapping", [ORDERS, FILLED], ids=["each row with its key", "filled down"])
@pytest.mark.parametrize(
    "note",
    ["E. & O. E. Balance qty will follow by road.", "Downloaded from seller panel on 29-11-2026 18:02"],
)
def test_a_sentence_in_place_of_a_key_below_the_last_order_is_no_order(mapping: str, note: str) -> None:
    found = orders(ROW, order(Order_No="A2"), ["Grand Total", *BLANK[:4], "4"], [], [note, *BLANK], mapping=mapping)
    assert list(states(found).values()) == ["ready", "ready", "skipped total", "skipped blank", "skipped comment"]


@pytest.mark.parametrize(
    "cells",
    [
        ["A3", *BLANK],
        ["Thank you", *BLANK],
        ["Shree Balaji Traders", *BLANK],
        ["", "Deliver it to the gate keeper please", *BLANK[:4]],
        ["", "", "", "12 Lake View Road, behind the old temple", "", ""],
        ["", "", "", "", "Steel bottle with cap and sleeve", ""],
        ["A3", "Deliver it to the gate keeper please", *BLANK[:4]],
        ["E. & O. E. Balance qty will follow by road.", "", "", "", "", "7"],
    ],
)
def test_a_row_that_lacks_what_an_order_needs_and_may_be_one_stays_invalid(cells: list[str]) -> None:
    assert states(orders(ROW, cells))[3].split()[0] == "invalid"


def test_a_sentence_between_rows_and_a_key_of_many_words_are_no_notes() -> None:
    note = ["Goods below are sent by road tomorrow", *BLANK]
    assert states(orders(ROW, note, order(Order_No="A2")))[3] == "invalid"
    named = order(Order_No="The four words of a long key")
    assert states(orders(named, ["Another key with some words", *BLANK]))[3] == "invalid"


def test_units_in_brackets_right_below_the_header_are_no_order() -> None:
    units = ["", "", "", "", "(name)", "(pcs)"]
    found = orders(units, ROW)
    assert states(found) == {2: "skipped comment", 3: "ready"}
    assert reasons(found.rows)[0] == "The row holds the units of the columns."


@pytest.mark.parametrize(
    "units", [["", "", "", "", "", "(pcs)"], ["", "", "", "", "(2)", "(pcs)"], ["A1", *BLANK[:4], "(pcs)"]]
)
def test_a_row_in_which_something_else_stands_is_no_row_of_units(units: list[str]) -> None:
    assert states(orders(units, ROW))[2] == "invalid"
    assert states(orders(ROW, ["", "", "", "", "(name)", "(pcs)"]))[3] == "invalid"
    assert HEADER
