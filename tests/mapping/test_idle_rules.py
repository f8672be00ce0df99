"""A rule on a column that no sheet has holds the file: rows would go out that the mapping leaves out."""

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, mapping_of, orders, run, sheet_of, states

from logistics_batch.errors import FileHeld, SpecificationError

DRAFTS = ORDERS.replace("key:", "sheet: {skip_rows_where: {Status: [Draft]}}\nkey:")
RETURNS = ORDERS.replace("lines:", "  return_address: {from: Ret, when: {Return: [Y]}}\nlines:")
TWO_SHEETS = DRAFTS.replace("lines:", "lines_sheet: {name: Items, key: [Order]}\nlines:")
GIFTS = TWO_SHEETS + "  brand: {from: Note, when: {Gift: [Y]}}\n"


def held(mapping: str, header: list[str]) -> FileHeld:
    with pytest.raises(FileHeld) as raised:
        orders([*ROW, "Draft", "Y"], mapping=mapping, header=[*HEADER, *header])
    return raised.value


def test_a_rule_that_skips_rows_by_a_column_that_is_not_there_holds_the_file() -> None:
    told = held(DRAFTS, ["State"])
    assert told.message == 'By the mapping rows are left out by the column "Status", and the file has no such column.'
    assert told.remedy.startswith('Is "State" meant as "Status"? ')
    assert (told.rule, told.header_row) == ("skip_rows_where", 1)
    assert states(orders([*ROW, "Draft"], mapping=DRAFTS, header=[*HEADER, "Status"])) == {2: "skipped skip_rows_where"}


def test_a_field_whose_condition_names_a_column_that_is_not_there_holds_the_file() -> None:
    told = held(RETURNS, ["Ret", "Retrun"])
    assert told.message == (
        'By the mapping `return_address` is filled only by what stands in the column "Return", '
        "and the file has no such column."
    )
    assert told.remedy.startswith('Is "Retrun" meant as "Return"? ')
    assert told.rule == "return_address|when"
    assert (
        held(ORDERS.replace("lines:", "  division: {constant: X, when: {Zone: S}}\nlines:"), []).rule == "division|when"
    )


def test_a_layout_without_the_field_needs_no_column_for_its_condition() -> None:
    assert states(orders(ROW, mapping=RETURNS)) == {2: "ready"}


def both(mapping: str, *, on_orders: str, on_items: str, said: str = "Draft") -> list[str]:
    """What goes out of two sheets, each with one more column."""
    first = sheet_of([["Order No", "Name", "Phone", "Address", on_orders], [*ROW[:4], said]], name="Orders")
    second = sheet_of([["Order", "SKU", "Qty", "Note", on_items], ["A1", "tea", "2", "Hello", said]], name="Items")
    return [document.body for document in run(mapping, first, second).documents]


def test_of_two_sheets_one_may_have_the_column() -> None:
    assert both(TWO_SHEETS, on_orders="Status", on_items="Bin") == []
    assert both(TWO_SHEETS, on_orders="Zone", on_items="Status") == []
    assert len(both(TWO_SHEETS, on_orders="Zone", on_items="Status", said="Ready")) == 1
    with pytest.raises(FileHeld, match="none of its sheets has such a column"):
        both(TWO_SHEETS, on_orders="Zone", on_items="Bin")


def test_conditions_of_lines_may_stand_on_either_sheet() -> None:
    mapping = GIFTS.replace("sheet: {skip_rows_where: {Status: [Draft]}}\n", "")
    assert "Hello" in both(mapping, on_orders="Gift", on_items="Bin", said="Y")[0]
    assert "Hello" in both(mapping, on_orders="Zone", on_items="Gift", said="Y")[0]
    with pytest.raises(FileHeld, match="Gift"):
        both(mapping, on_orders="Zone", on_items="Bin")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("key: [Order No]", "key: [Orders No]"),
        ("lines:", "  return_address: {from: Ret, when: {Adress: [Y]}}\nlines:"),
        ("key:", "sheet: {skip_rows_where: {Phnoe: [Draft]}}\nkey:"),
        ("key:", "sheet: {only_rows_where: {Addres: [Draft]}}\nkey:"),
    ],
)
def test_a_slip_of_one_letter_in_a_column_that_nothing_reads_is_found_at_load(written: str, meant: str) -> None:
    with pytest.raises(SpecificationError, match=r"Did you mean `(Order No|Phone|Address)`\?"):
        mapping_of(ORDERS.replace(written, meant, 1))


def test_columns_that_are_alike_and_both_known_are_no_slip() -> None:
    text = ORDERS.replace("key:", "sheet: {skip_rows_where: {Phones: [Draft]}}\nkey:")
    assert mapping_of(text + "keep: {phones: {from: Phones}}\n")
    assert mapping_of(ORDERS.replace("key:", "sheet: {skip_rows_where: {Addr 2: [Draft]}}\nkey:"))


PAID = ORDERS.replace("lines:", '  is_cod: {from: Pay, read: {lookup: {COD: "true", Paid: "false"}}}\nlines:')


def test_a_sheet_that_lost_the_column_of_payment_is_held_or_every_order_goes_out_as_paid() -> None:
    told = held(PAID, ["Route", "Payment"])
    assert told.message == (
        'By the mapping the column that says whether an order is cash on delivery is "Pay", '
        "and the file has no such column."
    )
    assert told.remedy.startswith('Is "Payment" meant as "Pay"? ')
    assert told.rule == "is_cod|no_column"


def test_a_default_says_how_orders_are_paid_where_no_column_does() -> None:
    mapping = PAID.replace("{from: Pay,", '{from: Pay, default: "false",')
    assert states(orders(ROW, mapping=mapping)) == {2: "ready"}


def test_a_change_of_orders_needs_no_column_of_payment() -> None:
    mapping = PAID[: PAID.index("lines:")].replace("order.create", "order.update\norder_id: {ledger: Order No}")
    mapping = "\n".join(line for line in mapping.splitlines() if "reference_number" not in line)
    assert states(orders(ROW, mapping=mapping)) == {2: "ready"}


def test_a_column_that_is_filled_down_and_read_by_nothing_does_no_harm() -> None:
    mapping = ORDERS.replace("key:", "sheet: {fill_down: [Order No, Ship To]}\nkey:")
    assert states(orders([*ROW, "Asha"], mapping=mapping, header=[*HEADER, "Ship To"])) == {2: "ready"}
    assert states(orders(ROW, mapping=mapping)) == {2: "ready"}
