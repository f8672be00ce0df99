"""The kinds of faults: what each does, and which keys of a rule it understands.

This table is the reference: plans are checked against it, and the page about faults is written from it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

BEFORE, AFTER = "before", "after"
_ONLY_BEFORE, _ONLY_AFTER = (BEFORE,), (AFTER,)
_EITHER_BEFORE, _EITHER_AFTER = (BEFORE, AFTER), (AFTER, BEFORE)

BREAKS, TIMES, STATUSES, BODIES, LABELS = "Broken connections", "Time", "Statuses", "Bodies", "Label PDFs"


@dataclass(frozen=True)
class FaultKind:
    """One kind of fault.

    phases: on which side of the effect it may stand, the usual one first: what comes ``before`` prevents the effect
    (a delay only puts it off), what comes ``after`` leaves it standing. options: the keys that only this kind
    understands, with their defaults.
    """

    group: str
    text: str
    phases: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)

    def keys(self) -> tuple[str, ...]:
        """The keys of a rule of this kind beside those that choose requests."""
        return (*(("phase",) if len(self.phases) > 1 else ()), *self.options)


_RETRY: Mapping[str, object] = {"retry_after": "1", "retry_after_as": "seconds"}

_KINDS = {
    "drop_before": FaultKind(
        BREAKS,
        "The connection breaks (reset) without an answer; nothing was done.",
        _ONLY_BEFORE,
    ),
    "drop_after": FaultKind(
        BREAKS,
        "The connection breaks (reset) without an answer, but all was done.",
        _ONLY_AFTER,
    ),
    "drop_midway": FaultKind(
        BREAKS,
        "The answer announces its whole length and ends too early: after `share` of its body, or (`part: head`) of its "
        "head.",
        _EITHER_AFTER,
        {"part": "body", "share": 0.5},
    ),
    "late_effect": FaultKind(
        BREAKS,
        "The connection breaks at once (with `answer: error_500` a 500 comes); the effect follows `seconds` later.",
        _ONLY_BEFORE,
        {"seconds": 5.0, "answer": "drop"},
    ),
    "close_after": FaultKind(
        BREAKS,
        "The answer is whole and promises to keep the connection, which is closed right behind it.",
        _ONLY_AFTER,
    ),
    "reset_after": FaultKind(
        BREAKS,
        "The answer is whole; then the connection is reset.",
        _ONLY_AFTER,
    ),
    "stale_keepalive": FaultKind(
        BREAKS,
        "The answer is whole; the next request on the same connection is reset unread: it was never received.",
        _ONLY_AFTER,
    ),
    "delay": FaultKind(
        TIMES,
        "Nothing happens for `seconds`: before the effect, or between the effect and the answer.",
        _EITHER_BEFORE,
        {"seconds": 0.0},
    ),
    "slow_drip": FaultKind(
        TIMES,
        "The answer trickles, `bytes_per_second` of its body or (`part: head`) of all of it; with `phase: before` it "
        "is a 500 that trickles.",
        _EITHER_AFTER,
        {"bytes_per_second": 10.0, "part": "body"},
    ),
    "rate_limit": FaultKind(
        TIMES,
        "A real rate limit for each API key: 429 with Retry-After and X-RateLimit-* beyond it; nothing was done.",
        _ONLY_BEFORE,
        {"per_second": 1.0, "burst": 1, "retry_after_as": "seconds"},
    ),
    "error_500_before": FaultKind(
        STATUSES,
        "500 in the service's own words (API §7); nothing was done.",
        _ONLY_BEFORE,
    ),
    "error_500_after": FaultKind(
        STATUSES,
        "500 in the service's own words (API §7), but all was done.",
        _ONLY_AFTER,
    ),
    "status_502": FaultKind(
        STATUSES,
        "502 with the page of a proxy; `page: false` gives JSON.",
        _EITHER_BEFORE,
        {"page": True},
    ),
    "status_503": FaultKind(
        STATUSES,
        "503, maintenance or overload; `retry_after: none` leaves the header out.",
        _EITHER_BEFORE,
        {"page": True, "retry_after": "none", "retry_after_as": "seconds"},
    ),
    "status_504": FaultKind(
        STATUSES,
        "504 with the page of a proxy that lost patience.",
        _EITHER_BEFORE,
        {"page": True},
    ),
    "status_429": FaultKind(
        STATUSES,
        "429; Retry-After in seconds, as a date (`retry_after_as: date`) or missing (`retry_after: none`).",
        _ONLY_BEFORE,
        {**_RETRY, "message": "Too many requests"},
    ),
    "status_400": FaultKind(
        STATUSES,
        "400 with FAIL and a message; nothing was done.",
        _ONLY_BEFORE,
        {"message": "Missing required parameters."},
    ),
    "status_401": FaultKind(
        STATUSES,
        "401 as with a wrong key: `from: 137` revokes a key in the middle of a run, `api_key` says which.",
        _ONLY_BEFORE,
    ),
    **{
        f"status_{status}": FaultKind(STATUSES, text, _ONLY_BEFORE, {"page": False, "message": message})
        for status, text, message in (
            (404, "404, as behind a wrong base URL; `page: true` gives a web page.", "Not Found"),
            (405, "405, as from a wrong path.", "Method Not Allowed"),
            (415, "415, as from a gateway that dislikes the content type.", "Unsupported Media Type"),
        )
    },
    **{
        f"redirect_{status}": FaultKind(
            STATUSES,
            "A redirect to `location`, another path or host; {path} in it stands for the path of the request.",
            _EITHER_BEFORE,
            {"location": "/moved{path}"},
        )
        for status in (301, 302, 307)
    },
    "gateway_page": FaultKind(
        STATUSES,
        "A gateway's own answer with the `status` 200, 400 or 502: a web page, or (`page: false`) JSON that is not the "
        "service's envelope.",
        _EITHER_BEFORE,
        {"status": 502, "page": True},
    ),
    "swapped_answer": FaultKind(
        BODIES,
        "The successful answer that another request to this endpoint got last, about something else, as from a cache "
        "or a proxy that mixes answers up; the own one while there was none.",
        _EITHER_AFTER,
    ),
    "html_200": FaultKind(
        BODIES,
        "200 with the sign-in page of a network.",
        _EITHER_BEFORE,
    ),
    "empty_200": FaultKind(
        BODIES,
        "200 without a body.",
        _EITHER_AFTER,
    ),
    "fail_200": FaultKind(
        BODIES,
        "200 whose body says FAIL, with a message.",
        _EITHER_BEFORE,
        {"message": "Unexpected error"},
    ),
    "pass_without_awb": FaultKind(
        BODIES,
        "The answer without awb_number and child_awb_numbers, wherever they stand.",
        _ONLY_AFTER,
    ),
    "truncated_json": FaultKind(
        BODIES,
        "The answer's JSON is cut after `share` of it; the length announced is that of the cut body.",
        _EITHER_AFTER,
        {"share": 0.5},
    ),
    "garbage_json": FaultKind(
        BODIES,
        "200 with `bytes` random bytes that call themselves JSON; the same ones for the same seed.",
        _EITHER_AFTER,
        {"bytes": 200},
    ),
    "gzip_garbage": FaultKind(
        BODIES,
        "200 that calls itself gzip, with `bytes` of something else behind the first ones.",
        _EITHER_AFTER,
        {"bytes": 200},
    ),
    "duplicate_keys": FaultKind(
        BODIES,
        'The answer\'s object begins with a second status: `{"status":"FAIL","status":"PASS",…}`.',
        _EITHER_AFTER,
    ),
    "wrong_types": FaultKind(
        BODIES,
        "The answer with wrong types: `as: numbers` for every text, its message in an `array`, or a message that is "
        "`null`.",
        _ONLY_AFTER,
        {"as": "numbers"},
    ),
    "nan_json": FaultKind(
        BODIES,
        "The answer's object begins with a NaN, which is no JSON.",
        _EITHER_AFTER,
    ),
    "huge_integer": FaultKind(
        BODIES,
        "The answer's object begins with an integer of so many `digits`.",
        _EITHER_AFTER,
        {"digits": 5_000},
    ),
    "deep_json": FaultKind(
        BODIES,
        "The answer's object begins with a list in a list in a list, so many `levels` deep.",
        _EITHER_AFTER,
        {"levels": 100_000},
    ),
    "oversized": FaultKind(
        BODIES,
        "The answer's object begins with `bytes` of padding.",
        _EITHER_AFTER,
        {"bytes": 2_000_000},
    ),
    **{
        f"label_{name}": FaultKind(LABELS, text, _ONLY_BEFORE)
        for name, text in (
            ("expired", "The link has expired."),
            ("truncated", "Half of the PDF, though HTTP counts it as whole."),
            ("html", "A web page comes in place of the PDF."),
            ("wrong", "The label of an order that is none of this service."),
            ("blank", "A PDF whose page is empty."),
            ("rotated", "A page that lies on its side and says so (`/Rotate 90`)."),
            ("cropped", "An A4 page cut down by a box to the label; outside stands an invoice."),
            ("encrypted", "The PDF needs a password."),
            ("hostile", "A small PDF whose pages go in a circle and unpack to a gigabyte."),
            ("oversized", "A PDF of 48 MB, with no length told before."),
        )
    },
}
KINDS: Mapping[str, FaultKind] = MappingProxyType(_KINDS)
"""Every kind of fault by its name."""

LABEL_KINDS = frozenset(name for name, kind in KINDS.items() if kind.group == LABELS)
