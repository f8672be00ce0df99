"""Which column of amounts is which: the item's, the line's, the order's, or what is collected."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from logistics_batch.mapping.spec.targets import targets_of
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.guess import Candidate, Guess, Reason
from logistics_batch.mapping.suggest.table import SampleTable
from logistics_batch.model.document import Operation

_KEY: Final = places.KEYS[0]
_AMOUNTS: Final = frozenset(["amount", "total", "invoice", "order", "net", "price", "line", "item", "tax", "each"])


def with_amounts(table: SampleTable, guesses: dict[str, Guess]) -> dict[str, Guess]:
    """The guesses for an order with its amounts put right: the item's, the line's, the order's or what is collected.

    A column that is quantity × price on each row is the line's; one that is filled where the payment says COD and
    nowhere else is collected; where all orders have one and only some are collected, it is asked for.
    """
    found, readings = dict(guesses), table.readings
    pay = found[places.PAID].column if places.PAID in found else ""
    some = collects_some(table, found.get(places.PAID))
    quantity, price = found.get(places.QUANTITIES[0]), found.get(places.PRICES[0])
    named, line = found.pop(places.COLLECTED, None), found.get(places.LINE_TOTAL)
    if named and named.fact:
        found[places.COLLECTED] = named
    elif named and "cod" in readings[named.column].meanings:
        found[places.COLLECTED] = _beside_payment(table, named, pay) if pay else named
    if line and (line.asked or not readings[line.column].meanings & {"line", "total"}):
        del found[places.LINE_TOTAL]
    taken, others = {guess.column for guess in found.values()}, list[Candidate]()
    less = ["", *(name for name in table.columns if table.takes_off(name))]
    for column in (each for each in table.columns if each not in taken):
        said = readings[column].meanings
        if not (said <= _AMOUNTS and said & {"amount", "total"} and table.profiles[column].is_mostly("amount")):
            continue
        if places.COLLECTED not in found and pay and table.is_filled_where_cod(column, pay):
            found[places.COLLECTED] = _guess(places.COLLECTED, column, 0.85, ("filled_only_where_cod", pay))
        elif (
            off := quantity
            and price
            and [each for each in less if table.is_product(column, quantity.column, price.column, less=each)]
        ):
            reason = (f"product{'_less' * bool(off[0])}", quantity.column, price.column, *filter(None, off))
            # Equal as long as each order is of one line.
            of_order = bool(said & {"order", "invoice"}) or (said == {"total"} and not _repeats(table, found.get(_KEY)))
            found.setdefault(places.LINE_TOTAL, replace(_guess(places.LINE_TOTAL, column, 0.9, reason), asked=of_order))
        elif some and "tax" not in said:
            reason = ("filled_on_paid", pay) if pay else ("if_collected",)
            others.append(Candidate((column,), 0.4, (reason,)))
    wholes = [each.columns[0] for each in others]
    others += _otherwise_named(table, taken, pay, wholes) if some else []
    key = found.get(_KEY)
    if places.COLLECTED not in found and others:
        found[places.COLLECTED] = Guess.among(places.COLLECTED, others)
    if places.COLLECTED in found and key and (column := found[places.COLLECTED].column):
        added_up = table.differs_within(column, key.column) if key.column else table.cells[column].n_unique() > 1
        found[places.COLLECTED] = replace(found[places.COLLECTED], added_up=added_up)
    elif places.COLLECTED not in found and some:  # no COD order goes out without: it is asked for
        added: Reason = ("items_added_up",)
        found[places.COLLECTED] = Guess(places.COLLECTED, (), 0.0, (("no_amount",),), asked=True)
        if line := found.get(places.LINE_TOTAL):
            guess = Guess.among(places.COLLECTED, [Candidate((line.column,), 0.3, (added,))])
            found[places.COLLECTED] = replace(guess, added_up=True)
        elif price and quantity and not price.asked and not quantity.asked:
            guess = Guess.among(places.COLLECTED, [Candidate((price.column,), 0.3, (added,))])
            found[places.COLLECTED] = replace(guess, added_up=True, times=quantity.column)
    collected = found.get(places.COLLECTED)
    if collected and collected.column and (of := summed(table, collected.column, found)):
        found[places.COLLECTED] = collected = replace(collected, reasons=(*collected.reasons, ("sum_of_lines", of)))
    is_one = key is not None and not key.column  # one order in the file, so that its total is the order's
    if collected and collected.added_up and is_one and (total := table.stated_total(collected.column)):
        stated = Candidate((), 0.4, (("stated_total", collected.column),), total)
        found[places.COLLECTED] = Guess.among(places.COLLECTED, (stated, *collected.candidates))
    return found


def _otherwise_named(table: SampleTable, taken: set[str], pay: str, wholes: Sequence[str]) -> list[Candidate]:
    """The columns of money under names that nobody knows, as Balance and Debit, which may be what is collected.

    wholes: the amounts of whole orders; what is nowhere more than one of these may be what is left of it to pay.
    """
    found = list[Candidate]()
    for column in (each for each in table.columns if each not in taken and table.readings[each].meanings <= {"net"}):
        profile, of_cod = table.profiles[column], bool(pay) and table.is_filled_where_cod(column, pay)
        may_be = of_cod or profile.shows_money or any(table.is_part(column, whole) for whole in wholes)
        if profile.is_mostly("amount") and not profile.counts_rows and may_be:
            reason: Reason = ("filled_only_where_cod", pay) if of_cod else ("if_collected",)
            found.append(Candidate((column,), 0.4, (reason,)))
    return found


def _beside_payment(table: SampleTable, named: Guess, pay: str) -> Guess:
    """The column that is called the amount to collect, with what its cells show beside the words of payment."""
    if table.is_filled_where_cod(named.column, pay):
        named = replace(
            named,
            confidence=named.confidence if named.asked else 0.95,
            reasons=(*named.reasons, ("filled_where_cod", pay)),
        )
    if table.is_filled_elsewhere(named.column, pay):
        named = replace(named, reasons=(*named.reasons, ("left_out_on_paid", pay)))
    return named


def summed(table: SampleTable, column: str, guesses: dict[str, Guess]) -> str:
    """The column of the lines' amounts that another one adds up for each document; "" if it adds up none."""
    key, line = guesses.get(_KEY), guesses.get(places.LINE_TOTAL)
    if key is None or not key.column or line is None or not line.column or line.column == column:
        return ""
    return line.column if table.is_sum(column, line.column, key.column) else ""


def _repeats(table: SampleTable, key: Guess | None) -> bool:
    """Whether several rows are of one document."""
    return key is not None and bool(not key.column or table.cells[key.column].is_duplicated().any())


def collects_some(table: SampleTable, paid: Guess | None) -> bool:
    """Whether what tells the payment says of some order that cash is collected, or may say it."""
    if paid is None:
        return False
    if paid.fact:
        return table.collects(paid.fact.label, paid.fact.value) is not False
    return any(table.collects(paid.column, word) is not False for word in table.profiles[paid.column].values)


def unit_price(table: SampleTable, guesses: dict[str, Guess], operation: Operation) -> dict[str, Guess]:
    """The guesses, with the price of one instead of the line's: that is the quantity times another column."""
    quantity = next((guesses[place].column for place in places.QUANTITIES if place in guesses), "")
    found = dict(guesses)
    for place in (place for place in places.PRICES if place in found and quantity):
        line, taken = found[place].column, {guess.column for guess in found.values()}
        free = [name for name in table.columns if name not in taken and table.profiles[name].is_mostly("amount")]
        if one := next((name for name in free if table.is_product(line, quantity, name)), ""):
            found[place] = _guess(place, one, 0.9, ("price_of_one", line, quantity))
            if (collected := found.get(places.COLLECTED)) and collected.column == line:  # times nothing any more
                found[places.COLLECTED] = replace(collected, times="")
            if places.LINE_TOTAL in targets_of(operation).places:
                found.setdefault(places.LINE_TOTAL, _guess(places.LINE_TOTAL, line, 0.9, ("product", quantity, one)))
    return found


def _guess(place: str, column: str, confidence: float, reason: Reason) -> Guess:
    return Guess.of(place, Candidate((column,), confidence, (reason,)))
