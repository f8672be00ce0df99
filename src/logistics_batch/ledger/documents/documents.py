"""What was planned and what became of it, read back for reports, people and whoever sends."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl
from sqlalchemy import ColumnElement, Connection, RowMapping, Select, case, func, literal_column, or_, select, union_all

from logistics_batch.ledger.bulk import read_frame
from logistics_batch.ledger.connection import Repository
from logistics_batch.ledger.documents.known import CHANGES, KINDS
from logistics_batch.ledger.of_jobs import repeated
from logistics_batch.ledger.records import (
    CANCELLED,
    NeverSent,
    RowNotSent,
    StoredDecision,
    StoredDocument,
    StoredRun,
    select_documents,
    stored,
)
from logistics_batch.ledger.schema import attempt, decision, document, evidence, file, issue, notice, row, run
from logistics_batch.messages import codes_of, told
from logistics_batch.messages.reasons import REPLACEABLE, WaitsFor
from logistics_batch.model.document import FATE_OF_STATE, OPEN, UNANSWERED, DocumentState, Operation
from logistics_batch.model.issue import Issue, Place, read_notes
from logistics_batch.model.report import DOCUMENT_RESULTS, FATES, Fate, FileReport, Tally, thing_of

LINES: Final = pl.Schema(
    {
        "sheet": pl.String,
        "row": pl.UInt32,
        "document_id": pl.Int64,  # the document whose fate the row has, null if it has its own
        "fate": pl.String,  # the row's own fate, "" where its document's counts
        "key": pl.String,
        "code": pl.String,
        "values": pl.String,
    }
)
"""Rows of a file as the ledger holds them."""

KNOWN: Final = pl.Schema(
    {
        "id": pl.Int64,
        "operation": pl.String,
        "state": pl.String,
        "key": pl.String,
        "reference": pl.String,
        "awb_number": pl.String,
        "code": pl.String,
        "values": pl.String,
        "accepted_run": pl.String,
    }
)
"""What of a document its rows show."""

_OWN: Final = document.alias()
_NUMBERS_AT_ONCE: Final = 200  # of packages
_LAST_SIGN: Final = "\U0010ffff"  # behind every text that begins alike

PLANNED: Final = pl.Schema({"id": pl.Int64, "key": pl.String, "operation": pl.String, "send_approved": pl.Boolean})


@dataclass(frozen=True, slots=True)
class StateTally:
    """documents: by state. runs: by job and exit code (None: under way or died). owed: notices not told yet."""

    documents: dict[str, int]
    runs: dict[tuple[str, int | None], int]
    last_runs: tuple[StoredRun, ...]
    last_good_runs: dict[str, str]
    owed: int


class StoredDocuments(Repository):
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
        wanted: list[ColumnElement[bool]] = []
        if operations is not None:
            wanted.append(document.c.operation.in_([str(name) for name in operations]))
        if states is not None:
            wanted.append(document.c.state.in_(list(states)))
        if run is not None:
            wanted.append((document.c.accepted_run == run) | document.c.id.in_(_asked_for_in(run)))
        if references is not None:
            named = self._among(document.c.reference, references) | self._among(document.c.awb_number, references)
            wanted.append(named)
        if planned_from is not None:
            wanted.append(document.c.planned_at >= planned_from)
        if planned_to is not None:
            wanted.append(document.c.planned_at < f"{planned_to}T99")
        return self._documents(*wanted, by_account=False)

    def of_packages(self, awb_numbers: Collection[str]) -> list[StoredDocument]:
        """The orders of which a package has one of these numbers of its own."""
        found, numbers = list[StoredDocument](), list(awb_numbers)
        for at in range(0, len(numbers), _NUMBERS_AT_ONCE):
            some = map(json.dumps, numbers[at : at + _NUMBERS_AT_ONCE])
            named = (document.c.child_awb_numbers.contains(number, autoescape=True) for number in some)
            found += self._documents(document.c.child_awb_numbers != "[]", or_(*named))
        wanted = set(awb_numbers)  # databases look at them without regard to case
        return [each for each in found if not wanted.isdisjoint(each.child_awb_numbers)]

    def named(self, beginning: str, *, limit: int) -> list[StoredDocument]:
        """Documents whose reference, AWB number or key begins so, the newest first."""
        found: dict[int, StoredDocument] = {}
        for column in (document.c.reference, document.c.awb_number, document.c.key):
            begins = [column >= beginning, column < beginning + _LAST_SIGN]
            by_account = column is document.c.key
            if by_account:
                begins.append(document.c.kind.in_(KINDS))
            some = self._documents(*begins, by=(document.c.id.desc(),), at_most=limit, by_account=by_account)
            found |= {each.id: each for each in some}
        return [found[number] for number in sorted(found, reverse=True)[:limit]]

    def files_accepted(self, *, kind: str, keys: Sequence[str]) -> list[tuple[str, int]]:
        """The names of the files from which something was accepted under some keys, each with its last arrival."""
        query = select(file.c.name, func.max(file.c.id)).join(document, document.c.file_id == file.c.id)
        accepted = (document.c.kind == kind) & (document.c.state == "accepted")
        found = self._rows(query.where(accepted, self._among(document.c.key, keys)).group_by(file.c.name))
        return [(name, number) for name, number in found]

    def accepted_since(self, file_id: int, *, kind: str, keys: Sequence[str]) -> list[StoredDocument]:
        """What was accepted under some keys of arrivals behind one, and was not cancelled; oldest first."""
        stands = (document.c.state == "accepted") & document.c.code.not_in(CANCELLED)
        return self._documents(
            document.c.kind == kind, self._among(document.c.key, keys), stands, document.c.file_id > file_id
        )

    def is_to_correct(self, file_id: int) -> bool:
        """Whether a row of an arrival is invalid, blocked or refused."""
        asked = select(row.c.file_id).outerjoin(document, row.c.document_id == document.c.id)
        wrong = row.c.fate.in_([Fate.INVALID, Fate.BLOCKED]) | ((row.c.fate == "") & (document.c.state == "refused"))
        return self._exists(asked.where(row.c.file_id == file_id, wrong))

    def sent_along(self, run: str) -> list[StoredDocument]:
        """The documents that a run sent or tried to send though no row of its files asks for them, oldest first."""
        return self._documents(document.c.id.in_(_tried_in(run)), _in_no_file_of(run), by_account=False)

    def settled_in(self, run: str) -> list[StoredDocument]:
        """The documents that a run found to be accepted, and neither tried to send nor has a row that asks for them."""
        mine = document.c.accepted_run == run, document.c.id.not_in(_tried_in(run)), _in_no_file_of(run)
        return self._documents(*mine, by_account=False)

    def get(self, document_id: int) -> StoredDocument | None:
        """One document by its number."""
        return next(iter(self.stored([document_id])), None)

    def last_accepted(self, operation: str) -> StoredDocument | None:
        """The latest accepted document of an operation that stands under its AWB number, if it is an order."""
        wanted = [document.c.operation == str(operation), document.c.state == "accepted"]
        if operation == Operation.ORDER_CREATE:
            wanted += [document.c.awb_number != "", document.c.code.not_in(CANCELLED)]
        return next(iter(self._documents(*wanted, by=(document.c.id.desc(),), at_most=1)), None)

    def generations(self, key: str, *, kind: str) -> list[StoredDocument]:
        """All generations of one key, oldest first."""
        mine = document.c.kind == kind, document.c.key == key
        return self._documents(*mine, by=(document.c.generation,))

    def open_changes(self, keys: Collection[str]) -> dict[str, tuple[int, str]]:
        """Under which of these keys a change was sent and has no end yet: the number and the state of the oldest."""
        is_open = document.c.state.in_(UNANSWERED) | (
            (document.c.state == "held") & document.c.waits_for.not_in(REPLACEABLE)
        )
        query = select(document.c.key, document.c.id, document.c.state).where(
            document.c.account == self.account, document.c.kind.in_(CHANGES), is_open, self._among(document.c.key, keys)
        )
        newest_first = self._rows(query.order_by(document.c.id.desc()))
        return {key: (number, state) for key, number, state in newest_first}

    def evidence(self, document_id: int) -> list[tuple[str, str, str]]:
        """What was seen of a document: (at, kind, text), oldest first."""
        query = select(evidence.c.at, evidence.c.kind, evidence.c.text)
        found = self._rows(query.where(evidence.c.document_id == document_id).order_by(evidence.c.id))
        return [(at, kind, text) for at, kind, text in found]

    def decisions(self, document_id: int) -> list[StoredDecision]:
        """What people decided about a document, oldest first."""
        query = select(decision).where(decision.c.document_id == document_id)
        return self._values(StoredDecision, query.order_by(decision.c.id))

    def dropped_under(self, number: str) -> list[StoredDocument]:
        """The documents that were dropped together under the number of a preview, oldest first."""
        dropped = self._documents(document.c.code.in_(codes_of("dropped")))
        return [each for each in dropped if each.why.given.get("number") == number]

    def rows_not_sent(
        self, *, operation: str, planned_from: str | None = None, planned_to: str | None = None
    ) -> list[RowNotSent]:
        """Rows that came in files for this operation and were not taken, each with its fate and reason.

        A row whose key was accepted in a later, corrected file is not listed.
        """
        other = issue.alias()
        same_row = other.c.file_id == row.c.file_id, other.c.sheet == row.c.sheet, other.c.row == row.c.row
        first_issue = select(func.min(other.c.id)).where(*same_row).scalar_subquery()
        accepted = select(document.c.key).where(
            document.c.account == self.account, document.c.operation == operation, document.c.state == "accepted"
        )
        own = issue.c.id.is_(None)
        query = (
            select(
                file.c.name.label("file_name"),
                case((row.c.sheet == "", file.c.sheet), else_=row.c.sheet).label("sheet"),
                *row.c["row", "key", "fate"],
                case((own, row.c.code), else_=issue.c.code).label("code"),
                case((own, row.c["values"]), else_=issue.c["values"]).label("values"),
                file.c.run_id.label("run"),
                file.c.received_at,
            )
            .join(file, row.c.file_id == file.c.id)
            .outerjoin(issue, issue.c.id == first_issue)
            .where(row.c.fate.in_(("invalid", "blocked", "held")), row.c.key.not_in(accepted))
            .where(file.c.operation == operation)
        )
        if planned_from is not None:
            query = query.where(file.c.received_at >= planned_from)
        if planned_to is not None:
            query = query.where(file.c.received_at < f"{planned_to}T99")
        query = query.order_by(row.c.file_id, row.c.sheet, row.c.row)
        return [_not_sent(line._mapping) for line in self._rows(query)]

    def count_planned_of(self, run: str) -> int:
        """How many documents `planned_of` gives."""
        return self._count(*due_of(self.account, run))

    def _count(self, *wanted: ColumnElement[bool]) -> int:
        return int(self._column(select(func.count()).select_from(document).where(*wanted))[0])

    def planned_of(self, run: str, *, lanes: Collection[int] | None = None) -> pl.DataFrame:
        """What this run has to send, in file order, as `PLANNED`: what its files ask for, and what a person wants sent.

        That is what was released, and what was to be tried again: a retry that was broken off has no file that would
        bring its documents again. lanes: only what lies in these.
        """
        query = (
            select(*(document.c[name] for name in PLANNED))
            .where(*due_of(self.account, run, lanes=lanes))
            .order_by(document.c.id)
        )
        with self._read() as connection:
            return read_frame(connection, query, {**PLANNED, "send_approved": pl.Int64}).cast(PLANNED)

    def stored(self, numbers: Iterable[int]) -> list[StoredDocument]:
        """Documents by their numbers, in the order of these."""
        wanted = list(numbers)
        query = select_documents().where(self._among(document.c.id, wanted))
        found = {each.id: each for each in self._values(StoredDocument, query)}
        return [found[number] for number in wanted if number in found]

    def planned_in(self, file_id: int) -> int:
        """How many documents that one file asks for are to be sent."""
        asked = select(row.c.document_id).where(row.c.file_id == file_id)
        return self._count(document.c.id.in_(asked), document.c.state == "planned")

    def open_documents_of(self, run: str) -> set[int]:
        """The numbers of the documents in doubt or held that files of a run ask for, or that it tried to send."""
        mine = document.c.id.in_(_asked_for_in(run)) | document.c.id.in_(_tried_in(run))
        waits = document.c.account == self.account, document.c.state.in_(("held", "in_doubt"))
        return set(self._column(select(document.c.id).where(*waits, mine)))

    def file_report(self, file_id: int, *, with_documents: bool = True) -> FileReport:
        """Everything that is known about one arrival of a file. with_documents: not of its rows alone."""
        with self._read() as connection:
            head = connection.execute(select(file).where(file.c.id == file_id)).mappings().one()
            own_sheet = func.coalesce(func.nullif(row.c.sheet, ""), head["sheet"]).label("sheet")
            lines = select(own_sheet, *row.c["row", "document_id", "fate", "key", "code", "values"])
            mine = lines.where(row.c.file_id == file_id).order_by(row.c.sheet, row.c.row)
            rows = read_frame(connection, mine, LINES)
            asked = select(row.c.document_id).where(row.c.file_id == file_id)
            documents = _documents_where(connection, document.c.id.in_(asked), more=_MORE if with_documents else {})
            of_others = repeated(connection, rows, documents) if self._connection.jobs is not None else ()
            known = pl.concat([documents.select(list(KNOWN)), *of_others], how="diagonal")
            issues = select(issue).where(issue.c.file_id == file_id).order_by(issue.c.sheet, issue.c.row, issue.c.id)
            found = connection.execute(issues).mappings().all()
        same = ("sha256", "size", "mapping", "mapping_digest", "sheet", "header_row", "rows_read", "received_at")
        shown = documents.with_columns(pl.lit("").alias("would")) if with_documents else DOCUMENT_RESULTS.to_frame()
        places = [{name: line[name] for name in Place.__dataclass_fields__} for line in found]
        return FileReport(
            **{name: head[name] for name in (*same, "lines_sheet", "lines_header_row", "earlier_file")},
            file=head["name"],
            run=head["run_id"],
            rows=fates(rows, known),
            documents=shown.select(list(DOCUMENT_RESULTS)),
            issues=tuple(
                Issue(line["code"], Place(**place), line["values"]) for line, place in zip(found, places, strict=True)
            ),
            notes=read_notes(json.loads(head["notes"])),
            operation=head["operation"],
            held=Issue(head["code"], values=head["values"]),
        )

    def states_of(self, run: str) -> dict[str, int]:
        """How many documents that files of a run planned are in which state, in the order of states."""
        of_run = document.c.file_id.in_(select(file.c.id).where(file.c.run_id == run))
        states = [str(state) for state in DocumentState]  # named, so that an index that begins with them serves
        query = select(document.c.state, func.count()).where(document.c.state.in_(states), of_run)
        found = dict(map(tuple, self._rows(query.group_by(document.c.state))))
        return {state: found[state] for state in states if state in found}

    def tallies(self, run: str) -> dict[int, Tally]:
        """What the rows of each file of a run have become by now, by the file's number, in order."""
        # The rows of a document stand for one, so that it is looked up once: a third of the time.
        own_key = case((row.c.document_id.is_(None), row.c.key), else_=literal_column("''")).label("key")
        what = (*row.c["file_id", "document_id", "fate"], own_key)
        alike = select(*what, func.count().label("rows")).join(file, row.c.file_id == file.c.id)
        group = alike.where(file.c.run_id == run).group_by(*what).subquery()
        its = case(
            {str(state): fate for state, fate in FATE_OF_STATE.items()}, value=document.c.state, else_=Fate.SKIPPED
        )
        fate = case((group.c.fate != "", group.c.fate), else_=its).label("fate")
        key = func.nullif(func.coalesce(document.c.key, group.c.key), "").label("key")
        known = select(*group.c["file_id", "rows"], fate, key).outerjoin(document, group.c.document_id == document.c.id)
        each = known.cte()
        counts = select(*each.c["file_id", "fate"], func.sum(each.c.rows)).group_by(*each.c["file_id", "fate"])
        asked = select(each.c.file_id, literal_column("''"), func.count(each.c.key.distinct())).group_by(each.c.file_id)
        with self._read() as connection:
            files = connection.execute(
                select(file.c.id, file.c.operation, file.c.code).where(file.c.run_id == run)
            ).all()
            documents: dict[int, int] = {}
            found: dict[int, dict[Fate, int]] = {}
            for number, name, count in connection.execute(union_all(counts, asked)):
                if name:
                    found.setdefault(number, {})[Fate(name)] = int(count)
                else:
                    documents[number] = count
        return {
            number: Tally(found.get(number, {}), bool(code), {thing_of(operation): documents.get(number, 0)})
            for number, operation, code in sorted(map(tuple, files))
        }

    def known_documents(self, numbers: Sequence[int]) -> pl.DataFrame:
        """Some documents by their numbers: KNOWN, and method, path, rows and body."""
        with self._read() as connection:
            return _documents_where(connection, self._among(document.c.id, numbers))

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
        return [NeverSent(*found) for found in self._rows(query)]

    def tally(self) -> StateTally:
        """Everything counted at one moment. last_good_runs: when the last run with exit code 0 ended, by job."""
        newest = select(func.max(run.c.started_at)).where(run.c.job == (outer := run.alias()).c.job).scalar_subquery()
        states = select(document.c.state, func.count()).where(document.c.account == self.account)
        ended = select(run.c.job, run.c.exit_code, func.count()).group_by(run.c.job, run.c.exit_code)
        good = select(run.c.job, func.max(run.c.finished_at)).where(run.c.exit_code == 0).group_by(run.c.job)
        with self._read() as connection:
            last = connection.execute(select(outer).where(outer.c.started_at == newest)).all()
            return StateTally(
                documents=dict(map(tuple, connection.execute(states.group_by(document.c.state)))),
                runs={(job, code): int(count) for job, code, count in connection.execute(ended)},
                last_runs=tuple(stored(StoredRun, last)),
                last_good_runs=dict(map(tuple, connection.execute(good))),
                owed=int(connection.execute(select(func.count()).where(notice.c.owed == 1)).scalar_one()),
            )


def fates(lines: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """What became of each row. lines: see LINES; known: see KNOWN, the documents that the rows point to."""
    shown = known.select(pl.all().name.prefix("its:"))
    both = lines.join(shown, left_on="document_id", right_on="its:id", how="left", maintain_order="left")
    state, own = pl.col("its:state"), pl.col("fate") != ""
    fate = pl.when(own).then("fate").otherwise(state.replace_strict(FATE_OF_STATE, default=Fate.SKIPPED.value))
    plainly = (pl.col("fate") == Fate.UNCHANGED.value) & state.is_not_null() & (pl.col("code") == "")
    has_its = ~own & state.is_not_null()
    before = pl.struct(pl.col("its:accepted_run").alias("run")).struct.json_encode()
    blank, nameless = pl.lit(""), (state == "accepted") & (pl.col("its:awb_number") == "")
    nameless &= pl.col("its:operation") == "order.create"
    # Of a document that goes its way nothing else is to be said.
    its_code = (
        pl.when((state == "sending") | ((state == "planned") & (pl.col("its:code") == "")))
        .then(pl.format(".{}", state))
        .when(nameless & (pl.col("its:code") == ""))
        .then(pl.lit(".no_awb_number"))
        .otherwise("its:code")
    )
    return both.select(
        "sheet",
        "row",
        pl.coalesce("its:key", "key").alias("document"),
        fate.cast(pl.String).alias("fate"),
        pl.when(plainly).then(pl.lit("unchanged")).when(has_its).then(its_code).otherwise("code").alias("code"),
        pl.when(plainly).then(before).when(has_its).then("its:values").otherwise("values").alias("values"),
        pl.col("its:reference").fill_null("").alias("reference_number"),
        pl.col("its:awb_number").fill_null("").alias("awb_number"),
        blank.alias("would"),
    ).cast(FATES)


_MORE: Final = {"method": pl.String, "path": pl.String, "rows": pl.String, "body": pl.Binary}


def _documents_where(
    connection: Connection, wanted: ColumnElement[bool], *, more: Mapping[str, Any] = _MORE
) -> pl.DataFrame:
    """Documents as KNOWN, with more columns."""
    query = select(*(document.c[name] for name in (*KNOWN, *more))).where(wanted).order_by(document.c.id)
    found = read_frame(connection, query, {**KNOWN, **more})
    rows, body = pl.col("rows").str.json_decode(pl.List(pl.UInt32)), pl.col("body").cast(pl.String, strict=True)
    return found.with_columns(rows, body) if more else found


class Addresses(Repository):
    """Documents of other addresses of the service than that of the settings, which may be mistyped or names of one."""

    def is_new(self) -> bool:
        """Whether nothing was ever planned for the address of the settings."""
        return not self._exists(select(document.c.id).where(document.c.account == self.account))

    def others(self) -> dict[str, tuple[int, int]]:
        """For each other address that documents belong to: how many, and how many of them are open."""
        is_open = func.sum(case((document.c.state.in_(OPEN), 1), else_=0))
        query = select(document.c.account, func.count(), is_open).where(document.c.account != self.account)
        found = self._rows(query.group_by(document.c.account).order_by(document.c.account))
        return {account: (int(count), int(still_open)) for account, count, still_open in found}

    def in_use(self) -> set[str]:
        """The addresses at which something was accepted: these were not mistyped."""
        return set(self._column(select(document.c.account).where(document.c.state == "accepted").distinct()))

    def left(self) -> list[StoredDocument]:
        """Documents for other addresses that are planned or held, oldest first; none of which something may exist."""
        waits = document.c.state.in_(("planned", "held")) & (document.c.may_exist == 0)
        query = select_documents().where(document.c.account != self.account, waits)
        return self._values(StoredDocument, query.order_by(document.c.id))

    def sent(self) -> dict[str, int]:
        """How many documents were sent to each other address, or may exist there."""
        sent = document.c.state.in_(("accepted", "refused", *UNANSWERED)) | (document.c.may_exist == 1)
        query = select(document.c.account, func.count()).where(document.c.account != self.account, sent)
        return dict(map(tuple, self._rows(query.group_by(document.c.account).order_by(document.c.account))))


def due_of(account: str, run_id: str, *, lanes: Collection[int] | None = None) -> tuple[ColumnElement[bool], ...]:
    """What holds of the documents that a run has to send, see `StoredDocuments.planned_of`."""
    asked = document.c.id.in_(_asked_for_in(run_id))
    wanted = asked | (document.c.send_approved == 1) | (document.c.waits_for == WaitsFor.NEXT_RUN)
    in_lanes = () if lanes is None else (document.c.lane.in_(lanes),)
    return document.c.account == account, document.c.state == "planned", wanted, *in_lanes


def _asked_for_in(run_id: str) -> Select[tuple[int]]:
    """The documents that rows of a run's files ask for."""
    asked = select(row.c.document_id).join(file, row.c.file_id == file.c.id)
    return asked.where(file.c.run_id == run_id, row.c.document_id.is_not(None))


def _tried_in(run_id: str) -> Select[tuple[int]]:
    """The documents that a run sent or tried to send."""
    return select(attempt.c.document_id).where(attempt.c.run_id == run_id)


def _in_no_file_of(run_id: str) -> ColumnElement[bool]:
    """Whether no row of a run's files asks for a document, also not as another generation."""
    return document.c.key.not_in(select(_OWN.c.key).where(_OWN.c.id.in_(_asked_for_in(run_id))))


def _not_sent(line: RowMapping) -> RowNotSent:
    plain = {name: line[name] for name in RowNotSent.__dataclass_fields__ if name not in ("reason", "fault")}
    fault = f"{line['code'] or ''} {line['values'] or ''}".strip()
    return RowNotSent(**plain, reason=told(line["code"], line["values"])[0], fault=fault)
