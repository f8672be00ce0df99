"""What comes back of every sample, and of workbooks with all that people put into theirs: nothing else has changed."""

import io
import re
import zipfile
from pathlib import Path
from xml.etree.ElementTree import canonicalize

import pytest
from lxml.etree import _Element as Element
from lxml.etree import fromstring, tostring
from support.issues import issue
from support.result_samples import HEADER_ROW, opened, order_report, parts_of, read_sheet, row_result
from support.rich_workbooks import RICH, rich_workbook

from logistics_batch.intake.readers import read_file
from logistics_batch.model.issue import cell_address
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import ReadOptions
from logistics_batch.paper.answers.result_workbook import result_workbook
from logistics_batch.paper.xlsx.inert import inert_workbook
from logistics_batch.paper.xlsx.package import MAIN, Package, find_sheet
from logistics_batch.paper.xlsx.rows import RowReader
from logistics_batch.paper.xlsx.sheet import SheetPart

ROOT = Path(__file__).parents[2]
SHIPPED = sorted([*ROOT.glob("sample_data/*.xlsx"), *ROOT.glob("mappings/examples/*/*.xlsx")])
OURS = re.compile(
    r"\[Content_Types\]\.xml|xl/styles\.xml|xl/comments.*|xl/drawings/(comments|vmlDrawing).*|xl/worksheets/_rels/.*"
)
LAID_OUT = {"dimension", "sheetViews", "cols", "sheetData", "autoFilter", "legacyDrawing"}


def report_of_shipped(path: Path) -> FileReport:
    """Every third row of its longest sheet is wrong in its second cell."""
    sheet = max(read_file(path, name=path.name, options=ReadOptions()), key=lambda each: each.frame.height)
    header = next(line for line in sheet.frame.iter_rows() if sum(bool(text) for text in line[1:]) > 3)[0]
    numbers = [row for row in sheet.frame["row"].to_list() if row > header]
    wrong = numbers[::3]
    rows = [
        row_result(row, Fate.INVALID if row in wrong else Fate.ACCEPTED, sheet=sheet.name, document=f"D-{row}")
        for row in numbers
    ]
    issues = [
        issue(
            row, "x", column="Column", cell=cell_address(row, 2), value="seen", reason="It is wrong.", remedy="Mend it."
        )
        for row in wrong
    ]
    return order_report(
        sheet=sheet.name, header_row=header, rows=tuple(rows), issues=tuple(issues), rows_read=len(rows)
    )


def compressed(content: bytes) -> dict[str, bytes]:
    """Every part as it lies in the package."""
    package = zipfile.ZipFile(io.BytesIO(content))
    found = {}
    for entry in package.infolist():
        name, extra = (int.from_bytes(content[entry.header_offset + at :][:2], "little") for at in (26, 28))
        start = entry.header_offset + 30 + name + extra
        found[entry.filename] = content[start : start + entry.compress_size]
    return found


def sheet_part(content: bytes, sheet: str) -> tuple[str, SheetPart]:
    package = Package(content)
    name = find_sheet(package, sheet).sheet
    return name, SheetPart.of(package.read(name))


WORKBOOK = "xl/workbook.xml"


def cells_of(part: SheetPart) -> dict[tuple[int, int], bytes]:
    reader = RowReader(part.rows)
    return {(row.number, cell.column): cell.xml for row in reader.rows() for cell in reader.cells(row)[0]}


def look_of(content: bytes) -> list[str]:
    """The cell styles in their order; ours come behind them."""
    (styles,) = fromstring(parts_of(content)["xl/styles.xml"]).iter(f"{{{MAIN}}}cellXfs")
    return [canonical(xf) for xf in styles]


def canonical(element: Element) -> str:
    """An element in the one form that all ways to write it have."""
    return canonicalize(tostring(element, encoding="unicode", with_tail=False))


def around_rows(part: SheetPart) -> list[str]:
    """What stands beside the rows, but for what we lay out."""
    return [canonical(each) for each in part.root if str(each.tag).partition("}")[2] not in LAID_OUT]


def named(content: bytes) -> str:
    """The workbook's own part, without where its filters reach: ours takes in our columns."""
    root = fromstring(parts_of(content)[WORKBOOK])
    for each in root.iter(f"{{{MAIN}}}definedName"):
        if each.get("name") == "_xlnm._FilterDatabase":
            each.text = ""
    return canonical(root)


def check(original: bytes, report: FileReport) -> None:
    """Nothing but our columns, colours and comments is new."""
    changed = result_workbook(report, sheet=read_sheet(original, report.sheet), original=inert_workbook(original))
    before, after = compressed(original), compressed(changed)
    name, part = sheet_part(original, report.sheet)
    _, answered = sheet_part(changed, report.sheet)
    others = {each for each in before if each != name and not OURS.fullmatch(each)}
    changed_parts = {each for each in others if after.get(each) != before[each]}
    assert changed_parts <= {WORKBOOK}, "byte for byte, still compressed"
    if changed_parts:
        assert named(changed) == named(original)
    assert all(OURS.fullmatch(each) for each in set(after) - set(before))
    failing = {(issue.row, column) for issue in report.issues for column in (2, 3)}
    shown = cells_of(answered)
    for place, xml in cells_of(part).items():
        if place in failing:
            assert re.sub(rb'\ss="\d+"', b"", shown[place]) == re.sub(rb'\ss="\d+"', b"", xml)
        else:
            assert shown[place] == xml, place
    assert look_of(changed)[: len(look_of(original))] == look_of(original)
    assert around_rows(answered) == around_rows(part)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name + "/" + path.name)
def test_of_a_shipped_sample_everything_else_is_as_it_was(path: Path) -> None:
    check(path.read_bytes(), report_of_shipped(path))


@pytest.mark.parametrize("name", RICH)
def test_of_a_rich_workbook_everything_else_is_as_it_was(name: str) -> None:
    check(rich_workbook(name), order_report())


@pytest.mark.parametrize("name", RICH)
def test_its_second_round_looks_like_the_first(name: str) -> None:
    report, original = order_report(), rich_workbook(name)
    once = result_workbook(report, sheet=read_sheet(original), original=inert_workbook(original))
    twice = result_workbook(report, sheet=read_sheet(once), original=inert_workbook(once))
    assert parts_of(twice) == parts_of(once)


def test_a_chart_of_any_size_does_not_hide_our_columns() -> None:
    """openpyxl says where a chart begins and how large it is, not where it ends."""
    charts = rich_workbook("charts")
    changed = result_workbook(order_report(), sheet=read_sheet(charts), original=inert_workbook(charts))
    headers = {cell.value: cell.column_letter for cell in opened(changed)[HEADER_ROW]}
    assert headers["Status"] > "M", "the chart begins in J and is 6 cm wide"
