"""What a file that came in means for the ledger: which documents are new, known, changed, or wait for a person."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Final

import polars as pl
from sqlalchemy import Connection, func, select

from logistics_batch.crash_points import crash_point
from logistics_batch.errors import FileHeld
from logistics_batch.ledger.bulk import insert_all, insert_frame
from logistics_batch.ledger.connection import Repository, digest, dump
from logistics_batch.ledger.documents.decide import (
    APPROVAL,
    EARLIER,
    NEW,
    TWO_FILES,
    Decision,
    Decisions,
    Generation,
    decide,
    decide_change,
    for_approval,
)
from logistics_batch.ledger.documents.known_keys import (
    CHANGES,
    KnownKeys,
    OlderVersions,
    ask_whether_one,
    keyed,
    keys_of,
    kind_of,
    known_generations,
    sent_before,
    why_asked,
)
from logistics_batch.ledger.documents.marking import Marking, carries_marker
from logistics_batch.ledger.documents.replanning import Kept, kept_rows, withdraw
from logistics_batch.ledger.documents.same_bytes import ask_whether_twice
from logistics_batch.ledger.documents.stale import mark_stale
from logistics_batch.ledger.records import StoredDocument, in_state
from logistics_batch.ledger.schema import document, file, issue, row
from logistics_batch.messages import packed, unpacked
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import WaitsFor
from logistics_batch.model.asn_marker import with_marker
from logistics_batch.model.document import Document, MappedFile, Operation, RowState, call_blocks
from logistics_batch.model.issue import Issue, stored_notes
from logistics_batch.model.sheet import SourceFile
from logistics_batch.model.spelling import folded_key

_SHEETS = ("sheet", "header_row", "lines_sheet", "lines_header_row")
_LASTING = (Operation.ORDER_ADD_ITEMS, Operation.ORDER_DELETE_ITEMS)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file that came in: what it is, where it came from, and what mapping made of it.

    mapped: None if it could not be mapped. held: why the file as a whole stays, None if it goes on.
    calls: HTTP method and path of each operation, fixed at planning; a document's own path goes before.
    approval: what would go out waits until a person has approved it. marks: ASNs get a marker in their description.
    """

    source: SourceFile
    mapping: str
    mapping_digest: str
    operation: str
    received_at: str
    mapped: MappedFile | None = None
    held: FileHeld | None = None
    origin: Mapping[str, object] | None = None
    calls: Mapping[str, tuple[str, str]] | None = None
    approval: bool = False
    marks: bool = False


class Planning(Repository):
    """Files, rows and documents go into the ledger in one transaction a file."""

    def evaluate(self, arrival: Arrival, documents: Sequence[Document]) -> Decisions:
        """What would become of each of a file's documents if it came in now; writes nothing."""
        with self._read() as connection:
            came_before = _came_before(connection, arrival.source.sha256)
            return self._evaluate(connection, arrival, documents, came_before=came_before)

    def plan_file(self, run: str, arrival: Arrival) -> int:
        """Write a file with all its rows, issues and documents; returns the file's id."""
        with self._write() as connection:
            file_id = self._insert_file(connection, run, arrival)
            self._place(connection, file_id, arrival, kept=Kept())
            crash_point("file.before_commit")
        crash_point("file.after_commit")
        return file_id

    def replan_file(self, file_id: int, arrival: Arrival) -> int:
        """Plan a file of an interrupted run anew by a mapping that was corrected since, in one transaction.

        What was never sent is superseded; rows of what was sent, or may have been, stay with it. Returns how many
        documents stay.
        """
        with self._write() as connection:
            kept = kept_rows(connection, file_id)
            withdraw(connection, file_id, now=arrival.received_at)
            connection.execute(file.update().where(file.c.id == file_id).values(**_said_of_file(arrival)))
            self._place(connection, file_id, arrival, kept=kept)
            crash_point("file.before_commit")
        crash_point("file.after_commit")
        return len(set(kept.documents.values()))

    def sent_of(self, file_id: int) -> int:
        """How many rows of a file ask for what was sent, or may have been."""
        with self._read() as connection:
            return len(kept_rows(connection, file_id).documents)

    def _insert_file(self, connection: Connection, run: str, arrival: Arrival) -> int:
        source = arrival.source
        earlier = connection.execute(
            select(file.c.name, file.c.run_id)
            .where(file.c.sha256 == source.sha256, file.c.run_id != run)
            .order_by(file.c.id.desc())
            .limit(1)
        ).first()
        about = {name: getattr(source, name) for name in ("sha256", "name", "size", "format")}
        about |= {"run_id": run, "received_at": arrival.received_at}
        about |= {"earlier_file": f"{earlier.name} (run {earlier.run_id})"} if earlier else {}
        inserted = connection.execute(file.insert().values(about | _said_of_file(arrival)))
        assert inserted.inserted_primary_key is not None
        return int(inserted.inserted_primary_key[0])

    def _place(self, connection: Connection, file_id: int, arrival: Arrival, *, kept: Kept) -> None:
        """Write a file's documents, rows and issues; nothing of one that could not be mapped."""
        if arrival.mapped is not None:
            sendable = arrival.mapped.documents if arrival.held is None else ()
            placed = self._place_documents(connection, file_id, arrival, sendable, kept=kept)
            _insert_rows(connection, file_id, arrival, arrival.mapped, placed, kept=kept)

    def _evaluate(
        self, connection: Connection, arrival: Arrival, documents: Sequence[Document], *, came_before: int
    ) -> Decisions:
        keys = keys_of(documents)
        generations = known_generations(connection, self.account, keys)
        same = sent_before(documents, keys, generations)
        known = KnownKeys.of(generations.filter(~pl.col("id").is_in([each.id for each in same.values()])))
        versions = OlderVersions(connection, name=arrival.source.name, origin=arrival.origin or {})
        usual = for_approval(NEW) if arrival.approval else NEW
        others = {place: Decision("unchanged", existing=existing) for place, existing in same.items()}
        asks = came_before or known.history or carries_marker(arrival.operation, marks=arrival.marks)
        if not asks or len(same) == len(documents):
            return Decisions(len(documents), usual, others)
        for place, item in enumerate(documents):
            kind = kind_of(item.operation)
            if place in others:
                continue
            if not (came_before or known.knows(kind, item.key) or carries_marker(item.operation, marks=arrival.marks)):
                continue
            marking = Marking(connection, self.account, item)
            known_here = marking.as_said(known.history.get((kind, item.key), []))
            content = _content(connection, item, known_here, marking)
            if kind in CHANGES:
                in_doubt = bool(known.in_doubt.get(item.key, set()) - {kind})
                decision = decide_change(
                    known_here,
                    content,
                    versions=versions if Operation(arrival.operation).creates else None,
                    lasting=item.operation in _LASTING,
                    approval=arrival.approval,
                    came_before=came_before,
                    order_in_doubt=in_doubt,
                    undone_since=known.undone_since(kind, item.key),
                    reference="" if item.reference == item.key else item.reference,
                )
            else:
                decision = _explained(decide(known_here, content, versions=versions), item)
                decision = ask_whether_one(connection, known, item, decision)
            decision = _with_the_other_file(connection, decision)
            if came_before:
                decision = ask_whether_twice(connection, item, decision, sha256=arrival.source.sha256)
            decision = marking.marked(decision, marks=arrival.marks)
            others[place] = for_approval(decision) if arrival.approval else decision
        return Decisions(len(documents), usual, others)

    def spelt_otherwise(self, found: StoredDocument) -> str:
        """Which other document has this one's key in another spelling and lives or waits, in words; "" if none does."""
        kind = kind_of(found.operation)
        with self._read() as connection:
            keys = keyed(pl.DataFrame({"kind": [kind], "key": [found.key]}))
            known = KnownKeys.of(known_generations(connection, self.account, keys))
            other = known.spelt_otherwise(kind, found.key)
            return "" if other is None else why_asked(connection, other, found.key).reason

    def decide_anew(self, *, now: str, absent: int = 0) -> bool:
        """What waits for an earlier version of its order or ASN is decided anew, where that has its end.

        absent: a document that was sent and certainly is not at the service: for what waits it was never sent. Returns
        whether it made way: it is superseded, or waits as well where another file says something else about it.
        """
        names = (*document.c["id", "kind", "key", "body_sha256", "code", "values"], *file.c["name", "origin"])
        waiting = (
            select(*names, document.c.rows)
            .join(file, document.c.file_id == file.c.id)
            .where(document.c.account == self.account, document.c.state == "held", document.c.code.in_(EARLIER))
            .where(document.c.kind.not_in(CHANGES))
            .order_by(document.c.id)
        )
        if not self._exists(waiting):
            return False
        made_way: set[int] = set()
        with self._write() as connection:
            for each in connection.execute(waiting).all():
                keys = keyed(pl.DataFrame({"kind": [each.kind], "key": [each.key]}))
                known = KnownKeys.of(known_generations(connection, self.account, keys)).history[each.kind, each.key]
                states = {one.id: one.state for one in known}
                others = [
                    replace(one, state="planned", may_exist=False) if one.id == absent else one
                    for one in known
                    if one.id != each.id
                ]
                if any(one.state == "abandoned" and one.may_exist for one in others):
                    continue  # it may be there all the same: a person who dropped it says whether this one is wanted
                versions = OlderVersions(connection, name=each.name, origin=json.loads(each.origin))
                decision = _with_the_other_file(connection, decide(others, each.body_sha256, versions=versions))
                if decision.action not in ("plan", "hold") or decision.rule == each.code:
                    continue
                why = decision.why
                if decision.action == "plan":
                    why = Issue(APPROVAL if unpacked(each.values).get("approval") else "earlier_ended")
                state = "planned" if why.code == "earlier_ended" else "held"
                connection.execute(document.update().where(document.c.id == each.id).values(in_state(state, why)))
                mark_stale(connection, each.id)
                if older := decision.supersede:
                    _supersede(connection, older, by=each.name, at=now, state=states[older.id])
                    made_way.add(older.id)
                if rival := decision.rival:
                    _let_wait(
                        connection, rival, by=each.name, row_number=json.loads(each.rows)[0], state=states[rival.id]
                    )
                    made_way.add(rival.id)
        return absent in made_way

    def _place_documents(
        self, connection: Connection, file_id: int, arrival: Arrival, documents: Sequence[Document], *, kept: Kept
    ) -> pl.DataFrame:
        """Write the new documents; for each of the file the one that its rows point to (_PLACED)."""
        next_id = (connection.execute(select(func.max(document.c.id))).scalar() or 0) + 1
        came_before = _came_before(connection, arrival.source.sha256, but=file_id)
        decisions = self._evaluate(connection, arrival, documents, came_before=came_before)
        if arrival.mapped is not None:
            decisions = kept.decisions(decisions, arrival.mapped)
        others = pl.DataFrame(map(_as_line, decisions.others.items()), schema=_DECIDED, orient="row")
        usual = {name: pl.lit(value) for name, value in zip(_DECIDED, _as_line((0, decisions.usual)), strict=True)}
        placed: list[pl.DataFrame] = []
        done = 0
        for calls in call_blocks(documents):
            numbered = calls.with_row_index("place", done).with_columns(pl.col("place").cast(pl.Int64))
            decided = numbered.join(others, on="place", how="left", maintain_order="left").with_columns(
                pl.when(pl.col("state").is_null()).then(usual[name]).otherwise(name).alias(name)
                for name in _DECIDED
                if name != "place"
            )
            for line in decided.filter(pl.col("place").is_in(others["place"].implode())).iter_rows(named=True):
                decision = decisions.others[line["place"]]
                if decision.supersede:
                    _supersede(connection, decision.supersede, by=arrival.source.name, at=arrival.received_at)
                if decision.rival:
                    _let_wait(connection, decision.rival, by=arrival.source.name, row_number=line["rows"][0])
            new = pl.col("existing").is_null()
            decided = decided.with_columns(pl.coalesce("existing", new.cum_sum() + (next_id - 1)).alias("document_id"))
            if not (records := decided.filter(new)).is_empty():
                insert_frame(connection, document, self._records(records, file_id, arrival))
            next_id += decided["existing"].null_count()
            done += decided.height
            placed.append(decided.select(list(_PLACED)))
        return pl.concat([pl.DataFrame(schema=_PLACED), *placed])

    def _records(self, new: pl.DataFrame, file_id: int, arrival: Arrival) -> pl.DataFrame:
        """New documents as they stand in the ledger."""
        marked = zip(new["body"], new["marker"], strict=True)
        bodies = [with_marker(body, marker).encode() if marker else body.encode() for body, marker in marked]
        calls = arrival.calls or {}
        operation = pl.col("operation")
        kinds = {name: kind_of(name) for name in new["operation"].unique()}
        method, path = (operation.replace_strict({name: calls[name][i] for name in kinds}) for i in (0, 1))
        return new.select(
            pl.col("document_id").alias("id"),
            "key",
            "operation",
            "reference",
            "order_id",
            *("generation", "state", "code", "values", "waits_for"),
            *(_json_of(name) for name in ("rows", "line_rows")),
            "keep",
            account=pl.lit(self.account),
            kind=operation.replace_strict(kinds),
            method=method,
            path=pl.when(pl.col("path") == "").then(path).otherwise("path"),
            body=pl.Series(bodies, dtype=pl.Binary),
            body_sha256=pl.Series([sha256(body).hexdigest() for body in bodies], dtype=pl.String),
            awb_number="order_id",
            file_id=pl.lit(file_id),
            planned_at=pl.lit(arrival.received_at),
            folded_key=pl.Series(map(folded_key, new["key"]), dtype=pl.String),
        )


_PLACED: Final = {"document_id": pl.Int64, "unchanged": pl.Boolean}
_DECIDED: Final = {
    "place": pl.Int64,  # of the document in its file
    "existing": pl.Int64,  # the document whose outcome its rows show, null where it is a new one
    "unchanged": pl.Boolean,
    "generation": pl.Int64,
    "state": pl.String,
    "code": pl.String,
    "values": pl.String,
    "waits_for": pl.String,
    "marker": pl.String,
}


def _as_line(decided: tuple[int, Decision]) -> tuple[object, ...]:
    """A decision as a line of _DECIDED."""
    place, decision = decided
    return (
        place,
        decision.existing.id if decision.existing else None,
        decision.action == "unchanged",
        decision.generation,
        "planned" if decision.action == "plan" else "held",
        decision.why.code,
        decision.why.values,
        str(reason_of(decision.why.code).waits_for),
        decision.marker,
    )


def _json_of(numbers: str) -> pl.Expr:
    """A column of lists of numbers as JSON."""
    return pl.format("[{}]", pl.col(numbers).cast(pl.List(pl.String)).list.join(",")).alias(numbers)


def _explained(decision: Decision, item: Document) -> Decision:
    """A change that is held says why it could not go out as an update, where a job wanted that."""
    if not item.no_update.code or decision.rule != "changed_after_acceptance":
        return decision
    return replace(
        decision, why=Issue.of("changed_after_acceptance.no_update", why=[[item.no_update.code, item.no_update.given]])
    )


def _with_the_other_file(connection: Connection, decision: Decision) -> Decision:
    """A document of which another file says something else names that file and its row."""
    if decision.rival is None:
        return decision
    query = select(file.c.name, document.c.rows).join(file, document.c.file_id == file.c.id)
    found = connection.execute(query.where(document.c.id == decision.rival.id)).one()
    return replace(decision, why=Issue.of(TWO_FILES, file=found.name, row=json.loads(found.rows)[0]))


def _content(connection: Connection, item: Document, history: Sequence[Generation], marking: Marking) -> str:
    """The digest of what a document says: that of a version which differs in nothing but what its run lent it."""
    content = digest(item.body)
    if not item.lent or any(known.body_sha256 == content for known in history):
        return content
    said = _own_content(item.body, item.lent)
    for known in reversed(history):
        body = connection.execute(select(document.c.body).where(document.c.id == known.id)).scalar_one()
        if body and _own_content(marking.without(body.decode(), known), item.lent) == said:
            return known.body_sha256
    return content


def _own_content(body: str, lent: Sequence[str]) -> object:
    """A body without the fields that its run lent it, also in its lines."""
    return json.loads(body, object_hook=lambda fields: {name: fields[name] for name in fields if name not in lent})


def _came_before(connection: Connection, sha256: str, *, but: int = 0) -> int:
    """The last other arrival of these very bytes, 0 if there is none."""
    query = select(func.max(file.c.id)).where(file.c.sha256 == sha256, file.c.id != but)
    return int(connection.execute(query).scalar() or 0)


def _supersede(connection: Connection, known: Generation, *, by: str, at: str, state: str = "") -> None:
    """by: the file of the version that takes its place. state: the one it is in, if it is not known by that."""
    why = Issue.of("superseded", file=by, at=at[:16].replace("T", " "))
    connection.execute(
        document.update()
        .where(document.c.id == known.id, document.c.state == (state or known.state))
        .values(in_state("superseded", why) | {"settled_at": at})
    )
    mark_stale(connection, known.id)


def _let_wait(connection: Connection, rival: Generation, *, by: str, row_number: int, state: str = "") -> None:
    """What another file planned waits, too, unless a person decided that it goes out; also if it waits for approval.

    by: the file that says something else. state: as in `_supersede`.
    """
    why = Issue.of(TWO_FILES, file=by, row=row_number)
    connection.execute(
        document.update()
        .where(document.c.id == rival.id)
        .where(
            ((document.c.state == "planned") & (document.c.send_approved == 0))
            | ((document.c.state == "held") & (document.c.waits_for == WaitsFor.APPROVAL))
            | ((document.c.state == state) & (document.c.state == "in_doubt"))
        )
        .values(in_state("held", why))
    )
    mark_stale(connection, rival.id)


def _said_of_file(arrival: Arrival) -> dict[str, object]:
    """What the ledger holds of a file besides what it is: what mapping made of it, and where it came from."""
    mapped, held = arrival.mapped, arrival.held
    return {
        "mapping": arrival.mapping,
        "mapping_digest": arrival.mapping_digest,
        "operation": arrival.operation,
        "origin": dump(arrival.origin or {}),
        "rows_read": mapped.rows.height if mapped else 0,
        **{name: getattr(mapped, name) for name in _SHEETS if mapped},
        "state": "planned",
        "code": held.code if held else "",
        "values": packed(held.values) if held else "",
        "notes": dump(stored_notes(mapped.notes) if mapped else []),
    }


def _insert_rows(
    connection: Connection, file_id: int, arrival: Arrival, mapped: MappedFile, placed: pl.DataFrame, *, kept: Kept
) -> None:
    lines = mapped.rows.with_columns(
        pl.lit(file_id, dtype=pl.Int64).alias("file_id"),
        pl.col("row").cast(pl.Int64),
        pl.col("key", "code", "values").fill_null(""),
    )
    ready = pl.col("state") == RowState.READY.value
    if (held := arrival.held) is not None:
        told = {"fate": "held", "code": held.code, "values": packed(held.values)}
        lines = lines.with_columns(pl.col("state").alias("fate"), pl.lit(None, dtype=pl.Int64).alias("document_id"))
        lines = lines.with_columns(
            pl.when(ready).then(pl.lit(text)).otherwise(name).alias(name) for name, text in told.items()
        )
    else:
        documents = placed.with_row_index("document").with_columns(ready=pl.lit(value=True))
        wanted = lines.with_columns(ready=pl.when(ready).then(pl.lit(value=True)))
        lines = wanted.join(documents, on=("document", "ready"), how="left", maintain_order="left")
        fate = pl.when("unchanged").then(pl.lit("unchanged")).otherwise(pl.lit(""))
        lines = lines.with_columns(pl.when(ready).then(fate).otherwise("state").alias("fate"))
    if kept.documents:  # the answer of these is what became of what was sent
        lines = lines.join(kept.frame, on=("sheet", "row"), how="left", maintain_order="left")
        stays = pl.col("sent").is_not_null()
        lines = lines.with_columns(
            pl.coalesce("sent", "document_id").alias("document_id"),
            *(pl.when(stays).then(pl.lit("")).otherwise(name).alias(name) for name in ("fate", "code", "values")),
        )
    columns = ("file_id", "sheet", "row", "document_id", "fate", "key", "code", "values")
    insert_frame(connection, row, lines.select(columns))
    issues = [
        asdict(found.place) | {"file_id": file_id, "code": found.code, "values": found.values}
        for found in mapped.issues
        if (found.sheet, found.row) not in kept.documents
    ]
    insert_all(connection, issue, issues)
