"""What each row is told: the fate's word, why, what to do, and where; the same words in every kind of result."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Final

import polars as pl

from logistics_batch import messages
from logistics_batch.model.answers import earlier_columns
from logistics_batch.model.issue import Issue, cell_address
from logistics_batch.model.report import Fate, FileReport
from logistics_batch.model.sheet import Sheet

_OF_ISSUE = ("rule", "column", "cell", "value", "reason", "fix")
RESULT_FIELDS = (
    "file",
    "sheet",
    "row",
    "document",
    "fate",
    *_OF_ISSUE,
    "reference_number",
    "awb_number",
    "run",
)
"""The columns of NAME.result.csv before the source's own, in their order."""

FILE_RULE = "file"
"""The rule that stands in a result's line about a file as a whole."""

_ROWS_A_BLOCK = 5_000
_DISAGREE = "disagree"
_HELD_FILE = ".held_with_file"
"""The code whose remedy is told of a row that is held with its file, where the file's own reason has none."""


ANSWERS: Final = pl.Schema({"row": pl.UInt32, **dict.fromkeys(("fate", "reason", "fix", "number", "run"), pl.String)})
"""What stands in our five cells of a row, in the order of the columns."""


@dataclass(frozen=True, slots=True)
class CellNote:
    """One failing cell: its A1 address and what is wrong with it, in one or more lines."""

    cell: str
    text: str


def answered(report: FileReport) -> pl.DataFrame:
    """The report's rows with every text filled in, in its order: RESULT_FIELDS and `would`.

    The first issue of a row stands in the columns, all of them in the reason. A fate that needs a word and has none
    gets its standard one. `cell_reason` and `cell_fix` are the texts of a workbook's cells, which have more lines;
    `column_reason` and `column_fix` name columns instead of cells, for where the cells stand at other places.
    """
    return _told(report.rows, report, _words(report.rows), _issues(report))


def answered_in_blocks(report: FileReport) -> Iterator[pl.DataFrame]:
    """The same, some thousands of rows at a time: many texts never lie in memory together."""
    words, issues = _words(report.rows), _issues(report)
    for rows in report.rows.iter_slices(_ROWS_A_BLOCK):
        yield _told(rows, report, words, issues)


def _told(rows: pl.DataFrame, report: FileReport, words: pl.DataFrame, issues: pl.DataFrame) -> pl.DataFrame:
    rows = rows.join(words, on=("code", "values"), how="left", maintain_order="left")
    rows = rows.join(issues, on=("sheet", "row"), how="left", maintain_order="left")
    rule = pl.col("code").str.extract(r"^([^.]*)")  # see `messages.rule_of`
    rows = rows.with_columns(
        pl.coalesce("issue:rule", rule).alias("rule"),
        *(pl.col(f"issue:{name}").fill_null("").alias(name) for name in ("column", "cell", "value")),
    )
    fate, reason, fix = pl.col("fate"), _said("reason"), _said("fix")
    with_its_file = (fate == Fate.HELD.value) & pl.lit(bool(report.reason))
    of_fate = {fate.value: messages.told(f".{fate}", "") for fate in Fate if f".{fate}" in messages.CATALOGUE}
    standard, usual = ({name: words[at] for name, words in of_fate.items()} for at in (0, 1))
    why = pl.coalesce(
        pl.col("issue:reason"),
        reason,
        pl.when(with_its_file).then(pl.lit(report.reason)),
        fate.replace_strict(standard, default="", return_dtype=pl.String),
    )
    what_to_do = pl.coalesce(
        pl.col("issue:fix"),
        fix,
        # Held with its file: no document of it waits for a decision.
        pl.when(with_its_file).then(pl.lit(report.remedy or messages.remedy(_HELD_FILE, {}))),
        pl.when(why != "").then(fate.replace_strict(usual, default="", return_dtype=pl.String)),
        pl.lit(""),
    )
    told = rows.with_columns(
        pl.lit(report.file).alias("file"), pl.lit(report.run).alias("run"), why.alias("reason"), what_to_do.alias("fix")
    )
    return told.select(
        *RESULT_FIELDS,
        "would",
        pl.coalesce("issue:cell_reason", "reason").alias("cell_reason"),
        pl.coalesce("issue:cell_fix", "fix").alias("cell_fix"),
        pl.coalesce("issue:column_reason", "reason").alias("column_reason"),
        pl.coalesce("issue:column_fix", "fix").alias("column_fix"),
    )


def answers_of(report: FileReport) -> pl.DataFrame:
    """The answers of one sheet's rows, see ANSWERS."""
    return pl.concat([ANSWERS.to_frame(), *map(_answers, answered_in_blocks(report))])


def _answers(answered: pl.DataFrame) -> pl.DataFrame:
    is_data = (pl.col("fate") != Fate.SKIPPED.value) | (pl.col("document") != "")
    number = pl.when(pl.col("awb_number") != "").then("awb_number").otherwise("reference_number")
    return answered.select(
        "row",
        "fate",
        pl.col("cell_reason").alias("reason"),
        pl.col("cell_fix").alias("fix"),
        pl.when(is_data).then(number).otherwise(pl.lit("")).alias("number"),
        pl.when(is_data).then("run").otherwise(pl.lit("")).alias("run"),
    ).cast(ANSWERS)


def _words(rows: pl.DataFrame) -> pl.DataFrame:
    """Reason and remedy of each code with its values; many rows are told the same."""
    pairs = rows.select("code", "values").unique()
    told = [messages.told(code, values) for code, values in pairs.iter_rows()]
    words = pl.DataFrame(told, schema={"reason": pl.String, "fix": pl.String}, orient="row")
    return pl.concat([pairs, words], how="horizontal")


def _said(name: str) -> pl.Expr:
    return pl.when(pl.col(name) != "").then(pl.col(name))


def _issues(report: FileReport) -> pl.DataFrame:
    """One line a row that has issues: the first one's cell, and what all of them say."""
    by_row: dict[tuple[str, int], list[Issue]] = {}
    for issue in report.issues:
        by_row.setdefault((issue.sheet or report.sheet, issue.row), []).append(issue)
    lines = []
    for (sheet, row), issues in by_row.items():
        first = issues[0]
        at_cells = _behind((one.cell, one.reason) for one in issues)
        reason = first.reason if len(issues) == 1 else " | ".join(at_cells)
        fixes = _fixes((one.cell, one.fix) for one in issues)
        texts = (first.rule, first.column, first.cell, first.value, reason, " | ".join(fixes))
        is_here = first.cell.lstrip(ascii_uppercase) in ("", str(row))  # a value for all rows may stand elsewhere
        is_plain = len(issues) == 1 and is_here
        at_columns = reason if is_plain else "\n".join(_behind((one.column, one.reason) for one in issues))
        column_fix = "\n".join(_fixes((one.column, one.fix) for one in issues))
        lines.append((sheet, row, *texts, "\n".join(at_cells), "\n".join(fixes), at_columns, column_fix))
    names = (*_OF_ISSUE, "cell_reason", "cell_fix", "column_reason", "column_fix")
    schema = {"sheet": pl.String, "row": pl.UInt32} | {f"issue:{name}": pl.String for name in names}
    return pl.DataFrame(lines, schema=schema, orient="row")


def _behind(told: Iterable[tuple[str, str]]) -> list[str]:
    """Each text once, behind the cell or column that it is about."""
    return list(dict.fromkeys(f"{place}: {text}" if place else text for place, text in told))


def _fixes(fixes: Iterable[tuple[str, str]]) -> list[str]:
    """Each remedy once; where there are several, behind the cells or columns that it is for."""
    found: dict[str, list[str]] = {}
    for place, fix in fixes:
        if fix:
            found.setdefault(fix, []).append(place)
    if len(found) < 2:
        return list(found)
    return _behind((", ".join(dict.fromkeys(filter(None, places))), fix) for fix, places in found.items())


def cell_notes(report: FileReport, headers: Sequence[str] = ()) -> tuple[CellNote, ...]:
    """Every failing cell of one sheet's report, each once, with all that is wrong with it.

    headers: the texts of its header row; by these the cells are found in which the rows of a document disagree.
    """
    texts: dict[str, list[str]] = defaultdict(list)
    for issue in report.issues:
        _add(texts[issue.cell], issue.reason, issue.fix)
    torn = report.rows.filter(pl.col("code") == _DISAGREE, not report.is_of_lines)
    for row, values in torn.select("row", "values").iter_rows():
        told = messages.told(_DISAGREE, values)
        for column, header in enumerate(headers, 1):
            if header.strip() in messages.unpacked(values)["names"]:
                _add(texts[cell_address(row, column)], *told)
    row, cell = report.held.given.get("place") or (0, "")
    if cell and not report.is_of_lines and row in report.rows["row"]:
        _add(texts[cell], report.reason, report.remedy)
    return tuple(CellNote(cell, "\n".join(lines)) for cell, lines in texts.items() if cell)


def _add(lines: list[str], *texts: str) -> None:
    lines.extend(text for text in texts if text and text not in lines)


def header_texts(sheet: Sheet, header_row: int) -> tuple[str, ...]:
    """The texts of the sheet's header row by position, "" where a column has none."""
    line = sheet.frame.filter(pl.col("row") == header_row).drop("row")
    if line.is_empty():
        return ("",) * sheet.width
    return tuple(text or "" for text in line.row(0))


def without_earlier_columns(sheet: Sheet, header_row: int) -> pl.DataFrame:
    """The sheet's frame without the columns of an earlier result; the others keep their names."""
    ours = earlier_columns(header_texts(sheet, header_row))
    return sheet.frame.drop(str(position + 1) for position in ours)
