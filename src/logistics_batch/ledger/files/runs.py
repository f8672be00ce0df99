"""Runs: when they began and ended, how, and what they had to say."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from logistics_batch.ledger.bulk import insert_all
from logistics_batch.ledger.connection import Repository, dump
from logistics_batch.ledger.records import StoredRun
from logistics_batch.ledger.schema import document, file, row, run, run_note
from logistics_batch.model.issue import Issue, read_notes


class Runs(Repository):
    """Runs of every kind; `runs` shows them."""

    def start(self, run_id: str, *, job: str, kind: str, business_date: str, now: str) -> None:
        """A run begins."""
        about = {"job": job, "kind": kind, "business_date": business_date}
        self._execute(run.insert().values(about | {"id": run_id, "state": "running", "started_at": now}))

    def resume(self, run_id: str) -> None:
        """A run that stopped early is under way again; its summary stays until it ends."""
        again = {"state": "running", "stopped": "", "exit_code": None, "finished_at": ""}
        self._execute(run.update().where(run.c.id == run_id).values(again))

    def finish(self, run_id: str, *, exit_code: int, summary: Mapping[str, Any], now: str, stopped: str = "") -> None:
        """A run is over; `summary` is what `runs` shows (counts by fate, by class …)."""
        end = {"state": "stopped" if stopped else "finished", "stopped": stopped, "exit_code": exit_code}
        end |= {"summary": dump(dict(summary)), "finished_at": now}
        self._execute(run.update().where(run.c.id == run_id).values(end))

    def keep_notes(self, run_id: str, notes: Sequence[Issue]) -> None:
        """What a run had to say besides the answers of its files; what it said before is replaced."""
        lines = [
            {"run_id": run_id, "n": n, "code": note.code, "values": note.values} for n, note in enumerate(notes, 1)
        ]
        with self._write(counts=False) as connection:
            connection.execute(run_note.delete().where(run_note.c.run_id == run_id))
            insert_all(connection, run_note, lines)

    def notes_of(self, run_id: str) -> tuple[Issue, ...]:
        """What a run had to say."""
        query = select(run_note.c.code, run_note.c["values"]).where(run_note.c.run_id == run_id)
        return read_notes(tuple(each) for each in self._rows(query.order_by(run_note.c.n)))

    def interrupted(self, *, job: str, business_date: str) -> list[StoredRun]:
        """Push runs of a job for a day that died or stopped early; call only while holding the sending lock.

        Not those of another address of the service: what they planned goes there, or nowhere.
        """
        elsewhere = (
            select(file.c.run_id)
            .join(row, row.c.file_id == file.c.id)
            .join(document, row.c.document_id == document.c.id)
            .where(file.c.run_id == run.c.id, document.c.account != self.account)
        )
        pushed = select(run).where(run.c.job == job, run.c.business_date == business_date, run.c.kind == "push")
        pushed = pushed.where(run.c.state != "finished")
        return self._values(StoredRun, pushed.where(~elsewhere.exists()).order_by(run.c.started_at))

    def latest(self, *, limit: int = 50, job: str | None = None) -> list[StoredRun]:
        """The newest runs first."""
        query = select(run) if job is None else select(run).where(run.c.job == job)
        return self._values(StoredRun, query.order_by(run.c.started_at.desc(), run.c.id.desc()).limit(limit))

    def runs_of(self, business_date: str) -> list[StoredRun]:
        """Every run for a business date (ISO), oldest first."""
        query = select(run).where(run.c.business_date == business_date)
        return self._values(StoredRun, query.order_by(run.c.started_at, run.c.id))

    def get(self, run_id: str) -> StoredRun | None:
        """One run, None if there is none of that name."""
        return self._value(StoredRun, select(run).where(run.c.id == run_id))
