"""Quantities and prices as people write them: words behind numbers if declared, and quantities per carton."""

import json
from typing import Any

import pytest
from mapping.sheets import mapping_of, rules, run, sheet_of, states

from logistics_batch import messages
from logistics_batch.errors import SpecificationError
from logistics_batch.mapping.loading import hints_of
from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import CellFact, facts_frame

NOTICE = """
operation: asn.create
key: [Invoice]
fields: {invoice_number: {from: Invoice}, supplier: {constant: V}, site: {constant: S}}
lines:
  sku_name: {from: Item}
  qty: {from: Qty}
  price_per_qty: {from: Rate}
"""
HEADER = ["Invoice", "Item", "Qty", "Rate", "Ctn"]


def read(quantity: str, rate: str = "5", carton: str = "", more: str = "", **fields: str) -> MappedFile:
    """A notice of one line, its fields as the mapping says."""
    mapping = NOTICE + more
    for target, spec in fields.items():
        old = {"qty": "{from: Qty}", "price_per_qty": "{from: Rate}"}[target]
        mapping = mapping.replace(old, spec)
    return run(mapping, sheet_of([HEADER, ["I-1", "tea", quantity, rate, carton]]))


def line(mapped: MappedFile) -> dict[str, Any]:
    (document,) = mapped.documents
    (only,) = json.loads(document.body)["sku_lines"]
    return dict(only)


@pytest.mark.parametrize(
    ("cell", "quantity"),
    [("2 Nos", "2"), ("12 Pcs", "12"), ("1,200nos.", "1200"), ("7", "7"), ("3 NOS ", "3"), ("4 नग", "4")],
)
def test_declared_words_behind_a_quantity_are_read(cell: str, quantity: str) -> None:
    assert line(read(cell, qty="{from: Qty, read: [{suffix: [Nos, Pcs, नग]}, integer]}"))["qty"] == quantity


@pytest.mark.parametrize(
    ("cell", "rule"), [("1 doz", "doz"), ("2 Box of 6 Nos", ""), ("Nos", ""), ("2 Nos 3", ""), ("1.5 Nos", "")]
)
def test_no_other_word_is(cell: str, rule: str) -> None:
    (issue,) = read(cell, qty="{from: Qty, read: {suffix: [Nos, Pcs]}}").issues
    assert (issue.cell, issue.rule, issue.given.get("word", "")) == ("C2", "qty|integer", rule)


def test_a_word_that_stands_for_several_is_read_beside_a_decimal_comma() -> None:
    mapping = NOTICE.replace("{from: Qty}", "{from: Qty, read: {suffix: {Karton: 6}}}")
    mapping = mapping.replace("operation: asn.create", 'operation: asn.create\nsheet: {decimal: ","}')
    for cell, quantity in {"2 Karton": "12", "2,5 Karton": "15", "1.000 Karton": "6000", "7": "7"}.items():
        assert line(run(mapping, sheet_of([HEADER, ["I-1", "tea", cell, "5", ""]])))["qty"] == quantity


def test_a_word_may_stand_for_several_pieces() -> None:
    spec = "{from: Qty, read: {suffix: {Nos: 1, Doz: 12}}}"
    assert [line(read(cell, qty=spec))["qty"] for cell in ("2 Doz", "2 Nos", "1,000 doz.")] == ["24", "2", "12000"]
    assert rules(read("1.5 Doz", qty=spec)) == []
    assert line(read("1.5 Doz", qty=spec))["qty"] == "18"


@pytest.mark.parametrize("cell", ["599.00/Nos", "599 / Nos.", "Rs. 599/Nos", "₹599.00/nos"])
def test_a_price_for_a_declared_unit_is_read(cell: str) -> None:
    price = line(read("2", cell, price_per_qty="{from: Rate, read: [{suffix: /Nos}, money]}"))["price_per_qty"]
    assert price == "599.00"


@pytest.mark.parametrize(
    ("cell", "price"),
    [("Rs. 1,299/-", "1299.00"), ("1,299/=", "1299.00"), ("रु. 1,299/-", "1299.00"), ("रू 1,299", "1299.00")],
)
def test_amounts_have_signs_around_them(cell: str, price: str) -> None:
    assert line(read("2", cell))["price_per_qty"] == price


@pytest.mark.parametrize("cell", ["€ 1,299.50", "1,299.50 €", "€1299.50"])
def test_the_sign_of_another_currency_is_read_only_where_it_is_declared(cell: str) -> None:
    declared = read("2", cell, price_per_qty='{from: Rate, read: {suffix: "€"}}')
    assert line(declared)["price_per_qty"] == "1299.50"
    assert rules(read("2", cell)) == rules(read("2", cell, price_per_qty='{from: Rate, read: {suffix: "$"}}'))
    assert rules(read("2", cell)) == [("D2", "price_per_qty|money")]


@pytest.mark.parametrize("cell", ["599.00/Doz", "599 per box"])
def test_a_price_for_another_unit_is_not(cell: str) -> None:
    (issue,) = read("2", cell, price_per_qty="{from: Rate, read: {suffix: /Nos}}").issues
    assert (issue.rule, issue.code) == ("price_per_qty|money", "money.word")


@pytest.mark.parametrize(("cell", "digit"), [("4O", 0), ("l2", 1), ("1o0", 0), ("2I", 1), ("1S", 5), ("B4", 8)])
def test_a_letter_that_looks_like_a_digit_is_no_word_behind_a_number(cell: str, digit: int) -> None:
    """As a word for one piece the O of 4O made four pieces of forty."""
    (issue,) = read(cell, "9").issues
    letter = next(sign for sign in cell if sign.isalpha())
    assert issue.reason == f'The letter "{letter}" stands among the digits: is it a {digit}?'
    assert "suffix" not in messages.operator_words(issue.code, issue.given)
    assert read("40", cell).issues[0].code == "money.letter"


@pytest.mark.parametrize("cell", ["4 O", "4 l", "5kg", "2Sets"])
def test_a_letter_that_stands_apart_from_the_digits_is_a_word(cell: str) -> None:
    assert read(cell, "9").issues[0].code == "integer.word"


COMMA = 'sheet: {decimal: ","}\n'


@pytest.mark.parametrize(
    ("cells", "code", "such"),
    [
        (("2", "84.25"), "money.comma", "1499,00"),
        (("2", "84.00"), "money.comma", "1499,00"),
        (("2", "84,25/Doz"), "money.comma_word", "1499,00"),
        (("12,5 Pcs", "9"), "integer", "such as 12."),
        (("12,0 Box", "9"), "integer.word", "such as 12;"),
    ],
)
def test_what_is_to_be_written_has_the_decimal_mark_of_the_sheet(cells: tuple[str, str], code: str, such: str) -> None:
    """`84.25` was refused with "such as 1499.00", and 12,5 pieces for the word behind it, which is read."""
    (issue,) = read(*cells, qty="{from: Qty, read: {suffix: [Pcs]}}", more=COMMA).issues
    assert (issue.code, such in issue.fix) == (code, True)


@pytest.mark.parametrize(
    ("carton", "quantity"),
    [("1-5", "50"), ("7", "10"), ("C1 - C5", "50"), ("1 to 3", "30"), ("1-3, 7", "40"), ("9–10", "20")],
)
def test_cartons_are_counted_where_the_mapping_says_so(carton: str, quantity: str) -> None:
    assert line(read("10", carton=carton, qty="{from: Qty, cartons: Ctn}"))["qty"] == quantity
    assert line(read("10", carton=carton))["qty"] == "10"


@pytest.mark.parametrize(
    "carton", ["5-1", "2026-05-01", "all", "1-", "A", "1-5 & 8", "-5", "0", "A1-B5", "6,6", "1,200"]
)
def test_what_is_no_range_of_cartons_is_told_at_its_own_cell(carton: str) -> None:
    assert rules(read("10", carton=carton, qty="{from: Qty, cartons: Ctn}")) == [("E2", "qty|cartons")]


def test_a_quantity_is_multiplied_by_another_column() -> None:
    spec = "{from: Qty, times: Ctn, read: {suffix: Nos}}"
    assert line(read("10 Nos", carton="1,000", qty=spec))["qty"] == "10000"
    assert rules(read("10", carton="x", qty=spec)) == [("E2", "qty|times")]
    assert rules(read("10", carton="", qty=spec)) == [("E2", "qty|half_filled")]
    assert rules(read("10", carton="0.5", qty="{from: Qty, times: Ctn}")) == []
    assert rules(read("3", carton="0.5", qty="{from: Qty, times: Ctn}")) == [("C2", "qty|times")]


def test_a_column_to_multiply_by_must_be_there() -> None:
    from logistics_batch.errors import FileHeld

    with pytest.raises(FileHeld, match="Cartons"):
        read("10", qty="{from: Qty, times: Cartons}")


def test_sums_and_totals_read_the_declared_words_too() -> None:
    mapping = NOTICE.replace("{from: Qty}", "{from: Qty, read: {suffix: Nos}}")
    mapping += 'checks: {control_total: {column: Qty, row_where: {Invoice: "Total*"}}}\n'
    rows = [HEADER, ["I-1", "tea", "2 Nos", "5"], ["I-1", "salt", "3 Nos", "5"], ["Total", "", "5 Nos"]]
    assert states(run(mapping, sheet_of(rows))) == {2: "ready", 3: "ready", 4: "skipped total"}


@pytest.mark.parametrize(("word", "shows"), [("Ream", "0 Ream"), ("€", "0 €"), ("€", "€ 0")])
def test_a_number_that_shows_its_declared_word_is_what_it_shows(word: str, shows: str) -> None:
    mapping = NOTICE.replace("{from: Qty}", f"{{from: Qty, read: {{suffix: {word}}}}}")
    sheet = sheet_of([HEADER, ["I-1", "paper", "2", "5"]])
    shown = facts_frame([(2, 3, CellFact.NUMBER, None), (2, 3, CellFact.NUMBER_FORMAT_TEXT, shows)])
    from dataclasses import replace

    assert rules(run(mapping, replace(sheet, facts=shown))) == []
    assert rules(run(NOTICE, replace(sheet, facts=shown))) == [("C2", "qty|number_format")]


@pytest.mark.parametrize(
    ("read", "said"),
    [
        ("{suffix: [Doz]}", "`Doz` is twelve pieces"),
        ("{suffix: [Nos, Box]}", "different units"),
        ("{suffix: {/Doz: 12}}", "belongs to a price"),
        ("{suffix: []}", "at least one"),
        ("{suffix: {Nos: 0}}", "0"),
    ],
)
def test_words_that_would_be_counted_wrong_are_refused(read: str, said: str) -> None:
    with pytest.raises(SpecificationError) as refused:
        mapping_of(NOTICE.replace("{from: Qty}", f"{{from: Qty, read: {read}}}"))
    assert any(said in str(finding) for finding in refused.value.findings), refused.value.findings


def test_units_that_somebody_says_stand_for_one_piece_each_are_taken_so() -> None:
    """A list of them is asked about; who writes how many each stands for has answered."""
    mapping = NOTICE.replace("{from: Qty}", "{from: Qty, read: {suffix: {Strip: 1, Nos: 1, Pack: 1}}}")
    mapped = run(mapping, sheet_of([HEADER, ["I-1", "paper", "3 Pack", "5"], ["I-1", "pen", "4 Nos", "5"]]))
    assert [each["qty"] for each in json.loads(mapped.documents[0].body)["sku_lines"]] == ["3", "4"]


def test_what_the_target_is_read_as_need_not_stand_behind_a_suffix() -> None:
    text = NOTICE.replace("{from: Qty}", "{from: Qty, read: [{suffix: Nos}, integer]}")
    assert len(hints_of(mapping_of(text), text, path="test.yaml")) == 1


@pytest.mark.parametrize("words", ["[/Nos, Nos]", "[Nos, /Nos]"])
def test_the_longest_word_that_is_declared_counts_in_whatever_order(words: str) -> None:
    fields = {"price_per_qty": f"{{from: Rate, read: [{{suffix: {words}}}, money]}}"}
    assert rules(read("10", rate="599.00/Nos", **fields)) == []
    assert rules(read("10", rate="599.00 Nos", **fields)) == []
