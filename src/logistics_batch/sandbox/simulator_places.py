"""Where an order is when its status changes: at the sender's, in a hub, at the recipient's door."""

from dataclasses import dataclass
from typing import Any

from logistics_batch.sandbox.hubs import hub_for

# Latitude and longitude of the cities, by the first part of a hub's code.
_CITIES = {
    "DEL": (28.6139, 77.209),
    "GGN": (28.4595, 77.0266),
    "NOI": (28.5355, 77.391),
    "JAI": (26.9124, 75.7873),
    "AMD": (23.0225, 72.5714),
    "BOM": (19.076, 72.8777),
    "PNQ": (18.5204, 73.8567),
    "BWD": (19.2813, 73.0483),
    "HYD": (17.385, 78.4867),
    "BLR": (12.9716, 77.5946),
    "MAA": (13.0827, 80.2707),
    "COK": (9.9312, 76.2673),
    "CCU": (22.5726, 88.3639),
    "NAG": (21.1458, 79.0882),
}
_AT_DOOR = frozenset({"Out-For-Delivery", "Attempted", "Delivered", "Complete"})
_IN_HUB = frozenset({"At-Hub", "At-Hub-RTO", "Moving-To-Hub", "Moving-To-Origin"})
_BACK = frozenset({"Returned"})


@dataclass(frozen=True)
class Place:
    """A place's name for people and its coordinates in degrees."""

    name: str
    latitude: float
    longitude: float


def place_of(status: str, body: dict[str, Any]) -> Place:
    """The place of an order (its `body` as it was created) in this status; a leg without coordinates is in its city."""
    if status in _IN_HUB:
        return _city(body.get("delivery_postal_code"))
    leg = "delivery" if status in _AT_DOOR else "return" if status in _BACK else "pickup"
    city = _city(body.get(f"{leg}_postal_code") or body.get("delivery_postal_code"))
    latitude, longitude = body.get(f"{leg}_lat"), body.get(f"{leg}_long", body.get(f"{leg}_lon"))
    if latitude is None or longitude is None:
        return city
    return Place(f"{leg} address", float(latitude), float(longitude))


def _city(pin_code: str | None) -> Place:
    hub = hub_for(pin_code)
    return Place(hub.name, *_CITIES[hub.code.partition("-")[0]])
