"""A receiver for all tests of a module, and one that a test may kill."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.receiver_process import RunningReceiver
from support.workspace import Workspace

SERVICE = "https://service.invalid"


@pytest.fixture(scope="module")
def receiver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningReceiver]:
    running = RunningReceiver(Workspace(tmp_path_factory.mktemp("shared"), url=SERVICE))
    yield running
    running.close()


@pytest.fixture
def own_receiver(tmp_path: Path) -> Iterator[RunningReceiver]:
    running = RunningReceiver(Workspace(tmp_path, url=SERVICE))
    yield running
    running.close()
