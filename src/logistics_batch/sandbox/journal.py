"""The journal: one JSON line for each thing received, committed and answered, durable before the next step.

Lines carry ``seq`` (unbroken, also across restarts), ``at`` and ``event``: ``received`` (before any effect),
``committed`` (right after the database commit and before the answer, with ``effect`` and ``effect_id``), ``answered``,
``fault``, ``dropped`` and ``lost`` (a late effect that was not allowed when its time came). API keys are replaced
wherever they stand.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any, BinaryIO

from logistics_batch.sandbox.clock import now_text

HIDDEN = "[api key]"
BLOCK_BYTES = 256 * 1024


class Journal:
    """Append-only lines in one file; all appends of one turn of the event loop share one fsync."""

    def __init__(self, path: Path, *, secrets: tuple[str, ...] = ()) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._hidden = tuple(  # the longest first: one key may begin as another does
            sorted(
                (json.dumps(secret, ensure_ascii=False)[1:-1] for secret in secrets if secret), key=len, reverse=True
            )
        )
        self.last_seq, self.last_effect_id = _continue_from(path)
        self._file: BinaryIO = path.open("ab", buffering=0)
        _sync_folder(path.parent)
        self.syncs = 0
        self._lines: list[bytes] = []
        self._flushed: asyncio.Future[None] | None = None

    async def append(self, event: str, **details: Any) -> int:
        """Write one line and return its ``seq`` when it is on the disk."""
        seq = self._add(event, details)
        if self._flushed is None:
            loop = asyncio.get_running_loop()
            self._flushed = loop.create_future()
            loop.call_soon(self.flush)
        await self._flushed
        return seq

    def append_now(self, records: list[dict[str, Any]]) -> None:
        """Write `records` (each with its ``event``) and all waiting lines at once, to be synced with the next line.

        A killed process leaves them behind; a power cut may take them, and then the database brings them back.
        """
        for record in records:
            details = dict(record)
            self._add(details.pop("event"), details)
        lines, self._lines = self._lines, []
        self._file.write(b"".join(lines))

    def flush(self) -> None:
        """Bring all waiting lines to the disk with one fsync and wake those who wait for them."""
        lines, self._lines = self._lines, []
        flushed, self._flushed = self._flushed, None
        try:
            if lines:
                self._file.write(b"".join(lines))
            os.fsync(self._file.fileno())
            self.syncs += 1
        except OSError as error:
            if flushed is not None:
                flushed.set_exception(error)
            raise
        if flushed is not None and not flushed.done():
            flushed.set_result(None)

    def tail(self, count: int) -> list[dict[str, Any]]:
        """The last `count` lines, read from the end: how long the file has become does not matter."""
        with self.path.open("rb") as file:
            start, content = file.seek(0, os.SEEK_END), b""
            while start and content.count(b"\n") <= count:
                start, end = max(0, start - BLOCK_BYTES), start
                file.seek(start)
                content = file.read(end - start) + content
        return [json.loads(line) for line in content.split(b"\n")[:-1][-count:]] if count > 0 else []

    def close(self) -> None:
        """Flush and close the file."""
        self.flush()
        self._file.close()

    def _add(self, event: str, details: dict[str, Any]) -> int:
        self.last_seq += 1
        record = {"seq": self.last_seq, "at": now_text(), "event": event, **details}
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        for secret in self._hidden:
            line = line.replace(secret, HIDDEN)
        # half a surrogate pair cannot be written as UTF-8; as an escape it stays valid JSON
        self._lines.append(line.encode("utf-8", "backslashreplace") + b"\n")
        return self.last_seq


def _continue_from(path: Path) -> tuple[int, int]:
    """Last ``seq`` and last ``effect_id`` of an existing journal, after cutting off a torn last line."""
    if not path.exists():
        return 0, 0
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(path, whole)
    seq = effect_id = 0
    for line in content[:whole].splitlines():
        record = json.loads(line)
        seq = record["seq"]
        effect_id = record.get("effect_id", effect_id)
    return seq, effect_id


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
