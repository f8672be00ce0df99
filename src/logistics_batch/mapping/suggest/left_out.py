"""Rows of an unknown sheet that may not be meant to be sent: void, gone, exchanged, or charges among the goods."""

import re
from typing import Final

from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.suggest.guess import Guess
from logistics_batch.mapping.suggest.profile import numbers_of, says_charge, says_done, says_yes
from logistics_batch.mapping.suggest.table import SampleTable
from logistics_batch.model.document import Operation

_IS: Final = re.compile(r"(?i)^is[ _-]+")
_WHEN_OR_WHY: Final = frozenset(["date", "time", "by", "reason", "remark"])
_OF_GOODS: Final = frozenset(["item", "sku", "desc"])
_KINDS: Final[dict[Operation, tuple[str, ...]]] = {
    Operation.ORDER_CREATE: ("void", "exchange", "gone"),
    Operation.LABEL_CREATE: ("void", "exchange", "gone"),
    Operation.ASN_CREATE: ("void",),
}
"""What a row may say for which it is left out, as in the vocabulary's `done`."""


def may_be_left_out(table: SampleTable, operation: Operation, found: dict[str, Guess]) -> dict[str, tuple[str, ...]]:
    """The columns with cells by which rows may be left out, and these; goods that are gone make an ASN."""
    if operation not in _KINDS:
        return {}
    flags = {name for place, guess in found.items() for name in guess.columns
             if form_of(place.split(".")[1], operation) in (FieldForm.FLAG, FieldForm.PAYMENT)}  # fmt: skip
    said = {name: _words(table, name, *_KINDS[operation]) for name in table.profiles if name not in flags}
    return {name: words for name, words in said.items() if words}


def _words(table: SampleTable, name: str, *kinds: str) -> tuple[str, ...]:
    """The cells of a column by which rows may be left out, `*` for any that is filled."""
    profile, said = table.profiles[name], table.readings[name].meanings
    if said & _OF_GOODS:
        kinds = tuple(each for each in kinds if each != "exchange")  # Replacement blade
    charges = filter(says_charge, profile.words if said & _OF_GOODS else ())
    done = {each.casefold(): each for each in profile.values if says_done(each, *kinds)}
    if words := tuple(charges) or tuple(done.values()):
        return words
    numbers = numbers_of(table.cells[name]).drop_nulls()
    if (
        not says_done(_IS.sub("", name), "void", "exchange") or "qty" in said or (numbers > 1).any()
    ):  # Returned Qty is a count
        return ()
    is_told = said & _WHEN_OR_WHY and 0 < profile.filled < 1  # Cancelled On, Cancel Reason
    return ("*",) if is_told else tuple(filter(says_yes, profile.words))
