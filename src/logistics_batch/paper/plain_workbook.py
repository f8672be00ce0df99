"""A plain workbook of a sheet's rows, for input that is no workbook we can change in place.

The same rows stand at the same numbers. Text stays text (telephone numbers keep their `+`, codes their zeros, also when
a cell is edited); numbers and dates are what they were, so that the workbook is read again as the file was. The rows
are made in blocks, so that a file of a million rows does not lie in memory a second time.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from logistics_batch.model.issue import cell_address, column_letters
from logistics_batch.model.sheet import Mark, Sheet
from logistics_batch.paper.plain_parts import PlainStyle, plain_package, plain_sheet
from logistics_batch.paper.safe_text import cell_xml, formula_like, xml_text
from logistics_batch.paper.status_columns import without_earlier_columns
from logistics_batch.paper.xlsx_package import Package
from logistics_batch.paper.xlsx_parts import find_sheet
from logistics_batch.paper.xlsx_patch import Annotations, Block, SheetAnnotator
from logistics_batch.paper.xlsx_rows import RowData
from logistics_batch.paper.xlsx_sheet import SheetPart
from logistics_batch.paper.xlsx_survey import Survey

LAST_ROW = 1_048_576
"""The last row that a workbook can hold."""

_ROWS_A_BLOCK = 5_000
_ROWS_MEASURED = 2_000
_NARROWEST, _WIDEST = 9, 44
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_ERROR_WORDS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"  # leading zeros stay only as text
_RUN = '<r><t xml:space="preserve">{}</t></r>'
_STRUCK_RUN = '<r><rPr><strike/></rPr><t xml:space="preserve">{}</t></r>'
_SIGNS = re.compile(r"0,*|[%;]+|[^0%;]+")


def plain_workbook(*sheets: tuple[Sheet, Annotations]) -> bytes:
    """The sheets' rows in a workbook, each with our columns, colours and comments as its annotations say."""
    shown = [
        replace(sheet, name=title, frame=without_earlier_columns(sheet, annotations.header_row))
        for title, (sheet, annotations) in zip(_titles(sheets), sheets, strict=True)
    ]
    package = plain_package(
        {
            sheet.name: plain_sheet(
                _widths(sheet.frame.filter(pl.col("row") >= annotations.header_row)), merges=_merges(sheet)
            )
            for sheet, (_, annotations) in zip(shown, sheets, strict=True)
        },
        formats=[_format(text) for text in _shown_texts(shown)],
    )
    for sheet, (_, annotations) in zip(shown, sheets, strict=True):
        package = Package(_annotated(package, sheet, annotations, styles=_styles(shown)))
    return package.content


def _titles(sheets: Sequence[tuple[Sheet, Annotations]]) -> list[str]:
    """The names of the sheets as a workbook takes them, each another."""
    titles: list[str] = []
    for number, (sheet, _) in enumerate(sheets, 1):
        title = sheet_title(sheet.name)
        taken = {each.casefold() for each in titles}
        titles.append(f"{title[:28]} {number}" if title.casefold() in taken else title)
    return titles


def _shown_texts(sheets: Sequence[Sheet]) -> list[str]:
    """What number formats show in the cells of these sheets, with 0 for the number, each once."""
    return sorted({shown for sheet in sheets for _, _, shown in sheet.worded})


def _styles(sheets: Sequence[Sheet]) -> dict[str, int]:
    """The cell style of each such text; they stand behind the plain ones."""
    return {text: number for number, text in enumerate(_shown_texts(sheets), len(PlainStyle))}


def _format(shown: str) -> str:
    """A number format that shows a number so.

    >>> _format("ORD-0"), _format("0%"), _format(";")
    ('"ORD-"0', '0%', ';;;')
    """
    if shown == ";":
        return ";;;"
    pieces = (each if each[0] in "0%;" else f'"{each.replace(chr(34), "")}"' for each in _SIGNS.findall(shown))
    return "".join(pieces)


def _merges(sheet: Sheet) -> list[str]:
    """The merged ranges: only their first cells have a value, the others count as merged with it."""
    return [f"{cell_address(top, left)}:{cell_address(bottom, right)}" for top, left, bottom, right in sheet.merges]


def _annotated(package: Package, sheet: Sheet, annotations: Annotations, *, styles: Mapping[str, int]) -> bytes:
    parts = find_sheet(package, sheet.name)
    last_column = max((int(column) for column in sheet.frame.columns if column != "row"), default=0)
    part, found = SheetPart.of(package.read(parts.sheet)), Survey(1, last_column, last_row(sheet))
    return SheetAnnotator(package, parts, part, found).annotate(
        annotations, _blocks(sheet, annotations.header_row, styles)
    )


def sheet_title(name: str) -> str:
    """The name as a workbook takes it.

    >>> sheet_title("orders: [new]/2026")
    'orders_ _new__2026'
    """
    return _FORBIDDEN_IN_NAMES.sub("_", name).strip("' ")[:31].strip("' ") or "Sheet1"


def last_row(sheet: Sheet) -> int:
    """The number of the sheet's last row, 0 if it has none."""
    return int(sheet.frame.get_column("row")[-1]) if sheet.frame.height else 0


def _widths(frame: pl.DataFrame) -> dict[int, int]:
    """How wide each column is for its longest text among the first rows."""
    longest = frame.head(_ROWS_MEASURED).select(pl.exclude("row").str.len_chars().max().fill_null(0))
    return {
        int(name): min(max(length[0] + 2, _NARROWEST), _WIDEST)
        for name, length in longest.to_dict(as_series=False).items()
    }


def _blocks(sheet: Sheet, header_row: int, styles: Mapping[str, int]) -> Iterator[Block]:
    schema = {"row": pl.UInt32, "column": pl.UInt16, "style": pl.Int64}
    worded = [(row, column, styles[shown]) for row, column, shown in sheet.worded]
    every = sheet.marks.join(pl.DataFrame(worded, schema=schema, orient="row"), on=["row", "column"], how="left")
    struck = _struck(sheet)
    for frame in sheet.frame.iter_slices(_ROWS_A_BLOCK):
        numbers = frame.get_column("row")
        marks = every.filter(pl.col("row").is_between(numbers[0], numbers[-1]))
        own = struck.filter(pl.col("row").is_between(numbers[0], numbers[-1]))
        yield Block(RowData.of(_rows_xml(frame, marks, own, header_row)), frozenset(numbers.to_list()))


def _struck(sheet: Sheet) -> pl.DataFrame:
    """The cells that are struck through: of those of which only a part is, the parts as XML, else ""."""
    schema = {"row": pl.UInt32, "column": pl.UInt16, "parts": pl.String}
    cells = [
        (row, column, _STRUCK_RUN.format(_xml(struck)) + _RUN.format(" " + _xml(left)) if left else "")
        for row, column, struck, left in sheet.struck
    ]
    return pl.DataFrame(cells, schema=schema, orient="row")


def _xml(text: str) -> str:
    return xml_text(text).decode()


def _rows_xml(frame: pl.DataFrame, marks: pl.DataFrame, struck: pl.DataFrame, header_row: int) -> bytes:
    wide = frame
    shown = marks.filter(pl.col("column").cast(pl.String).is_in(frame.columns))
    for (column,), of_column in shown.group_by("column"):
        kinds = of_column.select(
            "row", pl.col("mark").alias(f"mark {column}"), pl.col("style").alias(f"style {column}")
        ).unique("row")
        wide = wide.join(kinds, on="row", how="left", maintain_order="left")
    for (column,), parts in struck.filter(pl.col("column").cast(pl.String).is_in(frame.columns)).group_by("column"):
        texts = parts.select("row", pl.col("parts").alias(f"struck {column}"))
        wide = wide.join(texts, on="row", how="left", maintain_order="left")
    cells = [_cell(name, wide.columns, header_row) for name in frame.columns if name != "row"]
    row = pl.concat_str(pl.lit('<row r="'), pl.col("row"), pl.lit('">'), *cells, pl.lit("</row>"))
    return "".join(wide.select(row.alias("xml"))["xml"].to_list()).encode()


def _cell(name: str, columns: list[str], header_row: int) -> pl.Expr:
    """One cell as XML, nothing for an empty one."""
    text, address = pl.col(name), pl.lit(f'<c r="{column_letters(int(name))}') + pl.col("row").cast(pl.String)
    guarded = pl.when(formula_like(name)).then(PlainStyle.GUARDED_TEXT.value).otherwise(PlainStyle.TEXT.value)
    style = pl.when(pl.col("row") == header_row).then(PlainStyle.HEADER.value).otherwise(guarded)
    inline = _joined(
        address, '" s="', style, '" t="inlineStr"><is><t xml:space="preserve">', cell_xml(name), "</t></is></c>"
    )
    cell = pl.when(text.is_null() | (text == "")).then(pl.lit("")).otherwise(inline)
    if f"mark {name}" in columns:
        cell = _typed(name, address).fill_null(cell)
    if f"struck {name}" in columns:
        parts = pl.col(f"struck {name}")
        whole = pl.format(_STRUCK_RUN, cell_xml(name))
        runs = pl.when(parts == "").then(whole).otherwise(parts)
        struck = _joined(address, '" s="', style, '" t="inlineStr"><is>', runs, "</is></c>")
        cell = pl.when(parts.is_not_null() & text.is_not_null()).then(struck).otherwise(cell)
    return cell


def _typed(name: str, address: pl.Expr) -> pl.Expr:
    """A number, date, time, truth or error as what it is; null where the cell is text after all."""
    text, mark = pl.col(name), pl.col(f"mark {name}")
    day = text.str.to_datetime("%Y-%m-%d", strict=False)
    moment = text.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
    lasting = _days(text)
    style = pl.coalesce(f"style {name}", pl.lit(PlainStyle.GENERAL.value)).cast(pl.String)
    numeric = mark.is_in([Mark.NUMBER.value, Mark.IMPRECISE.value]) & text.str.contains(_NUMBER)
    return (
        pl.when(numeric)
        .then(_joined(address, '" s="', style, '"><v>', text, "</v></c>"))
        .when((mark == Mark.DATE.value) & day.is_not_null())
        .then(_joined(address, f'" s="{PlainStyle.DATE.value}"><v>', _serial(day).cast(pl.Int64), "</v></c>"))
        .when((mark == Mark.DATETIME.value) & moment.is_not_null())
        .then(_joined(address, f'" s="{PlainStyle.DATE_TIME.value}"><v>', _serial(moment), "</v></c>"))
        .when((mark == Mark.TIME.value) & lasting.is_not_null())
        .then(_joined(address, f'" s="{PlainStyle.TIME.value}"><v>', lasting, "</v></c>"))
        .when((mark == Mark.TRUTH.value) & text.is_in(["TRUE", "FALSE"]))
        .then(
            _joined(address, f'" s="{PlainStyle.GENERAL.value}" t="b"><v>', (text == "TRUE").cast(pl.Int8), "</v></c>")
        )
        .when((mark == Mark.ERROR.value) & text.is_in(_ERROR_WORDS))
        .then(_joined(address, f'" s="{PlainStyle.GENERAL.value}" t="e"><v>', text, "</v></c>"))
        .otherwise(None)
    )


def _days(text: pl.Expr) -> pl.Expr:
    """The days of a time as H:MM:SS; null where the text is none."""
    hours, minutes, seconds = (text.str.extract(r"^(\d{1,6}):(\d\d):(\d\d)$", part) for part in (1, 2, 3))
    return (hours.cast(pl.Int64) * 3600 + minutes.cast(pl.Int64) * 60 + seconds.cast(pl.Int64)) / 86_400


def _serial(moment: pl.Expr) -> pl.Expr:
    """Days since the day zero of workbooks."""
    return (moment - pl.datetime(1899, 12, 30)).dt.total_seconds() / 86_400


def _joined(*pieces: pl.Expr | str) -> pl.Expr:
    return pl.concat_str(*(pl.lit(piece) if isinstance(piece, str) else piece for piece in pieces))
