"""What a file as a whole must fulfil before anything of it goes out; a dry run judges it in the same way."""

import csv
from pathlib import Path

from openpyxl import load_workbook
from support.fix_files import corrected
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace, order_lines

JOB = """
kind: push
mapping: orders
source: {folder: inbound, path: /, pattern: "*.csv", ready: {unchanged_for: 2, poll_every: 10ms}, quarantine: /rejected}
results: {folder: results, path: /}
"""
BUDGET = JOB + 'budget: {invalid_rows: "20%"}\n'


def reasons(path: Path) -> set[tuple[str, str]]:
    """Fate and reason of each row of a result."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {(line["fate"], line["reason"]) for line in csv.DictReader(file)}


def test_columns_that_moved_hold_the_file_with_one_message(workspace: Workspace, sandbox: RunningSandbox) -> None:
    workspace.job("nightly", JOB)
    header, *lines = order_lines([f"A-{number}" for number in range(12)]).splitlines()
    moved = [
        ",".join([cells[0], cells[3], cells[2], cells[1], *cells[4:]]) for cells in (line.split(",") for line in lines)
    ]
    workspace.drop("orders.csv", "\n".join([header, *moved, ""]))
    dry = workspace.run("run", "nightly", "--dry-run", "--json")
    done = workspace.run("run", "nightly", "--json")
    assert (dry.code, done.code) == (4, 4), done.err
    assert sandbox.received("order.create") == []
    ((fate, reason),) = reasons(workspace.root / "results/orders.result.csv")
    assert fate == "held"
    assert reason.startswith('All 12 rows fail alike in column "Phone"')  # and in "PIN": the first one is named
    coloured = load_workbook(workspace.root / "results/orders.result.xlsx").active
    told = [cell.comment.text for line in coloured.iter_rows(min_row=2) for cell in line if cell.comment]
    assert [reason in text for text in told] == [True]
    assert (workspace.root / "inbound/rejected/orders.csv").exists()
    assert [row["reason"] for row in dry.json["files"][0]["rows"]] == [reason] * 12


def test_more_invalid_rows_than_the_budget_allows_hold_the_file(workspace: Workspace, sandbox: RunningSandbox) -> None:
    workspace.job("nightly", BUDGET)
    good = order_lines(["A-1", "A-2", "A-3"])
    workspace.drop("orders.csv", good.replace("98765", "12345", 1))  # one row of three
    assert workspace.run("run", "nightly").code == 4
    assert sandbox.received("order.create") == []
    told = dict(reasons(workspace.root / "results/orders.result.csv"))
    assert told.keys() <= {"held", "invalid"}
    assert told["held"].endswith(f'in column "Phone", {told["invalid"]}')
    fix = workspace.root / "results/orders.fix.xlsx"  # which the job takes, though its pattern is *.csv
    workspace.drop("orders.fix.xlsx", corrected(fix, {"1234500001": "9876500001"}))
    assert workspace.run("run", "nightly").code == 0
    assert len(sandbox.committed("order.created")) == 3
    within = order_lines([f"B-{number}" for number in range(6)])
    workspace.drop("within.csv", within.replace("98765", "12345", 1))  # one row of six
    assert workspace.run("run", "nightly").code == 3
    assert len(sandbox.committed("order.created")) == 8
