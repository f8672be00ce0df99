"""Cell comments of ours beside the user's: the comments part, and the VML part that draws their boxes.

A comment is ours by its author, or by its first line where a program has dropped the authors (LibreOffice does). A cell
can hold one comment only: a cell with a comment of the user's keeps that one.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from logistics_batch.model.issue import cell_address
from logistics_batch.paper.safe_text import xml_text
from logistics_batch.paper.xlsx.column_widths import ColumnWidths
from logistics_batch.paper.xlsx.package import Package, Packed, packed
from logistics_batch.paper.xlsx.parts import (
    CONTENT_TYPES_PART,
    MAIN,
    OFFICE,
    Relationship,
    content_types_xml,
    relationships,
    relationships_xml,
    rels_part,
    target_part,
    unused_id,
)
from logistics_batch.paper.xlsx.rows import column_number
from logistics_batch.paper.xlsx.sheet import SheetPart, checked
from logistics_batch.paper.xlsx.xml_bytes import (
    NotPatchable,
    attribute,
    element_pattern,
    require_plain_xml,
    root_prefix,
    whole_number,
)

AUTHOR = "logistics-batch"
_FIRST_LINE = AUTHOR + ":"
_BOX_COLOUR = b"#fff6f5"
_EMPTY_COMMENTS = (
    b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<comments xmlns="%s"><authors/><commentList/></comments>'
) % MAIN.encode()
_NAMESPACES = (
    b'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    b'xmlns:x="urn:schemas-microsoft-com:office:excel"'
)
_EMPTY_DRAWING = (
    b"<xml " + _NAMESPACES + b'><o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="1"/></o:shapelayout></xml>'
)
_SHAPE_TYPE = (
    b'<v:shapetype%(names)s id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">'
    b'<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>'
)
_SHAPE = (
    b'<v:shape%(names)s id="_x0000_s%(id)d" type="#_x0000_t202" style="position:absolute;margin-left:59.25pt;'
    b'margin-top:1.5pt;width:%(width)dpt;height:%(height)dpt;z-index:%(order)d;visibility:hidden" '
    b'fillcolor="%(colour)s" o:insetmode="auto"><v:fill color2="%(colour)s"/>'
    b'<v:shadow on="t" color="#9a9a9a" obscured="t"/><v:path o:connecttype="none"/>'
    b'<v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox>'
    b'<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>%(anchor)s</x:Anchor>'
    b"<x:AutoFill>False</x:AutoFill><x:Row>%(row)d</x:Row><x:Column>%(column)d</x:Column></x:ClientData></v:shape>"
)


@dataclass(frozen=True, slots=True)
class Note:
    """A comment to add: the cell (row and column from 1), its text, and its box.

    anchor: from-column, offset, from-row, offset, to-column, offset, to-row, offset, counted from 0 and in pixels.
    height_pixels: how high that is.
    """

    row: int
    column: int
    text: str
    anchor: tuple[int, int, int, int, int, int, int, int]
    height_pixels: int


class CommentsPart:
    """The comments of a sheet; without an earlier part, an empty one."""

    def __init__(self, xml: bytes | None) -> None:
        self._xml = xml if xml is not None else _EMPTY_COMMENTS
        require_plain_xml(self._xml, part="comments")
        self._prefix = root_prefix(self._xml, "comments")
        self._authors = [each[2] or b"" for each in element_pattern(self._prefix + b"author").finditer(self._xml)]
        ours = {index for index, author in enumerate(self._authors) if author == AUTHOR.encode()}
        self._kept: list[bytes] = []
        self.kept_cells: set[tuple[int, int]] = set()
        self.earlier_cells: set[tuple[int, int]] = set()
        for found in element_pattern(self._prefix + b"comment").finditer(self._xml):
            cell = _cell_of(found[1])
            if whole_number(found[1], b"authorId") in ours or self._begins_like_ours(found[0]):
                self.earlier_cells.add(cell)
            else:
                self.kept_cells.add(cell)
                self._kept.append(found[0])

    def _begins_like_ours(self, comment: bytes) -> bool:
        texts = element_pattern(self._prefix + b"t").finditer(comment)
        return b"".join(found[2] or b"" for found in texts).startswith(_FIRST_LINE.encode())

    def with_notes(self, notes: Sequence[Note]) -> bytes | None:
        """The part with ours replaced by these; None where no comment is left at all."""
        if not notes and not self._kept:
            return None
        p, xml = self._prefix, self._xml
        authors = list(self._authors)
        if notes and AUTHOR.encode() not in authors:
            authors.append(AUTHOR.encode())
        number = authors.index(AUTHOR.encode()) if notes else 0
        written = b"".join(b"<%sauthor>%s</%sauthor>" % (p, author, p) for author in authors)
        xml = self._replaced(xml, b"authors", written)
        comments = [*self._kept, *(self._comment(note, number) for note in notes)]
        return self._replaced(xml, b"commentList", b"".join(comments))

    def _replaced(self, xml: bytes, name: bytes, content: bytes) -> bytes:
        tag = self._prefix + name
        found = element_pattern(tag).search(xml)
        if found is None:
            raise NotPatchable("the comments of the sheet are not readable")
        return xml[: found.start()] + b"<%s>%s</%s>" % (tag, content, tag) + xml[found.end() :]

    def _comment(self, note: Note, author: int) -> bytes:
        p = self._prefix
        address = cell_address(note.row, note.column).encode()
        text = self._run(_FIRST_LINE, bold=True) + self._run("\n" + note.text)
        text = b"<%stext>%s</%stext>" % (p, text, p)
        return b'<%scomment ref="%s" authorId="%d">%s</%scomment>' % (p, address, author, text, p)

    def _run(self, text: str, *, bold: bool = False) -> bytes:
        p = self._prefix
        look = b'<%ssz val="9"/><%srFont val="Tahoma"/>' % (p, p)
        look = b"<%srPr>%s</%srPr>" % (p, b"<%sb/>" % p + look if bold else look, p)
        return b'<%sr>%s<%st xml:space="preserve">%s</%st></%sr>' % (p, look, p, xml_text(text), p, p)


def _cell_of(attributes: bytes) -> tuple[int, int]:
    found = re.fullmatch(rb"\$?([A-Za-z]+)\$?(\d+)", attribute(attributes, b"ref") or b"")
    if found is None:
        raise NotPatchable("a comment of the sheet has no sound address")
    return int(found[2]), column_number(found[1])


class CommentBoxes:
    """The VML part that draws a sheet's comment boxes (and old buttons, which stay as they are).

    VML is not always sound XML and its writers choose their own prefixes, so shapes are found by their local names, and
    ours declare theirs wherever the part does not use the common ones.
    """

    def __init__(self, xml: bytes | None) -> None:
        self._xml = xml if xml is not None else _EMPTY_DRAWING
        if b"</xml>" not in self._xml or self._xml[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise NotPatchable("the drawing of the sheet's comments is not readable")
        root = self._xml[: self._xml.find(b">", self._xml.find(b"<xml"))]
        common = all(name in root for name in _NAMESPACES.split())
        self._names = b"" if common else b" " + _NAMESPACES

    def with_notes(self, notes: Sequence[Note], *, without: Collection[tuple[int, int]]) -> bytes | None:
        """The part without the boxes of the cells `without`, with those of the notes; None if no box is left."""
        kept = _VML_SHAPE.sub(lambda found: self._kept(found[0], without), self._xml)
        if not notes and _VML_SHAPE.search(kept) is None:
            return None
        used = [int(number) for number in re.findall(rb"id\s*=\s*[\"']_x0000_s(\d+)", kept)]
        first = max([1024, *used]) + 1
        shapes = [self._box(note, first + index, index + 1) for index, note in enumerate(notes)]
        if shapes and re.search(rb"id\s*=\s*[\"']_x0000_t202", kept) is None:
            shapes.insert(0, _SHAPE_TYPE % {b"names": self._names})
        end = kept.rindex(b"</xml>")
        return kept[:end] + b"".join(shapes) + kept[end:]

    def _kept(self, shape: bytes, without: Collection[tuple[int, int]]) -> bytes:
        return b"" if _cell_of_box(shape) in without else shape

    def _box(self, note: Note, number: int, order: int) -> bytes:
        return _SHAPE % {
            b"names": self._names,
            b"id": number,
            b"order": order,
            b"width": 247,
            b"height": note.height_pixels * 3 // 4,
            b"colour": _BOX_COLOUR,
            b"anchor": ", ".join(str(number) for number in note.anchor).encode(),
            b"row": note.row - 1,
            b"column": note.column - 1,
        }


_VML_SHAPE = re.compile(rb"<((?:[\w.-]+:)?shape)(?=[\s>]).*?</\1\s*>", re.DOTALL)
_CLIENT_DATA = re.compile(rb"<((?:[\w.-]+:)?ClientData)(?=[\s>])([^>]*)>(.*?)</\1\s*>", re.DOTALL)
_PLACE = re.compile(rb"<(?:[\w.-]+:)?(Row|Column)\s*>\s*(\d+)\s*<")


def _cell_of_box(shape: bytes) -> tuple[int, int] | None:
    data = _CLIENT_DATA.search(shape)
    if data is None or attribute(data[2], b"ObjectType") != b"Note":
        return None
    place = dict(_PLACE.findall(data[3]))
    if b"Row" not in place or b"Column" not in place:
        return None
    return int(place[b"Row"]) + 1, int(place[b"Column"]) + 1


_COMMENTS_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.comments+xml"
_VML_TYPE = "application/vnd.openxmlformats-officedocument.vmlDrawing"
_COMMENTS = f"{OFFICE}/comments"
_VML = f"{OFFICE}/vmlDrawing"


@dataclass(slots=True)
class SheetComments:
    """The comments of one sheet as they were, ready to have ours replaced."""

    package: Package
    sheet: str
    lines: list[Relationship]
    comments_part: str | None
    boxes_part: str | None
    comments: CommentsPart
    boxes: CommentBoxes

    @classmethod
    def of(cls, package: Package, sheet: str, part: SheetPart) -> "SheetComments":
        """Reads what is there. Raises NotPatchable where comments and their boxes do not fit together."""
        lines = relationships(package, sheet)
        comments = next((target_part(sheet, line.target) for line in lines if line.kind == _COMMENTS), None)
        relation = part.relation("legacyDrawing")
        boxes = next((target_part(sheet, line.target) for line in lines if line.id == relation), None)
        if relation is not None and boxes is None:
            raise NotPatchable("the sheet names a drawing that the package does not have")
        return cls(
            package=package,
            sheet=sheet,
            lines=lines,
            comments_part=comments,
            boxes_part=boxes,
            comments=CommentsPart(package.read(comments) if comments else None),
            boxes=CommentBoxes(package.read(boxes) if boxes else None),
        )

    def put(self, notes: Sequence[Note], part: SheetPart) -> dict[str, Packed | None]:
        """The package parts that change; `part` gets the element that names the boxes' drawing."""
        wanted = [note for note in notes if (note.row, note.column) not in self.comments.kept_cells]
        comments = self.comments.with_notes(wanted)
        boxes = self.boxes.with_notes(wanted, without=self.comments.earlier_cells)
        if comments is None and self.comments_part is None:
            return {}
        changes: dict[str, Packed | None] = {}
        sound = b"".join(checked([comments])) if comments is not None else None
        comments_part = self._changed(changes, self.comments_part, sound, "xl/comments{}.xml", _COMMENTS)
        boxes_part = self._changed(changes, self.boxes_part, boxes, "xl/drawings/vmlDrawing{}.vml", _VML)
        self._name_drawing(part, boxes_part)
        changes[rels_part(self.sheet)] = packed([relationships_xml(self.lines)])
        types = content_types_xml(
            self.package,
            defaults={"vml": _VML_TYPE},
            overrides={comments_part: _COMMENTS_TYPE} if comments is not None else {},
            dropped=[name for name, content in changes.items() if content is None],
        )
        changes[CONTENT_TYPES_PART] = packed([types])
        return changes

    def _changed(
        self, changes: dict[str, Packed | None], part: str | None, content: bytes | None, pattern: str, kind: str
    ) -> str:
        """Notes the new content of a part, which gets a name and a relationship if it is new, or loses them."""
        if part is None and content is None:
            return ""
        name = part or self._unused_name(pattern)
        changes[name] = packed([content]) if content is not None else None
        if part is None:
            self.lines.append(Relationship(unused_id(self.lines), kind, f"/{name}"))
        elif content is None:
            self.lines = [line for line in self.lines if target_part(self.sheet, line.target) != name]
        return name

    def _unused_name(self, pattern: str) -> str:
        taken: Collection[str] = {name.lower() for name in self.package.names}
        numbers = range(1, len(taken) + 2)
        return next(name for number in numbers if (name := pattern.format(number)).lower() not in taken)

    def _name_drawing(self, part: SheetPart, boxes_part: str) -> None:
        line = next((line for line in self.lines if target_part(self.sheet, line.target) == boxes_part), None)
        if line is None:
            part.put("legacyDrawing", None)
        elif part.relation("legacyDrawing") != line.id:
            part.set_relation("legacyDrawing", line.id)


_BOX_PIXELS = 330
_CHARACTERS_A_LINE = 48
_LINE_PIXELS = 16
_ROW_PIXELS = 20
_GAP_PIXELS = 12


def placed_notes(part: SheetPart, notes: Sequence[tuple[int, int, str]]) -> list[Note]:
    """The notes (row and column from 1, text) with their boxes, which stand over the columns of that sheet."""
    widths = ColumnWidths(part)
    return [_placed(widths, row, column, text) for row, column, text in notes]


def _placed(widths: ColumnWidths, row: int, column: int, text: str) -> Note:
    lines = sum(1 + len(line) // _CHARACTERS_A_LINE for line in text.split("\n"))
    height = (lines + 2) * _LINE_PIXELS  # the first line names us
    rows, rest = divmod(height, _ROW_PIXELS)
    right, wide = column + 1, _BOX_PIXELS + _GAP_PIXELS
    while wide >= (width := widths.pixels(right)):
        wide -= width
        right += 1
    top = max(row - 2, 0)
    return Note(row, column, text, (column, _GAP_PIXELS, top, 4, right - 1, wide, top + rows, rest + 4), height)
