"""Whatever stands in a sheet: every row but the header has one state, and no document goes out in half."""

import json
from collections import defaultdict

import pytest
from campaigns.scale import size
from hypothesis import given, settings
from hypothesis import strategies as st
from mapping.sheets import HEADER, ORDERS, mapping_of, run, sheet_of

from logistics_batch.model.document import MappedFile, RowState
from logistics_batch.model.payloads import OrderCreate, body_text

FILES = size(60, 2_000)

PHONES = {
    "9876543210": "9876543210",
    "+91 98765 43210": "9876543210",
    "8123456789": "8123456789",
    "": None,
    "12": "bad",
}
QUANTITIES = {"1": 1, "2.0": 2, "1,200": 1200, "": None, "x": "bad", "0": "bad", "#N/A": "bad", "-3": "bad"}

ROWS = st.tuples(
    st.sampled_from(["A1", "A1", " A1 ", "A2", "A3", "A4", ""]),
    st.sampled_from(["Asha", "Asha", 'Mr "X" \\', "", "हिन्दी"]),
    st.sampled_from([*["9876543210"] * 4, *PHONES]),
    st.sampled_from(["12 MG Road", "12 MG Road", "12 MG Road", "9 Lake", ""]),
    st.sampled_from(["tea", "cup", "jug", ""]),
    st.sampled_from([*["1"] * 4, *QUANTITIES]),
    st.sampled_from(["", "", "note"]),
).map(list)
SHEETS = st.tuples(
    st.lists(st.sampled_from([["Acme"], [], ["", "3 November"]]), max_size=3),
    st.lists(
        st.one_of(ROWS, ROWS, ROWS, st.sampled_from([[], HEADER, ["; note"], ["TOTAL", "", "", "", "", "9"]])),
        max_size=30,
    ),
)


def expected(rows: list[tuple[int, list[str]]]) -> dict[str, list[int]]:
    """What may be sent, found row by row in plain Python: key to row numbers."""
    documents: defaultdict[str, list[tuple[int, list[str]]]] = defaultdict(list)
    half: set[str] = set()  # those below which goods without a key stand that may be theirs
    last: tuple[str, list[str]] = ("", [])  # the key above, "" behind a row that lost a key of its own; and its row
    for number, row in rows:
        cells = [cell.strip() for cell in row]
        special = len(cells) < 7 or cells[:6] == HEADER or cells[0] == "TOTAL"
        if special:
            continue
        if cells[0]:
            documents[cells[0]].append((number, cells))
            last = (cells[0], cells)
        elif last[1] and cells[4] and cells[5]:
            is_another = any(cell not in ("", above) for cell, above in zip(cells[1:4], last[1][1:4], strict=True))
            last = ("" if is_another else last[0], last[1])
            half.add(last[0])
    sendable = {}
    for key, lines in documents.items():
        agree = all(len({one(line) for _, line in lines}) == 1 for one in (_name, _phone, _address))
        complete = all(_phone(line) and line[3] and line[4] for _, line in lines)
        readable = all(_phone(line) != "bad" and QUANTITIES[line[5]] != "bad" for _, line in lines)
        differ = len({tuple(line) for _, line in lines}) == len(lines)
        if agree and complete and readable and differ and key not in half:
            sendable[key] = [number for number, _ in lines]
    return sendable


def _name(line: list[str]) -> str:
    return line[1]


def _phone(line: list[str]) -> str | None:
    return PHONES[line[2]]


def _address(line: list[str]) -> str:
    return line[3]


def assert_balanced(mapped: MappedFile, *, rows_in_sheet: int) -> None:
    """What must hold for every file."""
    numbers = mapped.rows["row"].to_list()
    assert sorted([*numbers, mapped.header_row]) == list(range(1, rows_in_sheet + 1))
    assert set(mapped.rows["state"]) <= {state.value for state in RowState}
    state_of = dict(zip(numbers, mapped.rows["state"], strict=True))
    sent = [row for document in mapped.documents for row in document.rows]
    assert sorted(sent) == [row for row in numbers if state_of[row] == RowState.READY]
    assert sorted({issue.row for issue in mapped.issues}) == [
        row for row in numbers if state_of[row] == RowState.INVALID
    ]
    assert all(issue.reason and issue.fix and issue.cell.endswith(str(issue.row)) for issue in mapped.issues)
    places = {row: index for index, document in enumerate(mapped.documents) for row in document.rows}
    assert mapped.rows["document"].to_list() == [places.get(row) for row in numbers]
    unexplained = mapped.rows.filter(
        mapped.rows["state"].is_in(["blocked", "skipped"]) & mapped.rows["values"].is_null()
    )
    assert unexplained.is_empty()


@pytest.mark.slow
@settings(max_examples=FILES, deadline=None)
@given(SHEETS)
def test_every_row_has_one_state_and_what_is_sent_is_what_an_independent_count_expects(
    sheet: tuple[list[list[str]], list[list[str]]],
) -> None:
    titles, below = sheet
    rows = [*titles, [*HEADER, "Note"], *below]
    mapped = run(ORDERS, sheet_of(rows))
    assert_balanced(mapped, rows_in_sheet=len(rows))
    numbered = [(number, row) for number, row in enumerate(rows, 1) if number > len(titles) + 1]
    assert {document.key: list(document.rows) for document in mapped.documents} == expected(numbered)
    for document in mapped.documents:
        payload = OrderCreate.model_validate_json(document.body)
        assert body_text(payload) == document.body
        assert [item["item_name"] for item in json.loads(document.body)["item_details"]] == [
            rows[row - 1][4] for row in document.line_rows
        ]


FILLED = mapping_of(ORDERS + "sheet: {fill_down: [Order No, Name, Phone, Address]}\n")


@pytest.mark.slow
@settings(max_examples=FILES, deadline=None)
@given(SHEETS)
def test_totals_balance_with_fill_down_too(sheet: tuple[list[list[str]], list[list[str]]]) -> None:
    titles, below = sheet
    rows = [*titles, [*HEADER, "Note"], *below]
    assert_balanced(run(FILLED, sheet_of(rows)), rows_in_sheet=len(rows))


JUNK = st.lists(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12), max_size=7), max_size=12
)


@pytest.mark.slow
@settings(max_examples=FILES, deadline=None)
@given(JUNK)
def test_totals_balance_whatever_the_cells_hold(junk: list[list[str]]) -> None:
    rows = [[*HEADER, "Note"], *junk]
    assert_balanced(run(FILLED, sheet_of(rows)), rows_in_sheet=len(rows))
