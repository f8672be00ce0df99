"""What speaks for each column filling each place: its name and its values; and which column is the likeliest."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from logistics_batch.mapping.spec.targets import Form, form_of, targets_of
from logistics_batch.mapping.suggest.names import LIKELY, TO, likeness, names_of_targets
from logistics_batch.mapping.suggest.table import SampleTable
from logistics_batch.mapping.suggest.values import SHAPE_OF
from logistics_batch.model.document import Operation

KEYS: Final = ("fields.reference_number", "fields.invoice_number")
ADDRESSES: Final = ("fields.delivery_address", "fields.shipping_address")
PERSON: Final = "fields.customer_name"

_WORTH_ASKING: Final = 0.45
_PART_OF_AN_ADDRESS: Final = 0.6
_RIVALS: Final = 0.04  # columns that are so equally likely are asked for
_RIVAL_KEYS: Final = 0.14
_PLAIN: Final = 0.92  # from this likeness on nothing needs to be said of a name
_PURCHASE: Final = "fields.description"  # of an ASN: the PO number, unless that is the only number there is
_CODE_OR_NAME: Final = {"site": 1.0, "supplier": 1.0, "site_name": 0.0, "supplier_name": 0.0}  # share of codes
_BY_VALUES: Final = {"fields.customer_mobile": "phone", "fields.delivery_postal_code": "pin"}
_PLACES_OF_PARTS: Final = {"state": 3, "city": 2, "area": 1, "landmark": 1}  # of an address; the rest stands first
_NO_ADDRESS: Final = ("phone", "pin", "date", "e-mail", "number")
_NO_NAME: Final = ("phone", "pin", "date", "code", "number", "e-mail")
# What the values of these look like if they are something else.
_AGAINST: Final[dict[str, tuple[str, ...]]] = {
    Form.IDENTITY: ("date", "e-mail"),
    Form.ADDRESS: _NO_ADDRESS,
    "cash_on_delivery": ("payment word",),  # yes and no, 1 and 0
    **dict.fromkeys(("customer_name", "pickup_customer_name", "return_customer_name", "supplier_name"), _NO_NAME),
}

Reason = tuple[str, ...]
"""What speaks for or against a column: a code of `text` and the values of its words."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may fill a place: a column, or several that are joined; confidence from 0 to 1, and why."""

    columns: tuple[str, ...]
    confidence: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Guess:
    """What probably fills a place (`fields.customer_mobile`).

    candidates: the likeliest first; none if nothing was found. confidence, reasons: of the first, held against the
    others. asked: a person has to say which one does, if any. added_up: an amount that differs from row to row of one
    document, which is added up; times: after being multiplied by this column.
    """

    place: str
    candidates: tuple[Candidate, ...]
    confidence: float
    reasons: tuple[Reason, ...]
    asked: bool = False
    added_up: bool = False
    times: str = ""

    @classmethod
    def of(cls, place: str, first: Candidate) -> "Guess":
        """The guess that a candidate fills a place."""
        return cls(place, (first,), first.confidence, first.reasons)

    @property
    def column(self) -> str:
        """The likeliest column, or the first one of several that are joined; "" if there is none."""
        return self.candidates[0].columns[0] if self.candidates else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, or asked about."""
        if self.asked:
            return tuple(each.columns[0] for each in self.candidates)
        return self.candidates[0].columns if self.candidates else ()


def evidence_of(table: SampleTable, operation: Operation) -> dict[str, list[Candidate]]:
    """For each place the columns that may fill it, the likeliest first. What is joined is one candidate."""
    joined = {**dict.fromkeys(ADDRESSES, _address(table)), PERSON: _first_and_last_name(table)}
    later = {column for columns in joined.values() for column in columns[1:]}
    found: dict[str, list[Candidate]] = {}
    for place, names in names_of_targets(operation).items():
        together = {columns[0]: columns for columns in (joined.get(place),) if columns}
        candidates = [
            replace(candidate, columns=together.get(column, (column,)))
            for column in table.columns
            if column not in later and (candidate := _candidate(table, column, place, names, operation)) is not None
        ]
        if candidates:
            found[place] = sorted(candidates, key=lambda each: -each.confidence)
    return found


def guesses_of(table: SampleTable, operation: Operation) -> dict[str, Guess]:
    """The best column for each place, the surest first; a column fills one place."""
    evidence = evidence_of(table, operation)
    pairs = [(place, each) for place, candidates in evidence.items() for each in candidates]
    pairs.sort(key=lambda pair: (pair[0] == _PURCHASE, -pair[1].confidence))
    found: dict[str, Guess] = {}
    taken: set[str] = set()
    for place, candidate in pairs:
        is_free = place not in found and candidate.columns[0] not in taken
        waits = place == _PURCHASE and "fields.invoice_number" not in found
        if is_free and not waits and candidate.confidence >= (_PART_OF_AN_ADDRESS if place == ADDRESSES[0] else LIKELY):
            found[place] = Guess.of(place, candidate)
            taken.add(candidate.columns[0])
    for place, candidates in evidence.items():
        spare = [each for each in candidates if each.columns[0] not in taken]
        if place in found:
            found[place] = _against_rivals(table, found[place], spare)
        elif spare and place in (*targets_of(operation).required, *KEYS):
            near = [each for each in spare if each.confidence > spare[0].confidence - _RIVAL_KEYS]
            found[place] = replace(Guess.of(place, near[0]), candidates=tuple(near), asked=True)
    return found


def missing_of(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> Iterator[Guess]:
    """A question for each place that the service demands and no column was found for."""
    targets = targets_of(operation)
    demanded = [place for place in targets.required if place.startswith("fields.") or targets.lines]
    for group in targets.either:
        if not any(f"fields.{name}" in found for name in group):
            demanded.append(f"fields.{group[0 if operation is Operation.LABEL_CREATE else -1]}")
    used = {name for guess in found.values() for name in guess.columns}
    for place in (each for each in demanded if each not in found):
        shape = _BY_VALUES.get(place, "")
        reasons: tuple[Reason, ...] = (("only_values", shape),)
        candidates = [
            Candidate((name,), 0.4, reasons)
            for name in (table.columns if shape else ())
            if name not in used and len(table.profiles[name].values) > 1 and table.profiles[name].is_mostly(shape)
        ]
        if candidates:
            yield replace(Guess.of(place, candidates[0]), candidates=tuple(candidates), asked=True)
        else:
            yield Guess(place, (), 0.0, (("not_found",),), asked=True)


def _candidate(table: SampleTable, column: str, place: str, names: str, operation: Operation) -> Candidate | None:
    """How sure it is that a column fills a place; None where it certainly does not, or nothing speaks for it."""
    target, profile, reading = place.split(".", 1)[1], table.profiles[column], table.readings[column]
    like, form = likeness(reading, names), form_of(target, operation)
    if target == "reference_number" and profile.filled and all(each.startswith("#") for each in profile.values):
        like = max(like, 0.9)
    if like < _WORTH_ASKING:
        return None
    sure, fits, is_flag = like, profile.fits(form), form in (Form.FLAG, Form.PAYMENT)
    # Words of payment that nobody knows are asked for; numbers are none.
    is_told_otherwise = fits is False and (target != "is_cod" or profile.is_mostly("number"))
    counts = profile.counts_rows and place in KEYS and not reading.meanings & {"order", "invoice"}
    if is_told_otherwise or counts or profile.is_mostly(*_AGAINST.get(target, _AGAINST.get(form, ()))):
        return None
    if target in _CODE_OR_NAME and profile.filled:  # BHIWANDI-01 is a code, Bhiwandi warehouse a name
        sure -= 0.12 if abs(profile.share("code") - _CODE_OR_NAME[target]) > 0.5 else 0.0
    sure -= 0.05 if (fits is None and form in SHAPE_OF and profile.filled) or (fits is False and is_flag) else 0.0
    sure -= 0.02 if not profile.filled else 0.0
    reasons: list[Reason] = [
        ("usual_name",) if like > _PLAIN else ("name_says", ", ".join(sorted(reading.meanings)) or "nothing")
    ]
    if fits or not profile.filled:
        reasons.append(("values_fit", SHAPE_OF[form]) if fits else ("no_values",))
    return Candidate((column,), round(sure, 2), tuple(reasons))


def _against_rivals(table: SampleTable, guess: Guess, spare: list[Candidate]) -> Guess:
    """The guess, or a question where other columns are as likely and say something else."""
    margin = _RIVAL_KEYS if guess.place in KEYS else _RIVALS
    rivals = [
        each
        for each in spare
        if guess.confidence - each.confidence < margin
        and table.profiles[each.columns[0]].filled
        and not table.cells[each.columns[0]].equals(table.cells[guess.column])
    ]
    if not rivals or guess.place in (ADDRESSES[0], PERSON):
        return guess
    asked = replace(guess, candidates=(*guess.candidates, *rivals), asked=True)
    return replace(asked, confidence=round(guess.confidence / 2, 2), reasons=(("rivals", *asked.columns),))


def _address(table: SampleTable) -> tuple[str, ...]:
    """The columns that together make the address of delivery, in the order in which it is written."""
    names = names_of_targets(Operation.ORDER_CREATE)[ADDRESSES[0]]
    found = {
        name: reading
        for name in table.columns
        if likeness(reading := table.readings[name], names) >= _PART_OF_AN_ADDRESS
        and not table.profiles[name].is_mostly(*_NO_ADDRESS)
    }
    said = {"deliver", "ship"}
    if any(each.meanings & said for each in found.values()):
        found = {name: each for name, each in found.items() if each.meanings & said or not each.meanings & TO}
    alone = [name for name, each in found.items() if not each.meanings - TO]  # ship-to may be a name as well
    written = [name for name, each in found.items() if each.meanings & {"address", "street"}]
    written = written or [name for name in found if name not in alone and found[name].meanings & {"deliver", "area"}]
    if any(found[name].digits and "street" not in found[name].meanings for name in written):
        # then a street is lines 1 and 2 once more
        found = {name: each for name, each in found.items() if "street" not in each.meanings or each.digits}
    parts = [name for name in found if name not in alone or name in written] if written else []
    return tuple(sorted(parts, key=lambda name: max(_PLACES_OF_PARTS.get(each, 0) for each in found[name].meanings)))


def _first_and_last_name(table: SampleTable) -> tuple[str, ...]:
    """The columns of whoever gets the goods, where first and last name stand apart."""
    said = {name: table.readings[name].meanings for name in table.columns}
    first, last = (
        {name: each & TO for name, each in said.items() if part in each and each <= {part, "name", *TO}}
        for part in ("first", "last")
    )
    of_the_same = [name for name in last if last[name] in first.values()]  # French and Spanish: `name` is the family's
    return (next(iter(first)), (of_the_same or [*last])[0]) if first and last else ()
