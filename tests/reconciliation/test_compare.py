"""Two nights side by side: what was accepted is not resolved, and a price that changed in the service is told."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

import polars as pl
from reconciliation.world import World

from logistics_batch.model.reconciliation import Outcome
from logistics_batch.reconciliation import Night, Rules, audit, compare


def night(*, received: str, accepted: bool = False, price: str = "2.00", mrp: str = "3.00") -> Night:
    """One ASN of 100 pieces, of which so many came; accepted: by an analyst."""
    made = World()
    made.announce("A", ("W", "100", "2.00", "3.00"))
    made.serve("A", ("W", "100", price, mrp))
    made.receive("A", "W", received)
    found = audit(made.legs(), rules=Rules(business_date=date(2026, 11, 10))).differing
    if accepted:
        found = found.with_columns(pl.lit(Outcome.ACCEPTED.value).alias("outcome"))
    return Night(made.legs(), found)


def change(first: Night, second: Night) -> list[tuple[str, Decimal | None, Decimal | None]]:
    told = compare(first, second).exceptions
    return list(told.select("change", "impact_inr_first", "impact_inr_second").iter_rows())


def test_what_was_accepted_is_not_called_resolved_and_shows_both_nights():
    told = change(night(received="90"), night(received="80", accepted=True))
    assert told == [("accepted", Decimal("20.00"), Decimal("40.00"))]


def test_what_had_been_accepted_is_opened_again_and_not_new():
    told = change(night(received="90", accepted=True), night(received="80"))
    assert told == [("opened again", Decimal("20.00"), Decimal("40.00"))]


def test_what_stays_accepted_or_goes_after_it_was_accepted_is_no_change():
    assert change(night(received="90", accepted=True), night(received="90", accepted=True)) == []
    assert change(night(received="90", accepted=True), night(received="100")) == []


def test_a_price_or_retail_price_that_the_service_changed_is_told():
    notices = compare(night(received="100"), night(received="100", price="2.50", mrp="4.00")).notices
    told = notices.select("change", "worth_first", "worth_second", "retail_first", "retail_second").row(0)
    assert told == ("changed", 200, 250, 300, 400)


def test_each_value_that_changed_in_the_service_is_told_and_how_a_number_is_written_is_no_change():
    first, second = World(), World()
    first.serve("A", ("V", "5", "7.00"), ("W", "100", "2.00", "3"), record_id="7", description="rice")
    second.serve("A", ("W", "100.000", "2", "90"), ("V", "6", "7"), record_id="7", description="wheat")
    found = audit(first.legs(), rules=Rules(business_date=date(2026, 11, 10))).differing
    told = compare(Night(first.legs(), found), Night(second.legs(), found))
    assert list(told.values.drop("record_id", "invoice_number").iter_rows()) == [
        ("", "description", "rice", "wheat"),
        ("V", "qty", "5", "6"),
        ("W", "maximum_retail_price", "3", "90"),
    ]
    assert told.notices["differs"].to_list() == ["description, qty of V, maximum_retail_price of W"]


def test_the_services_qty_received_is_never_told_without_what_it_means():
    first, second = World(), World()
    for made, requested in ((first, "7"), (second, "9")):
        made.serve("A", ("W", "10", "2.00"), record_id="7")
        made.returned_lines[0]["qty_requested"] = requested
    found = audit(first.legs(), rules=Rules(business_date=date(2026, 11, 10))).differing
    told = compare(Night(first.legs(), found), Night(second.legs(), found))
    assert told.values.select("field", "first", "second").rows() == [("qty_received (= requested, API §2.1)", "7", "9")]
    assert told.notices["differs"].to_list() == ["qty_received (= requested, API §2.1) of W"]


def test_what_receipts_showed_is_not_resolved_by_a_night_without_any():
    first, second = night(received="90"), night(received="90")
    bare = replace(second.legs, received=None)
    later = Night(bare, audit(bare, rules=Rules(business_date=date(2026, 11, 10))).differing)
    told = compare(first, later).exceptions.select("change", "outcome_second").rows()
    assert told == [("not looked at", "")]
