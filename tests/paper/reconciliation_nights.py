"""Accounts of one night or several, each with what is known of the night before."""

import tempfile
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from reconciliation.world import World

from logistics_batch.flows.files.foreign_files import workbook_entries
from logistics_batch.model.reconciliation import Earlier, Entries
from logistics_batch.paper.reconciliation.account import ReconciliationReport
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
) -> ReconciliationReport:
    """The report of one night."""
    complete = not doubts
    return ReconciliationReport(
        run=f"R{day:%m%d}",
        by="delivery",
        date_from=window[0],
        date_to=window[1],
        timezone="Asia/Kolkata",
        business_date=day,
        made_at=datetime(day.year, day.month, day.day, 22, 15, tzinfo=ZoneInfo("Asia/Kolkata")),
        result=audit(
            world.legs(),
            rules=Rules(business_date=day, complete=complete, due=window, whole=complete, **rules),
            earlier=earlier or Earlier(),
        ),
        receipts_compared=world.receipts is not None,
        doubts=doubts,
        notes=("a note",),
        log=(("Job", "=nightly"),),
    )


def read_back(workbook: bytes) -> Entries:
    """What tomorrow's report reads of a workbook."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reconciliation.xlsx"
        path.write_bytes(workbook)
        return workbook_entries(path, name=path.name)


def known_of(account: ReconciliationReport, workbook: bytes | None = None) -> Earlier:
    """What tomorrow's report knows: what this one remembers, with what is written in its workbook."""
    listed = account.result.remembered
    if workbook is not None:
        entries = read_back(workbook).by_exception
        listed = listed.update(entries, on="exception_id", how="left")
    return Earlier(account.run, account.business_date, listed, account.trend)


def night(number: int) -> date:
    """The business date of a night, from 0."""
    return TODAY + timedelta(days=number)
