"""Orders that were cancelled or changed after they were created: what is printed, picked and said of them."""

import json
from typing import Any

from labels.label_service import Given, LabelService
from labels.print_room import PrintRoom, Wish
from labels.test_make_labels import accepted, barcodes, manifest
from labels.test_manifest import text_of

from logistics_batch.flows.labels.labels import LabelsPlan, make_labels
from logistics_batch.flows.labels.orders import LabelChoice
from logistics_batch.model.document import Document, Operation
from logistics_batch.model.order_state import OrderState, Shown
from logistics_batch.model.run_reports import LabelReport


def show(room: PrintRoom, reference: str, status: str) -> None:
    """The service showed the order with this status when it was asked."""
    (order,) = room.ledger.orders.sent(numbers=[reference])

    def seen(state: OrderState) -> OrderState:
        return state.seen(status, Shown(), at=room.parts.clock.now().isoformat())

    room.ledger.orders.change_states({order.document_id: seen})


def change(
    room: PrintRoom,
    reference: str,
    operation: Operation,
    body: dict[str, Any],
    *,
    run: str,
    keep: dict[str, str] | None = None,
) -> None:
    """The service accepted this change of an order."""
    awb = f"SH-{reference}"
    document = Document(
        key=awb,
        operation=operation,
        rows=(2,),
        body=json.dumps(body),
        reference=reference,
        order_id=awb,
        path="/any",
        keep=keep or {},
    )
    room.plan(document, run=run)
    (planned,) = room.ledger.documents.stored(room.ledger.documents.planned_of(run)["id"])
    room.accept({reference: planned.id}, {reference: ""}, run=run)


def picked(report: LabelReport) -> str:
    return " ".join(text_of(next(path for path in report.files if path.name == "pick_list.pdf").read_bytes())).replace(
        "\n", " "
    )


def test_an_order_that_the_service_showed_as_cancelled_is_not_printed(room: PrintRoom) -> None:
    accepted(room, Wish("A"), Wish("B"))
    show(room, "A", "Canceled")
    nightly = make_labels(room.parts, LabelsPlan())
    assert barcodes(nightly) == ["SH-B"]
    assert (nightly.exit_code, nightly.missing) == (0, ()), "nobody has to do anything"
    assert "cancelled, so without a label; do not pick: A" in nightly.notes
    assert "do not pick: A" in manifest(nightly)


def test_a_cancelled_order_is_not_printed_again_either(room: PrintRoom) -> None:
    accepted(room, Wish("A"), Wish("B"))
    make_labels(room.parts, LabelsPlan())
    show(room, "A", "cancelled")
    show(room, "B", "Picked")
    again = make_labels(room.parts, LabelsPlan(orders=LabelChoice(run="run-1"), reprint_reason="jam"))
    assert barcodes(again) == ["SH-B"]
    (lost,) = again.missing
    assert (lost.reference_number, lost.reason) == ("A", "the order was cancelled")
    assert lost.remedy == "nothing; do not pick it"


def test_people_are_not_told_to_the_service_for_a_label_it_refuses_as_cancelled(
    room: PrintRoom, service: LabelService
) -> None:
    accepted(room, Wish("A"))
    service.given["SH-A"] = Given(refuse="The order is cancelled")
    (lost,) = make_labels(room.parts, LabelsPlan()).missing
    assert "The order is cancelled" in lost.reason
    assert lost.remedy == "nothing to do; do not pick it"
    assert service.asked == [{"order_numbers[]": "SH-A"}]


def test_what_is_picked_follows_added_and_deleted_items(room: PrintRoom) -> None:
    items = {name: {"item_name": name, "item_quantity": 1} for name in ("LAMP", "SHADE")}
    told = {f"id-{name}": item for name, item in items.items()}
    room.accept(room.drop(Wish("A", items=("LAMP", "SHADE"), keep={"bin": "B-07"})), {"A": "SH-A"}, items=told)
    change(room, "A", Operation.ORDER_DELETE_ITEMS, {"item_list": ["id-LAMP"]}, run="run-2")
    bulbs = {"item_details": {"901": {"item_name": "BULB", "item_quantity": 6}}}
    change(room, "A", Operation.ORDER_ADD_ITEMS, bulbs, run="run-3")
    report = make_labels(room.parts, LabelsPlan())
    assert "SHADE x 1, BULB x 6" in manifest(report).replace("\n", " ")
    for name, there in (("BULB", True), ("SHADE", True), ("LAMP", False), ("B-07", False)):
        assert (name in picked(report)) is there, name
    assert not [note for note in report.notes if "not certain" in note]


def test_every_item_is_picked_from_its_own_bin_also_after_changes(room: PrintRoom) -> None:
    told = {f"id-{name}": {"item_name": name, "item_quantity": 1} for name in ("LAMP", "SHADE", "PLUG")}
    keep = {"bin": "B-07", "bin:2": "C-01", "bin:3": "A-03"}
    room.accept(room.drop(Wish("A", items=("LAMP", "SHADE", "PLUG"), keep=keep)), {"A": "SH-A"}, items=told)
    change(room, "A", Operation.ORDER_DELETE_ITEMS, {"item_list": ["id-LAMP"]}, run="run-2")
    bulbs = {"item_details": {"901": {"item_name": "BULB", "item_quantity": 6}}}
    change(room, "A", Operation.ORDER_ADD_ITEMS, bulbs, run="run-3", keep={"bin": "D-09"})
    text = " ".join(picked(make_labels(room.parts, LabelsPlan())).split())
    assert "A-03 PLUG 1 1 1 C-01 SHADE 1 1 1 D-09 BULB 6 1 1" in text
    assert "B-07" not in text


def test_items_that_cannot_be_followed_are_said_to_be_uncertain(room: PrintRoom) -> None:
    accepted(room, Wish("A"), Wish("B"))
    change(room, "A", Operation.ORDER_DELETE_ITEMS, {"item_list": ["77"]}, run="run-2")
    (note,) = [note for note in make_labels(room.parts, LabelsPlan()).notes if "not certain" in note]
    assert note.endswith("look it up at the service before picking: A")


def test_a_label_older_than_a_change_of_its_order_is_told_until_it_is_printed_again(room: PrintRoom) -> None:
    accepted(room, Wish("A"), Wish("B"))
    make_labels(room.parts, LabelsPlan())
    address = {"customer_mobile": "9876543210", "delivery_address": "14 MG Road, Bengaluru"}
    change(room, "A", Operation.ORDER_UPDATE, address, run="run-2")
    told = "label printed before the order was changed: A; reprint, and check the items"
    assert told in make_labels(room.parts, LabelsPlan()).notes
    assert told in make_labels(room.parts, LabelsPlan(orders=LabelChoice(run="run-1"))).notes
    make_labels(room.parts, LabelsPlan(orders=LabelChoice(numbers=("A",)), reprint_reason="new address"))
    assert told not in make_labels(room.parts, LabelsPlan()).notes
