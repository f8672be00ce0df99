"""A user's workbook made inert before it goes back under our name: nothing in it fetches, starts or links to anything.

What may stay is listed, by the kind of the reference and the type of the part that it leads to. A few kinds can be
taken out without harm to the rest, and are; for any other kind, and for a part that cannot be changed safely, the
answer is a plain workbook. A part that nothing leads to does not stay. Formulas that do more than calculate give way
to their values.
"""

import re
from dataclasses import dataclass
from html import unescape
from typing import Final
from urllib.parse import unquote

from logistics_batch.model.issue import Issue
from logistics_batch.paper.xlsx.active import (
    ELSEWHERE,
    GOOD_TARGET,
    ActiveXml,
    FormulaJudge,
    RemovedParts,
    require_sound_xml,
)
from logistics_batch.paper.xlsx.package import Package, Packed, packed
from logistics_batch.paper.xlsx.parts import (
    CONTENT_TYPES_PART,
    MAIN,
    OFFICE,
    Relationship,
    content_types_xml,
    parsed,
    relationships,
    relationships_xml,
    rels_part,
    target_part,
    workbook_part,
)
from logistics_batch.paper.xlsx.sheet import SheetPart, checked
from logistics_batch.paper.xlsx.xml_bytes import (
    NotPatchable,
    attribute,
    without_attribute,
)

_MICROSOFT = "http://schemas.microsoft.com/office"
_STANDARD = ("http://schemas.openxmlformats.org/", _MICROSOFT)  # other makers' parts mean nothing to the programs
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships/metadata"
_SIGNATURE = "http://schemas.openxmlformats.org/package/2006/relationships/digital-signature"
_SHEETS = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_DRAWINGS = "application/vnd.openxmlformats-officedocument.drawingml"
_EXCEL = "application/vnd.ms-excel"
_IMAGE = "image/"

# Kinds of references that stay, with the type that the part must have (or how it begins).
_KEPT: Final[dict[str, str]] = {
    f"{OFFICE}/officeDocument": f"{_SHEETS}.sheet.main+xml",
    f"{OFFICE}/extended-properties": "application/vnd.openxmlformats-officedocument.extended-properties+xml",
    f"{OFFICE}/custom-properties": "application/vnd.openxmlformats-officedocument.custom-properties+xml",
    f"{_PACKAGE}/core-properties": "application/vnd.openxmlformats-package.core-properties+xml",
    "http://schemas.microsoft.com/office/2020/02/relationships/classificationlabels": (
        "application/vnd.ms-office.classificationlabels+xml"
    ),
    f"{_PACKAGE}/thumbnail": _IMAGE,
    f"{OFFICE}/worksheet": f"{_SHEETS}.worksheet+xml",
    f"{OFFICE}/chartsheet": f"{_SHEETS}.chartsheet+xml",
    f"{OFFICE}/styles": f"{_SHEETS}.styles+xml",
    f"{OFFICE}/theme": "application/vnd.openxmlformats-officedocument.theme+xml",
    f"{OFFICE}/sharedStrings": f"{_SHEETS}.sharedStrings+xml",
    f"{OFFICE}/calcChain": f"{_SHEETS}.calcChain+xml",
    f"{OFFICE}/sheetMetadata": f"{_SHEETS}.sheetMetadata+xml",
    f"{OFFICE}/comments": f"{_SHEETS}.comments+xml",
    f"{_MICROSOFT}/2017/10/relationships/threadedComment": f"{_EXCEL}.threadedcomments+xml",
    f"{_MICROSOFT}/2017/10/relationships/person": f"{_EXCEL}.person+xml",
    f"{OFFICE}/vmlDrawing": "application/vnd.openxmlformats-officedocument.vmlDrawing",
    f"{OFFICE}/drawing": "application/vnd.openxmlformats-officedocument.drawing+xml",
    f"{OFFICE}/image": _IMAGE,
    f"{OFFICE}/chart": f"{_DRAWINGS}.chart+xml",
    f"{OFFICE}/chartUserShapes": f"{_DRAWINGS}.chartshapes+xml",
    f"{_MICROSOFT}/2011/relationships/chartStyle": "application/vnd.ms-office.chartstyle+xml",
    f"{_MICROSOFT}/2011/relationships/chartColorStyle": "application/vnd.ms-office.chartcolorstyle+xml",
    f"{_MICROSOFT}/2014/relationships/chartEx": "application/vnd.ms-office.chartex+xml",
    f"{OFFICE}/themeOverride": "application/vnd.openxmlformats-officedocument.themeOverride+xml",
    f"{OFFICE}/diagramData": f"{_DRAWINGS}.diagramData+xml",
    f"{OFFICE}/diagramLayout": f"{_DRAWINGS}.diagramLayout+xml",
    f"{OFFICE}/diagramQuickStyle": f"{_DRAWINGS}.diagramStyle+xml",
    f"{OFFICE}/diagramColors": f"{_DRAWINGS}.diagramColors+xml",
    f"{_MICROSOFT}/2007/relationships/diagramDrawing": "application/vnd.ms-office.drawingml.diagramDrawing+xml",
    f"{OFFICE}/table": f"{_SHEETS}.table+xml",
    f"{OFFICE}/pivotTable": f"{_SHEETS}.pivotTable+xml",
    f"{OFFICE}/pivotCacheDefinition": f"{_SHEETS}.pivotCacheDefinition+xml",
    f"{OFFICE}/pivotCacheRecords": f"{_SHEETS}.pivotCacheRecords+xml",
    f"{_MICROSOFT}/2007/relationships/slicer": f"{_EXCEL}.slicer+xml",
    f"{_MICROSOFT}/2007/relationships/slicerCache": f"{_EXCEL}.slicerCache+xml",
    f"{_MICROSOFT}/2011/relationships/timeline": f"{_EXCEL}.timeline+xml",
    f"{_MICROSOFT}/2011/relationships/timelineCache": f"{_EXCEL}.timelineCache+xml",
    f"{OFFICE}/ctrlProp": f"{_EXCEL}.controlproperties+xml",
    f"{OFFICE}/printerSettings": f"{_SHEETS}.printerSettings",
    f"{_MICROSOFT}/2022/11/relationships/FeaturePropertyBag": f"{_EXCEL}.featurepropertybag+xml",
}
# Kinds that are taken out: nothing but the elements of `_NAMING` names them.
_CUT: Final[dict[str, RemovedParts]] = {
    f"{OFFICE}/hyperlink": RemovedParts.LINKS,
    f"{OFFICE}/externalLink": RemovedParts.OTHER_WORKBOOKS,
    f"{OFFICE}/externalLinkPath": RemovedParts.OTHER_WORKBOOKS,
    f"{OFFICE}/volatileDependencies": RemovedParts.OTHER_WORKBOOKS,
    f"{OFFICE}/connections": RemovedParts.DATA_QUERIES,
    f"{OFFICE}/queryTable": RemovedParts.DATA_QUERIES,
    f"{OFFICE}/customXml": RemovedParts.PARTS,  # where data queries lie, too
    f"{OFFICE}/customProperty": RemovedParts.PARTS,
    f"{_SIGNATURE}/origin": RemovedParts.PARTS,  # a signature is broken by our columns anyway
    f"{OFFICE}/image": RemovedParts.LINKS,  # a picture that lies elsewhere, or one that can itself refer to others
    f"{_PACKAGE}/thumbnail": RemovedParts.PARTS,
    f"{_MICROSOFT}/2006/relationships/vbaProject": RemovedParts.PROGRAMS,
    f"{_MICROSOFT}/2006/relationships/attachedToolbars": RemovedParts.PROGRAMS,
    f"{_MICROSOFT}/2006/relationships/ui/extensibility": RemovedParts.PROGRAMS,
    f"{_MICROSOFT}/2007/relationships/ui/extensibility": RemovedParts.PROGRAMS,
    f"{_MICROSOFT}/2006/relationships/ui/userCustomization": RemovedParts.PROGRAMS,
    f"{_MICROSOFT}/2011/relationships/webextensiontaskpanes": RemovedParts.PROGRAMS,
}
_CALCULATION_CHAIN: Final = f"{OFFICE}/calcChain"
_HYPERLINK: Final = f"{OFFICE}/hyperlink"
_TEXTS_ALONE: Final = frozenset(
    f"{OFFICE}/{name}" for name in ("sharedStrings", "calcChain", "pivotCacheRecords", "styles")
)

_ATTRIBUTES: Final = rb"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*+\s*"
_FORMULA: Final = re.compile(
    rb"<(?P<tag>(?:[^\s<>/:]+:)?f)(?P<attributes>" + _ATTRIBUTES + rb")(?:/>|>(?P<text>[^<]*)</(?P=tag)\s*>)"
)
_CELL_FORMULA: Final = re.compile(rb"(?P<cell><(?:[^\s<>/:]+:)?c" + _ATTRIBUTES + rb">\s*+)?" + _FORMULA.pattern)
_ROW_NUMBER: Final = re.compile(rb"(?<=[A-Z$])\d+(?![\w.(\s])")  # what formulas that were filled down differ in
_ANY_FORMULA: Final = re.compile(rb"<(?:[^\s<>/:]+:)?f[\s/>]")
_OLD_DRAWING_ADDRESS: Final = re.compile(
    r"(?<![\w.-])(?:src|href|althref)\s*=|[a-z]{2}:/|\\\\|javascript:", re.IGNORECASE
)
_OLD_NAMESPACE: Final = re.compile(r"xmlns(?::[\w.-]+)?\s*=\s*(?:\"[^\"]*\"|'[^']*')")
_OLD_MACRO: Final = re.compile(rb"<((?:[\w.-]+:)?FmlaMacro)(?=[\s>])[^<>]*>[^<>]*</\1\s*>")
_OLD_FORMULA: Final = re.compile(r"<(?:[\w.-]+:)?Fmla\w+\s*>([^<]*)<", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class InertWorkbook:
    """A workbook that may go back; `content` is empty where it cannot be changed in place, and `obstacle` says why.

    removed: what was taken out.
    """

    content: bytes
    removed: tuple[RemovedParts, ...] = ()
    obstacle: str = ""

    @property
    def notes(self) -> tuple[Issue, ...]:
        """What people are told about it."""
        return tuple(Issue(f"taken_out.{each}") for each in self.removed)


def inert_workbook(content: bytes) -> InertWorkbook:
    """The workbook without anything active; the same bytes where there is nothing of that kind."""
    try:
        return _Inspection(Package(content)).result()
    except NotPatchable as error:
        return InertWorkbook(b"", obstacle=str(error))


class _Inspection:
    """One walk through a package, from its root along the references that may stay."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._removed: set[RemovedParts] = set()
        self._changes: dict[str, Packed | None] = {}
        self._kinds: dict[str, str] = {}
        self._lines: dict[str, list[Relationship]] = {}
        self._lost: dict[str, set[str]] = {}
        tree = parsed(package.read(CONTENT_TYPES_PART), part=CONTENT_TYPES_PART)
        self._by_ending = {line.get("Extension", "").lower(): line.get("ContentType", "") for line in tree}
        self._by_part = {line.get("PartName", "").lower(): line.get("ContentType", "") for line in tree}
        if len({name.lower() for name in package.names}) != len(package.names):
            raise NotPatchable("the package holds a part twice")
        self._exact = {name.lower(): name for name in package.names}

    def result(self) -> InertWorkbook:
        """Look at everything that stays, and leave out the rest."""
        self._walk()
        workbook = workbook_part(self._package)
        judge = _judge(self._package.read(workbook))
        for part, kind in self._kinds.items():
            self._look_at(part, kind, judge)
        if RemovedParts.FORMULAS in self._removed:  # the list of formulas would name cells that hold none any more
            self._drop_calculation_chain(workbook)
        kept = {CONTENT_TYPES_PART, *self._kinds, *(rels_part(part) for part in ("", *self._kinds))}
        orphans = [name for name in self._package.names if name not in kept]
        self._changes.update(dict.fromkeys(orphans))
        if not self._removed and not all(name.endswith("/") for name in orphans):
            self._removed.add(RemovedParts.PARTS)
        if not self._changes:
            return InertWorkbook(self._package.content)
        dropped = [name for name, part in self._changes.items() if part is None]
        types = content_types_xml(self._package, defaults={}, overrides={}, dropped=dropped)
        self._changes[CONTENT_TYPES_PART] = packed([types])
        return InertWorkbook(
            self._package.with_parts(self._changes), tuple(each for each in RemovedParts if each in self._removed)
        )

    # -- what leads where -------------------------------------------------------------------------------------------

    def _walk(self) -> None:
        """Note every part that stays, and the references of each that do not."""
        waiting = [""]
        while waiting:
            part = waiting.pop()
            lines = relationships(self._package, part)
            if len({line.id for line in lines}) != len(lines):
                raise NotPatchable("two references of a part have one name")
            self._lines[part] = [line for line in lines if self._stays(part, line)]
            self._lost[part] = {line.id for line in lines} - {line.id for line in self._lines[part]}
            if self._lost[part]:
                self._changes[rels_part(part)] = packed([relationships_xml(self._lines[part])])
            for line in self._lines[part]:
                target = self._target(part, line)
                if target is not None and target not in self._kinds:
                    self._kinds[target] = line.kind
                    waiting.append(target)
                elif target is not None and self._kinds[target] != line.kind:
                    raise NotPatchable("a part is used as two things")

    def _stays(self, part: str, line: Relationship) -> bool:
        if line.kind == _HYPERLINK and GOOD_TARGET.match(line.target):
            return True
        outside = line.mode not in ("", "Internal") or ELSEWHERE.match(line.target) or "\\" in line.target
        if not outside and line.kind in _KEPT:
            target = self._target(part, line)
            if target is None or self._is_of(target, _KEPT[line.kind]):
                return True
        if line.kind not in _CUT and line.kind.startswith(_STANDARD):
            raise NotPatchable("it holds embedded objects, parts of other files or parts that are not known here")
        self._removed.add(_CUT.get(line.kind, RemovedParts.PARTS))
        return False

    def _target(self, part: str, line: Relationship) -> str | None:
        """The part that a reference leads to, by its name in the zip; None where there is none, or it is a link."""
        if line.kind == _HYPERLINK:
            return None
        name = target_part(part, line.target)
        return self._exact.get(name.lower()) or self._exact.get(unquote(name).lower())

    def _is_of(self, part: str, kind: str) -> bool:
        known = self._by_part.get(f"/{part}".lower()) or self._by_ending.get(part.rpartition(".")[2].lower(), "")
        if kind == _IMAGE:
            return known.lower().startswith(_IMAGE) and "svg" not in known.lower()
        return known.lower() == kind.lower()

    def _drop_calculation_chain(self, workbook: str) -> None:
        lines = self._lines.get(workbook, [])
        chains = [line for line in lines if line.kind == _CALCULATION_CHAIN]
        for chain in chains:
            self._kinds.pop(self._target(workbook, chain) or "", None)
        if chains:
            kept = [line for line in lines if line.kind != _CALCULATION_CHAIN]
            self._changes[rels_part(workbook)] = packed([relationships_xml(kept)])

    # -- what stands in a part ----------------------------------------------------------------------------------------

    def _look_at(self, part: str, kind: str, judge: FormulaJudge) -> None:
        lost = self._lost.get(part, set())
        if kind == f"{OFFICE}/vmlDrawing":
            edited = self._old_drawing(self._package.read(part), judge, lost=lost)
        elif kind == f"{OFFICE}/worksheet":
            edited = self._sheet(self._package.read(part), judge, lost=lost)
        elif not _KEPT[kind].endswith("xml"):
            return
        elif kind in _TEXTS_ALONE and not lost:
            require_sound_xml(self._package.read(part))
            return
        else:
            edited = ActiveXml(self._package.read(part), judge, lost=lost, removed=self._removed).edited()
        if edited is not None:
            self._changes[part] = packed([edited])

    def _sheet(self, xml: bytes, judge: FormulaJudge, *, lost: set[str]) -> bytes | None:
        """The sheet without what is active, None where nothing is."""
        part = SheetPart.of(xml)
        around = b"".join(part.pieces([]))
        edited = ActiveXml(around, judge, lost=lost, removed=self._removed).edited()
        data, start, end = part.rows.data, part.rows.start, part.rows.end
        rows = None
        if data.find(b"<f", start, end) >= 0 or data.find(b":f", start, end) >= 0:
            rows = self._rows(data[start:end], judge)
        if data.find(b"sheetData", start, end) >= 0:
            raise NotPatchable("the sheet has rows in two places")
        if edited is None and rows is None:
            return None
        tag = part.prefix + b"sheetData"
        before, found, after = (edited or around).partition(b"<%s></%s>" % (tag, tag))
        if not found:
            raise NotPatchable("the rows of the sheet have no place")
        kept = rows if rows is not None else data[start:end]
        return b"".join(checked([before, b"<%s>" % tag, kept, b"</%s>" % tag, after]))

    def _rows(self, rows: bytes, judge: FormulaJudge) -> bytes | None:
        """The rows with the values of active formulas in their place; a shared formula goes from all its cells."""
        verdicts: dict[bytes, bool] = {}
        shared: set[bytes] = set()
        readable = 0
        for found in _FORMULA.finditer(rows):
            readable += 1
            text = found["text"] or b""
            alike = _ROW_NUMBER.sub(b"0", text)
            if alike not in verdicts:
                verdicts[alike] = judge.is_active(_text(text))
            if verdicts[alike] and (index := attribute(found["attributes"], b"si")) is not None:
                shared.add(index)
        if readable != sum(1 for _ in _ANY_FORMULA.finditer(rows)):
            raise NotPatchable("a formula of the sheet is not readable")
        if not any(verdicts.values()):
            return None
        self._removed.add(RemovedParts.FORMULAS)

        def frozen(found: re.Match[bytes]) -> bytes:
            is_active = verdicts[_ROW_NUMBER.sub(b"0", found["text"] or b"")]
            if not is_active and attribute(found["attributes"], b"si") not in shared:
                return found[0]
            return without_attribute(found["cell"] or b"", b"cm")  # it says that the formula fills several cells

        return _CELL_FORMULA.sub(frozen, rows)

    def _old_drawing(self, xml: bytes, judge: FormulaJudge, *, lost: set[str]) -> bytes | None:
        """Comment boxes and form controls without their macros; VML is not always sound XML."""
        edited = _OLD_MACRO.sub(b"", xml)
        text = _OLD_NAMESPACE.sub("", _text(edited))
        formulas = (found[1] for found in _OLD_FORMULA.finditer(text))
        if lost or "FmlaMacro" in text or _OLD_DRAWING_ADDRESS.search(text) or any(map(judge.is_active, formulas)):
            raise NotPatchable("a drawing of a sheet refers to something outside the workbook")
        if edited == xml:
            return None
        self._removed.add(RemovedParts.PROGRAMS)
        return edited


def _judge(workbook: bytes) -> FormulaJudge:
    tree = parsed(workbook, part="workbook")
    names = [(line.get("name", ""), line.text or "") for line in tree.iter(f"{{{MAIN}}}definedName")]
    return FormulaJudge([line.get("name", "") for line in tree.iter(f"{{{MAIN}}}sheet")], names)


def _text(xml: bytes) -> str:
    return unescape(xml.decode("utf-8", "replace"))
