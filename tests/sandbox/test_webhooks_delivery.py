"""How events travel: order, slow and dead receivers, retries, kill -9 (API §6)."""

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from support.event_receiver import WAIT_SECONDS, receiving
from support.sandbox_process import RunningSandbox

from logistics_batch.sandbox.events import pause_seconds
from logistics_batch.sandbox.switches import Switches

_IDS = itertools.count(1)
WAY = ["Assigned", "Out-For-Pickup", "Picked", "Moving-To-Hub", "At-Hub", "Out-For-Delivery", "Complete"]


@contextmanager
def subscribed(service: httpx.Client, url: str) -> Iterator[int]:
    number = next(_IDS)
    assert service.post("/webhooks/subscribe", json={"webhookId": number, "callbackUrl": url}).status_code == 200
    yield number
    service.put("/webhooks/update", json={"webhookId": number, "is_active": False})


def create(service: httpx.Client, reference: str) -> str:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"}
    return str(service.post("/orders/shipment", json=body).json()["message"]["awb_number"])


STATUSES = ("Assigned", "Out-For-Pickup", "Picked", "Moving-To-Hub", "At-Hub", "Out-For-Delivery", "Complete")


def move(sandbox: RunningSandbox, awb: str, *statuses: str) -> None:
    for status in statuses:
        sandbox.control("POST", f"/orders/{awb}/status", {"status": status})


def wait_for_log(
    sandbox: RunningSandbox, awb: str, wanted: Callable[[list[dict[str, Any]]], bool]
) -> list[dict[str, Any]]:
    """The deliveries of an order once they are as wanted."""
    pause = threading.Event()
    for _ in range(WAIT_SECONDS * 20):
        log = [one for one in sandbox.control("GET", "/deliveries") if one["awb_number"] == awb]
        if wanted(log):
            return log
        pause.wait(0.05)
    raise AssertionError(f"not in the delivery log: {log}")


def test_events_of_one_order_keep_their_order_through_failures(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    with receiving() as receiver, subscribed(service, receiver.url):
        receiver.answer = lambda number: 503 if number in (1, 4) else 200
        awb = create(service, reference)
        move(sandbox, awb, *WAY)
        came = [event["OrderStatus"] for event in receiver.take(len(WAY) + 2)]
        assert came == [*WAY[:1], *WAY[:1], WAY[1], WAY[2], WAY[2], *WAY[3:]]


def test_a_slow_receiver_and_a_dead_one_hold_up_nobody_else(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    with receiving() as slow, receiving() as quick:
        slow.open_door.clear()
        with (
            subscribed(service, slow.url),
            subscribed(service, "http://127.0.0.1:1/nobody"),
            subscribed(service, quick.url),
        ):
            awbs = [create(service, f"{reference}-{number}") for number in range(40)]
            for awb in awbs:
                move(sandbox, awb, "Assigned")
            assert Counter(event["WaybillNo"] for event in quick.take(40)) == Counter(awbs)
            assert slow.events.qsize() <= 16  # it has not answered one of them


def test_the_log_tells_of_each_attempt(service: httpx.Client, sandbox: RunningSandbox, reference: str) -> None:
    sandbox.set_switches(webhook_attempts=3)
    with subscribed(service, "http://127.0.0.1:1/nobody"):
        awb = create(service, reference)
        move(sandbox, awb, "Assigned")
        (lost,) = wait_for_log(sandbox, awb, lambda log: all(one["state"] == "given up" for one in log))
    sandbox.set_switches(webhook_attempts=4)
    assert [one["number"] for one in lost["log"]] == [1, 2, 3]
    assert {(one["answer"], one["error"]) for one in lost["log"]} == {("", "ConnectError")}
    assert all(one["elapsed_seconds"] >= 0 and one["at"].endswith("+05:30") for one in lost["log"])


def test_a_redirect_is_a_failure_and_is_not_followed(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    with receiving() as elsewhere, receiving() as receiver, subscribed(service, receiver.url):
        receiver.answer = lambda number: 307 if number == 1 else 200
        receiver.answer_headers["Location"] = elsewhere.url
        awb = create(service, reference)
        move(sandbox, awb, "Assigned")
        receiver.take(2)
        (one,) = wait_for_log(sandbox, awb, lambda log: log[0]["state"] == "delivered")
        assert [attempt["answer"] for attempt in one["log"]] == ["307", "200"]
        assert elsewhere.events.empty()


def test_a_receiver_that_does_not_answer_is_left_after_a_while(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    sandbox.set_switches(webhook_timeout_seconds=0.2)
    with receiving() as receiver, subscribed(service, receiver.url):
        receiver.open_door.clear()
        awb = create(service, reference)
        move(sandbox, awb, "Assigned")
        (one,) = wait_for_log(sandbox, awb, lambda log: log[0]["attempts"] > 0)
        assert one["log"][0]["error"] == "no answer within 0.2 s"
    sandbox.set_switches(webhook_timeout_seconds=5)


def test_what_waits_for_a_webhook_that_is_switched_off_goes_out_when_it_is_on_again(
    service: httpx.Client, sandbox: RunningSandbox, reference: str
) -> None:
    with receiving() as receiver, subscribed(service, receiver.url) as number:
        receiver.answer = lambda number: 500 if number == 1 else 200
        receiver.open_door.clear()
        awb = create(service, reference)
        move(sandbox, awb, "Assigned")
        receiver.next()
        service.put("/webhooks/update", json={"webhookId": number, "is_active": False})
        receiver.open_door.set()
        wait_for_log(sandbox, awb, lambda log: log[0]["attempts"] == 1)
        threading.Event().wait(0.3)  # five times the pause before the next attempt
        assert receiver.events.empty()
        move(sandbox, awb, "Out-For-Pickup")  # nobody wants to know
        service.put("/webhooks/update", json={"webhookId": number, "is_active": True})
        assert receiver.next()[1]["OrderStatus"] == "Assigned"
        (only,) = wait_for_log(sandbox, awb, lambda log: log[0]["state"] == "delivered")
        assert only["attempts"] == 2


def test_kill_between_event_and_delivery_loses_nothing(own_sandbox: RunningSandbox) -> None:
    headers = {"API_KEY": own_sandbox.api_key}
    with receiving() as receiver:
        with httpx.Client(base_url=own_sandbox.url, headers=headers, trust_env=False) as service:
            receiver.open_door.clear()
            service.post("/webhooks/subscribe", json={"webhookId": 1, "callbackUrl": receiver.url})
            awbs = [create(service, f"R{number}") for number in range(8)]
            for awb in awbs:
                move(own_sandbox, awb, "Assigned", "Picked")
        receiver.next()
        own_sandbox.kill()  # eight are under way, none is answered
        while not receiver.events.empty():
            receiver.events.get()
        receiver.open_door.set()
        own_sandbox.restart()
        came: dict[str, list[str]] = {}
        while sum(len(set(statuses)) for statuses in came.values()) < 16:
            event = receiver.next()[1]
            came.setdefault(event["WaybillNo"], []).append(event["OrderStatus"])
    assert set(came) == set(awbs)
    assert {statuses[-1] for statuses in came.values()} == {"Picked"}


def test_pauses_grow_and_are_never_alike_for_two_events() -> None:
    switches = Switches(webhook_first_retry_seconds=1.0)
    pauses = [pause_seconds(number, attempt, switches=switches) for number in (1, 2) for attempt in (1, 2, 3)]
    assert len(set(pauses)) == 6
    for pause, least in zip(pauses, (1, 4, 16, 1, 4, 16), strict=True):
        assert least <= pause <= 1.25 * least
    assert pauses[0] == pause_seconds(1, 1, switches=switches)
