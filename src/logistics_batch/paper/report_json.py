"""What `push`, `run` and `mapping preview` print with --json."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from logistics_batch.model.report import DocumentResult, Fate, FileReport, RowResult, RunReport
from logistics_batch.paper.row_answers import RESULT_FIELDS, answered_rows


def report_json(report: RunReport) -> dict[str, Any]:
    """One run as plain JSON values: `{run, …, files: [{file, counts, rows, documents, …}]}`.

    Rows have the columns of NAME.result.csv (without its guards and without the source columns) and `would` in a dry
    run; `body` of a document is the very text that is sent.
    """
    return _head(report) | {"files": [_file(file) for file in report.files]}


def report_json_text(report: RunReport) -> Iterator[str]:
    """The same as indented text, in pieces: no more than one file's report is held at a time."""
    head = json.dumps(_head(report), ensure_ascii=False, indent=1)
    yield head.removesuffix("\n}") + ',\n "files": ['
    for number, file in enumerate(report.files):
        # No text of JSON holds a line break of its own.
        text = json.dumps(_file(file), ensure_ascii=False, indent=1).replace("\n", "\n  ")
        yield f"{',' if number else ''}\n  {text}"
    yield "\n ]\n}" if report.files else "]\n}"


def _head(report: RunReport) -> dict[str, Any]:
    return {
        "run": report.run,
        "job": report.job,
        "exit_code": report.exit_code,
        "stopped": report.stopped,
        "counts": _words(report.counts),
        "notes": list(report.notes),
    }


def _file(report: FileReport) -> dict[str, Any]:
    return {
        "file": report.file,
        "sha256": report.sha256,
        "size": report.size,
        "run": report.run,
        "mapping": report.mapping,
        "mapping_digest": report.mapping_digest,
        "sheet": report.sheet,
        "header_row": report.header_row,
        "rows_read": report.rows_read,
        "reason": report.reason,
        "remedy": report.remedy,
        "earlier_file": report.earlier_file,
        "notes": list(report.notes),
        "counts": _words(report.counts),
        "without_awb_number": report.without_awb_number,
        "rows": [_row(row) for row in answered_rows(report)],
        "documents": [_document(document) for document in report.documents],
    }


def _row(row: RowResult) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(row, name) for name in RESULT_FIELDS}
    values["fate"] = row.fate.value
    values["would"] = row.would
    return values


def _document(document: DocumentResult) -> dict[str, Any]:
    return asdict(document) | {"rows": list(document.rows)}


def _words(counts: dict[Fate, int]) -> dict[str, int]:
    return {fate.value: count for fate, count in counts.items()}
