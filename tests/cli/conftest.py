"""The command line in this process, for what needs no process of its own."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.commands import Finished
from support.hurry import hurry
from support.workspace import Workspace

from logistics_batch.cli.front import run as run_front

Run = Callable[..., Finished]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs `logistics-batch ARGUMENTS` with `tmp_path` as the current folder; keywords set the environment.

    It waits a tenth of the time between two tries.
    """
    hurry(monkeypatch.setattr)
    umask, hook = os.umask(0o022), sys.excepthook
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("LOGISTICS_BATCH_"):
            monkeypatch.delenv(name)

    def invoke(*arguments: str | Path, **environment: str) -> Finished:
        with monkeypatch.context() as context:
            for name, value in environment.items():
                context.setenv(name, value)
            capsys.readouterr()
            code = run_front([str(argument) for argument in arguments])
            captured = capsys.readouterr()
        return Finished(code, captured.out, captured.err)

    yield invoke
    os.umask(umask)
    sys.excepthook = hook


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace whose service does not exist: nothing here may need it."""
    return Workspace(tmp_path, url="https://service.invalid")
