"""A file in which every row fails alike has one cause, and the cause is named."""

from collections.abc import Sequence

import pytest
from mapping.sheets import HEADER, ORDERS, run, sheet_of

from logistics_batch.mapping.alike import ROWS_AT_LEAST, Alike, failing_alike, stands_in

WITH_PIN = ORDERS.replace(
    "  delivery_address:", "  delivery_postal_code: {from: PIN, read: pincode}\n  delivery_address:"
)


def orders(count: int, *, phone: str, pin: str) -> list[list[str]]:
    """Orders that differ in their numbers alone."""
    return [[f"A{number}", "Asha", phone, "12 MG Road", "tea", "2", pin] for number in range(count)]


def judged(rows: Sequence[Sequence[str]]) -> tuple[Alike | None, str]:
    """What all rows break, and the header of the column that looks as the broken one should."""
    sheet = sheet_of([[*HEADER, "PIN"], *rows])
    mapped = run(WITH_PIN, sheet)
    return failing_alike(mapped), stands_in(mapped, sheet)


def test_columns_that_changed_places_are_named() -> None:
    found, other = judged(orders(ROWS_AT_LEAST, phone="560001", pin="9876543210"))
    assert found is not None
    assert (found.issue.rule, found.issue.cell, found.rows) == ("customer_mobile|mobile", "C2", ROWS_AT_LEAST)
    assert other == "PIN"


@pytest.mark.parametrize(
    ("phone", "rule"), [("n/a", "customer_mobile|mobile"), ("", "customer_mobile|required")], ids=["wrong", "blank"]
)
def test_what_stands_nowhere_is_not_made_up(phone: str, rule: str) -> None:
    found, other = judged(orders(ROWS_AT_LEAST, phone=phone, pin="560001"))
    assert found is not None
    assert (found.issue.rule, other) == (rule, "")


@pytest.mark.parametrize(
    "rows",
    [
        orders(ROWS_AT_LEAST - 1, phone="n/a", pin="560001"),
        [*orders(ROWS_AT_LEAST, phone="n/a", pin="560001"), ["B1", "Ravi", "9812345678", "x", "tea", "1", "560001"]],
        [*orders(ROWS_AT_LEAST, phone="n/a", pin="560001"), ["B1", "Ravi", "9812345678", "x", "tea", "1", "56"]],
    ],
    ids=["few rows", "one row is right", "one row fails otherwise"],
)
def test_rows_that_do_not_all_fail_alike_are_answered_one_by_one(rows: list[list[str]]) -> None:
    assert judged(rows) == (None, "")
