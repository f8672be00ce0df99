"""What the end of a call proves before its content is read: by the trace and by the status alone."""

from enum import StrEnum

from logistics_batch.api.envelopes import Decoded, decode_json, looks_like_html, says_no
from logistics_batch.api.reply import LARGEST_LIST_BYTES, Reply

_WRONG_ADDRESS = (404, 405, 415)


class Meaning(StrEnum):
    """What a clean attempt proves; after an earlier doubt only ACCEPTED keeps its meaning."""

    ACCEPTED = "accepted"  # the service took it
    REFUSED = "refused"  # the service said no, and nothing happened
    NOT_SENT = "not_sent"  # the service never saw it
    UNAUTHORIZED = "unauthorized"  # the key is not taken; nothing happened
    SLOW_DOWN = "slow_down"  # too many calls; nothing happened
    MISADDRESSED = "misaddressed"  # wrong address or path; behind a redirect something else may stand (3xx)
    UNKNOWN = "unknown"  # nothing is proven


def by_status(reply: Reply, *, names_an_order: bool = False) -> Meaning | None:
    """The meaning where trace and status decide alone; None where the content must be read.

    names_an_order: a 404 with the service's own FAIL then speaks of the order, not of the address.
    """
    status = reply.status
    if status is None:
        return Meaning.UNKNOWN if reply.trace.send_started else Meaning.NOT_SENT
    if status == 401:
        return Meaning.UNAUTHORIZED
    if status == 429:
        return Meaning.SLOW_DOWN
    if status == 404 and names_an_order and says_no(content(reply).value):
        return None
    if status in _WRONG_ADDRESS or 300 <= status < 400:
        return Meaning.MISADDRESSED
    if status >= 500 or status < 200:
        return Meaning.UNKNOWN
    return None


def content(reply: Reply) -> Decoded:
    """The reply's JSON; none if the body is cut, too long or damaged."""
    if reply.failure or reply.truncated:
        return Decoded(problem="incomplete")
    return decode_json(reply.body, largest_bytes=LARGEST_LIST_BYTES)  # no more is read of a call than may be


def is_page(reply: Reply) -> bool:
    """Whether a web page came back."""
    return reply.status is not None and looks_like_html(reply.content_type, reply.body)
