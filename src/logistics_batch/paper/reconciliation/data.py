"""The exceptions for programs: reconciliation.csv and reconciliation.json. Numbers are exact decimal texts."""

import json
from typing import Any

import polars as pl

from logistics_batch.model.reconciliation import (
    CLASSES_SCHEMA,
    LINES_SCHEMA,
    MONEY,
    RESOLVED_SCHEMA,
    TREND_SCHEMA,
    Standing,
)
from logistics_batch.paper.answers.result_csv import csv_bytes
from logistics_batch.paper.reconciliation.account import ReconciliationReport


def reconciliation_csv(account: ReconciliationReport) -> bytes:
    """One line an exception, in the workbook's order; guarded against formulas, UTF-8 with a byte order mark."""
    exceptions = account.open
    kinds = exceptions.schema  # made anew at each question
    return csv_bytes(exceptions.select(plain(name, kinds[name]).fill_null("") for name in LINES_SCHEMA))


def reconciliation_document(account: ReconciliationReport) -> dict[str, Any]:
    """The report as one JSON document: `window`, `complete`, `exceptions` (the open ones) and totals.

    Quantities and money are texts, since a JSON number would lose their exactness; what is not known is null.
    """
    result = account.result
    return {
        "window": {
            "by": account.by,
            "from": account.date_from.isoformat(),
            "to": account.date_to.isoformat(),
            "timezone": account.timezone,
        },
        "complete": account.complete,
        "doubts": list(account.doubts),
        "notes": list(account.notes),
        "run": account.run,
        "business_date": account.business_date.isoformat(),
        "made_at": account.made_at.isoformat(timespec="seconds"),
        "receipts_compared": account.receipts_compared,
        "orders_compared": account.orders_compared,
        "lists_not_compared": list(account.missing),
        "totals": {
            "lines": result.line_count,
            "exceptions": account.open.height,
            "impact_inr": str(account.open["impact_inr"].sum() or "0.00"),
            "match_percent_lines": result.match_rate.line_percent,
            "match_percent_units": result.match_rate.unit_percent,
            "lines_not_compared": result.match_rate.lines if "receipts" in account.missing else 0,
            "residual": 0,
        },
        "legs": [
            {"leg": leg.name, "asns": leg.notices, "lines": leg.lines, "units": leg.quantity} for leg in result.legs
        ],
        "classes": _records(result.classes, tuple(CLASSES_SCHEMA)),
        "exceptions": _records(account.open, tuple(LINES_SCHEMA)),
        "accepted": _records(account.accepted, tuple(LINES_SCHEMA)),
        "resolved": _records(account.gone(Standing.RESOLVED), tuple(RESOLVED_SCHEMA)),
        "not_checked": _records(account.gone(Standing.NOT_CHECKED), tuple(RESOLVED_SCHEMA)),
        "receipt_rows_not_read": account.not_read.to_dicts(),
        "previous_run": result.previous_run or None,
        "trend": _records(account.trend, tuple(TREND_SCHEMA)),
    }


def reconciliation_json(account: ReconciliationReport) -> bytes:
    """The document as UTF-8 text."""
    return json.dumps(reconciliation_document(account), ensure_ascii=False, indent=1).encode()


def _records(frame: pl.DataFrame, names: tuple[str, ...]) -> list[dict[str, Any]]:
    kinds = frame.schema
    as_it_is = {name for name in names if kinds[name].is_integer() or kinds[name] in (pl.Float64, pl.Boolean)}
    return frame.select(pl.col(name) if name in as_it_is else plain(name, kinds[name]) for name in names).to_dicts()


def plain(name: str, kind: pl.DataType) -> pl.Expr:
    """A column as plain text: money with two decimals, other decimals without trailing zeros, dates as YYYY-MM-DD."""
    text = pl.col(name).cast(pl.String)
    if not isinstance(kind, pl.Decimal) or kind == MONEY:
        return text.alias(name)
    return text.str.strip_chars_end("0").str.strip_suffix(".").alias(name)
