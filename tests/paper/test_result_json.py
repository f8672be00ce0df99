"""What --json prints."""

import json
from typing import Any

import polars as pl
import pytest
from support.result_samples import bad_phone, order_report, row_result

from logistics_batch.model.issue import Issue
from logistics_batch.model.report import DOCUMENT_RESULTS, Fate, RunReport
from logistics_batch.paper.answers.json_answers import report_json_text


def printed(report: RunReport) -> dict[str, Any]:
    """What the program that reads it gets."""
    found: dict[str, Any] = json.loads("".join(report_json_text(report)))
    return found


def test_files_rows_and_documents_as_plain_values() -> None:
    body = '{"customer_name":"अनीता"}'
    document = ("SO-1001", "order.create", (7, 8), "planned", "POST", "/orders", body, "", "create")
    documents = pl.DataFrame([document], schema=DOCUMENT_RESULTS, orient="row")
    found = printed(
        RunReport("run-1", "orders", (order_report(documents=documents, notes=(Issue("file.no_rows"),)),), exit_code=3)
    )
    assert (found["run"], found["exit_code"], found["counts"]["refused"]) == ("run-1", 3, 2)
    file = found["files"][0]
    assert (file["file"], file["sha256"], file["notes"]) == (
        "orders.xlsx",
        "ab" * 32,
        ["The file has a header but no rows."],
    )
    assert file["counts"] == found["counts"]
    assert file["documents"] == [
        {
            "key": "SO-1001",
            "operation": "order.create",
            "rows": [7, 8],
            "state": "planned",
            "method": "POST",
            "path": "/orders",
            "body": body,
            "awb_number": "",
            "would": "create",
        }
    ]


def test_rows_have_the_columns_of_the_csv_without_its_guards() -> None:
    report = order_report(rows=(row_result(8, Fate.INVALID),), issues=(bad_phone(8),))
    row = printed(RunReport("run-1", "", (report,)))["files"][0]["rows"][0]
    assert row["row"] == 8
    assert (row["fate"], row["value"], row["cell"], row["fix"]) == ("invalid", "+91 98", "C8", "Write ten.")
    assert list(row)[:14] == (
        "file sheet row document fate rule column cell value reason fix reference_number awb_number run".split()  # noqa: SIM905
    )


def test_a_long_text_and_control_characters_stand_there_whole() -> None:
    """A workbook cuts them; who wants all of it finds it here and in the CSV."""
    text = "a\x00\x07" + "x" * 40_000
    report = order_report(rows=(row_result(8, Fate.REFUSED, reason=text),), issues=())
    (file,) = printed(RunReport("run-1", "", (report,)))["files"]
    assert file["rows"][0]["reason"] == text


def test_every_fate_is_counted_even_where_it_does_not_occur() -> None:
    counts = printed(RunReport("run-1", "", ()))["counts"]
    assert counts == dict.fromkeys((fate.value for fate in Fate), 0)


@pytest.mark.parametrize("files", [0, 1, 3])
def test_each_file_stands_in_it_once_whatever_its_texts_hold(files: int) -> None:
    note = Issue.of("file.goes_on", name='a "name"\nof two lines')
    report = RunReport("run-1", "orders", (order_report(notes=(note,)),) * files)
    found = printed(report)
    assert [file["notes"] for file in found["files"]] == [[note.reason]] * files
    assert all(len(file["rows"]) == 10 for file in found["files"])


def test_of_what_was_written_elsewhere_only_the_counts_stand_in_it() -> None:
    report = RunReport("run-1", "orders", (order_report(), order_report()))
    found = json.loads("".join(report_json_text(report, counts_only=True)))
    assert [list(file) for file in found["files"]] == [["file", "counts"]] * 2
