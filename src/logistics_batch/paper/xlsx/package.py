"""An Excel package: parts can be read, replaced, added and taken out; all others are copied, still compressed."""

import copy
import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from xml.parsers.expat import ExpatError, ParserCreate

from lxml import etree
from lxml.etree import _Element as Element

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
CONTENT_TYPES = "[Content_Types].xml"
LARGEST_PART_BYTES = 768 * 1024 * 1024
"""A part that unpacks to more than this is not touched."""

_LARGEST_ZIP_BYTES, _MOST_PARTS = 0xFFFF_FFFE, 0xFFF0
_MEASURE = re.compile(r"\d{1,6}(?:\.\d+)?(?:[eE]-?\d{1,2})?")
_COMPRESSION_LEVEL = 1  # takes a third of the time of 6 on sheet parts, which become a fifth larger
# Without remarks: a text that one stands in is one text, as the programs read it.
_PARSER = etree.XMLParser(
    resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
)


class NotPatchable(ValueError):
    """The package holds something that cannot be changed in place; the message says what, for a note to the user."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A part as it lies in the zip: compressed data in pieces, checksum and size unpacked."""

    data: tuple[bytes, ...]
    checksum: int
    size: int
    method: int = zipfile.ZIP_DEFLATED


@dataclass(frozen=True, slots=True)
class Relation:
    """One line of a .rels part; `target` as it is written there."""

    id: str
    kind: str
    target: str
    mode: str = ""


def _packed(chunks: Iterable[bytes]) -> Packed:
    """Compresses a part that is made piece by piece, so that it never lies whole in memory."""
    deflater = zlib.compressobj(_COMPRESSION_LEVEL, zlib.DEFLATED, -15)
    out: list[bytes] = []
    checksum = size = 0
    for chunk in chunks:
        checksum = zlib.crc32(chunk, checksum)
        size += len(chunk)
        out.append(deflater.compress(chunk))
    out.append(deflater.flush())
    return Packed(tuple(out), checksum, size)


def main(name: str) -> str:
    """The full name of an element of a workbook."""
    return f"{{{MAIN}}}{name}"


def parsed(xml: bytes, *, part: str) -> Element:
    """A part as a tree. Raises NotPatchable for broken XML, other encodings than UTF-8, and any DOCTYPE, which may name
    files."""
    try:
        root = etree.fromstring(xml, _PARSER)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise NotPatchable(f"the part {part} is not sound XML") from error
    about = root.getroottree().docinfo
    if about.doctype or about.internalDTD is not None:
        raise NotPatchable(f"the part {part} may refer to other files")
    if (about.encoding or "UTF-8").upper() not in ("UTF-8", "US-ASCII", "ASCII"):
        raise NotPatchable(f"the part {part} is not written in UTF-8")
    return root


def written(root: Element) -> bytes:
    """A tree as a part."""
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


def sound(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Hands the pieces of a part on, and raises NotPatchable if they are no sound XML in UTF-8 without a DOCTYPE."""

    def refuse(*_: object) -> None:
        raise NotPatchable("a part of it may refer to other files")

    def check(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii", "ascii"):
            raise NotPatchable("a part of it is not written in UTF-8")

    parser = ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler, parser.XmlDeclHandler = refuse, check
    try:
        for chunk in chunks:
            if chunk[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in chunk[:4]:
                raise NotPatchable("a part of it is not written in UTF-8")
            parser.Parse(chunk, False)
            yield chunk
        parser.Parse(b"", True)
    except ExpatError as error:
        raise NotPatchable("a part of it is not sound XML") from error


def whole_number(element: Element, name: str, default: int = 0) -> int:
    """The value of a counting attribute. Raises NotPatchable where it is no whole number from 0 on."""
    value = element.get(name)
    if value is None:
        return default
    if not (value.isascii() and value.isdigit()) or len(value) > 10:
        raise NotPatchable(f"{name} is no number somewhere in the workbook")
    return int(value)


def measured(value: str, name: str) -> float:
    """A width or a height. Raises NotPatchable where it is no sensible number."""
    if _MEASURE.fullmatch(value) is None:
        raise NotPatchable(f"{name} is no number somewhere in the workbook")
    return float(value)


class Package:
    """The parts of one package by their names in the zip, with the changes that are made to them.

    Raises NotPatchable for what is no sound zip: encrypted, a name twice, or larger than this module copies.
    """

    def __init__(self, content: bytes | None = None) -> None:
        """The package of these bytes; without any a new one."""
        self.content = content or b""
        self._changes: dict[str, Packed | None] = {}
        self._entries: dict[str, zipfile.ZipInfo] = {}
        if content is None:
            return
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as package:
                entries = package.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise NotPatchable("the file is not a sound zip package") from error
        self._entries = {entry.filename: entry for entry in entries}
        if len({entry.filename.lower() for entry in entries}) != len(entries):
            raise NotPatchable("the package holds a part twice")
        if any(entry.flag_bits & 1 for entry in entries):
            raise NotPatchable("the package is encrypted")
        if len(content) > _LARGEST_ZIP_BYTES or len(entries) > _MOST_PARTS:
            raise NotPatchable("the package is too large")

    def __contains__(self, name: str) -> bool:
        return self._changes.get(name) is not None if name in self._changes else name in self._entries

    @property
    def names(self) -> tuple[str, ...]:
        """The parts' names in the order of the zip; new ones at the end."""
        return tuple(name for name in dict.fromkeys((*self._entries, *self._changes)) if name in self)

    @property
    def is_changed(self) -> bool:
        """Whether a part was replaced, added or taken out."""
        return bool(self._changes)

    def read(self, name: str) -> bytes:
        """A part unpacked. Raises NotPatchable if it is missing, damaged or too large."""
        if name not in self:
            raise NotPatchable(f"the package has no part {name}")
        part = self._part(name)
        if part.size > LARGEST_PART_BYTES:
            raise NotPatchable(f"the part {name} is too large")
        content = b"".join(part.data)
        if part.method == zipfile.ZIP_DEFLATED:
            try:  # into memory of the right size at once
                content = zlib.decompress(content, wbits=-15, bufsize=max(part.size, 1))
            except zlib.error as error:
                raise NotPatchable(f"the part {name} is damaged") from error
        if len(content) != part.size or zlib.crc32(content) != part.checksum:
            raise NotPatchable(f"the part {name} is damaged")
        return content

    def tree(self, name: str) -> Element:
        """A small part as a tree."""
        return parsed(self.read(name), part=name)

    def put(self, name: str, chunks: Iterable[bytes] | None) -> None:
        """Replace a part, add it, or (None) take it out."""
        self._changes[name] = _packed(chunks) if chunks is not None else None

    def saved(self) -> bytes:
        """The package with all changes."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as made:
            for name in self.names:
                part, known = self._part(name), self._entries.get(name)
                entry = copy.copy(known) if known is not None else zipfile.ZipInfo(name)
                entry.flag_bits, entry.extra, entry.header_offset = 0, b"", out.tell()
                entry.CRC, entry.file_size, entry.compress_size = part.checksum, part.size, sum(map(len, part.data))
                entry.compress_type = part.method
                if out.tell() + entry.compress_size > _LARGEST_ZIP_BYTES or part.size > _LARGEST_ZIP_BYTES:
                    raise NotPatchable("the package is too large")
                out.write(entry.FileHeader(zip64=False))
                out.writelines(part.data)
                made.filelist.append(entry)
                made.start_dir = out.tell()  # `zipfile` has no way to add what is compressed already
        return out.getvalue()

    def _part(self, name: str) -> Packed:
        """A part as it lies in the zip."""
        changed = self._changes.get(name)
        if changed is not None:
            return changed
        entry = self._entries[name]
        start = entry.header_offset
        if self.content[start : start + 4] != b"PK\x03\x04" or entry.compress_type not in (0, zipfile.ZIP_DEFLATED):
            raise NotPatchable(f"the part {name} is damaged")
        start += 30 + sum(struct.unpack_from("<2H", self.content, start + 26))
        data = (self.content[start : start + entry.compress_size],)
        return Packed(data, entry.CRC, entry.file_size, entry.compress_type)

    # -- which part leads to which ------------------------------------------------------------------------------------

    def relations(self, part: str) -> list[Relation]:
        """The relationships of a part, in their order; none if it has no .rels part."""
        name = rels_of(part)
        lines = self.tree(name) if name in self else ()
        return [
            Relation(line.get("Id", ""), line.get("Type", ""), line.get("Target", ""), line.get("TargetMode", ""))
            for line in lines
        ]

    def set_relations(self, part: str, lines: Iterable[Relation]) -> None:
        """Give a part these relationships."""
        root = etree.Element(f"{{{_RELATIONS}}}Relationships", nsmap={None: _RELATIONS})
        for line in lines:
            values = {"Id": line.id, "Type": line.kind, "Target": line.target}
            etree.SubElement(
                root, f"{{{_RELATIONS}}}Relationship", values | ({"TargetMode": line.mode} if line.mode else {})
            )
        self.put(rels_of(part), [written(root)])

    def relate(self, part: str, kind: str, target: str) -> str:
        """Add a relationship that leads to another part; its id."""
        lines = self.relations(part)
        taken = {line.id for line in lines}
        free = next(name for number in range(1, len(taken) + 2) if (name := f"rIdResult{number}") not in taken)
        self.set_relations(part, [*lines, Relation(free, kind, f"/{target}")])
        return free

    def led_to(self, part: str, kind: str) -> str | None:
        """The part that the first relationship of a kind leads to."""
        lines = (line for line in self.relations(part) if line.kind == f"{OFFICE}/{kind}")
        return next((target_of(part, line.target) for line in lines), None)

    def set_types(self, *, endings: Mapping[str, str] | None = None, parts: Mapping[str, str] | None = None) -> None:
        """Add content types by ending or by part; what is said of parts and endings that are not there goes."""
        root = self.tree(CONTENT_TYPES)
        names = {name.lower() for name in self.names}
        known = {name.rpartition(".")[2] for name in names}
        for line in list(root):
            ending, part = line.get("Extension"), line.get("PartName")
            new = part is not None and part.removeprefix("/") in (parts or {})
            if new or (ending or "").lower() not in {*known, ""} or (part or "/").lower()[1:] not in {*names, ""}:
                root.remove(line)
        said = {(line.get("Extension") or "").lower() for line in root}
        for ending, kind in (endings or {}).items():
            if ending not in said:
                root.insert(0, root.makeelement(f"{{{_TYPES}}}Default", {"Extension": ending, "ContentType": kind}))
        for part, kind in (parts or {}).items():
            etree.SubElement(root, f"{{{_TYPES}}}Override", {"PartName": f"/{part}", "ContentType": kind})
        self.put(CONTENT_TYPES, [written(root)])


def rels_of(part: str) -> str:
    """The name of the part that holds another's relationships."""
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", name + ".rels")


def target_of(part: str, target: str) -> str:
    """The part that a relationship of `part` points to."""
    path = target if target.startswith("/") else posixpath.join("/", posixpath.dirname(part), target)
    return posixpath.normpath(path).lstrip("/")


@dataclass(frozen=True, slots=True)
class WorkbookParts:
    """The parts that a sheet of a workbook is made of."""

    workbook: str
    sheet: str
    styles: str


def workbook_of(package: Package) -> str:
    """The name of the workbook part."""
    return _needed(package.led_to("", "officeDocument"), "officeDocument")


def find_sheet(package: Package, sheet: str) -> WorkbookParts:
    """The parts of the sheet of that name. Raises NotPatchable for strict OOXML, and where a part is missing."""
    workbook = workbook_of(package)
    tree = package.tree(workbook)
    if tree.tag != main("workbook"):
        raise NotPatchable("the workbook is saved as Strict Open XML")
    ids = [line.get(f"{{{OFFICE}}}id") for line in tree.iter(main("sheet")) if line.get("name") == sheet]
    lines = package.relations(workbook)
    part = next((line.target for line in lines if line.id in ids and line.kind == f"{OFFICE}/worksheet"), None)
    if part is None:
        raise NotPatchable(f'the workbook has no worksheet "{sheet}"')
    return WorkbookParts(
        workbook=workbook,
        sheet=target_of(workbook, part),
        styles=_needed(package.led_to(workbook, "styles"), "styles"),
    )


def _needed(part: str | None, kind: str) -> str:
    if part is None:
        raise NotPatchable(f"the package names no {kind} part")
    return part
