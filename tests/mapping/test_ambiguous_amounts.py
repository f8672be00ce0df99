"""Amounts with three digits behind the full stop: a thousandfold mistake if the wrong reading is taken."""

import pytest
from mapping.sheets import HEADER, ORDERS, order, orders, rules, run, sheet_of

from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import CellFact

PRICED = ORDERS + "  item_price_per_each: {from: Rate}\n"
WITH_RATE = [*HEADER, "Rate"]


def priced(*rates: str, mapping: str = PRICED) -> MappedFile:
    """An order for each rate."""
    rows = ([*order(Order_No=f"A{number}"), rate] for number, rate in enumerate(rates))
    return orders(*rows, mapping=mapping, header=WITH_RATE)


@pytest.mark.parametrize(
    ("cell", "either"),
    [
        ("1.200", ("1.20", "1200.00")),
        ("₹ 1.200", ("1.20", "1200.00")),
        ("Rs. 12.345/-", ("12.345", "12345.00")),
        ("450.000", ("450.00", "450000.00")),
    ],
)
def test_an_amount_that_may_be_one_of_thousands_is_not_sent(cell: str, either: tuple[str, str]) -> None:
    found = priced("450", cell)
    assert rules(found) == [("G3", "item_price_per_each|decimal_mark")]
    (issue,) = found.issues
    assert (issue.given["small"], issue.given["large"]) == either
    assert 'decimal: "."' in issue.operator_words
    assert [document.reference for document in found.documents] == ["A0"]


@pytest.mark.parametrize("proof", ["12.50", "12.5", "1250.000", "0.500", "1,200.000", "99.9999", "Rs 8.00"])
def test_another_cell_of_the_column_shows_what_the_full_stop_is(proof: str) -> None:
    found = priced(proof, "1.200")
    assert '"item_price_per_each":"1.20"' in found.documents[1].body
    assert found.issues == ()


@pytest.mark.parametrize("other", ["450", "1,200", "on request", "12,50"])
def test_a_cell_without_a_full_stop_shows_nothing(other: str) -> None:
    assert ("G3", "item_price_per_each|decimal_mark") in rules(priced(other, "1.200"))


@pytest.mark.parametrize(("mark", "read"), [(".", "1.20"), (",", "1200.00")])
def test_a_mapping_that_says_the_decimal_mark_settles_it(mark: str, read: str) -> None:
    (document,) = priced("1.200", mapping=PRICED + f'sheet: {{decimal: "{mark}"}}\n').documents
    assert f'"item_price_per_each":"{read}"' in document.body


def test_a_number_cell_of_a_workbook_has_no_decimal_mark() -> None:
    sheet = sheet_of([WITH_RATE, [*order(), "1.235"]], types=[(2, 7, CellFact.NUMBER)])
    (document,) = run(PRICED, sheet).documents
    assert '"item_price_per_each":"1.24"' in document.body


def test_amounts_that_are_added_up_are_looked_at_as_well() -> None:
    mapping = ORDERS.replace(
        "  customer_name",
        '  is_cod: {from: Paid by, default: "true"}\n  cash_on_delivery: {sum: Rate, times: Qty}\n  customer_name',
    )
    assert rules(priced("1.200", mapping=mapping)) == [("G2", "cash_on_delivery|decimal_mark")]


@pytest.mark.parametrize(
    ("cell", "other", "said"),
    [
        ("1.000", "450", ("1", "1000")),
        ("1.200", "450", ("1.2", "1200")),
        ("1.000", "12.50", None),  # the rates show what the full stop is
        ("1", "450", None),
    ],
)
def test_a_quantity_may_be_one_of_thousands_too(cell: str, other: str, said: tuple[str, str] | None) -> None:
    found = orders([*order(Qty=cell), other], mapping=PRICED, header=WITH_RATE)
    told = [(issue.cell, issue.rule, issue.given["small"], issue.given["large"]) for issue in found.issues]
    assert told == ([("F2", "item_quantity|decimal_mark", *said)] if said else [])


def test_words_that_are_read_behind_quantities_hide_no_full_stop() -> None:
    mapping = PRICED.replace("read: integer", "read: {suffix: Nos}")
    found = orders([*order(Qty="12.000 Nos"), "450"], mapping=mapping, header=WITH_RATE)
    assert rules(found) == [("F2", "item_quantity|decimal_mark")]
