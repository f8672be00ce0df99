"""What analysts wrote in an earlier reconciliation.xlsx: owner, comment and status by exception_id, and nothing else.

A row is known by its exception_id, a column by its heading; where they stand does not matter, nor does a title above.
"""

import re
from collections.abc import Sequence

import polars as pl

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import ENTRIES, ENTRIES_SCHEMA, Entries
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper.reconciliation.columns import ANALYST_COLUMNS, RUN

LISTS = ("Exceptions", "Accepted", "Not checked", "Resolved")
"""The sheets that list exceptions."""
LOG = "Run log"
"""How the name of the sheet begins that says which run made the workbook."""

_ID, _STATUS = "exception_id", "analyst_status"
_HEADINGS_WITHIN = 30  # rows
_IDS_NAMED = 3
_NOT_SPOKEN = re.compile(r"[\s_.:-]+")


def entries_of(sheets: Sequence[Sheet]) -> Entries:
    """What stands in the lists of a workbook."""
    notes: list[str] = []
    unread: list[str] = []
    frames = [pl.DataFrame(schema=ENTRIES_SCHEMA)]
    for word in LISTS:
        named = [sheet for sheet in sheets if sheet.name.startswith(word)]
        found = [(sheet, headings) for sheet in named if (headings := _headings(sheet)) is not None]
        if named and not found:
            of_workbook = f'Sheet "{named[0].name}" of the earlier workbook'
            unread.append(f'{of_workbook} has no heading "{_ID}": nothing on it could be read.')
        for sheet, (row, places) in found:
            lost = [column.title for column in ANALYST_COLUMNS if _plain(column.title) not in places]
            if lost:
                notes.append(f'Sheet "{sheet.name}" of the earlier workbook has no column {", ".join(lost)}.')
            wanted = {_ID: _ID, **{column.field: column.title for column in ANALYST_COLUMNS}}
            cells = {name: places.get(_plain(title)) for name, title in wanted.items()}
            below = sheet.frame.filter(pl.col("row") > row)
            frames.append(
                below.select(
                    (_written(place) if place else pl.lit(None, pl.String)).alias(name) for name, place in cells.items()
                )
            )
    once, more = _each_once(pl.concat(frames))
    return Entries(once, (*notes, *more), tuple(unread), _run_of(sheets))


def _run_of(sheets: Sequence[Sheet]) -> str:
    """The run that made the workbook, "" if its log is gone."""
    for sheet in sheets:
        if sheet.name.startswith(LOG):
            for _row, name, *values in sheet.frame.iter_rows():
                if name == RUN:
                    return next(filter(None, values), "").strip()
    return ""


def _written(place: str) -> pl.Expr:
    """What stands in a column; NUL, which a workbook can spell (`_x0000_`) and a database may refuse, is no text."""
    return pl.col(place).fill_null("").str.replace_all("\0", "", literal=True)


def _plain(title: str) -> str:
    """A heading for comparing: "Exception ID" is `exception_id`."""
    return _NOT_SPOKEN.sub("", title).casefold()


def _headings(sheet: Sheet) -> tuple[int, dict[str, str]] | None:
    """The row of the headings and the column of each, the leftmost where one stands twice."""
    for row, *cells in sheet.frame.head(_HEADINGS_WITHIN).iter_rows():
        titles = [_plain(cell or "") for cell in cells]
        if _plain(_ID) in titles:
            return row, {title: str(place) for place, title in reversed(list(enumerate(titles, 1))) if title}
    return None


def _each_once(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Each exception once: of rows that were copied the first with entries counts as a whole, and who differs is named.

    Where they disagree about the status, nobody has accepted anything.
    """
    named = rows.with_columns(pl.col(_ID).str.strip_chars())
    written = pl.any_horizontal(pl.col(name).str.strip_chars().fill_null("") != "" for name in ENTRIES)
    nameless = named.filter((pl.col(_ID) == "") & written).height
    notes: list[str] = []
    if nameless:
        notes.append(f"Without an exception_id {counted(nameless, 'row')} with notes stayed in the earlier workbook.")
    filled = {name: pl.col(name).filter(written) for name in ENTRIES}
    disagree = {name: values.str.strip_chars().n_unique() > 1 for name, values in filled.items()}
    once = (
        named.filter(pl.col(_ID) != "")
        .group_by(_ID, maintain_order=True)
        .agg(
            *(pl.coalesce(values.first(), pl.col(name).first()).alias(name) for name, values in filled.items()),
            disagree[_STATUS].alias("unsettled"),
            pl.any_horizontal(disagree.values()).alias("differs"),
        )
    )
    once = once.with_columns(pl.when("unsettled").then(pl.lit("")).otherwise(_STATUS).alias(_STATUS))
    differing = once.filter("differs")[_ID].to_list()
    if differing:
        first = ", ".join(differing[:_IDS_NAMED])
        notes.append(
            f"Different notes in several rows were found for {counted(len(differing), 'exception')} ({first}): "
            "the first row with notes counts, and no Status where they disagree about it."
        )
    return once.select(*ENTRIES_SCHEMA), notes
