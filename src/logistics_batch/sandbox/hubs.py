"""Hubs by pin code, as the service would derive them (API §4.6 rule 1)."""

from collections.abc import Mapping
from dataclasses import dataclass

_CITIES = {
    "11": ("DEL", "Delhi"),
    "12": ("GGN", "Gurugram"),
    "20": ("NOI", "Noida"),
    "30": ("JAI", "Jaipur"),
    "38": ("AMD", "Ahmedabad"),
    "40": ("BOM", "Mumbai"),
    "41": ("PNQ", "Pune"),
    "42": ("BWD", "Bhiwandi"),
    "50": ("HYD", "Hyderabad"),
    "56": ("BLR", "Bengaluru"),
    "60": ("MAA", "Chennai"),
    "68": ("COK", "Kochi"),
    "70": ("CCU", "Kolkata"),
}


@dataclass(frozen=True)
class Hub:
    """A hub's code and its name for people."""

    code: str
    name: str


def hub_for(pin_code: str | None) -> Hub:
    """The hub that serves a pin code; one national hub for those that no city serves."""
    digits = "".join(filter(str.isdigit, pin_code or ""))
    code, city = _CITIES.get(digits[:2], ("NAG", "Nagpur"))
    return Hub(f"{code}-{digits[:3]}" if len(digits) >= 3 else code, f"{city} Hub")


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
