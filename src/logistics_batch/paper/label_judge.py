"""Label files are opened for the first time in a process of its own, with little memory and time, and no environment.

A hostile PDF can make a parser hang, eat all memory or crash. Here that costs one child process, and its label is
listed as missing. What the child found sound was put together and rendered there once; only such files are bundled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from queue import LifoQueue
from typing import Any

from logistics_batch.child_process import Allowance, Child, ChildFailed, ChildLost
from logistics_batch.paper.label_barcodes import Proof
from logistics_batch.paper.label_bundle import Fitted
from logistics_batch.paper.label_check import LabelFault, LabelFaultKind

_CHILD = "logistics_batch.paper.label_judge_child"


_ALLOWANCE = Allowance(memory_bytes=1 << 30, resident_bytes=1 << 29, cpu_seconds=15, wait_seconds=30.0)


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
        self.processes = processes
        self._children = [Child(_CHILD, allowance=allowance or _ALLOWANCE) for _ in range(processes)]
        self._idle: LifoQueue[Child] = LifoQueue()  # one that runs already before one that has to be started
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

    def fit(self, content: bytes) -> Fitted:
        """How a label that is larger than the 4x6 stock is painted on it (see `label_fit`)."""
        said, _ = self._ask({"fit": True}, content)
        if "fault" in said:
            return str(said["message"])
        return [box and (box[0], box[1], box[2], box[3]) for box in said["boxes"]]

    def close(self) -> None:
        """End the child processes."""
        for child in self._children:
            child.close()

    def _ask(self, question: dict[str, Any], content: bytes) -> tuple[dict[str, Any], Sequence[bytes]]:
        child = self._idle.get()
        try:
            answer = child.ask(question, content)
        except (ChildLost, ChildFailed):
            kind, message = LabelFaultKind.COSTLY, "opening the PDF takes more memory or time than a label may"
            return {"fault": kind, "message": message}, ()
        finally:
            self._idle.put(child)
        return answer.said, answer.files
