"""A world in which a dock plants every difference: each is found once with its class, and none is invented.

What was planted is counted from the dock's own list, what was found from the report for programs: neither uses the
auditor. In the suite small worlds with oddities in 30 % and 1 % of the lines; with CAMPAIGN=full worlds of thousands.
"""

import random
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from campaigns.scale import FULL, SEED, report, size
from campaigns.warehouse.day import KINDS, receive
from flows.audit_room import Fixed
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace

from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.push import push_by_hand
from logistics_batch.flows.reconcile.reconcile import ListPlan, ReconcilePlan, run_reconcile
from logistics_batch.model.jobs.job import Tolerance
from logistics_batch.wiring import Need
from logistics_batch.wiring import Workspace as Opened

pytestmark = [] if FULL else [pytest.mark.slow]

ASNS = """\
operation: asn.create
key: [Supplier, Site, Invoice]
fields:
  supplier_name: {from: Supplier, required: true}
  site_name: {from: Site, required: true}
  invoice_number: {from: Invoice, required: true}
  delivery_date: {from: Due, read: {date: ["%Y-%m-%d"]}}
  description: {from: Note}
  batch: {from: Batch}
lines:
  sku_name: {from: SKU, required: true}
  qty: {from: Qty, read: integer, required: true}
  price_per_qty: {from: Rate, read: money}
  maximum_retail_price: {from: MRP, read: money}
"""
RECEIPTS = """\
operation: receipt.read
key: [Invoice No]
fields:
  invoice_number: {from: Invoice No, required: true}
  supplier_name: {from: Supplier}
  site_name: {from: Site}
  sku_name: {from: Item, required: true}
  qty: {from: Received Qty, read: integer, required: true}
  condition: {from: Condition}
  received_date: {from: Received On, read: {date: ["%d/%m/%Y"]}}
"""
HEADER = "Supplier,Site,Invoice,Due,Note,Batch,SKU,Qty,Rate,MRP"
LINES_AN_ASN = 5
MARGINS = {"LATE": Tolerance(days=0), "EARLY": Tolerance(days=0), "SHELF_LIFE": Tolerance(days=3)}
# What the oddity of a line is called by an analyst; "" where it is none.
OF_LINE = {
    "short": "SHORT",
    "over": "OVER",
    "swapped": "WRONG_SKU",
    "extra_sku": "EXTRA_SKU",
    "missing_sku": "MISSING_SKU",
    "duplicate_line": "OVER",
    "two_trucks": "",
    "booked_elsewhere": "MISSING_SKU",
    "damaged": "DAMAGED",
    "quality": "QUALITY",
    "rejected": "REJECTED",
    "hold": "HOLD",
    "nonstandard_pack": "NONSTD_PACK",
    "strange_condition": "UNVERIFIABLE",
    "never_received": "NOT_RECEIVED",
    "late": "LATE",
    "early": "EARLY",
    "no_asn": "NO_ASN",
    "unexpected_asn": "UNEXPECTED_IN_SERVICE",
    "deleted_asn": "MISSING_IN_SERVICE",
    "price_changed": "PRICE_VAR",
    "mrp_changed": "MRP_VAR",
    "announced_quantity_changed": "OVER",
    "line_removed": "MISSING_SKU",
    "completed_short": "SHORT",
    "expired": "EXPIRED_UNRECEIVED",
    "short_dated": "SHELF_LIFE",
}
# The oddity of an ASN as a whole.
OF_ASN = {
    "duplicate_asn": "DUPLICATE_ASN",
    "supplier_changed": "HEADER_DIFF",
    "site_changed": "HEADER_DIFF",
    "delivery_date_changed": "HEADER_DIFF",
    "description_changed": "HEADER_DIFF",
    "batch_changed": "HEADER_DIFF",
    "total_changed": "TOTAL_MISMATCH",
    "stuck_in_progress": "STALE_STATUS",
    "status_went_back": "STATUS_REGRESSION",
}
Found = tuple[str, str, str]


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


class Night:
    """A workspace and the warehouse behind it, at ten in the evening of `today`."""

    def __init__(self, root: Path, sandbox: RunningSandbox, parts: Parts, today: date) -> None:
        self.root, self.sandbox, self.parts, self.today = root, sandbox, parts, today

    def announce(self, count: int, *, chance: random.Random) -> None:
        """ASNs of the last days that all go out; no two quantities of the world are alike by accident."""
        skus = [f"SKU-{number:04}" for number in range(count * 2 + 50)]
        rows, number = [], 0
        for asn in range(count):
            due = self.today - timedelta(days=chance.randint(3, 8))
            head = f"Supplier {asn % 7},Site {asn % 3},INV-{asn:05},{due},PO {asn},B{asn}"
            for sku in chance.sample(skus, LINES_AN_ASN):
                number += 1
                rows.append(
                    f"{head},{sku},{60 + number * 3},{chance.randint(10, 900)}.50,{chance.randint(1000, 2000)}.00"
                )
        self.push(*rows)

    def push(self, *rows: str) -> None:
        path = self.root / f"asns-{len(rows)}.csv"
        path.write_text("\n".join([HEADER, *rows, ""]))
        push_by_hand(self.parts, [path], mapping="asns", results=None, dry_run=False)

    def plant(self, plan: dict[str, float], *, seed: int) -> list[dict[str, Any]]:
        """A day at the dock; what was planted, as the dock tells it."""
        odd, text = receive(self.sandbox, plan, seed=seed, received_on=self.today)
        (self.root / "receipts.csv").write_text(text)
        return [vars(one) for one in odd]

    def reconcile(self, *, receipts: bool = True) -> Any:
        plan = ReconcilePlan(
            by="delivery",
            date_from=self.today - timedelta(days=40),
            date_to=self.today + timedelta(days=20),
            business_date=self.today,
            receipts=ListPlan(self.root / "receipts.csv", "receipts") if receipts else ListPlan(),
            tolerance=MARGINS,
            output=self.root / "out",
        )
        return run_reconcile(self.parts, plan)


@pytest.fixture
def night(tmp_path: Path, sandbox: RunningSandbox) -> Iterator[Night]:
    now = datetime.now(ZoneInfo("Asia/Kolkata"))
    workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
    workspace.mapping("asns", ASNS)
    workspace.mapping("receipts", RECEIPTS)
    with Opened(tmp_path / "workspace").parts(Need()) as parts:
        object.__setattr__(parts, "clock", Fixed(now))
        yield Night(tmp_path, sandbox, parts, now.date())


def expected(odd: list[dict[str, Any]]) -> Counter[Found]:
    """What an analyst would list: class, invoice number, SKU ("" for an ASN as a whole)."""
    told: Counter[Found] = Counter()
    whole: set[Found] = set()
    for one in odd:
        kind, invoice, item = one["oddity"], one["invoice_number"], one["item"]
        if kind in OF_ASN:
            whole.add((OF_ASN[kind], invoice, ""))
        elif kind == "mirrored":
            told["SHORT" if one["quantity"] < one["announced"] else "OVER", invoice, item] += 1
        elif kind == "line_added":
            told["EXTRA_SKU", invoice, "ADDED"] += 1
        elif OF_LINE[kind]:
            told[OF_LINE[kind], invoice, item] += 1
        if kind == "booked_elsewhere":
            told["EXTRA_SKU", one["other_invoice_number"], item] += 1
    return told + Counter(whole)


def found(document: dict[str, Any]) -> Counter[Found]:
    return Counter(
        (
            one["code"],
            one["invoice_number"],
            one["sku_name"].partition("-")[0] if "ADDED" in one["sku_name"] else one["sku_name"],
        )
        for one in document["exceptions"]
    )


def planted_shares(share: float, kinds: list[str]) -> dict[str, float]:
    """So much of each kind that the oddities concern that share of all lines."""
    return dict.fromkeys(kinds, share / len(kinds))  # of the lines, or of the ASNs, which have as many lines each


def test_every_kind_that_the_dock_knows_has_a_class() -> None:
    assert set(KINDS) == {*OF_LINE, *OF_ASN, "mirrored", "line_added"}


@pytest.mark.parametrize(("share", "sample", "full"), [(0.30, 120, 2_000), (0.01, 120, 2_000)])
def test_what_is_planted_is_found_once_and_nothing_else(night: Night, share: float, sample: int, full: int) -> None:
    chance = random.Random(SEED)
    asns = size(sample, full)
    night.announce(asns, chance=chance)
    # What goes back must have been seen further on, by an earlier night; that is a test of its own.
    kinds = sorted(set(KINDS) - {"status_went_back"})
    lines = asns * LINES_AN_ASN
    few = max(1, round(share * lines))
    chosen = kinds if few >= len(kinds) else chance.sample(kinds, few)
    odd = night.plant(planted_shares(share, chosen), seed=SEED)
    told = night.reconcile()
    assert told.complete, told.doubts
    assert found(told.document) == expected(odd)
    legs = {leg["leg"]: leg for leg in told.document["legs"]}
    assert legs["announced"]["lines"] == lines
    assert sum(one["lines_announced"] for one in told.document["classes"]) == lines
    report(
        f"reconciliation-world-{share:.0%}",
        asns=asns,
        lines=lines,
        planted=len(odd),
        classes=len({code for code, _, _ in expected(odd)}),
        found=sum(found(told.document).values()),
        invented=0,
        missed=0,
    )


def test_numbers_that_two_suppliers_share_and_rows_that_cannot_be_read_claim_nothing(night: Night) -> None:
    """Every invoice number stands for two suppliers whom no reply names; receipts are corrected, or cannot be read."""
    chance, pairs = random.Random(SEED), size(15, 1_000)
    due = night.today - timedelta(days=4)
    rows = []
    for number in range(2 * pairs):
        head = f"Supplier {number % 2},Site 1,INV-{number // 2:05},{due},PO,B{number}"
        rows += [f"{head},SKU-{nth},{60 + number * 3 + nth},10.50,20.00" for nth in range(3)]
    night.push(*rows)
    night.plant({}, seed=SEED)
    night.sandbox.set_switches(asn_parties="id")
    path = night.root / "receipts.csv"
    header, *lines = path.read_text().splitlines()
    place = {name: nth for nth, name in enumerate(header.split(","))}
    assert len(lines) == 6 * pairs
    unread: Counter[Found] = Counter()
    written = [header]
    for line, fate in zip(
        lines, chance.choices(["whole", "corrected", "unread"], [8, 1, 1], k=len(lines)), strict=True
    ):
        cells = line.split(",")
        quantity = int(cells[place["Received Qty"]])
        for told in {"corrected": (str(quantity + 2), "-2"), "unread": (f"{quantity} pcs",)}.get(
            fate, (str(quantity),)
        ):
            cells[place["Received Qty"]] = told
            written.append(",".join(cells))
        if fate == "unread":
            unread["UNVERIFIABLE", cells[place["Invoice No"]], cells[place["Item"]]] += 1
    path.write_text("\n".join([*written, ""]))
    told = night.reconcile()
    assert unread and found(told.document) == unread
    assert told.exit_code == 4 and {one["impact_inr"] for one in told.document["exceptions"]} == {None}
    assert told.counts["matched"] == 6 * pairs - unread.total()
    report("reconciliation-world-shared", asns=2 * pairs, lines=6 * pairs, unread=unread.total(), invented=0)


def test_opposite_mistakes_are_paired_and_an_asn_called_completed_is_named(night: Night) -> None:
    night.announce(12, chance=random.Random(SEED))
    odd = night.plant({"mirrored": 2, "booked_elsewhere": 1, "completed_short": 1, "duplicate_line": 1}, seed=SEED)
    told = night.reconcile().document["exceptions"]
    by_id = {one["exception_id"]: one for one in told}
    paired = {one["invoice_number"]: one for one in told if one["pair_id"]}
    for one in odd:
        if one["oddity"] in ("mirrored", "booked_elsewhere"):
            line = paired[one["invoice_number"]]
            assert by_id[line["pair_id"]]["pair_id"] == line["exception_id"]
    assert len([one for one in told if one["pair_id"]]) == 6
    assert ["calls the ASN Completed" in one["reason"] for one in told].count(True) == 1
    assert ["are alike: counted twice?" in one["reason"] for one in told].count(True) == 1


def test_a_status_that_goes_back_and_an_asn_that_nobody_closes(night: Night) -> None:
    night.announce(6, chance=random.Random(SEED))
    night.push(f"Supplier 1,Site 1,OLD-1,{night.today - timedelta(days=20)},PO,B,SKU-1,7,1.00,2.00")
    asns = {one["invoice_number"]: one["id"] for one in night.sandbox.control("GET", "/asns")}
    for number in asns:
        if number != "OLD-1":
            night.sandbox.control("POST", f"/asns/{asns[number]}", {"status": "Completed"})
    assert found(night.reconcile(receipts=False).document) == Counter({("OVERDUE", "OLD-1", ""): 1})
    night.sandbox.control("POST", f"/asns/{asns['INV-00003']}", {"status": "In-Progress"})
    assert found(night.reconcile(receipts=False).document) == Counter(
        {("OVERDUE", "OLD-1", ""): 1, ("STATUS_REGRESSION", "INV-00003", ""): 1}
    )


def test_rows_that_were_never_sent_stand_in_the_report(night: Night) -> None:
    due = night.today - timedelta(days=4)
    good = f"Supplier 1,Site 1,INV-1,{due},PO,B,SKU-1,7,1.00,2.00"
    night.push(good, f"Supplier 1,Site 1,INV-2,{due},PO,B,SKU-1,many,1.00,2.00")
    night.plant({}, seed=SEED)
    assert found(night.reconcile().document) == Counter({("NOT_SENT", "INV-2", "SKU-1"): 1})


def test_a_cut_answer_is_branded_and_nothing_is_called_missing(night: Night) -> None:
    night.announce(30, chance=random.Random(SEED))
    night.plant({}, seed=SEED)
    night.sandbox.set_switches(asn_page_cap=2, asn_count="shown")
    told = night.reconcile()
    assert not told.complete and told.doubts and told.exit_code == 4
    assert {one["code"] for one in told.document["exceptions"]} <= {"UNVERIFIABLE"}
