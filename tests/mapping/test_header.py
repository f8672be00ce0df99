"""Which row is the header, which sheet is meant, which column is which."""

from dataclasses import replace

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, notes_in, order, orders, run, sheet_of, states
from support.cell_facts import with_facts

from logistics_batch.errors import FileHeld
from logistics_batch.mapping.spec.names import ColumnName, names_match


def held(*rows: list[str], mapping: str = ORDERS) -> FileHeld:
    with pytest.raises(FileHeld) as caught:
        run(mapping, sheet_of(rows))
    return caught.value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Order No", "ORDER NO."),
        ("Order No", "*Order_No"),
        ("Order No", "**order-no"),
        ("Order No", "\ufeffOrder\u00a0No"),
        ("Order No", "Order\nNo"),
        ("Order No", "ＯＲＤＥＲ Ｎｏ"),
        ("#", " # "),
        ("मोबाइल", "मोबाइल *"),
    ],
)
def test_names_are_compared_as_people_read_them(one: str, other: str) -> None:
    assert ColumnName.of(one).identity == ColumnName.of(other).identity


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("Qty (Pcs)", "Qty", True),
        ("Email (Optional)", "Email", True),
        ("Amount (INR)", "Amount (Rs)", True),
        ("Weight (g)", "Weight", True),
        ("Weight (g)", "Weight (kg)", False),
        ("#", "*", False),
    ],
)
def test_trailing_brackets_do_not_matter_unless_they_hold_another_unit(one: str, other: str, equal: bool) -> None:
    assert names_match(ColumnName.of(one), ColumnName.of(other)) is equal


def test_a_name_that_normalises_to_nothing_matches_literally() -> None:
    assert states(orders(ROW, header=["#", *HEADER[1:]])) == {2: "ready"}
    assert "missing" in str(held(["%", *HEADER[1:]], ROW))


def test_a_bracket_counts_where_two_columns_differ_only_in_it() -> None:
    mapping = ORDERS.replace("from: Qty,", "from: Qty (Pcs),")
    header = [*HEADER[:5], "Qty (Pcs)", "Qty (Box)"]
    mapped = orders([*ROW, "7"], header=header, mapping=mapping)
    assert '"item_quantity":2' in mapped.documents[0].body
    assert '"item_quantity"' not in orders([*ROW, "7"], header=header).documents[0].body


SHIP_TO = """
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No}
  customer_name: {from: Ship To}
  delivery_address: {from: "Ship To, column 2"}
  customer_mobile: {from: "Ship To, column 3"}
lines:
  item_name: {from: SKU}
  item_quantity: {from: Qty}
ignore: ["Qty, column 2"]
"""
NAMELESS = ["Order No", "Ship To", "", "", "SKU", "Qty", ""]
SHIPPED_TO = ["A1", "Asha", "12 MG Road, Pune", "9876543210", "tea", "2", "urgent"]


@pytest.mark.parametrize("before", [[], ["Sr"], ["Sr", ""]])
def test_a_column_without_a_name_is_called_by_the_next_name_on_its_left(before: list[str]) -> None:
    rows = [[*before, *NAMELESS], [*("1" for _ in before), *SHIPPED_TO], [*before, *NAMELESS]]
    mapped = run(SHIP_TO, sheet_of(rows))
    assert states(mapped) == {2: "ready", 3: "skipped repeated header"}
    assert '"customer_mobile":"9876543210","delivery_address":"12 MG Road, Pune"' in mapped.documents[0].body
    unknown = ['"Sr"', '"Sr, column 2"'][: len(before)]
    told = f"Columns that the mapping does not know were not used: {', '.join(unknown)}."
    assert notes_in(mapped) == ((told,) if before else ())


@pytest.mark.parametrize(
    ("cells", "told"), [(("", "gift"), '"Qty, column 3"'), (("x", ""), '"Qty, column 2"'), (("", " "), "")]
)
def test_a_new_column_without_a_name_is_told_like_one_with_a_name(cells: tuple[str, str], told: str) -> None:
    """It may be what the client was asked for, such as a delivery date; blank ones are none."""
    mapped = run(ORDERS, sheet_of([[*HEADER, "", ""], [*ROW, *cells], ["Total", *[""] * 5, "x", "y"]]))
    expected = f"Columns that the mapping does not know were not used: {told}."
    assert notes_in(mapped) == ((expected,) if told else ())


def test_a_wrong_cell_of_a_column_without_a_name_is_told_by_what_it_is_called() -> None:
    (issue,) = run(SHIP_TO, sheet_of([NAMELESS, [*SHIPPED_TO[:3], "98765", *SHIPPED_TO[4:]]])).issues
    assert (issue.cell, issue.column) == ("D2", "Ship To, column 3")


def test_a_column_without_a_name_that_is_gone_holds_the_file() -> None:
    assert '"Ship To, column 3" is missing' in str(
        held([*NAMELESS[:3], *NAMELESS[4:]], [*SHIPPED_TO[:3], *SHIPPED_TO[4:]], mapping=SHIP_TO)
    )


def test_the_row_with_most_of_the_mappings_columns_is_the_header() -> None:
    mapped = run(ORDERS, sheet_of([["Order No", "Phone", "Address", "SKU"], HEADER, ROW]))
    assert mapped.header_row == 2
    assert states(mapped) == {1: "skipped title", 3: "ready"}


def test_a_tie_between_different_rows_holds_the_file_and_names_them() -> None:
    other = ["Order Id", *HEADER[1:]]
    assert str(held(HEADER, other, ROW)) == "The file: the rows 1, 2 could each be the header row."


def test_blank_rows_above_the_header_do_not_count() -> None:
    found = run(ORDERS, sheet_of([*([[""] * len(HEADER)] * 900), HEADER, ROW]))
    assert (found.header_row, found.rows["state"].to_list()[-1]) == (901, "ready")


def test_the_header_may_be_given_by_its_number() -> None:
    mapping = ORDERS + "sheet: {header: 2}\n"
    other = ["Order Id", *HEADER[1:]]
    assert states(run(mapping, sheet_of([other, HEADER, ROW]))) == {1: "skipped title", 3: "ready"}
    assert "No header row was found in row 2" in str(held(HEADER, ROW, mapping=mapping))


def test_a_missing_required_column_holds_the_file_with_what_was_found_and_what_may_be_meant() -> None:
    error = held(["Order No", "Name", "Phnoe", "Address", "SKU", "Qty"], ROW)
    assert str(error) == (
        'The file: the required column "Phone" is missing; row 1, which looks most like a header, has "Order No", '
        '"Name", "Phnoe", "Address", "SKU", "Qty".'
    )
    assert (
        error.remedy
        == 'Is "Phnoe" meant as "Phone"? Rename the column, or ask the operator to add its name to the mapping.'
    )


def test_what_the_service_demands_is_required_without_being_said() -> None:
    assert '"Address" is missing' in str(held(["Order No", "Name", "Phone", "SKU", "Qty"], ROW))


def test_a_mapped_column_that_stands_twice_holds_the_file() -> None:
    assert 'has the column "Phone" more than once' in str(held([*HEADER, "PHONE *"], [*ROW, "1"]))


def test_an_unmapped_column_may_stand_twice() -> None:
    assert states(orders([*ROW, "x", "y"], header=[*HEADER, "Colour", "Colour"])) == {2: "ready"}


def test_the_first_alias_that_is_there_is_taken_and_aliases_that_read_alike_count_once() -> None:
    mapping = ORDERS.replace('"Order Id"', '"ORDER  NO.", "Order Id"')
    mapped = orders([*ROW, "B9"], header=[*HEADER, "Order Id"], mapping=mapping)
    assert mapped.documents[0].key == "A1"
    assert notes_in(mapped) == ('Columns were not used because another name came first: "Order Id".',)


def test_a_first_alias_stands_for_all_aliases_in_key_and_rules() -> None:
    mapping = ORDERS + "sheet: {skip_rows_where: {Order No: TOTAL}, fill_down: [Order No, Name, Phone, Address]}\n"
    header = ["Order Id", *HEADER[1:]]
    mapped = orders(ROW, ["", "", "", "", "jug", "1"], ["TOTAL"], header=header, mapping=mapping)
    assert states(mapped) == {2: "ready", 3: "ready", 4: "skipped skip_rows_where"}


def test_a_repeated_header_is_no_tie() -> None:
    assert run(ORDERS, sheet_of([HEADER, ROW, HEADER])).header_row == 1


def test_the_sheet_whose_header_fits_is_taken() -> None:
    mapped = run(ORDERS, sheet_of([["How to fill this"]], name="Notes"), sheet_of([HEADER, ROW], name="Orders"))
    assert mapped.sheet == "Orders"


@pytest.mark.parametrize("more", [[], ["Order Id"]])
def test_several_sheets_with_orders_hold_the_file_however_well_each_fits(more: list[str]) -> None:
    with pytest.raises(FileHeld, match='The sheets "North", "South" all have the columns'):
        run(ORDERS, sheet_of([HEADER, ROW], name="North"), sheet_of([[*HEADER[:5], *more], ROW[:5]], name="South"))


def test_of_many_sheets_that_fit_the_first_are_named() -> None:
    sheets = [replace(sheet_of([HEADER, ROW]), name=f"Day {number}") for number in range(1, 9)]
    with pytest.raises(FileHeld, match='"Day 5" and 3 more all have the columns'):
        run(ORDERS, *sheets)


def test_every_other_sheet_is_named_with_its_rows_and_why_it_was_not_read() -> None:
    others = [
        sheet_of([["Ref", *HEADER[1:4]], ROW[:4], ROW[:4]], name="Customers"),
        sheet_of([["how to fill"]], name="Help"),
        sheet_of([HEADER], name="Template"),
    ]
    assert notes_in(run(ORDERS, sheet_of([HEADER, ROW], name="Monday"), *others)) == (
        'Sheet "Customers", 3 rows, was not read: it has no columns "Order No", "SKU".',
        'Sheet "Help", 1 row, was not read: it has no columns "Order No", "Phone", "Address", "SKU".',
        'Sheet "Template", 0 rows, was not read: it has a header only.',
    )


def test_a_sheet_that_lacks_one_column_only_holds_the_file_for_its_rows_would_get_no_answer() -> None:
    tuesday = sheet_of([[*HEADER[:4], "Product", "Qty"], ROW, ROW], name="Tuesday")
    with pytest.raises(FileHeld, match='The sheet "Tuesday" has rows and all columns but "SKU"'):
        run(ORDERS, sheet_of([HEADER, ROW], name="Monday"), tuesday)


@pytest.mark.parametrize(
    "rows", [[[*HEADER[:4], "Product", "Qty"]], [[*HEADER[:4], "City"], ROW], [["SKU", "Sum"], ["tea", "2"]]]
)
def test_forms_customers_and_pivots_beside_the_orders_stop_nobody(rows: list[list[str]]) -> None:
    assert run(ORDERS, sheet_of([HEADER, ROW], name="Monday"), sheet_of(rows, name="Other")).documents


def test_a_repeated_header_with_other_blanks_is_the_header_again() -> None:
    header = ["Order\nNo", *HEADER[1:5], "Qty\n(pcs)"]
    again = ["ORDER  NO.", *HEADER[1:5], "qty (Pcs)"]
    assert states(orders(ROW, again, header=header)) == {2: "ready", 3: "skipped repeated header"}


def test_no_sheet_that_fits_names_what_the_best_one_lacks() -> None:
    best = sheet_of([HEADER[:4], ROW[:4]], name="Orders")
    with pytest.raises(FileHeld, match='Sheet "Orders": the required column "SKU" is missing') as caught:
        run(ORDERS, sheet_of([["x"]], name="Notes"), best)
    assert caught.value.rule == "header"


def test_without_anything_like_a_header_the_wanted_columns_are_named() -> None:
    assert 'none has the columns "Order No", "Phone"' in str(held(["1", "2"], ["3", "4"]))


def test_a_row_of_data_that_holds_a_column_s_word_is_no_header() -> None:
    """Neither are its cells shown, nor is one of them taken for a misspelt header."""
    error = held(["A1", "Asha", "9876543210", "Name", "Phoen", "2", "x", "y"], ROW)
    assert error.message.startswith("No header row was found in the first 30 rows")
    assert "Phoen" not in str(error) + error.remedy and "Asha" not in str(error)


def test_an_ignored_column_is_not_reported() -> None:
    mapping = ORDERS + "ignore: [Remarks]\n"
    mapped = orders([*ROW, "fragile"], header=[*HEADER, "Remarks"], mapping=mapping)
    assert notes_in(mapped) == ()


CONSIGNEE = """
operation: order.create
key: [Order No]
sheet: {header_rows: 2}
fields:
  reference_number: {from: Order No, required: true}
  customer_name: {from: Consignee Name}
  customer_mobile: {from: Consignee Phone, read: mobile}
  delivery_address: {from: Address}
lines:
  item_name: {from: Item SKU, required: true}
  item_quantity: {from: Item Qty, read: integer}
"""
ABOVE = ["Order No", "Consignee", "", "Address", "Item", ""]
BELOW = ["", "Name", "Phone", "", "SKU", "Qty"]
TWO_ROW_ORDER = ["A1", "Asha", "9876543210", "12 MG Road", "tea", "2"]


@pytest.mark.parametrize(
    "merged",
    [(), ((2, 1, 3, 1), (2, 2, 2, 3), (2, 4, 3, 4), (2, 5, 2, 6))],
    ids=["text file", "merged cells"],
)
def test_names_that_run_over_two_rows_are_joined_if_the_mapping_says_so(merged) -> None:
    sheet = with_facts(sheet_of([["Acme"], ABOVE, BELOW, TWO_ROW_ORDER]), merged=merged)
    mapped = run(CONSIGNEE, sheet)
    assert states(mapped) == {1: "skipped title", 2: "skipped title", 4: "ready"}
    assert (mapped.header_row, mapped.columns[1:3]) == (3, ("Consignee Name", "Consignee Phone"))
    assert '"customer_mobile":"9876543210"' in mapped.documents[0].body
    with pytest.raises(FileHeld):
        run(CONSIGNEE.replace("sheet: {header_rows: 2}\n", ""), sheet)


def test_what_we_said_above_our_columns_is_none_of_their_names() -> None:
    above = [*ABOVE, "skipped", "The row stands above the header."]
    below = [*BELOW, "Status", "Reason", "What to do"]
    mapped = run(CONSIGNEE, sheet_of([above, below, TWO_ROW_ORDER]))
    assert [note.code for note in mapped.notes] == ["columns.own"]
    assert len(mapped.documents) == 1


def test_names_over_two_rows_may_stand_again_on_each_page() -> None:
    other = ["A2", *TWO_ROW_ORDER[1:]]
    mapped = run(CONSIGNEE, sheet_of([ABOVE, BELOW, TWO_ROW_ORDER, [], ["Page 2"], ABOVE, BELOW, other]))
    again = "skipped repeated header"
    assert states(mapped) == {
        1: "skipped title", 3: "ready", 4: "skipped blank", 5: "invalid", 6: again, 7: again, 8: "ready",
    }  # fmt: skip
    moved = ["Order No", "Address", "Consignee", "", "Item", ""]
    with pytest.raises(FileHeld, match="could each be the header row"):
        run(CONSIGNEE, sheet_of([ABOVE, BELOW, TWO_ROW_ORDER, moved, ["", "", *BELOW[1:3], *BELOW[4:]], other]))


def test_a_merged_name_reaches_no_farther_than_its_cell() -> None:
    above = ["", "Consignee", "", "", "", ""]
    below = ["Order No", "Name", "Phone", "Address", "Item SKU", "Item Qty"]
    sheet = with_facts(sheet_of([above, below, TWO_ROW_ORDER]), merged=((1, 2, 1, 3),))
    names = ("Order No", "Consignee Name", "Consignee Phone", "Address", "Item SKU", "Item Qty")
    assert run(CONSIGNEE, sheet).columns == names


def test_a_sheet_with_one_row_of_names_is_read_all_the_same() -> None:
    names = ["Order No", "Consignee Name", "Consignee Phone", "Address", "Item SKU", "Item Qty"]
    mapped = run(CONSIGNEE, sheet_of([["Acme Warehousing"], names, TWO_ROW_ORDER]))
    assert states(mapped) == {1: "skipped title", 3: "ready"}


LARGER = [*HEADER, "Rate"]
WITH_RATE = ORDERS + "  item_price_per_each: {from: Rate, read: money}\n"


def test_rows_between_two_headers_are_never_taken_for_titles() -> None:
    """Yesterday's list pasted above today's, which has a column more."""
    error = held(HEADER, ROW, [], LARGER, [*ROW, "9"], mapping=WITH_RATE)
    assert str(error) == "The file: the rows 1, 4 could each be the header row."
    titles = [["Acme Warehousing"], HEADER, [], ["Evening"], LARGER, [*ROW, "9"]]
    assert run(WITH_RATE, sheet_of(titles)).header_row == 5


@pytest.mark.parametrize(
    "second",
    [
        ["Order No", "Name", "Phone", "Address", "Qty", "SKU"],
        ["Order No", "Name", "Phone", "Address", "SKU", "MRP"],
        ["Order No", "Name", "Phone", "Address", "SKU", "Qty", "Rate"],
        ["Phone", "Address", "SKU", "Pack", "QTY", "order no."],
    ],
    ids=["two changed over", "another name", "one more", "all elsewhere"],
)
def test_a_second_table_below_the_first_holds_the_file(second: list[str]) -> None:
    error = held(HEADER, ROW, *[ROW] * 40, second, ROW, mapping=WITH_RATE)
    assert str(error) == (
        "The file: row 43 below the header row 1 names other columns, or in other places: a second table begins there."
    )
    assert error.rule == "header|second_table"


def test_a_repeated_header_may_have_a_bracket_more() -> None:
    again = [*HEADER[:5], "Qty (Pcs)"]
    assert states(orders(ROW, again, order(Qty="3"))) == {2: "ready", 3: "skipped repeated header", 4: "ready"}
    boxes = [*HEADER[:5], "Qty (Box)"]
    assert held([*HEADER[:5], "Qty (Pcs)"], ROW, boxes, ROW).rule == "header|second_table"


def test_words_of_the_header_in_a_row_of_data_are_data() -> None:
    odd = order(Order_No="A2", Name="Name", Address="Address, Phone, SKU", SKU="SKU", Qty="two")
    assert states(orders(ROW, odd, order(Order_No="A3", Phone="Phone", Qty="none"))) == {
        2: "ready",
        3: "invalid",
        4: "invalid",
    }


def test_the_header_is_looked_for_in_the_first_thirty_filled_rows() -> None:
    titles = [[""], *(row for number in range(1, 30) for row in ([f"Note {number}"], [""]))]
    mapped = run(ORDERS, sheet_of([*titles, HEADER, ROW]))
    assert (mapped.header_row, len(mapped.documents)) == (len(titles) + 1, 1)
    said = held(*titles, ["Note 30"], HEADER, ROW)
    assert "No header row was found in the first 30 rows" in str(said)
