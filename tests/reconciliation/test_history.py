"""What is new, still open, accepted, resolved or not checked, over nights of the same goods."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import polars as pl
import pytest
from reconciliation.world import World

from logistics_batch.model.reconciliation import ComparedOutcome, Earlier, Reconciliation
from logistics_batch.reconciliation import Rules, audit

FIRST = date(2026, 11, 10)
WINDOW = (date(2026, 10, 20), date(2026, 11, 12))


def world(**received: str) -> World:
    """Three ASNs of 100 pieces each, of which so many came."""
    made = World()
    made.no_receipts_came()
    for invoice in ("A", "B", "C"):
        made.both(invoice, ("W", "100", "2.00"), delivery_date="2026-11-01")
        made.receive(invoice, "W", received.get(invoice, "100"))
    return made


def reconciled(
    what: World,
    *,
    night: int = 0,
    earlier: Earlier | None = None,
    due: tuple[date, date] | None = WINDOW,
    complete: bool = True,
) -> Reconciliation:
    day = FIRST + timedelta(days=night)
    rules = Rules(day, complete=complete, due=due, whole=complete)
    return audit(what.legs(), rules=rules, earlier=earlier or Earlier())


def handed_on(result: Reconciliation, *, night: int = 0, **entries: str) -> Earlier:
    """What tomorrow's report knows of it; entries such as A="Accepted" are the status beside an invoice's lines."""
    status = pl.col("invoice_number").replace_strict(entries, default=pl.col("analyst_status"))
    return Earlier(
        run=f"R{night}",
        business_date=FIRST + timedelta(days=night),
        listed=result.remembered.with_columns(status.alias("analyst_status"), pl.lit("Meera").alias("owner")),
    )


def states(result: Reconciliation) -> dict[str, str]:
    return dict(result.exceptions.select("invoice_number", "state").iter_rows())


def gone(result: Reconciliation) -> dict[str, tuple[str, str]]:
    rows = result.resolved.select("invoice_number", "standing", "became").iter_rows()
    return {invoice: (standing, became) for invoice, standing, became in rows}


def test_the_first_report_calls_everything_new():
    result = reconciled(world(A="90"))
    assert states(result) == {"A": "new"}
    assert result.exceptions.select("first_seen", "nights_open").row(0) == (FIRST, 1)


def test_what_stays_is_still_open_and_keeps_its_owner_and_first_day():
    earlier = handed_on(reconciled(world(A="90")), A="In progress")
    result = reconciled(world(A="90", B="1"), night=1, earlier=earlier)
    assert states(result) == {"A": "still open", "B": "new"}
    line = result.exceptions.filter(pl.col("invoice_number") == "A").row(0, named=True)
    assert (line["owner"], line["analyst_status"], line["first_seen"], line["nights_open"]) == (
        "Meera",
        "In progress",
        FIRST,
        2,
    )


def test_a_second_report_of_the_same_night_counts_no_second_night():
    earlier = handed_on(reconciled(world(A="90")))
    result = reconciled(world(A="90"), earlier=earlier)
    assert states(result) == {"A": "new"}
    assert result.exceptions["nights_open"].to_list() == [1]


def test_what_is_accepted_leaves_the_exceptions_and_the_sums_still_tie_out():
    earlier = handed_on(reconciled(world(A="90")), A=" accepted ")
    result = reconciled(world(A="90"), night=1, earlier=earlier)
    assert result.exceptions.is_empty()
    assert result.outcome(ComparedOutcome.ACCEPTED)["code"].to_list() == ["SHORT"]
    assert dict(result.classes.select("class", "lines").iter_rows()) == {"accepted": 1, "matched": 2}
    assert result.match_rate.line_percent == 66.67, "an accepted difference is no match"
    (card,) = result.suppliers.select("exceptions", "short", "over", "impact_inr").rows()
    assert card == (0, 0, 0, Decimal(0)), "the scorecard counts it no more in any column"


@pytest.mark.parametrize("received", ["89", "110"])
def test_what_grows_or_turns_after_it_was_accepted_is_back_and_must_be_accepted_anew(received):
    accepted = handed_on(reconciled(world(A="90")), A="Accepted")
    back = reconciled(world(A=received), night=1, earlier=accepted)
    assert states(back) == {"A": "changed"}
    [line] = back.exceptions.select("analyst_status", "remark").rows(named=True)
    assert line["analyst_status"] == "Open"
    assert (
        line["remark"] == "It was accepted as SHORT of 10 units; it is another class, for another reason or more today."
    )
    night_after = reconciled(world(A=received), night=2, earlier=handed_on(back, night=1))
    assert states(night_after) == {"A": "changed"}
    anew = reconciled(world(A=received), night=2, earlier=handed_on(back, night=1, A="Accepted"))
    assert anew.outcome(ComparedOutcome.ACCEPTED)["remark"].to_list() == [""], (
        "accepted as it is now, nothing is to be remarked"
    )


def test_what_shrinks_after_it_was_accepted_stays_accepted():
    earlier = handed_on(reconciled(world(A="90")), A="Accepted")
    assert reconciled(world(A="95"), night=1, earlier=earlier).exceptions.is_empty()


def test_what_agrees_now_is_resolved_and_remembered_for_two_weeks():
    earlier = handed_on(reconciled(world(A="90")))
    resolved = reconciled(world(), night=1, earlier=earlier)
    assert gone(resolved) == {"A": ("resolved", "Tonight it is matched.")}
    last = resolved.resolved.row(0, named=True)
    assert (last["last_seen"], last["gone_since"], last["owner"]) == (FIRST, FIRST + timedelta(days=1), "Meera")
    later = handed_on(resolved, night=1)
    assert gone(reconciled(world(), night=14, earlier=later)) != {}
    assert gone(reconciled(world(), night=15, earlier=later)) == {}
    back = reconciled(world(A="90"), night=3, earlier=later)
    assert states(back) == {"A": "back again"} and back.exceptions["owner"].to_list() == ["Meera"]


def test_what_was_not_looked_at_is_never_called_resolved():
    earlier = handed_on(reconciled(world(A="90")))
    elsewhere = (date(2026, 11, 5), date(2026, 11, 20))
    other = World()
    other.no_receipts_came()
    for due, complete in ((elsewhere, True), (None, True), (WINDOW, False)):
        result = reconciled(other, night=1, earlier=earlier, due=due, complete=complete)
        assert [standing for standing, _ in gone(result).values()] == ["not checked"], (due, complete)
    assert gone(reconciled(other, night=1, earlier=earlier)) == {"A": ("resolved", "Nothing shows it any more.")}


def test_the_same_invoice_of_another_supplier_proves_nothing():
    earlier = handed_on(reconciled(world(A="90")))
    other = World()
    other.no_receipts_came()
    other.both("A", ("W", "100"), supplier="S-2", delivery_date="2026-11-01")
    result = reconciled(other, night=1, earlier=earlier, due=None)
    assert gone(result) == {"A": ("not checked", "Its ASN lies outside the dates that are looked at now.")}


def test_names_that_are_spelled_anew_are_the_same_names():
    earlier = handed_on(reconciled(world(**{"A": "90"})))
    listed = earlier.listed.with_columns(
        pl.lit("a\u200b").alias("invoice_number"), pl.lit("S\u20111").alias("supplier"), pl.lit("ＢＨＩ").alias("site")
    )
    result = reconciled(world(**{"A": "100"}), night=1, earlier=replace(earlier, listed=listed))
    assert gone(result) == {"a\u200b": ("resolved", "Tonight it is matched.")}


def test_what_is_not_checked_stays_until_an_analyst_closes_it():
    unchecked = reconciled(World(), night=1, earlier=handed_on(reconciled(world(A="90"))), due=None)
    for night in (2, 3):
        unchecked = reconciled(World(), night=night, earlier=handed_on(unchecked, night=night - 1), due=None)
        assert gone(unchecked)["A"][0] == "not checked"
        assert unchecked.resolved["gone_since"].to_list() == [FIRST + timedelta(days=1)]
    closed = reconciled(World(), night=4, earlier=handed_on(unchecked, night=3, A="Closed"), due=None)
    assert gone(closed) == {"A": ("resolved", "Accepted or closed by an analyst, and no longer looked at.")}


def test_what_is_closed_but_still_differs_stays_open_with_a_remark():
    earlier = handed_on(reconciled(world(A="90")), A="Closed")
    result = reconciled(world(A="90"), night=1, earlier=earlier)
    assert states(result) == {"A": "still open"}
    assert result.exceptions["remark"].to_list() == ["Closed by an analyst, but the difference is still there."]


def test_without_an_earlier_report_nothing_is_said_of_earlier_nights():
    result = audit(world(A="90").legs(), rules=Rules(FIRST))
    assert states(result) == {"A": ""} and result.resolved.is_empty() and result.previous_run == ""


def test_an_earlier_report_full_of_nonsense_changes_no_sum():
    earlier = handed_on(reconciled(world(A="90", B="1")), A="Accepted")
    odd = earlier.listed.with_columns(pl.lit("").alias("code"), pl.lit(None, pl.Date()).alias("first_seen"))
    result = reconciled(world(A="90", B="1"), night=1, earlier=replace(earlier, listed=odd))
    assert states(result) == {"A": "changed", "B": "still open"}
    assert int(result.classes["lines_announced"].sum()) == 3


def add_line(
    made: World,
    name: str,
    announced: tuple[str, ...],
    returned: tuple[str, ...],
    *received: tuple[str, ...],
    **served: str,
) -> None:
    """One more ASN of one line, with what came of it by condition."""
    made.announce(name, announced, delivery_date="2026-11-01")
    made.serve(name, returned, delivery_date="2026-11-01", **served)
    made.no_receipts_came()
    for qty, condition, *came in received:
        made.receive(name, "W", qty, condition=condition, received_date=came[0] if came else None)


def one_line(*line: tuple[str, ...], **served: str) -> World:
    made = World()
    add_line(made, "A", *line, **served)
    return made


FULL = (("100", ""),)
PLAIN_LINE = ("W", "100", "10.00", "20.00")


OTHERWISE = [  # what was accepted, and what stands there tonight
    # A retail price that differs by more, and a price and a retail price that differ the other way.
    (
        (PLAIN_LINE, ("W", "100", "10.00", "21.00"), *FULL),
        (PLAIN_LINE, ("W", "100", "10.00", "25.00"), *FULL),
    ),
    (
        (PLAIN_LINE, ("W", "100", "11.00", "20.00"), *FULL),
        (PLAIN_LINE, ("W", "100", "9.00", "20.00"), *FULL),
    ),
    (
        (PLAIN_LINE, ("W", "100", "10.00", "21.00"), *FULL),
        (PLAIN_LINE, ("W", "100", "10.00", "19.50"), *FULL),
    ),
    # Fewer bad ones, and more that are missing.
    (
        (PLAIN_LINE, PLAIN_LINE, ("60", "damaged"), ("35", "")),
        (PLAIN_LINE, PLAIN_LINE, ("50", "damaged"), ("35", "")),
    ),
    # As many pieces, each of them dearer.
    (
        (PLAIN_LINE, PLAIN_LINE, ("90", "")),
        (("W", "100", "30.00", "20.00"), ("W", "100", "30.00", "20.00"), ("90", "")),
    ),
    # As much money, and another fault beside it.
    (
        (PLAIN_LINE, ("W", "100", "12.00", "20.00"), ("90", "")),
        (PLAIN_LINE, ("W", "100", "10.00", "21.00"), ("90", "")),
    ),
    # Late as before, by another date.
    (
        (PLAIN_LINE, PLAIN_LINE, ("100", "", "2026-11-06")),
        (PLAIN_LINE, PLAIN_LINE, ("100", "", "2026-11-09")),
    ),
    # Another SKU in the place of the announced one.
    ((PLAIN_LINE, ("V", *PLAIN_LINE[1:])), (PLAIN_LINE, ("U; V", *PLAIN_LINE[1:]))),
]


def test_what_differs_otherwise_than_accepted_is_back_until_it_is_that_again():
    accepted, tonight = World(), World()
    for number, (before, now) in enumerate(OTHERWISE):
        add_line(accepted, f"I{number}", *before)
        add_line(tonight, f"I{number}", *now)
    names = [f"I{number}" for number in range(len(OTHERWISE))]
    earlier = handed_on(reconciled(accepted), **dict.fromkeys(names, "Accepted"))
    assert reconciled(accepted, night=1, earlier=earlier).exceptions.is_empty()
    for night in (1, 2):
        otherwise = reconciled(tonight, night=night, earlier=earlier)
        assert states(otherwise) == dict.fromkeys(names, "changed")
        earlier = handed_on(otherwise, night=night)
    assert reconciled(accepted, night=3, earlier=earlier).exceptions.is_empty()


def test_what_was_not_sent_for_one_reason_is_not_accepted_for_another():
    nights = []
    for why in ("refused: unknown SKU", "held: a person must decide"):
        made = World()
        made.announce("A", PLAIN_LINE, accepted=False, why=why)
        nights.append(made)
    earlier = handed_on(reconciled(nights[0]), A="Accepted")
    assert reconciled(nights[0], night=1, earlier=earlier).exceptions.is_empty()
    assert states(reconciled(nights[1], night=1, earlier=earlier)) == {"A": "changed"}


def test_a_reason_that_is_worded_anew_reopens_no_acceptance():
    nights = []
    for why, fault in (("held: decide", "held two_may_be_there"), ("held: a person decides", "held two_may_be_there")):
        made = World()
        made.announce("A", PLAIN_LINE, accepted=False, why=why, fault=fault)
        nights.append(made)
    earlier = handed_on(reconciled(nights[0]), A="Accepted")
    result = reconciled(nights[1], night=1, earlier=earlier)
    assert result.exceptions.is_empty()
    assert result.outcome(ComparedOutcome.ACCEPTED)["accepted_as"].item().endswith("since held two_may_be_there")
    nights[1].announced[0]["fault"] = "refused unknown_sku"
    assert states(reconciled(nights[1], night=1, earlier=earlier)) == {"A": "changed"}


def test_who_accepted_a_late_delivery_accepted_no_later_one():
    late = one_line(PLAIN_LINE, PLAIN_LINE, ("100", "", "2026-11-08"))
    earlier = handed_on(reconciled(late), A="Accepted")
    assert earlier.listed["grounds"].to_list() == ["last on 2026-11-08, due 2026-11-01"]
    later = one_line(PLAIN_LINE, PLAIN_LINE, ("100", "", "2026-11-09"))
    assert states(reconciled(later, night=1, earlier=earlier)) == {"A": "changed"}


def test_what_only_the_service_has_keeps_its_owner_however_the_reply_names_the_supplier():
    forms = (
        {"supplier": "SUP-1", "site": "7"},
        {"supplier": "SUP-1", "supplier_name": "Acme", "site": "7", "site_name": "B"},
    )
    nights = []
    for form in forms:
        made = World()
        made.serve("A", PLAIN_LINE, **form)
        nights.append(made)
    earlier = handed_on(reconciled(nights[0]), A="Accepted")
    result = reconciled(nights[1], night=1, earlier=earlier)
    assert result.exceptions.is_empty() and result.outcome(ComparedOutcome.ACCEPTED)["owner"].to_list() == ["Meera"]


def test_a_batch_that_the_service_adds_makes_no_other_exception():
    earlier = handed_on(reconciled(one_line(PLAIN_LINE, PLAIN_LINE, ("90", ""))), A="Accepted")
    result = reconciled(one_line(PLAIN_LINE, PLAIN_LINE, ("90", ""), batch="B9"), night=1, earlier=earlier)
    assert result.exceptions.is_empty()


def test_a_night_without_receipts_resolves_nothing_that_receipts_showed():
    first = world(A="90", B="0")
    first.receive("C", "W", "1", condition="damaged")
    earlier = handed_on(reconciled(first))
    second = world()
    second.receipts = None
    result = reconciled(second, night=1, earlier=earlier)
    assert gone(result) == dict.fromkeys("ABC", ("not checked", "No receipts were compared tonight."))
    third = reconciled(world(A="90"), night=2, earlier=handed_on(result, night=1))
    assert states(third) == {"A": "still open"} and gone(third)["B"][0] == "resolved"


def test_what_was_accepted_may_fall_and_rise_to_its_size_again():
    earlier = handed_on(reconciled(world(A="90")), A="Accepted")
    for night, received in enumerate(("95", "90", "100", "90"), 1):
        result = reconciled(world(A=received), night=night, earlier=earlier)
        assert result.exceptions.is_empty(), received
        earlier = handed_on(result, night=night)
    [told] = result.outcome(ComparedOutcome.ACCEPTED)["accepted_as"].to_list()
    assert told == "SHORT; units 10; INR 20; difference -10; price 0; retail price 0; also "
    more = reconciled(world(A="89"), night=5, earlier=earlier).exceptions.row(0, named=True)
    assert (more["state"], more["accepted_as"]) == ("changed", told)
    assert more["remark"].startswith("It was accepted as SHORT of 10 units;")


def test_what_was_accepted_waits_for_receipts_and_is_accepted_still():
    earlier = handed_on(reconciled(world(A="90")), A="Accepted")
    without = replace(world(), receipts=None)
    second = reconciled(without, night=1, earlier=earlier)
    assert gone(second) == {"A": ("not checked", "No receipts were compared tonight.")}
    third = reconciled(world(A="90"), night=2, earlier=handed_on(second, night=1))
    assert third.exceptions.is_empty() and third.outcome(ComparedOutcome.ACCEPTED).height == 1


@pytest.mark.parametrize("complete", [True, False])
def test_what_is_said_of_an_asn_is_not_resolved_by_a_night_that_does_not_show_the_asn(complete):
    before = world()
    before.returned[0]["description"], before.announced[0]["description"] = "two", "one"
    earlier = handed_on(reconciled(before))
    assert earlier.listed["code"].to_list() == ["HEADER_DIFF"]
    absent = world()
    absent.returned[0] |= {"invoice_number": "OTHER", "in_window": False}
    second = reconciled(absent, night=1, earlier=earlier, complete=complete)
    assert gone(second)["A"][0] == "not checked"
    assert gone(reconciled(world(), night=2, earlier=handed_on(second, night=1)))["A"] == (
        "resolved",
        "Tonight it is matched.",
    )


def test_an_order_that_no_list_of_tonight_names_is_not_resolved():
    before = world()
    before.order("4711", "W", "100")
    after = world()
    after.order("4712", "W", "100", delivery_date="2026-12-24")
    earlier = handed_on(reconciled(before))
    second = reconciled(after, night=1, earlier=earlier)
    assert second.resolved.select("standing", "became").rows() == [
        ("not checked", "No purchase order of tonight names it.")
    ]


def unsure() -> World:
    """The ASN of A is not in the service's answer."""
    made = world(B="100")
    made.announce("X", ("W", "10", "2.00"), delivery_date="2026-11-01")
    return made


def test_a_night_that_may_be_incomplete_suspends_what_was_accepted_and_takes_nothing_away():
    earlier = handed_on(reconciled(unsure()), X="Accepted")
    cut = reconciled(unsure(), night=1, earlier=earlier, complete=False)
    [line] = cut.exceptions.to_dicts()
    assert (line["code"], line["state"], line["analyst_status"]) == ("UNVERIFIABLE", "changed", "Open")
    assert line["remark"].startswith("It was accepted as MISSING_IN_SERVICE of 10 units; tonight's report may be incom")
    again = reconciled(unsure(), night=2, earlier=handed_on(cut, night=1), complete=False)
    whole = reconciled(unsure(), night=3, earlier=handed_on(again, night=2))
    assert whole.exceptions.is_empty()
    [back] = whole.outcome(ComparedOutcome.ACCEPTED).to_dicts()
    assert (back["analyst_status"], back["accepted_as"]) == ("Accepted", line["accepted_as"])
    assert (back["state"], back["remark"]) == ("still open", "")


def test_what_went_beyond_and_came_back_is_as_it_was_accepted():
    result = reconciled(world(A="90"))
    for night, received in enumerate(("80", "85", "95", "90"), 1):
        status = {"A": "Accepted"} if night == 1 else {}
        result = reconciled(world(A=received), night=night, earlier=handed_on(result, night=night - 1, **status))
        assert result.exceptions.height == (received in ("80", "85")), "10 pieces were accepted, and no more"
    accepted = handed_on(reconciled(world(A="90")), A="Accepted")
    grown = reconciled(world(A="80"), night=1, earlier=accepted)
    anew = reconciled(world(A="80"), night=2, earlier=handed_on(grown, night=1, A="Accepted"))
    assert "units 20;" in anew.outcome(ComparedOutcome.ACCEPTED)["accepted_as"][0], (
        "what is accepted anew is what stood there"
    )


@pytest.mark.parametrize("status", ["", "In progress"])
def test_whoever_writes_another_status_beside_what_changed_takes_the_acceptance_back(status):
    accepted = handed_on(reconciled(world(A="90")), A="Accepted")
    grown = reconciled(world(A="80"), night=1, earlier=accepted)
    assert reconciled(world(A="90"), night=2, earlier=handed_on(grown, night=1, A=status)).exceptions.height == 1


def test_what_is_opened_on_the_sheet_of_the_accepted_is_not_accepted_again():
    accepted = reconciled(world(A="90"), night=1, earlier=handed_on(reconciled(world(A="90")), A="Accepted"))
    opened = reconciled(world(A="90"), night=2, earlier=handed_on(accepted, night=1, A="Open"))
    assert opened.exceptions["accepted_as"].to_list() == [""]


def test_a_held_version_that_was_accepted_stays_so_when_another_line_counts_its_pieces():
    held = World()
    held.no_receipts_came()
    held.both("A", ("W", "10", "2.00"), delivery_date="2026-11-20")
    held.announce("A", ("W", "-2", "2.00"), accepted=False, state="held", why="held")
    held.announced_lines[-1] |= {"version": "It says 8 instead of 10.", "version_of": 0}
    earlier = handed_on(reconciled(held), A="Accepted")
    held.receive("A", "W", "8")
    for header in (held.announced[0], held.returned[0]):
        header["delivery_date"] = "2026-11-01"
    result = reconciled(held, night=1, earlier=earlier)
    assert result.exceptions["code"].to_list() == ["SHORT"]
    assert "Not counted again: 2 pieces" in result.outcome(ComparedOutcome.ACCEPTED)["reason"].item()
