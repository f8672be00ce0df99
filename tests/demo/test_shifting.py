"""Dates move, everything else stays: in texts, in every sample, and in workbooks with their looks."""

import csv
import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from openpyxl import load_workbook

from logistics_batch.demo.stage import read_anchor, shift_file, shift_text

SAMPLES = Path(__file__).parents[2] / "sample_data"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix in (".csv", ".xlsx"))
ANCHOR = read_anchor(SAMPLES)


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("2026-11-03", "2026-12-31"),
        ("2026-11-03 18:12:45 +0530", "2026-12-31 18:12:45 +0530"),
        ("2026-11-03T18:12:45+05:30", "2026-12-31T18:12:45+05:30"),
        ("02-11-2026 23:59", "30-12-2026 23:59"),
        ("04/11/2026 00:00:00", "01/01/2027 00:00:00"),
        ("03.11.2026", "31.12.2026"),
        ("03-Nov-2026", "31-Dec-2026"),
        ("03-Nov-26", "31-Dec-26"),
        ("Date: 03.11.26    Vehicle: MH04 XX 0000", "Date: 31.12.26    Vehicle: MH04 XX 0000"),
        ("from 03.11.26 to 04.11.26.", "from 31.12.26 to 01.01.27."),
        # not dates
        ("INV/26-27/4471", "INV/26-27/4471"),
        ("10.20.30.40", "10.20.30.40"),
        ("103.11.26", "103.11.26"),
        ("03/11/20261", "03/11/20261"),
        ("SKU-03-11-2026", "SKU-03-11-2026"),
        ("31-02-2026", "31-02-2026"),
        ("03-11-1926", "03-11-1926"),
        ("9845011203", "9845011203"),
    ],
)
def test_dates_in_a_text_move_and_keep_their_form(text: str, moved: str) -> None:
    assert shift_text(text, anchor=ANCHOR, days=date(2026, 12, 31) - ANCHOR) == moved


def cells(path: Path) -> Iterator[tuple[str, object]]:
    """Every cell of a sample with its address."""
    if path.suffix == ".xlsx":
        for sheet in load_workbook(path).worksheets:
            for row in sheet.iter_rows():
                for cell in row:
                    yield f"{sheet.title}!{cell.coordinate}", cell.value
    else:
        with path.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.reader(file), 1):
                for column, cell in enumerate(row, 1):
                    yield f"{number}/{column}", cell


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_sample_moved_to_its_own_day_is_the_sample(path: Path, tmp_path: Path) -> None:
    shift_file(path, tmp_path / path.name, anchor=ANCHOR, to=ANCHOR)
    assert list(cells(tmp_path / path.name)) == list(cells(path))
    if path.suffix == ".csv":
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_date_of_a_sample_moves_and_nothing_else_does(path: Path, tmp_path: Path) -> None:
    """Across a leap day, a new year, a new century of two digits: days are counted, not written over."""
    days = timedelta(days=1234)
    shift_file(path, tmp_path / path.name, anchor=ANCHOR, to=ANCHOR + days)
    before, after = dict(cells(path)), dict(cells(tmp_path / path.name))
    assert before.keys() == after.keys()
    changed = {place for place in before if before[place] != after[place]}
    dated = {place for place, value in before.items() if isinstance(value, date) or re.search(YEAR, str(value))}
    assert changed == dated
    assert dated, "a sample without a date would not show that dates move"
    for place in changed:
        value = before[place]
        if isinstance(value, datetime):
            assert after[place] == value + days
        else:
            assert len(str(after[place])) == len(str(value))


# However a date of the samples is written, this stands in it; the invoice numbers of the year 26-27 do not have it.
YEAR = re.compile(r"\b20(25|26|27|28)\b|\d\.\d\d\.\d\d")


def test_a_workbook_keeps_its_looks(tmp_path: Path) -> None:
    source = SAMPLES / "orders_standard_blr.xlsx"
    shift_file(source, tmp_path / "moved.xlsx", anchor=ANCHOR, to=date(2027, 2, 1))
    old, new = load_workbook(source).worksheets[0], load_workbook(tmp_path / "moved.xlsx").worksheets[0]
    assert new.freeze_panes == old.freeze_panes
    assert new.column_dimensions["C"].width == old.column_dimensions["C"].width
    for row in old.iter_rows():
        for cell in row:
            twin = new[cell.coordinate]
            assert twin.number_format == cell.number_format
            assert (repr(twin.fill), repr(twin.font)) == (repr(cell.fill), repr(cell.font))


def test_merged_cells_stay_merged(tmp_path: Path) -> None:
    source = SAMPLES / "asn_bhiwandi_handmade.xlsx"
    shift_file(source, tmp_path / "moved.xlsx", anchor=ANCHOR, to=date(2027, 2, 1))
    sheet = load_workbook(tmp_path / "moved.xlsx").worksheets[0]
    assert sheet.merged_cells == load_workbook(source).worksheets[0].merged_cells
    assert str(sheet["A3"].value).startswith("Date: 01.02.27 ")
