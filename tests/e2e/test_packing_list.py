"""A packing list with its invoice above its table and its date below: answered at its cells, corrected, sent again."""

import csv
import io
import json
from pathlib import Path

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace

MAPPING = """\
operation: asn.create
key: file
fields:
  invoice_number: {beside: Invoice No}
  supplier_name: {cell: C1}
  site_name: {beside: Deliver at}
  delivery_date: {beside: Expected, read: {date: "%d.%m.%Y"}}
lines:
  sku_name: {from: Style}
  qty: {from: Packing Pcs/Ctn, read: {suffix: Nos}, cartons: Ctns}
sheet: {header_rows: 2}
"""
ROWS: list[list[object]] = [
    ["Supplier", None, "Vaibhav Housewares"],
    ["Invoice No. : VHP/0457"],
    ["Deliver at", None, "Luhari FC"],
    [None, None, "Packing"],
    ["Ctns", "Style", "Pcs/Ctn", "Cost"],
    ["1-6", "CK-PAN24", "24 Nos", 410],
    ["7-", "CK-KAD26", "12 Nos", 720],
    ["Total", None, "372 Nos"],
    ["Prepared by", "Asha", None, "Expected:", "soon"],
]


def workbook() -> bytes:
    sheet = openpyxl.Workbook().active
    assert sheet is not None
    for row in ROWS:
        sheet.append(row)
    for merged in ("A1:B1", "A3:B3", "C4:D4"):
        sheet.merge_cells(merged)
    return saved(sheet)


def saved(sheet: Worksheet) -> bytes:
    out = io.BytesIO()
    assert sheet.parent is not None
    sheet.parent.save(out)  # type: ignore[union-attr]
    return out.getvalue()


def opened(path: Path) -> Worksheet:
    sheet = openpyxl.load_workbook(path).active
    assert sheet is not None
    return sheet


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "left"), [("pack.fix.xlsx", 2), ("pack.result.xlsx", 0)])
def test_what_is_wrong_above_or_below_the_table_is_corrected_there(
    answer: str, left: int, workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("pack", MAPPING)
    path = workspace.drop("pack.xlsx", workbook())
    done = workspace.run("push", path, "--mapping", "pack", "--results", "results")
    results = workspace.root / "results"
    assert (done.code, len(sandbox.committed("asn.created"))) == (3, 0), done.err
    lines = list(csv.DictReader((results / "pack.result.csv").read_text("utf-8-sig").splitlines()))
    assert [(line["row"], line["cell"], line["rule"]) for line in lines if line["fate"] == "invalid"] == [
        ("6", "E9", "delivery_date|date"),
        ("7", "A7", "qty|cartons"),
    ]
    sheet = opened(results / answer)
    wrong = {
        cell.coordinate for row in sheet.iter_rows() for cell in row if cell.comment and "no date" in cell.comment.text
    }
    assert wrong == {"G8" if left else "E9"}
    right = {"soon": "05.11.2026", "7-": "7-9"}
    for cell in (cell for row in sheet.iter_rows() for cell in row if cell.value in right):
        cell.value = right[str(cell.value)]
    again = workspace.run(
        "push", workspace.drop(answer, saved(sheet)), "--mapping", "pack", "--results", "results", "--json"
    )
    assert again.code == 0, again.err
    assert len(sandbox.committed("asn.created")) == 1
    body = json.loads(again.json["files"][0]["documents"][0]["body"])
    assert (body["invoice_number"], body["supplier_name"], body["site_name"]) == (
        "VHP/0457",
        "Vaibhav Housewares",
        "Luhari FC",
    )
    assert [(line["sku_name"], line["qty"]) for line in body["sku_lines"]] == [("CK-PAN24", "144"), ("CK-KAD26", "36")]
