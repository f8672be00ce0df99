"""A sheet part: its rows as bytes, and everything around them as a tree that can be asked and changed."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lxml.etree import _Element as Element

from logistics_batch.model.issue import cell_address
from logistics_batch.paper.xlsx.package import (
    OFFICE,
    NotPatchable,
    Package,
    main,
    measured,
    parsed,
    target_of,
    whole_number,
    written,
)
from logistics_batch.paper.xlsx.rows import RowData, column_number

# fmt: off
_ORDER = (
    "sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "sheetCalcPr", "sheetProtection",
    "protectedRanges", "scenarios", "autoFilter", "sortState", "dataConsolidate", "customSheetViews", "mergeCells",
    "phoneticPr", "conditionalFormatting", "dataValidations", "hyperlinks", "printOptions", "pageMargins",
    "pageSetup", "headerFooter", "rowBreaks", "colBreaks", "customProperties", "cellWatches", "ignoredErrors",
    "smartTags", "drawing", "legacyDrawing", "legacyDrawingHF", "drawingHF", "picture", "oleObjects", "controls",
    "webPublishItems", "tableParts", "extLst",
)
# fmt: on
_RANGE = re.compile(r"\$?([A-Za-z]+)\$?(\d+)(?::\$?([A-Za-z]+)\$?(\d+))?")
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
_PARTS_OF_A_PIXEL, _COLUMN_PIXELS, _LOWEST_ROW_PIXELS = 9_525, 64, 15
LAST_COLUMN = 16_384


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, both ends inclusive, counted from 1."""

    top: int
    left: int
    bottom: int
    right: int

    @classmethod
    def of(cls, text: str) -> "Area | None":
        """The area that a reference such as A1:D9 names, None for anything else."""
        found = _RANGE.fullmatch(text)
        if found is None:
            return None
        rows = sorted((int(found[2]), int(found[4] or found[2])))
        columns = sorted((column_number(found[1].encode()), column_number((found[3] or found[1]).encode())))
        return cls(rows[0], columns[0], rows[1], columns[1])

    def __str__(self) -> str:
        return f"{cell_address(self.top, self.left)}:{cell_address(self.bottom, self.right)}"


@dataclass(slots=True)
class SheetPart:
    """A worksheet part: the tree of everything but its rows, and the rows' bytes."""

    root: Element
    rows: RowData

    @classmethod
    def of(cls, xml: bytes) -> "SheetPart":
        """Takes a part apart. Raises NotPatchable for what cannot be changed in place."""
        if b"<!" in xml:
            raise NotPatchable("the sheet holds comments, CDATA or a DOCTYPE")
        opening = re.search(rb"<((?:[\w.-]+:)?)sheetData(?=[\s/>])[^>]*>", xml)
        if opening is None:
            raise NotPatchable("the sheet holds no rows")
        prefix, end = opening[1], opening.end()
        behind = end
        if not opening[0].endswith(b"/>"):
            closing = b"</" + prefix + b"sheetData>"
            end = xml.rfind(closing)
            behind = end + len(closing)
            if end < 0:
                raise NotPatchable("the rows of the sheet have no end")
        root = parsed(xml[: opening.start()] + b"<" + prefix + b"sheetData/>" + xml[behind:], part="of the sheet")
        if root.tag != main("worksheet"):
            raise NotPatchable("the sheet is no worksheet of the usual kind, or is saved as Strict Open XML")
        if xml.count(b"sheetData", opening.end(), end) or len(list(root.iter(main("sheetData")))) != 1:
            raise NotPatchable("the sheet has rows in two places")
        return cls(root, RowData(xml, opening.end(), end, prefix))

    def pieces(self, rows: Iterable[bytes]) -> Iterator[bytes]:
        """The whole part with these rows."""
        tag = self.rows.prefix + b"sheetData"
        before, found, after = written(self.root).partition(b"<" + tag + b"/>")
        if not found:
            raise NotPatchable("the rows of the sheet have no place")
        yield before + b"<" + tag + b">"
        yield from rows
        yield b"</" + tag + b">" + after

    def get(self, name: str) -> Element | None:
        """The first element of that name beside the rows."""
        return self.root.find(main(name))

    def put(self, name: str, element: Element | None) -> None:
        """Replaces the first element of that name, adds it at its lawful place, or (None) takes it out."""
        known = self.get(name)
        if known is not None:
            self.root.remove(known) if element is None else self.root.replace(known, element)
        elif element is not None:
            rank = _ORDER.index(name)
            places = (place for place, each in enumerate(self.root) if _rank(each) > rank)
            self.root.insert(next(places, len(self.root)), element)

    def element(self, name: str, attributes: dict[str, str] | None = None) -> Element:
        """A new element, not yet anywhere."""
        return self.root.makeelement(main(name), attributes or {})

    # -- what is asked about a sheet -----------------------------------------------------------------------------------

    def merged_areas(self) -> list[Area]:
        """The merged cells."""
        areas = (
            Area.of(each.get("ref", "")) for each in self.root.iterfind(f"{main('mergeCells')}/{main('mergeCell')}")
        )
        return [area for area in areas if area is not None]

    def relation(self, element: str) -> str | None:
        """The relationship id that an element such as legacyDrawing carries."""
        found = self.get(element)
        return found.get(f"{{{OFFICE}}}id") if found is not None else None

    def columns(self) -> list[Element]:
        """What the sheet says about ranges of columns."""
        return list(self.root.iterfind(f"{main('cols')}/{main('col')}"))

    def column_style(self, column: int) -> int:
        """The style of cells of that column that have none yet."""
        said = (each for each in self.columns() if whole_number(each, "min") <= column <= whole_number(each, "max"))
        return next((whole_number(each, "style") for each in said), 0)

    def filtered_area(self) -> Area | None:
        """Where the sheet's filter lies."""
        found = self.get("autoFilter")
        return Area.of(found.get("ref", "")) if found is not None else None

    def line_height(self) -> float:
        """The height of one line of text in points."""
        found = self.get("sheetFormatPr")
        return (measured(found.get("defaultRowHeight", "0"), "defaultRowHeight") or 15.0) if found is not None else 15.0

    # -- what is changed about a sheet ---------------------------------------------------------------------------------

    def set_widths(self, first_column: int, widths: Sequence[float]) -> None:
        """Gives columns widths; what the sheet says about other columns stays."""
        last_column = first_column + len(widths) - 1
        columns: list[Element] = []
        for known in self.columns():
            low, high = whole_number(known, "min", 1), whole_number(known, "max", 1)
            for start, end in ((low, min(high, first_column - 1)), (max(low, last_column + 1), high)):
                if start <= end:
                    columns.append(self.element("col", dict(known.attrib) | {"min": str(start), "max": str(end)}))
        for column, width in enumerate(widths, start=first_column):
            place = {"min": str(column), "max": str(column)}
            columns.append(self.element("col", place | {"width": f"{width:.2f}", "customWidth": "1"}))
        made = self.element("cols")
        made.extend(sorted(columns, key=lambda each: int(each.get("min", "1"))))
        self.put("cols", made if len(made) else None)

    def widen_dimension(self, *, right: int, bottom: int) -> None:
        """Lets the sheet's dimension include our cells; a sheet without one stays without."""
        found = self.get("dimension")
        area = Area.of(found.get("ref", "")) if found is not None else None
        if found is not None and area is not None:
            wider = Area(area.top, area.left, max(area.bottom, bottom), max(area.right, right))
            found.set("ref", str(wider))

    def freeze_above(self, row: int) -> None:
        """Freezes the rows before `row`, unless the user has frozen or split the sheet or views it by pages."""
        views = self.get("sheetViews")
        if views is None:
            views = self.element("sheetViews")
            views.append(self.element("sheetView", {"workbookViewId": "0"}))
            self.put("sheetViews", views)
        view = views.find(main("sheetView"))
        if view is None or view.get("view", "normal") != "normal" or view.find(main("pane")) is not None:
            return
        had_view = view.attrib.pop("topLeftCell", None), [view.remove(each) for each in view.findall(main("selection"))]
        place = f"A{row}"
        pane = {"ySplit": str(row - 1), "topLeftCell": place, "activePane": "bottomLeft", "state": "frozen"}
        view.insert(0, self.element("pane", pane))
        if any(had_view):
            view.insert(1, self.element("selection", {"pane": "bottomLeft", "activeCell": place, "sqref": place}))

    def filter(self, area: Area, *, earlier: frozenset[int]) -> None:
        """Puts a filter over the area, unless the sheet holds a table; one of the user on this header reaches as far.

        A filter over the columns of an `earlier` round of ours is ours, too: it is put anew while it hides nothing.
        """
        known, found = self.filtered_area(), self.get("autoFilter")
        is_ours = (
            found is not None
            and known is not None
            and not len(found)  # with criteria some rows are hidden
            and bool(earlier)
            and (known.top, known.left <= min(earlier), max(earlier) <= known.right) == (area.top, True, True)
        )
        if self.get("tableParts") is None and (found is None or is_ours):
            self.put("autoFilter", self.element("autoFilter", {"ref": str(area)}))
        elif found is not None and known is not None and known.top == area.top and known.right < area.right:
            found.set("ref", str(Area(known.top, known.left, known.bottom, area.right)))

    def open_at(self, column: int) -> None:
        """Lets the sheet open scrolled to a column behind what is frozen, unless it is split or viewed by pages."""
        view = self.root.find(f"{main('sheetViews')}/{main('sheetView')}")
        if view is None or view.get("view", "normal") != "normal":
            return
        pane = view.find(main("pane"))
        places = [view]
        if pane is not None:
            if pane.get("state", "split") == "split" or column <= whole_number(pane, "xSplit"):
                return
            places = [pane] if pane.get("xSplit", "0") != "0" else [view, pane]
        for place in places:
            known = Area.of(place.get("topLeftCell", ""))
            below = whole_number(pane, "ySplit") + 1 if place is pane and pane is not None else 1
            place.set("topLeftCell", cell_address(known.top if known else below, column))


def _rank(element: Element) -> int:
    """Where an element stands among others; alternate content stands where embedded objects and controls do."""
    name = str(element.tag).removeprefix(main(""))
    return _ORDER.index(name if name in _ORDER else "oleObjects")


class ColumnWidths:
    """The widths of a sheet's columns in pixels (seven a character, and five of padding)."""

    def __init__(self, part: SheetPart) -> None:
        sheet_format = part.get("sheetFormatPr")
        self._default = _pixels(sheet_format, "defaultColWidth") if sheet_format is not None else _COLUMN_PIXELS
        self._ranges = sorted(
            (whole_number(each, "min", 1), whole_number(each, "max", 1), self._of(each)) for each in part.columns()
        )
        self._starts = [low for low, _, _ in self._ranges]

    def _of(self, element: Element) -> int:
        if element.get("hidden") in ("1", "true"):
            return 0
        return _pixels(element, "width") if element.get("width") is not None else self._default

    def pixels(self, column: int) -> int:
        """The width of a column from 1."""
        index = bisect_right(self._starts, column) - 1
        if index >= 0 and column <= self._ranges[index][1]:
            return self._ranges[index][2]
        return self._default

    def reach(self, first: int, pixels: int) -> tuple[int, int]:
        """The column in which something ends that begins with column `first` and is so wide, and how far into it."""
        column = first
        while pixels > (width := self.pixels(column)) and column < LAST_COLUMN:
            pixels -= width
            column += 1
        return column, pixels


def _pixels(element: Element, name: str) -> int:
    characters = measured(element.get(name, "0"), name)
    return int(characters * 7 + 5) if characters else _COLUMN_PIXELS


@dataclass(frozen=True, slots=True)
class Survey:
    """What a sheet's rows look like.

    first_column, last_column: the user's columns, by the header row and by every cell with a value, from 1; our own of
    an earlier round do not count. earlier: those.
    """

    first_column: int
    last_column: int
    last_row: int
    earlier: frozenset[int] = frozenset()


def place_for(width: int, *, sheet: SheetPart, found: Survey, header_row: int, drawings: Sequence[Area]) -> int:
    """The first of `width` columns, right of everything the user has beside and under the header row.

    Merged cells above the header row do not count; charts and pictures do, for they would hide our columns.
    """
    merged = [area.right for area in sheet.merged_areas() if area.bottom >= header_row]
    first = max([found.last_column, *merged]) + 1
    for area in sorted(drawings, key=lambda area: area.left):
        if area.left < first + width and area.right >= first and area.bottom >= header_row:
            first = area.right + 1
    if first + width - 1 > LAST_COLUMN:
        raise NotPatchable("the sheet has no room for more columns")
    return first


def drawn_areas(package: Package, sheet: str, part: SheetPart) -> list[Area]:
    """The cells that a sheet's charts, pictures and text boxes lie over."""
    relation = part.relation("drawing")
    target = next((line.target for line in package.relations(sheet) if line.id == relation), None)
    drawing = target_of(sheet, target) if target is not None else ""
    if drawing not in package:
        return []
    widths = ColumnWidths(part)
    areas = (_area(anchor, widths) for anchor in package.tree(drawing))
    return [area for area in areas if area is not None]


def _area(anchor: Element, widths: ColumnWidths) -> Area | None:
    """Where a drawing lies: between two cells, or so large from one cell, or from the sheet's corner, on."""
    start, end, size, place = (anchor.find(f"{{{_DRAWING}}}{name}") for name in ("from", "to", "ext", "pos"))
    if start is not None and end is not None:
        return Area(*_corner(start), *_corner(end))
    if size is None:
        return None
    top, left = _corner(start) if start is not None else (1, 1)
    across, down = _drawn(size, "cx"), _drawn(size, "cy")
    if start is None and place is not None:
        across, down = across + _drawn(place, "x"), down + _drawn(place, "y")
    return Area(top, left, top + down // _LOWEST_ROW_PIXELS + 1, widths.reach(left, across)[0])


def _drawn(element: Element, name: str) -> int:
    """A length of a drawing, which is written in parts of a pixel."""
    value = element.get(name, "0")
    return int(value) // _PARTS_OF_A_PIXEL if value.isdecimal() and len(value) < 16 else 0


def _corner(corner: Element) -> tuple[int, int]:
    row, column = (corner.findtext(f"{{{_DRAWING}}}{name}", "") for name in ("row", "col"))
    if not (row.isdecimal() and column.isdecimal()):
        raise NotPatchable("a drawing of the sheet has no sound place")
    return int(row) + 1, int(column) + 1
