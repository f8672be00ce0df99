"""Renders labels: reads their barcodes back as a scanner does, and says whose label each proves to be.

And draws them as ZPL graphics (`^GFA`), for thermal printers that draw no PDF.

Page count and text prove nothing: a service that mixes up two orders gives a sound PDF for each. The libraries that
render and scan come with the extra `barcodes`; without them nothing is proven, and nothing is refused.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib.util import find_spec
from itertools import pairwise
from typing import Any, TypeVar

from logistics_batch.paper.labels.check import LabelFault, LabelFaultKind

_DOTS_PER_INCH = (203, 300)  # as thermal printers have them; the finer one where the first reads nothing
_DARK_BELOW = 128  # of 256 shades of grey
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


def zpl_of(content: bytes, dots_per_inch: int, *, copies: int = 1) -> bytes:
    """Each page of a sound PDF as a label of black dots, in the pages' order.

    dots_per_inch: as the printer has them, 203 or 300. copies: of each label, one behind the other.

    Raises:
        LabelFault: a page cannot be drawn.
    """
    pages = look_at_pages(content, lambda render: render(dots_per_inch), unreadable=None)
    if not pages or None in pages:
        raise LabelFault(LabelFaultKind.DAMAGED, "a page cannot be drawn for this printer")
    return b"".join(_label(page.size, page.point(_is_dark, mode="1").tobytes(), copies) for page in pages)


def _is_dark(shade: int) -> int:
    return 255 if shade < _DARK_BELOW else 0


def _label(size: tuple[int, int], dots: bytes, copies: int) -> bytes:
    """dots: a bit for each, 1 is black; each row begins with a byte of its own."""
    width, height = size
    of_row = (width + 7) // 8
    rows = [dots[start : start + of_row] for start in range(0, len(dots), of_row)]
    # A row like the one above is ":", and "," is white to the right end; most of a label is one of the two.
    drawn = [_row(rows[0]), *(":" if row == above else _row(row) for above, row in pairwise(rows))]
    graphic = f"^GFA,{len(dots)},{len(dots)},{of_row},{''.join(drawn)}"
    return f"^XA^PW{width}^LL{height}^PQ{copies}^FO0,0{graphic}^FS^XZ\n".encode()


def _row(row: bytes) -> str:
    dark = row.rstrip(b"\0")
    return dark.hex().upper() + ("," if len(dark) < len(row) else "")


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
