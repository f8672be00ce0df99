"""What is read in one pass is what the general reader reads, cell for cell and fact for fact."""

import io
import os
import random
import re
import zipfile
from datetime import date
from pathlib import Path

import openpyxl
import pytest
from fuzz.fuzz_reading import SEED, inputs
from hostile.catalogue import FILES
from hostile.make_hostile import make_all
from intake.one_pass import outcome, write_workbook
from intake.quirky_workbooks import write_xlsx
from intake.test_excel import with_sheet_xml
from python_calamine import CalamineWorkbook

from logistics_batch.intake.guards import Limits
from logistics_batch.intake.sheet_cells import ParsedSheet
from logistics_batch.intake.workbook_facts import Room
from logistics_batch.intake.xlsx_plain import PlainWorkbook

IS_FULL = os.environ.get("CAMPAIGN") == "full"
GENERATED, DAMAGED = (6_000, 6_000) if IS_FULL else (250, 120)
SAMPLES = sorted((Path(__file__).parents[2] / "sample_data").rglob("*.xlsx"))


def both(path: Path, **more: object) -> list[object]:
    """What reading a workbook gives, which must be the same either way."""
    in_one_pass = outcome(path, in_one_pass=True, **more)  # type: ignore[arg-type]
    assert in_one_pass == outcome(path, in_one_pass=False, **more)  # type: ignore[arg-type]
    return in_one_pass


@pytest.mark.slow
def test_workbooks_of_several_programs_read_alike(tmp_path: Path) -> None:
    read = 0
    for number in range(GENERATED):
        path = write_workbook(tmp_path / "book", random.Random(f"{SEED} {number}"))
        read += len(both(path)) > 3
    assert read > GENERATED // 2, "most of them should be sound"


@pytest.mark.slow
def test_damaged_workbooks_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "book"
    for content in inputs("xlsx", seed=SEED + 1, start=0, count=DAMAGED):
        path.write_bytes(content)
        if content.startswith(b"PK"):
            both(path)


@pytest.mark.slow
def test_hostile_workbooks_are_held_alike(tmp_path: Path) -> None:
    names = [name for name, hostile in FILES.items() if hostile.file_name.endswith(".xlsx")]
    made = [path for path in make_all(tmp_path, names).values() if path.read_bytes().startswith(b"PK")]
    assert len(made) > 30
    for path in made:
        both(path)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples_read_alike(path: Path) -> None:
    assert len(both(path)) > 3


@pytest.mark.parametrize("is_1904", [False, True])
def test_everything_that_a_cell_can_be_reads_alike(tmp_path: Path, *, is_1904: bool) -> None:
    assert len(both(write_xlsx(tmp_path / "book", is_1904=is_1904))) > 3


def test_a_workbook_without_sheets_is_held_for_what_else_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "book"
    with path.open("wb") as file:
        openpyxl.Workbook().save(file)
    with_sheet_xml(path, lambda xml: re.sub("<sheets>.*</sheets>", "<sheets/>", xml), part="xl/workbook.xml")
    assert both(path)[0] == "orders.xlsx is a workbook without any sheet."
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", "<sst><si><t>breaks off")
    assert both(path)[0] == "orders.xlsx is damaged or did not arrive completely."


def test_limits_hold_alike(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in range(1, 30):
        sheet.append([f"A-{row}", row, "x" * row])
    sheet["A90"] = "far below"
    book.save(path := tmp_path / "book")
    rules = [
        both(path, limits=limits)[1]
        for limits in (
            Limits(max_workbook_rows=40),
            Limits(max_columns=2),
            Limits(max_workbook_cells=100),
            Limits(max_gap_rows=50),
            Limits(max_cell_characters=20),
        )
    ]
    assert rules == ["sheet|too_large", "sheet|too_large", "sheet|too_large", "sheet|gap", "sheet|long_cell"]


def test_an_ordinary_sheet_is_read_in_one_pass(tmp_path: Path) -> None:
    """The general reader sees its odd cells only, each way of writing once."""
    asked: list[int] = []

    def parse(content: io.BytesIO, sheet: str) -> ParsedSheet:
        parsed = CalamineWorkbook.from_filelike(content).get_sheet_by_name(sheet)
        asked.append(parsed.height)
        return parsed

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Orders"
    for row in range(1, 301):
        sheet.append([f"A-{row}", row, row / 4, date(2026, 11, 3), row % 2 == 0, "#N/A" if row % 3 else "a & b"])
    book.save(path := tmp_path / "book")
    room = Room("book", Limits(), rows=1_000, cells=10_000)
    unfolded = PlainWorkbook(path, room=room, parse=parse).sheet("Orders")
    assert unfolded.frame.row(5) == ("A-6", "6", "1.5", "2026-11-03", "TRUE", "a & b")
    assert max(asked) < 10
