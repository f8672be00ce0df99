"""What people do to a workbook that came back before they drop it again: whatever it is, nothing is created twice."""

import io
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet
from support.libreoffice import converted
from support.sandbox_process import RunningSandbox
from support.workspace import ORDER_COLUMNS, ORDERS_MAPPING, Workspace

HEADER = ORDER_COLUMNS.split(",")
OURS = len(HEADER) + 1  # the first column of ours
RIGHT = {"Phone": "9876543210", "PIN": "560001", "Qty": 3}
ROWS = [  # 0, 3 and 5 are wrong
    ("0", "12345", "560001", 2),
    ("1", "9876500001", "560001", 2),
    ("1", "9876500001", "560001", 1),
    ("2", "9876500002", "560001", 2),
    ("3", "9876500003", "5600", 2),
    ("4", "9876500004", "560001", 2),
    ("5", "9876500005", "560001", 2),
    ("5", "9876500005", "560001", "none"),
]
FIRST_ROW = 3
ACCEPTED, WAITING = set("124"), set("035")
File = dict[str, Any]  # as --json tells of it


@dataclass(frozen=True)
class Desk:
    """A warehouse office whose first workbook was answered; its orders are its own."""

    workspace: Workspace
    service: RunningSandbox
    name: str

    def push(self, *drops: tuple[str, bytes]) -> list[File]:
        files = [self.workspace.drop(name, content) for name, content in drops]
        report = self.workspace.run("push", *files, "--mapping", "orders", "--json").json
        return list(report["files"])

    def created(self) -> Counter[str]:
        orders = (line["reference_number"] for line in self.service.committed("order.created"))
        return Counter(order.removeprefix(self.name) for order in orders if order.startswith(self.name))

    @property
    def reports(self) -> Path:
        return self.workspace.root / "reports"

    def first_workbook(self) -> bytes:
        sheet = Workbook().active
        assert sheet is not None
        sheet.append(["Orders of Tuesday"])
        sheet.append(HEADER)
        for number, (order, phone, pin, quantity) in enumerate(ROWS):
            sheet.append([self.name + order, phone, f"{order} Market Road", pin, f"SKU-{number}", quantity])
        return workbook_of(sheet)

    def answer(self, name: str = "orders.result.xlsx", **right: object) -> Worksheet:
        """The workbook that came back, its commented cells mended."""
        sheet = load_workbook(self.reports / name).active
        assert sheet is not None
        header = next(row for row in sheet.iter_rows() if HEADER[0] in {cell.value for cell in row})
        names = [cell.value for cell in header]
        for row in sheet.iter_rows(min_row=header[0].row + 1, max_col=names.index(HEADER[-1]) + 1):
            for cell in row:
                if cell.comment is not None:
                    cell.value = (RIGHT | right)[str(names[cell.column - 1])]
        return sheet


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return count(1)


@pytest.fixture
def desk(tmp_path: Path, service: RunningSandbox, numbers: Iterator[int]) -> Desk:
    workspace = Workspace(tmp_path / "workspace", url=service.url)
    found = Desk(workspace, service, f"DESK{next(numbers)}-")
    found.push(("orders.xlsx", found.first_workbook()))
    assert found.created() == dict.fromkeys(ACCEPTED, 1)
    return found


def workbook_of(sheet: Worksheet) -> bytes:
    file = io.BytesIO()
    sheet.parent.save(file)
    return file.getvalue()


def fates(file: File) -> dict[str, int]:
    return {fate: number for fate, number in file["counts"].items() if number and fate != "skipped"}


def with_rows_inserted(sheet: Worksheet) -> bytes:
    sheet.insert_rows(4)
    sheet.insert_rows(8)
    return workbook_of(sheet)


def sorted_by_status(sheet: Worksheet) -> bytes:
    rows = sorted(sheet.iter_rows(min_row=FIRST_ROW, values_only=True), key=lambda row: str(row[OURS - 1]))
    for number, row in enumerate(rows, FIRST_ROW):
        for column, value in enumerate(row, 1):
            sheet.cell(number, column).value = value
    return workbook_of(sheet)


def filtered(sheet: Worksheet) -> bytes:
    for number in range(FIRST_ROW, sheet.max_row + 1):
        sheet.row_dimensions[number].hidden = sheet.cell(number, OURS).value == "accepted"
    return workbook_of(sheet)


def columns_moved(sheet: Worksheet) -> bytes:
    for number, row in enumerate(list(sheet.iter_rows(min_row=2, values_only=True)), 2):
        for column, value in enumerate([*row[len(HEADER) :], *reversed(row[: len(HEADER)])], 1):
            sheet.cell(number, column).value = value
    return workbook_of(sheet)


def half_of_ours_deleted(sheet: Worksheet) -> bytes:
    sheet.delete_cols(OURS + 3, 2)
    return workbook_of(sheet)


def renamed(sheet: Worksheet) -> bytes:
    sheet.title = "Copy of Orders (2)"
    return workbook_of(sheet)


def several(*acts: Callable[[Worksheet], bytes]) -> Callable[[Worksheet], bytes]:
    """One after the other, as people do."""

    def done(sheet: Worksheet) -> bytes:
        return [act(sheet) for act in acts][-1]

    return done


@pytest.mark.parametrize(
    "act",
    [
        several(renamed, filtered, with_rows_inserted),
        several(sorted_by_status, half_of_ours_deleted),
        columns_moved,
    ],
    ids=["rows", "order", "columns"],
)
def test_a_corrected_answer_goes_through_however_it_was_handled(act: Callable[[Worksheet], bytes], desk: Desk) -> None:
    (file,) = desk.push(("orders.result.xlsx", act(desk.answer())))
    assert fates(file) == {"accepted": 4, "unchanged": 4}
    assert desk.created() == dict.fromkeys(ACCEPTED | WAITING, 1)
    sheet = load_workbook(desk.reports / "orders.result.xlsx").active
    assert sheet is not None
    texts = [cell.value for row in sheet.iter_rows() for cell in row]
    assert texts.count("What to do") == 1, "the marks of the earlier round are gone"


def test_libreoffice_may_save_it_in_between(desk: Desk) -> None:
    edited = desk.workspace.drop("orders.xlsx", workbook_of(desk.answer()), folder="edited")
    (saved,) = converted([edited], "xlsx:Calc MS Excel 2007 XML")
    (file,) = desk.push(("orders.result.xlsx", saved.read_bytes()))
    assert fates(file) == {"accepted": 4, "unchanged": 4}
    assert desk.created() == dict.fromkeys(ACCEPTED | WAITING, 1)


def test_a_row_taken_out_of_an_accepted_order_or_added_to_it_waits_for_a_person(desk: Desk) -> None:
    sheet = desk.answer()
    sheet.delete_rows(FIRST_ROW + 1)  # one of the two rows of order 1
    sheet.append([f"{desk.name}2", "9876500002", "2 Market Road", "560001", "SKU-9", 1])
    (file,) = desk.push(("orders.result.xlsx", workbook_of(sheet)))
    assert fates(file) == {"accepted": 4, "unchanged": 1, "held": 3}
    assert desk.created() == dict.fromkeys(ACCEPTED | WAITING, 1)
    told = {(row["document"].removeprefix(desk.name), row["fix"]) for row in file["rows"] if row["fate"] == "held"}
    assert {document for document, _ in told} == {"1", "2"}
    assert all("operator" in fix and "--" not in fix for _, fix in told), "in words for a clerk"


def test_a_fix_file_can_be_sorted_where_blank_cells_and_marks_stood_for_the_cell_above(
    tmp_path: Path, service: RunningSandbox, numbers: Iterator[int]
) -> None:
    workspace, mark = Workspace(tmp_path / "workspace", url=service.url), f"BLANK{next(numbers)}-"
    blanks = "sheet: {fill_down: [Order No, Phone, Address, PIN]}\nlines:"
    workspace.mapping("orders", ORDERS_MAPPING.replace("lines:", blanks))
    desk, sheet = Desk(workspace, service, mark), Workbook().active
    assert sheet is not None
    for row in (
        HEADER,
        [f"{mark}1", "98765", "1 Market Road", 560001, "S1", 10],
        [None, None, None, None, "S4", 5],
        [None, None, None, None, "S3", 3],
        [f"{mark}2", "9876500002", "2 Market Road", 560002, "S2", "two"],
        [None, None, None, None, "S0", 2],
        [f"{mark}3", "9876500002", "3 Market Road", 560002, "S5", "one"],
        ["ditto", '"', '"', '"', "S6", 1],
    ):
        sheet.append(row)
    sheet.merge_cells("D2:D4")
    desk.push(("orders.xlsx", workbook_of(sheet)))
    fix = desk.answer("orders.fix.xlsx")
    rows = sorted(fix.iter_rows(min_row=2, values_only=True), key=lambda row: str(row[6]))  # by SKU
    for number, row in enumerate(rows, 2):
        for column, value in enumerate(row, 1):
            fix.cell(number, column).value = value
    (file,) = desk.push(("orders.fix.xlsx", workbook_of(fix)))
    assert fates(file) == {"accepted": 7}, [(r["row"], r["fate"], r["reason"]) for r in file["rows"]]
    items = {}
    for number in "123":
        (order,) = service.orders(reference=f"{mark}{number}")
        bodies = [item["body"] for item in order["items"]]
        items[number] = {each["item_name"]: each["item_quantity"] for each in bodies}
    assert items == {"1": {"S1": 10, "S4": 5, "S3": 3}, "2": {"S2": 3, "S0": 2}, "3": {"S5": 3, "S6": 1}}


def test_answer_and_fix_file_dropped_together_create_each_order_once(desk: Desk) -> None:
    drops = [
        ("orders.result.xlsx", workbook_of(desk.answer())),
        ("orders.fix.xlsx", workbook_of(desk.answer("orders.fix.xlsx"))),
    ]
    assert [fates(file) for file in desk.push(*drops)] == [{"accepted": 4, "unchanged": 4}, {"accepted": 4}]
    assert desk.created() == dict.fromkeys(ACCEPTED | WAITING, 1)


def test_three_rounds_that_correct_one_thing_each_create_each_order_once_under_one_name(desk: Desk) -> None:
    wrong: dict[str, object] = {"Phone": "98765", "PIN": "56", "Qty": 0}
    for number, right in enumerate(wrong, 1):
        wrong[right] = RIGHT[right]
        (file,) = desk.push(("orders.result.xlsx", workbook_of(desk.answer(**wrong))))
        assert (file["counts"]["invalid"], len(desk.created())) == (3 - number, len(ACCEPTED) + number)
    assert desk.created() == dict.fromkeys(ACCEPTED | WAITING, 1)
    assert [path.name for path in desk.reports.glob("*.result.xlsx")] == ["orders.result.xlsx"]
    assert len({len(path.name) for path in (desk.reports / "earlier").glob("*.result.xlsx")}) == 1
