"""Kits and packages in orders (API §2.3, §4.6)."""

import json

import pytest
from mapping.sheets import mapping_of, orders, states

from logistics_batch.errors import SpecificationError

HEAD = """
operation: order.create
key: [Order No]
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, read: mobile}
  delivery_address: {from: Address}
"""
KITS = (
    HEAD
    + """
lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}
kits:
  key: [Kit]
  name: {from: Kit}
  description: {from: About}
  lines: {item_name: {from: SKU}, item_quantity: {from: Qty, read: integer}}
"""
)
HEADER = ["Order No", "Phone", "Address", "Kit", "About", "SKU", "Qty"]


def row(*cells: str) -> list[str]:
    return [cells[0], "9876543210", "12 MG Road", *cells[1:]]


def test_rows_of_a_kit_are_its_contents_and_the_others_items() -> None:
    mapped = orders(
        row("A1", "Tea set", "For two", "pot", "1"),
        row("A1", "", "", "milk", "3"),
        row("A1", "Tea set", "For two", "cup", "2"),
        row("A1", "Wraps", "", "paper", "1"),
        mapping=KITS,
        header=HEADER,
    )
    body = json.loads(mapped.documents[0].body)
    assert body["item_details"] == [{"item_name": "milk", "item_quantity": 3}]
    assert body["kit_skus"] == [
        {
            "name": "Tea set",
            "description": "For two",
            "item_details": [{"item_name": "pot", "item_quantity": 1}, {"item_name": "cup", "item_quantity": 2}],
        },
        {"name": "Wraps", "item_details": [{"item_name": "paper", "item_quantity": 1}]},
    ]
    assert list(body)[-1] == "kit_skus"


def test_an_order_may_have_kits_alone_or_none() -> None:
    mapped = orders(row("A1", "Set", "", "pot", "1"), row("A2", "", "", "milk", "1"), mapping=KITS, header=HEADER)
    first, second = (json.loads(document.body) for document in mapped.documents)
    assert "item_details" not in first and len(first["kit_skus"]) == 1
    assert "kit_skus" not in second and len(second["item_details"]) == 1


def test_kits_need_no_lines_of_their_own() -> None:
    text = KITS.replace("lines: {item_name: {from: SKU}, item_quantity: {from: Qty}}\nkits", "kits")
    (document,) = orders(row("A1", "Set", "", "pot", "1"), mapping=text, header=HEADER).documents
    assert [kit["name"] for kit in json.loads(document.body)["kit_skus"]] == ["Set"]


def test_a_bad_cell_of_a_kit_is_an_issue_and_stops_the_order() -> None:
    mapped = orders(
        row("A1", "Set", "", "pot", "none"), row("A1", "Set", "", "", "2"), row("A1", "", "", "milk", "1"),
        mapping=KITS, header=HEADER,
    )  # fmt: skip
    assert [(issue.cell, issue.rule) for issue in mapped.issues] == [
        ("G2", "item_quantity|integer"),
        ("F3", "item_name|required"),
    ]
    assert states(mapped) == {2: "invalid", 3: "invalid", 4: "blocked sibling"}


def test_a_kit_that_is_written_in_two_ways_is_not_two() -> None:
    mapped = orders(row("A1", "Set", "", "pot", "1"), row("A1", "set", "", "cup", "1"), mapping=KITS, header=HEADER)
    assert [(each.cell, each.rule) for each in mapped.issues] == [
        ("D2", "kit_name|disagree"),
        ("D3", "kit_name|disagree"),
    ]


def test_rows_of_one_kit_must_agree_about_it() -> None:
    mapped = orders(row("A1", "Set", "x", "pot", "1"), row("A1", "Set", "y", "cup", "1"), mapping=KITS, header=HEADER)
    assert [(issue.cell, issue.rule) for issue in mapped.issues] == [
        ("E2", "kit_description|disagree"),
        ("E3", "kit_description|disagree"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("  name: {from: Kit}\n", "", "`name` is missing"),
        (
            "{item_name: {from: SKU}, item_quantity: {from: Qty, read: integer}}",
            "{brand: {from: SKU}}",
            "`item_name` is required",
        ),
        ("item_quantity: {from: Qty, read: integer}", "quantity: {from: Qty}", "Did you mean `item_quantity`"),
        ("  key: [Kit]", "  keys: [Kit]", "Unknown key `keys`"),
        ("name: {from: Kit}", "name: {first: Kit}", "speaks of a whole document"),
    ],
)
def test_each_fault_of_kits_is_found_at_load(old: str, new: str, said: str) -> None:
    with pytest.raises(SpecificationError, match=said):
        mapping_of(KITS.replace(old, new))


def test_packages_are_told_by_ids_or_by_their_number_never_both() -> None:
    by_id = HEAD + "lines: {item_name: {from: SKU}, package_id: {from: Box}}\n"
    header = ["Order No", "Phone", "Address", "SKU", "Box", "Boxes"]
    (document,) = orders(row("A1", "pot", "B1"), row("A1", "cup", "B2"), mapping=by_id, header=header).documents
    assert [item["package_id"] for item in json.loads(document.body)["item_details"]] == ["B1", "B2"]
    both = by_id.replace(
        "delivery_address: {from: Address}", "delivery_address: {from: Address}\n  packages_count: {from: Boxes}"
    )
    mapped = orders(row("A1", "pot", "", "2"), row("A2", "cup", "B2", "2"), mapping=both, header=header)
    assert json.loads(mapped.documents[0].body)["packages_count"] == 2
    (issue,) = mapped.issues
    assert (issue.row, issue.rule) == (3, "packages_count_and_package_id|contract")
    assert issue.reason.startswith("The number of packages and package ids must not both be given")


def test_the_bin_of_every_item_is_kept_in_the_order_of_the_items() -> None:
    """First the items of the order itself, then those of its kits, kit by kit."""
    rows = [
        ["A1", "Tea set", "pot", "T-1"],
        ["A1", "", "milk", "M-1"],
        ["A1", "Wraps", "paper", ""],
        ["A1", "Tea set", "cup", "T-2"],
        ["A2", "", "salt", "S-1"],
        ["A3", "", "rice", ""],
        ["A3", "", "oats", 'O-"2"'],
    ]
    cells = [row(order, kit, "", sku, "1", place) for order, kit, sku, place in rows]
    mapped = orders(*cells, mapping=f"{KITS}keep: {{bin: {{from: Bin}}}}\n", header=[*HEADER, "Bin"])
    assert [document.keep for document in mapped.documents] == [
        {"bin": "T-1", "bin:1": "M-1", "bin:2": "T-1", "bin:3": "T-2"},
        {"bin": "S-1"},
        {"bin:2": 'O-"2"'},
    ]
