"""A plain workbook of a sheet's rows, for input that is no workbook we can change in place.

The same rows stand at the same numbers. Text stays text (telephone numbers keep their `+`, codes their zeros, also when
a cell is edited); numbers and dates are what they were, so that the workbook is read again as the file was. The rows
are made in blocks, so that a file of a million rows does not lie in memory a second time.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from functools import partial
from html import escape
from itertools import pairwise

import polars as pl

from logistics_batch.model.issue import cell_address, column_letters
from logistics_batch.model.sheet import CELL_TYPES, CellFact, Sheet, struck_parts
from logistics_batch.paper.safe_text import cell_xml, escaped_columns, formula_columns, formula_like, xml_text
from logistics_batch.paper.xlsx.annotate import Additions, Annotations, add_to_sheet, lines_of, text_cell
from logistics_batch.paper.xlsx.package import CONTENT_TYPES, MAIN, OFFICE, Package, find_sheet
from logistics_batch.paper.xlsx.rows import RowChanges, RowData, changed_rows
from logistics_batch.paper.xlsx.sheet import SheetPart, Survey

LAST_ROW = 1_048_576
"""The last row that a workbook can hold."""

_ROWS_A_BLOCK, _ROWS_MEASURED = 2_500, 2_000
_NARROWEST, _WIDEST, _SENTENCE = 9, 44, 58  # columns, in characters
_LINE_POINTS = 15.0
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_ERROR_WORDS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"  # leading zeros stay only as text
_RUN = '<r><t xml:space="preserve">{}</t></r>'
_STRUCK_RUN = '<r><rPr><strike/></rPr><t xml:space="preserve">{}</t></r>'


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


def plain_workbook(*sheets: tuple[Sheet, Annotations], wrapped: int = 0) -> bytes:
    """The sheets' rows in a workbook, each with our columns, colours and comments as its annotations say.

    wrapped: so many columns at the left hold sentences, which are wrapped.
    """
    shown = [replace(sheet, name=title) for title, (sheet, _) in zip(_titles(sheets), sheets, strict=True)]
    codes = sorted({code for sheet in shown for code in sheet.facts_of(CellFact.NUMBER_FORMAT)["detail"]})
    number_styles = {code: number for number, code in enumerate(codes, len(PlainStyle))}
    package = plain_package(
        {
            sheet.name: plain_sheet(_widths(sheet, annotations.header_row, wrapped=wrapped), merges=_merges(sheet))
            for sheet, (_, annotations) in zip(shown, sheets, strict=True)
        },
        formats=codes,
    )
    for sheet, (_, annotations) in zip(shown, sheets, strict=True):
        parts = find_sheet(package, sheet.name)
        surveyed = SheetPart.of(package.read(parts.sheet)), Survey(1, _width(sheet), last_row(sheet))
        rows = partial(_rows, sheet, annotations.header_row, number_styles=number_styles, wrapped=wrapped)
        add_to_sheet(package, parts, surveyed, annotations, rows, is_ours=True)
    return package.saved()


def _titles(sheets: Sequence[tuple[Sheet, Annotations]]) -> list[str]:
    """The names of the sheets as a workbook takes them, each another."""
    titles: list[str] = []
    for number, (sheet, _) in enumerate(sheets, 1):
        title = sheet_title(sheet.name)
        taken = {each.casefold() for each in titles}
        titles.append(f"{title[:28]} {number}" if title.casefold() in taken else title)
    return titles


def sheet_title(name: str) -> str:
    """The name as a workbook takes it.

    >>> sheet_title("orders: [new]/2026")
    'orders_ _new__2026'
    """
    return _FORBIDDEN_IN_NAMES.sub("_", name).strip("' ")[:31].strip("' ") or "Sheet1"


def _merges(sheet: Sheet) -> list[str]:
    """The merged ranges, as far as there are columns: only their first cells have a value, the others count as merged
    with it."""
    width = _width(sheet)
    clipped = [(top, left, bottom, min(right, width)) for top, left, bottom, right in sheet.merged_ranges]
    return [
        f"{cell_address(top, left)}:{cell_address(bottom, right)}"
        for top, left, bottom, right in clipped
        if right > left or (right == left and bottom > top)
    ]


def _width(sheet: Sheet) -> int:
    """The last of its columns."""
    return max((int(column) for column in sheet.frame.columns if column != "row"), default=0)


def last_row(sheet: Sheet) -> int:
    """The number of the sheet's last row, 0 if it has none."""
    return int(sheet.frame.get_column("row")[-1]) if sheet.frame.height else 0


def _widths(sheet: Sheet, header_row: int, *, wrapped: int) -> dict[int, float]:
    """How wide each column is for its longest text among the first rows."""
    first = sheet.frame.filter(pl.col("row") >= header_row).head(_ROWS_MEASURED)
    longest = first.select(pl.exclude("row").str.len_chars().max().fill_null(0)).row(0)
    found: dict[int, float] = {
        int(name): min(max(length + 2, _NARROWEST), _WIDEST)
        for name, length in zip(first.drop("row").columns, longest, strict=True)
    }
    for column, code in sheet.facts_of(CellFact.NUMBER_FORMAT).select("column", "detail").unique().iter_rows():
        found[column] = min(max(found[column], len(code)), _WIDEST)
    return found | dict.fromkeys(range(1, wrapped + 1), _SENTENCE)


# -- the rows ---------------------------------------------------------------------------------------------------------


def _rows(
    sheet: Sheet, header_row: int, added: Additions, *, number_styles: Mapping[str, int], wrapped: int
) -> Iterator[bytes]:
    """The rows as XML, some thousands at a time."""
    facts = {
        "type": sheet.facts_of(*CELL_TYPES).select("row", "column", pl.col("kind").alias("type")),
        "style": sheet.facts_of(CellFact.NUMBER_FORMAT).select(
            "row", "column", pl.col("detail").replace_strict(number_styles, return_dtype=pl.Int64).alias("style")
        ),
        "parts": _struck(sheet),
    }
    frame = sheet.frame
    if missing := set(added.answers["row"]).difference(frame["row"]):
        frame = pl.concat([frame, pl.DataFrame({"row": missing}, schema={"row": pl.UInt32})], how="diagonal").sort(
            "row"
        )
    texts = frame.drop("row")
    special = escaped_columns(texts), formula_columns(texts)
    blocks = list(frame.iter_slices(_ROWS_A_BLOCK))
    starts = pl.Series([block["row"][0] for block in blocks], dtype=pl.UInt32)
    facts_by_block = {kind: _cut(found, starts) for kind, found in facts.items()}
    answers_by_block = _cut(added.answers, starts)
    made: dict[tuple[frozenset[str], bool], pl.Expr] = {}  # most blocks are alike
    for index, block in enumerate(blocks):
        wide = block
        for kind, cut in facts_by_block.items():
            wide = _beside(wide, cut[index], kind)
        wide = wide.join(added.cells(answers_by_block[index]), on="row", how="left", maintain_order="left")
        has_header = header_row in block["row"]
        key = (frozenset(wide.columns), has_header)
        if key not in made:
            header = header_row if has_header else 0
            made[key] = _row_xml(sheet, wide.columns, special, header=header, wrapped=wrapped)
        xml = wide.select(made[key].str.join("").cast(pl.Binary)).item()
        yield from _with_marks(xml, block["row"].filter(block["row"].is_in(list(added.failing))), added)


def _with_marks(xml: bytes, failing: pl.Series, added: Additions) -> Iterator[bytes]:
    """A block of rows with the failing cells of these rows coloured."""
    marks = RowChanges(
        first_column=added.first_column,
        width=0,
        answers={},
        heights={},
        failing=added.failing,
        styles=added.styles,
        column_style=lambda _: PlainStyle.TEXT.value,
    )
    position = 0
    for number in failing:
        start = xml.index(b'<row r="%d"' % number, position)
        yield xml[position:start]
        position = xml.index(b"</row>", start) + len(b"</row>")
        yield from changed_rows(RowData(xml, start, position), marks)
    yield xml[position:]


def _cut(frame: pl.DataFrame, starts: pl.Series) -> list[pl.DataFrame]:
    """What a frame has of each block of rows, in their order; starts: the first row of each block."""
    in_order = frame.sort("row", maintain_order=True)
    at = [0, *in_order["row"].search_sorted(starts[1:]).to_list(), frame.height]
    return [in_order.slice(begin, end - begin) for begin, end in pairwise(at)]


def _beside(frame: pl.DataFrame, facts: pl.DataFrame, kind: str) -> pl.DataFrame:
    """A frame with a fact about cells as a column `KIND COLUMN` for each column that has any."""
    for (column,), of_column in facts.group_by("column") if facts.height else ():
        if str(column) in frame.columns:
            values = of_column.select("row", pl.col(kind).alias(f"{kind} {column}")).unique("row")
            frame = frame.join(values, on="row", how="left", maintain_order="left")
    return frame


def _struck(sheet: Sheet) -> pl.DataFrame:
    """The cells that are struck through: of those of which only a part is, the parts as XML, else ""."""
    cells = []
    for row, column, detail in sheet.facts_of(CellFact.STRIKETHROUGH).select("row", "column", "detail").iter_rows():
        struck, left = (xml_text(text).decode() for text in struck_parts(detail))
        cells.append((row, column, _STRUCK_RUN.format(struck) + _RUN.format(" " + left) if left else ""))
    schema = {"row": pl.UInt32, "column": pl.UInt16, "parts": pl.String}
    return pl.DataFrame(cells, schema=schema, orient="row")


def _row_xml(
    sheet: Sheet,
    columns: Sequence[str],
    special: tuple[frozenset[str], frozenset[str]],
    *,
    header: int,
    wrapped: int,
) -> pl.Expr:
    """A row as XML.

    columns: of the frame, with the facts beside them. special: the columns with texts that are others as XML, and those
    with texts like formulas. header: the number of the header's row, 0 if it is not among them. wrapped: see
    `plain_workbook`.
    """
    escaped, formulas = special
    cells = []
    for name in sheet.frame.columns[1:]:
        style = pl.lit((PlainStyle.SENTENCE if int(name) <= wrapped else PlainStyle.TEXT).value)
        if name in formulas:
            style = pl.when(formula_like(name)).then(PlainStyle.GUARDED_TEXT.value).otherwise(style)
        if header:
            style = pl.when(pl.col("row") == header).then(PlainStyle.HEADER.value).otherwise(style)
        cell = text_cell(name, int(name), style, is_escaped=name in escaped)
        if f"type {name}" in columns:
            number = pl.lit(PlainStyle.GENERAL.value)
            cell = _typed(name, pl.coalesce(f"style {name}", number) if f"style {name}" in columns else number, cell)
        if f"parts {name}" in columns:
            cell = _struck_cell(name, style, cell)
        cells.append(cell)
    lines = [lines_of(str(column), _SENTENCE) for column in range(1, wrapped + 1)]
    needed = pl.max_horizontal("height", *(pl.when(each > 1).then(each * _LINE_POINTS) for each in lines))
    height = pl.format(' ht="{}" customHeight="1"', needed.round(1)).fill_null("")
    hidden = pl.when(pl.col("row").is_in(sheet.hidden_rows)).then(pl.lit(' hidden="1"'))
    begin = (pl.lit('<row r="'), pl.col("row"), pl.lit('"'), height, hidden, pl.lit(">"))
    return pl.concat_str(*begin, *cells, pl.col("cells"), pl.lit("</row>"), ignore_nulls=True)


def _struck_cell(name: str, style: pl.Expr, cell: pl.Expr) -> pl.Expr:
    """The cell with its struck parts, where it has any."""
    parts = pl.col(f"parts {name}")
    runs = pl.when(parts == "").then(pl.format(_STRUCK_RUN, cell_xml(name))).otherwise(parts)
    address, end = f'<c r="{column_letters(int(name))}', "</is></c>"
    struck = _joined(address, pl.col("row"), '" s="', style, '" t="inlineStr"><is>', runs, end)
    return pl.when(parts.is_not_null() & pl.col(name).is_not_null()).then(struck).otherwise(cell)


def _typed(name: str, number_style: pl.Expr, cell: pl.Expr) -> pl.Expr:
    """A number, date, time, truth or error as what it is; the given cell where it is text after all.

    A formula that nobody has worked out is an error: an empty cell would be read as one that says nothing. A date that
    is none becomes one when somebody types it there.
    """
    text, kind = pl.col(name), pl.col(f"type {name}")
    day = text.str.to_datetime("%Y-%m-%d", strict=False)
    moment = text.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
    hours, minutes, seconds = (
        text.str.extract(r"^(\d{1,6}):(\d\d):(\d\d)$", part).cast(pl.Int64) for part in (1, 2, 3)
    )
    lasting = (hours * 3600 + minutes * 60 + seconds) / 86_400
    numeric = kind.is_in((CellFact.NUMBER, CellFact.IMPRECISE)) & text.str.contains(_NUMBER)

    def valued(style: pl.Expr | PlainStyle, value: pl.Expr, kind: str = "") -> pl.Expr:
        own = pl.lit(style.value) if isinstance(style, PlainStyle) else style
        address = f'<c r="{column_letters(int(name))}'
        return _joined(address, pl.col("row"), '" s="', own, f'"{kind}><v>', value, "</v></c>")

    empty = _joined(f'<c r="{column_letters(int(name))}', pl.col("row"), f'" s="{PlainStyle.DATE.value}"/>')
    return (
        pl.when(numeric)
        .then(valued(number_style, text))
        .when((kind == CellFact.DATE) & day.is_not_null())
        .then(valued(PlainStyle.DATE, serial(day).cast(pl.Int64)))
        .when((kind == CellFact.DATE) & ~formula_like(name).fill_null(value=False))
        .then(pl.coalesce(text_cell(name, int(name), pl.lit(PlainStyle.DATE.value), is_escaped=True), empty))
        .when((kind == CellFact.DATETIME) & moment.is_not_null())
        .then(valued(PlainStyle.DATE_TIME, serial(moment)))
        .when((kind == CellFact.TIME) & lasting.is_not_null())
        .then(valued(PlainStyle.TIME, lasting))
        .when((kind == CellFact.TRUTH) & text.is_in(["TRUE", "FALSE"]))
        .then(valued(PlainStyle.GENERAL, (text == "TRUE").cast(pl.Int8), ' t="b"'))
        .when((kind == CellFact.ERROR) & text.is_in(_ERROR_WORDS))
        .then(valued(PlainStyle.GENERAL, text, ' t="e"'))
        .when(kind == CellFact.NO_VALUE)
        .then(valued(PlainStyle.GENERAL, pl.lit("#N/A"), ' t="e"'))
        .otherwise(cell)
    )


def serial(moment: pl.Expr) -> pl.Expr:
    """Days since the day zero of workbooks."""
    return (moment - pl.datetime(1899, 12, 30)).dt.total_seconds() / 86_400


def _joined(*pieces: pl.Expr | str) -> pl.Expr:
    return pl.concat_str(*(pl.lit(piece) if isinstance(piece, str) else piece for piece in pieces))


# -- the parts that are the same for every file ------------------------------------------------------------------------

_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MEDIA = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_FONT = '<sz val="11"/><name val="Calibri"/><family val="2"/>'
_DATES = ("yyyy\\-mm\\-dd", "yyyy\\-mm\\-dd\\ hh:mm:ss")
_FIRST_OWN_FORMAT = 164
_CENTRED = '<alignment vertical="center"/>'  # as our columns beside them, also where these take several lines
# number format, font, fill, alignment
_LOOKS: dict[PlainStyle, tuple[int, int, int, str]] = {
    PlainStyle.GENERAL: (0, 0, 0, _CENTRED),
    PlainStyle.TEXT: (49, 0, 0, _CENTRED),
    PlainStyle.GUARDED_TEXT: (49, 0, 0, _CENTRED),
    PlainStyle.DATE: (_FIRST_OWN_FORMAT, 0, 0, _CENTRED),
    PlainStyle.DATE_TIME: (_FIRST_OWN_FORMAT + 1, 0, 0, _CENTRED),
    PlainStyle.HEADER: (49, 1, 2, '<alignment vertical="center" wrapText="1"/>'),
    PlainStyle.TITLE: (49, 2, 0, ""),
    PlainStyle.WRAPPED: (49, 0, 0, '<alignment vertical="top" wrapText="1"/>'),
    PlainStyle.TIME: (46, 0, 0, _CENTRED),
    PlainStyle.SENTENCE: (49, 0, 0, '<alignment vertical="center" wrapText="1"/>'),
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
        + f"<sheetData>{rows}</sheetData>"
        + (f'<mergeCells count="{len(merges)}">{merged}</mergeCells>' if merges else "")
        + '<pageMargins left="0.4" right="0.4" top="0.4" bottom="0.4" header="0.2" footer="0.2"/>'
        '<pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/></worksheet>'
    )


def plain_package(sheets: Mapping[str, str], *, formats: Sequence[str] = ()) -> Package:
    """A workbook in the styles above, and in one more for each of some number formats.

    sheets: their parts by their names, in their order.
    """
    kinds = {f"worksheets/sheet{number}.xml": "worksheet" for number in range(1, len(sheets) + 1)}
    kinds |= {"styles.xml": "styles"}
    types = {f"xl/{target}": f"{_MEDIA}.{kind}+xml" for target, kind in kinds.items()}
    types |= {"xl/workbook.xml": f"{_MEDIA}.sheet.main+xml"}
    names = "".join(
        f'<sheet name="{escape(name)}" sheetId="{number}" r:id="rId{number}"/>' for number, name in enumerate(sheets, 1)
    )
    package_types = "http://schemas.openxmlformats.org/package/2006/content-types"
    texts = {
        CONTENT_TYPES: f'<Types xmlns="{package_types}">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        + "".join(f'<Override PartName="/{part}" ContentType="{kind}"/>' for part, kind in types.items())
        + "</Types>",
        "_rels/.rels": _relations({"xl/workbook.xml": "officeDocument"}),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><bookViews><workbookView/></bookViews>'
        f"<sheets>{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(kinds),
        **{f"xl/{target}": part for target, part in zip(kinds, sheets.values(), strict=False)},
        "xl/styles.xml": _style_part(formats),
    }
    package = Package()
    for name, text in texts.items():
        package.put(name, [(_DECLARATION + text).encode()])
    return package


def _relations(kinds: Mapping[str, str]) -> str:
    lines = "".join(
        f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (target, kind) in enumerate(kinds.items(), 1)
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{lines}</Relationships>'
    )


def _style_part(more: Sequence[str]) -> str:
    codes = enumerate((*_DATES, *more), _FIRST_OWN_FORMAT)
    formats = [f'<numFmt numFmtId="{number}" formatCode="{escape(code)}"/>' for number, code in codes]
    looks = [_xf(*_LOOKS[style], guarded=style is PlainStyle.GUARDED_TEXT) for style in PlainStyle]
    looks += [_xf(_FIRST_OWN_FORMAT + len(_DATES) + number, 0, 0, _CENTRED) for number in range(len(more))]
    header = '<patternFill patternType="solid"><fgColor rgb="FFE9EDF1"/><bgColor indexed="64"/></patternFill>'
    fills = ('<patternFill patternType="none"/>', '<patternFill patternType="gray125"/>', header)
    lists = {
        "numFmts": formats,
        "fonts": [f"<font>{font}</font>" for font in (_FONT, f"<b/>{_FONT}", f"<b/>{_FONT.replace('11', '14', 1)}")],
        "fills": [f"<fill>{fill}</fill>" for fill in fills],
        "borders": ["<border><left/><right/><top/><bottom/><diagonal/></border>"],
        "cellStyleXfs": ['<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'],
        "cellXfs": looks,
        "cellStyles": ['<cellStyle name="Normal" xfId="0" builtinId="0"/>'],
    }
    written = (f'<{name} count="{len(items)}">{"".join(items)}</{name}>' for name, items in lists.items())
    return f'<styleSheet xmlns="{MAIN}">{"".join(written)}</styleSheet>'


def _xf(number_format: int, font: int, fill: int, alignment: str, *, guarded: bool = False) -> str:
    more = (' applyAlignment="1"' if alignment else "") + (' quotePrefix="1"' if guarded else "")
    return (
        f'<xf numFmtId="{number_format}" fontId="{font}" fillId="{fill}" borderId="0" xfId="0" applyNumberFormat="1" '
        f'applyFont="1" applyFill="1"{more}>{alignment}</xf>'
    )
