"""What holds data of people goes when its time is over; keys, digests and what became of it stay."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import CompoundSelect, Connection, Row, Select, exists, func, select, union

from logistics_batch.ledger.connection import Repository, entry, put_entry
from logistics_batch.ledger.failures import sqlite3
from logistics_batch.ledger.files import without_names
from logistics_batch.ledger.schema import (
    attempt,
    decision,
    document,
    event,
    evidence,
    exception,
    exception_change,
    file,
    held_file,
    issue,
    notice,
    print_line,
    result_name,
    row,
    run,
    run_note,
)
from logistics_batch.model.document import ENDED, OPEN

_AT_ONCE = 2000  # records in one transaction: others want to write, too
_FILES_AT_ONCE = 200
_WITHOUT_NAME = "purged-"
_ENDINGS = (".csv", ".tsv", ".txt", ".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
_NOTHING = hashlib.sha256(b"").hexdigest()
_NOT_KEPT = "The reason is not kept any more."
_COMPACTION = "compaction"  # in the table `meta`: when the file was written anew last, and whether that is owed
_COMPACTED_EVERY_DAYS = 7


@dataclass(frozen=True, slots=True)
class Purged:
    """How much went. needed: the digests of files whose bytes are still needed."""

    documents: int
    events: int
    files: int
    needed: frozenset[str]


class Purging(Repository):
    """Empties payloads, what mappings keep, replies, words about documents and cells, names of files, and events."""

    def purge(self, *, before: str) -> Purged:
        """Empty what was settled or came in before a moment; what is open keeps everything, however old it is.

        Call while holding the sending lock.
        """
        documents = self._empty_documents(before)
        events = self.purge_events(before=before)
        files = self._empty_files(before)
        others = self._empty_runs(before)
        self._compact(changed=bool(documents or events or files or others))
        with self._read() as connection:
            needed = frozenset(connection.execute(_needed(before)).scalars())
        return Purged(documents, events, files, needed)

    def purge_events(self, *, before: str, patience_seconds: float = 30.0) -> int:
        """Empty the bytes of events that came in before a moment; needs no lock."""
        old = event.update().where(event.c.received_at < before, func.length(event.c.raw) > 0).values(raw=b"")
        with self._write(counts=False, patience_seconds=patience_seconds) as connection:
            emptied = connection.execute(old).rowcount
        if emptied:
            self._cut_log()
        return emptied

    def _empty_documents(self, before: str) -> int:
        answered = (attempt.c.document_id == document.c.id) & ((attempt.c.reply != "") | (attempt.c.message != ""))
        is_full = (func.length(document.c.body) > 0) | ((document.c.body_sha256 == _NOTHING) & exists().where(answered))
        over = document.c.state.in_(ENDED) & (document.c.settled_at < before) & (document.c.settled_at != "")
        full = select(document.c.id).where(over, is_full).order_by(document.c.id)

        def empty(connection: Connection, found: Sequence[Row[Any]]) -> None:
            mine = [each.id for each in found]
            nothing = {"body": b"", "keep": "{}", "values": ""}
            connection.execute(document.update().where(self._among(document.c.id, mine)).values(nothing))
            for table, names in ((attempt, ("reply", "message")), (evidence, ("text",)), (decision, ("why",))):
                theirs = self._among(table.c.document_id, mine)
                connection.execute(table.update().where(theirs).values(dict.fromkeys(names, "")))

        return self._emptied(full, empty, at_once=_AT_ONCE)

    def _empty_files(self, before: str) -> int:
        """Names and words of files that came before a moment and none of whose rows waits for anything."""
        named = file.c.name.not_like(f"{_WITHOUT_NAME}%") & file.c.sha256.not_in(_needed(before))
        over = select(file.c.id, file.c.name, file.c.origin, file.c.sha256).where(file.c.received_at < before, named)

        def empty(connection: Connection, found: Sequence[Row[Any]]) -> None:
            for each in found:
                number, kept = each.id, without_names(json.loads(each.origin), name=each.name)
                values = {"name": _nameless(number, each.name), "origin": json.dumps(kept), "stale": 0, "notes": "[]"}
                values |= {"values": "", "earlier_file": ""}
                connection.execute(file.update().where(file.c.id == number).values(values))
                nameless = {"stem": f"{_WITHOUT_NAME}{number}", "over_why": ""}
                connection.execute(held_file.update().where(held_file.c.file_id == number).values(nameless))
            mine = [each.id for each in found]
            said = row.update().where(self._among(row.c.file_id, mine), row.c["values"] != "")
            connection.execute(said.values({"values": ""}))
            theirs = issue.update().where(self._among(issue.c.file_id, mine))
            connection.execute(theirs.values({"value": "", "values": ""}))
            # The names of answers are free again: who writes one looks first whether another's answers lie there.
            given = select(result_name.c.place, result_name.c.name)
            given = given.where(self._among(result_name.c.sha256, [each.sha256 for each in found]))
            for place, stem in connection.execute(given).all():
                of_stem = (result_name.c.name == stem) | result_name.c.name.startswith(f"{stem}/", autoescape=True)
                connection.execute(result_name.delete().where(result_name.c.place == place, of_stem))

        return self._emptied(over.order_by(file.c.id), empty, at_once=_FILES_AT_ONCE)

    def _emptied(
        self, query: Select[Any], empty: Callable[[Connection, Sequence[Row[Any]]], None], *, at_once: int
    ) -> int:
        """How many records a query found until it finds none any more; some of them in each transaction."""
        emptied = 0
        while True:
            with self._write(counts=False) as connection:
                found = connection.execute(query.limit(at_once)).all()
                empty(connection, found)
            emptied += len(found)
            if len(found) < at_once:
                return emptied

    def _empty_runs(self, before: str) -> int:
        """What runs and alerts of long ago said, where nothing waits: both name files; and exceptions long resolved."""
        busy = select(file.c.run_id).where(file.c.sha256.in_(_needed(before)))
        old = select(run.c.id).where(run.c.started_at < before, run.c.finished_at != "", run.c.id.not_in(busy))
        over = (notice.c.over_at != "") & (notice.c.over_at < before) & (notice.c.owed == 0)
        with self._write(counts=False) as connection:
            gone = connection.execute(run_note.delete().where(run_note.c.run_id.in_(old))).rowcount
            gone += connection.execute(notice.delete().where(over)).rowcount
            stopped = run.update().where(run.c.id.in_(old), run.c.stopped != "", run.c.stopped != _NOT_KEPT)
            gone += connection.execute(stopped.values(stopped=_NOT_KEPT)).rowcount
            solved = (exception.c.standing == "resolved") & (exception.c.gone_since < before)
            theirs = exception_change.c.exception_id.in_(select(exception.c.exception_id).where(solved))
            connection.execute(exception_change.update().where(theirs).values(owner="", comment=""))
            gone += connection.execute(exception.delete().where(solved)).rowcount
            printed = print_line.update().where(print_line.c.at < before, print_line.c.reason != "")
            return gone + connection.execute(printed.values(reason="")).rowcount

    def _compact(self, *, changed: bool) -> None:
        """Write a SQLite ledger anew, once a week at most: pages whose records moved keep their bytes until then.

        What cannot be done now, as on a disk without room for a second copy, is owed, and done by a later run.
        """
        if self._connection.engine.dialect.name != "sqlite":
            return
        with self._read() as connection:
            kept = entry(connection, _COMPACTION)
            today = connection.exec_driver_sql("SELECT julianday('now')").scalar_one()
        before = json.loads(kept) if kept else {"at": 0.0, "owed": False}
        after = before | {"owed": before["owed"] or changed}
        if after["owed"] and today - after["at"] >= _COMPACTED_EVERY_DAYS and self._said_to_file("VACUUM"):
            after = {"at": today, "owed": False}
        if after != before:
            with self._write(counts=False) as connection:
                put_entry(connection, _COMPACTION, json.dumps(after))
        self._cut_log()

    def _cut_log(self) -> None:
        """Leave nothing in SQLite's write-ahead log of what was overwritten, unless somebody is reading it now."""
        if self._connection.engine.dialect.name == "sqlite":
            self._said_to_file("PRAGMA wal_checkpoint(TRUNCATE)")

    def _said_to_file(self, statement: str) -> bool:
        """Run what stands in no transaction; False if it cannot be done now."""
        with self._connection.engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            try:
                raw.execute(statement)
            except sqlite3.Error:
                return False
            return True


def _needed(before: str) -> CompoundSelect[str]:
    """The contents that came since a moment, or some of which waits for something."""
    digest = select(file.c.sha256)
    waits = document.c.state.in_(OPEN)
    return union(
        digest.where(file.c.received_at >= before),
        digest.join(row, row.c.file_id == file.c.id).join(document, row.c.document_id == document.c.id).where(waits),
        digest.join(document, document.c.file_id == file.c.id).where(waits),
        digest.join(held_file, held_file.c.file_id == file.c.id).where(held_file.c.over_at == ""),
    )


def _nameless(number: int, name: str) -> str:
    """A name that says only what kind of file it was."""
    ending = PurePosixPath(name).suffix.lower()
    return f"{_WITHOUT_NAME}{number}{ending if ending in _ENDINGS else ''}"
