"""A dry run: what a file would do, compared with the ledger, without a request and without a write."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

from logistics_batch.flows import approval
from logistics_batch.flows.gate import OPEN_GATE, Gate
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.receive_file import ReceivedFile, arrival_of
from logistics_batch.ledger import FATE_OF_STATE, Arrival, Decision, StoredDocument, row_result
from logistics_batch.mapping import Mapping
from logistics_batch.model.asn_marker import with_marker
from logistics_batch.model.document import Document, MappedFile, Operation, RowState
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import DocumentResult, Fate, FileReport, RowResult, RunReport, exit_code

_NOT_PUSHED: Final[dict[str, str]] = {
    Operation.LABEL_CREATE: "Its label would be asked for.",
    Operation.RECEIPT_READ: "It would be reconciled.",
}
"""What becomes of the rows of mappings that no push takes; the ledger knows nothing of them."""


def preview_files(
    parts: Parts,
    files: Sequence[ReceivedFile],
    mapping: Mapping,
    *,
    business_date: date,
    job: str,
    gate: Gate = OPEN_GATE,
) -> RunReport:
    """The report that a run would give if the service took everything; rows that would go out are `pending`.

    `exit_code` is 0 if nothing else is found.
    """
    reports = []
    parts.progress.start("Reading", len(files))
    for file in files:
        arrival = arrival_of(parts, file, mapping, business_date=business_date, gate=gate)
        reports.append(_preview(parts, arrival))
        parts.progress.advance()
    parts.progress.done()
    found = RunReport("", job, tuple(reports), notes=("Dry run: nothing was sent or written.",))
    rest = found.counts | {Fate.PENDING: 0}
    return replace(found, exit_code=exit_code(rest, file_held=any(report.reason for report in reports)))


def _preview(parts: Parts, arrival: Arrival) -> FileReport:
    mapped, held = arrival.mapped, arrival.held
    report = FileReport(
        file=arrival.source.name,
        sha256=arrival.source.sha256,
        size=arrival.source.size,
        run="",
        mapping=arrival.mapping,
        mapping_digest=arrival.mapping_digest,
        reason=held.message if held else "",
        remedy=held.remedy if held else "",
        received_at=arrival.received_at,
    )
    if mapped is None:
        return report
    documents = mapped.documents if held is None else ()
    is_pushed = Operation(arrival.operation) not in _NOT_PUSHED
    decisions = parts.ledger.evaluate(arrival, documents) if is_pushed else [Decision("plan")] * len(documents)
    existing = [_existing(parts, decision) for decision in decisions]
    shown = tuple(
        _document(arrival, document, decision, known)
        for document, decision, known in zip(documents, decisions, existing, strict=True)
    )
    return replace(
        report,
        sheet=mapped.sheet,
        header_row=mapped.header_row,
        rows_read=mapped.rows.height,
        lines_sheet=mapped.lines_sheet,
        lines_header_row=mapped.lines_header_row,
        rows=_rows(arrival, mapped, decisions, existing),
        documents=shown,
        issues=mapped.issues,
        notes=(*mapped.notes, *_approval_note(shown, decisions)),
    )


def _approval_note(documents: Sequence[DocumentResult], decisions: Sequence[Decision]) -> Iterator[str]:
    waiting = [
        document for document, decision in zip(documents, decisions, strict=True) if decision.rule == approval.RULE
    ]
    if waiting:
        yield f"What would wait for approval has the number {approval.preview_id(waiting)}."


def _existing(parts: Parts, decision: Decision) -> StoredDocument | None:
    return parts.ledger.document(decision.existing.id) if decision.existing else None


def _rows(
    arrival: Arrival, mapped: MappedFile, decisions: Sequence[Decision], existing: Sequence[StoredDocument | None]
) -> tuple[RowResult, ...]:
    issues: dict[tuple[str, int], list[Issue]] = {}
    for issue in mapped.issues:
        issues.setdefault((issue.sheet, issue.row), []).append(issue)
    found = []
    for line in mapped.rows.iter_rows(named=True):
        known, answer = None, _line(line, arrival)
        if line["document"] is not None and arrival.held is None:
            decision, known = decisions[line["document"]], existing[line["document"]]
            answer |= _fate(decision, arrival.operation)
        elif answer["fate"] == RowState.READY:  # a line of goods, of which no document is made
            answer |= _fate(Decision("plan"), arrival.operation)
        place = {"file": arrival.source.name, "sheet": line["sheet"] or mapped.sheet, "run": ""}
        row = row_result(answer, found=known, issues=issues.get((line["sheet"], line["row"]), ()), place=place)
        document = None if line["document"] is None else mapped.documents[line["document"]]
        more: dict[str, Any] = {"would": _would(row.fate, document.operation if document else arrival.operation)}
        if document is not None and arrival.held is None and known is None:
            more |= {"reference_number": document.reference, "awb_number": document.order_id}
        found.append(replace(row, **more) if any(more.values()) else row)
    return tuple(found)


def _line(line: dict[str, object], arrival: Arrival) -> dict[str, object]:
    held = arrival.held
    if line["state"] == "ready" and held is not None:
        fate, rule, reason = "held", held.rule, held.message
    else:
        fate, rule, reason = str(line["state"]), str(line["rule"] or ""), str(line["reason"] or "")
    return {"row": line["row"], "key": line["key"] or "", "fate": fate, "rule": rule, "reason": reason}


def _fate(decision: Decision, operation: str) -> dict[str, object]:
    match decision.action:
        case "plan":
            return {"fate": "pending", "rule": "", "reason": _NOT_PUSHED.get(operation, "It would go out.")}
        case "hold":
            return {"fate": "held", "rule": decision.rule, "reason": decision.reason}
        case "unchanged":
            return {"fate": "unchanged"}
        case _:
            return {"fate": ""}


def _would(fate: Fate, operation: str) -> str:
    return _doing(operation) if fate is Fate.PENDING and operation not in _NOT_PUSHED else ""


def _doing(operation: str) -> str:
    return "create" if Operation(operation).creates else "update"


def _document(arrival: Arrival, document: Document, decision: Decision, known: StoredDocument | None) -> DocumentResult:
    method, path = arrival.call_of(document)
    state = known.state if known else {"plan": "planned", "hold": "held"}[decision.action]
    return DocumentResult(
        key=document.key,
        operation=str(document.operation),
        rows=document.rows,
        state=state,
        method=method,
        path=path,
        body=known.body if known and known.marker else with_marker(document.body, decision.marker),
        awb_number=known.awb_number if known else document.order_id,
        would=_would(FATE_OF_STATE[state], document.operation),
    )
