"""What speaks against a guess: other columns, other values, documents. It becomes a question then."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import polars as pl

from logistics_batch.mapping.fields.values.numbers import cartons
from logistics_batch.mapping.naming import TO, likeness, names_of_targets, reading_of
from logistics_batch.mapping.spec.targets import FieldForm, form_of, targets_of
from logistics_batch.mapping.spec.words import PIECES
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.by_values import HARDLY_KNOWN, PARTICULARS, is_of_few_words, looks_like_street
from logistics_batch.mapping.suggest.guess import SURE, Candidate, Guess, Reason
from logistics_batch.mapping.suggest.head import Fact
from logistics_batch.mapping.suggest.profile import SHAPE_OF, holds_several, joins_numbers, numbers_of, profile_of
from logistics_batch.mapping.suggest.table import SampleTable
from logistics_batch.model.document import Operation

RIVAL_KEYS: Final = 0.14
_RIVALS: Final = 0.04  # columns that are so equally likely are asked for
_RIVAL_COUNTS: Final = 0.1  # a word that nobody knows tells nothing: packed, actual
_WHOLE_ADDRESS: Final = frozenset(["address", "street", *TO])  # a name that speaks of less names a part of it
_NO_ADDRESS: Final = frozenset(
    ["bill", "invoice", "pickup", "return", "supplier", "mode", "flag", "phone", "pin", "city", "state", "country",
     "name", "email", "landmark", "lat", "long"]
)  # fmt: skip
_PARTS_OF_AN_ADDRESS: Final = frozenset(["street", "number", "area", "landmark", "line", "address", *TO])
_TOWNS: Final = frozenset(["city", "state", "pin", "site"])
_UNITS: Final = frozenset(
    ["dz", "doz", "dozen", "dutzend", "box", "boxes", "carton", "cartons", "ctn", "ctns", "karton", "case", "cases",
     "pack", "packs", "pkt", "packet", "set", "sets", "pair", "pairs", "paar", "bag", "bags", "bundle", "roll", "kg"]
)  # fmt: skip
_MEASURES: Final = _UNITS | frozenset(
    ["sqft", "sft", "sqm", "ft", "feet", "mtr", "meter", "metre", "gm", "gram", "ltr", "litre", "liter", "ml", "ton"]
)
_PACKS: Final = _UNITS - {"kg"}
_OF_SO_MANY: Final = re.compile(r"\s{1,3}(?:of|x)\s{0,3}\d{1,6}$")  # Set of 6
_IN_NAMES: Final = re.compile(r"[^\W\d_]+|\b0{2,3}\b")  # Qty (000)
_THOUSANDS: Final = frozenset(["00", "000", "hundred", "thousand", "lakh", "gross"])
_BEHIND_A_NAME: Final = re.compile(r"(?<!\d)(\d{1,4})\W{0,3}(?:[,;|\n]|$)")  # how many of it: Lamp - 2, Bulb - 1
_PER: Final = re.compile(r"(?:/|\bper)\s*([a-z]+)")
_SHIPPED_TO: Final = frozenset(["ship", "deliver"])
_COUNTED: Final = (FieldForm.QUANTITY, FieldForm.COUNT)
_OF_LINES: Final = ("weight", "volume", "length", "breadth", "height")
_ONE_AN_ORDER: Final = (places.PHONE, places.PERSON, places.PIN)
_TOLD_OTHERWISE: Final = (*places.KEYS, *_ONE_AN_ORDER, *places.ADDRESSES, places.COLLECTED)
_HELD_BY_ONE: Final = frozenset(["size_of_case", "qty", "each", "item", "number", "total"])
_NOT_SHIPPED: Final = frozenset(["lacking", "return", "picked"])
_PAID_BEFORE: Final = frozenset(["advance"])
_OF_PARTS: Final = frozenset(["qty", "amount", "pay", "received", "dispatch"])
_HARDLY_ANYTHING: Final = 0.05  # of the largest amount: a column with less than that counts something else
_PARTIES: Final = frozenset([places.PERSON, "fields.supplier_name", "fields.supplier"])
_MISTAKES: Final = 0.34  # of orders, that a sample may have in these; the key is doubted where they have more


def against_rivals(table: SampleTable, guess: Guess, spare: list[Candidate]) -> Guess:
    """The guess, or a question where other columns are as likely and say something else; an empty one says nothing."""
    is_of_many = guess.place in (*places.KEYS, *places.DAYS)
    margin = RIVAL_KEYS if is_of_many else _RIVAL_COUNTS if guess.place in places.QUANTITIES else _RIVALS
    spare = [each for each in spare if table.profiles[each.columns[0]].filled]
    least = guess.confidence - margin
    near = [each for each in spare if each.confidence > least]
    if near and not table.profiles[guess.column].filled:
        guess, spare = Guess.of(guess.place, near[0]), [each for each in spare if each != near[0]]
    is_shipped = bool(table.readings[guess.column].meanings & _SHIPPED_TO) and guess.place not in places.DAYS
    rivals = [
        each
        for each in spare
        if bool(table.readings[each.columns[0]].meanings & _SHIPPED_TO) >= is_shipped
        and (each.confidence > least or _competes(table, guess, each.columns[0]))
        and not table.cells[each.columns[0]].equals(table.cells[guess.column])
        and not (guess.column in table.numbered and each.columns[0] not in table.numbered)
    ]
    if not rivals or len(guess.columns) > 1:
        return guess
    asked = replace(guess, candidates=(*guess.candidates, *rivals), asked=True)
    return replace(asked, confidence=round(guess.confidence / 2, 2), reasons=(("rivals", *asked.columns),))


def _competes(table: SampleTable, guess: Guess, name: str) -> bool:
    """Whether a column may be meant though another is likelier by its name: the invoice's number before the order's,
    as the sheet may be a list of invoices; beside the buyer's name that of whoever it is shipped to; any of two counts
    of boxes.
    """
    names, reading = table.names, table.readings[name]
    if guess.place == places.PERSON:
        is_name = not reading.digits and table.profiles[name].is_mostly("name of a person")
        return is_name and bool(reading.meanings & _SHIPPED_TO - table.readings[guess.column].meanings)
    if guess.place == places.BOXES:  # Box qty may be what one box holds
        return name in counted_boxes(table)
    is_earlier = name in names and guess.column in names and names.index(name) < names.index(guess.column)
    return guess.place == places.KEYS[0] and is_earlier and "invoice" in reading.meanings


def whole_address(table: SampleTable, guess: Guess, spare: list[Candidate]) -> Guess:
    """The guess for an address, or a question where its columns are but a part of one, or another one is there."""
    said = {name: table.readings[name].meanings for name in table.columns}
    own = [name for name in guess.columns if "address" in said[name] and not table.readings[name].digits]
    whose = {said[name] & TO for name in own}
    others = [
        name
        for name in table.columns
        if name not in guess.columns and "address" in said[name] and not said[name] & _NO_ADDRESS
        and table.profiles[name].filled and not table.profiles[name].is_mostly("one word")
    ]  # fmt: skip
    if len(whose) > 1 or others:
        each = [*(own if len(whose) > 1 else guess.columns[:1]), *others]
        rivals = tuple(Candidate((name,), guess.confidence / 2, guess.reasons) for name in each)
        return replace(
            guess, candidates=rivals, confidence=guess.confidence / 2, reasons=(("rivals", *each),), asked=True
        )
    all_said = {each for name in guess.columns for each in said[name]}
    if all_said & _WHOLE_ADDRESS and not all(table.profiles[name].is_mostly("one word") for name in guess.columns):
        return guess
    parts = (*guess.candidates, *spare) if len(guess.columns) == 1 else guess.candidates
    return replace(guess, candidates=parts, reasons=(*guess.reasons, ("part_of_address",)), asked=True)


def by_document(table: SampleTable, found: dict[str, Guess], operation: Operation) -> dict[str, Guess]:
    """What differs within a document is its lines' or a question; where a person's number does, the key is doubted."""
    found = dict(found)
    key = next((found[place] for place in places.KEYS if place in found and found[place].column), None)
    measured = [place for place in (places.BOXES, places.COLLECTED, *(f"fields.{target}" for target in _OF_LINES))
                if place in found and not found[place].asked and (key or place != places.COLLECTED)]  # fmt: skip
    for place in measured:
        if key and found[place].fact:
            found[place] = _asked(found[place], ("for_all_orders",))
        elif not key and not found[place].fact and table.cells.height > 1:
            found[place] = replace(_asked(found[place], ("of_which_rows",)), added_up=place == places.BOXES)
    if key is None or operation is Operation.RECEIPT_READ:  # each row of receipts is known by itself
        return found
    for target in _OF_LINES:
        header, line = f"fields.{target}", f"lines.{target}"
        is_free = header in found and not found[header].fact and target in targets_of(operation).lines
        if is_free and line not in found and table.differs_within(found[header].column, key.column):
            guess = found.pop(header)
            found[line] = replace(guess, place=line, asked=key.asked, reasons=(*guess.reasons, ("differs_within",)))
    for guess in [found[place] for place in _ONE_AN_ORDER if place in found and not found[place].asked]:
        if guess.column and table.differs_within(guess.column, key.column, share=_MISTAKES):
            reasons = (*key.reasons, ("key_doubted", guess.column))
            found[key.place] = replace(key, asked=True, confidence=round(key.confidence / 2, 2), reasons=reasons)
    for place, guess in found.items():
        is_once = place.startswith("fields.") and place not in _TOLD_OTHERWISE
        form = form_of(place.split(".", 1)[1], operation)
        share = 0.0 if form is FieldForm.IDENTITY else _MISTAKES  # a number is no mistake in spelling
        if is_once and len(guess.columns) == 1 and table.differs_within(guess.column, key.column, share=share):
            found[place] = replace(_asked(guess, ("differs_within",)), added_up=place == places.BOXES)
    return found


def doubted(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> dict[str, Guess]:
    """The guesses, those that are not sure as questions, without numbers on cartons: they are added up to nothing."""
    found, counted = dict(found), found.get(places.BOXES)
    if counted and counted.added_up and counted.column and table.numbers_in_order(counted.column):
        del found[places.BOXES]
    for place, reason in _doubts(table, operation, found):
        if place in found and not found[place].asked:
            found[place] = _asked(found[place], reason)
    boxes = _boxes(table, found)
    for place in places.QUANTITIES:
        if place in found and found[place].column and boxes:
            found[place] = replace(_asked(found[place], ("per_box", boxes)), times=boxes)
        elif place in found and found[place].column and not found[place].asked:
            found[place] = _of_one_box(table, found, found[place])
    return {place: replace(each, asked=each.asked or each.confidence < SURE) for place, each in found.items()}


def looks(table: SampleTable, source: Fact | str, shape: str) -> bool:
    """Whether a column or a fact outside the table holds such values, as names with a phone behind each."""
    profile = profile_of((source.value,)) if isinstance(source, Fact) else table.profiles[source]
    return profile.filled > 0 and profile.is_mostly(shape)


def is_bare_name(table: SampleTable, found: dict[str, Guess]) -> bool:
    """Whether a column is called but a name, and nothing of a person stands beside it: it may be the goods' name."""
    guess = found.get(places.PERSON)
    beside = any(place in found and found[place].column for place in (places.PHONE, places.PIN, *places.ADDRESSES))
    return guess is not None and not beside and table.readings[guess.column].meanings == {"name"}


def _doubts(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> Iterator[tuple[str, Reason]]:
    said = {place: table.readings[each.column].meanings for place, each in found.items() if each.column}
    if said.get(places.PERSON, frozenset()) & _SHIPPED_TO and said.get(places.PHONE, frozenset()) & TO - _SHIPPED_TO:
        yield places.PHONE, ("of_the_buyer",)
    yield from ((place, ("ranges",)) for place, guess in found.items()
                if place == places.PACKAGE and guess.column in ranges_of_boxes(table))  # fmt: skip
    address = next((found[place] for place in places.ADDRESSES if place in found), None)
    lines = [name for name in (address.columns if address else ()) if not table.readings[name].meanings - _SHIPPED_TO]
    if any(table.readings[name].digits for name in lines):  # Ship to 1 may be a name
        yield from (
            (place, ("of_the_buyer",))
            for place in (places.PERSON, places.PHONE)
            if said.get(place, TO) & TO - _SHIPPED_TO
        )
    if address and address.asked and len(address.candidates) > 1 and address.reasons[0][0] == "rivals":
        yield places.PIN, ("of_which_address", *address.columns)
    quantity = next((found[place].column for place in places.QUANTITIES if place in said), "")
    goods = next((found[place].column for place in places.GOODS if place in said), "")
    for size in (name for name in table.columns if "size" in table.readings[name].meanings):
        if goods and table.differs_within(size, goods):
            yield from ((place, ("differs_in", size)) for place in places.GOODS)
    free = [name for name in table.columns if "free" in table.readings[name].meanings and name != quantity]
    if free and any(
        value.strip("0.") and value[:1].isdigit() for name in free for value in table.profiles[name].values
    ):
        yield from ((place, ("free_beside", free[0])) for place in places.QUANTITIES)
    used = {name for guess in found.values() for name in guess.columns}
    for whole in (each for each in (*places.QUANTITIES, places.COLLECTED) if each in said):
        if parts := _parts(table, found[whole].column, used, is_money=whole == places.COLLECTED):
            yield whole, ("parts", *parts)
    if goods and _is_packed(table, goods, quantity):
        yield from ((place, ("packed", goods)) for place in places.GOODS)
    if places.PAID in said and table.profiles[found[places.PAID].column].has_payment_with_amount:
        yield places.PAID, ("payment_and_amount",)
    unit = next((name for name in table.columns if says_units(table, name)), "")
    if unit:
        packs = [each for each in table.profiles[unit].words if each.casefold().strip(". ") not in PIECES]
        yield from ((place, ("unit_beside", unit, *packs[:3])) for place in places.QUANTITIES)
    if quantity and (word := unit_named(quantity)):
        yield from ((place, ("unit_named", word)) for place in places.QUANTITIES)
    day = found.get(places.EXPECTED)
    if day and day.column and "due" in re.findall(r"[a-z]+", day.column.casefold()) and not said[day.place] & TO:
        yield day.place, ("of_payment",)
    yield from _doubts_of_names(table, operation, found)
    for place in (each for each in said if each.split(".", 1)[1] in _OF_LINES):
        if per := [each for each in _PER.findall(found[place].column.casefold()) if each in {*_PACKS, *PIECES}]:
            yield place, ("measure_per", *per)
    amounts = (*places.PRICES, places.LINE_TOTAL, places.COLLECTED, "lines.maximum_retail_price", "lines.discount")
    yield from ((place, ("foreign",)) for place in amounts if place in said and table.is_foreign(found[place].column))
    several = bool(quantity) and not {*numbers_of(table.cells[quantity])} <= {1.0, None}
    for place in (place for place in places.PRICES if place in said):
        words = [
            each for each in table.profiles[found[place].column].suffixes if each.casefold().strip("/") not in PIECES
        ]
        per = [each for each in _PER.findall(found[place].column.casefold()) if each in _MEASURES]
        words += [each for each in per if each in _PACKS or each not in quantity.casefold()]  # Rate/kg beside Qty (kg)
        yield from [(place, ("price_per", *words))] * bool(words)
        price = found[place].column  # `item-price` is that of one in some shops' exports, of the line in others'
        if several and said[place] == {"item", "price"}:
            shown = [name for name in table.columns if name not in (quantity, price)]
            if not any(table.is_product(total, quantity, price) for total in shown):
                yield place, ("of_one_or_line", quantity)
    counts = [name for name in table.columns if "qty" in table.readings[name].meanings]
    for place, count in ((place, count) for place in places.PRICES for count in counts):
        if place in said and goods and table.grows_with(found[place].column, count, goods):
            yield place, ("of_the_line", count)


def _is_packed(table: SampleTable, goods: str, quantity: str) -> bool:
    """Whether cells hold items with their quantities: Lamp x 2, or Lamp (2) | Bulb (1) where the quantity says 3."""
    counts = [[*map(int, _BEHIND_A_NAME.findall(cell))] for cell in table.cells[goods]]
    sums = pl.Series([sum(each) for each in counts], dtype=pl.Float64)
    is_sum = bool(quantity) and (numbers_of(table.cells[quantity]).fill_null(0) == sums).all()
    return table.profiles[goods].is_mostly("packed") or (is_sum and any(len(each) > 1 for each in counts))


def _doubts_of_names(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> Iterator[tuple[str, Reason]]:
    """What speaks against names of people and of goods."""
    for place, fact in ((place, guess.fact) for place, guess in found.items() if guess.fact):
        is_name = form_of(place.split(".", 1)[1], operation) in (FieldForm.IDENTITY, FieldForm.TEXT)
        if is_name and holds_several(fact.value):
            yield place, ("several_in_one",)
    for key in (each for each in places.KEYS if each in found and found[each].column):
        if any(map(joins_numbers, table.profiles[found[key].column].values)):
            yield key, ("several_in_one",)
    person = found.get(places.PERSON)
    if person and person.candidates and looks(table, person.fact or person.column, "name and phone"):
        yield places.PERSON, ("name_and_phone",)
    if person and person.column and "phone" in reading_of(person.column).meanings:
        yield places.PERSON, ("contact",)
    for who in (each for each in found if each.startswith("fields.") and each.endswith("_name")):
        if (source := found[who].fact or found[who].column) and looks(table, source, "name and address"):
            yield who, ("name_and_address",)
    for place in (each for each in (places.GOODS[0], "lines.item_desc") if each in found and not _PARTIES & {*found}):
        name, is_of_order = found[place].column, place == places.GOODS[0]  # who gets the goods, or of whom they come
        looks_so = looks(table, name, "name of a person") if is_of_order else is_of_few_words(table, name)
        if looks_so and table.readings[name].meanings == PARTICULARS:
            yield place, ("may_name_party",)


def _parts(table: SampleTable, whole: str, used: set[str], *, is_money: bool) -> list[str]:
    """The unused columns that may say of which part another's numbers are: picked, damaged, paid in advance.

    Their names say so, or nobody knows these and the numbers are nowhere more and somewhere less. Where a third column
    is the sum of both, the part is taken off already.
    """
    numbers = {name: numbers_of(table.cells[name]).fill_null(0) for name in table.columns}
    named, found = _PAID_BEFORE if is_money else _NOT_SHIPPED, list[str]()
    counted, is_total = numbers[whole] > 0, "total" in table.readings[whole].meanings  # of sizes S, M, L
    least = max(1.0, _HARDLY_ANYTHING * float(numbers[whole].max() or 0)) if is_money else 1.0  # type: ignore[arg-type]
    for name in (each for each in table.columns if each not in (*used, *table.nameless, whole)):
        said, profile = table.readings[name].meanings, table.profiles[name]
        part, rest = numbers[name].filter(counted), (numbers[whole] - numbers[name]).filter(counted)
        if not profile.filled or profile.counts_rows or not profile.is_mostly("amount", "whole number"):
            continue
        is_named = bool(said & named) and said <= named | _OF_PARTS and bool((part > 0).any() and (rest != 0).any())
        may_be = (
            not said - _SHIPPED_TO - {"dispatch"}
            and not is_total
            and (part > least).any()
            and (rest > 0).any()
            and (rest >= 0).all()
            and part.n_unique() > 1
        )
        sums = (each for other, each in numbers.items() if other != whole)
        if (is_named or may_be) and not any((each.filter(counted) == rest + part * 2).all() for each in sums):
            found.append(name)
    return found


def says_units(table: SampleTable, name: str) -> bool:
    """Whether a column says what a quantity counts, and not only pieces: Doz, Pcs, Box."""
    said = table.readings[name].meanings
    words = {_OF_SO_MANY.sub("", each.casefold()).strip(". ") for each in table.profiles[name].words}
    is_unit = are_units(words) if not said or said <= {"each", "box"} else "uom" in said
    return is_unit and name not in table.nameless and all(word.isalpha() for word in words) and not words <= {*PIECES}


def are_units(words: Iterable[str]) -> bool:
    """Whether words say what a quantity counts, each of them, and there is one."""
    plain = {each.casefold().strip(". ") for each in words}
    return bool(plain) and plain <= {*PIECES, *_UNITS}


def unit_named(name: str) -> str:
    """The word in a quantity's name that says that one is not one piece; "" if there is none.

    >>> [unit_named(name) for name in ("Qty (Doz)", "Quantity in kg", "Qty (000)", "Cases", "Total Pcs", "Qty")]
    ['doz', 'kg', '000', 'cases', '', '']
    """
    known, words = _MEASURES | _THOUSANDS, _IN_NAMES.findall(name.casefold())
    if len(words) == 1 and reading_of(name).meanings == {"qty"}:  # Bags may be what is sold
        return ""
    return next((word for word in words if {word, word.removesuffix("s")} & known), "")


def _boxes(table: SampleTable, found: dict[str, Guess]) -> str:
    """The column of boxes by which a quantity has to be multiplied, as amounts show; "" if there is none."""
    quantity = next((found[place].column for place in places.QUANTITIES if place in found), "")
    price = next((found[place].column for place in places.PRICES if place in found), "")
    boxes = [name for name in counted_boxes(table) if name != quantity]
    if not quantity or not price or not boxes:
        return ""
    amounts = [
        name for name in table.columns if table.profiles[name].is_mostly("amount") and name not in (quantity, price)
    ]
    if any(table.is_product(total, quantity, price) for total in amounts):
        return ""
    return next((box for box in boxes for total in amounts if table.is_product(total, box, quantity, price)), "")


def _of_one_box(table: SampleTable, found: dict[str, Guess], guess: Guess) -> Guess:
    """A quantity; as a question where boxes stand beside it, and nothing shows whether it counts what all hold."""
    parcels = found.get(places.BOXES)  # of an order, that hold all of its lines
    is_of_all = parcels and not parcels.asked and not held_by_one(table, table.columns)
    taken = {guess.column, parcels.column if parcels and is_of_all else ""}
    boxes = [name for name in counted_boxes(table) if name not in taken]
    counts = [name for name in boxes if "number" not in table.readings[name].meanings]  # Carton No. 7
    several = [name for name in counts if (numbers_of(table.cells[name]) > 1).any()]
    ranges = ranges_of_boxes(table)
    # A total shows that numbers are added up, and not that what stands beside them counts nothing more.
    is_added_up = not held_by_one(table, table.columns) and table.comes_to_its_total(guess.column)
    if is_added_up or "total" in table.readings[guess.column].meanings or not (several or ranges):
        return guess
    counted = replace(table, cells=table.cells.with_columns(cartons(pl.col(name)).alias(name) for name in ranges))
    price = next((found[place].column for place in places.PRICES if place in found), "")
    others = [name for name in table.columns if name not in (guess.column, price, *several, *ranges)]
    is_whole = any(counted.is_product(guess.column, each, box) for each in others for box in (*several, *ranges))
    if is_whole or (price and any(table.is_product(total, guess.column, price) for total in others)):
        return guess
    verb, box = ("times", several[0]) if several else ("cartons", ranges[0])
    return _asked(guess, ("of_one_box_or_all", box, f"`{verb}: {box}`"))


def held_by_one(table: SampleTable, names: Iterable[str]) -> str:
    """The first of some columns that says how many pieces one box holds; "" if none does."""
    said = {name: table.readings[name].meanings for name in names}
    return next((name for name, each in said.items() if "size_of_case" in each and each <= _HELD_BY_ONE), "")


def ranges_of_boxes(table: SampleTable) -> list[str]:
    """The columns that hold numbers of boxes, some of them ranges: 1-5, 6; by their values, too: each begins behind the
    one above.
    """
    named = [name for name in table.columns if table.profiles[name].filled and _may_number_boxes(table, name)]
    found = table.cells.select(
        (cartons(pl.col(name)).cast(pl.Int64, strict=False) > 1).sum().alias(name) for name in named
    )
    return [name for name in found.columns if found[name].item() and not table.profiles[name].is_mostly("whole number")]


def _may_number_boxes(table: SampleTable, name: str) -> bool:
    reading = table.readings[name]
    if "box" in reading.meanings:
        return reading.meanings <= {"box", "number", "qty"}
    first = table.cells[name].str.extract(r"^(\d{1,6})\b").cast(pl.Int64, strict=False)
    begins = first.drop_nulls().diff().drop_nulls()
    is_row = len(begins) > 1 and bool((begins > 0).all()) and first.count() * 2 > len(first)
    return is_row and bool(reading.unknown) and reading.meanings <= {"number"}


def counted_boxes(table: SampleTable) -> list[str]:
    """The columns that say how many boxes; the number of the first box or of the last one is none."""
    said = {name: table.readings[name].meanings for name in table.columns if table.profiles[name].fits(FieldForm.COUNT)}
    named = [name for name, each in said.items() if "box" in each and each <= {"box", "number", "qty"}]
    counts = [name for name in named if table.counts_a_range(name)]
    return counts or [name for name in named if not table.ends_a_range(name)]


def _asked(guess: Guess, reason: Reason) -> Guess:
    """A guess that is doubted, as a question."""
    return replace(guess, asked=True, confidence=round(guess.confidence / 2, 2), reasons=(*guess.reasons, reason))


def put_aside(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> dict[str, Guess]:
    """The guesses; a count is a question where another column is called so as well and its values are none."""
    found, used = dict(found), {name for guess in found.values() for name in (*guess.columns, guess.times)}
    free = [name for name in table.columns if name not in used and table.profiles[name].filled]
    for place, guess in found.items():
        names = names_of_targets(operation).get(place)
        if form_of(place.split(".", 1)[1], operation) not in _COUNTED or guess.asked or not guess.column or not names:
            continue
        least = max(SURE, likeness(table.readings[guess.column], names) - RIVAL_KEYS)
        aside = [name for name in free if table.profiles[name].fits(FieldForm.COUNT) is False
                 and likeness(table.readings[name], names) >= least]  # fmt: skip
        if aside:
            rivals = (Candidate((name,), 0.3, (("values_differ", SHAPE_OF[FieldForm.COUNT]),)) for name in aside)
            found[place] = replace(_asked(guess, ("put_aside", *aside)), candidates=(*guess.candidates, *rivals))
    return found


def ids_or_count(found: dict[str, Guess]) -> dict[str, Guess]:
    """The guesses with ids of packages or their count: an order has one of them, the ids where these are sure."""
    if places.PACKAGE not in found or places.BOXES not in found:
        return found
    left = places.PACKAGE if found[places.PACKAGE].asked and not found[places.BOXES].asked else places.BOXES
    return {place: guess for place, guess in found.items() if place != left}


def beside_address(table: SampleTable, found: dict[str, Guess]) -> dict[str, Guess]:
    """The guesses; an address is a question where columns beside its own may be parts of it, which would be lost."""
    known = [
        guess
        for guess in found.values()
        if (len(guess.candidates) == 1 if guess.place in places.GOODS else guess.confidence > HARDLY_KNOWN)
        and not (guess.asked and guess.column and table.readings[guess.column].meanings == {"site"})  # Location
    ]
    found, used = dict(found), {name for guess in known for name in (*guess.columns, guess.times)}
    names = list(table.columns)
    for place in places.ADDRESSES:
        guess = found.get(place)
        if guess is None or not guess.column or (guess.asked and len(guess.candidates) > 1):
            continue
        taken = {names.index(name) for name in guess.columns if name in names}
        has_lines = any(table.readings[name].digits and "1" in name for name in guess.columns)  # which are the street
        taken |= {at for at, name in enumerate(names) if name not in used and _is_town_with_pin(table, name)}
        for first in sorted(taken):
            for step in (-1, 1):
                at = first + step
                while 0 <= at < len(names) and (
                    (is_pin := looks(table, names[at], "pin"))  # between the street and the town
                    or (names[at] not in used and _may_be_part(table, names[at], has_lines=has_lines))
                ):
                    taken |= set() if is_pin else {at}
                    at += step
        if len(taken) > len(guess.columns):
            whole = replace(guess.candidates[0], columns=tuple(names[at] for at in sorted(taken)))
            more = [name for name in whole.columns if name not in guess.columns]
            found[place] = replace(_asked(guess, ("beside_address", *more)), candidates=(whole,))
    return found


def _is_town_with_pin(table: SampleTable, name: str) -> bool:
    """Whether a column holds a town and its PIN together, wherever it stands: City-State-Pin."""
    profile, said = table.profiles[name], table.readings[name].meanings
    is_named = {"pin"} < said <= _TOWNS and not table.readings[name].unknown
    return is_named and profile.filled > 0 and not profile.is_mostly("pin")


def _may_be_part(table: SampleTable, name: str, *, has_lines: bool) -> bool:
    """Whether a column may be a part of the address beside it: nobody knows its name, or it is that of a part."""
    profile, reading = table.profiles[name], table.readings[name]
    is_street = "street" in reading.meanings and "number" not in reading.meanings
    if not profile.filled or profile.counts_rows or name in table.nameless or (is_street and has_lines):
        return False
    if reading.meanings and (reading.meanings <= TO or reading.meanings - TO == {"pin"}):
        return False
    if reading.meanings == {"mode"}:  # Via is a street, too
        return looks_like_street(table, name)
    towns = frozenset[str]() if reading.unknown else _TOWNS  # Place of Supply
    if reading.meanings and reading.meanings <= _PARTS_OF_AN_ADDRESS | towns | {"each"}:  # Unit 4B
        return not profile.is_mostly("phone", "pin", "date", "e-mail") and not says_units(table, name)
    return not reading.meanings and profile.is_mostly("words")
