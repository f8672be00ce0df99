"""XML from outside as a stream of events: no tree in memory, no document types, no deep nesting."""

from collections.abc import Callable
from typing import IO, Any
from xml.parsers import expat  # what makes XML dangerous, document types with their entities, is refused below

_MOST_LEVELS = 100
_BLOCK_BYTES = 1 << 18

Start = Callable[[list[str], dict[str, str]], None]


class UnsafeXml(ValueError):
    """XML that no ordinary program writes: one of `doctype`, `levels`, `element`, with how many are the most."""

    def __init__(self, what: str, **values: int) -> None:
        super().__init__(what)
        self.what, self.values = what, values


def read_events(
    source: IO[bytes],
    *,
    start: Start | None = None,
    end: Callable[[str], None] | None = None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Call `start` with the path of names (without prefixes) and the attributes of each element, and so on.

    Attributes keep their prefixes. Raises UnsafeXml, ValueError for XML that is not well formed.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    path: list[str] = []

    def started(name: str, attributes: dict[str, str]) -> None:
        path.append(name.rpartition(":")[2])
        if len(path) > _MOST_LEVELS:
            raise UnsafeXml("levels", most=_MOST_LEVELS)
        if start is not None:
            start(path, attributes)

    def ended(_: str) -> None:
        name = path.pop()
        if end is not None:
            end(name)

    parser.StartElementHandler = started
    parser.EndElementHandler = ended
    parser.StartDoctypeDeclHandler = _refuse_document_type
    if text is not None:
        parser.CharacterDataHandler = text
    try:
        while block := source.read(_BLOCK_BYTES):
            parser.Parse(block, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ValueError("the XML is not well formed") from error


def _refuse_document_type(*_: Any) -> None:
    raise UnsafeXml("doctype")
