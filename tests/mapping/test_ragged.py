"""Rows of a text file that have more or fewer cells than the header are not sent with shifted values."""

from dataclasses import replace

import polars as pl
from mapping.sheets import HEADER, ORDERS, ROW, notes_in, order, run, sheet_of, states

from logistics_batch.model.document import MappedFile

WITH_PRICE = ORDERS + "  item_price_per_each: {from: Price, read: money}\n"


def csv_rows(
    *rows: list[str], mapping: str = WITH_PRICE, header: list[str] | None = None, ends_open: bool = False
) -> MappedFile:
    """Rows as they stand in a text file, each with as many cells as are written."""
    every = [header or [*HEADER, "Price"], *rows]
    sheet = replace(sheet_of(every), cell_counts=pl.Series([len(row) for row in every]), ends_open=ends_open)
    return run(mapping, sheet)


def test_a_row_with_a_comma_too_many_is_not_sent_shifted() -> None:
    mapped = csv_rows([*ROW, "5"], [*order(Order_No="A2")[:5], "2", "1", "200"])
    assert states(mapped) == {2: "ready", 3: "invalid"}
    assert mapped.issues[0].rule == "row|cells"
    assert mapped.issues[0].reason == "The row has 8 cells, the header 7: is a comma not in quotes?"


def test_its_document_stays_behind() -> None:
    mapped = csv_rows([*ROW, "5"], [*ROW[:5], "2", "1", "200"])
    assert states(mapped) == {2: "blocked sibling", 3: "invalid"} and not mapped.documents


def test_empty_cells_at_the_end_are_fine() -> None:
    assert states(csv_rows([*ROW, "5", "", ""], [*order(Order_No="A2"), ""])) == {2: "ready", 3: "ready"}


def test_remarks_right_of_the_table_of_an_exported_sheet_are_fine() -> None:
    """Such a program writes every row, the header too, at full width."""
    mapped = csv_rows([*ROW, "5", "call first"], header=[*HEADER, "Price", ""])
    assert states(mapped) == {2: "ready"}


def test_short_rows_stay_where_the_program_leaves_empty_cells_at_the_end_out() -> None:
    """So many rows that end at one place, beside whole ones, have not each lost a separator."""
    short = [order(Order_No=f"B{number}") for number in range(5)]
    mapped = csv_rows([*ROW, "5"], *short)
    assert set(states(mapped).values()) == {"ready"}
    assert 'Rows 3-7 end before "Price": taken as blank there.' in notes_in(mapped)


def test_a_row_that_lost_a_separator_is_not_sent_with_its_price_as_quantity() -> None:
    lost = [*order(Order_No="A2")[:4], "tea 2", "50"]
    mapped = csv_rows([*ROW, "5"], lost)
    assert states(mapped) == {2: "ready", 3: "invalid"}
    assert "6 cells, the header 7: is a cell missing?" in mapped.issues[0].reason
    assert "if the sender leaves out empty cells at the end" in mapped.issues[0].fix


def test_where_all_rows_are_short_the_header_may_be_the_one_with_a_cell_too_many() -> None:
    assert set(states(csv_rows(*[order(Order_No=f"B{number}") for number in range(9)])).values()) == {"invalid"}


def test_a_mapping_may_say_that_its_sender_leaves_empty_cells_at_the_end_out() -> None:
    mapping = WITH_PRICE + "checks: {short_rows: allow}\n"
    mapped = csv_rows([*ROW, "5", ""], order(Order_No="A2"), order(Order_No="A3")[:4], mapping=mapping)
    assert states(mapped) == {2: "ready", 3: "ready", 4: "invalid"}, "SKU is required"
    assert 'Row 3 ends before "Price": taken as blank there.' in notes_in(mapped)


def test_a_short_row_lacks_a_cell_where_other_rows_end_in_empty_ones() -> None:
    mapped = csv_rows([*ROW, ""], order(Order_No="A2"))
    assert states(mapped) == {2: "ready", 3: "invalid"}
    assert "6 cells, the header 7: is a cell missing?" in mapped.issues[0].reason


def test_a_row_that_ends_before_a_required_column_is_short() -> None:
    mapped = csv_rows([*ROW, "5"], order(Order_No="A2")[:4])
    assert [issue.rule for issue in mapped.issues] == ["row|cells", "item_name|required"]


def test_rows_that_are_filled_down_may_be_short() -> None:
    mapping = ORDERS + "sheet: {fill_down: [Order No, Name, Phone, Address]}\n"
    header = ["SKU", "Qty", *HEADER[:4]]
    mapped = csv_rows(["tea", "2", *ROW[:4]], ["cup", "1"], mapping=mapping, header=header)
    assert states(mapped) == {2: "ready", 3: "ready"}


def test_totals_and_titles_have_any_width() -> None:
    mapped = csv_rows([*ROW, "5"], ["TOTAL", "9"], ["; note"])
    assert states(mapped) == {2: "ready", 3: "skipped total", 4: "skipped comment"}


def test_a_file_that_ends_within_its_last_row_was_cut_off() -> None:
    """The last value is a beginning of what stood there: 10 for 100."""
    rows = [[*ROW[:5], "7", "5"], [*order(Order_No="A2")[:5], "1"]]
    whole, cut = csv_rows(*rows, mapping=ORDERS), csv_rows(*rows, mapping=ORDERS, ends_open=True)
    assert states(whole) == {2: "ready", 3: "ready"}
    assert states(cut) == {2: "ready", 3: "invalid"} and cut.issues[0].rule == "row|cut_off"
    assert "it has 6 cells, others 7" in cut.issues[0].reason


def test_a_file_without_a_last_line_break_is_whole_where_its_last_row_is_as_wide_as_others() -> None:
    short = [*order(Order_No="A2")[:5], "1"]
    assert states(csv_rows(short, [*ROW[:5], "1"], mapping=ORDERS, ends_open=True)) == {2: "ready", 3: "ready"}
    assert states(csv_rows([*ROW, "5"], ["TOTAL", "1"], ends_open=True)) == {2: "ready", 3: "skipped total"}
