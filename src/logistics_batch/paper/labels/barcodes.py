"""Reads a label's barcodes back as a scanner does, from the rendered page, and says whose label it proves to be.

Page count and text prove nothing: a service that mixes up two orders gives a sound PDF for each. The libraries that
render and scan come with the extra `barcodes`; without them nothing is proven, and nothing is refused.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib.util import find_spec
from typing import Any, TypeVar

from logistics_batch.paper.labels.check import LabelFault, LabelFaultKind

_DOTS_PER_INCH = (203, 300)  # as thermal printers have them; the finer one where the first reads nothing
_LARGEST_SIDE = 4000  # pixels: an A3 page at 203 dpi, and no more memory than that
_AWB = re.compile(r"\bSH-[0-9A-Z]+(?:-[0-9A-Z]+)*")  # API §4.6


class Proof(StrEnum):
    """What the barcodes of a label say."""

    PROVEN = "proven"
    UNREAD = "unread"  # no barcode that names an AWB
    NOT_TRIED = "not_tried"  # the libraries are not installed


def can_read_barcodes() -> bool:
    """Whether what renders and scans is installed."""
    return all(find_spec(name) is not None for name in ("pypdfium2", "zxingcpp"))


def read_barcodes(content: bytes) -> list[list[str]] | None:
    """The texts of the barcodes on each page of a sound PDF; None where nothing can read them."""
    if not can_read_barcodes():
        return None
    import zxingcpp

    def texts_of(render: Render) -> list[str]:
        found = (zxingcpp.read_barcodes(render(dots)) for dots in _DOTS_PER_INCH)
        return next(([code.text for code in codes] for codes in found if codes), [])

    return look_at_pages(content, texts_of, unreadable=list[str]())


Seen = TypeVar("Seen")
Render = Callable[[int], Any]
"""A page as a picture (of the library pillow, in shades of grey) with so many dots per inch, or as many as we allow."""


def look_at_pages(content: bytes, look: Callable[[Render], Seen], *, unreadable: Seen) -> list[Seen]:
    """What is seen on each page of a sound PDF; `unreadable` on all where a page cannot be rendered."""
    import pypdfium2

    def looked_at(page: Any) -> Seen:
        allowed = _LARGEST_SIDE / max(*page.get_size(), 1)
        return look(lambda dots: page.render(scale=min(dots / 72, allowed), grayscale=True).to_pil())

    pdf = pypdfium2.PdfDocument(content)
    try:
        return [looked_at(page) for page in pdf]
    except pypdfium2.PdfiumError:
        return [unreadable for _ in range(len(pdf))]
    finally:
        pdf.close()


def prove(pages: Sequence[Sequence[str]] | None, awb_numbers: Sequence[str]) -> Proof:
    """Whether each page carries the AWB that is awaited on it; raises LabelFault for that of something else.

    awb_numbers: of the pages, in their order.
    """
    if pages is None:
        return Proof.NOT_TRIED
    proof = Proof.PROVEN
    for number, (texts, awb_number) in enumerate(zip(pages, awb_numbers, strict=True), start=1):
        if any(_names(text, awb_number) for text in texts):
            continue
        other = next((found[0] for text in texts if (found := _AWB.search(text))), None)
        if other is not None:
            words = f"the barcode on page {number} is that of another package, {other}"
            raise LabelFault(LabelFaultKind.WRONG, words)
        proof = Proof.UNREAD
    return proof


def assign(pages: Sequence[Sequence[str]] | None, awb_numbers: Sequence[str]) -> list[int] | None:
    """The page, from 0, of each AWB, if every AWB is on exactly one page and every page carries exactly one of them."""
    if pages is None or len(pages) != len(awb_numbers):
        return None
    on_page = [
        {awb_number for awb_number in awb_numbers if any(_names(text, awb_number) for text in texts)} for texts in pages
    ]
    if any(len(found) != 1 for found in on_page):
        return None
    place = {found.pop(): number for number, found in enumerate(on_page)}
    return [place[awb_number] for awb_number in awb_numbers] if len(place) == len(awb_numbers) else None


def _names(text: str, awb_number: str) -> bool:
    return re.search(rf"(?<![0-9A-Za-z]){re.escape(awb_number)}(?![0-9A-Za-z])", text) is not None
