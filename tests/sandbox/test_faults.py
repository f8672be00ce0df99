"""The fault plan: each kind of fault over real HTTP, and what the journal says was done."""

import random
import time
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox, start_sandbox

from logistics_batch.sandbox.faults import make_plan, read_plan


def create(service: httpx.Client, reference: str) -> httpx.Response:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"}
    return service.post("/orders/shipment", json=body)


def created(sandbox: RunningSandbox, reference: str) -> int:
    """How many orders the journal says were created, and the database holds."""
    lines = [line for line in sandbox.committed("order.created") if line["reference_number"] == reference]
    assert len(sandbox.orders(reference=reference)) == len(lines)
    return len(lines)


@pytest.mark.parametrize(("kind", "done"), [("drop_before", 0), ("drop_after", 1)])
def test_a_dropped_connection_breaks_with_or_without_effect(
    sandbox: RunningSandbox, service: httpx.Client, reference: str, kind: str, done: int
) -> None:
    sandbox.set_faults([{"kind": kind, "endpoint": "order.create", "requests": [1]}])
    with pytest.raises(httpx.ReadError):
        create(service, reference)
    assert created(sandbox, reference) == done
    request = sandbox.received("order.create")[-1]["seq"]
    last = [line["event"] for line in sandbox.journal() if line.get("request") == request]
    assert last == ["committed"] * done + ["fault", "dropped"]
    assert create(service, f"{reference}-next").status_code == 200


@pytest.mark.parametrize(
    ("rule", "status", "done"),
    [
        ({"kind": "error_500_before"}, 500, 0),
        ({"kind": "error_500_after"}, 500, 1),
        ({"kind": "status_429", "retry_after": 3}, 429, 0),
        ({"kind": "status_400", "message": "No service in this area"}, 400, 0),
        ({"kind": "status_401"}, 401, 0),
        ({"kind": "html_200"}, 200, 0),
        ({"kind": "html_200", "phase": "after"}, 200, 1),
    ],
)
def test_a_wrong_answer_with_or_without_effect(
    sandbox: RunningSandbox, service: httpx.Client, reference: str, rule: dict[str, Any], status: int, done: int
) -> None:
    sandbox.set_faults([rule])
    reply = create(service, reference)
    sandbox.set_faults([])
    assert reply.status_code == status
    assert created(sandbox, reference) == done
    if rule["kind"] == "html_200":
        assert reply.headers["content-type"].startswith("text/html")
        assert "<html>" in reply.text
        return
    messages = {500: "Unexpected error", 401: "Unauthorized", 429: "Too many requests", 400: "No service in this area"}
    assert reply.json() == {"status": "FAIL", "message": messages[status]}
    assert reply.headers.get("retry-after") == ("3" if status == 429 else None)


@pytest.mark.parametrize(("phase", "done_early"), [("before", 0), ("after", 1)])
def test_a_delay_outlives_the_client(sandbox: RunningSandbox, reference: str, phase: str, done_early: int) -> None:
    sandbox.set_faults([{"kind": "delay", "seconds": 1.5, "phase": phase, "requests": [1], "endpoint": "order.create"}])
    with (
        httpx.Client(base_url=sandbox.url, headers={"API_KEY": sandbox.api_key}, timeout=0.5) as impatient,
        pytest.raises(httpx.ReadTimeout),
    ):
        create(impatient, reference)
    assert created(sandbox, reference) == done_early
    until = time.monotonic() + 15
    while created(sandbox, reference) == 0 and time.monotonic() < until:
        time.sleep(0.1)
    assert created(sandbox, reference) == 1


def test_rules_choose_by_endpoint_and_reference(sandbox: RunningSandbox, service: httpx.Client, reference: str) -> None:
    sandbox.set_faults(
        [
            {"kind": "status_429", "endpoint": ["asn.*", "webhook.*"]},
            {"kind": "error_500_before", "reference": f"{reference}-b"},
        ]
    )
    assert service.get("/wms/advance-shipping-notice", params={"invoice_number": "1"}).status_code == 429
    assert [create(service, f"{reference}-{letter}").status_code for letter in "abc"] == [200, 500, 200]
    assert service.get(f"/orders/shipment/{reference}-b").status_code == 500
    assert [(rule["seen"], rule["fired"]) for rule in sandbox.control("GET", "/faults")] == [(1, 1), (2, 2)]


def test_a_label_request_is_known_by_its_order(sandbox: RunningSandbox, service: httpx.Client, reference: str) -> None:
    create(service, f"{reference}-a")
    create(service, f"{reference}-b")
    sandbox.set_faults([{"kind": "error_500_before", "endpoint": "label.create", "reference": f"{reference}-b"}])
    query = {"API_KEY": sandbox.api_key}
    asked = [{"order_numbers[]": f"{reference}-{letter}"} for letter in "ab"]
    replies = [service.post("/order/shippinglabel/", params=query, json=body) for body in asked]
    assert [reply.status_code for reply in replies] == [200, 500]


def test_rules_choose_by_number(sandbox: RunningSandbox, service: httpx.Client) -> None:
    def statuses(**rule: Any) -> list[int]:
        sandbox.set_faults([{"kind": "error_500_before"} | rule])
        return [service.get("/orders/shipment/NOSUCH").status_code for _ in range(6)]

    assert statuses(requests=[2, 5]) == [400, 500, 400, 400, 500, 400]
    assert statuses(every=3) == [400, 400, 500, 400, 400, 500]
    assert statuses(**{"from": 4}) == [400, 400, 400, 500, 500, 500]
    assert statuses(**{"from": 2, "to": 3}) == [400, 500, 500, 400, 400, 400]
    assert statuses(times=2) == [500, 500, 400, 400, 400, 400]


def test_probability_is_seeded() -> None:
    def struck(seed: int) -> list[int]:
        plan = make_plan([{"kind": "drop_after", "probability": 0.3, "seed": seed}])
        return [number for number in range(1000) if plan.faults_for("order.create", "")]

    assert struck(7) == struck(7)
    assert struck(7) != struck(8)
    assert 240 < len(struck(random.randrange(10**6))) < 360


def test_faults_at_start_come_from_a_file(tmp_path: Any) -> None:
    running = start_sandbox(tmp_path, faults=[{"kind": "status_401", "from": 2}])
    try:
        with httpx.Client(base_url=running.url, headers={"API_KEY": running.api_key}, trust_env=False) as client:
            assert [create(client, str(number)).status_code for number in range(3)] == [200, 401, 401]
    finally:
        running.stop()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- {kind: explode}", "fault rule 1: kind must be one of"),
        ("- {kind: delay}\n- {kind: delay, second: 1}", "fault rule 2: unknown key 'second'"),
        ("- {kind: delay, seconds: soon}", "fault rule 1: seconds is a number, 0 to 86400; not 'soon'"),
        ("- {kind: delay, every: 0}", "fault rule 1: every is a whole number, at least 1; not 0"),
        ("kind: delay\nfaults: 3", "a fault plan is a list of rules"),
        ("[", "the fault plan is not YAML"),
    ],
)
def test_a_wrong_plan_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint.replace("'", ".")):
        read_plan(text)


def test_a_wrong_plan_at_run_time_leaves_the_old_one(sandbox: RunningSandbox, service: httpx.Client) -> None:
    sandbox.set_faults([{"kind": "status_429"}])
    reply = service.put("/_sandbox/faults", json={"faults": [{"kind": "explode"}]})
    assert reply.status_code == 400
    assert "fault rule 1" in reply.json()["message"]
    assert [rule["kind"] for rule in sandbox.control("GET", "/faults")] == ["status_429"]
