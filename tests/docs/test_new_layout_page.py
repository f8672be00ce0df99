"""The page on an unknown spreadsheet is done, word by word, by a reader who types what stands there."""

from pathlib import Path

import pytest
from docs.console import Reader
from docs.pages import ROOT, blocks


@pytest.mark.slow
def test_the_page_works_as_it_is_written(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        for block in blocks(ROOT / "docs/how-to/map-a-new-layout.md"):
            reader.follow(block)
    finally:
        reader.close()
