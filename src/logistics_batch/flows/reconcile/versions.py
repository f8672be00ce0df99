"""Later versions of accepted ASNs that wait for a person or were refused: only what they change is at stake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from logistics_batch.api.envelopes import as_text

Lines = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Changed:
    """A line of a later version as it differs from the accepted one.

    place: among the version's lines. qty: exact decimal text, negative where the version has less. beside_inr: what a
    changed price is worth for the pieces that the accepted version has already. words: both, for people.
    """

    place: int
    qty: str
    beside_inr: str
    words: str


def changed_lines(version: Lines, accepted: Lines) -> list[Changed] | None:
    """The lines of a version that differ from those of the accepted one; all of them where no line does.

    None where the versions cannot be compared: a SKU stands on several lines, or a number cannot be read.
    """
    try:
        before, now = (_by_sku(lines) for lines in (accepted, version))
        if before is None or now is None:
            return None
        told = [_changed(place, line, before.get(_sku(line))) for place, line in enumerate(version)]
    except InvalidOperation:
        return None
    differing = [one for one in told if one.words]
    return differing or told


def left_out(version: Lines, accepted: Lines) -> list[str]:
    """The SKUs of the accepted version that the later one no longer has."""
    kept = {_sku(line) for line in version}
    return [as_text(line.get("sku_name")) for line in accepted if _sku(line) not in kept]


def _by_sku(lines: Lines) -> dict[str, Mapping[str, Any]] | None:
    known = {_sku(line): line for line in lines}
    return known if len(known) == len(lines) and "" not in known else None


def _sku(line: Mapping[str, Any]) -> str:
    return as_text(line.get("sku_name")).strip().lower()


def _changed(place: int, line: Mapping[str, Any], accepted: Mapping[str, Any] | None) -> Changed:
    qty = _number(line, "qty")
    if accepted is None:
        return Changed(place, str(qty), "0", f"It adds this SKU with {qty}")
    old, price, old_price = _number(accepted, "qty"), _number(line, "price_per_qty"), _number(accepted, "price_per_qty")
    retail, old_retail = (_number(one, "maximum_retail_price") for one in (line, accepted))
    parts = [
        f"{qty} instead of {old}" if qty != old else "",
        f"INR {price} instead of {old_price} a unit" if price != old_price else "",
        f"a retail price of INR {retail} instead of {old_retail}" if retail != old_retail else "",
    ]
    said = ", ".join(part for part in parts if part)
    beside = (abs(price - old_price) + abs(retail - old_retail)) * old
    return Changed(place, str(qty - old), str(beside), f"It says {said}" if said else "")


def _number(line: Mapping[str, Any], name: str) -> Decimal:
    return Decimal(as_text(line.get(name)) or "0")
