"""`mapping suggest` as people use it: a draft saved as a mapping, and a diff for a file that drifted."""

import gzip

from cli.conftest import Run
from openpyxl import Workbook
from support.workspace import Workspace, order_lines


def test_a_draft_is_saved_by_hand_and_then_maps_its_file(run: Run, workspace: Workspace) -> None:
    path = workspace.drop("orders.csv", order_lines(["A", "B"]))
    done = run("mapping", "suggest", path)
    assert (done.code, done.err) == (0, "")
    assert not (workspace.root / "mappings/new.yaml").exists()
    workspace.mapping("new", done.out)
    assert run("mapping", "lint", "new").code == 2  # nothing says who pays
    workspace.mapping("new", done.out.replace('is_cod: {from: "?"}', 'is_cod: {constant: "false"}'))
    assert run("mapping", "lint", "new").code == 0
    preview = run("mapping", "preview", path, "--mapping", "new", "--json")
    assert preview.json["files"][0]["counts"]["pending"] == 2


def test_the_draft_as_data_names_columns_places_and_reasons(run: Run, workspace: Workspace) -> None:
    path = workspace.drop("orders.csv", order_lines(["A"]))
    draft = run("mapping", "suggest", path, "--operation", "order.create", "--json").json
    phone = next(each for each in draft["columns"] if each["place"] == "fields.customer_mobile")
    assert (phone["column"], draft["operation"], draft["spare"]) == ("Phone", "order.create", [])
    assert 0 < phone["confidence"] < 1 and phone["reason"]


def test_a_layout_that_drifted_gives_a_diff_and_changes_nothing(run: Run, workspace: Workspace) -> None:
    before = (workspace.root / "mappings/orders.yaml").read_text()
    path = workspace.drop("orders.csv", order_lines(["A"]).replace("Phone", "Contact No", 1))
    done = run("mapping", "suggest", path, "--like", "orders")
    assert done.code == 0, done.err
    assert '+  customer_mobile: {from: [Phone, "Contact No"], read: mobile, required: true}' in done.out
    assert (workspace.root / "mappings/orders.yaml").read_text() == before
    assert (
        "knows every column"
        in run("mapping", "suggest", workspace.drop("b.csv", order_lines(["A"])), "--like", "orders").out
    )
    without = workspace.drop("c.csv", order_lines(["A"]).replace("Address", "Zone", 1))
    assert "knows every column" not in run("mapping", "suggest", without, "--like", "orders").out


def test_the_sheet_is_named_and_questions_are_data(run: Run, workspace: Workspace) -> None:
    book = Workbook()
    book.active.append(["Order No", "Place", "Phone", "SKU", "Qty", "Payment"])
    book.active.append(["A1", "Pune", "9876543210", "tea", "2", "Prepaid"])
    other = book.create_sheet("March")
    other.append(["Order No", "Ship to address", "Town", "Phone", "SKU", "Qty", "Payment"])
    other.append(["A1", "12 MG Road, Camp", "Pune", "9876543210", "tea", "2", "Prepaid"])
    path = workspace.root / "drop.xlsx"
    book.save(path)
    found = run("mapping", "suggest", str(path), "--sheet", "mar*", "--json").json
    assert (found["sheet"], found["header_row"], found["header_rows"], found["questions"]) == ("March", 1, 1, [])
    first = run("mapping", "suggest", str(path), "--sheet", "Sheet", "--json").json
    (question,) = first["questions"]
    assert (question["place"], question["answers"]) == ("fields.delivery_address", ["Place"])
    assert question["candidates"][0]["samples"] == ["Pune"]
    workspace.mapping("open", first["text"])
    lint = run("mapping", "lint", "open", "--json")
    assert lint.code == 2 and "`Place`" in str(lint.json)
    gone = run("mapping", "suggest", str(path), "--sheet", "April")
    assert gone.code == 2 and "March" in gone.err
    assert "either --like or --sheet" in run("mapping", "suggest", str(path), "--sheet", "x", "--like", "orders").err


def test_a_sheet_with_another_date_in_its_name_is_compared_and_its_name_put_right(
    run: Run, workspace: Workspace
) -> None:
    book = Workbook()
    book.active.title = "Despatch 29-Nov"
    upper, names = ["", "Consignee", "", "Items", ""], ["Order No", "Address", "Phone", "SKU", "Qty"]
    for row in (upper, names, ["A1", "12 MG Road, Pune", "9876543210", "tea", "2"]):
        book.active.append(row)
    path = workspace.root / "drop.xlsx"
    book.save(path)
    text = run("mapping", "suggest", str(path), "--operation", "order.create").out
    text = text.replace('is_cod: {from: "?"}', 'is_cod: {constant: "false"}')
    assert "Despatch" not in text
    workspace.mapping("dated", text.replace("sheet:", 'sheet:\n  name: "Despatch 28-Nov"', 1))
    found = run("mapping", "suggest", str(path), "--like", "dated")
    assert found.code == 0 and '"Despatch *"' in found.out, (found.out, found.err)


def test_what_cannot_be_proposed_is_said(run: Run, workspace: Workspace) -> None:
    numbers = workspace.drop("numbers.csv", "1,2\n3,4\n")
    assert "looks like a header" in run("mapping", "suggest", numbers).err
    assert "There is no operation" in run("mapping", "suggest", numbers, "--operation", "order.make").err
    assert "No such file" in run("mapping", "suggest", "gone.csv").err
    both = run("mapping", "suggest", numbers, "--like", "orders", "--operation", "order.create")
    assert (both.code, "either --like or --operation" in both.err) == (2, True)
    assert "has no column of the mapping" in run("mapping", "suggest", numbers, "--like", "orders").err


def test_a_packed_file_is_looked_into(run: Run, workspace: Workspace) -> None:
    packed = workspace.root / "drop.csv.gz"
    packed.write_bytes(gzip.compress(order_lines(["A"]).encode()))
    assert "operation: order.create" in run("mapping", "suggest", str(packed)).out
