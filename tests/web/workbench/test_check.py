"""A sheet is checked before it is dropped, corrected in the page, and handed to its job, which answers every row."""

import io
import json
import time
import zipfile
from typing import Any

import httpx
import pytest
from openpyxl import Workbook, load_workbook
from support.pages_process import Person, RunningPages, hidden_fields
from support.sandbox_process import RunningSandbox
from support.workspace import ORDER_COLUMNS, Workspace, order_lines

from .conftest import JOB

BAD = "C-9,98,9 Market Road,560001,SKU-1,x\n"


def checked(person: Person, content: str | bytes, name: str = "clerk.csv", as_: str = "job:nightly") -> str:
    """The address of the check of a sheet."""
    sheet = content.encode() if isinstance(content, str) else content
    answer = person.upload("/check/upload", {"as": as_}, name, sheet)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def told(person: Person, address: str, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = person.get(f"{address}.json{query}").json()
    return found


def correct(person: Person, address: str, **cells: str) -> Any:
    """Write into cells, as `cell_5_2`, of what is shown."""
    form = hidden_fields(person.get(address).text)
    form |= {"id": address.rpartition("/")[2], "seen": told(person, address)["seen"]}
    return person.post("/check/correct", form | {name.replace("_", "-"): text for name, text in cells.items()})


def hand(person: Person, address: str) -> Any:
    form = {"id": address.rpartition("/")[2], "seen": told(person, address)["seen"]}
    return person.post("/check/hand", form)


def test_every_row_is_told_what_would_become_of_it_and_nothing_is_sent(
    pages: RunningPages, service: RunningSandbox
) -> None:
    clerk, before = pages.person("clerk"), len(service.received())
    address = checked(clerk, order_lines(["C-1", "R-3"]) + BAD)
    found = told(clerk, address, "?fate=")
    assert [(row["row"], row["fate"], row["would"]) for row in found["rows"]] == [
        (2, "pending", "create"),
        (3, "held", ""),
        (4, "invalid", ""),
    ]
    assert found["columns"] == ORDER_COLUMNS.split(",")
    phone, quantity = found["rows"][2]["cells"][1], found["rows"][2]["cells"][5]
    assert phone["wrong"] and quantity["wrong"] and phone["text"] == "98"
    assert {each["column"] for each in found["problems"]} == {"Phone", "Qty"}
    would = told(clerk, address, "?document=C-1")["would"]
    assert json.loads(would["body"])["reference_number"] == "C-1"
    page = clerk.get(address).text
    assert 'name="cell-4-2" value="98"' in page
    assert 'name="cell-2-2"' not in page, "only rows to correct are shown at first"
    assert 'name="cell-2-2"' in clerk.get(f"{address}?fate=&row=2").text
    assert len(service.received()) == before
    assert clerk.get("/orders/C-1").status_code == 404, "nothing is written down"


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_sheet_is_corrected_handed_over_and_answered_like_any_other(
    pages: RunningPages, night: Workspace, kind: str
) -> None:
    clerk = pages.person("clerk")
    lines = f"{order_lines([f'{kind}-1'])}{kind}-9,98,9 Market Road,0560001,=SUM(1),x\n"
    content: bytes = lines.encode()
    if kind == "xlsx":
        book, out = Workbook(), io.BytesIO()
        for line in lines.splitlines():
            book.active.append([each if each != "=SUM(1)" else "SKU-1" for each in line.split(",")])
        book.save(out)
        content = out.getvalue()
    (night.root / "books").mkdir(exist_ok=True)
    night.job("books", JOB.replace("*.csv", "*.xlsx").replace("drop", "books"))
    address = checked(clerk, content, f"mine.{kind}", "job:nightly" if kind == "csv" else "job:books")
    answer = correct(clerk, address, cell_3_2="9876543210", cell_3_4="560001", cell_3_6="2")
    assert answer.headers["location"].partition("?")[0] == address
    page = clerk.get(address).text
    assert "3 cells corrected; 0 rows to correct." in page
    assert "3 cells corrected" in clerk.get("/check").text or told(clerk, address)["corrected"] == 3
    download = clerk.get(f"/check/file/{address.rpartition('/')[2]}")
    assert "attachment" in download.headers["content-disposition"]
    sheet = load_workbook(io.BytesIO(download.content)).active
    assert [cell.value for cell in sheet[3]][:4] == [f"{kind}-9", "9876543210", "9 Market Road", "560001"]
    assert hand(clerk, address).headers["location"] == "/check"
    assert "was handed over" in clerk.get("/check").text
    assert clerk.get(address).status_code == 404
    assert night.run("run", "nightly" if kind == "csv" else "books").code == 0
    for reference in (f"{kind}-1", f"{kind}-9"):
        (version,) = clerk.get(f"/orders/{reference}.json").json()["versions"]
        assert version["state"] == "accepted"
    entries = pages.person("admin").get("/admin/audit.json").json()["entries"]
    assert "handed a sheet to a job" in [each["what"] for each in entries if each["who"] == "clerk of tests"]


def test_what_was_not_corrected_is_handed_over_byte_by_byte(pages: RunningPages, night: Workspace) -> None:
    clerk = pages.person("clerk")
    content = order_lines(["B-1"])
    address = checked(clerk, content, "bytes.csv")
    assert hand(clerk, address).status_code == 303
    assert (night.root / "drop/bytes.csv").read_text() == content
    again = checked(clerk, content, "bytes.csv")
    answer = hand(clerk, again)
    assert answer.status_code == 409
    assert "was not taken yet" in answer.text
    (night.root / "drop/bytes.csv").unlink()


def test_what_is_not_as_it_was_shown_is_neither_corrected_nor_handed_over(pages: RunningPages) -> None:
    clerk = pages.person("clerk")
    address = checked(clerk, order_lines(["S-1"]) + BAD)
    old = {
        "id": address.rpartition("/")[2],
        "seen": told(clerk, address)["seen"],
        "sheet": told(clerk, address)["sheet"],
    }
    assert correct(clerk, address, cell_3_2="9876543210").status_code == 303
    for path in ("/check/correct", "/check/hand"):
        assert clerk.post(path, old | {"cell-3-6": "1"}).status_code == 409
    assert told(clerk, address)["corrected"] == 1


def test_a_check_is_seen_by_nobody_else(pages: RunningPages) -> None:
    address = checked(pages.person("clerk"), order_lines(["P-1"]))
    operator = pages.person("operator")
    name = address.rpartition("/")[2]
    for path in (address, f"{address}.json", f"/check/file/{name}"):
        assert operator.get(path).status_code == 404
        assert pages.person("viewer").get(path).status_code == 403
    assert operator.post("/check/hand", {"id": name, "seen": "x"}).status_code == 404
    assert pages.stranger().get(f"/check/file/{name}").status_code == 303


def test_what_no_job_takes_is_said_before_it_is_handed_over(pages: RunningPages) -> None:
    clerk = pages.person("clerk")
    address = checked(clerk, order_lines(["T-1"]), "wrong.txt")
    assert "takes files named *.csv" in told(clerk, address)["why_not"]
    assert hand(clerk, address).status_code == 409
    alone = checked(clerk, order_lines(["T-1"]), as_="mapping:orders")
    assert told(clerk, alone)["why_not"]
    assert hand(clerk, alone).status_code == 409


def hostile() -> dict[str, bytes]:
    bomb, several = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", b"\0" * (64 << 20))
    with zipfile.ZipFile(several, "w") as archive:
        archive.writestr("a.csv", order_lines(["Z-1"]))
        archive.writestr("b.csv", order_lines(["Z-2"]))
    return {
        "bomb.xlsx": bomb.getvalue(),
        "several.zip": several.getvalue(),
        "empty.csv": b"",
        "noise.xlsx": bytes(range(256)) * 50,
        "other.csv": b"A,B\n1,2\n",
        "page.csv": b"<html><script>alert(1)</script></html>",
        "..\\x.csv": b"A\n",
    }


def test_a_hostile_file_is_answered_with_words(pages: RunningPages) -> None:
    clerk = pages.person("clerk")
    for name, content in hostile().items():
        answer = clerk.upload("/check/upload", {"as": "job:nightly"}, name, content)
        check_answer(clerk, answer)


def check_answer(clerk: Person, answer: httpx.Response) -> None:
    if answer.status_code == 303:
        found = told(clerk, answer.headers["location"])
        assert found["held"]["reason"]
        assert "<script>alert" not in clerk.get(answer.headers["location"]).text
    else:
        assert answer.status_code == 409
        assert "What to do:" in answer.text
    assert clerk.get("/check").status_code == 200


def test_more_than_is_taken_is_refused_and_kept_from_strangers(pages: RunningPages) -> None:
    clerk = pages.person("clerk")
    large = b"A,B\n" * (5 << 20)
    assert clerk.upload("/check/upload", {"as": "job:nightly"}, "large.csv", large).status_code == 413
    middle = order_lines([f"L-{n}" + "-" * 200 for n in range(8000)]).encode()  # more than a form may have
    assert clerk.upload("/check/upload", {"as": "job:nightly"}, "middle.csv", middle).status_code == 303
    for person in (pages.stranger(), pages.person("viewer")):
        answer = person.client.post("/check/upload", files={"file": ("middle.csv", middle)})
        assert answer.status_code == 413


def test_five_thousand_rows_are_shown_within_three_seconds_and_in_parts(pages: RunningPages) -> None:
    clerk = pages.person("clerk")
    lines = order_lines([f"M-{n}" for n in range(5000)]).replace("987650", "98", 100)
    clerk.get("/check")
    checked(clerk, order_lines(["M-0"]))  # the process for foreign bytes is there, as it is on any day
    began = time.monotonic()
    page = clerk.get(checked(clerk, lines, "many.csv"))
    took = time.monotonic() - began
    assert "Further rows" in page.text
    assert took < 3, took
    assert len(page.content) < 150_000


def test_the_sheets_that_are_looked_at_do_not_fill_the_memory(pages: RunningPages) -> None:
    clerk = pages.person("clerk")
    first = checked(clerk, order_lines(["F-1"]))
    for _ in range(24):
        checked(clerk, order_lines(["F-1"]))
    assert clerk.get(first).status_code == 404
    assert len(clerk.get("/check.json").json()["checks"]) <= 24


def test_two_sheets_are_corrected_each_for_itself(pages: RunningPages, night: Workspace) -> None:
    night.mapping(
        "two",
        "operation: order.create\nkey: [Order No]\nsheet: {name: Orders}\nfields:\n"
        "  reference_number: {from: Order No, required: true}\n"
        "  customer_mobile: {from: Phone, read: mobile, required: true}\n"
        "  delivery_address: {from: Address, required: true}\n"
        "lines_sheet: {name: Lines, key: [Order No]}\n"
        "lines:\n  item_name: {from: SKU, required: true}\n  item_quantity: {from: Qty, read: integer}\n",
    )
    clerk = pages.person("clerk")
    book, out = Workbook(), io.BytesIO()
    book.active.title = "Orders"
    for row in (["Order No", "Phone", "Address"], ["W-1", "98", "1 Market Road"]):
        book.active.append(row)
    lines = book.create_sheet("Lines")
    for row in (["Order No", "SKU", "Qty"], ["W-1", "SKU-1", "x"]):
        lines.append(row)
    book.save(out)
    address = checked(clerk, out.getvalue(), "two.xlsx", "mapping:two")
    found = told(clerk, address)
    assert found["sheets"] == ["Orders", "Lines"]
    assert correct(clerk, address, cell_2_2="9876543210").status_code == 303
    lines_of = f"{address}?sheet=Lines"
    assert told(clerk, address, "?sheet=Lines")["rows"][0]["cells"][2]["wrong"]
    form = hidden_fields(clerk.get(lines_of).text) | {"id": address.rpartition("/")[2], "cell-2-3": "4"}
    assert clerk.post("/check/correct", form | {"seen": told(clerk, address)["seen"]}).status_code == 303
    found = told(clerk, address, "?document=W-1")
    assert (found["to_correct"], found["corrected"]) == (0, 2)
    assert '"item_quantity":4' in found["would"]["body"].replace(" ", "")
