"""What may fill a place where no name says it: columns whose names nobody knows, by their values alone."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Final

import polars as pl

from logistics_batch.mapping.naming import TO, reading_of
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.suggest import places
from logistics_batch.mapping.suggest.guess import Candidate, Reason
from logistics_batch.mapping.suggest.head import Fact
from logistics_batch.mapping.suggest.profile import SHAPE_OF, SOME, Profile, numbers_of, profile_of
from logistics_batch.mapping.suggest.table import SampleTable
from logistics_batch.model.document import Operation

HARDLY_KNOWN: Final = 0.2
"""How sure a place is that is told by values alone: it says nothing about what the rows become."""

_MOST: Final = 6  # candidates of one place
_FEW_WORDS: Final = 6  # ways to pay, suppliers or sites
_LETTERS_OF_AN_ADDRESS: Final = 10
_TYPED: Final = ("phone", "pin", "date", "e-mail", "AWB number")
_NAMED_GOODS: Final = frozenset(["ean", "size", "item", "sku", "model"])
_PAPERS: Final = frozenset(["order", "po", "docket", "note", "ref", "document", "shipment", "invoice", "original"])
PARTICULARS: Final = frozenset(["desc"])
_BOXES_OF_A_LINE: Final = 100  # there are fewer; hardly a price is less
_MOVED: Final = frozenset(["made", "ship", "dispatch", "deliver", "received", "asn"])  # Ordered, Ship now, Inwards
_SENT, _RECEIVED = frozenset(["dispatch", "by"]), frozenset(["deliver", "ship"])
_PARTIES: Final = ("fields.supplier_name", "fields.site_name", "fields.supplier", "fields.site")


def by_values(table: SampleTable, place: str, free: Sequence[str], operation: Operation) -> list[Candidate]:
    """The columns that may fill a place by their values, the likeliest first; free: those that fill nothing."""
    unknown = [name for name in free if is_untold(table, name) and table.profiles[name].filled]
    if place in places.QUANTITIES:
        moved = [name for name in free if table.readings[name].meanings and table.readings[name].meanings <= _MOVED]
        return _quantities(table, [*moved, *unknown])
    if place in places.GOODS:
        named = [name for name in free if table.readings[name].meanings & _NAMED_GOODS]
        codes = [name for name in dict.fromkeys([*named, *unknown]) if _is_in_one_word(table, name)]
        apart = [name for name in codes if not _is_shared(table, name)]
        is_told = any(table.cells[name].is_duplicated().any() for name in apart)  # else these may number the documents
        codes = apart if is_told else [*apart, *(name for name in codes if name not in apart)]
        # A column of single words may be of goods as well as of towns.
        texts = [name for name in unknown if _may_name_goods(table, name) or table.profiles[name].is_mostly("one word")]
        return _candidates(codes or texts, "code" if codes else "words")
    if place in places.KEYS:
        papers = [name for name in free if table.readings[name].meanings & _PAPERS]
        shared = [name for name in unknown or papers if _is_code(table, name) and _is_in_runs(table, name)]
        return _candidates(sorted(shared, key=lambda name: not _is_shared(table, name)), "code")
    form = form_of(place.split(".", 1)[1], operation)
    if place in places.ADDRESSES:  # Address with pincode, Ship to
        unknown += [name for name in free if set() < table.readings[name].meanings <= {"address", "pin", *TO}]
    if place == places.PIN:  # Kode Pos, Area code
        unknown = [*free]
    if place in _PARTIES:
        unknown += [name for name in free if table.readings[name].meanings == PARTICULARS]
    if place == places.PAID:
        told = [name for name in unknown if _may_be_payment(table, name) and collected_by_values(table, name, free)]
        unknown = told or unknown
    looks: dict[object, Callable[[SampleTable, str], bool]] = {
        FieldForm.ADDRESS: looks_like_street,
        FieldForm.PAYMENT: _may_be_payment,
        **dict.fromkeys(_PARTIES, is_of_few_words),
        places.PERSON: lambda table, name: table.profiles[name].is_mostly("name of a person"),
    }
    looks_so = looks.get(place, looks.get(form))
    if looks_so is not None:
        return _candidates([name for name in unknown if looks_so(table, name)], "words")
    shape = SHAPE_OF.get(form, "")
    return _candidates([name for name in unknown if shape and table.profiles[name].is_mostly(shape)], shape)


def collected_by_values(table: SampleTable, pay: str, free: Sequence[str]) -> list[Candidate]:
    """The columns of amounts that are filled with some words of a column of payment and blank with the others."""
    reason: Reason = ("filled_with_some", pay)
    return [
        Candidate((name,), HARDLY_KNOWN, (reason,))
        for name in free
        if table.profiles[name].is_mostly("amount") and _is_told_by(table, name, pay)
    ][:_MOST]


def may_be_fact(place: str, fact: Fact) -> bool:
    """Whether a value above the table may be a paper's number or a party by its looks, and by its label."""
    reading, profile = reading_of(fact.label), profile_of((fact.value,))
    if profile.is_mostly(*_TYPED):
        return False
    if place in places.KEYS:
        return reading.meanings == {"number"} and profile.is_mostly("code")
    is_supplier = "supplier" in place
    says_nothing = not reading.meanings and not reading.unknown  # To, For
    if place not in _PARTIES or (is_supplier and says_nothing):
        return False
    return profile.is_mostly("words") and reading.meanings <= (_SENT if is_supplier else _RECEIVED)


def is_untold(table: SampleTable, name: str) -> bool:
    """Whether nobody knows what a column's name says."""
    reading = table.readings[name]
    is_a_name = name not in table.nameless and not table.profiles[name].counts_rows
    return (
        is_a_name and bool(reading.unknown) and reading.meanings <= {"number", "serialrow"}
    )  # SL is a count in Vietnamese


def _candidates(names: Sequence[str], shape: str) -> list[Candidate]:
    return [Candidate((name,), HARDLY_KNOWN, (("only_values", shape),)) for name in names[:_MOST]]


def _quantities(table: SampleTable, free: Sequence[str]) -> list[Candidate]:
    """Whole numbers; where amounts show that one of them is what a price is multiplied by, that one.

    Where the price is a small whole number as well, it may count boxes, and the amount what all of them hold.
    """
    counts = [name for name in free if table.profiles[name].fits(FieldForm.QUANTITY)
              and not table.profiles[name].is_mostly("comma", "point", *_TYPED)]  # fmt: skip
    money = [name for name in table.columns if table.profiles[name].is_mostly("amount")]
    for count in counts:
        counted = replace(table, cells=table.cells.filter(pl.col(count) != ""))
        for price, total in permutations([name for name in money if name != count], 2):
            # Sizes as columns, all of them with one number, show nothing.
            if counted.cells[total].n_unique() > 1 and counted.is_product(total, count, price):
                is_few = (numbers_of(counted.cells[price]) < _BOXES_OF_A_LINE).all()
                may_be_boxes = is_few and table.profiles[price].fits(FieldForm.QUANTITY)
                in_all = [Candidate((total,), HARDLY_KNOWN, (("product", count, price),))] if may_be_boxes else []
                return [*in_all, Candidate((count,), HARDLY_KNOWN, (("price_of_one", total, price),))]
    return _candidates(counts, "whole number")


def _is_code(table: SampleTable, name: str) -> bool:
    """Whether a column holds codes: letters of any script and digits, blanks too, or more digits than a count has."""
    profile = table.profiles[name]
    joined = profile_of(tuple(re.sub(r"[^\W\d_a-z]", "A", "".join(value.split())) for value in profile.values))
    return joined.is_mostly("code") and not profile.is_mostly("whole number", "comma", "point", *_TYPED)


def _is_in_one_word(table: SampleTable, name: str) -> bool:
    """Whether a column holds numbers of goods, without blanks and small letters: MUG-BL, 8901030865278."""
    values = table.profiles[name].values
    words = [each for each in values if each == each.upper() and not any(map(str.isspace, each))]
    is_number = table.profiles[name].is_mostly("whole number", "comma", "point", *_TYPED)
    return len(words) * 2 > len(values) and len({*values}) > 1 and not is_number


def _is_text(table: SampleTable, name: str) -> bool:
    return table.profiles[name].is_mostly("words") and not table.profiles[name].is_mostly("of a day", *_TYPED)


def _may_name_goods(table: SampleTable, name: str) -> bool:
    """Whether a column holds a text in each row that is no address, town or person."""
    profile = table.profiles[name]
    is_else = profile.is_mostly("one word", "name of a person") or looks_like_street(table, name)
    return _is_text(table, name) and profile.filled == 1 and not is_else


def _is_in_runs(table: SampleTable, name: str) -> bool:
    """Whether equal values stand in rows below each other, as those of one document do; blank ones belong above."""
    cells = table.cells[name]
    filled = cells.to_frame("cell").select(pl.when(pl.col("cell") != "").then(pl.col("cell")).forward_fill())
    runs = filled.to_series().drop_nulls().rle().struct.field("value")
    return len(runs) > 0 and not runs.is_duplicated().any()


def _is_shared(table: SampleTable, name: str) -> bool:
    """Whether rows below each other, and no others, have one value, as those of a document have its number."""
    return bool(table.cells[name].is_duplicated().any()) and _is_in_runs(table, name)


def is_of_few_words(table: SampleTable, name: str) -> bool:
    profile: Profile = table.profiles[name]
    is_few = len(profile.words) <= min(_FEW_WORDS, max(1, (len(profile.values) + 1) // 2))
    return is_few and _is_text(table, name) and profile.filled > SOME


def _may_be_payment(table: SampleTable, name: str) -> bool:
    has_digits = any(map(str.isdigit, "".join(table.profiles[name].words)))
    return not has_digits and is_of_few_words(table, name)


def looks_like_street(table: SampleTable, name: str) -> bool:
    """Whether a column holds texts as long as addresses, most of them with a number."""
    values = table.profiles[name].values
    long = [each for each in values if len(each) >= _LETTERS_OF_AN_ADDRESS and any(map(str.isdigit, each))]
    return _is_text(table, name) and len(long) * 2 > len(values)


def _is_told_by(table: SampleTable, amount: str, pay: str) -> bool:
    """Whether of each word all rows have an amount or none has, of some one and of some the other."""
    numbers = numbers_of(table.cells[amount]).fill_null(0) > 0
    rows = pl.DataFrame({"word": table.cells[pay], "filled": numbers}).filter(pl.col("word") != "")
    each = rows.group_by("word").agg(pl.col("filled").any(), same=pl.col("filled").n_unique() == 1)
    return bool(each["same"].all()) and each["filled"].n_unique() > 1
