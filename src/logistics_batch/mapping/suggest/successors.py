"""Which new column is the one that a mapping misses: by its name and, against it, by its values."""

import difflib
from collections.abc import Sequence
from typing import Final

import polars as pl

from logistics_batch.mapping.loaded import Mapping
from logistics_batch.mapping.rows.header import Header
from logistics_batch.mapping.spec.names import ColumnName
from logistics_batch.mapping.spec.targets import FieldForm, form_of
from logistics_batch.mapping.suggest.names import LIKELY, likeness, likeness_of_names, names_of_targets, reading_of
from logistics_batch.mapping.suggest.table import Profile, profile_of
from logistics_batch.model.sheet import Sheet

_SAMPLED_ROWS: Final = 300
_SPELT_ALIKE: Final = 0.8
_TELLING: Final = 0.15  # what values say that hardly anything else looks like
_LOOKED_AT: Final = 40  # new columns; a file with more of them is another layout
_LONGEST_NAME: Final = 100
_LETTERS_OF_A_WORD: Final = 5  # shorter ones stand in others by chance
_HALF: Final = 0.5


def successor_of(mapping: Mapping, sheet: Sheet, header: Header, group: Sequence[str], *, shape: str = "") -> str:
    """The new column that is most like a missing one by its name, else the first whose values have a shape; "" if none.

    group: the names of the missing column. Values that speak against a column outweigh its name.
    """
    fresh = [name for name in header.unknown[:_LOOKED_AT] if len(name) <= _LONGEST_NAME]
    likely = {
        new: max(likeness_to(mapping, sheet, header, group, new), LIKELY * _is_within(group[0], new)) for new in fresh
    }
    best = max(fresh, key=lambda new: likely[new], default="")
    if likely.get(best, 0.0) >= LIKELY:
        return best
    return next((new for new in fresh if shape and _profile_below(sheet, header, new).share(shape) > _HALF), "")


def _is_within(one: str, other: str) -> bool:
    """Whether one of two names is the other one with more words: `Priority` and `Priority level`."""
    shorter, longer = sorted((ColumnName.of(one).identity, ColumnName.of(other).identity), key=len)
    return len(shorter) >= _LETTERS_OF_A_WORD and shorter in longer


def likeness_to(mapping: Mapping, sheet: Sheet, header: Header, group: Sequence[str], new: str) -> float:
    """How likely a new column is the missing one: by its name and, against it, by its values."""
    known, reading = names_of_targets(mapping.operation), reading_of(new)
    best = max(max(_spelt_alike(name, new), likeness_of_names(new, name)) for name in group)
    for place, field in mapping.spec.everything.items():
        if not any(group[0] in names for names in field.columns):
            continue
        part, target = place.split(".", 1)
        names = known.get(f"{part.removeprefix('kit_')}.{target}")
        best = max(best, 0.9 * likeness(reading, names)) if names else best
        form = form_of(target, mapping.operation) if part != "keep" else FieldForm.TEXT
        fits = _profile_below(sheet, header, new).fits(form)
        if fits is False:
            return 0.0
        is_telling = fits and form in (FieldForm.MOBILE, FieldForm.PINCODE) and best > 0
        best = min(1.0, best + _TELLING) if is_telling else best
    return best


def _profile_below(sheet: Sheet, header: Header, name: str) -> Profile:
    """What the first cells below one of the header's names look like."""
    column = next(number for number, text in enumerate(header.texts, 1) if text.strip() == name)
    cells = sheet.frame.select(pl.col(str(column)).filter(pl.col("row") > header.row).head(_SAMPLED_ROWS))
    return profile_of(tuple(cells.to_series()))


def _spelt_alike(one: str, other: str) -> float:
    if max(len(one), len(other)) > _LONGEST_NAME:  # to compare them takes the square of their length
        return 0.0
    ratio = difflib.SequenceMatcher(None, ColumnName.of(one).identity, ColumnName.of(other).identity).ratio()
    return ratio if ratio > _SPELT_ALIKE else 0.0
