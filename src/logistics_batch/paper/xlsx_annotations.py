"""The comments of a sheet put into its package: the parts, their relationships and their content types."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from logistics_batch.paper.xlsx_comments import CommentBoxes, CommentsPart, Note
from logistics_batch.paper.xlsx_package import Package, Packed, packed
from logistics_batch.paper.xlsx_parts import (
    CONTENT_TYPES_PART,
    OFFICE,
    Relationship,
    content_types_xml,
    relationships,
    relationships_xml,
    rels_part,
    target_part,
    unused_id,
)
from logistics_batch.paper.xlsx_sheet import SheetPart, checked
from logistics_batch.paper.xml_bytes import NotPatchable

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
