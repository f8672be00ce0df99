"""What analysts wrote in an earlier reconciliation.xlsx, also if they sorted, filtered, moved or added columns.

A row is known by its exception_id, a column by its heading; where they stand does not matter, nor does a title above.
What cannot be read is said.
"""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from logistics_batch.model.counting import counted
from logistics_batch.model.reconciliation import OWN_SCHEMA, RESOLVED_SCHEMA, TREND_SCHEMA, Outcome, Standing
from logistics_batch.model.reconciliation_history import ENTRIES, Earlier
from logistics_batch.model.sheet import Sheet
from logistics_batch.paper import reconciliation_columns as columns
from logistics_batch.paper.reconciliation_columns import COMPLETE, Column
from logistics_batch.paper.reconciliation_own_columns import (
    nameless_columns,
    nameless_note,
    own_together,
    own_values,
    plain_title,
    taken_headings,
    taken_note,
)

LISTS = {
    "Exceptions": "",
    "Accepted": Outcome.ACCEPTED.value,
    "Not checked": Standing.NOT_CHECKED.value,
    "Resolved": Standing.RESOLVED.value,
}
"""The sheets that list exceptions, and how those on them stand."""

TREND_SHEET = "Trend"

_ID = "exception_id"
_STATUS = "analyst_status"
_HEADINGS_WITHIN = 30  # rows
_IDS_NAMED = 3


def earlier_report(sheets: Sequence[Sheet], *, name: str) -> Earlier:
    """The lists and the trend of an earlier report; `name` is where it was read."""
    notes: list[str] = []
    frames = [pl.DataFrame(schema=RESOLVED_SCHEMA)]
    nights = [pl.DataFrame(schema=TREND_SCHEMA)]
    own: list[pl.DataFrame] = []
    unread = tuple(_unread(sheets))
    for sheet in sheets:
        standing = next((LISTS[word] for word in LISTS if sheet.name.startswith(word)), None)
        if sheet.name.startswith(TREND_SHEET):
            nights += [_nights(frame) for _, frame in _table(sheet, columns.TREND, "Run", _TREND_TEXTS)]
        elif standing is not None:
            for present, frame in _table(sheet, columns.EXCEPTIONS + columns.GONE, _ID, RESOLVED_SCHEMA):
                notes += _lost_columns(sheet, present)
                frames.append(frame.with_columns(pl.lit(standing).alias("standing")))
                added, without_heading = _own(sheet)
                own.append(added)
                notes += without_heading
    if not any(sheet.name.startswith(TREND_SHEET) for sheet in sheets):
        notes.append(f'The earlier workbook has no sheet "{TREND_SHEET}": the trend over the nights begins anew.')
    listed, more = _each_once(pl.concat(frames))
    trend = pl.concat(nights).filter(pl.col("business_date").is_not_null())
    trend = trend.unique("business_date", keep="last").sort("business_date")
    run = trend["run"][-1] if trend.height else name
    day = trend["business_date"][-1] if trend.height else None
    return Earlier(name, run or name, day, listed, trend, (*notes, *more), own_together(own), unread)


def _unread(sheets: Sequence[Sheet]) -> Iterator[str]:
    """Lists whose sheet has lost the heading by which its rows are known; another sheet of the name may have it."""
    for word in LISTS:
        named = [sheet for sheet in sheets if sheet.name.startswith(word)]
        if named and all(_headings(sheet, _ID) is None for sheet in named):
            sheet = f'Sheet "{named[0].name}" of the earlier workbook'
            yield f'{sheet} has no heading "{_ID}": nothing on it could be read.'


_TREND_TEXTS = TREND_SCHEMA | {"completeness": pl.String()}


def _nights(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns((pl.col("completeness") == COMPLETE).alias("complete")).select(*TREND_SCHEMA)


def _table(
    sheet: Sheet, wanted: Sequence[Column], key: str, schema: Mapping[str, pl.DataType]
) -> Iterator[tuple[set[str], pl.DataFrame]]:
    """The fields that have a column, and the rows below the headings in types of `schema`; nothing without headings."""
    found = _headings(sheet, key)
    if found is None:
        return
    row, positions = found
    titles = {plain_title(column.title): column.field for column in wanted}
    places = {titles[title]: place for title, place in positions.items() if title in titles}
    below = sheet.frame.filter(pl.col("row") > row)
    told = below.select(
        (_typed(places[field], kind) if field in places else pl.lit(None, kind)).alias(field)
        for field, kind in schema.items()
    )
    texts = [field for field, kind in schema.items() if kind == pl.String]
    yield set(places), told.with_columns(pl.col(texts).fill_null(""))


def _own(sheet: Sheet) -> tuple[pl.DataFrame, list[str]]:
    """What stands in columns that analysts added to a list of exceptions, and what of it cannot be carried on."""
    found = _headings(sheet, _ID)
    if found is None:
        return pl.DataFrame(schema=OWN_SCHEMA), []
    row, places = found
    headings = [cell or "" for cell in sheet.frame.row(by_predicate=pl.col("row") == row)[1:]]
    below = sheet.frame.filter(pl.col("row") > row)
    bare = nameless_columns(below, headings)
    notes = [nameless_note(sheet.name, bare)] if bare else []
    ours = columns.EXCEPTIONS if sheet.name.startswith(("Exceptions", "Accepted")) else columns.GONE
    taken = taken_headings(below, headings, ours=ours)
    notes += [taken_note(sheet.name, taken)] if taken else []
    return own_values(below, headings, identity=places[plain_title(_ID)]), notes


def _headings(sheet: Sheet, key: str) -> tuple[int, dict[str, str]] | None:
    """The row of the headings and the column of each, the leftmost where one stands twice."""
    wanted = plain_title(key)
    for row, *cells in sheet.frame.head(_HEADINGS_WITHIN).iter_rows():
        titles = [plain_title(cell or "") for cell in cells]
        if wanted in titles:
            return row, {title: str(place) for place, title in reversed(list(enumerate(titles, 1))) if title}
    return None


def _typed(place: str, kind: pl.DataType) -> pl.Expr:
    text = pl.col(place).str.strip_chars()
    if kind == pl.String:
        return pl.col(place)
    if kind == pl.Date:
        return text.str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False)
    if kind.is_integer():
        return text.cast(pl.Float64, strict=False).cast(kind, strict=False)
    return text.cast(kind, strict=False)


def _lost_columns(sheet: Sheet, present: set[str]) -> list[str]:
    titles = {column.field: column.title for column in columns.ANALYST_COLUMNS}
    lost = [titles[field] for field in ENTRIES if field not in present]
    return [f'Sheet "{sheet.name}" of the earlier workbook has no column {", ".join(lost)}.'] if lost else []


def _each_once(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Each exception once: of rows that were copied the first with notes counts as a whole, and who differs is named.

    Where they disagree about the status, nobody has accepted anything.
    """
    named = rows.with_columns(pl.col(_ID).str.strip_chars())
    written = pl.any_horizontal(pl.col(field).str.strip_chars() != "" for field in ENTRIES)
    nameless = named.filter((pl.col(_ID) == "") & written).height
    notes: list[str] = []
    if nameless:
        notes.append(f"Without an exception_id {counted(nameless, 'row')} with notes stayed in the earlier workbook.")
    ours = named.filter(pl.col(_ID) != "")
    filled = {field: pl.col(field).filter(written) for field in ENTRIES}
    disagree = {field: values.str.strip_chars().n_unique() > 1 for field, values in filled.items()}
    once = ours.group_by(_ID, maintain_order=True).agg(
        *(pl.col(field).first() for field in RESOLVED_SCHEMA if field not in (_ID, *ENTRIES)),
        *(values.first().fill_null("").alias(field) for field, values in filled.items()),
        disagree[_STATUS].alias("unsettled"),
        pl.any_horizontal(disagree.values()).alias("differs"),
    )
    once = once.with_columns(pl.when("unsettled").then(pl.lit("")).otherwise(_STATUS).alias(_STATUS))
    differing = once.filter("differs")[_ID].to_list()
    if differing:
        first = ", ".join(differing[:_IDS_NAMED])
        notes.append(
            f"Different notes in several rows were found for {counted(len(differing), 'exception')} ({first}): "
            "the first row with notes counts, and no Status where they disagree about it."
        )
    return once.select(*RESOLVED_SCHEMA), notes
