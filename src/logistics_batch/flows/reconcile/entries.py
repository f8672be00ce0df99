"""What analysts write beside exceptions between two nights, elsewhere than in the workbook; the next report has it."""

from collections.abc import Collection, Mapping
from datetime import date, timedelta
from typing import Any, Final

import polars as pl

from logistics_batch.errors import LedgerBusy
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.reconcile.memory import remembered
from logistics_batch.ledger import StoredNight
from logistics_batch.model.reconciliation import Standing

ACCEPTED: Final = "Accepted"
"""The status of what an analyst accepted, as it stands in the workbook."""
_LONGEST_COMMENT: Final = 4000
_OVER_AFTER: Final = timedelta(hours=12)  # a report that began so long ago and has no end was cut short


def open_exceptions(parts: Parts, series: str) -> pl.DataFrame:
    """The exceptions of a series that are not resolved, as MEMORY_SCHEMA has them."""
    listed = remembered(parts, series, date.max).listed
    return listed.filter(pl.col("standing") != Standing.RESOLVED.value)


def write_entries(
    parts: Parts, night: StoredNight, lines: Collection[Mapping[str, Any]], words: Mapping[str, str], *, why: str
) -> None:
    """Write owner or status beside exceptions, and why behind what is commented; the report of the next night has it.

    lines: the exceptions as they were shown. words: `owner` and `status`, those that change. Raises LedgerBusy while a
    report of theirs is made: it read what was written before.
    """
    now = parts.clock.now()
    told = f"{why} ({parts.person}, {now.date().isoformat()})"
    written = {
        str(line["exception_id"]): {**words, "comment": _behind(str(line["comment"] or ""), told)} for line in lines
    }
    since = (now - _OVER_AFTER).isoformat()
    if not parts.ledger.exceptions.write(night.series, written, none_running_since=since):
        raise LedgerBusy("A report of these exceptions is being made.", remedy="Write it once the report is there.")


def _behind(before: str, told: str) -> str:
    return f"{before} / {told}"[-_LONGEST_COMMENT:] if before.strip() else told
