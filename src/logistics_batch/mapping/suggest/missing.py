"""What no column was found for though the service demands it: a question, with what may be meant."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from logistics_batch.mapping.naming import LIKELY, TO, likeness, names_of_targets
from logistics_batch.mapping.spec.targets import FieldForm, form_of, targets_of
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.by_values import HARDLY_KNOWN, by_values, collected_by_values, may_be_fact
from logistics_batch.mapping.suggest.doubts import (
    beside_address,
    counted_boxes,
    held_by_one,
    looks,
    ranges_of_boxes,
    unit_named,
)
from logistics_batch.mapping.suggest.evidence import of_fact, unlike
from logistics_batch.mapping.suggest.guess import Candidate, Guess, Reason
from logistics_batch.mapping.suggest.profile import numbers_of, profile_of
from logistics_batch.mapping.suggest.table import SampleTable
from logistics_batch.model.document import Operation

_BY_VALUES: Final = {
    places.PHONE: ("phone", "name and phone"),
    **dict.fromkeys(places.ADDRESSES, ("name and address",)),
}
_TOGETHER: Final[dict[str, Reason]] = {
    "name and phone": ("name_and_phone",),
    "name and address": ("name_and_address",),
}  # in cells that fill another place as well
_OF_PERSONS: Final = frozenset(["desc", "name", "company", "number", *TO])
_OF_COUNTS: Final = frozenset(["qty", "box", "each", "order", "dispatch", "item", "loose"])


def missing_of(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> Iterator[Guess]:
    """A question for each place that the service demands and no column was found for."""
    targets = targets_of(operation)
    demanded = [place for place in targets.required if place.startswith("fields.") or targets.lines]
    for group in targets.either:
        if not any(f"fields.{name}" in found for name in group):
            demanded.append(f"fields.{group[0 if operation is Operation.LABEL_CREATE else -1]}")
    if operation is Operation.ORDER_CREATE:  # the service demands neither, but whoever ordered twelve does
        demanded.append(places.QUANTITIES[0])
        demanded.append(places.PAID)
    if operation is Operation.ASN_CREATE:  # nothing tells then what came
        demanded.append(places.GOODS[1])
    used = {name for guess in found.values() for name in guess.columns if ("may_name_party",) not in guess.reasons}
    if persons := [] if places.PERSON in found else _persons(table, found, used, operation):
        who = tuple(Candidate((name,), 0.4, (("only_values", "name of a person"),)) for name in persons)
        yield Guess.among(places.PERSON, who)
    whole = dict(found)  # with the address and the key, whose columns are no way to pay and no goods
    for place in (each for each in demanded if each not in found):
        free = [name for name in table.columns if name not in used]
        address = beside_address(table, whole) if place == places.PAID else {}
        parts = {name for each in places.ADDRESSES if each in address for name in address[each].columns}
        key = next((whole[each].column for each in places.KEYS if each in whole and place in places.GOODS), "")
        parts |= {key}
        candidates = _candidates(table, place, operation, found, [name for name in free if name not in parts])
        candidates = candidates or _candidates(table, place, operation, found, free)
        if key:  # of one order the goods differ, and where it goes does not
            candidates = [
                each for each in candidates if each.columns and table.differs_within(each.columns[0], key)
            ] or candidates
        if candidates and place in (*places.ADDRESSES, *places.KEYS):
            whole[place] = Guess.of(place, candidates[0])
        if place in places.QUANTITIES and (packed := _packed(table, place, free)):
            yield packed
        elif place == places.PAID and (paid := _told_by_amount(table, found.get(places.COLLECTED))):
            yield Guess.among(place, [paid])
        elif candidates:
            yield Guess.among(place, candidates)
            pay = next(iter(candidates[0].columns), "") if place == places.PAID else ""
            if pay and places.COLLECTED not in found and (amounts := collected_by_values(table, pay, free)):
                yield Guess.among(places.COLLECTED, amounts)
        else:
            unpaid = "no_payment" if places.COLLECTED in found else "not_said_who_pays"
            told: Reason = ({places.QUANTITIES[0]: "no_quantity", places.PAID: unpaid}.get(place, "not_found"),)
            if place in places.QUANTITIES and (per_box := held_by_one(table, free)):
                told = ("boxes_not_counted", per_box)
            yield Guess(place, (), 0.0, (told,), asked=True)
    yield from _told_by_values(table, found, operation)


def _candidates(
    table: SampleTable, place: str, operation: Operation, found: dict[str, Guess], free: Sequence[str]
) -> list[Candidate]:
    """What may fill a place of which no name speaks plainly, the likeliest first."""
    targets, shapes = targets_of(operation), _BY_VALUES.get(place, ())
    names = names_of_targets(operation).get(place, "")
    read = {guess.fact.address for guess in found.values() if guess.fact}
    persons_column = found[places.PERSON].columns[:1] if places.PERSON in found else ()
    return (
        [
            Candidate((name,), 0.4, (_TOGETHER.get(shape, ("only_values", shape)),))
            for shape in shapes
            for name in ([*free, *persons_column] if shape in _TOGETHER else free)
            if table.profiles[name].is_mostly(shape) and (len(table.profiles[name].values) > 1 or shape in _TOGETHER)
        ]
        or [
            Candidate((), 0.4, (("name_and_phone",),), fact)
            for fact in table.above
            if place == places.PHONE and looks(table, fact, "name and phone")
        ]
        or [
            Candidate(
                (),
                0.4,
                (("payment_and_amount",) if told.has_payment_with_amount else ("says_who_pays", fact.value),),
                fact,
            )
            for fact, told in ((each, profile_of((each.value,))) for each in table.above)
            if place == places.PAID and fact.address not in read and told.mentions_payment
        ]
        or [
            replace(candidate, fact=fact, reasons=(("below", fact.label),))
            for fact in table.below  # Goods despatched against Invoice No.
            if (candidate := of_fact(replace(fact, label=" ".join(fact.label.split()[-2:])), place, operation))
        ]
        or [
            Candidate((name,), 0.3, (unlike(table.profiles[name], form_of(place.split(".")[1], operation)),))
            for name in free
            if place in (*targets.required, places.QUANTITIES[0]) and likeness(table.readings[name], names) >= LIKELY
        ]
        or [
            Candidate((name,), 0.4, (("unit_named", word),) if word else (("loose",),))
            for name in free
            if place in places.QUANTITIES
            and table.profiles[name].fits(FieldForm.QUANTITY)
            and not (table.numbers_in_order(name) or table.ends_a_range(name))
            and table.readings[name].meanings <= _OF_COUNTS
            and ((word := unit_named(name)) or "loose" in table.readings[name].meanings)
        ]
        or by_values(table, place, free, operation)
        or [
            Candidate((), HARDLY_KNOWN, (("above", fact.label),), fact)
            for fact in table.above
            if fact.address not in read and may_be_fact(place, fact)
        ]
    )


def _packed(table: SampleTable, place: str, free: Sequence[str]) -> Guess | None:
    """The quantity by what one box holds; None if no column says that."""
    per_box = held_by_one(table, free)
    counts, ranges = counted_boxes(table), ranges_of_boxes(table)
    if not per_box or not (counts or ranges):
        return None
    box = (counts or ranges)[0]
    loose = [("loose_beside", name) for name in free if "loose" in table.readings[name].meanings]
    guess = Guess.among(place, [Candidate((per_box,), 0.4, (("in_one_box", box), *loose))])
    return replace(guess, times=box) if counts else replace(guess, cartons=box)


def _told_by_values(table: SampleTable, found: dict[str, Guess], operation: Operation) -> Iterator[Guess]:
    """Questions about the day of delivery and the PIN, where the values of a column that nobody knows alone tell it."""
    used = {name for guess in found.values() for name in guess.columns}
    named = names_of_targets(operation)
    wanted = [place for place in (*places.DAYS[:2], places.PIN) if place in named and place not in found]
    for place in wanted:
        if alike := by_values(table, place, [name for name in table.columns if name not in used], operation):
            yield Guess.among(place, alike)


def _told_by_amount(table: SampleTable, collected: Guess | None) -> Candidate | None:
    """The column of what is collected, where it is blank or nought for some orders and not for others."""
    column = collected.column if collected is not None and not collected.asked else ""
    if not column:
        return None
    filled = (numbers_of(table.cells[column]) > 0).fill_null(value=False)
    return Candidate((column,), 0.4, (("by_amount", column),)) if filled.any() and not filled.all() else None


def _persons(table: SampleTable, found: dict[str, Guess], used: set[str], operation: Operation) -> list[str]:
    """The columns that may name whoever gets the goods, by their values, where the name says nothing against it."""
    if operation not in (Operation.ORDER_CREATE, Operation.LABEL_CREATE):
        return []
    named = [name for name in table.columns if name not in used and table.readings[name].meanings <= _OF_PERSONS
             and table.profiles[name].filled and table.profiles[name].is_mostly("name of a person")]  # fmt: skip
    goods = next((found[place].column for place in places.GOODS if place in found), "")
    if goods and table.cells[goods].is_duplicated().any():  # what is the same for the same goods describes these
        named = [name for name in named if name == goods or table.differs_within(name, goods)]
    phones = [name for name, each in table.profiles.items() if len(named) > 1 and each.is_mostly("phone")
              and each.filled == 1]  # fmt: skip
    # Of one phone's orders the goods differ, and whose they are does not.
    return [name for name in named if not any(table.differs_within(name, phone) for phone in phones)] or named
