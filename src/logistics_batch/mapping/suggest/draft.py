"""A draft mapping for an unknown file: for each column the likeliest target, with a confidence and its reasons.

Nobody applies a draft by itself: it is text for a person, who answers its questions; until then it does not load.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from logistics_batch.mapping.spec.targets import targets_of
from logistics_batch.mapping.suggest.evidence import KEYS, Candidate, Guess, Reason, guesses_of, missing_of
from logistics_batch.mapping.suggest.names import reading_of, vocabulary
from logistics_batch.mapping.suggest.table import SampleTable, table_of
from logistics_batch.mapping.suggest.values import Profile
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

COLLECTED: Final = "fields.cash_on_delivery"
PAID: Final = "fields.is_cod"
_LINE_TOTAL: Final = "lines.total_item_price"
_QUANTITY: Final = "lines.item_quantity"
_PRICE: Final = "lines.item_price_per_each"
_AMOUNTS: Final = frozenset(["amount", "total", "invoice", "order", "net", "price", "line", "item", "tax", "each"])

# What may be guessed, and the places of which one must be found; never what cancels or deletes: a person says so.
_GUESSED: Final[dict[Operation, frozenset[str]]] = {
    Operation.ORDER_CREATE: frozenset(
        ["fields.customer_mobile", "fields.delivery_address", "fields.delivery_postal_code"]
    ),
    Operation.ASN_CREATE: frozenset(
        f"fields.{name}" for name in ("invoice_number", "supplier_name", "supplier", "site", "site_name")
    ),
    Operation.RECEIPT_READ: frozenset(["fields.qty"]),
    Operation.ORDER_ADD_ITEMS: frozenset(["lines.item_id"]),
}
_FOR_SHOW: Final = re.compile(r"(?i)example|sample|instruction|definition|how to")
_BLANK_BELOW: Final = 0.05  # share of blank cells beside a filled line from which a column is filled down
_OF_LINES: Final = ("weight", "volume", "length", "breadth", "height")
_ONE_AN_ORDER: Final = ("customer_mobile", "customer_name", "delivery_postal_code")
_MISTAKES: Final = 0.34  # of orders, that a sample may have in these


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known about an unknown sheet.

    guesses: what fills each place, in the contract's order, and the questions. numbered: the columns `SKU {n}` that
    are used. unused: columns that nothing was found for, and why. fill_down: columns that are filled on the first row
    of a document only.
    """

    operation: Operation
    table: SampleTable
    guesses: tuple[Guess, ...]
    numbered: tuple[str, ...]
    unused: dict[str, Reason]
    fill_down: tuple[str, ...]

    @property
    def profiles(self) -> dict[str, Profile]:
        """What the values of each column look like."""
        return self.table.profiles

    @property
    def questions(self) -> tuple[Guess, ...]:
        """What a person has to say before the draft is a mapping, but for words, dates and units."""
        return tuple(guess for guess in self.guesses if guess.asked)

    def guess(self, place: str) -> Guess | None:
        """The guess for a place."""
        return next((each for each in self.guesses if each.place == place), None)


def draft_of(sheets: Sequence[Sheet], *, operation: Operation | None = None) -> Draft | None:
    """Look at a file; None if no row of it looks like a header.

    operation: what the rows shall become; None: orders, ASNs, receipts or added items, whichever explains most columns.
    """
    operations, least = ([operation], 1) if operation else ([*_GUESSED], 2)
    tables = [(each, table) for each in operations for sheet in sheets if (table := table_of(sheet, each, least=least))]
    return max((_draft(table, each) for each, table in tables), key=_worth, default=None)


def _worth(draft: Draft) -> float:
    """How much a draft explains: what is demanded counts most, and an operation without what tells it hardly."""
    sure = sum(each.confidence for each in draft.guesses)
    sure -= 2 if _FOR_SHOW.search(draft.table.sheet) else 0
    found = {guess.place: guess.column for guess in draft.guesses if guess.column}
    is_told = bool(_GUESSED.get(draft.operation, frozenset(found)) & found.keys())
    if draft.operation is Operation.RECEIPT_READ:
        meanings = {each for column in found.values() for each in reading_of(column).meanings}
        is_told = is_told and bool(meanings & {"received", "condition"} and draft.profiles[found["fields.qty"]].values)
    if draft.operation is Operation.ORDER_ADD_ITEMS:
        by_awb = "fields.order_id" in found and draft.profiles[found["fields.order_id"]].share("AWB number") > 0
        return sure if is_told and by_awb else -1.0
    return sure if is_told else sure - 3


def _draft(table: SampleTable, operation: Operation) -> Draft:
    found = guesses_of(table, operation)
    if operation in (Operation.ORDER_CREATE, Operation.ORDER_UPDATE):
        found = _with_amounts(table, found)
    found = _by_document(table, found, operation)
    found |= {each.place: each for each in missing_of(table, operation, found)}
    targets = targets_of(operation)
    header = (*targets.header, *targets.reference)
    order = dict.fromkeys([*(f"fields.{name}" for name in header), *(f"lines.{name}" for name in targets.lines)])
    guesses = tuple(found[place] for place in order if place in found)
    used = {name for guess in guesses for name in guess.columns}
    numbered = tuple(stem for stem in table.numbered if stem in used)
    used |= {name for stem in numbered for name in table.numbered[stem]}
    beside = {guess.place: guess.column for guess in guesses if not guess.asked}
    return Draft(
        operation=operation,
        table=table,
        guesses=guesses,
        numbered=numbered,
        unused={name: _unused(table, name, beside) for name in table.names if name and name not in used},
        fill_down=_fill_down(guesses, table.profiles),
    )


def _with_amounts(table: SampleTable, guesses: dict[str, Guess]) -> dict[str, Guess]:
    """The guesses for an order with its amounts put right: the item's, the line's, the order's or what is collected.

    A column that is quantity × price on each row is the line's; one that is filled where the payment says COD and
    nowhere else is collected; where all orders have one and only some are collected, it is asked for.
    """
    found = dict(guesses)
    pay = found[PAID].column if PAID in found else ""
    words = table.collecting_words(pay) if pay else []
    factors = [found[place].column for place in (_QUANTITY, _PRICE) if place in found]
    named, line = found.pop(COLLECTED, None), found.get(_LINE_TOTAL)
    if named and "cod" in table.readings[named.column].meanings:
        found[COLLECTED] = named
        if pay and table.is_filled_where_cod(named.column, pay):
            found[COLLECTED] = replace(named, confidence=0.95, reasons=(*named.reasons, ("filled_where_cod", pay)))
    if line and (line.asked or not table.readings[line.column].meanings & {"line", "item"}):
        del found[_LINE_TOTAL]
    for column in _unsettled_amounts(table, {guess.column for guess in found.values()}):
        is_line = len(factors) > 1 and table.is_product(column, *factors)
        if COLLECTED not in found and pay and table.is_filled_where_cod(column, pay):
            found[COLLECTED] = _guess(COLLECTED, column, 0.85, ("filled_only_where_cod", pay))
        elif is_line:
            found.setdefault(_LINE_TOTAL, _guess(_LINE_TOTAL, column, 0.9, ("product", *factors)))
        elif COLLECTED not in found and words and "tax" not in table.readings[column].meanings:
            found[COLLECTED] = replace(_guess(COLLECTED, column, 0.4, ("filled_on_paid", pay)), asked=True)
    key = found.get(KEYS[0])
    if COLLECTED not in found and words:
        found[COLLECTED] = _computed(found)
    elif COLLECTED in found and key and key.column:
        added_up = table.differs_within(found[COLLECTED].column, key.column)
        found[COLLECTED] = replace(found[COLLECTED], added_up=added_up)
    return found


def _guess(place: str, column: str, confidence: float, reason: Reason) -> Guess:
    return Guess.of(place, Candidate((column,), confidence, (reason,)))


def _computed(found: dict[str, Guess]) -> Guess:
    """What COD orders may be charged where no column says it: it is asked for, as no COD order goes out without."""
    price, quantity, line = (found.get(place) for place in (_PRICE, _QUANTITY, _LINE_TOTAL))
    if line:
        return replace(_guess(COLLECTED, line.column, 0.3, ("items_added_up",)), asked=True, added_up=True)
    if price and quantity and not price.asked and not quantity.asked:
        asked = replace(_guess(COLLECTED, price.column, 0.3, ("items_added_up",)), asked=True, added_up=True)
        return replace(asked, times=quantity.column)
    return Guess(COLLECTED, (), 0.0, (("no_amount",),), asked=True)


def _unsettled_amounts(table: SampleTable, taken: set[str]) -> list[str]:
    """Columns of amounts that no name settles."""
    return [
        name
        for name in table.columns
        if name not in taken
        and table.readings[name].meanings <= _AMOUNTS
        and table.readings[name].meanings & {"amount", "total"}
        and table.profiles[name].is_mostly("amount")
    ]


def _by_document(table: SampleTable, guesses: dict[str, Guess], operation: Operation) -> dict[str, Guess]:
    """What differs within a document is of its lines; where a person's number does, the key is doubted."""
    key = next((guesses[place] for place in KEYS if place in guesses), None)
    if key is None or not key.column:
        return guesses
    found = dict(guesses)
    for target in _OF_LINES:
        header, line = f"fields.{target}", f"lines.{target}"
        guess = found.get(header)
        is_free = target in targets_of(operation).lines and line not in found
        if guess and is_free and table.differs_within(guess.column, key.column):
            del found[header]
            found[line] = replace(guess, place=line, reasons=(*guess.reasons, ("differs_within",)))
    for target in _ONE_AN_ORDER:
        guess = found.get(f"fields.{target}")
        is_sure = guess is not None and guess.column and not guess.asked
        if guess and is_sure and table.differs_within(guess.column, key.column, share=_MISTAKES):
            reasons = (*key.reasons, ("key_doubted", guess.column))
            found[key.place] = replace(key, asked=True, confidence=round(key.confidence / 2, 2), reasons=reasons)
    return found


def _unused(table: SampleTable, name: str, beside: dict[str, str]) -> Reason:
    """Why a column fills nothing. beside: the columns of the places that are filled."""
    reading, profile = table.readings[name], table.profiles.get(name)
    if profile is None:
        return ("doubled",)
    if not profile.values:
        return ("empty",)
    if profile.counts_rows and not reading.meanings - {"number", "line", "serialrow"}:
        return ("counts_rows",)
    for meanings, code in vocabulary().unused.items():
        if set(meanings.split()) <= reading.meanings:
            return (code,)
    for meaning, places in vocabulary().likelier.items():
        likelier = next((beside[place] for place in places.split() if place in beside), None)
        if meaning in reading.meanings and likelier is not None:
            return ("likelier", likelier)
    return ("no_field",) if reading.meanings and not reading.unknown else ("nothing",)


def _fill_down(guesses: Sequence[Guess], profiles: dict[str, Profile]) -> tuple[str, ...]:
    """Columns of the document that are filled less often than those of the lines: blank below the first row."""
    guesses = [each for each in guesses if each.column]
    lines = [profiles[each.column].filled for each in guesses if each.place in ("lines.item_name", "lines.sku_name")]
    header = [each for each in guesses if each.place.startswith("fields.")]
    named = dict.fromkeys(name for each in header for name in each.candidates[0].columns)
    blank = [
        name for name in named if lines and profiles[name].values and profiles[name].filled < lines[0] - _BLANK_BELOW
    ]
    key = next((each.column for each in guesses if each.place in KEYS), "")
    return tuple(blank) if key in blank or len(blank) * 2 > len(header) else ()
