"""What is told to people, as codes and values; the words stand once, in the catalogue, and are rendered at the edge.

A code is a rule as users see it, with a variant behind a full stop where one rule has several texts: `date.no_such_day`
is told as rule `date`. Values are JSON: texts, whole numbers, lists of these, or further messages as [code, values].
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from logistics_batch.messages.cells import CELLS, LINES, ORDERS, ROWS
from logistics_batch.messages.documents import DOCUMENTS
from logistics_batch.messages.entry import Entry
from logistics_batch.messages.files import FILES, LEFT, STORES
from logistics_batch.messages.mappings import MAPPINGS
from logistics_batch.messages.reading import READING
from logistics_batch.messages.runs import RUNS
from logistics_batch.messages.sheets import NOTES, SHEETS
from logistics_batch.messages.words import Words, clock_time, moment

__all__ = [
    "CATALOGUE",
    "Entry",
    "clock_time",
    "codes_of",
    "moment",
    "operator_words",
    "packed",
    "reason",
    "remedy",
    "rule_of",
    "told",
    "unpacked",
    "without_values",
]

Values = Mapping[str, Any]
_SUBJECTS: Final = (CELLS, DOCUMENTS, FILES, LEFT, LINES, MAPPINGS, NOTES, ORDERS, READING, ROWS, RUNS, SHEETS, STORES)

CATALOGUE: Final[dict[str, Entry]] = {code: entry for subject in _SUBJECTS for code, entry in subject.items()}
"""The words of each code. A code stands in one subject only."""

if len(CATALOGUE) != sum(map(len, _SUBJECTS)):
    raise ValueError("A code stands twice in the catalogue.")


def rule_of(code: str) -> str:
    """The rule that users see: the code without its variant."""
    return code.partition(".")[0]


def codes_of(*rules: str) -> tuple[str, ...]:
    """All codes of these rules."""
    return tuple(code for code in CATALOGUE if rule_of(code) in rules)


def reason(code: str, values: Values) -> str:
    """What is wrong, for the clerk."""
    return _rendered(code, "reason", values)


def remedy(code: str, values: Values) -> str:
    """What to do about it, for the clerk; "" where there is nothing to do."""
    return _rendered(code, "remedy", values)


def operator_words(code: str, values: Values) -> str:
    """What the operator does about it; what the clerk does, where that is all."""
    return _rendered(code, "operator", values) or remedy(code, values)


@lru_cache(maxsize=10_000)
def told(code: str, values: str) -> tuple[str, str]:
    """Reason and remedy for the clerk. values: packed."""
    given = unpacked(values)
    return reason(code, given), remedy(code, given)


def packed(values: Values) -> str:
    """Values as compact JSON, as frames and the ledger keep them; "" where there are none."""
    return json.dumps(dict(values), ensure_ascii=False, separators=(",", ":")) if values else ""


def unpacked(text: str | None) -> dict[str, Any]:
    """The values of a packed text."""
    return dict(json.loads(text)) if text else {}


def without_values(code: str, **shown: str) -> str:
    """What is wrong, with an … for each value but those that may be shown."""
    found = []
    for text, name, form, _ in _WORDS.parse(_entry(code).reason if code else ""):
        one, is_word, many = (form or "").partition("|")
        value = many if is_word and one else shown.get(name or "", "…")
        found += [text, value if name is not None else ""]
    return "".join(found)


def _entry(code: str) -> Entry:
    return CATALOGUE.get(code) or CATALOGUE[code.rpartition("|")[2]]  # a field of the mapping may stand before it


def _rendered(code: str, part: str, values: Values) -> str:
    if not code:
        return ""
    text: str = getattr(_entry(code), part)
    if not values and any(name for _, name, _, _ in _WORDS.parse(text)):
        return ""  # its values were purged: only the rule is left
    return _WORDS.vformat(text, (), values)


_WORDS = Words(nested=reason)
