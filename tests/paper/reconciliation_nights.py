"""Accounts of one night or several, each compared with the workbook of the night before as it came back."""

import tempfile
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from reconciliation.world import World

from logistics_batch.intake.readers import read_file
from logistics_batch.model.reconciliation_history import Earlier, Watch
from logistics_batch.model.sheet import ReadOptions
from logistics_batch.paper.reconciliation_account import Account
from logistics_batch.paper.reconciliation_previous import LISTS, TREND_SHEET, earlier_report
from logistics_batch.reconciliation import Rules, audit

TODAY = date(2026, 11, 10)
WINDOW = (date(2026, 11, 1), date(2026, 11, 12))


def account_of(
    world: World,
    *,
    day: date = TODAY,
    window: tuple[date, date] = WINDOW,
    doubts: tuple[str, ...] = (),
    earlier: Earlier | None = None,
    **rules,
) -> Account:
    """The report of one night."""
    complete = not doubts
    watch = Watch(day, window, complete)
    return Account(
        run=f"R{day:%m%d}",
        by="delivery",
        date_from=window[0],
        date_to=window[1],
        timezone="Asia/Kolkata",
        business_date=day,
        made_at=datetime(day.year, day.month, day.day, 22, 15, tzinfo=ZoneInfo("Asia/Kolkata")),
        result=audit(
            world.legs(), rules=Rules(business_date=day, complete=complete, **rules), earlier=earlier, watch=watch
        ),
        receipts_compared=world.receipts is not None,
        doubts=doubts,
        notes=("a note",),
        log=(("Job", "=nightly"),),
    )


def read_back(workbook: bytes) -> Earlier:
    """A workbook as tomorrow's report reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reconciliation.xlsx"
        path.write_bytes(workbook)
        options = [ReadOptions(name=f"{title}*") for title in (*LISTS, TREND_SHEET)]
        sheets = [sheet for each in options for sheet in read_file(path, name=path.name, options=each)]
    return earlier_report(sheets, name="yesterday")


def night(number: int) -> date:
    """The business date of a night, from 0."""
    return TODAY + timedelta(days=number)
