"""What is said of a mapping file before its values are checked: open questions of a draft, and names that are none."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Final

from logistics_batch.mapping.lint.structure import LintFinding, Place, said
from logistics_batch.mapping.spec.targets import targets_of
from logistics_batch.mapping.spec.texts import Part
from logistics_batch.model.document import Operation

MARK: Final = "? "
"""Stands before a name, a format or a unit that a person has to confirm; alone, for an answer that is missing."""


def open_questions(data: Any, place: Place = ()) -> Iterator[LintFinding]:
    """A complaint for each question of a draft that nobody has answered yet, in the order of the file."""
    if isinstance(data, list) and (asked := [each for each in data if _is_open(each)]):
        yield _asked((*place, data.index(asked[0])), asked)
        data = [each for each in data if not _is_open(each)]
    for key, value in _below(data):
        yield from open_questions(value, (*place, key))
    if _is_open(data):
        yield _asked(place, [data])


def _below(data: Any) -> Iterable[tuple[Any, Any]]:
    return data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()


def _is_open(value: Any) -> bool:
    return isinstance(value, str) and (value == MARK.strip() or value.startswith(MARK))


def _asked(place: Place, asked: list[str]) -> LintFinding:
    """What a draft asks, by a key above the question, and how it is answered."""
    field = next((str(part) for part in (place[1:2] or place[:1])), "")
    names = [text.removeprefix(MARK.strip()).strip() for text in asked]
    named = "key" if place[:1] == ("key",) else next((part for part in ("lookup", "date", "unit") if part in place), "")
    code = named or ("which" if len(asked) > 1 else "is_it")
    return said(place, f"draft.{code}", names=names, field=field, last=place[-1] if place else "")


def raw_findings(data: dict[str, Any]) -> Iterator[LintFinding]:
    """What can be said before the values are checked: keys without a value, and target names."""
    may_be_left_out = {
        field.alias or name
        for part in Part.__subclasses__()
        for name, field in part.model_fields.items()
        if field.default is None
    }
    yield from _empty_keys(data, (), may_be_left_out)
    operation = data.get("operation")
    if operation not in list(Operation):
        return
    targets = targets_of(Operation(operation))
    kits = data.get("kits")
    parts = {
        ("fields",): (data.get("fields"), targets.header, targets.lines),
        ("lines",): (data.get("lines"), targets.lines, targets.header),
        ("kits", "lines"): (kits.get("lines") if isinstance(kits, dict) else None, targets.lines, targets.header),
    }
    for place, (named, here, others) in parts.items():
        for name in named if isinstance(named, dict) else ():
            if name not in here:
                other = "lines" if place == ("fields",) else "fields"
                told = {"name": name, "operation": operation, "part": place[-1], "other": other}
                yield _unknown_target((*place, name), told, here, others)


def _empty_keys(data: Any, place: Place, may_be_left_out: set[str]) -> Iterator[LintFinding]:
    for key, value in _below(data):
        if value is None and key in may_be_left_out:
            yield said((*place, key), "empty", key=key)
        yield from _empty_keys(value, (*place, key), may_be_left_out)


def _unknown_target(place: Place, told: dict[str, str], here: tuple[str, ...], others: tuple[str, ...]) -> LintFinding:
    """told: name, operation, part, and the other part. here, others: the targets of these parts."""
    name = told["name"]
    near = get_close_matches(name, here, n=1) or get_close_matches(name, others, n=1)
    if name in others:
        return said(place, "target.elsewhere", **told)
    if near:
        return said(place, "target.near" if near[0] in here else "target.near_elsewhere", **told, near=near[0])
    if name == "order_id" or not here:
        return said(place, "target.order_id" if name == "order_id" else "target.none", **told)
    return said(place, "target", **told, known=here[:12], more=" …" if len(here) > 12 else "")
