"""The cells that we add beside a sheet's rows: header, status, reason, remedy, where it went, and the run."""

from typing import Final

import polars as pl

from logistics_batch.model.answers.answer_columns import ANSWER_COLUMNS
from logistics_batch.model.issue import column_letters
from logistics_batch.model.report import Fate
from logistics_batch.paper.answers.status_columns import COLUMN_WIDTHS
from logistics_batch.paper.safe_text import is_formula_like, xml_text
from logistics_batch.paper.xlsx.rows import Cell
from logistics_batch.paper.xlsx.styles import StyleSheet

WRAPPED_COLUMNS: Final = {1: "reason", 2: "fix"}
"""Where reason and remedy stand among our columns, from 0."""

_LETTERS_A_DIGIT = 1.15  # widths count digits; the letters of a sentence are a little narrower


ANSWERS: Final = pl.Schema({"row": pl.UInt32, **dict.fromkeys(("fate", "reason", "fix", "number", "run"), pl.String)})
"""What stands in our five cells of a row, in the order of the columns."""


def answers_of(answered: pl.DataFrame) -> pl.DataFrame:
    """The answers of one sheet's rows, see ANSWERS. answered: see `row_answers.answered`."""
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


def lines_needed(answers: pl.DataFrame) -> dict[int, int]:
    """The rows whose reason or remedy takes more than one line in its column, with how many it takes."""
    each = [_lines(name, int(COLUMN_WIDTHS[at] * _LETTERS_A_DIGIT)) for at, name in WRAPPED_COLUMNS.items()]
    return dict(answers.select("row", pl.max_horizontal(each).alias("lines")).filter(pl.col("lines") > 1).iter_rows())


def _lines(name: str, width: int) -> pl.Expr:
    """How many lines of so many letters a text takes; words that do not fit on a line make it a little shorter."""
    line = pl.element().str.len_chars()
    lines = pl.max_horizontal((line / (width * 0.93)).ceil(), pl.lit(1))
    return (
        pl.when(pl.col(name).str.len_chars() <= width)
        .then(pl.col(name).str.count_matches("\n", literal=True) + 1)
        .otherwise(pl.col(name).str.split("\n").list.eval(lines).list.sum().cast(pl.UInt32))
    )


class AnswerCells:
    """Writes our cells as XML, from `first_column` on; empty ones are left out."""

    def __init__(
        self, styles: StyleSheet, answers: pl.DataFrame, *, header_row: int, first_column: int, prefix: bytes
    ) -> None:
        self._styles = styles
        self._answers = {row: texts for row, *texts in answers.iter_rows()}
        self._header_row = header_row
        self._first_column = first_column
        self._prefix = prefix
        self._letters = [column_letters(first_column + index).encode() for index in range(len(ANSWER_COLUMNS))]
        self._looks: dict[tuple[Fate, int, bool], int] = {}
        self._written: dict[str, bytes] = {}

    def of(self, row: int) -> list[Cell]:
        """Our cells of a row: the headers in the header row, the answer in any other; none for an unknown row."""
        if row == self._header_row:
            style = self._styles.header()
            return [self._cell(row, index, text, style) for index, text in enumerate(ANSWER_COLUMNS)]
        answer = self._answers.get(row)
        if answer is None:
            return []
        fate = Fate(answer[0])
        return [
            self._cell(row, index, text, self._look(fate, index, is_formula_like(text)))
            for index, text in enumerate(answer)
            if text
        ]

    def _look(self, fate: Fate, index: int, guarded: bool) -> int:
        key = (fate, index, guarded)
        if key not in self._looks:
            wrap = index in WRAPPED_COLUMNS
            self._looks[key] = (
                self._styles.status(fate) if index == 0 else self._styles.text(fate, wrap=wrap, guarded=guarded)
            )
        return self._looks[key]

    def _cell(self, row: int, index: int, text: str, style: int) -> Cell:
        p = self._prefix
        address = b"%s%d" % (self._letters[index], row)
        content = self._text(text)
        xml = b'<%sc r="%s" s="%d" t="inlineStr"><%sis>%s</%sis></%sc>' % (p, address, style, p, content, p, p)
        return Cell(self._first_column + index, xml)

    def _text(self, text: str) -> bytes:
        """The `<t>` of a text; words that stand in many rows are written once."""
        known = self._written.get(text)
        if known is None:
            known = b'<%st xml:space="preserve">%s</%st>' % (self._prefix, xml_text(text), self._prefix)
            if len(self._written) < 5_000:
                self._written[text] = known
        return known
