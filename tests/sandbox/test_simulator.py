"""The warehouse simulator: orders that move on, and the receipts file."""

import csv
import io
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox, start_sandbox

from logistics_batch.sandbox.simulator import COLUMNS, journey, receipts_csv, receipts_for


def asns(count: int = 6, lines: int = 4) -> list[dict[str, Any]]:
    return [
        {
            "invoice_number": f"INV-{number}",
            "supplier": "SUP-1",
            "supplier_name": "Acme",
            "site": "S1",
            "site_name": None,
            "sku_lines": [
                {"sku_name": f"SKU-{number}-{line}", "qty": str(40 + line), "item_desc": None} for line in range(lines)
            ],
        }
        for number in range(count)
    ]


def test_journeys_end_as_they_do_in_life() -> None:
    ends = Counter(journey(f"SH-{number:07d}", seed=1)[-1] for number in range(1000))
    assert set(ends) == {"Complete", "Delivered", "Pickup-Failed"}
    assert ends["Complete"] > ends["Delivered"] > ends["Pickup-Failed"] > 50
    assert journey("SH-1234567", seed=1) == journey("SH-1234567", seed=1)


def test_receipts_hold_shorts_overs_one_swap_and_one_damaged_line() -> None:
    announced = {
        (asn["invoice_number"], line["sku_name"]): int(line["qty"]) for asn in asns() for line in asn["sku_lines"]
    }
    received = receipts_for(asns(), seed=3)
    oddities = Counter(line.oddity for line in received)
    assert oddities["swapped"] == 1
    assert oddities["damaged"] == 1
    assert oddities["short"] == oddities["over"] == 2
    totals: Counter[tuple[str, str]] = Counter()
    for line in received:
        totals[line.invoice_number, line.item] += line.quantity
    differences = {key for key in announced | totals if announced.get(key, 0) != totals[key]}
    assert len(differences) == 2 + 2 + 2  # shorts, overs, both SKUs of the swap
    for line in received:
        sent = announced.get((line.invoice_number, line.item), 0)
        assert line.oddity != "short" or line.quantity < sent
        assert line.oddity != "over" or line.quantity > sent
        assert (line.oddity == "damaged") == (line.condition == "Damaged")
        assert (line.oddity == "swapped") == ((line.invoice_number, line.item) not in announced)
    assert receipts_for(asns(), seed=3) == received
    assert receipts_for(asns(), seed=4) != received


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_few_lines_are_enough(lines: int) -> None:
    assert len(receipts_for(asns(1, lines), seed=1)) >= lines


def test_the_receipts_file_is_what_a_warehouse_sends() -> None:
    text = receipts_csv(receipts_for(asns(1, 3), seed=1), received_on=date(2026, 11, 3))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert tuple(rows[0]) == COLUMNS
    assert {row["Received On"] for row in rows} == {"03/11/2026"}
    assert {(row["Supplier"], row["Site"]) for row in rows} == {("Acme", "S1")}


def test_orders_move_step_by_step_to_their_ends(own_sandbox: RunningSandbox) -> None:
    headers = {"API_KEY": own_sandbox.api_key}
    with httpx.Client(base_url=own_sandbox.url, headers=headers, trust_env=False) as client:
        for number in range(30):
            body = {"reference_number": f"R{number}", "customer_mobile": "9876543210", "delivery_address": "A"}
            items = [{"item_name": "Wires", "item_quantity": 3}]
            awb = client.post("/orders/shipment", json=body | {"item_details": items}).json()["message"]["awb_number"]
        client.put(f"/api/orders/cancel/{awb}")
        assert own_sandbox.control("POST", "/advance", {"seed": 1, "steps": 1}) == {"reached": {"Assigned": 29}}
        own_sandbox.control("POST", "/advance", {"seed": 1})
        assert own_sandbox.control("POST", "/advance", {"seed": 1}) == {"reached": {}}
        for order in own_sandbox.orders():
            expected = journey(order["awb_number"], seed=1)[-1] if order["awb_number"] != awb else "cancelled"
            assert order["status"] == expected
            delivered = client.get(f"/orders/shipment/{order['awb_number']}").json()["message"]["order_details"]
            (item,) = delivered["item_details"].values()
            whole = expected in ("Complete", "Delivered")
            assert (item["item_qty_picked"], item["item_qty_delivered"]) == ((3, 3) if whole else (0, 0))
        moved = [order["awb_number"] for order in own_sandbox.orders() if order["awb_number"] != awb]
    assert Counter(line["awb_number"] for line in own_sandbox.committed("order.status_changed")) == {
        one: len(journey(one, seed=1)) for one in moved
    }


def test_an_order_moved_by_hand_stays_where_it_was_put(own_sandbox: RunningSandbox) -> None:
    body = {"reference_number": "R", "customer_mobile": "9876543210", "delivery_address": "A"}
    headers = {"API_KEY": own_sandbox.api_key}
    httpx.post(f"{own_sandbox.url}/orders/shipment", json=body, headers=headers, trust_env=False)
    own_sandbox.control("POST", "/orders/R/status", {"status": "At-Hub-RTO"})
    assert own_sandbox.control("POST", "/advance", {"seed": 1}) == {"reached": {}}


def test_the_receipts_file_is_dropped_on_the_sftp_server(tmp_path: Path) -> None:
    running = start_sandbox(tmp_path, sftp=True)
    try:
        assert running.sftp is not None
        headers = {"API_KEY": running.api_key}
        for asn in asns(2):
            body = {name: value for name, value in asn.items() if value is not None}
            lines = [{"sku_name": line["sku_name"], "qty": line["qty"]} for line in asn["sku_lines"]]
            url = f"{running.url}/wms/advance-shipping-notice"
            reply = httpx.post(url, json=body | {"sku_lines": lines}, headers=headers, trust_env=False)
            assert reply.status_code == 200, reply.text
        asked = {"seed": 5, "received_on": "2026-11-03", "file": "/inbound/receipts/receipts.csv"}
        said = running.control("POST", "/receipts", asked)
        dropped = (running.sftp.root / "inbound/receipts/receipts.csv").read_bytes()
        assert dropped.decode() == said["csv"]
        assert said["lines"] == len(said["csv"].splitlines()) - 1
        assert {one["oddity"] for one in said["odd"]} == {"short", "over", "swapped", "damaged"}
        query = {"file": "../outside.csv"}
        outside = httpx.post(f"{running.url}/_sandbox/receipts", json=query, headers=headers, trust_env=False)
        assert outside.status_code == 400
        assert not (running.sftp.root.parent / "outside.csv").exists()
    finally:
        running.kill()
