"""The page about the simulator: its requests are made, its tables name what there is."""

import json
import re
from typing import Any

import httpx
from docs.pages import ROOT, Block, blocks
from support.sandbox_process import start_sandbox

from logistics_batch.sandbox.events_oddities import EVENT_DISORDERS, EVENT_FORMS
from logistics_batch.sandbox.receipts_plan import KINDS

PAGE = ROOT / "docs/sandbox-warehouse.md"


def ask(client: httpx.Client, block: Block) -> Any:
    method, path, *body = block.text.split(maxsplit=2)
    reply = client.request(method, path, json=json.loads(body[0]) if body else None)
    assert reply.status_code == 200, f"line {block.line}: {reply.text}"
    return reply.json()


def test_the_requests_of_the_page_do_what_it_says(tmp_path_factory: Any) -> None:
    running = start_sandbox(tmp_path_factory.mktemp("page"), sftp=True)
    try:
        headers = {"API_KEY": running.api_key}
        with httpx.Client(base_url=running.url, headers=headers, trust_env=False) as client:
            for number in range(1, 4):
                order = {"reference_number": f"ORD-{number}", "customer_mobile": "9876543210", "delivery_address": "A"}
                client.post("/orders/shipment", json=order)
            for number in range(1, 11):
                lines = [{"sku_name": f"SKU-{number}-{one}", "qty": "40", "price_per_qty": "9.50"} for one in (1, 2)]
                asn = {"supplier": "SUP-1", "site": "S1", "invoice_number": f"INV-{number}", "sku_lines": lines}
                client.post("/wms/advance-shipping-notice", json=asn)
            answers = [ask(client, block) for block in blocks(PAGE) if block.language == "http"]
    finally:
        running.kill()
    two_steps, *_, history, _ordinary, planted, moved, _deliveries, switches = answers
    assert two_steps == {"reached": {"Assigned": 3, "Out-For-Pickup": 3}}
    assert [one["status"] for one in history][:2] == ["Pending", "Assigned"]
    assert {one["oddity"] for one in planted["odd"]} == {"short", "mirrored", "no_asn", "price_changed"}
    assert {one["oddity"] for one in moved["odd"]} == {"never_received"}
    assert switches["event_seed"] == 7


def test_the_tables_name_every_kind_and_no_other() -> None:
    first_cells = re.findall(r"^\| (`[^|]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted([*KINDS, *EVENT_FORMS, *EVENT_DISORDERS, "event_form", "event_disorder"])
