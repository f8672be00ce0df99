"""`pytest --canary` finds a key wherever a test leaves it, and goes red."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.canary import FOLDER, KEY

LEAKS = Path(__file__).with_name("leaks.py")
FOUND = {  # by the tests that leave it there: what is said, of how many places
    ("log_line", "process", "fork"): (r"logs/\d+\.log: itself", 3),
    ("output",): (r"output of .*::test_output: itself", 1),
    ("process", "fork"): (r"logs/\d+\.said: itself", 2),
    ("file",): (r"tmp/test_file0/page\.html: itself", 1),
    ("workbook",): (r"tmp/test_workbook0/results\.xlsx: itself", 1),
    ("gzip",): (r"tmp/test_gzip0/old\.log\.gz: itself", 1),
}


def said_of(folder: Path, *leaks: str) -> tuple[int, str]:
    """Run these tests with the canary; the exit code, and what is said."""
    tests = [f"{LEAKS}::test_{leak}" for leak in leaks]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--canary", f"--basetemp={folder / 'left'}", *tests],
        env={name: value for name, value in os.environ.items() if name not in (FOLDER, KEY)},
        cwd=LEAKS.parents[2],
        capture_output=True,
        text=True,
    )
    assert f"{len(leaks)} passed" in done.stdout, done.stdout
    return done.returncode, done.stdout


@pytest.mark.slow
@pytest.mark.repeats_key
def test_a_key_that_is_left_anywhere_is_found(tmp_path: Path) -> None:
    leaks = {leak for left in FOUND for leak in left}
    code, said = said_of(tmp_path, *sorted(leaks))
    assert {left: len(set(re.findall(words, said))) for left, (words, _) in FOUND.items()} == {
        left: times for left, (_, times) in FOUND.items()
    }, said
    assert code == 1


@pytest.mark.slow
@pytest.mark.repeats_key
@pytest.mark.parametrize(
    ("leak", "words", "code"),
    [("nothing_is_left", "the key stands in 0 places", 0), ("log_is_taken_away", r"\d+\.log: a test took away", 1)],
)
def test_a_log_is_kept_to_the_end(leak: str, words: str, code: int, tmp_path: Path) -> None:
    ended, said = said_of(tmp_path, leak)
    assert re.search(words, said), said
    assert ended == code, said
