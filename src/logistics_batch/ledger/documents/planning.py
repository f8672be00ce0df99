"""What a file that came in means for the ledger: which documents are new, known, changed, or wait for a person."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Final

import polars as pl
from sqlalchemy import Connection, func, or_, select

from logistics_batch.crash_points import crash_point
from logistics_batch.ledger.bulk import Change, among, insert_all, insert_frame, update_found
from logistics_batch.ledger.connection import Repository, dump
from logistics_batch.ledger.documents.decide import (
    APPROVAL,
    EARLIER,
    TWO_FILES,
    Case,
    Decision,
    Decisions,
    Generation,
    decide,
    held_for_mapping,
)
from logistics_batch.ledger.documents.known import (
    CHANGES,
    Arrival,
    KnownKeys,
    evaluate,
    folded_keys,
    keyed,
    kind_of,
    known_generations,
    naming_the_rival,
    why_asked,
)
from logistics_batch.ledger.documents.recording import in_state, mark_stale
from logistics_batch.ledger.files import place_of
from logistics_batch.ledger.lanes import lane_of
from logistics_batch.ledger.records import StoredDocument
from logistics_batch.ledger.schema import document, file, issue, row
from logistics_batch.messages import packed, unpacked
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import REPLACEABLE, WaitsFor
from logistics_batch.model.asn_marker import with_marker
from logistics_batch.model.document import UNANSWERED, Document, MappedFile, RowState, call_blocks
from logistics_batch.model.issue import Issue, stored_notes

_SHEETS = ("sheet", "header_row", "lines_sheet", "lines_header_row")
_WAITS = document.c.state.in_(("planned", "held"))
_MAYBE_SENT = document.c.state.in_((*UNANSWERED, "accepted")) | (
    _WAITS & or_(document.c.may_exist == 1, (document.c.state == "held") & document.c.waits_for.not_in(REPLACEABLE))
)


SentRows = Mapping[tuple[str, int], int]
"""Rows of a file, by sheet and number, that stay with what was sent of them: the document of each."""


class Planning(Repository):
    """Files, rows and documents go into the ledger in one transaction a file."""

    def evaluate(self, arrival: Arrival, documents: Sequence[Document]) -> Decisions:
        """What would become of each of a file's documents if it came in now; writes nothing."""
        with self._read() as connection:
            return evaluate(connection, self.account, arrival, documents)

    def plan_file(self, run: str, arrival: Arrival) -> int:
        """Write a file with all its rows, issues and documents; returns the file's id."""
        source = arrival.source
        about = {name: getattr(source, name) for name in ("sha256", "name", "size", "format")}
        about |= {"run_id": run, "received_at": arrival.received_at} | _said_of_file(arrival)
        same = select(file.c.name, file.c.run_id).where(file.c.sha256 == source.sha256, file.c.run_id != run)
        with self._write(unhurried=True) as connection:
            earlier = connection.execute(same.order_by(file.c.id.desc()).limit(1)).first()
            about |= {"earlier_file": f"{earlier.name} (run {earlier.run_id})"} if earlier else {}
            file_id = int(connection.execute(file.insert().values(about).returning(file.c.id)).scalar_one())
            self._place(connection, file_id, arrival, sent={})
            crash_point("file.before_commit")
        crash_point("file.after_commit")
        return file_id

    def replan_file(self, file_id: int, arrival: Arrival) -> int:
        """Plan a file of an interrupted run anew by a mapping that was corrected since, in one transaction.

        What was never sent is superseded; rows of what was sent, or may have been, stay with it. Returns how many
        documents stay.
        """
        mine = document.c.file_id == file_id
        why = Issue("superseded.by_mapping")
        withdrawn = in_state("superseded", why) | {"send_approved": 0, "settled_at": arrival.received_at}
        with self._write(unhurried=True) as connection:
            sent = _sent_rows(connection, file_id)
            unsent = list(connection.execute(select(document.c.id).where(mine, _WAITS, ~_MAYBE_SENT)).scalars())
            mark_stale(connection, *unsent)
            connection.execute(document.update().where(among(connection, document.c.id, unsent)).values(withdrawn))
            for table in (issue, row):
                connection.execute(table.delete().where(table.c.file_id == file_id))
            connection.execute(file.update().where(file.c.id == file_id).values(**_said_of_file(arrival)))
            self._place(connection, file_id, arrival, sent=sent)
            crash_point("file.before_commit")
        crash_point("file.after_commit")
        return len(set(sent.values()))

    def sent_of(self, file_id: int) -> int:
        """How many rows of a file ask for what was sent, or may have been."""
        with self._read() as connection:
            return len(_sent_rows(connection, file_id))

    def spelt_otherwise(self, found: StoredDocument) -> str:
        """Which other document has this one's key in another spelling and lives or waits, in words; "" if none does."""
        kind = kind_of(found.operation)
        with self._read() as connection:
            other = self._known(connection, kind, found.key).spelt_otherwise(kind, found.key)
            return "" if other is None else why_asked(connection, other, found.key).reason

    def _known(self, connection: Connection, kind: str, key: str, *, place: str = "") -> KnownKeys:
        keys = keyed(pl.DataFrame({"kind": [kind], "key": [key]}))
        return KnownKeys.of(known_generations(connection, self.account, keys, place=place))

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
                place = place_of(each.name, json.loads(each.origin))
                known = self._known(connection, each.kind, each.key, place=place).history[each.kind, each.key]
                others = [
                    replace(one, state="planned", may_exist=False) if one.id == absent else one
                    for one in known
                    if one.id != each.id
                ]
                if any(one.state == "abandoned" and one.may_exist for one in others):
                    continue  # it may be there all the same: a person who dropped it says whether this one is wanted
                decision = naming_the_rival(connection, decide(Case(others, each.body_sha256)))
                if decision.action not in ("plan", "hold") or decision.rule == each.code:
                    continue
                why = decision.why
                if decision.action == "plan":
                    why = Issue(APPROVAL if unpacked(each.values).get("approval") else "earlier_ended")
                state = "planned" if why.code == "earlier_ended" else "held"
                connection.execute(document.update().where(document.c.id == each.id).values(in_state(state, why)))
                mark_stale(connection, each.id)
                beside = replace(
                    decision,
                    supersede=tuple(one for one in known if one.id in {older.id for older in decision.supersede}),
                    rival=next((one for one in known if decision.rival and one.id == decision.rival.id), None),
                )
                _make_way(connection, [(beside, json.loads(each.rows)[0])], by=each.name, at=now)
                made_way |= {one.id for one in (*beside.supersede, beside.rival) if one is not None}
        return absent in made_way

    def is_waited_for(self, earlier: StoredDocument) -> bool:
        """Whether a newer version of a document waits for its end."""
        kind = kind_of(earlier.operation)
        newer = document.c.account == self.account, document.c.kind == kind, document.c.key == earlier.key
        waits = document.c.generation > earlier.generation, document.c.state == "held", document.c.code.in_(EARLIER)
        return self._exists(select(document.c.id).where(*newer, *waits))

    def _place(self, connection: Connection, file_id: int, arrival: Arrival, *, sent: SentRows) -> None:
        """Write a file's documents, rows and issues; nothing of one that could not be mapped."""
        if (mapped := arrival.mapped) is None:
            return
        documents = mapped.documents if arrival.held is None else ()
        decisions = evaluate(connection, self.account, arrival, documents, but=file_id)
        if sent:
            decisions = _beside_sent_rows(decisions, mapped, sent)
        placed = self._place_documents(connection, file_id, arrival, documents, decisions)
        _insert_rows(connection, file_id, arrival, mapped, placed, sent=sent)

    def _place_documents(
        self,
        connection: Connection,
        file_id: int,
        arrival: Arrival,
        documents: Sequence[Document],
        decisions: Decisions,
    ) -> pl.DataFrame:
        """Write the new documents; for each of the file the one that its rows point to (_PLACED)."""
        next_id = (connection.execute(select(func.max(document.c.id))).scalar() or 0) + 1
        others = pl.DataFrame(map(_as_line, decisions.others.items()), schema=_DECIDED, orient="row")
        usual = {name: pl.lit(value) for name, value in zip(_DECIDED, _as_line((0, decisions.usual)), strict=True)}
        placed = [pl.DataFrame(schema=_PLACED)]
        done = 0
        for calls in call_blocks(documents):
            numbered = calls.with_row_index("place", done).with_columns(pl.col("place").cast(pl.Int64))
            decided = numbered.join(others, on="place", how="left", maintain_order="left").with_columns(
                pl.when(pl.col("state").is_null()).then(usual[name]).otherwise(name).alias(name)
                for name in _DECIDED
                if name != "place"
            )
            first_rows = decided.filter(pl.col("place").is_in(others["place"].implode()))
            firsts = first_rows.select("place", pl.col("rows").list.first()).iter_rows()
            beside = [(decisions.others[at], row_number) for at, row_number in firsts]
            _make_way(connection, beside, by=arrival.source.name, at=arrival.received_at)
            new = pl.col("existing").is_null()
            decided = decided.with_columns(pl.coalesce("existing", new.cum_sum() + (next_id - 1)).alias("document_id"))
            if not (records := decided.filter(new)).is_empty():
                insert_frame(connection, document, self._records(records, file_id, arrival))
            next_id += decided["existing"].null_count()
            done += decided.height
            placed.append(decided.select(list(_PLACED)))
        return pl.concat(placed)

    def _records(self, new: pl.DataFrame, file_id: int, arrival: Arrival) -> pl.DataFrame:
        """New documents as they stand in the ledger."""
        marked = zip(new["body"], new["marker"], strict=True)
        bodies = [with_marker(body, marker).encode() if marker else body.encode() for body, marker in marked]
        operation = pl.col("operation")
        kinds = {name: kind_of(name) for name in new["operation"].unique()}
        method, path = (operation.replace_strict({name: arrival.calls[name][i] for name in kinds}) for i in (0, 1))
        return new.select(
            pl.col("document_id").alias("id"),
            *("key", "operation", "reference", "order_id", "keep"),
            *("generation", "state", "code", "values", "waits_for"),
            *(
                pl.format("[{}]", pl.col(name).cast(pl.List(pl.String)).list.join(",")).alias(name)
                for name in ("rows", "line_rows")
            ),
            account=pl.lit(self.account),
            kind=operation.replace_strict(kinds),
            method=method,
            path=pl.when(pl.col("path") == "").then(path).otherwise("path"),
            body=pl.Series(bodies, dtype=pl.Binary),
            body_sha256=pl.Series([sha256(body).hexdigest() for body in bodies], dtype=pl.String),
            awb_number="order_id",
            file_id=pl.lit(file_id),
            planned_at=pl.lit(arrival.received_at),
            folded_key=folded_keys(new["key"]),
            lane=pl.Series([lane_of(self.account, key) for key in new["key"]], dtype=pl.Int64),
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


def _make_way(connection: Connection, decided: Sequence[tuple[Decision, int]], *, by: str, at: str) -> None:
    """What these decisions replace is superseded; rivals wait, too, but for what a person decided to send.

    decided: each with the first row of its document. by: the file of the versions that take the place.
    """
    why = Issue.of("superseded", file=by, at=at)
    superseded = in_state("superseded", why) | {"settled_at": at}
    changes = [
        Change({"id": known.id, "state": known.state}, superseded)
        for decision, _ in decided
        for known in decision.supersede
    ]
    waits = [
        Change(
            {"id": known.id, "state": known.state},
            in_state("held", Issue.of(TWO_FILES, file=by, row=row_number)),
        )
        for decision, row_number in decided
        if (known := decision.rival)
        and (
            (known.state == "planned" and not known.send_approved)
            or known.state == "in_doubt"
            or known.waits_for == WaitsFor.APPROVAL
        )
    ]
    for some in (changes, waits):
        if some:
            found = update_found(connection, document, some, told=("id",))
            mark_stale(connection, *(number for (number,) in found))


def _said_of_file(arrival: Arrival) -> dict[str, object]:
    """What the ledger holds of a file besides what it is: what mapping made of it, and where it came from."""
    mapped, held = arrival.mapped, arrival.held
    return {
        "mapping": arrival.mapping,
        "mapping_digest": arrival.mapping_digest,
        "operation": arrival.operation,
        "origin": dump(arrival.origin),
        "rows_read": mapped.rows.height if mapped else 0,
        **{name: getattr(mapped, name) for name in _SHEETS if mapped},
        "state": "planned",
        "code": held.code if held else "",
        "values": packed(held.values) if held else "",
        "notes": dump(stored_notes(mapped.notes) if mapped else []),
    }


def _insert_rows(
    connection: Connection, file_id: int, arrival: Arrival, mapped: MappedFile, placed: pl.DataFrame, *, sent: SentRows
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
    if sent:  # the answer of these is what became of what was sent
        named = [(sheet, number, existing) for (sheet, number), existing in sent.items()]
        stay = pl.DataFrame(named, schema={"sheet": pl.String, "row": pl.Int64, "sent": pl.Int64}, orient="row")
        lines = lines.join(stay, on=("sheet", "row"), how="left", maintain_order="left")
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
        if (found.sheet, found.row) not in sent
    ]
    insert_all(connection, issue, issues)


def _sent_rows(connection: Connection, file_id: int) -> SentRows:
    """The rows of a file that ask for what was sent, or may have been."""
    query = (
        select(row.c.sheet, row.c.row, row.c.document_id)
        .join(document, row.c.document_id == document.c.id)
        .where(row.c.file_id == file_id, row.c.fate == "", document.c.file_id == file_id, _MAYBE_SENT)
    )
    return {(line.sheet, line.row): line.document_id for line in connection.execute(query)}


def _beside_sent_rows(decisions: Decisions, mapped: MappedFile, sent: SentRows) -> Decisions:
    """What becomes of a file's documents where some of its rows were sent before, by another mapping.

    A document whose rows all lie in one that was sent shows what became of that; one that holds more waits.
    """
    asked: dict[int, list[int | None]] = {}
    for sheet, number, index in mapped.rows.select("sheet", "row", "document").iter_rows():
        if index is not None:
            asked.setdefault(index, []).append(sent.get((sheet, number)))

    def beside(decision: Decision, sent_before: Sequence[int | None]) -> Decision:
        found = {*sent_before} - {None}
        if found and len({*sent_before}) == 1:
            return Decision("follow", existing=Generation(found.pop() or 0, 0, "", "", ""))
        return held_for_mapping(decision) if found and decision.action in ("plan", "hold") else decision

    others = {at: beside(each, asked.get(at, ())) for at, each in enumerate(decisions)}
    return Decisions(decisions.count, decisions.usual, others)
