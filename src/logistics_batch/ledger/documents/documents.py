"""What was planned and what became of it, read back for reports, people and whoever sends."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    func,
    select,
)

from logistics_batch.ledger.bulk import among, read_frame
from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.documents.decide import CANCELLED
from logistics_batch.ledger.documents.fates import KNOWN, LINES, documents_where, fates, issue_of, placed, report_of
from logistics_batch.ledger.documents.known_keys import CHANGES
from logistics_batch.ledger.documents.line_rows import shown_row
from logistics_batch.ledger.files.runs import stored_run
from logistics_batch.ledger.records import RowNotSent, StoredDecision, StoredDocument, StoredRun, stored_document
from logistics_batch.ledger.schema import (
    attempt,
    decision,
    document,
    evidence,
    file,
    issue,
    notice,
    row,
    run,
)
from logistics_batch.messages import codes_of, told
from logistics_batch.messages.reasons import REPLACEABLE, WaitsFor
from logistics_batch.model.document import Operation
from logistics_batch.model.report import DOCUMENT_RESULTS, FileReport

_OPEN = ("planned", "sending", "in_doubt", "held")
_CHUNK = 400  # numbers in one IN (…), well under every driver's limit
PLANNED = pl.Schema({"id": pl.Int64, "key": pl.String, "operation": pl.String, "send_approved": pl.Boolean})


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


def select_documents() -> Select[Any]:
    """Documents joined with the file that planned them, in the columns that `stored_document` reads."""
    return select(
        document,
        file.c.run_id.label("file_run"),
        file.c.name.label("file_name"),
        file.c.sheet.label("file_sheet"),
        file.c.operation.label("file_operation"),
    ).join(file, document.c.file_id == file.c.id)


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


class Documents(Repository):
    """Documents of this account, with the rows that asked for them; everything here only reads."""

    def select(
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

    def left_elsewhere(self) -> list[StoredDocument]:
        """Documents for other addresses of the service that are planned or held, oldest first.

        Not those of which something may exist there.
        """
        waits = document.c.state.in_(("planned", "held")) & (document.c.may_exist == 0)
        query = select_documents().where(document.c.account != self.account, waits)
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

    def get(self, document_id: int) -> StoredDocument | None:
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
            (document.c.state == "held") & document.c.waits_for.not_in(REPLACEABLE)
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

    def evidence(self, document_id: int) -> list[tuple[str, str, str]]:
        """What was seen of a document: (at, kind, text), oldest first."""
        query = select(evidence).where(evidence.c.document_id == document_id).order_by(evidence.c.id)
        with self._read() as connection:
            return [(line.at, line.kind, line.text) for line in connection.execute(query)]

    def decisions(self, document_id: int) -> list[StoredDecision]:
        """What people decided about a document, oldest first."""
        query = select(decision).where(decision.c.document_id == document_id).order_by(decision.c.id)
        with self._read() as connection:
            found = connection.execute(query)
            return [StoredDecision(each.at, each.who, each.what, each.why, each.code) for each in found]

    def dropped_under(self, number: str) -> list[StoredDocument]:
        """The documents that were dropped together under the number of a preview, oldest first."""
        query = select_documents().where(document.c.account == self.account, document.c.code.in_(codes_of("dropped")))
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

    def count_planned_of(self, run: str) -> int:
        """How many documents `planned_of` gives."""
        with self._read() as connection:
            return int(
                connection.execute(select(func.count()).select_from(document).where(*self._due(run))).scalar_one()
            )

    def _due(self, run: str) -> tuple[ColumnElement[bool], ...]:
        mine = select(row.c.document_id).join(file, row.c.file_id == file.c.id).where(file.c.run_id == run)
        wanted = document.c.id.in_(mine) | (document.c.send_approved == 1) | (document.c.waits_for == WaitsFor.NEXT_RUN)
        return document.c.account == self.account, document.c.state == "planned", wanted

    def planned_of(self, run: str) -> pl.DataFrame:
        """What this run has to send, in file order, as `PLANNED`: what its files ask for, and what a person wants sent.

        That is what was released, and what was to be tried again: a retry that was broken off has no file that would
        bring its documents again.
        """
        query = select(*(document.c[name] for name in PLANNED)).where(*self._due(run)).order_by(document.c.id)
        with self._read() as connection:
            return read_frame(connection, query, {**PLANNED, "send_approved": pl.Int64}).cast(PLANNED)

    def stored(self, numbers: Iterable[int]) -> list[StoredDocument]:
        """Documents by their numbers, in the order of these."""
        wanted = list(numbers)
        found: dict[int, StoredDocument] = {}
        with self._read() as connection:
            for start in range(0, len(wanted), _CHUNK):
                query = select_documents().where(document.c.id.in_(wanted[start : start + _CHUNK]))
                found |= {each["id"]: stored_document(each) for each in connection.execute(query).mappings()}
        return [found[number] for number in wanted if number in found]

    def planned_in(self, file_id: int) -> int:
        """How many documents that one file asks for are to be sent."""
        mine = select(row.c.document_id).where(row.c.file_id == file_id).distinct()
        query = select(func.count()).select_from(document).where(document.c.id.in_(mine), document.c.state == "planned")
        with self._read() as connection:
            return int(connection.execute(query).scalar_one())

    def open_documents_of(self, run: str) -> set[int]:
        """The numbers of the documents in doubt or held that files of a run ask for, or that it tried to send."""
        asked = select(row.c.document_id).join(file, row.c.file_id == file.c.id).where(file.c.run_id == run)
        tried = select(attempt.c.document_id).where(attempt.c.run_id == run)
        mine = document.c.id.in_(asked.where(row.c.document_id.is_not(None))) | document.c.id.in_(tried)
        query = select(document.c.id).where(
            document.c.account == self.account, document.c.state.in_(("held", "in_doubt")), mine
        )
        with self._read() as connection:
            return set(connection.execute(query).scalars())

    def file_report(self, file_id: int) -> FileReport:
        """Everything that is known about one arrival of a file."""
        with self._read() as connection:
            head = connection.execute(select(file).where(file.c.id == file_id)).mappings().one()
            lines = read_frame(
                connection,
                select(*row.c["row", "document_id", "fate", "key", "code", "values"])
                .where(row.c.file_id == file_id)
                .order_by(row.c.row),
                {"row": pl.Int64, **{name: LINES[name] for name in ("document_id", "fate", "key", "code", "values")}},
            )
            asked = select(row.c.document_id).where(row.c.file_id == file_id)
            documents = documents_where(connection, document.c.id.in_(asked))
            issues = (
                connection.execute(select(issue).where(issue.c.file_id == file_id).order_by(issue.c.row, issue.c.id))
                .mappings()
                .all()
            )
        origin = json.loads(head["origin"])
        return report_of(
            head,
            fates(placed(lines, origin, sheet=head["sheet"]), documents.select(list(KNOWN))),
            documents.with_columns(pl.lit("").alias("would")).select(list(DOCUMENT_RESULTS)),
            tuple(issue_of(line, origin) for line in issues),
        )

    def known_documents(self, numbers: Sequence[int]) -> pl.DataFrame:
        """Some documents by their numbers: KNOWN, and method, path, rows and body."""
        with self._read() as connection:
            return documents_where(connection, among(connection, document.c.id, list(numbers)))

    def never_sent(self, *, but_of: str = "") -> list[NeverSent]:
        """What earlier runs left planned, oldest first; not what any run takes along. but_of: a run that goes on."""
        mine = document.c.account == self.account
        left = (
            (document.c.state == "planned")
            & (document.c.send_approved == 0)
            & (document.c.waits_for != WaitsFor.NEXT_RUN)
        )
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
