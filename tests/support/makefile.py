"""Targets of the Makefile as a person calls them."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNREACHABLE = re.compile(r"NewConnectionError|ConnectTimeout|Name or service not known|name resolution|ProxyError")


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A target of the Makefile; the test is skipped where the package registry cannot be reached."""
    done = subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    if done.returncode and "/.installed]" in done.stderr and UNREACHABLE.search(done.stderr):
        pytest.skip("the package registry cannot be reached")
    return done
