"""The fault plan: which requests it chooses, that it does so every time alike, and what it refuses to load."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox

from logistics_batch.sandbox.faults.plan import RateLimit, make_plan, read_plan


def create(service: httpx.Client, reference: str) -> httpx.Response:
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "A"}
    return service.post("/orders/shipment", json=body)


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


def test_all_that_a_rule_says_must_hold(sandbox: RunningSandbox, service: httpx.Client) -> None:
    rule = {"kind": "error_500_before", "endpoint": "order.fetch", "every": 2, "from": 3, "to": 8, "times": 2}
    sandbox.set_faults([rule])
    statuses = [service.get("/orders/shipment/NOSUCH").status_code for _ in range(8)]
    assert statuses == [400, 400, 400, 500, 400, 500, 400, 400]
    assert [(found["seen"], found["fired"]) for found in sandbox.control("GET", "/faults")] == [(8, 2)]


def test_what_is_not_let_in_is_not_counted(sandbox: RunningSandbox, service: httpx.Client) -> None:
    sandbox.set_faults([{"kind": "error_500_before", "requests": 2}])
    for key in ("wrong", sandbox.api_key, "wrong", sandbox.api_key):
        service.get("/orders/shipment/NOSUCH", headers={"API_KEY": key})
    assert [(rule["seen"], rule["fired"]) for rule in sandbox.control("GET", "/faults")] == [(2, 1)]
    assert service.get("/_sandbox/faults").status_code == 200  # the strings of the sandbox never go wrong


def test_one_of_two_keys_is_revoked_and_each_has_its_own_rate(tmp_path: Path) -> None:
    rules = [
        {"kind": "status_401", "api_key": "-old", "from": 3},
        {"kind": "rate_limit", "api_key": "-new", "per_second": 0.001, "burst": 2},
    ]
    (tmp_path / "faults.yaml").write_text(json.dumps(rules))
    start = "import sys, pathlib; from logistics_batch.sandbox.serve import serve; "
    start += "serve(api_keys=('key-old', 'key-new'), data=pathlib.Path('data'), faults=pathlib.Path('faults.yaml'))"
    with subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]

        def label(key: str) -> int:
            """Ask for a label, whose key stands in the query alone; the header has a wrong one."""
            query = {"API_KEY": key}
            return httpx.post(f"{url}/order/shippinglabel/", params=query, headers={"API_KEY": "x"}).status_code

        statuses = {key: [label(key) for _ in range(4)] for key in ("key-old", "key-new")}
        process.terminate()
    assert statuses == {"key-old": [400, 400, 401, 401], "key-new": [400, 400, 429, 429]}


def test_probability_is_seeded() -> None:
    def struck(seed: int) -> list[int]:
        plan = make_plan([{"kind": "drop_after", "probability": 0.3, "seed": seed}])
        return [number for number in range(1000) if plan.faults_for("order.create", "")]

    assert struck(7) == struck(7)
    assert struck(7) != struck(8)
    assert 240 < len(struck(4242)) < 360


def test_a_rate_limit_counts_exactly(sandbox: RunningSandbox, service: httpx.Client, reference: str) -> None:
    """Twenty at once, and hardly any time for more."""
    sandbox.set_faults([{"kind": "rate_limit", "per_second": 0.001, "burst": 5, "endpoint": "order.create"}])
    with ThreadPoolExecutor(10) as callers:
        replies = list(callers.map(lambda number: create(service, f"{reference}-{number}"), range(20)))
    assert sorted(reply.status_code for reply in replies) == [200] * 5 + [429] * 15
    refused = [reply for reply in replies if reply.status_code == 429]
    assert {reply.headers["x-ratelimit-remaining"] for reply in refused} == {"0"}
    assert {reply.headers["x-ratelimit-limit"] for reply in refused} == {"0.001"}
    for reply in refused:
        assert reply.headers["x-ratelimit-reset"] == reply.headers["retry-after"]
        assert 900 < int(reply.headers["retry-after"]) <= 1000
    assert service.get("/orders/shipment/NOSUCH").status_code == 400
    made = [line for line in sandbox.committed("order.created") if line["reference_number"].startswith(reference)]
    assert len(made) == 5


def test_a_rate_limit_by_the_clock() -> None:
    now = 100.0
    limit = RateLimit(2.0, 3, clock=lambda: now)
    assert [limit.wait_seconds("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert limit.wait_seconds("b") == 0  # another client has its own account
    now += 0.5  # whoever waits as told is let through, once
    assert [limit.wait_seconds("a") for _ in range(2)] == [0, 0.5]
    let_through = 0
    for _ in range(1000):  # hammering for ten seconds
        now += 0.01
        let_through += limit.wait_seconds("a") == 0
    assert let_through == 20
    now += 3600  # a rest is worth a burst, no more
    assert [limit.wait_seconds("a") > 0 for _ in range(4)] == [False, False, False, True]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- {kind: drop_afer}", "fault rule 1: kind must be one of .*; did you mean drop_after?"),
        ("- drop_after", "fault rule 1: a rule is an object such as"),
        (
            "- {kind: delay}\n- {kind: delay, second: 1}",
            "fault rule 2: unknown key 'second' of delay; did you mean seconds?",
        ),
        ("- {kind: drop_after, key: A}", "fault rule 1: unknown key 'key' of drop_after; did you mean api_key?"),
        ("- {kind: delay, phase: during}", "fault rule 1: phase: Input should be 'before' or 'after'; not 'during'"),
        ("- {kind: delay, requests: [1, 2.5]}", "fault rule 1: requests[1]: Input should be a valid integer; not 2.5"),
        ("- {kind: delay, from: 5, to: 4}", "fault rule 1: to comes before from"),
        (
            "- {kind: delay, endpoint: order.creat}",
            "fault rule 1: no endpoint is called 'order.creat'; did you mean order.create?",
        ),
        ("- {kind: label_blank, endpoint: order.create}", "fault rule 1: label_blank is for label.download only"),
        ("- {kind: redirect_301, location: '/ü'}", "fault rule 1: location: String should match pattern"),
        ('- {kind: status_429, retry_after: "1\\r\\nX: 1"}', "fault rule 1: retry_after: String should match pattern"),
        (
            "- {kind: status_429, retry_after: soon, retry_after_as: date}",
            "fault rule 1: retry_after: seconds are expected where a date is told; not 'soon'",
        ),
        ("kind: delay\nfaults: 3", "a fault plan is a list of rules, or an object that holds it as faults; not kind"),
        ("faults: 3", "a fault plan is a list of rules"),
        ("[", "the fault plan is not YAML"),
    ],
)
def test_a_wrong_plan_is_refused(text: str, complaint: str) -> None:
    begin, _, end = complaint.partition(".*")
    with pytest.raises(ValueError) as refused:
        read_plan(text)
    assert str(refused.value).startswith(begin)
    assert str(refused.value).endswith(end)


@pytest.mark.parametrize("text", ["", "[]", "faults:", "faults: []", "{}"])
def test_an_empty_plan_has_no_rules(text: str) -> None:
    assert read_plan(text).rules == ()


def test_a_wrong_plan_at_run_time_leaves_the_old_one(sandbox: RunningSandbox, service: httpx.Client) -> None:
    sandbox.set_faults([{"kind": "status_429"}])
    reply = service.put("/_sandbox/faults", json={"faults": [{"kind": "explode"}]})
    assert reply.status_code == 400
    assert "fault rule 1" in reply.json()["message"]
    assert [rule["kind"] for rule in sandbox.control("GET", "/faults")] == ["status_429"]
