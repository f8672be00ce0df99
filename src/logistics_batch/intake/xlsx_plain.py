"""Sheets of .xlsx workbooks as ordinary programs write them: in one pass, odd cells by the general reader."""

import io
import zipfile
from array import array
from collections.abc import Callable
from pathlib import Path

import polars as pl

from logistics_batch.intake.guards import part_blocks
from logistics_batch.intake.shared_texts import SharedTexts, read_shared_texts
from logistics_batch.intake.sheet_cells import ParsedSheet, UnfoldedSheet, in_order, read_cells
from logistics_batch.intake.sheet_facts import SheetFacts
from logistics_batch.intake.workbook_facts import Room
from logistics_batch.intake.xlsx_cells import Bounds, Numbers, PlainCells, PlainReader
from logistics_batch.intake.xlsx_facts import scan_sheet
from logistics_batch.intake.xlsx_lines import NotPlain
from logistics_batch.intake.xlsx_odd_cells import FIRST_ROW, odd_book, style_book
from logistics_batch.intake.xlsx_parts import Book, CellStyles, cell_styles, has_filtered_table, read_book

Parse = Callable[[io.BytesIO, str], ParsedSheet]
"""The general reader: the sheet of a name of a workbook."""


class PlainWorkbook:
    """One .xlsx workbook; parse: the general reader, which also unpacks the merged ranges of what it gives."""

    def __init__(self, path: Path, *, room: Room, parse: Parse) -> None:
        self._path = path
        self._room = room
        self._parse = parse
        self._texts: SharedTexts | None = None
        self._known: tuple[Book, CellStyles] | None = None

    def sheet(self, name: str) -> UnfoldedSheet:
        """One sheet. Raises NotPlain where the general reader must read it whole; it also finds what is wrong then."""
        with zipfile.ZipFile(self._path) as archive:
            book, styles = self._known = self._known or (read_book(archive), cell_styles(archive))
            part = book.sheets.get(name, "")
            if part not in archive.namelist():
                raise NotPlain
            limits = self._room.limits
            if self._texts is None:
                self._texts = read_shared_texts(archive, most_characters=limits.max_cell_characters)
            reader = PlainReader(
                bounds=Bounds(
                    rows=self._room.rows,
                    columns=limits.max_columns,
                    cells=self._room.cells,
                    gap_rows=limits.max_gap_rows,
                    characters=limits.max_text_characters,
                ),
                numbers=Numbers(self._plain_styles(archive, part, name, styles), styles),
                texts=self._texts,
            )
            cells = reader.read(part_blocks(archive, part, end=b"</row>", or_before=b"<row "))
            odd, facts = self._odd(archive, part, name, cells=cells, known=(book, styles))
            facts.is_filtered |= has_filtered_table(archive, part)
        return _together(cells, odd, facts)

    def _plain_styles(self, archive: zipfile.ZipFile, part: str, name: str, styles: CellStyles) -> frozenset[int]:
        """The styles that leave a number a number: they are of no date and no time."""
        if not styles.count:
            return frozenset()
        rows = self._parse(style_book(archive, part, styles.count), name).iter_rows()
        return frozenset(style for style, cells in enumerate(rows) if type(cells[0]) is float)

    def _odd(
        self, archive: zipfile.ZipFile, part: str, name: str, *, cells: PlainCells, known: tuple[Book, CellStyles]
    ) -> tuple[UnfoldedSheet, SheetFacts]:
        """What the odd cells hold, one below the other, and what is known of the whole sheet beside its cells."""
        book, styles = known
        texts = self._texts.part if self._texts else None
        content = odd_book(archive, part, around=cells.around, spelt=cells.spelt, texts=texts)
        most = FIRST_ROW + len(cells.spelt)
        with zipfile.ZipFile(content) as small:
            facts = scan_sheet(small, part, styles=styles, is_stale=book.is_stale, max_rows=most)
        content.seek(0)
        source = self._parse(content, name)
        frame, marks = read_cells(source, facts)
        if frame.width > 1 or frame.height >= most or facts.too_far or facts.hidden_rows:
            raise NotPlain
        below = pl.DataFrame({"1": pl.repeat(None, most - 1 - frame.height, dtype=pl.String, eager=True)})
        of_all = SheetFacts(
            hidden_rows=cells.hidden_rows,
            hidden_columns=facts.hidden_columns,
            is_filtered=facts.is_filtered,
            merges=[(a + 1, b + 1, c + 1, d + 1) for (a, b), (c, d) in source.merged_cell_ranges or ()],
        )
        return UnfoldedSheet(pl.concat([frame if frame.width else below.clear(), below]), marks, facts), of_all


def _together(cells: PlainCells, odd: UnfoldedSheet, facts: SheetFacts) -> UnfoldedSheet:
    """The plain and the odd cells of a sheet in their places."""
    frame, marks = cells.frame, [cells.marks]
    facts.padded = {each: array("L") for each in cells.padded}
    facts.worded = dict(cells.worded)
    facts.struck = dict.fromkeys(cells.struck, ("", ""))
    if not cells.odd.is_empty():
        texts = odd.frame["1"].slice(FIRST_ROW - 1)
        found = cells.odd.with_columns(text=texts.gather(cells.odd["odd"]))
        for (column,), some in found.drop_nulls("text").group_by("column"):
            name = str(column)
            frame = frame.with_columns(frame[name].scatter(some["row"] - 1, some["text"]))
        kinds = odd.marks.select(odd=pl.col("row") - FIRST_ROW, mark="mark")
        marks.append(found.join(kinds, on="odd", maintain_order="left").select("row", "column", "mark"))
        _tell(facts, odd.facts, found)
    return UnfoldedSheet(frame, in_order(*marks), facts)


def _tell(facts: SheetFacts, odd: SheetFacts, found: pl.DataFrame) -> None:
    """Put down at their true places what is known of the odd cells."""

    def places(rows: list[int]) -> list[tuple[int, int]]:
        numbers = pl.Series([row - FIRST_ROW for row in rows], dtype=pl.UInt32)
        return found.filter(pl.col("odd").is_in(numbers.implode())).select("row", "column").rows()

    facts.without_value = set(places([row for row, _ in odd.without_value]))
    for (row, _), shown in odd.worded.items():
        facts.worded |= dict.fromkeys(places([row]), shown)
    struck = {row - FIRST_ROW: texts for (row, _), texts in odd.struck.items()}
    for row, column, number in found.select("row", "column", "odd").iter_rows() if struck else ():
        if number in struck:
            facts.struck[row, column] = struck[number]
    words = {row: word for (row, _), word in odd.errors.items()}
    facts.errors = dict.fromkeys(places(list(words)), "")
    for (_, width), rows in odd.padded.items():
        for _, column in places(list(rows)):
            facts.padded.setdefault((column, width), array("L"))
