"""What is taken off numbers, rounded or lost is told with its rows; an amount that would vanish is not sent."""

import pytest
from mapping.sheets import HEADER, ORDERS, ROW, notes_in, rules, run, sheet_of

from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import CellFact

PRICED = ORDERS + "  item_price_per_each: {from: Rate}\n  weight: {from: Weight}\n"
COMMA = PRICED.replace("key:", 'sheet: {decimal: ","}\nkey:', 1)
DRESSED = "currency signs, units, groups or leading zeros were taken off the numbers"


def priced(
    *rows: tuple[str, str], mapping: str = PRICED, types: tuple[tuple[int, int, CellFact], ...] = ()
) -> MappedFile:
    cells = [[f"A{number}", *ROW[1:], *row] for number, row in enumerate(rows)]
    return run(mapping, sheet_of([[*HEADER, "Rate", "Weight"], *cells], types=types))


def test_what_is_rounded_is_told_with_its_rows() -> None:
    found = priced(("12.345", "1.5"), ("12.34", "0.1234567891"), ("12.340", "0.50"), ("7.999", "2"))
    assert notes_in(found) == (
        'Column "Rate": rounded to two decimals in rows 2, 5 ("12.345" is 12.35).',
        'Column "Weight": rounded to nine decimals in row 3 ("0.1234567891" is 0.123456789).',
    )
    assert '"item_price_per_each":"12.35"' in found.documents[0].body


def test_the_first_amount_of_a_document_is_told_where_it_stands() -> None:
    text = ORDERS.replace("lines:", '  cash_on_delivery: {first: Due}\n  is_cod: {constant: "true"}\nlines:', 1)
    found = run(text, sheet_of([[*HEADER, "Due"], [*ROW, "₹1,499/-"], [*ROW[:4], "milk", "1", ""]]))
    assert notes_in(found) == (f'Column "Due": {DRESSED} in row 2 ("₹1,499/-" is 1499.00).',)
    assert '"cash_on_delivery":"1499.00"' in found.documents[0].body


def test_a_decimal_comma_is_rounded_and_told_likewise() -> None:
    rows = ("12,345", "1"), ("12.345", "1"), ("12.345", "1"), ("1.234,50", "1")
    found = priced(*rows, mapping=COMMA, types=((4, len(HEADER) + 1, CellFact.NUMBER),))
    assert notes_in(found) == (
        'Column "Rate": rounded to two decimals in rows 2, 4 ("12,345" is 12.35).',
        f'Column "Rate": {DRESSED} in row 5 ("1.234,50" is 1234.50).',
    )


@pytest.mark.parametrize(
    ("dressed", "sent"),
    [
        ("1,234.50", "1234.50"),
        ("Rs 1,200/-", "1200.00"),
        ("Rs.235.00", "235.00"),
        ("\u20b9500", "500.00"),
        ("00500", "500.00"),
        ("5 000", "5000.00"),
    ],
)
def test_what_is_taken_off_a_number_is_told(dressed: str, sent: str) -> None:
    told = f'Column "Rate": {DRESSED} in row 3 ("{dressed}" is {sent}).'
    assert notes_in(priced(("500", "1"), (dressed, "1"))) == (told,)


def test_what_is_taken_off_many_numbers_is_one_line_with_their_count() -> None:
    found = priced(*[("Rs 500", "1"), ("20", "1")] * 10)
    rows = "2, 4, 6, 8, 10, 12, 14, 16 …"
    assert notes_in(found) == (f'Column "Rate": {DRESSED} in 10 rows: {rows} ("Rs 500" is 500.00).',)
    targets = ("item_price_per_each", "total_item_price", "cgst", "sgst")
    text = ORDERS + "".join(f"  {target}: {{from: {target}}}\n" for target in targets)
    rows = [[f"A{number}", *ROW[1:], *["Rs 5"] * 4] for number in range(30)]
    (note,) = notes_in(run(text, sheet_of([[*HEADER, *targets], *rows])))
    names = ", ".join(f'"{target}"' for target in targets)
    taken = "Currency signs, units, groups or leading zeros were taken off 120 numbers in the columns"
    assert note == f'{taken} {names} ("Rs 5" is 5.00).'


def test_an_amount_that_would_round_to_nothing_is_not_sent() -> None:
    found = priced(("0.001", "1"), ("0.00", "1"), ("0.005", "0.0000000001"))
    assert rules(found) == [("G2", "item_price_per_each|money"), ("H4", "weight|decimal")]


def test_numbers_among_codes_with_leading_zeros_are_doubted() -> None:
    rows = [[code, *ROW[1:]] for code in ("00123", "124", "00125", "12345")]
    found = run(ORDERS, sheet_of([HEADER, *rows], types=[(3, 1, CellFact.NUMBER), (5, 1, CellFact.NUMBER)]))
    told = "numbers in row 3, codes with leading zeros in rows 2, 4: were zeros lost? Format the column as Text."
    assert notes_in(found) == (f'Column "Order No": {told}',)
    assert notes_in(run(ORDERS, sheet_of([HEADER, *rows]))) == ()


def codes(*cells: str, column: int = 5, mapping: str = ORDERS, numbers: tuple[int, ...] = ()) -> MappedFile:
    """Orders with these codes; those in the rows `numbers` are numbers to the spreadsheet program."""
    rows = [[f"A{number}", *ROW[1:]] for number in range(len(cells))]
    for row, cell in zip(rows, cells, strict=True):
        row[column - 1] = cell
    return run(mapping, sheet_of([HEADER, *rows], types=[(row, column, CellFact.NUMBER) for row in numbers]))


@pytest.mark.parametrize("column", [1, 5])
def test_a_code_that_is_a_number_with_decimals_cannot_be_known(column: int) -> None:
    found = codes("1001.1", "1001.10", "7012", column=column, numbers=(2,))
    (issue,) = found.issues
    assert (issue.row, issue.rule.split("|")[1], issue.value) == (2, "decimal_code", "1001.1")
    assert issue.fix == "Format the column as Text and type the code again, with all its digits."
    assert len(found.documents) == 2


def test_whole_numbers_among_codes_with_decimals_are_doubted() -> None:
    found = codes("1002", "1001.10", "1003", "1001.5", numbers=(2, 4))
    told = "whole numbers in rows 2, 4, codes with decimals in rows 3, 5: were zeros lost? Format the column as Text."
    assert notes_in(found) == (f'Column "SKU": {told}',)
    assert (len(found.documents), found.issues) == (4, ())
    assert notes_in(codes("1002", "A-1.1", "1003", numbers=(2, 4))) == ()


@pytest.mark.parametrize("target", ["batch", "serial_number"])
def test_batches_and_serial_numbers_are_codes(target: str) -> None:
    text = (
        "operation: asn.create\nkey: [Order No]\n"
        "fields: {invoice_number: {from: Order No}, supplier: {constant: x}, site: {constant: x}, %s: {from: Name}}\n"
        "lines: {sku_name: {from: SKU}, qty: {from: Qty}}\n"
    )
    assert rules(codes("7.1", column=2, mapping=text % target, numbers=(2,))) == [("B2", f"{target}|decimal_code")]
    assert codes("7.1", column=2, mapping=text % "description", numbers=(2,)).issues == ()


def test_prices_weights_and_what_is_kept_are_no_codes() -> None:
    rows = [[*HEADER, "Rate", "Weight", "Version"], [*ROW, "12.5", "1.5", "1.1"]]
    types = [(2, column, CellFact.NUMBER) for column in (6, 7, 8, 9)]
    assert run(PRICED + "keep: {version: {from: Version}}\n", sheet_of(rows, types=types)).issues == ()
    both = PRICED.replace("key: [Order No]", "key: [Order No, Rate]")
    assert len(run(both, sheet_of(rows, types=types)).documents) == 1


def test_in_a_text_file_a_code_with_decimals_is_what_stands_there() -> None:
    found = codes("1001.1", "1001.10", column=1)
    assert [document.reference for document in found.documents] == ["1001.1", "1001.10"]


def test_a_zero_behind_the_point_is_taken_off_only_where_no_code_has_decimals() -> None:
    assert [document.reference for document in codes("1001.0", "1002.0", "X", column=1).documents][:2] == [
        "1001",
        "1002",
    ]
    for other in ("1001.10", "1001.5", "1001.00"):
        kept = codes("1001.0", other, column=1)
        assert [document.reference for document in kept.documents] == ["1001.0", other]
