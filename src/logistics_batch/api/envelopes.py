"""Reading JSON that nobody vouches for, and the envelopes in which services put their answers.

The contract shows `{status, message}` for orders and webhooks and nothing for ASNs (API §1, §4.1); services of this
kind are seen to use other shapes, and all of them are taken. Nothing here raises on any input.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from logistics_batch.api.reply import LARGEST_BODY_BYTES

LONGEST_MESSAGE = 500
_LONGEST_NUMBER = 40  # digits; Python refuses 4,301 and any sane service stays far below
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_JOINERS = "\u200c\u200d"  # invisible, but Indian scripts cannot be written without them
_LIST_KEYS = ("result", "results", "data", "message")
_LINE_KEYS = ("sku_lines", "lines", "items")
_DEEPEST_ENVELOPE = 4
# What answers of undocumented form say besides the contract's words, and by what they name a thing.
_ALSO_YES = ("OK", "CREATED")
_ALSO_NO = ("REJECTED", "INVALID", "DENIED", "UNAUTHORIZED", "FORBIDDEN")
_IDENTITIES = ("invoice_number", "id", "asn_id", "webhookid")
# The contract names `count` and `next` for orders only and no paging at all for ASNs (API §4.1, §8.7); services of this
# kind are seen to use many words for both, beside the list or in an object of their own.
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
_DEEPEST_PAGING = 3
_NOTHING = ("", "0", "-1", "null", "none", "false", "no")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body as JSON; `problem` says why it is none, "" if it is."""

    value: Any = None
    problem: str = ""


def decode_json(body: bytes, *, largest_bytes: int = LARGEST_BODY_BYTES) -> Decoded:
    """Read a body strictly: duplicate keys, NaN, endless numbers and anything after the end make it no JSON."""
    if len(body) > largest_bytes:
        return Decoded(problem=f"longer than {largest_bytes >> 20} MB")
    if not body.strip():
        return Decoded(problem="empty")
    try:
        value = json.loads(
            body.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_constant=_no_number,
            parse_int=_integer,
            parse_float=_fraction,
        )
        if _SURROGATE.search(body):
            json.dumps(value, ensure_ascii=False).encode()  # half a character could not be stored
    except RecursionError:
        return Decoded(problem="nested too deeply")
    except ValueError as error:  # of json, of the text's encoding and of the functions below
        return Decoded(problem=plain(str(error), limit=100))
    return Decoded(value)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _integer(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError("a number is too long")
    return int(digits)


def _fraction(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def plain(text: str, *, limit: int = LONGEST_MESSAGE) -> str:
    """Text of unknown origin, safe to show: one line, control characters visible, cut.

    >>> plain("no\\n such\\x1b[2J order")
    'no such\\\\x1b[2J order'
    """
    # Cut first: each character gives at most ten, so that a long text does not cost long work.
    line = " ".join(text[: limit * 4].split())
    shown = "".join(
        sign if sign.isprintable() or sign in _JOINERS else sign.encode("unicode_escape").decode("ascii")
        for sign in line
    )
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def as_text(value: object) -> str:
    """A scalar as text: ids come as numbers or texts; "" for anything else."""
    if isinstance(value, str):
        exact = value.strip()
        return exact if exact.isprintable() and len(exact) <= LONGEST_MESSAGE else plain(exact)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return str(int(value)) if float(value).is_integer() else str(value)


def first_of(line: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of these fields that says something, "" where none does; of an object its name."""
    for name in names:
        value = line.get(name)
        text = as_text(value.get("name")) if isinstance(value, dict) else as_text(value)
        if text:
            return text
    return ""


def status_word(value: object) -> str:
    """The envelope's status in capitals: PASS, SUCCESS, FAIL; "" if there is none."""
    if not isinstance(value, dict):
        return ""
    status = value.get("status")
    return status.strip().upper() if isinstance(status, str) else ""


def says_yes(value: object) -> bool:
    """Whether the envelope claims success (API §1)."""
    return status_word(value) in ("PASS", "SUCCESS")


def says_no(value: object) -> bool:
    """Whether the envelope claims failure, in the contract's word or a near one."""
    if status_word(value) in ("FAIL", "FAILED", "FAILURE", "ERROR"):
        return True
    return isinstance(value, dict) and (value.get("status") is False or value.get("success") is False)


def confirms(value: object) -> bool:
    """Whether an answer of a form that is not documented says that the thing is there (API §4.1-4.3, §4.12).

    It does with a word for yes, or by naming the thing (its id, its invoice number), and with nothing in it that says
    no. That it is JSON and comes with 200 is not enough: errors do, too.
    """
    told = _told(value)
    return any(map(_affirms, told)) and not any(map(_denies, told))


def invoice_told(value: object) -> str:
    """The invoice number of the one ASN that an answer names; "" for none or several."""
    numbers = {as_text(each.get("invoice_number")) for each in _told(value)} - {""}
    return numbers.pop() if len(numbers) == 1 else ""


def _told(value: object, *, depth: int = 0) -> list[dict[str, Any]]:
    """The envelope and what stands in it, each with its names in small letters."""
    if isinstance(value, list):
        return [each for one in value if isinstance(one, dict) for each in _told(one, depth=depth)]
    if not isinstance(value, dict) or depth > _DEEPEST_ENVELOPE:
        return []
    named = {name.casefold(): one for name, one in value.items()}
    return [named, *(each for key in _LIST_KEYS for each in _told(named.get(key), depth=depth + 1))]


def _affirms(told: dict[str, Any]) -> bool:
    if says_yes(told) or status_word(told) in _ALSO_YES or told.get("success") is True or told.get("status") is True:
        return True
    return any(as_text(told.get(name)) not in ("", "0") for name in _IDENTITIES)


def _denies(told: dict[str, Any]) -> bool:
    if says_no(told) or status_word(told) in _ALSO_NO or any(told.get(name) for name in ("error", "errors")):
        return True
    if any(str(told.get(name)).casefold() in ("false", "no", "0") for name in ("success", "ok", "status")):
        return True
    codes = [as_text(told.get(name)) for name in ("status", "statuscode", "status_code", "code")]
    return any(code.isdecimal() and 400 <= int(code) < 600 for code in codes if len(code) == 3)


def message_of(value: object) -> str:
    """What the service says, as one line: its `message`, be it text, object, list or null."""
    if isinstance(value, str):
        return plain(value)
    if not isinstance(value, dict):
        return ""
    message = value.get("message")
    if message is None:
        message = value.get("error", value.get("detail"))
    if isinstance(message, str):
        return plain(message)
    if message is None:
        return ""
    return plain(json.dumps(message, ensure_ascii=False))


def looks_like_html(content_type: str, body: bytes) -> bool:
    """Whether a page for people came back instead of an answer for programs."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "html" in content_type.lower() or start.startswith((b"<!doctype", b"<html", b"<head", b"<body"))


@dataclass(frozen=True, slots=True)
class AsnPage:
    """The records of one answer to an ASN search, as they came.

    count: how many there are as the envelope says. next: the next page that it names, or its word for more to come.
    """

    records: tuple[dict[str, Any], ...] = field(repr=False)
    count: int | None = None
    next: str | None = None


def find_records(value: object, *, depth: int = 0) -> AsnPage | None:
    """The records wherever the envelope holds them; None if it holds none that can be recognised.

    A list; a list or an object keyed by id under `result`, `results`, `data` or `message`; or one record alone.
    """
    if isinstance(value, list):
        return AsnPage(tuple(value)) if all(isinstance(record, dict) for record in value) else None
    if not isinstance(value, dict) or depth > _DEEPEST_ENVELOPE:
        return None
    if _is_record(value):
        return AsnPage((value,))
    for key in _LIST_KEYS:
        if isinstance(value.get(key), list | dict):
            return _with_paging(find_records(value[key], depth=depth + 1), value)
    if depth and not value:
        return AsnPage(())
    if value and all(isinstance(record, dict) and _is_record({"id": key} | record) for key, record in value.items()):
        return AsnPage(tuple({"id": key} | record for key, record in value.items()))
    return None


def _is_record(value: dict[str, Any]) -> bool:
    """Whether this is an ASN, as far as one can tell; what is none must not be counted as one that differs."""
    if isinstance(value.get("invoice_number"), str | int):
        return True
    return "id" in value and any(key in value for key in _LINE_KEYS)


def _with_paging(found: AsnPage | None, envelope: dict[str, Any]) -> AsnPage | None:
    """The records with what the envelope says of more; a total under another name than `count` proves no wholeness."""
    if found is None:
        return None
    told = list(_told_of_pages(envelope))
    totals = [number for name, value in told if name in _TOTALS and (number := _count(value)) is not None]
    following = [text for name, value in told if (text := _following(name, value))]
    counts = [count for count in (_count(envelope.get("count")), found.count) if count is not None]
    named, total = max(counts, default=None), max(totals, default=0)
    short = total > max(len(found.records), named or 0)
    return AsnPage(found.records, total if short else named, next(iter(following), found.next))


def find_lines(record: dict[str, Any], *keys: str) -> tuple[dict[str, Any], ...]:
    """The lines of a record: a list, an object keyed by id (the id is added), or either of them as JSON text."""
    for key in keys or _LINE_KEYS:
        lines = record.get(key)
        if isinstance(lines, str):
            lines = decode_json(lines.encode(errors="replace")).value
        if isinstance(lines, list):
            return tuple(line for line in lines if isinstance(line, dict))
        if isinstance(lines, dict):
            return tuple({"id": name} | line for name, line in lines.items() if isinstance(line, dict))
    return ()


def _told_of_pages(envelope: dict[str, Any], *, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The names, in small letters alone, and what stands under them; only objects that tell of pages are entered."""
    for key, value in envelope.items():
        name = _NOT_SPOKEN.sub("", key.lower())
        yield name, value
        if name in _WHERE and isinstance(value, dict) and depth < _DEEPEST_PAGING:
            yield from _told_of_pages(value, depth=depth + 1)
        elif name in _WHERE and isinstance(value, list):
            yield from ((str(link.get("rel")).lower(), link) for link in value if isinstance(link, dict))


def _count(value: object) -> int | None:
    if isinstance(value, str):
        digits = value.strip()
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < _LONGEST_NUMBER else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _following(name: str, value: object) -> str:
    """The next page, or the word for more to come; "" for neither."""
    if name in _PAGES:
        pages = _count(value)
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
