"""A rectangle of text cells: cut to what holds something, and numbered as the spreadsheet program shows it."""

from collections.abc import Iterable

import polars as pl

from logistics_batch.errors import FileHeld


def trimmed(
    frame: pl.DataFrame, *, what: str, max_columns: int, max_gap_rows: int, at_least: tuple[int, int] = (0, 0)
) -> pl.DataFrame:
    """A frame without the empty rows below and the empty columns right of its content.

    what: the file or sheet, for messages. at_least: rows and columns to keep though they look empty. Raises FileHeld
    for more columns than allowed, and where more than `max_gap_rows` empty rows lie between two filled ones: something
    stands there by mistake, and it is not dropped unseen.
    """
    filled = frame.select(pl.all().is_not_null().any()).row(0) if frame.width else ()
    width = max([at_least[1], *(number for number, has in enumerate(filled, start=1) if has)])
    if width > max_columns:
        raise too_many_columns(what, width, max_columns)
    frame = frame.select(frame.columns[:width])
    if not width:
        return frame.clear()
    rows = frame.select(pl.any_horizontal(pl.all().is_not_null()).alias("has")).to_series().arg_true()
    refuse_gap(rows, what=what, max_gap_rows=max_gap_rows)
    return frame.slice(0, max(at_least[0], int(rows[-1]) + 1 if rows.len() else 0))


def too_many_columns(what: str, width: int, most: int) -> FileHeld:
    """A table that is wider than any is."""
    return FileHeld(
        f"{what} has {width:,} columns; at most {most} are read.",
        rule="sheet|too_many_columns",
        remedy="Delete the columns right of the table and send the file again.",
    )


def refuse_gap(filled: pl.Series, *, what: str, max_gap_rows: int) -> None:
    """Raise FileHeld where too many rows between two filled ones are empty; filled: their numbers, from 0."""
    gaps = filled.diff().fill_null(0)
    if (gaps.max() or 0) > max_gap_rows + 1:  # type: ignore[operator]
        at = int(gaps.arg_max() or 0)
        raise gap_fault(what, row=int(filled[at]) + 1, empty=int(gaps[at]) - 1)


def gap_fault(what: str, *, row: int, empty: int) -> FileHeld:
    """A row that holds something far below all others."""
    return FileHeld(
        f"{what}: row {row:,} holds something, but {empty:,} rows above it are empty.",
        rule="sheet|gap",
        remedy="Delete what stands there by mistake, or close the gap, and send the file again.",
    )


def covered(frame: pl.DataFrame, merges: Iterable[tuple[int, int, int, int]]) -> tuple[tuple[int, int], ...]:
    """The cells (row, column) under merged cells that hold another value than the one that is seen, from 1.

    frame: all rows from the first. merges: as `Sheet.merges`; they never overlap, and where they do all the same, each
    cell is looked at once.
    """
    found: list[tuple[int, int]] = []
    done = dict.fromkeys(range(1, frame.width + 1), 0)
    for top, left, bottom, right in sorted(merges):
        seen = (frame[str(left)][top - 1] or "").strip() if left <= frame.width and top <= frame.height else ""
        for column in range(left, min(right, frame.width) + 1):
            first = max(top + (column == left), done[column] + 1)
            done[column] = max(done[column], bottom)
            own = frame[str(column)].slice(first - 1, max(0, bottom - first + 1))
            if own.null_count() < own.len():
                texts = ((text or "").strip() for text in own.to_list())
                found += [(row, column) for row, text in enumerate(texts, first) if text not in ("", seen)]
    return tuple(sorted(found))


def numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its row numbers, from 1, in front."""
    return frame.with_row_index("row", offset=1)
