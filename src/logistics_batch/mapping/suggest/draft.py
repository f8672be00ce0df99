"""A draft mapping for an unknown file: for each place the likeliest column, by name and values, with the reasons.

Nobody applies a draft by itself: it is text for a person, who answers its questions; until then it does not load.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from logistics_batch.mapping.spec.targets import FieldForm, form_of, targets_of
from logistics_batch.mapping.suggest.names import LIKELY, TO, likeness, names_of_targets, reading_of, vocabulary
from logistics_batch.mapping.suggest.table import SHAPE_OF, Profile, SampleTable, table_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

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
    FieldForm.IDENTITY: ("date", "e-mail"),
    FieldForm.ADDRESS: _NO_ADDRESS,
    "cash_on_delivery": ("payment word",),  # yes and no, 1 and 0
    **dict.fromkeys(("customer_name", "pickup_customer_name", "return_customer_name", "supplier_name"), _NO_NAME),
}

Reason = tuple[str, ...]
"""What speaks for or against a column: a code of `text` and the values of its words."""
COLLECTED: Final = "fields.cash_on_delivery"
PAID: Final = "fields.is_cod"
_LINE_TOTAL: Final = "lines.total_item_price"
_QUANTITY: Final = "lines.item_quantity"
_PRICE: Final = "lines.item_price_per_each"
_AMOUNTS: Final = frozenset(["amount", "total", "invoice", "order", "net", "price", "line", "item", "tax", "each"])

# What may be guessed, and the places of which one must be found; never what cancels or deletes: a person says so.
_GUESSED: Final = {
    Operation.ORDER_CREATE: "fields.customer_mobile fields.delivery_address fields.delivery_postal_code",
    Operation.ASN_CREATE: "fields.invoice_number fields.supplier_name fields.supplier fields.site fields.site_name",
    Operation.RECEIPT_READ: "fields.qty",
    Operation.ORDER_ADD_ITEMS: "lines.item_id",
}
_FOR_SHOW: Final = re.compile(r"(?i)example|sample|instruction|definition|how to")
_BLANK_BELOW: Final = 0.05  # share of blank cells beside a filled line from which a column is filled down
_OF_LINES: Final = ("weight", "volume", "length", "breadth", "height")
_ONE_AN_ORDER: Final = ("fields.customer_mobile", "fields.customer_name", "fields.delivery_postal_code")
_MISTAKES: Final = 0.34  # of orders, that a sample may have in these; the key is doubted where they have more


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
    sure, fits, is_flag = like, profile.fits(form), form in (FieldForm.FLAG, FieldForm.PAYMENT)
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


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known about an unknown sheet.

    guesses: what fills each place, in the contract's order, and the questions. numbered: the columns `SKU {n}` that
    are used. unused: columns that nothing was found for, and why. fill_down: columns that are filled on the first row
    of a document only.
    """

    operation: Operation
    table: SampleTable
    guesses: dict[str, Guess]
    numbered: tuple[str, ...]
    unused: dict[str, Reason]
    fill_down: tuple[str, ...]


def draft_of(sheets: Sequence[Sheet], *, operation: Operation | None = None) -> Draft | None:
    """Look at a file; None if no row of it looks like a header.

    operation: what the rows shall become; None: orders, ASNs, receipts or added items, whichever explains most columns.
    """
    operations, least = ([operation], 1) if operation else ([*_GUESSED], 2)
    tables = [(each, table) for each in operations for sheet in sheets if (table := table_of(sheet, each, least=least))]
    return max((_draft(table, each) for each, table in tables), key=_worth, default=None)


def _worth(draft: Draft) -> float:
    """How much a draft explains: what is demanded counts most, and an operation without what tells it hardly."""
    profiles = draft.table.profiles
    sure = sum(each.confidence for each in draft.guesses.values()) - (2 if _FOR_SHOW.search(draft.table.sheet) else 0)
    found = {place: guess.column for place, guess in draft.guesses.items() if guess.column}
    is_told = draft.operation not in _GUESSED or any(place in found for place in _GUESSED[draft.operation].split())
    if draft.operation is Operation.RECEIPT_READ:
        meanings = {each for column in found.values() for each in reading_of(column).meanings}
        is_told = is_told and bool(meanings & {"received", "condition"} and profiles[found["fields.qty"]].filled)
    if draft.operation is Operation.ORDER_ADD_ITEMS:
        by_awb = "fields.order_id" in found and profiles[found["fields.order_id"]].share("AWB number") > 0
        return sure if is_told and by_awb else -1.0
    return sure if is_told else sure - 3


def _draft(table: SampleTable, operation: Operation) -> Draft:
    found = guesses_of(table, operation)
    if operation in (Operation.ORDER_CREATE, Operation.ORDER_UPDATE):
        found = _with_amounts(table, found)
    found = _by_document(table, found, operation)
    found |= {each.place: each for each in missing_of(table, operation, found)}
    found = {place: found[place] for place in targets_of(operation).places if place in found}
    used = {name for guess in found.values() for name in guess.columns}
    numbered = tuple(stem for stem in table.numbered if stem in used)
    used |= {name for stem in numbered for name in table.numbered[stem]}
    beside = {place: guess.column for place, guess in found.items() if not guess.asked}
    return Draft(
        operation=operation,
        table=table,
        guesses=found,
        numbered=numbered,
        unused={name: _unused(table, name, beside) for name in table.names if name and name not in used},
        fill_down=_fill_down(found, table.profiles),
    )


def _by_document(table: SampleTable, found: dict[str, Guess], operation: Operation) -> dict[str, Guess]:
    """What differs within a document is of its lines; where a person's number does, the key is doubted."""
    found, key = dict(found), next((found[place] for place in KEYS if place in found and found[place].column), None)
    if key is None:
        return found
    for target in _OF_LINES:
        header, line = f"fields.{target}", f"lines.{target}"
        is_free = header in found and target in targets_of(operation).lines and line not in found
        if is_free and table.differs_within(found[header].column, key.column):
            guess = found.pop(header)
            found[line] = replace(guess, place=line, reasons=(*guess.reasons, ("differs_within",)))
    for guess in [found[place] for place in _ONE_AN_ORDER if place in found and not found[place].asked]:
        if table.differs_within(guess.column, key.column, share=_MISTAKES):
            reasons = (*key.reasons, ("key_doubted", guess.column))
            found[key.place] = replace(key, asked=True, confidence=round(key.confidence / 2, 2), reasons=reasons)
    return found


def _with_amounts(table: SampleTable, guesses: dict[str, Guess]) -> dict[str, Guess]:
    """The guesses for an order with its amounts put right: the item's, the line's, the order's or what is collected.

    A column that is quantity × price on each row is the line's; one that is filled where the payment says COD and
    nowhere else is collected; where all orders have one and only some are collected, it is asked for.
    """
    found, readings = dict(guesses), table.readings
    pay = found[PAID].column if PAID in found else ""
    words = table.collecting_words(pay) if pay else []
    quantity, price = found.get(_QUANTITY), found.get(_PRICE)
    named, line = found.pop(COLLECTED, None), found.get(_LINE_TOTAL)
    if named and "cod" in readings[named.column].meanings:
        found[COLLECTED] = named
        if pay and table.is_filled_where_cod(named.column, pay):
            found[COLLECTED] = replace(named, confidence=0.95, reasons=(*named.reasons, ("filled_where_cod", pay)))
    if line and (line.asked or not readings[line.column].meanings & {"line", "item"}):
        del found[_LINE_TOTAL]
    taken = {guess.column for guess in found.values()}
    for column in (each for each in table.columns if each not in taken):
        said = readings[column].meanings
        if not (said <= _AMOUNTS and said & {"amount", "total"} and table.profiles[column].is_mostly("amount")):
            continue
        if COLLECTED not in found and pay and table.is_filled_where_cod(column, pay):
            found[COLLECTED] = _guess(COLLECTED, column, 0.85, ("filled_only_where_cod", pay))
        elif quantity and price and table.is_product(column, quantity.column, price.column):
            reason = ("product", quantity.column, price.column)
            found.setdefault(_LINE_TOTAL, _guess(_LINE_TOTAL, column, 0.9, reason))
        elif COLLECTED not in found and words and "tax" not in said:
            found[COLLECTED] = replace(_guess(COLLECTED, column, 0.4, ("filled_on_paid", pay)), asked=True)
    key = found.get(KEYS[0])
    if COLLECTED in found and key and key.column:
        added_up = table.differs_within(found[COLLECTED].column, key.column)
        found[COLLECTED] = replace(found[COLLECTED], added_up=added_up)
    elif COLLECTED not in found and words:  # no COD order goes out without: it is asked for
        added = ("items_added_up",)
        found[COLLECTED] = Guess(COLLECTED, (), 0.0, (("no_amount",),), asked=True)
        if line := found.get(_LINE_TOTAL):
            found[COLLECTED] = replace(_guess(COLLECTED, line.column, 0.3, added), asked=True, added_up=True)
        elif price and quantity and not price.asked and not quantity.asked:
            guess = _guess(COLLECTED, price.column, 0.3, added)
            found[COLLECTED] = replace(guess, asked=True, added_up=True, times=quantity.column)
    return found


def _guess(place: str, column: str, confidence: float, reason: Reason) -> Guess:
    return Guess.of(place, Candidate((column,), confidence, (reason,)))


def _unused(table: SampleTable, name: str, beside: dict[str, str]) -> Reason:
    """Why a column fills nothing. beside: the columns of the places that are filled."""
    profile, said = table.profiles.get(name), table.readings[name].meanings
    if profile is None:
        return ("doubled",)
    if not profile.filled:
        return ("empty",)
    if profile.counts_rows and not said - {"number", "line", "serialrow"}:
        return ("counts_rows",)
    for meanings, code in vocabulary().unused.items():
        if said.issuperset(meanings.split()):
            return (code,)
    for meaning, places in vocabulary().likelier.items():
        likelier = next((beside[place] for place in places.split() if place in beside), None)
        if meaning in said and likelier is not None:
            return ("likelier", likelier)
    return ("no_field",) if said and not table.readings[name].unknown else ("nothing",)


def _fill_down(guesses: dict[str, Guess], profiles: dict[str, Profile]) -> tuple[str, ...]:
    """Columns of the document that are filled less often than those of the lines: blank below the first row."""
    columns = {place: each.candidates[0].columns for place, each in guesses.items() if each.column}
    line = next((columns[place] for place in ("lines.item_name", "lines.sku_name") if place in columns), ())
    least = profiles[line[0]].filled - _BLANK_BELOW if line else 0.0
    header = [names for place, names in columns.items() if place.startswith("fields.")]
    named = dict.fromkeys(name for names in header for name in names)
    blank = tuple(name for name in named if 0 < profiles[name].filled < least)
    key = next((columns[place][0] for place in KEYS if place in columns), "")
    return blank if key in blank or len(blank) * 2 > len(header) else ()
