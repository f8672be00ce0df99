"""A draft mapping for an unknown file: for each column the likeliest target, with a confidence and a reason.

Nobody applies a draft by itself: it is text for a person, who answers its questions; until then it does not load.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from logistics_batch.mapping.suggest_guesses import Guess, address_of, guesses_of, missing_of, person_of
from logistics_batch.mapping.suggest_money import with_amounts
from logistics_batch.mapping.suggest_numbered import numbered_as_one
from logistics_batch.mapping.suggest_reasons import why_spare
from logistics_batch.mapping.suggest_table import Table, table_of
from logistics_batch.mapping.suggest_values import Profile
from logistics_batch.mapping.suggest_words import reading_of
from logistics_batch.mapping.targets import targets_of
from logistics_batch.model.document import Operation
from logistics_batch.model.sheet import Sheet

# Never one that cancels or deletes: a person says so.
_GUESSED: Final = (Operation.ORDER_CREATE, Operation.ASN_CREATE, Operation.RECEIPT_READ, Operation.ORDER_ADD_ITEMS)
_FOR_SHOW: Final = re.compile(r"(?i)example|sample|instruction|definition|how to")
_BLANK_BELOW: Final = 0.05  # share of blank cells beside a filled line from which a column is filled down
_OF_LINES: Final = ("weight", "volume", "length", "breadth", "height")
_ONE_AN_ORDER: Final = ("customer_mobile", "customer_name", "delivery_postal_code")
_MISTAKES: Final = 0.34  # of orders, that a sample may have in these
_KEYS: Final = ("fields.reference_number", "fields.invoice_number")


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known about an unknown sheet.

    guesses: the columns that fill something, by place, and the questions. address, person: columns that together make
    the address or the name. numbered: for a column `SKU {n}` the ones that it stands for. spare: columns that nothing
    was found for, and why. profiles: by column. fill_down: columns that are filled on the first row of a document only.
    """

    operation: Operation
    table: Table
    guesses: tuple[Guess, ...]
    address: tuple[str, ...]
    person: tuple[str, ...]
    numbered: dict[str, tuple[str, ...]]
    why: dict[str, str]
    fill_down: tuple[str, ...]

    @property
    def sheet(self) -> str:
        """The sheet's name."""
        return self.table.sheet

    @property
    def header_row(self) -> int:
        """The row of the columns' names."""
        return self.table.row

    @property
    def profiles(self) -> dict[str, Profile]:
        """What the values of each column look like."""
        return self.table.profiles

    @property
    def spare(self) -> tuple[str, ...]:
        """Columns that fill nothing."""
        return tuple(self.why)

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
    known = [operation] if operation else list(_GUESSED)
    least = 1 if operation else 2
    drafts = [draft for each in known for sheet in sheets if (draft := _draft(sheet, each, least=least)) is not None]
    return max(drafts, key=_worth, default=None)


def _worth(draft: Draft) -> float:
    """How much a draft explains: what is demanded counts most."""
    demanded = {"fields.reference_number", "fields.customer_mobile", "fields.invoice_number", "fields.supplier_name"}
    sure = sum(each.confidence * (3 if each.place in demanded else 1) for each in draft.guesses)
    sure -= 2 if _FOR_SHOW.search(draft.sheet) else 0
    found = {guess.place for guess in draft.guesses if guess.column}
    if draft.operation is Operation.RECEIPT_READ:
        return sure - (0 if _speaks_of_receipt(draft) else 3)
    if draft.operation is Operation.ORDER_ADD_ITEMS:
        return sure if "lines.item_id" in found and _by_awb(draft) else -1.0
    if draft.operation is Operation.ASN_CREATE:
        known = {"fields.invoice_number", "fields.supplier_name", "fields.supplier", "fields.site", "fields.site_name"}
        return sure - (0 if found & known else 3)
    to_somebody = found & {"fields.customer_mobile", "fields.delivery_address", "fields.delivery_postal_code"}
    return sure - (3 if draft.operation is Operation.ORDER_CREATE and not to_somebody else 0)


def _by_awb(draft: Draft) -> bool:
    order = draft.guess("fields.order_id")
    return order is not None and draft.profiles[order.column].share("AWB number") > 0


def _speaks_of_receipt(draft: Draft) -> bool:
    qty = draft.guess("fields.qty")
    return any(reading_of(each.column).meanings & {"received", "condition"} for each in draft.guesses) and (
        qty is not None and bool(draft.profiles[qty.column].values) if qty and qty.column else False
    )


def _draft(sheet: Sheet, operation: Operation, *, least: int) -> Draft | None:
    found = table_of(sheet, operation, least=least)
    if found is None:
        return None
    table, numbered = numbered_as_one(found, operation)
    address, person = address_of(table), person_of(table)
    together = {*address[1:], *person[1:]}
    guesses = guesses_of(table, operation, apart=together)
    if operation in (Operation.ORDER_CREATE, Operation.ORDER_UPDATE):
        guesses = with_amounts(table, guesses)
    guesses = _by_document(table, guesses, operation)
    used = {
        name for each in guesses.values() for name in (each.column, *each.others) if each.asked or name == each.column
    }
    own_address = any(place in guesses for place in ("fields.delivery_address", "fields.shipping_address"))
    used |= set(address[1:]) if own_address and _is_first(guesses, address) else set()
    used |= set(person[1:]) if _is_first(guesses, person) else set()
    spare = [name for name in table.cells if name not in used]
    guesses |= {each.place: each for each in missing_of(table, targets_of(operation), guesses, spare)}
    asked = {name for each in guesses.values() if each.asked for name in (each.column, *each.others)}
    left = [name for name in dict.fromkeys(table.names) if name and name not in used | asked]
    beside = {place: each.column for place, each in guesses.items() if each.column and not each.asked}
    of_numbered = {name for stem, columns in numbered.items() if stem in used for name in columns}
    why = {
        name: why_spare(found.readings[name], found.profiles.get(name), beside=beside)
        for name in left
        if name not in of_numbered
    }
    return Draft(
        operation=operation,
        table=table,
        guesses=_in_order(guesses, operation),
        address=address if _is_first(guesses, address) else (),
        person=person if _is_first(guesses, person) else (),
        numbered={stem: columns for stem, columns in numbered.items() if stem in used},
        why=why,
        fill_down=_fill_down(list(guesses.values()), table.profiles, address),
    )


def _is_first(guesses: dict[str, Guess], columns: Sequence[str]) -> bool:
    return bool(columns) and any(each.column == columns[0] for each in guesses.values())


def _by_document(table: Table, guesses: dict[str, Guess], operation: Operation) -> dict[str, Guess]:
    """What differs within a document is of its lines; where a person's number does, the key is doubted."""
    key = next((guesses[place] for place in _KEYS if place in guesses), None)
    if key is None or not key.column:
        return guesses
    lines = targets_of(operation).lines
    found = dict(guesses)
    for target in _OF_LINES:
        guess = found.get(f"fields.{target}")
        if (
            guess
            and target in lines
            and f"lines.{target}" not in found
            and table.differs_within(guess.column, key.column)
        ):
            del found[guess.place]
            reason = f"{guess.reason}; it differs within one document"
            found[f"lines.{target}"] = replace(guess, place=f"lines.{target}", reason=reason)
    for target in _ONE_AN_ORDER:
        guess = found.get(f"fields.{target}")
        if (
            guess
            and guess.column
            and not guess.asked
            and table.differs_within(guess.column, key.column, share=_MISTAKES)
        ):
            reason = f"{key.reason}; but rows with the same one have several in “{guess.column}”"
            found[key.place] = replace(key, asked=True, confidence=round(key.confidence / 2, 2), reason=reason)
    return found


def _in_order(guesses: dict[str, Guess], operation: Operation) -> tuple[Guess, ...]:
    """The guesses in the contract's order."""
    targets = targets_of(operation)
    header = [f"fields.{name}" for name in (*targets.header, *targets.reference)]
    order = list(dict.fromkeys([*header, *(f"lines.{name}" for name in targets.lines)]))
    return tuple(guesses[place] for place in order if place in guesses)


def _fill_down(guesses: Sequence[Guess], profiles: dict[str, Profile], address: Sequence[str]) -> tuple[str, ...]:
    """Columns of the document that are filled less often than those of the lines: blank below the first row."""
    guesses = [each for each in guesses if each.column]
    lines = [profiles[each.column].filled for each in guesses if each.place in ("lines.item_name", "lines.sku_name")]
    if not lines:
        return ()
    header = [each.column for each in guesses if each.place.startswith("fields.")]
    named = list(dict.fromkeys([*header, *address]))
    blank = [name for name in named if profiles[name].values and profiles[name].filled < lines[0] - _BLANK_BELOW]
    key = next((each.column for each in guesses if each.place in _KEYS), "")
    return tuple(blank) if key in blank or len(blank) * 2 > len(header) else ()
