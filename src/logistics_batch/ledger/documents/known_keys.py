"""What the ledger knows under the keys of documents that come in, also where these are spelt otherwise."""

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final

import polars as pl
from sqlalchemy import Connection, select

from logistics_batch.ledger.bulk import among, read_frame
from logistics_batch.ledger.connection import digest
from logistics_batch.ledger.documents.decide import OTHER_SPELLING, Decision, Generation
from logistics_batch.ledger.files.files import place_of
from logistics_batch.ledger.schema import document, file
from logistics_batch.model.document import CALLS_SCHEMA, Document, call_blocks
from logistics_batch.model.document_state import UNANSWERED
from logistics_batch.model.issue import Issue
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
CHANGES: Final = tuple(kind for kind in _KINDS.values() if "." in kind)
_OF_ORDERS: Final = tuple(kind for kind in CHANGES if kind.startswith("order."))
_UNDONE_BY: Final = {"order.add": "order.delete", "order.delete": "order.add"}
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


KEYS: Final = pl.Schema({"place": pl.Int64, "kind": pl.String, "key": pl.String, "folded_key": pl.String})
"""Of the documents of a file, by their places; kind: what `kind_of` gives."""

GENERATIONS: Final = pl.Schema(
    {
        "kind": pl.String,
        "key": pl.String,
        "folded_key": pl.String,
        "id": pl.Int64,
        "generation": pl.Int64,
        "state": pl.String,
        "body_sha256": pl.String,
        "rule": pl.String,
        "file_id": pl.Int64,
        "may_exist": pl.Boolean,
        "send_approved": pl.Boolean,
        "reference": pl.String,
    }
)
"""What the ledger knows under keys; from `id` on the fields of `Known`."""

_OF_KNOWN: Final = tuple(GENERATIONS)[3:]


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """The generations under the keys of some documents, oldest first.

    history: by kind and key. in_doubt: by key, the kinds of what was sent without an answer. alike: the generations
    under all spellings of a key that is created, by kind and folded key.
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


def keys_of(documents: Sequence[Document]) -> pl.DataFrame:
    """The key of each document: KEYS."""
    columns = ("operation", "key")
    blocks = (calls.select(columns) for calls in call_blocks(documents))
    calls = pl.concat([pl.DataFrame(schema=CALLS_SCHEMA).select(columns), *blocks])
    return keyed(calls.with_columns(kind=pl.col("operation").replace_strict(_KINDS, return_dtype=pl.String)))


def keyed(named: pl.DataFrame) -> pl.DataFrame:
    """Keys and their kinds as KEYS; place: of the line."""
    return named.with_row_index("place").with_columns(folded_keys(named["key"])).select(list(KEYS)).cast(KEYS)


def folded_keys(keys: pl.Series) -> pl.Series:
    """Each key as it is read (see `folded_key`); most are plain, and are read all at once."""
    is_plain = keys.str.contains(_PLAIN_KEY)
    plain = keys.str.to_lowercase().alias("folded_key")
    others = (~is_plain).arg_true()
    return plain.scatter(others, [folded_key(key) for key in keys.gather(others)]) if others.len() else plain


def known_generations(connection: Connection, account: str, keys: pl.DataFrame) -> pl.DataFrame:
    """What is known under these keys, oldest first: GENERATIONS; of what is created under all spellings of a key."""
    stored = {**GENERATIONS, "may_exist": pl.Int64(), "send_approved": pl.Int64()}
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
    return known.with_columns(reference, rule).select(list(GENERATIONS)).cast(GENERATIONS)


def sent_before(documents: Sequence[Document], keys: pl.DataFrame, known: pl.DataFrame) -> dict[int, Generation]:
    """The documents, by their place, that were accepted with this very body, and of whose key nothing else is known.

    keys: KEYS of these documents; known: GENERATIONS of these keys.
    """
    once = pl.len().over("kind", "folded_key") == 1
    accepted = (pl.col("state") == "accepted") & (pl.col("rule") != "cancelled") & ~pl.col("kind").is_in(CHANGES)
    alone = keys.filter(once).join(known.filter(once).filter(accepted), on=("kind", "key"))
    asked = {place: Generation(*rest) for place, *rest in alone.select("place", *_OF_KNOWN).iter_rows()}
    same: dict[int, Generation] = {}
    places = count()
    for calls in call_blocks(documents) if asked else ():
        for body, place in zip(calls["body"], places, strict=False):
            if place in asked and digest(body) == asked[place].body_sha256:
                same[place] = asked[place]
    return same


def ask_whether_one(connection: Connection, known: KnownKeys, item: Document, decision: Decision) -> Decision:
    """A new document waits for a person if another one has its key in another spelling; any other goes on."""
    kind = kind_of(item.operation)
    other = known.spelt_otherwise(kind, item.key) if decision.action == "plan" else None
    if other is None:
        return decision
    return replace(decision, action="hold", why=why_asked(connection, other, item.key))


def why_asked(connection: Connection, other: Generation, key: str) -> Issue:
    """In what a key differs from another spelling of it, where that stands and what became of it."""
    query = select(document.c.key, document.c.rows, file.c.name).join(file, document.c.file_id == file.c.id)
    found = connection.execute(query.where(document.c.id == other.id)).one()
    place = {"file": found.name, "row": json.loads(found.rows)[0]}
    ways = " and ".join(differences(key, found.key))
    return Issue.of(OTHER_SPELLING, key=key, ways=ways, other=found.key, alive=_ALIVE[other.state], **place)


class OlderVersions(Container[int]):
    """The numbers of the arrivals that were earlier versions of one file; each is looked at when it is asked for.

    A file of an archive lies where the archive lies. origin: where the file came from, as its arrival has it.
    """

    def __init__(self, connection: Connection, *, name: str, origin: Mapping[str, object]) -> None:
        self._connection = connection
        self._place = place_of(name, origin)
        self._known: dict[int, bool] = {}

    def __contains__(self, file_id: object) -> bool:
        number = int(str(file_id))
        if number not in self._known:
            found = self._connection.execute(select(file.c.name, file.c.origin).where(file.c.id == number)).first()
            self._known[number] = found is not None and place_of(found.name, json.loads(found.origin)) == self._place
        return self._known[number]
