"""Writes one part of a bundle: label pages as they are, or as forms on a shared sheet."""

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

import pikepdf

from logistics_batch.paper.labels.check import UNREADABLE, LabelFault, LabelFaultKind
from logistics_batch.paper.labels.layout import (
    Box,
    LabelPage,
    StockLayout,
    is_larger,
    is_stock_size,
    place,
    read_page,
    sheet_of,
    too_large,
)
from logistics_batch.paper.labels.sharing import SharedObjects

_LONGEST_CAPTION = 70  # letters beside a label


@dataclass(frozen=True, slots=True)
class BundlePart:
    """One PDF to print."""

    name: str
    content: bytes
    pages: int


@dataclass(frozen=True, slots=True)
class Sticker:
    """One thing that takes a slot: page `index` of a label, or (label None) slip `index`."""

    label: int | None
    index: int
    sequence: int = 0
    group: str = ""


@dataclass(slots=True)
class Sources:
    """The label files, by number, and the slips.

    fitted: labels that are larger than the stock and may be painted on it all the same: for each page the box that
    remains of it, None for the whole.
    """

    files: Sequence[Path | BinaryIO]
    slip_file: bytes = b""
    fitted: dict[int, Sequence[Box | None]] = field(default_factory=dict)

    @contextmanager
    def opened(self, label: int | None) -> Iterator[pikepdf.Pdf]:
        """One of them, to copy from; raises what pikepdf does with a file that cannot be read, and OSError."""
        source = io.BytesIO(self.slip_file) if label is None else self.files[label]
        with pikepdf.open(source, attempt_recovery=False, suppress_warnings=True) as pdf:
            if any("/Annots" in page.obj for page in pdf.pages):
                pdf.flatten_annotations("print")
            yield pdf


_Placed = tuple[Sticker, pikepdf.Object, LabelPage]


class PartWriter:
    """Writes one part.

    lost: the labels that turn out to be unfit, and why. larger: those among them that go beyond the stock and have not
    been fitted. pages: what is painted of all others, by label and page.
    """

    def __init__(self, layout: StockLayout, sources: Sources, *, total: int) -> None:
        self.lost: dict[int, str] = {}
        self.larger: list[int] = []
        self.pages: dict[tuple[int, int], LabelPage] = {}
        self._layout = layout
        self._sheet = sheet_of(layout)
        self._sources = sources
        self._total = total
        self._pdf = pikepdf.new()
        self._made: list[pikepdf.Object] = []
        self._shared = SharedObjects(self._pdf)

    def write(self, stickers: Sequence[Sticker], *, name: str, title: str) -> BundlePart:
        """The part with these stickers, in this order; every slot of a sheet is filled before the next sheet."""
        size = len(self._sheet.slots)
        if size == 1:
            self._each(stickers, self._add_single)
            self._number_pages(stickers)
        else:
            forms: list[_Placed] = []
            self._each(stickers, lambda sticker, source, page: forms.append((sticker, self._form(source, page), page)))
            for start in range(0, len(forms), size):
                self._add_sheet(forms[start : start + size])
        return BundlePart(name, self._save(title), len(self._made))

    def _each(self, stickers: Sequence[Sticker], do: Callable[[Sticker, pikepdf.Page, LabelPage], None]) -> None:
        """Hand over each sticker with its source page; a file is opened once for stickers that follow each other."""
        for label, members in groupby(stickers, key=lambda sticker: sticker.label):
            try:
                with self._sources.opened(label) as pdf:
                    self._shared.next_source(pdf)
                    for sticker in members:
                        source = pdf.pages[sticker.index]
                        do(sticker, source, self._page(sticker, read_page(source)))
            except (*UNREADABLE, OSError, LabelFault) as reason:
                if label is None:
                    raise
                self.lost[label] = "its kept label file cannot be read"
                if isinstance(reason, LabelFault):
                    self.larger.append(label)
                    self.lost[label] = reason.message

    def _page(self, sticker: Sticker, page: LabelPage) -> LabelPage:
        """What is painted of a page."""
        if sticker.label is None:
            return page
        fitted = self._sources.fitted.get(sticker.label)
        if fitted is not None:
            page = replace(page, box=fitted[sticker.index] or page.box)
        elif self._layout is StockLayout.STOCK_4X6 and is_larger(page):
            raise LabelFault(LabelFaultKind.TOO_LARGE, too_large(page))
        self.pages[sticker.label, sticker.index] = page
        return page

    def _add_single(self, sticker: Sticker, source: pikepdf.Page, page: LabelPage) -> None:
        if is_stock_size(page):
            self._add_as_it_is(source, page)
        else:
            self._add_sheet([(sticker, self._form(source, page), page)])

    def _add_as_it_is(self, source: pikepdf.Page, page: LabelPage) -> None:
        """The label page itself: the visible box becomes the page, what lies outside stays outside."""
        lying = page.shown_size[0] > page.shown_size[1]
        made = self._new_page(page.box)
        made.Rotate = (page.turn + 90) % 360 if lying else page.turn
        if page.unit != 1:
            made.UserUnit = page.unit
        made.Resources = self._shared.adopt_first(source.resources)
        contents = source.obj.get("/Contents", pikepdf.Array())
        made.Contents = self._shared.adopt(contents)
        self._copy_group(source, made)
        self._append(made)

    def _add_sheet(self, forms: Sequence[_Placed]) -> None:
        made = self._new_page((0.0, 0.0, self._sheet.width, self._sheet.height))
        painted: list[str] = []
        resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary())
        for number, ((sticker, form, page), slot) in enumerate(zip(forms, self._sheet.slots, strict=False)):
            resources.XObject[f"/L{number}"] = form
            placed = place(page, slot)
            painted.append(f"q {_numbers(placed.matrix)} cm /L{number} Do Q")
            if placed.caption is not None:
                x, y, letters = placed.caption
                matrix = _numbers((0, 1, -1, 0, x, y))
                words = re.sub(r"([\\()])", r"\\\1", self._words(sticker))
                painted.append(f"BT /Caption {letters:g} Tf {matrix} Tm ({words}) Tj ET")
                resources.Font = self._caption_font()
        made.Resources = resources
        made.Contents = pikepdf.Stream(self._pdf, "\n".join(painted).encode("cp1252"))
        self._append(made)

    def _words(self, sticker: Sticker) -> str:
        """Which label of how many this is, and its group where the letters of a printer's own font will do."""
        number = f"{sticker.sequence} of {self._total}"
        words = f"{number}  \u00b7  {sticker.group}" if sticker.group else number
        try:
            words.encode("cp1252")
        except UnicodeEncodeError:
            return number
        return words if words.isprintable() and len(words) <= _LONGEST_CAPTION else number

    def _caption_font(self) -> pikepdf.Dictionary:
        return pikepdf.Dictionary(
            Caption=pikepdf.Dictionary(
                Type=pikepdf.Name.Font,
                Subtype=pikepdf.Name.Type1,
                BaseFont=pikepdf.Name("/Helvetica-Bold"),
                Encoding=pikepdf.Name.WinAnsiEncoding,
            )
        )

    def _form(self, source: pikepdf.Page, page: LabelPage) -> pikepdf.Object:
        """The label as one object that can be painted anywhere, clipped to its visible box."""
        resources = self._shared.adopt_first(source.resources)
        content, dictionary = self._content(source)
        dictionary.Type = pikepdf.Name.XObject
        dictionary.Subtype = pikepdf.Name.Form
        dictionary.BBox = pikepdf.Array(page.box)
        dictionary.Resources = resources
        self._copy_group(source, dictionary)
        return self._shared.stream(content, dictionary)

    def _content(self, source: pikepdf.Page) -> tuple[bytes, pikepdf.Dictionary]:
        contents = source.obj.get("/Contents", pikepdf.Array())
        if isinstance(contents, pikepdf.Stream):
            return contents.read_raw_bytes(), self._shared.stream_dictionary(contents)
        return b"\n".join(stream.read_bytes() for stream in contents), pikepdf.Dictionary()

    def _copy_group(self, source: pikepdf.Page, made: pikepdf.Dictionary) -> None:
        if "/Group" in source.obj:
            made.Group = self._shared.adopt(source.obj.Group)

    def _new_page(self, box: tuple[float, float, float, float]) -> pikepdf.Dictionary:
        return pikepdf.Dictionary(Type=pikepdf.Name.Page, MediaBox=pikepdf.Array(box))

    def _append(self, made: pikepdf.Dictionary) -> None:
        made.Parent = self._pdf.Root.Pages
        self._made.append(self._pdf.make_indirect(made))

    def _number_pages(self, stickers: Sequence[Sticker]) -> None:
        """Viewers show "12 of 105" beside each page."""
        numbers: list[object] = []
        for page, sticker in enumerate(stickers):
            text = f"{sticker.sequence} of {self._total}" if sticker.label is not None else "slip"
            numbers.extend((page, pikepdf.Dictionary(P=pikepdf.String(text))))
        self._pdf.Root.PageLabels = self._pdf.make_indirect(pikepdf.Dictionary(Nums=pikepdf.Array(numbers)))

    def _save(self, title: str) -> bytes:
        # All at once: appending page by page costs more than everything else here.
        self._pdf.Root.Pages.Kids = pikepdf.Array(self._made)
        self._pdf.Root.Pages.Count = len(self._made)
        self._pdf.docinfo.Title = title
        self._pdf.Root.ViewerPreferences = pikepdf.Dictionary(
            PrintScaling=pikepdf.Name("/None"), PickTrayByPDFSize=True, Duplex=pikepdf.Name.Simplex
        )
        out = io.BytesIO()
        self._pdf.save(
            out,
            deterministic_id=True,
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            stream_decode_level=pikepdf.StreamDecodeLevel.generalized,
        )
        return out.getvalue()


def _numbers(values: Sequence[float]) -> str:
    return " ".join(f"{value:.5f}".rstrip("0").rstrip(".") for value in values)
