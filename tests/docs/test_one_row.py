"""The page that follows one row: a row is pushed, and meets each function that the page names, in its order."""

import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from docs.pages import ROOT
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace, order_lines

from logistics_batch import wiring
from logistics_batch.cli import front
from logistics_batch.intake.limited_work import at_once

PAGE = (ROOT / "docs/one-row.md").read_text(encoding="utf-8")
NAMED = re.findall(r"^\*\*\d+\..*?\[`([\w.]+)`\]\(\.\./([\w/.]+)\)", PAGE, re.MULTILINE | re.DOTALL)
MOST_FUNCTIONS = 12
MOST_WORDS = 1_100  # two pages


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path)
    yield running
    running.stop()


def test_the_page_is_short() -> None:
    assert len(NAMED) == MOST_FUNCTIONS
    assert len(PAGE.split()) <= MOST_WORDS


def test_a_row_meets_the_functions_of_the_page_in_its_order(
    tmp_path: Path, sandbox: RunningSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path / "workspace", url=sandbox.url)
    file = workspace.drop("orders.csv", order_lines(["T-1"]))
    monkeypatch.setattr(wiring, "LimitedWork", lambda child: at_once)  # here, where it is seen
    monkeypatch.chdir(workspace.root)
    entered: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT / "src")):
            path = Path(frame.f_code.co_filename).relative_to(ROOT).as_posix()
            entered.append((frame.f_code.co_qualname, path))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        code = front.front.main(["push", str(file), "--mapping", "orders"], standalone_mode=False)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert code == 0
    story = iter(entered)
    missed = [name for name in NAMED if name not in story]  # each behind the one before
    assert missed == []
    assert "T-1" in (workspace.root / "reports/orders.result.csv").read_text(encoding="utf-8-sig")
