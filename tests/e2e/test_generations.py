"""The workbook that came back is corrected and dropped again, three times: each order is created once."""

import io
from collections import Counter
from pathlib import Path

from openpyxl import Workbook, load_workbook
from support.sandbox_process import RunningSandbox
from support.workspace import ORDER_COLUMNS, Workspace

HEADER = ORDER_COLUMNS.split(",")
ORDERS = 12


def first_workbook() -> bytes:
    """Twelve orders; three phones, three PINs and three quantities are wrong, a title stands above."""
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.append(["Orders of Tuesday"])
    sheet.append(HEADER)
    for number in range(ORDERS):
        phone = "12345" if number < 3 else f"98765{number:05d}"
        pin = "5600" if 3 <= number < 6 else "560001"
        quantity: object = "none" if 6 <= number < 9 else 2
        sheet.append([f"A-{number}", phone, f"{number} Market Road", pin, "TEA", quantity])
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def corrected(answer: Path, *, column: str, value: object) -> tuple[bytes, int]:
    """The answer as a clerk sends it again: the wrong cells of one column are mended, nothing else is touched."""
    workbook = load_workbook(answer)
    sheet = workbook.active
    assert sheet is not None
    names = [cell.value for cell in sheet[2]]
    mended = 0
    for row in sheet.iter_rows(min_row=3):
        cell = row[names.index(column)]
        if cell.comment is not None:  # that is how a clerk sees which cell is wrong
            cell.value = value
            mended += 1
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue(), mended


def statuses(answer: Path) -> Counter[str]:
    sheet = load_workbook(answer).active
    assert sheet is not None
    place = [cell.value for cell in sheet[2]].index("Status")
    return Counter(str(row[place]) for row in sheet.iter_rows(min_row=3, values_only=True) if row[0])


def newest(workspace: Workspace) -> Path:
    """The answer to the last round; each content has its own."""
    return max((workspace.root / "reports").glob("orders*.result.xlsx"), key=lambda path: path.stat().st_mtime_ns)


def test_three_rounds_of_corrections_create_each_order_once(workspace: Workspace, sandbox: RunningSandbox) -> None:
    workspace.run("push", workspace.drop("orders.xlsx", first_workbook()), "--mapping", "orders")
    answer = newest(workspace)
    assert statuses(answer) == {"accepted": 3, "invalid": 9}
    for round_number, (column, value) in enumerate((("Phone", "9876543210"), ("PIN", "560001"), ("Qty", 3)), 1):
        content, mended = corrected(answer, column=column, value=value)
        assert mended == 3
        workspace.run("push", workspace.drop("orders.result.xlsx", content), "--mapping", "orders")
        answer = newest(workspace)
        found = statuses(answer)
        assert found["accepted"] == 3, "what was mended"
        assert found["unchanged"] == 3 * round_number, "what had gone out before"
        assert found["invalid"] == 9 - 3 * round_number
    created = Counter(line["reference_number"] for line in sandbox.committed("order.created"))
    assert created == {f"A-{number}": 1 for number in range(ORDERS)}
