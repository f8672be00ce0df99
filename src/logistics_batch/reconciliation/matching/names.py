"""Whether two parties are one, several or not to be told by their names: spellings, parts of a name, codes for it."""

from collections.abc import Iterable

import polars as pl

_BEGINNING = 3
_NAME_LETTERS = 5


def other_parties(pairs: pl.DataFrame, ours: str, theirs: str) -> pl.Series:
    """Of each two lists of names whether they are two parties (True) or one (False) for certain, null if not told."""
    named = pairs.select(pl.col(name).list.join("|").alias(f"{name} joined") for name in (ours, theirs))
    # Worked out once for each pair of names, of which there are few.
    few = named.hstack(pairs.select(ours, theirs)).unique(named.columns)
    verdicts = [are_others(*names) for names in few.select(ours, theirs).iter_rows()]
    told = few.select(named.columns).with_columns(pl.Series("others", verdicts, pl.Boolean))
    return named.join(told, on=named.columns, how="left", nulls_equal=True, maintain_order="left")["others"]


def are_others(ours: Iterable[str] | None, theirs: Iterable[str] | None) -> bool | None:
    """Whether two parties, each known by its names (`spelling`), are two (True) or one (False); None: it is not told.

    Names that begin alike, or of which one holds the other, may be one name in two spellings. Two codes of one form
    ("b1" and "b2", "site01" and "site02") are two; a code and a name, or names in two scripts, cannot be compared.
    """
    known = [name for name in theirs or () if name]
    verdicts = {one != name and _differ(one, name) for one in ours or () if one for name in known} - {None}
    return verdicts.pop() if len(verdicts) == 1 else None


def _differ(one: str, two: str) -> bool | None:
    """True for two names, False for one in two spellings, None where they cannot be compared."""
    if _form(one) == _form(two) and any(letter.isdigit() for letter in one):
        return True
    if _is_code(one) or _is_code(two) or one.isascii() != two.isascii():
        return None
    shorter, longer = sorted((_bare(one), _bare(two)), key=len)
    begin_alike = shorter[:_BEGINNING] == longer[:_BEGINNING]
    return not (begin_alike or (len(shorter) >= _BEGINNING and shorter in longer))


def _form(name: str) -> str:
    return "".join("9" if letter.isdigit() else "a" for letter in name)


def _is_code(name: str) -> bool:
    letters = sum(letter.isalpha() for letter in name)
    return letters < len(name) and letters < _NAME_LETTERS


def _bare(name: str) -> str:
    """Without "Messrs" or "M/s" before it."""
    for title in ("messrs", "ms"):
        if len(name) > len(title) + _BEGINNING and name.startswith(title):
            return name.removeprefix(title)
    return name
