"""The documents of a large file, which are made while one goes through them."""

from itertools import islice

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, mapping_of, notes_in, order, rules, run, sheet_of, states
from support.issues import reasons

from logistics_batch.mapping.documents.documents import BLOCK_DOCUMENTS
from logistics_batch.messages import CATALOGUE
from logistics_batch.model.document import Document, MappedFile

MANY = BLOCK_DOCUMENTS + 30
MIDDLE = BLOCK_DOCUMENTS // 2
WITHOUT_ADDRESS, WITH_A_SECOND_ITEM, WRONG = 11, BLOCK_DOCUMENTS + 5, BLOCK_DOCUMENTS + 8


def rows(first: int, last: int) -> list[list[str]]:
    """A row an order, but for one of two rows, one with a wrong number, and one that the contract refuses."""
    made = []
    for number in range(first, last + 1):
        changed = {"Phone": "98"} if number == WRONG else {"Address": ""} if number == WITHOUT_ADDRESS else {}
        made.append(order(Order_No=f"A{number}", Qty=f"{number}", **changed))
        if number == WITH_A_SECOND_ITEM:
            made.append(order(Order_No=f"A{number}", SKU="cup"))
    return made


def mapped(first: int, last: int) -> MappedFile:
    return run(mapping_of(ORDERS), sheet_of([HEADER, *rows(first, last)]))


def told(documents: list[Document], *, moved: int = 0) -> list[tuple[str, str, tuple[int, ...], tuple[int, ...]]]:
    return [
        (each.key, each.body, tuple(row + moved for row in each.rows), tuple(row + moved for row in each.line_rows))
        for each in documents
    ]


@pytest.fixture(scope="module")
def halves() -> list[tuple[str, str, tuple[int, ...], tuple[int, ...]]]:
    """What the same orders give in two files, each small enough to be made at once."""
    upper, lower = mapped(1, MIDDLE), mapped(MIDDLE + 1, MANY)
    return told(list(upper.documents)) + told(list(lower.documents), moved=MIDDLE)


def test_a_large_file_gives_what_its_halves_give_however_often_it_is_asked(
    halves: list[tuple[str, str, tuple[int, ...], tuple[int, ...]]],
) -> None:
    whole = mapped(1, MANY)
    assert len(whole.documents) == len(halves) == MANY - 2
    assert told(list(whole.documents)) == halves
    assert told(list(whole.documents)) == halves
    assert [issue.cell for issue in whole.issues] == [f"D{WITHOUT_ADDRESS + 1}", f"C{WRONG + 2}"]
    ready = [row for row, state in states(whole).items() if state == "ready"]
    assert ready == [row for document in whole.documents for row in document.rows]


def test_single_documents_are_those_that_rows_point_to() -> None:
    whole = mapped(1, MANY)
    begun = [document.key for document in islice(whole.documents, 3)]
    assert begun == [document.key for document in whole.documents[:3]] == ["A1", "A2", "A3"]
    pointed = whole.rows.select("document", "key").drop_nulls("document").unique(maintain_order=True)
    assert all(whole.documents[place].key == key for place, key in pointed.iter_rows())
    assert whole.documents[-1].key == f"A{MANY}"


def pasted_twice(equal_rows: str, *, note: str = "") -> MappedFile:
    mapping = ORDERS + f"checks: {{equal_rows: {equal_rows}}}\n" if equal_rows else ORDERS
    rows = [ROW, [*ROW[:4], "cup", "1"], ROW, ["A2", *ROW[1:]]]
    notes = ["Note", "first", "", note or "first", ""]
    return run(mapping, sheet_of([[*row, cell] for row, cell in zip([HEADER, *rows], notes, strict=True)]))


def test_rows_equal_in_every_cell_are_told_alone_where_the_mapping_says_so() -> None:
    mapped = pasted_twice("note")
    (note,) = (note for note in notes_in(mapped) if "equal" in note)
    assert note.startswith("The rows 2, 4 are equal, in every cell, to another row of their document")
    assert len(mapped.documents) == 2


def test_a_cell_that_nobody_reads_tells_rows_apart() -> None:
    assert len(pasted_twice("", note="second").documents) == 2


@pytest.mark.parametrize(
    ("numbers", "held"),
    [
        (("1", "2", "3", "4"), True),
        (("1", "2", "3", "1"), True),  # begins anew with each order
        (("01", "02", "03", "04"), True),
        (("2", "3", "4", "5"), False),  # numbers of something else, as of pieces
        (("1", "2", "4", "5"), False),
        (("1", "1", "2", "1"), False),  # boxes
        (("1", "2", "3", ""), False),
        (("10", "40", "30", "10"), False),  # a bin, a batch
    ],
)
def test_a_column_that_counts_the_rows_does_not_tell_them_apart(numbers: tuple[str, ...], held: bool) -> None:
    rows = [["A1", "tea", "2"], ["A1", "mug", "1"], ["A1", "tea", "2"], ["A2", "tea", "2"]]
    cells = [
        [number, key, "Asha", "9876543210", "12 MG Road", *goods]
        for number, (key, *goods) in zip(numbers, rows, strict=True)
    ]
    found = run(ORDERS + "ignore: [Sr No]\n", sheet_of([["Sr No", *HEADER], *cells]))
    assert [document.reference for document in found.documents] == (["A2"] if held else ["A1", "A2"])
    if held:
        assert 'are equal in every cell but "Sr No", which only counts the rows' in reasons(found.rows)[0]


@pytest.mark.parametrize("count", [1, 21])  # of many documents the values are looked at first
def test_what_the_contract_refuses_is_an_issue_at_its_cell(count: int) -> None:
    mapping = ORDERS.replace("  delivery_address", "  delivery_lat: {from: Lat}\n  delivery_address")
    rows = [[f"A{number}", *ROW[1:], "12.9"] for number in range(count)]
    found = run(mapping, sheet_of([[*HEADER, "Lat"], *rows, ["B1", *ROW[1:], "99"]]))
    assert rules(found) == [(f"G{count + 2}", "delivery_lat|latitude")]
    assert len(found.documents) == count


def test_of_several_equal_pairs_each_row_is_told_of_its_own() -> None:
    rows = [ROW, order(SKU="cup"), order(SKU="jug"), ROW, order(SKU="cup"), ["A2", *ROW[1:]]]
    blocked = run(ORDERS, sheet_of([HEADER, *rows]))
    told = [reason.split(" are ")[0].removeprefix("The rows ") for reason in reasons(blocked.rows)]
    assert told == ["2, 5", "3, 6", "2, 5", "2, 5", "3, 6", ""]


def test_a_column_that_counts_and_is_read_tells_rows_apart() -> None:
    mapping = ORDERS + "keep: {line: {from: Sr No}}\n"
    found = run(mapping, sheet_of([["Sr No", *HEADER], ["1", *ROW], ["2", *ROW]]))
    assert len(found.documents) == 1


def test_rows_that_are_no_data_may_be_counted_or_not() -> None:
    for last in ("2", "3"):
        blank = ["", *["" for _ in HEADER]]
        found = run(ORDERS, sheet_of([["Sr No", *HEADER], ["1", *ROW], blank, [last, *ROW]]))
        assert found.documents == ()


def test_a_document_with_equal_rows_is_held_back_unless_the_mapping_allows_them() -> None:
    """Pasted twice they double the goods."""
    blocked = pasted_twice("")
    assert states(blocked) == {2: "blocked equal rows", 3: "blocked equal rows", 4: "blocked equal rows", 5: "ready"}
    assert "The rows 2, 4 are equal" in reasons(blocked.rows)[0]
    words = CATALOGUE[blocked.rows["code"][0]]
    assert "mapping" not in words.remedy and "equal_rows: allow" in words.operator
    allowed = pasted_twice("allow")
    assert len(allowed.documents) == 2
    assert not [note for note in notes_in(allowed) if "equal" in note]
