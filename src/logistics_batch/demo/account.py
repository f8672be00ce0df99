"""What the demo tells at its end: fates by file, discrepancies by class, the bundle, and where to open what.

The account is plain data, as `demo --json` prints it. A file to open is {server_path, path}: where it lies on the SFTP
server ("" if only here), and on this machine.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.run import answers_of_run
from logistics_batch.messages.words import rupees
from logistics_batch.model.discrepancy import MEANINGS, ComparedOutcome, Discrepancy
from logistics_batch.model.report import Fate, FileReport, RunReport
from logistics_batch.model.run_reports import LabelReport, OrderStatusReport, ReconcileReport
from logistics_batch.paper.answers.row_answers import answered

Account = dict[str, Any]

_BAD = (Fate.INVALID, Fate.REFUSED, Fate.HELD, Fate.IN_DOUBT)
_UNFINISHED = (Fate.IN_DOUBT, Fate.HELD, Fate.PENDING, Fate.REFUSED)
_NOUNS = {"order.create": "order", "asn.create": "ASN"}
_OUTCOMES_SAY = {
    ComparedOutcome.EXCEPTION: "",
    ComparedOutcome.MATCHED: "Announced, in the service and received alike.",
    ComparedOutcome.WITHIN_TOLERANCE: "Differs, but by no more than the job tolerates.",
    ComparedOutcome.TOO_EARLY: "Not due yet.",
    ComparedOutcome.OUTSIDE_WINDOW: "Read because something in the window points to it; not judged.",
}


def opened(root: Path, server_path: str) -> Account:
    """A file of the SFTP server whose root is that folder."""
    return {"server_path": server_path, "path": str(root / server_path.lstrip("/"))}


def _delivered(places: Iterable[str], root: Path) -> list[Account]:
    """Files that a report names as "sftp:NAME:/path"."""
    return [opened(root, place.rpartition(":")[2]) for place in places if place.startswith("sftp:")]


def pushed_files(parts: Parts, report: RunReport, root: Path) -> list[Account]:
    """What became of each spreadsheet of a push: rows by fate, documents that the service took, and bad rows."""
    answers = answers_of_run(parts, report.run)
    return [_file(report, file, places, root) for file, (_, places) in zip(report.files, answers, strict=True)]


def _file(report: RunReport, file: FileReport, places: Iterable[str], root: Path) -> Account:
    nouns = Counter(_NOUNS.get(operation, "document") for operation in file.documents["operation"])
    named = ("row", "fate", "document", "column", "cell", "value", "reason", "fix")
    beside = [
        opened(root, str(stem.with_name(path.name)))
        for stem in (PurePosixPath(each["server_path"]) for each in _delivered(places, root))
        for path in sorted((root / str(stem.parent).lstrip("/")).glob(f"{stem.name}.*"))
    ]
    return {
        "job": report.job,
        "run": report.run,
        "file": file.file,
        "rows": file.rows_read,
        "counts": {fate.value: count for fate, count in file.counts.items() if count},
        "noun": nouns.most_common(1)[0][0] if nouns else "document",
        "sent": file.documents.filter(state="accepted").height,
        "of_documents": file.rows.filter(pl.col("document") != "")["document"].n_unique(),
        "bad_rows": answered(file).filter(pl.col("fate").is_in(_BAD)).select(named).to_dicts(),
        "answers": beside,
        "held": file.reason,
    }


def comparison(report: ReconcileReport, root: Path) -> Account:
    """What the comparison of ASNs found, by class."""
    document = report.document
    first, last = (date.fromisoformat(document["window"][end]) for end in ("from", "to"))
    return {
        "window": f"{document['window']['by']} {first:%d %b} to {last:%d %b %Y}",
        "complete": report.complete,
        "lines": document["totals"]["lines"],
        "exceptions": document["totals"]["exceptions"],
        "classes": [_class(row) for row in document["classes"]],
        "notes": [*report.doubts, *report.notes],
        "files": _delivered(report.delivered, root),
    }


def _class(row: dict[str, Any]) -> Account:
    """A class of discrepancies, or of lines without one (severity ""); units: affected, else announced."""
    name = str(row["class"])
    is_discrepancy = name in Discrepancy.__members__
    impact = str(row["impact_inr"] or "") if is_discrepancy else ""
    return {
        "name": name,
        "severity": str(row["severity"] or ""),
        "lines": int(row["lines"]),
        "units": str(row["qty_affected" if is_discrepancy else "qty_announced"] or ""),
        "inr": impact,
        "rupees": rupees(Decimal(impact)) if impact.strip("0.") else "",
        "says": MEANINGS[Discrepancy(name)].says if is_discrepancy else _OUTCOMES_SAY[ComparedOutcome(name)],
    }


def bundle(report: LabelReport, root: Path) -> Account:
    """The print bundle; pages: of all its label files. missing: orders without a label, and why."""
    files = _delivered(report.delivered, root) or [{"server_path": "", "path": str(path)} for path in report.files]
    last: Counter[str] = Counter()  # the last page with a label, of each part
    for index in (Path(file["path"]) for file in files if file["path"].endswith("/index.csv")):
        with index.open(encoding="utf-8-sig", newline="") as lines:
            for line in csv.DictReader(lines):
                if line["page"].isdecimal():
                    last[line["part"]] = max(last[line["part"]], int(line["page"]))
    return {
        "bundle": report.bundle_id,
        "orders": report.orders,
        "labels": report.labels,
        "pages": last.total(),
        "missing": [f"{lost.reference_number or lost.awb_number}: {lost.reason}" for lost in report.missing],
        "files": files,
    }


def followed(report: OrderStatusReport, root: Path, *, announced: int) -> Account:
    """What became of the orders once they were sent; announced: events that the service sent. The feed stands first."""
    return {
        "announced": announced,
        "events": report.events,
        "asked": report.asked.asked,
        "changed": report.asked.changed,
        "fed": report.feed.orders,
        "files": _delivered((*report.feed.delivered, *report.delivered), root),
    }


def faults_of(account: Account) -> Iterator[str]:
    """What did not go as designed, in sentences. Bad rows are no fault: the samples have them on purpose."""
    sent: Counter[str] = Counter()
    for file in account["files"]:
        name, counts = file["file"], file["counts"]
        sent[file["noun"]] += file["sent"]
        if file["held"]:
            yield f"{name} was held as a whole: {file['held']}"
        if file["rows"] != sum(counts.values()):
            yield f"{name}: {file['rows']} rows were read, {sum(counts.values())} have a fate."
        for fate in _UNFINISHED:
            if counts.get(fate):
                yield f"{name}: {counts[fate]} rows are {fate.replace('_', ' ')}."
        if not file["answers"] and file["rows"]:
            yield f"{name}: no answers lie on the server."
    for noun, doubled in account["doubled"].items():
        yield from (f"The {noun} {one} was created twice." for one in doubled)
    for noun, count in sent.items():
        if count != account["created"].get(noun, 0):
            yield f"The ledger has {count} accepted {noun}s, the service's journal {account['created'].get(noun, 0)}."
    compared, labels, status = account["reconciliation"], account["labels"], account["status"]
    if compared is None:
        yield "Nothing was reconciled."
    elif not compared["complete"]:
        yield from (f"The reconciliation may be incomplete: {note}" for note in compared["notes"])
    if labels is None:
        yield "No labels were made."
    elif labels["orders"] != sent["order"]:
        yield f"{labels['orders']} orders have labels, {sent['order']} were accepted."
    if status is None:
        yield "Nobody asked what became of the orders."
        return
    if status["events"] < status["announced"]:
        yield f"{status['events']} events came in, {status['announced']} were sent."
    if status["fed"] != sent["order"]:
        yield f"The feed tells of {status['fed']} orders, {sent['order']} were accepted."
