"""The shipped mappings: each loads, its example gives what stands beside it, every row of it has one fate.

`logistics-batch mapping test --generate` writes what is missing of an example in a workspace.
"""

import json
import re
import subprocess
import sys
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from mapping.sheets import SHIPPED, notes_in
from openpyxl import load_workbook

from logistics_batch.flows.mappings.check_mapping import Bench, try_example
from logistics_batch.intake.readers import read_file
from logistics_batch.jobs import load_jobs
from logistics_batch.mapping import Mapping, load_mapping
from logistics_batch.mapping.fields.compile import RunValues
from logistics_batch.mapping.whole_file import apply_mapping
from logistics_batch.model.document import MappedFile, Operation
from logistics_batch.model.jobs.job import LabelsJob, PushJob, ReconcileJob
from logistics_batch.operate.new_workspace import STARTERS

CHECKOUT = SHIPPED.parent
NAMES = sorted(path.stem for path in SHIPPED.glob("*.yaml"))
EXAMPLES = SHIPPED / "examples"
ZONE = "Asia/Kolkata"
PHONES_OF_NOBODY = {"9900112244", "9845098450", "7019234561", "9820145561", "9727056613", "9727056614", "9727056615"}


@cache
def load(name: str) -> Mapping:
    path = SHIPPED / f"{name}.yaml"
    return load_mapping(
        path.read_text("utf-8"),
        path=path.name,
        read_lookup=lambda file: (SHIPPED / file).read_text("utf-8"),
        updates_asns=lambda: True,
    )


def source_of(name: str) -> Path:
    (source,) = (EXAMPLES / name).glob("input.*")
    return source


@cache
def mapped(name: str) -> MappedFile:
    mapping, source = load(name), source_of(name)
    day = date.fromisoformat((EXAMPLES / name / "business_date.txt").read_text().strip())
    sheets = read_file(source, name=source.name, options=mapping.read_options)
    return apply_mapping(mapping, sheets, run_values=RunValues(source.name, day, ZONE))


def golden(name: str, file: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (EXAMPLES / name / file).read_text("utf-8").splitlines()]


def cells(path: Path) -> list[list[object]]:
    """The values of a workbook with its merged ranges and hidden tabs, or the bytes of a text file."""
    if path.suffix != ".xlsx":
        return [[path.read_bytes()]]
    book = load_workbook(path)
    tabs = [[tab.title, tab.sheet_state, sorted(map(str, tab.merged_cells))] for tab in book.worksheets]
    return [*tabs, *([*row] for tab in book.worksheets for row in tab.iter_rows(values_only=True))]


@pytest.mark.parametrize("name", NAMES)
def test_the_example_gives_its_documents_and_issues(name: str) -> None:
    assert try_example(Bench(load, EXAMPLES, ZONE, date(2026, 11, 3)), name).problems == ()


@pytest.mark.parametrize("name", NAMES)
def test_every_row_of_the_example_has_one_fate(name: str) -> None:
    """Counted in the file by itself: every row but the header once, on each sheet that is read."""
    found = mapped(name)
    for sheet, header_row in {
        "": found.header_row,
        found.lines_sheet: found.lines_header_row or found.header_row,
    }.items():
        rows = found.rows.filter(found.rows["sheet"] == sheet)["row"].to_list()
        assert len(rows) == len(set(rows))
        assert set(rows) == set(range(1, max(rows) + 1)) - {header_row}
    ready = set(found.rows.filter(found.rows["state"] == "ready", found.rows["sheet"] == "")["row"])
    assert {row for each in found.documents for row in each.rows} == ready or load(name).operation is (
        Operation.RECEIPT_READ
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_example_shows_what_goes_wrong(name: str) -> None:
    """An example without a bad row shows only half of what its mapping does."""
    assert golden(name, "issues.ndjson")
    assert all(issue["reason"] and issue["fix"] and issue["cell"] for issue in golden(name, "issues.ndjson"))
    assert golden(name, "documents.ndjson") or load(name).operation is Operation.RECEIPT_READ


@pytest.mark.parametrize("name", NAMES)
def test_every_column_of_the_example_is_mapped_kept_or_ignored(name: str) -> None:
    assert not [note for note in notes_in(mapped(name)) if "does not know" in note]


def test_no_example_stands_without_its_mapping() -> None:
    assert sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()) == NAMES


def test_every_operation_of_the_service_has_a_mapping_to_begin_from() -> None:
    assert {load(name).operation for name in NAMES} == set(Operation)


def test_the_inputs_are_what_their_script_makes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(CHECKOUT / "sample_data/make_examples.py"), str(tmp_path)], check=True)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made
    for name in made:
        (source,) = (tmp_path / name).iterdir()
        assert cells(source) == cells(source_of(name)), f"{name}: run sample_data/make_examples.py again"


@pytest.mark.parametrize("name", NAMES)
def test_nobody_real_stands_in_an_example(name: str) -> None:
    """Mail addresses of a domain that belongs to nobody, telephone numbers from the list of invented people."""
    listed = (CHECKOUT / "sample_data/people_and_goods.py").read_text("utf-8")
    known = set(re.findall(r"\b[6-9]\d{9}\b", listed)) | PHONES_OF_NOBODY
    texts = (EXAMPLES / name / "documents.ndjson").read_text("utf-8")
    assert set(re.findall(r'mobile(?:_no)?\\":\\"(\d+)', texts)) <= known
    assert set(re.findall(r"@([\w.]+)", texts)) <= {"example.com"}


def test_a_workspace_begins_with_the_mappings_of_its_jobs() -> None:
    jobs = load_jobs(CHECKOUT)
    used = {job.mapping for job in jobs if isinstance(job, PushJob)}
    used |= {job.receipts.mapping for job in jobs if isinstance(job, ReconcileJob) and job.receipts}
    assert used <= set(STARTERS) <= set(NAMES)
    assert not [name for name in STARTERS if load(name).operation is Operation.ASN_UPDATE]
    assert any(isinstance(job, LabelsJob) for job in jobs)
