"""The end of the journal, read backwards: how long the file has become does not matter."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

Line = dict[str, Any]

BLOCK_BYTES = 256 * 1024
MOST_BYTES = 32 * 1024 * 1024


def last_lines(path: Path, *, count: int, before: int | None = None, containing: tuple[str, ...] = ()) -> list[Line]:
    """The last `count` lines, the newest first.

    before: only lines whose ``seq`` is smaller. containing: only lines with one of these texts, as JSON writes them;
    the last 32 MiB of the file are searched for them.
    """
    needles = [json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "backslashreplace") for text in containing]

    def wanted(line: bytes) -> bool:
        return not needles or any(needle in line for needle in needles)

    found: list[Line] = []
    with path.open("rb") as file:
        for line in _backwards(file, wanted):
            if before is None or line["seq"] < before:
                found.append(line)
                if len(found) == count:
                    break
    return found


def _backwards(file: BinaryIO, wanted: Callable[[bytes], bool]) -> Iterator[Line]:
    end = file.seek(0, os.SEEK_END)
    stop = max(0, end - MOST_BYTES)
    rest = b""
    while end > stop:
        start = max(stop, end - BLOCK_BYTES)
        file.seek(start)
        parts = (file.read(end - start) + rest).split(b"\n")
        rest, whole = parts[0], parts[1:]
        yield from (json.loads(line) for line in reversed(whole) if line and wanted(line))
        end = start
    if stop == 0 and rest and wanted(rest):
        yield json.loads(rest)
