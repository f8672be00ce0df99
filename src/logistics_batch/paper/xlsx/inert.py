"""A user's workbook made inert before it goes back under our name: nothing in it fetches, starts or links to anything.

What may stay is listed, by the kind of the reference and the type of the part that it leads to. A few kinds can be
taken out without harm to the rest, and are; for any other kind, and for a part that cannot be changed safely, the
answer is a plain workbook. A part that nothing leads to does not stay. Formulas that do more than calculate give way
to their values.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from html import unescape
from typing import Final
from urllib.parse import unquote

from lxml import etree
from lxml.etree import _Element as Element

from logistics_batch.model.issue import Issue
from logistics_batch.paper.xlsx.formulas import FormulaJudge
from logistics_batch.paper.xlsx.package import (
    CONTENT_TYPES,
    OFFICE,
    NotPatchable,
    Package,
    Relation,
    main,
    rels_of,
    sound,
    target_of,
    workbook_of,
    written,
)
from logistics_batch.paper.xlsx.sheet import SheetPart


class RemovedParts(StrEnum):
    """What was taken out of a workbook."""

    FORMULAS = "formulas"
    LINKS = "links"
    OTHER_WORKBOOKS = "other_workbooks"
    DATA_QUERIES = "data_queries"
    PROGRAMS = "programs"
    PARTS = "parts"


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
_SHARED: Final = re.compile(rb"\ssi\s*=\s*[\"']([^\"']*)")
_FILLS_SEVERAL: Final = re.compile(rb"\scm\s*=\s*(?:\"[^\"]*\"|'[^']*')")  # says that the formula fills several cells
_GOOD_TARGET: Final = re.compile(r"https://|mailto:|#", re.IGNORECASE)
# How the target of a link begins that may stay: a page or an address that is asked for by a click, or a place here;
# and how an address begins that lies outside the workbook.
_ELSEWHERE: Final = re.compile(r"\s*(?:[a-z][a-z0-9+.-]+:|[\\/]{2})", re.IGNORECASE)
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
        self._kinds: dict[str, str] = {}  # of the parts that stay
        self._lost: dict[str, set[str]] = {}  # the references of each that do not
        types = package.tree(CONTENT_TYPES)
        self._by_ending = {line.get("Extension", "").lower(): line.get("ContentType", "") for line in types}
        self._by_part = {line.get("PartName", "").lower(): line.get("ContentType", "") for line in types}
        self._exact = {name.lower(): name for name in package.names}

    def result(self) -> InertWorkbook:
        """Look at everything that stays, and leave out the rest."""
        package = self._package
        self._walk()
        workbook = workbook_of(package)
        tree = package.tree(workbook)
        names = [(line.get("name", ""), line.text or "") for line in tree.iter(main("definedName"))]
        judge = FormulaJudge([line.get("name", "") for line in tree.iter(main("sheet"))], names)
        for part, kind in self._kinds.items():
            self._look_at(part, kind, judge)
        if RemovedParts.FORMULAS in self._removed:  # the list of formulas would name cells that hold none any more
            self._drop_calculation_chain(workbook)
        kept = {CONTENT_TYPES, *self._kinds, *(rels_of(part) for part in ("", *self._kinds))}
        orphans = [name for name in package.names if name not in kept]
        for name in orphans:
            package.put(name, None)
        if not self._removed and not all(name.endswith("/") for name in orphans):
            self._removed.add(RemovedParts.PARTS)
        if not package.is_changed:
            return InertWorkbook(package.content)
        package.set_types()
        return InertWorkbook(package.saved(), tuple(each for each in RemovedParts if each in self._removed))

    # -- what leads where -------------------------------------------------------------------------------------------

    def _walk(self) -> None:
        """Note every part that stays, and the references of each that do not."""
        waiting = [""]
        while waiting:
            part = waiting.pop()
            lines = self._package.relations(part)
            if len({line.id for line in lines}) != len(lines):
                raise NotPatchable("two references of a part have one name")
            kept = [line for line in lines if self._stays(part, line)]
            self._lost[part] = {line.id for line in lines} - {line.id for line in kept}
            if self._lost[part]:
                self._package.set_relations(part, kept)
            for line in kept:
                target = self._target(part, line)
                if target is not None and target not in self._kinds:
                    self._kinds[target] = line.kind
                    waiting.append(target)
                elif target is not None and self._kinds[target] != line.kind:
                    raise NotPatchable("a part is used as two things")

    def _stays(self, part: str, line: Relation) -> bool:
        if line.kind == _HYPERLINK and _GOOD_TARGET.match(line.target):
            return True
        outside = line.mode not in ("", "Internal") or _ELSEWHERE.match(line.target) or "\\" in line.target
        if not outside and line.kind in _KEPT:
            target = self._target(part, line)
            if target is None or self._is_of(target, _KEPT[line.kind]):
                return True
        if line.kind not in _CUT and line.kind.startswith(_STANDARD):
            raise NotPatchable("it holds embedded objects, parts of other files or parts that are not known here")
        self._removed.add(_CUT.get(line.kind, RemovedParts.PARTS))
        return False

    def _target(self, part: str, line: Relation) -> str | None:
        """The part that a reference leads to, by its name in the zip; None where there is none, or it is a link."""
        if line.kind == _HYPERLINK:
            return None
        name = target_of(part, line.target)
        return self._exact.get(name.lower()) or self._exact.get(unquote(name).lower())

    def _is_of(self, part: str, kind: str) -> bool:
        known = self._by_part.get(f"/{part}".lower()) or self._by_ending.get(part.rpartition(".")[2].lower(), "")
        if kind == _IMAGE:
            return known.lower().startswith(_IMAGE) and "svg" not in known.lower()
        return bool(known.lower() == kind.lower())

    def _drop_calculation_chain(self, workbook: str) -> None:
        lines = self._package.relations(workbook)
        kept = [line for line in lines if line.kind != f"{OFFICE}/calcChain"]
        if len(kept) < len(lines):
            self._kinds = {part: kind for part, kind in self._kinds.items() if kind != f"{OFFICE}/calcChain"}
            self._package.set_relations(workbook, kept)

    # -- what stands in a part ----------------------------------------------------------------------------------------

    def _look_at(self, part: str, kind: str, judge: FormulaJudge) -> None:
        lost = self._lost.get(part, set())
        cut = _Cut(judge, lost, self._removed)
        if kind == f"{OFFICE}/vmlDrawing":
            self._old_drawing(part, judge, lost=lost)
        elif kind == f"{OFFICE}/worksheet":
            self._sheet(part, judge, cut)
        elif not _KEPT[kind].endswith("xml"):
            return
        elif kind in _TEXTS_ALONE and not lost:
            for _ in sound([self._package.read(part)]):
                pass
        elif cut.changes(tree := self._package.tree(part)):
            self._package.put(part, [written(tree)])

    def _sheet(self, name: str, judge: FormulaJudge, cut: "_Cut") -> None:
        part = SheetPart.of(self._package.read(name))
        is_changed = cut.changes(part.root)
        data, start, end = part.rows.data, part.rows.start, part.rows.end
        rows = None
        if data.find(b"<f", start, end) >= 0 or data.find(b":f", start, end) >= 0:
            rows = self._rows(data[start:end], judge)
        if is_changed or rows is not None:
            self._package.put(name, sound(part.pieces([data[start:end] if rows is None else rows])))

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
            if verdicts[alike] and (index := _SHARED.search(found["attributes"])) is not None:
                shared.add(index[1])
        if readable != sum(1 for _ in _ANY_FORMULA.finditer(rows)):
            raise NotPatchable("a formula of the sheet is not readable")
        if not any(verdicts.values()):
            return None
        self._removed.add(RemovedParts.FORMULAS)

        def frozen(found: re.Match[bytes]) -> bytes:
            index = _SHARED.search(found["attributes"])
            is_active = verdicts[_ROW_NUMBER.sub(b"0", found["text"] or b"")]
            if not is_active and (index is None or index[1] not in shared):
                return found[0]
            return _FILLS_SEVERAL.sub(b"", found["cell"] or b"")

        return _CELL_FORMULA.sub(frozen, rows)

    def _old_drawing(self, part: str, judge: FormulaJudge, *, lost: set[str]) -> None:
        """Comment boxes and form controls without their macros; VML is not always sound XML."""
        xml = self._package.read(part)
        edited = _OLD_MACRO.sub(b"", xml)
        text = _OLD_NAMESPACE.sub("", _text(edited))
        formulas = (found[1] for found in _OLD_FORMULA.finditer(text))
        if lost or "FmlaMacro" in text or _OLD_DRAWING_ADDRESS.search(text) or any(map(judge.is_active, formulas)):
            raise NotPatchable("a drawing of a sheet refers to something outside the workbook")
        if edited != xml:
            self._removed.add(RemovedParts.PROGRAMS)
            self._package.put(part, [edited])


def _text(xml: bytes) -> str:
    return unescape(xml.decode("utf-8", "replace"))


# Elements that may go with the reference that they name; those that stay without it; those that go when nothing is left
# in them; those that never stay; formulas; and rules that go with an active formula in them, because an error in its
# place would colour cells, or forbid all values.
_NAMING: Final = (
    *("customPr", "dataRef", "externalReference", "hlinkClick", "hlinkHover", "hlinkMouseOver", "hyperlink"),
    *("picture", "sheetsCustomData", "svgBlip"),
)
_NAMING_BESIDES: Final = ("blip", "pageSetup")
_LISTS: Final = (
    *("conditionalFormatting", "conditionalFormattings", "customProperties", "dataConsolidate", "dataRefs"),
    *("dataValidations", "ext", "extLst", "externalReferences", "hyperlinks"),
)
_NEVER: Final = {
    "webPublishObjects": RemovedParts.PARTS,
    "webPublishItems": RemovedParts.PARTS,
    "HyperlinkBase": RemovedParts.LINKS,
    "HLinks": RemovedParts.LINKS,
}
_FORMULAS: Final = frozenset(
    ["calculatedColumnFormula", "definedName", "f", "formula", "formula1", "formula2", "totalsRowFormula"]
)
_RULES: Final = frozenset({"calculatedColumnFormula", "cfRule", "dataValidation"})
_SAVED_AT: Final = "absPath"  # where the workbook was saved, which leads nowhere once no link is relative to it
_FORMULA_ATTRIBUTES: Final = ("textlink", "fmlaLink", "fmlaRange", "fmlaTxbx", "fmlaGroup")
_ADDRESSES: Final = ("url", "href", "src", "invalidUrl", "action")
_NEVER_ATTRIBUTES: Final = {
    "macro": RemovedParts.PROGRAMS,
    "fmlaMacro": RemovedParts.PROGRAMS,
    "refreshOnLoad": RemovedParts.DATA_QUERIES,
    "tableType": RemovedParts.DATA_QUERIES,
    "queryTableFieldId": RemovedParts.DATA_QUERIES,
    "connectionId": RemovedParts.DATA_QUERIES,
}


class _Cut:
    """Takes what is active out of the tree of a part. lost: its references that are gone; removed: what was, so far."""

    def __init__(self, judge: FormulaJudge, lost: set[str], removed: set[RemovedParts]) -> None:
        self._judge, self._lost, self._removed = judge, lost, removed
        self._going: set[Element] = set()
        self._is_changed = False

    def changes(self, root: Element) -> bool:
        """Take it out; whether there was anything."""
        self._goes(root)
        return self._is_changed

    def _goes(self, element: Element) -> bool:
        """Take it out of an element; whether the element itself goes."""
        name = etree.QName(element).localname
        goes: bool = name in _NEVER or element.get("name", "").startswith("_PID_")
        if goes:
            self._removed.add(_NEVER.get(name, RemovedParts.LINKS))
        if name == "cacheSource" and element.get("type") != "worksheet":
            raise NotPatchable("a pivot table takes its rows from outside the workbook")
        for attribute, value in element.attrib.items():
            goes = self._look_at(element, name, (str(attribute), str(value))) or goes
        children = list(element)
        gone = [child for child in children if self._goes(child)]
        for child in gone:
            element.remove(child)
        self._is_changed |= bool(gone)
        if name in _FORMULAS and self._judge.is_active("".join(map(str, element.itertext()))):
            self._removed.add(RemovedParts.FORMULAS)
            self._replace(element)
        if name in _LISTS and gone:
            goes = goes or all(etree.QName(child).localname == "sqref" for child in children if child not in gone)
            element.attrib.pop("count", None)
        return bool(goes or element in self._going)

    def _look_at(self, element: Element, name: str, attribute: tuple[str, str]) -> bool:
        """Take an attribute off that may not stay; whether its element goes with it."""
        full_name, value = attribute
        space, _, local = full_name.rpartition("}")
        if value in self._lost and (space == f"{{{OFFICE}" or local == "relid"):
            if name not in _NAMING + _NAMING_BESIDES:
                raise NotPatchable("it holds something that cannot be taken out safely")
        elif name != _SAVED_AT and (reason := self._reason(local, value)):
            self._removed.add(reason)
        elif local == "formula" and self._judge.is_active(value.replace("'", "")):
            raise NotPatchable("a pivot table has a formula that looks outside the workbook")
        else:
            return False
        del element.attrib[full_name]
        self._is_changed = True
        return name in _NAMING and value in self._lost

    def _reason(self, name: str, value: str) -> RemovedParts | None:
        """Why an attribute may not stay, None if it may."""
        if name in _NEVER_ATTRIBUTES and value not in ("", "0", "false", "worksheet"):
            return _NEVER_ATTRIBUTES[name]
        if name in _FORMULA_ATTRIBUTES and self._judge.is_active(value):
            return RemovedParts.FORMULAS
        if name in _ADDRESSES and _ELSEWHERE.match(value) and not _GOOD_TARGET.match(value):
            return RemovedParts.LINKS
        return None

    def _replace(self, formula: Element) -> None:
        """Let the rule go that an active formula stands in; else an error stands in its place."""
        around = [*reversed(list(formula.iterancestors())), formula]
        rule = next((each for each in around if etree.QName(each).localname in _RULES), None)
        if rule is not None:
            self._going.add(rule)
        else:
            del formula[:]
            formula.text = "#REF!"
            self._is_changed = True
