"""A sheet part taken apart at its top level: everything around the rows can be read, changed, or left as it is."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.parsers.expat import ExpatError, ParserCreate

from logistics_batch.model.issue import cell_address
from logistics_batch.paper.xlsx.parts import MAIN, OFFICE
from logistics_batch.paper.xlsx.rows import RowData, column_number
from logistics_batch.paper.xlsx.xml_bytes import (
    NotPatchable,
    attribute,
    element_pattern,
    measure,
    opening_tag,
    require_plain_xml,
    root_prefix,
    whole_number,
    with_attribute,
    without_attribute,
)

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
_RANGE = re.compile(rb"\$?([A-Za-z]+)\$?(\d+)(?::\$?([A-Za-z]+)\$?(\d+))?")
LAST_COLUMN = 16_384


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, both ends inclusive, counted from 1."""

    top: int
    left: int
    bottom: int
    right: int

    @classmethod
    def of(cls, text: bytes) -> "Area | None":
        """The area that a reference such as A1:D9 names, None for anything else."""
        found = _RANGE.fullmatch(text)
        if found is None:
            return None
        rows = sorted((int(found[2]), int(found[4] or found[2])))
        columns = sorted((column_number(found[1]), column_number(found[3] or found[1])))
        return cls(rows[0], columns[0], rows[1], columns[1])

    def __str__(self) -> str:
        return f"{cell_address(self.top, self.left)}:{cell_address(self.bottom, self.right)}"


@dataclass(slots=True)
class SheetPart:
    """A worksheet part: its head, the elements beside the rows in their order, and the rows' bytes.

    elements: (name, XML with what follows it) of every top-level element; the one named sheetData is empty here.
    """

    prefix: bytes
    head: bytes
    elements: list[tuple[str, bytes]]
    closing: bytes
    rows: RowData

    @classmethod
    def of(cls, xml: bytes) -> "SheetPart":
        """Takes a part apart. Raises NotPatchable for what cannot be changed in place."""
        require_plain_xml(xml, part="of the sheet")
        prefix = root_prefix(xml, "worksheet")
        opening = re.search(rb"<" + re.escape(prefix) + rb"sheetData(?=[\s/>])[^>]*>", xml)
        if opening is None:
            raise NotPatchable("the sheet holds no rows")
        tag = b"<" + prefix + b"sheetData/>"
        if opening[0].endswith(b"/>"):
            return cls._around(xml[: opening.start()] + tag + xml[opening.end() :], prefix, RowData.of(b""))
        closing = b"</" + prefix + b"sheetData>"
        end = xml.rfind(closing)
        if end < 0:
            raise NotPatchable("the rows of the sheet have no end")
        rows = RowData(xml, opening.end(), end)
        return cls._around(xml[: opening.start()] + tag + xml[end + len(closing) :], prefix, rows)

    @classmethod
    def _around(cls, skeleton: bytes, prefix: bytes, rows: RowData) -> "SheetPart":
        starts, closing = _top_level(skeleton)
        ends = [start for _, start in starts[1:]] + [closing]
        elements = [(name, skeleton[start:end]) for (name, start), end in zip(starts, ends, strict=True)]
        return cls(prefix, skeleton[: starts[0][1]], elements, skeleton[closing:], rows)

    def pieces(self, rows: Iterable[bytes]) -> Iterator[bytes]:
        """The whole part with these rows."""
        tag = self.prefix + b"sheetData"
        yield self.head
        for name, xml in self.elements:
            if name != "sheetData":
                yield xml
                continue
            yield b"<" + tag + b">"
            yield from rows
            yield b"</" + tag + b">"
        yield self.closing

    def get(self, name: str) -> bytes | None:
        """The first element of that name."""
        return next((xml for known, xml in self.elements if known == name), None)

    def put(self, name: str, xml: bytes | None) -> None:
        """Replaces the first element of that name, adds it at its lawful place, or (None) takes it out."""
        index = next((index for index, (known, _) in enumerate(self.elements) if known == name), None)
        if index is not None:
            self.elements[index : index + 1] = [] if xml is None else [(name, xml)]
        elif xml is not None:
            self.elements.insert(self._place_of(name), (name, xml))

    def _place_of(self, name: str) -> int:
        rank = _ORDER.index(name)
        for index, (known, _) in enumerate(self.elements):
            # alternate content stands where embedded objects and controls do
            if (_ORDER.index(known) if known in _ORDER else _ORDER.index("oleObjects")) > rank:
                return index
        return len(self.elements)

    def children(self, element: str, child: str) -> list[bytes]:
        """The opening tags of an element's children of that name."""
        xml = self.get(element)
        if xml is None:
            return []
        return [opening_tag(found[0]) for found in element_pattern(self.prefix + child.encode()).finditer(xml)]

    # -- what is asked about a sheet -----------------------------------------------------------------------------------

    def merged_areas(self) -> list[Area]:
        """The merged cells."""
        areas = [Area.of(attribute(tag, b"ref") or b"") for tag in self.children("mergeCells", "mergeCell")]
        return [area for area in areas if area is not None]

    def relation(self, element: str) -> str | None:
        """The relationship id that an element such as legacyDrawing carries."""
        xml = self.get(element)
        found = re.search(rb"\s[\w.-]+:id\s*=\s*[\"']([^\"']*)[\"']", opening_tag(xml)) if xml is not None else None
        return found[1].decode() if found is not None else None

    def column_style(self, column: int) -> int:
        """The style of cells of that column that have none yet."""
        for tag in self.children("cols", "col"):
            if whole_number(tag, b"min") <= column <= whole_number(tag, b"max"):
                return whole_number(tag, b"style")
        return 0

    def filtered_area(self) -> Area | None:
        """Where the sheet's filter lies."""
        xml = self.get("autoFilter")
        return Area.of(attribute(opening_tag(xml), b"ref") or b"") if xml is not None else None

    def line_height(self) -> float:
        """The height of one line of text in points."""
        xml = self.get("sheetFormatPr")
        return measure(opening_tag(xml), b"defaultRowHeight", 15.0) if xml is not None else 15.0

    # -- what is changed about a sheet ---------------------------------------------------------------------------------

    def set_relation(self, element: str, relation: str) -> None:
        """Puts an element that holds nothing but a relationship id."""
        xml = b'<%s%s xmlns:r="%s" r:id="%s"/>' % (self.prefix, element.encode(), OFFICE.encode(), relation.encode())
        self.put(element, xml)

    def set_widths(self, first_column: int, widths: Iterable[float]) -> None:
        """Gives columns widths; what the sheet says about other columns stays."""
        ours = list(widths)
        last_column = first_column + len(ours) - 1
        p = self.prefix
        columns: list[tuple[int, bytes]] = []
        for tag in self.children("cols", "col"):
            low, high = whole_number(tag, b"min", 1), whole_number(tag, b"max", 1)
            for start, end in ((low, min(high, first_column - 1)), (max(low, last_column + 1), high)):
                if start <= end:
                    bounded = with_attribute(tag, b"min", str(start).encode())
                    columns.append((start, _closed(with_attribute(bounded, b"max", str(end).encode()))))
        for column, width in enumerate(ours, start=first_column):
            columns.append(
                (column, b'<%scol min="%d" max="%d" width="%.2f" customWidth="1"/>' % (p, column, column, width))
            )
        written = b"".join(xml for _, xml in sorted(columns))
        self.put("cols", b"<%scols>%s</%scols>" % (p, written, p))

    def widen_dimension(self, *, right: int, bottom: int) -> None:
        """Lets the sheet's dimension include our cells; a sheet without one stays without."""
        xml = self.get("dimension")
        area = Area.of(attribute(opening_tag(xml), b"ref") or b"") if xml is not None else None
        if xml is not None and area is not None:
            wider = Area(area.top, area.left, max(area.bottom, bottom), max(area.right, right))
            self.put("dimension", b'<%sdimension ref="%s"/>' % (self.prefix, str(wider).encode()))

    def freeze_above(self, row: int) -> None:
        """Freezes the rows before `row`, unless the user has frozen or split the sheet or views it by pages."""
        p = self.prefix
        pane = b'<%spane ySplit="%d" topLeftCell="A%d" activePane="bottomLeft" state="frozen"/>' % (p, row - 1, row)
        views = self.get("sheetViews")
        if views is None:
            view = b'<%ssheetViews><%ssheetView workbookViewId="0">%s</%ssheetView></%ssheetViews>' % (p, p, pane, p, p)
            self.put("sheetViews", view)
            return
        found = element_pattern(p + b"sheetView").search(views)
        if found is None or attribute(found[1], b"view") not in (None, b"normal"):
            return
        if element_pattern(p + b"pane").search(found[2] or b"") is not None:
            return
        opening = without_attribute(opening_tag(found[0]), b"topLeftCell")
        selection = b'<%sselection pane="bottomLeft" activeCell="A%d" sqref="A%d"/>' % (p, row, row)
        rest = element_pattern(p + b"selection").sub(b"", found[2] or b"")
        if opening.endswith(b"/>"):
            opening = opening[:-2] + b">"
        view = opening + pane + selection + rest + b"</%ssheetView>" % p
        self.put("sheetViews", views[: found.start()] + view + views[found.end() :])

    def filter(self, area: Area, *, earlier: frozenset[int]) -> None:
        """Puts a filter over the area, unless the user has one or the sheet holds a table.

        A filter over the columns of an `earlier` round of ours is ours, too: it is put anew while it hides nothing.
        """
        if self.get("tableParts") is None and (self.get("autoFilter") is None or self._has_our_filter(area, earlier)):
            self.put("autoFilter", b'<%sautoFilter ref="%s"/>' % (self.prefix, str(area).encode()))

    def _has_our_filter(self, area: Area, earlier: frozenset[int]) -> bool:
        found = element_pattern(self.prefix + b"autoFilter").search(self.get("autoFilter") or b"")
        known = self.filtered_area()
        if found is None or known is None or (found[2] or b"").strip():  # with criteria some rows are hidden
            return False
        return bool(earlier) and known.top == area.top and known.left <= min(earlier) and max(earlier) <= known.right


def _closed(tag: bytes) -> bytes:
    return tag if tag.endswith(b"/>") else tag[:-1] + b"/>"


def _top_level(skeleton: bytes) -> tuple[list[tuple[str, int]], int]:
    """The names and places of the root's children, and the place of the root's closing tag."""
    parser = ParserCreate(namespace_separator=" ")
    starts: list[tuple[str, int]] = []
    depth = 0
    closing = -1

    def opened(name: str, _: object) -> None:
        nonlocal depth
        if depth == 1:
            namespace, _, local = name.rpartition(" ")
            starts.append((local if namespace == MAIN else name, parser.CurrentByteIndex))
        elif depth == 0 and name != f"{MAIN} worksheet":
            raise NotPatchable("the sheet is no worksheet of the usual kind, or is saved as Strict Open XML")
        depth += 1

    def closed(_: str) -> None:
        nonlocal depth, closing
        depth -= 1
        if depth == 0:
            closing = parser.CurrentByteIndex

    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    try:
        parser.Parse(skeleton, True)
    except ExpatError as error:
        raise NotPatchable("the sheet is not sound XML") from error
    return starts, closing


def checked(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Hands the pieces of a part on, and raises NotPatchable if they do not make sound XML."""
    parser = ParserCreate(namespace_separator=" ")
    try:
        for chunk in chunks:
            parser.Parse(chunk, False)
            yield chunk
        parser.Parse(b"", True)
    except ExpatError as error:
        raise NotPatchable("the changed part would not be sound XML") from error
