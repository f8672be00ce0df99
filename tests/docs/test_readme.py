"""The README shows what the demo really prints."""

import subprocess
import sys
from pathlib import Path

import pytest
from docs.console import agrees, environment
from docs.pages import ROOT, blocks


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    shown = next(block.text for block in blocks(ROOT / "README.md") if "spreadsheets" in block.text)
    demo = [sys.executable, "-m", "logistics_batch", "demo", "--dir", str(tmp_path / "demo")]
    done = subprocess.run(demo, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert agrees(f"…\n{shown.strip()}\n…", done.stdout), done.stdout
