"""One file to print: many label PDFs in a declared order, nothing rescaled that a scanner has to read.

On 4x6 stock every page is the label itself, vectors and size untouched. On A4 and Letter several labels share a sheet.
Equal fonts and pictures are stored once (see `label_bundle_sharing`). A label that cannot be placed is left out and
named; the rest goes on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from pathlib import Path

import pikepdf

from logistics_batch.paper.label_bundle_layout import (
    LabelPage,
    Layout,
    Sheet,
    is_small,
    misfit,
    place,
    read_page,
    sheet_of,
    size_in_words,
)
from logistics_batch.paper.label_bundle_parts import BundlePart, PartWriter, Sticker
from logistics_batch.paper.label_bundle_slips import Slip, slips_pdf
from logistics_batch.paper.label_check import UNREADABLE

WARN_BELOW_SCALE = 0.9


@dataclass(frozen=True, slots=True)
class OrderedLabel:
    """One label file in walking order, already checked.

    order: labels of the same order stay in the same part. group: what separators and subtotals go by.
    cash: what is collected on delivery, in rupees (0 when prepaid); for the separator's total.
    """

    awb_number: str
    path: Path
    order: str
    group: str = ""
    cash: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class BundleOptions:
    """How a bundle is made.

    max_pages: of one part; an order's labels are never torn apart for it. reverse: the last label is printed first, so
    that the stack lies in walking order. separators: a slip before each group (4x6 only, from two groups on).
    """

    layout: Layout = Layout.STOCK_4X6
    max_pages: int = 200
    reverse: bool = False
    separators: bool = True
    title: str = "Labels"


@dataclass(frozen=True, slots=True)
class PlacedPage:
    """Where one page of one label is found: its number in walking order, the part and the page in it, from 1."""

    label: int
    sequence: int
    part: int
    page: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A label that is in no part, and why."""

    label: int
    reason: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """The parts, where each label is found in them (in walking order), and what is not there."""

    parts: tuple[BundlePart, ...]
    placed: tuple[PlacedPage, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """What must stay in one part."""

    stickers: tuple[Sticker, ...]


@dataclass
class _Measured:
    pages: dict[int, tuple[LabelPage, ...]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)


def build_bundle(labels: Sequence[OrderedLabel], options: BundleOptions | None = None) -> Bundle:
    """Put labels together in the given order.

    Raises nothing for a bad label file: it is listed in `left_out`. Without any good label there are no parts.
    """
    options = options or BundleOptions()
    measured = _measure(labels, options.layout)
    slips = _slips(labels, measured.pages) if options.separators and options.layout is Layout.STOCK_4X6 else {}
    slip_file = slips_pdf(list(slips.values())) if slips else b""
    blocks = _blocks(labels, measured.pages, list(slips))
    if options.reverse:
        blocks = [_Block(block.stickers[::-1]) for block in reversed(blocks)]
    sheet = sheet_of(options.layout)
    chunks = list(_chunks(blocks, options.max_pages * len(sheet.slots)))
    total = sum(sticker.label is not None for chunk in chunks for sticker in chunk)
    parts, placed = [], []
    for number, stickers in enumerate(chunks, start=1):
        name = _part_name(number, len(chunks))
        writer = PartWriter(sheet, [label.path for label in labels], slip_file)
        parts.append(writer.write(stickers, name=name, total=total, title=options.title))
        placed += _positions(stickers, number, len(sheet.slots))
    placed.sort(key=lambda one: one.sequence)
    return Bundle(tuple(parts), tuple(placed), tuple(measured.left_out), _warnings(labels, measured, sheet))


def _measure(labels: Sequence[OrderedLabel], layout: Layout) -> _Measured:
    measured = _Measured()
    for index, label in enumerate(labels):
        try:
            with pikepdf.open(label.path, attempt_recovery=False, suppress_warnings=True) as pdf:
                pages = tuple(read_page(page) for page in pdf.pages)
        except (*UNREADABLE, OSError):
            measured.left_out.append(LeftOut(index, "its kept label file cannot be read"))
            continue
        reason = next(filter(None, (misfit(page, layout) for page in pages)), "" if pages else "it has no page")
        if reason:
            measured.left_out.append(LeftOut(index, reason))
        else:
            measured.pages[index] = pages
    return measured


def _slips(labels: Sequence[OrderedLabel], pages: dict[int, tuple[LabelPage, ...]]) -> dict[str, Slip]:
    """A slip for each group, in order of first appearance; none if there is only one group."""
    members: dict[str, list[int]] = {}
    for index in pages:
        members.setdefault(labels[index].group, []).append(index)
    if len(members) < 2:
        return {}
    return {group: _slip(group, [labels[index] for index in found], pages, found) for group, found in members.items()}


def _slip(group: str, labels: list[OrderedLabel], pages: dict[int, tuple[LabelPage, ...]], indexes: list[int]) -> Slip:
    cash = {label.order: label.cash for label in labels}
    return Slip(
        title=group or "No group",
        labels=sum(len(pages[index]) for index in indexes),
        orders=len(cash),
        first_awb=labels[0].awb_number,
        last_awb=labels[-1].awb_number,
        cash=sum(cash.values(), Decimal(0)),
    )


def _blocks(labels: Sequence[OrderedLabel], pages: dict[int, tuple[LabelPage, ...]], groups: list[str]) -> list[_Block]:
    """The labels order by order, numbered; a group's slip stands before its first label."""
    blocks = []
    sequence = 0
    awaited = set(groups)
    slip_page = LabelPage((0.0, 0.0, sheet_of(Layout.STOCK_4X6).width, sheet_of(Layout.STOCK_4X6).height), 0, 1.0)
    for _, members in groupby(pages, key=lambda index: (labels[index].group, labels[index].order)):
        stickers = []
        for index in members:
            group = labels[index].group
            if group in awaited:
                awaited.discard(group)
                stickers.append(Sticker(None, groups.index(group), slip_page))
            for number, page in enumerate(pages[index]):
                sequence += 1
                stickers.append(Sticker(index, number, page, sequence))
        blocks.append(_Block(tuple(stickers)))
    return blocks


def _chunks(blocks: Iterable[_Block], slots: int) -> Iterator[list[Sticker]]:
    chunk: list[Sticker] = []
    for block in blocks:
        if chunk and len(chunk) + len(block.stickers) > slots:
            yield chunk
            chunk = []
        chunk.extend(block.stickers)
    if chunk:
        yield chunk


def _part_name(number: int, total: int) -> str:
    return "labels.pdf" if total == 1 else f"labels_part-{number:02}-of-{total:02}.pdf"


def _positions(stickers: Sequence[Sticker], part: int, slots: int) -> list[PlacedPage]:
    return [
        PlacedPage(sticker.label, sticker.sequence, part, position // slots + 1)
        for position, sticker in enumerate(stickers)
        if sticker.label is not None
    ]


def _warnings(labels: Sequence[OrderedLabel], measured: _Measured, sheet: Sheet) -> tuple[str, ...]:
    warnings = []
    scales = {place(page, sheet.slots[0]).scale for pages in measured.pages.values() for page in pages}
    lowest = min(scales, default=1.0)
    if lowest < WARN_BELOW_SCALE:
        warnings.append(
            f"labels are shrunk to {lowest:.0%} on this paper; scan one printed label of each kind before handing over"
        )
    small = [(labels[index], page) for index, pages in measured.pages.items() for page in pages if is_small(page)]
    if small:
        label, page = small[0]
        warnings.append(
            f"{len(small)} label page(s) are much smaller than 4 x 6 in (the first: {label.awb_number}, "
            f"{size_in_words(page)}); they are not enlarged"
        )
    return tuple(warnings)
