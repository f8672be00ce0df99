"""The sheet's own totals: compared with what their sender added up, in a way that the mapping can say."""

from dataclasses import replace

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, mapping_of, order, orders, run, sheet_of, states

from logistics_batch.errors import FileHeld, SpecificationError

TOTAL = '{column: Qty, row_where: {Order No: "TOTAL*"}}'


def checked(*totals: str, text: str = ORDERS) -> str:
    return text + f"checks: {{control_total: [{', '.join(totals)}]}}\n"


def total(said: str, name: str = "TOTAL") -> list[str]:
    return [name, *[""] * (len(HEADER) - 2), said]


def held(*rows: list[str], mapping: str) -> str:
    with pytest.raises(FileHeld) as caught:
        orders(*rows, mapping=mapping)
    return f"{caught.value} {caught.value.remedy}"


def faults(mapping: str) -> str:
    with pytest.raises(SpecificationError) as caught:
        mapping_of(mapping)
    return str(caught.value)


CANCELLED = ORDERS + "sheet: {only_rows_where: {Name: [Asha]}}\n"


@pytest.mark.parametrize("rule", ["only_rows_where: {Name: [Asha]}", "skip_rows_where: {Name: [Cancelled, Sub*]}"])
def test_rows_that_a_rule_leaves_out_count_where_the_total_counts_them(rule: str) -> None:
    text = ORDERS + f"sheet: {{{rule}}}\n"
    also = checked(TOTAL.replace("}}", "}, also_rows_where: {Name: Cancelled}}"), text=text)
    rows = [ROW, order(Order_No="A2", Name="Cancelled", Qty="5"), order(Order_No="Sub total", Name="Sub", Qty="7")]
    found = orders(*rows, total("7"), mapping=also)
    assert [state.split()[0] for state in states(found).values()] == ["ready", "skipped", "skipped", "skipped"]
    assert held(*rows, total("14"), mapping=also).startswith('The rows add up to 7 in column "Qty", but row 5 says 14.')
    assert held(*rows, total("7"), mapping=checked(TOTAL, text=text)).startswith("The rows add up to 2")


def test_a_total_that_counts_what_is_left_out_says_so() -> None:
    rows = [ROW, order(Order_No="A2", Name="Cancelled", Qty="5"), total("7")]
    assert held(*rows, mapping=checked(TOTAL, text=CANCELLED)) == (
        'The rows add up to 2 in column "Qty", but row 4 says 7. It would be right with row 3, which the mapping '
        "leaves out. If the total is meant to count them, ask who maintains the mapping; else correct the sheet."
    )
    assert "It would be right" not in held(ROW, rows[1], total("8"), mapping=checked(TOTAL, text=CANCELLED))


def test_rows_hidden_and_left_out_count_where_the_total_counts_them() -> None:
    rows = [HEADER, ROW, order(Order_No="A2", Qty="5"), total("7")]
    sheet = replace(sheet_of(rows), hidden_rows=(3,))
    text = ORDERS + "sheet: {hidden_rows: leave_out}\n"
    with pytest.raises(FileHeld, match="The rows add up to 2"):
        run(checked(TOTAL, text=text), sheet)
    counts = checked(TOTAL.replace("}}", '}, also_rows_where: {Order No: "A*"}}'), text=text)
    assert states(run(counts, sheet))[2] == "ready"


@pytest.mark.parametrize(("says", "said"), [("rows", "3"), ("documents", "2")])
def test_a_total_may_count_rows_or_documents(says: str, said: str) -> None:
    filled = ORDERS + "sheet: {fill_down: [Order No, Name, Phone, Address]}\n"
    text = checked(TOTAL.replace("}}", f"}}, says: {says}}}"), text=filled)
    rows = [ROW, ["", "", "", "", "rice", "4"], order(Order_No="A2", Qty="7")]
    assert states(orders(*rows, total(said), mapping=text))[3] == "ready"
    wrong = held(*rows, total("4"), mapping=text)
    assert wrong.startswith(f'The {says} amount to {said} in column "Qty", but row 5 says 4.')


def test_documents_that_are_left_out_count_by_their_own_key() -> None:
    also = "}, says: documents, also_rows_where: {Name: Cancelled}}"
    text = checked(TOTAL.replace("}}", also), text=CANCELLED)
    rows = [ROW, [*ROW[:4], "rice", "1"], order(Order_No="A2", Name="Cancelled")]
    assert states(orders(*rows, total("2"), mapping=text))[2] == "ready"


def test_several_totals_are_each_compared() -> None:
    text = checked(TOTAL, '{column: Qty, row_where: {Order No: "Orders"}, says: documents}')
    assert states(orders(ROW, total("2"), total("1", "Orders"), mapping=text))[2] == "ready"
    assert "but row 4 says 3" in held(ROW, total("2"), total("3", "Orders"), mapping=text)
    assert "but row 3 says 3" in held(ROW, total("3"), total("1", "Orders"), mapping=text)


def test_a_cell_that_is_filled_down_counts_once_as_its_sender_added_it() -> None:
    text = checked('{column: Amount, row_where: {Order No: "TOTAL*"}}', text=ORDERS)
    text += "sheet: {fill_down: [Order No, Name, Phone, Address, Amount]}\nkeep: {amount: {from: Amount}}\n"
    rows = [[*ROW, "250"], ["", "", "", "", "rice", "4", ""], ["TOTAL", *[""] * 5, "250"]]
    assert states(orders(*rows, header=[*HEADER, "Amount"], mapping=text))[3] == "ready"


def test_a_row_of_several_items_counts_once() -> None:
    head = ORDERS[: ORDERS.index("lines:")]
    text = head + 'lines_from: {split: Items, pattern: "{sku} x {qty}"}\nlines: {item_name: {from: sku}}\n'
    text += "keep: {q: {from: qty}}\nchecks: {control_total: [%s, %s]}\n"
    text %= (
        '{column: Amount, row_where: {Order No: "TOTAL"}}',
        "{column: N, row_where: {Order No: TOTAL}, says: rows}",
    )
    header = [*HEADER[:4], "Items", "Amount", "N"]
    rows = [[*ROW[:4], "tea x 2; rice x 1", "250", ""], ["TOTAL", "", "", "", "", "250", "1"]]
    assert states(orders(*rows, header=header, mapping=text))[2] == "ready"


def test_pieces_of_a_cell_are_added_up_each() -> None:
    text = checked(TOTAL, text=ORDERS + "lines_from: {split: [SKU, Qty]}\n")
    rows = [order(SKU="tea|rice", Qty="2|3"), total("5")]
    assert states(orders(*rows, mapping=text))[2] == "ready"


def test_cells_without_a_number_are_named() -> None:
    wrong = held(ROW, order(Order_No="A2", Qty="5 or 6"), total("7"), mapping=checked(TOTAL))
    assert "but row 4 says 7. There is no number in row 3." in wrong
    wrong = held(ROW, total("two"), mapping=checked(TOTAL))
    assert "but row 3, the total, has no number there." in wrong
    assert "but there is no total row." in held(ROW, mapping=checked(TOTAL))


def test_what_a_total_cannot_be_is_said_at_load() -> None:
    single = ORDERS + "checks:\n  control_total:\n    column: Qty\n    row_where: {Order No: TOTAL}\n    says: pieces\n"
    assert faults(single) == "test.yaml:16:5: `pieces` is not known here. Known here: `sum`, `rows`, `documents`."
    idle = TOTAL.replace("}}", "}, also_rows_where: {Name: x}}")
    assert "No rule leaves rows out" in faults(checked(idle))
    made = ORDERS.replace("{from: Qty", '{from: "Qty {n}"').replace("{from: SKU", '{from: "SKU {n}"')
    made += 'lines_from: {columns: ["SKU {n}", "Qty {n}"]}\n'
    assert "is made by `lines_from`" in faults(checked(TOTAL.replace("Qty", '"Qty {n}"'), text=made))
    receipts = "operation: receipt.read\n"
    receipts += "fields: {invoice_number: {from: Order No}, sku_name: {from: SKU}, qty: {from: Qty}}\n"
    text = checked(TOTAL.replace("}}", "}, says: documents}"), text=receipts)
    assert "`receipt.read` has no documents" in faults(text)


def test_a_column_of_the_totals_must_be_there() -> None:
    text = checked(TOTAL.replace("}}", "}, also_rows_where: {Status: Cancelled}}"), text=CANCELLED)
    assert 'required column "Status" is missing' in held(ROW, total("2"), mapping=text)


def test_a_fix_file_has_no_total_row_and_is_taken() -> None:
    ours = ["Reason", "What to do", *HEADER]
    fixed = run(mapping_of(checked(TOTAL)), sheet_of([ours, ["The PIN is wrong.", "Correct it.", *ROW]]))
    assert states(fixed) == {2: "ready"}
    with pytest.raises(FileHeld, match="there is no total row"):
        orders(ROW, mapping=checked(TOTAL))
