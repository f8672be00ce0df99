"""Label files are opened for the first time in a process of its own, with little memory and time, and no environment.

A hostile PDF can make a parser hang, eat all memory or crash. Here that costs one child process, and its label is
listed as missing. What the child found sound was put together and rendered there once; only such files are bundled.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from queue import LifoQueue
from typing import Any

import pikepdf

from logistics_batch.child_process import Allowance, Child, ChildAnswer, ChildFailed, ChildLost
from logistics_batch.paper.labels.barcodes import Proof, assign, prove, read_barcodes, zpl_of
from logistics_batch.paper.labels.check import LabelFault, LabelFaultKind, check_label, limit_decoding
from logistics_batch.paper.labels.fit import fit_to_stock
from logistics_batch.paper.labels.layout import Fitted, StockLayout
from logistics_batch.paper.labels.parts import PartWriter, Sources, Sticker

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
        self._children = [Child(__name__, allowance=allowance or _ALLOWANCE) for _ in range(processes)]
        self._idle: LifoQueue[Child] = LifoQueue()  # one that runs already before one that has to be started
        for child in self._children:
            self._idle.put(child)

    def judge(self, content: bytes, awb_numbers: Sequence[str]) -> SoundLabel:
        """The label of these packages, a page for each, in this order; raises LabelFault for anything else."""
        answer = self._ask({"awb_numbers": list(awb_numbers)}, content)
        return SoundLabel(content, answer.said["pages"], Proof(answer.said["proof"]))

    def divide(self, content: bytes, orders: Sequence[Sequence[str]]) -> list[SoundLabel]:
        """One file for each order out of a file for many.

        Raises LabelFault unless its barcodes prove which page belongs to whom.

        orders: the AWB numbers of each order's packages.
        """
        bodies = self._ask({"orders": [list(awb_numbers) for awb_numbers in orders]}, content).files
        return [SoundLabel(body, len(order), Proof.PROVEN) for body, order in zip(bodies, orders, strict=True)]

    def fit(self, content: bytes) -> Fitted:
        """How a label that is larger than the 4x6 stock is painted on it (see `fit`), or why it is not."""
        try:
            boxes = self._ask({"fit": True}, content).said["boxes"]
        except LabelFault as fault:
            return fault.message
        return [box and (box[0], box[1], box[2], box[3]) for box in boxes]

    def draw(self, content: bytes, dots_per_inch: int, copies: int) -> bytes:
        """The pages of a file as ZPL graphics (see `zpl_of`); raises LabelFault where one cannot be drawn."""
        (drawn,) = self._ask({"zpl": dots_per_inch, "copies": copies}, content).files
        return drawn

    def close(self) -> None:
        """End the child processes."""
        for child in self._children:
            child.close()

    def _ask(self, question: dict[str, Any], content: bytes) -> ChildAnswer:
        child = self._idle.get()
        try:
            answer = child.ask(question, content)
        except (ChildLost, ChildFailed):
            message = "opening the PDF takes more memory or time than a label may"
            raise LabelFault(LabelFaultKind.COSTLY, message) from None
        finally:
            self._idle.put(child)
        if "fault" in answer.said:
            raise LabelFault(LabelFaultKind(answer.said["fault"]), answer.said["message"])
        return answer


def answer(question: dict[str, Any], files: tuple[bytes, ...]) -> ChildAnswer:
    """In the child: what is said of one label file, with the files that it is divided into."""
    limit_decoding()
    (content,) = files
    try:
        if "zpl" in question:
            return ChildAnswer({}, (zpl_of(content, question["zpl"], copies=question["copies"]),))
        if "fit" in question:
            return ChildAnswer({"boxes": fit_to_stock(content)})
        orders = question.get("orders")
        awb_numbers = [number for order in orders for number in order] if orders else question["awb_numbers"]
        check_label(content, expected_pages=len(awb_numbers))
        _put_together(content, pages=len(awb_numbers))
        read = read_barcodes(content)
        if not orders:
            return ChildAnswer({"pages": len(awb_numbers), "proof": prove(read, awb_numbers)})
        places = assign(read, awb_numbers)
        if places is None:
            raise LabelFault(LabelFaultKind.WRONG, "its pages do not prove which label belongs to whom")
        return ChildAnswer({}, _divided(content, places, [len(order) for order in orders]))
    except LabelFault as fault:
        return ChildAnswer({"fault": fault.kind, "message": fault.message})


def _put_together(content: bytes, *, pages: int) -> None:
    """Raise LabelFault for what shows only when a file is put together with others."""
    writer = PartWriter(StockLayout.A4_4UP, Sources([io.BytesIO(content)]), total=pages)
    writer.write([Sticker(0, number) for number in range(pages)], name="", title="")
    if writer.lost:
        raise LabelFault(LabelFaultKind.DAMAGED, "the label is a damaged PDF")


def _divided(content: bytes, places: Sequence[int], counts: Sequence[int]) -> tuple[bytes, ...]:
    """The pages of each order as a file of their own."""
    files = []
    start = 0
    with pikepdf.open(io.BytesIO(content), attempt_recovery=False, suppress_warnings=True) as pdf:
        for count in counts:
            made = pikepdf.new()
            for place in places[start : start + count]:
                made.pages.append(pdf.pages[place])
            made.remove_unreferenced_resources()
            out = io.BytesIO()
            made.save(out, deterministic_id=True)
            files.append(out.getvalue())
            start += count
    return tuple(files)
