"""Runs, files and what became of every row, read back for reports, reconciliation and labels."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, RowMapping, case, func, select

from logistics_batch.ledger.connection import Connected, dump
from logistics_batch.ledger.decide import CANCELLED, NEVER_SENT
from logistics_batch.ledger.known_keys import CHANGES
from logistics_batch.ledger.line_rows import shown_row
from logistics_batch.ledger.records import RowNotSent, StoredDocument, StoredFile, StoredRun, stored_document
from logistics_batch.ledger.schema import attempt, document, evidence, file, issue, result_name, row, run, run_note
from logistics_batch.ledger.sending import select_documents
from logistics_batch.ledger.stale import UNWRITTEN
from logistics_batch.messages import codes_of, told
from logistics_batch.model.document import Operation
from logistics_batch.model.issue import Issue, read_notes

_OPEN = ("planned", "sending", "in_doubt", "held")
_CHUNK = 400  # numbers in one IN (…), well under every driver's limit


def stored_run(record: RowMapping) -> StoredRun:
    """A StoredRun from a record of its table."""
    fields = ("id", "job", "kind", "business_date", "state", "stopped", "exit_code", "started_at")
    return StoredRun(
        **{name: record[name] for name in fields},
        summary=json.loads(record["summary"]),
        finished_at=record["finished_at"] or "",
    )


def _stored_file(record: RowMapping) -> StoredFile:
    fields = (
        "id",
        "name",
        "sha256",
        "size",
        "format",
        "mapping",
        "state",
        "sheet",
        "header_row",
        "rows_read",
        "mapping_digest",
        "operation",
    )
    return StoredFile(
        **{name: record[name] for name in fields},
        held=Issue(record["code"], values=record["values"]),
        run=record["run_id"],
        origin=json.loads(record["origin"]),
    )


def _not_sent(line: Row[Any]) -> RowNotSent:
    number, second = shown_row(line.row, json.loads(line.origin))
    mapping = line._mapping
    code, values = (
        (mapping["issue_code"], mapping["issue_values"])
        if mapping["issue_code"]
        else (mapping["code"], mapping["values"])
    )
    why = told(code, values)[0]
    sheet = second or line.sheet
    return RowNotSent(line.name, sheet, number, line.key, line.fate, why, line.run_id, line.received_at)


class History(Connected):
    """Runs are written here too; everything else is reading."""

    def start_run(self, run_id: str, *, job: str, kind: str, business_date: str, now: str) -> None:
        """A run begins."""
        with self._write() as connection:
            connection.execute(
                run.insert().values(
                    id=run_id, job=job, kind=kind, business_date=business_date, state="running", started_at=now
                )
            )

    def finish_run(
        self, run_id: str, *, exit_code: int, summary: Mapping[str, Any], now: str, stopped: str = ""
    ) -> None:
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

    def interrupted_runs(self, *, job: str) -> list[StoredRun]:
        """Push runs of a job that died or stopped early; call only while holding the sending lock."""
        with self._read() as connection:
            found = connection.execute(
                select(run)
                .where(run.c.job == job, run.c.state != "finished", run.c.kind == "push")
                .order_by(run.c.started_at)
            )
            return [stored_run(record) for record in found.mappings()]

    def runs(self, *, limit: int = 50, job: str | None = None) -> list[StoredRun]:
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

    def run(self, run_id: str) -> StoredRun | None:
        """One run, None if there is none of that name."""
        with self._read() as connection:
            record = connection.execute(select(run).where(run.c.id == run_id)).mappings().first()
            return stored_run(record) if record else None

    def is_new_account(self) -> bool:
        """Whether nothing was ever planned for this address of the service."""
        with self._read() as connection:
            mine = select(document.c.id).where(document.c.account == self.account).limit(1)
            return connection.execute(mine).first() is None

    def other_accounts(self) -> dict[str, tuple[int, int]]:
        """For each other address of the service that documents belong to: how many, and how many of them are open."""
        is_open = func.sum(case((document.c.state.in_(_OPEN), 1), else_=0))
        query = select(document.c.account, func.count(), is_open).where(document.c.account != self.account)
        with self._read() as connection:
            found = connection.execute(query.group_by(document.c.account).order_by(document.c.account))
            return {account: (int(count), int(still_open)) for account, count, still_open in found}

    def files(self, *, run: str | None = None, sha256: str | None = None) -> list[StoredFile]:
        """The arrivals of a run or of one content, in order."""
        query = select(file).order_by(file.c.id)
        if run is not None:
            query = query.where(file.c.run_id == run)
        if sha256 is not None:
            query = query.where(file.c.sha256 == sha256)
        with self._read() as connection:
            return [_stored_file(record) for record in connection.execute(query).mappings()]

    def file(self, file_id: int) -> StoredFile:
        """One arrival by its number."""
        with self._read() as connection:
            return _stored_file(connection.execute(select(file).where(file.c.id == file_id)).mappings().one())

    def close_files(self, file_ids: Sequence[int]) -> None:
        """Files lie in the archive or in quarantine: reported → closed."""
        for start in range(0, len(file_ids), _CHUNK):
            some = file.c.id.in_(file_ids[start : start + _CHUNK])
            with self._write() as connection:
                connection.execute(file.update().where(some).values(state="closed"))

    def stale_files(self) -> list[StoredFile]:
        """The answered files whose results no longer show what is known: a doubt was settled, a version replaced …

        And those whose results could not be written when it was time to.
        """
        outdated = (file.c.stale == 1) & (file.c.state != "planned")
        query = select(file).where(outdated | (file.c.stale == UNWRITTEN)).order_by(file.c.id)
        with self._read() as connection:
            return [_stored_file(record) for record in connection.execute(query).mappings()]

    def set_fresh(self, file_id: int, *, first: bool = False) -> None:
        """The results of a file were written as the ledger stands; `first`: by its own run, planned → reported."""
        state = {"state": "reported"} if first else {}
        with self._write() as connection:
            connection.execute(file.update().where(file.c.id == file_id).values(stale=0, **state))

    def set_unwritten(self, file_id: int) -> None:
        """The first results of a file could not be written: whoever writes results next tries again."""
        with self._write() as connection:
            first = (file.c.id == file_id) & (file.c.state == "planned")
            connection.execute(file.update().where(first).values(stale=UNWRITTEN))

    def documents(
        self,
        *,
        operations: Sequence[str] | None = None,
        states: Sequence[str] | None = None,
        run: str | None = None,
        references: Sequence[str] | None = None,
        planned_from: str | None = None,
        planned_to: str | None = None,
    ) -> list[StoredDocument]:
        """Documents of this account, oldest first, by any of the filters.

        run: planned or accepted in that run, or asked for by one of its files. references: references or AWB numbers.
        planned_from, planned_to: ISO dates, both ends inclusive.
        """
        query = select_documents().where(document.c.account == self.account)
        if operations is not None:
            query = query.where(document.c.operation.in_([str(name) for name in operations]))
        if states is not None:
            query = query.where(document.c.state.in_(list(states)))
        if run is not None:
            asked = select(row.c.document_id).join(file, row.c.file_id == file.c.id).where(file.c.run_id == run)
            query = query.where((document.c.accepted_run == run) | document.c.id.in_(asked))
        if references is not None:
            wanted = list(references)
            query = query.where(document.c.reference.in_(wanted) | document.c.awb_number.in_(wanted))
        if planned_from is not None:
            query = query.where(document.c.planned_at >= planned_from)
        if planned_to is not None:
            query = query.where(document.c.planned_at < f"{planned_to}T99")
        with self._read() as connection:
            return [stored_document(record) for record in connection.execute(query.order_by(document.c.id)).mappings()]

    def sent_along(self, run: str) -> list[StoredDocument]:
        """The documents that a run sent or tried to send though no row of its files asks for them, oldest first."""
        tried = select(attempt.c.document_id).where(attempt.c.run_id == run)
        asked = select(row.c.document_id).join(file, row.c.file_id == file.c.id)
        own = asked.where(file.c.run_id == run, row.c.document_id.is_not(None))
        wanted = document.c.id.in_(tried) & document.c.id.not_in(own)
        query = select_documents().where(document.c.account == self.account, wanted)
        with self._read() as connection:
            return [stored_document(record) for record in connection.execute(query.order_by(document.c.id)).mappings()]

    def document(self, document_id: int) -> StoredDocument | None:
        """One document by its number."""
        with self._read() as connection:
            record = connection.execute(select_documents().where(document.c.id == document_id)).mappings().first()
            return stored_document(record) if record else None

    def last_accepted(self, operation: str) -> StoredDocument | None:
        """The latest accepted document of an operation that stands under its AWB number, if it is an order."""
        query = select_documents().where(
            document.c.account == self.account, document.c.operation == str(operation), document.c.state == "accepted"
        )
        if operation == Operation.ORDER_CREATE:
            query = query.where(document.c.awb_number != "", document.c.code.not_in(CANCELLED))
        with self._read() as connection:
            record = connection.execute(query.order_by(document.c.id.desc()).limit(1)).mappings().first()
            return stored_document(record) if record else None

    def generations(self, key: str, *, kind: str) -> list[StoredDocument]:
        """All generations of one key, oldest first."""
        query = select_documents().where(
            document.c.account == self.account, document.c.kind == kind, document.c.key == key
        )
        with self._read() as connection:
            found = connection.execute(query.order_by(document.c.generation)).mappings()
            return [stored_document(record) for record in found]

    def open_changes(self, keys: Collection[str]) -> dict[str, tuple[int, str]]:
        """Under which of these keys a change was sent and has no end yet: the number and the state of the oldest."""
        is_open = document.c.state.in_(("sending", "in_doubt")) | (
            (document.c.state == "held") & document.c.code.not_in(codes_of(*NEVER_SENT))
        )
        query = select(document.c.key, document.c.id, document.c.state).where(
            document.c.account == self.account, document.c.kind.in_(CHANGES), is_open
        )
        found: dict[str, tuple[int, str]] = {}
        wanted = list(keys)
        with self._read() as connection:
            for start in range(0, len(wanted), _CHUNK):
                some = document.c.key.in_(wanted[start : start + _CHUNK])
                for key, number, state in connection.execute(query.where(some).order_by(document.c.id)):
                    found.setdefault(key, (number, state))
        return found

    def evidence(self, document_id: int) -> list[tuple[str, str, str, str]]:
        """What was seen and decided about a document: (at, kind, who, text), oldest first."""
        query = select(evidence).where(evidence.c.document_id == document_id).order_by(evidence.c.id)
        with self._read() as connection:
            return [(line.at, line.kind, line.who, line.text) for line in connection.execute(query)]

    def dropped_under(self, number: str) -> list[StoredDocument]:
        """The documents that were dropped together under the number of a preview, oldest first."""
        query = select_documents().where(document.c.account == self.account, document.c.code == "dropped")
        with self._read() as connection:
            found = [stored_document(each) for each in connection.execute(query.order_by(document.c.id)).mappings()]
        return [each for each in found if each.why.given.get("number") == number]

    def rows_not_sent(
        self, *, operation: str, planned_from: str | None = None, planned_to: str | None = None
    ) -> list[RowNotSent]:
        """Rows that came in files for this operation and were not taken, each with its fate and reason.

        A row whose key was accepted in a later, corrected file is not listed.
        """
        other = issue.alias()
        first_issue = select(func.min(other.c.id)).where(other.c.file_id == row.c.file_id, other.c.row == row.c.row)
        accepted = select(document.c.key).where(
            document.c.account == self.account, document.c.operation == operation, document.c.state == "accepted"
        )
        query = (
            select(
                row,
                *file.c["name", "sheet", "origin", "run_id", "received_at"],
                issue.c.code.label("issue_code"),
                issue.c["values"].label("issue_values"),
            )
            .join(file, row.c.file_id == file.c.id)
            .outerjoin(issue, issue.c.id == first_issue.scalar_subquery())
            .where(row.c.fate.in_(("invalid", "blocked", "held")), row.c.key.not_in(accepted))
            .where(file.c.operation == operation)
            .order_by(row.c.file_id, row.c.row)
        )
        if planned_from is not None:
            query = query.where(file.c.received_at >= planned_from)
        if planned_to is not None:
            query = query.where(file.c.received_at < f"{planned_to}T99")
        with self._read() as connection:
            return [_not_sent(line) for line in connection.execute(query)]

    def answered_files(self, stem: str) -> list[StoredFile]:
        """The arrivals whose result files have that stem at some place, oldest first."""
        contents = select(result_name.c.sha256).where(result_name.c.name == stem)
        query = select(file).where(file.c.sha256.in_(contents)).order_by(file.c.id)
        with self._read() as connection:
            return [_stored_file(record) for record in connection.execute(query).mappings()]
