"""What a push prints about files that do not go the ordinary way."""

import json
import sys

import pytest
from cli.conftest import Run
from openpyxl import load_workbook
from support.issues import said as held_for
from support.result_samples import fates_frame, row_result
from support.terminals import said_at_terminal
from support.workspace import ORDER_COLUMNS, Workspace

from logistics_batch.cli.show import print_push, shown_path
from logistics_batch.model.report import Fate, FileReport, RunReport


def test_the_receipt_and_the_result_of_an_empty_file_say_so(run: Run, workspace: Workspace) -> None:
    file = workspace.drop("orders.csv", f"{ORDER_COLUMNS}\n")
    done = run("push", file, "--mapping", "orders")
    assert (done.code, "Note: The file has a header but no rows." in done.out) == (0, True), done.err
    reports = workspace.root / "reports"
    assert "The file has a header but no rows." in json.loads((reports / "orders.ack.json").read_text())["notes"]
    assert "The file has a header but no rows." in (reports / "orders.result.csv").read_text("utf-8-sig")
    workbook = load_workbook(reports / "orders.result.xlsx")
    texts = " ".join(str(cell.value) for line in workbook.active.iter_rows() for cell in line)
    assert "The file has a header but no rows." in texts


def test_rows_of_a_held_file_are_not_sent_to_a_list_that_is_empty(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = fates_frame(row_result(row, Fate.HELD, reason="Half is wrong.") for row in (2, 3))
    file = FileReport(
        "a.csv", "00", 1, "r", "orders", "00", rows_read=2, rows=rows, held=held_for("Half is wrong.", "Send it again.")
    )
    print_push(RunReport("r", "push", (file,)), [])
    said = capsys.readouterr().out
    assert "Held as a whole: Half is wrong. Send it again." in said
    assert said.count("Half is wrong.") == 1
    assert "held list" not in said


def test_what_many_rows_are_told_in_the_same_words_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    waiting = [row_result(row, Fate.HELD, reason="It waits", rule="approval") for row in range(2, 9)]
    refused = row_result(9, Fate.REFUSED, reason="No service in this area", fix="Correct the row.")
    file = FileReport("a.csv", "00", 1, "r", "orders", "00", rows_read=8, rows=fates_frame([*waiting, refused]))
    print_push(RunReport("r", "push", (file,)), [])
    said = capsys.readouterr().out
    assert "Row 2 and 6 more: It waits. Nothing now: the operator decides.\n" in said
    assert "Row 9: No service in this area. Correct the row.\n" in said


_NARROW = """
from logistics_batch.cli.show import print_table
row = ("preview-3b489d1c7e", "word " * 30, "2026-11-23T21:15:00+05:30 " * 2)
print_table(["id", "reason", "next"], [row, row], empty="")
"""


@pytest.mark.parametrize(("columns", "blocks"), [(40, True), (80, False)])
def test_no_number_is_cut_at_a_narrow_terminal(columns: int, blocks: bool) -> None:
    said = said_at_terminal([sys.executable, "-c", _NARROW], columns=columns)
    assert (said.count("preview-3b489d1c7e"), said.count("2026-11-23T21:15:00+05:30")) == (2, 4)
    assert max(map(len, said.splitlines())) <= columns
    assert said.count("reason") == (2 if blocks else 1)


@pytest.mark.parametrize(
    ("delivered", "shown"),
    [
        ("folder:/srv/reports:/orders.result.csv", "/srv/reports/orders.result.csv"),
        ("folder:/:/orders.result.csv", "/orders.result.csv"),
        ("folder:/srv/a:b:/out/orders.result.csv", "/srv/a:b/out/orders.result.csv"),
        ("sftp:bhiwandi:/out/orders.result.csv", "sftp:bhiwandi:/out/orders.result.csv"),
    ],
)
def test_places_are_shown_as_people_type_them(delivered: str, shown: str) -> None:
    assert shown_path(delivered) == shown
