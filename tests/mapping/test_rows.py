"""Which rows are data, and that every row but the header stands once in the answer."""

import json
from dataclasses import replace

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, notes_in, order, orders, rules, run, sheet_of, states
from support.cell_facts import with_facts
from support.issues import reasons

from logistics_batch.errors import FileHeld
from logistics_batch.model.document import MappedFile
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import CellFact

FILLED = ORDERS + "sheet: {fill_down: [Order No, Name, Phone, Address]}\n"
WITH_QUANTITY = FILLED.replace("read: integer}", "read: integer, required: true}")


def test_titles_blanks_totals_comments_and_repeated_headers_are_skipped_with_their_rule() -> None:
    mapped = run(
        ORDERS,
        sheet_of(
            [
                ["Acme Warehousing"],
                [],
                HEADER,
                ROW,
                [" ", "\u00a0"],
                HEADER,
                ["; packed by night shift"],
                ["Grand Total", "", "", "", "", "12"],
                ["", "", "", "", "", "", "signature"],
            ]
        ),
    )
    assert states(mapped) == {
        1: "skipped title",
        2: "skipped blank",
        4: "ready",
        5: "skipped blank",
        6: "skipped repeated header",
        7: "skipped comment",
        8: "skipped total",
        9: "skipped comment",
    }
    assert mapped.header_row == 3


def test_an_order_that_is_called_total_is_an_order() -> None:
    assert states(orders(order(Order_No="TOTAL"))) == {2: "ready"}


def test_a_row_without_key_but_with_values_is_invalid() -> None:
    mapped = orders(order(Order_No=""), ROW)
    assert states(mapped) == {2: "invalid", 3: "ready"}
    assert rules(mapped) == [("A2", "key|required")]


def test_skip_rules_match_patterns_without_case_and_outer_blanks() -> None:
    mapping = ORDERS + 'sheet: {skip_rows_where: {Order No: ["sub?total *", "PREPARED*"]}}\n'
    mapped = orders(
        ROW,
        order(Order_No=" Sub-Total INV-1 "),
        order(Order_No="Prepared by R"),
        order(Order_No="Subtotal"),
        mapping=mapping,
    )
    assert states(mapped) == {2: "ready", 3: "skipped skip_rows_where", 4: "skipped skip_rows_where", 5: "ready"}
    assert reasons(mapped.rows)[1] == '"Sub-Total INV-1" in "Order No": the mapping skips such rows.'


def test_a_pattern_of_many_stars_takes_no_longer_than_others() -> None:
    """An engine that tries every way to fit it would not come back from this."""
    mapping = ORDERS + f'sheet: {{skip_rows_where: {{Name: "{"*a" * 30}*b"}}}}\n'
    assert states(orders(order(Name="a" * 500), order(Order_No="A2", Name="a" * 500 + "b"), mapping=mapping)) == {
        2: "ready",
        3: "skipped skip_rows_where",
    }


def test_only_rows_that_fit_are_data_and_a_blank_fits_nothing() -> None:
    mapping = ORDERS + "sheet: {only_rows_where: {Status: [Ready, Packed]}}\n"
    header = [*HEADER, "Status"]
    mapped = orders([*ROW, "ready"], [*ROW, "Hold"], [*ROW, ""], [*ROW, "PACKED "], mapping=mapping, header=header)
    assert list(states(mapped).values()) == ["ready", "skipped only_rows_where", "skipped only_rows_where", "ready"]


def test_skip_rules_come_before_everything_that_could_be_wrong() -> None:
    mapping = ORDERS + "sheet: {skip_rows_where: {Order No: TOTAL}}\n"
    mapped = orders(ROW, ["TOTAL", "", "x", "", "", "#REF!"], mapping=mapping)
    assert states(mapped) == {2: "ready", 3: "skipped skip_rows_where"}


def test_fill_down_copies_within_a_block() -> None:
    mapped = orders(ROW, ["", "", "", "", "cup", "1"], ["", "", "", "", "jug", "4"], mapping=FILLED)
    assert states(mapped) == {2: "ready", 3: "ready", 4: "ready"}
    assert mapped.documents[0].rows == (2, 3, 4)
    assert mapped.documents[0].line_rows == (2, 3, 4)


@pytest.mark.parametrize(
    "between",
    [["A2", "Ravi", "9876543211", "1 Lake", "cup", "1"], [], ["; note"], HEADER],
    ids=["key", "blank", "skipped", "header"],
)
def test_fill_down_ends_at_the_next_key_and_at_a_blank_or_skipped_row(between: list[str]) -> None:
    mapped = orders(ROW, between, ["", "", "", "", "jug", "4"], mapping=FILLED)
    last = states(mapped)[4]
    if between and between[0] == "A2":
        assert last == "ready"
        assert mapped.documents[1].rows == (3, 4)
    else:
        assert last == "invalid"
        assert rules(mapped) == [("A4", "key|required")]


@pytest.mark.parametrize(
    ("head", "first", "others"),
    [
        (order(Address=""), ("D2", "delivery_address|required"), "blocked sibling"),
        (order(Phone="#N/A"), ("C2", "customer_mobile|error_value"), "blocked sibling"),
        (order(Phone="98765\n43210"), ("C2", "customer_mobile|several_values"), "blocked sibling"),
        (order(Order_No="A1\nA2"), ("A2", "reference_number|several_values"), "invalid"),
        (order(Order_No=""), ("A2", "key|required"), "invalid"),
    ],
)
def test_rows_that_are_filled_from_a_wrong_one_say_which_it_is_and_not_that_a_value_is_missing(
    head: list[str], first: tuple[str, str], others: str
) -> None:
    mapped = orders(head, ["", "", "", "", "cup", "1"], ["", "", "", "", "jug", "4"], mapping=FILLED)
    assert states(mapped) == {2: "invalid", 3: others, 4: others}
    assert rules(mapped)[0] == first
    assert [(issue.row, issue.given["row"]) for issue in mapped.issues[1:]] == [(3, 2), (4, 2)] * (others == "invalid")
    assert all("row 2" in issue.reason and "Correct row 2" in issue.fix for issue in mapped.issues[1:])


def test_a_document_below_which_goods_without_a_key_stand_is_not_sent_as_if_it_were_whole() -> None:
    """A printed page ends within an order: its last lines stand below the names that are printed again."""
    first = order(Order_No="A0")
    mapped = orders(
        first, ROW, HEADER, ["", "", "", "", "jug", "4"], ["", "", "", "", "mug", "1"], mapping=WITH_QUANTITY
    )
    assert states(mapped) == {
        2: "ready", 3: "blocked sibling", 4: "skipped repeated header", 5: "invalid", 6: "invalid",
    }  # fmt: skip
    assert reasons(mapped.rows)[1] == "The document is not sent: rows 5-6 are invalid."
    signed = orders(ROW, [], ["", "", "", "", "S. Rao, dock 3", ""], mapping=WITH_QUANTITY)
    of_its_own = orders(ROW, [], ["", "Ravi", "9876543211", "1 Lake", "jug", "4"], mapping=WITH_QUANTITY)
    assert states(signed)[2] == states(of_its_own)[2] == "ready"


@pytest.mark.parametrize(
    ("row", "first"),
    [
        (["", "", "", "", "rice", "3"], "blocked sibling"),
        (["", *ROW[1:4], "rice", "3"], "blocked sibling"),
        (["", "Ravi", "9876543211", "1 Lake", "rice", "3"], "ready"),
        (["", "", "", "", "", "3"], "ready"),
    ],
    ids=["goods alone", "the same person", "another person", "no goods"],
)
def test_goods_without_a_key_hold_the_order_above_back_though_nothing_is_filled_down(
    row: list[str], first: str
) -> None:
    """Rows grouped for the eye, or one forgotten cell: an order never goes out in half."""
    mapped = orders(ROW, row, order(Order_No="A2"))
    assert (states(mapped)[2], states(mapped)[4]) == (first, "ready")


def test_a_line_below_an_order_whose_number_was_forgotten_is_not_laid_to_the_one_before() -> None:
    forgotten = ["", "Ravi", "9876543211", "1 Lake", "jug", "3"]
    assert states(orders(ROW, forgotten, ["", "", "", "", "mug", "1"]))[2] == "ready"


@pytest.mark.parametrize("rule", ["skip_rows_where: {Name: Cancelled}", 'only_rows_where: {Name: [Planned, ""]}'])
def test_a_line_below_a_cancelled_one_holds_its_order_back_though_each_row_has_its_own_status(rule: str) -> None:
    rows = [order(Name="Planned"), ["", "Cancelled", "", "", "cup", "1"], ["", "Planned", "", "", "jug", "4"]]
    mapped = orders(*rows, mapping=WITH_QUANTITY.replace("sheet: {", f"sheet: {{{rule}, "))
    assert [states(mapped)[row].split()[0] for row in (2, 3, 4)] == ["blocked", "skipped", "invalid"]


def test_a_filled_key_starts_a_block_of_its_own_and_takes_nothing_from_above() -> None:
    mapped = orders(ROW, ["A2", "", "", "", "cup", "1"], mapping=FILLED)
    assert states(mapped) == {2: "ready", 3: "invalid"}
    assert rules(mapped) == [("C3", "customer_mobile|required"), ("D3", "delivery_address|required")]


def test_a_key_that_is_repeated_keeps_its_block() -> None:
    mapped = orders(ROW, ["A1", "", "", "", "cup", "1"], mapping=FILLED)
    assert mapped.documents[0].rows == (2, 3)


def test_an_issue_of_a_filled_down_cell_belongs_to_the_row_where_it_stands() -> None:
    mapped = orders(order(Phone="12"), ["", "", "", "", "cup", "1"], mapping=FILLED)
    assert rules(mapped) == [("C2", "customer_mobile|mobile")]
    assert states(mapped) == {2: "invalid", 3: "blocked sibling"}


def test_rows_of_one_key_form_one_document_also_when_others_stand_between() -> None:
    mapped = orders(ROW, order(Order_No="A2"), order(SKU="jug"))
    assert [(document.key, document.rows) for document in mapped.documents] == [("A1", (2, 4)), ("A2", (3,))]
    assert mapped.rows["document"].to_list() == [0, 1, 0]


def test_a_document_with_one_wrong_row_is_not_sent_at_all() -> None:
    mapped = orders(ROW, order(Qty="x"), order(Order_No="A2"))
    assert states(mapped) == {2: "blocked sibling", 3: "invalid", 4: "ready"}
    assert [document.key for document in mapped.documents] == ["A2"]
    assert reasons(mapped.rows)[0] == "The document is not sent: row 3 is invalid."


def test_rows_that_disagree_block_their_document() -> None:
    mapped = orders(ROW, order(Address="14 MG Road", SKU="jug"), order(Order_No="A2"))
    assert states(mapped) == {2: "blocked disagree", 3: "blocked disagree", 4: "ready"}
    assert reasons(mapped.rows)[0] == '"Address" differs between the rows 2-3 of one document.'


def test_a_blank_beside_a_value_disagrees() -> None:
    assert set(states(orders(ROW, order(Phone="", SKU="jug"))).values()) == {"blocked disagree"}


def test_two_spellings_of_one_value_agree() -> None:
    assert set(states(orders(ROW, order(Phone="+91 98765-43210", SKU="jug"))).values()) == {"ready"}


def test_first_takes_the_first_filled_cell_and_lets_the_others_differ() -> None:
    mapping = ORDERS.replace("{from: Address}", "{first: Address}")
    mapped = orders(order(Address=""), order(Address="14 MG Road"), order(Address="other"), mapping=mapping)
    assert set(states(mapped).values()) == {"ready"}
    assert '"delivery_address":"14 MG Road"' in mapped.documents[0].body


def test_two_documents_with_one_reference_are_both_blocked() -> None:
    mapping = ORDERS.replace("key: [Order No]", "key: [Order No, Name]")
    mapped = orders(ROW, order(Name="Ravi"), order(Order_No="A2"), mapping=mapping)
    assert states(mapped) == {2: "blocked duplicate", 3: "blocked duplicate", 4: "ready"}


def test_keys_that_differ_in_a_dash_or_a_quotation_mark_only_are_not_two_orders() -> None:
    """A program that corrects while one types makes a dash of the hyphen in one row and not in the other."""
    mapped = orders(order(Order_No="A-1"), order(Order_No="A\u20131"), order(Order_No="A-2"))
    assert states(mapped) == {2: "blocked duplicate", 3: "blocked duplicate", 4: "ready"}
    assert reasons(mapped.rows)[0] == '"A-1", "A\u20131" differ only in a dash (rows 2-3): are they one?'


@pytest.mark.parametrize("cell", ["zé-1", "Ze\u0301-1", "Ｚé-1"])
def test_keys_that_look_alike_are_not_two_orders(cell: str) -> None:
    mapped = orders(order(Order_No="Zé-1"), order(Order_No=cell), order(Order_No="Ze-1"))
    assert states(mapped) == {2: "blocked duplicate", 3: "blocked duplicate", 4: "ready"}


@pytest.mark.parametrize("cell", ["ORD  1", "ORD\u00a01", "ORD \u200b1", "ORD\u00a0 1"])
def test_blanks_and_invisible_signs_inside_a_key_do_not_make_another_order(cell: str) -> None:
    mapped = orders(order(Order_No="ORD 1"), order(Order_No=cell, Qty="3"))
    assert [(document.key, len(document.rows)) for document in mapped.documents] == [("ORD 1", 2)]


def test_keys_are_compared_without_invisible_blanks_and_excel_tails() -> None:
    mapped = orders(
        order(Order_No="1001.0"), order(Order_No="1001", Qty="3"), order(Order_No="\u00a01001\u200b ", Qty="4")
    )
    assert [(document.key, len(document.rows)) for document in mapped.documents] == [("1001", 3)]


@pytest.mark.parametrize("column", ["Order No", "SKU"])
@pytest.mark.parametrize("cell", ["A-1\nA-2", "A-1\r\nA-2", "A-1\tA-2", "A-1\n\n A-2"])
def test_two_numbers_or_goods_in_one_cell_are_never_joined_into_one(column: str, cell: str) -> None:
    target = {"Order No": "reference_number", "SKU": "item_name"}[column]
    mapped = orders(
        ROW, [cell if name == column else text for name, text in zip(HEADER, order(Order_No="B"), strict=True)]
    )
    place = f"{'A' if column == 'Order No' else 'E'}3"
    assert (states(mapped), rules(mapped)) == ({2: "ready", 3: "invalid"}, [(place, f"{target}|several_values")])


def test_breaks_at_the_ends_of_a_number_or_within_a_name_of_somebody_do_no_harm() -> None:
    mapped = orders(
        order(Order_No="\nA-1\r\n", SKU="tea\n", Name="Asha\nRao"), order(Order_No="A-1", Name="Asha Rao", Qty="1")
    )
    assert [document.key for document in mapped.documents] == ["A-1"]
    assert '"customer_name":"Asha Rao"' in mapped.documents[0].body


def test_own_result_columns_are_ignored_when_the_sheet_comes_back() -> None:
    header = [*HEADER, "Status", "Reason", "What to do", "AWB / reference", "Run"]
    marks = ["accepted", "", "", "SH-1", "r1"]
    mapped = orders([*ROW, *marks], ["", "", "", "", "", "", "skipped", "The row is blank."], header=header)
    assert states(mapped) == {2: "ready", 3: "skipped blank"}
    assert notes_in(mapped) == ("The result columns of an earlier round were ignored.",)


def test_a_users_own_status_column_is_used_beside_ours() -> None:
    mapping = ORDERS + "sheet: {only_rows_where: {Status: Ready}}\n"
    header = [*HEADER, "Status", "Status", "Reason", "What to do", "AWB / reference", "Run"]
    mapped = orders([*ROW, "Ready", "invalid"], [*ROW, "Hold", "ready"], mapping=mapping, header=header)
    assert states(mapped) == {2: "ready", 3: "skipped only_rows_where"}


def test_a_control_total_that_does_not_balance_holds_the_file() -> None:
    mapping = ORDERS + 'checks: {control_total: {column: Qty, row_where: {Order No: "TOTAL*"}}}\n'
    assert states(orders(ROW, ["TOTAL", "", "", "", "", "2"], mapping=mapping)) == {2: "ready", 3: "skipped total"}
    with pytest.raises(FileHeld) as held:
        orders(ROW, ROW, ["TOTAL", "", "", "", "", "5"], mapping=mapping)
    assert str(held.value) == 'The rows add up to 4 in column "Qty", but row 4 says 5.'
    assert held.value.header_row == 1
    with pytest.raises(FileHeld, match="there is no total row"):
        orders(ROW, mapping=mapping)


def test_what_the_reader_said_is_reported_once_and_unknown_columns_too() -> None:
    said = (Issue.of("hidden_rows.read", rows="3"),)
    sheet = replace(sheet_of([[*HEADER, "Colour"], [*ROW, "red"], [*ROW, "blue"]]), hidden_rows=(3,), notes=said)
    assert notes_in(run(ORDERS, sheet)) == (
        said[0].reason,
        'Columns that the mapping does not know were not used: "Colour".',
    )


def test_a_row_of_units_under_the_header_is_told_and_stops_nobody() -> None:
    mapped = orders(["", "", "(10 digits)", "", "", "pcs"], ROW)
    assert states(mapped) == {2: "invalid", 3: "ready"}
    assert ("A2", "key|required") in rules(mapped)


@pytest.mark.parametrize("ignored", [False, True])
def test_an_error_in_a_column_that_is_not_used_is_told(ignored: bool) -> None:
    mapping = ORDERS + "ignore: [Bin]\n" * ignored
    mapped = orders([*ROW, "#N/A"], [*order(Order_No="A2"), "ok"], header=[*HEADER, "Bin"], mapping=mapping)
    said = 'Column "Bin", which is not used, shows an error of the spreadsheet program in row 2.'
    assert (states(mapped), said in notes_in(mapped)) == ({2: "ready", 3: "ready"}, not ignored)


def test_a_sheet_with_a_header_only_is_an_empty_answer() -> None:
    mapped = orders()
    assert (mapped.rows.height, mapped.documents, mapped.issues) == (0, (), ())


def test_damaged_cells_of_mapped_columns_are_issues_and_others_are_not() -> None:
    sheet = sheet_of(
        [
            [*HEADER, "Note"],
            [*order(SKU="#CALC!"), "#REF!"],
            order(Order_No="A2", Qty=""),
            order(Order_No="1234567890123456000"),
        ],
        types=[(2, 5, CellFact.ERROR), (2, 7, CellFact.ERROR), (3, 6, CellFact.NO_VALUE), (4, 1, CellFact.IMPRECISE)],
    )
    mapped = run(ORDERS, sheet)
    assert rules(mapped) == [
        ("E2", "item_name|error_value"),
        ("F3", "item_quantity|no_value"),
        ("A4", "reference_number|imprecise"),
    ]


def test_a_row_of_formulas_that_no_program_has_worked_out_is_not_blank() -> None:
    nothing = [""] * len(HEADER)
    sheet = sheet_of([HEADER, ROW, nothing, nothing], types=[(3, column, CellFact.NO_VALUE) for column in range(1, 7)])
    mapped = run(ORDERS, sheet)
    assert states(mapped)[3] == "invalid" and states(mapped)[4] == "skipped blank"
    assert ("A3", "reference_number|no_value") in rules(mapped)


def with_hidden(*rows: list[str], hidden: tuple[int, ...], mapping: str = ORDERS) -> MappedFile:
    sheet = replace(sheet_of([HEADER, *rows]), hidden_rows=hidden)
    more = "" if "sheet:" in mapping else "sheet: {hidden_rows: skip}\n"
    return run(mapping + more, sheet)


def test_hidden_rows_are_answered_and_never_leave_half_an_order() -> None:
    found = with_hidden(ROW, ROW, order(Order_No="A2"), order(Order_No="A3"), hidden=(3, 5))
    assert states(found) == {
        2: "blocked hidden row",
        3: "skipped hidden row",
        4: "ready",
        5: "skipped hidden row",
    }
    assert reasons(found.rows)[0] == "The document is not sent: its row 3 is hidden and was skipped."
    assert [document.key for document in found.documents] == ["A2"]


def test_hidden_rows_may_be_left_out_of_an_order_if_the_mapping_says_so() -> None:
    mapping = ORDERS + "sheet: {hidden_rows: leave_out}\n"
    found = with_hidden(ROW, order(SKU="cup"), order(SKU="jug"), hidden=(3,), mapping=mapping)
    assert states(found) == {2: "ready", 3: "skipped hidden row", 4: "ready"}
    assert [document.rows for document in found.documents] == [(2, 4)]


def test_a_row_below_a_hidden_first_row_is_not_given_to_the_order_above() -> None:
    mapping = FILLED.replace("sheet: {", "sheet: {hidden_rows: skip, ")
    below = ["", "", "", "", "jug", "1"]
    found = with_hidden(ROW, order(Order_No="A2"), below, hidden=(3,), mapping=mapping)
    assert states(found) == {2: "ready", 3: "skipped hidden row", 4: "blocked hidden row"}


def merged(*rows: list[str], ranges: tuple[tuple[int, int, int, int], ...], mapping: str = ORDERS) -> MappedFile:
    return run(mapping, with_facts(sheet_of([HEADER, *rows]), merged=ranges))


def test_rows_under_a_merged_key_belong_to_its_document() -> None:
    lower = ["", *ROW[1:4], "jug", "1"]
    assert states(merged(ROW, lower, ranges=((2, 1, 3, 1),))) == {2: "ready", 3: "ready"}
    bad = ["", *ROW[1:4], "jug", "x"]
    assert states(merged(ROW, bad, ranges=((2, 1, 3, 1),))) == {2: "blocked sibling", 3: "invalid"}


def test_header_cells_that_are_merged_and_not_filled_down_block_the_document() -> None:
    lower = ["", "", *ROW[2:4], "jug", "1"]
    found = merged(ROW, lower, ranges=((2, 1, 3, 1), (2, 2, 3, 2)))
    assert states(found) == {2: "blocked disagree", 3: "blocked disagree"}


def test_a_merge_fills_no_blank_rows_and_no_totals() -> None:
    found = merged(ROW, ["", "Sub total", "", "", "", "3"], [], ranges=((2, 1, 4, 1),), mapping=FILLED)
    assert states(found) == {2: "ready", 3: "skipped total", 4: "skipped blank"}


def test_an_issue_of_a_merged_cell_points_to_where_it_stands() -> None:
    first = order(Phone="12")
    found = merged(first, ["", "", "", "", "jug", "1"], ranges=((2, 1, 3, 1), (2, 3, 3, 3)), mapping=FILLED)
    assert rules(found) == [("C2", "customer_mobile|mobile")]
    assert states(found) == {2: "invalid", 3: "blocked sibling"}


CUSTOMER_FIRST = ["Name", "Order No", "Phone", "Address", "SKU", "Qty"]


def test_a_customer_called_total_does_not_vanish() -> None:
    row = ["Total Gas Agency", "A1", "9876543210", "", "tea", "2"]
    total = ["Total", "", "", "", "", "2"]
    found = orders(row, total, header=CUSTOMER_FIRST)
    assert states(found) == {2: "invalid", 3: "skipped total"}
    assert states(orders(order(Order_No="TOTAL-77", SKU=""), ["Grand Total: 9"])) == {2: "invalid", 3: "skipped total"}


def test_a_customer_called_total_on_a_filled_down_row_does_not_vanish() -> None:
    mapping = ORDERS + "sheet: {fill_down: [Order No]}\n"
    rows = [["Total Gas", key, "9876543210", "12 MG Road", f"tea{key}", "2"] for key in ("A1", "")]
    assert states(orders(*rows, header=CUSTOMER_FIRST, mapping=mapping)) == {2: "ready", 3: "ready"}


def test_only_a_row_that_lacks_something_is_a_comment() -> None:
    found = orders([";Asha", "A1", *ROW[2:]], ["; checked"], header=CUSTOMER_FIRST)
    assert states(found) == {2: "ready", 3: "skipped comment"}


def test_a_row_whose_only_cell_is_damaged_is_not_blank() -> None:
    assert rules(orders(["#REF!"]))[0] == ("A2", "reference_number|error_value")


def test_a_number_that_shows_words_is_no_reference_and_no_sku() -> None:
    sheet = with_facts(
        sheet_of([HEADER, order(Order_No="13", SKU="5")]),
        number_format_text=((2, 1, "ORD-0"), (2, 3, "0-0"), (2, 5, "0-0")),
    )
    found = run(ORDERS, sheet)
    assert rules(found) == [("A2", "reference_number|number_format"), ("E2", "item_name|number_format")]
    assert "shows more than it holds" in found.issues[0].reason


@pytest.mark.parametrize(
    ("column", "read", "shown", "fine"),
    [
        ("Disc", "decimal", "0%", False),
        ("Disc", "percent", "0%", True),
        ("Disc", "percent", "0 g", False),
        ("Qty", "integer", "0 doz", False),
        ("Qty", "integer", "0 Nos", True),
        ("Qty", "integer", "0 0", True),
        ("Qty", "integer", ";", False),
        ("Rate", "money", "$0", False),
        ("Rate", "money", "0,", False),
        ("Weight (kg)", "decimal", "0 g", False),
        ("Weight (kg)", "decimal", "0 Kgs", True),
        ("Weight", "{unit: g -> kg}", "0 gm", True),
        ("Weight", "{unit: g -> kg}", "0 kg", False),
    ],
)
def test_a_number_is_sent_only_as_its_cell_shows_it(column: str, read: str, shown: str, fine: bool) -> None:
    mapping = ORDERS.replace("lines:", f"  weight: {{from: {column}, read: {read}}}\nlines:")
    mapping = ORDERS.replace("read: integer", f"read: {read}") if column == "Qty" else mapping
    header = HEADER if column == "Qty" else [*HEADER, column]
    sheet = with_facts(sheet_of([header, [*ROW, "2"][: len(header)]]), number_format_text=((2, len(header), shown),))
    assert [rule.rpartition("|")[2] for _, rule in rules(run(mapping, sheet))] == ([] if fine else ["number_format"])


@pytest.mark.parametrize(
    ("mark", "rule"),
    [
        (CellFact.DATE, "date_cell"),
        (CellFact.DATETIME, "date_cell"),
        (CellFact.TIME, "date_cell"),
        (CellFact.TRUTH, "truth_cell"),
    ],
)
def test_a_code_that_became_a_date_a_time_or_a_truth_is_no_reference_and_no_sku(mark: CellFact, rule: str) -> None:
    cells = order(Order_No="2026-03-01", Name="2026-03-01", SKU="2026-03-02")
    found = run(ORDERS, sheet_of([HEADER, cells], types=[(2, column, mark) for column in (1, 2, 5)]))
    assert rules(found) == [("A2", f"reference_number|{rule}"), ("E2", f"item_name|{rule}")]


@pytest.mark.parametrize("mark", [CellFact.DATE, CellFact.DATETIME, CellFact.TIME])
def test_a_house_number_and_a_batch_that_became_a_date_are_not_sent(mark: CellFact) -> None:
    joined = ORDERS.replace("{from: Address}", '{join: [Address, House], with: ", "}')
    sheet = sheet_of([[*HEADER, "House"], [*ROW, "2026-03-12"]], types=[(2, 7, mark)])
    assert rules(run(joined, sheet)) == [("G2", "delivery_address|date_cell")]
    alone = sheet_of([HEADER, order(Address="2026-03-12")], types=[(2, 4, mark)])
    assert rules(run(ORDERS, alone)) == [("D2", "delivery_address|date_cell")]
    batch = sheet_of([[*HEADER, "Batch"], [*ROW, "2026-03-12"]], types=[(2, 7, mark)])
    assert rules(run(f"{ORDERS}  package_id: {{from: Batch}}\n", batch)) == [("G2", "package_id|date_cell")]
    dated = f"{ORDERS}  package_id: {{from: Batch, read: {{date: ['%d/%m/%Y']}}}}\n"
    assert rules(run(dated, batch)) == []


def test_a_word_for_nothing_is_no_reference_and_no_sku() -> None:
    words = ("null", "NaN", "None", "n/a", "-", ".", "\u2013")
    found = orders(*(order(Order_No=word) for word in words), *(order(Order_No="A9", SKU=word) for word in words))
    assert {rule for _, rule in rules(found)} == {"reference_number|placeholder", "item_name|placeholder"}
    assert set(states(found).values()) == {"invalid"}
    assert rules(orders(order(Order_No="NA-1", Name="-", SKU="nullA"))) == []


@pytest.mark.parametrize("drawn", ["-------", "=====", "____"])
def test_a_line_drawn_between_rows_is_no_row_of_data(drawn: str) -> None:
    found = orders([drawn] * len(ROW), ROW, [drawn, *[""] * (len(ROW) - 1)], [drawn, *ROW[1:]])
    assert states(found) == {2: "skipped comment", 3: "ready", 4: "skipped comment", 5: "ready"}


@pytest.mark.parametrize("sign", ["\u2028", "\x85", "\x0b"])
def test_every_kind_of_line_break_in_an_address_becomes_a_comma(sign: str) -> None:
    (document,) = orders(order(Address=f"12{sign}MG Road")).documents
    assert '"delivery_address":"12, MG Road"' in document.body


@pytest.mark.parametrize(
    "total", ["Total", "Grand Total:", "Total 7", "Total Qty", "Sub-total (7)", "Total of items", "Total amount Rs 5"]
)
def test_a_total_in_the_place_of_goods_is_one(total: str) -> None:
    found = orders(ROW, ["", "", "", "", total, ""], mapping=WITH_QUANTITY)
    assert states(found) == {2: "ready", 3: "skipped total"}


@pytest.mark.parametrize(
    "word", ["TOTAL", "Grand Total", "Total Qty", "TOTAL :", "Invoice total", "Sum", "C/F", "\u03a3"]
)
def test_a_complete_row_that_says_total_and_is_the_sum_of_those_above_is_no_goods(word: str) -> None:
    rows = [ROW, ["", "", "", "", "rice", "5"], ["", "", "", "", word, "7"]]
    found = orders(*rows, mapping=WITH_QUANTITY)
    assert states(found) == {2: "ready", 3: "ready", 4: "skipped total"}
    two = orders(*rows, order(Order_No="A2", Qty="4"), ["", "", "", "", word, "11"], mapping=WITH_QUANTITY)
    assert states(two) == {2: "ready", 3: "ready", 4: "skipped total", 5: "ready", 6: "skipped total"}


def test_a_row_that_says_total_and_is_no_sum_is_asked_about() -> None:
    found = orders(ROW, ["", "", "", "", "Total", "5"], mapping=WITH_QUANTITY)
    assert states(found) == {2: "blocked sibling", 3: "invalid"} and rules(found) == [("E3", "item_name|total")]
    assert states(orders(order(SKU="Total"), mapping=WITH_QUANTITY)) == {2: "ready"}


def test_goods_called_total_do_not_vanish_from_a_filled_down_document() -> None:
    rows = [ROW, ["", "", "", "", "Total Fresh Toothpaste", ""], ["", "", "", "", "Total Whitening", "7"]]
    found = orders(*rows, mapping=WITH_QUANTITY)
    assert states(found) == {2: "blocked sibling", 3: "invalid", 4: "blocked sibling"} and not found.documents


@pytest.mark.parametrize("mark", ["\u200e", "\u202a", "\u2066", "\u180e", "\u200c"])
def test_marks_that_nobody_sees_make_no_other_reference(mark: str) -> None:
    found = orders(order(Order_No=f"A{mark}1", SKU=f"tea{mark}" if mark != "\u200c" else "tea", Qty=f"2{mark}"))
    assert found.documents[0].reference == "A1" and '"item_name":"tea","item_quantity":2' in found.documents[0].body
    assert any("repaired without loss" in note for note in notes_in(found))


@pytest.mark.parametrize("mark", ["\u200f", "\u202e", "\u00ad"])
def test_signs_that_may_show_a_reference_otherwise_are_told(mark: str) -> None:
    assert rules(orders(order(Order_No=f"A{mark}1"))) == [("A2", "reference_number|control")]


def test_references_that_a_spreadsheet_program_makes_one_are_asked_about() -> None:
    one_each = [order(Order_No=number) for number in ("0012", "13", "010.50", "100", "10.5", "14-0", "014-0")]
    mapped = orders(*one_each, order(Order_No="12"), order(Order_No="10.50"))
    asked = dict.fromkeys((2, 4, 9, 10), "blocked duplicate")
    assert states(mapped) == {**dict.fromkeys(range(2, 11), "ready"), **asked}
    told = '"0012", "12" differ only in leading zeros (rows 2, 9): are they one?'
    assert reasons(mapped.rows)[0] == told


def test_references_that_differ_in_capitals_only_are_asked_about() -> None:
    assert states(orders(ROW, order(Order_No="a1"))) == {2: "blocked duplicate", 3: "blocked duplicate"}


def test_further_rows_of_an_order_that_is_left_out_go_with_its_first() -> None:
    """Only the first row says that the order is cancelled; its other goods would be sent."""
    mapping = ORDERS + "sheet: {skip_rows_where: {Cancelled: Y}, fill_down: [Cancelled, Name, Phone, Address]}\n"
    further = ["A1", "", "", "", "cup", "1", ""]
    rows = [[*ROW, "Y"], further, ["", *further[1:]], ["A2", *ROW[1:], ""], ["A2", *further[1:4], "jug", "1", ""]]
    rows += [["A3", *ROW[1:], "Y"], [], ["A3", *ROW[1:], ""]]
    mapped = orders(*rows, mapping=mapping, header=[*HEADER, "Cancelled"])
    assert states(mapped) == {
        **dict.fromkeys((2, 3, 4, 7), "skipped skip_rows_where"),
        **dict.fromkeys((5, 6, 9), "ready"),
        8: "skipped blank",
    }
    assert reasons(mapped.rows)[2] == "It belongs to row 2, which the mapping leaves out."
    assert [document.rows for document in mapped.documents] == [(5, 6), (9,)]


def test_lines_below_a_subtotal_do_not_go_with_it() -> None:
    mapping = ORDERS + "sheet: {skip_rows_where: {Order No: TOTAL, Name: VOID}, fill_down: [Order No, Name]}\n"
    below = ["", *ROW[1:]]
    kept = orders(["TOTAL", "", "", "", "", "9"], below, order(Name="VOID"), order(Name="Asha"), mapping=mapping)
    assert states(kept) == {2: "skipped skip_rows_where", 3: "invalid", 4: "skipped skip_rows_where", 5: "ready"}


@pytest.mark.parametrize("mark", ["〃", '"', "-do-", "Ditto"])
def test_a_cell_that_says_as_above_takes_what_is_above_where_the_column_is_filled_down(mark: str) -> None:
    mapping = ORDERS + "sheet: {fill_down: [Order No, Name, Phone, Address]}\n"
    below = [mark, mark, mark, mark, "cup", "1"]
    mapped = orders(ROW, below, mapping=mapping)
    assert states(mapped) == {2: "ready", 3: "ready"}
    assert [document.rows for document in mapped.documents] == [(2, 3)]
    first = orders([*ROW[:3], mark, *ROW[4:]], order(SKU=mark), mapping=mapping)
    assert rules(first) == [("D2", "delivery_address|ditto"), ("E3", "item_name|ditto")]
    assert rules(orders(order(SKU=mark))) == [("E2", "item_name|ditto")]


def test_a_cell_that_says_as_above_takes_it_from_a_row_of_another_document_too() -> None:
    mapping = ORDERS + "sheet: {fill_down: [Address]}\n"
    rows = [
        ROW,
        order(Order_No="A2", Address="-do-"),
        order(Order_No="A3", Address='"'),
        order(Order_No="A4", Address=""),
    ]
    mapped = orders(*rows, HEADER, order(Order_No="A5", Address="-do-"), mapping=mapping)
    assert ['"delivery_address":"12 MG Road"' in document.body for document in mapped.documents] == [True] * 3
    assert rules(mapped) == [("D5", "delivery_address|required"), ("D7", "delivery_address|ditto")]


def test_what_holds_for_a_whole_order_may_stand_in_any_of_its_rows_and_what_is_of_a_line_does_not() -> None:
    fields = "  is_cod: {from: Pay}\n  cash_on_delivery: {sum: [COD], when: {Pay: COD}}\nlines:"
    mapping = ORDERS.replace("lines:", fields) + "  item_price_per_each: {from: Price, when: {Kind: Gift}}\n"
    mapping += "sheet: {fill_down: [Name, Phone, Address, Pay, COD, Kind]}\n"
    header = [*HEADER, "Pay", "COD", "Kind", "Price"]
    blank = dict.fromkeys(("Name", "Phone", "Address"), "")
    mapped = orders(
        [*order(SKU="cup", **blank), "", "", "", "10"],
        [*order(Order_No="A2"), "COD", "50", "Normal", "10"],
        [*ROW, "COD", "100", "Gift", "10"],
        header=header,
        mapping=mapping,
    )
    assert states(mapped) == {2: "ready", 3: "ready", 4: "ready"}
    first = json.loads(mapped.documents[0].body)
    assert (first["customer_name"], first["cash_on_delivery"]) == ("Asha", "100.00")
    assert ["item_price_per_each" in item for item in first["item_details"]] == [False, True]


def test_a_pattern_knows_two_signs_and_the_others_stand_for_themselves() -> None:
    mapping = ORDERS + 'sheet: {skip_rows_where: {Name: ["As.a", "[A-z]sha", "Ravi|Asha", "Rao (2)"]}}\n'
    assert states(orders(ROW, order(Order_No="A2", Name="Rao (2)"), mapping=mapping)) == {
        2: "ready",
        3: "skipped skip_rows_where",
    }


@pytest.mark.parametrize("word", ["Total", "TOTAL QTY", "Order total:", "Grand Total"])
def test_a_total_with_the_key_of_its_order_is_asked_about_and_not_sent_as_goods(word: str) -> None:
    """Each row bears the order's number and its cells, the last one, too: nothing but its quantity tells."""
    found = orders(ROW, order(SKU="mug", Qty="3"), order(SKU=word, Qty="5"), order(Order_No="A2"))
    assert rules(found) == [("E4", "item_name|total")]
    assert [document.reference for document in found.documents] == ["A2"]


@pytest.mark.parametrize(("goods", "quantity"), [("Total", "1"), ("Total Whitening", "5")])
def test_goods_with_the_word_in_their_name_or_another_quantity_are_goods(goods: str, quantity: str) -> None:
    found = orders(ROW, order(SKU="mug", Qty="3"), order(SKU=goods, Qty=quantity))
    assert states(found) == {2: "ready", 3: "ready", 4: "ready"}
