"""The texts that the cells of an .xlsx workbook share: how much they become when each cell has its own."""

import re
import zipfile
from html import unescape

from logistics_batch.intake.guards import part_blocks

_PART = "xl/sharedStrings.xml"
_ITEM_END = b"</si>"
_CELL_END = b"</c>"
_TAG = re.compile(rb"<[^<>]*>")
_SHARED_CELL = re.compile(rb't="s"[^<>]*>\s*<v>\s*(\d{1,9})\s*</v>')


def text_lengths(archive: zipfile.ZipFile, *, exactly_from: int) -> list[int]:
    """The length of each shared text in characters; of those up to `exactly_from` bytes, what it is at most."""
    if _PART not in archive.namelist():
        return []
    lengths: list[int] = []
    for block in part_blocks(archive, _PART, end=_ITEM_END):
        for item in block.split(_ITEM_END)[:-1]:
            size = len(item)
            lengths.append(
                size if size <= exactly_from else len(unescape(_TAG.sub(b"", item).decode("utf-8", "ignore")))
            )
    return lengths


def unfolded_characters(archive: zipfile.ZipFile, part: str, lengths: list[int]) -> int:
    """At most so many characters hold the cells of a sheet that have shared texts."""
    total = 0
    for block in part_blocks(archive, part, end=_CELL_END):
        total += sum(lengths[at] for at in map(int, _SHARED_CELL.findall(block)) if at < len(lengths))
    return total
