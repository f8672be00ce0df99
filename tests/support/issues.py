"""Issues with words of a test's own."""

import polars as pl

from logistics_batch import messages
from logistics_batch.model.issue import Issue, Place
from logistics_batch.model.sheet import Sheet


def own(rule: str) -> str:
    """A code of that rule whose words are its values; the catalogue of this process knows it from now on."""
    code = f"{rule}.in_own_words"
    messages.CATALOGUE[code] = messages.Entry("{reason}", "{remedy}")
    return code


def issue(row: int, rule: str, *, reason: str, remedy: str, **place: str) -> Issue:
    """An issue of a rule, `field|rule`, in a test's own words."""
    field, _, bare = rule.rpartition("|")
    return Issue.of(own(bare), Place(row=row, field=field, **place), reason=reason, remedy=remedy)


def said(reason: str, remedy: str = "", *, rule: str = "") -> Issue:
    """A file's or a document's cause in a test's own words."""
    return Issue.of(own(rule), reason=reason, remedy=remedy)


def reasons(rows: pl.DataFrame) -> list[str]:
    """What rows (ROWS_SCHEMA) are told, in words."""
    told = rows.select("code", "values").iter_rows()
    return [messages.told(code or "", values or "")[0] for code, values in told]


def notes_of(sheet: Sheet) -> dict[str, dict[str, object]]:
    """The codes of what a reader decided or repaired, with their values."""
    return {note.code: messages.unpacked(note.values) for note in sheet.notes}
