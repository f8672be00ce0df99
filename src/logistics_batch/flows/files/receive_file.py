"""From a file's bytes to what the ledger plans: read, map, and decide whether the file as a whole may go on."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.flows.files.foreign_files import Mapped, map_file
from logistics_batch.flows.files.gate import OPEN_GATE, FileAdmissionPolicy, pass_gate
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.program_errors import holding_file
from logistics_batch.intake.readers import identify
from logistics_batch.intake.stores.store import RemoteFile
from logistics_batch.ledger import Arrival
from logistics_batch.mapping import Mapping, RunValues
from logistics_batch.model.answers.answer_files import result_stem
from logistics_batch.model.document import MappedFile, Operation
from logistics_batch.model.issue import Issue, read_notes
from logistics_batch.model.sheet import SourceFile

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
    source = _source_of(parts, received)
    try:
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
        origin=origin,
    )


def _source_of(parts: Parts, received: ReceivedFile) -> SourceFile:
    """Who a file is: our own copies are named by the hash of their bytes, which was made as they came."""
    if received.path.parent != parts.files:
        return identify(received.path, name=received.name)
    size = received.path.stat().st_size if received.path.exists() else 0
    return SourceFile(received.name, size, received.path.stem, "unknown")


def _arrival(
    parts: Parts,
    received: ReceivedFile,
    source: SourceFile,
    mapping: Mapping,
    *,
    business_date: date,
    gate: FileAdmissionPolicy,
) -> Arrival:
    source, mapped, held = _map(parts, received, source, mapping, business_date)
    if mapped is not None and held is None:
        if mapping.operation.changes_order:
            from logistics_batch.flows.orders.changes import with_orders  # files of new orders need none of it

            mapped = with_orders(parts, mapped)
        mapped, held = pass_gate(gate, mapped, mapping)
    arrival = replace(
        held_arrival(parts, source, mapping, held=held, origin=received.origin),
        mapped=mapped,
        approval=gate.approval,
        marks=parts.policy.marks_asns,
        calls={each: (parts.client.method(each), _path(parts, each)) for each in _CALLS},
    )
    if not gate.updates:
        return arrival
    from logistics_batch.flows.push.on_change import with_updates

    return with_updates(parts, arrival)


def _path(parts: Parts, operation: Operation) -> str:
    """The path of a call; "" where it depends on the document."""
    return "" if operation.changes_order else parts.client.path(operation)


def _map(
    parts: Parts, received: ReceivedFile, source: SourceFile, mapping: Mapping, business_date: date
) -> tuple[SourceFile, MappedFile | None, FileHeld | None]:
    if received.held is not None:
        return source, None, received.held
    name = first_name(parts, received.name, mapping=mapping.name)
    run_values = RunValues(file_name=name, business_date=business_date, timezone=parts.policy.timezone)
    try:
        made = parts.limited(map_file, about=received.name, returns=(Mapped,))(
            received.path, mapping, name=received.name, run_values=run_values, longitude=parts.policy.longitude
        )
    except FileHeld as held:  # it took too much
        return source, None, held
    source = replace(source, format=made.format)
    if made.mapped is None or made.held is not None:
        return source, made.mapped, made.held
    return source, _noted(made.mapped, read_notes(received.origin.get("archive_notes", []))), None


def first_name(parts: Parts, name: str, *, mapping: str) -> str:
    """The name of the file that an answer belongs to, if that is what was dropped; else the file's own.

    A mapping may make an invoice number of it, which must not change when NAME.result.xlsx comes for NAME.txt.
    """
    seen = {name}
    while (stem := result_stem(name)) != PurePosixPath(name).stem:
        answered = [file.name for file in parts.ledger.files.answered(stem) if file.mapping == mapping]
        if not answered or answered[-1] in seen:
            break
        name = answered[-1]
        seen.add(name)
    return name


def _noted(mapped: MappedFile, archive_notes: Sequence[Issue]) -> MappedFile:
    """The same file, with notes on the archive it came in, and one if there is nothing below its header.

    Whoever sent that may have meant another.
    """
    mapped = replace(mapped, notes=(*archive_notes, *mapped.notes))
    if not mapped.rows.filter(~pl.col("code").is_in(_NO_DATA) | pl.col("code").is_null()).is_empty():
        return mapped
    return replace(mapped, notes=(Issue("file.no_rows"), *mapped.notes))
