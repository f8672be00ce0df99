"""Label files are opened for the first time in a process of its own, with little memory and time, and no environment.

A hostile PDF can make a parser hang, eat all memory or crash. Here that costs one child process, and its label is
listed as missing. What the child found sound was put together and rendered there once; only such files are bundled.
"""

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import LifoQueue
from typing import Any

from logistics_batch.paper.label_barcodes import Proof
from logistics_batch.paper.label_check import LabelFault, LabelFaultKind

_CHILD = "logistics_batch.paper.label_judge_child"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What judging one file may take: address space in bytes, seconds of processor time, seconds by the clock."""

    memory_bytes: int = 1 << 30
    cpu_seconds: int = 15
    wait_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class SoundLabel:
    """A label that may be printed: its bytes, its pages, and what its barcodes say."""

    content: bytes
    pages: int
    proof: Proof


class LabelJudge:
    """Judges label files in child processes that are kept for the next ones; safe to share between threads."""

    def __init__(self, *, processes: int = 2, allowance: Allowance | None = None) -> None:
        """Start nothing yet; `processes` files are judged at a time."""
        self._children = [_Child(allowance or Allowance()) for _ in range(processes)]
        self._idle: LifoQueue[_Child] = LifoQueue()  # one that runs already before one that has to be started
        for child in self._children:
            self._idle.put(child)

    def judge(self, content: bytes, awb_numbers: Sequence[str]) -> SoundLabel | LabelFault:
        """Whether a file is the label of these packages, a page for each, in this order."""
        said, _ = self._ask({"awb_numbers": list(awb_numbers)}, content)
        if "fault" in said:
            return LabelFault(LabelFaultKind(said["fault"]), said["message"])
        return SoundLabel(content, said["pages"], Proof(said["proof"]))

    def divide(self, content: bytes, orders: Sequence[Sequence[str]]) -> list[SoundLabel] | LabelFault:
        """One file for each order out of a file for many: only if its barcodes prove which page belongs to whom.

        orders: the AWB numbers of each order's packages.
        """
        said, bodies = self._ask({"orders": [list(awb_numbers) for awb_numbers in orders]}, content)
        if "fault" in said:
            return LabelFault(LabelFaultKind(said["fault"]), said["message"])
        return [SoundLabel(body, len(order), Proof.PROVEN) for body, order in zip(bodies, orders, strict=True)]

    def close(self) -> None:
        """End the child processes."""
        for child in self._children:
            child.close()

    def _ask(self, question: dict[str, Any], content: bytes) -> tuple[dict[str, Any], list[bytes]]:
        child = self._idle.get()
        try:
            answer = child.ask(question, content)
        finally:
            self._idle.put(child)
        if answer is None:
            kind, message = LabelFaultKind.COSTLY, "opening the PDF takes more memory or time than a label may"
            return {"fault": kind, "message": message}, []
        return answer


class _Child:
    """One process, started when it is needed."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: dict[str, Any], content: bytes) -> tuple[dict[str, Any], list[bytes]] | None:
        """The answer with its files, None if the process died of the question or took too long."""
        used = self._process is not None
        answer = self._answer(question, content)
        if used and answer is None:  # the kept process may have died of something else: a fresh one judges
            answer = self._answer(question, content)
        return answer

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(BrokenPipeError):
                        pipe.close()

    def _answer(self, question: dict[str, Any], content: bytes) -> tuple[dict[str, Any], list[bytes]] | None:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        head = question | {"length": len(content), "cpu_seconds": self._allowance.cpu_seconds}
        try:
            process.stdin.write(json.dumps(head).encode() + b"\n" + content)
            process.stdin.flush()
            line = _line_within(process.stdout, self._allowance.wait_seconds)
            said: dict[str, Any] = json.loads(line) if line else {}
            bodies = [process.stdout.read(length) for length in said.get("bodies", ())]
        except BrokenPipeError:
            said = {}
        if not said or any(len(body) < length for body, length in zip(bodies, said.get("bodies", ()), strict=True)):
            self.close()
            return None
        return said, bodies

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                [sys.executable, "-m", _CHILD, str(self._allowance.memory_bytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # a parser's last words may hold what stands on the label
                env={
                    "PYTHONPATH": os.pathsep.join(place for place in sys.path if place),
                    "LC_ALL": "C.UTF-8",
                },
                start_new_session=True,  # Ctrl-C is for us; it ends when its input does
            )
        return self._process


def _line_within(pipe: Any, seconds: float) -> bytes:
    """The next line of a pipe; b"" if it ends or nothing comes in time."""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        line: bytes = pipe.readline() if selector.select(seconds) else b""
    return line if line.endswith(b"\n") else b""
