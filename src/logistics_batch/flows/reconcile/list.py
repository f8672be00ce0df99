"""One list of goods, received or ordered, read by a `receipt.read` mapping; it runs in a limited process."""

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from logistics_batch.flows.reconcile.unread import (
    days_to_come_note,
    skipped_goods,
    skipped_note,
    unread_note,
    unread_rows,
    without_days_to_come,
)
from logistics_batch.intake.names import printable
from logistics_batch.intake.readers import identify, read_file
from logistics_batch.mapping import Mapping, RunValues
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.counting import counted
from logistics_batch.reconciliation import UNREAD_ROWS

_DAY = "received_date"
_ROWS_NAMED = 5
_TOTALS = ("total", "totals", "subtotal", "subtotals", "grandtotal")


@dataclass(frozen=True, slots=True)
class ListKind:
    """What a list is of: its names in words, its columns, and how long before the range it may have been written.

    option: where its path is given on the command line.
    """

    word: str
    file_word: str
    columns: dict[str, Any]
    look_back_days: int
    option: str


@dataclass(frozen=True, slots=True)
class ReadList:
    """What was received or ordered, as far as it could be read.

    lines: as the kind's columns say; None where there was no file at all. complete: every row of every file could be
    read. notes: what could not, and what was left out, in words. files: what was read. unread: UNREAD_ROWS. refused:
    names of the files that could not be read at all. opened_since: lists of a place that were written before this day
    were not opened; older: the days when those were. lying: names of the lists that lie there, opened or not. written:
    when each that was opened was written, retracted: when a person took lists of a name back (seconds since 1970).
    """

    lines: pl.DataFrame | None
    complete: bool = True
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    unread: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=UNREAD_ROWS))
    refused: tuple[str, ...] = ()
    opened_since: date | None = None
    older: tuple[date, ...] = ()
    lying: frozenset[str] = frozenset()
    written: dict[str, float] = field(default_factory=dict)
    retracted: dict[str, float] = field(default_factory=dict)


def read_list(path: Path, mapping: Mapping, *, kind: ListKind, run_values: RunValues, today: date) -> ReadList:
    """The lines of one file, and what could not be read of it; today: goods cannot have come after it.

    Raises FileHeld.
    """
    name = run_values.file_name
    sheets = read_file(path, name=name, options=mapping.read_options)
    mapped = apply_mapping(mapping, sheets, run_values=run_values)
    lines = mapped.keep.with_columns(pl.lit(name).alias("file_name"), pl.lit(mapped.sheet).alias("sheet"))
    missing = [pl.lit(None, pl.String).alias(column) for column in kind.columns if column not in lines.columns]
    whole = lines.with_columns(*missing).select(pl.col(column).cast(dtype) for column, dtype in kind.columns.items())
    file_words = f"{kind.file_word.capitalize()} {name}"
    notes = unread_note(mapped, file_words=file_words)
    unread = unread_rows(mapping, sheets, mapped, run_values=run_values)
    sums = _is_sum(whole)
    goods = whole.filter(~sums)
    if _DAY in kind.columns:
        goods, to_come = without_days_to_come(goods, after=today)
        notes += days_to_come_note(to_come, file_words=file_words)
        unread = pl.concat([unread, to_come])
    skipped = skipped_goods(mapping, sheets, mapped, run_values=run_values)
    digest = identify(path, name=name).sha256[:8]
    files = (f"{name} (sha256 {digest}, {goods.height} lines)",)
    told = (*notes, *_sums_left_out(whole.filter(sums), name), *skipped_note(skipped, name=name))
    return ReadList(goods, complete=not notes, notes=told, files=files, unread=pl.concat([unread, skipped]))


def _is_sum(lines: pl.DataFrame) -> pl.Series:
    """Which lines are a sum of others and no goods: the SKU is the word for a total and nothing else."""
    word = pl.col("sku_name").fill_null("").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "")
    return lines.select(word.is_in(_TOTALS)).to_series()


def _sums_left_out(lines: pl.DataFrame, name: str) -> tuple[str, ...]:
    if lines.is_empty():
        return ()
    named = [
        f'row {row}, invoice {printable(invoice or "")}: "{printable(sku or "")}" {printable(qty or "")}'
        for row, invoice, sku, qty in lines.head(_ROWS_NAMED).select("row", "invoice_number", "sku_name", "qty").rows()
    ]
    more = f"; and {lines.height - len(named)} more" if lines.height > len(named) else ""
    rows = counted(lines.height, "row")
    return (f"{name}: left out is {rows} whose SKU is only the word for a total ({'; '.join(named)}{more}).",)
