"""A sandbox in another process and a client for it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.sandbox_process import RunningSandbox, start_sandbox

JsonObject = dict[str, Any]


@pytest.fixture(scope="module")
def shared_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSandbox]:
    """One sandbox for all tests of a module."""
    running = start_sandbox(tmp_path_factory.mktemp("shared"), webhook_first_retry_seconds=0.05)
    yield running
    running.stop()


@pytest.fixture
def sandbox(shared_sandbox: RunningSandbox) -> Iterator[RunningSandbox]:
    """The shared sandbox without faults."""
    shared_sandbox.set_faults([])
    yield shared_sandbox
    shared_sandbox.set_faults([])


@pytest.fixture
def service(sandbox: RunningSandbox) -> Iterator[httpx.Client]:
    """A client with the right key."""
    with httpx.Client(base_url=sandbox.url, headers={"API_KEY": sandbox.api_key}, trust_env=False) as client:
        yield client


@pytest.fixture
def reference(request: pytest.FixtureRequest) -> str:
    """A reference that no other test uses."""
    return f"REF-{request.node.name}"


@pytest.fixture
def own_sandbox(tmp_path: Path) -> Iterator[RunningSandbox]:
    """A sandbox that this test may kill."""
    running = start_sandbox(tmp_path)
    yield running
    running.kill()
