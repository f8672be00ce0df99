"""NAME.ack.json: the receipt within minutes."""

import json

import polars as pl
import pytest
from support.result_samples import order_report, row_result

from logistics_batch.model.report import DOCUMENT_RESULTS, Fate
from logistics_batch.paper.answers.json_answers import ack_json


def test_the_receipt_names_file_mapping_rows_and_when_the_result_comes() -> None:
    document = ("SO-1000", "order.create", (5, 6), "planned", "POST", "/orders", "{}", "", "")
    report = order_report(
        rows=(row_result(5, Fate.PENDING), row_result(6, Fate.PENDING), row_result(7, Fate.INVALID)),
        rows_read=3,
        documents=pl.DataFrame([document], schema=DOCUMENT_RESULTS, orient="row"),
        result_due="2026-11-21T21:30:00+05:30",
        earlier_file="orders_0311.xlsx",
    )
    receipt = json.loads(ack_json(report))
    assert receipt["file"] == "orders.xlsx"
    assert (receipt["size"], receipt["sha256"], receipt["run"]) == (1234, "ab" * 32, "run-1")
    assert (receipt["mapping"], receipt["mapping_digest"]) == ("orders_standard", "cd" * 32)
    assert (receipt["rows_read"], receipt["documents"], receipt["state"]) == (3, 2, "going out"), "also an invalid one"
    assert (receipt["counts"]["pending"], receipt["counts"]["invalid"], receipt["counts"]["accepted"]) == (2, 1, 0)
    assert receipt["result_due"] == "2026-11-21T21:30:00+05:30"
    assert receipt["earlier_file"] == "orders_0311.xlsx"


def test_a_held_file_says_why_and_what_to_do() -> None:
    report = order_report(rows=(), rows_read=0, reason="The file is encrypted.", remedy="Save it without a password.")
    receipt = json.loads(ack_json(report))
    assert (receipt["state"], receipt["reason"], receipt["remedy"]) == (
        "held",
        "The file is encrypted.",
        "Save it without a password.",
    )


@pytest.mark.parametrize("fate", [Fate.UNCHANGED, Fate.INVALID, Fate.SKIPPED])
def test_a_file_without_anything_to_send_says_so(fate: Fate) -> None:
    assert json.loads(ack_json(order_report(rows=(row_result(5, fate),))))["state"] == "nothing to send"


def test_every_script_is_written_as_it_is() -> None:
    assert "आदेश.xlsx" in ack_json(order_report(file="आदेश.xlsx")).decode()
