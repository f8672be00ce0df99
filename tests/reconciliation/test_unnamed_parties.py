"""Two suppliers may use one invoice number: where replies name neither, nothing is called lost or extra."""

from datetime import date

from reconciliation.world import World

from logistics_batch.reconciliation import Rules, audit

RULES = Rules(business_date=date(2026, 11, 10))
NAMELESS = {"supplier": "", "site": ""}
BY_ID = [{"supplier": number, "site": "3"} for number in ("7", "8")]


def named(supplier: str, site: str = "Bhiwandi") -> dict[str, str]:
    return {"supplier": "", "supplier_name": supplier, "site": "", "site_name": site}


def shared(*served: dict[str, str]) -> World:
    """Invoice 77 of Acme (10) and of Zeta (20), both in the service, which names the parties as told."""
    world = World()
    world.announce("77", ("A", "10", "5.00"), **named("Acme"))
    world.announce("77", ("A", "20", "5.00"), **named("Zeta"))
    for qty, parties in zip(("20", "10"), served, strict=True):
        world.serve("77", ("A", qty, "5.00"), **parties)
    return world


def codes(world: World) -> list[tuple[str, str]]:
    found = audit(world.legs(), rules=RULES).exceptions
    return sorted(found.select("code", "supplier").iter_rows())


def test_replies_without_parties_are_matched_by_what_stands_on_the_lines():
    for served in ([NAMELESS, NAMELESS], BY_ID):
        found = audit(shared(*served).legs(), rules=RULES)
        assert found.exceptions.is_empty()
        assert set(found.lines["match_tier"]) == {"invoice, SKUs and quantities; supplier and site cannot be compared"}


def test_where_the_lines_leave_a_choice_nothing_is_called_missing_or_unexpected():
    world = World()
    for supplier in ("Acme", "Zeta"):
        world.announce("77", ("A", "10", "5.00"), **named(supplier))
        world.serve("77", ("A", "10", "5.00"), **NAMELESS)
    found = audit(world.legs(), rules=RULES).exceptions
    assert set(found["code"]) == {"UNVERIFIABLE"} and found.height == 4
    assert set(found["impact_inr"]) == {None}
    ours, theirs = found.filter(found["lines_announced"] > 0), found.filter(found["lines_announced"] == 0)
    assert "returns 2 ASNs with invoice number 77" in ours["reason"][0]
    assert "2 ASNs with this invoice number were announced" in theirs["reason"][0]


def test_an_asn_that_differs_is_no_missing_one_while_a_nameless_record_is_there():
    world = World()
    world.announce("77", ("A", "10", "5.00"), **named("Acme"))
    world.announce("77", ("A", "20", "5.00"), **named("Zeta"))
    world.serve("77", ("A", "10", "5.00"), **NAMELESS)
    world.serve("77", ("A", "18", "5.00"), **NAMELESS)
    assert codes(world) == [("UNVERIFIABLE", ""), ("UNVERIFIABLE", "Zeta")]


def test_what_is_surely_lost_is_still_called_missing():
    world = World()
    world.announce("77", ("A", "10", "5.00"), **named("Acme"))
    world.announce("77", ("A", "20", "5.00"), **named("Zeta"))
    world.serve("77", ("A", "10", "5.00"), **NAMELESS)
    assert codes(world) == [("MISSING_IN_SERVICE", "Zeta")]


def test_a_record_that_names_another_supplier_stands_in_for_nobody():
    world = World()
    world.announce("77", ("A", "10", "5.00"), **named("Acme"))
    world.announce("77", ("A", "20", "5.00"), **named("Zeta"))
    world.serve("77", ("A", "10", "5.00"), **named("Acme"))
    world.serve("77", ("A", "20", "5.00"), **named("Strange"))
    assert codes(world) == [("MISSING_IN_SERVICE", "Zeta"), ("UNEXPECTED_IN_SERVICE", "Strange")]


def test_a_second_asn_without_parties_is_unexpected_and_no_proven_duplicate():
    world = World()
    world.announce("77", ("A", "10", "5.00"), **named("Acme"))
    world.serve("77", ("A", "10", "5.00"), **NAMELESS)
    world.serve("77", ("A", "10", "5.00"), **NAMELESS)
    found = audit(world.legs(), rules=RULES).exceptions
    assert found["code"].to_list() == ["UNEXPECTED_IN_SERVICE"]
    assert "may be the same ASN once more" in found["reason"][0]


def test_an_asn_without_lines_and_parties_may_be_the_announced_one():
    world = World()
    world.announce("77", ("A", "10", "5.00"), **named("Acme"))
    world.announce("77", ("A", "20", "5.00"), **named("Zeta"))
    world.serve("77", **NAMELESS)
    world.serve("77", **NAMELESS)
    assert {code for code, _ in codes(world)} == {"UNVERIFIABLE"}
