"""One way to make a bundle, in a process of its own: `labels_ways.py WAY FOLDER`."""

import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

JUDGED = 200
NOW = "2026-11-03T21:15:00+05:30"


def ours(listed: list[dict[str, str]], folder: Path, target: Path) -> Callable[[], int]:
    """The label flow, on labels that were fetched before."""
    return _ours(listed, folder, target, layout="4x6")


def ours_4up(listed: list[dict[str, str]], folder: Path, target: Path) -> Callable[[], int]:
    """The same, four to a sheet."""
    return _ours(listed, folder, target, layout="a4-4up")


def _ours(listed: list[dict[str, str]], folder: Path, target: Path, *, layout: str) -> Callable[[], int]:
    from logistics_batch.flows.labels.labels import LabelsPlan, make_labels
    from logistics_batch.flows.labels.orders import LabelChoice
    from logistics_batch.wiring import Need, Workspace

    _plant(listed, folder, target)
    plan = LabelsPlan(
        LabelChoice(run="R1"), layout=layout, sort=("route", "sku"), max_pages=10_000, output=target / "out"
    )

    def work() -> int:
        with Workspace(target).parts(Need()) as parts:
            return make_labels(parts, plan).labels

    return work


def _plant(listed: list[dict[str, str]], folder: Path, target: Path) -> None:
    """A workspace in which these orders were accepted and their labels fetched."""
    import polars as pl

    from logistics_batch.ledger import Arrival, Outcome, StoredLabel, open_ledger
    from logistics_batch.model.document import ROWS_SCHEMA, Document, MappedFile, Operation
    from logistics_batch.model.sheet import SourceFile
    from logistics_batch.wiring import Need, Workspace

    settings = '[service]\nbase_url = "http://127.0.0.1:9"\napi_key_file = "key"\n'
    (target / "logistics-batch.toml").write_text(settings)
    (target / "key").touch(mode=0o600)
    (target / "key").write_text("benchmark-key")
    (target / "var").mkdir()
    documents = tuple(
        Document(
            key=one["reference"],
            operation=Operation.ORDER_CREATE,
            rows=(row,),
            body=json.dumps(
                {
                    "reference_number": one["reference"],
                    "customer_name": one["name"],
                    "delivery_postal_code": "560001",
                    "item_details": [{"item_name": f"SKU-{row % 37}", "item_quantity": 2}],
                }
            ),
            reference=one["reference"],
            line_rows=(row,),
            keep={"route": f"R-{row % 20}"},
        )
        for row, one in enumerate(listed, start=2)
    )
    rows = [(each.rows[0], "ready", None, number, each.key, None, "") for number, each in enumerate(documents)]
    arrival = Arrival(
        source=SourceFile("orders.csv", 100, "a" * 64, "csv"),
        mapping="orders",
        mapping_digest="d" * 64,
        operation="order.create",
        received_at=NOW,
        mapped=MappedFile(
            sheet="",
            header_row=1,
            columns=("Order No",),
            rows=pl.DataFrame(rows, schema=ROWS_SCHEMA, orient="row"),
            documents=documents,
            issues=(),
        ),
        calls={"order.create": ("POST", "/orders/shipment")},
    )
    ledger = open_ledger(f"sqlite:///{target}/var/ledger.db", account="http://127.0.0.1:9")
    ledger.runs.start("R1", job="orders", kind="push", business_date="2026-11-03", now=NOW)
    ledger.planning.plan_file("R1", arrival)
    planned = ledger.documents.stored(ledger.documents.planned_of("R1")["id"])
    ledger.attempts.step(outcomes=[], claim=planned, run="R1", now=NOW)
    awbs = {one["reference"]: one["awb_number"] for one in listed}
    outcomes = [
        Outcome(each.id, "accepted", meaning="accepted", awb_number=awbs[each.reference], accepted_run="R1")
        for each in planned
    ]
    ledger.attempts.step(outcomes=outcomes, claim=[], run="R1", now=NOW)
    ledger.labels.record_labels([StoredLabel(one["awb_number"], one["sha256"], 1, NOW) for one in listed])
    ledger.close()
    with Workspace(target).parts(Need()) as parts:
        parts.files.mkdir(parents=True, exist_ok=True)
        (parts.files / "labels").symlink_to(folder)


def qpdf(listed: list[dict[str, str]], folder: Path, target: Path) -> Callable[[], int]:
    """The program itself."""
    paths = [str(folder / f"{one['sha256']}.pdf") for one in listed]

    def work() -> int:
        out = target / "labels.pdf"
        subprocess.run(["qpdf", "--empty", "--pages", *paths, "--", str(out)], check=True)
        return _pages(out)

    return work


def pikepdf(listed: list[dict[str, str]], folder: Path, target: Path) -> Callable[[], int]:
    """As its manual has it."""
    library = importlib.import_module("pikepdf")

    def work() -> int:
        merged = library.new()
        for one in listed:
            with library.open(folder / f"{one['sha256']}.pdf") as source:
                merged.pages.extend(source.pages)
        merged.save(target / "labels.pdf")
        return len(merged.pages)

    return work


def pypdf(listed: list[dict[str, str]], folder: Path, target: Path) -> Callable[[], int]:
    """As its manual has it."""
    library = importlib.import_module("pypdf")

    def work() -> int:
        writer = library.PdfWriter()
        for one in listed:
            writer.append(folder / f"{one['sha256']}.pdf")
        writer.write(target / "labels.pdf")
        return len(writer.pages)

    return work


def judge(listed: list[dict[str, str]], folder: Path, target: Path) -> Callable[[], int]:
    """What happens to each label when it is fetched."""
    from logistics_batch.paper.labels.judge import LabelJudge

    del target
    judging = LabelJudge(processes=1)
    contents = [(one["awb_number"], (folder / f"{one['sha256']}.pdf").read_bytes()) for one in listed[:JUDGED]]
    judging.judge(contents[0][1], [contents[0][0]])  # the process starts once

    def work() -> int:
        with closing(judging):
            return sum(judging.judge(content, [awb_number]).pages for awb_number, content in contents)

    return work


def _pages(path: Path) -> int:
    with importlib.import_module("pikepdf").open(path) as made:
        return len(made.pages)


WAYS = {way.__name__: way for way in (ours, ours_4up, qpdf, pikepdf, pypdf, judge)}


def _processor_seconds() -> float:
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main(name: str, folder: Path) -> None:
    """Do it in a process of its own, and print what it took; setting up and imports do not count."""
    listed: list[dict[str, str]] = json.loads((folder / "labels.json").read_text())
    with tempfile.TemporaryDirectory() as where:
        work = WAYS[name](listed, folder, Path(where))
        began, used = time.perf_counter(), _processor_seconds()
        made = work()
        said: dict[str, Any] = {
            "seconds": time.perf_counter() - began,
            "processor": _processor_seconds() - used,
            "labels": made,
            "file_mb": sum(path.stat().st_size for path in Path(where).rglob("labels*.pdf") if path.is_file()) / 1e6,
        }
    peak = max(resource.getrusage(which).ru_maxrss for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    said["peak_mb"] = peak / 1024 if sys.platform == "linux" else peak / 1024**2
    os.write(1, json.dumps(said).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
