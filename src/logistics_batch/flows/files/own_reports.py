"""Reports of ours that somebody dropped by mistake: known by what stands in them, whatever their name is.

A returned workbook and a fix file are none of these: they are made to be corrected and dropped.
"""

from collections.abc import Sequence

from logistics_batch.errors import FileHeld
from logistics_batch.model.answers.answer_columns import HELD_SHEET, INDEX_COLUMNS
from logistics_batch.model.reconciliation import LINES_SCHEMA
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.answers.row_answers import RESULT_FIELDS

_LEADING_COLUMNS = 5  # more than any sender's sheet begins with by chance
_ANSWERS = "own_report.answers"
_RECONCILIATION = "own_report.reconciliation"
_LISTS = {
    tuple(RESULT_FIELDS[:_LEADING_COLUMNS]): _ANSWERS,
    tuple(LINES_SCHEMA)[:_LEADING_COLUMNS]: _RECONCILIATION,
    INDEX_COLUMNS[:_LEADING_COLUMNS]: "own_report.label_index",
}
_RECONCILIATION_SHEETS = {"Exceptions", "Ageing", "Supplier scorecard"}


def refuse_own(name: str, sheets: Sequence[Sheet]) -> None:
    """Raises FileHeld if the file is one of our own reports."""
    what = _own(sheets)
    if not what:
        return
    raise FileHeld(what, values={"name": name})


def _own(sheets: Sequence[Sheet]) -> str:
    names = {sheet.name for sheet in sheets}
    if names == {HELD_SHEET}:
        return "own_report.held_file"
    if names >= _RECONCILIATION_SHEETS:
        return _RECONCILIATION
    return next((what for sheet in sheets if (what := _LISTS.get(_first_texts(sheet), ""))), "")


def _first_texts(sheet: Sheet) -> tuple[str, ...]:
    """The first cells of a sheet's first row."""
    names = [name for name in sheet.frame.columns if name != "row"][:_LEADING_COLUMNS]
    if not sheet.frame.height:
        return ()
    return tuple((text or "").strip() for text in sheet.frame.select(names).row(0))
