"""The samples are what their script makes, the jobs find them, and the mappings name just the planted mistakes."""

import csv
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from support.workspace import Workspace

from logistics_batch.demo.stage import DROPS, read_anchor
from logistics_batch.jobs import load_jobs
from logistics_batch.model.jobs.job import LabelsJob, OrderStatusJob, PushJob, ReconcileJob

CHECKOUT = Path(__file__).parents[2]
SAMPLES = CHECKOUT / "sample_data"
ANCHOR = read_anchor(SAMPLES)


@dataclass(frozen=True)
class Expected:
    """What a sample must come to: rows by fate, documents that would go out, and each bad row's cell and rule."""

    mapping: str
    fates: dict[str, int]
    documents: int
    bad: dict[str, tuple[str, str]] = field(default_factory=dict)


EXPECTED = {
    "orders_standard_blr.xlsx": Expected(
        "orders_standard",
        {"pending": 36, "invalid": 6, "blocked": 4, "skipped": 1},
        23,
        {
            "I5": ("PIN", "56076"),
            "M8": ("Qty", "two"),
            "D15": ("Phone", "944801287"),
            "M19": ("Qty", "0"),
            "L21": ("SKU", "#N/A"),
            "K37": ("Amount", ""),
        },
    ),
    "shiprocket_orders.csv": Expected(
        "shiprocket_orders", {"pending": 17, "invalid": 1}, 14, {"H12": ("*Customer Mobile", "9.73E+09")}
    ),
    "shopify_orders_export.csv": Expected(
        "shopify_orders", {"pending": 16, "invalid": 1}, 9, {"AO12": ("Shipping Zip", "'56003")}
    ),
    "asn_bhiwandi_handmade.xlsx": Expected(
        "asn_handmade",
        {"pending": 35, "invalid": 1, "blocked": 4, "skipped": 16},
        7,
        {"K25": ("Qty (Pcs)", "5 ctn")},
    ),
    "asn_unicommerce.csv": Expected("asn_unicommerce", {"pending": 14}, 5),
}


def contents(path: Path) -> list[list[object]]:
    """Values, number formats and merged ranges of a workbook, the rows of a CSV."""
    if path.suffix == ".xlsx":
        book = load_workbook(path)
        cells: list[list[object]] = [
            [sheet.title, cell.coordinate, cell.value, cell.number_format]
            for sheet in book.worksheets
            for row in sheet.iter_rows()
            for cell in row
        ]
        return [*cells, [sorted(map(str, sheet.merged_cells)) for sheet in book.worksheets]]
    with path.open(encoding="utf-8", newline="") as file:
        return [[*row] for row in csv.reader(file)]


def test_the_committed_samples_are_what_the_script_makes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(SAMPLES / "make_samples.py"), str(tmp_path)], check=True)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(EXPECTED) == sorted(name for names in DROPS.values() for name in names)
    for name in made:
        assert contents(tmp_path / name) == contents(SAMPLES / name), f"{name}: run sample_data/make_samples.py again"


@pytest.fixture(scope="module")
def preview(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, Any]]:
    """What the shipped mapping makes of a sample, as a dry run says it; no service is asked."""
    workspace = Workspace(tmp_path_factory.mktemp("samples") / "workspace", url="http://127.0.0.1:9")
    shutil.copytree(CHECKOUT / "mappings", workspace.root / "mappings", dirs_exist_ok=True)

    @cache
    def previewed(name: str) -> dict[str, Any]:
        done = workspace.run("push", SAMPLES / name, "--mapping", EXPECTED[name].mapping, "--dry-run", "--json")
        assert done.code in (0, 3), done.err
        file: dict[str, Any] = done.json["files"][0]
        return file

    return previewed


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_sample_comes_to_what_was_planted_in_it(preview: Callable[[str], dict[str, Any]], name: str) -> None:
    expected, file = EXPECTED[name], preview(name)
    assert {fate: count for fate, count in file["counts"].items() if count} == expected.fates
    assert sum(file["counts"].values()) == file["rows_read"] == len(file["rows"])
    assert Counter(document["would"] for document in file["documents"])["create"] == expected.documents
    bad = [row for row in file["rows"] if row["fate"] == "invalid"]
    assert {row["cell"]: (row["column"], row["value"]) for row in bad} == expected.bad
    assert all(row["reason"] and row["fix"] for row in bad)


def test_rows_that_disagree_about_their_order_block_it_whole(preview: Callable[[str], dict[str, Any]]) -> None:
    rows = [row for row in preview("orders_standard_blr.xlsx")["rows"] if row["document"] == "0104529"]
    assert [row["fate"] for row in rows] == ["blocked", "blocked"]
    assert all("Addr 1" in row["reason"] and "differs" in row["reason"] for row in rows)


def test_the_order_number_that_only_its_format_shows_keeps_its_zero(preview: Callable[[str], dict[str, Any]]) -> None:
    """A6 holds the number 104514; the cell shows 0104514."""
    assert load_workbook(SAMPLES / "orders_standard_blr.xlsx").worksheets[0]["A6"].value == 104514
    row = next(row for row in preview("orders_standard_blr.xlsx")["rows"] if row["row"] == 6)
    assert row["reference_number"] == "0104514"


def test_the_sample_jobs_close_the_loop() -> None:
    """Every sample has one job that takes it, every job a schedule and a place for its answers."""
    jobs = load_jobs(CHECKOUT)
    pushes = [job for job in jobs if isinstance(job, PushJob)]
    for inbox, names in DROPS.items():
        for name in names:
            takers = [
                job.mapping
                for job in pushes
                if job.source.path == inbox and any(fnmatch(name, pattern) for pattern in job.source.pattern)
            ]
            assert takers == [EXPECTED[name].mapping]
    assert {type(job) for job in jobs} == {PushJob, ReconcileJob, LabelsJob, OrderStatusJob}
    for job in jobs:
        assert job.schedule is not None, job.name
        assert (
            not isinstance(job, PushJob | ReconcileJob | LabelsJob | OrderStatusJob) or job.results_place is not None
        ), job.name
    for push in pushes:
        assert push.source.ready.poll_every_seconds == 10
        assert push.source.archive
        assert push.source.quarantine


def test_no_sample_names_anybody_reachable() -> None:
    """Mail addresses lie in a domain that belongs to nobody."""
    for path in SAMPLES.iterdir():
        if path.suffix in (".csv", ".xlsx"):
            texts = [str(cell) for row in contents(path) for cell in row]
            assert not [text for text in texts if "@" in text and not text.endswith("@example.com")]
