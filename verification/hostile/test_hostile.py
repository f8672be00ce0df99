"""Every named hostile file is refused soon, in little memory, with words that its sender can act on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hostile.make_hostile import FILES, MEMORY_BYTES, Reading, make_all

SCRIPT = Path(__file__).with_name("make_hostile.py")


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reading]:
    """What reading each file took, as its own process and the kernel tell."""
    folder = tmp_path_factory.mktemp("hostile")
    run = subprocess.run([sys.executable, SCRIPT, folder, "--json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = [Reading(**json.loads(line)) for line in run.stdout.splitlines()]
    return {reading.name: reading for reading in found}


def test_there_are_many(readings: dict[str, Reading]) -> None:
    assert len(readings) == len(FILES) >= 100


@pytest.mark.parametrize("name", FILES)
def test_is_refused_within_the_limits_and_in_words_that_help(readings: dict[str, Reading], name: str) -> None:
    reading = readings[name]
    assert not reading.signal, f"ended by signal {reading.signal}: too much processor time, or a crash"
    assert not reading.crash
    assert reading.peak_bytes < MEMORY_BYTES
    assert FILES[name].words in reading.told
    assert reading.told.isprintable()
    assert not reading.held or (reading.remedy and reading.sent == 0)


def test_the_files_are_the_same_each_time(tmp_path: Path) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    first.mkdir()
    again.mkdir()
    small = {name for name in FILES if "megabytes" not in name and "bomb" not in name and "million" not in name}
    one, other = make_all(first, only=small), make_all(again, only=small)
    assert len(small) > 80
    assert [name for name in one if one[name].read_bytes() != other[name].read_bytes()] == []
