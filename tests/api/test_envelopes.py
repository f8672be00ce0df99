"""JSON from strangers: read strictly, and never the end of a run."""

import json
from typing import Any

import pytest

from logistics_batch.api.answers import asn_header
from logistics_batch.api.content_match import other_goods
from logistics_batch.api.envelopes import AsnPage, Decoded, decode_json, find_records
from logistics_batch.api.reply import LARGEST_BODY_BYTES, Trace

DONE = Trace(connect_started=True, send_started=True, body_sent=True, reply_started=True)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  \n",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b"[NaN]",
        b"[Infinity]",
        b"[-Infinity]",
        b"[1e999]",
        b"[" + b"9" * 5_000 + b"]",
        b"-" + b"9" * 41,
        b'{"status":"FAIL","status":"PASS"}',
        b'{"a":{"b":1,"b":1}}',
        b'{"a":1}{"b":2}',
        b'{"a":1',
        b"{'a':1}",
        b'"\xff"',
        '{"a":1}'.encode("utf-16"),
        b'["\\ud800"]',
        b'{"\\udfff":1}',
        b'"a\nb"',
        b'"' + b"x" * LARGEST_BODY_BYTES + b'"',
        b"<html>",
    ],
    ids=lambda body: f"{body[:12]!r} of {len(body)}",
)
def test_what_is_no_json(body: bytes) -> None:
    decoded = decode_json(body)
    assert decoded.problem
    assert decoded.value is None


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"null", None),
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b' {"a":[1.50,-2,1e3,true,null]} \r\n', {"a": [1.5, -2, 1000.0, True, None]}),
        (b'"\\ud83d\\ude9a"', "🚚"),
        (b"[" * 100 + b"]" * 100, json.loads("[" * 100 + "]" * 100)),
    ],
)
def test_what_is_json(body: bytes, value: object) -> None:
    assert decode_json(body) == Decoded(value)


def test_values_that_are_no_text_have_none() -> None:
    record: dict[str, Any] = {"invoice_number": True, "status": ["New"], "supplier": 7.0, "site": 1.5, "batch": " B1 "}
    header = asn_header(record)
    assert (header.invoice_number, header.status, header.supplier, header.site) == ("", "", "7", "1.5")
    assert header.batch == "B1"


ROWS = [{"invoice_number": f"I{nth}"} for nth in range(14)]


@pytest.mark.parametrize(
    "more",
    [
        *({name: 64} for name in ("count", "total", "total_count", "totalCount", "TotalRecords", "@odata.count")),
        *({"total": 64.0}, {"total": "64"}, {"count": 14, "total": 64}),
        *({"meta": {"total": 64}}, {"pagination": {"total_items": "64"}}, {"meta": {"pagination": {"total": 64}}}),
    ],
)
def test_a_total_under_any_usual_name_is_told_where_it_is_more_than_the_rows(more: dict[str, Any]) -> None:
    for value in (
        {"status": "PASS", "message": ROWS, **more},
        {"status": "PASS", "message": {"results": ROWS, **more}},
    ):
        found = find_records(value)
        assert found is not None and (len(found.records), found.count) == (14, 64)


@pytest.mark.parametrize(
    "more",
    [
        *({"has_more": True}, {"hasNextPage": "true"}, {"next": 2}, {"next": "/asn?page=2"}, {"next_page": "2"}),
        *({"total_pages": 5}, {"meta": {"last_page": 2}}, {"paging": {"next": {"href": "/asn?page=2"}}}),
        *({"_links": {"next": {"href": "/2"}}}, {"links": [{"rel": "next", "href": "/2"}]}),
        {"pagination": {"next_cursor": "abc"}},
    ],
)
def test_more_to_come_is_told_under_any_usual_name(more: dict[str, Any]) -> None:
    found = find_records({"result": ROWS, **more})
    assert found is not None and found.next


@pytest.mark.parametrize(
    "more",
    [
        *({}, {"total": 14}, {"total": 3}, {"total": 6400.5}, {"total": True}, {"meta": {"count": 14}}),
        *({"has_more": False}, {"more": "see the manual"}, {"next": 0}, {"next": None}, {"next": "null"}),
        *({"total_pages": 1}, {"links": {"next": None, "self": "/asn"}}, {"page": 2, "pages": 1, "next_page": -1}),
    ],
)
def test_what_names_nothing_beyond_the_rows_proves_nothing_and_raises_no_doubt(more: dict[str, Any]) -> None:
    assert find_records({"result": ROWS, **more}) == AsnPage(tuple(ROWS))


@pytest.mark.parametrize(
    ("told", "others"),
    [
        ([], False),
        ([{"item_id": "1"}], False),  # no name, nothing said
        ([{"item_name": "TEA", "item_quantity": 2}], False),
        ([{"item_name": " tea ", "item_quantity": "2.0"}, {"item_name": "Mug", "item_quantity": 1}], False),
        ([{"item_name": "Tea", "item_quantity": 1}, {"item_name": "Tea", "item_quantity": 1}], False),  # parted
        ([{"item_name": "Tea"}], False),
        ([{"item_name": "Tea", "item_quantity": 3}], True),
        ([{"item_name": "ANVIL", "item_quantity": 40}], True),
        ([{"item_name": "Tea", "item_quantity": 2}, {"item_name": "ANVIL", "item_quantity": 1}], True),
    ],
)
def test_an_answer_that_names_other_goods_speaks_of_another_order(told: list[dict[str, Any]], others: bool) -> None:
    sent = {"item_details": [{"item_name": "Tea", "item_quantity": "2"}, {"item_name": "Mug", "item_quantity": "1"}]}
    assert other_goods(json.dumps(sent), told) is others
    assert not other_goods(json.dumps(sent | {"kit_skus": [{"sku": "SET", "quantity": 1}]}), told)
