"""A draft as the text of a mapping file: each line says how sure it is and why, and what a person must still say.

A question is written with the mark `? ` before what it asks about; a mapping with such a mark is refused when loaded.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from logistics_batch import messages
from logistics_batch.mapping.fields.values.numbers import unit_pair, unit_wanted
from logistics_batch.mapping.lint import MARK
from logistics_batch.mapping.spec.targets import FieldForm, form_of, targets_of
from logistics_batch.mapping.spec.words import PAYMENT_WORDS, is_known_pattern
from logistics_batch.mapping.suggest.draft import ADDRESSES, COLLECTED, KEYS, PAID, Draft, Guess, Reason
from logistics_batch.mapping.suggest.table import Profile, meaning_of_payment
from logistics_batch.model.document import Operation

_LENGTHS: Final = ("length", "breadth", "height")
_UNITS: Final = {"gram": "g", "inch": "in"}  # that `unit` calls otherwise than the vocabulary does
_ONE_FOR_ALL: Final = {KEYS[1]: "{run: file_name}"}  # a constant would make all notices one
_KEYS: Final = ("from", "ledger", "join", "with", "sum", "times", "when", "read", "date", "unit", "lookup", "columns")
_CONVERSION: Final = re.compile(r"\w+ -> \w+")


def draft_text(draft: Draft, *, file_name: str) -> str:
    """The mapping file that a draft comes to."""
    return "\n".join([*_head(draft, file_name), *_body(draft), ""])


def draft_json(draft: Draft, *, file_name: str) -> dict[str, Any]:
    """What a draft proposes for each place, with its candidates, and the mapping file, for a program."""
    columns = [
        {"column": each.column, **asdict(each), "reason": _said(each.reasons)} for each in draft.guesses.values()
    ]
    columns += [{"column": name, "place": "", "reason": _said([why])} for name, why in draft.unused.items()]
    text = draft_text(draft, file_name=file_name)
    return {"operation": draft.operation, "columns": columns, "spare": [*draft.unused], "text": text}


def _head(draft: Draft, file_name: str) -> Iterator[str]:
    yield f"# A draft made from {_flow(file_name)}; nothing uses it before you save it."
    yield "# Each line says how sure it is (0 to 1) and why. Check it with `mapping lint` and `mapping preview`."
    yield f"# A `{MARK}` stands before what you have to say: take it away from the right one and delete the others."
    yield f"operation: {draft.operation.value}"
    table, keys = draft.table, {*_keys(draft)}
    rules: dict[str, list[str]] = {}
    for name, pattern in table.skipped:
        if name not in keys or not is_known_pattern(pattern):
            rules.setdefault(name, []).append(pattern)
    has_commas = any(
        draft.table.profiles[each.column].has_decimal_commas for each in draft.guesses.values() if each.column
    )
    sheet = {
        "name": table.sheet,
        "header_rows": table.rows if table.rows > 1 else 0,
        "decimal": "," if has_commas else "",
        "skip_rows_where": rules,
        "fill_down": draft.fill_down,
    }
    said = [f"  {key}: {_flow(value)}" for key, value in sheet.items() if value]
    if draft.fill_down:
        said[-1] += "  # blank on rows whose line is filled"
    yield from ["sheet:", *said] if said else []


def _body(draft: Draft) -> Iterator[str]:
    targets = targets_of(draft.operation)
    if draft.operation is not Operation.RECEIPT_READ:
        yield f"key: {_flow([*dict.fromkeys(_keys(draft))])}"
    if draft.operation.changes_order:
        yield f"order_id: {_order_id(draft)}"
    for part, names in {"fields": targets.header, **({"lines": targets.lines} if targets.lines else {})}.items():
        if part == "lines" and draft.numbered:
            yield f"lines_from: {_flow({'columns': draft.numbered})}  # items beside each other"
        guesses = [guess for name in names if (guess := draft.guesses.get(f"{part}.{name}"))]
        yield f"{part}:" if guesses else f"{part}: {{}}"
        for guess in guesses:
            yield f"  {guess.place.split('.', 1)[1]}: {_flow(_source(draft, guess))}  # {_why(guess)}"
    if draft.unused:
        yield "ignore:  # map them, keep them, or leave them here"
        yield from (f"  - {_flow(name)}  # {_said([why])}" for name, why in draft.unused.items())


def _keys(draft: Draft) -> Iterator[str]:
    """The columns of the natural key."""
    for group in targets_of(draft.operation).natural:
        guess = next((found for target in group if (found := draft.guesses.get(f"fields.{target}"))), None)
        if guess is not None and guess.column:
            yield from _marked(guess)
        elif group[0] in ("reference_number", "invoice_number", "order_id", "order_numbers"):
            yield MARK + group[0].replace("_", " ")


def _order_id(draft: Draft) -> str:
    """Which order a change is about: by its AWB number, else by the reference that the ledger knows."""
    guess = draft.guesses.get("fields.order_id")
    if guess is None or not guess.column:
        return f"{_flow({'from': MARK + 'AWB'})}  # 0.00: not found: write the column's name"
    by_awb = "awb" in guess.column.casefold() or draft.table.profiles[guess.column].share("AWB number") > 0
    return f"{_flow({'from' if by_awb else 'ledger': _names(guess)})}  # {_why(guess)}"


def _said(reasons: Sequence[Reason]) -> str:
    """Reasons in words."""
    return "; ".join(messages.reason(f"mapping.reason.{code}", {"names": values}) for code, *values in reasons)


def _why(guess: Guess) -> str:
    """How sure a guess is, why, and what is asked."""
    said = f"{guess.confidence:.2f}: {_said(guess.reasons)}"
    if not guess.asked:
        return said
    if not guess.column:
        return f"ask! {said}: write the column's name, or `{_ONE_FOR_ALL.get(guess.place, '{constant: …}')}`"
    return f"ask! {said}" + ("" if len(guess.candidates) > 1 else ": is it this column? If none, delete the line")


def _marked(guess: Guess) -> list[str]:
    """The column, or those between which a person has to choose."""
    if not guess.asked:
        return [guess.column]
    return [MARK + name for name in guess.columns or [guess.place.split(".", 1)[1].replace("_", " ")]]


def _names(guess: Guess) -> str | list[str]:
    names = _marked(guess)
    return names if len(names) > 1 else names[0]


def _source(draft: Draft, guess: Guess) -> dict[str, Any]:
    """The field of the mapping."""
    if len(guess.columns) > 1 and not guess.asked:
        return {"join": guess.columns} | ({"with": ", "} if guess.place in ADDRESSES else {})
    pay = draft.guesses.get(PAID) if guess.place == COLLECTED and guess.asked else None
    source = {
        "sum" if guess.added_up else "from": _names(guess),
        "times": guess.times,
        "read": _read(draft, guess) if guess.column and not guess.added_up else {},  # a sum reads numbers by itself
        "when": {pay.column: draft.table.collecting_words(pay.column)} if pay else {},
    }
    return {key: value for key, value in source.items() if value}


def _read(draft: Draft, guess: Guess) -> dict[str, Any]:
    """How a cell is read, where its target does not say it anyway; heavy ones without a unit are asked for."""
    target, profile = guess.place.split(".", 1)[1], draft.table.profiles[guess.column]
    form = form_of(target, draft.operation)
    if form in (FieldForm.FLAG, FieldForm.PAYMENT):
        return _answers(profile, form)
    if form in (FieldForm.DATE, FieldForm.MOMENT) and profile.date_format:
        return {"date": _date(draft, profile)}
    if target not in ("weight", *_LENGTHS):
        return {}
    unit = draft.table.readings[guess.column].unit
    wanted = "cm" if target in _LENGTHS else unit_wanted(target, draft.operation) or "kg"
    if pair := unit_pair(f"{_UNITS.get(unit, unit)} -> {wanted}"):
        return {"unit": " -> ".join(pair)} if pair[0] != pair[1] else {}
    return {"unit": f"{MARK}g -> kg"} if wanted == "kg" and profile.is_heavy else {}


def _date(draft: Draft, profile: Profile) -> str | list[str]:
    """The format; where these dates do not tell day from month, other columns' dates do, or a person."""
    both = [profile.date_format, profile.other_date_format]
    if not both[1]:
        return both[0]
    shown = [each.date_format.split()[:1] for each in draft.table.profiles.values()
             if each.is_mostly("date") and each.date_format and not each.other_date_format]  # fmt: skip
    return next((each for each in both if each.split()[:1] in shown), [MARK + each for each in both])


def _answers(profile: Profile, form: FieldForm) -> dict[str, Any]:
    """What each word of payment means, unless all are known without it; one that is not known is asked for."""
    words = {value.casefold(): value for value in reversed(profile.values)}
    known = {word.casefold() for word in PAYMENT_WORDS} if form is FieldForm.PAYMENT else {"true", "false"}
    if words.keys() <= known:
        return {}
    answers = {True: "true", False: "false", None: MARK.strip()}
    return {"lookup": {word: answers[meaning_of_payment(word)] for word in reversed(words.values())}}


def _flow(value: Any) -> str:
    """A value as YAML takes it in any place, on one line."""
    if isinstance(value, dict):
        return (
            f"{{{', '.join(f'{key if key in _KEYS else _flow(key)}: {_flow(each)}' for key, each in value.items())}}}"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    is_plain = isinstance(value, str) and _CONVERSION.fullmatch(value)
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False)
