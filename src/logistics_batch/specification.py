"""Strict YAML for mapping and job files: every complaint at once, each with line, column and the nearest known name.

Only true, false, null and plain whole numbers without leading zeros are read as such; everything else, and every key,
is text: `NO`, `010`, `12:30` and `1.50` stay what was typed. Tags, anchors, aliases and duplicate keys are refused, so
that a file means what it shows. The parser is imported where a text is read: others only want the nearest name.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import core_schema

from logistics_batch.errors import Finding, SpecificationError
from logistics_batch.model.complaints import allowed_words, own_words, remedy_of, wanted

MAX_BYTES = 256 * 1024
MAX_NODES = 10_000
MAX_DEPTH = 20

_SAID_DIFFERENTLY = frozenset(
    ("extra_forbidden", "missing", "union_tag_invalid", "union_tag_not_found", "value_error", "assertion_error")
)
_PYDANTICS_OWN = frozenset(get_args(core_schema.ErrorType))
_WHOLE_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_WORDS = {"true": True, "false": False, "null": None, "": None}

M = TypeVar("M")
Keys = tuple[str | int, ...]
"""The keys and positions that lead to a value."""

Place = tuple[int, int]
"""Line and column, from 1; (0, 0) for the file as a whole."""


@dataclass(slots=True)
class _Node:
    """A value of the file: where it stands, what it is (dict or list for one that holds others), and what it holds by
    key or position, each with the place of its key."""

    place: Place
    value: Any
    children: dict[str | int, tuple[Place, "_Node"]]

    def plain(self) -> Any:
        """The value as dictionaries, lists, texts, numbers and booleans."""
        if self.value is dict:
            return {key: child.plain() for key, (_, child) in self.children.items()}
        if self.value is list:
            return [child.plain() for _, child in self.children.values()]
        return self.value


class _Unreadable(Exception):
    """Reading stops here; carries the finding."""

    def __init__(self, place: Place, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.place, self.message, self.remedy = place, message, remedy


def load_specification(text: str, *, path: str, model: type[M], context: Any = None) -> M:
    """Read a YAML text into a pydantic model.

    text: the file's content. path: its name, for the findings. model: a pydantic model, or any type pydantic checks.
    context: handed to the model's validators. A model's own complaints are PydanticCustomErrors, with `remedy` in their
    context if there is one.
    Raises SpecificationError with every finding.
    """
    document = read_yaml(text, path=path)
    loaded, findings = document.fitted(model, context=context)
    if loaded is None or findings:
        raise document.refused(findings)
    return loaded


def read_yaml(text: str, *, path: str) -> "YamlText":
    """Read a YAML text. Raises SpecificationError where it cannot be read."""
    import yaml

    findings: list[Finding] = []
    try:
        try:
            root = _read(text, path, findings)
        except yaml.YAMLError as error:
            raise _yaml_fault(text, error) from error
    except _Unreadable as stop:
        findings.append(Finding(path, *stop.place, stop.message, stop.remedy))
        raise SpecificationError(findings) from stop
    return YamlText(path, root, findings)


@dataclass(frozen=True, slots=True)
class YamlText:
    """A YAML text that was read.

    findings: what is wrong with it whatever it is about, as a key that stands twice.
    """

    path: str
    root: _Node
    findings: list[Finding]

    def fitted(self, model: type[M], *, context: Any = None) -> tuple[M | None, list[Finding]]:
        """The text as a model, or None, and what does not fit."""
        try:
            return _adapter(cast("Any", model)).validate_python(self.root.plain(), context=context), self.findings
        except ValidationError as error:
            return None, [*self.findings, *_explain(error, root=self.root, model=model, path=self.path)]

    def findings_at(self, said: Iterable[tuple[Keys, str, str]]) -> list[Finding]:
        """Findings from keys and positions in the text, message and remedy."""
        return [Finding(self.path, *_align(self.root, keys).place, message, remedy) for keys, message, remedy in said]

    def refused(self, findings: Iterable[Finding]) -> SpecificationError:
        """The error with these findings in the order of the text; a place says each thing once."""
        found: dict[tuple[int, int, str], Finding] = {}
        for each in findings:
            found.setdefault((each.line, each.column, each.message), each)
        return SpecificationError(sorted(found.values(), key=lambda each: (each.line, each.column)))


@functools.cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    """What validates such a model: it is built when the first file of its kind comes, not anew for each."""
    return TypeAdapter(model)


def nearest(name: str, known: list[str]) -> str:
    """A remedy that names the nearest known name, or all of them when none is near.

    >>> nearest("form", ["from", "join"])
    'Did you mean `from`?'
    """
    found = get_close_matches(name, known, n=1, cutoff=0.6) or get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    if found:
        return f"Did you mean `{found[0]}`?"
    return f"Known here: {', '.join(f'`{each}`' for each in known)}." if known else ""


@dataclass(frozen=True, slots=True)
class Written:
    """Where a value of a specification stands in its text.

    key: where its key begins; behind: where the key ends; both where the value begins if it has none. end: of the
    value, without what is said behind it. inside: the keys and positions that it holds. in_braces: whether it stands
    within `{}` or `[]`; braces: whether it is written so itself.
    """

    key: int
    behind: int
    start: int
    end: int
    inside: tuple[str | int, ...] | None
    in_braces: bool
    braces: bool


def written_in(text: str) -> dict[Keys, Written]:
    """Where each value stands of a text that `read_yaml` takes, the whole under `()`, so that it can be changed there.

    >>> written_in("key: [A, B]")["key", 1].start
    9
    """
    import yaml

    found: dict[Keys, Written] = {}

    def walk(path: Keys, node: Any, key: Any, *, in_braces: bool) -> int:
        start: int = node.start_mark.index
        end: int = node.end_mark.index
        below: list[tuple[str | int, Any, Any]] = []
        if isinstance(node, yaml.SequenceNode):
            below = [(at, None, each) for at, each in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            below = [(name.value, name, each) for name, each in node.value]
        is_single, braces = isinstance(node, yaml.ScalarNode), bool(getattr(node, "flow_style", False))
        ends = [walk((*path, name), each, its, in_braces=braces) for name, its, each in below]
        if ends and not braces:  # the parser ends it where the next thing begins
            end = ends[-1]
        inside = None if is_single else tuple(name for name, _, _ in below)
        named = key or node
        behind = key.end_mark.index if key else start
        found[path] = Written(named.start_mark.index, behind, start, end, inside, in_braces, braces)
        return end

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    walk((), root, None, in_braces=False)
    return found


def _read(text: str, path: str, findings: list[Finding]) -> _Node:
    """The document's root; findings: takes keys that stand twice. Raises _Unreadable, YAMLError."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise _Unreadable((0, 0), f"The file is larger than {MAX_BYTES // 1024} kB.", "Split it.")
    _refuse_tricks(yaml.parse(text, Loader=loader))  # before anything is built, and nothing recurses
    root = yaml.compose(text, Loader=loader)
    if not isinstance(root, yaml.MappingNode):
        raise _Unreadable((1, 1), "The file holds no `key: value` lines.")
    return _built(root, path, findings)


def _refuse_tricks(events: Iterable[Any]) -> None:
    """Raise _Unreadable for what can blow a short file up or call code, none of which is ever needed here."""
    import yaml

    documents = nodes = depth = 0
    for event in events:
        place = _place(event.start_mark)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise _Unreadable(place, "A second document starts here.", "One file holds one specification.")
        elif isinstance(event, yaml.NodeEvent):
            if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent) or event.anchor is not None:
                raise _Unreadable(place, "Anchors and aliases (`&`, `*`) are not allowed.", 'Quote the text: "*".')
            if event.tag is not None:
                raise _Unreadable(place, f"The tag `{event.tag}` is not allowed.", "Quote the text.")
            nodes += 1
            if nodes > MAX_NODES:
                raise _Unreadable(place, f"The file holds more than {MAX_NODES} values.", "Put lookups in a file.")
            depth += isinstance(event, yaml.CollectionStartEvent)
            if depth > MAX_DEPTH:
                raise _Unreadable(place, f"The values are nested deeper than {MAX_DEPTH} levels.")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _built(node: Any, path: str, findings: list[Finding]) -> _Node:
    """A node of the parser with all that is in it; raises _Unreadable for a key that is none."""
    import yaml

    children: dict[str | int, tuple[Place, _Node]] = {}
    if isinstance(node, yaml.SequenceNode):
        for position, each in enumerate(node.value):
            inner = _built(each, path, findings)
            children[position] = inner.place, inner
        return _Node(_place(node.start_mark), list, children)
    if isinstance(node, yaml.ScalarNode):
        return _Node(_place(node.start_mark), _scalar(node), children)
    for key, value in node.value:
        place = _place(key.start_mark)
        if not isinstance(key, yaml.ScalarNode):
            raise _Unreadable(place, "A key must be plain text.", 'Quote it: "{n}".')
        if key.value in children:
            earlier = children[key.value][0][0]
            message = f"The key `{key.value}` stands twice; the first is in line {earlier}."
            findings.append(Finding(path, *place, message, "Remove one of them."))
        children[key.value] = place, _built(value, path, findings)
    return _Node(_place(node.start_mark), dict, children)


def _scalar(node: Any) -> Any:
    """What a single value stands for."""
    text = str(node.value)
    if node.style in (None, "") and text in _WORDS:
        return _WORDS[text]
    return int(text) if node.style in (None, "") and _WHOLE_NUMBER.fullmatch(text) else text


def _place(mark: Any) -> Place:
    return (mark.line + 1, mark.column + 1) if mark else (0, 0)


def _yaml_fault(text: str, error: Any) -> _Unreadable:
    """What the parser says is wrong, in words for people who write mappings."""
    import yaml

    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = f"This is not readable as YAML: U+{ord(text[error.position]):04X}, which cannot be seen."
        return _Unreadable(place, message, "Delete it and type the text again.")
    if not isinstance(error, yaml.MarkedYAMLError):
        return _Unreadable((0, 0), f"This is not readable as YAML: {error}.")
    line, column = place = _place(error.problem_mark or error.context_mark)
    whole = (text.splitlines()[line - 1 : line] or [""])[0] if line else ""
    before, letter = whole[: max(column - 1, 0)], whole[max(column - 1, 0) : column]
    if letter == "\t":
        return _Unreadable(place, "A tab stands before the text.", "Indent with blanks, two a level.")
    problem = str(error.problem)
    opened = _place(error.context_mark)[0] if error.context_mark else line
    words, remedy = _FAULTS.get(problem, (problem, ""))
    if problem == "did not find expected key" and before.strip():
        words, remedy = _BEHIND_A_VALUE
    words = words.replace("{opened}", str(opened)).replace("{letter}", letter)
    return _Unreadable(place, f"This is not readable as YAML: {words}.", remedy)


def _explain(error: ValidationError, *, root: _Node, model: Any, path: str) -> list[Finding]:
    """pydantic's complaints in our words, at their places in the file; a place says each thing once.

    A value that fits none of the kinds that its place takes is one complaint, however many kinds there are.
    """
    found: dict[tuple[Place, str], Finding] = {}
    misfits: dict[_Aligned, list[Any]] = defaultdict(list)
    for each in error.errors(include_url=False):
        aligned = _align(root, each["loc"][:-1] if each["type"] == "missing" else each["loc"])
        if each["type"] in _PYDANTICS_OWN - _SAID_DIFFERENTLY:
            misfits[aligned].append(each)
            continue
        message, remedy = _words(each, _known_keys(model, aligned.keys))
        found.setdefault((aligned.place, message), Finding(path, *aligned.place, message, remedy))
    return [*found.values(), *(Finding(path, *at.place, *_misfit(errors)) for at, errors in misfits.items())]


def _misfit(errors: list[Any]) -> tuple[str, str]:
    """Message and remedy for a value that does not fit; errors: why, of each kind that its place takes."""
    value = errors[0]["input"]
    message = f"{_shown(value)} does not fit here."
    if all(each["type"] in ("literal_error", "enum") for each in errors):
        words = [word for each in errors for word in allowed_words(each["ctx"])]
        return message if value is None else f"{_shown(value)} is not known here.", nearest(str(value), words)
    return message, remedy_of(wanted(each["type"], each.get("ctx") or {}) for each in errors)


class _Aligned(NamedTuple):
    """A pydantic location laid over the file: the place, and the parts that are keys or positions of the file."""

    place: Place
    keys: Keys = ()
    to_the_end: bool = False


def _align(node: _Node, location: Keys, place: Place | None = None) -> _Aligned:
    """Lay a pydantic location over the file.

    pydantic puts the tags of unions' branches between the keys; a tag may even be called like a key. Of all ways to
    read the location the one wins that ends on the last part, then the one that uses the most parts.
    """
    here = place or node.place
    if not location:
        return _Aligned(here)
    part, rest = location[0], location[1:]
    ways = [_align(node, rest, here)]
    if part in node.children:
        at, child = node.children[part]
        below = _align(child, rest, at)
        ways.append(_Aligned(below.place, (part, *below.keys), below.to_the_end or not rest))
    return max(reversed(ways), key=lambda way: (way.to_the_end, len(way.keys)))


def _words(error: Any, known: set[str]) -> tuple[str, str]:
    """Message and remedy for a pydantic error that is not about the kind of a value."""
    kind, context = error["type"], error.get("ctx") or {}
    name = next((part for part in reversed(error["loc"]) if isinstance(part, str)), "")
    if kind == "extra_forbidden":
        return f"Unknown key `{name}`.", nearest(name, sorted(known))
    if kind == "missing":
        return f"`{name}` is missing.", f"Add `{name}:`."
    if kind == "union_tag_invalid":
        tag = context.get("tag")
        return f"{_shown(tag)} is not known here.", nearest(str(tag), allowed_words(context))
    if kind == "union_tag_not_found":
        key = str(context.get("discriminator", "")).strip("'")
        return f"`{key}` is missing.", f"Add `{key}:`."
    if kind in ("value_error", "assertion_error"):
        return own_words(error["msg"]), ""
    return error["msg"], str(context.get("remedy", ""))  # a model's own complaint speaks for itself


def _shown(value: Any) -> str:
    """A value of the file in a sentence, as it was typed."""
    if isinstance(value, dict | list):
        return "This list" if isinstance(value, list) else "This group of keys"
    if value is None or value == "None":  # a tag is named as text
        return "An empty value"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"


def _known_keys(model: Any, keys: tuple[str | int, ...]) -> set[str]:
    """The keys that the models beside a key of the file know, whichever branch of a union they belong to."""
    places: list[Any] = list(_branches(model))
    for part in keys[:-1]:
        places = [inner for place in places for inner in _step(place, part)]
    known: set[str] = set()
    for place in places:
        models = list(_branches(get_args(place)[0])) if get_origin(place) is list else [place]
        for each in filter(_is_model, models):
            known |= {field.alias or name for name, field in each.model_fields.items()}
    return known


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _step(kind: Any, part: str | int) -> Iterator[Any]:
    """The types found one key or one index below a type."""
    if _is_model(kind):
        for name, each in kind.model_fields.items():
            if part in (name, each.alias):
                yield from _branches(each.annotation)
    elif get_origin(kind) is dict and isinstance(part, str):
        yield from _branches(get_args(kind)[1])
    elif get_origin(kind) is list:
        for element in _branches(get_args(kind)[0]):
            # A single value may stand where the model holds a list: then the file has no position.
            yield from [element] if isinstance(part, int) else _step(element, part)


def _branches(kind: Any) -> Iterator[Any]:
    """A type's alternatives, without `Annotated` and with a root model's content."""
    if get_origin(kind) is Annotated:
        yield from _branches(get_args(kind)[0])
    elif get_origin(kind) in (Union, UnionType):
        for each in get_args(kind):
            yield from _branches(each)
    elif _is_model(kind) and "root" in kind.model_fields:
        yield from _branches(kind.model_fields["root"].annotation)
    else:
        yield kind


_QUOTED = "Put a text that holds `#`, `:`, a comma, `%`, `@` or brackets between quotation marks."
_CLOSED = "Put a comma between two entries and `{sign}` behind the last one. " + _QUOTED
_UNCLOSED = "a comma is missing before this place, or the `{sign}` that closes what is opened in line {opened}"
_BEHIND_A_VALUE = (
    "a value ends before this place, and something stands behind it",
    "Put the whole text between quotation marks.",
)
_FAULTS = {
    "did not find expected ',' or '}'": (_UNCLOSED.replace("{sign}", "}"), _CLOSED.replace("{sign}", "}")),
    "did not find expected ',' or ']'": (_UNCLOSED.replace("{sign}", "]"), _CLOSED.replace("{sign}", "]")),
    "mapping values are not allowed in this context": (
        "a `:` stands where a value is read already, of this line or of the one above",
        "Put a text that holds `: ` between quotation marks; a line above indented ones ends with its colon.",
    ),
    "found character that cannot start any token": (
        "no value begins with `{letter}`",
        "Put the text between quotation marks.",
    ),
    "did not find expected key": (
        "no line above is indented as this one",
        "Begin it exactly below the lines that it belongs to; indent with blanks, two a level.",
    ),
    "did not find expected '-' indicator": (
        "the list above goes on with a line that does not begin with `- `",
        "Begin it with `- `, or indent it like the list's name.",
    ),
    "found unexpected ':'": ("a colon without a value", "Write a blank and a value behind the colon."),
    "could not find expected ':'": ("a name without its colon", "Write a colon, a blank and a value behind the name."),
    "found unexpected end of stream": (
        "the quotation mark of line {opened} is never closed",
        "Close it behind its text.",
    ),
    "found unknown escape character": (
        "between double quotation marks a backslash means something of its own",
        "Use single ones: '…'.",
    ),
}
