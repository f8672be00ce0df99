"""Two nights side by side: what was accepted is not resolved, and what was not looked at is neither."""

from decimal import Decimal

import polars as pl
import pytest

from logistics_batch.model.reconciliation import MONEY, QUANTITY
from logistics_batch.reconciliation import COMPARED_SCHEMA, compared

_STOOD = {"exception_id": pl.String(), "standing": pl.String(), "code": pl.String()}
_STOOD |= {"qty_affected": QUANTITY, "impact_inr": MONEY}
_STOOD |= {name: COMPARED_SCHEMA[name] for name in ("invoice_number", "supplier", "site", "sku_name", "due_date")}


def stood(standing: str = "", *, units: str = "10", code: str = "SHORT") -> pl.DataFrame:
    """One exception as it stood after a night; none without a standing."""
    line = ["EX-1", standing, code, Decimal(units), Decimal(units) * 2, "I1", "Acme", "BHI", "W", None]
    return pl.DataFrame([line] if standing else [], _STOOD, orient="row")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (stood(), stood("open"), "new"),
        (stood("resolved"), stood("open"), "new"),
        (stood("open"), stood("open"), "still open"),
        (stood("open"), stood("open", units="12"), "changed"),
        (stood("open"), stood("open", code="OVER"), "changed"),
        (stood("open"), stood("resolved"), "resolved"),
        (stood("open"), stood("not checked"), "not looked at"),
        (stood("open"), stood(), "not looked at"),
        (stood("open"), stood("accepted", units="20"), "accepted"),
        (stood("accepted"), stood("open", units="20"), "opened again"),
        (stood("accepted"), stood("accepted"), None),
        (stood("accepted"), stood("resolved"), None),
    ],
)
def test_what_became_of_an_exception(first, second, expected):
    told = compared(first, second)
    assert told["change"].to_list() == ([expected] if expected else [])


def test_both_sizes_are_shown_and_none_for_what_is_gone():
    sizes = "impact_inr_first", "impact_inr_second", "code_second"
    told = compared(stood("open"), stood("accepted", units="20")).select(sizes)
    assert told.row(0) == (Decimal("20.00"), Decimal("40.00"), "SHORT")
    assert compared(stood("open"), stood("resolved")).select(sizes).row(0) == (Decimal("20.00"), None, "")
