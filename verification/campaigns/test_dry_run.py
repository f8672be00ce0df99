"""A dry run tells beforehand what becomes of every row, as far as that does not lie with the service."""

import csv
import io
import re
from collections import Counter

import pytest
from campaigns.scale import SEED, report, size
from fuzz.test_independent_count import KINDS, written
from openpyxl import Workbook
from support.commands import Forker
from support.sandbox_process import RunningSandbox
from support.workspace import Workspace

FILES = size(9, 500)
FILES_WITH_THE_SAME_ORDERS = 10  # what came before, changed or not, counts as well
OF_THE_SERVICE = {"accepted", "refused", "in_doubt"}  # what a row that would go out may become


def rows(document: object) -> list[tuple[int, str, str]]:
    """Number, fate and rule of each row of the one file."""
    assert isinstance(document, dict)
    (file,) = document["files"]
    return [(row["row"], row["fate"], row["rule"]) for row in file["rows"]]


def dropped(kind: str, number: int) -> tuple[str, str | bytes]:
    """Name and content of a file, every fourth of which is a workbook."""
    orders = f"N{number // FILES_WITH_THE_SAME_ORDERS}-A"
    text = re.sub("(?m)^A(?=[0-9])", orders, written(kind, SEED + number))
    if number % 4 != 3:
        return f"orders-{number}.csv", text
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in csv.reader(io.StringIO(text), delimiter=";" if kind == "decimal comma" else ","):
        sheet.append(row)
    file = io.BytesIO()
    workbook.save(file)
    return f"orders-{number}.xlsx", file.getvalue()


@pytest.mark.slow
def test_a_dry_run_predicts_every_row(forker: Forker, sandbox: RunningSandbox, workspace: Workspace) -> None:
    for number, mapping in enumerate(KINDS.values()):
        workspace.mapping(f"kind{number}", mapping)
    fates: Counter[str] = Counter()
    for number in range(FILES):
        kind = number % len(KINDS)
        file = workspace.drop(*dropped(list(KINDS)[kind], number))
        arguments = ("push", file, "--mapping", f"kind{kind}", "--json")
        dry = forker.start(workspace, *arguments, "--dry-run").end()
        before = len(sandbox.received("order.create"))
        told, done = rows(dry.json), rows(forker.start(workspace, *arguments).end().json)
        assert len(told) == len(done), file.name
        for (row, would, rule), (same, fate, found) in zip(told, done, strict=True):
            assert row == same
            if would == "pending":
                assert fate in OF_THE_SERVICE, (file.name, row, fate)
            else:
                assert (fate, found) == (would, rule), (file.name, row)
            fates[fate] += 1
        assert (len(sandbox.received("order.create")) > before) == ("pending" in {would for _, would, _ in told})
    assert {"accepted", "unchanged", "invalid", "blocked", "held", "skipped"} <= set(fates)
    report("dry run", files=FILES, rows=sum(fates.values()), **fates)
