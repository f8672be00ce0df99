"""What a pattern takes from the XML of a workbook, a parser takes from it too, cell for cell and fact for fact."""

import random
import re
from pathlib import Path

import openpyxl
import pytest
from campaigns.scale import size
from fuzz.fuzz_reading import SEED, inputs
from fuzz.generated_workbooks import outcome, write_workbook
from hostile.catalogue import FILES
from hostile.make_hostile import make_all
from intake.quirky_workbooks import write_xlsx
from intake.test_excel import with_sheet_xml

from logistics_batch.intake.readers import Limits, xlsx_book, xlsx_sheet

GENERATED, DAMAGED = size(80, 6_000), size(60, 6_000)
SAMPLES = sorted((Path(__file__).parents[2] / "sample_data").rglob("*.xlsx"))


def both(path: Path, **more: object) -> list[object]:
    """What reading a workbook gives, which must be the same if all of its XML goes through the parser."""
    found = outcome(path, **more)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xlsx_sheet, "_by_pattern", lambda content: None)
        patch.setattr(xlsx_book, "_plain_texts", lambda block: None)
        parsed = outcome(path, **more)  # type: ignore[arg-type]
    assert found == parsed
    return found


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


def test_a_workbook_without_sheets_is_held(tmp_path: Path) -> None:
    path = tmp_path / "book"
    with path.open("wb") as file:
        openpyxl.Workbook().save(file)
    with_sheet_xml(path, lambda xml: re.sub("<sheets>.*</sheets>", "<sheets/>", xml), part="xl/workbook.xml")
    assert both(path)[0] == "orders.xlsx is a workbook without any sheet."


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
