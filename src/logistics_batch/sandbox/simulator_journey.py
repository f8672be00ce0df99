"""The way of an order through its statuses: which moves are legal, how likely each is, and the walk of a seed."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from logistics_batch.sandbox.orders import PENDING

STAYS = ""
# Status: where an order goes from there, with weights. The document names Pending, Pickup-Failed and Complete only.
FORWARD: Mapping[str, Mapping[str, int]] = {
    PENDING: {"Assigned": 1},
    "New-Order": {"Assigned": 1},
    "In-Progress": {"Assigned": 1},
    "Assigned": {"Out-For-Pickup": 1},
    "Out-For-Pickup": {"Picked": 85, "Pickup-Failed": 15},
    "Pickup-Failed": {"Assigned": 40, STAYS: 60},
    "Picked": {"Moving-To-Hub": 1},
    "Moving-To-Hub": {"At-Hub": 1},
    "At-Hub": {"Out-For-Delivery": 1},
    "Out-For-Delivery": {"Complete": 65, "Delivered": 20, "Attempted": 15},
    "Attempted": {"At-Hub": 75, "At-Hub-RTO": 25},
    "At-Hub-RTO": {"Moving-To-Origin": 1},
    "Moving-To-Origin": {"Returned": 1},
}
_IN_WAREHOUSE = {PENDING: {"In-Progress": 1}, "New-Order": {"In-Progress": 1}}
_WITHOUT_HUBS = {
    "Picked": {"Out-For-Delivery": 1},
    "Attempted": {"Out-For-Delivery": 75, "Moving-To-Origin": 25},
}
_FROM_CUSTOMER = {"At-Hub": {"Moving-To-Origin": 1}, "Moving-To-Origin": {"Complete": 1}}
MOST_PICKUPS = 2
MOST_ATTEMPTS = 3


@dataclass(frozen=True)
class Kind:
    """What makes the way of an order another: stock of the service's own warehouse, no hubs, back from the customer."""

    inventory_managed: bool = False
    hyperlocal: bool = False
    is_return: bool = False


def kind_of(body: str) -> Kind:
    """The kind of an order by its stored body (API §2.3)."""
    fields = json.loads(body)
    return Kind(
        *(fields.get(name) == "true" for name in ("is_inventory_managed_bh", "is_hyperlocal", "is_return_order"))
    )


def legal_moves(status: str, kind: Kind, past: tuple[str, ...] = ()) -> Mapping[str, int]:
    """Where an order of this kind can go from `status`, with weights; `past` are its statuses so far, without Pending.

    The second failed pickup is the last, and after the third attempt the goods go back.
    """
    moves = dict(FORWARD)
    for applies, others in (
        (kind.inventory_managed, _IN_WAREHOUSE),
        (kind.hyperlocal, _WITHOUT_HUBS),
        (kind.is_return, _FROM_CUSTOMER),
    ):
        moves |= others if applies else {}
    ways = moves.get(status, {STAYS: 1})
    if status == "Pickup-Failed" and past.count(status) >= MOST_PICKUPS:
        return {STAYS: 1}
    if status == "Attempted" and past.count(status) >= MOST_ATTEMPTS:
        return {name: weight for name, weight in ways.items() if name in ("At-Hub-RTO", "Moving-To-Origin")}
    return ways


def next_status(awb_number: str, past: tuple[str, ...], *, seed: int, kind: Kind) -> str:
    """The next status of an order, always the same for the same seed and past; STAYS when it goes nowhere."""
    ways = legal_moves(past[-1] if past else PENDING, kind, past)
    chance = random.Random(f"{seed}:{awb_number}:{len(past)}")  # noqa: S311
    return chance.choices(list(ways), weights=list(ways.values()))[0]


def journey(awb_number: str, *, seed: int, kind: Kind | None = None) -> tuple[str, ...]:
    """Every status that this order goes through after Pending."""
    return tuple(_walk(awb_number, seed=seed, kind=kind or Kind()))


def _walk(awb_number: str, *, seed: int, kind: Kind) -> Iterator[str]:
    past: tuple[str, ...] = ()
    while status := next_status(awb_number, past, seed=seed, kind=kind):
        yield status
        past = (*past, status)
