"""The page about statuses and events: its requests are made."""

import json
from typing import Any

import httpx
from docs.pages import ROOT, Block, blocks
from support.sandbox_process import RunningSandbox

PAGE = ROOT / "docs/sandbox-events.md"


def ask(client: httpx.Client, block: Block) -> Any:
    method, path, *body = block.text.split(maxsplit=2)
    reply = client.request(method, path, json=json.loads(body[0]) if body else None)
    assert reply.status_code == 200, f"line {block.line}: {reply.text}"
    return reply.json()


def test_the_requests_of_the_page_do_what_it_says(own_sandbox: RunningSandbox) -> None:
    headers = {"API_KEY": own_sandbox.api_key}
    with httpx.Client(base_url=own_sandbox.url, headers=headers, trust_env=False) as client:
        order = {"reference_number": "ORD-2", "customer_mobile": "9876543210", "delivery_address": "A"}
        client.post("/orders/shipment", json=order)
        asn = {"supplier": "SUP-1", "site": "S1", "invoice_number": "INV-1", "sku_lines": [{"qty": "4"}]}
        client.post("/wms/advance-shipping-notice", json=asn)
        moved, _asn, _deliveries = (ask(client, one) for one in blocks(PAGE) if one.language == "http")
    assert moved["status"] == "Attempted"
    assert own_sandbox.control("GET", "/asns")[0]["status"] == "In-Progress"
