"""Which column fills which place: by its name and its values, the surest pairs first, and in doubt by a question."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from logistics_batch.mapping.suggest_names import LIKELY, TO, likeness_of, names_of_targets
from logistics_batch.mapping.suggest_table import Table
from logistics_batch.mapping.suggest_values import Profile, shape_of
from logistics_batch.mapping.suggest_words import Reading
from logistics_batch.mapping.targets import Form, Targets, form_of, targets_of
from logistics_batch.model.document import Operation

_WORTH_ASKING: Final = 0.45
_IDENTIFIES: Final = frozenset(
    f"fields.{name}"
    for name in ("reference_number", "invoice_number", "supplier", "supplier_name", "site", "site_name", "order_id")
)
_SURE_ENOUGH: Final = 0.7  # of what identifies: below that it is asked for
_RIVALS: Final = 0.04  # columns that are so equally likely are asked for
_RIVAL_KEYS: Final = 0.14
_KEYS: Final = ("fields.reference_number", "fields.invoice_number")
_ONCE_SURE_OF: Final = {"fields.description": "fields.invoice_number"}  # a PO number may be the only one there is
_CODE_OR_NAME: Final = {"site": 1.0, "supplier": 1.0, "site_name": 0.0, "supplier_name": 0.0}  # share of codes
_PEOPLE: Final = ("customer_name", "pickup_customer_name", "return_customer_name", "supplier_name")
_NO_NAME: Final = ("phone", "pin", "date", "code", "number", "e-mail")
_NO_IDENTITY: Final = ("date", "e-mail")
_MOST: Final = 0.8
_PLAIN: Final = 0.92  # from this likeness on nothing needs to be said of a name
_BY_VALUES: Final = {"customer_mobile": "phone", "delivery_postal_code": "pin"}
_PARTS: Final = ({"state"}, {"city"}, {"area", "landmark"})  # of an address, the last first


@dataclass(frozen=True, slots=True)
class Guess:
    """A column and the place that it probably fills (`fields.customer_mobile`, "" for none); confidence from 0 to 1.

    asked: a person has to say whether it does. others: the columns that may be meant instead. added_up: an amount
    that differs from row to row of one document, which is added up; times: after being multiplied by this column.
    """

    column: str
    place: str
    confidence: float
    reason: str
    asked: bool = False
    others: tuple[str, ...] = ()
    added_up: bool = False
    times: str = ""


def places_of(operation: Operation) -> dict[str, str]:
    """The places that an operation has, and what their columns' names speak of."""
    fields, lines = names_of_targets(operation)
    known = targets_of(operation)
    header = (*known.header, *known.reference)  # which order a change is about is no field of its body
    places = {f"fields.{name}": names for name, names in fields.items() if name in header and names}
    return places | {f"lines.{name}": names for name, names in lines.items() if name in known.lines and names}


def guesses_of(table: Table, operation: Operation, *, apart: Iterable[str] = ()) -> dict[str, Guess]:
    """The best column for each place; a column fills one place. apart: columns that are spoken for."""
    places = places_of(operation)
    spoken_for = set(apart)
    columns = [name for name in table.cells if name not in spoken_for]
    pairs = [
        guess
        for place, names in places.items()
        for column in columns
        if (guess := _guess(table, column, place, names, operation)) is not None
    ]
    pairs.sort(key=lambda each: (each.place in _ONCE_SURE_OF, -each.confidence))
    taken: dict[str, Guess] = {}
    columns_taken: set[str] = set()
    for guess in pairs:
        waits = _ONCE_SURE_OF.get(guess.place, guess.place)
        if waits not in taken and waits != guess.place:
            continue
        if guess.place not in taken and guess.column not in columns_taken and guess.confidence >= _least(guess.place):
            taken[guess.place] = guess
            columns_taken.add(guess.column)
    targets = targets_of(operation)
    for place in places:
        spare = [each for each in pairs if each.place == place and each.column not in columns_taken]
        if place in taken:
            taken[place] = _against_rivals(table, taken[place], spare)
        elif spare and place in (*targets.required, *_KEYS):
            taken[place] = _doubtful(spare)
    return taken


def missing_of(table: Table, targets: Targets, found: dict[str, Guess], spare: Sequence[str]) -> Iterable[Guess]:
    """A question for each place that the service demands and no column was found for."""
    demanded = [place for place in targets.required if place.startswith("fields.") or targets.lines]
    for group in targets.either:
        by_number = targets.operation is Operation.LABEL_CREATE
        if not any(f"fields.{name}" in found for name in group):
            demanded.append(f"fields.{group[0 if by_number else -1]}")
    for place in demanded:
        if place in found:
            continue
        target = place.split(".", 1)[1]
        shape = _BY_VALUES.get(target)
        alike = [
            name
            for name in spare
            if shape and len(table.profiles[name].values) > 1 and table.profiles[name].share(shape) >= _MOST
        ]
        if alike:
            reason = f"the name says nothing, but the values look right ({shape})"
            yield Guess(alike[0], place, 0.4, reason, asked=True, others=tuple(alike[1:]))
        else:
            yield Guess("", place, 0.0, "not found, and the service wants it", asked=True)


def address_of(table: Table) -> tuple[str, ...]:
    """The columns that together make the address of delivery, in the order in which it is written."""
    names = names_of_targets(Operation.ORDER_CREATE)[0]["delivery_address"]
    found = {
        name: reading
        for name, reading in table.readings.items()
        if name in table.cells and likeness_of(reading, names) >= 0.6 and _may_be_an_address(table.profiles[name])
    }
    if any(reading.meanings & {"deliver", "ship"} for reading in found.values()):
        found = {
            name: each for name, each in found.items() if each.meanings & {"deliver", "ship"} or not each.meanings & TO
        }
    streets = [name for name, each in found.items() if each.meanings & {"address", "street", "deliver", "area"}]
    written = [name for name in streets if found[name].meanings & {"address", "street"}]
    alone = {name for name, each in found.items() if not each.meanings - TO}  # ship-to may be a name as well
    bare = [name for name in alone if _is_written_like_an_address(table.profiles[name])]
    if not written:
        written = bare or [name for name in streets if name not in alone]
    if not written:
        return ()
    if any(found[name].digits and "street" not in found[name].meanings for name in written):
        # then a street is lines 1 and 2 once more
        found = {name: each for name, each in found.items() if "street" not in each.meanings or each.digits}
    ranks = {name: _part(reading) for name, reading in found.items() if name not in alone or name in written}
    return tuple(sorted(ranks, key=lambda name: ranks[name]))


def person_of(table: Table) -> tuple[str, ...]:
    """First and last name of whoever gets the goods, where they stand apart."""
    parts: dict[str, list[str]] = {"first": [], "last": []}
    for name, reading in table.readings.items():
        for part, columns in parts.items():
            if name in table.cells and part in reading.meanings and reading.meanings <= {part, "name", *TO}:
                columns.append(name)
    if not all(parts.values()):
        return ()
    whose = [reading_whose(table.readings[name]) for name in parts["first"]]
    last = [name for name in parts["last"] if reading_whose(table.readings[name]) in whose] or parts["last"]
    # French and Spanish say `name` for the family's
    return (parts["first"][0], last[0])


def reading_whose(reading: Reading) -> frozenset[str]:
    """Whom a name speaks of."""
    return reading.meanings & TO


def _least(place: str) -> float:
    return _SURE_ENOUGH if place in _IDENTIFIES else LIKELY - 0.06 if place == "fields.delivery_address" else LIKELY


def _guess(table: Table, column: str, place: str, names: str, operation: Operation) -> Guess | None:
    """How sure it is that a column fills a place; None where it certainly does not, or nothing speaks for it."""
    target, profile, reading = place.split(".", 1)[1], table.profiles[column], table.readings[column]
    like = likeness_of(reading, names)
    form = form_of(target, operation)
    if target == "reference_number" and profile.values and all(each.startswith("#") for each in profile.values):
        like = max(like, 0.9)
    if like < _WORTH_ASKING or not _may_be(target, profile, form):
        return None
    if profile.counts_rows and place in _KEYS and not reading.meanings & {"order", "invoice"}:
        return None
    sure, fits, shape = like, profile.fits(form), shape_of(form)
    if target in _CODE_OR_NAME and profile.values:  # BHIWANDI-01 is a code, Bhiwandi warehouse a name
        sure -= 0.12 if abs(profile.share("code") - _CODE_OR_NAME[target]) > 0.5 else 0.0
    sure -= (
        0.05
        if (fits is None and shape and profile.values) or (fits is False and form in (Form.FLAG, Form.PAYMENT))
        else 0.0
    )
    sure -= 0.02 if not profile.values else 0.0
    seen = f"; the values look right ({shape})" if fits else "; no value to look at" if not profile.values else ""
    said = "the usual name" if like > _PLAIN else f"the name says {', '.join(sorted(reading.meanings)) or 'nothing'}"
    return Guess(column, place, round(sure, 2), said + seen)


def _may_be(target: str, profile: Profile, form: Form) -> bool:
    """Whether the values do not speak against a target."""
    if not profile.values:
        return True
    if form in (Form.FLAG, Form.PAYMENT):
        return profile.fits(form) is not False or (target == "is_cod" and profile.share("number") < _MOST)
    if target == "cash_on_delivery" and profile.share("payment word") >= _MOST:
        return False  # yes and no, 1 and 0
    if profile.fits(form) is False:
        return False
    if form is Form.IDENTITY:
        return not any(profile.share(shape) >= _MOST for shape in _NO_IDENTITY)
    if target in _PEOPLE:
        return not any(profile.share(shape) >= _MOST for shape in _NO_NAME)
    return form is not Form.ADDRESS or _may_be_an_address(profile)


def _may_be_an_address(profile: Profile) -> bool:
    return not any(profile.share(shape) >= _MOST for shape in ("phone", "pin", "date", "e-mail", "number"))


def _is_written_like_an_address(profile: Profile) -> bool:
    values = profile.values
    return sum(any(char.isdigit() or char == "," for char in value) for value in values) * 2 > len(values)


def _part(reading: Reading) -> int:
    """Where in an address a part stands."""
    return next((len(_PARTS) - at for at, part in enumerate(_PARTS) if reading.meanings & part), 0)


def _against_rivals(table: Table, guess: Guess, spare: Sequence[Guess]) -> Guess:
    """The guess, or a question where other columns are as likely and say something else."""
    margin = _RIVAL_KEYS if guess.place in _KEYS else _RIVALS
    rivals = [
        each.column
        for each in spare
        if guess.confidence - each.confidence < margin
        and table.profiles[each.column].values
        and table.cells[each.column] != table.cells[guess.column]
    ]
    if not rivals or guess.place in ("fields.delivery_address", "fields.customer_name"):
        return guess
    named = " or ".join(f"“{name}”" for name in (guess.column, *rivals))
    return replace(
        guess,
        asked=True,
        others=tuple(rivals),
        confidence=round(guess.confidence / 2, 2),
        reason=f"{named} may be meant",
    )


def _doubtful(spare: Sequence[Guess]) -> Guess:
    """A question for a place that no column is likely enough for, the likelier ones first."""
    first, *others = [each for each in spare if each.confidence > spare[0].confidence - _RIVAL_KEYS]
    return replace(first, asked=True, others=tuple(each.column for each in others))
