"""Counts over the whole ledger: for metrics, and of what was never sent."""

from dataclasses import dataclass

from sqlalchemy import func, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.history import stored_run
from logistics_batch.ledger.records import StoredRun
from logistics_batch.ledger.schema import document, file, notice, run


@dataclass(frozen=True, slots=True)
class Tally:
    """documents: by state. runs: by job and exit code (None: under way or died). owed: notices not told yet."""

    documents: dict[str, int]
    runs: dict[tuple[str, int | None], int]
    last_runs: tuple[StoredRun, ...]
    last_good_runs: dict[str, str]
    owed: int


@dataclass(frozen=True, slots=True)
class NeverSent:
    """Documents of one file that are planned, and that no run is about to send. job: of the run that planned them."""

    run: str
    job: str
    file_name: str
    documents: int


class Tallies(Connected):
    """Read only."""

    def never_sent(self, *, but_of: str = "") -> list[NeverSent]:
        """What earlier runs left planned, oldest first; not what any run takes along. but_of: a run that goes on."""
        mine = document.c.account == self.account
        left = (document.c.state == "planned") & (document.c.released == 0) & (document.c.code != "retry")
        query = (
            select(run.c.id, run.c.job, file.c.name, func.count())
            .join_from(document, file, document.c.file_id == file.c.id)
            .join(run, file.c.run_id == run.c.id)
            .where(mine, left, run.c.id != but_of)
            .group_by(file.c.id, run.c.id, run.c.job, file.c.name)
            .order_by(file.c.id)
        )
        with self._read() as connection:
            return [NeverSent(*found) for found in connection.execute(query)]

    def tally(self) -> Tally:
        """Everything counted at one moment. last_good_runs: when the last run with exit code 0 ended, by job."""
        newest = select(func.max(run.c.started_at)).where(run.c.job == (outer := run.alias()).c.job).scalar_subquery()
        with self._read() as connection:
            states = connection.execute(
                select(document.c.state, func.count())
                .where(document.c.account == self.account)
                .group_by(document.c.state)
            )
            documents = {state: int(count) for state, count in states}
            ended = connection.execute(
                select(run.c.job, run.c.exit_code, func.count()).group_by(run.c.job, run.c.exit_code)
            )
            runs = {(job, code): int(count) for job, code, count in ended}
            last = connection.execute(select(outer).where(outer.c.started_at == newest)).mappings()
            last_runs = tuple(stored_run(record) for record in last)
            good = connection.execute(
                select(run.c.job, func.max(run.c.finished_at)).where(run.c.exit_code == 0).group_by(run.c.job)
            )
            last_good = {job: at or "" for job, at in good}
            owed = connection.execute(select(func.count()).where(notice.c.owed == 1)).scalar_one()
        return Tally(documents, runs, last_runs, last_good, int(owed))
