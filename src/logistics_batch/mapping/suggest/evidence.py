"""What speaks for a column, several that are joined, or a value outside the table, in each place of a mapping."""

import re
from dataclasses import replace
from typing import Final

from logistics_batch.mapping.naming import TO, likeness, names_of_targets, reading_of
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.by_values import looks_like_street
from logistics_batch.mapping.suggest.doubts import RIVAL_KEYS
from logistics_batch.mapping.suggest.guess import SURE, Candidate, Reason
from logistics_batch.mapping.suggest.head import Fact
from logistics_batch.mapping.suggest.profile import A_FEW, SHAPE_OF, Profile, profile_of
from logistics_batch.mapping.suggest.table import SampleTable
from logistics_batch.model.document import Operation

PART_OF_AN_ADDRESS: Final = 0.6
_PLACES_OF_PARTS: Final = {"state": 3, "city": 2, "area": 1, "landmark": 1}  # of an address; the rest stands first
_NO_ADDRESS: Final = ("phone", "pin", "date", "e-mail", "number")
WORTH_ASKING: Final = 0.45
_PLAIN: Final = 0.92  # from this likeness on nothing needs to be said of a name
_CODE_OR_NAME: Final = {"site": 1.0, "supplier": 1.0, "site_name": 0.0, "supplier_name": 0.0}  # share of codes
_UNLIKE: Final = 0.5
_CODE_FOR_NAME: Final = 0.12  # what it costs
_UNREAD: Final = 0.1
_NO_NAME: Final = ("phone", "pin", "date", "of a day", "code", "number", "e-mail", "payment word")
# What the values of these look like if they are something else.
_AGAINST: Final[dict[str, tuple[str, ...]]] = {
    FieldForm.IDENTITY: ("date", "e-mail", "one word", "payment word"),
    FieldForm.ADDRESS: _NO_ADDRESS,
    "cash_on_delivery": ("payment word",),  # yes and no, 1 and 0
    **dict.fromkeys(("site", "site_name", "supplier"), ("date", "e-mail", "phone")),
    **dict.fromkeys(("customer_name", "pickup_customer_name", "return_customer_name", "supplier_name"), _NO_NAME),
}
# What is told by words, but by none of these.
_NAMED: Final = (FieldForm.TEXT, FieldForm.IDENTITY, FieldForm.ADDRESS, FieldForm.GOODS)


def address_of(table: SampleTable) -> tuple[str, ...]:
    """The columns that together make the address of delivery, in the order in which it is written."""
    names = names_of_targets(Operation.ORDER_CREATE)[places.ADDRESSES[0]]
    found = {
        name: reading
        for name in table.columns
        if likeness(reading := table.readings[name], names) >= PART_OF_AN_ADDRESS
        and (is_house_number(table, name) or not table.profiles[name].is_mostly(*_NO_ADDRESS))
        and table.profiles[name].share("done") < A_FEW  # a State that says Shipped
    }
    if not any({"address", "street"} & each.meanings and not is_house_number(table, name)
               for name, each in found.items()):  # fmt: skip
        found = {name: each for name, each in found.items() if not is_house_number(table, name)}
    said = {"deliver", "ship"}
    if any(each.meanings & said for each in found.values()):
        found = {name: each for name, each in found.items() if each.meanings & said or not each.meanings & TO}
    alone = [name for name, each in found.items() if not each.meanings - TO]  # ship-to may be a name as well
    written = [name for name, each in found.items() if each.meanings & {"address", "street"}]
    written = written or [name for name in found if name not in alone and found[name].meanings & {"deliver", "area"}]
    written = written or [name for name in alone if found[name].digits]  # Ship to 1, Ship to 2
    if any(found[name].digits and "1" in name and "street" not in found[name].meanings for name in written):
        # then a street is lines 1 and 2 once more
        found = {name: each for name, each in found.items() if "street" not in each.meanings or each.digits}
    parts = [name for name in found if name not in alone or name in written] if written else []
    return tuple(sorted(parts, key=lambda name: max(_PLACES_OF_PARTS.get(each, 0) for each in found[name].meanings)))


def is_house_number(table: SampleTable, name: str) -> bool:
    """Whether a column holds the number of a house, which belongs to the street beside it."""
    said, profile = table.readings[name].meanings, table.profiles[name]
    is_number = profile.is_mostly("number", "code") and not profile.is_mostly("phone", "pin", "date")
    return is_number and said - TO == {"street", "number"}


def first_and_last_name(table: SampleTable) -> tuple[str, ...]:
    """The columns of whoever gets the goods, where first and last name stand apart."""
    said = {name: table.readings[name].meanings for name in table.columns}
    first, last = (
        {name: each & TO for name, each in said.items() if part in each and each <= {part, "name", *TO}}
        for part in ("first", "last")
    )
    of_the_same = [name for name in last if last[name] in first.values()]  # French and Spanish: `name` is the family's
    return (next(iter(first)), (of_the_same or [*last])[0]) if first and last else ()


def evidence_of(table: SampleTable, operation: Operation) -> dict[str, list[Candidate]]:
    """For each place the columns that may fill it, the likeliest first. What is joined is one candidate."""
    joined = {**dict.fromkeys(places.ADDRESSES, address_of(table)), places.PERSON: first_and_last_name(table)}
    leads = {place: next((name for name in columns if not is_house_number(table, name)), columns[0])
             for place, columns in joined.items() if columns}  # fmt: skip
    later = {column for columns in joined.values() for column in columns} - {*leads.values()}
    found: dict[str, list[Candidate]] = {}
    for place, names in names_of_targets(operation).items():
        together = {leads[place]: joined[place]} if place in leads else {}
        candidates = [
            replace(candidate, columns=together.get(column, (column,)))
            for column in table.columns
            if column not in later and (candidate := _candidate(table, column, place, names, operation)) is not None
        ]
        if candidates:
            found[place] = sorted(candidates, key=lambda each: -each.confidence)
    return found


def _candidate(table: SampleTable, column: str, place: str, names: str, operation: Operation) -> Candidate | None:
    """How sure it is that a column fills a place; None where it certainly does not, or nothing speaks for it."""
    target, profile, reading = place.split(".", 1)[1], table.profiles[column], table.readings[column]
    like, form = likeness(reading, names), form_of(target, operation)
    if target == "reference_number" and profile.filled and all(each.startswith("#") for each in profile.values):
        like = max(like, 0.9)
    if like < WORTH_ASKING or (form in _NAMED and profile.share("done") >= A_FEW):
        return None
    if place in places.QUANTITIES and profile.filled and not any(value.strip("0.,") for value in profile.values):
        return None  # how many were packed or sent till now
    if target in places.LENGTHS and not any(
        each.meanings & {*places.LENGTHS} - reading.meanings for each in table.readings.values()
    ):
        return None  # L alone is a size
    sure, fits, is_flag = like, profile.fits(form), form in (FieldForm.FLAG, FieldForm.PAYMENT)
    # Words of payment that nobody knows are asked for; numbers are none.
    is_told_otherwise = fits is False and (target != "is_cod" or profile.is_mostly("number"))
    if like >= SURE and place.startswith("fields.") and profile.is_unread(form):
        # How it is written is asked, not whether it is it; a date that can be read comes first.
        return Candidate((column,), max(SURE, round(like - _UNREAD, 2)), (("days_unread", *profile.samples),))
    counts = profile.counts_rows and place in places.KEYS and not reading.meanings & {"order", "invoice"}
    if is_told_otherwise or counts or profile.is_mostly(*_AGAINST.get(target, _AGAINST.get(form, ()))):
        return None
    if target in _CODE_OR_NAME and profile.filled:  # BHIWANDI-01 is a code, Bhiwandi warehouse a name
        sure -= _CODE_FOR_NAME if abs(profile.share("code") - _CODE_OR_NAME[target]) > _UNLIKE else 0.0
    if target == "awb_number" and not profile.share("AWB number"):  # another carrier's, unless the service gave it
        sure -= _CODE_FOR_NAME + RIVAL_KEYS
    is_of_both = profile.is_mostly("name and address", "name and phone")  # which is asked
    if place == places.PERSON and reading.meanings <= TO and not is_of_both and looks_like_street(table, column):
        return None  # Ship to: where, not whom
    if place == places.PERSON and reading.digits and "name" not in reading.meanings:  # Ship to 1: a line of an address
        sure -= RIVAL_KEYS
    sure -= 0.05 if (fits is None and form in SHAPE_OF and profile.filled) or (fits is False and is_flag) else 0.0
    sure -= 0.02 if not profile.filled else 0.0
    reasons: list[Reason] = [
        ("usual_name",) if like > _PLAIN else ("name_says", ", ".join(sorted(reading.meanings)) or "nothing")
    ]
    if fits or not profile.filled:
        reasons.append(("values_fit", SHAPE_OF[form]) if fits else ("no_values",))
    return Candidate((column,), round(sure, 2), tuple(reasons))


def of_fact(fact: Fact, place: str, operation: Operation) -> Candidate | None:
    """How sure it is that a fact above the table fills a place; None where its value or its label is something else."""
    names = names_of_targets(operation).get(place)
    reading, profile, target = reading_of(fact.label), profile_of((fact.value,)), place.split(".", 1)[1]
    if names is None or (like := likeness(reading, names)) < WORTH_ASKING:
        return None
    form = form_of(target, operation)
    if like >= SURE and profile.is_unread(form):
        return Candidate((), SURE, (("days_unread", fact.value),), fact)
    if profile.fits(form) is False or profile.is_mostly(*_AGAINST.get(target, _AGAINST.get(form, ()))):
        return None
    if place in places.KEYS and not re.search(r"\d", fact.value):
        return None
    if place in places.ADDRESSES and not re.search(r"\d|,|\s\S+\s", fact.value):  # a town alone
        like -= RIVAL_KEYS * 2
    if target in _CODE_OR_NAME and abs(profile.share("code") - _CODE_OR_NAME[target]) > _UNLIKE:
        like -= _CODE_FOR_NAME
    return Candidate((), round(like, 2), (("above", fact.label),), fact)


def unlike(profile: Profile, form: FieldForm) -> Reason:
    """Why a column whose name is right does not fill a place."""
    shape = SHAPE_OF.get(form, "text")
    return (f"no_{shape}",) if profile.is_none_of(form) else ("values_differ", shape)
