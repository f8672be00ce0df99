"""NAME.ack.json: the receipt that a warehouse gets within minutes of dropping a file."""

import json

from logistics_batch.model.report import Fate, FileReport


def ack_json(report: FileReport) -> bytes:
    """The receipt of one file: what came, how it was read, whether it goes out, and when the result comes.

    `state` is "held" (the file as a whole; see reason and remedy), "going out" (some documents wait to be sent), or
    "nothing to send". UTF-8, one JSON object.
    """
    receipt = {
        "file": report.file,
        "size": report.size,
        "sha256": report.sha256,
        "received_at": report.received_at,
        "run": report.run,
        "mapping": report.mapping,
        "mapping_digest": report.mapping_digest,
        "sheet": report.sheet,
        "header_row": report.header_row,
        "rows_read": report.rows_read,
        "documents": report.documents.height,
        "counts": {fate.value: count for fate, count in report.counts.items()},
        "state": file_state(report),
        "reason": report.reason,
        "remedy": report.remedy,
        "result_due": report.result_due,
        "earlier_file": report.earlier_file,
        "notes": [note.reason for note in report.notes],
    }
    return (json.dumps(receipt, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace")


def file_state(report: FileReport) -> str:
    """Whether the file is held as a whole, has rows that still go out, or has nothing to send."""
    if report.reason:
        return "held"
    return "going out" if report.counts[Fate.PENDING] else "nothing to send"
