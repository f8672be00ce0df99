"""Hubs by pin code, as the service would derive them (API §4.6 rule 1), and where an order goes."""

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


def place_of(body: Mapping[str, str]) -> tuple[float, float]:
    """Latitude and longitude that an order is on its way to; without its own those of the hub that delivers."""
    latitude, longitude = body.get("delivery_lat"), body.get("delivery_long", body.get("delivery_lon"))
    if latitude is None or longitude is None:
        hub = hub_for(body.get("delivery_postal_code"))
        return hub.latitude, hub.longitude
    return float(latitude), float(longitude)


def hubs_for(fields: Mapping[str, str]) -> dict[str, str]:
    """The hubs of an order by column: those that were sent, others follow from pin codes (API §4.6 rule 1)."""
    delivery = hub_for(fields.get("delivery_postal_code"))
    pickup_code = fields.get("pickup_postal_code")
    return {
        "delivery_hub": fields.get("delivery_hub") or delivery.code,
        "delivery_hub_sn": delivery.name,
        "pickup_hub": fields.get("pickup_hub") or (hub_for(pickup_code).code if pickup_code else ""),
    }
