"""A service that gives labels, and the room in which they are printed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from labels.label_service import LabelService
from labels.print_room import PrintRoom


@pytest.fixture
def service() -> Iterator[LabelService]:
    running = LabelService()
    yield running
    running.stop()


@pytest.fixture
def room(service: LabelService, tmp_path: Path) -> Iterator[PrintRoom]:
    opened = PrintRoom(tmp_path, url=service.url)
    yield opened
    opened.close()
