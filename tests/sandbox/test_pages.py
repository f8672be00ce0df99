"""The pages of the sandbox for people: what they show, and that nothing hostile gets through them."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox

from logistics_batch.sandbox import pages_journal
from logistics_batch.sandbox.pages_html import said, tag
from logistics_batch.sandbox.pages_journal import last_lines
from logistics_batch.sandbox.switches import Switches
from logistics_batch.sandbox.switches_table import meanings

PAGES = ("", "pages/orders", "pages/asns", "pages/labels", "pages/events", "pages/journal", "pages/behaviour", "api")
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "' autofocus onfocus=alert(1) x='",
    "\u202eDROP\u202c שלום",
    "&lt;b&gt;",
    "N" * 10_000,
)


def see(sandbox: RunningSandbox, path: str, **query: Any) -> str:
    reply = httpx.get(f"{sandbox.url}/_sandbox/{path}", params=query, trust_env=False)
    assert reply.status_code == 200, reply.text
    return reply.text


def create(service: httpx.Client, reference: str, **more: Any) -> dict[str, Any]:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "12 MG Road, Pune"}
    message: dict[str, Any] = service.post("/orders/shipment", json=body | more).json()["message"]
    return message


def order_path(page: str, reference: str) -> str:
    """The address of an order's own page, from a list."""
    found = re.search(rf'href="/_sandbox/(pages/orders/\d+)"><bdi>{re.escape(reference)}<', page)
    assert found, reference
    return found[1]


@pytest.mark.parametrize("path", PAGES)
def test_a_page_needs_no_key_and_lets_nothing_in(sandbox: RunningSandbox, path: str) -> None:
    reply = httpx.get(f"{sandbox.url}/_sandbox/{path}", trust_env=False)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    policy = reply.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; ")
    assert reply.headers["cache-control"] == "no-store"
    assert not re.search(r"<script(?! src=\"/_sandbox/static/)|<style|\sstyle=|\son\w+=\"", reply.text)
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", reply.text), "nothing comes from elsewhere"
    assert sandbox.api_key not in reply.text


@pytest.mark.parametrize("name", ["pages.css", "refresh.js", "icon.svg"])
def test_what_pages_load_is_there(sandbox: RunningSandbox, name: str) -> None:
    assert name in see(sandbox, "")
    assert len(see(sandbox, f"static/{name}")) > 100


@pytest.mark.parametrize("name", ["../service.py", "..%2fservice.py", "pages.css.bak", "%2e%2e/%2e%2e/app.py"])
def test_nothing_else_is_served_as_a_file(sandbox: RunningSandbox, name: str) -> None:
    assert httpx.get(f"{sandbox.url}/_sandbox/static/{name}", trust_env=False).status_code in (401, 404)


@pytest.mark.parametrize("path", [*PAGES, "openapi.json", "static/pages.css"])
def test_a_foreign_name_that_points_here_reads_nothing(sandbox: RunningSandbox, path: str) -> None:
    """DNS rebinding: the browser believes the page belongs to the attacker's host."""
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "evil.example:80", ""):
        reply = httpx.get(f"{sandbox.url}/_sandbox/{path}", headers={"Host": host}, trust_env=False)
        assert reply.status_code in (400, 403), host
    port = sandbox.url.rpartition(":")[2]
    reply = httpx.get(f"{sandbox.url}/_sandbox/{path}", headers={"Host": f"localhost:{port}"}, trust_env=False)
    assert reply.status_code == 200


def test_pages_only_read_and_controls_still_need_the_key(sandbox: RunningSandbox) -> None:
    for method, path in (("POST", "pages/orders"), ("PUT", "faults"), ("GET", "orders"), ("GET", "journal")):
        reply = httpx.request(method, f"{sandbox.url}/_sandbox/{path}", trust_env=False)
        assert reply.status_code == 401, path


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_stays_text(sandbox: RunningSandbox, service: httpx.Client, reference: str, text: str) -> None:
    named = f"{reference}{text}"
    create(
        service,
        named,
        customer_name=text,
        return_address=text,
        delivery_hub=text,
        item_details=[{"item_name": text, "package_id": text}],
    )
    service.post(
        "/wms/advance-shipping-notice",
        json={"supplier_name": text, "site": text, "invoice_number": text, "sku_lines": [{"qty": "1"}]},
    )
    own = re.search(r'href="/_sandbox/(pages/orders/\d+)"', see(sandbox, "pages/orders", find=reference))
    assert own
    for path in ("", "pages/orders", "pages/asns", "pages/journal", own[1]):
        page = see(sandbox, path)
        assert not re.search(r"<script>|<img |<b>N|<[a-z]+ [^>]*\son\w+=", page), path
        assert len(page) < 600_000
    assert str(said(text, longest=500)) in see(sandbox, own[1])


def test_half_a_character_in_the_journal_does_not_break_the_page(
    sandbox: RunningSandbox, service: httpx.Client
) -> None:
    service.post("/orders/shipment", content=b'{"a": "\\ud800"}', headers={"Content-Type": "application/json"})
    assert "order.create" in see(sandbox, "pages/journal")


def test_orders_are_found_by_reference_awb_and_id(
    sandbox: RunningSandbox, service: httpx.Client, reference: str
) -> None:
    awb = create(service, reference, packages_count=2)["awb_number"]
    (stored,) = sandbox.orders(reference=reference)
    create(service, "OTHER-1")
    for text in (reference, reference[:-2], awb, awb[:5], str(stored["order_id"]), f"{awb}-02"):
        page = see(sandbox, "pages/orders", find=text)
        assert awb in page, text
    assert "No order is like that." in see(sandbox, "pages/orders", find=f"{reference}x")
    assert awb not in see(sandbox, "pages/orders", find=reference, state="cancelled")
    assert awb in see(sandbox, "pages/orders", find=reference, state="Pending")


def test_a_long_list_has_pages(sandbox: RunningSandbox, service: httpx.Client) -> None:
    for number in range(60):
        create(service, f"LONG-{number:02d}")
    first = see(sandbox, "pages/orders", find="LONG-")
    (older,) = re.findall(r'href="([^"]*before=\d+)">Older', first)
    second = httpx.get(sandbox.url + older.replace("&amp;", "&"), trust_env=False).text
    shown = [set(re.findall(r"<bdi>(LONG-\d\d)</bdi>", page)) for page in (first, second)]
    assert [len(each) for each in shown] == [50, 10]
    assert not shown[0] & shown[1]
    assert "Older" not in second
    assert "Newest" in second


def test_an_order_is_shown_whole(sandbox: RunningSandbox, service: httpx.Client, reference: str) -> None:
    awb = create(
        service,
        reference,
        customer_name="Asha Rao",
        is_cod="true",
        cash_on_delivery="480.00",
        item_details=[{"item_name": "TEA-250", "item_quantity": 3, "total_item_price": "360.00"}],
    )["awb_number"]
    sandbox.control("POST", f"/orders/{awb}/status", {"status": "Pickup-Failed", "remarks": "Shop was shut"})
    label = httpx.post(
        f"{sandbox.url}/order/shippinglabel/",
        params={"API_KEY": sandbox.api_key},
        json={"order_numbers[]": reference},
        trust_env=False,
    )
    assert label.status_code == 200
    page = see(sandbox, order_path(see(sandbox, "pages/orders", find=reference), reference))
    wanted = ("Asha Rao", "480.00", "TEA-250", "Pickup-Failed", "Shop was shut", "order.created", "label.created")
    assert [text for text in wanted if text not in page] == []
    (pdf,) = re.findall(r'href="(/labels/[^"]+)"', page)
    reply = httpx.get(sandbox.url + pdf.replace("&amp;", "&"), trust_env=False)
    assert reply.content.startswith(b"%PDF")


@pytest.mark.parametrize("order_id", ["999999999", "9" * 40, "x", "-1"])
def test_an_order_that_is_not_there(sandbox: RunningSandbox, order_id: str) -> None:
    reply = httpx.get(f"{sandbox.url}/_sandbox/pages/orders/{order_id}", trust_env=False)
    assert reply.status_code in (400, 404)


@pytest.mark.parametrize("before", ["x", "-1", "9" * 400, "٣"])
def test_a_number_that_is_none_counts_as_not_given(sandbox: RunningSandbox, before: str) -> None:
    see(sandbox, "pages/orders", before=before)
    see(sandbox, "pages/journal", before=before)


def test_events_show_their_attempts_and_no_secret(
    sandbox: RunningSandbox, service: httpx.Client, reference: str
) -> None:
    hook = {"webhookId": 77, "callbackUrl": "http://127.0.0.1:9/hook", "headers": {"API_KEY": "do-not-show"}}
    assert service.post("/webhooks/subscribe", json=hook).status_code == 200
    awb = create(service, reference)["awb_number"]
    service.put(f"/api/orders/cancel/{awb}")
    service.put("/webhooks/update", json={"webhookId": 77, "is_active": False})
    page = see(sandbox, "pages/events", find=awb)
    assert "http://127.0.0.1:9/hook" in page
    assert "do-not-show" not in page + see(sandbox, "pages/journal")
    assert '<span class="badge off"><bdi>cancelled</bdi></span>' in page


def test_faults_and_switches_in_force_are_shown(sandbox: RunningSandbox) -> None:
    sandbox.set_faults([{"kind": "delay", "seconds": 0.1, "endpoint": "asn.*", "every": 5}])
    sandbox.set_switches(link_lifetime_seconds=901)
    page = see(sandbox, "pages/behaviour")
    assert "seconds: 0.1, endpoint: asn.*, every: 5" in page
    assert "901.0" in page
    assert "link_lifetime_seconds" in see(sandbox, "")
    sandbox.set_switches(link_lifetime_seconds=900)
    assert "link_lifetime_seconds" not in see(sandbox, "")


def test_every_switch_is_explained() -> None:
    assert list(meanings()) == list(Switches().as_dict())
    assert all(meanings().values())


def test_the_api_page_names_every_operation(sandbox: RunningSandbox) -> None:
    page = see(sandbox, "api")
    document = httpx.get(sandbox.url + "/openapi.json", trust_env=False).json()
    for path in document["paths"]:
        assert f"<code>{path}</code>" in page
    assert "updateOrderStatus" in page


def write_journal(path: Path, count: int) -> None:
    lines = [
        json.dumps({"seq": seq, "event": "x", "text": f"line {seq} " + "ü" * (seq % 97)}) for seq in range(1, count + 1)
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize("block", [1, 7, 64, 4096])
def test_the_journal_is_read_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    path = tmp_path / "journal.jsonl"
    write_journal(path, 200)
    monkeypatch.setattr(pages_journal, "BLOCK_BYTES", block)
    assert [line["seq"] for line in last_lines(path, count=5)] == [200, 199, 198, 197, 196]
    assert [line["seq"] for line in last_lines(path, count=3, before=4)] == [3, 2, 1]
    assert [line["seq"] for line in last_lines(path, count=9, containing=("line 19 ", "line 7 "))] == [19, 7]
    assert len(last_lines(path, count=999)) == 200


def test_an_empty_journal_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.touch()
    assert last_lines(path, count=5) == []


def test_only_the_newest_part_of_a_long_journal_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.jsonl"
    write_journal(path, 200)
    monkeypatch.setattr(pages_journal, "MOST_BYTES", 1000)
    found = last_lines(path, count=200)
    assert 0 < len(found) < 20
    assert found[0]["seq"] == 200


def test_elements_escape_what_they_are_given() -> None:
    assert tag("a", "<&>", 1234, None, ["x"], href='"&', hidden=True, title=None) == (
        '<a href="&quot;&amp;" hidden>&lt;&amp;&gt;1,234x</a>'
    )
