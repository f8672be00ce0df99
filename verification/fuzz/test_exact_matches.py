"""Whatever the legs hold, every line and unit of each stands in exactly one class, and what is set aside cheaply is
what the whole audit would say: both ways give the same report."""

import sys
from dataclasses import replace
from datetime import date
from decimal import Decimal

import polars as pl
import pytest
from campaigns.scale import size
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reconciliation.test_planted_classes import PLANTS, agreeing
from reconciliation.world import World

from logistics_batch.model.reconciliation import MEANINGS, ComparedOutcome, Discrepancy, Reconciliation, Severity
from logistics_batch.reconciliation import Legs, Limit, Rules, audit
from logistics_batch.reconciliation.legs.reading import with_units
from logistics_batch.reconciliation.notices.headers import accepted_pairs, not_returned
from logistics_batch.reconciliation.totals import in_report_order

audited_lines = sys.modules["logistics_batch.reconciliation.audit"].audited_lines

TODAY = date(2026, 11, 10)
RULES = Rules(business_date=TODAY, limits={Discrepancy.SHELF_LIFE: Limit(days=14)})


few = st.sampled_from


def few_or_many(elements: st.SearchStrategy, *, few: int) -> st.SearchStrategy:
    """A few, or many: an audit of many takes no longer, and shows what only goes wrong beside others."""
    return st.lists(elements, max_size=few) | st.lists(elements, min_size=3 * few, max_size=5 * few)


invoices = few(["I1", "i1 ", "I2", "I3", ""]) | st.integers(4, 20).map("I{}".format)
suppliers = few(["S-1", "s1", "S-2", "", None])
sites = few(["BHI", "DEL", "", None])
skus = few(["W", "w ", "X", "Y", "", None])
quantities = few(["1", "2.5", "10", "10.000", "0", "-3", "many", "", None, "1,000"])
prices = few(["1.00", "2.5", "", None, "x"])
dates = few(["2026-11-01", "2026-11-30", "soon", None])
conditions = few(["", "good", "Damaged", "HOLD", "strange", None])
lines = st.lists(st.tuples(skus, quantities, prices), max_size=4)
headers = st.fixed_dictionaries(
    {
        "supplier": suppliers,
        "site": sites,
        "delivery_date": dates,
        "batch": few(["", "B1", None]),
        "in_window": st.booleans(),
    }
)
announcements = few_or_many(st.tuples(invoices, lines, headers, st.booleans()), few=5)
records = few_or_many(st.tuples(invoices, lines, headers), few=5)
receipt = st.fixed_dictionaries(
    {"supplier_name": suppliers, "site_name": sites, "condition": conditions, "received_date": dates}
)
receipts = st.none() | few_or_many(st.tuples(invoices, skus, quantities, receipt), few=8)


def world_of(announced, returned, received) -> World:
    world = World()
    for invoice, told, header, accepted in announced:
        world.announce(invoice, *told, **header, accepted=accepted, why="held: a person must decide")
    for invoice, told, header in returned:
        world.serve(invoice, *told, **header)
    if received is not None:
        world.no_receipts_came()
        for invoice, sku, qty, more in received:
            world.receive(invoice, sku, qty, **more)
    return world


def units(texts) -> Decimal:
    """What can be read of quantities, counted without the auditor's help."""
    return sum((Decimal(text) for text in texts if text not in {"many", "", None, "1,000"}), Decimal(0))


def leg_sums(found: Reconciliation, leg: str) -> tuple[int, Decimal]:
    count = int(found.lines[f"lines_{leg}"].sum())
    return count, sum((value for value in found.lines[f"qty_{leg}"] if value is not None), Decimal(0))


def ties_out(found: Reconciliation, world: World) -> None:
    told = {"announced": world.announced_lines, "returned": world.returned_lines, "received": world.receipts or []}
    for leg, source in told.items():
        assert leg_sums(found, leg) == (len(source), units(line["qty"] for line in source))
    assert found.classes["lines"].sum() == found.lines.height
    for line in found.outcome(ComparedOutcome.MATCHED).to_dicts():  # none that cannot be read or named
        assert line["qty_announced"] is not None and line["sku_name"].strip()
        assert line["qty_announced"] == line["qty_returned"]
        assert world.receipts is None or line["qty_received"] == line["qty_announced"] or line["qty_announced"] <= 0
    exceptions = found.exceptions
    assert exceptions["exception_id"].n_unique() == exceptions.height
    assert not any((exceptions[name] == "").any() for name in ("code", "reason", "severity"))


def read(legs: Legs) -> Legs:
    return replace(
        legs,
        announced_lines=with_units(legs.announced_lines),
        returned_lines=with_units(legs.returned_lines),
        received=None if legs.received is None else with_units(legs.received),
    )


def the_long_way(legs: Legs, rules: Rules) -> pl.DataFrame:
    return in_report_order(audited_lines(read(legs), rules=rules)[0])


def same_lines(found: Reconciliation, lines: pl.DataFrame) -> None:
    assert found.line_count == lines.height
    everything = found.lines
    names = lines.columns
    assert everything.sort(names).equals(lines.select(names).sort(names))
    assert found.exceptions.equals(lines.filter(pl.col("outcome") == ComparedOutcome.EXCEPTION.value).select(names))


def same_sums(found: Reconciliation, lines: pl.DataFrame) -> None:
    counted = lines.with_columns(pl.when(pl.col("code") != "").then("code").otherwise("outcome").alias("class"))
    for row in found.classes.to_dicts():
        ours = counted.filter(pl.col("class") == row["class"])
        assert row["lines"] == ours.height
        for name in ("qty_announced", "qty_returned", "qty_received", "qty_affected", "impact_inr"):
            assert row[name] == ours[name].sum(), (row["class"], name)
    inside = lines.filter(pl.col("outcome") != ComparedOutcome.OUTSIDE_WINDOW.value)
    for card in found.suppliers.to_dicts():
        ours = inside.filter(pl.col("supplier") == card["supplier"])
        assert card["matched"] == (ours["outcome"] == ComparedOutcome.MATCHED.value).sum()
        assert card["too_early"] == (ours["outcome"] == ComparedOutcome.TOO_EARLY.value).sum()
        assert card["notices"] == ours.select("invoice_number", "site").n_unique()
        assert card["qty_received"] == ours["qty_received"].sum()


@pytest.mark.slow
@settings(max_examples=size(6, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(announcements, records, receipts, st.booleans())
def test_both_ways_say_the_same_of_any_legs(announced, returned, received, complete):
    rules = Rules(business_date=TODAY, complete=complete)
    world = world_of(announced, returned, received)
    legs = world.legs()
    lines = the_long_way(legs, rules)
    found = audit(legs, rules=rules)
    ties_out(found, world)
    same_lines(found, lines)
    same_sums(found, lines)


orderly = st.lists(
    st.tuples(
        st.sampled_from(["1", "2", "10", "10.0", "0"]),
        st.sampled_from(["same", "same", "same", "price", "qty", "gone", "more", "twice"]),
        st.sampled_from(["came", "came", "came", "short", "late", "bad", "nothing", "twice", "else"]),
    ),
    min_size=1,
    max_size=4,
)
notices = few_or_many(
    st.tuples(orderly, st.sampled_from(["2026-11-01", "2026-11-30"]), st.sampled_from(["", "", "20.00"])), few=6
)


@pytest.mark.slow
@settings(max_examples=size(6, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(notices, st.booleans())
def test_both_ways_say_the_same_of_notices_that_mostly_agree(made, with_receipts):
    legs = mostly_agreeing(made, with_receipts=with_receipts).legs()
    lines = the_long_way(legs, RULES)
    found = audit(legs, rules=RULES)
    same_lines(found, lines)
    same_sums(found, lines)


@pytest.mark.parametrize("with_receipts", [False, True])
def test_lines_that_agree_are_put_together_from_parts(monkeypatch, with_receipts):
    monkeypatch.setattr(sys.modules["logistics_batch.reconciliation.audit"], "_NOTICES_AT_ONCE", 2)
    two, later = [("1", "same", "came"), ("2", "same", "nothing")], [("10.0", "same", "came")]
    made = [(two, "2026-11-30", ""), (later, "2026-11-01", ""), (two, "2026-11-30", "20.00"), (later, "2026-11-30", "")]
    legs = mostly_agreeing([*made, (two, "2026-11-01", "")], with_receipts=with_receipts).legs()
    same_lines(audit(legs, rules=RULES), the_long_way(legs, RULES))


# One SKU in many spellings, SKUs that only look alike, and none.
spelled = st.sampled_from(["W-1", "W-1", "W-2", "W-2", "W-3", "w-1", " W-2 ", "W–2", "É-1", "é-1", "", None])
unordered = st.tuples(
    st.lists(
        st.tuples(spelled, st.sampled_from(["1", "2", "2.0", "x"]), st.sampled_from(["same", "same", "price", "gone"])),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["same", "same", "reversed", "in pieces"]),
    st.sampled_from(["own", "own", "own", "own", "again"]),
    st.sampled_from(
        [
            *({}, {}, {"description": "fragile"}, {"batch": "B1"}, {"site": None, "site_name": "Bhiwandi"}),
            *({"delivery_date": "1 Nov"}, {"expiry_date": "soon"}, {"status": "In Progress"}, {"status": "Completed"}),
        ]
    ),
    st.sampled_from([[], [], ["description"], ["expiry_date"], ["supplier"]]),
)


@pytest.mark.slow
@settings(max_examples=size(6, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(few_or_many(unordered, few=6), st.booleans(), st.booleans())
def test_both_ways_say_the_same_however_lines_are_ordered_and_spelled(made, backwards, with_receipts):
    world = unordered_world(made, backwards=backwards, with_receipts=with_receipts)
    legs = world.legs()
    found = audit(legs, rules=RULES)
    lines = the_long_way(legs, RULES)
    same_lines(found, lines)
    same_sums(found, lines)
    assert found.not_returned == not_returned(accepted_pairs(audited_lines(read(legs), rules=RULES)[1]))


def unordered_world(made, *, backwards: bool, with_receipts: bool) -> World:
    world, replies = World(), []
    for number, (lines, order, invoice, header, unsaid) in enumerate(made):
        name = f"i{number - 1} " if invoice == "again" else f"I{number}"
        world.announce(name, *((sku, qty, "5.00") for sku, qty, _ in lines), **header)
        theirs = [(sku, qty, "5.50" if how == "price" else "5.0") for sku, qty, how in lines if how != "gone"]
        reply = header | dict.fromkeys(unsaid)
        replies.append((name, theirs[::-1] if order == "reversed" else theirs, reply, order))
        if with_receipts:
            for sku, qty, _ in lines[:2]:
                world.receive(name, sku, qty, received_date="2026-11-01")
    apart = []
    for name, theirs, reply, order in replies[::-1] if backwards else replies:
        world.serve(name, *theirs, **reply)
        if order == "in pieces" and theirs:
            apart.append(world.returned_lines.pop())
    world.returned_lines += apart
    if with_receipts:
        world.no_receipts_came()
    return world


@pytest.mark.parametrize("twin", ["w-1", " W-1", "W-1"])
def test_a_sku_that_stands_twice_in_a_notice_is_no_agreement_however_it_is_spelled(twin):
    world = World()
    world.both("I1", ("W-1", "1", "5.00"), (twin, "2", "5.00"), ("W-2", "1", "5.00"))
    found = audit(world.legs(), rules=RULES)
    # The lines of one SKU are told together, so only the other one was set aside.
    assert (found.differing["sku_name"].to_list(), found.line_count) == (["W-1"], 2)


def mostly_agreeing(made, *, with_receipts: bool) -> World:
    world = World()
    for number, (lines, due, total) in enumerate(made):
        invoice, header = f"I{number}", {"delivery_date": due, "total_price": total}
        ours = [(f"W{nth}", qty, "5.00", "9.00") for nth, (qty, _, _) in enumerate(lines)]
        world.announce(invoice, *ours, **header)
        world.serve(
            invoice,
            *(one for line, (_, how, _) in zip(ours, lines, strict=True) for one in served(line, how)),
            **header,
        )
        for line, (_, _, how) in zip(ours, lines, strict=True):
            for sku, qty, more in came(line, how):
                world.receive(invoice, sku, qty, **more)
    world.no_receipts_came()
    if not with_receipts:
        world.receipts = None
    return world


def served(line, how):
    sku, qty, price, mrp = line
    forms = {"price": [(sku, qty, "5.50", mrp)], "qty": [(sku, "7", price, mrp)], "gone": [], "twice": [line, line]}
    return forms.get(how, [(sku, qty, "5.000", mrp), ("EXTRA", "3")] if how == "more" else [line])


def came(line, how):
    sku, qty, _, _ = line
    on = {"received_date": "2026-11-01"}
    forms = {
        "short": [(sku, "0.5", on)],
        "late": [(sku, qty, {"received_date": "2026-11-09"})],
        "bad": [(sku, qty, {"condition": "Damaged"})],
        "nothing": [],
        "twice": [(sku, qty, on), (sku, qty, on)],
        "else": [("OTHER", qty, on)],
    }
    return forms.get(how, [(sku, qty, on)])


def test_most_lines_of_a_world_that_mostly_agrees_do_not_go_the_long_way():
    world = World()
    agreeing(world, notices=100, seed=5)
    world.returned.reverse()
    PLANTS[Discrepancy.SHORT].put(world, "P-SHORT")
    found = audit(world.legs(), rules=RULES)
    assert (found.differing.height, found.line_count) == (1, 401)


pieces = few(["0", "1", "40", "99.5", "100", "130"])
pieces_that_came = st.lists(st.tuples(pieces, few(["", "damaged", "rejected", "hold", "06", "smelly"])), max_size=4)
GRAVITY = {code.value: list(Severity).index(meaning.severity) for code, meaning in MEANINGS.items()}


@settings(max_examples=size(6, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(pieces, few(["10.00", "10.005", "12.50"]), few(["20.00", "25.00"]), pieces_that_came),
        min_size=6,
        max_size=12,
    )
)
def test_parts_tie_out_no_piece_counts_twice_and_no_class_beside_is_graver(lines):
    world = World()
    world.no_receipts_came()
    for nth, (held, price, mrp, received) in enumerate(lines):
        world.announce(f"I{nth}", ("A", "100", "10.00", "20.00"))
        world.serve(f"I{nth}", ("A", held, price, mrp))
        for qty, condition in received:
            world.receive(f"I{nth}", "A", qty, condition=condition)
    for line in audit(world.legs(), rules=Rules(business_date=TODAY)).exceptions.filter(level="line").to_dicts():
        held, _, _, received = lines[int(line["invoice_number"].removeprefix("I"))]
        came = sum(Decimal(qty) for qty, _ in received)
        assert line["qty_affected"] <= max(Decimal(100), Decimal(held), came)
        assert all(GRAVITY[code] >= GRAVITY[line["code"]] for code in line["also"].split(", ") if code)
        amounts = [Decimal(part.split(" ")[1]) for part in line["impact_by_class"].split("; ") if part]
        assert sum(amounts) == (line["impact_inr"] or 0)
        if 0 < came < 100:  # whatever else is wrong, what is missing is in the money
            assert line["impact_inr"] >= (100 - came) * 10
