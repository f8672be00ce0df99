"""Orders of which a rule takes some lines and leaves others: they go out with fewer goods, and it is said."""

import pytest
from mapping.sheets import HEADER, ORDERS, notes_in, order, orders, run, sheet_of, states
from support.cell_facts import with_facts
from support.issues import reasons

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


def test_an_order_that_goes_out_without_a_cancelled_line_is_told() -> None:
    (note,) = notes(("A1", "Ready"), ("A1", "Hold"), mapping=ORDERS + "sheet: {skip_rows_where: {Status: Hold}}\n")
    assert note.startswith('`skip_rows_where` of the mapping leaves out some rows of a document and takes others: "A1"')


def test_a_rule_that_names_what_is_no_goods_says_it_plainly() -> None:
    mapping = ORDERS + "sheet: {skip_rows_where: {SKU: Freight*, Status: Total}}\n"
    rows = [[*order(), "x"], [*order(SKU="Freight charges"), "x"], [*order(Qty="3"), "Total"]]
    rows += [["A1", "", "", "", "", "3", "Total"]]
    found = orders(*rows, mapping=mapping, header=WITH_STATUS)
    assert [state.split()[0] for state in states(found).values()] == ["ready", "skipped", "skipped", "skipped"]
    assert [note for note in notes_in(found) if "leaves out some rows" in note] == []


@pytest.mark.parametrize(("fill_down", "told"), [("sheet: {fill_down: [Order No], ", 1), ("sheet: {", 0)])
def test_a_line_whose_blank_key_is_filled_down_belongs_to_the_order_above(fill_down: str, told: int) -> None:
    mapping = ORDERS + RULE.replace("sheet: {", fill_down)
    assert len(notes(("A1", "Ready"), ("", "Hold"), mapping=mapping)) == told


def test_the_rows_themselves_are_left_out_as_before() -> None:
    found = orders([*order(), "Ready"], [*order(SKU="mug"), "Hold"], mapping=ORDERS + RULE, header=WITH_STATUS)
    assert states(found) == {2: "ready", 3: "skipped only_rows_where"}


ONCE = "fill_down: [Order No, Name, Phone, Address]"
SKIPS, TAKES = "skip_rows_where: {Status: Cancelled}", "only_rows_where: {Status: Ready}"


def despatch(
    rule: str, *, first: str, others: tuple[str, str], merged: tuple[int, ...], once: str = ONCE
) -> dict[int, str]:
    """The states of an order of three lines and one of a single line below it; merged: columns over the first's."""
    lines = [[*order(), first], ["", "", "", "", "rice", "2", others[0]], ["", "", "", "", "salt", "2", others[1]]]
    sheet = sheet_of([WITH_STATUS, *lines, [*order(Order_No="A2"), "Ready"]])
    sheet = with_facts(sheet, merged=[(2, column, 4, column) for column in merged])
    return states(run(f"{ORDERS}sheet: {{{rule}, {once}}}\n", sheet))


@pytest.mark.parametrize("once", [ONCE, ONCE.replace("]", ", Status]")], ids=["as drafted", "filled down"])
def test_a_merged_cell_of_a_rule_counts_for_every_row_that_it_covers(once: str) -> None:
    """The order was cancelled as a whole; its second and third line went out as an order of their own."""
    found = despatch(SKIPS, first="Cancelled", others=("", ""), merged=(1, 2, 3, 4, 7), once=once)
    assert found == {**dict.fromkeys((2, 3, 4), "skipped skip_rows_where"), 5: "ready"}


def test_lines_below_a_merged_status_that_is_taken_are_taken_with_it() -> None:
    found = despatch(TAKES, first="Ready", others=("", ""), merged=(1, 2, 3, 4, 7))
    assert found == dict.fromkeys((2, 3, 4, 5), "ready")


@pytest.mark.parametrize(
    ("rule", "first", "held"),
    [(SKIPS, "Cancelled", (3, 4)), ('skip_rows_where: {Status: ["*"]}', "28.11.26", (3, 4)), (TAKES, "Ready", (2,))],
    ids=["cancelled", "cancelled on a day", "ready"],
)
def test_an_order_whose_first_line_alone_has_a_status_is_not_sent_in_half(
    rule: str, first: str, held: tuple[int, ...]
) -> None:
    """Its number and its address are merged over its lines, and the status stands in the first: of which is it?"""
    found = despatch(rule, first=first, others=("", ""), merged=(1, 2, 3, 4))
    gone = {row: f"skipped {rule.split(':')[0]}" for row in (2, 3, 4) if row not in held}
    last = "skipped skip_rows_where" if "*" in rule else "ready"
    assert found == {**gone, **dict.fromkeys(held, "blocked half document"), 5: last}


@pytest.mark.parametrize("rule", [SKIPS, TAKES])
def test_lines_that_each_have_a_status_of_their_own_are_taken_and_left_one_by_one(rule: str) -> None:
    for cancelled in range(3):
        said = ["Cancelled" if line == cancelled else "Ready" for line in range(3)]
        found = despatch(rule, first=said[0], others=(said[1], said[2]), merged=(1, 2, 3, 4))
        gone = {cancelled + 2: f"skipped {rule.split(':')[0]}"}
        assert found == {**dict.fromkeys((2, 3, 4, 5), "ready"), **gone}


def test_a_line_below_the_first_may_be_struck_off_by_a_mark_that_the_others_lack() -> None:
    found = despatch(SKIPS, first="", others=("Cancelled", ""), merged=(1, 2, 3, 4))
    assert found == {**dict.fromkeys((2, 4, 5), "ready"), 3: "skipped skip_rows_where"}


def test_rows_that_repeat_the_cells_of_their_order_speak_for_themselves() -> None:
    rows = [[*order(), "Cancelled"], [*order(SKU="rice"), ""], [*order(SKU="salt"), ""]]
    found = orders(*rows, mapping=f"{ORDERS}sheet: {{{SKIPS}}}\n", header=WITH_STATUS)
    assert states(found) == {2: "skipped skip_rows_where", 3: "ready", 4: "ready"}
    assert any("leaves out some rows of a document" in note for note in notes_in(found))


def test_an_order_that_is_held_for_its_rule_says_which_rows_and_what_to_do() -> None:
    sheet = sheet_of([WITH_STATUS, [*order(), "Cancelled"], ["", "", "", "", "rice", "2", ""]])
    found = run(f"{ORDERS}sheet: {{{SKIPS}, {ONCE}}}\n", with_facts(sheet, merged=[(2, n, 3, n) for n in (1, 2, 3, 4)]))
    assert reasons(found.rows)[1] == (
        'The document is not sent: by "Status" the mapping leaves out its row 2 and takes row 3. '
        "The column is not filled in each of them."
    )
    assert [note for note in notes_in(found) if "leaves out some rows" in note] == []
