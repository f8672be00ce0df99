"""From the reports of runs to the demo's account of them."""

import csv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import polars as pl

from logistics_batch.demo.account import BadRow, FileAccount, LabelsAccount, Opened, StatusAccount
from logistics_batch.flows.parts import Parts
from logistics_batch.flows.push.run import answers_of_run
from logistics_batch.model.report import Fate, FileReport, RunReport
from logistics_batch.model.run_reports import LabelReport, OrderStatusReport
from logistics_batch.paper.answers.row_answers import answered

_BAD = (Fate.INVALID, Fate.REFUSED, Fate.HELD, Fate.IN_DOUBT)
_NOUNS = {"order.create": "order", "asn.create": "ASN"}


class ServerFolder:
    """The folder behind the SFTP server: what lies there under a path of the server."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def local(self, server_path: str) -> Path:
        """Where a file of the server lies on this machine."""
        return self.root / server_path.lstrip("/")

    def opened(self, server_path: str) -> Opened:
        """A file of the server with its place on this machine."""
        return Opened(server_path, self.local(server_path))

    def starting_with(self, server_path: str) -> tuple[Opened, ...]:
        """The files whose path begins so and goes on with a point."""
        begin = PurePosixPath(server_path)
        folder = self.local(str(begin.parent))
        names = sorted(path.name for path in folder.glob("*") if path.name.startswith(f"{begin.name}."))
        return tuple(self.opened(str(begin.parent / name)) for name in names)


def files_of(parts: Parts, report: RunReport, server: ServerFolder) -> list[FileAccount]:
    """One account for each file of a push run."""
    answers = answers_of_run(parts, report.run)
    return [
        _file(report, file, _delivered(places, server)) for file, (_, places) in zip(report.files, answers, strict=True)
    ]


def labels_of(report: LabelReport, server: ServerFolder) -> LabelsAccount:
    """The account of a print bundle."""
    files = delivered_files(report.delivered, server) or tuple(Opened("", path) for path in report.files)
    index = next((file.path for file in files if file.path.name == "index.csv"), None)
    return LabelsAccount(
        bundle=report.bundle_id,
        orders=report.orders,
        labels=report.labels,
        pages=_pages(index) if index else 0,
        missing=tuple(f"{lost.reference_number or lost.awb_number}: {lost.reason}" for lost in report.missing),
        files=files,
    )


def status_of(report: OrderStatusReport, server: ServerFolder, *, announced: int) -> StatusAccount:
    """The account of what became of the orders."""
    return StatusAccount(
        announced=announced,
        events=report.events,
        asked=report.asked.asked,
        changed=report.asked.changed,
        fed=report.feed.orders,
        files=delivered_files((*report.feed.delivered, *report.delivered), server),
    )


def _file(report: RunReport, file: FileReport, answers: tuple[Opened, ...]) -> FileAccount:
    nouns = Counter(_NOUNS.get(operation, "document") for operation in file.documents["operation"])
    return FileAccount(
        job=report.job,
        run=report.run,
        file=file.file,
        rows=file.rows_read,
        counts={fate.value: count for fate, count in file.counts.items() if count},
        noun=nouns.most_common(1)[0][0] if nouns else "document",
        sent=file.documents.filter(state="accepted").height,
        of_documents=file.rows.filter(pl.col("document") != "")["document"].n_unique(),
        bad_rows=_bad_rows(file),
        answers=answers,
        held=file.reason,
    )


def _bad_rows(file: FileReport) -> tuple[BadRow, ...]:
    wrong = answered(file).filter(pl.col("fate").is_in(_BAD))
    names = ("row", "fate", "document", "column", "cell", "value", "reason", "fix")
    return tuple(BadRow(*values) for values in wrong.select(names).iter_rows())


def _delivered(places: Iterable[str], server: ServerFolder) -> tuple[Opened, ...]:
    return tuple(found for place in places for found in server.starting_with(_path_on_server(place)))


def delivered_files(places: Iterable[str], server: ServerFolder) -> tuple[Opened, ...]:
    """Files that a report names as "sftp:NAME:/path"."""
    return tuple(server.opened(_path_on_server(place)) for place in places)


def _path_on_server(place: str) -> str:
    """The path in "sftp:NAME:/path"."""
    return place.rpartition(":")[2] if place.startswith("sftp:") else ""


def _pages(index: Path) -> int:
    """The last page with a label, over all parts of the bundle."""
    last: dict[str, int] = {}
    with index.open(encoding="utf-8-sig", newline="") as file:
        for line in csv.DictReader(file):
            if line["page"].isdecimal():
                last[line["part"]] = max(last.get(line["part"], 0), int(line["page"]))
    return sum(last.values())
