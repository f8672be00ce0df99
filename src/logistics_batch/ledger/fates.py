"""From the ledger's rows to the one fate that each row has: the reports' only source."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import RowMapping, select

from logistics_batch.ledger.connection import Connected
from logistics_batch.ledger.line_rows import lines_sheet, shown_row
from logistics_batch.ledger.records import StoredDocument, stored_document
from logistics_batch.ledger.schema import document, file, issue, row
from logistics_batch.ledger.sending import select_documents
from logistics_batch.model.issue import Issue
from logistics_batch.model.report import DocumentResult, Fate, FileReport, RowResult

FATE_OF_STATE = {
    "planned": Fate.PENDING,
    "sending": Fate.IN_DOUBT,
    "in_doubt": Fate.IN_DOUBT,
    "accepted": Fate.ACCEPTED,
    "refused": Fate.REFUSED,
    "held": Fate.HELD,
    "superseded": Fate.SKIPPED,
    "abandoned": Fate.SKIPPED,
}


def row_result(
    line: Mapping[str, Any], *, found: StoredDocument | None, issues: Sequence[Issue], place: Mapping[str, str]
) -> RowResult:
    """One row's answer.

    line: row, fate, key, rule, reason as the ledger's table holds them. place: file, sheet and run.
    """
    fate = Fate(line["fate"]) if line["fate"] else FATE_OF_STATE[found.state] if found else Fate.SKIPPED
    answer = RowResult(
        **place,
        row=int(line["row"]),
        document=found.key if found else line["key"],
        fate=fate,
        rule=line["rule"],
        reason=line["reason"],
        reference_number=found.reference if found else "",
        awb_number=found.awb_number if found else "",
    )
    if issues:
        first = issues[0]
        return replace(
            answer,
            rule=first.rule,
            column=first.column,
            cell=first.cell,
            value=first.value,
            reason=" ".join(dict.fromkeys(found_issue.reason for found_issue in issues)),
            fix=" ".join(dict.fromkeys(found_issue.fix for found_issue in issues)),
        )
    if fate is Fate.UNCHANGED and found:
        return replace(
            answer, rule="unchanged", reason=f"Accepted earlier, in run {found.accepted_run}; not sent again."
        )
    if not line["fate"] and found:
        return replace(answer, rule=found.rule, reason=_document_reason(found), fix=found.fix)
    return answer


def _document_reason(found: StoredDocument) -> str:
    if found.state == "sending":
        return "Sent, and no answer has been recorded yet."
    if found.state == "planned":
        return found.reason or "Not sent yet: it goes out with the next run."
    if found.state == "accepted" and found.operation == "order.create" and not found.awb_number:
        return found.reason or "Accepted; the AWB number is not known."
    return found.reason


def document_result(found: StoredDocument) -> DocumentResult:
    """One document as `--json` shows it."""
    return DocumentResult(
        key=found.key,
        operation=found.operation,
        rows=found.rows,
        state=found.state,
        method=found.method,
        path=found.path,
        body=found.body,
        awb_number=found.awb_number,
    )


class Fates(Connected):
    """Builds the report of a file from what the ledger holds, at any time."""

    def file_report(self, file_id: int) -> FileReport:
        """Everything that is known about one arrival of a file."""
        with self._read() as connection:
            head = connection.execute(select(file).where(file.c.id == file_id)).mappings().one()
            lines = connection.execute(select(row).where(row.c.file_id == file_id).order_by(row.c.row)).mappings().all()
            asked = select(row.c.document_id).where(row.c.file_id == file_id)
            documents = {
                record["id"]: stored_document(record)
                for record in connection.execute(
                    select_documents().where(document.c.id.in_(asked)).order_by(document.c.id)
                ).mappings()
            }
            issues = (
                connection.execute(select(issue).where(issue.c.file_id == file_id).order_by(issue.c.row, issue.c.id))
                .mappings()
                .all()
            )
        return _file_report(head, lines, documents, issues)


def _file_report(
    head: RowMapping,
    lines: Sequence[RowMapping],
    documents: Mapping[int, StoredDocument],
    issue_lines: Sequence[RowMapping],
) -> FileReport:
    origin = json.loads(head["origin"])
    issues = [_issue(line, origin) for line in issue_lines]
    by_row: dict[int, list[Issue]] = {}
    for line, found in zip(issue_lines, issues, strict=True):
        by_row.setdefault(line["row"], []).append(found)
    rows = []
    for line in lines:
        number, second = shown_row(line["row"], origin)
        place = {"file": head["name"], "sheet": second or head["sheet"], "run": head["run_id"]}
        found_issues, its_document = by_row.get(line["row"], ()), documents.get(line["document_id"])
        rows.append(row_result({**line, "row": number}, found=its_document, issues=found_issues, place=place))
    second, second_header_row = lines_sheet(origin)
    return FileReport(
        file=head["name"],
        sha256=head["sha256"],
        size=head["size"],
        run=head["run_id"],
        mapping=head["mapping"],
        mapping_digest=head["mapping_digest"],
        sheet=head["sheet"],
        header_row=head["header_row"],
        rows_read=head["rows_read"],
        lines_sheet=second,
        lines_header_row=second_header_row,
        rows=tuple(rows),
        documents=tuple(document_result(found) for found in documents.values()),
        issues=tuple(issues),
        notes=tuple(json.loads(head["notes"])),
        reason=head["reason"],
        remedy=head["remedy"],
        earlier_file=head["earlier_file"],
        received_at=head["received_at"],
    )


def _issue(line: RowMapping, origin: Mapping[str, Any]) -> Issue:
    number, sheet = shown_row(line["row"], origin)
    values = {name: line[name] for name in ("rule", "column", "cell", "value", "reason", "fix")}
    return Issue(row=number, sheet=sheet, **values)
