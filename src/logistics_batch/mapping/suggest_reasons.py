"""Why a column fills nothing: said of each one that a draft leaves out."""

from typing import Final

from logistics_batch.mapping.suggest_values import Profile
from logistics_batch.mapping.suggest_words import Reading

# What a name speaks of, and what is said of it; the first that is found counts.
_SAID: Final = (
    ({"bill"}, "whoever pays: the service wants who gets the goods"),
    ({"invoice", "pin"}, "whoever pays: the service wants who gets the goods"),
    ({"invoice", "name"}, "whoever pays: the service wants who gets the goods"),
    ({"gstin"}, "a tax number: the service has no field for it"),
    ({"hsn"}, "a tariff code: the service has no field for it"),
    ({"percent"}, "a rate: the service wants amounts"),
    ({"tax"}, "tax: the service has no field for it"),
    ({"serialrow"}, "it counts rows or lines"),
    ({"line"}, "it counts rows or lines"),
    ({"status"}, "how far it is in the system that the file comes from"),
    ({"remark"}, "a remark: the service has no field for it"),
    ({"mrp"}, "the price printed on the goods, not what is paid"),
    ({"currency"}, "the service counts in rupees"),
    ({"uom"}, "a unit of counting: the service has no field for it"),
    ({"ean"}, "another number of the same goods"),
    ({"batch"}, "of one line; the service has one for a whole notice"),
    ({"expiry"}, "of one line; the service has one for a whole notice"),
    ({"mfg"}, "of one line; the service has no field for it"),
    ({"free"}, "goods that are not paid: whether they count as well is not said"),
    ({"charged"}, "the weight that is charged, not the goods'"),
    ({"courier"}, "how it travels: the service decides"),
    ({"po"}, "of a purchase order: it can be kept for reports"),
    ({"note"}, "of a delivery note: it can be kept for reports"),
)
_LIKELIER: Final = {
    **dict.fromkeys(("qty",), ("lines.item_quantity", "lines.qty", "fields.qty")),
    **dict.fromkeys(("item", "sku", "desc"), ("lines.item_name", "lines.sku_name", "fields.sku_name")),
    "phone": ("fields.customer_mobile",),
    "pin": ("fields.delivery_postal_code",),
    "name": ("fields.customer_name",),
    "amount": ("fields.cash_on_delivery",),
    "total": ("fields.cash_on_delivery",),
    "order": ("fields.reference_number",),
}
_DATES: Final = "a day of the papers, not of the delivery"
_NOTHING: Final = "nothing was found for it"
SAYS_NOTHING: Final = "the service has no field for it"


def why_spare(reading: Reading, profile: Profile | None, *, beside: dict[str, str]) -> str:
    """Why a column fills nothing, in words. beside: the columns of the places that are filled."""
    if profile is None:
        return "several columns have this name: only one that stands once can be read"
    if not profile.values:
        return "the column is empty"
    if profile.counts_rows and not reading.meanings - {"number", "line", "serialrow"}:
        return "it counts rows or lines"
    for meanings, said in _SAID:
        if meanings <= reading.meanings:
            return said
    if "date" in reading.meanings or "made" in reading.meanings:
        return _DATES
    for meaning, places in _LIKELIER.items():
        likelier = next((beside[place] for place in places if place in beside), None)
        if meaning in reading.meanings and likelier is not None:
            return f"“{likelier}” is likelier"
    return SAYS_NOTHING if reading.meanings and not reading.unknown else _NOTHING
