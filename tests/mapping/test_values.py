"""How cells are read: every verb, every quirk that is repaired, every one that is refused."""

import json

import polars as pl
import pytest
from mapping.sheets import HEADER, ORDERS, ROW, mapping_of, notes_in, order, orders, rules, run, sheet_of, states
from support.issues import reasons

from logistics_batch.errors import FileHeld
from logistics_batch.mapping import vocabulary
from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import CellFact
from logistics_batch.paper.safe_text import guarded

PLAIN = """
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No}
  customer_mobile: {constant: "9876543210"}
  delivery_address: {constant: Bengaluru}
"""


def mapped(
    field: str, cell: str | None, *, kinds: tuple[CellFact, ...] = (), more: str = "", zone: str = "Asia/Kolkata"
) -> MappedFile:
    """One order whose field reads one cell in column B; the order has a second column so that it is never blank."""
    types = [(2, 2, kind) for kind in kinds]
    sheet = sheet_of([["Order No", "Cell"], ["A1", cell or ""]], types=types)
    return run(PLAIN + f"  {field}\n" + more, sheet, zone=zone)


def value(field: str, cell: str | None, **more: object) -> object:
    """What the field becomes, the rule it breaks, or None where it is left out."""
    found = mapped(field, cell, **more)  # type: ignore[arg-type]
    if found.issues:
        return found.issues[0].rule.split("|")[1]
    name = field.split(":")[0]
    return json.loads(found.documents[0].body).get(name)


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("9876543210", "9876543210"),
        ("9876543210.0", "9876543210"),
        ("+91 98765 43210", "9876543210"),
        ("+91-98765-43210", "9876543210"),
        ("098765 43210", "9876543210"),
        ("91 9876543210", "9876543210"),
        ("(+91) 98765 43210", "9876543210"),
        ("98765 43210 / 91234 56789", "9876543210"),
        ("9876543210, 8123456789", "9876543210"),
        ("９８７６５４３２１０", "9876543210"),
        ("tel: 98765 43210", "9876543210"),
        ("9.876543210E+09", "9876543210"),
        ("9.87654E+09", "scientific"),
        ("1E3", "scientific"),
        ("987654321", "mobile"),
        ("5876543210", "mobile"),
        ("98765432101", "mobile"),
        ("+971 50 123 4567", "mobile"),
        ("98765 43210 / 12", "mobile"),
        ("n/a", "mobile"),
        ("022 2345 6789", "mobile"),
        ("0712-2245566", "mobile"),
        ("080 2234 5678", "mobile"),
        ("+91-80-22345678", "mobile"),
        ("(0821) 2444999", "mobile"),
        ("0771-2245566", "mobile"),  # Raipur, whose numbers some mobiles begin like
        ("0891 2567890", "mobile"),
        ("091-80-22345678", "mobile"),
        ("7712245566", "7712245566"),
        ("+91 771 224 5566", "7712245566"),
        ("091-9876543210", "9876543210"),
        ("091-98765-43210", "9876543210"),
        ("091 987 654 3210", "9876543210"),
        ("+091 9876543210", "9876543210"),
        ("0821-2445566 / 9876543210", "9876543210"),
        ("0821-2445566 / 98765", "mobile"),
        ("0987-6543210", "9876543210"),
        ("+91 987 654 3210", "9876543210"),
        ("98765 43210 / 0712-2245566", "9876543210"),
        ("98765-43210", "9876543210"),
        ("\u202d+91 98765\u00a043210\u202c", "9876543210"),
        ("Mob. No.: 98765-43210", "9876543210"),
        ("M-9876543210", "9876543210"),
        ("PH9876543210", "9876543210"),
        ("98765XXXXX", "mobile"),
        ("98XXXXXX10", "mobile"),
        ("98765HELLO", "mobile"),
        ("9198765432**", "mobile"),
        ("9198765432--", "mobile"),
        ("NA 9876543210", "mobile"),
        ("Rao 9876543210", "mobile"),
        ("Mob: 9876543210 / 98765XXXXX", "mobile"),
    ],
)
def test_mobile(cell: str, read: str) -> None:
    assert value("alternate_customer_mobile: {from: Cell, read: mobile}", cell) == read


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("560001", "560001"),
        ("560 001", "560001"),
        ("560001.0", "560001"),
        ("5,60,001", "560001"),
        ("PIN-560001", "560001"),
        ("Pin code: 560001", "560001"),
        ("'560001", "560001"),
        ("5.60001E+05", "560001"),
        ("5.6E+05", "scientific"),
        ("56001", "pincode"),
        ("056001", "pincode"),
        ("5600011", "pincode"),
        ("4110\n01", "several_values"),
        ("4110 01", "pincode"),
        ("41 10 01", "pincode"),
        ("4110,01", "pincode"),
        ("Bengaluru", "pincode"),
    ],
)
def test_pincode(cell: str, read: str) -> None:
    assert value("delivery_postal_code: {from: Cell, read: pincode}", cell) == read


@pytest.mark.parametrize(
    ("column", "cell", "rule"),
    [
        ("Qty", "2\n1", "item_quantity|several_values"),
        ("Qty", "2 3", "item_quantity|integer"),
        ("Phone", "98765\n43210", "customer_mobile|several_values"),
        ("Phone", "9876543210\r\n9123456789", "customer_mobile|several_values"),
    ],
)
def test_values_in_one_cell_are_never_joined_into_another_number(column: str, cell: str, rule: str) -> None:
    found = orders(order(**{column: cell}))
    assert [issue.rule for issue in found.issues] == [rule] and not found.documents
    if "several" in rule:
        assert f'"{column}" has a line break or a tab in the cell: are these several' in found.issues[0].reason
        assert f'"{column}"' in found.issues[0].fix
        assert notes_in(found) == ()


@pytest.mark.parametrize(("cell", "read"), [("2 50\n3", "several_values"), ("2 50", "unit"), ("1 200 g", "1.2")])
def test_weights_are_not_joined_either(cell: str, read: str) -> None:
    assert value("weight: {from: Cell, read: {unit: g -> kg}}", cell) == read


def test_a_short_pin_says_how_many_digits_it_has() -> None:
    issue = mapped("delivery_postal_code: {from: Cell, read: pincode}", "56001").issues[0]
    assert (issue.cell, issue.column, issue.value) == ("B2", "Cell", "56001")
    assert (issue.reason, issue.fix) == ("PIN has 5 digits.", "Write all 6 digits of the PIN.")


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("499", "499.00"),
        ("499.5", "499.50"),
        ("₹1,23,456.50", "123456.50"),
        ("Rs. 1,200/-", "1200.00"),
        ("Rs 1200", "1200.00"),
        ("INR 500", "500.00"),
        ("1,234,567", "1234567.00"),
        (".5", "0.50"),
        ("12.", "12.00"),
        ("0.30000000000000004", "0.30"),
        ("1000.005", "1000.01"),
        ("0", "0.00"),
        ("(250)", "negative"),
        ("-250", "negative"),
        ("250-", "negative"),
        ("1.234,50", "money"),
        ("12,34", "money"),
        ("1,2,3", "money"),
        ("1.5E+3", "scientific"),
        ("1.500E+3", "1500.00"),
        ("five", "money"),
        ("12 Nos", "money"),
        ("₹ 1 200.50", "1200.50"),
        ("1 23 456", "123456.00"),
        ("1\u00a0200", "1200.00"),
        ("500 /-", "500.00"),
        ("( 250 )", "negative"),
        ("- 250", "negative"),
        ("1 2", "money"),
        ("1, 200", "money"),
        ("12 50", "money"),
        ("1\n2", "several_values"),
        ("1\t200", "several_values"),
        ("(250", "money"),
        ("250)", "money"),
        ("--5", "money"),
        ("9" * 40, "money"),
    ],
)
def test_money(cell: str, read: str) -> None:
    lines = "lines: {item_name: {constant: tea}, total_item_price: {from: Cell, read: money}}\n"
    found = mapped("division: {constant: x}", cell, more=lines)
    item = json.loads(found.documents[0].body)["item_details"][0] if found.documents else {}
    assert item.get("total_item_price") == read or rules(found) == [("B2", f"total_item_price|{read}")]


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("0,500", "decimal"),
        ("0,075", "decimal"),
        ("00 500", "decimal"),
        ("01,234", "1234"),
        ("0.750", "0.75"),
        ("100", "100"),
        ("1,200.50", "1200.5"),
        ("-1", "negative"),
        ("1 kg", "decimal"),
    ],
)
def test_decimal_has_no_trailing_zeros(cell: str, read: str) -> None:
    assert value("volume: {from: Cell, read: decimal}", cell) == read


@pytest.mark.parametrize(
    ("cell", "kind", "read"),
    [
        ("1.234,50", None, "1234.5"),
        ("1,5", None, "1.5"),
        ("1.5", None, "decimal"),
        ("1.5", CellFact.NUMBER, "1.5"),
        ("1.234", None, "1234"),
    ],
)
def test_a_decimal_comma_counts_only_where_it_is_declared(cell: str, kind: CellFact | None, read: str) -> None:
    kinds = (kind,) if kind else ()
    assert value("volume: {from: Cell, read: decimal}", cell, more='sheet: {decimal: ","}\n', kinds=kinds) == read


@pytest.mark.parametrize(
    ("conversion", "cell", "read"),
    [
        ("g -> kg", "500", "0.5"),
        ("g -> kg", "1,250 g", "1.25"),
        ("g -> kg", "750gms", "0.75"),
        ("kg -> kg", "0.50", "0.5"),
        ("lb -> kg", "2", "0.90718474"),
        ("mm -> cm", "90mm", "9"),
        ("cm -> cm", "12 cms", "12"),
        ("in -> cm", "10", "25.4"),
        ("l -> cc", "1.5 ltr", "1500"),
        ("cm -> cm", "90mm", "unit"),
        ("g -> kg", "0.5 kg", "unit"),
        ("g -> kg", "heavy", "unit"),
    ],
)
def test_units_are_converted_and_another_unit_in_the_cell_is_refused(conversion: str, cell: str, read: str) -> None:
    target = {"kg": "weight", "cm": "length", "cc": "volume"}[conversion[-2:]]
    assert value(f"{target}: {{from: Cell, read: {{unit: {conversion}}}}}", cell) == read


DATES = 'read: {date: ["%d/%m/%Y", "%d-%b-%Y", "%d.%m.%y"], at: "18:00"}'


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("03/11/2026", "2026-11-03T18:00:00+05:30"),
        ("3/11/2026", "2026-11-03T18:00:00+05:30"),
        ("3-Nov-2026", "2026-11-03T18:00:00+05:30"),
        ("03-NOV-2026", "2026-11-03T18:00:00+05:30"),
        ("03.11.26", "2026-11-03T18:00:00+05:30"),
        ("2026-11-03", "2026-11-03T18:00:00+05:30"),
        ("2026-11-03 14:30:00", "2026-11-03T14:30:00+05:30"),
        ("11/2026", "date"),
        ("31/02/2026", "date"),
        ("3/11/26", "date"),
        ("tomorrow", "date"),
        ("46329", "date"),
        ("03/11/2025", "2025-11-03T18:00:00+05:30"),
        ("02/11/2025", "date_window"),
        ("02/11/2028", "2028-11-02T18:00:00+05:30"),
        ("03/11/2028", "date_window"),
    ],
)
def test_dates_by_declared_format_and_within_the_window(cell: str, read: str) -> None:
    assert value(f"expected_delivery_time: {{from: Cell, {DATES}}}", cell) == read


def test_without_at_a_date_becomes_the_end_of_its_day_in_the_services_zone() -> None:
    field = 'expected_delivery_time: {from: Cell, read: {date: "%d/%m/%Y"}}'
    assert value(field, "03/11/2026") == "2026-11-03T23:59:59+05:30"
    assert value(field, "03/11/2026", zone="Europe/Berlin") == "2026-11-03T23:59:59+01:00"
    assert value(field, "03/07/2026", zone="Europe/Berlin") == "2026-07-03T23:59:59+02:00"


def test_a_written_offset_is_converted_to_the_zone() -> None:
    field = 'pickup_datetime: {from: Cell, read: {date: "%Y-%m-%d %H:%M:%S %z"}}'
    assert value(field, "2026-11-03 22:00:00 +0000") == "2026-11-04T03:30:00+05:30"


def test_a_true_date_cell_needs_no_format_and_a_date_target_takes_the_date() -> None:
    assert (
        value("expected_delivery_time: {from: Cell}", "2026-11-05", kinds=(CellFact.DATE,))
        == "2026-11-05T23:59:59+05:30"
    )


def test_true_dates_mixed_with_text_dates_hold_the_file() -> None:
    mapping = ORDERS.replace("lines:", "  expected_delivery_time: {from: Due, read: {date: '%d/%m/%Y'}}\nlines:")
    rows = [
        [*HEADER, "Due"],
        [*ROW, "2026-03-11"],
        [*order(Order_No="A2"), "13/11/2026"],
        [*order(Order_No="A3"), "ASAP"],
    ]
    with pytest.raises(FileHeld) as caught:
        run(mapping, sheet_of(rows, types=[(2, 7, CellFact.DATE)]))
    assert caught.value.rule == "expected_delivery_time|mixed_dates"
    assert 'Column "Due" has true dates and dates written as text (rows 3)' in str(caught.value)
    words_only = run(mapping, sheet_of([rows[0], rows[1], rows[3]], types=[(2, 7, CellFact.DATE)]))
    assert rules(words_only) == [("G3", "expected_delivery_time|date")]


COD = 'is_cod: {from: Cell, read: {lookup: {COD: "true", "C.O.D.": "true", Prepaid: "false"}}}'


@pytest.mark.parametrize(
    ("cell", "read"),
    [("PREPAID", "false"), (" prepaid ", "false"), ("No", "lookup"), ("", None)],
)
def test_lookups_ignore_case_and_blanks_and_refuse_what_they_do_not_list(cell: str, read: str | None) -> None:
    assert value(COD, cell) == read


@pytest.mark.parametrize(("verb", "read"), [("upper", "SOUTH É"), ("lower", "south é"), ("text", "South é")])
def test_letters_are_made_capital_or_small(verb: str, read: str) -> None:
    assert value(f"division: {{from: Cell, read: {verb}}}", " South é") == read


@pytest.mark.parametrize(("cell", "read"), [(" south", "S"), ("North", "elsewhere"), ("", None)])
def test_a_lookup_may_have_an_answer_for_all_other_words_but_not_for_a_blank(cell: str, read: str | None) -> None:
    assert value('division: {from: Cell, read: {lookup: {South: S, "*": elsewhere}}}', cell) == read


def test_a_lookup_file_is_read_by_its_column_names() -> None:
    mapping = mapping_of(
        ORDERS.replace(
            "{from: SKU, required: true}",
            "{from: SKU, read: [upper, {lookup: {file: skus.csv, from: code, to: name}}]}",
        ),
        skus="Name,Code\nGreen tea,TEA\n",
    )
    found = run(mapping, sheet_of([HEADER, ROW, order(Order_No="A2", SKU="cup")]))
    assert '"item_name":"Green tea"' in found.documents[0].body
    assert rules(found) == [("E3", "item_name|lookup")]


@pytest.mark.parametrize(
    ("payment", "amount", "rule"),
    [
        ("COD", "100", None),
        ("Prepaid", "", None),
        ("Prepaid", "0", None),
        ("", "", None),
        ("COD", "", "cod"),
        ("COD", "0", "cod"),
        ("Prepaid", "100", "cod"),
        ("", "100", "cod"),
        ("COD", "x", "money"),
        ("maybe", "100", "lookup"),
    ],
)
def test_the_cod_flag_and_the_amount_agree(payment: str, amount: str, rule: str | None) -> None:
    fields = f"  {COD.replace('Cell', 'Payment')}\n  cash_on_delivery: {{from: Amount, read: money}}\nlines:"
    header = [*HEADER, "Payment", "Amount"]
    found = orders([*ROW, payment, amount], header=header, mapping=ORDERS.replace("lines:", fields))
    assert [issue.rule.split("|")[1] for issue in found.issues] == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        ("1", None),
        ("2.0", None),
        ("1,200", None),
        ("0", "quantity"),
        ("-1", "negative"),
        ("1.5", "integer"),
        ("2 pcs", "integer"),
    ],
)
def test_quantities_are_whole_and_at_least_1(cell: str, rule: str | None) -> None:
    found = orders(order(Qty=cell))
    assert [issue.rule for issue in found.issues] == ([f"item_quantity|{rule}"] if rule else [])


def test_a_negative_quantity_is_told_what_the_least_is_and_a_negative_price_likewise() -> None:
    mapping = ORDERS.replace("lines:", "lines:\n  item_price_per_each: {from: Price}")
    (quantity,) = orders(order(Qty="-1")).issues
    (price,) = orders([*ROW, "-1"], header=[*HEADER, "Price"], mapping=mapping).issues
    assert (quantity.fix, price.fix) == ("Write a number of 1 or more.", "Write a number of 0 or more.")


def test_item_quantity_is_a_number_and_qty_a_string() -> None:
    assert '"item_quantity":2' in orders(order(Qty="2.0")).documents[0].body
    asn = """
operation: asn.create
key: [Invoice]
fields: {invoice_number: {from: Invoice}, supplier: {constant: S1}, site_name: {constant: Bhiwandi}}
lines: {sku_name: {from: SKU}, qty: {from: Qty}}
"""
    found = run(asn, sheet_of([["Invoice", "SKU", "Qty"], ["I-1", "tea", "0012"], ["I-1", "cup", "3"]]))
    assert found.documents[0].body == (
        '{"supplier":"S1","site_name":"Bhiwandi","invoice_number":"I-1",'
        '"sku_lines":[{"sku_name":"tea","qty":"12"},{"sku_name":"cup","qty":"3"}]}'
    )
    assert (found.documents[0].key, found.documents[0].reference) == ("S1 | Bhiwandi | I-1", "I-1")


@pytest.mark.parametrize(
    ("cell", "sent"),
    [
        ("  plain  ", "plain"),
        ("NO", "NO"),
        ("007", "007"),
        ("'=1+1", "=1+1"),
        ("'+91 98", "+91 98"),
        ("'75008", "75008"),
        ('="0012"', "0012"),
        ("'Asha's", "'Asha's"),
        ("two\nlines", "two lines"),
        ("a\tb", "a b"),
        ('say "hi" \\ now', 'say "hi" \\ now'),
        ("हिन्दी 😀", "हिन्दी 😀"),
        ("1.5E+10 mm", "1.5E+10 mm"),
        ("22E1", "22E1"),
        ("1.23E+10", "scientific"),
        ("a\x00b", "control"),
        ("a\x1bb", "control"),
        ("#N/A", "error_value"),
        ("#VALUE!", "error_value"),
        ("#DIV/0!", "error_value"),
        ("#NAME?", "error_value"),
        ("#NUM!", "error_value"),
        ("#NULL!", "error_value"),
        ("########", "error_value"),
        ("# 12", "# 12"),
        ("1,23E+011", "scientific"),
    ],
)
def test_text_is_trimmed_and_otherwise_as_it_stands(cell: str, sent: str) -> None:
    assert value("division: {from: Cell}", cell) == sent


@pytest.mark.parametrize("cell", ["1.79769313486232E+308", "1.23457E+011", "1,23E+11", "1.5E-7", "12E4567890"])
def test_a_reference_whose_digits_are_lost_is_never_sent_however_the_exponent_is_written(cell: str) -> None:
    assert rules(orders(order(Order_No=cell), order(Order_No="5E-12"))) == [("A2", "reference_number|scientific")]


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+919876543210",
        "-A1",
        "@home",
        "\uff1d1",
        "Call first; +919876543210",
        "a;=1;-b",
        "x;\u3000\uff0b91",
        " =1+1",
        "\ufeff=1",
        '"=1"',
    ],
)
def test_the_guard_that_our_results_set_before_a_formula_is_taken_off_again(text: str) -> None:
    written = guarded(pl.DataFrame({"cell": [text]})).item()
    assert written != text
    assert value("division: {from: Cell}", written) == value("division: {from: Cell}", text)


@pytest.mark.parametrize("text", ["12 MG Road\n- near the temple", "\t=12 MG Road", "MG Road\n\t=1\r\n@b"])
def test_the_guard_before_a_line_of_an_address_is_taken_off_again(text: str) -> None:
    written = guarded(pl.DataFrame({"cell": [text]})).item()
    assert "'" in written
    sent, meant = (orders(order(Address=each)).documents[0].body for each in (written, text))
    assert sent == meant
    assert "'" not in sent


def test_line_breaks_in_an_address_become_commas() -> None:
    found = orders(order(Address="12 MG Road,\r\nNear Temple\nBengaluru"))
    assert '"delivery_address":"12 MG Road, Near Temple, Bengaluru"' in found.documents[0].body
    assert notes_in(found) == ('Column "Address": repaired without loss: D2.',)


def test_join_leaves_blanks_out_and_needs_one_of_its_columns() -> None:
    mapping = ORDERS.replace("{from: Address}", '{join: [Address, [Town, City], Land], with: ", "}')
    found = orders([*ROW, "Bengaluru"], order(Order_No="A2"), header=[*HEADER, "City"], mapping=mapping)
    assert [json.loads(each.body)["delivery_address"] for each in found.documents] == [
        "12 MG Road, Bengaluru",
        "12 MG Road",
    ]


def test_defaults_constants_run_values_and_conditions() -> None:
    fields = """  priority: {from: Prio, default: "1"}
  division: {constant: South}
  customer_reference_number: {run: file_name}
  pickup_datetime: {run: business_date}
  return_address: {from: Ret, when: {Return: [Y, "Yes"]}}
lines:"""
    header = [*HEADER, "Prio", "Return", "Ret"]
    found = orders(
        [*ROW, "", "yes", "back"],
        [*order(Order_No="A2"), "3", "no", "back"],
        header=header,
        mapping=ORDERS.replace("lines:", fields),
    )
    first, second = (json.loads(each.body) for each in found.documents)
    assert (first["priority"], first["division"], first["return_address"]) == ("1", "South", "back")
    assert first["customer_reference_number"] == "drop.csv"
    assert first["pickup_datetime"] == "2026-11-03T23:59:59+05:30"
    assert second["priority"] == "3"
    assert "return_address" not in second


SUMS = ORDERS.replace(
    "lines:",
    """  is_cod: {from: Pay, read: {lookup: {COD: "true", Prepaid: "false"}}}
  cash_on_delivery: {sum: Price, less: Off, times: Qty, plus: [Ship], minus: [Voucher], when: {Pay: COD}}
lines:""",
)


def test_a_sum_over_the_rows_with_charges_once() -> None:
    header = [*HEADER, "Pay", "Price", "Off", "Ship", "Voucher"]
    found = orders(
        [*ROW, "COD", "100.10", "0.10", "40", "15"],
        [*order(SKU="cup", Qty="3"), "COD", "50", "", "", ""],
        [*order(Order_No="A2"), "Prepaid", "10", "", "40", ""],
        header=header,
        mapping=SUMS,
    )
    assert json.loads(found.documents[0].body)["cash_on_delivery"] == "375.00"
    assert "cash_on_delivery" not in json.loads(found.documents[1].body)


def test_a_sum_refuses_cells_that_are_no_numbers_and_charges_that_differ() -> None:
    header = [*HEADER, "Pay", "Price", "Off", "Ship", "Voucher"]
    found = orders(
        [*ROW, "COD", "abc", "", "40", ""],
        [*order(Order_No="A2"), "COD", "10", "", "40", ""],
        [*order(Order_No="A2", SKU="cup"), "COD", "10", "", "50", ""],
        header=header,
        mapping=SUMS,
    )
    assert rules(found) == [("H2", "cash_on_delivery|sum")]
    assert states(found) == {2: "invalid", 3: "blocked disagree", 4: "blocked disagree"}
    assert reasons(found.rows)[1] == '"Ship" differs between the rows 3-4 of one document.'


def test_a_sum_refuses_a_line_that_would_count_for_nothing_and_what_would_be_taken_off_twice() -> None:
    header = [*HEADER, "Pay", "Price", "Off", "Ship", "Voucher"]
    found = orders(
        [*ROW, "COD", "100", "", "", ""],
        [*order(SKU="cup"), "COD", "", "", "", ""],
        [*order(Order_No="A2"), "Prepaid", "", "", "", ""],
        [*order(Order_No="A3"), "COD", "100", "(10)", "", ""],
        [*order(Order_No="A4"), "COD", "100", "", "", "-10"],
        [*order(Order_No="A5", Qty=""), "COD", "100", "", "", ""],
        header=header,
        mapping=SUMS,
    )
    assert rules(found) == [
        ("H3", "cash_on_delivery|half_filled"),
        ("I5", "cash_on_delivery|negative"),
        ("K6", "cash_on_delivery|negative"),
        ("F7", "cash_on_delivery|half_filled"),
    ]
    assert [document.key for document in found.documents] == ["A2"]


def test_line_totals_and_sample_values_are_checked_when_asked_for() -> None:
    checks = "{sample_values: true, line_total: {quantity: Qty, price: Rate, total: Total, tolerance: '1.00'}}"
    mapping = ORDERS + f"keep: {{total: {{from: Total}}}}\nchecks: {checks}\n"
    header = [*HEADER, "Rate", "Total"]
    rows = [
        [*ROW, "10", "20.90"],
        [*order(Order_No="A2"), "10", "22"],
        [*order(Order_No="ORD001", Name="John Doe"), "10", "20"],
    ]
    found = orders(*rows, header=header, mapping=mapping)
    assert rules(found) == [
        ("H3", "total|line_total"),
        ("A4", "reference_number|sample"),
        ("B4", "customer_name|sample"),
    ]


def test_what_the_contracts_model_refuses_is_an_issue_at_its_cell() -> None:
    fields = "  packages_count: {from: Packages}\n  delivery_lat: {from: Lat}\nlines:\n  package_id: {from: Pack}"
    header = [*HEADER, "Packages", "Lat", "Pack"]
    found = orders(
        [*ROW, "2", "12.9", "P1"],
        [*order(Order_No="A2"), "", "95", ""],
        header=header,
        mapping=ORDERS.replace("lines:", fields),
    )
    assert rules(found) == [("G2", "packages_count_and_package_id|contract"), ("H3", "delivery_lat|latitude")]
    assert "service rejects such an order" in found.issues[0].reason


def test_the_longitude_is_spelt_as_asked() -> None:
    mapping = ORDERS.replace("lines:", "  delivery_long: {from: Long}\nlines:")
    sheet = sheet_of([[*HEADER, "Long"], [*ROW, "77.5946"]])
    assert '"delivery_long":"77.5946"' in run(mapping, sheet).documents[0].body
    assert '"delivery_lon":"77.5946"' in run(mapping, sheet, longitude="delivery_lon").documents[0].body


def test_receipts_are_read_row_by_row_and_nothing_is_sent() -> None:
    mapping = """
operation: receipt.read
fields:
  invoice_number: {from: Invoice}
  sku_name: {from: Item}
  qty: {from: Qty}
  received_date: {from: On, read: {date: "%d/%m/%Y"}}
keep: {dock: {from: Dock}}
"""
    rows = [
        ["Invoice", "Item", "Qty", "On", "Dock"],
        ["I-1", "tea", "0", "03/11/2026", "3"],
        ["I-1", "cup", "x", "03/11/2026", ""],
        ["I-1", "jug", "5", "", ""],
    ]
    found = run(mapping, sheet_of(rows))
    assert found.documents == ()
    assert states(found) == {2: "ready", 3: "invalid", 4: "ready"}
    assert found.keep.to_dicts() == [
        {
            "row": 2,
            "invoice_number": "I-1",
            "sku_name": "tea",
            "qty": "0",
            "condition": None,
            "received_date": "2026-11-03",
            "supplier_name": None,
            "site_name": None,
            "dock": "3",
        },
        {
            "row": 4,
            "invoice_number": "I-1",
            "sku_name": "jug",
            "qty": "5",
            "condition": None,
            "received_date": None,
            "supplier_name": None,
            "site_name": None,
            "dock": None,
        },
    ]


def test_kept_values_are_those_of_the_first_row_and_are_not_sent() -> None:
    mapping = ORDERS + "keep: {route: {from: Bin}, bin: {from: Bin}}\n"
    found = orders([*ROW, "B7"], [*order(SKU="cup"), "B8"], header=[*HEADER, "Bin"], mapping=mapping)
    assert found.documents[0].keep == {"route": "B7", "bin": "B7", "bin:2": "B8"}, "each item lies in a bin"
    assert "B7" not in found.documents[0].body


def test_two_numbers_in_a_phone_cell_are_mentioned() -> None:
    assert notes_in(orders(order(Phone="98765 43210 / 91234 56789"))) == (
        'Column "Phone" has two numbers in row 2; the first mobile number was taken.',
    )


def test_only_rows_are_mentioned_of_whose_numbers_one_is_not_sent() -> None:
    not_sent = ["91 9876543210 / 91 9712345678", "9876543210, 022-23456789", "0422-2345678 / 9876543210"]
    others = ["9876543210 / 9876543210", "9876543210 / 97123"]
    rows = [order(Order_No=f"A{number}", Phone=cell) for number, cell in enumerate([*others, *not_sent])]
    assert notes_in(orders(*rows)) == (
        'Column "Phone" has two numbers in rows 4-6; the first mobile number was taken.',
    )


@pytest.mark.parametrize(
    ("cell", "read"), [("5", "5"), ("12.50 %", "12.5"), ("5%", "5"), ("-5", "negative"), ("x", "percent")]
)
def test_percentages(cell: str, read: str) -> None:
    assert value("weight: {from: Cell, read: percent}", cell) == read


def test_a_text_may_be_put_before_a_value() -> None:
    assert value('division: {from: Cell, read: {before: "PO "}}', "4500") == "PO 4500"
    assert value('division: {from: Cell, read: [upper, {before: "PO "}]}', None) is None


def test_the_second_number_of_a_phone_cell_is_the_alternate_one_where_that_is_mapped() -> None:
    cells = ["98765 43210 / 91234 56789", "9876543210.0 / 0712-2245566", "9876543210", "9876543210 / 12"]
    rows = [order(Order_No=f"A{number}", Phone=cell) for number, cell in enumerate(cells)]
    both = "  alternate_customer_mobile: {from: Phone, read: mobile}\nlines:"
    mapped = orders(*rows, mapping=ORDERS.replace("lines:", both))
    bodies = [json.loads(document.body) for document in mapped.documents]
    assert [(each["customer_mobile"], each.get("alternate_customer_mobile")) for each in bodies] == [
        ("9876543210", "9123456789"),
        ("9876543210", None),
        ("9876543210", None),
    ]
    assert [(issue.row, issue.rule) for issue in mapped.issues] == [(5, "customer_mobile|mobile")]
    assert 'Column "Phone" has two numbers in row 3; the first mobile number was taken.' in notes_in(mapped)


@pytest.mark.parametrize("verb", vocabulary(), ids=lambda verb: verb.name)
def test_every_verb_has_a_line_of_doc_and_an_example_that_loads(verb: object) -> None:
    example = verb.example  # type: ignore[attr-defined]
    target = example.split(":")[0]
    wrapped = {"item_name": "lines", "item_quantity": "lines", "item_price_per_each": "lines"}.get(target, "fields")
    wrapped = "" if target in ("delivery_date", "discount_percentage") else wrapped
    assert verb.doc.endswith(".")  # type: ignore[attr-defined]
    if wrapped == "lines":
        rest = "" if target == "item_name" else "\n  item_name: {from: SKU}"
        mapping_of(PLAIN + f"lines:\n  {example}{rest}\n")
    elif wrapped == "fields":
        others = "\n".join(line for line in PLAIN.splitlines() if not line.strip().startswith(f"{target}:"))
        mapping_of(f"{others}\n  {example}\n")
    else:
        fields = "  invoice_number: {from: I}\n  supplier: {from: S}\n  site: {from: W}\n"
        asn = f"operation: asn.create\nkey: [I]\nfields:\n{fields}"
        before, within = (f"  {example}\n", "") if target == "delivery_date" else ("", f", {example}")
        mapping_of(f"{asn}{before}lines: {{qty: {{from: Q}}{within}}}\n")


def test_a_sum_of_amounts_with_a_decimal_comma_is_read_as_what_it_is() -> None:
    mapping = ORDERS.replace("lines:", "  weight: {sum: Weight}\nlines:") + 'sheet: {decimal: ","}\n'
    mapped = orders([*order(), "1.000,25"], [*order(), "0,5"], mapping=mapping, header=[*HEADER, "Weight"])
    assert json.loads(mapped.documents[0].body)["weight"] == "1000.75"


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("31-Nov-2026", "November 2026 has 30 days."),
        ("31/11/2026", "November 2026 has 30 days."),
        ("29 Feb 2027", "February 2027 has 28 days."),
        ("29-02-27", "February 2027 has 28 days."),
        ("2026-02-30", "February 2026 has 28 days."),
        ("00/11/2026", "November 2026 has 30 days."),
        ("11/24/2026", "there is no month 24. Are day and month changed over?"),
        ("31/13/2026", "there is no month 13."),
        ("31/11/2026 18:00", "November 2026 has 30 days."),
    ],
)
def test_a_date_that_no_calendar_has_is_called_so(cell: str, told: str) -> None:
    read = 'expected_delivery_time: {from: Due, read: {date: ["%d/%m/%Y", "%d-%m-%y", "%d/%m/%Y %H:%M"]}}'
    mapping = ORDERS.replace("lines:", f"  {read}\nlines:")
    (issue,) = orders([*ROW, cell], header=[*HEADER, "Due"], mapping=mapping).issues
    assert issue.reason == f"This date does not exist: {told}"
    fix = "Check day, month and year; 3 November 2026 is written 03/11/2026 or 03-11-26 or 03/11/2026 18:30."
    assert (issue.rule, issue.fix) == ("expected_delivery_time|date", fix)


@pytest.mark.parametrize("cell", ["31-Foo-2026", "31.11", "soon", "2026-11-03T25:00:00", "31/Nov-2026"])
def test_what_is_written_otherwise_is_no_date_as_agreed(cell: str) -> None:
    mapping = ORDERS.replace("lines:", '  expected_delivery_time: {from: Due, read: {date: "%d/%m/%Y"}}\nlines:')
    (issue,) = orders([*ROW, cell], header=[*HEADER, "Due"], mapping=mapping).issues
    assert issue.reason == "The cell is no date as agreed."


def test_a_named_month_without_such_a_day_among_true_dates_is_the_row_s_own_fault() -> None:
    mapping = ORDERS.replace("lines:", "  expected_delivery_time: {from: Due}\nlines:")
    rows = [[*HEADER, "Due"], [*ROW, "2026-11-05"], [*order(Order_No="A2"), "31-Nov-2026"]]
    found = run(mapping, sheet_of(rows, types=[(2, 7, CellFact.DATE)]))
    assert [(issue.cell, issue.reason) for issue in found.issues] == [
        ("G3", "This date does not exist: November 2026 has 30 days.")
    ]
    rows[2][6] = "31/11/2026"
    declared = mapping.replace("{from: Due}", '{from: Due, read: {date: "%d/%m/%Y"}}')
    with pytest.raises(FileHeld, match='"31/11/2026": This date does not exist'):
        run(declared, sheet_of(rows, types=[(2, 7, CellFact.DATE)]))
