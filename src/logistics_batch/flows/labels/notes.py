"""What a label run says of orders beside their labels: what is not to be picked, and what changed meanwhile."""

from collections.abc import Iterator, Sequence

from logistics_batch.flows.labels.orders import (
    ITEM_AND_HEADER_CHANGES,
    LATELY,
    Choice,
    Chosen,
    LabelOrder,
    choose_orders,
)
from logistics_batch.flows.parts import Parts
from logistics_batch.model.counting import counted

_NAMES = 20  # orders named in one note


def order_notes(parts: Parts, choice: Choice, chosen: Chosen) -> Iterator[str]:
    """Remarks for the manifest and the screen, each with the references of its orders."""
    if chosen.cancelled:
        yield f"cancelled, so without a label; do not pick: {_names(chosen.cancelled)}"
    uncertain = [order.reference for order in chosen.orders if not order.items_certain]
    if uncertain:
        yield (
            "items were changed after the order was sent, and which it has now is not certain; look it up at the "
            f"service before picking: {_names(uncertain)}"
        )
    printed = chosen.printed_before if choice.named else _changed_lately(parts)
    outdated = [order.reference for order in printed if order.changed_at > order.printed_at]
    if outdated:
        yield f"label printed before the order was changed: {_names(outdated)}; reprint, and check the items"


def _changed_lately(parts: Parts) -> Sequence[LabelOrder]:
    """Printed orders of which the service accepted a change that was asked for lately."""
    since = (parts.clock.now() - LATELY).date().isoformat()
    changes = parts.ledger.documents.select(operations=ITEM_AND_HEADER_CHANGES, states=["accepted"], planned_from=since)
    numbers = tuple({change.awb_number or change.reference: None for change in changes})
    return choose_orders(parts, Choice(numbers=numbers)).printed_before if numbers else ()


def _names(references: Sequence[str]) -> str:
    more = len(references) - _NAMES
    named = ", ".join(references[:_NAMES])
    return f"{named} and {counted(more, 'more order')}" if more > 0 else named
