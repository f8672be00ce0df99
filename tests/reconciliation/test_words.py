"""What a line says: whose pieces are shown, which ASN is the surplus, where goods stand under another name."""

from datetime import date

import polars as pl
from reconciliation.world import World

from logistics_batch.reconciliation import Rules, audit, unknown_statuses

RULES = Rules(business_date=date(2026, 11, 10))


def exceptions(world: World) -> pl.DataFrame:
    return audit(world.legs(), rules=RULES).exceptions


def test_a_swap_shows_that_nothing_of_the_sku_came_and_whose_pieces_are_shown():
    world = World()
    world.both("I1", ("B", "20", "5.00"))
    world.receive("I1", "C", "20")
    line = exceptions(world).row(0, named=True)
    assert (line["code"], str(line["qty_delta"]), line["delta_percent"]) == ("WRONG_SKU", "-20.000", -100.0)
    assert line["reason"].endswith('What is shown as received is "C".')


def test_prices_have_two_decimals_or_as_many_as_tell_something():
    world = World()
    world.announce("I1", ("W", "10", "1129.9"))
    world.serve("I1", ("W", "10", "1129.8765"))
    world.receive("I1", "W", "10")
    (line,) = exceptions(world).to_dicts()
    assert line["reason"] == "Announced at INR 1129.90 a unit, the service has INR 1129.8765."


def test_of_two_asns_the_expired_one_is_the_surplus():
    world = World()
    world.announce("I1", ("W", "10", "5.00"))
    world.serve("I1", ("W", "10", "5.00"), status="Expired", created_at="2026-10-01")
    world.serve("I1", ("W", "10", "5.00"), status="New", created_at="2026-10-09")
    world.receive("I1", "W", "10")
    line = exceptions(world).row(0, named=True)
    assert (line["code"], line["record_id"]) == ("DUPLICATE_ASN", "100")
    assert 'id 100, status "Expired"' in line["reason"]


def test_goods_under_another_spelling_of_the_supplier_point_to_their_invoice():
    world = World()
    for supplier, qty in (("Zeta Traders", "10"), ("Zeta Foods", "20")):
        world.both("77", ("A", qty, "5.00"), supplier=supplier)
    world.both("88", ("A", "20", "5.00"), supplier="Other")  # as many of it are missing elsewhere, too
    world.receive("77", "A", "10", supplier_name="ZETA TRADERS", site_name="BHI")
    world.receive("77", "A", "20", supplier_name="zeta foods pvt ltd", site_name="BHI")
    found = {(one["code"], one["invoice_number"]): one for one in exceptions(world).iter_rows(named=True)}
    short, stray = found["NOT_RECEIVED", "77"], found["NO_ASN", "77"]
    assert (short["pair_id"], stray["pair_id"]) == (stray["exception_id"], short["exception_id"])
    assert 'under supplier "zeta foods pvt ltd": the same one' in short["reason"]
    assert 'under supplier "Zeta Foods": the same one' in stray["reason"]


def test_a_date_in_a_form_that_cannot_be_read_is_not_compared_and_said_so():
    world = World()
    world.announce("I1", ("A", "10", "5.00"))
    world.serve("I1", ("A", "10", "5.00"), delivery_date="01/11/2026")
    world.receive("I1", "A", "10")
    told = audit(world.legs(), rules=RULES)
    assert told.exceptions.is_empty() and told.not_returned == {"delivery_date": 1}


def test_an_asn_that_the_service_called_off_is_not_matched_without_a_word():
    world = World()
    world.announce("I1", ("A", "10", "5.00"))
    world.serve("I1", ("A", "10", "5.00"), status="Cancelled")
    line = exceptions(world).row(0, named=True)
    assert (line["code"], line["level"]) == ("UNVERIFIABLE", "ASN") and '"Cancelled"' in line["reason"]


def test_statuses_that_are_not_known_are_told_with_how_many_have_them():
    world = World()
    for number, status in enumerate(("On-Board", "new", "On-Board", "Draft ", "", "Cancelled", "In Progress")):
        world.serve(f"I{number}", ("A", "10"), status=status)
    world.serve("I9", ("A", "10"), status="Elsewhere", in_window=False)
    assert unknown_statuses(world.legs().returned_notices) == [("On-Board", 2), ("Draft", 1)]
