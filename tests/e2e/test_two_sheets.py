"""Orders on one sheet and their items on another, from the workbook to the service and back."""

import csv
import io
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from support.result_samples import edited
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace

MAPPING = """\
operation: order.create
key: [Order No]
lines_sheet: {name: Items, key: [Order No]}
fields:
  reference_number: {from: Order No, required: true}
  customer_mobile: {from: Phone, required: true}
  delivery_address: {from: Address, required: true}
lines:
  item_name: {from: SKU, required: true}
  item_quantity: {from: Qty}
"""


def workbook(orders: list[list[object]], items: list[list[object]]) -> bytes:
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "Orders"
    for line in [["Order No", "Phone", "Address"], *orders]:
        first.append(line)
    second = book.create_sheet("Items")
    for line in [["Order No", "SKU", "Qty"], *items]:
        second.append(line)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


ORDERS: list[list[object]] = [[101, 9876543210, "12 MG Road"], [102, 9876543211, "14 MG Road"]]
ITEMS: list[list[object]] = [[102, "tea", 2], [101, "rice", "two"], [101, "dal", 3], [103, "salt", 4]]
FATES = {
    ("Orders", 2): "blocked",
    ("Orders", 3): "accepted",
    ("Items", 2): "accepted",
    ("Items", 3): "invalid",
    ("Items", 4): "blocked",
    ("Items", 5): "invalid",
}


def fates(file: dict[str, Any]) -> dict[tuple[str, int], str]:
    """What became of each row, by sheet and number; each stands once, and the counts add up."""
    found = {(row["sheet"], row["row"]): row["fate"] for row in file["rows"]}
    assert len(found) == len(file["rows"]) == file["rows_read"] == sum(file["counts"].values())
    return found


def told(path: Path, sheet: str, column: int) -> list[list[object]]:
    """Two cells of each row of a sheet, from a column on."""
    rows = openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)
    return [list(row[column : column + 2]) for row in rows]


@pytest.mark.slow
def test_each_row_of_both_sheets_is_answered_beside_it_and_only_failing_documents_are_to_be_fixed(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("two", MAPPING)
    path = workspace.drop("two.xlsx", workbook(ORDERS, ITEMS))
    looked = workspace.run("push", path, "--mapping", "two", "--dry-run", "--json").json["files"][0]
    assert fates(looked) == {place: fate.replace("accepted", "pending") for place, fate in FATES.items()}
    said = workspace.run("push", path, "--mapping", "two", "--dry-run").out
    assert 'Row 3 of "Items", cell C3 (Qty): The cell is not a whole number.' in said
    done = workspace.run("push", path, "--mapping", "two", "--results", "results", "--json")
    assert (done.code, fates(done.json["files"][0])) == (3, FATES), done.err
    assert len(sandbox.committed("order.created")) == 1

    results = workspace.root / "results"
    assert [status for status, _ in told(results / "two.result.xlsx", "Orders", 3)] == ["Status", "blocked", "accepted"]
    items = told(results / "two.result.xlsx", "Items", 3)
    assert [status for status, _ in items] == ["Status", "accepted", "invalid", "blocked", "invalid"]
    assert [words for _, words in items[2:]] == [
        "C3: The cell is not a whole number.",
        "The document is not sent: row 3 is invalid.",
        'A5: No row of the sheet "Orders" has "103" in "Order No".',
    ]
    lines = list(csv.DictReader((results / "two.result.csv").read_text("utf-8-sig").splitlines()))
    assert {(line["sheet"], int(line["row"])): line["fate"] for line in lines} == FATES
    assert [line["src:SKU"] for line in lines] == ["", "", "tea", "rice", "dal", "salt"]

    fix = results / "two.fix.xlsx"
    assert told(fix, "Orders", 2) == [["Order No", "Phone"], [101, 9876543210]]
    assert told(fix, "Items", 2) == [["Order No", "SKU"], [101, "rice"], [101, "dal"], [103, "salt"]]
    assert "not a whole number" in str(openpyxl.load_workbook(fix)["Items"]["E2"].comment)


@pytest.mark.slow
def test_a_mended_answer_sends_what_was_not_sent_and_nothing_twice(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("two", MAPPING)
    path = workspace.drop("two.xlsx", workbook(ORDERS, ITEMS))
    workspace.run("push", path, "--mapping", "two", "--results", "results")
    book = openpyxl.load_workbook(workspace.root / "results/two.result.xlsx")
    book["Items"]["C3"] = 5
    book["Items"].delete_rows(5)
    book.save(out := io.BytesIO())
    mended = workspace.drop("two.result.xlsx", out.getvalue())
    again = workspace.run("push", mended, "--mapping", "two", "--results", "results", "--json")
    assert again.code == 0, again.err
    of_101 = {("Orders", 2): "accepted", ("Items", 3): "accepted", ("Items", 4): "accepted"}
    assert fates(again.json["files"][0]) == {("Orders", 3): "unchanged", ("Items", 2): "unchanged"} | of_101
    assert len(sandbox.committed("order.created")) == 2
    answer = workspace.root / "results/two.result.xlsx"
    assert [status for status, _ in told(answer, "Items", 3)] == ["Status", "unchanged", "accepted", "accepted"]
    assert openpyxl.load_workbook(answer)["Items"].max_column == 8  # the columns of the first answer were replaced


@pytest.mark.slow
def test_a_workbook_that_cannot_be_changed_in_place_is_answered_on_both_sheets(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("two", MAPPING)

    def remarked(xml: bytes) -> bytes:
        return xml.replace(b"<sheetData>", b"<!-- seen --><sheetData>")

    path = workspace.drop("two.xlsx", edited(workbook(ORDERS, ITEMS), "xl/worksheets/sheet2.xml", remarked))
    done = workspace.run("push", path, "--mapping", "two", "--results", "results", "--json")
    assert (done.code, fates(done.json["files"][0])) == (3, FATES), done.err
    results = workspace.root / "results"
    assert [status for status, _ in told(results / "two.result.xlsx", "Orders", 3)] == ["Status", "blocked", "accepted"]
    items = told(results / "two.result.xlsx", "Items", 3)
    assert [status for status, _ in items] == ["Status", "accepted", "invalid", "blocked", "invalid"]
    assert [line[0] for line in told(results / "two.fix.xlsx", "Items", 2)] == ["Order No", 101, 101, 103]
    assert len(sandbox.committed("order.created")) == 1
