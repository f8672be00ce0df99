"""Oddities on the service's side: ASNs that were changed, lost, doubled or made up after they were sent."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

from support.sandbox_process import RunningSandbox

ZONE = timezone(timedelta(hours=5, minutes=30))
Asn = dict[str, Any]
_HEADER = ("supplier", "supplier_name", "site", "site_name", "status", "description", "invoice_number")
_MORE_HEADER = ("delivery_date", "expiry_date", "total_price", "batch", "serial_number")


@dataclass(frozen=True)
class ServiceChange:
    """One thing that happens to the service's ASNs. asn_id: which one, None for a new one.

    steps: bodies to create, or fields to set one after the other; none of them: the ASN is deleted.
    """

    asn_id: int | None
    steps: tuple[Asn, ...] = ()
    detail: str = ""


@dataclass(frozen=True)
class Day:
    """The day of the receipts, and what is drawn from."""

    received_on: date
    chance: random.Random = field(default_factory=random.Random)

    def moment(self, days_before: int = 0) -> str:
        """Noon of that day or of an earlier one, in the service's zone."""
        return datetime.combine(self.received_on - timedelta(days=days_before), time(12), ZONE).isoformat()


def apply(sandbox: RunningSandbox, wanted: ServiceChange) -> None:
    """Change the sandbox's ASNs as wanted."""
    if wanted.asn_id is None:
        for body in wanted.steps:
            sandbox.call("POST", "/wms/advance-shipping-notice", body)
    elif not wanted.steps:
        sandbox.control("DELETE", f"/asns/{wanted.asn_id}")
    else:
        for fields in wanted.steps:
            sandbox.control("POST", f"/asns/{wanted.asn_id}", fields)


def body_of(asn: Asn) -> Asn:
    """The body that an ASN was created with, as far as the service shows it."""
    header = {name: asn[name] for name in (*_HEADER, *_MORE_HEADER) if asn[name] is not None}
    return header | {"sku_lines": lines_of(asn)}


def lines_of(asn: Asn) -> list[Asn]:
    """The SKU lines of an ASN as they were sent."""
    return [
        {name: value for name, value in line.items() if name != "id" and value is not None} for line in asn["sku_lines"]
    ]


def _deleted(asn: Asn, _day: Day) -> ServiceChange:
    return ServiceChange(asn["id"], detail=asn["invoice_number"])


def _duplicated(asn: Asn, _day: Day) -> ServiceChange:
    return ServiceChange(None, (body_of(asn),), "the ASN stands twice")


def _renamed(party: str) -> Callable[[Asn, Day], ServiceChange]:
    def change(asn: Asn, _day: Day) -> ServiceChange:
        name = f"{party}_name" if asn[f"{party}_name"] else party
        return _set(asn, name, f"{asn[name]} (changed)")

    return change


def _delivery_moved(asn: Asn, day: Day) -> ServiceChange:
    due = date.fromisoformat(asn["delivery_date"]) if asn["delivery_date"] else day.received_on
    return _set(asn, "delivery_date", (due + timedelta(days=day.chance.randint(2, 9))).isoformat())


def _described(asn: Asn, _day: Day) -> ServiceChange:
    return _set(asn, "description", f"{asn['description'] or ''} amended".strip())


def _other_batch(asn: Asn, day: Day) -> ServiceChange:
    return _set(asn, "batch", f"B{day.chance.randint(10_000, 99_999)}")


def _other_total(asn: Asn, _day: Day) -> ServiceChange:
    worth = sum((Decimal(line["qty"]) * Decimal(line["price_per_qty"] or 0) for line in asn["sku_lines"]), Decimal(0))
    return _set(asn, "total_price", str((Decimal(asn["total_price"] or worth) + 100).quantize(Decimal("0.01"))))


def _set(asn: Asn, name: str, value: str) -> ServiceChange:
    return ServiceChange(asn["id"], ({name: value},), f"{name}: {asn[name] or '(blank)'} → {value}")


def _line_value(name: str, factor: str) -> Callable[[Asn, Day], ServiceChange]:
    """A change of one amount in the first line."""

    def change(asn: Asn, _day: Day) -> ServiceChange:
        lines = lines_of(asn)
        before = lines[0].get(name)
        after = Decimal(before or "10") * Decimal(factor) + (1 if name == "qty" else Decimal("0.01"))
        lines[0][name] = str(after.quantize(Decimal(1) if name == "qty" else Decimal("0.01")))
        detail = f"{lines[0].get('sku_name', '')} {name}: {before or '(blank)'} → {lines[0][name]}"
        return ServiceChange(asn["id"], ({"sku_lines": lines},), detail)

    return change


def _line_removed(asn: Asn, _day: Day) -> ServiceChange:
    lines = lines_of(asn)
    return ServiceChange(asn["id"], ({"sku_lines": lines[1:]},), f"without {lines[0].get('sku_name', '')}")


def _line_added(asn: Asn, _day: Day) -> ServiceChange:
    lines = [*lines_of(asn), {"sku_name": f"ADDED-{asn['id']}", "qty": "7"}]
    return ServiceChange(asn["id"], ({"sku_lines": lines},), f"with ADDED-{asn['id']}")


def _went_back(asn: Asn, day: Day) -> ServiceChange:
    steps = ({"status": "Completed"}, {"status": "New", "modified_date": day.moment()})
    return ServiceChange(asn["id"], steps, "status: Completed → New")


def _stuck(asn: Asn, day: Day) -> ServiceChange:
    return ServiceChange(
        asn["id"], ({"status": "In-Progress", "modified_date": day.moment(14)},), "In-Progress for 14 days"
    )


def _expired(asn: Asn, day: Day) -> ServiceChange:
    past = (day.received_on - timedelta(days=1)).isoformat()
    fields = {"status": "Expired", "expiry_date": past, "modified_date": day.moment()}
    return ServiceChange(asn["id"], (fields,), f"expired on {past}")


def _short_dated(asn: Asn, day: Day) -> ServiceChange:
    due = date.fromisoformat(asn["delivery_date"]) if asn["delivery_date"] else day.received_on
    return _set(asn, "expiry_date", (due + timedelta(days=1)).isoformat())


def _completed(asn: Asn, day: Day) -> ServiceChange:
    return ServiceChange(asn["id"], ({"status": "Completed", "modified_date": day.moment()},), "Completed")


# Kind: what happens to the ASN in the service.
SERVICE_KINDS: Mapping[str, Callable[[Asn, Day], ServiceChange]] = {
    "deleted_asn": _deleted,
    "duplicate_asn": _duplicated,
    "supplier_changed": _renamed("supplier"),
    "site_changed": _renamed("site"),
    "delivery_date_changed": _delivery_moved,
    "description_changed": _described,
    "batch_changed": _other_batch,
    "total_changed": _other_total,
    "price_changed": _line_value("price_per_qty", "1.10"),
    "mrp_changed": _line_value("maximum_retail_price", "1.20"),
    "announced_quantity_changed": _line_value("qty", "2"),
    "line_removed": _line_removed,
    "line_added": _line_added,
    "status_went_back": _went_back,
    "stuck_in_progress": _stuck,
    "completed_short": _completed,
    "expired": _expired,
    "short_dated": _short_dated,
}
