"""What people get wrong when they write mapping files: each mistake is told at load, at its line and column."""

from pathlib import Path

import pytest
import yaml
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


@pytest.mark.parametrize("case", yaml.safe_load((Path(__file__).parent / "complaints.yaml").read_text("utf-8")))
def test_a_mistake_is_told_at_its_place(case: dict[str, str]) -> None:
    found = complaints(TEXT.replace(case["old"], case["new"], 1))
    assert any(case["said"] in each for each in found), found
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
