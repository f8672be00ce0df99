"""Whatever bytes come, by chance: from the service, from partners, from whoever sends events."""

import csv
import io
import json
import os
import random
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from api.test_envelopes import DONE
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from paper.test_result_workbook import SHEET_PART, result
from polars.testing import assert_frame_equal
from support.receiver_process import RunningReceiver
from support.result_samples import order_report, order_workbook, packed, parts_of, read_again
from support.workspace import Workspace

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
from logistics_batch.api.content_match import record_digest, same_asn, same_order
from logistics_batch.api.envelopes import AsnPage, Decoded, decode_json, find_lines, plain
from logistics_batch.api.reply import Reply
from logistics_batch.intake.readers import Limits
from logistics_batch.intake.readers.csv_files import Records, quickly, strictly
from logistics_batch.model.sheet import ReadOptions
from logistics_batch.paper.answers.result_workbook import result_workbook
from logistics_batch.paper.xlsx.inert import inert_workbook

FULL = os.environ.get("CAMPAIGN") == "full"


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningReceiver]:
    running = RunningReceiver(Workspace(tmp_path_factory.mktemp("shared"), url="https://service.invalid"))
    yield running
    running.close()


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


cells = st.text(
    alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]) | st.sampled_from('"",;| \n'), max_size=6
)
records = st.lists(st.lists(cells, max_size=5), min_size=1, max_size=8)


def both(text: str, delimiter: str, block_bytes: int) -> tuple[Records | None, Records]:
    """The records as polars gives them, if it does, and as the standard library does."""
    quick = quickly(text.encode(), delimiter=delimiter, limits=Limits(), block_bytes=block_bytes)
    return quick, strictly(text, name="a", delimiter=delimiter, options=ReadOptions(), limits=Limits())


def assert_alike(quick: Records, strict: Records) -> None:
    width = max(quick.cells.width, strict.cells.width)
    assert_frame_equal(padded(quick.cells, width), padded(strict.cells, width))
    assert quick.widths.to_list() == strict.widths.to_list()


def padded(frame: pl.DataFrame, width: int) -> pl.DataFrame:
    return frame.with_columns(pl.lit(None, dtype=pl.String).alias(str(n)) for n in range(frame.width + 1, width + 1))


@settings(max_examples=300, deadline=None)
@given(
    records,
    st.sampled_from(",;|\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from([30, 1 << 20]),
)
def test_clean_files_are_read_quickly_and_alike(
    rows: list[list[str]], delimiter: str, end: str, quoting: Literal[0, 1], block_bytes: int
) -> None:
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(rows)
    quick, strict = both(written.getvalue(), delimiter, block_bytes)
    assert quick is not None
    assert_alike(quick, strict)
    # A row without cells is a blank line; the writer makes `""` of a single empty cell.
    assert strict.cells.height == len(rows)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='ab,"\n\r ;', min_size=1, max_size=40), st.sampled_from([5, 1 << 20]))
@example(',\n"\r,"', 1 << 20)
@example('a,"x\ny",b\n"1\n\n2",,\n', 5)
def test_whatever_is_read_quickly_is_read_strictly_too_and_alike(text: str, block_bytes: int) -> None:
    quick = quickly(text.encode(), delimiter=",", limits=Limits(), block_bytes=block_bytes)
    if quick is not None:
        assert_alike(quick, both(text, ",", block_bytes)[1])


@settings(max_examples=10_000 if FULL else 60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    body=st.binary(max_size=300)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=100),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["WaybillNo", "eventType", "OrderStatus", "StatusDateTime", "podDocs", "x"]), inner
            )
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_any_bytes_get_an_answer(receiver: RunningReceiver, body: bytes) -> None:
    status, _ = receiver.post(body)
    assert status in (200, 400)
    if status == 200:
        assert isinstance(json.loads(body), dict)


@settings(max_examples=10_000 if FULL else 60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_instead_of_a_request_harm_nobody(receiver: RunningReceiver, noise: bytes) -> None:
    with socket.create_connection(("127.0.0.1", receiver.port), timeout=20) as sender:
        sender.sendall(noise + b"\r\n\r\n")
    assert receiver.process.poll() is None


@pytest.mark.parametrize("seed", range(6))
def test_no_damage_inside_a_package_costs_the_result(seed: int, tmp_path: Path) -> None:
    original = result(order_workbook())
    sheet = read_again(original, tmp_path)[0]
    parts, chance = parts_of(original), random.Random(seed)
    kinds = [SHEET_PART, "xl/styles.xml", "xl/workbook.xml", *(name for name in parts if "omments" in name)]
    for _ in range(25):
        name = chance.choice([*kinds, *(name for name in parts if name.endswith(".rels"))])
        spoilt = packed(parts | {name: damaged(parts[name], chance)})
        changed = result_workbook(order_report(), sheet=sheet, original=inert_workbook(spoilt))
        assert b">invalid</" in parts_of(changed)[SHEET_PART]


def damaged(part: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(part))
    numbers = [found.span() for found in re.finditer(rb'"\d+"', part)]
    if numbers and chance.random() < 0.4:
        start, end = chance.choice(numbers)
        return part[:start] + chance.choice([b'"-1"', b'"x"', b'"999999999"', b'""', b'"1e9"']) + part[end:]
    if chance.random() < 0.5:
        return part[:at] + bytes([chance.choice(b'<>"/ =0129abcA\x00\xff')]) + part[at + 1 :]
    return part[:at] + part[at + chance.randint(1, 30) :]
