"""What probably fills a place of a mapping, with the evidence for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from logistics_batch.mapping.suggest.head import Fact

SURE: Final = 0.8
"""Below it a person is asked."""

Reason = tuple[str, ...]
"""What speaks for or against a column: a code of `text` and the values of its words."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may fill a place: a column, several that are joined, or a fact above the table; how sure it is, and why."""

    columns: tuple[str, ...]
    confidence: float
    reasons: tuple[Reason, ...]
    fact: Fact | None = None


@dataclass(frozen=True, slots=True)
class Guess:
    """What probably fills a place (`fields.customer_mobile`).

    candidates: the likeliest first; none if nothing was found. confidence, reasons: of the first, held against the
    others. asked: a person has to say which one does, if any. added_up: an amount that differs from row to row of one
    document, which is added up; times: after being multiplied by this column; cartons: by as many as this one names.
    """

    place: str
    candidates: tuple[Candidate, ...]
    confidence: float
    reasons: tuple[Reason, ...]
    asked: bool = False
    added_up: bool = False
    times: str = ""
    cartons: str = ""

    @classmethod
    def of(cls, place: str, first: Candidate) -> "Guess":
        """The guess that a candidate fills a place."""
        return cls(place, (first,), first.confidence, first.reasons)

    @classmethod
    def among(cls, place: str, candidates: Sequence[Candidate]) -> "Guess":
        """The question which of some candidates fills a place, if any."""
        first = candidates[0]
        return cls(place, tuple(candidates), first.confidence, first.reasons, asked=True)

    @property
    def column(self) -> str:
        """The likeliest column, or the first one of several that are joined; "" if there is none."""
        return next(iter(self.candidates[0].columns), "") if self.candidates else ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, or asked about."""
        if len(self.candidates) > 1 and self.asked:
            return tuple(name for each in self.candidates for name in each.columns[:1])
        return self.candidates[0].columns if self.candidates else ()

    @property
    def fact(self) -> Fact | None:
        """The fact above the table that is read, or asked about."""
        return self.candidates[0].fact if self.candidates else None
