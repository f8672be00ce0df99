"""The page of the sandbox for people: what it shows, and that nothing hostile gets through it."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox

from logistics_batch.sandbox import journal
from logistics_batch.sandbox.journal import Journal

OPEN = ("_sandbox/", "openapi.json")
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "\u202eDROP\u202c שלום",
    "&lt;b&gt;",
    "N" * 10_000,
)


def see(sandbox: RunningSandbox, path: str = "_sandbox/") -> str:
    reply = httpx.get(f"{sandbox.url}/{path}", trust_env=False)
    assert reply.status_code == 200, reply.text
    return reply.text


def create(service: httpx.Client, reference: str, **more: Any) -> dict[str, Any]:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "12 MG Road, Pune"}
    message: dict[str, Any] = service.post("/orders/shipment", json=body | more).json()["message"]
    return message


def test_it_needs_no_key_and_lets_nothing_in(sandbox: RunningSandbox) -> None:
    reply = httpx.get(f"{sandbox.url}/_sandbox/", trust_env=False)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert reply.headers["cache-control"] == "no-store"
    assert not re.search(r"<script|\sstyle=|\son\w+=\"|(?:src|href)=\"(?:https?:)?//", reply.text)
    assert sandbox.api_key not in reply.text


@pytest.mark.parametrize("path", OPEN)
def test_a_foreign_name_that_points_here_reads_nothing(sandbox: RunningSandbox, path: str) -> None:
    """DNS rebinding: the browser believes the page belongs to the attacker's host."""
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "evil.example:80", ""):
        reply = httpx.get(f"{sandbox.url}/{path}", headers={"Host": host}, trust_env=False)
        assert reply.status_code in (400, 403), host
    port = sandbox.url.rpartition(":")[2]
    reply = httpx.get(f"{sandbox.url}/{path}", headers={"Host": f"localhost:{port}"}, trust_env=False)
    assert reply.status_code == 200


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text(sandbox: RunningSandbox, service: httpx.Client, reference: str, text: str) -> None:
    create(service, f"{reference}{text}", customer_name=text, delivery_hub=text)
    asn = {"supplier_name": text, "site": text, "invoice_number": text, "sku_lines": [{"qty": "1"}]}
    service.post("/wms/advance-shipping-notice", json=asn)
    page = see(sandbox)
    assert not re.search(r"<script>|<img |<b>N|<[a-z]+ [^>]*\son\w+=", page)
    assert len(page) < 100_000


def test_half_a_character_in_the_journal_does_not_break_it(sandbox: RunningSandbox, service: httpx.Client) -> None:
    service.post("/orders/shipment", content=b'{"a": "\\ud800"}', headers={"Content-Type": "application/json"})
    assert "order.create" in see(sandbox)


def test_it_shows_what_is_in_the_sandbox_and_no_secret(
    sandbox: RunningSandbox, service: httpx.Client, reference: str
) -> None:
    hook = {"webhookId": 77, "callbackUrl": "http://127.0.0.1:9/hook", "headers": {"API_KEY": "do-not-show"}}
    assert service.post("/webhooks/subscribe", json=hook).status_code == 200
    awb = create(service, reference, customer_name="Asha Rao")["awb_number"]
    label = {"order_numbers[]": reference}
    assert service.post("/order/shippinglabel/", params={"API_KEY": sandbox.api_key}, json=label).status_code == 200
    service.put(f"/api/orders/cancel/{awb}")
    service.put("/webhooks/update", json={"webhookId": 77, "is_active": False})
    sandbox.set_faults([{"kind": "delay", "seconds": 0.1, "endpoint": "asn.*", "every": 5}])
    sandbox.set_switches(link_lifetime_seconds=901)
    page = see(sandbox)
    sandbox.set_switches(link_lifetime_seconds=900)
    wanted = (awb, reference, "cancelled", "Asha Rao", "label.created", "901.0", "asn.*")
    assert [text for text in wanted if text not in page] == []
    assert "do-not-show" not in page
    assert "link_lifetime_seconds" not in see(sandbox)


@pytest.mark.parametrize("block", [1, 7, 64, 4096])
def test_the_journal_is_read_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    path = tmp_path / "journal.jsonl"
    lines = [json.dumps({"seq": seq, "text": "ü" * (seq % 97)}, ensure_ascii=False) for seq in range(1, 201)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    monkeypatch.setattr(journal, "BLOCK_BYTES", block)
    book = Journal(path)
    assert [line["seq"] for line in book.tail(5)] == [196, 197, 198, 199, 200]
    assert len(book.tail(999)) == 200
    assert book.tail(0) == []
    book.close()
