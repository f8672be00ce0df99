"""Workbooks are read in a process that may die of them."""

import os
import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook

from logistics_batch.child_process import Allowance
from logistics_batch.errors import FileHeld
from logistics_batch.intake.limited_reader import LimitedReader
from logistics_batch.intake.readers import read_file
from logistics_batch.model.sheet import ReadOptions

SAMPLES = Path(__file__).parents[2] / "sample_data"


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    """An ordinary workbook of 2,000 rows."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Orders")
    for row in range(2_000):
        sheet.append([f"R{row}", row, row / 7])
    path = tmp_path / "orders.xlsx"
    book.save(path)
    return path


@pytest.mark.parametrize("name", ["orders_standard_blr.xlsx", "asn_bhiwandi_handmade.xlsx", "shiprocket_orders.csv"])
def test_reads_the_same_as_without_the_process(name: str) -> None:
    reader = LimitedReader()
    try:
        sheets = reader(SAMPLES / name, name=name, options=ReadOptions())
    finally:
        reader.close()
    expected = read_file(SAMPLES / name, name=name, options=ReadOptions())
    assert len(sheets) == len(expected)
    for sheet, wanted in zip(sheets, expected, strict=True):
        assert sheet.frame.equals(wanted.frame)
        assert sheet.frame.schema == wanted.frame.schema
        assert sheet.marks.equals(wanted.marks)
        facts = ("name", "hidden_rows", "notes", "merges", "worded")
        assert [getattr(sheet, fact) for fact in facts] == [getattr(wanted, fact) for fact in facts]


def test_a_held_file_keeps_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "orders.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<!DOCTYPE workbook><workbook/>")
    reader = LimitedReader()
    try:
        with pytest.raises(FileHeld, match="declares a document type") as held:
            reader(path, name="orders.xlsx", options=ReadOptions())
    finally:
        reader.close()
    assert held.value.rule == "file|unsafe"
    assert "Copy the rows into a new workbook" in held.value.remedy


@pytest.mark.parametrize(
    "allowance",
    [
        Allowance(memory_bytes=200 << 20),  # not even the libraries fit
        Allowance(wait_seconds=0.001),
    ],
    ids=["memory", "time"],
)
def test_a_workbook_that_takes_too_much_is_held_and_the_next_is_read(workbook: Path, allowance: Allowance) -> None:
    reader = LimitedReader(allowance)
    try:
        with pytest.raises(FileHeld) as held:
            reader(workbook, name="orders.xlsx", options=ReadOptions())
    finally:
        reader.close()
    assert held.value.rule == "file|too_costly"
    assert "orders.xlsx" in held.value.message


def test_a_workbook_that_keeps_the_processor_busy_is_held(workbook: Path, tmp_path: Path) -> None:
    """Reading it takes a second or two; of processor time the process gets none beyond its start."""
    rows = "".join(
        f'<row r="{row}">' + "".join(f'<c r="{letter}{row}"><v>{row * 7919 % 99991}</v></c>' for letter in "ABCDEFGHIJ")
        for row in range(1, 100_001)
    ).replace("<row", "</row><row")
    sheet = f"<worksheet><sheetData>{rows.removeprefix('</row>')}</row></sheetData></worksheet>"
    path = tmp_path / "busy.xlsx"
    with zipfile.ZipFile(workbook) as good, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made:
        for part in good.namelist():
            made.writestr(part, sheet if part == "xl/worksheets/sheet1.xml" else good.read(part))
    reader = LimitedReader(Allowance(cpu_seconds=-1))
    try:
        with pytest.raises(FileHeld) as held:
            reader(path, name="busy.xlsx", options=ReadOptions())
    finally:
        reader.close()
    assert held.value.rule == "file|too_costly"


def test_a_process_that_died_is_replaced(workbook: Path) -> None:
    reader = LimitedReader()
    try:
        first = reader(workbook, name="orders.xlsx", options=ReadOptions())
        assert reader.process_id is not None
        os.kill(reader.process_id, 9)
        again = reader(workbook, name="orders.xlsx", options=ReadOptions())
    finally:
        reader.close()
    assert again[0].frame.equals(first[0].frame)


def test_the_process_knows_no_secrets(workbook: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGISTICS_BATCH_SERVICE__API_KEY", "very-secret-key")
    reader = LimitedReader()
    try:
        reader(workbook, name="orders.xlsx", options=ReadOptions())
        environment = Path(f"/proc/{reader.process_id}/environ").read_bytes()
    finally:
        reader.close()
    assert b"very-secret-key" not in environment
    assert b"HOME=" not in environment


def test_no_process_is_left_behind(workbook: Path) -> None:
    reader = LimitedReader()
    reader(workbook, name="orders.xlsx", options=ReadOptions())
    process = reader.process_id
    reader.close()
    assert reader.process_id is None
    assert not Path(f"/proc/{process}").exists()
