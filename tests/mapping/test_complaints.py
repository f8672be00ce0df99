"""What people get wrong when they write mapping files: each mistake is told at load, at its line and column."""

import pytest
from mapping.sheets import mapping_of, order, orders

from logistics_batch.errors import SpecificationError

TEXT = """\
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile}
  delivery_address: {from: Address}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty, read: integer}
"""
PHONE, ADDRESS, QUANTITY = "read: mobile", "{from: Address}", "read: integer"


def complaints(text: str) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        mapping_of(text)
    return [f"{each.line}:{each.column} {each.message} {each.remedy}".strip() for each in caught.value.findings]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # a wrong key, or a right one in the wrong place
        (
            "operation: order.create",
            "operations: order.create",
            "1:1 Unknown key `operations`. Did you mean `operation`?",
        ),
        (ADDRESS, "{from_: Address}", "6:22 Unknown key `from_`. Did you mean `from`?"),
        (
            ADDRESS,
            "{from: A}\n  <<: {from: B}",
            "7:3 `<<` is no target of `order.create` under `fields`. Known: awb_number",
        ),
        ("item_quantity:", "qty:", "9:3 `qty` is no target of `order.create` under `lines`. Known: "),
        (
            ADDRESS,
            "{from: A}\n  remarks: {from: B}",
            "What the service has no place for stands under `keep`, for reports",
        ),
        (
            ADDRESS,
            "{from: A}\n  po_number: {from: B}",
            "`pin_number`? What the service has no place for stands under `keep`",
        ),
        (
            "item_name:",
            "customer_name:",
            "8:3 `customer_name` is no target of `order.create` under `lines`. It belongs",
        ),
        # a wrong kind of value
        ("[Order No]", "[Order No, order-no]", "2:17 `order-no` is the same column as `Order No`. Name it once."),
        ("[Order No]", '[" "]', "2:7 A name of blanks alone is no name. Write it as the sheet shows it."),
        ("[Order No]", "{a: b}", "2:1 Each part of a key or of `join` is the name of a column, or one value"),
        (ADDRESS, "{join: [{from: A}, B]}", "6:29 Each part of a key or of `join` is the name of a column"),
        (ADDRESS, "{join: [{from: A}, B]}", "Write names alone, as `join: [Line 1, City]`"),
        (ADDRESS, "Address", "6:3 `Address` does not fit here. Write keys with values"),
        (ADDRESS, "{from: }", "6:22 `from` is empty. Write its value, or leave the line out."),
        (ADDRESS, "{from: A, default: }", "6:31 `default` is empty."),
        (ADDRESS, "{from: A, when: {}}", "6:31 This group of keys does not fit here. Write at least one value."),
        ("required: true", "required: yes", "4:38 `yes` does not fit here. Write true or false."),
        ("required: true", "required: 1", "4:38 `1` does not fit here. Write true or false."),
        (PHONE, "read: ", "5:34 `read` is empty."),
        # ways to read a cell
        (PHONE, "read: {dat: x}", "5:34 `dat` is no way to read a cell. Did you mean `date`?"),
        (PHONE, "read: date", '5:34 `date` needs to be told more. Write it as `{date: "%d/%m/%Y"}`.'),
        (
            PHONE,
            'read: {date: "%d/%m/%Y", unit: g -> kg}',
            "5:34 One step cannot be `date` and `unit`. Write them as a",
        ),
        (PHONE, "read: [mobile, money]", "5:49 `money` comes after `mobile`, which leaves it nothing to read."),
        (
            PHONE,
            "read: money",
            "5:34 `money` does not give a mobile number, which `customer_mobile` wants. Write `mobile`",
        ),
        (QUANTITY, 'read: {date: "%d/%m/%Y"}', "9:30 `date` does not give a quantity, which `item_quantity` wants."),
        (QUANTITY, "read: {lookup: {dozen: many}}", "9:46 `many` is not allowed here: It is not a whole number."),
        (
            ADDRESS,
            "{from: A}\n  weight: {from: W, read: {unit: kg -> g}}",
            "7:28 `order.create` wants weights in kg, and this gives g. Write `kg -> kg`.",
        ),
        (
            ADDRESS,
            "{from: A}\n  length: {from: L, read: {unit: mm -> m}}",
            "7:28 `order.create` wants lengths in cm, and this gives m. Write `mm -> cm`.",
        ),
        (
            ADDRESS,
            "{from: A}\n  height: {from: H, read: {unit: g -> kg}}",
            "7:28 `order.create` wants heights in cm, and this gives kg. Take another column.",
        ),
        (
            QUANTITY,
            "read: integer}\n  item_price_per_each: {from: P, read: {unit: g -> kg}",
            "10:34 `unit` does not give an amount, which `item_price_per_each` wants. Write `money`, or leave",
        ),
        # cash on delivery that no row could have
        (
            ADDRESS,
            '{from: A}\n  is_cod: {constant: "true"}',
            "7:3 `is_cod` is true, and no amount to collect is mapped: no such order could be sent. Map the amount",
        ),
        (
            ADDRESS,
            '{from: A}\n  is_cod: {constant: "true"}\n  cash_on_delivery: {constant: "0.00"}',
            "7:3 `is_cod` is true, and no amount to collect is mapped",
        ),
        (
            ADDRESS,
            "{from: A}\n  cash_on_delivery: {from: C}",
            "7:3 `cash_on_delivery` is mapped, and `is_cod` is missing: no row with an amount could be sent.",
        ),
        (
            ADDRESS,
            '{from: A}\n  cash_on_delivery: {from: C}\n  is_cod: {constant: "false"}',
            "7:3 `cash_on_delivery` is mapped, and `is_cod` is false for all rows: no row with an amount",
        ),
        # texts of the mapping that no target takes
        (
            ADDRESS,
            '{from: A}\n  is_cod: {constant: "yes"}',
            "7:12 `yes` is not allowed here: It is neither true nor false. W",
        ),
        (
            ADDRESS,
            "{from: A}\n  delivery_postal_code: {constant: 56}",
            "7:26 `56` is not allowed here: PIN has 2 digits.",
        ),
        (
            ADDRESS,
            "{from: A}\n  cash_on_delivery: {from: C, default: free}",
            "7:31 `free` is not allowed here: It is not an",
        ),
        (
            ADDRESS,
            "{from: A}\n  pickup_datetime: {constant: tomorrow}",
            "7:21 `tomorrow` is not allowed here: It is no date",
        ),
        (ADDRESS, '{constant: ""}', "6:22 `constant` is blank, and nothing blank is sent."),
        (
            "{from: Phone, read: mobile}",
            "{run: file_name}",
            "5:21 `file_name` is a text, and `customer_mobile` wants a mob",
        ),
        (
            "{from: Phone, read: mobile}",
            "{sum: Phone}",
            "5:21 A sum is a number, and `customer_mobile` wants a mobile num",
        ),
        (
            "{from: Order No, required: true}",
            "{constant: X}",
            "4:3 `reference_number` tells one document from another;",
        ),
        # columns that nothing reads, and names that are taken
        (
            "lines:",
            "sheet: {fill_down: [Adress]}\nlines:",
            "7:21 `Adress` is filled down and read by nothing. Did you mean `A",
        ),
        ("lines:", "keep: {a b: {from: X}}\nlines:", "7:8 `a b` is no name for what is kept. Write letters, digits"),
        ("lines:", "keep: {row: {from: X}}\nlines:", "7:8 The name `row` is taken."),
        (
            "lines:",
            "sheet: {fill_down: [Order No, Phone], only_rows_where: {Phone: [9*]}}\nlines:",
            "7:57 `Phone` is filled down, but rows in which it is blank are left out before that. Let blank cells fit",
        ),
        ("lines:", "sheet: {header: true}\nlines:", "7:9 `true` does not fit here. Write `auto` or a whole number."),
        ("lines:", 'checks: {sample_values: "yes"}\nlines:', "7:10 `yes` does not fit here. Write true or false."),
        # YAML itself
        (
            "  customer_mobile",
            "\tcustomer_mobile",
            "5:1 A tab stands before the text. Indent with blanks, two a level.",
        ),
        (
            "Phone",
            "Ph\x07one",
            "5:29 This is not readable as YAML: U+0007, which cannot be seen. Delete it and type the text again.",
        ),
        ("Phone", "Ph\x00one", "5:29 This is not readable as YAML: U+0000, which cannot be seen."),
        (ADDRESS, "&a {from: Address}", "6:21 Anchors and aliases (`&`, `*`) are not allowed."),
        (ADDRESS, "*a", "6:21 Anchors and aliases (`&`, `*`) are not allowed."),
        (
            ADDRESS,
            "!!python/name:os.system x",
            "6:21 The tag `tag:yaml.org,2002:python/name:os.system` is not allowed.",
        ),
        (
            "  delivery_address",
            "  customer_mobile",
            "6:3 The key `customer_mobile` stands twice; the first is in line 5.",
        ),
        (ADDRESS, "{from: [Address", "is not readable as YAML"),
    ],
)
def test_a_mistake_is_told_at_its_place(old: str, new: str, said: str) -> None:
    found = complaints(TEXT.replace(old, new, 1))
    assert any(said in each for each in found), found
    assert all(not each.startswith("0:") for each in found)


def test_a_step_after_a_table_reads_what_the_table_gives() -> None:
    mapping_of(TEXT.replace(QUANTITY, "read: [upper, {lookup: {DOZEN: 12}}, integer]"))
    mapping_of(
        TEXT.replace("{from: Address}", "{from: Address}\n  division: {from: D, read: [integer, {lookup: {1: N}}]}")
    )


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("cash_on_delivery: {from: Total, default: 5}\n  is_cod: {constant: true}", '"cash_on_delivery":"5.00"'),
        ("weight: {from: Weight, default: 0.50}", '"weight":"0.5"'),
        ("delivery_postal_code: {from: PIN, default: 560 001}", '"delivery_postal_code":"560001"'),
        (
            "alternate_customer_mobile: {from: Other, default: +91 98765 43210}",
            '"alternate_customer_mobile":"9876543210"',
        ),
        ("pickup_datetime: {from: D, default: 2026-11-04}", '"pickup_datetime":"2026-11-04T23:59:59+05:30"'),
    ],
)
def test_a_default_is_sent_in_the_form_of_its_target(field: str, sent: str) -> None:
    text = TEXT.replace("lines:", f"  {field}\nlines:").replace(
        "required: true}\n  customer", "required: true}\n  customer"
    )
    (document,) = orders(order(), mapping=text).documents
    assert sent in document.body


def test_a_constant_is_read_with_a_decimal_point_whatever_the_sheet_writes() -> None:
    text = TEXT.replace(
        "lines:", "  cash_on_delivery: {constant: 12.50}\n  is_cod: {constant: true}\nsheet: {decimal: ','}\nlines:"
    )
    (document,) = orders(order(), mapping=text).documents
    assert '"cash_on_delivery":"12.50"' in document.body


@pytest.mark.parametrize(
    "fields",
    [
        'is_cod: {constant: "false"}',
        'is_cod: {constant: "false"}\n  cash_on_delivery: {constant: "0"}',
        'is_cod: {constant: "true", when: {Pay: C*}}\n  cash_on_delivery: {from: C}',
        'is_cod: {constant: "false", when: {Pay: P*}}\n  cash_on_delivery: {from: C}',
        'is_cod: {from: Pay, read: {lookup: {COD: "true", Paid: "false"}}}\n  cash_on_delivery: {from: C}',
    ],
)
def test_a_flag_and_an_amount_that_go_together_are_no_mistake(fields: str) -> None:
    mapping_of(TEXT.replace("lines:", f"  {fields}\nlines:"))
