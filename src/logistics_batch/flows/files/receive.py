"""From a dropped file to what the ledger plans: open archives, read, map, and decide whether the file may go on.

What was accepted and came again with other content goes out as an update, where a job asks for that: one call brings
all of the change, or nothing is sent and the new version is held with the reason. A document also goes out as an update
where it comes back to what it was first, after an update was sent.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from logistics_batch import messages
from logistics_batch.errors import FileHeld, UsageError
from logistics_batch.flows.files.foreign_files import Mapped, map_file
from logistics_batch.flows.files.rounds import as_accepted, with_what_was_accepted
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.intake.containers import Member
from logistics_batch.intake.names import printable
from logistics_batch.intake.readers import identify
from logistics_batch.intake.stores.store import RemoteFile
from logistics_batch.ledger import Arrival, Decision, StoredDocument, kind_of
from logistics_batch.mapping import Mapping, RunValues
from logistics_batch.mapping.alike import failing_alike
from logistics_batch.mapping.documents.changes import Accepted, CannotUpdate, asn_update, order_update
from logistics_batch.model.answers import names_it_answers, result_stem
from logistics_batch.model.asn_marker import without_marker
from logistics_batch.model.document import ENDED, NOT_TAKEN, Document, MappedFile, Operation, RowState
from logistics_batch.model.issue import Issue, read_notes, stored_notes
from logistics_batch.model.jobs.job import PushJob
from logistics_batch.model.sheet import SourceFile

_WAITED = ("changed_after_acceptance", "earlier_in_doubt", "earlier_held")  # versions of which nothing was sent
_CAME = ("planned", "sending", "in_doubt", "held", "accepted")  # states of updates that count
_UPDATE_OF = {Operation.ORDER_CREATE: Operation.ORDER_UPDATE, Operation.ASN_CREATE: Operation.ASN_UPDATE}
_CHANGES: dict[str, tuple[Operation, ...]] = {
    Operation.ORDER_CREATE: (Operation.ORDER_UPDATE, Operation.ORDER_ADD_ITEMS, Operation.ORDER_DELETE_ITEMS),
    Operation.ASN_CREATE: (Operation.ASN_UPDATE,),
}


def with_updates(parts: Parts, arrival: Arrival) -> Arrival:
    """The same file, with an update in the place of each create that was accepted with other content."""
    mapped = arrival.mapped
    if mapped is None or arrival.held is not None or arrival.operation not in _UPDATE_OF:
        return arrival
    decisions = parts.ledger.planning.evaluate(arrival, mapped.documents)
    updated = _updated(parts, mapped.documents)
    documents = tuple(
        _rerouted(parts, document, decision, is_updated=document.reference in updated)
        for document, decision in zip(mapped.documents, decisions, strict=True)
    )
    return replace(arrival, mapped=replace(mapped, documents=documents))


def _updated(parts: Parts, documents: Sequence[Document]) -> set[str]:
    """The references of which updates stand for creates."""
    kinds, references = list(_UPDATE_OF.values()), list({document.reference: None for document in documents})
    updates = parts.ledger.documents.select(operations=kinds, states=_CAME, references=references)
    return {update.reference for update in updates if update.asked in _UPDATE_OF}


def _rerouted(parts: Parts, document: Document, decision: Decision, *, is_updated: bool) -> Document:
    if decision.rule != "changed_after_acceptance" and not (decision.action == "unchanged" and is_updated):
        return document
    created = _living(parts, document)
    if created is None:
        return document
    changes = _changes(parts, created)
    if decision.action == "unchanged" and not any(change.asked in _UPDATE_OF for change in changes):
        return document
    try:
        return _update(parts, document, created, changes)
    except CannotUpdate as cannot:
        return replace(document, no_update=cannot.why)


def _changes(parts: Parts, created: StoredDocument) -> list[StoredDocument]:
    """All changes of what was created that count, of files and of sheets of changes, those of a kind oldest first."""
    key = created.key if created.operation == Operation.ASN_CREATE else created.awb_number
    came = (parts.ledger.documents.generations(key, kind=kind_of(each)) for each in _CHANGES[created.operation])
    return [change for kind in came for change in kind if change.state in _CAME]


def _living(parts: Parts, document: Document) -> StoredDocument | None:
    """The version that the service has, if it is the only one that still counts."""
    history = parts.ledger.documents.generations(document.key, kind=kind_of(document.operation))
    accepted = [found for found in history if found.state == "accepted" and found.rule != "cancelled"]
    waits = [found for found in history if found.state == "held" and found.rule in _WAITED]
    settled = all(found.state in ENDED or found in waits for found in history)
    return accepted[-1] if accepted and settled else None


def _update(parts: Parts, document: Document, created: StoredDocument, changes: Sequence[StoredDocument]) -> Document:
    """The update that stands for a create. Raises CannotUpdate."""
    updates = [change for change in changes if change.operation in _UPDATE_OF.values()]
    if not created.body or not all(update.body for update in updates):
        raise CannotUpdate(".nothing_to_compare")
    said = (without_marker(each.body, created.marker) for each in (created, *updates))
    accepted = Accepted(tuple(said), created.items if len(updates) == len(changes) else None)
    if document.operation is Operation.ASN_CREATE:
        return _asn_update(parts, document, accepted)
    if not created.awb_number:
        raise CannotUpdate(".awb_unknown")
    try:
        path = parts.client.path(Operation.ORDER_UPDATE, order_id=created.awb_number)
    except UsageError as error:
        raise CannotUpdate(".awb_unusable") from error
    body = order_update(document.body, accepted=accepted, lent=document.lent)
    return replace(
        document,
        key=created.awb_number,
        operation=Operation.ORDER_UPDATE,
        body=body,
        line_rows=document.line_rows if '"item_details"' in body else (),
        order_id=created.awb_number,
        path=path,
    )


def _asn_update(parts: Parts, document: Document, accepted: Accepted) -> Document:
    if not parts.policy.updates_asns:
        raise CannotUpdate(".asn_identity")
    same = parts.ledger.documents.select(operations=[Operation.ASN_CREATE], references=[document.reference])
    if any(found.key != document.key and found.state not in NOT_TAKEN for found in same):
        raise CannotUpdate(".invoice_shared")
    return replace(document, operation=Operation.ASN_UPDATE, body=asn_update(document.body, accepted=accepted))


_NO_DATA = ("blank", "title", "repeated header", "total")  # rules of rows that any file may have
_CALLS = tuple(each for each in Operation if each is not Operation.RECEIPT_READ)


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that lies on this machine now.

    origin: store label, path, and where its results go; kept with the file in the ledger. remote: as it was listed
    where it was dropped, None if it came by hand. held: why it cannot be taken, if that is known already.
    """

    path: Path
    name: str
    origin: dict[str, Any] = field(default_factory=dict)
    remote: RemoteFile | None = None
    held: FileHeld | None = None


@dataclass(frozen=True, slots=True)
class FileAdmissionPolicy:
    """budget_percent: the largest share of invalid rows, None for any. approval: a person approves what goes out.

    updates: what was accepted and came again with other content goes out as an update.
    """

    budget_percent: float | None = None
    approval: bool = False
    updates: bool = False


OPEN_GATE = FileAdmissionPolicy()
"""For a file that a person pushes by hand."""


def gate_of(job: PushJob) -> FileAdmissionPolicy:
    """What a job asks of its files."""
    budget = job.budget.invalid_rows_percent if job.budget else None
    return FileAdmissionPolicy(budget, approval=job.approve == "required", updates=job.on_change == "update")


def unpacked(parts: Parts, files: Sequence[ReceivedFile], *, to: Path) -> tuple[ReceivedFile, ...]:
    """The files with every archive replaced by its members, which lie in the folder `to`.

    An archive that cannot be opened stays, with the reason as `held`; the copy of one that was opened is removed.
    """
    found: list[ReceivedFile] = []
    for file in files:
        try:
            with holding_file(file.name):
                members = parts.unpack(file.path, name=file.name, to=to)
        except FileHeld as held:
            found.append(replace(file, held=held))
            continue
        found += _members(file, members) if members else [file]
    # Our own copies of what was opened would keep the rows' data a second time; two files may share one.
    for path in {file.path for file in files if file.path.parent == to} - {file.path for file in found}:
        path.unlink()
    return tuple(found)


def _members(file: ReceivedFile, members: Sequence[Member]) -> list[ReceivedFile]:
    """What is to be read of an archive; the notes of each file say where it lay, and what was left out beside it."""
    notes: list[Issue] = []
    taken: dict[tuple[str, str], Member] = {}
    for each in members:
        if each.left_out:
            notes.append(Issue.of("archive.left_out", name=printable(each.name), why=[each.left_out.pair]))
        elif taken.setdefault((each.path.name, each.name), each) is not each:
            notes.append(Issue.of("archive.same", inside=each.inside, name=printable(each.name)))
    found = []
    for each in taken.values():
        inside = {"inside": each.inside} if each.inside else {}
        came_in = Issue.of("archive.inside" if inside else "archive.file", archive=printable(file.name), **inside)
        origin = file.origin | inside | {"archive": file.name, "archive_notes": stored_notes([came_in, *notes])}
        found.append(replace(file, path=each.path, name=each.name, origin=origin, held=each.held))
    return found


def arrival_of(
    parts: Parts,
    received: ReceivedFile,
    mapping: Mapping,
    *,
    business_date: date,
    gate: FileAdmissionPolicy = OPEN_GATE,
) -> Arrival:
    """What this file asks for; a file that cannot be taken is an arrival with `held`, not an exception.

    So is one on which the program itself fails.
    """
    if received.path.parent == parts.files:  # our own copies are named by the hash of their bytes
        size = received.path.stat().st_size if received.path.exists() else 0
        source = SourceFile(received.name, size, received.path.stem, "unknown")
    else:
        source = identify(received.path, name=received.name)
    try:
        if received.held is not None:
            raise received.held
        with holding_file(received.name):
            return _arrival(parts, received, source, mapping, business_date=business_date, gate=gate)
    except FileHeld as held:
        return held_arrival(parts, source, mapping, held=held, origin=received.origin)


def held_arrival(
    parts: Parts, source: SourceFile, mapping: Mapping, *, held: FileHeld | None, origin: dict[str, Any]
) -> Arrival:
    """A file without rows; one that is held is answered although nothing of it could be read."""
    return Arrival(
        source=source,
        mapping=mapping.name,
        mapping_digest=mapping.digest,
        operation=str(mapping.operation),
        received_at=parts.clock.now().isoformat(),
        held=held,
        origin=origin | {"read": mapping.read_options.kept()},
    )


def _arrival(
    parts: Parts,
    received: ReceivedFile,
    source: SourceFile,
    mapping: Mapping,
    *,
    business_date: date,
    gate: FileAdmissionPolicy,
) -> Arrival:
    """The file as the ledger plans it. Raises FileHeld for one that took too much, or on which the program fails."""
    name = first_name(parts, received.name, mapping=mapping.name)
    run_values = RunValues(file_name=name, business_date=business_date, timezone=parts.policy.timezone)
    read = parts.limited(map_file, about=received.name, returns=(Mapped,))(
        received.path, mapping, name=received.name, run_values=run_values, longitude=parts.policy.longitude
    )
    mapped, held = read.mapped, read.held
    if mapped is not None and held is None:
        is_data = ~pl.col("code").is_in(_NO_DATA) | pl.col("code").is_null()
        empty = [] if mapped.rows.filter(is_data).height else [Issue("file.no_rows")]  # another one may be meant
        archive_notes = read_notes(received.origin.get("archive_notes", []))
        mapped = replace(mapped, notes=(*empty, *archive_notes, *mapped.notes))
        if mapping.operation.changes_order:
            from logistics_batch.flows.orders.changes import with_orders  # files of new orders need none of it

            mapped = with_orders(parts, mapped)
        mapped, held = _pass_gate(gate, as_accepted(parts, mapped, source, mapping, path=received.path), mapping)
        mapped = with_what_was_accepted(parts, mapped, mapping)
    source = replace(source, format=read.format)
    calls: dict[str, tuple[str, str]] = {
        each: (parts.client.method(each), "" if each.changes_order else parts.client.path(each))  # it depends on each
        for each in _CALLS
    }
    arrival = replace(
        held_arrival(parts, source, mapping, held=held, origin=received.origin),
        mapped=mapped,
        approval=gate.approval,
        marks=parts.policy.marks_asns,
        calls=calls,
    )
    return with_updates(parts, arrival) if gate.updates else arrival


def first_name(parts: Parts, name: str, *, mapping: str) -> str:
    """The name of the file that an answer belongs to, if that is what was dropped; else the file's own.

    A mapping may make an invoice number of it, which must not change when NAME.result.xlsx comes for NAME.txt.
    """
    if not names_it_answers(name):
        return name
    own = result_stem(name)
    for stem in (own, own.removesuffix(f".{mapping}")):  # see `answer_names`
        same = [file.name for file in parts.ledger.files.named(stem) if file.mapping == mapping]
        originals = [each for each in same if result_stem(each) == stem and not names_it_answers(each)]
        if originals:
            return originals[-1]
    return name


def _pass_gate(gate: FileAdmissionPolicy, mapped: MappedFile, mapping: Mapping) -> tuple[MappedFile, FileHeld | None]:
    """The file as it is answered, and why it is held as a whole: one cause for all its rows, or too many invalid ones.

    Where one cause explains all, it is said once, and the rows have no issues of their own.
    """
    found = failing_alike(mapped) or (failing_alike(mapped, second=mapped.lines_sheet) if mapped.lines_sheet else None)
    if found is None:
        return mapped, _over_budget(mapped, gate.budget_percent) if gate.budget_percent is not None else None
    issue = found.issue
    hints: list[list[object]] = []
    if issue.cell:
        hints.append([".see_cell_of_sheet" if issue.sheet else ".see_cell", {"cell": issue.cell, "sheet": issue.sheet}])
    if mapped.stands_in and not issue.sheet:
        hints.append([".such_values_in", {"column": mapped.stands_in}])
    values = {
        "rows": found.rows,
        "column": issue.column,
        "why": [[issue.code, issue.given]],
        "hints": hints,
        "mapping": mapping.name,
        "place": [] if issue.sheet else [issue.row, issue.cell],
    }
    # rows of a second sheet are blocked where all rows of the first are invalid, and the other way round
    states = dict.fromkeys((RowState.INVALID.value, RowState.BLOCKED.value), RowState.READY.value)
    waiting = replace(mapped, rows=mapped.rows.with_columns(pl.col("state").replace(states)), issues=())
    return waiting, _held_with_rows("all_alike.in_column" if issue.column else "all_alike", values, mapped)


def _over_budget(mapped: MappedFile, percent: float) -> FileHeld | None:
    data = mapped.rows.filter(pl.col("state") != RowState.SKIPPED.value)
    invalid = data.filter(pl.col("state") == RowState.INVALID.value).height
    if not data.height or invalid * 100 <= percent * data.height:
        return None
    hints: list[list[object]] = []
    if counted := Counter((issue.column, issue.code, issue.values) for issue in mapped.issues).most_common(1):
        ((column, code, values), times), *_ = counted
        told = {"times": times, "column": column, "why": [[code, messages.unpacked(values)]]}
        hints.append([".most_often_in_column" if column else ".most_often", told])
    told = {"invalid": invalid, "rows": data.height, "percent": f"{percent:g}", "hints": hints}
    return _held_with_rows("budget", told, mapped)


def _held_with_rows(code: str, values: dict[str, Any], mapped: MappedFile) -> FileHeld:
    return FileHeld(code, values=values, sheet=mapped.sheet, header_row=mapped.header_row)
