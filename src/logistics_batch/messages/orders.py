"""Why a change of an order cannot be sent, and what is wrong with an order of which the service is asked."""

from typing import Final

from logistics_batch.messages.entry import Entry

_BY_AWB: Final = (
    "Check the number. An order that was not sent from here goes by its AWB: ask the operator for a sheet with it."
)
_WAIT: Final = "Wait until the answer to the order is known, or ask the operator; then drop this file again."
_ITEM_ID: Final = "Write the item's id, and map it as `item_id`."

ORDERS: Final[dict[str, Entry]] = {
    "order_id|unusable": Entry("This cannot be the number of an order.", "Write the AWB."),
    "order_id|unknown": Entry("No order with this reference was sent from here.", _BY_AWB),
    "order_id|unknown.refused": Entry("The order with this reference was refused by the service.", _BY_AWB),
    "order_id|unknown.withdrawn": Entry("The order with this reference was withdrawn.", _BY_AWB),
    "order_id|not_settled.planned": Entry("The order itself is not sent yet, so it cannot be changed.", _WAIT),
    "order_id|not_settled.held": Entry(
        "The order itself is held until a person decides, so it cannot be changed.", _WAIT
    ),
    "order_id|not_settled": Entry("The order itself is in doubt, so it cannot be changed.", _WAIT),
    "order_id|awb_unknown": Entry(
        "The service took this order, but its AWB number is not known.",
        "Ask the operator, who can look it up, and for a sheet that goes by AWB numbers.",
    ),
    "order_id|cancelled": Entry("The order was cancelled.", "Leave the rows out."),
    "order_id|twice": Entry(
        "Several groups of rows of this file are about the order {order}.",
        "Give the order one number on all of its rows.",
    ),
    "item_id|ids_unknown": Entry("The ids of this order's items are not known here.", _ITEM_ID),
    "item_id|unknown": Entry(
        "No item of this name was in the order when it was created, or added from here.",
        f"Check the name. {_ITEM_ID}",
    ),
    "item_id|ambiguous": Entry("The order has several items of this name.", _ITEM_ID),
    "item_id|twice": Entry("The item stands twice in one change of the order.", "Keep one row of the item."),
    "sibling.of_order": Entry("The document is not sent: another row of it cannot be used."),
    # Of an order that was sent; these stand within a cell of the status report.
    ".order_unknown": Entry("the service does not know the order"),
    ".order_unknown.said": Entry("the service does not know the order: {said}"),
    ".order_anothers": Entry(
        "its AWB number is another order's: the service shows {number} with the reference “{reference}”; no status is "
        "taken from it"
    ),
    ".order_not_asked": Entry("it could not be asked for: {said}"),
    ".order_unaskable": Entry("the service cannot be asked for such a number"),
    ".other_order_shown": Entry("the service showed another order than it was asked for"),
    ".no_status": Entry("the service showed the order without a status"),
    ".event_refuted": Entry("an event said “{said}”, the service shows “{shown}”"),
}
