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
    documents = rows.filter(pl.col("document") != "").select("row", "document")
    frame, facts = sheet.frame.join(documents, on="row", how="left", maintain_order="left"), [sheet.facts]
    blanks = _columns(sheet, header_row, options.told_apart_by)
    for column in sorted({*blanks, *_columns(sheet, header_row, options.filled_down)}):
        own, is_of_document = pl.col(str(column)), pl.col("document").is_not_null()
        is_mark = own.str.strip_chars().is_in(MARKS).fill_null(value=False)
        stands = own.str.contains(r"\S").fill_null(value=False) & ~is_mark
        takes = is_of_document & (is_mark | (~stands if column in blanks else pl.lit(value=False)))
        source = pl.when(stands).then("row").forward_fill()
        above = pl.when(is_mark).then(source).otherwise(source.over("document"))
        taken = frame.select("row", above=pl.when(takes).then(above)).drop_nulls()
        texts = frame.select(pl.col("row").alias("above"), own.alias("text"))
        taken = taken.join(texts, on="above", how="left", maintain_order="left")
        marked = frame.join(taken.select("row", "text"), on="row", how="left", maintain_order="left")
        frame = marked.with_columns(pl.coalesce("text", own).alias(str(column))).drop("text")
        same = sheet.facts_of(*CELL_TYPES, CellFact.NUMBER_FORMAT_TEXT).filter(column=column)
        facts.append(taken.join(same, left_on="above", right_on="row").select(sheet.facts.columns))
    return replace(sheet, frame=frame.drop("document"), facts=pl.concat(facts))


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
