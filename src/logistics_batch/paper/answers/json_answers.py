"""What programs read: NAME.ack.json, the receipt that a warehouse gets within minutes of dropping a file; and what
`push`, `run` and `mapping preview` print with --json."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from logistics_batch.model.report import Fate, FileReport, RunReport
from logistics_batch.paper.answers.row_answers import RESULT_FIELDS, answered_in_blocks

_BLOCK_ROWS = 20_000


def report_json_text(
    report: RunReport, *, more: dict[str, Any] | None = None, counts_only: bool = False
) -> Iterator[str]:
    """One run as a JSON document, in pieces: `{run, …, files: [{file, counts, rows, documents, …}]}`.

    Rows have the columns of NAME.result.csv (without its guards and without the source columns) and `would` in a dry
    run; `body` of a document is the very text that is sent. more: what else stands beside `files`. counts_only: of each
    file its name and counts, where the rest was written elsewhere.
    """
    yield _open(
        {
            "run": report.run,
            "job": report.job,
            "exit_code": report.exit_code,
            "stopped": report.stopped,
            "counts": _words(report.counts),
            "notes": [note.reason for note in report.notes],
        }
        | dict(more or {})
    )
    yield ' "files": ['
    for number, file in enumerate(report.files):
        yield "," if number else ""
        if counts_only:
            yield "\n" + json.dumps({"file": file.file, "counts": _words(file.counts)}, ensure_ascii=False)
        else:
            yield from _file(file)
    yield "\n ]\n}\n"


def _file(report: FileReport) -> Iterator[str]:
    yield "\n" + _open(_facts(report) | {"without_awb_number": report.without_awb_number})
    yield ' "rows": ['
    yield from _objects(rows.select(*RESULT_FIELDS, "would") for rows in answered_in_blocks(report))
    yield '],\n "documents": ['
    yield from _objects(report.documents.iter_slices(_BLOCK_ROWS))
    yield "]}"


def _facts(report: FileReport) -> dict[str, Any]:
    """What is told of a file wherever it is told."""
    return {
        "file": report.file,
        "size": report.size,
        "sha256": report.sha256,
        "run": report.run,
        "mapping": report.mapping,
        "mapping_digest": report.mapping_digest,
        "sheet": report.sheet,
        "header_row": report.header_row,
        "rows_read": report.rows_read,
        "counts": _words(report.counts),
        "reason": report.reason,
        "remedy": report.remedy,
        "earlier_file": report.earlier_file,
        "notes": [note.reason for note in report.notes],
    }


def _open(values: dict[str, Any]) -> str:
    """A JSON object that something can be added to."""
    return json.dumps(values, ensure_ascii=False, indent=1).removesuffix("\n}") + ",\n"


def _objects(blocks: Iterable[pl.DataFrame]) -> Iterator[str]:
    """Each line of these frames as an object, on a line of its own."""
    for number, block in enumerate(blocks):
        yield ",\n" if number else "\n"
        yield block.write_ndjson().removesuffix("\n").replace("\n", ",\n")  # no text of JSON holds a line break


def _words(counts: dict[Fate, int]) -> dict[str, int]:
    return {fate.value: count for fate, count in counts.items()}


def ack_json(report: FileReport) -> bytes:
    """The receipt of one file: what came, how it was read, whether it goes out, and when the result comes.

    `state` is "held" (the file as a whole; see reason and remedy), "going out" (some documents wait to be sent), or
    "nothing to send". UTF-8, one JSON object.
    """
    going_out = "going out" if report.counts[Fate.PENDING] else "nothing to send"
    receipt = _facts(report) | {
        "received_at": report.received_at,
        "documents": report.documents_of(),
        "document_counts": _words({fate: report.documents_of(fate) for fate in Fate}),
        "state": "held" if report.reason else going_out,
        "result_due": report.result_due,
    }
    return (json.dumps(receipt, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")
