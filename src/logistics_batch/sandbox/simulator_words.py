"""What drivers and clerks write beside a status: remarks and courier comments."""

import random
from collections.abc import Mapping

_REMARKS: Mapping[str, tuple[str, ...]] = {
    "In-Progress": ("Being packed",),
    "Assigned": ("Driver assigned", "Van 7 assigned", "Evening round"),
    "Pickup-Failed": ("Shop was closed", "Goods were not packed", "Sender asked for tomorrow", "Vehicle broke down"),
    "Picked": ("Picked", "Picked, boxes sealed"),
    "Moving-To-Hub": ("Line haul left",),
    "At-Hub": ("Scanned in", "Sorted to route"),
    "Attempted": ("Customer not reachable", "Door locked", "Address not found", "Customer asked for another day"),
    "Delivered": ("Handed to customer", "Left with the guard"),
    "Complete": ("Handed to customer", "Handed to neighbour, OTP checked"),
    "At-Hub-RTO": ("Refused by customer", "Three attempts, goes back"),
    "Returned": ("Handed back to sender",),
}
_COMMENTS: Mapping[str, tuple[str, ...]] = {
    "Pickup-Failed": ("waited 15 min", "called, no answer", ""),
    "Attempted": ("called twice", "घर पर कोई नहीं", "wrong house no. on label", ""),
    "Delivered": ("ok", ""),
    "Complete": ("ok", "", "paid cash"),
}
_SILENT = ("",)


def words_for(status: str, chance: random.Random) -> tuple[str, str]:
    """A remark and a courier's comment that fit the status; often there is none."""
    return chance.choice(_REMARKS.get(status, _SILENT)), chance.choice(_COMMENTS.get(status, _SILENT))
