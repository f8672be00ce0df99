"""`pytest --canary` finds a key wherever a test leaves it, and goes red."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.canary import FOLDER, KEY

LEAKS = Path(__file__).parent / "support/leaks.py"
FOUND = {
    "nothing_is_left": "the key stands in 0 places",
    "log_line": r"logs/\d+\.log: itself",
    "output": r"output of .*::test_output: itself",
    "process": r"(?s)logs/\d+\.log: itself.*logs/\d+\.said: itself",
    "fork": r"(?s)logs/\d+\.log: itself.*logs/\d+\.said: itself",
    "file": r"tmp/test_file0/page\.html: itself",
    "workbook": r"tmp/test_workbook0/results\.xlsx: itself",
    "gzip": r"tmp/test_gzip0/old\.log\.gz: itself",
    "log_is_taken_away": r"\d+\.log: a test took away",
}


@pytest.mark.slow
@pytest.mark.repeats_key
@pytest.mark.parametrize("leak", FOUND)
def test_a_key_that_is_left_anywhere_is_found(leak: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--canary", f"--basetemp={tmp_path / 'left'}", f"{LEAKS}::test_{leak}"],
        env={name: value for name, value in os.environ.items() if name not in (FOLDER, KEY)},
        cwd=LEAKS.parents[2],
        capture_output=True,
        text=True,
    )
    assert "1 passed" in done.stdout, done.stdout
    assert re.search(FOUND[leak], done.stdout), done.stdout
    assert done.returncode == (leak != "nothing_is_left"), done.stdout
