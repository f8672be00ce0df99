"""The page on an unknown spreadsheet is done, word by word, by a reader who types what stands there."""

import re
from pathlib import Path

import pytest
from docs.console import Reader
from docs.pages import ROOT, blocks

PAGE = ROOT / "docs/how-to/map-a-new-layout.md"


@pytest.mark.slow
def test_the_page_works_as_it_is_written(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        for block in blocks(PAGE):
            reader.follow(block)
    finally:
        reader.close()


def test_every_layout_is_listed_with_what_it_makes() -> None:
    parts = re.findall(r"^\*\*([a-z_.]+)\*\*\n\n((?:[- ] .*\n)+)", PAGE.read_text("utf-8"), re.MULTILINE)
    listed = {
        name: operation for operation, items in parts for name in re.findall(r"^- `(\w+)`: ", items, re.MULTILINE)
    }
    shipped = {path.stem: path.read_text("utf-8") for path in (ROOT / "mappings").glob("*.yaml")}
    made = {name: re.findall(r"^operation: (\S+)$", text, re.MULTILINE) for name, text in shipped.items()}
    assert made == {name: [operation] for name, operation in listed.items()}
