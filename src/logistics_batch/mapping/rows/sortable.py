"""A sheet whose rows say by themselves where they belong, so that people may sort them and take some out."""

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from logistics_batch.mapping.rows.classify import MARKS
from logistics_batch.mapping.rows.header import names_over_two_rows, without_names
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.model.sheet import CELL_TYPES, CellFact, ReadOptions, Sheet


def sortable(sheet: Sheet, header_row: int, rows: pl.DataFrame, options: ReadOptions) -> Sheet:
    """The sheet with what stands above in the blank cells of key and lines, as far as it is of the same document, and
    in place of each mark for "as above" in columns that are filled down.

    rows: row and document.
    """
    blanks = _columns(sheet, header_row, options.told_apart_by)
    documents = rows.filter(pl.col("document") != "").select("row", "document")
    frame, facts = sheet.frame, [sheet.facts]
    for column in sorted({*blanks, *_columns(sheet, header_row, options.filled_down)}):
        cells = frame.select("row", text=str(column)).join(documents, on="row", how="left", maintain_order="left")
        text = pl.col("text")
        is_mark = text.str.strip_chars().is_in(MARKS).fill_null(value=False)
        stands = text.str.contains(r"\S").fill_null(value=False) & ~is_mark
        takes = is_mark | (~stands if column in blanks else pl.lit(value=False))
        source = pl.when(stands).then("row").forward_fill()
        above = pl.when(is_mark).then(source).otherwise(source.over("document"))
        taken = cells.select("row", above=pl.when(takes & pl.col("document").is_not_null()).then(above)).drop_nulls()
        if taken.is_empty():
            continue
        sources = cells.select("text", above="row")
        found = cells.join(taken.join(sources, on="above"), on="row", how="left", maintain_order="left")
        frame = frame.with_columns(found.select(pl.coalesce("text_right", "text").alias(str(column))).to_series())
        same = sheet.facts_of(*CELL_TYPES, CellFact.NUMBER_FORMAT_TEXT).filter(column=column)
        facts.append(taken.join(same, left_on="above", right_on="row").select(sheet.facts.columns))
    return replace(sheet, frame=frame, facts=pl.concat(facts))


def _columns(sheet: Sheet, row: int, names: Iterable[str]) -> set[int]:
    """The columns that bear one of some names in a row, over two rows, or by their place where they have none."""
    wanted = {ColumnName.of(name).identity for name in names}
    texts = [text or "" for line in sheet.frame.filter(row=row).drop("row").iter_rows() for text in line]
    called, over_two = without_names(texts), names_over_two_rows(sheet, row, texts)[1]
    return {
        number
        for number, both in enumerate(zip(texts, over_two, strict=True), 1)
        if any(ColumnName.of(text).identity in wanted for text in (*both, called.get(number, "")) if text.strip())
    }
