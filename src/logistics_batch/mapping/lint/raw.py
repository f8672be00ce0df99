"""What is said of a mapping file before its values are checked: open questions of a draft, and names that are none."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

from logistics_batch.mapping.lint.fields import LintFinding, Place
from logistics_batch.mapping.spec.model import (
    ChecksSpec,
    FieldSpec,
    KitsSpec,
    LinesFromSpec,
    MappingSpec,
    OrderIdSpec,
    SheetSpec,
)
from logistics_batch.mapping.spec.targets import Targets, targets_of
from logistics_batch.model.document import Operation

MARK: Final = "? "
"""Stands before a name, a format or a unit that a person has to confirm; alone, for an answer that is missing."""


_MAY_BE_LEFT_OUT: Final = frozenset(
    field.alias or name
    for part in (MappingSpec, FieldSpec, SheetSpec, ChecksSpec, KitsSpec, OrderIdSpec, LinesFromSpec)
    for name, field in part.model_fields.items()
    if field.default is None
)


def open_questions(data: Any, place: Place = ()) -> Iterator[LintFinding]:
    """A complaint for each question of a draft that nobody has answered yet, in the order of the file."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from open_questions(value, (*place, key))
    elif isinstance(data, list) and (asked := [each for each in data if is_open(each)]):
        yield _asked((*place, data.index(asked[0])), asked)
        yield from open_questions([each for each in data if not is_open(each)], place)
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from open_questions(value, (*place, index))
    elif is_open(data):
        yield _asked(place, [data])


def is_open(value: Any) -> bool:
    """Whether a text of a mapping is a question."""
    return isinstance(value, str) and (value == MARK.strip() or value.startswith(MARK))


_ASKED: Final[dict[str, tuple[str, str]]] = {
    "key": ("is {names} the key?", "Write the column that the rows of a document share, without the `?`."),
    "lookup": ("what does `{last}` mean for `{field}`?", 'Write "true" or "false" for the `?`.'),
    "date": (
        "how are the dates of `{field}` written, {names}?",
        "Keep the right one, without the `?`, and delete the other.",
    ),
    "unit": (
        "is `{field}` to be read as {names}?",
        "Take the `?` away, or write the unit that the sheet uses.",
    ),
    "which": (
        "which column is `{field}`, {names}?",
        "Keep the right one, without the `?`, and delete the others.",
    ),
    "is_it": (
        "is {names} the column of `{field}`?",
        "Write the column's name without the `?`; if there is none, `{{constant: …}}`, or delete the line.",
    ),
}
"""What a draft asks, by a key above the question, and how it is answered."""


def _asked(place: Place, asked: list[str]) -> LintFinding:
    field = next((str(part) for part in (place[1:2] or place[:1])), "")
    names = " or ".join(f"`{text.removeprefix(MARK.strip()).strip()}`" for text in asked)
    named = "key" if place[:1] == ("key",) else next((part for part in ("lookup", "date", "unit") if part in place), "")
    question, remedy = _ASKED[named or ("which" if len(asked) > 1 else "is_it")]
    values = {"names": names, "field": field, "last": place[-1] if place else ""}
    return LintFinding(place, f"The draft asks: {question.format(**values)}", remedy.format(**values))


def raw_findings(data: dict[str, Any]) -> Iterator[LintFinding]:
    """What can be said before the values are checked: names that only the program may use, and target names."""
    yield from _inner_names(data)
    operation = data.get("operation")
    if operation not in list(Operation):
        return
    targets = targets_of(Operation(operation))
    for part, known in (("fields", targets.header), ("lines", targets.lines)):
        named = data.get(part)
        for name in named if isinstance(named, dict) else ():
            if name not in known:
                yield _unknown_target(part, name, targets)
    kits = data.get("kits")
    contents = kits.get("lines") if isinstance(kits, dict) else None
    for name in contents if isinstance(contents, dict) else ():
        if name not in targets.lines:
            found = _unknown_target("lines", name, targets)
            yield LintFinding(("kits", "lines", name), found.message, found.remedy)


def _inner_names(data: Any, place: Place = ()) -> Iterator[LintFinding]:
    """`from_` and `with_`, which the models know `from` and `with` by, and keys without a value."""
    below = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in below:
        if key in ("from_", "with_") and len(place) > 1:
            yield LintFinding((*place, key), f"Unknown key `{key}`.", f"Did you mean `{key[:-1]}`?")
        elif value is None and key in _MAY_BE_LEFT_OUT:
            yield LintFinding((*place, key), f"`{key}` is empty.", "Write its value, or leave the line out.")
        yield from _inner_names(value, (*place, key))


def _unknown_target(part: str, name: str, targets: Targets) -> LintFinding:
    other, others = ("lines", targets.lines) if part == "fields" else ("fields", targets.header)
    here = targets.header if part == "fields" else targets.lines
    message = f"`{name}` is no target of `{targets.operation.value}` under `{part}`."
    if name in others:
        return LintFinding((part, name), message, f"It belongs under `{other}`.")
    near = get_close_matches(name, here, n=1) or get_close_matches(name, others, n=1)
    if near:
        where = "" if near[0] in here else f" under `{other}`"
        return LintFinding((part, name), message, f"Did you mean `{near[0]}`{where}?")
    if name == "order_id":
        return LintFinding((part, name), message, "Which order is meant stands at the top: `order_id: {from: AWB}`.")
    known = ", ".join(here[:12]) + (" …" if len(here) > 12 else "")
    return LintFinding((part, name), message, f"Known: {known}." if known else "It has none.")
