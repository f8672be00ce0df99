"""A sheet whose rows say by themselves where they belong, so that people may sort them and take some out."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from logistics_batch.mapping.rows.classify import MARKS
from logistics_batch.mapping.rows.header import bearing, names_over_two_rows, without_names
from logistics_batch.model.issue import cell_address
from logistics_batch.model.report import FileReport
from logistics_batch.model.sheet import CELL_TYPES, CellFact, ReadOptions, Sheet


def sortable(sheet: Sheet, report: FileReport, options: ReadOptions) -> Sheet:
    """The sheet with what stands above in the blank cells of key and lines, and in place of each mark for "as above" in
    columns that are filled down: as far as it is of the same block, as mapping understands it.

    A cell that is wrong stays as it is: whoever corrects it says what it should be. report: of this sheet alone.
    """
    blanks = _columns(sheet, report.header_row, options.told_apart_by)
    rows = report.rows.filter(~pl.col("code").fill_null("").str.starts_with("hidden row")).select("row", "document")
    shown = (
        sheet.frame.select("row").join(rows, on="row", maintain_order="left").filter(pl.col("row") > report.header_row)
    )
    is_data = pl.col("document") != ""
    begins = {  # a row that is no data ends what rows take from above; of blank cells, so does another document
        "of_marks": ~is_data,
        "of_blanks": ~is_data | (pl.col("document") != pl.col("document").shift(1)),
    }
    shown = shown.with_columns(each.fill_null(value=True).cum_sum().alias(name) for name, each in begins.items())
    wrong = {issue.place.cell for issue in report.issues}
    frame, facts = sheet.frame, [sheet.facts]
    for column in sorted({*blanks, *_columns(sheet, report.header_row, options.filled_down)}):
        cells = shown.join(frame.select("row", text=str(column)), on="row", how="left", maintain_order="left")
        unknown = sheet.facts_of(CellFact.NO_VALUE).filter(column=column)["row"]
        text = pl.col("text")
        is_mark = text.str.strip_chars().is_in(MARKS).fill_null(value=False)
        is_blank = ~text.str.contains(r"\S").fill_null(value=False) & ~pl.col("row").is_in(unknown.implode())
        stands = is_data & ~is_blank & ~is_mark
        of_blank = pl.when(stands).then("row").forward_fill().over("of_blanks")
        # The row above a mark is the nearest one without a mark; if nothing stands there, nobody knows.
        of_mark = pl.when(~is_mark).then("row").forward_fill().over("of_marks")
        told = cells.select(
            "row",
            "text",
            base=pl.when(stands).then("row").when(is_data & is_blank).then(of_blank),
            asks=pl.when(is_data & is_mark)
            .then(of_mark)
            .when(is_data & is_blank & pl.lit(column in blanks))
            .then("row"),
        )
        bases = told.select(pl.col("row").alias("asks"), above="base").drop_nulls()
        taken = told.select("row", "asks").drop_nulls().join(bases, on="asks").select("row", "above")
        taken = taken.join(told.select("text", above="row"), on="above")
        taken = taken.filter([cell_address(row, column) not in wrong for row in taken["row"]])
        if taken.is_empty():
            continue
        found = frame.select("row").join(taken, on="row", how="left", maintain_order="left")["text"]
        frame = frame.with_columns(pl.coalesce(found, str(column)).alias(str(column)))
        same = sheet.facts_of(*CELL_TYPES, CellFact.NUMBER_FORMAT_TEXT).filter(column=column)
        facts.append(taken.join(same, left_on="above", right_on="row").select(sheet.facts.columns))
    return replace(sheet, frame=frame, facts=pl.concat(facts))


def _columns(sheet: Sheet, row: int, names: Sequence[str]) -> set[int]:
    """The columns that bear one of some names in a row, over two rows, or by their place where they have none."""
    texts = [text or "" for line in sheet.frame.filter(row=row).drop("row").iter_rows() for text in line]
    called, over_two = without_names(texts), names_over_two_rows(sheet, row, texts)[1]
    written = [text or called.get(number, "") for number, text in enumerate(texts, 1)]
    return bearing(written, names) | bearing(over_two, names)
