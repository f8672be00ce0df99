"""Faults of answers: what a client gets, what the journal says, and whether the effect is there."""

import json
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox

from logistics_batch.sandbox.faults.fault_responses import FaultyAnswer, fault_response, stand_in
from logistics_batch.sandbox.faults.kinds import KINDS, LABEL_KINDS
from logistics_batch.sandbox.faults.plan import make_plan


def create(service: httpx.Client, reference: str) -> httpx.Response:
    """A create, whose answer is read as it comes and not unpacked."""
    body = {"reference_number": reference, "customer_mobile": "9876543210", "delivery_address": "12 MG Road"}
    with service.stream("POST", "/orders/shipment", json=body) as reply:
        raw = b"".join(reply.iter_raw())
    headers = [(name, value) for name, value in reply.headers.items() if name != "content-encoding"]
    encoding = reply.headers.get("content-encoding")
    return httpx.Response(reply.status_code, headers=headers, content=raw, extensions={"encoding": encoding})


def is_fail(message: str) -> Callable[[httpx.Response], bool]:
    return lambda reply: reply.json() == {"status": "FAIL", "message": message}


def is_a_gateways_json(reply: httpx.Response) -> bool:
    return "error" in reply.json() and "status" not in reply.json()


def is_page(reply: httpx.Response) -> bool:
    return reply.headers["content-type"].startswith("text/html") and "<html>" in reply.text


def retry_after(value: str | None) -> Callable[[httpx.Response], bool]:
    return lambda reply: reply.headers.get("retry-after") == value


def retry_after_a_date(reply: httpx.Response) -> bool:
    moment = parsedate_to_datetime(reply.headers["retry-after"])
    return timedelta(seconds=3000) < moment - datetime.now(UTC) < timedelta(seconds=3700)


def is_no_json(reply: httpx.Response) -> bool:
    try:
        json.loads(reply.content)
    except (ValueError, RecursionError):
        return reply.headers["content-type"] == "application/json" and len(reply.content) > 10
    return False


def says_two_things(reply: httpx.Response) -> bool:
    pairs: list[tuple[str, Any]] = json.loads(reply.content, object_pairs_hook=list)
    return [value for key, value in pairs if key == "status"] == ["FAIL", "PASS"]


def has_nan(reply: httpx.Response) -> bool:
    return b'"weight":NaN' in reply.content and reply.json()["status"] == "PASS"


def has_digits(count: int) -> Callable[[httpx.Response], bool]:
    return lambda reply: b"9" * count + b"," in reply.content and b"9" * (count + 1) not in reply.content


def is_broken_gzip(reply: httpx.Response) -> bool:
    assert reply.extensions["encoding"] == "gzip"
    with pytest.raises(zlib.error):
        zlib.decompress(reply.content, 31)
    return True


def has_size(least: int) -> Callable[[httpx.Response], bool]:
    return lambda reply: len(reply.content) > least and reply.json()["status"] == "PASS"


def message_is(kind: type) -> Callable[[httpx.Response], bool]:
    return lambda reply: isinstance(reply.json()["message"], kind) and reply.json()["status"] == "PASS"


def has_numbers_only(reply: httpx.Response) -> bool:
    content = reply.json()
    return isinstance(content["status"], int) and isinstance(content["message"]["awb_number"], int)


def has_no_awb(reply: httpx.Response) -> bool:
    return reply.json()["status"] == "PASS" and b"awb" not in reply.content


def leads_to(location: str) -> Callable[[httpx.Response], bool]:
    return lambda reply: reply.headers["location"] == location


Check = Callable[[httpx.Response], bool]
# rule, status, orders made, what the client sees
WRONG: list[tuple[dict[str, Any], int, int, Check]] = [
    ({"kind": "error_500_before"}, 500, 0, is_fail("Unexpected error")),
    ({"kind": "error_500_after"}, 500, 1, is_fail("Unexpected error")),
    ({"kind": "status_502"}, 502, 0, is_page),
    ({"kind": "status_502", "phase": "after", "page": False}, 502, 1, is_fail("Bad Gateway")),
    ({"kind": "status_503"}, 503, 0, retry_after(None)),
    ({"kind": "status_503", "phase": "after", "retry_after": 7}, 503, 1, retry_after("7")),
    ({"kind": "status_503", "retry_after": 3600, "retry_after_as": "date"}, 503, 0, retry_after_a_date),
    ({"kind": "status_504"}, 504, 0, is_page),
    ({"kind": "status_504", "phase": "after"}, 504, 1, is_page),
    ({"kind": "status_429"}, 429, 0, retry_after("1")),
    ({"kind": "status_429", "retry_after": "none"}, 429, 0, retry_after(None)),
    ({"kind": "status_429", "retry_after": 3600, "retry_after_as": "date"}, 429, 0, retry_after_a_date),
    ({"kind": "status_429", "retry_after": "soon"}, 429, 0, retry_after("soon")),
    ({"kind": "status_400"}, 400, 0, is_fail("Missing required parameters.")),
    ({"kind": "status_400", "message": "पता नहीं"}, 400, 0, is_fail("पता नहीं")),
    ({"kind": "status_401"}, 401, 0, is_fail("Unauthorized")),
    ({"kind": "status_404"}, 404, 0, is_fail("Not Found")),
    ({"kind": "status_404", "page": True}, 404, 0, is_page),
    ({"kind": "status_405"}, 405, 0, is_fail("Method Not Allowed")),
    ({"kind": "status_415"}, 415, 0, is_fail("Unsupported Media Type")),
    ({"kind": "redirect_301"}, 301, 0, leads_to("/moved/orders/shipment")),
    ({"kind": "redirect_302", "location": "http://127.0.0.2:9/in"}, 302, 0, leads_to("http://127.0.0.2:9/in")),
    ({"kind": "redirect_307", "phase": "after"}, 307, 1, leads_to("/moved/orders/shipment")),
    ({"kind": "gateway_page"}, 502, 0, is_page),
    ({"kind": "gateway_page", "status": 400, "phase": "after"}, 400, 1, is_page),
    ({"kind": "gateway_page", "status": 200, "page": False}, 200, 0, is_a_gateways_json),
    ({"kind": "swapped_answer", "phase": "before"}, 200, 0, lambda reply: bool(reply.json()["message"]["awb_number"])),
    ({"kind": "html_200"}, 200, 0, is_page),
    ({"kind": "html_200", "phase": "after"}, 200, 1, is_page),
    ({"kind": "empty_200"}, 200, 1, lambda reply: reply.content == b""),
    ({"kind": "empty_200", "phase": "before"}, 200, 0, lambda reply: reply.content == b""),
    ({"kind": "fail_200"}, 200, 0, is_fail("Unexpected error")),
    ({"kind": "fail_200", "phase": "after", "message": "Later"}, 200, 1, is_fail("Later")),
    ({"kind": "pass_without_awb"}, 200, 1, has_no_awb),
    ({"kind": "truncated_json"}, 200, 1, is_no_json),
    ({"kind": "truncated_json", "phase": "before", "share": 0.9}, 200, 0, is_no_json),
    ({"kind": "garbage_json"}, 200, 1, is_no_json),
    ({"kind": "garbage_json", "phase": "before", "bytes": 40}, 200, 0, is_no_json),
    ({"kind": "gzip_garbage"}, 200, 1, is_broken_gzip),
    ({"kind": "gzip_garbage", "phase": "before"}, 200, 0, is_broken_gzip),
    ({"kind": "duplicate_keys"}, 200, 1, says_two_things),
    ({"kind": "duplicate_keys", "phase": "before"}, 200, 0, says_two_things),
    ({"kind": "wrong_types"}, 200, 1, has_numbers_only),
    ({"kind": "wrong_types", "as": "array"}, 200, 1, message_is(list)),
    ({"kind": "wrong_types", "as": "null"}, 200, 1, message_is(type(None))),
    ({"kind": "nan_json"}, 200, 1, has_nan),
    ({"kind": "nan_json", "phase": "before"}, 200, 0, has_nan),
    ({"kind": "huge_integer"}, 200, 1, has_digits(5000)),
    ({"kind": "huge_integer", "phase": "before", "digits": 70_000}, 200, 0, has_digits(70_000)),
    ({"kind": "deep_json"}, 200, 1, is_no_json),
    ({"kind": "deep_json", "phase": "before", "levels": 10_000}, 200, 0, is_no_json),
    ({"kind": "oversized"}, 200, 1, has_size(2_000_000)),
    ({"kind": "oversized", "phase": "before", "bytes": 100_000}, 200, 0, has_size(100_000)),
]


@pytest.mark.parametrize(
    ("rule", "status", "done", "seen"), WRONG, ids=["-".join(map(str, rule.values())) for rule, *_ in WRONG]
)
def test_a_wrong_answer_with_or_without_the_effect(
    sandbox: RunningSandbox, service: httpx.Client, rule: dict[str, Any], status: int, done: int, seen: Check
) -> None:
    reference = f"WRONG-{WRONG.index((rule, status, done, seen))}"
    sandbox.set_faults([rule])
    reply = create(service, reference)
    sandbox.set_faults([])
    assert reply.status_code == status
    assert seen(reply)
    request = sandbox.received("order.create")[-1]["seq"]
    lines = [line for line in sandbox.journal() if line.get("request") == request]
    assert [line["event"] for line in lines] == ["committed"] * done + ["fault", "answered"]
    assert (lines[-2]["kind"], lines[-2]["before_effect"]) == (rule["kind"], not done)
    assert lines[-1]["status"] == status
    assert len(sandbox.orders(reference=reference)) == done
    assert create(service, f"{reference}-next").status_code == 200


def test_an_answer_that_another_one_got(sandbox: RunningSandbox, service: httpx.Client) -> None:
    sandbox.set_faults([{"kind": "swapped_answer", "requests": [2, 3]}])
    first, second, third = create(service, "SWAP-1"), create(service, "SWAP-2"), create(service, "SWAP-1")
    assert second.json() == first.json()
    assert third.status_code == 400  # about the same order: its own answer
    assert len(sandbox.orders(reference="SWAP-2")) == 1


def test_every_kind_is_shown_here_or_among_the_connections() -> None:
    shown = {rule["kind"] for rule, *_ in WRONG}
    elsewhere = {name for name, kind in KINDS.items() if kind.group in ("Broken connections", "Time")}
    assert shown | elsewhere | LABEL_KINDS == set(KINDS)
    for rule, _, done, _ in WRONG:
        assert ("after" if done else "before") in KINDS[rule["kind"]].phases


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "deep_json", "levels": 100_000_000},
        {"kind": "huge_integer", "digits": 100_000_000},
        {"kind": "oversized", "bytes": 100_000_000},
    ],
    ids=lambda rule: rule["kind"],
)
def test_a_large_answer_costs_the_sandbox_next_to_nothing(rule: dict[str, Any]) -> None:
    (fault,) = make_plan([rule]).faults_for("order.create", "")
    answer = fault_response(stand_in(), fault, path="/")
    assert answer.length() > 100_000_000
    assert sum(map(len, {id(piece): piece for piece in answer.pieces}.values())) < 300_000


def test_an_answer_that_cannot_be_rewritten_stays_as_it_is() -> None:
    pdf = FaultyAnswer(200, [], [b"%PDF-1.4"])
    (fault,) = make_plan([{"kind": "wrong_types"}]).faults_for("label.download", "")
    assert fault_response(pdf, fault, path="/") is pdf
    (fault,) = make_plan([{"kind": "nan_json"}]).faults_for("asn.fetch", "")
    assert (
        fault_response(FaultyAnswer(200, [], [b"[1]"]), fault, path="/").body()
        == b'{"weight":NaN,"status":"PASS","message":{}}'
    )
