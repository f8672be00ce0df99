"""A sheet whose rows say by themselves where they belong, so that people may sort them and take some out."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import polars as pl

from logistics_batch.mapping.rows.classify import MARKS
from logistics_batch.mapping.rows.header import bearing, names_over_two_rows, without_names
from logistics_batch.model.issue import Issue, cell_address
from logistics_batch.model.report import HIDDEN_ROW, Fate, FileReport
from logistics_batch.model.sheet import CELL_TYPES, CellFact, ReadOptions, Sheet, facts_frame

_TAKEN = (CellFact.NUMBER_FORMAT_TEXT, CellFact.NUMBER_FORMAT, CellFact.STRIKETHROUGH)


def sortable(sheet: Sheet, report: FileReport, options: ReadOptions) -> tuple[Sheet, tuple[Issue, ...]]:
    """The sheet with what stands above in the blank cells of key and lines, and in place of each mark for "as above" in
    columns that are filled down: as far as it is of the same block, as mapping understands it. And what is wrong there.

    What is wrong is taken as well, and told of each cell: a row that took nothing would be of another document once it
    is sorted. For that a mark or a key with nothing to take counts as one that nobody knows. report: of this sheet
    alone.
    """
    keys, told_apart, filled = (
        _columns(sheet, report.header_row, names) for names in (options.key, options.told_apart_by, options.filled_down)
    )
    may_be_data = (pl.col("fate") != Fate.SKIPPED) | (pl.col("document") != "") | (pl.col("code") == HIDDEN_ROW)
    rows = report.rows.select("row", pl.col("document").replace("", None), is_data=may_be_data)
    shown = sheet.frame.select("row").join(rows, on="row", how="left", maintain_order="left")
    shown = shown.filter(pl.col("row") > report.header_row).with_columns(pl.col("is_data").fill_null(value=False))
    shown = shown.with_columns(of_marks=(~pl.col("is_data")).cum_sum())
    cells = {column: _cells(sheet, shown, column) for column in sorted({*keys, *told_apart, *filled})}
    document, is_keyless = pl.col("document"), pl.col("document").is_null()
    # What a row is of whose document is not known, its key says.
    differs = [pl.lit(cells[column]["differs"]) for column in sorted(keys)]
    begins = (document != document.shift(1)).fill_null(pl.any_horizontal(pl.lit(value=False), *differs))
    of_blanks = shown.select((~pl.col("is_data") | begins).cum_sum()).to_series()
    frame, facts, issues = sheet.frame, [sheet.facts], defaultdict[str, list[Issue]](list)
    for issue in report.issues:
        issues[issue.cell].append(issue)
    for column, found in cells.items():
        merged = [range(top, bottom + 1) for top, left, bottom, _ in sheet.merged_ranges if left == column]
        is_filled, is_key = pl.lit(column in filled), pl.lit(column in keys)
        is_under = is_key & pl.col("row").is_in([*chain.from_iterable(merged)])
        stands, is_blank, is_mark = pl.col("stands"), pl.col("is_blank"), pl.col("is_mark") & is_filled
        of_blank = pl.when(stands).then("row").forward_fill().over(of_blanks)
        # The row above a mark is the nearest one without a mark; if nothing stands there, nobody knows.
        of_mark = pl.when(~pl.col("is_mark")).then("row").forward_fill().over("of_marks")
        takes = is_blank & (is_filled | is_under) & pl.lit(column in keys | told_apart)
        told = found.select(
            "row",
            "text",
            base=pl.when(stands).then("row").when(is_blank).then(of_blank),
            asks=pl.when(is_mark).then(of_mark).when(takes).then("row"),
            is_lost=is_mark | (takes & is_key & is_filled & is_keyless),
        )
        bases = told.select(pl.col("row").alias("asks"), above="base").drop_nulls()
        taken = told.select("row", "asks").drop_nulls().join(bases, on="asks").select("row", "above")
        taken = taken.join(told.select("text", above="row"), on="above")
        lost = told.filter("is_lost", ~pl.col("row").is_in(taken["row"].implode())).select("row")
        own = pl.when(~pl.col("row").is_in(lost["row"].implode())).then(str(column))
        texts = frame.select("row").join(taken, on="row", how="left", maintain_order="left")["text"]
        frame = frame.with_columns(pl.coalesce(texts, own).alias(str(column)))
        same = sheet.facts_of(*CELL_TYPES, *_TAKEN).filter(column=column)
        facts.append(taken.join(same, left_on="above", right_on="row").select(sheet.facts.columns))
        facts.append(facts_frame((row, column, CellFact.NO_VALUE, None) for row in lost["row"]))
        for row, above, _ in taken.filter(pl.col("above").is_in([each.row for each in report.issues])).iter_rows():
            if wrong := issues.get(cell_address(above, column)):
                cell = cell_address(row, column)
                issues[cell] = [each.at(row=row, cell=cell) for each in wrong]
    return replace(sheet, frame=frame, facts=pl.concat(facts)), tuple(chain.from_iterable(issues.values()))


def _cells(sheet: Sheet, shown: pl.DataFrame, column: int) -> pl.DataFrame:
    """A column's cells in the rows that are shown, as what they count; differs: from what stands above, by its text."""
    cells = shown.join(sheet.frame.select("row", text=str(column)), on="row", how="left", maintain_order="left")
    unknown = sheet.facts_of(CellFact.NO_VALUE).filter(column=column)["row"]
    text, is_data = pl.col("text"), pl.col("is_data")
    is_mark = text.str.strip_chars().is_in(MARKS).fill_null(value=False)
    is_blank = ~text.str.contains(r"\S").fill_null(value=False) & ~pl.col("row").is_in(unknown.implode())
    cells = cells.with_columns(is_mark=is_data & is_mark, is_blank=is_data & is_blank)
    cells = cells.with_columns(stands=is_data & ~pl.col("is_mark") & ~pl.col("is_blank"))
    name = pl.when("stands").then(text.str.strip_chars().fill_null(""))
    return cells.with_columns(differs=name.ne_missing(name.forward_fill().shift(1).over("of_marks")) & pl.col("stands"))


def _columns(sheet: Sheet, row: int, names: Sequence[str]) -> set[int]:
    """The columns that bear one of some names in a row, over two rows, or by their place where they have none."""
    texts = [text or "" for line in sheet.frame.filter(row=row).drop("row").iter_rows() for text in line]
    called, over_two = without_names(texts), names_over_two_rows(sheet, row, texts)[1]
    written = [text or called.get(number, "") for number, text in enumerate(texts, 1)]
    return bearing(written, names) | bearing(over_two, names)
