"""Values as people read them: names in quotation marks, rows as ranges, days, and one or many."""

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Nested = Callable[[str, Mapping[str, Any]], str]


class Words(string.Formatter):
    """Formats of values in the catalogue's texts; any other format is Python's own.

    `{names:names}`: "A", "B" and 3 more; `names 20` shows up to 20, `list 20` without quotation marks. `{names:all}`:
    "A" and "B"; `any` with or. `{sheet:sheet}`: Sheet "A", or The file. `{held:held}`: of pairs, "A" holds 2 and "B"
    holds 1. `{rows:numbers}`: 3, 5, 6. `{rows:rows}`: 3, 5-7. `{rows:in rows}`: row 3, rows 3-5, or 40 rows: 3-5, 9 …
    `{day:day}`: 3 November 2026, of an ISO date. `{at:moment}`: a time of the ledger. `{run:run}`: in run R1, or
    settled by hand. `{count:row|rows}`: the word that fits a number or the length of a list. `{hints:messages}`:
    further messages, one behind the other, or with what stands behind `messages ` between them. `{parts:joined  and }`:
    texts with " and " between them. A space before a format stands before its text, unless that is empty.
    """

    def __init__(self, *, nested: Nested) -> None:
        """nested: renders a message within another one's values."""
        self._nested = nested

    def format_field(self, value: Any, format_spec: str) -> str:
        """One value as its text."""
        if format_spec.startswith(" "):
            text = self.format_field(value, format_spec[1:])
            return f" {text}" if text else ""
        if "|" in format_spec:
            one, many = format_spec.split("|")
            count = value if isinstance(value, int) else len(value)
            return one if count == 1 else many
        kind, _, limit = format_spec.partition(" ")
        match kind:
            case "names":
                return listed(value, limit=int(limit or 5))
            case "list":
                return shortened(value, limit=int(limit or 5))
            case "sheet":
                return f'Sheet "{value}"' if value else "The file"
            case "numbers":
                return ", ".join(map(str, value))
            case "any":
                return " or ".join(f'"{name}"' for name in value)
            case "sheets":
                return listed(value) or "none that has a name"
            case "all":
                return " and ".join(f'"{name}"' for name in value)
            case "held":
                return " and ".join(f'"{name}" holds {count}' for name, count in value)
            case "rows":
                return row_list(value)
            case "in":
                return in_rows(value)
            case "day":
                day = date.fromisoformat(value)
                return f"{day.day} {day:%B %Y}"
            case "moment":
                return moment(value)
            case "run":  # the command `settle` has no run
                return "settled by hand" if value == "settle" else f"in run {value}"
            case "messages":
                return (limit or " ").join(self._nested(code, values) for code, values in value)
            case "joined":
                return limit.join(value)
        return str(super().format_field(value, format_spec))


def moment(text: str) -> str:
    """A time of the ledger to the minute, with its offset: that of the settings' zone when it was written down.

    >>> moment("2026-11-03T21:15:00.123456+05:30")
    '2026-11-03 21:15+05:30'
    """
    return datetime.fromisoformat(text).isoformat(" ", "minutes") if text else ""


def clock_time(at: datetime) -> str:
    """The same of a moment without its day.

    >>> clock_time(datetime.fromisoformat("2026-11-03T21:15:00+05:30"))
    '21:15+05:30'
    """
    return at.isoformat(" ", "minutes").partition(" ")[2]


def listed(names: Iterable[str], *, limit: int = 5) -> str:
    """Names in words, the first few of them."""
    return shortened([f'"{name}"' for name in names], limit=limit)


def shortened(shown: Sequence[str], *, limit: int, separator: str = ", ", noun: str = "") -> str:
    """A list in words, as far as its first entries, and how many more there are.

    >>> shortened(["A", "B", "C"], limit=2, noun=" lists"), shortened(["A", "B", "C"], limit=1, separator="; ")
    ('A, B and 1 more lists', 'A; and 2 more')
    """
    more = f"{separator.lstrip(',')}and {len(shown) - limit} more{noun}" if len(shown) > limit else ""
    return separator.join(shown[:limit]) + more


def rupees(amount: Decimal) -> str:
    """An amount in lakh grouping.

    >>> rupees(Decimal("1234567.5"))
    '₹ 12,34,567.50'
    """
    whole, _, paise = f"{abs(amount):.2f}".partition(".")
    head, tail = whole[:-3], whole[-3:]
    groups: list[str] = []
    while head:
        groups.insert(0, head[-2:])
        head = head[:-2]
    return f"₹ {'-' if amount < 0 else ''}{','.join([*groups, tail])}.{paise}"


def row_list(rows: Sequence[int], *, limit: int = 8) -> str:
    """Row numbers in words; neighbours as a range.

    >>> row_list([3, 5, 6, 7])
    '3, 5-7'
    """
    ranges: list[list[int]] = []
    for row in rows:
        if ranges and row == ranges[-1][1] + 1:
            ranges[-1][1] = row
        elif len(ranges) > limit:
            break
        else:
            ranges.append([row, row])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[:limit]]
    return ", ".join(shown) + (" …" if len(ranges) > limit else "")


def in_rows(rows: Sequence[int]) -> str:
    """Rows in words; of many their number and the first ones.

    >>> in_rows([3, 4])
    'rows 3-4'
    """
    named = row_list(rows)
    return f"{len(rows):,} rows: {named}" if named.endswith("…") else f"row{'' if len(rows) == 1 else 's'} {named}"
