"""Quantities, counts and weights beside boxes: what one box holds, how many boxes there are, and what stands loose."""

from typing import Any

import pytest
import yaml
from mapping.sheets import sheet_of

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
