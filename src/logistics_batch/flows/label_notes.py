"""What a label run says of orders beside their labels: what is not to be picked, and what changed meanwhile."""

from collections.abc import Iterator, Sequence

from logistics_batch.flows.label_orders import Chosen
from logistics_batch.model.counting import counted

_NAMES = 20  # orders named in one note


def order_notes(chosen: Chosen) -> Iterator[str]:
    """Remarks for the manifest and the screen, each with the references of its orders."""
    if chosen.cancelled:
        yield f"cancelled, so without a label; do not pick: {_names(chosen.cancelled)}"
    uncertain = [order.reference for order in chosen.orders if not order.items_certain]
    if uncertain:
        yield (
            "items were changed after the order was sent, and which it has now is not certain; look it up at the "
            f"service before picking: {_names(uncertain)}"
        )


def _names(references: Sequence[str]) -> str:
    more = len(references) - _NAMES
    named = ", ".join(references[:_NAMES])
    return f"{named} and {counted(more, 'more order')}" if more > 0 else named
