"""Real parts: the sandbox in another process, a workspace, the command line as a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sandbox_process import RunningSandbox, start_sandbox
from support.workspace import Workspace


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    running = start_sandbox(tmp_path)
    yield running
    running.stop()


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    return Workspace(tmp_path / "workspace", url=sandbox.url)
