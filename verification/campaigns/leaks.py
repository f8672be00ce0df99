"""Tests that leave their API key where none may stand; `test_canary.py` runs them under `--canary`."""

import gzip
import logging
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from support.canary import key_of_tests
from support.commands import Forker

_SAYS = """\
import logging, os
def main():
    logging.debug(os.environ["CANARY_KEY"])
    print(os.environ["CANARY_KEY"])
"""


def test_nothing_is_left() -> None:
    logging.getLogger("leak").debug("no key")


def test_log_line() -> None:
    logging.getLogger("leak").debug("key %s", key_of_tests())


def test_output() -> None:
    print(key_of_tests())  # noqa: T201


def test_process() -> None:
    subprocess.run([sys.executable, "-c", f"{_SAYS}main()"], capture_output=True, check=True)


def test_fork(tmp_path: Path) -> None:
    (tmp_path / "says").mkdir()
    (tmp_path / "says/__init__.py").touch()
    (tmp_path / "says/__main__.py").write_text(_SAYS)
    os.environ["PYTHONPATH"] += os.pathsep + str(tmp_path)
    forker = Forker(tmp_path)
    forker.fork("says", folder=tmp_path, environment=dict(os.environ)).end()
    forker.close()


def test_file(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(key_of_tests())


def test_workbook(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "results.xlsx", "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("xl/sharedStrings.xml", f"<t>{key_of_tests()}</t>" * 2)


def test_gzip(tmp_path: Path) -> None:
    (tmp_path / "old.log.gz").write_bytes(gzip.compress(key_of_tests().encode() * 2))


def test_log_is_taken_away() -> None:
    logging.basicConfig(force=True)
