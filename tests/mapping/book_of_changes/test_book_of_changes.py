"""A layout of another hand: one Hindi-English sheet of cancellations, added items and corrections, by three mappings.

Two heading lines, lines with a date alone, 〃 for "as above", several items in a cell, rows that are done already.
"""

import json
from pathlib import Path

import pytest
from mapping.sheets import mapping_of, run

from logistics_batch.intake.readers import read_file
from logistics_batch.model.document import MappedFile
from logistics_batch.model.sheet import ReadOptions

HERE = Path(__file__).parent


def mapped(name: str) -> MappedFile:
    sheets = read_file(HERE / "changes.csv", name="changes.csv", options=ReadOptions())
    return run(mapping_of((HERE / f"{name}.yaml").read_text(encoding="utf-8")), *sheets)


def rows_in(found: MappedFile, state: str) -> list[int]:
    return found.rows.filter(found.rows["state"] == state)["row"].to_list()


@pytest.mark.parametrize(
    ("name", "ready", "invalid"),
    [
        ("cancel", {"SH-40817733": (5, 23), "SH-40817781": (13,)}, [16, 22]),
        ("add", {"SH-40817741": (6, 7), "SH-40817781": (15,), "SH-40817801": (19,)}, [12, 24]),
        (
            "update",
            {"SH-40817762": (9,), "SH-40817775": (11,), "SH-40817790": (17,), "SH-40817796": (18,)},
            [10, 20],
        ),
    ],
)
def test_each_row_is_a_call_of_one_mapping_and_left_out_by_the_others(
    name: str, ready: dict[str, tuple[int, ...]], invalid: list[int]
) -> None:
    found = mapped(name)
    assert {document.key: document.rows for document in found.documents} == ready
    assert rows_in(found, "invalid") == invalid
    assert not rows_in(found, "blocked")


def test_items_below_belong_to_the_order_above() -> None:
    first = json.loads(mapped("add").documents[0].body)["item_details"]
    assert first["ATTA-AASH-5KG"] == {
        "item_name": "ATTA-AASH-5KG",
        "item_quantity": 2,
        "item_price_per_each": "265.00",
    }
    assert first["GHEE-AMUL-1L"]["item_price_per_each"] == "640.00"


def test_an_amount_makes_it_cash_on_delivery_paid_ends_it_and_a_blank_cell_changes_nothing() -> None:
    bodies = [json.loads(document.body) for document in mapped("update").documents]
    assert [(body.get("is_cod"), body.get("cash_on_delivery")) for body in bodies] == [
        (None, None),
        (None, None),
        ("true", "104500.00"),
        ("false", None),
    ]
    assert bodies[1]["customer_mobile"] == "9839044512"
