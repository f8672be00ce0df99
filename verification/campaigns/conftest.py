"""Real parts: the sandbox in another process, a workspace, and commands that start at once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import Forker, forker_of_tests
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace


@pytest.fixture(scope="session")
def forker() -> Forker:
    return forker_of_tests()


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    made = Workspace(tmp_path / "workspace", url=sandbox.url, settle_after="1s")
    made.configure("concurrency = 8")
    return made
