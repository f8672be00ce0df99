"""Copies parts of many label files into one PDF so that what is identical is stored once.

Labels of one service carry the same fonts and pictures. Each copied object is known by its content: an object whose
children were copied first and whose text and bytes equal an earlier one *is* that earlier one.
"""

import re
from hashlib import blake2b
from typing import Any

import pikepdf

from logistics_batch.paper.label_check import UNREADABLE

_REFERENCE = re.compile(rb"\d+ \d+ R")
# Ways back to pages, document structure and metadata: never part of what a page paints.
_LEFT_BEHIND = frozenset({"/Parent", "/P", "/StructParent", "/StructParents", "/Metadata", "/PieceInfo", "/Thumb"})

_PLAIN = (pikepdf.Name, pikepdf.String)


class _Cycle(ValueError):
    """An object leads back to itself."""


class SharedObjects:
    """The objects of the PDF that is being put together, known by their content."""

    def __init__(self, into: pikepdf.Pdf) -> None:
        self.into = into
        self._source = into
        self._known: dict[tuple[bytes, bytes], pikepdf.Object] = {}
        self._of_source: dict[tuple[int, int], pikepdf.Object] = {}
        self._on_the_way: set[tuple[int, int]] = set()

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
            return self._copy(thing)
        except UNREADABLE:
            self._on_the_way.clear()
            return self.into.copy_foreign(self._source.make_indirect(thing))

    def stream(self, content: bytes, dictionary: pikepdf.Dictionary) -> pikepdf.Object:
        """A stream of `content` as it stands (already encoded as `dictionary` says), shared if it is known."""
        key = (blake2b(content, digest_size=16).digest(), dictionary.unparse())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = pikepdf.Stream(self.into, content, dictionary)
        return found

    def _copy(self, thing: Any) -> Any:
        if not isinstance(thing, pikepdf.Object) or isinstance(thing, _PLAIN):
            return thing
        if not thing.is_indirect:
            return self._rebuild(thing)
        number = thing.objgen
        if number in self._of_source:
            return self._of_source[number]
        if number in self._on_the_way:
            raise _Cycle
        self._on_the_way.add(number)
        try:
            copied = self._share(thing)
        except _Cycle:
            copied = self.into.copy_foreign(thing)
        finally:
            self._on_the_way.discard(number)
        self._of_source[number] = copied
        return copied

    def _share(self, thing: pikepdf.Object) -> Any:
        if isinstance(thing, pikepdf.Stream):
            return self.stream(thing.read_raw_bytes(), self.stream_dictionary(thing))
        built = self._rebuild(thing)
        if not isinstance(built, pikepdf.Object):
            return built
        key = (b"", built.unparse())
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.into.make_indirect(built)
        return found

    def stream_dictionary(self, stream: pikepdf.Object) -> pikepdf.Dictionary:
        """The copied dictionary of a stream, without its length."""
        return self._dictionary((name, value) for name, value in stream.items() if name != "/Length")

    def _rebuild(self, thing: pikepdf.Object) -> Any:
        text = thing.unparse(resolved=True)
        if not _REFERENCE.search(text):
            return pikepdf.Object.parse(text)
        if isinstance(thing, pikepdf.Array):
            return pikepdf.Array([self._copy(item) for item in thing])
        return self._dictionary(thing.items())

    def _dictionary(self, items: Any) -> pikepdf.Dictionary:
        return pikepdf.Dictionary({name: self._copy(value) for name, value in items if name not in _LEFT_BEHIND})
