"""A draft mapping for an unknown file: for each column the likeliest target, with a confidence and a reason.

Nobody applies a draft by itself: it is text for a person, who reads the reasons and mends what is wrong.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from logistics_batch.mapping.suggest_names import LIKELY, likeness, names_of_targets, words_of
from logistics_batch.mapping.suggest_values import Profile, profile_of, shape_of
from logistics_batch.mapping.targets import Form, form_of, targets_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

SEARCHED_ROWS: Final = 30
_SAMPLED_ROWS: Final = 300
_BY_VALUES_ALONE: Final = {"customer_mobile": "phone", "delivery_postal_code": "pin", "customer_email": "e-mail"}
_KEYS: Final = ("fields.reference_number", "fields.invoice_number")
_OTHERS: Final = frozenset(["bill", "return", "pickup", "sender", "supplier"])
_OTHER_WORDS: Final = re.compile(r"(?i)\b(?:billing|bill|return|pickup|sender)\b")
# Never one that cancels or deletes: a person says so.
_GUESSED: Final = (Operation.ORDER_CREATE, Operation.ASN_CREATE, Operation.RECEIPT_READ, Operation.ORDER_ADD_ITEMS)
_CODE_OR_NAME: Final = {"site": 1.0, "supplier": 1.0, "site_name": 0.0, "supplier_name": 0.0}  # share of codes
_FOR_SHOW: Final = re.compile(r"(?i)example|sample|instruction|definition|how to")
_BARE: Final = frozenset(["id", "no", "number", "code", "ref"])  # what is numbered, they do not say
_DOUBTFUL: Final = 0.3
_BLANK_BELOW: Final = 0.05  # share of blank cells beside a filled line from which a column is filled down


@dataclass(frozen=True, slots=True)
class Guess:
    """A column and the place that it probably fills (`fields.customer_mobile`); confidence from 0 to 1."""

    column: str
    place: str
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known about an unknown sheet.

    guesses: the columns that fill something, by place. address, person: columns that together make the address or the
    name. spare: columns that nothing was found for. profiles: by column. fill_down: columns that are filled on the
    first row of a document only.
    """

    operation: Operation
    sheet: str
    header_row: int
    guesses: tuple[Guess, ...]
    address: tuple[str, ...]
    person: tuple[str, ...]
    spare: tuple[str, ...]
    profiles: dict[str, Profile]
    fill_down: tuple[str, ...]

    def guess(self, place: str) -> Guess | None:
        """The guess for a place."""
        return next((each for each in self.guesses if each.place == place), None)


def draft_of(sheets: Sequence[Sheet], *, operation: Operation | None = None) -> Draft | None:
    """Look at a file; None if no row of it looks like a header.

    operation: what the rows shall become; None: orders, ASNs, receipts or added items, whichever explains most columns.
    """
    known = [operation] if operation else list(_GUESSED)
    least = 1 if operation else 2
    drafts = [draft for each in known for sheet in sheets if (draft := _draft(sheet, each, least=least)) is not None]
    return max(drafts, key=_worth, default=None)


def _worth(draft: Draft) -> float:
    """How much a draft explains: what is demanded counts most."""
    demanded = {"fields.reference_number", "fields.customer_mobile", "fields.invoice_number", "fields.supplier_name"}
    sure = sum(each.confidence * (3 if each.place in demanded else 1) for each in draft.guesses)
    sure -= 2 if _FOR_SHOW.search(draft.sheet) else 0
    if draft.operation is Operation.RECEIPT_READ:
        return sure - (0 if _speaks_of_receipt(draft) else 2)
    if draft.operation is Operation.ORDER_ADD_ITEMS:
        return sure if draft.guess("lines.item_id") and _by_awb(draft) else -1.0
    if draft.operation is Operation.ASN_CREATE:
        known = ("fields.invoice_number", "fields.supplier_name", "fields.supplier", "fields.site", "fields.site_name")
        return sure - (0 if any(draft.guess(place) for place in known) else 3)
    to_somebody = draft.guess("fields.customer_mobile") or draft.guess("fields.delivery_address")
    return sure - (3 if draft.operation is Operation.ORDER_CREATE and not to_somebody else 0)


def _by_awb(draft: Draft) -> bool:
    order = draft.guess("fields.order_id")
    return order is not None and draft.profiles[order.column].share("AWB number") > 0


def _speaks_of_receipt(draft: Draft) -> bool:
    return any(words_of(each.column) & {"received", "grn", "receipt", "accepted"} for each in draft.guesses)


def _draft(sheet: Sheet, operation: Operation, *, least: int) -> Draft | None:
    header_row, texts = _header(sheet, operation, least=least)
    if not header_row:
        return None
    body = sheet.frame.filter(sheet.frame["row"] > header_row).head(_SAMPLED_ROWS)
    names = [text.strip() for text in texts]
    profiles = {
        name: profile_of(body[str(number)].to_list())
        for number, name in enumerate(names, 1)
        if name and names.count(name) == 1
    }
    address, person = _parts_of_address(profiles), _parts_of_name(profiles)
    together = set(address[1:]) | set(person[1:])
    guesses = _assigned({name: each for name, each in profiles.items() if name not in together}, operation)
    used = {each.column for each in guesses} | together
    return Draft(
        operation=operation,
        sheet=sheet.name,
        header_row=header_row,
        guesses=guesses,
        address=address,
        person=person,
        spare=tuple(name for name in profiles if name not in used),
        profiles=profiles,
        fill_down=_fill_down(guesses, profiles, address),
    )


def _header(sheet: Sheet, operation: Operation, *, least: int) -> tuple[int, list[str]]:
    """The row in which most cells are like names of targets; 0 if none has at least so many."""
    # A sheet of orders has the usual columns of orders, also where the operation wants but one of them.
    usual = (*names_of_targets(operation), *names_of_targets(Operation.ORDER_CREATE))
    known_names = tuple(dict.fromkeys(names for targets in usual for names in targets.values()))
    best: tuple[float, int, list[str]] = (0.0, 0, [])
    for row, *cells in sheet.frame.head(SEARCHED_ROWS).iter_rows():
        texts = [cell or "" for cell in cells]
        words = [text for text in texts if text.strip() and not any(char.isdigit() for char in text)]
        likely = [max((likeness(text, names)[0], names) for names in known_names) for text in words]
        known = len({names for sure, names in likely if sure >= LIKELY})
        if known >= least and known > best[0]:
            best = (known, int(row), texts)
    return best[1], best[2]


def _parts_of_address(profiles: dict[str, Profile]) -> tuple[str, ...]:
    """The columns that make one address: lines 1 and 2, city and state of delivery."""
    wanted = {"address", "city", "state", "province", "landmark", "locality", "area", "line"}
    own = [name for name in profiles if words_of(name) & wanted and not _is_of_another(name)]
    lines = [name for name in own if "address" in words_of(name) and "pin" not in words_of(name)]
    named = [
        name for name in own if name not in lines and words_of(name) & {"city", "state", "province", "landmark", "area"}
    ]
    lines = [name for name in lines if not words_of(name) & {"city", "state", "country", "email"}] + [
        name for name in lines if words_of(name) & {"city", "state"}
    ]
    numbered = any(re.search(r"\b(?:address|line) ?\d", name.casefold()) for name in lines)
    if numbered:  # then a street is lines 1 and 2 once more
        lines = [name for name in lines if "street" not in name.casefold()]
    return tuple(dict.fromkeys([*lines, *named])) if lines else ()


def _parts_of_name(profiles: dict[str, Profile]) -> tuple[str, ...]:
    """First and last name."""
    own = [name for name in profiles if words_of(name) & {"first", "last"} and not _is_of_another(name)]
    named = [name for name in own if "name" in words_of(name)]
    return tuple(sorted(named, key=lambda name: "last" in words_of(name))) if len(named) == 2 else ()


def _is_of_another(name: str) -> bool:
    return bool(words_of(name) & _OTHERS)


def _assigned(profiles: dict[str, Profile], operation: Operation) -> tuple[Guess, ...]:
    """The best column for each place, the surest pair first; a column fills one place."""
    fields, lines = names_of_targets(operation)
    known = targets_of(operation)
    header = (*known.header, *known.reference)  # which order a change is about is no field of its body
    places = {f"fields.{name}": names for name, names in fields.items() if name in header}
    places |= {f"lines.{name}": names for name, names in lines.items() if name in known.lines}
    pairs = [
        guess
        for place, names in places.items()
        for column, profile in profiles.items()
        if (guess := _guess(column, profile, place, names, operation)) is not None
    ]
    taken: dict[str, Guess] = {}
    for guess in sorted(pairs, key=lambda each: -each.confidence):
        if guess.place not in taken and guess.column not in {each.column for each in taken.values()}:
            taken[guess.place] = guess
    return tuple(taken[place] for place in places if place in taken)


def _guess(column: str, profile: Profile, place: str, names: str, operation: Operation) -> Guess | None:
    """How sure it is that a column fills a place; None where it certainly does not, or nothing speaks for it."""
    target = place.split(".", 1)[1]
    form = form_of(target, operation)
    fits, (like, name) = profile.fits(form), likeness(column, names)
    shape = shape_of(form)
    if _is_of_another(column) and not words_of(target.replace("_", " ")) & _OTHERS:
        like, name = likeness(_OTHER_WORDS.sub(" ", column.replace("_", " ")), names)
        like *= 0.75
    if fits is False and form is not Form.FLAG:
        return None
    if column.strip().casefold() in _BARE:
        like *= 0.7
    if target in _CODE_OR_NAME and profile.values:  # BHIWANDI-01 is a code, Bhiwandi warehouse a name
        like *= 0.8 if abs(profile.share("code") - _CODE_OR_NAME[target]) > 0.5 else 1.0
    if like < LIKELY:
        alone = _BY_VALUES_ALONE.get(target)
        if alone and profile.share(alone) >= 0.9 and len(profile.values) >= 3 and not _is_of_another(column):
            return Guess(column, place, 0.4, f"the name says nothing, but the values look right ({alone})")
        return None
    position = names.split("|").index(name)
    sure = like - 0.02 * position - (0.1 if fits is None and shape else 0.0) - (0.25 if fits is False else 0.0)
    seen = f"; the values look right ({shape})" if fits else "; no value to look at" if not profile.values else ""
    words = "the usual name" if like > 0.95 else f"the name is like “{name}”"
    doubt = _doubt(column, profile, target, operation)
    return Guess(column, place, round(0.95 * sure - (_DOUBTFUL if doubt else 0), 2), words + (doubt or seen))


def _doubt(column: str, profile: Profile, target: str, operation: Operation) -> str:
    """What the values leave open although they look right, "" if nothing."""
    form = form_of(target, operation)
    if form in (Form.DATE, Form.MOMENT) and profile.is_day_first_a_guess:
        return "; whether day or month comes first cannot be told from these values"
    in_kilograms = operation is Operation.ORDER_CREATE and not re.search(r"[(\[]", column)
    if target == "weight" and in_kilograms and profile.is_heavy:
        return "; the service wants kilograms, and these are many: grams are read with {unit: g -> kg}"
    return ""


def _fill_down(guesses: Sequence[Guess], profiles: dict[str, Profile], address: Sequence[str]) -> tuple[str, ...]:
    """Columns of the document that are filled less often than those of the lines: blank below the first row."""
    lines = [profiles[each.column].filled for each in guesses if each.place in ("lines.item_name", "lines.sku_name")]
    if not lines:
        return ()
    header = [each.column for each in guesses if each.place.startswith("fields.")]
    named = list(dict.fromkeys([*header, *address]))
    blank = [name for name in named if profiles[name].values and profiles[name].filled < lines[0] - _BLANK_BELOW]
    key = next(
        (each.column for each in guesses if each.place in ("fields.reference_number", "fields.invoice_number")), ""
    )
    return tuple(blank) if key in blank or len(blank) * 2 > len(header) else ()
