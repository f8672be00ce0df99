"""Numbers of thousands of digits in texts from outside: Python refuses to read them, and no sheet has such a number."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from paper.test_result_workbook import SHEET_PART, edited, opened, order_report, order_workbook, read_again

from logistics_batch.flows.labels.orders import natural
from logistics_batch.mapping.lines.exploded import numbered_columns
from logistics_batch.paper.answers.result_workbook import result_workbook
from logistics_batch.paper.xlsx.inert import inert_workbook

DIGITS = "9" * 5_000


@pytest.mark.parametrize("number", [DIGITS, "0" * 5_000 + "1", "٣" * 5_000])
def test_no_column_has_such_a_number(number: str) -> None:
    assert numbered_columns("SKU {n}", ["SKU 1", f"SKU {number}", "SKU 2"]) == {1: 1, 2: 3}


def test_labels_are_sorted_by_numbers_however_long() -> None:
    wanted = ["R-2", "R-10", "R-010a", "R-011", f"R-{DIGITS[1:]}", f"R-{DIGITS}", "S-1"]
    keys = [natural(text) for text in wanted]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda xml: xml.replace(b"</sheetData>", b'</sheetData><mergeCells><mergeCell ref="A1:B%s"/></mergeCells>'),
        lambda xml: xml.replace(b"</sheetData>", b'</sheetData><autoFilter ref="A1:B%s"/>'),
        lambda xml: xml.replace(b'<row r="6"', b'<row r="%s"'),
    ],
    ids=["merge", "filter", "row"],
)
def test_a_workbook_with_such_a_number_is_answered(spoil: Callable[[bytes], bytes], tmp_path: Path) -> None:
    original = order_workbook()
    sheet = read_again(original, tmp_path)[0]
    spoiled = edited(original, SHEET_PART, lambda xml: spoil(xml).replace(b"%s", DIGITS.encode()))
    answer = result_workbook(order_report(), sheet=sheet, original=inert_workbook(spoiled))
    assert opened(answer).cell(8, 3).value == "+919876543208"


def test_a_header_with_such_a_number_is_suggested_a_mapping_for(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text(
        f"Order No,Phone,Address,SKU 1,Qty 1,SKU 2,Qty 2,SKU {DIGITS}\nA1,9876543210,1 Road,tea,1,rice,2,x\n"
    )
    command = [sys.executable, "-m", "logistics_batch", "mapping", "suggest", str(path), "--operation", "order.create"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert "the program itself failed" not in done.stderr
    assert done.returncode == 0, done.stderr
