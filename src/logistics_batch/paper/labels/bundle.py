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
    Fitted,
    LabelPage,
    StockLayout,
    StockSheet,
    is_small,
    place,
    sheet_of,
    size_in_words,
)
from logistics_batch.paper.labels.papers import Slip, slips_pdf
from logistics_batch.paper.labels.parts import BundlePart, PartWriter, Sources, Sticker

_WARN_BELOW_SCALE = 0.9
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
class Bundle:
    """The parts, and where each label is found in them (in walking order).

    left_out: labels that are in no part, and why; the other labels of their orders are in none either.
    """

    parts: tuple[BundlePart, ...]
    placed: tuple[PlacedPage, ...]
    left_out: Mapping[int, str]
    warnings: tuple[str, ...]


_Block = tuple[str, list[Sticker]]
"""What must stay in one part, with its group."""


def build_bundle(
    labels: Sequence[OrderedLabel], options: BundleOptions | None = None, *, fit: FitLabels | None = None
) -> Bundle:
    """Put labels together in the given order.

    fit: asked for labels that are larger than the stock; without it they are left out.
    Raises nothing for a bad label file: it is listed in `left_out`. Without any good label there are no parts.
    """
    options = options or BundleOptions()
    sources = Sources([label.path for label in labels])
    lost: dict[int, str] = {}
    while True:
        torn = {labels[index].order for index in lost}
        good = {index: label.pages for index, label in enumerate(labels) if label.order not in torn}
        parts, placed, writers = _written(labels, good, options, sources)
        found = {index: reason for writer in writers for index, reason in writer.lost.items()}
        if not found:
            pages = {place: page for writer in writers for place, page in writer.pages.items()}
            warnings = tuple(_warnings(labels, placed, pages, options.layout))
            return Bundle(tuple(parts), tuple(placed), dict(sorted(lost.items())), warnings)
        lost |= found  # numbers, slips and parts are counted anew without them
        larger = [index for writer in writers for index in writer.larger]
        for index, boxes in zip(larger, fit([labels[index].path for index in larger]) if fit else (), strict=False):
            if isinstance(boxes, str):
                lost[index] = boxes
            else:
                sources.fitted[index] = boxes
                del lost[index]


def _written(
    labels: Sequence[OrderedLabel], counts: Mapping[int, int], options: BundleOptions, sources: Sources
) -> tuple[list[BundlePart], list[PlacedPage], list[PartWriter]]:
    """One try with these labels: the parts, where their pages are, and what wrote each part.

    counts: how many pages each label has.
    """
    total = sum(counts.values())
    slips = _slips(labels, counts) if options.separators and options.layout is StockLayout.STOCK_4X6 else {}
    sources.slip_file = slips_pdf(list(slips.values()), total=total) if slips else b""
    sheet = sheet_of(options.layout)
    parts, placed, writers = list[BundlePart](), list[PlacedPage](), list[PartWriter]()
    for name, stickers in _stacks(_blocks(labels, counts, list(slips)), options, len(sheet.slots)):
        writers.append(PartWriter(options.layout, sources, total=total))
        parts.append(writers[-1].write(stickers, name=name, title=options.title))
        for position, sticker in enumerate(stickers):
            page = writers[-1].pages.get((sticker.label, sticker.index)) if sticker.label is not None else None
            if sticker.label is not None and page is not None:
                boxes = sources.fitted.get(sticker.label)
                change = _change(page, sheet, is_trimmed=boxes is not None and boxes[sticker.index] is not None)
                at = position // len(sheet.slots) + 1
                placed.append(PlacedPage(sticker.label, sticker.sequence, len(parts), at, change))
    return parts, sorted(placed, key=lambda one: one.sequence), writers


def _change(page: LabelPage, sheet: StockSheet, *, is_trimmed: bool) -> str:
    """What was done to a page to fit it on the paper."""
    percent = round(place(page, sheet.slots[0]).scale * 100)
    return ", ".join(["trimmed"] * is_trimmed + [f"shrunk to {percent} %"] * (percent < 100))


def _slips(labels: Sequence[OrderedLabel], counts: Mapping[int, int]) -> dict[str, Slip]:
    """A slip for each group, in order of first appearance; none if there is only one group."""
    members: dict[str, list[int]] = {}
    for index in counts:
        members.setdefault(labels[index].group, []).append(index)
    if len(members) < 2:
        return {}
    slips, first_number = {}, 1
    for group, found in members.items():
        first, last = labels[found[0]], labels[found[-1]]
        cash = {labels[index].order: labels[index].cash for index in found}
        slips[group] = Slip(
            title=group or "No group",
            labels=sum(counts[index] for index in found),
            first_number=first_number,
            orders=len(cash),
            first_awb=first.packages[0] if first.packages else first.awb_number,
            last_awb=last.packages[-1] if last.packages else last.awb_number,
            cash=sum(cash.values(), Decimal(0)),
        )
        first_number += slips[group].labels
    return slips


def _blocks(labels: Sequence[OrderedLabel], counts: Mapping[int, int], groups: list[str]) -> list[_Block]:
    """The labels order by order, numbered; a group's slip stands before its first label."""
    blocks: list[_Block] = []
    sequence, begun = 0, set[str]()
    for (group, _), members in groupby(counts, key=lambda index: (labels[index].group, labels[index].order)):
        stickers = [Sticker(None, groups.index(group))] if group in groups and group not in begun else []
        begun.add(group)
        for index in members:
            for number in range(counts[index]):
                sequence += 1
                stickers.append(Sticker(index, number, sequence, group))
        blocks.append((group, stickers))
    return blocks


def _stacks(blocks: list[_Block], options: BundleOptions, slots: int) -> Iterator[tuple[str, list[Sticker]]]:
    """What goes into each file, with its name."""
    groups = [list(members) for _, members in groupby(blocks, key=lambda block: block[0])]
    if not options.per_group or len(groups) < 2:
        groups = [blocks]
    places = max(2, len(str(len(groups))))
    for number, members in enumerate(groups, start=1):
        stem = "labels" if len(groups) == 1 else f"labels_{number:0{places}}_{_slug(members[0][0])}"
        stacks = [stickers for _, stickers in members]
        if options.reverse:
            stacks = [stickers[::-1] for stickers in reversed(stacks)]
        chunks = list(_chunks(stacks, options.max_pages * slots))
        total = f"{len(chunks):02}"
        for part, chunk in enumerate(chunks, start=1):
            place = f"{part:0{len(total)}}-of-{total}"  # names in the order in which they are printed
            yield f"{stem}.pdf" if len(chunks) == 1 else f"{stem}_part-{place}.pdf", chunk


def _slug(group: str) -> str:
    """A group in a file name that every system takes; the number before it makes it unique."""
    return _UNFIT_FOR_A_NAME.sub("-", group).strip("-")[:40] or "group"


def _chunks(stacks: Iterable[list[Sticker]], slots: int) -> Iterator[list[Sticker]]:
    """Stacks laid together, as many as fit into so many slots."""
    chunk: list[Sticker] = []
    for stack in stacks:
        if chunk and len(chunk) + len(stack) > slots:
            yield chunk
            chunk = []
        chunk.extend(stack)
    if chunk:
        yield chunk


def _warnings(
    labels: Sequence[OrderedLabel],
    placed: Sequence[PlacedPage],
    pages: Mapping[tuple[int, int], LabelPage],
    layout: StockLayout,
) -> Iterator[str]:
    slot = sheet_of(layout).slots[0]
    lowest = min((place(page, slot).scale for page in pages.values()), default=1.0)
    changed = [each for each in placed if each.change]
    if layout is StockLayout.STOCK_4X6 and changed:
        first = labels[changed[0].label].awb_number
        yield (
            f"{len(changed)} label page(s) were larger than the 4x6 stock and were made to fit, none smaller than "
            f"{lowest:.0%} (the first: {first}); index.csv says what was done to each"
        )
    elif lowest < _WARN_BELOW_SCALE:
        shrunk = [index for (index, _), page in pages.items() if place(page, slot).scale < _WARN_BELOW_SCALE]
        yield (
            f"{len(shrunk)} label page(s) are shrunk on this paper, none to less than {lowest:.0%} (the first: "
            f"{labels[shrunk[0]].awb_number}); scan one printed label of each kind before handing over"
        )
    elif round(lowest * 100) < 100:
        yield f"labels at {lowest:.0%} of their size or more on this paper"
    small = [(labels[index], page) for (index, _), page in pages.items() if is_small(page)]
    if small:
        label, page = small[0]
        yield (
            f"{len(small)} label page(s) are much smaller than 4 x 6 in (the first: {label.awb_number}, "
            f"{size_in_words(page)}); they are not enlarged"
        )
