"""Debian's chromium, without a window and without a proxy, for the tests that look at pages as people do."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
NEEDS_CHROMIUM = [
    pytest.mark.real,
    pytest.mark.skipif(not CHROMIUM.exists() and "CI" not in os.environ, reason="no chromium here"),
]


@pytest.fixture(scope="module", name="browser")
def chromium() -> Iterator[Browser]:
    """One for all tests of a module."""
    with sync_playwright() as player:
        yield player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--no-proxy-server"])
