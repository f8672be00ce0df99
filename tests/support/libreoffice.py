"""LibreOffice without a window: what it makes of files when a person opens and saves them."""

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest


@functools.cache
def _profile() -> str:
    """The settings of one process of tests: to make them takes longer than to convert a file."""
    folder = Path(tempfile.mkdtemp(prefix="libreoffice-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return f"-env:UserInstallation={folder.as_uri()}"


def converted(paths: Sequence[Path], to: str) -> list[Path]:
    """The files in another format, as far as it could make them, in the folder `converted` beside the first.

    to: an ending, and a filter behind a colon where there are several.
    """
    office = shutil.which("soffice")
    if office is None:
        assert "CI" not in os.environ, "CI must have LibreOffice"
        pytest.skip("LibreOffice is not installed")
    target = paths[0].parent / "converted"
    command = [office, _profile(), "--headless", "--convert-to", to, "--outdir", str(target), *map(str, paths)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    made = (target / f"{path.stem}.{to.partition(':')[0]}" for path in paths)
    return [path for path in made if path.exists()]
