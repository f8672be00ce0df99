"""What the answer to one search for ASNs is: a page of them, none, or an error and whose (API §4.1, §7)."""

from logistics_batch.api.answers import AsnPage, Meaning, ReadFailed, judge, read_asns
from logistics_batch.api.client import Reply
from logistics_batch.api.envelopes import decode_json, says_no
from logistics_batch.errors import KeyRefused, RunStopped, ServiceMisaddressed, UsageError


class SaysNone(ServiceMisaddressed):
    """404 with the service's own FAIL: it has no such ASN, or its address is wrong."""


def page_of(reply: Reply, *, divisible: bool) -> AsnPage:
    """The page in a reply; an answer too long or too slow for one page is an empty one if it can be divided.

    Raises KeyRefused, SaysNone, ServiceMisaddressed, UsageError for the service's own no, RunStopped for the rest.
    """
    page = read_asns(reply)
    if not isinstance(page, ReadFailed):
        return page
    if reply.truncated or (divisible and reply.failure in ("timeout", "deadline")):
        return AsnPage(())
    if reply.status == 404 and says_no(decode_json(reply.body).value):
        raise SaysNone(
            f"The service says of all that was asked: {page.message}",
            remedy="Check service.base_url and service.paths in logistics-batch.toml.",
        )
    _raise_for(page, is_page=judge(reply, operation="asn.fetch").looks_like_html)
    raise RunStopped(f"The service could not be asked for ASNs: {page.brief}", remedy="Run it again later.")


def _raise_for(failed: ReadFailed, *, is_page: bool) -> None:
    if failed.meaning is Meaning.UNAUTHORIZED:
        raise KeyRefused(
            f"The service refused the API key: {failed.brief}",
            remedy="Check the key itself, whether it was handed out in base64, and proxies that drop API_KEY.",
        )
    if failed.meaning is Meaning.MISADDRESSED or is_page:
        raise ServiceMisaddressed(
            f"The answer to the ASN search does not come from the service: {failed.brief}",
            remedy="Check service.base_url and service.paths in logistics-batch.toml.",
        )
    if failed.meaning is Meaning.REFUSED:
        raise UsageError(f"The service refused the ASN search: {failed.message}", remedy="Change dates or filters.")


def told_by(reply: Reply) -> str:
    """What came instead of ASNs; with the words of the service where it is its own no, and no failure within it."""
    failed = read_asns(reply)
    if not isinstance(failed, ReadFailed):
        return ""
    return failed.message if reply.status is not None and reply.status < 500 else failed.brief
