"""A mapping's text as choices that a person makes, and choices as changes of the text.

The text is the one thing that is kept: what is chosen is read from it, and written into it. A sample is what `look_at`
says of it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from logistics_batch.errors import UsageError
from logistics_batch.flows.mappings.suggest_mapping import Wanted
from logistics_batch.mapping.fields.values.numbers import unit_pair, unit_wanted
from logistics_batch.mapping.lint import MARK, questions_of
from logistics_batch.mapping.rewritten import flow, rewritten
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import FieldForm, form_of, targets_of
from logistics_batch.model.document import Operation
from logistics_batch.specification import Keys, read_yaml

IGNORE, KEEP, JOIN, ALL = "ignore", "keep", "+", "*"
_MAIN, _BESIDE = ("from", "first", "sum", "join"), ("times", "less", "cartons")
_OUTSIDE: Final = ("constant", "beside", "cell", "run")
_COMMENT: Final = re.compile(r'("(?:[^"\\\n]|\\.)*")|[ ]{0,2}#[^\n]*')
_WORDS: Final = ("lookup", "suffix", "unit", "date", "when", "operation", "skip_rows_where")
_DATES: Final = ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%Y", "%d-%b-%Y", "%d/%m/%y", "%d-%m-%y", "%Y/%m/%d")
_UNITS: Final = ("g", "kg", "lb", "mm", "cm", "m", "in")
_ELSEWHERE: Final = ("order_id", "kits", "lines_sheet", "checks")  # what names columns and is changed in the text alone
_MOST_WORDS: Final = 8
_NAME: Final = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Use:
    """A place that reads a column. names: all that the column is called there; at: its position in a join."""

    place: str
    source: str
    names: tuple[str, ...]
    at: int | None = None

    @property
    def path(self) -> tuple[str, str]:
        """The keys of the field."""
        part, _, target = self.place.partition(".")
        return part, target


def plain(text: str) -> dict[str, Any]:
    """What a text says. Raises SpecificationError where it cannot be read."""
    found: dict[str, Any] = read_yaml(text, path="mapping").root.plain()
    return found


def drafted(look: Mapping[str, Any], wanted: Wanted, *, name: str) -> str:
    """The text of a draft: what it proposes and asks, without the reasons, which are shown beside."""
    if look["draft"] is None:
        return f"operation: {wanted.operation or Operation.ORDER_CREATE}\n"
    kept = _COMMENT.sub(r"\1", look["draft"]["text"]).splitlines()
    return "\n".join([f"# Drafted from {json.dumps(name, ensure_ascii=False)}.", *filter(str.strip, kept), ""])


def _part(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What stands under a key, where that holds keys itself."""
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def same(column: str, name: str) -> bool:
    """Whether a mapping means a column by a name; SKU {n} means SKU 1 and SKU 2."""
    before, numbered, after = name.partition("{n}")
    if numbered:
        number = column.removeprefix(before).removesuffix(after)
        return column == f"{before}{number}{after}" and number.isdecimal()
    return ColumnName.of(column).identity == ColumnName.of(name).identity


def uses_of(data: Mapping[str, Any]) -> Iterator[Use]:
    """Each place that reads columns, without those that are asked about."""
    for part in ("fields", "lines", KEEP):
        for target, spec in _part(data, part).items():
            for source in (*_MAIN, *_BESIDE) if isinstance(spec, dict) else ():
                joined = spec.get(source) if source == "join" else None
                found: list[tuple[tuple[str, ...], int | None]] = [(_names(spec.get(source)), None)]
                if isinstance(joined, list):
                    found = [(_names(each), at) for at, each in enumerate(joined)]
                yield from (Use(f"{part}.{target}", source, names, at) for names, at in found if names)


def _names(value: Any) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    return tuple(each for each in names if isinstance(each, str) and not each.startswith(MARK.strip()))


def operation_of(data: Mapping[str, Any]) -> Operation:
    """What a text's rows become, also where that is still asked; orders where it says nothing that is known."""
    said = str(data.get("operation", "")).removeprefix(MARK)
    return Operation(said) if said in list(Operation) else Operation.ORDER_CREATE


def targets_in(data: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What can be filled, by part, with what fills it now, and whether something must."""
    targets = targets_of(operation_of(data))
    filled: dict[str, list[str]] = {}
    for use in uses_of(data):
        if use.source in _MAIN:
            filled.setdefault(use.place, []).append(use.names[0])
    parts = {"fields": tuple(dict.fromkeys((*targets.header, *targets.reference))), "lines": targets.lines}
    return {
        part: [
            {
                "place": place,
                "by": filled.get(place, []),
                "must": place in targets.required,
                "joins": place in filled and form_of(name, targets.operation) in (FieldForm.TEXT, FieldForm.ADDRESS),
            }
            for name, place in ((name, f"{part}.{name}") for name in names)
        ]
        for part, names in parts.items()
        if names
    }


def columns_of(data: Mapping[str, Any], look: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each column of the sample with what becomes of it, how it can be read, and what the draft says of it."""
    uses, ignored = list(uses_of(data)), _names(data.get(IGNORE))
    keys = [each for each in _names(data.get("key")) if each != "file"]
    filled = _names(_part(data, "sheet").get("fill_down"))
    elsewhere = {text for part in _ELSEWHERE for text in _texts(data.get(part))}
    evidence = look["draft"]["columns"] if look["draft"] else ()
    found = []
    for column in look["columns"]:
        name = column["name"]
        mine = [use for use in uses if any(same(name, each) for each in use.names)]
        main = next((use for use in mine if use.source in _MAIN), None)
        place = main.place if main else IGNORE if any(same(name, each) for each in ignored) else ""
        spec = data[main.path[0]][main.path[1]] if main else {}
        now = spec.get("read") if main and main.source in ("from", "first") else None
        sure, why = _why(name, place, evidence)
        found.append(
            {
                "name": name,
                "samples": column["samples"],
                "place": place,
                "also": [use.place for use in mine if use is not main],
                "called": [each for each in main.names if not same(name, each)] if main else [],
                "is_key": any(same(name, each) for each in keys),
                "is_filled": any(same(name, each) for each in filled),
                "read": flow(now) if now is not None else "",
                "reads": _reads(place, operation_of(data), column, now) if main and main.source != "sum" else [],
                "fixed": any("{n}" in each for use in mine for each in use.names) or (not place and name in elsewhere),
                "confidence": sure,
                "reason": why,
            }
        )
    return found


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value, keys as well."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield str(key)
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    else:
        yield str(value)


def _why(name: str, place: str, evidence: Any) -> tuple[float, str]:
    """How sure the draft is that a column belongs in a place, and why; else why it used the column for nothing."""
    for each in evidence:
        if each["place"] and each["place"] in (place, "") and each["column"] == name:
            return each["confidence"], each["reason"]
        for candidate in each.get("candidates", ()):
            if each["place"] == place and name in candidate["columns"]:
                return candidate["confidence"], candidate["reason"]
    unused = next((each["reason"] for each in evidence if each["column"] == name and not each["place"]), "")
    return 0.0, "" if place not in ("", IGNORE) else unused


def _reads(place: str, operation: Operation, column: Mapping[str, Any], now: Any) -> list[str]:
    """The ways to read a column's cells between which one chooses, as YAML; "" is the target's own."""
    target = place.partition(".")[2]
    form = form_of(target, operation) if not place.startswith(KEEP) else FieldForm.TEXT
    ways: list[Any] = []
    if form in (FieldForm.DATE, FieldForm.MOMENT) or place.startswith(KEEP):
        ways += [{"date": each} for each in _DATES]
    if form is FieldForm.DECIMAL and target in ("weight", "length", "breadth", "height"):
        wanted = unit_wanted(target, operation) or ("kg" if target == "weight" else "cm")
        units = (f"{each} -> {wanted}" for each in _UNITS if each != wanted)
        ways += [{"unit": each} for each in units if unit_pair(each)]
    if 0 < len(column["values"]) <= _MOST_WORDS and form in (FieldForm.TEXT, FieldForm.FLAG, FieldForm.PAYMENT):
        ways.append({"lookup": {value: MARK.strip() for value in column["values"] if value}})
    found = [flow(each) for each in ways]
    current = flow(now) if now is not None else ""
    return list(dict.fromkeys(["", *([current] if current else []), *found]))


def asked_in(data: Mapping[str, Any], look: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The open questions of a text, each with its answers and what speaks for them."""
    known = {(each["place"], *each["answers"]): each for each in (look["draft"] or {"questions": ()})["questions"]}
    columns, found = [each["name"] for each in look["columns"]], []
    for finding, answers in questions_of(data):
        path, place = finding.place, ".".join(str(each) for each in finding.place[:2] if isinstance(each, str))
        word = next((each for each in _WORDS if each in path), "")
        is_flag = word == "lookup" and form_of(str(path[1]), operation_of(data)) in (FieldForm.FLAG, FieldForm.PAYMENT)
        evidence = known.get((place, *answers), {})
        given = [each for each in answers if each]
        found.append(
            {
                "place": place,
                "path": path,
                "question": finding.message,
                "remedy": finding.remedy,
                "answers": given or (["true", "false"] if is_flag else []),
                "others": [] if word or path[0] == "sheet" else [each for each in columns if each not in given],
                "together": "join" in path or word == "skip_rows_where",
                "may_leave": (not word and path[0] in ("fields", "lines"))
                or word == "skip_rows_where"
                or (word == "date" and not given),
                "writes": word in ("lookup", "suffix", "unit", "date", "when") and not is_flag,
                "constant": not word and path[0] in ("fields", "lines") and path[-1] not in _BESIDE,
                "candidates": evidence.get("candidates", []),
                "reason": evidence.get("reason", ""),
            }
        )
    return found


@dataclass(frozen=True, slots=True)
class ChosenAnswer:
    """What a person says to a question. text: an answer that is offered, or what is written; is_column: it names a
    column beside those that are offered; is_constant: the same for all rows; is_left: the field is left out."""

    text: str = ""
    is_column: bool = False
    is_constant: bool = False
    is_left: bool = False


def answered(text: str, asked: Mapping[str, Any], answer: ChosenAnswer) -> str:
    """The text with a question answered."""
    path, data, value = asked["path"], plain(text), answer.text
    if answer.is_left or answer.is_constant:
        field = path[:3] if "skip_rows_where" in path or path[-1] in _BESIDE else path[:2]
        text = rewritten(text, field, None if answer.is_left else {"constant": value})
        for name in path[2:3] if "skip_rows_where" in path else asked["answers"]:
            text = _not_filled(text, str(name))
        return text
    holder, above = _at(data, path[:-1]), path[:-1]
    if path[-1] in ("beside", "cell") and answer.is_column:  # in the place of what stands outside the table
        text = rewritten(text, above, value if path[0] == "key" else {"from": value})
    elif asked["together"] and isinstance(holder, list):
        names = [str(each).removeprefix(MARK) for each in holder]
        one = (above, [value]) if "skip_rows_where" in path else (above[:2], {"from": value})
        text = rewritten(text, above, names) if value == ALL else rewritten(text, *one)
    elif isinstance(holder, list):
        rest = [each for each in holder if not str(each).startswith(MARK.strip()) and each != value]
        text = rewritten(text, above, [value, *rest] if rest or path[0] == "key" else value)
    else:
        is_count = "suffix" in path and value.isascii() and value.isdecimal()
        text = rewritten(text, path, [value] if path == ("key",) else int(value) if is_count else value)
        text = _counting(text, str(path[-1]), value) if path[1:-1] == ("is_cod", "read", "lookup") else text
    keys = data["key"] if isinstance(data.get("key"), list) else []
    asks = [each for each in keys if str(each).startswith(MARK.strip())]
    same_asked = [str(each).removeprefix(MARK).strip("? ") for each in asks] == (asked["answers"] or [""])
    if asks and path[0] == "fields" and same_asked:
        text = rewritten(text, ("key",), [value, *(each for each in keys if each not in (*asks, value))])
    for name in asked["answers"]:
        text = _not_filled(text, name)
    return _not_ignored(text, value)


def _counting(text: str, word: str, says: str) -> str:
    """The text with what `when` asks of a word of payment answered as `is_cod` reads it: it collects cash, or not."""
    amount = _part(_part(plain(text), "fields"), "cash_on_delivery")
    for column, words in _part(amount, "when").items():
        if isinstance(words, list) and MARK + word in words:
            left = [word if each == MARK + word else each for each in words if says == "true" or each != MARK + word]
            text = rewritten(text, ("fields", "cash_on_delivery", "when", column), left or [MARK.strip()])
    return text


def _at(data: Any, path: Keys) -> Any:
    for key in path:
        data = data[key]
    return data


def moved(text: str, name: str, to: str) -> str:
    """The text with a column elsewhere: IGNORE, KEEP, a place, a place behind JOIN (beside what it reads), or ""."""
    data = plain(text)
    uses = [use for use in uses_of(data) if use.source in _MAIN and any(same(name, each) for each in use.names)]
    for use in uses[:1]:
        at = data[use.path[0]][use.path[1]]
        is_last = use.at is None or len(at["join"]) == 1
        text = rewritten(text, use.path if is_last else (*use.path, "join", use.at or 0), None)
    text = text if to == IGNORE else _not_ignored(text, name)
    text = _not_filled(text, name) if to in (IGNORE, "") else text
    if to == IGNORE:
        return rewritten(text, (IGNORE, len(_names(plain(text).get(IGNORE)))), name)
    if to == KEEP:
        kept = _part(plain(text), KEEP)
        word = _NAME.sub("_", name.casefold()).strip("_") or "column"
        word = next(each for each in (word, *(f"{word}_{n}" for n in range(2, 999))) if each not in (*kept, "row"))
        return rewritten(text, (KEEP, word), {"from": name})
    if not to:
        return text
    part, _, target = to.removeprefix(JOIN).partition(".")
    if target not in {each["place"].partition(".")[2] for each in targets_in(data).get(part, ())}:
        raise UsageError(f"There is no target `{target}`.", remedy="Open the page again.")
    there = _part(plain(text), part).get(target)
    if to.startswith(JOIN) and isinstance(there, dict) and (there.get("join") or there.get("from")):
        joined = there.get("join") or [there["from"]]
        rest = {key: each for key, each in there.items() if key not in ("join", "from", "read")}
        form = form_of(target, operation_of(data))
        more = {"with": ", "} if form is FieldForm.ADDRESS else {}
        return rewritten(text, (part, target), {"join": [*joined, name], **more, **rest})
    return rewritten(text, (part, target), {"from": name})


def _not_ignored(text: str, name: str) -> str:
    ignored = _names(plain(text).get(IGNORE))
    at = next((at for at, each in enumerate(ignored) if same(name, each)), None)
    return text if at is None else rewritten(text, (IGNORE, at), None)


def _not_filled(text: str, name: str) -> str:
    """The text in which a column that nothing reads is not filled from above either."""
    read = (texts for part, each in plain(text).items() if part not in (IGNORE, "sheet") for texts in _texts(each))
    return text if any(same(name, each) for each in read) else filled_set(text, name, is_filled=False)


def filled_set(text: str, name: str, *, is_filled: bool) -> str:
    """The text with a column whose blank cells take the value above, or not."""
    names = _names(_part(plain(text), "sheet").get("fill_down"))
    rest = [each for each in names if not same(name, each)]
    if len(rest) == len(names) and not is_filled:
        return text
    return rewritten(text, ("sheet", "fill_down"), [*rest, name] if is_filled else rest or None)


def read_as(text: str, name: str, way: str) -> str:
    """The text with another way to read a column, as YAML; "" is the target's own."""
    (use, *_) = (use for use in uses_of(plain(text)) if use.source in _MAIN and any(same(name, n) for n in use.names))
    return rewritten(text, (*use.path, "read"), plain(f"read: {way}")["read"] if way else None)


def called(text: str, name: str, others: list[str]) -> str:
    """The text with these other names of a column beside those that it is called by in the sample."""
    data = plain(text)
    (use, *_) = (use for use in uses_of(data) if use.source in _MAIN and any(same(name, n) for n in use.names))
    own = [each for each in use.names if same(name, each) or each in others]
    names = [*own, *(each for each in others if each not in own)]
    path = (*use.path, use.source) if use.at is None else (*use.path, use.source, use.at)
    return rewritten(text, path, names if len(names) > 1 else names[0])


def key_set(text: str, name: str, *, is_key: bool) -> str:
    """The text with a column in the key, or not."""
    now = plain(text).get("key") or []
    keys = [each for each in (now if isinstance(now, list) else [now]) if each not in ("file", MARK.strip())]
    keys = [each for each in keys if not (isinstance(each, str) and same(name, each))]
    return rewritten(text, ("key",), [*keys, name] if is_key else keys or None)


def rules_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows that are left out: the column, and the pattern that its cell fits."""
    rules = _part(_part(data, "sheet"), "skip_rows_where")
    return [
        {"column": column, "pattern": each, "path": ("sheet", "skip_rows_where", column)}
        for column, patterns in rules.items()
        for each in (patterns if isinstance(patterns, list) else [patterns])
        if not str(each).startswith(MARK)  # which is a question still
    ]


def rule_set(text: str, column: str, pattern: str, *, holds: bool) -> str:
    """The text with a rule that rows are left out, or without it."""
    path = ("sheet", "skip_rows_where", column)
    rest = [each["pattern"] for each in rules_of(plain(text)) if each["path"] == path and each["pattern"] != pattern]
    return rewritten(text, path, [*rest, pattern] if holds else rest or None)


def outside_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The places that no column fills: what does, and the text or label."""
    return [
        {"place": f"{part}.{target}", "how": how, "text": str(spec[how])}
        for part in ("fields", "lines", KEEP)
        for target, spec in _part(data, part).items()
        if isinstance(spec, dict)
        for how in _OUTSIDE
        if how in spec and not str(spec[how]).startswith(MARK.strip())
    ]


def outside_set(text: str, place: str, how: str, value: str) -> str:
    """The text with a place that no column fills: by a constant, a label or an address. how "": not filled."""
    (part, _, target), data = place.partition("."), plain(text)
    known = {each["place"] for each in outside_of(data)}
    known.update(each["place"] for some in targets_in(data).values() for each in some)
    if place not in known or how not in ("", *_OUTSIDE):
        raise UsageError("There is no such target.", remedy="Open the page again.")
    return rewritten(text, (part, target), {how: value} if how else None)
