"""One list of goods, received or ordered, read by a `receipt.read` mapping; it runs in a limited process."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Final

import polars as pl

from logistics_batch import messages
from logistics_batch.intake.names import printable
from logistics_batch.intake.readers import identify, read_file
from logistics_batch.intake.stores.store import RemoteFile
from logistics_batch.mapping import Mapping, RunValues
from logistics_batch.mapping.whole_file import apply_mapping, legible_rows
from logistics_batch.messages.words import shortened
from logistics_batch.model.counting import counted
from logistics_batch.model.document import MappedFile, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet
from logistics_batch.reconciliation import UNREAD_ROWS, day

_DAY: Final = "received_date"
_NAMED: Final = 5
_TOTALS: Final = ("total", "totals", "subtotal", "subtotals", "grandtotal")
_UNREAD: Final = [RowState.INVALID.value, RowState.BLOCKED.value]


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
    read. doubts: what could not, in words; notes: what was left out, and the like. files: what was read. unread:
    UNREAD_ROWS. refused: names of the files that could not be read at all. opened_since: lists of a place that were
    written before this day were not opened; older: those, with the days. lying: names of the lists that lie there,
    opened or not. written: when each that was opened was written, retracted: when a person took lists of a name back
    (seconds since 1970).
    """

    lines: pl.DataFrame | None
    complete: bool = True
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    unread: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=UNREAD_ROWS))
    refused: tuple[str, ...] = ()
    opened_since: date | None = None
    older: tuple[tuple[RemoteFile, date], ...] = ()
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
    whole = _with_columns(lines, kind.columns)
    file_words = f"{kind.file_word.capitalize()} {name}"
    unread, doubts = _unread_rows(mapping, sheets, mapped, run_values=run_values, file_words=file_words)
    is_sum = pl.col("sku_name").fill_null("").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "").is_in(_TOTALS)
    goods = whole.filter(~is_sum)
    if _DAY in kind.columns:
        to_come = _of_days_to_come(goods, after=today)
        goods = goods.join(to_come, on=["sheet", "row"], how="anti", maintain_order="left")
        unread = pl.concat([unread, _with_columns(to_come, UNREAD_ROWS)])
        if to_come.height:
            first = shortened(to_come["spot"].to_list(), limit=_NAMED, separator="; ")
            doubts += (f"{file_words}: {counted(to_come.height, 'row')} of days to come counted in no sum ({first}).",)
    digest = identify(path, name=name).sha256[:8]
    files = (f"{name} (sha256 {digest}, {goods.height} lines)",)
    return ReadList(
        goods,
        complete=not doubts,
        doubts=doubts,
        notes=_sums_left_out(whole.filter(is_sum), name),
        files=files,
        unread=unread,
    )


def _unread_rows(
    mapping: Mapping, sheets: Sequence[Sheet], mapped: MappedFile, *, run_values: RunValues, file_words: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows that hold data and could not be read (UNREAD_ROWS), as far as they can, and a note on them."""
    rows = mapped.rows.filter(pl.col("state").is_in(_UNREAD))
    if rows.is_empty():
        return pl.DataFrame(schema=UNREAD_ROWS), ()
    issues = {issue.row: issue for issue in reversed(mapped.issues)}
    where = f"{run_values.file_name} {mapped.sheet}".strip()
    spots, reasons = [], []
    for row, code, values in rows.select("row", "code", "values").iter_rows():
        reason = _told(issues[row]) if row in issues else messages.told(code or "", values or "")[0]
        spots.append(f"{where} row {row}{', cell ' if row in issues else ': '}{reason}".rstrip(": "))
        reasons.append(reason if row in issues else f"row {row}: {reason}")
    first = "; ".join([reason for _, reason in sorted(zip(rows["row"], reasons, strict=True))][:_NAMED])
    told = rows.select("row").with_columns(
        pl.Series("spot", spots, dtype=pl.String), pl.lit(run_values.file_name).alias("file_name")
    )
    legible = legible_rows(mapping, sheets, run_values=run_values)
    told = told.join(legible, on="row", how="left", maintain_order="left")
    note = f"{file_words}: {counted(rows.height, 'row')} could not be read: left out of every sum ({first})."
    return _with_columns(told, UNREAD_ROWS), (note,)


def _of_days_to_come(lines: pl.DataFrame, *, after: date) -> pl.DataFrame:
    """The rows that say goods came on a day after this one, with `spot`.

    Day and month are changed over, or it is another year: what else such a row says is in doubt, too.
    """
    rows = lines.filter(day(_DAY) > after)
    where = pl.concat_str("file_name", "sheet", separator=" ").str.strip_chars_end()
    spot = pl.format('{} row {}, received date "{}": this day has not come yet', where, "row", _DAY)
    return rows.with_columns(spot.alias("spot"))


def _sums_left_out(lines: pl.DataFrame, name: str) -> tuple[str, ...]:
    """A note on the rows that are a sum of others and no goods: their SKU is the word for a total and nothing else."""
    if lines.is_empty():
        return ()
    named = [
        f'row {row}, invoice {printable(invoice or "")}: "{printable(sku or "")}" {printable(qty or "")}'
        for row, invoice, sku, qty in lines.select("row", "invoice_number", "sku_name", "qty").iter_rows()
    ]
    first, rows = shortened(named, limit=_NAMED, separator="; "), counted(lines.height, "row")
    return (f"{name}: {rows} left out, whose SKU is only the word for a total ({first}).",)


def _with_columns(rows: pl.DataFrame, columns: dict[str, Any]) -> pl.DataFrame:
    absent = [pl.lit(None, pl.String).alias(name) for name in columns if name not in rows.columns]
    return rows.with_columns(*absent).select(pl.col(name).cast(kind) for name, kind in columns.items())


def _told(issue: Issue) -> str:
    """Cell, value, what is wrong and what to write instead."""
    value = f' "{issue.value}"' if issue.value else ""
    return f"{issue.cell}{value}: {' '.join((issue.reason, issue.fix)).strip().rstrip('.')}"
