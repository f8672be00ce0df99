"""Receipts in several lists: a list that repeats counts once, two lorries count twice, and both are named."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from reconciliation.world import World

from logistics_batch.reconciliation import Rules, audit, counted_once

PLAIN = Rules(business_date=date(2026, 11, 10))
DAY = "2026-11-02"
ONE = ("I1", "50", "2026-11-02")
OTHER = ("I2", "7", "2026-11-02")
NEXT_DAY = ("I2", "7", "2026-11-03")


def world(*lists: tuple[tuple[str, str, str], ...]) -> World:
    """Two ASNs, and lists of receipts, each (invoice, quantity, day), the earliest first."""
    made = World()
    made.both("I1", ("A", "100", "1.00"))
    made.both("I2", ("A", "7", "1.00"))
    made.no_receipts_came()
    for number, lines in enumerate(lists, 1):
        for row, (invoice, qty, day) in enumerate(lines, 2):
            made.receive(invoice, "A", qty, received_date=day, file_name=f"list{number}.csv", row=row)
    return made


def found(made: World) -> dict[str, dict[str, Any]]:
    legs = made.legs()
    counted = counted_once(legs.received)
    lines = audit(replace(legs, received=counted.lines), rules=PLAIN).lines.to_dicts()
    return {line["invoice_number"]: line | {"left_out": counted.left_out, "alike": counted.alike} for line in lines}


@pytest.mark.parametrize(
    "lists",
    [
        ((ONE, OTHER), (ONE, OTHER)),  # one list under two names
        ((ONE,), (ONE, OTHER)),  # a list that grows during the day
        ((("I2", "1", "2026-11-01"), ONE), (ONE, NEXT_DAY)),  # a list of the last days that moves on
    ],
)
def test_a_list_that_repeats_an_earlier_one_counts_once_and_the_rows_are_named(lists):
    line = found(world(*lists))["I1"]
    assert (line["code"], line["qty_received"], line["left_out"] > 0) == ("SHORT", 50, True)
    assert "Not counted again, since a later list repeats an earlier one: list2.csv row 2." in line["reason"]


@pytest.mark.parametrize("lists", [((ONE, OTHER), (ONE,)), ((ONE, OTHER), (ONE, NEXT_DAY))])
def test_two_lorries_with_as_many_pieces_or_one_listed_twice_cannot_be_told(lists):
    line = found(world(*lists))["I1"]
    assert (line["code"], line["qty_received"], line["left_out"], line["alike"]) == ("UNVERIFIABLE", 100, 0, 2)
    assert "100 of 100 received if all lists count, 50 if a later list repeats or corrects" in line["reason"]
    assert (line["receipt_file"], line["receipt_rows"]) == (
        "list1.csv; list2.csv",
        "list1.csv row 2; list2.csv row 2",
    )


def test_lines_alike_in_two_lists_are_named_where_they_make_too_much():
    line = found(world((ONE, ONE, OTHER), (ONE,)))["I1"]
    assert (line["code"], line["qty_received"]) == ("UNVERIFIABLE", 150)
    assert "list1.csv row 2; list1.csv row 3; list2.csv row 2" in line["reason"]
    line = found(world((("I1", "20", "2026-11-02"), OTHER), (("I1", "20", "2026-11-02"),)))["I1"]
    assert line["code"] == "SHORT" and "Alike in several lists and counted each time" in line["reason"]


def test_a_corrected_list_neither_hides_a_shortage_nor_makes_too_much():
    first, second = (("I1", "50", DAY), ("I2", "5", DAY)), (("I1", "50", DAY), ("I2", "4", DAY))
    told = found(world(first, second))
    assert {invoice: told[invoice]["code"] for invoice in told} == {"I1": "UNVERIFIABLE", "I2": "UNVERIFIABLE"}
    assert "9 of 7 received if all lists count, 4 if" in told["I2"]["reason"]
    assert "list1.csv row 3; list2.csv row 3" in told["I2"]["reason"]


def test_two_parts_that_make_the_whole_are_no_correction_and_both_lists_are_named():
    line = found(world((("I1", "60", DAY),), (("I1", "40", DAY),)))["I1"]
    assert (line["outcome"], line["qty_received"]) == ("matched", 100)
    assert "list1.csv row 2; list2.csv row 2; is one a correction?" in line["reason"]


def test_equal_lines_of_one_list_all_count():
    line = found(world((ONE, ONE)))["I1"]
    assert (line["outcome"], line["left_out"], line["alike"]) == ("matched", 0, 0)


def test_of_three_lists_that_hold_each_other_one_counts():
    line = found(world((ONE,), (ONE, OTHER), (ONE, OTHER, NEXT_DAY)))["I1"]
    assert (line["qty_received"], line["left_out"]) == (50, 3)
    assert "list2.csv row 2; list3.csv row 2" in line["reason"]


@pytest.mark.parametrize(("surely", "expected"), [(None, "UNVERIFIABLE"), ("40", "matched")])
def test_goods_that_may_all_have_been_taken_out_of_a_list_are_not_matched(surely, expected):
    made = world()
    made.receive("I2", "A", "7")
    perhaps = "100" if surely is None else "60"
    made.receive("I1", "A", perhaps, again=True, reissued="r1.csv row 2; r2.csv lacks it")
    if surely:
        made.receive("I1", "A", surely)
    lines = {line["invoice_number"]: line for line in audit(made.legs(), rules=PLAIN).lines.to_dicts()}
    assert (lines["I1"]["code"] or lines["I1"]["outcome"]) == expected
