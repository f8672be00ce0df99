"""The judge of a history: what the service created, beside what the ledger and the answers say of it."""

import csv
import hashlib
import io
import json
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from histories.service import Record
from histories.stage import KINDS, Stage

from logistics_batch.ledger import StoredDocument, sqlite_path
from logistics_batch.ledger.failures import sqlite3

NOT_ENDED = ("planned", "sending", "in_doubt")
LISTED = ("accepted", "in_doubt", "held", "sending")
_DOCUMENTS = (
    "SELECT id, kind, operation, reference, generation, state, code, attempts, may_exist, body, awb_number "
    "FROM document ORDER BY id"
)
_FILES = "SELECT id, sha256, name, state, stale FROM file ORDER BY id"
_ROWS = "SELECT file_id, count(*) FROM row GROUP BY file_id"


class Broken(AssertionError):
    """A promise does not hold. promise: its name."""

    def __init__(self, promise: str, told: str) -> None:
        super().__init__(f"{promise}: {told}")
        self.promise = promise


@dataclass(frozen=True)
class Kept:
    """A document as the ledger has it."""

    id: int
    kind: str
    operation: str
    reference: str
    generation: int
    state: str
    code: str
    attempts: int
    may_exist: bool
    body: str
    awb_number: str

    @property
    def digest(self) -> str:
        return _digest(self.body)


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()


@dataclass
class Judge:
    """Looks after each step. leave_out: promises that are not looked at.

    sent_again: how often a person had something sent again, by kind and reference. gone: bodies of documents that were
    replaced or dropped and that nobody asked for since. judged: how many creates were looked at. lay: what the files
    said that lay unread after the step before. dropped: how many had come by then. chosen: bodies that a person chose
    to send, with the last document that there was to choose from; only what came later corrects them.
    """

    stage: Stage
    leave_out: frozenset[str] = frozenset()
    sent_again: Counter[tuple[str, str]] = field(default_factory=Counter)
    gone: set[str] = field(default_factory=set)
    accepted_by_person: set[int] = field(default_factory=set)
    judged: int = 0
    lay: list[bytes] = field(default_factory=list)
    dropped: int = 0
    chosen: dict[str, int] = field(default_factory=dict)
    lost_history: bool = False
    waiting: dict[str, str] = field(default_factory=dict)

    # What people do, as the judge has to know it

    def decided(self, document: StoredDocument, choice: str) -> None:
        """A person decided about a document."""
        kind = document.operation.partition(".")[0]
        if choice == "send-again":
            self.sent_again[kind, document.reference] += 1
            self.gone.discard(_digest(document.body))
            self.chosen[_digest(document.body)] = max(each.id for each in self.documents())
        elif choice == "accept":
            self.accepted_by_person.add(document.id)

    def reopened(self, document: StoredDocument) -> None:
        """A drop was taken back."""
        self.gone.discard(_digest(document.body))

    def restored(self) -> None:
        """The ledger is an older copy from now on."""
        self.lost_history = True
        self.gone.clear()
        self.waiting.clear()
        self.accepted_by_person.clear()

    @staticmethod
    def is_of(document: StoredDocument | Kept, record: Record) -> bool:
        """Whether a record has what a document says."""
        said = json.loads(document.body)
        return bool({name: record.body.get(name) for name in said} == said)

    # The ledger from outside

    def _query(self, asked: str) -> list[tuple[Any, ...]]:
        path = sqlite_path(self.stage.ledger_url)
        if path is None:
            with psycopg.connect(self.stage.ledger_url) as connection:
                return connection.execute(asked.replace(" row ", ' "row" ')).fetchall()  # type: ignore[arg-type]
        with closing(sqlite3.connect(path)) as database:
            return database.execute(asked).fetchall()

    def documents(self) -> list[Kept]:
        """All documents, the oldest first."""
        return [
            Kept(*line[:8], bool(line[8]), bytes(line[9]).decode(), line[10])  # type: ignore[misc]
            for line in self._query(_DOCUMENTS)
        ]

    def open_documents(self) -> list[Kept]:
        """What has no end yet and waits for no person."""
        return [each for each in self.documents() if each.state in NOT_ENDED]

    # The promises

    def look(self, step: tuple[Any, ...]) -> None:
        """Raise Broken if a promise does not hold after a step."""
        documents = self.documents()
        tried, self.stage.service.tried = self.stage.service.tried, []
        self.judged += len(tried)
        for content in (*self.lay, *(file.content for file in self.stage.dropped[self.dropped :])):
            self._asked_for(content.decode())
        self.dropped = len(self.stage.dropped)
        self.lay = [path.read_bytes() for path in (self.stage.root / "inbound").rglob("*.csv")]
        self._created_as_asked(step)
        self._answers_are_true(documents)
        self._listed(documents)
        self._nothing_gone_was_sent(documents, tried)
        self._no_known_wrong_version(documents, tried)

    def _break(self, promise: str, told: str) -> None:
        if promise not in self.leave_out:
            raise Broken(promise, told)

    def _asked_for(self, content: str) -> None:
        """A file that comes, or lies there unread, may ask again for what an earlier one asked for and was replaced."""
        self.gone = {digest for digest in self.gone if not self._speaks_of(digest, content)}

    def _speaks_of(self, digest: str, content: str) -> bool:
        return any(each.digest == digest and each.reference in content for each in self.documents())

    def _created_as_asked(self, step: tuple[Any, ...]) -> None:
        """Neither an order nor an ASN is created more often than people had it sent again."""
        del step
        for (kind, reference), times in self.stage.service.created().items():
            if times > 1 + self.sent_again[kind, reference]:
                self._break(f"{kind}_created_once", f"{reference} was created {times} times")
        alive = Counter(each.reference for each in self.stage.service.records if each.live and each.kind == "order")
        for reference, times in alive.items():
            if times > 1:
                self._break("one_live_order", f"{reference}: {times} live orders")

    def _ours(self, document: Kept) -> list[Record]:
        """The records that the program's calls created with what this document says."""
        return [
            each
            for each in self.stage.service.records
            if each.ours
            and (each.kind, each.reference) == (document.kind, document.reference)
            and self.is_of(document, each)
        ]

    def _answers_are_true(self, documents: list[Kept]) -> None:
        for document in documents:
            if not document.body or not document.operation.endswith(".create"):
                continue
            ours = self._ours(document)
            if document.state == "accepted" and document.id not in self.accepted_by_person:
                if not ours:
                    self._break("accepted_is_true", f"{document.reference} is not there as it was sent")
                if (
                    document.awb_number
                    and document.kind == "order"
                    and document.awb_number not in {each.number for each in ours}
                ):
                    self._break("accepted_is_true", f"{document.reference}: {document.awb_number} is another order's")
            elif document.state == "refused" and ours and not self._others(documents, document):
                self._break("refused_is_true", f"{document.reference} is there")

    @staticmethod
    def _others(documents: list[Kept], document: Kept) -> bool:
        """Whether another generation says the very same and may be the one that is there."""
        return any(
            each.id != document.id and each.digest == document.digest and each.state in (*LISTED, "abandoned")
            for each in documents
        )

    def _listed(self, documents: list[Kept]) -> None:
        """What is there is accepted, or listed as a doubt or for a person; or a person dropped it."""
        if self.lost_history:
            return
        for record in self.stage.service.records:
            if not record.ours:
                continue
            mine = [each for each in documents if (each.kind, each.reference) == (record.kind, record.reference)]
            told = [each for each in mine if self.is_of(each, record)]
            if not any(each.state in (*LISTED, "abandoned") or each.may_exist for each in told):
                states = ", ".join(f"{each.state} ({each.code})" for each in told)
                self._break(
                    "every_doubt_is_listed", f"{record.reference} is there; the ledger says: {states or 'nothing'}"
                )

    def _nothing_gone_was_sent(self, documents: list[Kept], tried: list[tuple[str, str]]) -> None:
        """What was dropped or replaced before this step did not go out in it."""
        for _, body in tried:
            if _digest(body) in self.gone:
                self._break("nothing_dropped_is_sent", f"a version that was dropped or replaced went out: {body[:60]}")
        states: dict[str, set[str]] = {}
        for each in documents:
            states.setdefault(each.digest, set()).add(each.state)
        self.gone = {digest for digest, found in states.items() if found <= {"superseded", "abandoned"}} & (
            self.gone | {each.digest for each in documents if self._is_new_end(each)}
        )

    def _is_new_end(self, document: Kept) -> bool:
        return document.state in ("superseded", "abandoned")

    def _no_known_wrong_version(self, documents: list[Kept], tried: list[tuple[str, str]]) -> None:
        """What was in doubt while its correction waited is not sent again."""
        for _, body in tried:
            if reference := self.waiting.get(_digest(body)):
                self._break("no_known_wrong_version", f"{reference} was sent again, though its correction waits")
        self.waiting = {}
        for each in documents:
            later = [
                other
                for other in documents
                if (other.kind, other.reference) == (each.kind, each.reference) and other.generation > each.generation
            ]
            before = self.chosen.get(each.digest, 0)
            newer = [other for other in later if other.state == "held" and other.digest != each.digest]
            if before:  # a person chose it; what came since is one more file of which a person says which is right
                newer = [other for other in newer if other.id > before and other.code != "two_files"]
            if each.state == "in_doubt" and newer:
                self.waiting[each.digest] = each.reference

    def end(self, lying: list[Path]) -> None:
        """After the quiet end: everything has drained, every file is put away, and every row is answered."""
        for document in self.open_documents():
            if document.state == "in_doubt" and document.kind == "order" and self._no_order_is_known():
                continue
            self._break("everything_drains", f"{document.reference} is {document.state} ({document.code}) at the end")
        if lying:
            self._break("everything_drains", f"{lying[0].name} still lies where it was dropped")
        self._no_file_is_lost()
        if not self.lost_history:
            self._every_row_is_answered()

    def _no_order_is_known(self) -> bool:
        """Whether the service never accepted one from here: then “not found” proves nothing about the others."""
        return not any(each.state == "accepted" and each.kind == "order" for each in self.documents())

    def nobody_is_asked_in_vain(self) -> None:
        """What is held for a person is nothing that the service would show who asks for it."""
        if not self.stage.habits.readable:
            return
        for document in self.documents():
            if document.state == "held" and document.kind == "order" and self._shown(document):
                self._break("nobody_is_asked_in_vain", f"{document.reference} is held ({document.code})")

    def _shown(self, document: Kept) -> bool:
        """Whether fetching it by reference would end its question: it is there as it was sent, or nothing is."""
        alive = self.stage.service.alive("order", document.reference)
        return not alive or bool(self._ours(document))

    def _no_file_is_lost(self) -> None:
        root = self.stage.root
        kept = {
            hashlib.sha256(path.read_bytes()).hexdigest()
            for place in ("archive", "quarantine", "inbound")
            for path in (root / place).rglob("*.csv")
        }
        known = {str(line[1]) for line in self._query(_FILES)}
        for file in self.stage.dropped:
            if file.sha256 in self.stage.overwritten:
                continue
            if file.sha256 not in kept:
                self._break("no_file_is_lost", f"{file.name} lies nowhere")
            if file.sha256 not in known and not self.lost_history:
                self._break("no_file_is_lost", f"{file.name} was put away unread")

    def _every_row_is_answered(self) -> None:
        rows = {int(number): int(count) for number, count in self._query(_ROWS)}
        wanted = {file.sha256: file.rows for file in self.stage.dropped}
        for number, sha256, name, state, stale in self._query(_FILES):
            if rows.get(number, 0) != wanted[sha256]:
                self._break("every_row_is_answered", f"{name}: {rows.get(number, 0)} rows of {wanted[sha256]}")
            if state == "planned" or stale:
                self._break("every_row_is_answered", f"{name}: its answer is not written, or not as it is known")
        for name, kind in KINDS.items():
            open_fates = ("", "pending", *(() if name == "order" and self._no_order_is_known() else ("in_doubt",)))
            for path in (self.stage.root / "results" / kind).glob("*.csv"):
                for line in csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))):
                    if line["fate"] in open_fates:
                        self._break("every_row_is_answered", f"{path.name}: row {line['row']} is {line['fate']}")
