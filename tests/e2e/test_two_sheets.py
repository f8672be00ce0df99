"""Orders on one sheet and their items on another, from the workbook to the service and back."""

import io

import openpyxl
import pytest
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


@pytest.mark.slow
def test_the_answers_stand_beside_the_orders_and_lost_lines_below_them(
    workspace: Workspace, sandbox: RunningSandbox
) -> None:
    workspace.mapping("two", MAPPING)
    orders: list[list[object]] = [[101, 9876543210, "12 MG Road"], [102, 9876543211, "14 MG Road"]]
    path = workspace.drop("two.xlsx", workbook(orders, [[102, "tea", 2], [101, "rice", 1], [103, "salt", 4]]))
    done = workspace.run("push", path, "--mapping", "two", "--results", "results", "--json")
    (file,) = done.json["files"]
    assert done.code == 3, done.err
    assert [(row["row"], row["fate"]) for row in file["rows"]] == [(2, "accepted"), (3, "accepted"), (4, "invalid")]
    assert len(sandbox.committed("order.created")) == 2
    sheet = openpyxl.load_workbook(workspace.root / "results/two.result.xlsx")["Orders"]
    told = [[cell.value for cell in row][:5] for row in sheet.iter_rows(min_row=2)]
    assert told[0][3] == "accepted"
    assert told[2][3] == "invalid" and 'Sheet "Items", row 4' in str(told[2][4])
    mended = workspace.drop("mended.xlsx", workbook(orders, [[102, "tea", 2], [101, "rice", 1]]))
    again = workspace.run("push", mended, "--mapping", "two", "--json")
    assert [row["fate"] for row in again.json["files"][0]["rows"]] == ["unchanged", "unchanged"]
    assert len(sandbox.received("order.create")) == 2
