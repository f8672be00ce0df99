"""The page about the sandbox: a reader follows it, its tables are those of the program."""

import re
from pathlib import Path

import pytest
from docs.console import Reader
from docs.pages import ROOT, blocks

from logistics_batch.sandbox import control

PAGE = ROOT / "docs/how-to/sandbox.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_page_works_as_it_is_written(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        for block in blocks(PAGE):
            reader.follow(block)
    finally:
        reader.close()
    journal = (tmp_path / "sandbox-data/journal.jsonl").read_text(encoding="utf-8")
    written = set(
        re.findall(r'"(\w+)":', "\n".join(re.sub(r'"body":\{.*', '"body":', line) for line in journal.splitlines()))
    )
    table = TEXT.split("## Read the journal\n")[1].split("\n## ")[0]
    described = set(re.findall(r"^- `(\w+)` \(", table, re.MULTILINE))
    assert described - written == {"kind"}, "no fault was asked for"


def test_every_control_is_named() -> None:
    named = set(re.findall(r"^- `((?:GET|POST|PUT|DELETE) /_sandbox/\S+)`: ", TEXT, re.MULTILINE))
    served = {f"{method} {route.path}" for route in control.routes.routes for method in route.methods}
    assert named - {"GET /_sandbox/"} == served
