"""From a file's bytes to what the ledger plans: read, map, and decide whether the file as a whole may go on."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path, PurePosixPath

import polars as pl

from logistics_batch.errors import FileHeld
from logistics_batch.flows.gate import OPEN_GATE, Gate, pass_gate
from logistics_batch.flows.on_change import with_updates
from logistics_batch.flows.order_ids import with_orders
from logistics_batch.flows.own_reports import refuse_own
from logistics_batch.flows.parts import Parts
from logistics_batch.intake.readers import identify
from logistics_batch.intake.store import RemoteFile
from logistics_batch.ledger import Arrival
from logistics_batch.mapping import Mapping
from logistics_batch.mapping.lines_sheet import both_sheets
from logistics_batch.mapping.table import RunValues
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.answer_columns import earlier_columns
from logistics_batch.model.answer_files import result_stem
from logistics_batch.model.document import ROWS_SCHEMA, MappedFile, Operation, RowState
from logistics_batch.model.sheet import Sheet, SourceFile
from logistics_batch.paper.row_answers import NO_ROWS

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
    origin: dict[str, object] = field(default_factory=dict)
    remote: RemoteFile | None = None
    held: FileHeld | None = None


def arrival_of(
    parts: Parts, received: ReceivedFile, mapping: Mapping, *, business_date: date, gate: Gate = OPEN_GATE
) -> Arrival:
    """What this file asks for; a file that cannot be taken is an arrival with `held`, not an exception."""
    source, sheets, mapped, held = _map(parts, received, mapping, business_date)
    if mapped is not None and held is None:
        mapped = with_orders(parts, mapped) if mapping.operation.changes_order else mapped
        mapped, held = pass_gate(gate, mapped, mapping, sheets)
    del sheets  # of a large file as much as all that follows
    arrival = Arrival(
        source=source,
        mapping=mapping.name,
        mapping_digest=mapping.digest,
        operation=str(mapping.operation),
        received_at=parts.clock.now().isoformat(),
        mapped=mapped,
        held=held,
        origin=received.origin,
        approval=gate.approval,
        marks=parts.policy.marks_asns,
        calls={each: (parts.client.method(each), _path(parts, each)) for each in _CALLS},
    )
    return with_updates(parts, arrival) if gate.updates else arrival


def _path(parts: Parts, operation: Operation) -> str:
    """The path of a call; "" where it depends on the document."""
    return "" if operation.changes_order else parts.client.path(operation)


def _map(
    parts: Parts, received: ReceivedFile, mapping: Mapping, business_date: date
) -> tuple[SourceFile, Sequence[Sheet], MappedFile | None, FileHeld | None]:
    source = identify(received.path, name=received.name)
    if received.held is not None:
        return source, (), None, received.held
    sheets: Sequence[Sheet] = ()
    name = first_name(parts, received.name, mapping=mapping.name)
    run_values = RunValues(file_name=name, business_date=business_date, timezone=parts.policy.timezone)
    try:
        sheets = parts.read_file(received.path, name=received.name, options=mapping.read_options)
        refuse_own(received.name, sheets)
        mapped = apply_mapping(mapping, sheets, run_values=run_values, longitude=parts.policy.longitude)
        return source, sheets, _noted(mapped, received.origin.get("archive_notes")), None
    except FileHeld as held:
        return source, sheets, rows_of_held(sheets, held, mapping), held


def first_name(parts: Parts, name: str, *, mapping: str) -> str:
    """The name of the file that an answer belongs to, if that is what was dropped; else the file's own.

    A mapping may make an invoice number of it, which must not change when NAME.result.xlsx comes for NAME.txt.
    """
    seen = {name}
    while (stem := result_stem(name)) != PurePosixPath(name).stem:
        answered = [file.name for file in parts.ledger.answered_files(stem) if file.mapping == mapping]
        if not answered or answered[-1] in seen:
            break
        name = answered[-1]
        seen.add(name)
    return name


def _noted(mapped: MappedFile, archive_notes: object) -> MappedFile:
    """The same file, with notes on the archive it came in, and one if there is nothing below its header.

    Whoever sent that may have meant another.
    """
    if isinstance(archive_notes, list):
        mapped = replace(mapped, notes=(*archive_notes, *mapped.notes))
    if not mapped.rows.filter(~pl.col("rule").is_in(_NO_DATA) | pl.col("rule").is_null()).is_empty():
        return mapped
    return replace(mapped, notes=(NO_ROWS, *mapped.notes))


def rows_of_held(sheets: Sequence[Sheet], held: FileHeld, mapping: Mapping) -> MappedFile | None:
    """The countable rows of a file that mapping refused, of both sheets if it reads two; None if it has none."""
    named = [sheet for sheet in sheets if sheet.name == held.sheet] or sorted(
        sheets, key=lambda sheet: -sheet.frame.height
    )
    if not named:
        return None
    (sheet, header_row), *second = both_sheets(mapping, sheets) or [(named[0], held.header_row)]
    rows = [_rows_of_held(sheet, header_row, place="")]
    rows += [_rows_of_held(lines, row, place=lines.name) for lines, row in second]
    columns = tuple("" for _ in range(sheet.width))
    found = MappedFile(sheet.name, header_row, columns, pl.concat(rows), (), (), sheet.notes)
    return replace(found, lines_sheet=second[0][0].name, lines_header_row=second[0][1]) if second else found


def _rows_of_held(sheet: Sheet, header_row: int, *, place: str) -> pl.DataFrame:
    """The rows of one sheet. place: the second sheet's name, "" for the file's own."""
    frame = sheet.frame.filter(pl.col("row") != header_row)
    names = _own_cells(sheet, header_row)
    blank = pl.all_horizontal([pl.col(name).is_null() for name in names] or [pl.lit(value=True)])
    rows = frame.select(
        pl.col("row").cast(pl.UInt32),
        pl.when(blank).then(pl.lit(RowState.SKIPPED.value)).otherwise(pl.lit(RowState.READY.value)).alias("state"),
        pl.when(blank).then(pl.lit("blank")).alias("rule"),
        pl.lit(None, dtype=pl.UInt32).alias("document"),
        pl.lit(None, dtype=pl.String).alias("key"),
        pl.when(blank).then(pl.lit("The row is empty.")).alias("reason"),
        pl.lit(place).alias("sheet"),
    )
    return rows.cast(ROWS_SCHEMA)  # type: ignore[arg-type]


def _own_cells(sheet: Sheet, header_row: int) -> list[str]:
    """The user's columns: those of an earlier answer of ours do not make a blank row data."""
    names = [name for name in sheet.frame.columns if name != "row"]
    headers = sheet.frame.filter(pl.col("row") == header_row).select(names)
    ours = earlier_columns([text or "" for text in headers.row(0)]) if headers.height else ()
    return [name for position, name in enumerate(names) if position not in ours]
