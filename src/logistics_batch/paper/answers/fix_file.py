"""NAME.fix.xlsx: a plain workbook with only the rows that need correcting, each with all rows of its document.

First stand `Reason` and `What to do` in words, then the user's own columns under their own names and in their order;
the wrong cells are coloured and say in a comment what is wrong. Of a file that was held as a whole it has all rows, for
none of them was sent. Where hidden rows are skipped, they come with it and stay hidden: what they leave of a document
is not sent. It can be corrected and dropped again as it is: our two columns are known again. Where the
mapping needs the rows above the header, as for an invoice number that stands there, they stay where they are; so do
the rows below the table in which it reads a value.
"""

from collections.abc import Mapping
from dataclasses import replace

import polars as pl

from logistics_batch import messages
from logistics_batch.model.answers import ANSWER_COLUMNS
from logistics_batch.model.issue import cell_address
from logistics_batch.model.report import HIDDEN_ROW, NEEDS_CORRECTING, Fate, FileReport
from logistics_batch.model.sheet import CELL_TYPES, CellFact, ReadOptions, Sheet, facts_frame, merged_facts
from logistics_batch.paper.answers.row_answers import (
    ANSWERS,
    CellNote,
    answered,
    cell_notes,
    header_texts,
    without_earlier_columns,
)
from logistics_batch.paper.xlsx.annotate import Annotations
from logistics_batch.paper.xlsx.plain import plain_workbook
from logistics_batch.paper.xlsx.sheet import Area

_OURS = ANSWER_COLUMNS[1:3]
_ORDINARY = ReadOptions()
_SIBLING = "Fine itself; another row of its document has to be corrected."
_SIBLING_FIX = "Nothing in this row."


def fix_file(
    report: FileReport, *, sheet: Sheet | None, lines: Sheet | None = None, options: ReadOptions = _ORDINARY
) -> bytes | None:
    """The fix file; None where nothing is to be corrected, or the rows are not at hand.

    A row needs correcting if it is invalid, refused or blocked; every other row of its document comes with it, and
    every row that was held with its file. lines: the second sheet, where lines stand on one; only the rows of these
    documents are left on it, too. options: how the mapping reads the file.
    """
    kept = rows_to_correct(report, options)
    sources = [source for source in (sheet, lines) if source is not None]
    reports = report.by_sheet
    if not any(rows.len() for rows in kept) or not report.header_row or len(sources) < len(reports):
        return None
    above = [report.header_row - 1 if options.needs_above else 0 for report in reports]
    return plain_workbook(*map(_sheet_to_correct, sources, reports, kept, above), wrapped=len(_OURS))


def rows_to_correct(report: FileReport, options: ReadOptions) -> tuple[pl.Series, ...]:
    """For each sheet the numbers of its rows that go into the fix file, in their order."""
    wrong = report.rows.filter(pl.col("fate").is_in(NEEDS_CORRECTING))
    # What is held with its file goes out with the corrected one or not at all.
    wanted = NEEDS_CORRECTING | ({Fate.HELD} if report.reason and wrong.height else set())
    of_them = (pl.col("document") != "") & pl.col("document").is_in(wrong["document"].unique().implode())
    codes = ("title.below", *((HIDDEN_ROW,) if options.hidden_rows == "skip" else ()))
    comes_along = pl.col("code").is_in(codes) & (wrong.height > 0)
    fits = pl.col("fate").is_in(wanted) | of_them | comes_along
    return tuple(of_sheet.rows.filter(fits, pl.col("row") > of_sheet.header_row)["row"] for of_sheet in report.by_sheet)


def _sheet_to_correct(sheet: Sheet, report: FileReport, rows: pl.Series, above: int) -> tuple[Sheet, Annotations]:
    """The header and the rows one under the other, our two columns before the user's. above: so many rows above it."""
    head = [*range(1, above + 1), report.header_row]
    wanted = pl.concat([pl.Series("row", head, dtype=pl.UInt32), rows])
    numbers = pl.DataFrame({"row": wanted}).with_row_index("new", offset=1).with_columns(pl.col("new").cast(pl.UInt32))
    own = without_earlier_columns(sheet, report.header_row).filter(pl.col("row").is_in(wanted.implode()))
    # The columns that are left, one beside the other, behind ours.
    places = {int(name): number for number, name in enumerate(own.columns[1:], len(_OURS) + 1)}
    own = own.rename({str(old): f"own {new}" for old, new in places.items()})
    moved = dict(numbers.select("row", "new").iter_rows())
    report = replace(
        report, issues=tuple(replace(each, values=_renumbered(each.values, moved)) for each in report.issues)
    )
    both = numbers.join(_told(report, moved), on="row", how="left", maintain_order="left")
    frame = both.join(own, on="row", how="left", maintain_order="left").drop("row")
    names = ["row", *(str(number) for number in range(1, frame.width))]

    def stays(row: int, column: int) -> bool:
        return row in moved and column in places

    column = pl.col("column").replace_strict(places, default=None, return_dtype=pl.UInt16)
    facts = sheet.facts.filter(~pl.col("kind").is_in((CellFact.MERGED, CellFact.HIDDEN_BY_MERGE)))
    facts = facts.join(numbers, on="row").select(pl.col("new").alias("row"), column, "kind", "detail")
    merged = [
        (top, places[left], bottom, max(place for own, place in places.items() if own <= right))
        for top, left, bottom, right in sheet.merged_ranges
        if bottom <= above + 1 and left in places
    ]
    made = replace(
        sheet,
        frame=frame.rename(dict(zip(frame.columns, names, strict=True))),
        facts=pl.concat([facts.drop_nulls("column"), merged_facts(merged if above else ())]),
        hidden_rows=tuple(moved[row] for row in report.rows.filter(code=HIDDEN_ROW)["row"] if row in moved),
        cell_counts=None,
    )
    notes, typed = [], set(made.facts_of(*CELL_TYPES).select("row", "column").iter_rows())
    below = sheet.frame.filter(pl.col("row") > report.header_row)
    typed_dates = sheet.facts_of(CellFact.DATE, CellFact.DATETIME).filter(pl.col("row") > report.header_row)["column"]
    counts = typed_dates.value_counts().iter_rows()
    # The columns of dates, and not of something else with a date among it.
    dates = {column for column, count in counts if count * 2 > below[str(column)].count()}
    to_date = []
    for note in cell_notes(report, header_texts(sheet, report.header_row)):
        area = Area.of(note.cell)
        if area is not None and stays(area.top, area.left):
            place = moved[area.top], places[area.left]
            notes.append(CellNote(cell_address(*place), note.text))
            if area.left in dates and place not in typed:  # else what is typed there is text, beside true dates
                to_date.append((*place, CellFact.DATE, None))
    made = replace(made, facts=pl.concat([made.facts, facts_frame(to_date)]))
    return made, Annotations(header_row=above + 1, answers=ANSWERS.to_frame(), notes=notes, legend="")


def _told(report: FileReport, moved: Mapping[int, int]) -> pl.DataFrame:
    """What our two columns say of each row, and their names in the header's: row, reason, fix.

    moved: the numbers that rows have here.
    """
    wrong = report.rows.filter(pl.col("fate").is_in((*NEEDS_CORRECTING, Fate.HELD)))
    renumbered = {values: _renumbered(values, moved) for values in wrong["values"].unique() if values}
    wrong = wrong.with_columns(pl.col("values").replace(renumbered))
    told = answered(replace(report, rows=wrong))
    # Rows have other numbers here: which one of the document is wrong, the coloured cells show.
    is_sibling = pl.col("rule") == "sibling"
    texts = told.select(
        "row",
        pl.when(is_sibling).then(pl.lit(_SIBLING)).otherwise("column_reason").alias("reason"),
        pl.when(is_sibling).then(pl.lit(_SIBLING_FIX)).otherwise("column_fix").alias("fix"),
    )
    return pl.concat([pl.DataFrame([(report.header_row, *_OURS)], schema=texts.schema, orient="row"), texts])


def _renumbered(values: str, moved: Mapping[int, int]) -> str:
    """Values of a code that name a row or the rows of a document, by the numbers that these have here."""
    given = messages.unpacked(values)
    rows = given.get("rows")
    if isinstance(rows, list) and all(row in moved for row in rows):
        return messages.packed(given | {"rows": [moved[row] for row in rows]})
    return messages.packed(given | {"row": moved[given["row"]]}) if given.get("row") in moved else values
