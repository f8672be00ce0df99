"""One file to print: many label PDFs in a declared order.

On 4x6 stock every page is the label itself, vectors and size untouched; one that is a little larger is fitted first
(see `fit`). On A4 and Letter several labels share a sheet. Equal fonts and pictures are stored once (see
`sharing`). A label that cannot be placed is left out with its order and named; the rest goes on.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from pathlib import Path

from logistics_batch.paper.labels.layout import (
    Box,
    Fitted,
    LabelPage,
    StockLayout,
    StockSheet,
    is_small,
    place,
    sheet_of,
    size_in_words,
)
from logistics_batch.paper.labels.parts import BundlePart, PartWriter, Sources, Sticker
from logistics_batch.paper.labels.slips import Slip, slips_pdf

WARN_BELOW_SCALE = 0.9
FitLabels = Callable[[Sequence[Path]], Sequence[Fitted]]
"""How labels that are larger than the stock are painted on it."""

_UNFIT_FOR_A_NAME = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class OrderedLabel:
    """One label file in walking order, already checked.

    order: labels of the same order stay in the same part. pages: how many the file has. group: what separators and
    subtotals go by. cash: what is collected on delivery, in rupees (0 when prepaid); for the separator's total.
    packages: the AWB on each page, where it is not `awb_number` on all.
    """

    awb_number: str
    path: Path
    order: str
    pages: int
    group: str = ""
    cash: Decimal = Decimal(0)
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BundleOptions:
    """How a bundle is made.

    max_pages: of one part; an order's labels are never torn apart for it. reverse: the last label is printed first, so
    that the stack lies in walking order. separators: a slip before each group (4x6 only, from two groups on).
    per_group: each group has files of its own.
    """

    layout: StockLayout = StockLayout.STOCK_4X6
    max_pages: int = 200
    reverse: bool = False
    separators: bool = True
    title: str = "Labels"
    per_group: bool = False


@dataclass(frozen=True, slots=True)
class PlacedPage:
    """Where one page of one label is found: its number in walking order, the part and the page in it, from 1.

    change: what was done to it, as "trimmed, shrunk to 97 %".
    """

    label: int
    sequence: int
    part: int
    page: int
    change: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A label that is in no part, and why; the other labels of its order are in none either."""

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

    group: str
    stickers: tuple[Sticker, ...]


def build_bundle(
    labels: Sequence[OrderedLabel], options: BundleOptions | None = None, *, fit: FitLabels | None = None
) -> Bundle:
    """Put labels together in the given order.

    fit: asked for labels that are larger than the stock; without it they are left out.
    Raises nothing for a bad label file: it is listed in `left_out`. Without any good label there are no parts.
    """
    options = options or BundleOptions()
    lost: dict[int, str] = {}
    fitted: dict[int, Sequence[Box | None]] = {}
    while True:
        torn = {labels[index].order for index in lost}
        good = {index: label.pages for index, label in enumerate(labels) if label.order not in torn}
        written = _written(labels, good, options, fitted)
        if not written.lost:
            break
        lost |= written.lost  # numbers, slips and parts are counted anew without them
        found = fit([labels[index].path for index in written.larger]) if fit and written.larger else ()
        for index, boxes in zip(written.larger, found, strict=False):
            if isinstance(boxes, str):
                lost[index] = boxes
            else:
                fitted[index] = boxes
                del lost[index]
    left_out = tuple(LeftOut(index, lost[index]) for index in sorted(lost))
    return Bundle(written.parts, written.placed, left_out, _warnings(labels, written, options.layout))


@dataclass(frozen=True, slots=True)
class _Written:
    """One try: `lost` are labels that turned out to be unfit, and why, `larger` those of them that are larger than the
    stock; `pages` what was painted of those that are not."""

    parts: tuple[BundlePart, ...]
    placed: tuple[PlacedPage, ...]
    lost: Mapping[int, str]
    larger: Sequence[int]
    pages: Mapping[tuple[int, int], LabelPage]


def _written(
    labels: Sequence[OrderedLabel],
    counts: dict[int, int],
    options: BundleOptions,
    fitted: Mapping[int, Sequence[Box | None]],
) -> _Written:
    total = sum(counts.values())
    slips = _slips(labels, counts) if options.separators and options.layout is StockLayout.STOCK_4X6 else {}
    slip_file = slips_pdf(list(slips.values()), total=total) if slips else b""
    sources = Sources([label.path for label in labels], slip_file, fitted)
    sheet = sheet_of(options.layout)
    stacks = list(_stacks(_blocks(labels, counts, list(slips)), options, len(sheet.slots)))
    parts: list[BundlePart] = []
    placed: list[PlacedPage] = []
    lost: dict[int, str] = {}
    larger: list[int] = []
    pages: dict[tuple[int, int], LabelPage] = {}
    for number, (name, stickers) in enumerate(stacks, start=1):
        writer = PartWriter(options.layout, sources, total=total)
        parts.append(writer.write(stickers, name=name, title=options.title))
        lost |= writer.lost
        larger += writer.larger
        pages |= writer.pages
        placed += _positions(stickers, number, sheet, writer.pages, fitted)
    placed.sort(key=lambda one: one.sequence)
    return _Written(tuple(parts), tuple(placed), lost, larger, pages)


def _slips(labels: Sequence[OrderedLabel], counts: dict[int, int]) -> dict[str, Slip]:
    """A slip for each group, in order of first appearance; none if there is only one group."""
    members: dict[str, list[int]] = {}
    for index in counts:
        members.setdefault(labels[index].group, []).append(index)
    if len(members) < 2:
        return {}
    slips, first = {}, 1
    for group, found in members.items():
        pages = sum(counts[index] for index in found)
        slips[group] = _slip(group, [labels[index] for index in found], first=first, pages=pages)
        first += pages
    return slips


def _slip(group: str, labels: list[OrderedLabel], *, first: int, pages: int) -> Slip:
    cash = {label.order: label.cash for label in labels}
    return Slip(
        title=group or "No group",
        labels=pages,
        first_number=first,
        orders=len(cash),
        first_awb=labels[0].packages[0] if labels[0].packages else labels[0].awb_number,
        last_awb=labels[-1].packages[-1] if labels[-1].packages else labels[-1].awb_number,
        cash=sum(cash.values(), Decimal(0)),
    )


def _blocks(labels: Sequence[OrderedLabel], counts: dict[int, int], groups: list[str]) -> list[_Block]:
    """The labels order by order, numbered; a group's slip stands before its first label."""
    blocks = []
    sequence = 0
    awaited = set(groups)
    for (group, _), members in groupby(counts, key=lambda index: (labels[index].group, labels[index].order)):
        stickers = []
        if group in awaited:
            awaited.discard(group)
            stickers.append(Sticker(None, groups.index(group)))
        for index in members:
            for number in range(counts[index]):
                sequence += 1
                stickers.append(Sticker(index, number, sequence, group))
        blocks.append(_Block(group, tuple(stickers)))
    return blocks


def _stacks(blocks: list[_Block], options: BundleOptions, slots: int) -> Iterator[tuple[str, list[Sticker]]]:
    """What goes into each file, with its name."""
    groups = [list(members) for _, members in groupby(blocks, key=lambda block: block.group)]
    if not options.per_group or len(groups) < 2:
        groups = [blocks]
    for number, members in enumerate(groups, start=1):
        stem = "labels" if len(groups) == 1 else f"labels_{number:02}_{_slug(members[0].group)}"
        ordered = [_Block(block.group, block.stickers[::-1]) for block in reversed(members)]
        chunks = list(_chunks(ordered if options.reverse else members, options.max_pages * slots))
        for part, stickers in enumerate(chunks, start=1):
            yield f"{stem}.pdf" if len(chunks) == 1 else f"{stem}_part-{part:02}-of-{len(chunks):02}.pdf", stickers


def _slug(group: str) -> str:
    """A group in a file name that every system takes; the number before it makes it unique."""
    return _UNFIT_FOR_A_NAME.sub("-", group).strip("-")[:40] or "group"


def _chunks(blocks: Iterable[_Block], slots: int) -> Iterator[list[Sticker]]:
    chunk: list[Sticker] = []
    for block in blocks:
        if chunk and len(chunk) + len(block.stickers) > slots:
            yield chunk
            chunk = []
        chunk.extend(block.stickers)
    if chunk:
        yield chunk


def _positions(
    stickers: Sequence[Sticker],
    part: int,
    sheet: StockSheet,
    pages: Mapping[tuple[int, int], LabelPage],
    fitted: Mapping[int, Sequence[Box | None]],
) -> Iterator[PlacedPage]:
    slots = len(sheet.slots)
    for position, sticker in enumerate(stickers):
        page = pages.get((sticker.label, sticker.index)) if sticker.label is not None else None
        if sticker.label is not None and page is not None:
            is_trimmed = sticker.label in fitted and fitted[sticker.label][sticker.index] is not None
            done = ["trimmed"] * is_trimmed
            percent = round(place(page, sheet.slots[0]).scale * 100)
            done += [f"shrunk to {percent} %"] * (percent < 100)
            yield PlacedPage(sticker.label, sticker.sequence, part, position // slots + 1, ", ".join(done))


def _warnings(labels: Sequence[OrderedLabel], written: _Written, layout: StockLayout) -> tuple[str, ...]:
    warnings = []
    slot = sheet_of(layout).slots[0]
    lowest = min((place(page, slot).scale for page in written.pages.values()), default=1.0)
    changed = [placed for placed in written.placed if placed.change]
    if layout is StockLayout.STOCK_4X6 and changed:
        first = labels[changed[0].label].awb_number
        warnings.append(
            f"{len(changed)} label page(s) were larger than the 4x6 stock and were made to fit, none smaller than "
            f"{lowest:.0%} (the first: {first}); index.csv says what was done to each"
        )
    elif lowest < WARN_BELOW_SCALE:
        warnings.append(
            f"labels are shrunk to {lowest:.0%} on this paper; scan one printed label of each kind before handing over"
        )
    elif round(lowest * 100) < 100:
        warnings.append(f"labels at {lowest:.0%} of their size on this paper")
    small = [(labels[index], page) for (index, _), page in written.pages.items() if is_small(page)]
    if small:
        label, page = small[0]
        warnings.append(
            f"{len(small)} label page(s) are much smaller than 4 x 6 in (the first: {label.awb_number}, "
            f"{size_in_words(page)}); they are not enlarged"
        )
    return tuple(warnings)
