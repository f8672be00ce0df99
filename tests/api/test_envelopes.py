"""JSON from strangers: read strictly, and never the end of a run."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logistics_batch.api.answers import (
    Answer,
    OrderAbsent,
    OrderDetails,
    ReadFailed,
    asn_header,
    judge,
    read_asns,
    read_label,
    read_order,
)
from logistics_batch.api.content_match import other_goods, record_digest, same_asn, same_order
from logistics_batch.api.envelopes import AsnPage, Decoded, decode_json, find_lines, find_records, plain
from logistics_batch.api.reply import LARGEST_BODY_BYTES, Reply, Trace

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


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
envelope_words = st.sampled_from(
    [
        *(
            "status",
            "message",
            "result",
            "results",
            "data",
            "count",
            "next",
            "order_details",
            "awb_number",
            "id",
            "url",
        ),
        *("item_details", "sku_lines", "invoice_number", "supplier", "site", "qty", "sku_name", "child_awb_numbers"),
    ]
)
envelopes = st.recursive(
    json_values | st.sampled_from(["PASS", "FAIL", "SUCCESS", "New"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(envelope_words, inner, max_size=5),
    max_leaves=20,
)
bodies = (
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode(errors="replace"))
    | envelopes.map(lambda value: json.dumps(value).encode())
    | envelopes.map(lambda value: json.dumps(value).encode()[:-3])
)


@given(st.binary(max_size=400) | st.text(alphabet='{}[]":,0123456789eE.+-\\ud truefalsn', max_size=60).map(str.encode))
def test_the_decoder_never_raises(body: bytes) -> None:
    assert isinstance(decode_json(body), Decoded)


@given(bodies, st.sampled_from([None, 200, 201, 204, 302, 400, 401, 404, 422, 429, 500]))
def test_no_reply_ends_a_run(body: bytes, status: int | None) -> None:
    seen = Reply("order.create", trace=DONE, status=status, body=body)
    for operation in ("order.create", "asn.create", "order.cancel"):
        answer = judge(seen, operation=operation)
        assert isinstance(answer, Answer)
        assert len(answer.message) <= 500
        assert not any(character in answer.message for character in "\n\r\x1b\x00")
        json.dumps([answer.message, answer.awb_number, answer.items], ensure_ascii=False).encode()
    order = read_order(seen)
    assert isinstance(order, OrderDetails | OrderAbsent | ReadFailed)
    if isinstance(order, OrderDetails):
        same_order('{"customer_mobile":"1"}', order)
    page = read_asns(seen)
    assert isinstance(page, AsnPage | ReadFailed)
    for record in page.records if isinstance(page, AsnPage) else ():
        asn_header(record)
        find_lines(record)
        record_digest(record)
        same_asn('{"invoice_number":"1","sku_lines":[{"qty":"1"}]}', record)
    read_label(seen)


@given(st.text(), st.integers(2, 40))
def test_shown_text_is_one_short_line(text: str, limit: int) -> None:
    shown = plain(text, limit=limit)
    assert len(shown) <= limit
    assert all(character.isprintable() or character in "\u200c\u200d" for character in shown)
    assert plain(shown, limit=limit) == shown
    shown.encode()


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
