"""The project's pages as data: fenced blocks, files that a reader saves, links, command lines."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "SECURITY.md",
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "benchmarks/README.md",
    ]
)

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(r"Save this as `([^`]+)`:\s*\Z")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_SPAN = re.compile(r"`(logistics-batch [^`]+)`")


@dataclass(frozen=True)
class Block:
    """A fenced block; saved_as: the file that the text before it tells the reader to write, "" if none."""

    language: str
    text: str
    line: int
    saved_as: str = ""


@dataclass(frozen=True)
class Command:
    """One command of a console block and the output that the page shows below it."""

    command: str
    shown: str
    line: int


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        saved = _SAVED.search(text, 0, match.start())
        found.append(Block(match[1], match[2], text.count("\n", 0, match.start()) + 1, saved[1] if saved else ""))
    return found


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block."""
    current: str | None = None
    line, shown = 0, []
    for number, text in enumerate(block.text.splitlines(), block.line + 1):
        if text.startswith("$ "):
            if current is not None:
                yield Command(current, "\n".join(shown), line)
            current, line, shown = text[2:], number, []
        else:
            shown.append(text)
    if current is not None:
        yield Command(current, "\n".join(shown), line)


def links(page: Path) -> list[str]:
    """Every link target of a page outside its fenced blocks."""
    return _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8")))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def command_lines(page: Path) -> list[list[str]]:
    """The arguments of every `logistics-batch …` that a page shows: in blocks, in text, in unit files and crontabs."""
    text = page.read_text(encoding="utf-8")
    prose = _FENCE.sub("", text)
    found = [span[len("logistics-batch ") :] for span in _SPAN.findall(prose)]
    for block in blocks(page):
        found += re.findall(r"(?:^\$ |^ *|/|&& |-- )logistics-batch ([^#|>\n]+)", block.text, re.MULTILINE)
    return [shlex.split(line) for line in found]
