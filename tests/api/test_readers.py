"""Orders, ASN lists and label links in every shape in which they are seen, and whether two documents are the same."""

import json
from typing import Any

import pytest

from logistics_batch.api.answers import (
    LabelLink,
    OrderAbsent,
    OrderDetails,
    ReadFailed,
    ReplyVerdict,
    asn_header,
    read_asns,
    read_label,
    read_order,
)
from logistics_batch.api.content_match import record_digest, same_asn, same_order, same_parties
from logistics_batch.api.envelopes import AsnPage, find_lines
from logistics_batch.api.reply import Reply, Trace

DONE = Trace(connect_started=True, send_started=True, body_sent=True, reply_started=True)


def reply(status: int | None, body: Any = b"", **fields: Any) -> Reply:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply("x", **{"trace": DONE, "status": status, "body": content} | fields)


ORDER = {
    "order_id": 4711,
    "reference_number": "000000005-2-7",
    "awb_number": "SH-22T70ZX",
    "status": "Pending",
    "delivery_address": "12 MG Road",
    "delivery_postal_code": "560001",
    "customer_name": "Asha Rao",
    "customer_mobile": 9876543210,
    "alternate_customer_mobile": None,
    "pickup_customer_name": "",
    "item_details": {"91": {"item_name": "Wires", "item_quantity": 2, "item_qty_picked": 0}},
    "cash_on_delivery": "59.00",
}


@pytest.mark.parametrize(
    "body",
    [
        {"status": "PASS", "message": {"order_details": ORDER}},
        {"status": "PASS", "message": {"order_details": [ORDER]}},
        {"status": "PASS", "message": [{"order_details": ORDER}]},
        {"status": "PASS", "message": ORDER},
        {"order_details": ORDER},
        ORDER,
    ],
)
def test_an_order_is_found_in_any_envelope(body: object) -> None:
    found = read_order(reply(200, body))
    assert isinstance(found, OrderDetails)
    order = found
    assert (order.order_id, order.reference_number, order.awb_number) == ("4711", "000000005-2-7", "SH-22T70ZX")
    assert (order.status, order.customer_mobile, order.delivery_hub) == ("Pending", "9876543210", "")
    assert order.items == ({"id": "91", "item_name": "Wires", "item_quantity": 2, "item_qty_picked": 0},)
    assert order.raw == ORDER
    for personal in ("Asha", "9876543210", "MG Road"):
        assert personal not in repr(found)


@pytest.mark.parametrize(
    ("status", "body", "signature"),
    [
        (400, {"status": "FAIL", "message": "Order R-1 not found"}, "400 FAIL Order R-1 not found"),
        (404, {"status": "FAIL", "message": "Order R-1 not found"}, "404 FAIL Order R-1 not found"),
        (200, {"status": "FAIL", "message": "no such order"}, "200 FAIL no such order"),
        (200, {"status": "PASS", "message": {"order_details": {}}}, '200 PASS {"order_details": {}}'),
        (200, {"status": "PASS", "message": {"order_details": None}}, '200 PASS {"order_details": null}'),
        (400, {"status": "FAIL"}, "400 FAIL"),
    ],
)
def test_an_order_that_is_not_there_leaves_a_signature(status: int, body: object, signature: str) -> None:
    absent = read_order(reply(status, body))
    assert isinstance(absent, OrderAbsent)
    assert absent.signature == signature


@pytest.mark.parametrize(
    ("seen", "meaning", "words"),
    [
        (
            reply(500, {"status": "FAIL", "message": "Unexpected error"}),
            ReplyVerdict.UNKNOWN,
            "Unexpected error (status 500)",
        ),
        (
            reply(401, {"status": "FAIL", "message": "Unauthorized"}),
            ReplyVerdict.UNAUTHORIZED,
            "Unauthorized (status 401)",
        ),
        (reply(429, {}), ReplyVerdict.SLOW_DOWN, "(status 429)"),
        (reply(404, b"<html>nginx"), ReplyVerdict.MISADDRESSED, "a web page came back"),
        (reply(404, {"detail": "Not Found"}), ReplyVerdict.MISADDRESSED, "Not Found (status 404)"),
        (reply(302), ReplyVerdict.MISADDRESSED, "(status 302)"),
        (reply(400, b"<html>proxy"), ReplyVerdict.UNKNOWN, "a web page came back"),
        (reply(200, b"<html>portal"), ReplyVerdict.UNKNOWN, "a web page came back"),
        (reply(200, b""), ReplyVerdict.UNKNOWN, "the answer cannot be read"),
        (reply(200, b'{"status"', failure="protocol"), ReplyVerdict.UNKNOWN, "the answer broke off (protocol)"),
        (
            reply(None, failure="connect", detail="Connection refused", trace=Trace(connect_started=True)),
            ReplyVerdict.NOT_SENT,
            "no answer (connect): Connection refused",
        ),
        (reply(None, failure="deadline"), ReplyVerdict.UNKNOWN, "no answer (deadline)"),
    ],
)
def test_a_failed_read_says_neither_yes_nor_no(seen: Reply, meaning: ReplyVerdict, words: str) -> None:
    for read in (read_order, read_asns, read_label):
        failed = read(seen)
        assert isinstance(failed, ReadFailed)
        assert failed.meaning is meaning
        assert words in failed.message


RECORD = {"id": 7, "invoice_number": "INV-1", "status": "New", "sku_lines": [{"sku_name": "Wires", "qty": "5"}]}
OTHER = {"id": 8, "invoice_number": "INV-2", "status": "Completed", "sku_lines": []}


@pytest.mark.parametrize(
    ("body", "ids", "count", "following"),
    [
        ({"count": 2, "next": 0, "previous": None, "result": [RECORD, OTHER]}, [7, 8], 2, None),
        ({"count": "9", "next": "https://x/?page=2", "results": [RECORD]}, [7], 9, "https://x/?page=2"),
        ({"data": [RECORD]}, [7], None, None),
        ({"message": [RECORD]}, [7], None, None),
        ({"status": "PASS", "message": {"7": RECORD, "8": OTHER}}, [7, 8], None, None),
        ({"result": {"7": {"invoice_number": "INV-1"}}}, ["7"], None, None),
        ([RECORD, OTHER], [7, 8], None, None),
        ([], [], None, None),
        (RECORD, [7], None, None),
        ({"status": "PASS", "message": {"count": 1, "next": None, "result": [RECORD]}}, [7], 1, None),
        ({"status": "SUCCESS", "message": {"result": []}}, [], None, None),
        ({"status": "PASS", "message": {}}, [], None, None),
        ({"count": 0, "next": 0, "previous": None, "result": []}, [], 0, None),
        ({"status": "PASS", "message": RECORD}, [7], None, None),
        ({"7": RECORD, "8": OTHER}, [7, 8], None, None),
    ],
)
def test_asns_are_found_in_any_envelope(body: object, ids: list[object], count: int | None, following: str) -> None:
    page = read_asns(reply(200, body))
    assert isinstance(page, AsnPage)
    assert [record["id"] for record in page.records] == ids
    assert (page.count, page.next) == (count, following)


@pytest.mark.parametrize(
    "body",
    [
        {"status": "FAIL", "message": "no filter given"},
        {"status": "FAIL", "message": []},
        {"status": "PASS", "message": "nothing found"},
        {"status": "PASS"},
        {},
        {"result": [RECORD, "x"]},
        {"items": [RECORD]},
        {"version": 3, "settings": {"a": 1}},
        "ok",
        None,
    ],
)
def test_what_is_no_list_of_asns_is_not_an_empty_one(body: object) -> None:
    assert isinstance(read_asns(reply(200, body)), ReadFailed)


def test_a_refused_search_says_why() -> None:
    failed = read_asns(reply(400, {"status": "FAIL", "message": "At least one filter"}))
    said = "At least one filter"
    assert failed == ReadFailed(
        ReplyVerdict.REFUSED, f"{said} (status 400)", "it answered with status 400", signature=f"400 FAIL {said}"
    )


@pytest.mark.parametrize("name", ["sku_lines", "lines", "items"])
def test_lines_come_as_list_as_object_or_as_text(name: str) -> None:
    line = {"sku_name": "Wires", "qty": "5"}
    assert find_lines({name: [line, None]}) == (line,)
    assert find_lines({name: {"31": line}}) == ({"id": "31"} | line,)
    assert find_lines({name: json.dumps([line])}) == (line,)
    assert find_lines({name: "none"}) == find_lines({name: None}) == find_lines({}) == ()


@pytest.mark.parametrize(
    ("record", "supplier", "supplier_name"),
    [
        ({"supplier": 7, "supplier_name": "Acme"}, "7", "Acme"),
        ({"supplier": {"id": 7, "name": "Acme", "current_address": {}}}, "7", "Acme"),
        ({"supplier_name": {"id": "7", "name": "Acme"}}, "7", "Acme"),
        ({"supplier": "Acme"}, "Acme", ""),
        ({"supplier": None, "supplier_name": None}, "", ""),
        ({"supplier_id": 7}, "7", ""),
        ({"supplier_id": 7, "supplier": "Acme"}, "7", "Acme"),
        ({"supplier_id": "7", "supplier": "7", "supplier_name": "Acme"}, "7", "Acme"),
        ({"supplier_id": 7, "supplier": {"name": "Acme"}}, "7", "Acme"),
        ({}, "", ""),
    ],
)
def test_a_supplier_comes_as_id_as_name_or_as_object(record: Any, supplier: str, supplier_name: str) -> None:
    header = asn_header(record)
    assert (header.supplier, header.supplier_name) == (supplier, supplier_name)


def test_a_header_keeps_its_texts() -> None:
    header = asn_header(
        RECORD
        | {"created_date": "2026-11-03T10:00:00.123456+05:30", "total_price": "5.00", "site": {"name": "Bhiwandi"}}
    )
    assert (header.id, header.invoice_number, header.status) == ("7", "INV-1", "New")
    assert (header.created_date, header.total_price) == ("2026-11-03T10:00:00.123456+05:30", "5.00")
    assert (header.site, header.site_name) == ("", "Bhiwandi")


def test_a_label_link() -> None:
    link = read_label(reply(200, {"status": "SUCCESS", "url": " https://x.example/l.pdf?sig=s3cret "}))
    assert link == LabelLink("https://x.example/l.pdf?sig=s3cret")
    assert "s3cret" not in repr(link)
    assert read_label(reply(200, {"status": "PASS", "message": {"url": "u"}})) == LabelLink("u")
    refused = read_label(reply(400, {"status": "FAIL", "message": "AWB Number is mandatory for shipping label"}))
    said = "AWB Number is mandatory for shipping label"
    assert refused == ReadFailed(
        ReplyVerdict.REFUSED, f"{said} (status 400)", "it answered with status 400", signature=f"400 FAIL {said}"
    )
    gone = read_label(reply(404, {"status": "FAIL", "message": "no such order"}))
    assert gone == ReadFailed(
        ReplyVerdict.REFUSED,
        "no such order (status 404)",
        "it answered with status 404",
        signature="404 FAIL no such order",
    )
    for body in ({"status": "SUCCESS"}, {"status": "SUCCESS", "url": ""}, {"status": "FAIL", "url": "u"}, {"url": "u"}):
        assert isinstance(read_label(reply(200, body)), ReadFailed)


SENT = {
    "reference_number": "R-1",
    "customer_mobile": "+91 98765 43210",
    "delivery_postal_code": "560001",
    "item_details": [{"item_name": "Wires", "item_quantity": 2}, {"item_name": "Plug", "item_quantity": 1}],
}
THERE: dict[str, Any] = {
    "customer_mobile": 9876543210,
    "delivery_postal_code": 560001,
    "item_details": {
        "1": {"item_name": " plug", "item_quantity": 1},
        "2": {"item_name": "WIRES", "item_quantity": "2.0"},
    },
}


def found(details: dict[str, Any]) -> OrderDetails:
    order = read_order(reply(200, {"status": "PASS", "message": {"order_details": {"awb_number": "SH-1"} | details}}))
    assert isinstance(order, OrderDetails)
    return order


def items(*pairs: tuple[str, object]) -> dict[str, Any]:
    return {str(n): {"item_name": name, "item_quantity": amount} for n, (name, amount) in enumerate(pairs)}


@pytest.mark.parametrize(
    ("sent", "there", "same"),
    [
        ({}, {}, True),
        ({}, {"item_details": items(("Wires", 1), ("Wires", 1), ("Plug", 1))}, True),
        ({}, {"customer_mobile": 9876543211}, False),
        ({}, {"customer_mobile": None}, False),
        ({}, {"delivery_postal_code": "560002"}, False),
        ({}, {"delivery_postal_code": None}, False),
        ({"delivery_postal_code": None}, {"delivery_postal_code": None}, True),
        ({}, {"item_details": items(("Wires", 3), ("Plug", 1))}, False),
        ({}, {"item_details": items(("Wires", 2))}, False),
        ({}, {"item_details": items(("Wires", 2), ("Plug", 1), ("Cap", 1))}, False),
        ({}, {"item_details": items(("Wires", 2), ("Plug", None))}, False),
        ({}, {"item_details": None}, False),
        ({"item_details": None}, {"item_details": None}, True),
        ({"item_details": None}, {}, False),
        ({"item_details": [{"item_name": "Wires"}, {"item_name": "Plug"}]}, {}, True),
        ({"item_details": [{"item_name": "Wires"}]}, {}, False),
        ({"kit_skus": [{"name": "K"}]}, {"item_details": items(("Wires", 2), ("Plug", 1), ("Cap", 1))}, True),
        ({"kit_skus": [{"name": "K"}]}, {"item_details": items(("Wires", 2), ("Cap", 1))}, False),
    ],
)
def test_the_same_order(sent: dict[str, Any], there: dict[str, Any], same: bool) -> None:
    assert same_order(json.dumps(SENT | sent), found(THERE | there)) is same


def test_an_order_without_a_readable_body_is_the_same_as_none() -> None:
    assert not same_order("", found(THERE))
    assert not same_order("{}", found({"item_details": None, "customer_mobile": None}))


NOTICE = {
    "supplier_name": "Acme",
    "site": "7",
    "invoice_number": "INV-1",
    "sku_lines": [{"sku_name": "Wires", "qty": "5"}, {"sku_name": "Plug", "qty": "2.50"}],
}
STORED: dict[str, Any] = NOTICE | {"id": 99, "status": "New"}


@pytest.mark.parametrize(
    ("there", "same"),
    [
        ({}, True),
        ({"supplier_name": "ACME ", "site": 7}, True),
        ({"supplier": {"id": 3, "name": "Acme"}, "supplier_name": None}, True),
        ({"supplier": 3, "supplier_name": None}, True),
        ({"site": None, "site_name": "Bhiwandi"}, True),
        ({"sku_lines": {"1": {"name": "plug", "quantity": 2.5}, "2": {"name": "Wires", "quantity": 5}}}, True),
        (
            {"sku_lines": [{"sku": {"id": 1, "name": "Wires"}, "qty": 5.0}, {"sku": {"name": "Plug"}, "qty": "2.5"}]},
            True,
        ),
        ({"sku_lines": None, "lines": NOTICE["sku_lines"]}, True),
        ({"invoice_number": "INV-2"}, False),
        ({"invoice_number": None}, False),
        ({"supplier_name": "Apex"}, False),
        ({"site": 8}, False),
        ({"site": None, "site_id": 7}, True),
        ({"site": None, "site_id": 8}, False),
        ({"site": {"id": 8, "name": "Bhiwandi"}}, False),
        ({"sku_lines": [{"sku_name": "Wires", "qty": "5"}]}, False),
        ({"sku_lines": [{"sku_name": "Wires", "qty": "6"}, {"sku_name": "Plug", "qty": "2.5"}]}, False),
        ({"sku_lines": None}, False),
        ({"sku_lines": [{"sku_name": "Wires"}, {"sku_name": "Plug"}]}, False),
    ],
)
def test_the_same_asn(there: dict[str, Any], same: bool) -> None:
    assert same_asn(json.dumps(NOTICE), STORED | there) is same


@pytest.mark.parametrize(
    ("there", "same"),
    [
        ({"supplier": "S-1", "supplier_name": None}, True),
        ({"supplier": "S-2", "supplier_name": None}, False),
        ({"supplier": "S-1", "supplier_name": "Acme Private Limited"}, True),
        ({"supplier": "S-2", "supplier_name": "Acme"}, False),
        ({"supplier": "Acme", "supplier_name": None}, True),
        ({"supplier": None, "supplier_name": "Apex"}, False),
    ],
    ids=["same id", "other id", "same id, named otherwise", "other id of that name", "name for id", "other name"],
)
def test_of_a_party_with_id_and_name_the_id_decides(there: dict[str, Any], same: bool) -> None:
    sent = NOTICE | {"supplier": "S-1"}
    assert same_asn(json.dumps(sent), STORED | there) is same
    assert same_parties(json.dumps(sent), STORED | there | {"sku_lines": []}) is same, "whatever the goods"


def test_an_asn_that_cannot_be_read_is_the_same_as_none() -> None:
    assert not same_asn("", STORED)
    assert not same_asn('{"invoice_number":"INV-1"}', {"invoice_number": "INV-1"})


def test_a_record_is_known_again_though_its_state_changed() -> None:
    assert record_digest(RECORD) == record_digest(RECORD | {"status": "Expired", "modified_date": "x"})
    assert record_digest(RECORD) == record_digest(RECORD | {"id": "7"})
    assert record_digest(RECORD) != record_digest(RECORD | {"id": 8})
    bare = {"invoice_number": "INV-1", "qty": 1}
    assert record_digest(bare) == record_digest(dict(reversed(bare.items())))
    assert record_digest(bare) != record_digest(bare | {"qty": 2})
