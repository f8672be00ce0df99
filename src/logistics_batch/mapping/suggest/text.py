"""A draft as the text of a mapping file: each line says how sure it is and why, and what a person must still say.

A question is written with the mark `? ` before what it asks about; a mapping with such a mark is refused when loaded.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from logistics_batch import messages
from logistics_batch.mapping.lint.names import MARK
from logistics_batch.mapping.spec.targets import Form, form_of, targets_of
from logistics_batch.mapping.spec.words import PAYMENT_WORDS, is_known_pattern
from logistics_batch.mapping.suggest.draft import COLLECTED, PAID, Draft
from logistics_batch.mapping.suggest.evidence import ADDRESSES, KEYS, Guess, Reason
from logistics_batch.mapping.suggest.values import Profile, meaning_of_payment
from logistics_batch.model.document import Operation

_LENGTHS: Final = ("length", "breadth", "height")
_GRAMS: Final = (Operation.ORDER_ADD_ITEMS, Operation.LABEL_CREATE)  # API §2.2, §2.3
_ONE_FOR_ALL: Final = {KEYS[1]: "{run: file_name}"}  # a constant would make all notices one


def draft_text(draft: Draft, *, file_name: str) -> str:
    """The mapping file that a draft comes to."""
    return "\n".join([*_head(draft, file_name), *_body(draft), ""])


def draft_json(draft: Draft, *, file_name: str) -> dict[str, Any]:
    """What a draft proposes for each place, with its candidates, and the mapping file, for a program."""
    columns = [{"column": each.column, **asdict(each), "reason": _said(each.reasons)} for each in draft.guesses]
    columns += [{"column": name, "place": "", "reason": _said([why])} for name, why in draft.unused.items()]
    text = draft_text(draft, file_name=file_name)
    return {"operation": draft.operation, "columns": columns, "spare": [*draft.unused], "text": text}


def _head(draft: Draft, file_name: str) -> Iterator[str]:
    yield f"# A draft made from {_quoted(file_name)}; nothing uses it before you save it."
    yield "# Each line says how sure it is (0 to 1) and why. Check it with `mapping lint` and `mapping preview`."
    yield f"# A `{MARK}` stands before what you have to say: take it away from the right one and delete the others."
    yield f"operation: {draft.operation.value}"
    table = draft.table
    sheet = []
    if table.sheet:
        sheet.append(f"  name: {_quoted(table.sheet)}")
    if table.rows > 1:
        sheet.append(f"  header_rows: {table.rows}")
    if any(draft.profiles[each.column].has_decimal_commas for each in draft.guesses if each.column):
        sheet.append('  decimal: ","')
    keys = {*_keys(draft)}
    rules: dict[str, list[str]] = {}
    for name, pattern in table.skipped:
        if name not in keys or not is_known_pattern(pattern):
            rules.setdefault(name, []).append(pattern)
    if rules:
        named = ", ".join(f"{_quoted(name)}: {_listed(patterns)}" for name, patterns in rules.items())
        sheet.append(f"  skip_rows_where: {{{named}}}")
    if draft.fill_down:
        sheet.append(f"  fill_down: {_listed(draft.fill_down)}  # blank on rows whose line is filled")
    yield from ["sheet:", *sheet] if sheet else []


def _body(draft: Draft) -> Iterator[str]:
    targets = targets_of(draft.operation)
    if draft.operation is not Operation.RECEIPT_READ:
        yield f"key: {_listed([*dict.fromkeys(_keys(draft))])}"
    if draft.operation.changes_order:
        yield _order_id(draft)
    parts = {"fields": targets.header, "lines": targets.lines}
    for part in parts if targets.lines else ("fields",):
        if part == "lines" and draft.numbered:
            yield f"lines_from: {{columns: {_listed(draft.numbered)}}}  # items beside each other"
        guesses = [guess for target in parts[part] if (guess := draft.guess(f"{part}.{target}"))]
        yield f"{part}:" if guesses else f"{part}: {{}}"
        for guess in guesses:
            yield f"  {guess.place.split('.', 1)[1]}: {_source(draft, guess)}  # {_why(guess)}"
    if draft.unused:
        yield "ignore:  # map them, keep them, or leave them here"
        yield from (f"  - {_quoted(name)}  # {_said([why])}" for name, why in draft.unused.items())


def _keys(draft: Draft) -> Iterator[str]:
    """The columns of the natural key."""
    for group in targets_of(draft.operation).natural:
        guess = next((found for target in group if (found := draft.guess(f"fields.{target}"))), None)
        if guess is not None and guess.column:
            yield from _marked(guess) if guess.asked else [guess.column]
        elif group[0] in ("reference_number", "invoice_number", "order_id", "order_numbers"):
            yield MARK + group[0].replace("_", " ")


def _order_id(draft: Draft) -> str:
    """Which order a change is about: by its AWB number, else by the reference that the ledger knows."""
    guess = draft.guess("fields.order_id")
    if guess is None or not guess.column:
        return f"order_id: {{from: {_quoted(MARK + 'AWB')}}}  # 0.00: not found: write the column's name"
    by_awb = "awb" in guess.column.casefold() or draft.profiles[guess.column].share("AWB number") > 0
    return f"order_id: {{{'from' if by_awb else 'ledger'}: {_names(guess)}}}  # {_why(guess)}"


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
    """The columns between which a person has to choose."""
    return [MARK + name for name in guess.columns or [guess.place.split(".", 1)[1].replace("_", " ")]]


def _names(guess: Guess) -> str:
    """The column, or those that are asked about."""
    if not guess.asked:
        return _quoted(guess.column)
    first, *others = _marked(guess)
    return _listed([first, *others]) if others else _quoted(first)


def _source(draft: Draft, guess: Guess) -> str:
    """The field in the mapping's words."""
    if len(guess.columns) > 1 and not guess.asked:
        between = ', with: ", "' if guess.place in ADDRESSES else ""
        return f"{{join: {_listed(guess.columns)}{between}}}"
    said = [f"{'sum' if guess.added_up else 'from'}: {_names(guess)}"]
    if guess.times:
        said.append(f"times: {_quoted(guess.times)}")
    if not guess.added_up and (read := _read(draft, guess)) is not None:  # a sum reads numbers by itself
        said.append(f"read: {read}")
    if guess.place == COLLECTED and guess.asked and (pay := draft.guess(PAID)) is not None:
        said.append(f"when: {{{_quoted(pay.column)}: {_listed(draft.table.collecting_words(pay.column))}}}")
    return f"{{{', '.join(said)}}}"


def _read(draft: Draft, guess: Guess) -> str | None:
    """How a cell is read, where its target does not say it anyway."""
    if not guess.column:
        return None
    target, profile = guess.place.split(".", 1)[1], draft.profiles[guess.column]
    form = form_of(target, draft.operation)
    if form in (Form.FLAG, Form.PAYMENT):
        return _answers(profile, form)
    if form in (Form.DATE, Form.MOMENT) and profile.date_format:
        return _date(draft, profile)
    if target == "weight" or target in _LENGTHS:
        return _unit(draft, guess, target)
    return None


def _date(draft: Draft, profile: Profile) -> str:
    """The format; where these dates do not tell day from month, other columns' dates do, or a person."""
    first, other = profile.date_format, profile.other_date_format
    if other:
        shown = [each.date_format.split()[:1] for each in draft.profiles.values()
                 if each.is_mostly("date") and each.date_format and not each.other_date_format]  # fmt: skip
        first = next((each for each in (first, other) if each.split()[:1] in shown), "")
    return (
        f"{{date: {_quoted(first)}}}" if first else f"{{date: {_listed([MARK + profile.date_format, MARK + other])}}}"
    )


def _unit(draft: Draft, guess: Guess, target: str) -> str | None:
    """How a measure is converted, where its name says the unit; heavy ones without a unit are asked for."""
    unit = draft.table.readings[guess.column].unit
    if target in _LENGTHS:
        return f"{{unit: {unit} -> cm}}" if unit in ("mm", "inch") else None
    wanted = "g" if draft.operation in _GRAMS else "kg"
    if unit in ("kg", "gram"):
        given = {"gram": "g"}.get(unit, unit)
        return None if given == wanted else f"{{unit: {given} -> {wanted}}}"
    is_doubted = wanted == "kg" and draft.profiles[guess.column].is_heavy
    return f"{{unit: {_quoted(MARK + 'g -> kg')}}}" if is_doubted else None


def _answers(profile: Profile, form: Form) -> str | None:
    """What each word of payment means, unless all are known without it; one that is not known is asked for."""
    words = [
        value.strip() for value in {value.strip().casefold(): value for value in reversed(profile.values)}.values()
    ]
    known = {word.casefold() for word in PAYMENT_WORDS} if form is Form.PAYMENT else {"true", "false"}
    if all(word.casefold() in known for word in words):
        return None
    answers = {True: '"true"', False: '"false"', None: _quoted(MARK.strip())}
    found = [f"{_quoted(word)}: {answers[meaning_of_payment(word)]}" for word in reversed(words)]
    return f"{{lookup: {{{', '.join(found)}}}}}"


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, names))}]"


def _quoted(name: str) -> str:
    """A name as YAML takes it in any place."""
    return json.dumps(name, ensure_ascii=False)
