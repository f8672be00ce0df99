"""The cells that we add beside a sheet's rows: header, status, reason, remedy, where it went, and the run."""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import wrap

import polars as pl

from logistics_batch.model.answer_columns import ANSWER_COLUMNS
from logistics_batch.model.issue import column_letters
from logistics_batch.model.report import Fate
from logistics_batch.paper.safe_text import is_formula_like, xml_text
from logistics_batch.paper.status_columns import COLUMN_WIDTHS
from logistics_batch.paper.xlsx_rows import Cell
from logistics_batch.paper.xlsx_styles import StyleSheet

_WRAPPED_COLUMNS = (1, 2)  # reason and remedy
_LETTERS_A_DIGIT = 1.15  # widths count digits; the letters of a sentence are a little narrower


@dataclass(frozen=True, slots=True)
class Answer:
    """What stands in our five cells of a row, in the order of the columns."""

    fate: Fate
    texts: tuple[str, str, str, str, str]

    @property
    def lines(self) -> int:
        """How many lines its reason or its remedy takes, whichever is longer."""
        return max(
            _lines(self.texts[index], int(COLUMN_WIDTHS[index] * _LETTERS_A_DIGIT)) for index in _WRAPPED_COLUMNS
        )


def _lines(text: str, width: int) -> int:
    return sum(max(1, len(wrap(line, width))) for line in text.split("\n")) if len(text) > width or "\n" in text else 1


def answers_of(answered: pl.DataFrame) -> dict[int, Answer]:
    """The answer for each row number of one sheet. answered: see `row_answers.answered`."""
    is_data = (pl.col("fate") != Fate.SKIPPED.value) | (pl.col("document") != "")
    number = pl.when(pl.col("awb_number") != "").then("awb_number").otherwise("reference_number")
    columns = answered.select(
        "row",
        "fate",
        "cell_reason",
        "cell_fix",
        pl.when(is_data).then(number).otherwise(pl.lit("")).alias("number"),
        pl.when(is_data).then("run").otherwise(pl.lit("")).alias("run"),
    )
    return {line[0]: Answer(Fate(line[1]), line[1:]) for line in columns.iter_rows()}


class AnswerCells:
    """Writes our cells as XML, from `first_column` on; empty ones are left out."""

    def __init__(
        self, styles: StyleSheet, answers: Mapping[int, Answer], *, header_row: int, first_column: int, prefix: bytes
    ) -> None:
        self._styles = styles
        self._answers = answers
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
        return [
            self._cell(row, index, text, self._look(answer.fate, index, is_formula_like(text)))
            for index, text in enumerate(answer.texts)
            if text
        ]

    def _look(self, fate: Fate, index: int, guarded: bool) -> int:
        key = (fate, index, guarded)
        if key not in self._looks:
            wrap = index in _WRAPPED_COLUMNS
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
