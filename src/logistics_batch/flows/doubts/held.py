"""What waits for a person, whatever it is: listed in one form, chosen by number or reason, and compared."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from logistics_batch.errors import UsageError
from logistics_batch.flows.parts import Parts
from logistics_batch.ledger import HeldFile, StoredDocument, kind_of
from logistics_batch.messages.documents import reason_of
from logistics_batch.messages.reasons import OF_WHAT_IS_HELD, UNSENT, HeldDecision, WaitsFor
from logistics_batch.messages.words import shortened
from logistics_batch.model.counting import counted
from logistics_batch.model.document import OPEN, DocumentState, Operation
from logistics_batch.model.issue import Issue

HeldId = int | str
"""A document's number, or what a file or an address is called in `held list`."""

DROPPED = "dropped"
_NAMES_OF_LINES: Final = ("item_id", "item_name", "sku_name")
_PREVIEW_DIGITS: Final = 10


@dataclass(frozen=True, slots=True)
class HeldLine:
    """One line of `held list`: a document, a file that waits for approval or is held as a whole, or an address.

    documents: all that is decided with it, none of a file that is held as a whole (`file`).
    """

    id: HeldId
    why: Issue
    file_name: str = ""
    documents: tuple[StoredDocument, ...] = ()
    file: HeldFile | None = None

    @property
    def document(self) -> StoredDocument | None:
        """The one that it is; None of a file or an address."""
        return self.documents[0] if isinstance(self.id, int) else None

    @property
    def what(self) -> str:
        """What it is: an operation, so many documents, or a file."""
        if self.file is not None:
            return "file as a whole"
        return self.document.operation if self.document else counted(len(self.documents), "document")

    @property
    def is_address(self) -> bool:
        """Whether it is all that waits at another address of the service."""
        return isinstance(self.id, str) and self.id.startswith("http")

    @property
    def files(self) -> str:
        """Names of the files that it came in."""
        return self.file_name or shortened(list(dict.fromkeys(each.file_name for each in self.documents)), limit=5)

    @property
    def runs(self) -> tuple[str, ...]:
        """Those that it came in."""
        return (self.file.run,) if self.file else tuple(dict.fromkeys(each.run for each in self.documents))

    @property
    def choices(self) -> tuple[HeldDecision, ...]:
        """What a person can decide about it."""
        if self.file is not None:
            return (HeldDecision.DROP,)
        if self.is_address:
            return tuple(each for each in reason_of(self.why.code).choices if each is HeldDecision.DROP)
        return (HeldDecision.APPROVE, HeldDecision.DROP) if self.document is None else choices_of(self.document)

    @property
    def fix(self) -> str:
        """What to do about it, in words."""
        return (self.why.operator_words if self.file is None else self.why.fix) or "Correct it."


def preview_id(calls: Iterable[tuple[str, str, str, str, str]]) -> str:
    """The number under which exactly these calls can be approved: method, path, operation, key and body of each.

    It is a digest of all of them, so that an approval of anything else does not fit.
    """
    return "preview-" + hashlib.sha256(repr(sorted(calls)).encode()).hexdigest()[:_PREVIEW_DIGITS]


def choices_of(document: StoredDocument) -> tuple[HeldDecision, ...]:
    """What a person can decide about a held document."""
    choices = reason_of(document.why.code).choices
    # Of what was open in an older copy of the ledger, the service may have what no attempt from here tells.
    return OF_WHAT_IS_HELD if document.may_exist and choices == UNSENT else choices


def line_of(document: StoredDocument) -> HeldLine:
    """The line of one document."""
    return HeldLine(document.id, document.why, document.file_name, (document,))


def held_documents(parts: Parts) -> list[StoredDocument]:
    """The documents that are held, oldest first."""
    return parts.ledger.documents.select(states=[DocumentState.HELD])


def everything_held(parts: Parts) -> list[HeldLine]:
    """All that waits for a person: addresses, files, then documents, the oldest of each first."""
    elsewhere: dict[str, list[StoredDocument]] = {}
    for document in parts.ledger.addresses.left():
        elsewhere.setdefault(document.account, []).append(document)
    in_use = parts.ledger.addresses.in_use() if elsewhere else set()
    held = held_documents(parts)
    to_approve: dict[tuple[str, str], list[StoredDocument]] = {}
    for document in held:
        if document.waits_for == WaitsFor.APPROVAL:
            to_approve.setdefault((document.run, document.file_name), []).append(document)
    return [
        *(
            HeldLine(address, _why_there(documents, in_use=address in in_use), documents=tuple(documents))
            for address, documents in elsewhere.items()
        ),
        *(
            HeldLine(
                preview_id((e.method, e.path, e.operation, e.key, e.body) for e in documents),
                documents[0].why,
                name,
                tuple(documents),
            )
            for (_, name), documents in to_approve.items()
        ),
        *(HeldLine(f"file-{each.id}", each.held, each.name, file=each) for each in parts.ledger.files.held()),
        *(line_of(each) for each in held if each.waits_for != WaitsFor.APPROVAL),
    ]


def _why_there(documents: Sequence[StoredDocument], *, in_use: bool) -> Issue:
    """Of an address that accepted something, why each of them waits; else it may be mistyped."""
    if not in_use:
        return Issue("other_address")
    own = dict.fromkeys(each.why for each in documents if each.state == DocumentState.HELD)
    return Issue.of("other_address.in_use", why=[each.pair for each in own])


def in_words(parts: Parts, found: Sequence[HeldLine]) -> list[dict[str, Any]]:
    """What is told of each: why it waits, what to do, of which job it is, and since when."""
    job_of = cache(lambda run: stored.job if (stored := parts.ledger.runs.get(run)) else "")
    return [
        {
            "rule": each.why.rule,
            "reason": each.why.reason,
            "fix": each.fix,
            "job": ", ".join(dict.fromkeys(job_of(run) for run in each.runs)),
            "since": each.file.since if each.file else min(one.planned_at for one in each.documents),
        }
        for each in found
    ]


def held_by_id(parts: Parts) -> dict[HeldId, HeldLine]:
    """All that waits, and each document of what waits as one, by what it is called."""
    listed = everything_held(parts)
    inside = {
        each.id: HeldLine(each.id, held.why if held.is_address else each.why, each.file_name, (each,))
        for held in listed
        for each in held.documents
    }
    return inside | {held.id: held for held in listed}


def held_under(parts: Parts, held_id: HeldId) -> HeldLine:
    """What has this number in `held list`, or is a document of a file that waits there. Raises UsageError: nothing."""
    if (found := held_by_id(parts).get(held_id)) is not None:
        return found
    raise UsageError(f"Nothing with the number {held_id} is held.", remedy="See “held list”.")


def chosen(
    parts: Parts, wanted: Sequence[HeldId | range], *, rule: str = "", file_name: str = "", dropped: bool = False
) -> list[HeldLine | HeldId]:
    """What is to be decided, each once: what is listed, and numbers that are not (of what was dropped or accepted).

    wanted: numbers and ranges of numbers; none: all that fits. rule: the reason's word. file_name: a pattern of names.
    dropped: of what was dropped, not of what is held.

    Raises UsageError if a range or the filter leaves nothing.
    """
    was, remedy, listed = "is held", "See “held list”.", []
    if dropped:
        was, remedy = "was dropped", "See the answers of the file, under “What to do”."
        gone = parts.ledger.documents.select(states=[DocumentState.ABANDONED])
        listed = [line_of(each) for each in gone if each.rule == DROPPED]
    else:
        listed = everything_held(parts)
    fitting = {each.id: each for each in listed if rule in ("", each.why.rule) and _is_named(each.file_name, file_name)}
    found: dict[HeldId, HeldLine | HeldId] = {}
    for one in wanted or list(fitting):
        if isinstance(one, range):
            inside = [number for number in fitting if isinstance(number, int) and number in one]
            if not inside:
                raise UsageError(f"Nothing from {one.start} to {one.stop - 1} {was}.", remedy=remedy)
            found.update((number, fitting[number]) for number in inside)
        else:
            found[one] = fitting.get(one, one)
    if rule or file_name:
        found = {held_id: held for held_id, held in found.items() if isinstance(held, HeldLine)}
    if not found:
        raise UsageError(f"Nothing that fits {was}.", remedy=remedy)
    return list(found.values())


def _is_named(name: str, pattern: str) -> bool:
    """Only * and ? stand for something else: brackets are common in names of files."""
    return not pattern or fnmatchcase(name.casefold(), pattern.casefold().replace("[", "[[]"))


@dataclass(frozen=True, slots=True)
class Beside:
    """What a document says, beside what was said before about the same thing.

    earlier: the version that said it, the newest of several; None if there was none. differing: field, before, now.
    alike: the fields that both have with the same value.
    """

    earlier: StoredDocument | None
    differing: tuple[tuple[str, str, str], ...] = ()
    alike: tuple[str, ...] = ()


def beside_earlier(parts: Parts, document: StoredDocument) -> Beside:
    """Compare a document with the version that the service has, or else with the newest that has no end yet."""
    said = _said_before(parts, document)
    if not said or not all(each.body for each in said):
        return Beside(said[-1] if said else None)
    before: dict[str, str] = {}
    for each in said:
        before |= flat(json.loads(each.body))
    now = dict(flat(json.loads(document.body))) if document.body else {}
    if Operation(document.operation).creates:
        now = dict.fromkeys(before, "") | now
    pairs = [(name, before.get(name, ""), value) for name, value in now.items()]
    differing = tuple(pair for pair in pairs if pair[1] != pair[2])
    return Beside(said[-1], differing, tuple(name for name, old, new in pairs if old == new))


def _said_before(parts: Parts, document: StoredDocument) -> list[StoredDocument]:
    """A create has one version before it; a change stands upon the create and the changes before it."""
    generations = parts.ledger.documents.generations(document.key, kind=kind_of(document.operation))
    own = [each for each in generations if each.generation < document.generation]
    accepted = [each for each in own if each.state == DocumentState.ACCEPTED]
    if Operation(document.operation).creates:
        return (accepted or [each for each in own if each.state in OPEN])[-1:]
    creates = [Operation.ORDER_CREATE if Operation(document.operation).changes_order else Operation.ASN_CREATE]
    names = [name for name in (document.reference, document.order_id) if name]
    created = parts.ledger.documents.select(operations=creates, states=[DocumentState.ACCEPTED], references=names)
    return [*created[-1:], *accepted]


def flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The values of a body by name; lines stand under their item's name, or under their number if two have the same."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flat(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        lines = [each if isinstance(each, Mapping) else {} for each in value]
        named = [next((str(line[key]) for key in _NAMES_OF_LINES if line.get(key)), "") for line in lines]
        keys = named if len(set(named)) == len(named) and all(named) else range(1, len(value) + 1)
        for key, inner in zip(keys, value, strict=True):
            yield from flat(inner, f"{name}[{key}]")
    else:
        yield name, value if isinstance(value, str) else json.dumps(value)
