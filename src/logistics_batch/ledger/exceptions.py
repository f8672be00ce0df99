"""Exceptions of reconciliations: how each stands, what analysts wrote about it, and what each night changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import polars as pl
from sqlalchemy import Connection, func, select

from logistics_batch.ledger.bulk import among, insert_frame, read_frame
from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.schema import exception, exception_change, reconciliation, run

EXCEPTIONS: Final = {column.name: pl.String for column in exception.c if column.name != "series"}
"""Exceptions of a series as texts; dates are ISO 8601, `accepted` and `facts` are JSON."""

_SIZES: Final = dict.fromkeys(("code", "qty_affected", "impact_inr"), pl.String)
_CHANGED: Final = ("standing", "owner", "comment", "status", "accepted")
_TOLD: Final = dict.fromkeys(("exception_id", *_CHANGED, *_SIZES), pl.String)


@dataclass(frozen=True, slots=True)
class StoredNight:
    """A reconciliation that was made. series: its job, "" by hand; figures: JSON."""

    id: int
    series: str
    run: str
    business_date: str
    figures: str


class Exceptions(Repository):
    """What reconciliations know of their earlier nights."""

    def of_series(self, series: str, *, resolved_since: str) -> pl.DataFrame:
        """The exceptions of a series (EXCEPTIONS) after its last night, without those resolved before a day."""
        kept = (exception.c.standing != "resolved") | (exception.c.gone_since >= resolved_since)
        query = select(*(exception.c[name] for name in EXCEPTIONS)).where(exception.c.series == series, kept)
        with self._read(one_statement=True) as connection:
            return read_frame(connection, query.order_by(exception.c.exception_id), EXCEPTIONS)

    def series_with(self, exception_ids: list[str]) -> str | None:
        """The series that lists most of these exceptions; None if none lists any."""
        listed = select(exception.c.series).where(self._among(exception.c.exception_id, exception_ids))
        found = self._column(listed.group_by(exception.c.series).order_by(func.count().desc(), exception.c.series))
        return found[0] if found else None

    def nights(self, series: str) -> list[StoredNight]:
        """The nights of a series, in the order in which they were made."""
        ours = select(reconciliation).where(reconciliation.c.series == series)
        return self._values(StoredNight, ours.order_by(reconciliation.c.id))

    def latest(self, *, limit: int) -> list[StoredNight]:
        """The nights of every series that were made last, the newest first."""
        return self._values(StoredNight, select(reconciliation).order_by(reconciliation.c.id.desc()).limit(limit))

    def named(self, name: str) -> list[StoredNight]:
        """The nights that were made in a run of this id or for this business date, in order."""
        ours = (reconciliation.c.run == name) | (reconciliation.c.business_date == name)
        return self._values(StoredNight, select(reconciliation).where(ours).order_by(reconciliation.c.id))

    def as_after(self, night: StoredNight) -> pl.DataFrame:
        """How the exceptions of its series stood after a night, with `facts` as they were listed last."""
        after = exception_change.c, reconciliation.c
        ours = (after[1].series == night.series) & (after[1].id <= night.id)
        joined = exception_change.join(reconciliation)
        last = select(func.max(after[0].id)).select_from(joined).where(ours).group_by(after[0].exception_id)
        query = (
            select(*(exception_change.c[name] for name in _TOLD), exception.c.facts)
            .join(exception, exception.c.exception_id == exception_change.c.exception_id)
            .where(exception_change.c.id.in_(last), exception.c.series == night.series)
            .order_by(exception_change.c.exception_id)
        )
        with self._read(one_statement=True) as connection:
            return read_frame(connection, query, {**_TOLD, "facts": pl.String})

    def write(self, series: str, entries: Mapping[str, Mapping[str, str]], *, none_running_since: str) -> bool:
        """Write owner, comment or status beside exceptions, until the next night takes them up.

        False, and nothing is written, while a run of the series goes on that began since a moment: it has read them.
        """
        running = (run.c.kind == "reconcile") & (run.c.job == (series or "reconcile")) & (run.c.state == "running")
        with self._write(counts=False) as connection:
            if connection.execute(select(run.c.id).where(running, run.c.started_at >= none_running_since)).first():
                return False
            for name, words in entries.items():
                ours = (exception.c.series == series) & (exception.c.exception_id == name)
                connection.execute(exception.update().where(ours).values(dict(words)))
            return True

    def remember(self, series: str, run: str, business_date: str, figures: str, listed: pl.DataFrame) -> None:
        """Write down a night: its figures, how each exception stands after it, and what it changed.

        listed: EXCEPTIONS with `code`, `qty_affected` and `impact_inr` as texts.
        """
        with self._write(counts=False) as connection:
            new = {"series": series, "run": run, "business_date": business_date, "figures": figures}
            inserted = reconciliation.insert().values(new).returning(reconciliation.c.id)
            night = int(connection.execute(inserted).scalar_one())
            insert_frame(connection, exception_change, _changes(connection, series, listed, night))
            again = among(connection, exception.c.exception_id, listed["exception_id"].to_list())
            connection.execute(exception.delete().where(exception.c.series == series, again))
            insert_frame(
                connection, exception, listed.select(pl.lit(series).alias("series"), *EXCEPTIONS).fill_null("")
            )


def _changes(connection: Connection, series: str, listed: pl.DataFrame, night: int) -> pl.DataFrame:
    """What is otherwise than after the night before, as the table of changes has it."""
    nights = select(reconciliation.c.id).where(reconciliation.c.series == series)
    last = (
        select(func.max(exception_change.c.id))
        .where(exception_change.c.reconciliation_id.in_(nights))
        .group_by(exception_change.c.exception_id)
    )
    query = select(*(exception_change.c[name] for name in _TOLD)).where(exception_change.c.id.in_(last))
    before = read_frame(connection, query, _TOLD)
    changed = listed.select(*_TOLD).fill_null("").join(before, on=list(_TOLD), how="anti", maintain_order="left")
    return changed.select(pl.lit(night).alias("reconciliation_id"), *_TOLD)
