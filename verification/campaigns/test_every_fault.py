"""Our client and our judge against every fault that the sandbox knows: no lost answer is taken for a refusal, and no
wrong one for an acceptance."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from support.sandbox_process import RunningSandbox, start_sandbox

from logistics_batch.api.answers import ReplyVerdict, judge
from logistics_batch.api.client import Client, ServiceAccess
from logistics_batch.api.pacing import Pacer
from logistics_batch.api.secret import Secret
from logistics_batch.model.payloads import OrderCreate, body_text
from logistics_batch.sandbox.faults.kinds import KINDS, LABEL_KINDS

UNKNOWN = ReplyVerdict.UNKNOWN
BOTH = ("before", "after")
NEVER = 600  # seconds: longer than any deadline


def both(**rule: Any) -> list[dict[str, Any]]:
    """The rule on each side of the effect."""
    return [{**rule, "phase": phase} for phase in BOTH]


# Whatever of these happens on a create, nothing is proven.
PROVES_NOTHING: list[dict[str, Any]] = [
    {"kind": "drop_before"},
    {"kind": "drop_after"},
    *both(kind="drop_midway", share=0),
    *both(kind="drop_midway", share=0.5),
    *both(kind="drop_midway", share=0.99),
    *both(kind="drop_midway", part="head"),
    {"kind": "late_effect", "seconds": 0},
    {"kind": "late_effect", "seconds": 0, "answer": "error_500"},
    *both(kind="delay", seconds=NEVER),
    *both(kind="slow_drip", bytes_per_second=2),
    *both(kind="slow_drip", bytes_per_second=2, part="head"),
    {"kind": "error_500_before"},
    {"kind": "error_500_after"},
    *both(kind="status_502"),
    *both(kind="status_503", retry_after=1),
    *both(kind="status_504"),
    *(rule for status in (200, 400, 502) for rule in both(kind="gateway_page", status=status)),
    *(rule for status in (200, 400, 502) for rule in both(kind="gateway_page", status=status, page=False)),
    *both(kind="html_200"),
    *both(kind="empty_200"),
    *both(kind="fail_200"),
    *both(kind="truncated_json", share=0),
    *both(kind="truncated_json", share=0.999),
    *both(kind="garbage_json"),
    *both(kind="gzip_garbage"),
    *both(kind="duplicate_keys"),
    {"kind": "wrong_types"},
    *both(kind="nan_json"),
    *both(kind="huge_integer"),
    *both(kind="deep_json"),
    *both(kind="oversized"),
]
# These say what they say, and are believed.
PROVES_SOMETHING: list[tuple[dict[str, Any], ReplyVerdict]] = [
    ({"kind": "close_after"}, ReplyVerdict.ACCEPTED),
    ({"kind": "reset_after"}, ReplyVerdict.ACCEPTED),
    ({"kind": "stale_keepalive"}, ReplyVerdict.ACCEPTED),
    ({"kind": "pass_without_awb"}, ReplyVerdict.ACCEPTED),
    ({"kind": "wrong_types", "as": "array"}, ReplyVerdict.ACCEPTED),
    ({"kind": "wrong_types", "as": "null"}, ReplyVerdict.ACCEPTED),
    ({"kind": "oversized", "bytes": 1000}, ReplyVerdict.ACCEPTED),
    ({"kind": "status_400"}, ReplyVerdict.REFUSED),
    ({"kind": "status_401"}, ReplyVerdict.UNAUTHORIZED),
    ({"kind": "status_404"}, ReplyVerdict.DECLINED),
    ({"kind": "status_404", "page": True}, ReplyVerdict.MISADDRESSED),
    ({"kind": "status_405"}, ReplyVerdict.DECLINED),
    ({"kind": "status_415"}, ReplyVerdict.DECLINED),
    ({"kind": "status_429", "retry_after": 3}, ReplyVerdict.SLOW_DOWN),
    ({"kind": "status_429", "retry_after": 3, "retry_after_as": "date"}, ReplyVerdict.SLOW_DOWN),
    ({"kind": "status_429", "retry_after": "none"}, ReplyVerdict.SLOW_DOWN),
    *(
        ({**rule, "location": location}, ReplyVerdict.MISADDRESSED)
        for rule in (*both(kind="redirect_301"), *both(kind="redirect_302"), *both(kind="redirect_307"))
        for location in ("/orders/shipment", "http://127.0.0.2:9{path}")
    ),
]
TOLD_WITHOUT_AWB = ({"kind": "pass_without_awb"}, {"kind": "wrong_types", "as": "null"})


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path_factory.mktemp("faults"))
    yield running
    running.kill()


def open_client(sandbox: RunningSandbox, *, deadline_seconds: float) -> Client:
    access = ServiceAccess(sandbox.url, Secret(sandbox.api_key), create_deadline_seconds=deadline_seconds)
    return Client(access, pacer=Pacer("none"))


def order(reference: str) -> str:
    lines = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "12 MG Road"}
    return body_text(OrderCreate(**lines))


def name_of(value: object) -> str:
    return "-".join(str(each) for each in value.values()) if isinstance(value, dict) else ""


@pytest.mark.parametrize("rule", PROVES_NOTHING, ids=name_of)
def test_a_lost_or_broken_answer_proves_nothing(sandbox: RunningSandbox, rule: dict[str, Any]) -> None:
    sandbox.set_faults([rule])
    deadline_seconds = 0.5 if rule["kind"] in ("delay", "slow_drip") else 20.0
    with closing(open_client(sandbox, deadline_seconds=deadline_seconds)) as client:
        reply = client.call("order.create", body=order(f"NOTHING-{PROVES_NOTHING.index(rule)}"))
    answer = judge(reply, operation="order.create")
    assert answer.meaning is UNKNOWN
    assert not answer.awb_number
    assert reply.trace.send_started


@pytest.mark.parametrize(("rule", "meaning"), PROVES_SOMETHING, ids=name_of)
def test_a_whole_answer_is_believed(sandbox: RunningSandbox, rule: dict[str, Any], meaning: ReplyVerdict) -> None:
    reference = f"SOMETHING-{PROVES_SOMETHING.index((rule, meaning))}"
    sandbox.set_faults([rule])
    with closing(open_client(sandbox, deadline_seconds=20.0)) as client:
        reply = client.call("order.create", body=order(reference))
    sandbox.set_faults([])
    answer = judge(reply, operation="order.create")
    assert answer.meaning is meaning
    made = sandbox.orders(reference=reference)
    if meaning is ReplyVerdict.ACCEPTED:
        assert answer.awb_number == ("" if rule in TOLD_WITHOUT_AWB else made[0]["awb_number"])
    elif rule.get("phase") != "after":
        assert not made
    asked = [line for line in sandbox.received() if line.get("body", {}).get("reference_number") == reference]
    assert len(asked) == 1  # a redirect is not followed
    if meaning is ReplyVerdict.SLOW_DOWN and rule["retry_after"] == 3:
        assert reply.retry_after_seconds is not None
        assert 1.0 < reply.retry_after_seconds <= 4.0


def test_a_rate_limit_slows_down(sandbox: RunningSandbox) -> None:
    sandbox.set_faults([{"kind": "rate_limit", "per_second": 0.01, "burst": 2}])
    with closing(open_client(sandbox, deadline_seconds=20.0)) as client:
        replies = [client.call("order.create", body=order(f"LIMIT-{number}"), turn_taken=True) for number in range(3)]
    meanings = [judge(reply, operation="order.create").meaning for reply in replies]
    assert meanings == [ReplyVerdict.ACCEPTED, ReplyVerdict.ACCEPTED, ReplyVerdict.SLOW_DOWN]
    assert 90 < (replies[2].retry_after_seconds or 0) <= 100
    assert not sandbox.orders(reference="LIMIT-2")


def test_every_kind_of_fault_was_judged() -> None:
    judged = {rule["kind"] for rule in PROVES_NOTHING} | {rule["kind"] for rule, _ in PROVES_SOMETHING}
    against_the_ledger = "swapped_answer"  # nothing in such an answer is wrong by itself
    assert judged | {"rate_limit", against_the_ledger} | LABEL_KINDS == set(KINDS)
