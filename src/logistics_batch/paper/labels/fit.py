"""Fits labels that are a little larger than the 4x6 stock on it, as A6 (105 x 148 mm), which many carriers send.

White margins go first; what remains is shrunk, but to no less than SMALLEST_SCALE. The result is rendered, and every
barcode that was read before must be read again.
"""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pikepdf

from logistics_batch.paper.labels.barcodes import look_at_pages, read_barcodes
from logistics_batch.paper.labels.check import LabelFault, LabelFaultKind
from logistics_batch.paper.labels.layout import (
    Box,
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
