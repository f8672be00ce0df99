"""A draft as the text of a mapping file: each line says how sure it is and why, and what a person must still say.

A question is written with the mark `? ` before what it asks about; a mapping with such a mark is refused when loaded.
"""

import json
from collections.abc import Iterator
from typing import Final

from logistics_batch.mapping.questions import MARK
from logistics_batch.mapping.suggest import Draft
from logistics_batch.mapping.suggest_guesses import Guess
from logistics_batch.mapping.suggest_money import COLLECTED, paying_words
from logistics_batch.mapping.suggest_values import Profile, meaning_of_payment
from logistics_batch.mapping.targets import Form, Targets, form_of, targets_of
from logistics_batch.model.document import Operation

_READ: Final = {Form.MOBILE: "mobile", Form.PINCODE: "pincode", Form.MONEY: "money", Form.QUANTITY: "integer",
                Form.PERCENT: "percent"}  # fmt: skip
_LENGTHS: Final = ("length", "breadth", "height")
_GRAMS: Final = (Operation.ORDER_ADD_ITEMS, Operation.LABEL_CREATE)  # API §2.2, §2.3
_ONE_FOR_ALL: Final = {"fields.invoice_number": "{run: file_name}"}  # a constant would make all notices one
_DAY_OR_MONTH: Final = str.maketrans("dm", "md")


def draft_text(draft: Draft, *, file_name: str) -> str:
    """The mapping file that a draft comes to."""
    return "\n".join([*_head(draft, file_name), *_body(draft, targets_of(draft.operation)), ""])


def _head(draft: Draft, file_name: str) -> Iterator[str]:
    yield f"# A draft made from {json.dumps(file_name, ensure_ascii=False)}; nothing uses it before you save it."
    yield "# Each line says how sure it is (0 to 1) and why. Check it with `mapping lint` and `mapping preview`."
    yield f"# A `{MARK}` stands before what you have to say: take it away from the right one and delete the others."
    yield f"operation: {draft.operation.value}"
    table = draft.table
    said = []
    if draft.sheet:
        said.append(f"  name: {_quoted(draft.sheet)}")
    if table.rows > 1:
        said.append(f"  header_rows: {table.rows}")
    if any(draft.profiles[each.column].has_decimal_commas for each in draft.guesses if each.column):
        said.append('  decimal: ","')
    if table.skipped:
        rules: dict[str, list[str]] = {}
        for name, pattern in table.skipped:
            rules.setdefault(name, []).append(_quoted(pattern))
        named = ", ".join(f"{_quoted(name)}: [{', '.join(texts)}]" for name, texts in rules.items())
        said.append(f"  skip_rows_where: {{{named}}}")
    if draft.fill_down:
        names = ", ".join(map(_quoted, draft.fill_down))
        said.append(f"  fill_down: [{names}]  # blank on rows whose line is filled")
    yield from ["sheet:", *said] if said else []


def _body(draft: Draft, targets: Targets) -> Iterator[str]:
    if draft.operation is not Operation.RECEIPT_READ:
        yield f"key: [{', '.join(dict.fromkeys(_keys(draft, targets)))}]"
    if draft.operation.changes_order:
        yield _order_id(draft)
    fields = [*_fields(draft, targets, "fields")]
    yield "fields:" if fields else "fields: {}"
    yield from fields
    if draft.numbered:
        yield f"lines_from: {{columns: [{', '.join(map(_quoted, draft.numbered))}]}}  # items beside each other"
    if targets.lines:
        lines = [*_fields(draft, targets, "lines")]
        yield "lines:" if lines else "lines: {}"
        yield from lines
    if draft.why:
        yield "ignore:  # map them, keep them, or leave them here"
        yield from (f"  - {_quoted(name)}  # {reason}" for name, reason in draft.why.items())


def _order_id(draft: Draft) -> str:
    """Which order a change is about: by its AWB number, else by the reference that the ledger knows."""
    guess = draft.guess("fields.order_id")
    if guess is None or not guess.column:
        return f"order_id: {{from: {_quoted(MARK + 'AWB')}}}  # 0.00: not found: write the column's name"
    by_awb = "awb" in guess.column.casefold() or draft.profiles[guess.column].share("AWB number") > 0
    return f"order_id: {{{'from' if by_awb else 'ledger'}: {_names(guess)}}}  # {_said(guess)}"


def _keys(draft: Draft, targets: Targets) -> Iterator[str]:
    """The columns of the natural key."""
    for group in targets.natural:
        guess = next((found for target in group if (found := draft.guess(f"fields.{target}"))), None)
        if guess is not None and guess.column:
            yield from (_quoted(MARK * guess.asked + name) for name in (guess.column, *(guess.others * guess.asked)))
        elif group[0] in ("reference_number", "invoice_number", "order_id", "order_numbers"):
            yield _quoted(MARK + group[0].replace("_", " "))


def _fields(draft: Draft, targets: Targets, part: str) -> Iterator[str]:
    for target in targets.header if part == "fields" else targets.lines:
        guess = draft.guess(f"{part}.{target}")
        if guess is not None:
            yield f"  {target}: {_source(draft, guess, target)}  # {_said(guess)}"


def _said(guess: Guess) -> str:
    """How sure a guess is, why, and what is asked."""
    said = f"{guess.confidence:.2f}: {guess.reason}"
    if not guess.asked:
        return said
    if not guess.column:
        return f"ask! {said}: write the column's name, or `{_ONE_FOR_ALL.get(guess.place, '{constant: …}')}`"
    return f"ask! {said}" + ("" if guess.others else ": is it this column? If none, delete the line")


def _names(guess: Guess) -> str:
    """The column, or those between which a person has to choose."""
    if not guess.column:
        return _quoted(MARK + guess.place.split(".", 1)[1].replace("_", " "))
    if not guess.asked:
        return _quoted(guess.column)
    names = [_quoted(MARK + name) for name in (guess.column, *guess.others)]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


def _source(draft: Draft, guess: Guess, target: str) -> str:
    """The field in the mapping's words."""
    for together, parts in (
        (draft.address, ("delivery_address", "shipping_address")),
        (draft.person, ("customer_name",)),
    ):
        if target in parts and len(together) > 1 and guess.column == together[0] and not guess.asked:
            between = ', with: ", "' if target != "customer_name" else ""
            return f"{{join: [{', '.join(map(_quoted, together))}]{between}}}"
    said = [f"{'sum' if guess.added_up else 'from'}: {_names(guess)}"]
    if guess.times:
        said.append(f"times: {_quoted(guess.times)}")
    if guess.place in targets_of(draft.operation).required:
        said.append("required: true")
    if not guess.added_up and (read := _read(draft, guess, target)) is not None:  # a sum reads numbers by itself
        said.append(f"read: {read}")
    if guess.place == COLLECTED and guess.asked and (pay := draft.guess("fields.is_cod")) is not None:
        words = ", ".join(map(_quoted, paying_words(draft.table, {"fields.is_cod": pay})))
        said.append(f"when: {{{_quoted(pay.column)}: [{words}]}}")
    return f"{{{', '.join(said)}}}"


def _read(draft: Draft, guess: Guess, target: str) -> str | None:
    form = form_of(target, draft.operation)
    if not guess.column:
        return _READ.get(form)
    profile = draft.profiles[guess.column]
    if form in _READ:
        return _READ[form]
    if form in (Form.FLAG, Form.PAYMENT):
        return f"{{lookup: {{{', '.join(_answers(profile))}}}}}"
    if form in (Form.DATE, Form.MOMENT) and profile.date_formats:
        return _date(draft, profile)
    if target == "weight" or target in _LENGTHS:
        return _unit(draft, guess, target)
    return None


def _date(draft: Draft, profile: Profile) -> str:
    """The format; where these dates do not tell day from month, other columns' dates do, or a person."""
    (first, *_) = profile.date_formats or ("",)
    if not profile.is_day_first_a_guess:
        return f"{{date: {_quoted(first)}}}"
    changed = first.translate(_DAY_OR_MONTH)
    shown = [(each.date_formats or ("",))[0] for each in draft.profiles.values()
             if each.share("date") >= 0.8 and not each.is_day_first_a_guess]  # fmt: skip
    for certain in (first, changed):
        if any(each.split()[:1] == certain.split()[:1] for each in shown if each):
            return f"{{date: {_quoted(certain)}}}"
    return f"{{date: [{_quoted(MARK + first)}, {_quoted(MARK + changed)}]}}"


def _unit(draft: Draft, guess: Guess, target: str) -> str | None:
    """How a measure is converted, where its name says the unit; heavy ones without a unit are asked for."""
    unit = draft.table.readings[guess.column].unit
    if target in _LENGTHS:
        return f"{{unit: {unit} -> cm}}" if unit in ("mm", "inch") else None
    wanted = "g" if draft.operation in _GRAMS else "kg"
    if unit in ("kg", "gram"):
        given = {"gram": "g"}.get(unit, unit)
        return None if given == wanted else f"{{unit: {given} -> {wanted}}}"
    if wanted == "kg" and draft.profiles[guess.column].is_heavy:
        return f"{{unit: {_quoted(MARK + 'g -> kg')}}}"
    return None


def _answers(profile: Profile) -> list[str]:
    """What each word of payment means; one that is not known is asked for."""
    words = {value.strip().casefold(): value.strip() for value in reversed(profile.values)}
    answers = {True: '"true"', False: '"false"', None: _quoted(MARK.strip())}
    found = [f"{_quoted(word)}: {answers[meaning_of_payment(word)]}" for word in reversed(words.values())]
    return found or ['COD: "true"', 'Prepaid: "false"']


def _quoted(name: str) -> str:
    """A name as YAML takes it in any place."""
    return json.dumps(name, ensure_ascii=False)
