"""The vans of the simulator: legal ways, quantities, cash, history, events (API §3, §6)."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sandbox_process import RunningSandbox, start_sandbox

from logistics_batch.sandbox.clock import now_text
from logistics_batch.sandbox.orders import CANCELLABLE
from logistics_batch.sandbox.simulator_journey import (
    FORWARD,
    MOST_ATTEMPTS,
    MOST_PICKUPS,
    STAYS,
    Kind,
    journey,
    legal_moves,
)

KINDS = st.builds(Kind, st.booleans(), st.booleans(), st.booleans())
ENDS = {"Complete", "Delivered", "Returned", "Pickup-Failed"}


@given(seed=st.integers(), awb=st.from_regex(r"SH-[0-9A-Z]{7}", fullmatch=True), kind=KINDS)
def test_every_way_is_legal_and_ends(seed: int, awb: str, kind: Kind) -> None:
    way = journey(awb, seed=seed, kind=kind)
    for place, status in enumerate(way):
        before = way[place - 1] if place else "Pending"
        assert status in legal_moves(before, kind, way[:place])
    assert way[-1] in ENDS
    assert way.count("Attempted") <= MOST_ATTEMPTS
    assert way.count("Pickup-Failed") <= MOST_PICKUPS
    assert way.index("Picked") < len(way) - 1 if "Picked" in way else way[-1] == "Pickup-Failed"
    assert way == journey(awb, seed=seed, kind=kind)


def test_orders_end_as_they_do_in_life() -> None:
    ways = [journey(f"SH-{number:07d}", seed=1) for number in range(1000)]
    ends = Counter(way[-1] for way in ways)
    assert set(ends) == ENDS
    assert ends["Complete"] > ends["Delivered"] > ends["Pickup-Failed"] > 50
    assert ends["Returned"] > 10
    assert any("Pickup-Failed" in way and way[-1] in ("Complete", "Delivered") for way in ways), "some pickups recover"
    assert ways != [journey(f"SH-{number:07d}", seed=2) for number in range(1000)]


@pytest.mark.parametrize(
    ("kind", "status", "goes_to"),
    [
        (Kind(inventory_managed=True), "Pending", {"In-Progress"}),
        (Kind(hyperlocal=True), "Picked", {"Out-For-Delivery"}),
        (Kind(is_return=True), "At-Hub", {"Moving-To-Origin"}),
        (Kind(is_return=True), "Moving-To-Origin", {"Complete"}),
        (Kind(), "Moving-To-Origin", {"Returned"}),
        (Kind(), "On-A-Boat", {STAYS}),
    ],
)
def test_some_orders_have_ways_of_their_own(kind: Kind, status: str, goes_to: set[str]) -> None:
    assert set(legal_moves(status, kind)) == goes_to


def test_what_can_be_cancelled_by_the_document_is_on_the_way() -> None:
    assert set(FORWARD) >= CANCELLABLE


@pytest.fixture
def client(own_sandbox: RunningSandbox) -> Iterator[httpx.Client]:
    headers = {"API_KEY": own_sandbox.api_key}
    with httpx.Client(base_url=own_sandbox.url, headers=headers, trust_env=False) as client:
        yield client


def create(client: httpx.Client, reference: str, *, quantity: float = 3, **more: Any) -> str:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"} | more
    items = [{"item_name": "Wires", "item_quantity": quantity}, {"item_name": "Plugs", "item_quantity": 8}]
    reply = client.post("/orders/shipment", json=body | {"item_details": items}).json()
    return str(reply["message"]["awb_number"])


def details(client: httpx.Client, awb: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/orders/shipment/{awb}").json()["message"]["order_details"]
    return found


def test_orders_move_step_by_step_to_their_ends(own_sandbox: RunningSandbox, client: httpx.Client) -> None:
    awbs = [create(client, f"R{number}") for number in range(60)]
    cancelled = awbs.pop()
    client.put(f"/api/orders/cancel/{cancelled}")
    assert own_sandbox.control("POST", "/advance", {"seed": 1, "steps": 1}) == {"reached": {"Assigned": 59}}
    own_sandbox.control("POST", "/advance", {"seed": 1})
    assert own_sandbox.control("POST", "/advance", {"seed": 1}) == {"reached": {}}
    partial = 0
    for awb in awbs:
        way = journey(awb, seed=1)
        order = details(client, awb)
        assert order["status"] == way[-1]
        for item in order["item_details"].values():
            ordered, picked, delivered = (item[f"item_{name}"] for name in ("quantity", "qty_picked", "qty_delivered"))
            assert 0 <= delivered <= picked <= ordered
            assert (picked > 0) == ("Picked" in way)
            assert (delivered > 0) == (way[-1] in ("Complete", "Delivered"))
            partial += picked < ordered if picked else delivered < picked
        history = own_sandbox.control("GET", f"/orders/{awb}/history")
        assert tuple(line["status"] for line in history) == ("Pending", *way)
        times = [line["at"] for line in history]
        assert times == sorted(set(times))
        assert times[-1] <= now_text()
        assert {line["moved_by"] for line in history[1:]} == {"warehouse"}
    assert 0 < partial < 30
    assert details(client, cancelled)["status"] == "cancelled"
    assert [one["moved_by"] for one in own_sandbox.control("GET", f"/orders/{cancelled}/history")] == ["client"] * 2
    moved = Counter(line["awb_number"] for line in own_sandbox.committed("order.status_changed"))
    assert moved == {awb: len(journey(awb, seed=1)) for awb in awbs}


def test_some_orders_or_a_share_of_them_move(own_sandbox: RunningSandbox, client: httpx.Client) -> None:
    awbs = [create(client, f"R{number}") for number in range(40)]
    assert own_sandbox.control("POST", "/advance", {"seed": 1, "steps": 2, "references": ["R3", awbs[4]]}) == {
        "reached": {"Assigned": 2, "Out-For-Pickup": 2}
    }
    reached = own_sandbox.control("POST", "/advance", {"seed": 1, "steps": 1, "share": 0.5})["reached"]
    assert 10 < sum(reached.values()) < 30


@pytest.mark.parametrize(
    "body",
    [
        {"seed": "one"},
        {"steps": -1},
        {"share": 2},
        {"references": "R1"},
        {"references": []},
        {"references": ["NOBODY"]},
    ],
)
def test_a_wrong_order_to_the_vans_is_refused(service: httpx.Client, body: dict[str, Any]) -> None:
    assert service.post("/_sandbox/advance", json=body).status_code == 400


def test_an_order_moved_by_hand_stays_where_it_was_put_until_it_is_named(
    own_sandbox: RunningSandbox, client: httpx.Client
) -> None:
    create(client, "R")
    own_sandbox.control("POST", "/orders/R/status", {"status": "At-Hub-RTO"})
    assert own_sandbox.control("POST", "/advance", {"seed": 1}) == {"reached": {}}
    assert own_sandbox.control("POST", "/advance", {"seed": 1, "references": ["R"]}) == {
        "reached": {"Moving-To-Origin": 1, "Returned": 1}
    }


def test_a_cancelled_order_does_not_come_back_when_its_reference_is_taken(
    sandbox: RunningSandbox, service: httpx.Client, reference: str
) -> None:
    """API §8.4: one live order for each reference, whatever is set by hand."""
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"}
    awb = service.post("/orders/shipment", json=body).json()["message"]["awb_number"]
    service.put(f"/api/orders/cancel/{awb}")
    assert service.post("/orders/shipment", json=body).status_code == 200
    reply = service.post(f"/_sandbox/orders/{awb}/status", json={"status": "Pending"})
    assert (reply.status_code, reply.json()["message"]) == (400, "Shipment Reference Number already exists")
    assert [one["status"] for one in sandbox.orders(reference=reference)] == ["cancelled", "Pending"]


def test_partial_pick_and_delivery_by_hand_with_cash(sandbox: RunningSandbox, service: httpx.Client) -> None:
    awb = create(service, "COD", quantity=2, is_cod="true", cash_on_delivery="500.00", delivery_postal_code="560001")
    first, second = details(service, awb)["item_details"]
    path = f"/orders/{awb}/status"
    goods = {first: {"picked": 2, "delivered": 0}, second: {"picked": 4, "delivered": 0}}
    sandbox.control("POST", path, {"status": "Picked", "items": goods})
    goods = {first: {"picked": 2, "delivered": 2}, second: {"picked": 4, "delivered": 3}}
    words = {"remarks": "one refused", "courier_comment": "दरवाज़े पर"}
    sandbox.control("POST", path, {"status": "Delivered", "items": goods} | words)
    items = details(service, awb)["item_details"]
    assert [(one["item_qty_picked"], one["item_qty_delivered"]) for one in items.values()] == [(2, 2), (4, 3)]
    last = sandbox.control("GET", f"/orders/{awb}/history")[-1]
    expected = {"status": "Delivered", "cash_collected": "250.00", "place": "Bengaluru Hub", "moved_by": "hand"} | words
    assert {name: last[name] for name in expected} == expected
    for wrong in ({first: {"picked": 3}}, {first: {"picked": 1, "delivered": 2}}, {"no-such-item": {"picked": 1}}):
        reply = service.post(f"/_sandbox{path}", json={"status": "Picked", "items": wrong})
        assert reply.status_code == 400, wrong


def test_a_failed_pickup_can_be_cancelled(own_sandbox: RunningSandbox, client: httpx.Client) -> None:
    for number in range(30):
        create(client, f"R{number}")
    own_sandbox.control("POST", "/advance", {"seed": 1})
    failed = own_sandbox.orders(status="Pickup-Failed")
    done = own_sandbox.orders(status="Complete")
    assert failed
    assert client.put(f"/api/orders/cancel/{failed[0]['awb_number']}").status_code == 200
    assert client.put(f"/api/orders/cancel/{done[0]['awb_number']}").status_code == 400


def test_orders_move_by_themselves_when_the_switch_says_so(tmp_path: Path) -> None:
    running = start_sandbox(tmp_path, move_orders_every_seconds=0.05)
    try:
        headers = {"API_KEY": running.api_key}
        with httpx.Client(base_url=running.url, headers=headers, trust_env=False) as client:
            awb = create(client, "R")
            way = journey(awb, seed=0)
            pause = threading.Event()
            for _ in range(200):
                if details(client, awb)["status"] == way[-1]:
                    break
                pause.wait(0.05)
            history = running.control("GET", f"/orders/{awb}/history")
        assert tuple(line["status"] for line in history[1:]) == way[: len(history) - 1]
        assert len(history) > 2, json.dumps(history)
    finally:
        running.kill()
