"""Changes of orders from sheets: which order, which items, and the bodies of API §4.7-4.10."""

import json

import pytest
from mapping.sheets import mapping_of, run, sheet_of, states

from logistics_batch.errors import SpecificationError
from logistics_batch.mapping import load_mapping
from logistics_batch.mapping.documents.changes import with_item_ids
from logistics_batch.model.document import MappedFile, OrderNumber

UPDATE = """
operation: order.update
order_id: {from: AWB}
key: [AWB]
fields:
  customer_mobile: {from: Phone}
  delivery_address: {from: Address}
lines:
  item_id: {from: Item}
  item_name: {from: SKU}
  item_quantity: {from: Qty}
"""
HEADER = ["AWB", "Phone", "Address", "Item", "SKU", "Qty"]
ASN_UPDATE = """
operation: asn.update
key: [Invoice]
fields: {invoice_number: {from: Invoice}, supplier_name: {from: Party}, site: {constant: BLR}}
lines: {sku_name: {from: SKU}, qty: {from: Qty}}
"""


def complaints(text: str) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        mapping_of(text)
    return [f"{each.line}:{each.column} {each.message} {each.remedy}" for each in caught.value.findings]


def changes(text: str, *rows: list[str]) -> MappedFile:
    return run(text, sheet_of(list(rows)))


def test_an_update_has_its_items_by_their_ids() -> None:
    mapped = changes(
        UPDATE,
        HEADER,
        ["SH-1", "9876543210", "12 MG Road", "7", "tea", "2"],
        ["SH-1", "9876543210", "12 MG Road", "8", 'say "cheese"', "1.0"],
    )
    (document,) = mapped.documents
    assert json.loads(document.body) == {
        "customer_mobile": "9876543210",
        "delivery_address": "12 MG Road",
        "item_details": {
            "7": {"item_name": "tea", "item_quantity": 2},
            "8": {"item_name": 'say "cheese"', "item_quantity": 1},
        },
    }
    assert document.order == OrderNumber("SH-1", is_reference=False, column=1, item_column=5)
    assert document.rows == document.line_rows == (2, 3)


def test_an_update_without_lines_changes_the_header_alone() -> None:
    text = UPDATE.split("lines:")[0]
    (document,) = changes(text, HEADER, ["SH-1", "9876543210", "12 MG Road"]).documents
    assert document.body == '{"customer_mobile":"9876543210","delivery_address":"12 MG Road"}'


def test_items_without_an_id_wait_for_it_and_are_checked_before() -> None:
    text = UPDATE.replace("  item_id: {from: Item}\n", "") + "  weight: {from: Weight}\n"
    mapped = changes(
        text, [*HEADER, "Weight"], ["SH-1", "9876543210", "x", "", "tea", "2", "0.5"], ["SH-2", "9", "x", "", "", "1"]
    )
    (document,) = mapped.documents
    assert json.loads(document.body)["item_details"] == [{"item_name": "tea", "item_quantity": 2, "weight": "0.5"}]
    assert with_item_ids(document.body, document.operation, ["17"]).endswith(
        '"item_details":{"17":{"item_name":"tea","item_quantity":2,"weight":"0.5"}}}'
    )
    assert {issue.cell for issue in mapped.issues} == {"B3", "E3"}


def test_items_to_delete_are_a_list_of_ids() -> None:
    text = "operation: order.delete_items\norder_id: {ledger: Order}\nkey: [Order]\nlines: {item_id: {from: Item}}\n"
    mapped = changes(text, ["Order", "Item"], ["A1", "17"], ["A1", "18"])
    (document,) = mapped.documents
    assert document.body == '{"item_list":["17","18"]}'
    assert document.order is not None and document.order.is_reference


def test_items_to_delete_may_be_named() -> None:
    text = "operation: order.delete_items\norder_id: {ledger: Order}\nkey: [Order]\nlines: {item_name: {from: SKU}}\n"
    (document,) = changes(text, ["Order", "SKU"], ["A1", "tea"], ["A1", "milk"]).documents
    assert with_item_ids(document.body, document.operation, ["3", "4"]) == '{"item_list":["3","4"]}'


def test_added_items_weigh_grams_under_ids_of_their_own() -> None:
    text = """
operation: order.add_items
order_id: {from: AWB}
key: [AWB]
lines: {item_id: {from: Item}, item_name: {from: SKU}, weight: {from: "Weight (kg)", read: {unit: kg -> g}}}
"""
    (document,) = changes(text, ["AWB", "Item", "SKU", "Weight (kg)"], ["SH-1", "n1", "tea", "0.25"]).documents
    assert document.body == '{"item_details":{"n1":{"item_name":"tea","weight":"250"}}}'


CANCEL = "operation: order.cancel\norder_id: {from: Order}\nkey: [Order]\n"


def test_an_awb_number_with_a_blank_in_it_is_not_guessed_and_a_reference_may_have_one() -> None:
    rows = [["Order"], ["SH - 40817815"], ["SH-1 SH-2"], ["\u00a0SH-3 "]]
    mapped = changes(CANCEL, *rows)
    assert [(issue.cell, issue.rule) for issue in mapped.issues] == [
        ("A2", "order_id|blank_inside"),
        ("A3", "order_id|blank_inside"),
    ]
    assert [each.key for each in mapped.documents] == ["SH-3"]
    assert len(changes(CANCEL.replace("{from: Order}", "{ledger: Order}"), *rows).documents) == 3


def test_a_cancellation_has_no_body() -> None:
    text = CANCEL.replace("{from: Order}", "{ledger: Order}")
    mapped = changes(text, ["Order", "Why"], ["A1", "late"], ["A1", "late"], ["", "note"])
    assert [(each.key, each.body, each.rows) for each in mapped.documents] == [("A1", "", (2, 3))]
    assert states(mapped)[4] == "skipped comment"


@pytest.mark.parametrize(("item", "name"), [("7", "milk"), ("", "tea")])
def test_an_item_that_stands_twice_is_an_issue_on_both_rows(item: str, name: str) -> None:
    text = UPDATE if item else UPDATE.replace("  item_id: {from: Item}\n", "")
    rows = [["SH-1", "9876543210", "x", "7", "tea", "2"], ["SH-1", "9876543210", "x", item, name, "3"]]
    mapped = changes(text, HEADER, *rows)
    assert [(issue.row, issue.rule.split("|")[1]) for issue in mapped.issues] == [(2, "twice"), (3, "twice")]
    assert not mapped.documents


def test_an_amount_alone_does_not_contradict_the_order_s_own_flag() -> None:
    text = UPDATE.split("lines:")[0] + "  cash_on_delivery: {from: Qty}\n"
    (document,) = changes(text, HEADER, ["SH-1", "9876543210", "x", "", "", "100"]).documents
    assert document.body.endswith('"cash_on_delivery":"100.00"}')


def test_labels_are_asked_for_by_number_or_with_the_full_shipment() -> None:
    by_number = "operation: label.create\nkey: [Order]\nfields: {order_numbers: {from: Order}}\n"
    (document,) = changes(by_number, ["Order"], ["A1"]).documents
    assert (document.reference, document.body) == ("A1", '{"order_numbers[]":"A1"}')
    full = """
operation: label.create
key: [AWB]
fields:
  awb_number: {from: AWB}
  primary_mobile_no: {from: Phone}
  shipping_address: {from: Address}
  delivery_pincode: {from: PIN}
  is_cod: {from: COD, read: {lookup: {Y: "true", N: "false"}}}
"""
    (document,) = changes(
        full, ["AWB", "Phone", "Address", "PIN", "COD"], ["SH-1", "9876543210", "x", "560001", "N"]
    ).documents
    assert json.loads(document.body)["is_cod"] is False


def test_what_the_contract_refuses_of_a_change_is_an_issue_at_its_cell() -> None:
    text = UPDATE.split("lines:")[0] + "  delivery_lat: {from: Qty}\n"
    mapped = changes(text, HEADER, ["SH-1", "9876543210", "x", "", "", "99"])
    assert [(issue.cell, issue.rule) for issue in mapped.issues] == [("F2", "delivery_lat|latitude")]


def test_the_spelling_of_longitudes_holds_for_updates_too() -> None:
    text = UPDATE.split("lines:")[0] + "  delivery_long: {from: Qty}\n"
    sheet = sheet_of([HEADER, ["SH-1", "9876543210", "x", "", "", "77.5"]])
    (document,) = run(text, sheet, longitude="delivery_lon").documents
    assert document.body.endswith('"delivery_lon":"77.5"}')


def test_each_operation_says_at_load_what_it_lacks() -> None:
    assert complaints("operation: order.add_items\nkey: [I]\nlines: {item_name: {from: Q}}\n") == [
        (
            "1:1 `order_id` is missing: `order.add_items` must say which order is meant. "
            "Add `order_id: {from: AWB}`, or `order_id: {ledger: Order No}` for reference numbers sent from here."
        ),
        "3:1 `item_id` is required and not mapped. Add `item_id:` under `lines`.",
    ]
    assert complaints("operation: order.delete_items\norder_id: {from: A}\nkey: [A]\n") == [
        (
            "1:1 Nothing says which items are to be deleted. "
            "Add `item_id:`, or `item_name:` for orders that were sent from here, under `lines`."
        )
    ]
    assert complaints("operation: order.cancel\nkey: [I]\norder_id: {from: A, ledger: B}\n") == [
        "3:1 `order_id` wants exactly one of `from` and `ledger`. "
    ]
    assert "stands at the top" in complaints("operation: order.cancel\nkey: [I]\nfields: {order_id: {from: A}}\n")[1]
    assert (
        "has no place in `asn.create`"
        in complaints(f"{ASN_UPDATE.replace('update', 'create')}order_id: {{from: A}}\n")[0]
    )
    assert "`delivery_pincode` is required beside `awb_number`" in "".join(
        complaints("operation: label.create\nkey: [A]\nfields: {awb_number: {from: A}}\n")
    )


def test_an_asn_is_updated_only_where_somebody_vouches_for_its_identity() -> None:
    (found,) = complaints(ASN_UPDATE)
    assert found.startswith("2:1 How the service finds the ASN") and "update_identity" in found
    mapping = load_mapping(ASN_UPDATE, path="m.yaml", read_lookup=str, updates_asns=lambda: True)
    (document,) = run(mapping, sheet_of([["Invoice", "Party", "SKU", "Qty"], ["I1", "Acme", "tea", "3"]])).documents
    assert document.key == "Acme | BLR | I1"
    assert json.loads(document.body)["sku_lines"] == [{"sku_name": "tea", "qty": "3"}]
