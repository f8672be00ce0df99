"""The texts that the cells of an .xlsx workbook share, and how much they become when each cell has its own."""

import re
import zipfile
from dataclasses import dataclass
from html import unescape

import polars as pl

from logistics_batch.intake.guards import part_blocks
from logistics_batch.intake.xlsx_lines import FIELD, LINE, NotPlain, is_plain_beginning, with_codes
from logistics_batch.intake.xlsx_parts import TEXTS_PART

_ITEM_END = b"</si>"
_CELL_END = b"</c>"
_TAG = re.compile(rb"<[^<>]*>")
_CODES = {  # the longer of two that begin alike goes first
    '<si><t xml:space="preserve">': f"{LINE}p",
    "<si><t>": f"{LINE}t",
    "<si>": f"{LINE}{FIELD}",
    "</t></si>": f"{FIELD}I",
}
_NO_PLAIN_TEXT = "[&<]|_x"  # signs that stand for others, or XML within the text
_UNREADABLE = (LINE.encode(), FIELD.encode(), b"\r")
_TABLE_END = re.compile(rb"</sst>\s*")
_SHARED_CELL = re.compile(rb't="s"[^<>]*>\s*<v>\s*(\d{1,9})\s*</v>')


def text_lengths(archive: zipfile.ZipFile, *, exactly_from: int) -> list[int]:
    """The length of each shared text in characters; of those up to `exactly_from` bytes, what it is at most."""
    if TEXTS_PART not in archive.namelist():
        return []
    lengths: list[int] = []
    for block in part_blocks(archive, TEXTS_PART, end=_ITEM_END):
        for item in block.split(_ITEM_END)[:-1]:
            size = len(item)
            lengths.append(
                size if size <= exactly_from else len(unescape(_TAG.sub(b"", item).decode("utf-8", "ignore")))
            )
    return lengths


def unfolded_characters(archive: zipfile.ZipFile, part: str, lengths: list[int]) -> int:
    """At most so many characters hold the cells of a sheet that have shared texts."""
    total = 0
    for block in part_blocks(archive, part, end=_CELL_END, or_before=b"<row "):
        total += sum(lengths[at] for at in map(int, _SHARED_CELL.findall(block)) if at < len(lengths))
    return total


@dataclass(frozen=True, slots=True)
class SharedTexts:
    """The shared texts in their order. are_plain: which of them are certain; the general reader knows the others.

    part: what the general reader needs of the part that holds them; None if the workbook has none.
    """

    texts: pl.Series
    are_plain: pl.Series
    part: bytes | None


def read_shared_texts(archive: zipfile.ZipFile, *, most_characters: int) -> SharedTexts:
    """All shared texts of a workbook that are written as ordinary programs write them.

    Raises NotPlain where it is not certain how many there are, and for a text longer than `most_characters` may be.
    """
    frames = [pl.DataFrame(schema={"text": pl.String, "plain": pl.Boolean})]
    before = behind = b""
    blocks = part_blocks(archive, TEXTS_PART, end=_ITEM_END) if TEXTS_PART in archive.namelist() else iter(())
    for block in blocks:
        if _ITEM_END not in block:
            behind = block
            break
        begin = 0 if before else _begin(block)
        before = before or block[:begin]
        frames.append(_items(block[begin:], most_characters=most_characters))
    together = pl.concat(frames)
    if not before:  # there are none
        if b"<si" in behind:
            raise NotPlain
        return SharedTexts(together["text"], together["plain"], behind or None)
    if not is_plain_beginning(before) or not _TABLE_END.fullmatch(behind) or any(blocks):
        raise NotPlain
    part = before + behind if together["plain"].all() else archive.read(TEXTS_PART)
    return SharedTexts(together["text"], together["plain"], part)


def _begin(block: bytes) -> int:
    """Where the first text begins, behind the head of the part."""
    begin = block.find(b"<si>")
    if begin < 1:
        raise NotPlain
    return begin


def _items(block: bytes, *, most_characters: int) -> pl.DataFrame:
    """Some texts, and which of them are plain."""
    if any(sign in block for sign in _UNREADABLE):
        raise NotPlain
    signs = with_codes(block, _CODES)
    if b"<si" in signs or b"<!" in signs or not signs.startswith(LINE.encode()):
        raise NotPlain
    item = (
        pl.Series("item", [signs], dtype=pl.Binary)
        .cast(pl.String)
        .str.slice(1)
        .str.split(LINE)
        .explode(empty_as_null=False)
    )
    written, end_sign = (pl.col("item").str.splitn(FIELD, 2).struct[place] for place in (0, 1))
    own = written.str.slice(1)
    is_kept = written.str.starts_with("p") | (own.str.strip_chars() == own)
    found = (
        item.to_frame()
        .lazy()
        .select(
            text=pl.when(own != "").then(own),
            plain=(end_sign == "I") & is_kept & ~own.str.contains(_NO_PLAIN_TEXT),
            size=pl.col("item").str.len_bytes(),
        )
    )
    texts = found.collect(engine="in-memory")
    if (texts["size"].max() or 0) > most_characters:  # type: ignore[operator]
        raise NotPlain
    return texts.select("text", pl.col("plain").fill_null(value=False))
