"""One value of a mapping's text set or taken away; comments, order and the way in which the rest is written stay."""

import json
import re
from typing import Any, Final

from logistics_batch.errors import SpecificationError, UsageError
from logistics_batch.specification import Keys, Written, read_yaml, written_in

_PLAIN_KEY: Final = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z][a-z_]{0,40}")  # also to other programs
_CONVERSION: Final = re.compile(r"\w+ -> \w+")


def rewritten(text: str, path: Keys, value: Any) -> str:
    """The text with another value at a place, or (None) without it. A place behind a list's last item adds one.

    Raises SpecificationError for a text that cannot be read, UsageError for a place that cannot be changed alone.
    """
    data, written = read_yaml(text, path="mapping").root.plain(), written_in(text)
    try:
        wanted = _changed(data, path, value)
        new = _without(text, written, path) if value is None else _with(text, written, path, value)
        if read_yaml(new, path="mapping").root.plain() == wanted:
            return new
    except (SpecificationError, ValueError, TypeError, LookupError):  # what stands there is no such thing
        pass
    named = ".".join(map(str, path))
    raise UsageError(f"`{named}` is written so that it cannot be changed alone.", remedy="Change it in the text.")


def flow(value: Any) -> str:
    """A value as YAML takes it in any place, on one line.

    >>> flow({"from": ["A", "Qty. 1"], "required": True})
    '{from: ["A", "Qty. 1"], required: true}'
    """
    if isinstance(value, dict):
        named = (f"{_key(key)}: {flow(each)}" for key, each in value.items())
        return f"{{{', '.join(named)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow, value))}]"
    is_plain = isinstance(value, str) and _CONVERSION.fullmatch(value)
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _changed(data: Any, path: Keys, value: Any) -> Any:
    """What the changed text must say; what is emptied by it goes as well."""
    key, *rest = path
    if isinstance(key, int):
        items = list(data or ())
        inner = _changed(items[key], tuple(rest), value) if rest else value
        items[key : key + 1] = [] if inner is None else [inner]
        return items or None
    named = dict(data or {})
    inner = _changed(named.get(key), tuple(rest), value) if rest else value
    if inner is None:
        named.pop(key, None)
    else:
        named[key] = inner
    return named or None


def _with(text: str, written: dict[Keys, Written], path: Keys, value: Any) -> str:
    if (at := written.get(path)) is not None:
        if at.key == at.start:
            return text[: at.start] + flow(value) + text[at.end :]
        return f"{text[: at.behind]}: {flow(value)}{text[at.end :]}"
    *above, key = path
    parent, dash = written.get(tuple(above)), "- " if isinstance(key, int) else ""
    entry = flow(value) if isinstance(key, int) else f"{_key(key)}: {flow(value)}"
    if parent is None or parent.inside is None:
        if len(above) == 1:  # `fields`, `ignore` and the like: a line for each
            return _with_part(text, written, (str(above[0]), parent), f"  {dash}{entry}\n")
        return _with(text, written, tuple(above), [value] if dash else {key: value})
    if parent.braces:
        before = ", " if parent.inside else ""
        return text[: parent.end - 1] + before + entry + text[parent.end - 1 :]
    first = written[*above, parent.inside[0]].key
    lead = text[text.rfind("\n", 0, first) + 1 : first]
    return _behind_line(text, parent.end, f"{lead if dash else ' ' * len(lead)}{entry}\n")


def _with_part(text: str, written: dict[Keys, Written], part: tuple[str, Written | None], entry: str) -> str:
    """The text with the first entry of one of its parts."""
    name, there = part
    if there is not None:  # an empty one
        return _behind_line(text, there.behind, entry)
    return _behind_line(text, written[()].end, f"{name}:\n{entry}")


def _behind_line(text: str, place: int, entry: str) -> str:
    """The text with lines below the line of a place."""
    end = text.find("\n", place)
    return f"{text}\n{entry}" if end < 0 else text[: end + 1] + entry + text[end + 1 :]


def _without(text: str, written: dict[Keys, Written], path: Keys) -> str:
    if path not in written:
        return text
    at, above = written[path], path[:-1]
    siblings = written[above].inside or ()
    if len(siblings) == 1 and above:
        return _without(text, written, above)
    if at.in_braces:
        place = siblings.index(path[-1])
        if place + 1 < len(siblings):
            return text[: at.key] + text[written[*above, siblings[place + 1]].key :]
        return text[: written[*above, siblings[place - 1]].end] + text[at.end :]
    end = text.find("\n", at.end)
    return text[: text.rfind("\n", 0, at.key) + 1] + ("" if end < 0 else text[end + 1 :])
