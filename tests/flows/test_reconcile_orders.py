"""Purchase orders as a leg of the reconciliation: read from files, linked with the ASNs of the ledger, judged."""

from datetime import date
from pathlib import Path

import pytest
from flows.audit_room import ASNS
from flows.test_reconcile import HEADER, asn_row, plan, receipts

from logistics_batch.errors import UsageError
from logistics_batch.flows.push.push import push_by_hand
from logistics_batch.flows.reconcile.reconcile import ListPlan, plan_of_job, run_reconcile
from logistics_batch.model.jobs.job import ReconcileJob

pytestmark = pytest.mark.usefixtures("papers_left_blank")

SHIPPED = Path(__file__).parents[2] / "mappings" / "purchase_orders.yaml"
ORDERS_HEADER = "PO Number,Supplier,Item,Ordered Qty,Rate,Deliver By"
KEPT = ASNS + "keep:\n  po_number: {from: PO}\n"
DESCRIBED = ASNS.replace("lines:\n", "  description: {from: PO}\nlines:\n")


@pytest.fixture
def ordered(parts, tmp_path):
    """A way to push ASNs with a mapping of their own; the shipped mapping reads the orders."""
    folder = tmp_path / "workspace" / "mappings"
    (folder / "purchase_orders.yaml").write_text(SHIPPED.read_text())

    def push(*rows: tuple[str, str], mapping: str = KEPT, name: str = "ordered_asns") -> None:
        (folder / f"{name}.yaml").write_text(mapping)
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join([f"{HEADER},PO", *(f"{row},{number}" for row, number in rows), ""]))
        push_by_hand(parts, [path], mapping=name, results=None, dry_run=False)

    return push


def orders(tmp_path: Path, *rows: str, name: str = "orders.csv") -> Path:
    path = tmp_path / name
    path.write_text("\n".join([ORDERS_HEADER, *rows, ""]))
    return path


def told(report) -> list[tuple[str, str, str]]:
    listed = (one for one in report.document["exceptions"] if one["level"] == "order")
    return sorted((one["po_number"], one["sku_name"], one["code"]) for one in listed)


def test_ordered_announced_in_service_and_received_stand_side_by_side(parts, service, ordered, tmp_path):
    ordered(
        (asn_row("I1", "W", "50"), "PO-1"),
        (asn_row("I2", "W", "30"), "PO 1"),
        (asn_row("I3", "W", "10", rate="6.00"), "2"),
        (asn_row("I4", "V", "9"), "3"),
    )
    path = orders(
        tmp_path,
        "1,Acme,w,100,5.00,02/11/2026",
        "2,Acme,w,10,5.00,02/11/2026",
        "3,Acme,V,9,5.00,02/11/2026",
        "3,Acme,U,4,5.00,02/11/2026",
        "4,Acme,W,4,5.00,02/11/2026",
        "5,Acme,W,4,5.00,30/11/2026",
    )
    came = receipts(tmp_path, "I1,W,50,,", "I2,W,25,,", "I3,W,10,,", "I4,V,9,,")
    wanted = plan(tmp_path, receipts=ListPlan(came, "receipts"), purchase_orders=ListPlan(path, "purchase_orders"))
    report = run_reconcile(parts, wanted)
    assert report.complete, report.doubts
    assert told(report) == [
        ("1", "W", "SHORT"),
        ("2", "W", "PRICE_VAR"),
        ("3", "U", "MISSING_SKU"),
        ("4", "W", "NO_ASN"),
    ]
    first = next(one for one in report.document["exceptions"] if one["po_number"] == "1")
    assert (
        first["reason"]
        == "Order 1: Ordered 100, announced 80: 20 fewer. On ASN I1, I2; in the service 80; received 75."
    )
    assert (first["impact_inr"], first["file_name"], first["rows"]) == ("100.00", "orders.csv", "2")
    assert report.counts["too early"] == 1
    assert [leg["leg"] for leg in report.document["legs"]] == ["announced", "in service", "received", "ordered"]
    assert report.document["orders_compared"]
    # The differences of the ASNs themselves are told as ever.
    assert ("SHORT", "I2") in {(one["code"], one["invoice_number"]) for one in report.document["exceptions"]}


def test_the_description_names_the_order(parts, service, ordered, tmp_path):
    words = ["PO-77", "po 78", "Diwali stock PO/79 urgent", "against PO 80"]
    ordered(*((asn_row(f"I{nth}", "W", "50"), each) for nth, each in enumerate(words)), mapping=DESCRIBED)
    path = orders(tmp_path, *(f"PO{number},Acme,W,60,,02/11/2026" for number in range(77, 82)))
    report = run_reconcile(parts, plan(tmp_path, purchase_orders=ListPlan(path, "purchase_orders")))
    assert told(report) == [*((f"PO{number}", "W", "SHORT") for number in range(77, 81)), ("PO81", "W", "NO_ASN")]
    assert "receipts" not in {leg["leg"] for leg in report.document["legs"]}


def test_an_asn_of_the_order_outside_the_range_is_announced_all_the_same(parts, service, ordered, tmp_path):
    ordered((asn_row("I1", "W", "50", due="2026-10-01"), "1"), (asn_row("I2", "W", "50"), "1"))
    path = orders(tmp_path, "1,Acme,W,100,,02/11/2026")
    report = run_reconcile(parts, plan(tmp_path, purchase_orders=ListPlan(path, "purchase_orders")))
    assert report.document["exceptions"] == []
    assert report.counts == {"matched": 2, "outside window": 1}


def test_a_job_reads_orders_from_a_place_and_says_if_there_are_none(parts, service, ordered, tmp_path):
    ordered((asn_row("I1", "W", "50"), "1"))
    drop = tmp_path / "drop"
    drop.mkdir()
    job = ReconcileJob.model_validate(
        {
            "kind": "reconcile",
            "name": "nightly",
            "window": {"by": "delivery", "from": "-4d", "to": "+3d"},
            "purchase_orders": {"folder": str(drop), "path": "/", "mapping": "purchase_orders", "pattern": "po_*.csv"},
        }
    )
    report = run_reconcile(parts, plan_of_job(job, date(2026, 11, 5)))
    assert (report.complete, report.exit_code) == (False, 4)
    assert "No purchase-order file written since" in report.doubts[0]
    for name in ("po_1.csv", "po_2.csv"):  # the second list repeats the first
        orders(drop, "1,Acme,W,60,5.00,02/11/2026", name=name)
    report = run_reconcile(parts, plan_of_job(job, date(2026, 11, 5)))
    assert report.complete and told(report) == [("1", "W", "SHORT")]
    assert "1 line of earlier lists is left out;" in " ".join(report.notes)


def test_orders_that_cannot_be_read_are_refused_or_said(parts, service, ordered, tmp_path):
    ordered((asn_row("I1", "W", "50"), "1"))
    for source, message in (
        (ListPlan(tmp_path / "none.csv", "purchase_orders"), "no purchase-order file"),
        (ListPlan(orders(tmp_path), "asns"), "not for purchase orders"),
        (ListPlan(orders(tmp_path)), "not said how"),
    ):
        with pytest.raises(UsageError, match=message):
            run_reconcile(parts, plan(tmp_path, purchase_orders=source))
    path = orders(tmp_path, "1,Acme,W,lots,5.00,02/11/2026", "1,Acme,W,50,5.00,02/11/2026")
    report = run_reconcile(parts, plan(tmp_path, purchase_orders=ListPlan(path, "purchase_orders")))
    assert not report.complete
    assert report.doubts[0].startswith("Purchase-order file orders.csv: 1 row could not be read")


def test_an_asn_that_names_two_orders_leaves_open_which_of_them_it_serves(parts, service, ordered, tmp_path):
    ordered((asn_row("I1", "W", "15"), "PO 77 and PO 78"), mapping=DESCRIBED)
    path = orders(tmp_path, *(f"PO{number},Acme,{sku},10,,02/11/2026" for number in (77, 78) for sku in ("W", "V")))
    report = run_reconcile(parts, plan(tmp_path, purchase_orders=ListPlan(path, "purchase_orders")))
    # No piece of V is announced anywhere.
    assert told(report) == [
        ("PO77", "V", "NO_ASN"),
        ("PO77", "W", "UNVERIFIABLE"),
        ("PO78", "V", "NO_ASN"),
        ("PO78", "W", "UNVERIFIABLE"),
    ]
    reasons = [one["reason"] for one in report.document["exceptions"] if one["code"] == "UNVERIFIABLE"]
    assert all("but ASN I1 with 15 names purchase orders 77, 78, and which pieces are for" in one for one in reasons)
