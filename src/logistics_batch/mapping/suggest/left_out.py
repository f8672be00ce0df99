"""Rows of an unknown sheet that may not be meant to be sent: void, gone, exchanged, or charges among the goods."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.spec.words import is_known_pattern
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.by_values import HARDLY_KNOWN
from logistics_batch.mapping.suggest.doubts import are_units
from logistics_batch.mapping.suggest.guess import Guess
from logistics_batch.mapping.suggest.profile import SOME, numbers_of, says_charge, says_done, says_yes, says_yes_or_no
from logistics_batch.mapping.suggest.table import SampleTable
from logistics_batch.model.document import Operation

_OF_OTHERS: Final = ("void", "stop", "anywhere")  # what a heading or a note may say of other rows
_IS: Final = re.compile(r"(?i)^is[ _-]+")
_WHEN_OR_WHY: Final = frozenset(["date", "time", "by", "reason", "remark"])
_OF_GOODS: Final = frozenset(["item", "sku", "desc"])
_KINDS: Final[dict[Operation, tuple[str, ...]]] = {
    Operation.ORDER_CREATE: ("void", "stop", "anywhere", "exchange", "gone"),
    Operation.LABEL_CREATE: ("void", "stop", "anywhere", "exchange", "gone"),
    Operation.ASN_CREATE: ("void", "stop", "anywhere", "came"),
}
"""What a row may say for which it is left out, as in the vocabulary's `done`."""

_STATES: Final = frozenset(["status", "dispatch", "ship", "deliver", "received", "order", "flag", "picked", "number"])
_OTHERWISE: Final = frozenset(["commercial", "fragile", "freight", "tax", "free", "discount", "qty", "pay", "cod"])
_OF_A_BLOCK: Final = re.compile(r"0\d{1,2}|[A-Za-z]\w{0,2}")  # as programs have for what is not delivered: 01, Z1
_BY_VALUES: Final = (places.PAID, *places.DAYS)  # of which a mark of what is void may have the looks
_WORDS_OF_A_STATE: Final = 4  # of a column that nobody knows, at most
_WORDS_OF_A_HEADING: Final = 5
_WORDS_OF_A_REMARK: Final = 3  # in a language that nobody knows
_OF_A_MARK: Final = 2  # letters, as R below Exchange / Return
_FEW_ROWS: Final = 2  # that come to a quantity by chance
_BY_CHANCE: Final = 2  # words, of which each may well stand beside goods of its own


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The cells of a column by which rows may be left out. code: of the reason why they may."""

    name: str
    code: str
    words: tuple[str, ...]

    @property
    def is_of_data(self) -> bool:
        """Whether the rows may be data: headings are none."""
        return self.code not in ("heads", "may_be_party", "may_be_goods")


def may_be_left_out(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> tuple[LeftOut, ...]:
    """The cells by which rows may be left out, of each column; goods that are gone make an ASN."""
    flags = {name for place, guess in found.items() for name in guess.columns
             if form_of(place.split(".")[1], operation) in (FieldForm.FLAG, FieldForm.PAYMENT)}  # fmt: skip
    # Of several that are offered by their values alone, one that is not taken may say what is void.
    read = {name for place, guess in found.items() for name in (*guess.columns, guess.times, guess.cartons)
            if guess.confidence > HARDLY_KNOWN or (len(guess.candidates) == 1 and place not in _BY_VALUES)}  # fmt: skip
    read |= {name for guess in found.values() for code, *names in guess.reasons for name in names
             if code == "filled_with_some"}  # fmt: skip
    telling = (found[place].column for place in (*places.KEYS, places.PHONE) if place in found)
    key = next(filter(None, telling), "")
    goods = next((found[place].column for place in places.GOODS if place in found), "")
    is_sent, person = "gone" in _KINDS.get(operation, ()), found.get(places.PERSON)
    titles, parties = table.titles if is_sent and (person is None or person.asked) else (), dict[str, list[str]]()
    said = list[LeftOut]()
    for name, text in table.skipped:  # a sentence without an order's number may be the terms of sale
        is_short = len(re.findall(r"\w+", text)) <= _WORDS_OF_A_HEADING
        speaks_of = is_short or any(each in text for each in (table.profiles[key].values if key else ()))
        if speaks_of and says_done(text, *_OF_OTHERS):
            said.append(LeftOut(name, "heads", (text,)))
        elif text in titles and not is_known_pattern(text):
            parties.setdefault(name, []).append(text)
    said += [LeftOut(name, "may_be_party", tuple(texts)) for name, texts in parties.items()]
    quantity = next((found[place].column for place in places.QUANTITIES if place in found), "")
    if below := tuple(_goods_below(table, goods, quantity)):
        said.append(LeftOut(goods, "may_be_goods", below))
    for name in table.profiles if operation in _KINDS else ():
        if is_sent and "wait" in table.readings[name].meanings and table.profiles[name].share("date"):
            said.append(LeftOut(name, "waits", ("*",)))
        elif name not in flags and (words := _words(table, name, *_KINDS[operation])):
            said.append(LeftOut(name, "charges" if all(map(says_charge, words)) else "done", words))
        elif name not in read and (words := _states(table, name, key)) and not _describes(table, name, goods):
            said.append(LeftOut(name, "may_say_void", words))
    return tuple(said)


def _goods_below(table: SampleTable, goods: str, quantity: str) -> Iterator[str]:
    """The cells by which rows below the others are left out that may be goods of the last document, by a quantity
    beside them which is not that of all rows.
    """
    if not {goods, quantity} <= {*table.names} & {*table.profiles}:
        return
    item, count = table.names.index(goods) + 1, table.names.index(quantity) + 1
    counted = {row: text for row, column, text in table.outside if column == count}
    total = numbers_of(table.cells[quantity]).sum() if table.cells.height > _FEW_ROWS else None
    for row, column, text in table.outside:
        if column == item and (goods, text) in table.skipped and not is_known_pattern(text) and not says_charge(text):
            number = numbers_of(pl.Series([counted.get(row, "")]))[0]
            if number and number != total:
                yield text


def _states(table: SampleTable, name: str, key: str) -> tuple[str, ...]:
    """The words of a column of which nobody knows what it says of whole documents; `*` where these are days.

    It has one of a few words for each document, or is blank for some, and holds no sentences then. key: the column
    that tells documents apart, "" if none is known.
    """
    profile, words, said = table.profiles[name], table.profiles[name].words, table.readings[name].meanings
    is_yes_or_no = all(map(says_yes_or_no, words))  # of a line as well, and to whatever question
    is_named_otherwise = said & _OTHERWISE if is_yes_or_no else said - _STATES
    if not words or is_named_otherwise or profile.counts_rows or are_units(words):
        return ()
    document = pl.when(pl.col(key) != "").then(pl.col(key)).forward_fill().fill_null("")
    by = document.alias("") if key else pl.int_range(pl.len()).alias("")
    each = table.cells.group_by(by).agg(pl.col(name).filter(pl.col(name) != "").n_unique())[name]
    filled = (each > 0).sum()
    is_rare = filled <= SOME * len(each) or filled < min(len(each), _WORDS_OF_A_STATE + 1)  # of few rows, most
    if not is_yes_or_no and ((each > 1).any() or not (is_rare or len(words) < filled)):
        return ()
    if is_rare and profile.is_mostly("date"):
        return ("*",)
    numbers = [word for word in words if re.search(r"\d", word) and not (is_rare and _OF_A_BLOCK.fullmatch(word))]
    if len(words) > _WORDS_OF_A_STATE or (numbers and not is_yes_or_no):
        return ()
    most = 1 if said or name in table.nameless else _WORDS_OF_A_REMARK
    is_sentence = len(words) > 1 and any(len(word.split()) > most for word in words)
    return words if (not is_sentence if filled < len(each) else len(words) > 1) else ()


def _describes(table: SampleTable, name: str, goods: str) -> bool:
    """Whether each of the goods has a word of its own, as a description has."""
    if not goods or len(table.profiles[name].words) <= _BY_CHANCE or not table.cells[goods].is_duplicated().any():
        return False
    return not table.differs_within(name, goods) and not table.differs_within(goods, name)


def _words(table: SampleTable, name: str, *kinds: str) -> tuple[str, ...]:
    """The cells of a column by which rows may be left out, `*` for any that is filled."""
    profile, said = table.profiles[name], table.readings[name].meanings
    if said & _OF_GOODS:
        kinds = tuple(
            each for each in kinds if each not in ("exchange", "stop", "anywhere")
        )  # Replacement blade, Duplicate key
    charges = filter(says_charge, profile.words if said & _OF_GOODS else ())
    done = {each.casefold(): each for each in profile.values if says_done(each, *kinds)}
    if words := tuple(charges) or tuple(done.values()):
        return words
    numbers, asks = numbers_of(table.cells[name]).drop_nulls(), _IS.sub("", name)
    if "qty" in said or (numbers > 1).any():  # Returned Qty is a count
        return ()
    is_for_some, says = 0 < profile.filled < 1, all(map(says_yes_or_no, profile.words))
    if "gone" in kinds and says_done(asks, "gone") and is_for_some and not says:  # Shipped on
        return ("*",)
    if "awb" in said and is_for_some:  # booked already
        return ("*",)
    if not says_done(asks, "void", "exchange", "anywhere"):
        return ()
    is_told = is_for_some and (said & _WHEN_OR_WHY or all(len(word) <= _OF_A_MARK for word in profile.words))
    return ("*",) if is_told and not says else tuple(filter(says_yes, profile.words))  # Cancelled On, Cancel Reason
