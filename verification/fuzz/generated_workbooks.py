"""Workbooks by seed, written in the ways of several programs, and all that reading one gives."""

import random
from dataclasses import dataclass, fields
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl
from hostile.workbook_parts import write_zip

from logistics_batch.errors import FileHeld
from logistics_batch.intake.readers import Limits, read_file
from logistics_batch.model.issue import column_letters
from logistics_batch.model.sheet import ReadOptions, Sheet

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
FORMATS = (
    "General",
    "0000000",
    '"ORD-"000',
    "dd/mm/yyyy",
    "[h]:mm",
    "#,##0.00",
    "hh:mm:ss",
    '0.0"kg"',
    "@",
    "0.00E+00",
)
TEXTS = (
    *("", " ", "A-1", "  00123 ", "5 MG Road, \nEast", 'a 5" pipe', "Tom & Co", "x < y", "a > b", "आशा राव", "_x000D_"),
    *("&#10;", "x_x0041_y", "#N/A", "'1", "=1+1", "a\ttab", "0012", "9.87E+09", "TRUE", "\u00a0", "]]>", "long " * 40),
)
NUMBERS = (
    *("0", "1", "-1", "12.5", "0.1", "0.30000000000000004", "1E3", "1.5e-7", "123456789012345", "1234567890123456"),
    *(
        "8901234567890123456",
        "46329",
        "46329.75",
        "-0",
        "007",
        "1.10",
        "1.",
        ".5",
        "1e400",
        "-12.25",
        "59",
        "60",
        "2958466",
    ),
    *("0.000012", "123456789.123456", "99999999999999.9", "+5", " 7", "0x1F", "nan", "inf", "1_0", "-0.0", "2958465.9"),
)
ERRORS = ("#N/A", "#REF!", "#DIV/0!", "#VALUE!", "#NAME?", "#NULL!", "#NUM!", "#SPILL!", "#WHAT")


@dataclass(frozen=True)
class Way:
    """How a program writes cells. text: of a text that is not shared. oddness: how often something rare comes."""

    text: str
    shares: bool
    spans: bool
    oddness: float


WAYS = (
    Way('t="inlineStr"><is><t>{}</t></is></c>', shares=False, spans=False, oddness=0.0),
    Way('t="inlineStr"><is><t xml:space="preserve">{}</t></is></c>', shares=False, spans=False, oddness=0.02),
    Way('t="str"><v>{}</v></c>', shares=True, spans=True, oddness=0.0),
    Way('t="str"><f aca="false">A1&amp;""</f><v>{}</v></c>', shares=True, spans=True, oddness=0.005),
)


def write_workbook(path: Path, chance: random.Random) -> Path:
    """A workbook of one sheet: a table, a sparse one, or something in between."""
    way = chance.choice(WAYS)
    texts: list[str] = []
    rows = _rows(chance, way, texts)
    extra = '<cols><col min="2" max="3" width="9" hidden="1"/></cols>' if chance.random() < 0.2 else ""
    behind = chance.choice(("", "", '<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>', "<!-- end -->"))
    filtered = '<autoFilter ref="A1:C9"><filterColumn colId="0"/></autoFilter>' if chance.random() < 0.1 else ""
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' + chance.choice(("", "\r\n", "\n"))
    sheet = f'{head}<worksheet xmlns="{MAIN}" xmlns:r="{_RELATIONS}">{extra}<sheetData>{rows}</sheetData>'
    parts = {"xl/worksheets/sheet1.xml": f"{sheet}{filtered}{behind}</worksheet>", **_book(chance)}
    if texts:
        items = "".join(texts)
        parts["xl/sharedStrings.xml"] = f'{head}<sst xmlns="{MAIN}" count="9" uniqueCount="9">{items}</sst>'
    write_zip(path, {name: content.encode() for name, content in parts.items()})
    return path


def _rows(chance: random.Random, way: Way, texts: list[str]) -> str:
    columns = sorted(chance.sample(range(1, chance.choice((4, 8, 40))), chance.randint(1, 3)))
    kinds = {column: chance.choice(("text", "number", "date", "mixed", "mixed")) for column in columns}
    number, written = 0, []
    for _ in range(chance.randint(1, 14)):
        number += 1 if chance.random() < 0.9 else chance.randint(2, 40)
        present = [column for column in columns if chance.random() < 0.9 or way.oddness == 0.0]
        cells = "".join(_cell(chance, way, column, number, kinds[column], texts) for column in present)
        spans = ' spans="1:9"' if way.spans else ""
        hidden = chance.choice((' hidden="1"', ' ht="0" customHeight="1"')) if chance.random() < 0.1 else ""
        style = ' s="2" customFormat="1"' if chance.random() < 0.05 else ""
        tag = f'<row r="{number}"{spans}{style}{hidden}'
        written.append(f"{tag}/>" if not cells and chance.random() < 0.5 else f"{tag}>{cells}</row>")
        if chance.random() < way.oddness:
            written.append(chance.choice(("\n", "<!-- x -->", f'<row r="{number}"></row>', "<row></row>")))
    return "".join(written)


def _cell(chance: random.Random, way: Way, column: int, row: int, kind: str, texts: list[str]) -> str:
    kind = chance.choice(("text", "number", "date", "error", "formula", "blank", "flag")) if kind == "mixed" else kind
    address = f"{column_letters(column)}{row}"
    if chance.random() < way.oddness / 4:
        address = chance.choice((address.lower(), "A1", f"${address}", "", address + "0"))
    style = f' s="{chance.randrange(len(FORMATS) + 1)}"' if chance.random() < 0.5 else ""
    begin = f'<c r="{address}"{style}'
    if chance.random() < way.oddness:
        return begin + chance.choice(_ODD)
    return begin + _content(chance, way, kind, texts)


_ODD = (
    ' t="d"><v>2026-11-03T00:00:00</v></c>',
    ' t="inlineStr"><is><r><t>rich</t></r><r><t> text</t></r></is></c>',
    "><v><![CDATA[12]]></v></c>",
    "><!-- c --><v>12</v></c>",
    "> <v>12</v> </c>",
    " t='n'><v>12</v></c>",
    ' t="n" cm="1"><v>12</v></c>',
    ' t="s"><v>99999</v></c>',
    ' t="s"><v>x</v></c>',
    "><v>12</v><v>13</v></c>",
    "><v>12</v>",
    "><is><t>12</t></is></c>",
    ' t="b"><v>2</v></c>',
    ' t="q"><v>2</v></c>',
    ' t="inlineStr"><is><t>a</t><t>b</t></is></c>',
    ' t="n"><v>1\x012</v></c>',
)


def _content(chance: random.Random, way: Way, kind: str, texts: list[str]) -> str:
    if kind == "blank":
        return chance.choice(("/>", "></c>", "><v></v></c>", "><v/></c>"))
    if kind == "flag":
        return f' t="b"><v>{chance.choice("01")}</v></c>'
    if kind == "error":
        return f' t="e">{chance.choice(("", "<f>1/0</f>"))}<v>{chance.choice(ERRORS)}</v></c>'
    if kind == "formula":
        formula = chance.choice(("<f>A1*2</f>", '<f t="shared" ref="A1:A3" si="0">A1</f>', '<f t="shared" si="0"/>'))
        return chance.choice(
            (f">{formula}<v>{chance.choice(NUMBERS[:9])}</v></c>", f">{formula}</c>", f">{formula}<v></v></c>")
        )
    if kind == "text":
        text = escape(chance.choice(TEXTS)) if chance.random() < 0.9 else f"T{chance.randrange(99)}"
        return _shared(chance, text, texts) if way.shares and chance.random() < 0.8 else f" {way.text.format(text)}"
    value = (
        str(chance.randrange(40_000, 47_000)) if kind == "date" else chance.choice(NUMBERS[: chance.choice((8, 99))])
    )
    return f"{chance.choice(('', ' t=' + chr(34) + 'n' + chr(34)))}><v>{value}</v></c>"


def _shared(chance: random.Random, text: str, texts: list[str]) -> str:
    rich = '<si><r><rPr><b/></rPr><t>bold</t></r><r><t xml:space="preserve"> rest</t></r></si>'
    item = chance.choice(
        (f"<si><t>{text}</t></si>",) * 20 + (f'<si><t xml:space="preserve">{text}</t></si>', rich, "<si><t/></si>")
    )
    if chance.random() < 0.01:
        item = '<si><t>漢字</t><rPh sb="0" eb="2"><t>かんじ</t></rPh></si>'
    texts.append(item)
    return f' t="s"><v>{len(texts) - 1}</v></c>'


def _book(chance: random.Random) -> dict[str, str]:
    dates = '<workbookPr date1904="1"/>' if chance.random() < 0.2 else ""
    stale = '<calcPr fullCalcOnLoad="1"/>' if chance.random() < 0.2 else ""
    own = "".join(
        f'<numFmt numFmtId="{164 + n}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
        for n, code in enumerate(FORMATS)
    )
    xfs = "".join(f'<xf numFmtId="{164 + n}"/>' for n in range(len(FORMATS)))
    target = "worksheets/sheet1.xml"
    kind = f"{_RELATIONS}/worksheet"
    return {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"/>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" Type="{_RELATIONS}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{_RELATIONS}">{dates}<sheets>'
        f'<sheet name="Orders" sheetId="1" r:id="rId1"/></sheets>{stale}</workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" Type="{kind}" '
        f'Target="{target}"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><numFmts>{own}</numFmts><cellXfs>{xfs}</cellXfs></styleSheet>',
    }


def outcome(path: Path, *, limits: Limits | None = None) -> list[object]:
    """Everything that reading a workbook gives, or why it is held."""
    try:
        sheets = read_file(path, name="orders.xlsx", options=ReadOptions(), limits=limits)
    except FileHeld as held:
        return [held.message, held.rule, held.remedy]
    return [_shown(getattr(sheet, each.name)) for sheet in sheets for each in fields(Sheet)]


def _shown(value: object) -> object:
    return (value.schema, value.rows()) if isinstance(value, pl.DataFrame) else value
