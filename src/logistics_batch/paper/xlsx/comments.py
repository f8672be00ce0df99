"""Cell comments of ours beside the user's: the comments part, and the VML part that draws their boxes.

A comment is ours by its author, or by its first line where a program has dropped the authors (LibreOffice does). A cell
can hold one comment only: a cell with a comment of the user's keeps that one.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lxml import etree
from lxml.etree import _Element as Element

from logistics_batch.model.issue import cell_address
from logistics_batch.paper.safe_text import workbook_text
from logistics_batch.paper.xlsx.package import (
    MAIN,
    OFFICE,
    NotPatchable,
    Package,
    main,
    parsed,
    target_of,
    whole_number,
    written,
)
from logistics_batch.paper.xlsx.sheet import Area, ColumnWidths, SheetPart

_AUTHOR = "logistics-batch"
_FIRST_LINE = _AUTHOR + ":"
_NAMESPACES = (
    b'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    b'xmlns:x="urn:schemas-microsoft-com:office:excel"'
)
_NO_COMMENTS = f'<comments xmlns="{MAIN}"><authors/><commentList/></comments>'.encode()
_NO_BOXES = (
    b"<xml " + _NAMESPACES + b'><o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="1"/></o:shapelayout></xml>'
)
_SHAPE_TYPE = (
    b'<v:shapetype%(names)s id="_x0000_t202" coordsize="21600,21600" o:spt="202" path="m,l,21600r21600,l21600,xe">'
    b'<v:stroke joinstyle="miter"/><v:path gradientshapeok="t" o:connecttype="rect"/></v:shapetype>'
)
_SHAPE = (
    b'<v:shape%(names)s id="_x0000_s%(id)d" type="#_x0000_t202" style="position:absolute;margin-left:59.25pt;'
    b'margin-top:1.5pt;width:247pt;height:%(height)dpt;z-index:%(order)d;visibility:hidden" '
    b'fillcolor="#fff6f5" o:insetmode="auto"><v:fill color2="#fff6f5"/>'
    b'<v:shadow on="t" color="#9a9a9a" obscured="t"/><v:path o:connecttype="none"/>'
    b'<v:textbox style="mso-direction-alt:auto"><div style="text-align:left"></div></v:textbox>'
    b'<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/><x:Anchor>%(anchor)s</x:Anchor>'
    b"<x:AutoFill>False</x:AutoFill><x:Row>%(row)d</x:Row><x:Column>%(column)d</x:Column></x:ClientData></v:shape>"
)
_ANY_SHAPE = re.compile(rb"<((?:[\w.-]+:)?shape)(?=[\s>]).*?</\1\s*>", re.DOTALL)
_NOTE = re.compile(
    rb"<((?:[\w.-]+:)?ClientData)(?=[\s>])[^>]*\sObjectType\s*=\s*[\"']Note[\"'][^>]*>(.*?)</\1\s*>", re.DOTALL
)
_PLACE = re.compile(rb"<(?:[\w.-]+:)?(Row|Column)\s*>\s*(\d{1,9})\s*<")
_COMMENTS_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.comments+xml"
_VML_TYPE = "application/vnd.openxmlformats-officedocument.vmlDrawing"
_BOX_PIXELS, _GAP_PIXELS, _LINE_PIXELS, _ROW_PIXELS = 330, 12, 16, 20
_CHARACTERS_A_LINE = 48


@dataclass(frozen=True, slots=True)
class Note:
    """A comment to add: the cell (row and column from 1) and its text."""

    row: int
    column: int
    text: str


def put_notes(package: Package, sheet: str, part: SheetPart, notes: Sequence[Note]) -> None:
    """Replace our comments on a sheet by these. Raises NotPatchable where comments and their boxes do not fit together.

    part: of that sheet; it gets the element that names the boxes' drawing.
    """
    lines = package.relations(sheet)
    comments_part = package.led_to(sheet, "comments")
    relation = part.relation("legacyDrawing")
    boxes_part = next((target_of(sheet, line.target) for line in lines if line.id == relation), None)
    if relation is not None and boxes_part is None:
        raise NotPatchable("the sheet names a drawing that the package does not have")
    read = package.read(comments_part) if comments_part else _NO_COMMENTS
    comments, users, earlier = _without_ours(parsed(read, part="comments"))
    wanted = [note for note in notes if (note.row, note.column) not in users]
    if not wanted and comments_part is None:
        return
    boxes = _boxes(package.read(boxes_part) if boxes_part else _NO_BOXES, wanted, earlier, ColumnWidths(part))
    _add(comments, wanted)
    is_left = bool(wanted or users)
    comments_part = _put(package, sheet, comments_part, written(comments) if is_left else None, "comments")
    boxes_part = _put(package, sheet, boxes_part, boxes, "vmlDrawing")
    types = {comments_part: _COMMENTS_TYPE} if is_left else {}
    package.set_types(endings={"vml": _VML_TYPE}, parts=types)
    drawing = (line.id for line in package.relations(sheet) if target_of(sheet, line.target) == boxes_part)
    if boxes is None:
        part.put("legacyDrawing", None)
    elif (line := next(drawing)) != relation:
        made = etree.Element(main("legacyDrawing"), nsmap={None: MAIN, "r": OFFICE})
        made.set(f"{{{OFFICE}}}id", line)
        part.put("legacyDrawing", made)


def _put(package: Package, sheet: str, part: str | None, content: bytes | None, kind: str) -> str:
    """Gives a part new content; a new one gets a name and a relationship, one without content loses both."""
    if part is None and content is None:
        return ""
    if part is None:
        taken = {name.lower() for name in package.names}
        pattern = "xl/comments{}.xml" if kind == "comments" else "xl/drawings/vmlDrawing{}.vml"
        names = (pattern.format(number) for number in range(1, len(taken) + 2))
        part = next(name for name in names if name.lower() not in taken)
        package.relate(sheet, f"{OFFICE}/{kind}", part)
    package.put(part, [content] if content is not None else None)
    if content is None:
        lines = package.relations(sheet)
        package.set_relations(sheet, [line for line in lines if target_of(sheet, line.target) != part])
    return part


def _without_ours(root: Element) -> tuple[Element, set[tuple[int, int]], set[tuple[int, int]]]:
    """The comments without ours, the cells of those that stay, and of those that went."""
    authors, comments = root.find(main("authors")), root.find(main("commentList"))
    if authors is None or comments is None:
        raise NotPatchable("the comments of the sheet are not readable")
    ours = {index for index, author in enumerate(authors) if author.text == _AUTHOR}
    users, earlier = set[tuple[int, int]](), set[tuple[int, int]]()
    for comment in comments.findall(main("comment")):
        area = Area.of(comment.get("ref", ""))
        if area is None:
            raise NotPatchable("a comment of the sheet has no sound address")
        words = "".join(text.text or "" for text in comment.iter(main("t")))
        is_ours = whole_number(comment, "authorId") in ours or words.startswith(_FIRST_LINE)
        (earlier if is_ours else users).add((area.top, area.left))
        if is_ours:
            comments.remove(comment)
    return root, users, earlier


def _add(root: Element, notes: Sequence[Note]) -> None:
    authors, comments = root.find(main("authors")), root.find(main("commentList"))
    assert authors is not None and comments is not None
    names = [author.text for author in authors]
    if notes and _AUTHOR not in names:
        etree.SubElement(authors, main("author")).text = _AUTHOR
        names.append(_AUTHOR)
    for note in notes:
        place = {"ref": cell_address(note.row, note.column), "authorId": str(names.index(_AUTHOR))}
        text = etree.SubElement(etree.SubElement(comments, main("comment"), place), main("text"))
        _add_run(text, _FIRST_LINE, bold=True)
        _add_run(text, "\n" + workbook_text(note.text), bold=False)


def _add_run(text: Element, words: str, *, bold: bool) -> None:
    run = etree.SubElement(text, main("r"))
    look = etree.SubElement(run, main("rPr"))
    if bold:
        etree.SubElement(look, main("b"))
    etree.SubElement(look, main("sz"), {"val": "9"})
    etree.SubElement(look, main("rFont"), {"val": "Tahoma"})
    shown = etree.SubElement(run, main("t"))
    shown.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    shown.text = words.encode("utf-8", "replace").decode()


def _boxes(
    xml: bytes, notes: Sequence[Note], earlier: Collection[tuple[int, int]], widths: ColumnWidths
) -> bytes | None:
    """The drawing of comment boxes (and of old buttons, which stay) without our earlier ones, with those of the notes;
    None if nothing is left in it.

    VML is not always sound XML and its writers choose their own prefixes, so shapes are found by their local names, and
    ours declare theirs wherever the part does not use the common ones.
    """
    if b"</xml>" not in xml or xml[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise NotPatchable("the drawing of the sheet's comments is not readable")
    kept = _ANY_SHAPE.sub(lambda found: b"" if _cell_of(found[0]) in earlier else found[0], xml)
    if not notes and _ANY_SHAPE.search(kept) is None:
        return None
    root = xml[: xml.find(b">", xml.find(b"<xml"))]
    names = b"" if all(name in root for name in _NAMESPACES.split()) else b" " + _NAMESPACES
    used = [int(number) for number in re.findall(rb"id\s*=\s*[\"']_x0000_s(\d{1,9})", kept)]
    first = max([1024, *used]) + 1
    shapes = []
    if notes and re.search(rb"id\s*=\s*[\"']_x0000_t202", kept) is None:
        shapes.append(_SHAPE_TYPE % {b"names": names})
    for order, note in enumerate(notes):
        lines = sum(1 + len(line) // _CHARACTERS_A_LINE for line in note.text.split("\n"))
        height = (lines + 2) * _LINE_PIXELS  # the first line names us
        shown = {
            b"names": names,
            b"id": first + order,
            b"order": order + 1,
            b"height": height * 3 // 4,
            b"anchor": _anchor(note, height, widths),
            b"row": note.row - 1,
            b"column": note.column - 1,
        }
        shapes.append(_SHAPE % shown)
    end = kept.rindex(b"</xml>")
    return kept[:end] + b"".join(shapes) + kept[end:]


def _cell_of(shape: bytes) -> tuple[int, int] | None:
    note = _NOTE.search(shape)
    place = {name: int(number) for name, number in _PLACE.findall(note[2])} if note is not None else {}
    return (place[b"Row"] + 1, place[b"Column"] + 1) if len(place) == 2 else None


def _anchor(note: Note, height: int, widths: ColumnWidths) -> bytes:
    """Where a box stands beside its cell: the column, row and pixels in them of its corners, counted from 0."""
    rows, rest = divmod(height, _ROW_PIXELS)
    right, wide = widths.reach(note.column + 1, _BOX_PIXELS + _GAP_PIXELS)
    top = max(note.row - 2, 0)
    corners = (note.column, _GAP_PIXELS, top, 4, right - 1, wide, top + rows, rest + 4)
    return ", ".join(map(str, corners)).encode()
