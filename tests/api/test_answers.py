"""What each reply proves: one line of the table for each thing that can be seen, for orders and for ASNs."""

import json
from typing import Any

import pytest

from logistics_batch.api.answers import Answer, ReplyVerdict, judge
from logistics_batch.api.reply import Reply, Trace

NEVER = Trace(connect_started=True)
SENT = Trace(connect_started=True, send_started=True)
DONE = Trace(connect_started=True, send_started=True, body_sent=True, reply_started=True)

PASS = {"status": "PASS", "message": {"awb_number": "SH-22T70ZX"}}
FAIL = {"status": "FAIL", "message": "Shipment Reference Number is required"}
HTML = b"<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"


def reply(status: int | None, body: Any = b"", **fields: Any) -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply("order.create", **{"trace": DONE, "status": status, "body": content} | fields)


def page(status: int) -> Reply:
    return reply(status, HTML, content_type="text/html; charset=utf-8")


ACCEPTED, REFUSED, UNKNOWN = ReplyVerdict.ACCEPTED, ReplyVerdict.REFUSED, ReplyVerdict.UNKNOWN
DECLINED, NOT_SENT, UNAUTHORIZED, SLOW_DOWN, MISADDRESSED = (
    ReplyVerdict.DECLINED,
    ReplyVerdict.NOT_SENT,
    ReplyVerdict.UNAUTHORIZED,
    ReplyVerdict.SLOW_DOWN,
    ReplyVerdict.MISADDRESSED,
)

# what is seen, what it proves for an order, what it proves for an ASN
TABLE = [
    ("refused connection", reply(None, failure="connect", trace=NEVER), NOT_SENT, NOT_SENT),
    ("TLS failed", reply(None, failure="tls", trace=NEVER), NOT_SENT, NOT_SENT),
    ("connect timeout", reply(None, failure="timeout", trace=NEVER), NOT_SENT, NOT_SENT),
    ("name look-up outlasted the deadline", reply(None, failure="deadline", trace=Trace()), NOT_SENT, NOT_SENT),
    ("401", reply(401, {"status": "FAIL", "message": "Unauthorized"}), UNAUTHORIZED, UNAUTHORIZED),
    ("401 of a proxy", page(401), UNAUTHORIZED, UNAUTHORIZED),
    ("401, body cut", reply(401, b'{"sta', failure="protocol"), UNAUTHORIZED, UNAUTHORIZED),
    ("429", reply(429, {"status": "FAIL"}), SLOW_DOWN, SLOW_DOWN),
    ("429 page", page(429), SLOW_DOWN, SLOW_DOWN),
    ("404", page(404), MISADDRESSED, MISADDRESSED),
    ("404 of a framework", reply(404, {"detail": "Not Found"}), MISADDRESSED, MISADDRESSED),
    ("404 with FAIL", reply(404, {"status": "FAIL", "message": "Hub not found"}), DECLINED, DECLINED),
    ("405", reply(405), MISADDRESSED, MISADDRESSED),
    ("405 with FAIL", reply(405, FAIL), DECLINED, DECLINED),
    ("415", reply(415), MISADDRESSED, MISADDRESSED),
    ("301", reply(301), MISADDRESSED, MISADDRESSED),
    ("302", page(302), MISADDRESSED, MISADDRESSED),
    ("308", reply(308), MISADDRESSED, MISADDRESSED),
    ("400 with FAIL", reply(400, FAIL), REFUSED, REFUSED),
    ("400 without FAIL", reply(400, {"error": "bad"}), UNKNOWN, UNKNOWN),
    ("400 page", page(400), UNKNOWN, UNKNOWN),
    ("400 empty", reply(400), UNKNOWN, UNKNOWN),
    ("400, body cut", reply(400, b'{"status":"FAIL"', failure="protocol"), UNKNOWN, UNKNOWN),
    ("400, cut without a trace", reply(400, b'{"status":"FA'), UNKNOWN, UNKNOWN),
    ("400 that says PASS", reply(400, PASS), UNKNOWN, UNKNOWN),
    ("422 with FAIL", reply(422, FAIL), REFUSED, REFUSED),
    ("422 without FAIL", reply(422, {"detail": []}), UNKNOWN, UNKNOWN),
    ("403 with FAIL", reply(403, FAIL), DECLINED, DECLINED),
    ("403 of a gateway", reply(403, {"message": "Forbidden"}), UNKNOWN, UNKNOWN),
    ("409 with FAIL", reply(409, FAIL), REFUSED, REFUSED),
    ("409 without FAIL", reply(409, {"error": "conflict"}), UNKNOWN, UNKNOWN),
    ("413 with FAIL", reply(413, FAIL), REFUSED, REFUSED),
    ("200 PASS with AWB", reply(200, PASS), ACCEPTED, ACCEPTED),
    ("200 PASS without AWB", reply(200, {"status": "PASS", "message": {}}), ACCEPTED, ACCEPTED),
    ("200 PASS with text", reply(200, {"status": "PASS", "message": "ok"}), ACCEPTED, ACCEPTED),
    ("201 PASS", reply(201, PASS), ACCEPTED, ACCEPTED),
    ("200 FAIL", reply(200, FAIL), UNKNOWN, UNKNOWN),
    ("200 fail in small letters", reply(200, {"status": "fail"}), UNKNOWN, UNKNOWN),
    ("200 ERROR", reply(200, {"status": "ERROR"}), UNKNOWN, UNKNOWN),
    ("200 success false", reply(200, {"success": False}), UNKNOWN, UNKNOWN),
    ("200 without an envelope", reply(200, {"id": 7, "invoice_number": "INV-1"}), UNKNOWN, ACCEPTED),
    ("200 ASN with its own status", reply(200, {"id": 7, "status": "New"}), UNKNOWN, ACCEPTED),
    ("200 list", reply(200, [{"id": 7}]), UNKNOWN, ACCEPTED),
    ("200 yes in another word", reply(200, {"success": True, "message": "created"}), UNKNOWN, ACCEPTED),
    ("200 id inside", reply(200, {"data": {"id": 7}}), UNKNOWN, ACCEPTED),
    ("200 no words at all", reply(200, {}), UNKNOWN, UNKNOWN),
    ("200 empty list", reply(200, []), UNKNOWN, UNKNOWN),
    ("200 error", reply(200, {"error": "Supplier is blocked, nothing was created"}), UNKNOWN, UNKNOWN),
    ("200 errors beside an id", reply(200, {"id": 7, "errors": ["sku unknown"]}), UNKNOWN, UNKNOWN),
    ("200 detail", reply(200, {"detail": "Authentication credentials were not provided."}), UNKNOWN, UNKNOWN),
    ("200 list with FAIL", reply(200, [{"status": "FAIL", "message": "Invoice rejected"}]), UNKNOWN, UNKNOWN),
    ("200 FAIL inside", reply(200, {"data": {"status": "FAIL", "id": 7}}), UNKNOWN, UNKNOWN),
    ("200 FAIL in the message", reply(200, {"message": {"status": "FAIL", "id": 7}}), UNKNOWN, UNKNOWN),
    ("200 Status FAIL", reply(200, {"Status": "FAIL", "id": 7}), UNKNOWN, UNKNOWN),
    ("200 success as text", reply(200, {"success": "false", "id": 7}), UNKNOWN, UNKNOWN),
    ("200 success 0", reply(200, {"success": 0, "id": 7}), UNKNOWN, UNKNOWN),
    ("200 REJECTED", reply(200, {"status": "REJECTED"}), UNKNOWN, UNKNOWN),
    ("200 status 400", reply(200, {"status": 400, "message": "bad", "id": 7}), UNKNOWN, UNKNOWN),
    ("200 statusCode 500", reply(200, {"statusCode": 500, "message": "x", "id": 7}), UNKNOWN, UNKNOWN),
    ("202 queued", reply(202, {"message": "queued"}), UNKNOWN, UNKNOWN),
    ("200 id null", reply(200, {"id": None}), UNKNOWN, UNKNOWN),
    ("200 bare word", reply(200, "ok"), UNKNOWN, UNKNOWN),
    ("200 null", reply(200, None), UNKNOWN, UNKNOWN),
    ("200 page", page(200), UNKNOWN, UNKNOWN),
    ("200 empty", reply(200), UNKNOWN, UNKNOWN),
    ("204", reply(204), UNKNOWN, UNKNOWN),
    ("200 cut JSON", reply(200, b'{"status":"PASS","mess'), UNKNOWN, UNKNOWN),
    ("200 garbled JSON", reply(200, b'\x1f\x8b{"status"}'), UNKNOWN, UNKNOWN),
    ("200 PASS, connection cut", reply(200, PASS, failure="protocol"), UNKNOWN, UNKNOWN),
    ("200 PASS, broken compression", reply(200, b"", failure="encoding"), UNKNOWN, UNKNOWN),
    ("200 PASS, longer than the limit", reply(200, PASS, truncated=True), UNKNOWN, UNKNOWN),
    ("200 FAIL then PASS", reply(200, b'{"status":"FAIL","status":"PASS"}'), UNKNOWN, UNKNOWN),
    ("500", reply(500, {"status": "FAIL", "message": "Unexpected error"}), UNKNOWN, UNKNOWN),
    ("500 that says PASS", reply(500, PASS), UNKNOWN, UNKNOWN),
    ("502", page(502), UNKNOWN, UNKNOWN),
    ("503", reply(503, FAIL, retry_after_seconds=5.0), UNKNOWN, UNKNOWN),
    ("504", page(504), UNKNOWN, UNKNOWN),
    ("101", reply(101), UNKNOWN, UNKNOWN),
    ("read timeout", reply(None, failure="timeout", trace=SENT), UNKNOWN, UNKNOWN),
    ("deadline", reply(None, failure="deadline", trace=SENT), UNKNOWN, UNKNOWN),
    ("reset", reply(None, failure="reset", trace=SENT), UNKNOWN, UNKNOWN),
    ("hung up", reply(None, failure="protocol", trace=SENT), UNKNOWN, UNKNOWN),
    ("deadline in the body", reply(200, b'{"status":"PA', failure="deadline"), UNKNOWN, UNKNOWN),
]


@pytest.mark.parametrize(("seen", "order", "asn"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_a_reply_proves(seen: Reply, order: ReplyVerdict, asn: ReplyVerdict) -> None:
    assert judge(seen, operation="order.create").meaning is order
    assert judge(seen, operation="asn.create").meaning is asn


def test_nothing_that_may_have_arrived_counts_as_unsent_or_refused_without_the_services_word() -> None:
    for _, seen, _, _ in TABLE:
        if seen.status is None and seen.trace.send_started:
            for operation in ("order.create", "asn.create", "order.cancel", "webhook.update"):
                assert judge(seen, operation=operation).meaning is UNKNOWN


@pytest.mark.parametrize(
    "operation",
    ["order.update", "order.add_items", "order.delete_items", "order.cancel", "order.fetch", "label.create"],
)
def test_a_404_about_a_named_order_is_the_services_no_only_in_its_own_words(operation: str) -> None:
    assert judge(reply(404, FAIL), operation=operation).meaning is REFUSED
    assert judge(page(404), operation=operation).meaning is MISADDRESSED
    assert judge(reply(404, {"detail": "Not Found"}), operation=operation).meaning is MISADDRESSED


def test_the_other_operations() -> None:
    cancelled = judge(
        reply(200, {"status": "PASS", "message": "Order Cancelled Successfully"}), operation="order.cancel"
    )
    assert cancelled == Answer(ACCEPTED, "Order Cancelled Successfully")
    late = judge(
        reply(400, {"status": "FAIL", "message": "The order can't be cancelled now"}), operation="order.cancel"
    )
    assert late == Answer(REFUSED, "The order can't be cancelled now")
    assert judge(reply(200, {"status": "SUCCESS", "url": "x"}), operation="label.create").meaning is ACCEPTED
    assert judge(reply(200, {"webhookId": 3}), operation="webhook.update").meaning is ACCEPTED
    assert judge(reply(200, {"webhookId": 3}), operation="webhook.subscribe").meaning is UNKNOWN
    assert judge(reply(404, FAIL), operation="webhook.update").meaning is DECLINED


def test_what_a_created_order_tells() -> None:
    message = {
        "awb_number": "SH-22T70ZX",
        "order_id": 4711,
        "delivery_hub": "BLR-2",
        "item_details": {"91": {"item_name": "A", "item_quantity": 2}},
        "child_awb_numbers": ["SH-1", "SH-2", None],
    }
    assert judge(reply(200, {"status": "PASS", "message": message}), operation="order.create") == Answer(
        ACCEPTED,
        awb_number="SH-22T70ZX",
        order_id="4711",
        items={"91": {"item_name": "A", "item_quantity": 2}},
        child_awb_numbers=("SH-1", "SH-2"),
        delivery_hub="BLR-2",
    )


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        "created",
        5,
        {"awb_number": None, "item_details": None, "child_awb_numbers": None},
        {"awb_number": {}, "item_details": [1, "x"], "child_awb_numbers": "SH-1", "delivery_hub": []},
        {"item_details": {"91": None}},
    ],
)
def test_an_acceptance_that_tells_little_is_one(message: object) -> None:
    answer = judge(reply(200, {"status": "PASS", "message": message}), operation="order.create")
    assert (answer.meaning, answer.awb_number, answer.items) == (ACCEPTED, "", {})


def test_items_in_a_list_are_known_by_the_id_inside() -> None:
    lines = [{"item_id": 91, "item_name": "A"}, {"id": "92", "item_name": "B"}, {"item_name": "C"}]
    answer = judge(reply(200, {"status": "PASS", "message": {"item_details": lines}}), operation="order.create")
    assert list(answer.items) == ["91", "92"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ('The order can\'t be `cancelled` "now"', 'The order can\'t be `cancelled` "now"'),
        ("two\nlines\tand  blanks", "two lines and blanks"),
        ("\x1b[2Jgone\x00\u202e", "\\x1b[2Jgone\\x00\\u202e"),
        ("पिन कोड क्\u200dष", "पिन कोड क्\u200dष"),
        ({"phone": ["bad"]}, '{"phone": ["bad"]}'),
        (["a", None], '["a", null]'),
        (None, ""),
        ("x" * 600, "x" * 499 + "…"),
        ("\x00" * 600, "\\x00" * 124 + "\\x0…"),
    ],
)
def test_the_services_words_are_safe_to_show(message: object, shown: str) -> None:
    answer = judge(reply(400, {"status": "FAIL", "message": message}), operation="order.create")
    assert answer.message == shown
    assert len(answer.message) <= 500


def test_a_web_page_is_recognised() -> None:
    assert judge(page(200), operation="order.create").looks_like_html
    assert judge(reply(200, b"\n <HTML>hello"), operation="order.create").looks_like_html
    assert judge(reply(200, b"x", content_type="text/html"), operation="asn.create").looks_like_html
    assert not judge(reply(200, b'{"status": "FAIL"}'), operation="order.create").looks_like_html
    assert not judge(reply(None, failure="connect", trace=NEVER), operation="order.create").looks_like_html
