"""Orders on one sheet, their items on another: joined by key, every row of both sheets answered once."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from mapping.sheets import mapping_of, notes_in, rules, run, sheet_of, states
from support.issues import reasons

from logistics_batch.errors import FileHeld, SpecificationError
from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import CellFact, Sheet

MAPPING = """
operation: order.create
key: [Order No]
lines_sheet: {name: "*lines", key: [Order]}
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile}
  delivery_address: {from: Address}
  cash_on_delivery: {sum: Rate, times: Qty}
  is_cod: {constant: "true"}
lines:
  item_name: {from: [Item, SKU], required: true}
  item_quantity: {from: Qty, read: integer}
keep: {bin: {from: Bin}, route: {from: Route}}
ignore: [Remarks]
"""
HEADS = ["Order No", "Phone", "Address", "Qty", "Route"]
LINES = ["Order", "SKU", "Qty", "Rate", "Bin"]
LINES_NAME = "Order lines"
A1 = ["A1", "9876543210", "12 MG Road", "99", "N"]
A2 = ["A2", "9876543211", "14 MG Road", "", "S"]


def book(
    heads: list[list[str]], lines: list[list[str]], types: Sequence[tuple[int, int, CellFact]] = ()
) -> list[Sheet]:
    return [
        sheet_of([HEADS, *heads], name="Orders"),
        sheet_of([["Dispatch list"], LINES, *lines], name=LINES_NAME, types=types),
    ]


def mapped(heads: list[list[str]], lines: list[list[str]], *, text: str = MAPPING) -> MappedFile:
    return run(mapping_of(text), *book(heads, lines))


def told(found: MappedFile, sheet: str = "") -> dict[int, str]:
    """The state of each row of one of the sheets, with the rule where there is one."""
    return states(replace(found, rows=found.rows.filter(found.rows["sheet"] == sheet)))


def bodies(found: MappedFile) -> list[dict[str, object]]:
    return [json.loads(document.body) for document in found.documents]


def test_each_order_takes_its_lines_in_their_order() -> None:
    found = mapped(
        [A1, A2],
        [["A2", "tea", "1", "10", "7"], ["A1", "salt", "2", "5", "3"], ["A2", "rice", "3", "2", "8"], ["", "", "", ""]],
    )
    first, second = bodies(found)
    assert first["item_details"] == [{"item_name": "salt", "item_quantity": 2}]
    assert second["item_details"] == [
        {"item_name": "tea", "item_quantity": 1},
        {"item_name": "rice", "item_quantity": 3},
    ]
    assert (first["cash_on_delivery"], second["cash_on_delivery"]) == ("10.00", "16.00")
    assert [document.rows for document in found.documents] == [(2,), (3,)]
    assert [document.keep for document in found.documents] == [
        {"bin": "3", "route": "N"},
        {"bin": "7", "bin:2": "8", "route": "S"},
    ]
    assert told(found) == {2: "ready", 3: "ready"}
    assert told(found, LINES_NAME) == dict.fromkeys((3, 4, 5), "ready") | {1: "skipped title", 6: "skipped blank"}
    assert found.rows.filter(state="ready")["document"].to_list() == [0, 1, 1, 0, 1]
    assert (found.sheet, found.lines_sheet, found.lines_header_row) == ("Orders", LINES_NAME, 2)


def test_a_line_without_a_key_holds_the_order_of_the_line_above_back() -> None:
    """An order never goes out in half."""
    found = mapped([A1, A2], [["A1", "tea", "1", "5", ""], ["", "rice", "1", "5", ""], ["A2", "tea", "1", "1", ""]])
    assert told(found) == {2: "invalid", 3: "ready"}
    assert told(found, LINES_NAME) == {1: "skipped title", 3: "blocked sibling", 4: "invalid", 5: "ready"}
    assert found.issues[0].reason == (
        '"Order" is blank on the sheet "Order lines", row 4, below lines of "A1": are they lines of it?'
    )


def test_what_is_wrong_with_a_line_is_said_at_the_line_and_blocks_its_order() -> None:
    found = mapped([A1, A2], [["A1", "", "x", "5", ""], ["A1", "salt", "1", "5", ""], ["A2", "tea", "1", "1", ""]])
    assert told(found) == {2: "blocked sibling", 3: "ready"}
    assert told(found, LINES_NAME) == {1: "skipped title", 3: "invalid", 4: "blocked sibling", 5: "ready"}
    assert {(issue.cell, issue.column, issue.row, issue.sheet) for issue in found.issues} == {
        ("B3", "SKU", 3, LINES_NAME),
        ("C3", "Qty", 3, LINES_NAME),
    }
    quantity = {issue.rule: issue for issue in found.issues}["item_quantity|integer"]
    assert (quantity.value, quantity.reason) == ("x", "The cell is not a whole number.")
    assert '"Order lines: ' not in " ".join(issue.reason + issue.fix for issue in found.issues)
    blocked = reasons(found.rows.filter(state="blocked"))
    assert blocked == [
        'The document is not sent: row 3 of the sheet "Order lines" is invalid.',
        "The document is not sent: row 3 is invalid.",
    ]


def test_what_is_wrong_with_an_order_blocks_its_lines() -> None:
    found = mapped([["A1", "98", "12 MG Road", "", "N"]], [["A1", "tea", "1", "5", ""], ["A1", "", "1", "5", ""]])
    assert told(found) == {2: "invalid"}
    assert told(found, LINES_NAME) == {1: "skipped title", 3: "blocked sibling", 4: "invalid"}
    assert [(issue.sheet, issue.cell) for issue in found.issues] == [("", "B2"), (LINES_NAME, "B4")]
    (blocked,) = reasons(found.rows.filter(state="blocked"))
    assert blocked == 'The document is not sent: row 4, and row 2 of the sheet "Orders", are invalid.'


def test_lines_without_an_order_are_told_where_they_stand() -> None:
    lines = [["A1", "tea", "1", "1", ""], ["A9", "tea", "1", "1", ""], ["A9", "salt", "1", "1", ""]]
    found = mapped([A1], [*lines, ["", "rice", "2", "1", ""]])
    assert told(found) == {2: "ready"}
    assert told(found, LINES_NAME) == {1: "skipped title", 3: "ready", 4: "invalid", 5: "invalid", 6: "invalid"}
    assert rules(found) == [
        ("A4", "lines_sheet|orphan"),
        ("A5", "lines_sheet|orphan"),
        ("A6", "lines_sheet|no_key"),
    ]
    orphan, _, keyless = found.issues
    assert orphan.reason == 'No row of the sheet "Orders" has "A9" in "Order No".'
    assert (orphan.value, 'on the sheet "Orders"' in orphan.fix) == ("A9", True)
    assert keyless.reason == '"Order" is blank.'
    assert found.rows.filter(state="invalid")["key"].to_list() == ["A9", "A9", ""]


def test_an_order_without_lines_or_with_two_rows_is_not_sent() -> None:
    found = mapped([A1, A2, A2], [["A2", "tea", "1", "1", ""]])
    assert rules(found) == [("A2", "lines_sheet|no_lines"), ("A4", "lines_sheet|twice")]
    assert told(found) == {2: "invalid", 3: "blocked sibling", 4: "invalid"}
    assert told(found, LINES_NAME) == {1: "skipped title", 3: "blocked sibling"}
    assert not found.documents


def test_lines_of_a_skipped_order_are_skipped_with_it() -> None:
    text = MAPPING.replace("fields:", "sheet: {only_rows_where: {Route: N}}\nfields:", 1)
    found = mapped([A1, A2], [["A1", "tea", "1", "1", ""], ["A2", "tea", "1", "1", ""]], text=text)
    assert told(found) == {2: "ready", 3: "skipped only_rows_where"}
    assert told(found, LINES_NAME) == {1: "skipped title", 3: "ready", 4: "skipped lines_sheet"}
    assert reasons(found.rows)[-1] == 'Its row of the sheet "Orders" was skipped: row 3.'
    assert not found.issues


def test_blank_and_total_rows_of_the_lines_are_no_lines() -> None:
    found = mapped([A1], [["A1", "tea", "1", "1", ""], [], ["TOTAL", "", "1", "", ""]])
    assert told(found) == {2: "ready"}
    assert told(found, LINES_NAME) == {1: "skipped title", 3: "ready", 4: "skipped blank", 5: "skipped total"}


def test_damaged_cells_of_lines_are_seen() -> None:
    sheets = book([A1], [["A1", "tea", "#N/A", "1", ""]], types=[(3, 3, CellFact.ERROR)])
    found = run(mapping_of(MAPPING), *sheets)
    (issue,) = [issue for issue in found.issues if issue.rule.endswith("|error_value")]
    assert (issue.sheet, issue.cell) == (LINES_NAME, "C3")
    assert issue.reason.startswith("The cell shows an error")


def test_a_key_that_is_written_once_is_filled_down() -> None:
    text = MAPPING.replace("fields:", "sheet: {fill_down: [Order]}\nfields:", 1)
    found = mapped([A1], [["A1", "tea", "1", "1", ""], ["", "salt", "2", "1", ""]], text=text)
    assert [item["item_name"] for item in bodies(found)[0]["item_details"]] == ["tea", "salt"]  # type: ignore[attr-defined]


def test_an_order_one_of_whose_lines_is_hidden_and_left_out_is_not_sent() -> None:
    text = MAPPING + "sheet: {hidden_rows: leave_out}\n"
    orders, lines = book([A1], [["A1", "tea", "1", "1", ""], ["A1", "salt", "1", "1", ""]])
    found = run(mapping_of(text), orders, replace(lines, hidden_rows=(4,)))
    assert (rules(found), found.documents) == ([("A2", "lines_sheet|hidden")], ())


def test_lines_join_columns_of_their_sheet_and_their_totals_are_checked_there() -> None:
    text = MAPPING.replace("{from: [Item, SKU], required: true}", "{join: [SKU, Bin], required: true}")
    text += "checks: {line_total: {quantity: Qty, price: Rate, total: Bin}}\n"
    found = mapped([A1, A2], [["A1", "tea", "2", "5", "10"], ["A2", "tea", "2", "5", "11"]], text=text)
    assert bodies(found)[0]["item_details"] == [{"item_name": "tea 10", "item_quantity": 2}]
    assert rules(found) == [("E4", "bin|line_total")]


def test_both_sheets_must_be_there() -> None:
    orders, lines = book([A1], [["A1", "tea", "1", "1", ""]])
    with pytest.raises(FileHeld, match='no sheet is called "\\*lines"; there is "Orders"'):
        run(mapping_of(MAPPING), orders)
    with pytest.raises(FileHeld, match="no sheet beside that of the lines"):
        run(mapping_of(MAPPING), lines)
    with pytest.raises(FileHeld, match='Sheet "Order lines": the required columns "Rate", "Qty" are missing'):
        run(mapping_of(MAPPING), orders, sheet_of([["Order", "SKU"], ["A1", "tea"]], name="Order lines"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("key: [Order]}", "key: [Order, Site]}"), "`key` and the key of `lines_sheet` name 1 and 2 columns."),
        (("fields:", "kits: {key: [K], name: {from: K}, lines: {item_name: {from: I}}}\nfields:"), "`kits` cannot be"),
        (("fields:", "lines_from: {split: [SKU]}\nfields:"), "`lines_from` cannot be used together"),
        (("key: [Order]}", "key: []}"), "does not fit here"),
        (('name: "*lines", ', ""), "`name` is missing."),
        (("ignore: [Remarks]", "checks: {control_total: {column: Qty, row_where: {Order: T}}}"), "`control_total`"),
    ],
)
def test_what_cannot_go_with_it_is_said_at_load(change: tuple[str, str], said: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        mapping_of(MAPPING.replace(*change, 1))
    assert said in str(caught.value)


def test_a_line_that_stands_twice_on_its_sheet_holds_its_order_back() -> None:
    twice = [
        ["A1", "tea", "1", "5", ""],
        ["A1", "salt", "1", "5", ""],
        ["A1", " tea", "1", "5", ""],
        ["A2", "tea", "1", "5", ""],
    ]
    found = mapped([A1, A2], twice)
    assert told(found) == {2: "invalid", 3: "ready"}
    assert told(found, LINES_NAME) == {1: "skipped title", **dict.fromkeys((3, 4, 5), "blocked sibling"), 6: "ready"}
    (issue,) = found.issues
    assert 'on the sheet "Order lines" the rows 3, 5 are equal in every cell' in issue.reason
    noted = mapped([A1, A2], twice, text=MAPPING + "checks: {equal_rows: note}\n")
    assert len(noted.documents) == 2
    assert [note for note in notes_in(noted) if "the rows 3, 5 are equal" in note]
    apart = [[*line[:4], str(number)] for number, line in enumerate(twice)]
    assert len(mapped([A1, A2], apart).documents) == 2


def test_a_column_that_counts_the_lines_of_the_second_sheet_does_not_tell_them_apart() -> None:
    lines = [["A1", "tea"], ["A1", "salt"], ["A1", "tea"], ["A2", "tea"]]
    for numbers, ready in (("1231", ["A2"]), ("1234", ["A2"]), ("1123", ["A1", "A2"])):
        second = [
            [*LINES, "Line No"],
            *([*line, "1", "5", "", number] for line, number in zip(lines, numbers, strict=True)),
        ]
        found = run(MAPPING, sheet_of([HEADS, A1, A2], name="Orders"), sheet_of(second, name=LINES_NAME))
        assert [document.reference for document in found.documents] == ready
        told_of = [issue.reason for issue in found.issues]
        assert all('are equal in every cell but "Line No", which only counts the rows' in reason for reason in told_of)


def test_lines_may_take_nothing_of_their_sheet() -> None:
    own = MAPPING.replace("{from: [Item, SKU], required: true}", "{constant: box}").replace(
        "item_quantity: {from: Qty, read: integer}", "item_quantity: {constant: 1}"
    )
    own = own.replace('  cash_on_delivery: {sum: Rate, times: Qty}\n  is_cod: {constant: "true"}\n', "")
    own = own.replace("keep: {bin: {from: Bin}, route: {from: Route}}\n", "")
    orders_sheet = sheet_of([["Order No", "Phone", "Address"], A1[:3]], name="Orders")
    found = run(mapping_of(own), orders_sheet, sheet_of([["Order"], ["A1"]], name=LINES_NAME))
    assert len(found.documents) == 1
