"""Copies parts of many label files into one PDF so that what is identical is stored once.

Labels of one service carry the same fonts and pictures. Each copied object is known by its content: an object whose
children were copied first and whose text and bytes equal an earlier one *is* that earlier one.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import pikepdf

from logistics_batch.paper.labels.check import UNREADABLE

_REFERENCE = re.compile(rb"(?<!\d)(\d{1,10}) (\d{1,5}) R\b")
# Ways back to pages, document structure and metadata: never part of what a page paints.
_LEFT_BEHIND = frozenset({"/Parent", "/P", "/StructParent", "/StructParents", "/Metadata", "/PieceInfo", "/Thumb"})
# Text that does not tell by itself what its copy will be: it names a way back, or a reference may be part of a string.
_UNSURE = re.compile(rb"/(?:Parent|P|StructParents?|Metadata|PieceInfo|Thumb) |\([^()]*(?:\d R|\\)")

_PLAIN = (pikepdf.Name, pikepdf.String)
_Number = tuple[int, int]
_MOST_SEEN = 8  # trees that begin alike and are compared with a new one


class _Cycle(ValueError):
    """An object leads back to itself."""


@dataclass(frozen=True, slots=True)
class _Tree:
    """All that was copied for one thing: number, text and bytes of each object of its source, and the copy.

    Files of one maker number their objects alike, so most labels hold a tree that is known in every byte; to compare
    it takes a fifth of the time of copying it.
    """

    objects: tuple[tuple[_Number, bytes, bytes], ...]
    copied: Any

    def is_in(self, source: pikepdf.Pdf) -> bool:
        """Whether a file holds the same objects under the same numbers."""
        return all(_told(source.get_object(number)) == (text, content) for number, text, content in self.objects)


class SharedObjects:
    """The objects of the PDF that is being put together, known by their content."""

    def __init__(self, into: pikepdf.Pdf) -> None:
        self.into = into
        self._source = into
        self._known: dict[tuple[bytes, bytes], Any] = {}
        self._of_source: dict[_Number, Any] = {}
        self._seen: dict[bytes, list[_Tree]] = {}
        self._on_the_way: set[_Number] = set()
        self._foreign = False  # something of the source was copied without a look at it

    def next_source(self, source: pikepdf.Pdf) -> None:
        """Copy from this file from now on."""
        self._source = source
        self._of_source.clear()
        self._on_the_way.clear()

    def adopt(self, thing: Any) -> Any:
        """The copy of an object of the source, shared with all that look exactly like it.

        Objects that lead back to themselves are copied as they are, unshared.
        """
        try:
            direct = isinstance(thing, pikepdf.Dictionary | pikepdf.Array) and not thing.is_indirect
            return self._share(thing) if direct else self._copy(thing)
        except UNREADABLE:
            self._on_the_way.clear()
            self._foreign = True
            return self.into.copy_foreign(self._source.make_indirect(thing))

    def adopt_first(self, thing: Any) -> Any:
        """As `adopt`, for the first thing of a source: what was seen whole in another file is not walked through."""
        if not isinstance(thing, pikepdf.Dictionary) or self._of_source:
            return self.adopt(thing)
        seen = self._seen.setdefault(thing.unparse(resolved=True), [])
        for tree in seen:
            if tree.is_in(self._source):
                return tree.copied
        self._foreign = False
        copied = self.adopt(thing)
        if not self._foreign:
            # What was finished last names all others: where two trees differ, it mostly shows there.
            numbers = reversed(self._of_source)
            objects = tuple((number, *_told(self._source.get_object(number))) for number in numbers)
            seen.insert(0, _Tree(objects, copied))
            del seen[_MOST_SEEN:]
        return copied

    def stream(self, content: bytes, dictionary: pikepdf.Dictionary) -> pikepdf.Object:
        """A stream of `content` as it stands (already encoded as `dictionary` says), shared if it is known."""
        key = (_digest(content), dictionary.unparse())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = pikepdf.Stream(self.into, content, dictionary)
        return found

    def stream_dictionary(self, stream: pikepdf.Object) -> pikepdf.Dictionary:
        """The copied dictionary of a stream, without its length."""
        return self._dictionary((name, value) for name, value in stream.items() if name != "/Length")

    def _copy(self, thing: Any) -> Any:
        if not isinstance(thing, pikepdf.Object) or isinstance(thing, _PLAIN):
            return thing
        return self._copy_of(thing.objgen) if thing.is_indirect else self._rebuild(thing)

    def _copy_of(self, number: _Number) -> Any:
        if number in self._of_source:
            return self._of_source[number]
        if number in self._on_the_way:
            raise _Cycle
        thing: Any = self._source.get_object(number)
        if not isinstance(thing, pikepdf.Object) or isinstance(thing, _PLAIN):
            self._of_source[number] = thing
            return thing
        self._on_the_way.add(number)
        try:
            copied = self._share(thing)
        except _Cycle:
            self._foreign = True
            copied = self.into.copy_foreign(thing)
        finally:
            self._on_the_way.discard(number)
        self._of_source[number] = copied
        return copied

    def _share(self, thing: pikepdf.Object) -> Any:
        """The copy of an object as an indirect one; what is known is not built again, and that is nearly everything."""
        is_stream = isinstance(thing, pikepdf.Stream)
        text, content = _told(thing)
        key = (_digest(content), b"" if _UNSURE.search(text) else _REFERENCE.sub(self._new_reference, text))
        found = self._known.get(key) if key[1] else None
        if found is not None:
            return found
        if is_stream:
            built: Any = self.stream(content, self.stream_dictionary(thing))
        else:
            built = self._indirect(self._rebuild(thing))
        if key[1]:
            self._known[key] = built
        return built

    def _new_reference(self, match: re.Match[bytes]) -> bytes:
        copied = self._copy_of((int(match[1]), int(match[2])))
        return copied.unparse() if isinstance(copied, pikepdf.Object) else repr(copied).encode()

    def _indirect(self, built: Any) -> Any:
        if not isinstance(built, pikepdf.Object):
            return built
        key = (b"", built.unparse())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.into.make_indirect(built)
        return found

    def _rebuild(self, thing: pikepdf.Object) -> Any:
        text = thing.unparse(resolved=True)
        if not _REFERENCE.search(text):
            return pikepdf.Object.parse(text)
        if isinstance(thing, pikepdf.Array):
            return pikepdf.Array([self._copy(item) for item in thing])
        return self._dictionary(thing.items())

    def _dictionary(self, items: Any) -> pikepdf.Dictionary:
        return pikepdf.Dictionary({name: self._copy(value) for name, value in items if name not in _LEFT_BEHIND})


def _told(thing: Any) -> tuple[bytes, bytes]:
    """The text of an object and, of a stream, its bytes."""
    if isinstance(thing, pikepdf.Stream):
        return thing.stream_dict.unparse(resolved=True), thing.read_raw_bytes()
    return thing.unparse(resolved=True) if isinstance(thing, pikepdf.Object) else repr(thing).encode(), b""


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=16).digest() if content else b""
