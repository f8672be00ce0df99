"""A draft as the text of a mapping file: it loads, and each line says how sure it is and why."""

import json
import re
from collections.abc import Iterator
from typing import Final

from logistics_batch.mapping.suggest import Draft, Guess
from logistics_batch.mapping.suggest_values import Profile
from logistics_batch.mapping.targets import Form, Targets, form_of, targets_of
from logistics_batch.model.document import Operation

NOT_FOUND: Final = "?"
"""Begins the names of columns that a draft could not find: a file without such a column is held, not sent."""

_COD: Final = re.compile(r"c\.?o\.?d\.?|cash(?: on delivery)?|y|yes|true|1", re.IGNORECASE)
_PREPAID: Final = re.compile(r"prepaid|ppd|paid|online|card|upi|n|no|false|0", re.IGNORECASE)
_GRAMS: Final = re.compile(r"[(\[]\s*(?:g|gm|gms|grams?)\s*[)\]]", re.IGNORECASE)
_KILOGRAMS: Final = re.compile(r"[(\[]\s*(?:kgs?|kilos?|kilograms?)\s*[)\]]", re.IGNORECASE)
_READ: Final = {Form.MOBILE: "mobile", Form.PINCODE: "pincode", Form.MONEY: "money", Form.QUANTITY: "integer"}


def draft_text(draft: Draft, *, file_name: str) -> str:
    """The mapping file that a draft comes to."""
    return "\n".join([*_head(draft, file_name), *_body(draft, targets_of(draft.operation)), ""])


def _head(draft: Draft, file_name: str) -> Iterator[str]:
    yield f"# A draft made from {json.dumps(file_name, ensure_ascii=False)}; nothing uses it before you save it."
    yield "# Each line says how sure it is (0 to 1) and why. Check it with `mapping lint` and `mapping preview`."
    yield f"operation: {draft.operation.value}"
    if draft.sheet or draft.fill_down:
        yield "sheet:"
    if draft.sheet:
        yield f"  name: {_quoted(draft.sheet)}"
    if draft.fill_down:
        names = ", ".join(map(_quoted, draft.fill_down))
        yield f"  fill_down: [{names}]  # blank on rows whose line is filled"


def _body(draft: Draft, targets: Targets) -> Iterator[str]:
    key = [_key(draft, group) for group in targets.natural]
    if draft.operation is not Operation.RECEIPT_READ:
        yield f"key: [{', '.join(_quoted(name) for name in dict.fromkeys(filter(None, key)))}]"
    if draft.operation.changes_order:
        yield _order_id(draft)
    fields = [*_fields(draft, targets, "fields")]
    yield "fields:" if fields else "fields: {}"
    yield from fields
    if targets.lines:
        lines = [*_fields(draft, targets, "lines")]
        yield "lines:" if lines else "lines: {}"
        yield from lines
    if draft.spare:
        yield "ignore:  # nothing was found for these: map them, keep them, or leave them here"
        yield from (f"  - {_quoted(name)}" for name in draft.spare)


def _order_id(draft: Draft) -> str:
    """Which order a change is about: by its AWB number, else by the reference that the ledger knows."""
    guess = draft.guess("fields.order_id")
    if guess is None:
        return f"order_id: {{from: {_quoted(NOT_FOUND + ' AWB')}}}  # 0.00: not found: write the column's name"
    by_awb = "awb" in guess.column.casefold() or draft.profiles[guess.column].share("AWB number") > 0
    source = "from" if by_awb else "ledger"
    return f"order_id: {{{source}: {_quoted(guess.column)}}}  # {guess.confidence:.2f}: {guess.reason}"


def _key(draft: Draft, group: tuple[str, ...]) -> str:
    """The column of one part of the natural key."""
    found = [guess.column for target in group if (guess := draft.guess(f"fields.{target}"))]
    missing = "AWB" if group[0] == "order_id" else group[0].replace("_", " ")
    wanted = group[0] in ("reference_number", "invoice_number", "order_id", "order_numbers")
    return found[0] if found else f"{NOT_FOUND} {missing}" if wanted else ""


def _fields(draft: Draft, targets: Targets, part: str) -> Iterator[str]:
    known = targets.header if part == "fields" else targets.lines
    for target in known:
        place = f"{part}.{target}"
        guess = draft.guess(place)
        if guess is not None:
            yield f"  {target}: {_source(draft, guess, target)}  # {guess.confidence:.2f}: {guess.reason}"
        elif place in targets.required or target in _either_missing(draft, targets, part):
            name = _quoted(f"{NOT_FOUND} {target.replace('_', ' ')}")
            yield f"  {target}: {{from: {name}}}  # 0.00: not found, and the service wants it: write the column's name"


def _either_missing(draft: Draft, targets: Targets, part: str) -> list[str]:
    """Of each group of which one is wanted the name or number, where none was found."""
    groups = targets.either if part == "fields" else ()
    by_number = draft.operation is Operation.LABEL_CREATE
    return [
        group[0 if by_number else -1]
        for group in groups
        if not any(draft.guess(f"fields.{target}") for target in group)
    ]


def _source(draft: Draft, guess: Guess, target: str) -> str:
    """The field in the mapping's words."""
    for together, part in ((draft.address, "delivery_address"), (draft.person, "customer_name")):
        if target == part and len(together) > 1 and guess.column in together:
            between = ', with: ", "' if part == "delivery_address" else ""
            return f"{{join: [{', '.join(map(_quoted, together))}]{between}}}"
    form, profile = form_of(target, draft.operation), draft.profiles[guess.column]
    said = [f"from: {_quoted(guess.column)}"]
    if f"{'fields' if guess.place.startswith('fields') else 'lines'}.{target}" in targets_of(draft.operation).required:
        said.append("required: true")
    if (read := _read(guess, profile, form, draft.operation)) is not None:
        said.append(f"read: {read}")
    return f"{{{', '.join(said)}}}"


def _read(guess: Guess, profile: Profile, form: Form, operation: Operation) -> str | None:
    if form in _READ:
        return _READ[form]
    if form is Form.FLAG:
        return f"{{lookup: {{{', '.join(_answers(profile))}}}}}"
    if form in (Form.DATE, Form.MOMENT) and profile.date_formats:
        return f"{{date: {_quoted(profile.date_formats[0])}}}"
    if form is Form.DECIMAL and guess.place.endswith(".weight"):
        return _unit(guess, operation)
    return None


def _unit(guess: Guess, operation: Operation) -> str | None:
    """Orders are weighed in kilograms when they are made, added items and labels in grams (API §2.2, §2.3)."""
    wanted = "g" if operation in (Operation.ORDER_ADD_ITEMS, Operation.LABEL_CREATE) else "kg"
    given = "g" if _GRAMS.search(guess.column) else "kg" if _KILOGRAMS.search(guess.column) else wanted
    return None if given == wanted else f"{{unit: {given} -> {wanted}}}"


def _answers(profile: Profile) -> list[str]:
    """What each word of payment means, as far as it is known; an unknown word stays an issue of its row."""
    words = dict.fromkeys(value.strip() for value in profile.values)
    found = {word.casefold(): f"{_quoted(word)}: \"{'true' if _COD.fullmatch(word) else 'false'}\"" for word in words
             if _COD.fullmatch(word) or _PREPAID.fullmatch(word)}  # fmt: skip
    return list(found.values()) or ['COD: "true"', 'Prepaid: "false"']


def _quoted(name: str) -> str:
    """A name as YAML takes it in any place."""
    return json.dumps(name, ensure_ascii=False)
