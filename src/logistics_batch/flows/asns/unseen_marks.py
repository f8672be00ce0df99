"""Marks that nobody sees in what the service tells: ASNs are compared without them, and a note shows where they stand.

A reply may hold a zero width space, a soft hyphen or a byte order mark in a SKU or invoice number, pasted in somewhere
on the way. People read the same name, so a line must not be called missing for it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from logistics_batch.intake.names import printable
from logistics_batch.model.counting import counted
from logistics_batch.model.spelling import is_unseen

_JOINERS: Final = "\u200c\u200d"  # Indian scripts cannot be written without them
_KEYS: Final = ("invoice_number", "sku_name", "name", "item_name", "sku")
_NAMED: Final = 3
_DEEPEST: Final = 6


def as_seen(value: Any, *, depth: int = 0) -> Any:
    """A value of JSON without the marks that nobody sees in its texts; itself where there are none.

    >>> as_seen({"sku_name": "W-1\\u200b", "qty": 5})
    {'sku_name': 'W-1', 'qty': 5}
    """
    if isinstance(value, str):
        return value if value.isprintable() else "".join(c for c in value if c in _JOINERS or not is_unseen(c))
    if depth < _DEEPEST and isinstance(value, dict):
        return {name: as_seen(each, depth=depth + 1) for name, each in value.items()}
    if depth < _DEEPEST and isinstance(value, list):
        return [as_seen(each, depth=depth + 1) for each in value]
    return value


def unseen_note(records: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Which invoice numbers and SKUs of the service hold such marks, which the note shows; none if none does."""
    found = dict.fromkeys(text for record in records for text in _keys(record) if as_seen(text) != text)
    if not found:
        return ()
    first = ", ".join(f'"{printable(text)}"' for text in list(found)[:_NAMED])
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    texts = f"{counted(len(found), 'text')} of the service's replies"
    return (f"Marks that nobody sees stand in {texts} ({first}{more}): invoice numbers and SKUs are compared without.",)


def _keys(value: Any, *, depth: int = 0) -> Iterable[str]:
    """The texts under the names by which ASNs and their lines are known."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            if isinstance(each, str):
                yield from [each] if name in _KEYS else []
            elif depth < _DEEPEST:
                yield from _keys(each, depth=depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each, depth=depth + 1)
