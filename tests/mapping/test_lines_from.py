"""Several lines in one row: pieces of a cell, parallel cells, numbered columns; rows count once, cells are true."""

import json
import resource

import pytest
from mapping.sheets import DAY, mapping_of, notes_in, orders, run, sheet_of, states
from support.issues import reasons

from logistics_batch.errors import FileHeld, SpecificationError
from logistics_batch.mapping.lines.exploded import numbered_columns
from logistics_batch.mapping.loaded import RunValues
from logistics_batch.mapping.whole_file import legible_rows
from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import CellFact

HEAD = """
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile}
  delivery_address: {from: Address}
"""
PATTERN = (
    HEAD
    + """
lines_from: {split: Items, on: ["|", ";"], pattern: "{sku} x {qty}"}
lines: {item_name: {from: sku, required: true}, item_quantity: {from: qty, read: integer}}
"""
)
PARALLEL = (
    HEAD
    + """
lines_from: {split: [SKU, Qty], on: "|"}
lines: {item_name: {from: [SKU, Item]}, item_quantity: {from: Qty, required: true}}
"""
)
NUMBERED = (
    HEAD
    + """
lines_from: {columns: ["SKU {n}", "Qty {n}"]}
lines: {item_name: {from: "SKU {n}"}, item_quantity: {from: "Qty {n}"}}
"""
)
NUMBERED_HEADER = ["Order No", "Phone", "Address", "SKU 1", "Qty 1", "SKU-3", "qty 3"]


def packed(*items: str, text: str = PATTERN) -> MappedFile:
    """Orders A1, A2 … with these cells of items."""
    rows = [[f"A{number}", "9876543210", "12 MG Road", item] for number, item in enumerate(items, 1)]
    return orders(*rows, mapping=text, header=["Order No", "Phone", "Address", "Items"])


def test_items_may_be_written_in_several_ways() -> None:
    several = PATTERN.replace('"{sku} x {qty}"', '["{sku} x {qty}", "{qty} nos. of {sku}", "{sku} ({qty})"]')
    found = packed("tea x 2; 3 nos. of rice; cup (1)", "4 nos. of box x 2", text=several)
    assert items_of(found) == [("tea", 2), ("rice", 3), ("cup", 1)]
    assert [issue.cell for issue in found.issues] == ["D3"]  # four boxes, or two of something
    assert "different parts" in complaints(PATTERN.replace('"{sku} x {qty}"', '["{sku} x {qty}", "{sku} - {n}"]'))


def test_numbered_columns_may_have_zeros_before_their_numbers() -> None:
    header = ["Order No", "Phone", "Address", *(f"{name} {n:02}" for n in range(1, 11) for name in ("SKU", "Qty"))]
    row = ["A1", "9876543210", "12 MG Road", "tea", "2", "dal", "4", *[""] * 14, "jug", "1"]
    found = orders(row, mapping=NUMBERED, header=header)
    assert items_of(found) == [("tea", 2), ("dal", 4), ("jug", 1)]
    assert notes_in(found) == ()


def items_of(mapped: MappedFile, place: int = 0) -> list[tuple[str, int]]:
    body = json.loads(mapped.documents[place].body)
    return [(item["item_name"], item["item_quantity"]) for item in body["item_details"]]


def complaints(text: str) -> str:
    with pytest.raises(SpecificationError) as caught:
        mapping_of(text)
    return str(caught.value)


def test_a_cell_of_several_items_becomes_lines_of_one_row() -> None:
    mapped = packed("tea x 2; milk X 1 | Green  tea x2;")
    assert items_of(mapped) == [("tea", 2), ("milk", 1), ("Green  tea", 2)]
    assert (mapped.documents[0].rows, mapped.documents[0].line_rows) == ((2,), (2, 2, 2))
    assert mapped.rows.height == 1


def test_a_piece_that_does_not_fit_is_named_at_its_cell() -> None:
    mapped = packed("tea x 2; milk, one", "tea x 1")
    (issue,) = mapped.issues
    assert (issue.row, issue.cell, issue.rule, issue.value) == (2, "D2", "lines_from|pattern", "tea x 2; milk, one")
    assert issue.reason == '"milk, one" cannot be read as one item.'
    assert issue.fix == "Write each item like SKU x 2."
    assert states(mapped) == {2: "invalid", 3: "ready"}


@pytest.mark.parametrize("piece", ["box 2", "tea 2", "x 2", "tea x", "tea x two", "tea x 2 pcs"])
def test_what_could_be_something_else_is_not_guessed(piece: str) -> None:
    assert [issue.rule for issue in packed(piece).issues] == ["lines_from|pattern"]


def test_a_name_may_hold_the_pattern_s_own_words() -> None:
    assert items_of(packed("A x B x 2")) == [("A x B", 2)]
    assert items_of(packed("2 x A x B", text=PATTERN.replace("{sku} x {qty}", "{qty} x {sku}"))) == [("A x B", 2)]


def test_what_can_be_read_in_two_ways_is_refused() -> None:
    text = HEAD + 'lines_from: {split: Items, pattern: "{a}-{b}"}\nlines: {item_name: {from: a}, brand: {from: b}}\n'
    assert [issue.rule for issue in packed("x-y-z", text=text).issues] == ["lines_from|pattern"]
    assert json.loads(packed("x-y", text=text).documents[0].body)["item_details"] == [{"item_name": "x", "brand": "y"}]


def test_a_bad_number_in_a_piece_is_an_issue_of_the_cell() -> None:
    (issue,) = packed("tea x 0; milk x 1").issues
    assert (issue.cell, issue.column, issue.value, issue.rule) == ("D2", "Items", "0", "item_quantity|quantity")


def test_a_blank_cell_of_items_is_said_by_its_own_name() -> None:
    (issue,) = packed("").issues
    assert (issue.cell, issue.reason) == ("D2", '"Items" is required and the cell is blank.')


def test_titles_totals_blanks_and_repeated_headers_stay_one_row_each() -> None:
    header = ["Order No", "Phone", "Address", "Items"]
    sheet = sheet_of(
        [
            ["Acme", "", "", ""],
            header,
            ["A1", "9876543210", "x", "tea x 2;milk x 1"],
            ["", "", "", ""],
            header,
            ["A1", "9876543210", "x", "cup x 1"],
            ["Total", "", "", "4 items"],
        ]
    )
    mapped = run(PATTERN, sheet)
    assert states(mapped) == {
        1: "skipped title",
        3: "ready",
        4: "skipped blank",
        5: "skipped repeated header",
        6: "ready",
        7: "skipped total",
    }
    assert (mapped.header_row, mapped.columns) == (2, tuple(header))
    assert (mapped.documents[0].rows, mapped.documents[0].line_rows) == ((3, 6), (3, 3, 6))


def test_a_second_table_below_rows_of_several_items_holds_the_file() -> None:
    header = ["Order No", "Phone", "Address", "Items"]
    rows = [header, ["A1", "9876543210", "x", "tea x 2"], [*header[:3], "Articles"], ["A2", "9876543210", "x", "1 tea"]]
    with pytest.raises(FileHeld, match="row 3 below the header row 1 names other columns"):
        run(PATTERN, sheet_of(rows))


def test_rows_in_words_are_those_of_the_sheet() -> None:
    rows = [
        ["A1", "9876543210", "x", "a x 1;b x 2;c x 3"],
        ["A1", "98", "x", "d x 1"],
        ["A1", "9876543210", "x", "e x 1"],
    ]
    mapped = orders(*rows, mapping=PATTERN, header=["Order No", "Phone", "Address", "Items"])
    assert reasons(mapped.rows.filter(row=4))[0] == "The document is not sent: row 3 is invalid."


def test_the_column_of_items_must_be_there_and_is_not_unknown() -> None:
    with pytest.raises(FileHeld, match='"Items" is missing'):
        orders(["A1", "9876543210", "x"], mapping=PATTERN, header=["Order No", "Phone", "Address"])
    assert notes_in(packed("tea x 1")) == ()


def test_parallel_cells_belong_together_by_their_places() -> None:
    header = ["Order No", "Phone", "Address", "Item", "Qty"]
    mapped = orders(
        ["A1", "9876543210", "x", "tea|milk|", "2| 1|"],
        mapping=PARALLEL.replace("[SKU, Qty]", "[Item, Qty]"),
        header=header,
    )
    assert items_of(mapped) == [("tea", 2), ("milk", 1)]


def test_parallel_cells_must_hold_equally_many() -> None:
    header = ["Order No", "Phone", "Address", "SKU", "Qty"]
    mapped = orders(
        ["A1", "9876543210", "x", "tea|milk", "2"],
        ["A2", "9876543210", "x", "tea|milk", "2|"],
        ["A3", "9876543210", "x", "tea", "2"],
        mapping=PARALLEL,
        header=header,
    )
    assert [(issue.cell, issue.rule, issue.value) for issue in mapped.issues] == [
        ("E2", "lines_from|pieces", "2"),
        ("E3", "lines_from|half_filled", "2|"),
    ]
    assert mapped.issues[0].reason == '"SKU" holds 2 and "Qty" holds 1 values.'
    assert states(mapped)[4] == "ready"


def test_a_gap_in_parallel_cells_is_an_issue_though_nothing_asks_for_the_value() -> None:
    header = ["Order No", "Phone", "Address", "SKU", "Qty"]
    mapping = PARALLEL.replace(", required: true", "")
    mapped = orders(["A1", "9876543210", "x", "tea|milk|", "5||"], mapping=mapping, header=header)
    assert [(issue.cell, issue.rule) for issue in mapped.issues] == [("E2", "lines_from|half_filled")]
    assert mapped.issues[0].reason == '"Qty" has nothing for one of its items.'


def test_numbered_columns_are_lines_and_gaps_are_no_harm() -> None:
    rows = [["A1", "9876543210", "x", "tea", "2", "milk", "1"], ["A2", "9876543210", "x", "", "", "cup", "3"]]
    mapped = orders(*rows, mapping=NUMBERED, header=NUMBERED_HEADER)
    assert (items_of(mapped), items_of(mapped, 1)) == ([("tea", 2), ("milk", 1)], [("cup", 3)])
    gap = 'Numbered columns that others follow are missing: "SKU 2", "Qty 2".'
    assert (mapped.columns, notes_in(mapped)) == (tuple(NUMBERED_HEADER), (gap,))


def test_a_half_filled_pair_is_an_issue_at_the_empty_cell() -> None:
    rows = [["A1", "9876543210", "x", "tea", "2", "milk", ""], ["A2", "9876543210", "x", "", "4", "", ""]]
    mapped = orders(*rows, mapping=NUMBERED, header=NUMBERED_HEADER)
    assert [(issue.cell, issue.rule, issue.column) for issue in mapped.issues] == [
        ("G2", "lines_from|half_filled", "qty 3"),
        ("D3", "lines_from|half_filled", "SKU 1"),
    ]


def items(*cells: str) -> MappedFile:
    """One order with a row of numbered cells, each of which holds a whole item."""
    text = PATTERN.replace('split: Items, on: ["|", ";"]', 'columns: "Item {n}"')
    header = ["Order No", "Phone", "Address", *(f"Item {number}" for number in range(1, len(cells) + 1))]
    return orders(["A1", "9876543210", "x", *cells], mapping=text, header=header)


def test_numbered_columns_may_each_hold_a_whole_item() -> None:
    mapped = items("tea x 2", "", "rice x 1")
    assert items_of(mapped) == [("tea", 2), ("rice", 1)]
    assert (mapped.columns[-1], notes_in(mapped), mapped.documents[0].rows) == ("Item 3", (), (2,))


def test_a_numbered_cell_that_is_no_item_is_an_issue_at_its_own_address() -> None:
    mapped = items("tea x 2", "two of rice")
    assert [(issue.cell, issue.rule, issue.column, issue.value) for issue in mapped.issues] == [
        ("E2", "lines_from|pattern", "Item 2", "two of rice")
    ]
    assert [(issue.cell, issue.rule) for issue in items("tea x 2", "rice x 0").issues] == [
        ("E2", "item_quantity|quantity")
    ]
    assert states(items("", "")) == {2: "invalid"}


def test_a_bad_cell_of_a_numbered_column_has_its_own_address() -> None:
    mapped = orders(["A1", "9876543210", "x", "tea", "2", "milk", "none"], mapping=NUMBERED, header=NUMBERED_HEADER)
    assert [(issue.cell, issue.value, issue.rule) for issue in mapped.issues] == [
        ("G2", "none", "item_quantity|integer")
    ]


def test_a_damaged_cell_of_a_numbered_column_is_found() -> None:
    rows = [NUMBERED_HEADER, ["A1", "9876543210", "x", "tea", "2", "12345678901234567000", "1"]]
    mapped = run(NUMBERED, sheet_of(rows, types=[(2, 6, CellFact.IMPRECISE)]))
    assert [(issue.cell, issue.rule) for issue in mapped.issues] == [("F2", "item_name|imprecise")]


def test_numbered_columns_are_found_as_people_write_them() -> None:
    texts = ["SKU 1", "sku-2", "SKU (3)", "SKU", "Line 1 SKU", "SKU 0", "SKU 10"]
    assert numbered_columns("SKU {n}", texts) == {1: 1, 2: 2, 3: 3, 10: 7}
    assert numbered_columns("line_item_{n}", ["line_item_1", "Line Item 2"]) == {1: 1, 2: 2}


def test_without_a_numbered_column_the_file_is_held() -> None:
    with pytest.raises(FileHeld, match='"SKU 1"'):
        orders(["A1", "9876543210", "x"], mapping=NUMBERED, header=["Order No", "Phone", "Address"])


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("{split: Items, columns: ['A {n}']}", "exactly one of `split` and `columns`"),
        ("{}", "exactly one of `split` and `columns`"),
        ("{columns: [SKU]}", "`SKU` has no place for the number"),
        ("{columns: ['SKU {n}'], on: '|'}", "`on` belongs to `split`"),
        ("{columns: ['A {n}', 'B {n}'], pattern: '{a} x {b}'}", "reads the pieces of one column"),
        ("{split: Items, pattern: 'sku x qty'}", "names no part"),
        ("{split: Items, pattern: '{a}{b}'}", "touch each other"),
        ("{split: Items, pattern: '{a} {a}'}", "names a part twice"),
        ("{split: [A, B], pattern: '{a} x {b}'}", "reads the pieces of one column"),
        ("{split: Items, pattern: '{sku} x {qty}', pieces: 3}", "Unknown key `pieces`"),
        ("{split: Items, pattern: '{name} x {qty}'}", "`name` is not used"),
    ],
)
def test_each_fault_of_the_form_is_found_at_load(form: str, said: str) -> None:
    text = f"{HEAD}lines_from: {form}\nlines: {{item_name: {{from: sku}}, item_quantity: {{from: qty}}}}\n"
    assert said in complaints(text)


def test_a_numbered_column_that_is_not_made_is_found_at_load() -> None:
    """All lines would go out without quantities."""
    said = complaints(NUMBERED.replace('["SKU {n}", "Qty {n}"]', '"SKU {n}"'))
    assert "`Qty {n}` is not among the columns that `lines_from` makes." in said
    assert "columns: [SKU {n}, Qty {n}]" in said


def test_what_differs_by_line_is_no_field_of_the_document() -> None:
    text = PATTERN.replace("  delivery_address: {from: Address}", "  delivery_address: {from: sku}")
    assert "`sku` differs from line to line" in complaints(text)
    assert "`lines` is missing" in complaints(HEAD + "lines_from: {split: Items, pattern: '{sku}'}\n")


def test_rows_that_hold_several_equal_lines_are_each_told_once_of_the_rows_that_they_equal() -> None:
    lines = [["A1", "9876543210", "1 Road", "Cup x 2|Pan x 1"]] * 2
    mapped = orders(*lines, mapping=PATTERN, header=["Order No", "Phone", "Address", "Items"])
    assert mapped.rows["row"].to_list() == [2, 3]
    assert mapped.rows["code"].to_list() == ["equal rows"] * 2
    assert mapped.documents == ()


def test_one_long_cell_gets_its_answer_and_does_not_hold_up_the_run() -> None:
    """Tried in every way, this cell, as long as a spreadsheet allows, would take days."""
    three_parts = PATTERN.replace("{sku} x {qty}", "{sku} - {colour} - {size} x {qty}")
    three_parts = three_parts.replace("{from: sku,", "{join: [sku, colour, size], with: ' ',")
    mapped = packed("a - " * 8_000 + "x z", "Shirt - red  - XL x 2", text=three_parts)
    assert list(states(mapped).values()) == ["invalid", "ready"]
    assert items_of(mapped) == [("Shirt red XL", 2)]
    (issue,) = mapped.issues
    assert len(issue.reason) < 300


PRICED = NUMBERED.replace('"Qty {n}"]', '"Qty {n}", "Price {n}"]').replace(
    'item_quantity: {from: "Qty {n}"}', 'item_quantity: {from: "Qty {n}"}, item_price_per_each: {from: "Price {n}"}'
)
WIDE = ["Order No", "Phone", "Address", "SKU 1", "Qty 1", "Price 1", "SKU 2", "Qty 2"]


def test_an_item_of_which_a_numbered_column_is_missing_is_not_sent_without_it() -> None:
    rows = [["A1", "9876543210", "x", "tea", "2", "50"], ["A2", "9876543210", "x", "tea", "2", "50", "rice", "1"]]
    mapped = orders(*rows, mapping=PRICED, header=WIDE)
    assert states(mapped) == {2: "ready", 3: "invalid"}
    (issue,) = mapped.issues
    assert (issue.cell, issue.rule, issue.value) == ("G3", "lines_from|no_column", "rice")
    assert issue.reason == '"SKU 2" is filled, and the sheet has no column "Price 2" beside it.'
    assert issue.fix == 'Add the column, or empty "SKU 2".'
    assert notes_in(mapped) == ('The sheet has "SKU 2", "Qty 2" and no column "Price 2" beside it.',)
    only_quantity = orders([*rows[0], "", "1"], mapping=PRICED, header=WIDE)
    assert ("H2", "lines_from|no_column") in [(issue.cell, issue.rule) for issue in only_quantity.issues]


def test_a_number_that_is_passed_over_is_told() -> None:
    row = ["A1", "9876543210", "12 MG Road", "tea", "2", "dal", "4"]
    told = "Numbered columns that others follow are missing: "
    assert notes_in(orders(row, mapping=NUMBERED, header=NUMBERED_HEADER)) == (f'{told}"SKU 2", "Qty 2".',)
    text = HEAD + 'lines_from: {columns: "Item {n}", pattern: "{sku} x {qty}"}\n'
    text += "lines: {item_name: {from: sku}, item_quantity: {from: qty}}\n"
    header = ["Order No", "Phone", "Address", "Item 2", "Item 3"]
    assert notes_in(orders([*row[:3], "tea x 1"], mapping=text, header=header)) == (f'{told}"Item 1".',)


def test_numbered_columns_that_must_be_there_hold_the_file_without_them() -> None:
    asked = NUMBERED.replace('"Qty {n}"]', '"Qty {n}"], up_to: 3')
    header = ["Order No", "Phone", "Address", "SKU 1", "Qty 1", "SKU 2", "Qty 2", "Qty 3"]
    row = ["A1", "9876543210", "12 MG Road", "tea", "2", "", "", ""]
    with pytest.raises(FileHeld, match='the required column "SKU 3" is missing'):
        orders(row, mapping=asked, header=header)
    assert items_of(orders(row, mapping=asked, header=[*header, "sku_3"])) == [("tea", 2)]
    assert "`up_to` belongs to `columns`" in complaints(PARALLEL.replace('on: "|"', 'on: "|", up_to: 3'))


def test_a_row_that_is_blank_beside_its_items_repeats_no_printed_row() -> None:
    """The lower of two printed rows may name the numbered columns alone."""
    mapping = mapping_of(
        NUMBERED.replace(
            "key: [Order No]", "key: [Order No]\nsheet: {header_rows: 2, fill_down: [Order No, Phone, Address]}"
        )
    )
    upper = ["Order No", "Phone", "Address", "", "", "", ""]
    lower = ["", "", "", "SKU 1", "Qty 1", "SKU 2", "Qty 2"]
    rows = [upper, lower, ["A", "9876543210", "12 MG Road", "tea", "1", "milk", "2"], ["", "", "", "salt", "3", "", ""]]
    found = run(mapping, sheet_of(rows))
    items = [line["item_name"] for document in found.documents for line in json.loads(document.body)["item_details"]]
    assert items == ["tea", "milk", "salt"]


@pytest.mark.parametrize(
    ("names", "counts", "held"),
    [("", "2||", (0, 2)), ("", "|", (0, 1)), ("a|b||", "1", (4, 1))],
)
def test_cells_with_marks_at_their_ends_say_how_many_they_hold(names: str, counts: str, held: tuple[int, int]) -> None:
    row = ["A", "9876543210", "12 MG Road", names, counts]
    found = run(mapping_of(PARALLEL), sheet_of([["Order No", "Phone", "Address", "SKU", "Qty"], row]))
    told = {issue.reason for issue in found.issues}
    assert any(f'"SKU" holds {held[0]} and "Qty" holds {held[1]} values.' in each for each in told), told


def test_many_pieces_in_a_cell_take_little() -> None:
    """Each piece once: the list of all of them beside each would be more than any memory."""
    row = ["A", "9876543210", "12 MG Road", "|".join(["tea"] * 16_000), "|".join(["1"] * 16_000)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mapping = mapping_of(f"{PARALLEL}checks: {{equal_rows: allow}}\n")
    found = run(mapping, sheet_of([["Order No", "Phone", "Address", "SKU", "Qty"], row]))
    assert [len(json.loads(document.body)["item_details"]) for document in found.documents] == [16_000]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 << 10  # KB


def test_what_can_be_read_of_rows_that_make_several_lines_is_nothing() -> None:
    assert legible_rows(
        mapping_of(PATTERN), [sheet_of([["a"]])], run_values=RunValues("a.csv", DAY, "Asia/Kolkata")
    ).is_empty()
