"""What a file means beside what the ledger knows under the keys of its documents, however these are spelt."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

import polars as pl
from sqlalchemy import Connection, func, select

from logistics_batch.errors import FileHeld
from logistics_batch.ledger.bulk import among, read_frame
from logistics_batch.ledger.connection import digest, dump
from logistics_batch.ledger.documents.decide import (
    NEW,
    OLDER_FILE,
    OTHER_SPELLING,
    PART,
    SAME_BYTES,
    THING,
    TWO_FILES,
    WHOLE,
    Case,
    Decision,
    Decisions,
    Generation,
    decide,
    for_approval,
)
from logistics_batch.ledger.files import place_of
from logistics_batch.ledger.records import CANCELLED
from logistics_batch.ledger.schema import document, file
from logistics_batch.model.asn_marker import marker_of, with_marker, without_marker
from logistics_batch.model.document import (
    CALLS_SCHEMA,
    NOT_TAKEN,
    UNANSWERED,
    Document,
    Documents,
    MappedFile,
    Operation,
    call_blocks,
)
from logistics_batch.model.issue import Issue
from logistics_batch.model.sheet import SourceFile
from logistics_batch.model.spelling import differences, folded_key

_KINDS: Final = {
    "order.create": "order",
    "asn.create": "asn",
    "order.update": "order.update",
    "order.add_items": "order.add",
    "order.delete_items": "order.delete",
    "order.cancel": "order.cancel",
    "asn.update": "asn.update",
}
KINDS: Final = tuple(_KINDS.values())
CHANGES: Final = tuple(kind for kind in KINDS if "." in kind)
_OF_ORDERS: Final = tuple(kind for kind in CHANGES if kind.startswith("order."))
_UNDONE_BY: Final = {"order.add": "order.delete", "order.delete": "order.add"}
_LASTING: Final = (Operation.ORDER_ADD_ITEMS, Operation.ORDER_DELETE_ITEMS)
_MARKED: Final = (Operation.ASN_CREATE, Operation.ASN_UPDATE)
_PLAIN_KEY: Final = r"^[!-/1-_a-{}~][!-_a-{}~]*(?: [!-_a-{}~]+)*$"
"""Words of ASCII, without an accent grave, parts, and a zero at the beginning."""
_ALIVE: Final = {  # the most telling first
    "accepted": "was accepted",
    "in_doubt": "was sent without an answer",
    "sending": "is being sent",
    "planned": "is about to go out",
    "held": "waits for a decision",
}


def kind_of(operation: str) -> str:
    """The kind of a document's key: "asn" and "order" for what is created, else the kind of change."""
    return _KINDS[operation]


def carries_marker(operation: str, *, marks: bool) -> bool:
    """Whether a new document of this kind may carry a marker."""
    return operation == Operation.ASN_UPDATE or (marks and operation in _MARKED)


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
    origin: Mapping[str, object] = field(default_factory=dict)
    calls: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    approval: bool = False
    marks: bool = False


KEYS: Final = pl.Schema({"place": pl.Int64, "kind": pl.String, "key": pl.String, "folded_key": pl.String})
"""Of the documents of a file, by their places; kind: what `kind_of` gives."""

GENERATIONS: Final = pl.Schema(
    dict.fromkeys(("kind", "key", "folded_key"), pl.String)
    | {"id": pl.Int64, "generation": pl.Int64, "state": pl.String, "body_sha256": pl.String, "rule": pl.String}
    | {"file_id": pl.Int64, "may_exist": pl.Boolean, "send_approved": pl.Boolean}
    | {"reference": pl.String, "of_older_version": pl.Boolean}
)
"""What the ledger knows under keys; from `id` on the fields of `Generation`."""
_OF_GENERATION: Final = tuple(GENERATIONS)[3:]


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """What is known: by kind and key the generations, oldest first; by key, the kinds of what was sent without an
    answer. alike: the generations under all spellings of a key that is created, by kind and folded key.
    """

    history: dict[tuple[str, str], list[Generation]] = field(default_factory=dict)
    in_doubt: dict[str, set[str]] = field(default_factory=dict)
    alike: dict[tuple[str, str], list[tuple[str, Generation]]] = field(default_factory=dict)

    @classmethod
    def of(cls, generations: pl.DataFrame) -> "KnownKeys":
        """The same as objects. generations: GENERATIONS."""
        made = cls()
        for kind, key, folded, *known in generations.iter_rows():
            one = Generation(*known)
            made.history.setdefault((kind, key), []).append(one)
            if one.state in UNANSWERED:
                made.in_doubt.setdefault(key, set()).add(kind)
            if kind not in CHANGES:
                made.alike.setdefault((kind, folded), []).append((key, one))
        return made

    def knows(self, kind: str, key: str) -> bool:
        """Whether anything is known under a key, in any spelling, or about the order that it names."""
        if not self.history:
            return False
        if kind in CHANGES:
            return any((each, key) in self.history for each in CHANGES)
        return (kind, key) in self.history or (kind, folded_key(key)) in self.alike

    def spelt_otherwise(self, kind: str, key: str) -> Generation | None:
        """What lives or waits under another spelling of a key; None if nothing does."""
        others = [known for spelling, known in self.alike.get((kind, folded_key(key)), ()) if spelling != key]
        gone = ("accepted", "cancelled")
        alive = [known for known in others if known.state in _ALIVE and (known.state, known.rule) != gone]
        return min(alive, key=lambda known: (list(_ALIVE).index(known.state), -known.id), default=None)

    def undone_since(self, kind: str, key: str) -> int:
        """The last accepted change of the opposite kind (items added, deleted), as its id; 0 if there is none."""
        opposite = self.history.get((_UNDONE_BY.get(kind, ""), key), ())
        return max((known.id for known in opposite if known.state == "accepted"), default=0)


def keyed(named: pl.DataFrame) -> pl.DataFrame:
    """Keys and their kinds as KEYS; place: of the line."""
    return named.with_row_index("place").with_columns(folded_keys(named["key"])).select(list(KEYS)).cast(KEYS)


def folded_keys(keys: pl.Series) -> pl.Series:
    """Each key as it is read (see `folded_key`); most are plain, and are read all at once."""
    is_plain = keys.str.contains(_PLAIN_KEY)
    plain = keys.str.to_lowercase().alias("folded_key")
    others = (~is_plain).arg_true()
    return plain.scatter(others, [folded_key(key) for key in keys.gather(others)]) if others.len() else plain


def known_generations(connection: Connection, account: str, keys: pl.DataFrame, *, place: str = "") -> pl.DataFrame:
    """What is known under these keys, oldest first: GENERATIONS; of what is created under all spellings of a key.

    place: of the file that they come in (see `place_of`), "" where no other is an earlier version of it.
    """
    stored = {**GENERATIONS, "may_exist": pl.Int64(), "send_approved": pl.Int64()}
    del stored["of_older_version"]
    columns = (document.c.code.label(name) if name == "rule" else document.c[name] for name in stored)
    query = select(*columns).where(document.c.account == account)
    found = [pl.DataFrame(schema=stored)]
    for (kind,), some in keys.partition_by("kind", as_dict=True).items():
        name = "key" if kind in CHANGES else "folded_key"
        kinds = document.c.kind.in_(CHANGES if kind in CHANGES else (kind,))
        wanted = among(connection, document.c[name], some[name].unique(maintain_order=True).to_list())
        found.append(read_frame(connection, query.where(kinds, wanted).order_by(document.c.generation), stored))
    known = pl.concat(found).unique("id", maintain_order=True)
    means_another = pl.col("kind").is_in(_OF_ORDERS) & (pl.col("reference") != pl.col("key"))
    reference = pl.when(means_another).then("reference").otherwise(pl.lit("")).alias("reference")
    rule = pl.col("rule").str.extract(r"^([^.]*)")  # see `messages.rule_of`
    older: list[int] = []
    if place:  # earlier versions of the file that lies there now
        came = select(*file.c["id", "name", "origin"])
        found_there = connection.execute(came.where(among(connection, file.c.id, known["file_id"].unique().to_list())))
        older = [each.id for each in found_there if place_of(each.name, json.loads(each.origin)) == place]
    return (
        known.with_columns(reference, rule, of_older_version=pl.col("file_id").is_in(older))
        .select(list(GENERATIONS))
        .cast(GENERATIONS)
    )


def _sent_before(documents: Sequence[Document], keys: pl.DataFrame, known: pl.DataFrame) -> dict[int, Generation]:
    """The documents, by their place, that were accepted with this very body, and of whose key nothing else is known.

    keys: KEYS of these documents; known: GENERATIONS of these keys.
    """
    once = pl.len().over("kind", "folded_key") == 1
    accepted = (pl.col("state") == "accepted") & (pl.col("rule") != "cancelled") & ~pl.col("kind").is_in(CHANGES)
    alone = keys.filter(once).join(known.filter(once).filter(accepted), on=("kind", "key"))
    asked = {place: Generation(*rest) for place, *rest in alone.select("place", *_OF_GENERATION).iter_rows()}
    same: dict[int, Generation] = {}
    places = count()
    for calls in call_blocks(documents) if asked else ():
        for body, place in zip(calls["body"], places, strict=False):
            if place in asked and digest(body) == asked[place].body_sha256:
                same[place] = asked[place]
    return same


def evaluate(
    connection: Connection, account: str, arrival: Arrival, documents: Sequence[Document], *, but: int = 0
) -> Decisions:
    """What becomes of each of a file's documents. but: the arrival itself, where it is in the ledger already."""
    same_bytes = select(func.max(file.c.id)).where(file.c.sha256 == arrival.source.sha256, file.c.id != but)
    came_before = int(connection.execute(same_bytes).scalar() or 0)
    columns = ("operation", "key")
    blocks = (calls.select(columns) for calls in call_blocks(documents))
    calls = pl.concat([pl.DataFrame(schema=CALLS_SCHEMA).select(columns), *blocks])
    kinds = pl.col("operation").replace_strict(_KINDS, return_dtype=pl.String)
    keys = keyed(calls.with_columns(kind=kinds))
    creates = Operation(arrival.operation).creates
    place = place_of(arrival.source.name, arrival.origin) if creates else ""
    generations = known_generations(connection, account, keys, place=place)
    same = _sent_before(documents, keys, generations)
    if not isinstance(documents, Documents):  # some deviate from what mapping made
        same = {at: existing for at, existing in same.items() if not documents[at].no_update.code}
    known = KnownKeys.of(generations.filter(~pl.col("id").is_in([each.id for each in same.values()])))
    usual = for_approval(NEW) if arrival.approval else NEW
    others = {at: Decision("unchanged", existing=existing) for at, existing in same.items()}
    asks = came_before or known.history or carries_marker(arrival.operation, marks=arrival.marks)
    for at, item in enumerate(documents) if asks and len(same) < len(documents) else ():
        is_asked = came_before or known.knows(kind_of(item.operation), item.key)
        if at not in others and (is_asked or carries_marker(item.operation, marks=arrival.marks)):
            decision = _decision(connection, account, arrival, item, known, came_before=came_before)
            others[at] = for_approval(decision) if arrival.approval else decision
    return Decisions(len(documents), usual, others)


def _decision(
    connection: Connection, account: str, arrival: Arrival, item: Document, known: KnownKeys, *, came_before: int
) -> Decision:
    kind = kind_of(item.operation)
    markers = _Markers(connection, account, item)
    case = Case(
        _as_said(connection, item, known.history.get((kind, item.key), ()), markers),
        digest(item.body),
        no_update=bool(item.no_update.code),
    )
    if kind in CHANGES:
        case = replace(
            case,
            kind=WHOLE if Operation(arrival.operation).creates else PART,
            lasting=item.operation in _LASTING,
            approval=arrival.approval,
            came_before=came_before,
            order_in_doubt=bool(known.in_doubt.get(item.key, set()) - {kind}),
            undone_since=known.undone_since(kind, item.key),
            reference="" if item.reference == item.key else item.reference,
        )
    decision = naming_the_rival(connection, decide(case))
    if case.kind == THING:
        if item.no_update.code and decision.rule == "changed_after_acceptance":  # where a job wanted an update
            why = [[item.no_update.code, item.no_update.given]]
            decision = replace(decision, why=Issue.of("changed_after_acceptance.no_update", why=why))
        decision = _ask_whether_one(connection, known, item, decision)
    if came_before:
        decision = _ask_whether_twice(connection, item, decision, sha256=arrival.source.sha256)
    return markers.marked(decision, marks=arrival.marks)


class _Markers:
    """The markers of one ASN that comes in and of its earlier generations; of any other document "".

    A marker follows from a document's identity, so that nothing has to be kept of it beside the bytes that were sent.
    An update keeps that of the ASN, always.
    """

    def __init__(self, connection: Connection, account: str, item: Document) -> None:
        self._account = account
        self._item = item
        self._of_created = _created_marker(connection, account, item.key) if item.operation == "asn.update" else ""

    def __getitem__(self, generation: int) -> str:
        if self._item.operation == Operation.ASN_CREATE:
            return marker_of(self._account, self._item.key, generation)
        return self._of_created

    def marked(self, decision: Decision, *, marks: bool) -> Decision:
        """The decision with the marker that a new generation carries."""
        marker = self[decision.generation] if carries_marker(self._item.operation, marks=marks) else ""
        if decision.action not in ("plan", "hold") or with_marker(self._item.body, marker) == self._item.body:
            return decision  # there is none, or no room for it
        return replace(decision, marker=marker)


def _created_marker(connection: Connection, account: str, key: str) -> str:
    """The marker of the ASN that is updated, "" if it has none or that is no longer known."""
    created = (document.c.account == account, document.c.kind == "asn", document.c.key == key)
    query = select(document.c.generation, document.c.body).where(*created, document.c.state == "accepted")
    found = connection.execute(query.order_by(document.c.generation.desc()).limit(1)).first()
    own = marker_of(account, key, found.generation) if found is not None else ""
    return own if found is not None and own in found.body.decode() else ""


def _as_said(
    connection: Connection, item: Document, history: Sequence[Generation], markers: _Markers
) -> list[Generation]:
    """The earlier generations, those that say the same under the document's own digest.

    The same but for their markers; or for what the run lent them, as its business date.
    """
    content = digest(item.body)
    same = {
        known.id
        for known in history
        if markers[known.generation] and known.body_sha256 == digest(with_marker(item.body, markers[known.generation]))
    }
    if item.lent and not any(known.body_sha256 == content or known.id in same for known in history):
        own = _own_content(item.body, item.lent)
        bodies = select(document.c.id, document.c.body).where(
            among(connection, document.c.id, [known.id for known in history])
        )
        said = {number: bytes(body).decode() for number, body in connection.execute(bodies) if body}
        for known in reversed(history):
            body = without_marker(said.get(known.id, ""), markers[known.generation])
            if body and _own_content(body, item.lent) == own:
                same |= {each.id for each in history if each.body_sha256 == known.body_sha256}
                break
    return [replace(known, body_sha256=content) if known.id in same else known for known in history]


def _own_content(body: str, lent: Sequence[str]) -> object:
    """A body without the fields that its run lent it, also in its lines."""
    return json.loads(body, object_hook=lambda fields: {name: fields[name] for name in fields if name not in lent})


def _ask_whether_one(connection: Connection, known: KnownKeys, item: Document, decision: Decision) -> Decision:
    """A new document waits for a person if another one has its key in another spelling; any other goes on."""
    kind = kind_of(item.operation)
    other = known.spelt_otherwise(kind, item.key) if decision.action == "plan" else None
    return decision if other is None else replace(decision, action="hold", why=why_asked(connection, other, item.key))


def why_asked(connection: Connection, other: Generation, key: str) -> Issue:
    """In what a key differs from another spelling of it, where that stands and what became of it."""
    spelling, place = _place_in_file(connection, other.id)
    ways = " and ".join(differences(key, spelling))
    return Issue.of(OTHER_SPELLING, key=key, ways=ways, other=spelling, alive=_ALIVE[other.state], **place)


def _place_in_file(connection: Connection, document_id: int) -> tuple[str, dict[str, object]]:
    """The key of a document, and the file and row that asked for it first."""
    query = select(document.c.key, document.c.rows, file.c.name).join(file, document.c.file_id == file.c.id)
    found = connection.execute(query.where(document.c.id == document_id)).one()
    return found.key, {"file": found.name, "row": json.loads(found.rows)[0]}


def _ask_whether_twice(connection: Connection, item: Document, decision: Decision, *, sha256: str) -> Decision:
    """A new document waits for a person if its very rows were sent before, or wait, under another key.

    An invoice number that is the file's name, or holds the day, makes the document's key: dropped again as a copy, the
    same rows would be created a second time. A change finds the number of its order anew: dropped again, it would
    change what has the reference now. sha256: of the file that it comes from. Any other decision stays.
    """
    finds_its_order = kind_of(item.operation) in CHANGES and item.reference not in ("", item.key)
    if decision.action != "plan" or not (finds_its_order or _is_named_by_run(item)):
        return decision
    same_rows = (
        document.c.operation == str(item.operation),
        document.c.rows == dump(item.rows),
        document.c.key != item.key,
    )
    query = select(document.c.id).join(file, document.c.file_id == file.c.id).where(file.c.sha256 == sha256, *same_rows)
    dropped_in_doubt = (document.c.state == "abandoned") & (document.c.may_exist == 1)
    may_be_there = document.c.state.not_in(NOT_TAKEN) | dropped_in_doubt
    if finds_its_order:  # a change that waits has changed nothing yet: it may have found another's number
        may_be_there = document.c.state.in_(("accepted", *UNANSWERED)) | dropped_in_doubt
    query = query.where(may_be_there, document.c.code.not_in(CANCELLED))
    earlier = connection.execute(query.order_by(document.c.id.desc()).limit(1)).scalar()
    if earlier is None:
        return decision
    key, place = _place_in_file(connection, earlier)
    if finds_its_order:
        return replace(decision, action="hold", why=Issue.of(f"{OLDER_FILE}.other_order", other=key))
    return replace(decision, action="hold", why=Issue.of(SAME_BYTES, **place, other=key))


def _is_named_by_run(item: Document) -> bool:
    """Whether the key holds what the run gave to the document, and not the sheet."""
    body: Mapping[str, object] = json.loads(item.body) if item.lent else {}
    return any(str(body[name]) in item.key for name in item.lent if body.get(name))


def naming_the_rival(connection: Connection, decision: Decision) -> Decision:
    """A document of which another file says something else names that file and its row."""
    if decision.rival is None:
        return decision
    _, place = _place_in_file(connection, decision.rival.id)
    return replace(decision, why=Issue.of(TWO_FILES, **place))
