"""What is struck through in the cells of an .xlsx workbook: somebody took it back, in whole or in part.

Few workbooks have any: the sign of it is looked for before anything else is.
"""

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from logistics_batch.intake.guards import part_blocks
from logistics_batch.intake.xlsx_parts import TEXTS_PART, is_struck
from logistics_batch.intake.xml_events import read_events

Struck = tuple[str, str]
"""The text that is struck through, and the text that is left."""

_SIGN: Final = b"strike"
_CELL_BEGIN, _CELL_END = b"<c ", b"</c>"
_SHARED_CELL: Final = re.compile(rb"<c ([^<>]*)>\s{0,9}<v>\s{0,9}(\d{1,9})\s{0,9}</v>")
_IS_SHARED: Final = re.compile(rb'\bt="s"').search


@dataclass(frozen=True, slots=True)
class CellOfText:
    """A cell's tag, and what of its text is struck through and what is left."""

    tag: bytes
    struck: Struck


def shared_struck(archive: zipfile.ZipFile) -> dict[int, Struck]:
    """Of the texts that cells share those that are struck through, if only in part, by their numbers from 0.

    Raises ValueError where they are no XML.
    """
    if TEXTS_PART not in archive.namelist() or not any(
        _SIGN in block for block in part_blocks(archive, TEXTS_PART, end=b"</si>")
    ):
        return {}
    texts = _Texts("si")
    with archive.open(TEXTS_PART) as stream:
        read_events(stream, start=texts.start, end=texts.end, text=texts.text)
    return texts.found


def struck_cells(block: bytes, shared: dict[int, Struck]) -> Iterator[CellOfText]:
    """The cells among some rows whose text is struck through, if only in part; not those whose style says so."""
    if shared:
        for found in _SHARED_CELL.finditer(block):
            if (struck := shared.get(int(found[2]))) and _IS_SHARED(found[1]):
                yield CellOfText(found[1], struck)
    done, sign = 0, block.find(_SIGN)
    while sign >= 0:
        begin, end = block.rfind(_CELL_BEGIN, done, sign), block.find(_CELL_END, sign)
        done = end if begin >= 0 and end >= 0 else sign + 1
        if done == end and (struck := _within(block[begin : end + len(_CELL_END)])):
            yield CellOfText(block[begin : block.find(b">", begin)], struck)
        sign = block.find(_SIGN, done)


def _within(cell: bytes) -> Struck | None:
    """The texts of a cell that has its own."""
    texts = _Texts("is")
    read_events(io.BytesIO(cell), start=texts.start, end=texts.end, text=texts.text)
    return texts.found.get(0)


class _Texts:
    """Gathers, for each element of a name, which of its text is struck through."""

    def __init__(self, element: str) -> None:
        self.found: dict[int, Struck] = {}
        self._element = element
        self._count = 0
        self._struck: list[str] = []
        self._left: list[str] = []
        self._is_struck = self._is_text = False

    def start(self, path: list[str], attributes: dict[str, str]) -> None:
        name = path[-1]
        if name == "r":
            self._is_struck = False
        elif name == "strike":
            self._is_struck = is_struck(attributes)
        elif name == "t":
            self._is_text = "rPh" not in path  # how a word is spoken is no part of it

    def text(self, text: str) -> None:
        if self._is_text:
            (self._struck if self._is_struck else self._left).append(text)

    def end(self, name: str) -> None:
        if name == "t":
            self._is_text = False
        elif name == "r":
            self._is_struck = False
        elif name == self._element:
            struck, left = "".join(self._struck).strip(), "".join(self._left).strip()
            if struck:
                self.found[self._count] = struck, left
            self._count += 1
            self._struck, self._left = [], []
