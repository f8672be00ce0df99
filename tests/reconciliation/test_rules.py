"""Tolerances at their edges, clocks, match tiers, duplicates, scope, and what an incomplete answer allows to say."""

from datetime import date
from decimal import Decimal

import pytest
from reconciliation.world import World

from logistics_batch.model.reconciliation import ComparedOutcome, Discrepancy
from logistics_batch.reconciliation import Limit, Rules, audit, counted_once
from logistics_batch.reconciliation.legs.columns import RECEIVED_LINES

TODAY = date(2026, 11, 10)
PLAIN = Rules(business_date=TODAY)
SHORT, OVER, PRICE = Discrepancy.SHORT, Discrepancy.OVER, Discrepancy.PRICE_VAR


def only_line(world: World, rules: Rules = PLAIN) -> dict:
    lines = audit(world.legs(), rules=rules).lines
    assert lines.height == 1, lines
    return lines.row(0, named=True)


def word(world: World, rules: Rules = PLAIN) -> str:
    line = only_line(world, rules)
    return line["code"] or line["outcome"]


def words(world: World, rules: Rules) -> dict[str, str]:
    """The class or outcome of each line, by its invoice number."""
    lines = audit(world.legs(), rules=rules).lines.to_dicts()
    return {line["invoice_number"]: line["code"] or line["outcome"] for line in lines}


@pytest.mark.parametrize(
    ("limit", "received", "expected"),
    [
        (Limit(), "99.999", "SHORT"),
        (Limit(units=Decimal("2")), "98", "within tolerance"),
        (Limit(units=Decimal("2")), "97.999", "SHORT"),
        (Limit(percent=Decimal("1")), "99", "within tolerance"),
        (Limit(percent=Decimal("1")), "98.999", "SHORT"),
        (Limit(percent=Decimal("1"), units=Decimal("5")), "95", "within tolerance"),
        (Limit(percent=Decimal("6"), units=Decimal("5")), "94", "within tolerance"),
        (Limit(percent=Decimal("1"), units=Decimal("5")), "94.999", "SHORT"),
        (Limit(units=Decimal("2")), "101", "OVER"),
    ],
)
def test_shortage_at_the_edge_of_its_tolerance(limit, received, expected):
    world = World()
    world.both("I1", ("W", "100"))
    world.receive("I1", "W", received)
    assert word(world, Rules(business_date=TODAY, limits={SHORT: limit})) == expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, {"5.01": "within tolerance", "5.02": "PRICE_VAR", "5.0101": "PRICE_VAR", "5.000": "matched"}),
        (Limit(amount=Decimal("1.00")), {"4.00": "within tolerance", "3.99": "PRICE_VAR"}),
    ],
)
def test_price_at_the_edge_of_its_tolerance(limit, expected):
    world = World()
    for price in expected:
        world.announce(price, ("W", "100", "5.00"))
        world.serve(price, ("W", "100", price))
    assert words(world, Rules(business_date=TODAY, limits={PRICE: limit} if limit else {})) == expected


def test_a_price_that_the_service_does_not_return_is_not_taken_as_equal():
    world = World()
    world.announce("I1", ("W", "100", "5.00"))
    world.serve("I1", ("W", "100"))
    line = only_line(world)
    assert line["code"] == "UNVERIFIABLE" and "price" in line["reason"]


@pytest.mark.parametrize(
    ("grace", "expected"),
    [
        (0, {"2026-11-09": "NOT_RECEIVED", "2026-11-10": "too early"}),
        (1, {"2026-11-08": "NOT_RECEIVED", "2026-11-09": "too early", "2026-12-01": "too early", "": "UNVERIFIABLE"}),
    ],
)
def test_nothing_is_missed_before_it_is_due_and_the_grace_is_over(grace, expected):
    world = World()
    for due in expected:
        world.both(due or "no date", ("W", "100"), delivery_date=due or None)
    world.no_receipts_came()
    expected = {due or "no date": said for due, said in expected.items()}
    assert words(world, Rules(business_date=TODAY, grace_days=grace)) == expected


def test_the_services_delivery_date_is_the_one_to_judge_by():
    world = World()
    world.announce("I1", ("W", "100"), delivery_date="2026-11-01")
    world.serve("I1", ("W", "100"), delivery_date="2026-11-20")
    world.no_receipts_came()
    lines = audit(world.legs(), rules=PLAIN).lines
    assert set(zip(lines["code"], lines["outcome"], strict=True)) == {("HEADER_DIFF", "exception"), ("", "too early")}


def test_too_much_is_said_at_once():
    world = World()
    world.both("I1", ("W", "100"), delivery_date="2026-12-01")
    world.receive("I1", "W", "101")
    assert word(world) == "OVER"


def test_without_receipts_nothing_is_said_about_receiving():
    world = World()
    world.both("I1", ("W", "100"))
    line = only_line(world)
    assert line["outcome"] == "matched" and line["qty_received"] is None


def test_lines_of_one_sku_are_summed_before_they_are_compared():
    world = World()
    world.announce("I1", ("W", "60"), ("w ", "40"))
    world.serve("I1", ("W", "100"))
    for qty in ("30", "30", "40"):
        world.receive("I1", "W", qty)
    line = only_line(world)
    assert line["outcome"] == "matched" and line["rows"] == "2, 3" and line["lines_received"] == 3


def test_prices_of_summed_lines_are_averaged_by_quantity():
    world = World()
    world.announce("I1", ("W", "60", "1.00"), ("W", "40", "2.00"))
    world.serve("I1", ("W", "100", "1.40"))
    assert word(world) == "matched"


@pytest.mark.parametrize(
    ("announced", "served", "tier"),
    [
        ({"batch": "B1"}, {"batch": "b1"}, "invoice, supplier, site and batch"),
        ({"batch": "B1"}, {}, "invoice, supplier and site; batch not alike"),
        ({"supplier": None, "supplier_name": "Acme Pvt. Ltd."}, {"supplier": None, "supplier_name": "ACME PVT LTD"},
         "invoice, supplier, site and batch"),
        ({"supplier": None, "supplier_name": "Acme"}, {"supplier": "17", "supplier_name": "acme"},
         "invoice, supplier, site and batch"),
        ({"supplier": None, "supplier_name": "Acme"}, {"supplier": "17"}, "invoice and site; supplier not alike"),
        ({"site": None, "site_name": "Bhiwandi 1"}, {"site": "4"}, "invoice number alone"),
    ],
)  # fmt: skip
def test_matches_say_by_what_they_were_made(announced, served, tier):
    world = World()
    world.announce("I1", ("W", "100"), **announced)
    world.serve("i1 ", ("W", "100"), **served)
    line = only_line(world)
    assert (line["outcome"], line["match_tier"]) == ("matched", tier)


def test_an_invoice_number_of_two_suppliers_is_not_matched_by_itself():
    world = World()
    world.announce("I1", ("W", "100"), supplier="A")
    world.announce("I1", ("W", "100"), supplier="B")
    world.serve("I1", ("W", "100"), supplier="C")
    codes = audit(world.legs(), rules=PLAIN).exceptions["code"].to_list()
    assert sorted(codes) == ["MISSING_IN_SERVICE", "MISSING_IN_SERVICE", "UNEXPECTED_IN_SERVICE"]


def test_notices_without_invoice_number_match_nothing():
    world = World()
    world.announce("", ("W", "100"))
    world.serve("", ("W", "100"))
    codes = audit(world.legs(), rules=PLAIN).exceptions["code"].to_list()
    assert sorted(codes) == ["MISSING_IN_SERVICE", "UNEXPECTED_IN_SERVICE"]


def test_of_two_records_the_one_nearest_in_quantity_is_ours():
    world = World()
    world.announce("I1", ("W", "100"))
    world.serve("I1", ("W", "7"))
    world.serve("I1", ("W", "100"))
    found = audit(world.legs(), rules=PLAIN)
    assert found.exceptions.select("code", "record_id").rows() == [("DUPLICATE_ASN", "100")]
    assert found.outcome(ComparedOutcome.MATCHED)["record_id"].to_list() == ["101"]


def test_an_asn_announced_twice_and_served_twice_is_a_duplicate_with_no_lines_of_its_own():
    world = World()
    for _ in range(2):
        world.both("I1", ("W", "100"))
    found = audit(world.legs(), rules=PLAIN)
    assert found.exceptions.select("code", "lines_returned").rows() == [("DUPLICATE_ASN", 0)]
    assert found.outcome(ComparedOutcome.MATCHED).height == 2


def test_skus_swapped_in_the_service_are_one_line_that_names_both():
    world = World()
    world.announce("I1", ("W", "10"), ("V", "4"))
    world.serve("I1", ("X", "10"), ("V", "4"))
    found = audit(world.legs(), rules=PLAIN).exceptions
    assert found.select("code", "sku_name", "found_sku").rows() == [("WRONG_SKU", "W", "X")]
    assert '"W" is missing with 10, and "X" stands there' in found["reason"][0]


def test_skus_swapped_in_the_service_alone_are_not_said_to_be_received():
    world = World()
    world.announce("I1", ("A", "10"))
    world.serve("I1", ("B", "10"))
    world.receive("I1", "A", "10")
    assert only_line(world)["reason"].endswith('What is shown as in the service is "B"; 10 of "A" were received.')


@pytest.mark.parametrize("later", ["-2", "0"])
def test_goods_are_not_late_by_a_correction(later):
    world = World()
    world.both("I1", ("W", "10"))
    world.receive("I1", "W", "12" if later == "-2" else "10", received_date="2026-11-01")
    world.receive("I1", "W", later, received_date="2026-11-09")
    assert word(world) == "matched"


def test_a_swap_that_leaves_a_choice_is_not_guessed():
    world = World()
    world.announce("I1", ("W", "10"), ("V", "10"))
    world.serve("I1", ("X", "10"))
    codes = audit(world.legs(), rules=PLAIN).exceptions["code"].to_list()
    assert sorted(codes) == ["EXTRA_SKU", "MISSING_SKU", "MISSING_SKU"]


def test_an_answer_that_may_be_cut_short_proves_no_absence():
    world = World()
    world.announce("I1", ("W", "10"))
    world.receive("I2", "W", "10")
    found = audit(world.legs(), rules=Rules(business_date=TODAY, complete=False)).exceptions
    assert found["code"].to_list() == ["UNVERIFIABLE", "UNVERIFIABLE"]
    assert all("cut short" in reason for reason in found["reason"])


def test_a_record_without_lines_cannot_be_verified():
    world = World()
    world.announce("I1", ("W", "10"))
    world.serve("I1")
    world.serve("I9")
    found = audit(world.legs(), rules=PLAIN).exceptions
    assert sorted(found["code"]) == ["UNEXPECTED_IN_SERVICE", "UNVERIFIABLE"]


def test_a_condition_that_nobody_knows_is_not_taken_as_good():
    world = World()
    world.both("I1", ("W", "10"))
    world.receive("I1", "W", "10", condition="slightly odd")
    line = only_line(world)
    assert line["code"] == "UNVERIFIABLE" and "slightly odd" in line["reason"]


def test_in_doubt_is_named_and_the_services_record_is_not_called_unexpected():
    world = World()
    world.announce("I1", ("W", "10"), accepted=False, state="in_doubt", why="in doubt: sent, no answer")
    world.serve("I1", ("W", "10"))
    line = only_line(world)
    assert line["code"] == "NOT_SENT"
    assert line["reason"] == (
        "Not accepted by the service: in doubt: sent, no answer. "
        "The service nevertheless returns the line, with 10."
    )  # fmt: skip


def test_what_lies_outside_the_window_is_counted_and_not_judged():
    world = World()
    world.announce("I1", ("W", "10"), in_window=False)
    world.receive("I1", "W", "3")
    world.serve("I2", ("W", "10"), in_window=False)
    world.both("I3", ("W", "10", "5.00"), in_window=False)
    world.receive("I3", "W", "8")
    world.receive("I3", "W", "1", condition="Damaged")
    found = audit(world.legs(), rules=PLAIN)
    assert found.exceptions.is_empty()
    assert found.classes.select("class", "lines").rows() == [("outside window", 3)]
    said = found.lines.select("code", "reason", "also", "impact_by_class", "impact_inr").unique()
    assert said.rows() == [("", "", "", "", None)]


def test_a_receipt_without_supplier_belongs_to_the_invoice_if_there_is_only_one():
    world = World()
    world.both("I1", ("W", "10"), supplier="A")
    world.both("I2", ("W", "10"), supplier="A")
    world.both("I2", ("W", "10"), supplier="B")
    world.receive("I1", "W", "10")
    world.receive("I2", "W", "10")
    found = audit(world.legs(), rules=PLAIN)
    codes = found.exceptions.select("invoice_number", "code").sort("code").rows()
    assert codes == [("I2", "UNVERIFIABLE")] * 3  # of which of the two it is cannot be told
    assert found.outcome(ComparedOutcome.MATCHED)["match_tier"][0].endswith("receipts: invoice number alone")


def test_a_row_that_never_became_a_document_is_an_exception_that_names_it():
    world = World()
    world.unsent.append(
        {"file_name": "asn.xlsx", "sheet": "S", "row": 17, "key": "S-1 | BHI | I1", "invoice_number": "I1",
         "fate": "invalid", "why": "quantity is no number", "run": "r1"}
    )  # fmt: skip
    line = only_line(world)
    assert (line["code"], line["rows"], line["reason"]) == ("NOT_SENT", "17", "invalid: quantity is no number")


def test_a_row_not_sent_and_the_goods_of_its_invoice_point_to_each_other():
    world = World()
    row = {"file_name": "asn.xlsx", "sheet": "S", "row": 17, "key": "", "invoice_number": "I1", "fate": "invalid"}
    world.unsent.append(row | {"supplier": "S-1", "site": "BHI", "why": "quantity is no number", "run": "r1"})
    world.receive("I1", "W", "10")
    found = {line["code"]: line for line in audit(world.legs(), rules=PLAIN).exceptions.to_dicts()}
    assert (found["NOT_SENT"]["supplier"], found["NOT_SENT"]["site"]) == ("S-1", "BHI")
    assert found["NOT_SENT"]["reason"].endswith("10 units came on this invoice.")
    assert found["NO_ASN"]["reason"].endswith("asn.xlsx row 17 announced this invoice and was not sent.")


def test_of_exceptions_without_inr_the_gravest_comes_first():
    world = World()
    world.announce("I1", ("W", "10"), description="PO 77")
    world.serve("I1", ("W", "10"), description="PO 78")
    world.unsent.append({"file_name": "asn.xlsx", "sheet": "S", "row": 17, "invoice_number": "I2", "fate": "invalid"})
    assert audit(world.legs(), rules=PLAIN).exceptions["code"].to_list() == ["NOT_SENT", "HEADER_DIFF"]


@pytest.mark.parametrize(("supplier", "paired"), [("S-1", True), ("S-2", False)])
def test_lines_of_different_suppliers_are_no_pair(supplier, paired):
    world = World()
    world.both("I1", ("W", "10", "5.00"))
    world.both("I2", ("W", "10", "5.00"), supplier=supplier)
    world.receive("I1", "W", "7", supplier_name="S-1")
    world.receive("I2", "W", "13", supplier_name=supplier)
    found = audit(world.legs(), rules=PLAIN).exceptions
    assert [("booked on the wrong ASN?" in reason) for reason in found["reason"]] == [paired, paired]


@pytest.mark.parametrize(
    ("modified", "received", "codes"),
    [
        ("2026-10-02", "10", ["STALE_STATUS"]),
        (str(TODAY), "10", []),  # it moved today
        ("2026-10-02", "4", ["SHORT"]),  # the ASN waits for what its line says
    ],
)
def test_a_status_is_stale_only_where_it_did_not_move_and_no_line_says_why(modified, received, codes):
    world = World()
    world.announce("I1", ("W", "10", "5.00"), delivery_date="2026-10-01")
    more = {"status": "New", "modified_at": f"{modified}T08:00:00+05:30", "delivery_date": "2026-10-01"}
    world.serve("I1", ("W", "10", "5.00"), **more)
    world.receive("I1", "W", received)
    assert audit(world.legs(), rules=PLAIN).exceptions["code"].to_list() == codes


def test_exception_ids_stay_when_the_class_changes_and_other_lines_come_and_go():
    first = World()
    first.announce("I1", ("W", "10"))
    second = World()
    second.both("I0", ("Q", "1"))
    second.announce("I1", ("W", "10"))
    second.serve("I1", ("W", "8"), supplier="S-1", supplier_name="Somebody")
    before, after = (audit(world.legs(), rules=PLAIN).exceptions for world in (first, second))
    assert (before["code"].to_list(), after["code"].to_list()) == (["MISSING_IN_SERVICE"], ["SHORT"])
    assert before["exception_id"].to_list() == after["exception_id"].to_list()
    assert before["exception_id"][0].startswith("EX-")


def test_money_is_exact():
    world = World()
    for number in range(1000):
        world.both(f"I{number}", ("W", "0.1", "0.1"))
    world.no_receipts_came()
    found = audit(world.legs(), rules=PLAIN)
    assert str(found.classes["impact_inr"].sum()) == "10.00"
    assert str(found.classes["qty_announced"].sum()) == "100.000"


def test_exceptions_come_by_money_then_age():
    world = World()
    for invoice, price, due in (("OLD", "1", "2026-10-01"), ("NEW", "1", "2026-11-01"), ("DEAR", "9", "2026-11-02")):
        world.both(invoice, ("W", "10", price), delivery_date=due)
    world.no_receipts_came()
    found = audit(world.legs(), rules=PLAIN)
    assert found.exceptions["invoice_number"].to_list() == ["DEAR", "OLD", "NEW"]
    assert found.exceptions["bucket"].to_list() == ["8-15", "31-60", "8-15"]
    assert dict(found.ageing.select("bucket", "lines").rows())["31-60"] == 1


def test_receipts_that_a_later_list_repeats_count_once():
    world = World()
    for file_name, pallets in (("monday.csv", 2), ("tuesday.csv", 3)):
        for row in range(pallets):
            world.receive("I1", "W", "10", file_name=file_name, row=2 + row, received_date="2026-11-02")
    world.receive("I1", "W", "10", file_name="tuesday.csv", row=9, received_date="2026-11-03")
    counted = counted_once(world.legs().received)
    assert (counted.lines.height, counted.left_out, counted.lines.columns) == (4, 2, list(RECEIVED_LINES))


def test_header_fields_that_the_service_does_not_return_are_named():
    world = World()
    world.announce("I1", ("W", "10"), description="PO 7", expiry_date="2027-01-01")
    world.serve("I1", ("W", "10"))
    assert audit(world.legs(), rules=PLAIN).not_returned == {"description": 1, "expiry_date": 1}


def test_the_scorecard_counts_each_supplier_for_itself():
    world = World()
    world.both("I1", ("W", "10", "2.00"), ("V", "5"), supplier="A")
    world.both("I2", ("W", "10", "2.00"), supplier="B")
    world.receive("I1", "W", "10")
    world.receive("I1", "V", "5")
    world.receive("I2", "W", "4")
    cards = {card["supplier"]: card for card in audit(world.legs(), rules=PLAIN).suppliers.to_dicts()}
    assert (cards["A"]["match_percent"], cards["A"]["exceptions"]) == (100.0, 0)
    assert (cards["B"]["match_percent"], cards["B"]["short"], str(cards["B"]["impact_inr"])) == (0.0, 1, "12.00")


SPELLINGS = [  # ours, and that of the dock
    ("CAF\u00c9", "CAFE\u0301"),
    ("\uff26\uff11", "F1"),
    ("B-1", "B\u20131"),
    ("A1", "\u200eA1\u200e"),
    ("C 1", "c\u00a01"),
]


def test_one_number_in_two_spellings_is_one():
    world = World()
    for ours, docks in SPELLINGS:
        world.announce(f"I-{ours}", (ours, "10"))
        world.serve(f"I\u2011{docks}", (docks, "10"))
        world.receive(f"i-{docks}", docks, "10")
    found = audit(world.legs(), rules=PLAIN).lines
    assert found["outcome"].to_list() == ["matched"] * len(SPELLINGS)
