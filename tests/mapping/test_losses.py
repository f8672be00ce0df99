"""What is taken off numbers, rounded or lost is told with its rows; an amount that would vanish is not sent."""

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, rules, run, sheet_of

from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import Mark

PRICED = ORDERS + "  item_price_per_each: {from: Rate}\n  weight: {from: Weight}\n"
COMMA = PRICED.replace("key:", 'sheet: {decimal: ","}\nkey:', 1)
DRESSED = "currency signs, units, groups or leading zeros were taken off the numbers"


def priced(*rows: tuple[str, str], mapping: str = PRICED, marks: tuple[tuple[int, int, Mark], ...] = ()) -> MappedFile:
    cells = [[f"A{number}", *ROW[1:], *row] for number, row in enumerate(rows)]
    return run(mapping, sheet_of([[*HEADER, "Rate", "Weight"], *cells], marks=marks))


def test_what_is_rounded_is_told_with_its_rows() -> None:
    found = priced(("12.345", "1.5"), ("12.34", "0.1234567891"), ("12.340", "0.50"), ("7.999", "2"))
    assert found.notes == (
        'Column "Rate": rounded to two decimals in rows 2, 5.',
        'Column "Weight": rounded to nine decimals in row 3.',
    )
    assert '"item_price_per_each":"12.35"' in found.documents[0].body


def test_a_decimal_comma_is_rounded_and_told_likewise() -> None:
    rows = ("12,345", "1"), ("12.345", "1"), ("12.345", "1"), ("1.234,50", "1")
    found = priced(*rows, mapping=COMMA, marks=((4, len(HEADER) + 1, Mark.NUMBER),))
    assert found.notes == (
        'Column "Rate": rounded to two decimals in rows 2, 4.',
        f'Column "Rate": {DRESSED} in row 5.',
    )


@pytest.mark.parametrize("dressed", ["1,234.50", "Rs 1,200/-", "Rs.235.00", "\u20b9500", "00500", "5 000"])
def test_what_is_taken_off_a_number_is_told(dressed: str) -> None:
    assert priced(("500", "1"), (dressed, "1")).notes == (f'Column "Rate": {DRESSED} in row 3.',)


def test_an_amount_that_would_round_to_nothing_is_not_sent() -> None:
    found = priced(("0.001", "1"), ("0.00", "1"), ("0.005", "0.0000000001"))
    assert rules(found) == [("G2", "item_price_per_each|money"), ("H4", "weight|decimal")]


def test_numbers_among_codes_with_leading_zeros_are_doubted() -> None:
    rows = [[code, *ROW[1:]] for code in ("00123", "124", "00125", "12345")]
    found = run(ORDERS, sheet_of([HEADER, *rows], marks=[(3, 1, Mark.NUMBER), (5, 1, Mark.NUMBER)]))
    told = "numbers in row 3, codes with leading zeros in rows 2, 4: were zeros lost? Format the column as Text."
    assert found.notes == (f'Column "Order No": {told}',)
    assert run(ORDERS, sheet_of([HEADER, *rows])).notes == ()


def test_a_code_that_the_program_holds_as_a_number_with_decimals_is_told() -> None:
    rows = [[f"A{code}", *ROW[1:4], code, *ROW[5:]] for code in ("1.1", "12", "1.10")]
    found = run(ORDERS, sheet_of([HEADER, *rows], marks=[(2, 5, Mark.NUMBER), (3, 5, Mark.NUMBER)]))
    told = "codes that are numbers with decimals in row 2: 1.10 is sent as 1.1. Format the column as Text."
    assert found.notes == (f'Column "SKU": {told}',)
