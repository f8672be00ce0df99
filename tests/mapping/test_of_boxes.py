"""Quantities, counts and weights beside boxes: what one box holds, how many boxes there are, and what stands loose."""

from typing import Any

import pytest
import yaml
from mapping.sheets import sheet_of
from mapping.test_first_hour import drafted, sample
from mapping.test_unasked import fields

from logistics_batch.mapping.naming import reading_of
from logistics_batch.mapping.suggest.draft import draft_of
from logistics_batch.mapping.suggest.text import draft_text
from logistics_batch.model.document import Operation

INWARD = [
    ["INWARD ADVICE"],
    ["Supplier code", "NP-22", "", "Godown", "BHIWANDI-01", "", "Invoice No", "NP/881"],
    ["Style", "Description", "Pcs / ctn", "No. of ctns", "Loose pcs", "MRP", "Cost"],
    ["A", "Mug blue", "24", "5", "2", "199", "82"],
    ["B", "Mug red", "24", "3", "6", "199", "82"],
    ["C", "Plate", "12", "4", "3", "349", "140"],
    ["D", "Jar", "8", "6", "1", "499", "210"],
]
TOTAL = ["TOTAL", "", "", "18", "12", "", ""]


def _inward(header: dict[str, str], *more: list[str]) -> tuple[dict[str, Any], str]:
    rows = [*INWARD[:2], [header.get(name, name) for name in INWARD[2]], *INWARD[3:], *more]
    draft = draft_of([sheet_of(rows)], operation=Operation.ASN_CREATE)
    assert draft is not None
    text = draft_text(draft, file_name="x.csv")
    return yaml.safe_load(text), text


@pytest.mark.parametrize("per_box", ["Pcs / ctn", "Pcs/ctn", "Pcs per carton"])
@pytest.mark.parametrize("loose", ["Loose pcs", "Loose", "Odd pcs", "Loose Qty"])
@pytest.mark.parametrize("total", [[], [TOTAL]])
def test_pieces_beside_full_boxes_are_no_quantity_and_the_question_says_that_they_are_left_over(
    per_box: str, loose: str, total: list[list[str]]
) -> None:
    data, text = _inward({"Pcs / ctn": per_box, "Loose pcs": loose}, *total)
    assert data["lines"]["qty"] == {"from": f"? {per_box}", "times": "? No. of ctns"}
    assert f"“{loose}” is not added" in text and loose not in str(data.get("checks", ""))


def test_what_one_box_holds_is_told_below_a_name_of_two_rows_as_well() -> None:
    upper, own = ["Style", "Description", "Packing", "", "", "Rate", ""], ["", "", *INWARD[2][2:]]
    draft = draft_of([sheet_of([*INWARD[:2], upper, own, *INWARD[3:], TOTAL])], operation=Operation.ASN_CREATE)
    assert draft is not None
    qty = yaml.safe_load(draft_text(draft, file_name="x.xlsx"))["lines"]["qty"]
    assert qty == {"from": "? Packing Pcs / ctn", "times": "? Packing No. of ctns"}


def test_a_total_does_not_show_that_a_column_counts_what_all_boxes_hold() -> None:
    data, _ = _inward({"Loose pcs": "Qty"}, TOTAL)
    assert data["lines"]["qty"]["from"] == "? Qty" and "checks" not in data


def test_loose_pieces_without_boxes_are_offered_as_the_quantity() -> None:
    rows = [["SKU", "MRP", "Loose pcs"], ["A", "199", "2"], ["B", "299", "7"]]
    draft = draft_of([sheet_of(rows)], operation=Operation.ASN_CREATE)
    assert draft is not None and draft.guesses["lines.qty"].asked and draft.guesses["lines.qty"].column == "Loose pcs"


@pytest.mark.parametrize(
    ("name", "is_of_one"),
    [("Pcs / ctn", True), ("Uds por caja", True), ("Unités par carton", True), ("Stück pro Box", True),
     ("Cartons / Boxes", False), ("No. of Ctn / Box", False), ("Vch / Bill No", False)],
)  # fmt: skip
def test_what_one_box_holds_is_told_in_five_ways(name: str, is_of_one: bool) -> None:
    assert ("size_of_case" in reading_of(name).meanings) is is_of_one


@pytest.mark.parametrize("per_box", ["Uds por caja", "Unités par carton", "Pcs per box", "Pcs / ctn"])
def test_what_one_box_holds_is_no_number_of_boxes(per_box: str) -> None:
    found = fields(sample(**{per_box.replace(" ", "_"): ["2", "1", "2"], "Cartons": ["1", "1", "2"]}))
    assert found["packages_count"] == {"from": "Cartons"}


def test_of_two_counts_of_boxes_a_person_says_which() -> None:
    found = fields(sample(Cartons=["1", "1", "2"], Box_qty=["2", "1", "2"]))
    assert {*found["packages_count"]["from"]} == {"? Cartons", "? Box qty"}


@pytest.mark.parametrize(
    ("name", "is_asked"),
    [("Weight (kg/box)", True), ("Weight per carton", True), ("Wt / pc", True), ("Weight (kg)", False)],
)
def test_the_weight_of_one_box_is_not_that_of_the_order_unasked(name: str, is_asked: bool) -> None:
    draft, _, _ = drafted(sample(**{name.replace(" ", "_"): ["0.5", "1.2", "0.75"], "Boxes": ["1", "2", "3"]}))
    weights = [each for place, each in draft.guesses.items() if place.endswith(".weight")]
    assert all(each.asked for each in weights) if is_asked else [each.asked for each in weights] == [False]
