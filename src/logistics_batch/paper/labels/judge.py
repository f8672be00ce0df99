"""Label files are opened for the first time in a process of its own, with little memory and time, and no environment.

A hostile PDF can make a parser hang, eat all memory or crash. Here that costs one child process, and its label is
listed as missing. What the child found sound was put together and rendered there once; only such files are bundled.

Fits labels that are a little larger than the 4x6 stock on it, as A6 (105 x 148 mm), which many carriers send.

White margins go first; what remains is shrunk, but to no less than SMALLEST_SCALE. The result is rendered, and every
barcode that was read before must be read again.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from queue import LifoQueue
from typing import Any

import pikepdf

from logistics_batch.child_process import Allowance, Child, ChildAnswer, ChildFailed, ChildLost
from logistics_batch.paper.labels.barcodes import Proof, assign, look_at_pages, prove, read_barcodes, zpl_of
from logistics_batch.paper.labels.check import LabelFault, LabelFaultKind, check_label, limit_decoding
from logistics_batch.paper.labels.layout import (
    Box,
    Fitted,
    LabelPage,
    StockLayout,
    is_larger,
    place,
    read_page,
    sheet_of,
    size_in_words,
    too_large,
)
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


SMALLEST_SCALE = 0.92
_SCALE_ERROR = 0.0005
_WHITE = 245  # of 255; what is lighter is no ink
_ALL: Box = (0.0, 0.0, 1.0, 1.0)
_DOTS_PER_INCH = 203
_RIM = 1.0  # points that stay white around the ink


def fit_to_stock(content: bytes) -> list[Box | None]:
    """For each page of a sound label the box that is painted on the stock, None for the whole page.

    Raises LabelFault where it cannot be made to fit, and what pikepdf does with a file that cannot be read.
    """
    with pikepdf.open(io.BytesIO(content), attempt_recovery=False, suppress_warnings=True) as pdf:
        pages = [read_page(page) for page in pdf.pages]
    before = read_barcodes(content)
    if before is None:
        larger = next((page for page in pages if is_larger(page)), pages[0])
        raise LabelFault(
            LabelFaultKind.TOO_LARGE,
            too_large(larger, ', and nothing here reads barcodes back: install the extra "barcodes"'),
        )
    shares = look_at_pages(content, lambda render: _inked_share(render(_DOTS_PER_INCH)), unreadable=_ALL)
    boxes = [_trimmed(page, share) if is_larger(page) else None for page, share in zip(pages, shares, strict=True)]
    painted = [replace(page, box=box or page.box) for page, box in zip(pages, boxes, strict=True)]
    (slot,) = sheet_of(StockLayout.STOCK_4X6).slots
    scales = [place(page, slot).scale for page in painted]
    for whole, page, scale in zip(pages, painted, scales, strict=True):
        if scale < SMALLEST_SCALE - _SCALE_ERROR:
            inside = "" if page == whole else f", and {size_in_words(page)} without white margins"
            raise LabelFault(
                LabelFaultKind.TOO_LARGE,
                too_large(whole, f"{inside}: to fit it would be shrunk to {scale:.0%}, below {SMALLEST_SCALE:.0%}"),
            )
    after = read_barcodes(_on_stock(content, boxes)) or []
    for whole, scale, texts, again in zip(pages, scales, before, after, strict=True):
        if set(texts) - set(again) or (scale < 1 and not again):
            raise LabelFault(
                LabelFaultKind.TOO_LARGE, too_large(whole, f": shrunk to {scale:.0%} its barcodes cannot be read")
            )
    return boxes


def _inked_share(image: Any) -> Box:
    """The part of a picture that is not white, in shares of its width and height from its upper left corner."""
    found = image.point(lambda shade: 255 if shade < _WHITE else 0).getbbox()
    if found is None:
        return _ALL
    return found[0] / image.width, found[1] / image.height, found[2] / image.width, found[3] / image.height


def _trimmed(page: LabelPage, share: Box) -> Box | None:
    """The part of a page that is not white, with a narrow rim, in the page's own units; None where nothing goes."""
    width, height = page.shown_size
    left, top = max(0.0, share[0] - _RIM / width), max(0.0, share[1] - _RIM / height)
    right, bottom = min(1.0, share[2] + _RIM / width), min(1.0, share[3] + _RIM / height)
    if (right - left) * width > width - _RIM and (bottom - top) * height > height - _RIM:
        return None
    x1, y1, x2, y2 = {  # by how far viewers turn the page
        0: (left, 1 - bottom, right, 1 - top),
        90: (top, left, bottom, right),
        180: (1 - right, top, 1 - left, bottom),
        270: (1 - bottom, 1 - right, 1 - top, 1 - left),
    }[page.turn]
    x, y, across, up = page.box[0], page.box[1], page.box[2] - page.box[0], page.box[3] - page.box[1]
    return x + x1 * across, y + y1 * up, x + x2 * across, y + y2 * up


def _on_stock(content: bytes, boxes: Sequence[Box | None]) -> bytes:
    sources = Sources([io.BytesIO(content)], fitted={0: boxes})
    writer = PartWriter(StockLayout.STOCK_4X6, sources, total=len(boxes))
    return writer.write([Sticker(0, number) for number in range(len(boxes))], name="", title="").content
