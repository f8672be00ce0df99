"""The tutorial is done, word by word, by a reader who types what stands there."""

from pathlib import Path

import pytest
from docs.console import Reader, agrees
from docs.pages import ROOT, blocks


@pytest.mark.slow
def test_the_tutorial_works_as_it_is_written(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        for block in blocks(ROOT / "docs/tutorial.md"):
            reader.follow(block)
    finally:
        reader.close()


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("4 rows", "4 rows", True),
        ("4 rows", "5 rows", False),
        ("4 rows", "4 rows\nand more", False),
        ("Run …, push", "Run 2026-ab, push", True),
        ("Run …, push", "Run 2026\n, push", False),
        ("a\n…\nz", "a\nb\nc\nz", True),
        ("a\n…\nz", "a\nb\nc", False),
        ("a\n…", "a\nb\nc", True),
        ("a\n…", "b\nc", False),
        ("a\n…", "a", True),
        ("", "", True),
        ("", "something", False),
    ],
)
def test_output_is_compared_with_what_a_page_shows(shown: str, printed: str, same: bool) -> None:
    assert agrees(shown, printed) is same
