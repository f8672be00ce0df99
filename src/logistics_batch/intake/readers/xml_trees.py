"""XML from outside as trees: no document types, no deep nesting."""

import re
import zipfile
from collections.abc import Callable, Iterator
from typing import IO
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, fromstring
from xml.parsers import expat  # what makes XML dangerous, document types with their entities, is refused below

_MOST_LEVELS = 100
_BLOCK_BYTES = 1 << 18
_PREFIX = re.compile(rb"[\s<]([A-Za-z_][\w.-]{0,40}):")
_MOST_ELEMENT_BYTES = 32 << 20

Visit = Callable[[list[str], Element], None]
"""Takes an element and the path of names that leads to it, its own among them."""


class UnsafeXml(ValueError):
    """XML that no ordinary program writes: one of `doctype`, `levels`, `element`, with how many are the most."""

    def __init__(self, what: str, **values: int) -> None:
        super().__init__(what)
        self.what, self.values = what, values


def read_tree(source: IO[bytes], *, start: Visit | None = None, end: Visit | None = None) -> Element:
    """The root of an XML document; names of elements are without prefixes, those of attributes with them.

    start, end: called when an element begins, and when it is whole; `end` may clear it to save memory. Raises
    UnsafeXml, ValueError for XML that is not well formed.
    """
    parser, builder = expat.ParserCreate(), TreeBuilder()
    path: list[str] = []

    def started(name: str, attributes: dict[str, str]) -> None:
        path.append(name.rpartition(":")[2])
        if len(path) > _MOST_LEVELS:
            raise UnsafeXml("levels", most=_MOST_LEVELS)
        element = builder.start(path[-1], attributes)
        if start is not None:
            start(path, element)

    def ended(_: str) -> None:
        element = builder.end(path[-1])
        if end is not None:
            end(path, element)
        path.pop()

    def refuse(*_: object) -> None:
        raise UnsafeXml("doctype")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = started, ended
    parser.StartDoctypeDeclHandler, parser.CharacterDataHandler = refuse, builder.data
    try:
        while block := source.read(_BLOCK_BYTES):
            parser.Parse(block, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ValueError("the XML is not well formed") from error
    return builder.close()


def read_fragment(content: bytes) -> Element:
    """An element around some that stand side by side within a document; names as `read_tree` gives them.

    No document type can stand there. Raises ValueError.
    """
    prefixes = set(_PREFIX.findall(content)) - {b"xml", b"xmlns"}
    declared = b"".join(b' xmlns:%s="%s"' % (prefix, prefix) for prefix in prefixes)
    try:
        root = fromstring(b"<part%s>%s</part>" % (declared, content))  # noqa: S314 (no entity can be declared here)
    except ParseError as error:
        raise ValueError("the XML is not well formed") from error
    if prefixes or b"xmlns" in content:
        for element in root.iter():
            element.tag = element.tag.rpartition("}")[2]
    return root


def part_blocks(archive: zipfile.ZipFile, part: str, *, end: bytes, or_before: bytes) -> Iterator[bytes]:
    """The content of a part in blocks of some megabytes, each cut behind an `end` tag, so that no element is torn.

    or_before: where no such tag stands, the beginning of an element before which it may be cut as well: empty elements
    have no end tag. Raises UnsafeXml where an element is as large as none is.
    """
    rest = b""
    with archive.open(part) as stream:
        while block := stream.read(16 * _BLOCK_BYTES):
            block = rest + block
            cut = block.rfind(end) + len(end)
            if cut < len(end):
                cut = block.rfind(or_before)
            if cut <= 0:
                rest = block
                if len(rest) > _MOST_ELEMENT_BYTES:
                    raise UnsafeXml("element", most=_MOST_ELEMENT_BYTES >> 20)
                continue
            yield block[:cut]
            rest = block[cut:]
    yield rest
