"""Facts of cells as tests write and compare them."""

import json
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from logistics_batch.model.sheet import CELL_TYPES, CellFact, CellRange, Sheet, facts_frame, merged_facts, struck_parts


def with_facts(
    sheet: Sheet,
    *,
    types: Sequence[tuple[int, int, CellFact]] = (),
    number_format_text: Sequence[tuple[int, int, str]] = (),
    number_format: Sequence[tuple[int, int, str]] = (),
    strikethrough: Sequence[tuple[int, int, str, str]] = (),
    hidden_by_merge: Sequence[tuple[int, int]] = (),
    merged: Sequence[CellRange] = (),
) -> Sheet:
    """The sheet with more facts of its cells; of a strikethrough the struck part and what is left."""
    more = [
        *((row, column, kind, None) for row, column, kind in types),
        *((row, column, CellFact.NUMBER_FORMAT_TEXT, shown) for row, column, shown in number_format_text),
        *((row, column, CellFact.NUMBER_FORMAT, code) for row, column, code in number_format),
        *(
            (row, column, CellFact.STRIKETHROUGH, json.dumps([struck, left]) if left else None)
            for row, column, struck, left in strikethrough
        ),
        *((row, column, CellFact.HIDDEN_BY_MERGE, None) for row, column in hidden_by_merge),
    ]
    return replace(sheet, facts=pl.concat([sheet.facts, facts_frame(more), merged_facts(merged)]))


def types_of(sheet: Sheet) -> dict[tuple[int, int], str]:
    """What the cells are that are more than text."""
    return {(row, column): kind for row, column, kind, _ in sheet.facts_of(*CELL_TYPES).rows()}


def cells_with(sheet: Sheet, kind: CellFact) -> list[tuple[int, int]]:
    """The cells of which a fact is known, in order."""
    return sheet.facts_of(kind).sort("row", "column").select("row", "column").rows()


def number_format_texts(sheet: Sheet, kind: CellFact = CellFact.NUMBER_FORMAT_TEXT) -> tuple[tuple[int, int, str], ...]:
    """The cells whose number format shows more than the number, and what; or its code."""
    facts = sheet.facts_of(kind).sort("row", "column")
    return tuple(facts.select("row", "column", "detail").rows())


def struck_cells(sheet: Sheet) -> tuple[tuple[int, int, str, str], ...]:
    """The cells that are struck through: the struck part and what is left, both "" where all of it is."""
    facts = sheet.facts_of(CellFact.STRIKETHROUGH).sort("row", "column").select("row", "column", "detail")
    return tuple((row, column, *struck_parts(detail)) for row, column, detail in facts.iter_rows())
