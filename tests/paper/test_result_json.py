"""What --json prints."""

import json

import pytest
from support.result_samples import bad_phone, order_report, row_result

from logistics_batch.model.report import DocumentResult, Fate, RunReport
from logistics_batch.paper.report_json import report_json, report_json_text


def test_files_rows_and_documents_as_plain_values() -> None:
    body = '{"customer_name":"अनीता"}'
    document = DocumentResult("SO-1001", "order.create", (7, 8), "planned", "POST", "/orders", body, would="create")
    report = order_report(documents=(document,), notes=("read as cp1252",))
    printed = json.loads(json.dumps(report_json(RunReport("run-1", "orders", (report,), exit_code=3))))
    assert (printed["run"], printed["exit_code"], printed["counts"]["refused"]) == ("run-1", 3, 2)
    file = printed["files"][0]
    assert (file["file"], file["sha256"], file["notes"]) == ("orders.xlsx", "ab" * 32, ["read as cp1252"])
    assert file["counts"] == report_json(RunReport("r", "j", (report,)))["counts"]
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
    row = report_json(RunReport("run-1", "", (report,)))["files"][0]["rows"][0]
    assert row["row"] == 8
    assert (row["fate"], row["value"], row["cell"], row["fix"]) == ("invalid", "+91 98", "C8", "Write ten.")
    assert list(row)[:14] == (
        "file sheet row document fate rule column cell value reason fix reference_number awb_number run".split()  # noqa: SIM905
    )


def test_a_long_text_and_control_characters_stand_there_whole() -> None:
    """A workbook cuts them; who wants all of it finds it here and in the CSV."""
    text = "a\x00\x07" + "x" * 40_000
    report = order_report(rows=(row_result(8, Fate.REFUSED, reason=text),), issues=())
    (file,) = json.loads("".join(report_json_text(RunReport("run-1", "", (report,)))))["files"]
    assert file["rows"][0]["reason"] == text


def test_every_fate_is_counted_even_where_it_does_not_occur() -> None:
    counts = report_json(RunReport("run-1", "", ()))["counts"]
    assert counts == dict.fromkeys((fate.value for fate in Fate), 0)


@pytest.mark.parametrize("files", [0, 1, 3])
def test_in_pieces_it_is_the_same_text(files: int) -> None:
    report = RunReport("run-1", "orders", (order_report(notes=('a "note"\nof two lines',)),) * files)
    assert "".join(report_json_text(report)) == json.dumps(report_json(report), ensure_ascii=False, indent=1)
