"""The few parts of a plain workbook that are the same for every file."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from xml.sax.saxutils import quoteattr

from logistics_batch.paper.xlsx.package import Package, packed
from logistics_batch.paper.xlsx.parts import CONTENT_TYPES_PART, MAIN, OFFICE

_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_TYPES_BEFORE = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_MEDIA}.sheet.main+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{_MEDIA}.styles+xml"/>'
)
_RELS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
)
_RELS_BEFORE = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
_FONT = '<sz val="11"/><name val="Calibri"/><family val="2"/>'
_FORMATS = (
    "yyyy\\-mm\\-dd",
    "yyyy\\-mm\\-dd\\ hh:mm:ss",
)
_FIRST_OWN_FORMAT = 164


class PlainStyle(IntEnum):
    """The cell styles of a plain workbook, by their index."""

    GENERAL = 0
    TEXT = 1  # stays text when it is edited
    GUARDED_TEXT = 2  # the same, for what looks like a formula
    DATE = 3
    DATE_TIME = 4
    HEADER = 5
    TITLE = 6
    WRAPPED = 7
    TIME = 8
    SENTENCE = 9


_CENTRED = '<alignment vertical="center"/>'  # as our columns beside them, also where these take several lines

# number format, font, fill, more attributes, alignment
_LOOKS: dict[PlainStyle, tuple[int, int, int, str, str]] = {
    PlainStyle.GENERAL: (0, 0, 0, "", _CENTRED),
    PlainStyle.TEXT: (49, 0, 0, "", _CENTRED),
    PlainStyle.GUARDED_TEXT: (49, 0, 0, ' quotePrefix="1"', _CENTRED),
    PlainStyle.DATE: (_FIRST_OWN_FORMAT, 0, 0, "", _CENTRED),
    PlainStyle.DATE_TIME: (_FIRST_OWN_FORMAT + 1, 0, 0, "", _CENTRED),
    PlainStyle.HEADER: (49, 1, 2, "", '<alignment vertical="center" wrapText="1"/>'),
    PlainStyle.TITLE: (49, 2, 0, "", ""),
    PlainStyle.WRAPPED: (49, 0, 0, "", '<alignment vertical="top" wrapText="1"/>'),
    PlainStyle.TIME: (46, 0, 0, "", _CENTRED),
    PlainStyle.SENTENCE: (49, 0, 0, "", '<alignment vertical="center" wrapText="1"/>'),
}


def plain_sheet(widths: Mapping[int, float], rows: str = "", *, merges: Sequence[str] = ()) -> str:
    """A sheet part with columns so wide (by their number, in characters), printed across on one page's width.

    merges: merged ranges, as A1:A3.
    """
    merged = "".join(f'<mergeCell ref="{each}"/>' for each in merges)
    columns = "".join(
        f'<col min="{column}" max="{column}" width="{width}" customWidth="1"/>' for column, width in widths.items()
    )
    return (
        f'<worksheet xmlns="{MAIN}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>'
        '<sheetFormatPr defaultRowHeight="15"/>'
        + (f"<cols>{columns}</cols>" if columns else "")
        + (f"<sheetData>{rows}</sheetData>" if rows else "<sheetData/>")
        + (f'<mergeCells count="{len(merges)}">{merged}</mergeCells>' if merges else "")
        + '<pageMargins left="0.4" right="0.4" top="0.4" bottom="0.4" header="0.2" footer="0.2"/>'
        '<pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/></worksheet>'
    )


def plain_package(sheets: Mapping[str, str], *, formats: Sequence[str] = ()) -> Package:
    """A workbook in the styles above, and in one more for each of some number formats.

    sheets: their parts by their names, in their order.
    """
    types, lines, relations = [_TYPES_BEFORE], list[str](), [_RELS_BEFORE]
    parts: dict[str, str] = {}
    for number, (name, part) in enumerate(sheets.items(), 1):
        target = f"worksheets/sheet{number}.xml"
        parts[f"xl/{target}"] = part
        types.append(f'<Override PartName="/xl/{target}" ContentType="{_MEDIA}.worksheet+xml"/>')
        lines.append(f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="rId{number}"/>')
        relations.append(f'<Relationship Id="rId{number}" Type="{OFFICE}/worksheet" Target="{target}"/>')
    relations.append(f'<Relationship Id="rId{len(sheets) + 1}" Type="{OFFICE}/styles" Target="styles.xml"/>')
    texts = {
        CONTENT_TYPES_PART: f"{''.join(types)}</Types>",
        "_rels/.rels": _RELS,
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><bookViews><workbookView/></bookViews>'
        f"<sheets>{''.join(lines)}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"{''.join(relations)}</Relationships>",
        **parts,
        "xl/styles.xml": _styles(formats),
    }
    return Package.of({name: packed([(_DECLARATION + text).encode()]) for name, text in texts.items()})


def _styles(more: Sequence[str]) -> str:
    codes = (*_FORMATS, *more)
    formats = "".join(
        f'<numFmt numFmtId="{number}" formatCode={quoteattr(code)}/>'
        for number, code in enumerate(codes, _FIRST_OWN_FORMAT)
    )
    looks = [_LOOKS[style] for style in PlainStyle]
    looks += [(_FIRST_OWN_FORMAT + len(_FORMATS) + number, 0, 0, "", _CENTRED) for number in range(len(more))]
    fonts = (f"<font>{_FONT}</font>", f"<font><b/>{_FONT}</font>", f"<font><b/>{_FONT.replace('11', '14', 1)}</font>")
    header = '<patternFill patternType="solid"><fgColor rgb="FFE9EDF1"/><bgColor indexed="64"/></patternFill>'
    fills = ('<patternFill patternType="none"/>', '<patternFill patternType="gray125"/>', header)
    return (
        f'<styleSheet xmlns="{MAIN}"><numFmts count="{len(codes)}">{formats}</numFmts>'
        f'<fonts count="{len(fonts)}">{"".join(fonts)}</fonts>'
        f'<fills count="{len(fills)}">{"".join(f"<fill>{fill}</fill>" for fill in fills)}</fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        f'<cellXfs count="{len(looks)}">{"".join(_xf(*look) for look in looks)}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
    )


def _xf(number_format: int, font: int, fill: int, more: str, alignment: str) -> str:
    aligned = ' applyAlignment="1"' if alignment else ""
    return (
        f'<xf numFmtId="{number_format}" fontId="{font}" fillId="{fill}" borderId="0" xfId="0" applyNumberFormat="1" '
        f'applyFont="1" applyFill="1"{aligned}{more}>{alignment}</xf>'
    )
