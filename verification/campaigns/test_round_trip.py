"""What comes back can be dropped again: no cell of it is a formula, and every cell is read as it was read before."""

import io
import os
import random
import re
import shutil
import subprocess
import sys
import unicodedata
import zipfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from campaigns.scale import SEED, report, size
from openpyxl import Workbook
from support.cell_facts import types_of
from support.issues import issue
from support.result_samples import fates_frame, row_result

from logistics_batch.intake.readers import read_file
from logistics_batch.model.issue import cell_address
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import ReadOptions, Sheet
from logistics_batch.paper.answers.fix_file import fix_file
from logistics_batch.paper.answers.result_csv import result_csv
from logistics_batch.paper.answers.result_workbook import result_workbook
from logistics_batch.paper.xlsx.inert import inert_workbook

COLUMNS = 10
ROWS = size(60, 1_000)
FILES = size(2, 10)  # every second one a workbook: 100,000 cells in all
HEADER = [f"Column {number}" for number in range(1, COLUMNS + 1)]
FORMULA = re.compile(rb"<(?:\w+:)?f(?:[\s/][^>]*)?>(?!TRUE\(\)<)")  # LibreOffice writes a ticked cell as TRUE()
DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
CONTROLS = [chr(code) for code in range(1, 32) if chr(code) not in "\t\n\r"] + ["\x7f"]


@cache
def scripts() -> dict[str, str]:
    """Every script of Unicode by the first word of its letters' names, with some letters of each."""
    found: dict[str, list[str]] = {}
    for code in range(0x20, sys.maxunicode + 1):
        sign = chr(code)
        if unicodedata.category(sign) in ("Lu", "Ll", "Lo", "Mn", "Mc", "Nd", "So"):
            letters = found.setdefault(unicodedata.name(sign, "?").split()[0], [])
            if len(letters) < 200:
                letters.append(sign)
    return {name: "".join(letters) for name, letters in found.items()}


def text(chance: random.Random) -> str:
    """A cell's text, of one of the kinds that go wrong."""
    word = "".join(chance.choices("ABCabc019 ._/-", k=chance.randint(1, 9)))
    kinds = (
        lambda: chance.choice("=+-@\t\r") + word,
        lambda: chance.choice(
            ("=1+1", "=cmd|'/c calc'!A0", '=HYPERLINK("http://x.test","y")', "@SUM(A1)", "=", "-", "+")
        ),
        lambda: chance.choice(("-12.50", "-1", "+919876543210", "-1+1", "0012", "9876543210", "1e5", "1.0", "007")),
        lambda: chance.choice(("'=1", "'quoted", "''", "'", '="0012"', "'0012", '"', '""', "a;b", "a,b", "a|b")),
        lambda: chance.choice(
            ("2026-11-03", "03/11/26", "11/3/2026", "3-Nov-26", "1/2", "12:30", "TRUE", "#N/A", "NULL")
        ),
        lambda: word + chance.choice(CONTROLS) + word,
        lambda: "".join(chance.choices(scripts()[chance.choice(list(scripts()))], k=chance.randint(1, 12))),
        lambda: chance.choice(
            ("😀", "👩‍👩‍👧‍👦", "🇮🇳", "e\u0301", "\u200bx", "\u202ex", "\ufeffx", "a\u00a0b", "𝔘", "\ue000")
        ),
        lambda: chance.choice(
            ("a\nb", "a\r\nb", "\n", "a\tb", " lead", "trail ", "  ", "_x0041_", "_x000D_", "&amp;", "<b>", "]]>")
        ),
        lambda: "",
        lambda: word,
    )
    return chance.choice(kinds)()


def table(number: int) -> list[list[str]]:
    chance = random.Random(f"{SEED} {number}")
    rows = [[text(chance) for _ in range(COLUMNS)] for _ in range(ROWS)]
    for index, row in enumerate(rows):
        row[0] = f"R-{index}"  # no row is blank or looks like a header
    rows[ROWS // 2][1] = "y" * 32_767
    rows[ROWS // 2][2] = "=" + "1+" * 16_383
    return rows


def as_csv(rows: list[list[str]]) -> bytes:
    """As programs export it: what needs quotes has them."""
    lines = [",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in [HEADER, *rows]]
    return "\r\n".join([*lines, ""]).encode("utf-8-sig")


def as_workbook(rows: list[list[str]], number: int) -> bytes:
    """Texts of every kind, and true numbers, dates and formulas with stored values among them."""
    chance = random.Random(f"{SEED} typed {number}")
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.append(HEADER)
    for index, row in enumerate(rows, 2):
        for column, content in enumerate(row, 1):
            cell = sheet.cell(index, column)
            kind = chance.random() if column > 1 else 1.0
            if kind < 0.05:
                cell.value = chance.choice((7, 0.1, -3.25, 1e15, 12345678901, True))
            elif kind < 0.1:
                day = datetime(1999, 12, 31, tzinfo=UTC).replace(tzinfo=None) + timedelta(chance.randint(0, 20_000))
                cell.value = chance.choice((day, day.date(), day + timedelta(hours=13.5)))
            elif kind < 0.13:
                cell.value = f"=A{index}&B{index}"
            elif content:
                cell.value = "".join(_escaped(sign) for sign in content)
                cell.data_type = "s"
    file = io.BytesIO()
    workbook.save(file)
    return _with_values(file.getvalue())


def _escaped(sign: str) -> str:
    return f"_x{ord(sign):04X}_" if sign in CONTROLS and sign != "\x7f" else sign


def _with_values(content: bytes) -> bytes:
    """Stored values for the formulas; openpyxl stores none."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                part = re.sub(
                    rb'(<c r="[A-Z]+\d+")([^>]*)>(<f>[^<]*</f>)<v\s*/?>(?:</v>)?',
                    rb'\1\2 t="str">\3<v>stored</v>',
                    part,
                )
            new.writestr(name, part)
    return out.getvalue()


def read(content: bytes, folder: Path, name: str) -> Sheet:
    path = folder / name
    path.write_bytes(content)
    return read_file(path, name=name, options=ReadOptions())[0]


def answered(sheet: Sheet, number: int) -> FileReport:
    """Every row is invalid, for a cell whose content stands in what is said."""
    chance = random.Random(f"{SEED} answered {number}")
    rows, issues = [], []
    for line in sheet.frame.iter_rows(named=True):
        row = int(line["row"])
        if row == 1:
            continue
        column = chance.randint(1, COLUMNS)
        seen = str(line[str(column)] or "")[:200]
        cell = cell_address(row, column)
        issues.append(
            issue(
                row,
                "field|rule",
                column=HEADER[column - 1],
                cell=cell,
                value=seen,
                reason=f"{seen} is wrong.",
                remedy=seen or "Mend it.",
            )
        )
        rows.append(row_result(row, Fate.INVALID, sheet=sheet.name, document=f"D-{row}", reference_number=seen))
    return FileReport(
        file="x", sha256="0" * 64, size=1, run="run-1", mapping="m", mapping_digest="d", sheet=sheet.name, header_row=1,
        rows_read=len(rows), rows=fates_frame(rows), issues=tuple(issues),
    )  # fmt: skip


def cells(sheet: Sheet, *, first: int = 1) -> list[tuple[str, ...]]:
    """The user's cells; what only keeps a program from running a text is no part of it, as the mapping reads it.

    first: the column where they begin.
    """
    names = [str(number) for number in range(first, first + COLUMNS)]
    return [tuple(_meant(cell or "") for cell in row) for row in sheet.frame.select(names).rows()]


def _meant(content: str) -> str:
    return content[1:] if content[:1] == "'" and content[1:].startswith(DANGEROUS) else content


def formulas(content: bytes) -> int:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        return sum(len(FORMULA.findall(package.read(name))) for name in package.namelist() if "worksheets/" in name)


def own_facts(sheet: Sheet) -> list[tuple[object, ...]]:
    return sheet.facts.filter(pl.col("column") <= COLUMNS).sort("row", "column", "kind").rows()


@pytest.mark.slow
def test_every_cell_comes_back_and_none_is_a_formula(tmp_path: Path) -> None:
    judged: Counter[str] = Counter()
    for number in range(FILES):
        rows = table(number)
        kind = "xlsx" if number % 2 else "csv"
        original = as_workbook(rows, number) if kind == "xlsx" else as_csv(rows)
        came = read(original, tmp_path, f"came-{number}.{kind}")
        assert came.frame.height == ROWS + 1
        told = answered(came, number)
        expected, own = cells(came), formulas(original) if kind == "xlsx" else 0
        safe = inert_workbook(original) if kind == "xlsx" else None
        result = result_workbook(told, sheet=came, original=safe)
        again = read(result, tmp_path, f"result-{number}.xlsx")
        assert cells(again) == expected
        assert formulas(result) == own
        fixed = fix_file(told, sheet=came)
        assert fixed is not None
        assert formulas(fixed) == 0
        assert cells(read(fixed, tmp_path, f"fix-{number}.xlsx"), first=3) == expected
        if kind == "xlsx":
            assert own_facts(again) == own_facts(came)
        _no_formula_in_csv(read(result_csv(told, came), tmp_path, "list.csv"))
        judged[kind] += ROWS * COLUMNS
        if number < size(2, 4):
            judged["by LibreOffice"] += _through_libreoffice(tmp_path, f"result-{number}.xlsx", again)
    report("round trip", files=FILES, cells=judged["csv"] + judged["xlsx"], **judged)


def _no_formula_in_csv(sheet: Sheet) -> None:
    """Neither reader nor guard: the cells as a program would open them."""
    names = [name for name in sheet.frame.columns if name != "row"]
    for row in sheet.frame.select(names).rows():
        for cell in row:
            if cell and cell.startswith(DANGEROUS):
                assert re.fullmatch(r"-[0-9]+(\.[0-9]+)?", cell), cell


def _through_libreoffice(folder: Path, name: str, before: Sheet) -> int:
    """Another program opens the answer and saves it: it sees no formula more, and the same texts."""
    office = shutil.which("soffice")
    if office is None:
        assert "CI" not in os.environ, "CI must have LibreOffice"
        return 0
    home = f"-env:UserInstallation={(folder / 'office').as_uri()}"
    command = [office, home, "--headless", "--convert-to", "xlsx:Calc MS Excel 2007 XML", "--outdir", folder / "saved"]
    subprocess.run([*command, folder / name], check=True, capture_output=True, timeout=300)
    saved = (folder / "saved" / name).read_bytes()
    assert formulas(saved) == formulas((folder / name).read_bytes())
    after = read(saved, folder, f"saved-{name}")
    texts = set(types_of(before))
    compared = 0
    for row, (old, new) in enumerate(zip(cells(before), cells(after), strict=True), 1):
        for column, (here, there) in enumerate(zip(old, new, strict=True), 1):
            if (row, column) not in texts:  # numbers and dates may be written otherwise
                assert _shown(here) == _shown(there), (row, column)
                compared += 1
    return compared


def _shown(content: str) -> str:
    """LibreOffice keeps one kind of line break, and writes some characters as escapes that others leave alone."""
    plain = re.sub("_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), content)
    return re.sub(r"\r\n?", "\n", plain)
