"""Hubs by pin code, as the service would derive them (API §4.6 rule 1), and where an order is in each status."""

from collections.abc import Mapping
from dataclasses import dataclass

# The first two digits of a pin code: the city's code and name, its latitude and longitude in degrees.
_CITIES = {
    "11": ("DEL", "Delhi", 28.6139, 77.209),
    "12": ("GGN", "Gurugram", 28.4595, 77.0266),
    "20": ("NOI", "Noida", 28.5355, 77.391),
    "30": ("JAI", "Jaipur", 26.9124, 75.7873),
    "38": ("AMD", "Ahmedabad", 23.0225, 72.5714),
    "40": ("BOM", "Mumbai", 19.076, 72.8777),
    "41": ("PNQ", "Pune", 18.5204, 73.8567),
    "42": ("BWD", "Bhiwandi", 19.2813, 73.0483),
    "50": ("HYD", "Hyderabad", 17.385, 78.4867),
    "56": ("BLR", "Bengaluru", 12.9716, 77.5946),
    "60": ("MAA", "Chennai", 13.0827, 80.2707),
    "68": ("COK", "Kochi", 9.9312, 76.2673),
    "70": ("CCU", "Kolkata", 22.5726, 88.3639),
}
_ELSEWHERE = ("NAG", "Nagpur", 21.1458, 79.0882)
_AT_DOOR = frozenset({"Out-For-Delivery", "Attempted", "Delivered", "Complete"})
_IN_HUB = frozenset({"At-Hub", "At-Hub-RTO", "Moving-To-Hub", "Moving-To-Origin"})


@dataclass(frozen=True)
class Hub:
    """A hub's code and its name for people, and its city's coordinates in degrees."""

    code: str
    name: str
    latitude: float
    longitude: float


def hub_for(pin_code: str | None) -> Hub:
    """The hub that serves a pin code; one national hub for those that no city serves."""
    digits = "".join(filter(str.isdigit, pin_code or ""))
    code, city, latitude, longitude = _CITIES.get(digits[:2], _ELSEWHERE)
    return Hub(f"{code}-{digits[:3]}" if len(digits) >= 3 else code, f"{city} Hub", latitude, longitude)


def place_of(status: str, body: Mapping[str, str]) -> tuple[float, float]:
    """Latitude and longitude of an order (its `body` as created) in this status; a leg without them is in its city."""
    leg = "delivery" if status in _AT_DOOR | _IN_HUB else "return" if status == "Returned" else "pickup"
    latitude, longitude = body.get(f"{leg}_lat"), body.get(f"{leg}_long", body.get(f"{leg}_lon"))
    if status in _IN_HUB or latitude is None or longitude is None:
        hub = hub_for(body.get(f"{leg}_postal_code") or body.get("delivery_postal_code"))
        return hub.latitude, hub.longitude
    return float(latitude), float(longitude)


@dataclass(frozen=True)
class Hubs:
    """The hubs of an order: code and name of the one that delivers, code of the one that picks up ("" without one)."""

    delivery: str
    delivery_name: str
    pickup: str


def hubs_for(fields: Mapping[str, str]) -> Hubs:
    """The hubs that were sent; those that were not follow from the pin codes (API §4.6 rule 1)."""
    delivery = hub_for(fields.get("delivery_postal_code"))
    pickup_code = fields.get("pickup_postal_code")
    return Hubs(
        delivery=fields.get("delivery_hub") or delivery.code,
        delivery_name=delivery.name,
        pickup=fields.get("pickup_hub") or (hub_for(pickup_code).code if pickup_code else ""),
    )
