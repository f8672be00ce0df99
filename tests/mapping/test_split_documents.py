"""Orders of which a rule takes some lines and leaves others: they go out with fewer goods, and it is said."""

import pytest
from mapping.sheets import HEADER, ORDERS, notes_in, order, orders, states

WITH_STATUS = [*HEADER, "Status"]
RULE = "sheet: {only_rows_where: {Status: Ready}}\n"


def notes(*rows: tuple[str, str], mapping: str = ORDERS + RULE) -> list[str]:
    """What is said of orders, each row a number and a status, that is not said of every file."""
    found = orders(*([*order(Order_No=number), status] for number, status in rows), mapping=mapping, header=WITH_STATUS)
    return [note for note in notes_in(found) if "leaves out some rows" in note]


def test_an_order_of_which_a_rule_leaves_out_a_line_is_told_with_its_rows() -> None:
    (note,) = notes(("A1", "Ready"), ("A1", "Hold"), ("A2", "Ready"), ("A3", "Hold"))
    assert note == (
        '`only_rows_where` of the mapping leaves out some rows of a document and takes others: "A1" (row 3). '
        "What is taken goes out without them: is that meant?"
    )


def test_of_many_orders_the_first_are_named() -> None:
    (note,) = notes(*((f"A{number}", status) for number in range(7) for status in ("Ready", "Hold", "Hold")))
    assert 'of 7 documents and takes others: "A0" (rows 3-4), "A1" (rows 6-7)' in note
    assert '"A4" (rows 15-16) and 2 more.' in note


def test_orders_that_are_taken_or_left_as_a_whole_are_not_mentioned() -> None:
    assert notes(("A1", "Ready"), ("A1", "Ready"), ("A2", "Hold"), ("A2", "Hold")) == []


def test_a_rule_that_names_the_rows_that_are_no_data_says_it_plainly() -> None:
    assert notes(("A1", "Ready"), ("A1", "Hold"), mapping=ORDERS + "sheet: {skip_rows_where: {Status: Hold}}\n") == []


@pytest.mark.parametrize(("fill_down", "told"), [("sheet: {fill_down: [Order No], ", 1), ("sheet: {", 0)])
def test_a_line_whose_blank_key_is_filled_down_belongs_to_the_order_above(fill_down: str, told: int) -> None:
    mapping = ORDERS + RULE.replace("sheet: {", fill_down)
    assert len(notes(("A1", "Ready"), ("", "Hold"), mapping=mapping)) == told


def test_the_rows_themselves_are_left_out_as_before() -> None:
    found = orders([*order(), "Ready"], [*order(SKU="mug"), "Hold"], mapping=ORDERS + RULE, header=WITH_STATUS)
    assert states(found) == {2: "ready", 3: "skipped only_rows_where"}
