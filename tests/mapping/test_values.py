"""How cells are read: every verb, every quirk that is repaired, every one that is refused."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
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


CELLS = yaml.safe_load((Path(__file__).parent / "cells.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CELLS, ids=[each["about"] for each in CELLS])
def test_a_cell_is_read_as_the_list_of_cases_says(case: dict[str, Any]) -> None:
    field, lines = str(case["field"]), "lines: {item_name: {constant: tea}, "
    for cell, read in case["cells"].items():
        if not field.startswith("total_item_price"):
            assert value(field, cell) == read, cell
            continue
        found = mapped("division: {constant: x}", cell, more=f"{lines}{field}}}\n")
        item = json.loads(found.documents[0].body)["item_details"][0] if found.documents else {}
        assert item.get("total_item_price") == read or rules(found) == [("B2", f"total_item_price|{read}")], cell


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


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("56001", ("PIN has 5 digits.", "Write all 6 digits of the PIN.")),
        ("056001", ("This is no PIN: it begins with 0 or holds something else.", "Write the right PIN, digits only.")),
        ("Pune", ("This is no PIN.", "Write the 6 digits of the PIN, such as 560001.")),
    ],
)
def test_a_pin_with_too_few_digits_says_how_many_it_has(cell: str, said: tuple[str, str]) -> None:
    issue = mapped("delivery_postal_code: {from: Cell, read: pincode}", cell).issues[0]
    assert (issue.cell, issue.column, issue.value) == ("B2", "Cell", cell)
    assert (issue.reason, issue.fix) == said


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
    assert words_only.issues[0].fix == "Enter the date as the other cells of the column hold it."


COD = 'is_cod: {from: Cell, read: {lookup: {COD: "true", "C.O.D.": "true", Prepaid: "false"}}}'


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
        [*order(Order_No="A3"), "Prepaid", "NA", "-", "Nil", "-10"],  # nothing is collected
        header=header,
        mapping=SUMS,
    )
    assert [document.key for document in found.documents] == ["A1", "A2", "A3"]
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
