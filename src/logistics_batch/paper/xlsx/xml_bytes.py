"""Small edits of XML as bytes, for parts of which all but a few places must stay as they are.

Only for parts that `require_plain_xml` has let through: UTF-8, no comments, no CDATA, no DOCTYPE. Then a `<` always
opens a tag, and elements that cannot nest in themselves can be found by their tags.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache


class NotPatchable(ValueError):
    """The package holds something that cannot be changed in place; the message says what, for a note to the user."""


def require_plain_xml(xml: bytes, *, part: str) -> None:
    """Raises NotPatchable where searching for tags would not be safe."""
    if xml[:2] in (b"\xff\xfe", b"\xfe\xff") or xml[:4] == b"<\x00?\x00":
        raise NotPatchable(f"the part {part} is not written in UTF-8")
    declaration = xml[: xml.find(b"?>") + 2].lower() if xml[:200].lstrip(b"\xef\xbb\xbf").startswith(b"<?xml") else b""
    encoding = re.search(rb"encoding\s*=\s*[\"']([^\"']*)", declaration)
    if encoding is not None and encoding[1] not in (b"utf-8", b"us-ascii", b"ascii"):
        raise NotPatchable(f"the part {part} is not written in UTF-8")
    if b"<!" in xml:
        raise NotPatchable(f"the part {part} holds comments, CDATA or a DOCTYPE")


def root_prefix(xml: bytes, root: str) -> bytes:
    """The namespace prefix that the root element carries, with its colon; b"" if it has none."""
    found = re.search(rb"<((?:[\w.-]+:)?)" + root.encode() + rb"[\s>/]", xml[:20_000])
    if found is None:
        raise NotPatchable(f"the part does not begin with <{root}>")
    return found[1]


@lru_cache(maxsize=256)
def _attribute_pattern(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\s" + re.escape(name) + rb"\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def attribute(tag: bytes, name: bytes) -> bytes | None:
    """The raw value of an attribute in an opening tag (or in its attributes), None where it is not there."""
    found = _attribute_pattern(name).search(tag)
    if found is None:
        return None
    return found[1] if found[1] is not None else found[2]


def whole_number(tag: bytes, name: bytes, default: int = 0) -> int:
    """The value of a counting attribute. Raises NotPatchable where it is no whole number from 0 on."""
    value = attribute(tag, name)
    if value is None:
        return default
    if not value.isdigit() or len(value) > 10:
        raise NotPatchable(f"{name.decode()} is no number somewhere in the workbook")
    return int(value)


def measure(tag: bytes, name: bytes, default: float = 0.0) -> float:
    """The value of a width or a height. Raises NotPatchable where it is no sensible number."""
    value = attribute(tag, name)
    if value is None:
        return default
    if re.fullmatch(rb"\d{1,6}(?:\.\d+)?(?:[eE]-?\d{1,2})?", value) is None:
        raise NotPatchable(f"{name.decode()} is no number somewhere in the workbook")
    return float(value)


def without_attribute(tag: bytes, name: bytes) -> bytes:
    """The opening tag without the attribute."""
    return _attribute_pattern(name).sub(b"", tag, count=1)


def with_attribute(tag: bytes, name: bytes, value: bytes) -> bytes:
    """The opening tag (`<name …>` or `<name …/>`) with the attribute set."""
    bare = without_attribute(tag, name)
    end = len(bare) - 2 if bare.endswith(b"/>") else len(bare) - 1
    return bare[:end].rstrip() + b" " + name + b'="' + value + b'"' + bare[end:]


@lru_cache(maxsize=256)
def element_pattern(tag: bytes) -> re.Pattern[bytes]:
    """Matches an element of that (prefixed) name which cannot nest in itself; group 1: attributes, 2: content."""
    name = re.escape(tag)
    return re.compile(rb"<" + name + rb"(?=[\s/>])([^>]*?)(?:/>|>(.*?)</" + name + rb"\s*>)", re.DOTALL)


def opening_tag(element: bytes) -> bytes:
    """The opening tag of an element."""
    return element[: element.index(b">") + 1]


@dataclass(slots=True)
class Section:
    """A counted list inside a part, such as `<fonts count="2">…</fonts>`: its items can be read and appended to."""

    before: bytes
    opening: bytes
    items: list[bytes]
    closing: bytes
    after: bytes
    index_of: dict[bytes, int]

    @classmethod
    def of(cls, xml: bytes, *, tag: bytes, item: bytes) -> "Section":
        """The section of that (prefixed) name; raises NotPatchable where there is none."""
        found = element_pattern(tag).search(xml)
        if found is None:
            raise NotPatchable(f"a part has no <{tag.decode()}>")
        opening = opening_tag(found[0])
        if opening.endswith(b"/>"):
            opening = opening[:-2] + b">"
        items = [each[0] for each in element_pattern(item).finditer(found[2] or b"")]
        index_of: dict[bytes, int] = {}
        for index, each in enumerate(items):
            index_of.setdefault(each, index)
        closing = b"</" + tag + b">"
        return cls(xml[: found.start()], opening, items, closing, xml[found.end() :], index_of)

    def add(self, element: bytes) -> int:
        """The index of the item, which is appended if no equal one is there."""
        if element not in self.index_of:
            self.index_of[element] = len(self.items)
            self.items.append(element)
        return self.index_of[element]

    def pieces(self) -> Iterator[bytes]:
        """The section's bytes, with its count mended."""
        yield with_attribute(self.opening, b"count", str(len(self.items)).encode())
        yield from self.items
        yield self.closing
