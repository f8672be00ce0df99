"""A plain workbook of a sheet's rows, for input that is no workbook we can change in place.

The same rows stand at the same numbers. Text stays text (telephone numbers keep their `+`, codes their zeros, also when
a cell is edited); numbers and dates are what they were, so that the workbook is read again as the file was. The rows
are made in blocks, so that a file of a million rows does not lie in memory a second time.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import polars as pl

from logistics_batch.model.answers.answer_columns import ANSWER_COLUMNS
from logistics_batch.model.issue import cell_address, column_letters
from logistics_batch.model.report import Fate
from logistics_batch.model.sheet import CELL_TYPES, CellFact, Sheet, struck_parts
from logistics_batch.paper.answers.answer_cells import ANSWERS, WRAPPED_COLUMNS
from logistics_batch.paper.safe_text import cell_xml, escaped_columns, formula_columns, formula_like, xml_text
from logistics_batch.paper.xlsx.package import Package
from logistics_batch.paper.xlsx.parts import find_sheet
from logistics_batch.paper.xlsx.patch import Annotations, Looks, SheetAnnotator, columns_by_row
from logistics_batch.paper.xlsx.plain_parts import PlainStyle, plain_package, plain_sheet
from logistics_batch.paper.xlsx.sheet import SheetPart
from logistics_batch.paper.xlsx.survey import Survey

LAST_ROW = 1_048_576
"""The last row that a workbook can hold."""

_ROWS_A_BLOCK = 2_500
_ROWS_MEASURED = 2_000
_NARROWEST, _WIDEST, _SENTENCE = 9, 44, 58
_FORBIDDEN_IN_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_ERROR_WORDS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
_NUMBER = r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"  # leading zeros stay only as text
_RUN = '<r><t xml:space="preserve">{}</t></r>'
_STRUCK_RUN = '<r><rPr><strike/></rPr><t xml:space="preserve">{}</t></r>'
_SIGNS = re.compile(r"0,*|[%;]+|[^0%;]+")


def plain_workbook(*sheets: tuple[Sheet, Annotations], wrapped: int = 0) -> bytes:
    """The sheets' rows in a workbook, each with our columns, colours and comments as its annotations say.

    wrapped: so many columns at the left hold sentences, which are wrapped.
    """
    shown = [replace(sheet, name=title) for title, (sheet, _) in zip(_titles(sheets), sheets, strict=True)]
    package = plain_package(
        {
            sheet.name: plain_sheet(_widths(sheet, annotations.header_row, wrapped=wrapped), merges=_merges(sheet))
            for sheet, (_, annotations) in zip(shown, sheets, strict=True)
        },
        formats=[_format(text) for text in _shown_texts(shown)],
    )
    for sheet, (_, annotations) in zip(shown, sheets, strict=True):
        parts = find_sheet(package, sheet.name)
        part, found = SheetPart.of(package.read(parts.sheet)), Survey(1, _width(sheet), last_row(sheet))
        rows = partial(_blocks, sheet, annotations, number_formats=_styles(shown), wrapped=wrapped)
        package = Package(SheetAnnotator(package, parts, part, found).annotate(annotations, rows, is_ours=True))
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
    return sorted({shown for sheet in sheets for shown in sheet.facts_of(CellFact.NUMBER_FORMAT_TEXT)["detail"]})


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


def sheet_title(name: str) -> str:
    """The name as a workbook takes it.

    >>> sheet_title("orders: [new]/2026")
    'orders_ _new__2026'
    """
    return _FORBIDDEN_IN_NAMES.sub("_", name).strip("' ")[:31].strip("' ") or "Sheet1"


def last_row(sheet: Sheet) -> int:
    """The number of the sheet's last row, 0 if it has none."""
    return int(sheet.frame.get_column("row")[-1]) if sheet.frame.height else 0


def _widths(sheet: Sheet, header_row: int, *, wrapped: int) -> dict[int, float]:
    """How wide each column is for its longest text among the first rows."""
    first = sheet.frame.filter(pl.col("row") >= header_row).head(_ROWS_MEASURED)
    longest = first.select(pl.exclude("row").str.len_chars().max().fill_null(0)).to_dict(as_series=False)
    found: dict[int, float] = {
        int(name): min(max(length[0] + 2, _NARROWEST), _WIDEST) for name, length in longest.items()
    }
    return found | dict.fromkeys(range(1, wrapped + 1), _SENTENCE)


def _blocks(
    sheet: Sheet, annotations: Annotations, looks: Looks, *, number_formats: Mapping[str, int], wrapped: int
) -> Iterator[bytes]:
    """The rows as XML, some thousands at a time."""
    types = sheet.facts_of(*CELL_TYPES).rename({"kind": "type"})
    style = pl.col("detail").replace_strict(number_formats, return_dtype=pl.Int64).alias("style")
    shown = sheet.facts_of(CellFact.NUMBER_FORMAT_TEXT).select("row", "column", style)
    struck = _struck(sheet)
    failing = pl.DataFrame(
        [(row, column) for row, columns in columns_by_row(annotations.notes).items() for column in columns],
        schema={"row": pl.UInt32, "column": pl.UInt16},
        orient="row",
    ).with_columns(failing=pl.lit(value=True))
    heights = pl.DataFrame(list(looks.heights.items()), schema={"row": pl.UInt32, "height": pl.Float64}, orient="row")
    answered = annotations.answers.filter(pl.col("row").is_in(looks.answered))
    how = _Row(annotations, looks, wrapped, range(len(PlainStyle) + len(number_formats)))
    written = looks.answered.difference(sheet.frame["row"].to_list())
    rows = pl.concat([sheet.frame, pl.DataFrame({"row": sorted(written)}, schema={"row": pl.UInt32})], how="diagonal")
    frames = list((rows.sort("row") if written else rows).iter_slices(_ROWS_A_BLOCK))
    starts = pl.Series([frame["row"][0] for frame in frames], dtype=pl.UInt32)
    facts = {"type": types, "style": shown, "parts": struck, "failing": failing}
    facts_by_block = {kind: _cut(frame, starts) for kind, frame in facts.items()}
    answers_by_block, heights_by_block = _cut(answered, starts), _cut(heights, starts)
    texts = rows.drop("row")
    escaped, formulas, answer = escaped_columns(texts), formula_columns(texts), _answer_xml(answered, looks)
    made: dict[_Block, pl.Expr] = {}  # most blocks are alike
    for index, frame in enumerate(frames):
        wide = frame
        for kind, blocks in facts_by_block.items():
            wide = _beside(wide, blocks[index], kind, columns=texts.columns)
        has_header = annotations.header_row in frame["row"]
        answers = answers_by_block[index].select("row", answer=answer)
        if has_header and annotations.answers.height:
            answers = pl.concat([_answer_headers(looks, annotations.header_row), answers])
        wide = wide.join(answers, on="row", how="left", maintain_order="left")
        wide = wide.join(heights_by_block[index], on="row", how="left", maintain_order="left")
        block = _Block(frozenset(wide.columns), escaped, formulas, has_header)
        if block not in made:
            made[block] = _row_xml(texts.columns, block, how)
        yield wide.select(made[block].str.join("")).item().encode()


def _cut(frame: pl.DataFrame, starts: pl.Series) -> list[pl.DataFrame]:
    """What a frame has of each block of rows, in their order; starts: the first row of each block."""
    in_order = frame.sort("row", maintain_order=True)
    at = [0, *in_order["row"].search_sorted(starts[1:]).to_list(), frame.height]
    return [in_order.slice(begin, end - begin) for begin, end in pairwise(at)]


def _beside(frame: pl.DataFrame, facts: pl.DataFrame, kind: str, *, columns: Sequence[str]) -> pl.DataFrame:
    """A frame with a fact about cells as a column `KIND COLUMN` for each column that has any."""
    for (column,), of_column in facts.group_by("column") if facts.height else ():
        if str(column) in columns:
            values = of_column.select("row", pl.col(kind).alias(f"{kind} {column}")).unique("row")
            frame = frame.join(values, on="row", how="left", maintain_order="left")
    return frame


def _answer_xml(answers: pl.DataFrame, looks: Looks) -> pl.Expr:
    """Our cells of a row as XML."""
    styles = looks.styles
    cells = []
    escaped = escaped_columns(answers.select(ANSWERS.names()[1:]))
    for index, name in enumerate(ANSWERS.names()[1:]):
        if index == 0:
            style = pl.col("fate").replace_strict({fate.value: styles.status(fate) for fate in Fate})
        else:
            muted, guarded = pl.col("fate") == Fate.SKIPPED.value, formula_like(name)
            style = pl.lit(styles.text(Fate.ACCEPTED, wrap=index in WRAPPED_COLUMNS, guarded=False))
            for of_muted, of_guarded in ((True, True), (True, False), (False, True)):
                fate = Fate.SKIPPED if of_muted else Fate.ACCEPTED
                number = styles.text(fate, wrap=index in WRAPPED_COLUMNS, guarded=of_guarded)
                style = pl.when((muted == of_muted) & (guarded == of_guarded)).then(number).otherwise(style)
        cells.append(_inline(name, _address(looks.first_column + index), style, is_escaped=name in escaped))
    return pl.concat_str(cells, ignore_nulls=True)


def _answer_headers(looks: Looks, row: int) -> pl.DataFrame:
    """The cells above ours, in the row of the header: row, answer."""
    style = looks.styles.header()
    cells = "".join(
        f'<c r="{column_letters(looks.first_column + index)}{row}" s="{style}" t="inlineStr"><is><t>{text}</t></is></c>'
        for index, text in enumerate(ANSWER_COLUMNS)
    )
    return pl.DataFrame({"row": [row], "answer": [cells]}, schema_overrides={"row": pl.UInt32})


@dataclass(frozen=True, slots=True)
class _Row:
    """What a row's cells are written by."""

    annotations: Annotations
    looks: Looks
    wrapped: int
    own_styles: range  # of a cell that does not fail


def _struck(sheet: Sheet) -> pl.DataFrame:
    """The cells that are struck through: of those of which only a part is, the parts as XML, else ""."""
    schema = {"row": pl.UInt32, "column": pl.UInt16, "parts": pl.String}
    struck_facts = sheet.facts_of(CellFact.STRIKETHROUGH).select("row", "column", "detail")
    facts = [(row, column, struck_parts(detail)) for row, column, detail in struck_facts.iter_rows()]
    cells = [
        (row, column, _STRUCK_RUN.format(_xml(struck)) + _RUN.format(" " + _xml(left)) if left else "")
        for row, column, (struck, left) in facts
    ]
    return pl.DataFrame(cells, schema=schema, orient="row")


def _xml(text: str) -> str:
    return xml_text(text).decode()


@dataclass(frozen=True, slots=True)
class _Block:
    """What the cells of some rows have: the columns of their frame, those with texts that XML or formulas make special,
    and whether the header is among them."""

    columns: frozenset[str]
    escaped: frozenset[str]
    formulas: frozenset[str]
    has_header: bool


def _row_xml(names: Sequence[str], block: _Block, how: _Row) -> pl.Expr:
    """A row as XML; names: of the columns with its texts."""
    height = pl.format(' ht="{}" customHeight="1"', pl.col("height").round(1)).fill_null("")
    begin = (pl.lit('<row r="'), pl.col("row"), pl.lit('"'), height, pl.lit(">"))
    cells = (_cell(name, block, how) for name in names)
    return pl.concat_str(*begin, *cells, pl.col("answer"), pl.lit("</row>"), ignore_nulls=True)


def _cell(name: str, block: _Block, how: _Row) -> pl.Expr:
    """One cell as XML, null for an empty one that is right."""
    text, address, styles = pl.col(name), _address(int(name)), how.looks.styles
    is_header, failing = pl.col("row") == how.annotations.header_row, f"failing {name}" in block.columns
    plain = PlainStyle.SENTENCE if int(name) <= how.wrapped else PlainStyle.TEXT

    def look(style: PlainStyle | pl.Expr) -> pl.Expr:
        """The style, or that of a failing cell whose own it is."""
        number = pl.lit(style.value) if isinstance(style, PlainStyle) else style
        if not failing:
            return number
        marked = {own: styles.failing(own) for own in how.own_styles}
        return pl.when(pl.col(f"failing {name}")).then(number.replace_strict(marked)).otherwise(number)

    if name in block.formulas:
        own = look(pl.when(formula_like(name)).then(PlainStyle.GUARDED_TEXT.value).otherwise(plain.value))
    else:
        own = look(plain)
    style = pl.when(is_header).then(PlainStyle.HEADER.value).otherwise(own) if block.has_header else own
    cell = _inline(name, address, style, is_escaped=name in block.escaped)
    if failing:
        blank = _joined(*address, '" s="', own, '"/>')
        cell = cell.fill_null(pl.when(pl.col(f"failing {name}")).then(blank))
    if f"type {name}" in block.columns:
        has_style = f"style {name}" in block.columns
        number = pl.coalesce(f"style {name}", pl.lit(PlainStyle.GENERAL.value)) if has_style else None
        cell = _typed(name, address, look, number).fill_null(cell)
    if f"parts {name}" in block.columns:
        parts = pl.col(f"parts {name}")
        whole = pl.format(_STRUCK_RUN, cell_xml(name))
        runs = pl.when(parts == "").then(whole).otherwise(parts)
        struck = _joined(*address, '" s="', style, '" t="inlineStr"><is>', runs, "</is></c>")
        cell = pl.when(parts.is_not_null() & text.is_not_null()).then(struck).otherwise(cell)
    return cell


def _address(column: int) -> tuple[str, pl.Expr]:
    return f'<c r="{column_letters(column)}', pl.col("row")


def _inline(name: str, address: tuple[str, pl.Expr], style: pl.Expr, *, is_escaped: bool) -> pl.Expr:
    """A cell of text; null where there is none."""
    text, tag = (cell_xml(name), '<t xml:space="preserve">') if is_escaped else (pl.col(name), "<t>")
    cell = _joined(*address, '" s="', style, f'" t="inlineStr"><is>{tag}', text, "</t></is></c>")
    return pl.when(pl.col(name) != "").then(cell)


def _typed(
    name: str, address: tuple[str, pl.Expr], look: Callable[[PlainStyle | pl.Expr], pl.Expr], number: pl.Expr | None
) -> pl.Expr:
    """A number, date, time, truth or error as what it is; null where the cell is text after all."""
    text, kind = pl.col(name), pl.col(f"type {name}")
    day = text.str.to_datetime("%Y-%m-%d", strict=False)
    moment = text.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
    lasting = _days(text)
    numeric = kind.is_in((CellFact.NUMBER, CellFact.IMPRECISE)) & text.str.contains(_NUMBER)

    def valued(style: PlainStyle | pl.Expr, value: pl.Expr, kind: str = "") -> pl.Expr:
        return _joined(*address, '" s="', look(style), f'"{kind}><v>', value, "</v></c>")

    return (
        pl.when(numeric)
        .then(valued(PlainStyle.GENERAL if number is None else number, text))
        .when((kind == CellFact.DATE) & day.is_not_null())
        .then(valued(PlainStyle.DATE, _serial(day).cast(pl.Int64)))
        .when((kind == CellFact.DATETIME) & moment.is_not_null())
        .then(valued(PlainStyle.DATE_TIME, _serial(moment)))
        .when((kind == CellFact.TIME) & lasting.is_not_null())
        .then(valued(PlainStyle.TIME, lasting))
        .when((kind == CellFact.TRUTH) & text.is_in(["TRUE", "FALSE"]))
        .then(valued(PlainStyle.GENERAL, (text == "TRUE").cast(pl.Int8), ' t="b"'))
        .when((kind == CellFact.ERROR) & text.is_in(_ERROR_WORDS))
        .then(valued(PlainStyle.GENERAL, text, ' t="e"'))
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
