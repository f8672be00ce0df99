"""Real parts: the sandbox in another process, a workspace, the command line as a process."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import Forker, forker_of_tests
from support.sandbox_process import RunningSandbox, sandbox_for_a_test
from support.workspace import Workspace


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    yield from sandbox_for_a_test(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path, sandbox: RunningSandbox) -> Workspace:
    return Workspace(tmp_path / "workspace", url=sandbox.url)


@pytest.fixture(scope="session")
def forker() -> Forker:
    """Starts commands at once, for tests that run many of them."""
    return forker_of_tests()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    """One sandbox for all tests of a module, each of which brings orders of its own."""
    yield from sandbox_for_a_test(tmp_path_factory.mktemp("service"))
