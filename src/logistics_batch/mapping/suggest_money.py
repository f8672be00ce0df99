"""Which amount is which: the item's, the line's, the order's or what is collected; told by what adds up."""

from dataclasses import replace
from typing import Final

from logistics_batch.mapping.suggest_guesses import Guess
from logistics_batch.mapping.suggest_table import Table
from logistics_batch.mapping.suggest_values import meaning_of_payment, number_of

_AMOUNTS: Final = frozenset(["amount", "total", "invoice", "order", "net", "price", "line", "item", "tax", "each"])
COLLECTED: Final = "fields.cash_on_delivery"
LINE: Final = "lines.total_item_price"


def with_amounts(table: Table, found: dict[str, Guess]) -> dict[str, Guess]:
    """The guesses for an order with its amounts put right.

    A column that is quantity × price on each row is the line's; one that is filled where the payment says COD and
    nowhere else is collected; where all orders have one and only some are collected, it is asked for.
    """
    named = found.get(COLLECTED)
    if named is not None and "cod" in table.readings[named.column].meanings:
        found = found | {COLLECTED: _agreeing(table, found, named)}
    else:
        found = {place: guess for place, guess in found.items() if place != COLLECTED}
    found = {place: guess for place, guess in found.items() if place != LINE or _speaks_of_lines(table, guess)}
    taken = {guess.column for guess in found.values()}
    for column in _amounts(table, taken):
        guess = _of_amount(table, found, column)
        if guess is not None and guess.place not in found:
            found = found | {guess.place: guess}
    return found if COLLECTED in found else found | _computed(table, found)


def _computed(table: Table, found: dict[str, Guess]) -> dict[str, Guess]:
    """What COD orders may be charged where no column says it: it is asked for, as no COD order goes out without."""
    price, quantity, line = (found.get(f"lines.{name}") for name in ("item_price_per_each", "item_quantity", LINE[6:]))
    if not paying_words(table, found):
        return {}
    reason = "no column says what COD orders are charged; if it is what their items come to"
    if line and not line.asked:
        return {COLLECTED: Guess(line.column, COLLECTED, 0.3, reason, asked=True, added_up=True)}
    if price and quantity and not price.asked and not quantity.asked:
        times = quantity.column
        return {COLLECTED: Guess(price.column, COLLECTED, 0.3, reason, asked=True, added_up=True, times=times)}
    return {COLLECTED: Guess("", COLLECTED, 0.0, "no column says what COD orders are charged", asked=True)}


def paying_words(table: Table, found: dict[str, Guess]) -> list[str]:
    """The words in the column of payment that say that cash is collected."""
    pay = found.get("fields.is_cod")
    words = dict.fromkeys(table.profiles[pay.column].values) if pay else {}
    return [word for word in words if meaning_of_payment(word)]


def _speaks_of_lines(table: Table, guess: Guess) -> bool:
    return bool(table.readings[guess.column].meanings & {"line", "item"}) and not guess.asked


def _amounts(table: Table, taken: set[str]) -> list[str]:
    """Columns of amounts that no name settles."""
    return [
        name
        for name, reading in table.readings.items()
        if name in table.cells
        and name not in taken
        and reading.meanings <= _AMOUNTS
        and reading.meanings & {"amount", "total"}
        and table.profiles[name].share("amount") > 0.8
    ]


def _of_amount(table: Table, found: dict[str, Guess], column: str) -> Guess | None:
    """What an amount is, by what agrees with it."""
    where_cod = _filled_where_cod(table, found, column)
    pay = found.get("fields.is_cod")
    if COLLECTED not in found and pay is not None and where_cod:
        reason = f"it is filled where “{pay.column}” says COD, and nowhere else"
        return Guess(column, COLLECTED, 0.85, reason, added_up=_is_added_up(table, found, column))
    quantity, price = found.get("lines.item_quantity"), found.get("lines.item_price_per_each")
    if quantity and price and table.is_product(column, quantity.column, price.column):
        return Guess(column, LINE, 0.9, f"it is “{quantity.column}” × “{price.column}” on each row")
    if "tax" in table.readings[column].meanings:
        return None
    if COLLECTED not in found and pay is not None and paying_words(table, found):
        reason = (
            f"it is filled on paid orders as well; if it is what COD orders are charged, “{pay.column}” tells which"
        )
        return Guess(column, COLLECTED, 0.4, reason, asked=True, added_up=_is_added_up(table, found, column))
    return None


def _agreeing(table: Table, found: dict[str, Guess], guess: Guess) -> Guess:
    """What is collected by its name, held against the column of payment."""
    guess = replace(guess, added_up=_is_added_up(table, found, guess.column))
    pay = found.get("fields.is_cod")
    if pay is not None and _filled_where_cod(table, found, guess.column):
        return replace(guess, confidence=0.95, reason=f"{guess.reason}; filled where “{pay.column}” says COD")
    return guess


def _filled_where_cod(table: Table, found: dict[str, Guess], column: str) -> bool:
    """Whether each COD row has an amount and each paid one none; both must be there."""
    pay = found.get("fields.is_cod")
    if pay is None:
        return False
    seen = {True: set[bool](), False: set[bool]()}
    for word, cell in zip(table.cells[pay.column], table.cells[column], strict=True):
        collected = meaning_of_payment(word) if word else None
        if collected is not None:
            seen[collected].add(bool(cell and number_of(cell)))
    return seen == {True: {True}, False: {False}}


def _is_added_up(table: Table, found: dict[str, Guess], column: str) -> bool:
    key = found.get("fields.reference_number")
    return key is not None and bool(key.column) and table.differs_within(column, key.column)
