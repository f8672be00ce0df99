"""Where the parts of a workbook are: relationships, content types, and the part of a sheet by its name."""

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError
from xml.sax.saxutils import quoteattr

from defusedxml import ElementTree

from logistics_batch.paper.xlsx.package import Package
from logistics_batch.paper.xlsx.xml_bytes import NotPatchable

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_CONTENT_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
CONTENT_TYPES_PART = "[Content_Types].xml"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


@dataclass(frozen=True, slots=True)
class Relationship:
    """One line of a .rels part; `target` as it is written there."""

    id: str
    kind: str
    target: str
    mode: str = ""


@dataclass(frozen=True, slots=True)
class WorkbookParts:
    """The parts that a sheet of a workbook is made of."""

    sheet: str
    styles: str
    shared_strings: str | None
    calculation_chain: str | None


def parsed(xml: bytes, *, part: str) -> Element:
    """A small part as a tree. Raises NotPatchable for broken XML and for any DOCTYPE."""
    try:
        root: Element = ElementTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, ValueError) as error:
        raise NotPatchable(f"the part {part} is not sound XML") from error
    return root


def rels_part(part: str) -> str:
    """The name of the part that holds another's relationships."""
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", name + ".rels")


def target_part(part: str, target: str) -> str:
    """The part that a relationship of `part` points to."""
    path = target if target.startswith("/") else posixpath.join("/", posixpath.dirname(part), target)
    return posixpath.normpath(path).lstrip("/")


def relationships(package: Package, part: str) -> list[Relationship]:
    """The relationships of a part, in their order; none if it has no .rels part."""
    name = rels_part(part)
    if name not in package:
        return []
    lines = parsed(package.read(name), part=name)
    return [
        Relationship(line.get("Id", ""), line.get("Type", ""), line.get("Target", ""), line.get("TargetMode", ""))
        for line in lines
    ]


def relationships_xml(lines: Iterable[Relationship]) -> bytes:
    """A .rels part."""
    written = "".join(
        f"<Relationship Id={quoteattr(line.id)} Type={quoteattr(line.kind)} Target={quoteattr(line.target)}"
        + (f" TargetMode={quoteattr(line.mode)}" if line.mode else "")
        + "/>"
        for line in lines
    )
    return f'{_DECLARATION}<Relationships xmlns="{_PACKAGE_RELATIONSHIPS}">{written}</Relationships>'.encode()


def unused_id(lines: Iterable[Relationship]) -> str:
    """A relationship id that none of the lines has."""
    taken = {line.id for line in lines}
    return next(name for number in range(1, len(taken) + 2) if (name := f"rIdResult{number}") not in taken)


def workbook_part(package: Package) -> str:
    """The name of the workbook part."""
    return _first(relationships(package, ""), "officeDocument", "")


def find_sheet(package: Package, sheet: str) -> WorkbookParts:
    """The parts of the sheet of that name. Raises NotPatchable for strict OOXML, and where a part is missing."""
    workbook = workbook_part(package)
    tree = parsed(package.read(workbook), part=workbook)
    if tree.tag != f"{{{MAIN}}}workbook":
        raise NotPatchable("the workbook is saved as Strict Open XML")
    lines = relationships(package, workbook)
    ids = [line.get(f"{{{OFFICE}}}id") for line in tree.iter(f"{{{MAIN}}}sheet") if line.get("name") == sheet]
    part = next((line.target for line in lines if line.id in ids and line.kind == f"{OFFICE}/worksheet"), None)
    if part is None:
        raise NotPatchable(f'the workbook has no worksheet "{sheet}"')
    return WorkbookParts(
        sheet=target_part(workbook, part),
        styles=_first(lines, "styles", workbook),
        shared_strings=_optional(lines, "sharedStrings", workbook),
        calculation_chain=_optional(lines, "calcChain", workbook),
    )


def _optional(lines: Iterable[Relationship], kind: str, part: str) -> str | None:
    return next((target_part(part, line.target) for line in lines if line.kind == f"{OFFICE}/{kind}"), None)


def _first(lines: Sequence[Relationship], kind: str, part: str) -> str:
    found = _optional(lines, kind, part)
    if found is None:
        raise NotPatchable(f"the package names no {kind} part")
    return found


def content_types_xml(
    package: Package, *, defaults: dict[str, str], overrides: dict[str, str], dropped: Iterable[str]
) -> bytes:
    """The package's content types with some added (defaults by extension, overrides by part) and parts dropped.

    What it says of parts and endings that are not there is dropped, too.
    """
    tree = parsed(package.read(CONTENT_TYPES_PART), part=CONTENT_TYPES_PART)
    known = {
        (line.get("Extension") or "").lower(): line.get("ContentType", "")
        for line in tree
        if "Extension" in line.attrib
    }
    parts = {line.get("PartName", ""): line.get("ContentType", "") for line in tree if "PartName" in line.attrib}
    left = {name.lower() for name in package.names} - {name.lower() for name in dropped}
    endings = {name.rpartition(".")[2] for name in left}
    known = {extension: kind for extension, kind in known.items() if extension in endings}
    parts = {name: kind for name, kind in parts.items() if name.removeprefix("/").lower() in left}
    for extension, kind in defaults.items():
        known.setdefault(extension, kind)
    parts.update({f"/{name}": kind for name, kind in overrides.items()})
    written = [f"<Default Extension={quoteattr(name)} ContentType={quoteattr(kind)}/>" for name, kind in known.items()]
    written += [f"<Override PartName={quoteattr(name)} ContentType={quoteattr(kind)}/>" for name, kind in parts.items()]
    return f'{_DECLARATION}<Types xmlns="{_CONTENT_TYPES}">{"".join(written)}</Types>'.encode()
