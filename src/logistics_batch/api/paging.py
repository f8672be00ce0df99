"""What an envelope tells of records that it does not hold: a total, a next page, more to come.

The contract names `count` and `next` for orders only and no paging at all for ASNs (API §4.1, §8.7), and services of
this kind are seen to use many words for both, beside the list or in an object of their own. Nothing here raises.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_NOT_SPOKEN = re.compile(r"[^a-z]+")
_TOTALS = frozenset(
    (
        *("count", "total", "totalcount", "totalresults", "totalrecords", "totalelements", "totalitems", "totalrows"),
        *("totalhits", "totalsize", "totalnumber", "recordstotal", "recordsfiltered", "recordcount", "resultcount"),
        *("resultscount", "itemcount", "rowcount", "numfound", "numresults", "odatacount"),
    )
)
_PAGES = frozenset(("totalpages", "pagecount", "pagestotal", "numpages", "pages", "lastpage"))
_MORE = frozenset(("hasmore", "hasnext", "hasnextpage", "more", "moreresults", "moreavailable", "truncated"))
_MORE |= {"istruncated", "partial", "incomplete"}
_NEXT = frozenset(("next", "nextpage", "nextlink", "nexturl", "nexthref", "nextcursor", "nexttoken", "nextpagetoken"))
_NEXT |= {"nextoffset", "nextstart", "continuationtoken", "odatanextlink"}
_WHERE = frozenset(("meta", "metadata", "pagination", "paging", "pager", "page", "pageinfo", "links", "info", "cursor"))
_DEEPEST = 3
_LONGEST_NUMBER = 40  # digits
_NOTHING = ("", "0", "-1", "null", "none", "false", "no")


@dataclass(frozen=True, slots=True)
class Paging:
    """count: what `count` beside the list says. total: the largest number of records under any usual name.

    next: the next page, or the word that says that there is more.
    """

    count: int | None = None
    total: int = 0
    next: str | None = None


def paging_of(envelope: dict[str, Any]) -> Paging:
    """What an envelope says of what it does not hold, itself or in an object for it (meta, pagination, …)."""
    told = list(_told(envelope))
    totals = [number for name, value in told if name in _TOTALS and (number := _number(value)) is not None]
    following = [text for name, value in told if (text := _following(name, value))]
    return Paging(_number(envelope.get("count")), max(totals, default=0), next(iter(following), None))


def _told(envelope: dict[str, Any], *, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The names, in small letters alone, and what stands under them; only objects that tell of pages are entered."""
    for key, value in envelope.items():
        name = _NOT_SPOKEN.sub("", key.lower())
        yield name, value
        if name in _WHERE and isinstance(value, dict) and depth < _DEEPEST:
            yield from _told(value, depth=depth + 1)
        elif name in _WHERE and isinstance(value, list):
            yield from ((str(link.get("rel")).lower(), link) for link in value if isinstance(link, dict))


def _number(value: object) -> int | None:
    if isinstance(value, str):
        digits = value.strip()
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < _LONGEST_NUMBER else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _following(name: str, value: object) -> str:
    """The next page, or the word for more to come; "" for neither."""
    if name in _PAGES:
        pages = _number(value)
        return f"{name} {pages}" if pages is not None and pages > 1 else ""
    if name not in _MORE | _NEXT:
        return ""
    if isinstance(value, dict):
        value = value.get("href", value.get("url"))  # as HAL and JSON:API link
    text = str(value).strip() if isinstance(value, str | int) else ""
    if text.casefold() in _NOTHING or (isinstance(value, str) and not text.strip("0 ")):
        return ""
    # A number or text under `more` or `partial` may be anything else, a message for one.
    return name if name in _MORE and text.casefold() in ("true", "yes", "1") else text * (name in _NEXT)
