"""An invoice number of two suppliers, of whom one is spelled otherwise: neither mixed up nor two false lines."""

from datetime import date

import pytest
from reconciliation.world import World

from logistics_batch.reconciliation import Rules, audit

PLAIN = Rules(date(2026, 11, 10))


def shared_number(
    *, served: tuple[str, str], received: tuple[str, str], pieces: tuple[str, str] = ("10", "20")
) -> World:
    """INV-1 of Acme Ltd with 10 pieces and of Bharat Traders with 20 of the same SKU."""
    world = World()
    for name, qty in (("Acme Ltd", "10"), ("Bharat Traders", "20")):
        world.announce("INV-1", ("W", qty, "5"), supplier=None, supplier_name=name)
    for name, qty in zip(served, ("10", "20"), strict=True):
        world.serve("INV-1", ("W", qty, "5"), supplier=None, supplier_name=name)
    for name, qty in zip(received, pieces, strict=True):
        world.receive("INV-1", "W", qty, supplier_name=name, site_name="BHI", received_date="2026-11-01")
    return world


def codes(world: World) -> list[tuple[str, str]]:
    return sorted(audit(world.legs(), rules=PLAIN).exceptions.select("code", "supplier").iter_rows())


OURS = ("Acme Ltd", "Bharat Traders")


@pytest.mark.parametrize(
    ("served", "received", "expected"),
    [
        (OURS, ("ACME LIMITED", "Bharat Traders"), []),
        (OURS, ("ACME LIMITED", "BHARAT TRD."), []),
        (("ACME LIMITED", "Bharat Traders"), OURS, [("HEADER_DIFF", "Acme Ltd")]),
        (("ACME LIMITED", "BHARAT TRD."), OURS, [("HEADER_DIFF", "Acme Ltd"), ("HEADER_DIFF", "Bharat Traders")]),
    ],
)
def test_another_spelling_is_the_supplier_that_no_other_can_be(served, received, expected):
    assert codes(shared_number(served=served, received=received)) == expected


def test_what_a_respelled_supplier_lacks_stays_his():
    world = shared_number(served=OURS, received=("ACME LIMITED", "Bharat Traders"), pieces=("9", "20"))
    assert codes(world) == [("SHORT", "Acme Ltd")]


def test_two_names_that_may_both_be_meant_are_not_told_apart():
    world = World()
    for name, qty in (("Acme Ltd", "10"), ("Acme Foods", "20")):
        world.both("INV-1", ("W", qty, "5"), supplier=None, supplier_name=name)
    world.receive("INV-1", "W", "20", supplier_name="ACME LIMITED", site_name="BHI", received_date="2026-11-01")
    assert {code for code, _ in codes(world)} == {"NOT_RECEIVED", "NO_ASN"}


def test_an_alike_name_at_another_site_is_not_matched():
    world = World()
    for name, qty in (("Acme Ltd", "10"), ("Bharat Traders", "20")):
        world.both("INV-1", ("W", qty, "5"), supplier=None, supplier_name=name)
    world.receive("INV-1", "W", "10", supplier_name="ACME LIMITED", site_name="Pune", received_date="2026-11-01")
    world.receive("INV-1", "W", "20", supplier_name="Bharat Traders", site_name="BHI", received_date="2026-11-01")
    assert ("NOT_RECEIVED", "Acme Ltd") in codes(world)
