"""What the ledger knows under the keys of documents that come in, also where these are spelt otherwise."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from logistics_batch.ledger.decide import OTHER_SPELLING, Decision, Known, said_of
from logistics_batch.ledger.schema import document, file
from logistics_batch.ledger.version import reaches
from logistics_batch.model.document import Document
from logistics_batch.model.spelling import differences, folded_key

_CHUNK: Final = 400  # keys in one IN (…), well under every driver's limit
_KINDS: Final = {
    "order.create": "order",
    "asn.create": "asn",
    "order.update": "order.update",
    "order.add_items": "order.add",
    "order.delete_items": "order.delete",
    "order.cancel": "order.cancel",
    "asn.update": "asn.update",
}
CHANGES: Final = tuple(kind for kind in _KINDS.values() if "." in kind)
_OF_ORDERS: Final = tuple(kind for kind in CHANGES if kind.startswith("order."))
_UNDONE_BY: Final = {"order.add": "order.delete", "order.delete": "order.add"}
_OPEN: Final = ("sending", "in_doubt")
_FOLDED_SINCE: Final = 10  # the version of the schema
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


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """The generations under the keys of some documents, oldest first.

    history: by kind and key. in_doubt: by key, the kinds of what was sent without an answer. alike: the generations
    under all spellings of a key that is created, by kind and folded key.
    """

    history: dict[tuple[str, str], list[Known]] = field(default_factory=dict)
    in_doubt: dict[str, set[str]] = field(default_factory=dict)
    alike: dict[tuple[str, str], list[tuple[str, Known]]] = field(default_factory=dict)

    def add(self, found: Row[tuple[Any, ...]]) -> None:
        """Take in one generation."""
        known = Known(
            found.id,
            found.generation,
            found.state,
            found.body_sha256,
            found.rule,
            found.file_id,
            tainted=bool(found.tainted),
            released=bool(found.released),
            reference=found.reference if found.kind in _OF_ORDERS and found.reference != found.key else "",
        )
        self.history.setdefault((found.kind, found.key), []).append(known)
        if found.state in _OPEN:
            self.in_doubt.setdefault(found.key, set()).add(found.kind)
        if found.kind not in CHANGES:
            self.alike.setdefault((found.kind, folded_key(found.key)), []).append((found.key, known))

    def knows(self, kind: str, key: str) -> bool:
        """Whether anything is known under a key, in any spelling, or about the order that it names."""
        if not self.history:
            return False
        if kind in CHANGES:
            return any((each, key) in self.history for each in CHANGES)
        return (kind, key) in self.history or (kind, folded_key(key)) in self.alike

    def spelt_otherwise(self, kind: str, key: str) -> Known | None:
        """What lives or waits under another spelling of a key; None if nothing does."""
        others = [known for spelling, known in self.alike.get((kind, folded_key(key)), ()) if spelling != key]
        gone = ("accepted", "cancelled")
        alive = [known for known in others if known.state in _ALIVE and (known.state, known.rule) != gone]
        return min(alive, key=lambda known: (list(_ALIVE).index(known.state), -known.id), default=None)

    def undone_since(self, kind: str, key: str) -> int:
        """The last accepted change of the opposite kind (items added, deleted), as its id; 0 if there is none."""
        opposite = self.history.get((_UNDONE_BY.get(kind, ""), key), ())
        return max((known.id for known in opposite if known.state == "accepted"), default=0)


def known_keys(connection: Connection, account: str, named: Iterable[tuple[str, str]]) -> KnownKeys:
    """What is known under these keys, each with its kind; under other spellings not in a ledger before version 10."""
    by_kind: dict[str, list[str]] = {}
    for kind, key in named:
        by_kind.setdefault(kind, []).append(key)
    found = KnownKeys()
    for kind, keys in by_kind.items():
        for record in _generations(connection, account, kind, keys):
            found.add(record)
    return found


def _generations(
    connection: Connection, account: str, kind: str, keys: Sequence[str]
) -> Iterator[Row[tuple[Any, ...]]]:
    kinds = CHANGES if kind in CHANGES else (kind,)
    named, wanted = document.c.key, list(dict.fromkeys(keys))
    if kind not in CHANGES and reaches(connection, _FOLDED_SINCE):
        named, wanted = document.c.folded_key, list(dict.fromkeys(map(folded_key, keys)))
    names = (
        "id",
        "kind",
        "key",
        "generation",
        "state",
        "body_sha256",
        "rule",
        "file_id",
        "tainted",
        "released",
        "reference",
    )
    query = select(*(document.c[name] for name in names)).where(
        document.c.account == account, document.c.kind.in_(kinds)
    )
    for start in range(0, len(wanted), _CHUNK):
        some = wanted[start : start + _CHUNK]
        yield from connection.execute(query.where(named.in_(some)).order_by(document.c.generation))


def ask_whether_one(connection: Connection, known: KnownKeys, item: Document, decision: Decision) -> Decision:
    """A new document waits for a person if another one has its key in another spelling; any other goes on."""
    kind = kind_of(item.operation)
    other = known.spelt_otherwise(kind, item.key) if decision.action == "plan" else None
    if other is None:
        return decision
    reason, fix = why_asked(connection, other, item.key)
    return replace(decision, action="hold", rule=OTHER_SPELLING, reason=reason, fix=fix)


def why_asked(connection: Connection, other: Known, key: str) -> tuple[str, str]:
    """In what a key differs from another spelling of it, where that stands and what became of it; what to do."""
    query = select(document.c.key, document.c.rows, file.c.name).join(file, document.c.file_id == file.c.id)
    found = connection.execute(query.where(document.c.id == other.id)).one()
    ways, row = " and ".join(differences(key, found.key)), str(json.loads(found.rows)[0])
    return said_of(OTHER_SPELLING, key, ways, found.key, found.name, row, _ALIVE[other.state])
