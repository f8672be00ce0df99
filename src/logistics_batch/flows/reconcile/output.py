"""The papers of a reconciliation go to a folder of this machine and, if a job says so, to where its results go."""

from contextlib import closing
from pathlib import Path, PurePosixPath

from logistics_batch.flows.parts import Parts
from logistics_batch.model.jobs.job import JobPlace
from logistics_batch.paper.reconciliation.account import ReconciliationReport
from logistics_batch.paper.reconciliation.data import reconciliation_csv, reconciliation_json
from logistics_batch.paper.reconciliation.page import reconciliation_page
from logistics_batch.paper.reconciliation.workbook import reconciliation_workbook, whole_tables

_NAME = "reconciliation"
WORKBOOK = f"{_NAME}.xlsx"


def hand_over(
    parts: Parts, account: ReconciliationReport, *, output: Path | None, results: JobPlace | None
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Write reconciliation.xlsx, .html, .csv and .json; returns the local files and what was delivered elsewhere.

    Tables that are longer than a sheet of the workbook are written as CSV, too.
    An earlier workbook at the same place may hold analysts' notes: it moves to the folder `earlier` beside it.
    Raises StoreError if a place cannot be written.
    """
    papers = {
        WORKBOOK: reconciliation_workbook(account),
        f"{_NAME}.html": reconciliation_page(account),
        f"{_NAME}.csv": reconciliation_csv(account),
        f"{_NAME}.json": reconciliation_json(account),
        **whole_tables(account),
    }
    stamp = f"{account.made_at:%Y%m%d-%H%M%S}"
    folder = (output or parts.reports / _NAME / account.run).absolute()
    _put(parts, JobPlace(folder=str(folder), path="/"), papers, stamp=stamp)
    delivered: tuple[str, ...] = ()
    if results is not None:
        delivered = _put(parts, results.on(account.business_date), papers, stamp=stamp)
    return tuple(folder / name for name in papers), delivered


def _put(parts: Parts, place: JobPlace, papers: dict[str, bytes], *, stamp: str) -> tuple[str, ...]:
    folder = PurePosixPath(place.path)
    with closing(parts.open_store(place)) as store:
        if store.exists(str(folder / WORKBOOK)):
            store.move(str(folder / WORKBOOK), to_folder=str(folder / "earlier"), name=f"{_NAME}_until_{stamp}.xlsx")
        return store.put_all(place.path, papers)
