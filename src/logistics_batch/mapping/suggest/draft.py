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
