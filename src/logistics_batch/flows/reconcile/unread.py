"""Rows of a list that could not be read: counted and named for people, and kept for the lines that they concern."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Final

import polars as pl

from logistics_batch import messages
from logistics_batch.mapping import Mapping, RunValues
from logistics_batch.mapping.fields.compile import legible_rows
from logistics_batch.model.counting import counted
from logistics_batch.model.document import MappedFile, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import Sheet
from logistics_batch.reconciliation import UNREAD_ROWS

_NAMED: Final = 5
_GOODS: Final = ("invoice_number", "sku_name", "qty")
_ONLY_A_TOTAL: Final = r"^(grand|sub|page|net)?totals?$"
_UNREAD: Final = [RowState.INVALID.value, RowState.BLOCKED.value]


def unread_note(mapped: MappedFile, *, file_words: str) -> tuple[str, ...]:
    """The rows that hold data and could not be read, with the first reasons; none if all could."""
    rows = mapped.rows.filter(pl.col("state").is_in(_UNREAD))
    if rows.is_empty():
        return ()
    reasons = {row: f"row {row}: {reason}" for row, reason in _with_reasons(rows).iter_rows() if reason}
    reasons |= {row: _told(issue) for row, issue in _first_issues(mapped).items()}
    first = "; ".join(reasons[row] for row in sorted(reasons)[:_NAMED])
    return (f"{file_words}: {rows.height} rows could not be read and are in no sum ({first}).",)


def unread_rows(
    mapping: Mapping, sheets: Sequence[Sheet], mapped: MappedFile, *, run_values: RunValues
) -> pl.DataFrame:
    """The same rows (UNREAD_ROWS) with what can be read of them nevertheless."""
    rows = _with_reasons(mapped.rows.filter(pl.col("state").is_in(_UNREAD)))
    if rows.is_empty():
        return pl.DataFrame(schema=UNREAD_ROWS)
    issues = _first_issues(mapped)
    where = f"{run_values.file_name} {mapped.sheet}".strip()
    places = [_place(where, row, issues.get(row), reason) for row, reason in rows.iter_rows()]
    told = rows.with_columns(
        pl.Series("spot", places, dtype=pl.String), pl.lit(run_values.file_name).alias("file_name")
    )
    told = told.join(legible_rows(mapping, sheets, run_values=run_values), on="row", how="left", maintain_order="left")
    absent = [pl.lit(None, pl.String).alias(name) for name in UNREAD_ROWS if name not in told.columns]
    return told.with_columns(*absent).select(*UNREAD_ROWS)


def skipped_goods(
    mapping: Mapping, sheets: Sequence[Sheet], mapped: MappedFile, *, run_values: RunValues
) -> pl.DataFrame:
    """Rows (UNREAD_ROWS) that the mapping skips by a pattern for invoice numbers or SKUs, and that name goods in full.

    A pattern for totals, as "TOTAL*", fits the invoice number TOTAL-77, too.
    """
    rows = _with_reasons(mapped.rows.filter(pl.col("code").str.starts_with("skip_rows_where")))
    if rows.is_empty():
        return pl.DataFrame(schema=UNREAD_ROWS)
    legible = legible_rows(_without_patterns(mapping), sheets, run_values=run_values)
    if not set(_GOODS) <= set(legible.columns):
        return pl.DataFrame(schema=UNREAD_ROWS)
    word = pl.col("invoice_number").str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "")
    whole = legible.filter(pl.all_horizontal(_filled(name) for name in _GOODS) & ~word.str.contains(_ONLY_A_TOTAL))
    told = rows.join(whole, on="row", maintain_order="left").with_columns(
        pl.lit(run_values.file_name).alias("file_name")
    )
    where = f"{run_values.file_name} {mapped.sheet}".strip()
    spot = pl.format("{} row {}: {}", pl.lit(where), "row", pl.col("reason").str.strip_chars_end("."))
    absent = [pl.lit(None, pl.String).alias(name) for name in UNREAD_ROWS if name not in told.columns]
    return told.with_columns(*absent).with_columns(spot.alias("spot")).select(*UNREAD_ROWS)


def skipped_note(skipped: pl.DataFrame, *, name: str) -> tuple[str, ...]:
    """What is said of the rows of `skipped_goods`; nothing where there are none."""
    if skipped.is_empty():
        return ()
    first = "; ".join(skipped["spot"].head(_NAMED))
    more = f"; and {skipped.height - _NAMED} more" if skipped.height > _NAMED else ""
    rows = counted(skipped.height, "row")
    return (f"{name}: the mapping skips {rows} with invoice number, SKU and quantity ({first}{more}).",)


def without_days_to_come(lines: pl.DataFrame, *, after: date) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Receipts without the rows that say goods came on a day after this one, and these (UNREAD_ROWS).

    Day and month are changed over, or it is another year: what else such a row says is in doubt, too.
    """
    to_come = pl.col("received_date").str.slice(0, 10).str.to_date("%Y-%m-%d", strict=False) > after
    rows = lines.filter(to_come)
    if rows.is_empty():
        return lines, pl.DataFrame(schema=UNREAD_ROWS)
    where = pl.concat_str("file_name", "sheet", separator=" ").str.strip_chars_end()
    spot = pl.format('{} row {}, received date "{}": this day has not come yet', where, "row", "received_date")
    return lines.filter(~to_come.fill_null(False)), rows.with_columns(spot.alias("spot")).select(*UNREAD_ROWS)


def days_to_come_note(rows: pl.DataFrame, *, file_words: str) -> tuple[str, ...]:
    """What is said of the rows that `without_days_to_come` leaves out; nothing where there are none."""
    if rows.is_empty():
        return ()
    more = f"; and {rows.height - _NAMED} more" if rows.height > _NAMED else ""
    first = "; ".join(rows["spot"].head(_NAMED))
    return (f"{file_words}: {counted(rows.height, 'row')} of days to come counted in no sum ({first}{more}).",)


def _without_patterns(mapping: Mapping) -> Mapping:
    """The mapping without what it skips by the columns of invoice number and SKU."""
    fields = {place.rpartition(".")[2]: field for place, field in mapping.spec.everything.items()}
    ids = [fields[name] for name in ("invoice_number", "sku_name") if name in fields]
    columns = {name for field in ids for names in field.columns for name in names}
    sheet = mapping.spec.sheet
    kept = {
        name: patterns
        for name, patterns in sheet.skip_rows_where.items()
        if not columns & {name, *mapping.names_of(name)}
    }
    sheet = sheet.model_copy(update={"skip_rows_where": kept})
    return replace(mapping, spec=mapping.spec.model_copy(update={"sheet": sheet}))


def _with_reasons(rows: pl.DataFrame) -> pl.DataFrame:
    """row, and reason in words."""
    told = [messages.told(code or "", values or "")[0] for code, values in rows.select("code", "values").iter_rows()]
    return rows.select("row", pl.Series("reason", told, dtype=pl.String))


def _filled(name: str) -> pl.Expr:
    return pl.col(name).fill_null("").str.strip_chars() != ""


def _first_issues(mapped: MappedFile) -> dict[int, Issue]:
    return {issue.row: issue for issue in reversed(mapped.issues)}


def _place(where: str, row: int, issue: Issue | None, reason: str | None) -> str:
    if issue is None:
        return f"{where} row {row}: {reason or ''}".rstrip(": ")
    return f"{where} row {row}, cell {_told(issue)}"


def _told(issue: Issue) -> str:
    """Cell, value, what is wrong and what to write instead."""
    value = f' "{issue.value}"' if issue.value else ""
    return f"{issue.cell}{value}: {' '.join((issue.reason, issue.fix)).strip().rstrip('.')}"
