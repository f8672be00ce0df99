"""Writes one part of a bundle: label pages as they are, or as forms on a shared sheet."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pikepdf

from logistics_batch.paper.label_bundle_layout import LabelPage, Placement, Sheet, is_stock_size, place
from logistics_batch.paper.label_bundle_sharing import SharedObjects


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
    page: LabelPage
    sequence: int = 0


class PartWriter:
    """Writes one part."""

    def __init__(self, sheet: Sheet, files: Sequence[Path], slip_file: bytes) -> None:
        self._sheet = sheet
        self._files = files
        self._slip_file = slip_file
        self._pdf = pikepdf.new()
        self._pages: list[pikepdf.Object] = []
        self._shared = SharedObjects(self._pdf)

    def write(self, stickers: Sequence[Sticker], *, name: str, total: int, title: str) -> BundlePart:
        """The part with these stickers, in this order; every slot of a sheet is filled before the next sheet."""
        size = len(self._sheet.slots)
        if size == 1:
            self._one_a_page(stickers)
            self._number_pages(stickers, total)
        else:
            forms = list(self._forms(stickers))
            for start in range(0, len(forms), size):
                self._add_sheet(forms[start : start + size])
        return BundlePart(name, self._save(title), len(self._pages))

    def _one_a_page(self, stickers: Sequence[Sticker]) -> None:
        for sticker, source in self._sources(stickers):
            if is_stock_size(sticker.page):
                self._add_as_it_is(source, sticker.page)
            else:
                self._add_sheet([(self._form(source, sticker.page), sticker.page)])

    def _forms(self, stickers: Sequence[Sticker]) -> Iterator[tuple[pikepdf.Object, LabelPage]]:
        for sticker, source in self._sources(stickers):
            yield self._form(source, sticker.page), sticker.page

    def _sources(self, stickers: Sequence[Sticker]) -> Iterator[tuple[Sticker, pikepdf.Page]]:
        """Each sticker with its source page; a file is opened once for the stickers that follow each other."""
        for label, members in groupby(stickers, key=lambda sticker: sticker.label):
            source = io.BytesIO(self._slip_file) if label is None else self._files[label]
            with pikepdf.open(source, attempt_recovery=False, suppress_warnings=True) as pdf:
                self._shared.next_source(pdf)
                if any("/Annots" in page.obj for page in pdf.pages):
                    pdf.flatten_annotations("print")
                for sticker in members:
                    yield sticker, pdf.pages[sticker.index]

    def _add_as_it_is(self, source: pikepdf.Page, page: LabelPage) -> None:
        """The label page itself: the visible box becomes the page, what lies outside stays outside."""
        lying = page.shown_size[0] > page.shown_size[1]
        made = self._new_page(page.box)
        made.Rotate = (page.turn + 90) % 360 if lying else page.turn
        if page.unit != 1:
            made.UserUnit = page.unit
        made.Resources = self._shared.adopt(source.resources)
        contents = source.obj.get("/Contents", pikepdf.Array())
        made.Contents = self._shared.adopt(contents)
        self._copy_group(source, made)
        self._append(made)

    def _add_sheet(self, forms: Sequence[tuple[pikepdf.Object, LabelPage]]) -> None:
        made = self._new_page((0.0, 0.0, self._sheet.width, self._sheet.height))
        painted: list[str] = []
        resources = pikepdf.Dictionary()
        for (form, page), slot in zip(forms, self._sheet.slots, strict=False):
            name = f"/L{len(painted)}"
            resources[name] = form
            painted.append(_paint(name, place(page, slot)))
        made.Resources = pikepdf.Dictionary(XObject=resources)
        made.Contents = pikepdf.Stream(self._pdf, "\n".join(painted).encode("ascii"))
        self._append(made)

    def _form(self, source: pikepdf.Page, page: LabelPage) -> pikepdf.Object:
        """The label as one object that can be painted anywhere, clipped to its visible box."""
        content, dictionary = self._content(source)
        dictionary.Type = pikepdf.Name.XObject
        dictionary.Subtype = pikepdf.Name.Form
        dictionary.BBox = pikepdf.Array(page.box)
        dictionary.Resources = self._shared.adopt(source.resources)
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
        self._pages.append(self._pdf.make_indirect(made))

    def _number_pages(self, stickers: Sequence[Sticker], total: int) -> None:
        """Viewers show "12 of 105" beside each page."""
        numbers: list[object] = []
        for page, sticker in enumerate(stickers):
            text = f"{sticker.sequence} of {total}" if sticker.label is not None else "slip"
            numbers.extend((page, pikepdf.Dictionary(P=pikepdf.String(text))))
        self._pdf.Root.PageLabels = self._pdf.make_indirect(pikepdf.Dictionary(Nums=pikepdf.Array(numbers)))

    def _save(self, title: str) -> bytes:
        # All at once: appending page by page costs more than everything else here.
        self._pdf.Root.Pages.Kids = pikepdf.Array(self._pages)
        self._pdf.Root.Pages.Count = len(self._pages)
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


def _paint(name: str, placement: Placement) -> str:
    numbers = " ".join(f"{value:.5f}".rstrip("0").rstrip(".") for value in placement.matrix)
    return f"q {numbers} cm {name} Do Q"
