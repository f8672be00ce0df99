"""Runs: when they began and ended, how, and what they had to say."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import RowMapping, select

from logistics_batch.ledger.connection import Repository, dump
from logistics_batch.ledger.records import StoredRun
from logistics_batch.ledger.schema import document, file, row, run, run_note
from logistics_batch.model.issue import Issue, read_notes


def stored_run(record: RowMapping) -> StoredRun:
    """A StoredRun from a record of its table."""
    fields = ("id", "job", "kind", "business_date", "state", "stopped", "exit_code", "started_at")
    return StoredRun(
        **{name: record[name] for name in fields},
        summary=json.loads(record["summary"]),
        finished_at=record["finished_at"] or "",
    )


class Runs(Repository):
    """Runs of every kind; `runs` shows them."""

    def start(self, run_id: str, *, job: str, kind: str, business_date: str, now: str) -> None:
        """A run begins."""
        with self._write() as connection:
            connection.execute(
                run.insert().values(
                    id=run_id, job=job, kind=kind, business_date=business_date, state="running", started_at=now
                )
            )

    def finish(self, run_id: str, *, exit_code: int, summary: Mapping[str, Any], now: str, stopped: str = "") -> None:
        """A run is over; `summary` is what `runs` shows (counts by fate, by class …)."""
        with self._write() as connection:
            connection.execute(
                run.update()
                .where(run.c.id == run_id)
                .values(
                    state="stopped" if stopped else "finished",
                    exit_code=exit_code,
                    stopped=stopped,
                    summary=dump(dict(summary)),
                    finished_at=now,
                )
            )

    def keep_notes(self, run_id: str, notes: Sequence[Issue]) -> None:
        """What a run had to say besides the answers of its files; what it said before is replaced."""
        with self._write(counts=False) as connection:
            connection.execute(run_note.delete().where(run_note.c.run_id == run_id))
            lines = [
                {"run_id": run_id, "n": n, "code": note.code, "values": note.values} for n, note in enumerate(notes, 1)
            ]
            if lines:
                connection.execute(run_note.insert(), lines)

    def notes_of(self, run_id: str) -> tuple[Issue, ...]:
        """What a run had to say."""
        query = select(run_note.c.code, run_note.c["values"]).where(run_note.c.run_id == run_id).order_by(run_note.c.n)
        with self._read() as connection:
            return read_notes((code, values) for code, values in connection.execute(query))

    def interrupted(self, *, job: str) -> list[StoredRun]:
        """Push runs of a job that died or stopped early; call only while holding the sending lock.

        Not those of another address of the service: what they planned goes there, or nowhere.
        """
        elsewhere = (
            select(file.c.run_id)
            .join(row, row.c.file_id == file.c.id)
            .join(document, row.c.document_id == document.c.id)
            .where(file.c.run_id == run.c.id, document.c.account != self.account)
        )
        with self._read() as connection:
            found = connection.execute(
                select(run)
                .where(run.c.job == job, run.c.state != "finished", run.c.kind == "push", ~elsewhere.exists())
                .order_by(run.c.started_at)
            )
            return [stored_run(record) for record in found.mappings()]

    def latest(self, *, limit: int = 50, job: str | None = None) -> list[StoredRun]:
        """The newest runs first."""
        query = select(run).order_by(run.c.started_at.desc(), run.c.id.desc()).limit(limit)
        if job is not None:
            query = query.where(run.c.job == job)
        with self._read() as connection:
            return [stored_run(record) for record in connection.execute(query).mappings()]

    def runs_of(self, business_date: str) -> list[StoredRun]:
        """Every run for a business date (ISO), oldest first."""
        query = select(run).where(run.c.business_date == business_date).order_by(run.c.started_at, run.c.id)
        with self._read() as connection:
            return [stored_run(record) for record in connection.execute(query).mappings()]

    def get(self, run_id: str) -> StoredRun | None:
        """One run, None if there is none of that name."""
        with self._read() as connection:
            record = connection.execute(select(run).where(run.c.id == run_id)).mappings().first()
            return stored_run(record) if record else None
