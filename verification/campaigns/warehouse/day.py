"""A day at the dock: which oddities are planted where, and the receipts file that comes of it, drawn from the seed.

No line has more than one oddity, nor has a line of an ASN that is odd as a whole, so that what was planted can be
compared with what was found. ASNs that are not unique (their invoice number, or an item in it) stay exact.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from typing import Any, TypeVar

from campaigns.warehouse.asns import SERVICE_KINDS, Asn, Day, ServiceChange, apply
from campaigns.warehouse.lines import LINE_KINDS, Dock, Oddity, Receipt, exact_receipt, receipts_csv, short
from support.sandbox_process import RunningSandbox

RECEIVED_KINDS = ("never_received", "late", "early")
ADDED_KINDS = ("no_asn", "unexpected_asn")
ASN_KINDS = (*RECEIVED_KINDS, *SERVICE_KINDS, *ADDED_KINDS)
KINDS = (*LINE_KINDS, *ASN_KINDS)
_NOTHING_COMES = frozenset({"never_received", "expired"})
_LINE_BY_LINE = frozenset({*RECEIVED_KINDS, "expired", "deleted_asn", "duplicate_asn", "short_dated"})
_FIRST_LINE = frozenset({"price_changed", "mrp_changed", "announced_quantity_changed", "line_removed"})

One = TypeVar("One")


@dataclass
class Outcome:
    """The rows of the file, what is odd in them and in the service, and the changes that the service needs for it.

    not_due: ASNs whose delivery date lies after the day of the file; they have no rows yet.
    """

    receipts: list[Receipt]
    oddities: list[Oddity]
    changes: list[ServiceChange] = field(default_factory=list)
    not_due: int = 0


def receive(
    sandbox: RunningSandbox, plan: Mapping[str, float], *, seed: int, received_on: date
) -> tuple[list[Oddity], str]:
    """Have a day at the dock for the open ASNs of a sandbox, and change these; what was planted, and the receipts file.

    A fraction in the plan is a share of the lines (of the ASNs, for kinds that concern a whole one), a whole number a
    count. Raises ValueError if there is no room for what the plan wants.
    """
    asns = [asn for asn in sandbox.control("GET", "/asns") if asn["status"] in ("New", "In-Progress")]
    outcome = received_with(asns, plan, seed=seed, received_on=received_on)
    for change in outcome.changes:
        apply(sandbox, change)
    return outcome.oddities, receipts_csv(outcome.receipts, received_on=received_on)


def received_with(asns: list[Asn], plan: Mapping[str, float], *, seed: int, received_on: date) -> Outcome:
    """What the dock writes by the day `received_on` about these ASNs, with the oddities of the plan."""
    due = [asn for asn in asns if not asn["delivery_date"] or asn["delivery_date"] <= received_on.isoformat()]
    exact = _exact_rows(due, received_on)
    if plan and not any(exact.values()):
        raise ValueError(f"No open ASN is due by {received_on.isoformat()}: there is nothing to plant oddities in")
    chance = random.Random(f"{seed}:receipts")
    pool = _unique(due, exact)
    chance.shuffle(pool)
    day = Day(received_on, chance)
    taken = _take_asns(pool, plan, day, of=len(due))
    dock = _dock(exact, pool, chance)
    changes = [change for kind, asn in taken for change in _plant_in_asn(dock, kind, asn, day)]
    _plant_in_lines(dock, [row for asn in pool for row in exact[asn["invoice_number"]]], plan)
    added = _added(dock, plan, seed=seed, asns=due)
    rows = [row for asn in due for line in exact_of(asn, received_on) for row in dock.rows.get(line, [line])]
    return Outcome([*rows, *added.receipts], dock.oddities, [*changes, *added.changes], len(asns) - len(due))


def exact_of(asn: Asn, received_on: date) -> list[Receipt]:
    """The rows of an ASN that came in as announced, on its delivery date if it has one."""
    on = asn["delivery_date"] or received_on.isoformat()
    return [exact_receipt(asn, line, received_on=on) for line in asn["sku_lines"]]


def _exact_rows(asns: list[Asn], received_on: date) -> dict[str, list[Receipt]]:
    rows: dict[str, list[Receipt]] = {}
    for asn in asns:
        rows.setdefault(asn["invoice_number"], []).extend(exact_of(asn, received_on))
    return rows


def _unique(asns: list[Asn], exact: Mapping[str, list[Receipt]]) -> list[Asn]:
    invoices = Counter(asn["invoice_number"] for asn in asns)
    return [
        asn
        for asn in asns
        if invoices[asn["invoice_number"]] == 1 and _without_doubles(row.item for row in exact[asn["invoice_number"]])
    ]


def _without_doubles(items: Iterable[str]) -> bool:
    listed = list(items)
    return "" not in listed and len(set(listed)) == len(listed)


def _dock(exact: Mapping[str, list[Receipt]], free: list[Asn], chance: random.Random) -> Dock:
    items = sorted({row.item for rows in exact.values() for row in rows if row.item})
    return Dock(chance, exact, [asn["invoice_number"] for asn in free], items)


def _number(amount: float, *, of: int) -> int:
    """How many: a count as it is, a share rounded, but at least one."""
    if isinstance(amount, int):
        return amount
    return max(1, round(amount * of)) if amount else 0


def _take(pool: list[One], count: int, fits: Callable[[One], bool]) -> list[One]:
    """Take up to `count` out of the pool, from its end, that fit."""
    taken: list[One] = []
    passed: list[One] = []
    while pool and len(taken) < count:
        one = pool.pop()
        (taken if fits(one) else passed).append(one)
    pool.extend(reversed(passed))
    return taken


def _must_suffice(kind: str, found: int, wanted: int) -> None:
    if found < wanted:
        raise ValueError(f"plant: {kind} is wanted {wanted} times, but only {found} places are left that it fits")


def _take_asns(pool: list[Asn], plan: Mapping[str, float], day: Day, *, of: int) -> list[tuple[str, Asn]]:
    taken: list[tuple[str, Asn]] = []
    for kind in (*RECEIVED_KINDS, *SERVICE_KINDS):
        count = _number(plan.get(kind, 0), of=of)
        found = _take(pool, count, partial(_fits_asn, kind, day))
        _must_suffice(kind, len(found), count)
        taken += [(kind, asn) for asn in found]
    return taken


def _fits_asn(kind: str, day: Day, asn: Asn) -> bool:
    if kind == "late":
        return bool(asn["delivery_date"]) and asn["delivery_date"] < day.received_on.isoformat()
    if kind == "early":
        return bool(asn["delivery_date"])
    if kind == "line_removed":
        return len(asn["sku_lines"]) > 1
    return kind != "completed_short" or float(asn["sku_lines"][0]["qty"]) >= 2


def _plant_in_asn(dock: Dock, kind: str, asn: Asn, day: Day) -> list[ServiceChange]:
    change = SERVICE_KINDS[kind](asn, day) if kind in SERVICE_KINDS else None
    rows = dock.exact[asn["invoice_number"]]
    if kind in _NOTHING_COMES:
        for row in rows:
            dock.plant(row, kind, [])
    elif kind in ("late", "early"):
        _shift(dock, kind, rows, day)
    elif kind == "completed_short":
        short(dock, rows[0])
        dock.oddities[-1] = replace(dock.oddities[-1], oddity=kind)
    else:
        shown = rows if kind in _LINE_BY_LINE else rows[:1]
        for row in shown:
            line = row if kind in _LINE_BY_LINE or kind in _FIRST_LINE else replace(row, item="", quantity=0)
            detail = change.detail if change else ""
            dock.note(line, kind, announced=line.quantity, quantity=line.quantity, detail=detail)
    return [change] if change else []


def _shift(dock: Dock, kind: str, rows: list[Receipt], day: Day) -> None:
    """The whole ASN comes some days after its delivery date, or before it."""
    due = date.fromisoformat(rows[0].received_on)
    days = -day.chance.randint(2, 5)
    if kind == "late":
        days = day.chance.randint(1, min(10, (day.received_on - due).days))
    on = due + timedelta(days=days)
    for row in rows:
        dock.plant(row, kind, [replace(row, received_on=on.isoformat())], detail=f"due {due}, received {on}")


def _plant_in_lines(dock: Dock, lines: list[Receipt], plan: Mapping[str, float]) -> None:
    dock.chance.shuffle(lines)
    whole = sum(len(rows) for rows in dock.exact.values())
    for kind, (plant, fits) in LINE_KINDS.items():
        count = _number(plan.get(kind, 0), of=whole)
        found, passed = 0, []
        while lines and found < count:
            line = lines.pop()
            if line not in dock.rows and fits(dock, line):
                plant(dock, line)
                found += 1
            else:
                passed.append(line)
        lines.extend(reversed(passed))
        _must_suffice(kind, found, count)


def _added(dock: Dock, plan: Mapping[str, float], *, seed: int, asns: list[Asn]) -> Outcome:
    """What comes on top: receipts that no ASN announced, ASNs that nobody sent."""
    outcome = Outcome([], dock.oddities)
    for number in range(1, 1 + _number(plan.get("no_asn", 0), of=len(asns))):
        like = dock.exact[dock.chance.choice(asns)["invoice_number"]][0]
        row = replace(
            like, invoice_number=f"NOASN-{seed}-{number}", item=dock.chance.choice(dock.items), oddity="no_asn"
        )
        dock.note(row, "no_asn", announced=0, quantity=row.quantity)
        outcome.receipts.append(row)
    for number in range(1, 1 + _number(plan.get("unexpected_asn", 0), of=len(asns))):
        like_asn = dock.chance.choice(asns)
        row = replace(exact_receipt(like_asn, like_asn["sku_lines"][0]), invoice_number=f"UNSENT-{seed}-{number}")
        dock.note(row, "unexpected_asn", announced=0, quantity=0, detail=f"{row.quantity} units that nobody announced")
        outcome.changes.append(ServiceChange(None, (_unsent(like_asn, row),)))
    return outcome


def _unsent(like: Asn, row: Receipt) -> dict[str, Any]:
    parties = ("supplier", "supplier_name", "site", "site_name", "delivery_date")
    lines = [{"sku_name": row.item, "qty": str(row.quantity)}]
    return {name: like[name] for name in parties if like[name]} | {
        "invoice_number": row.invoice_number,
        "description": "made by the warehouse",
        "sku_lines": lines,
    }
