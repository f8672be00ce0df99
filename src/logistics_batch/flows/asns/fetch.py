"""Fetch ASNs by a range of dates, and find out whether the service's answer was whole.

The contract shows no body, no paging and no largest number of results (API §4.1, §8.7), so an answer is trusted only as
far as it can be tested. One that says itself that there is more, or that came cut or too late, falls into halves, down
to a day, and a day into the statuses. Any other is held against its halves once, the longest first: where they hold
more, answers of that length are cut. Where nothing parts an answer, it is cut if one for more days is no longer, though
those days hold ASNs. That it has a round length proves nothing.

A question that the service answers with an error falls into halves, too: what lies in the others is fetched, and what
stays unanswered is said. Nothing is fetched where nothing was answered at all.

What a 404 with the service's own FAIL means is not documented (API §4.1, §7): that there is none, or that the address
is wrong. It is taken for none where the service answers the same question for more days; else it is a doubt.
"""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from logistics_batch.api.answers import ReadFailed, ReplyVerdict, asn_header, asn_lines, judge, read_asns
from logistics_batch.api.client import Reply
from logistics_batch.api.content_match import record_digest
from logistics_batch.api.envelopes import AsnPage, decode_json, says_no
from logistics_batch.errors import KeyRefused, LogisticsBatchError, RunStopped, ServiceMisaddressed, UsageError
from logistics_batch.flows.asns.ranges import AsnRange, Pieces, around_created, pieces_of
from logistics_batch.flows.parts import Parts

FILTERS = ("description", "site", "site_name", "status", "supplier", "supplier_name", "invoice_number")
_ATTEMPTS = 4
_FIRST_PAUSE_SECONDS = 1.0
_UNANSWERED = 12  # questions in a row, and no more are asked; 60 days are halved six times, and a day has four statuses
_AROUND = timedelta(days=7)
_NEVER_CUT = 9  # rows; nobody cuts answers shorter


@dataclass(frozen=True, slots=True)
class FetchedAsns:
    """ASNs as the service returned them, each once; `complete` is False if there may be more.

    notes: what made the answer doubtful, in words. folder: where the raw replies lie; None if none were kept.
    """

    records: tuple[dict[str, Any], ...] = field(repr=False)
    complete: bool = True
    notes: tuple[str, ...] = ()
    requests: int = 0
    folder: Path | None = None


def fetch_asns(parts: Parts, wanted: AsnRange | None, filters: Mapping[str, str] | None = None) -> FetchedAsns:
    """Every ASN of the range that meets all filters; without a range, `filters` must hold an invoice number.

    Raises UsageError for filters that the service does not know or takes only with a range, KeyRefused,
    ServiceMisaddressed, or RunStopped if the service answered nothing.
    """
    known = _checked_filters(filters or {}, ranged=wanted is not None)
    asker = _Asker(parts, filters=known)
    parts.progress.start("Fetching ASNs", None)
    found = asker.gather(wanted)
    if wanted is not None and asker.is_told_of_none():
        found = asker.held_against_the_days_around(wanted)
    parts.progress.done()
    return asker.result(_meeting(found, known))


def fetch_by_invoice(parts: Parts, invoice_numbers: Iterable[str], *, answered: bool = False) -> FetchedAsns:
    """The ASNs with these invoice numbers, one request each; raises as `fetch_asns`.

    answered: the service has answered the same caller before; then a search that it does not answer is only a doubt.
    """
    numbers = list(invoice_numbers)
    asker = _Asker(parts, filters={}, answered=answered)
    together: list[_Found] = []
    parts.progress.start("Searching by invoice number", len(numbers))
    for number in numbers:
        together.append(asker.gather(None, {"invoice_number": number}))
        parts.progress.advance()
    parts.progress.done()
    return asker.result(_union(together))


def record_identity(record: dict[str, Any]) -> str:
    """Under what a record is known again in other answers of the same night.

    Without an id by its content, less its last change: a service may write the minute of the request there.
    """
    return record_digest({name: value for name, value in record.items() if not name.startswith("modified")})


def _checked_filters(filters: Mapping[str, str], *, ranged: bool) -> dict[str, str]:
    unknown = sorted(set(filters) - set(FILTERS))
    if unknown:
        raise UsageError(f'ASNs cannot be filtered by "{unknown[0]}".', remedy=f"There are: {', '.join(FILTERS)}.")
    given = {name: value for name, value in filters.items() if value}
    if not ranged and "invoice_number" not in given:
        raise UsageError(
            "The service searches ASNs only by a range of dates or by an invoice number.",
            remedy="Give --by with --from and --to, or --invoice.",
        )
    return given


@dataclass(frozen=True, slots=True)
class _Found:
    """Records by identity; `complete` is False if there may be more, `notes` say why."""

    records: dict[str, dict[str, Any]]
    complete: bool = True
    notes: tuple[str, ...] = ()


def _union(together: Iterable[_Found]) -> _Found:
    found = _Found({})
    for other in together:
        found = _Found(found.records | other.records, found.complete and other.complete, (*found.notes, *other.notes))
    return found


def _meeting(found: _Found, filters: Mapping[str, str]) -> _Found:
    """Without the records that show something else than was asked for: services are seen to match names in part."""
    meets = {digest: record for digest, record in found.records.items() if _meets(record, filters)}
    others = len(found.records) - len(meets)
    note = (f"{others} other ASNs that the service returned do not meet the filters and are left out.",)
    return _Found(meets, found.complete, (*found.notes, *(note if others else ())))


def _meets(record: dict[str, Any], filters: Mapping[str, str]) -> bool:
    """Whether a record shows nothing that contradicts the filters; a description may be given in part (API §4.1)."""
    header = asn_header(record)
    for name, wanted in filters.items():
        shown, asked = getattr(header, name).strip().casefold(), wanted.strip().casefold()
        alike = asked in shown if name == "description" else asked == shown
        if shown and not alike:
            return False
    return True


class _SaysNone(ServiceMisaddressed):
    """404 with the service's own FAIL: it has no such ASN, or its address is wrong."""


class _Asker:
    """Asks the service and keeps every raw reply."""

    def __init__(self, parts: Parts, *, filters: dict[str, str], answered: bool = False) -> None:
        self._parts = parts
        self._filters = filters
        self._requests = 0
        self._tested = 0  # rows of the longest answer that was held against its pieces
        self._cap: int | None = None  # so many rows an answer had that turned out to be cut
        self._answered = answered
        self._failed: list[LogisticsBatchError] = []  # in a row, since the last answer
        self._unasked = 0
        stamp = parts.clock.now().strftime("%Y%m%d-%H%M%S")
        self._folder = parts.files / "asn-replies" / f"{stamp}-{secrets.token_hex(2)}"

    def result(self, found: _Found) -> FetchedAsns:
        """What was gathered, as callers see it. Raises the first failure if nothing was answered."""
        if self._failed and not self._answered:
            raise self._failed[0]
        if self._unasked:
            note = f"After {_UNANSWERED} questions without an answer, {self._unasked} more were not asked."
            found = replace(found, notes=(*found.notes, note))
        folder = self._folder if self._requests else None
        return FetchedAsns(tuple(found.records.values()), found.complete, found.notes, self._requests, folder)

    def is_told_of_none(self) -> bool:
        """Whether every question was answered with a 404 of the service's own."""
        return bool(self._failed) and not self._answered and all(isinstance(one, _SaysNone) for one in self._failed)

    def held_against_the_days_around(self, wanted: AsnRange) -> _Found:
        """None, where the service answers the same question for more days and shows no ASN of the range itself."""
        said, self._failed, self._answered, self._unasked = self._failed[0].message, [], True, 0
        page = self._page_of_days(wanted, wanted.date_from - _AROUND, wanted.date_to + _AROUND)
        if isinstance(page, ReadFailed):
            note = f"{said}: whether it has none, or service.base_url or service.paths is wrong, cannot be told"
            return _Found({}, complete=False, notes=(f"{note}.",))
        days = [getattr(asn_header(record), f"{wanted.by}_date")[:10] for record in page.records]
        inside = sum(not day or f"{wanted.date_from}" <= day <= f"{wanted.date_to}" for day in days)
        if inside:
            note = f"{said}, but asked for more days it shows {inside} of the range."
            return _Found({}, complete=False, notes=(note,))
        return _Found({}, notes=(f"{said}: taken for none, since it answers for the days around.",))

    def gather(self, wanted: AsnRange | None, more: Mapping[str, str] | None = None) -> _Found:
        """The records of a range or search, asked for in smaller pieces where the answer is not surely whole."""
        more = more or {}
        query = {**self._filters, **more, **(wanted.query() if wanted else {})}
        pieces = pieces_of(wanted, query)
        if len(self._failed) >= _UNANSWERED:
            self._unasked += 1
            return _Found({}, complete=False)
        reply = self._ask(query, patient=not pieces)
        try:
            page = _page_of(reply, divisible=bool(pieces))
        except (RunStopped, UsageError) as error:
            self._note_failure(error)
            return self._around_a_failure(error, _asked_for(wanted, query), reply, pieces, more)
        if not (reply.failure or reply.truncated):
            self._answered, self._failed = True, []
        found = _Found({record_identity(record): record for record in page.records})
        rows = len(page.records)
        doubt = _doubt(page, reply)
        if not doubt and self._cap is not None and rows >= self._cap:
            doubt = f"an answer with {self._cap} ASNs was seen to be cut, and this one has {rows}"
        if not doubt and wanted is not None and rows > max(self._tested, 0 if page.count is None else _NEVER_CUT):
            return self._held_against_pieces(found, wanted, pieces, more)
        if not doubt:
            return found
        if not pieces:
            return _Found(found.records, complete=False, notes=(f"{_asked_for(wanted, query)}: {doubt}",))
        whole = _union([found, self._of_pieces(pieces, more)])
        if page.count is not None and len(whole.records) < page.count and whole.complete:
            note = f"{_asked_for(wanted, query)}: {len(whole.records)} of {page.count} ASNs could be fetched"
            return replace(whole, complete=False, notes=(*whole.notes, note))
        return whole

    def _of_pieces(self, pieces: Pieces, more: Mapping[str, str]) -> _Found:
        return _union(self.gather(piece, {**more, **extra}) for piece, extra in pieces)

    def _note_failure(self, error: LogisticsBatchError) -> None:
        """Raises the error where no other question is worth asking: about the key, or the address of a first one."""
        if isinstance(error, KeyRefused) or not (self._answered or type(error) in (RunStopped, _SaysNone)):
            raise error
        self._failed.append(error)

    def _around_a_failure(
        self, error: LogisticsBatchError, asked: str, reply: Reply, pieces: Pieces, more: Mapping[str, str]
    ) -> _Found:
        """What the pieces of a question hold to which an error came. Those of one day may not be all of it."""
        why = f"{asked}: nothing could be fetched: {_told_by(reply)}"
        if not pieces:
            return _Found({}, complete=False, notes=(why,))
        found = self._of_pieces(pieces, more)
        if isinstance(error, _SaysNone) and found.records:
            return replace(found, complete=False, notes=(*found.notes, f"{why}, though parts of it hold ASNs"))
        if found.complete and "status" in pieces[0][1]:
            return replace(found, complete=False, notes=(*found.notes, why))
        return found

    def _held_against_pieces(self, found: _Found, wanted: AsnRange, pieces: Pieces, more: Mapping[str, str]) -> _Found:
        """An answer with what its pieces hold beyond it: then it was cut, and so are all of its length.

        Of pieces as long as the whole the first is parted further, down to one day and status, and what was created
        before and after the ASNs that were shown.
        """
        rows, together, parted = len(found.records), found, False
        self._tested = rows
        lump, extra = wanted, dict(more)
        while pieces and not parted:
            each = [self.gather(piece, {**extra, **other}) for piece, other in pieces]
            together = _union([together, *each])
            full = [piece for piece, one in zip(pieces, each, strict=True) if len(one.records) >= rows]
            parted = len(together.records) > rows or not full
            if not parted:
                lump, extra = full[0][0], {**extra, **full[0][1]}
                pieces = pieces_of(lump, {**self._filters, **extra})
        if not parted:
            together = _union([together, self._of_pieces(around_created(lump, {}, found.records.values()), extra)])
        if len(together.records) > rows:
            self._cap = rows
            again = pieces_of(wanted, {**self._filters, **more})
            return _union([together, self._of_pieces(again, more)])
        if not parted and rows > _NEVER_CUT and self._is_cut_in_more_days(wanted, rows):
            asked = _asked_for(lump, {**self._filters, **extra})
            more_days = f"asked for more days, the service sends no more than {rows} ASNs either"
            note = f"{asked}: {more_days}, though some lie there"
            return replace(together, complete=False, notes=(*together.notes, note))
        return together

    def _is_cut_in_more_days(self, wanted: AsnRange, rows: int) -> bool:
        """Whether an answer for the days around has no more ASNs, though the days before and after have some."""
        page = self._page_of_days(wanted, wanted.date_from - _AROUND, wanted.date_to + _AROUND)
        if isinstance(page, ReadFailed) or len(page.records) > rows:
            return False
        day = timedelta(days=1)
        others = (
            self._page_of_days(wanted, wanted.date_from - _AROUND, wanted.date_from - day),
            self._page_of_days(wanted, wanted.date_to + day, wanted.date_to + _AROUND),
        )
        return any(not isinstance(one, ReadFailed) and one.records for one in others)

    def _page_of_days(self, wanted: AsnRange, first: date, last: date) -> AsnPage | ReadFailed:
        days = replace(wanted, date_from=first, date_to=last)
        return read_asns(self._ask({**self._filters, **days.query()}, patient=False))

    def _ask(self, query: Mapping[str, str], *, patient: bool) -> Reply:
        """One search. It changes nothing at the service, so it is repeated where the service did not answer.

        patient: also after a timeout; otherwise a smaller piece is asked for instead.
        """
        pauses = [_FIRST_PAUSE_SECONDS * 2**nth for nth in range(1 if self._failed else _ATTEMPTS - 1)]
        while True:
            if self._parts.stop.is_set():
                raise RunStopped("Fetching ASNs was stopped: the process was asked to end.", remedy="Run it again.")
            reply = self._parts.client.call("asn.fetch", query=query)
            self._keep(reply, query)
            self._parts.progress.advance()
            repeatable = reply.status is None or bool(reply.failure) or reply.status == 429 or reply.status >= 500
            too_long = reply.truncated or (not patient and reply.failure in ("timeout", "deadline"))
            if not repeatable or too_long or not pauses:
                return reply
            self._parts.clock.sleep(max(pauses.pop(0), reply.retry_after_seconds or 0.0))

    def _keep(self, reply: Reply, query: Mapping[str, str]) -> None:
        self._requests += 1
        if not reply.body:
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        named = "_".join(query[name] for name in sorted(query) if name.endswith(("_start", "_end"))) or "search"
        path = self._folder / f"{self._requests:04}_{named}.json"
        path.touch(mode=0o600)
        path.write_bytes(reply.body)


def _doubt(page: AsnPage, reply: Reply) -> str:
    """Why an answer may not be whole, "" if nothing speaks against it."""
    rows = len(page.records)
    if reply.truncated:
        return "the answer is longer than what is read of one"
    if reply.failure:
        return "the answer did not come in time"
    if page.count is not None and rows < page.count:
        return f"the service names {page.count} ASNs and sent {rows}"
    if page.next and page.next.strip("0 "):
        return f"the service sent {rows} ASNs and names a next page or more to come, which the API does not describe"
    return ""


def _asked_for(wanted: AsnRange | None, query: Mapping[str, str]) -> str:
    status = f", status {query['status']}" if query.get("status") else ""
    if wanted is None:
        return f"invoice number {query.get('invoice_number', '')}{status}"
    return f"{wanted}{status}"


def _page_of(reply: Reply, *, divisible: bool) -> AsnPage:
    """The page in a reply; an answer too long or too slow for one page is an empty one if it can be divided.

    Raises KeyRefused, _SaysNone, ServiceMisaddressed, UsageError for the service's own no, RunStopped for the rest.
    """
    page = read_asns(reply)
    if not isinstance(page, ReadFailed):
        return page
    if reply.truncated or (divisible and reply.failure in ("timeout", "deadline")):
        return AsnPage(())
    if reply.status == 404 and says_no(decode_json(reply.body).value):
        raise _SaysNone(
            f"The service says of all that was asked: {page.message}",
            remedy="Check service.base_url and service.paths in logistics-batch.toml.",
        )
    _raise_for(page, is_page=judge(reply, operation="asn.fetch").looks_like_html)
    raise RunStopped(f"The service could not be asked for ASNs: {page.brief}", remedy="Run it again later.")


def _raise_for(failed: ReadFailed, *, is_page: bool) -> None:
    if failed.meaning is ReplyVerdict.UNAUTHORIZED:
        raise KeyRefused(
            f"The service refused the API key: {failed.brief}",
            remedy="Check the key itself, whether it was handed out in base64, and proxies that drop API_KEY.",
        )
    if failed.meaning is ReplyVerdict.MISADDRESSED or is_page:
        raise ServiceMisaddressed(
            f"The answer to the ASN search does not come from the service: {failed.brief}",
            remedy="Check service.base_url and service.paths in logistics-batch.toml.",
        )
    if failed.meaning is ReplyVerdict.REFUSED:
        raise UsageError(f"The service refused the ASN search: {failed.message}", remedy="Change dates or filters.")


def _told_by(reply: Reply) -> str:
    """What came instead of ASNs; with the words of the service where it is its own no, and no failure within it."""
    failed = read_asns(reply)
    if not isinstance(failed, ReadFailed):
        return ""
    return failed.message if reply.status is not None and reply.status < 500 else failed.brief


def asn_summary(record: dict[str, Any]) -> tuple[str, ...]:
    """An ASN in one line: invoice number, supplier, site, status, delivery date, number of lines."""
    header = asn_header(record)
    supplier, site = header.supplier_name or header.supplier, header.site_name or header.site
    lines = str(len(asn_lines(record)))
    return header.invoice_number, supplier, site, header.status, header.delivery_date, lines
