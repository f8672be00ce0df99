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

from logistics_batch.api.answers import ReadFailed, ReplyVerdict, asn_header, is_page, raise_for_every_call, read_asns
from logistics_batch.api.client import Reply
from logistics_batch.api.content_match import record_digest
from logistics_batch.api.envelopes import AsnPage, decode_json, find_lines, says_no
from logistics_batch.errors import KeyRefused, LogisticsBatchError, RunStopped, ServiceMisaddressed, UsageError
from logistics_batch.flows.parts import Parts

RANGES = ("created", "modified", "delivery")
FILTERS = ("description", "site", "site_name", "status", "supplier", "supplier_name", "invoice_number")
_STATUSES = ("New", "In-Progress", "Completed", "Expired")  # API §2.1
_ATTEMPTS = 4
_FIRST_PAUSE_SECONDS = 1.0
_UNANSWERED = 12  # questions in a row, and no more are asked; 60 days are halved six times, and a day has four statuses
_AROUND = timedelta(days=7)
_DAY = timedelta(days=1)
_FAR = timedelta(days=1_000)
_NEVER_CUT = 9  # rows; nobody cuts answers shorter
_CHECK_ADDRESS = "Check service.base_url and service.paths in logistics-batch.toml."

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AsnRange:
    """A range of dates, both ends inclusive, and which date of an ASN is meant."""

    by: str
    date_from: date
    date_to: date

    def __str__(self) -> str:
        return f"{self.by} {self.date_from} to {self.date_to}"


def asn_range(by: str | None, date_from: date | None, date_to: date | None) -> AsnRange:
    """A checked range; the service would ignore one with a single end without a word (API §8.2).

    Raises UsageError.
    """
    if by not in RANGES:
        raise UsageError(f'There is no range by "{by}".', remedy=f"There are: {', '.join(RANGES)}.")
    if date_from is None or date_to is None:
        missing = "last" if date_to is None else "first"
        raise UsageError(
            f"The range by {by} date has no {missing} day.",
            remedy="Give both ends, as in --from 2026-11-01 --to 2026-11-07; the service ignores a lone one.",
        )
    if date_from > date_to:
        raise UsageError(f"The range from {date_from} to {date_to} ends before it begins.", remedy="Swap the dates.")
    return AsnRange(by, date_from, date_to)


@dataclass(frozen=True, slots=True)
class FetchedAsns:
    """ASNs as the service returned them, each once, by `record_identity`; `complete` is False if there may be more.

    notes: what made the answer doubtful, in words. folder: where the raw replies lie; None if none were kept.
    """

    by_identity: Mapping[str, Record] = field(default_factory=dict, repr=False)
    complete: bool = True
    notes: tuple[str, ...] = ()
    requests: int = 0
    folder: Path | None = None

    @property
    def records(self) -> tuple[Record, ...]:
        """The ASNs alone."""
        return tuple(self.by_identity.values())

    def doubted(self, note: str) -> "FetchedAsns":
        """The same, with a reason why there may be more."""
        return replace(self, complete=False, notes=(*self.notes, note))


def fetch_asns(parts: Parts, wanted: AsnRange | None, filters: Mapping[str, str] | None = None) -> FetchedAsns:
    """Every ASN of the range that meets all filters; without a range, `filters` must hold an invoice number.

    Raises UsageError for filters that the service does not know or takes only with a range, KeyRefused,
    ServiceMisaddressed, or RunStopped if the service answered nothing.
    """
    if unknown := sorted(set(filters or {}) - set(FILTERS)):
        raise UsageError(f'ASNs cannot be filtered by "{unknown[0]}".', remedy=f"There are: {', '.join(FILTERS)}.")
    given = {name: value for name, value in (filters or {}).items() if value}
    if wanted is None and "invoice_number" not in given:
        raise UsageError(
            "The service searches ASNs only by a range of dates or by an invoice number.",
            remedy="Give --by with --from and --to, or --invoice.",
        )
    asker = _Asker(parts)
    parts.progress.start("Fetching ASNs", None)
    found = asker.gather(_Question(given, wanted))
    if wanted is not None and asker.is_told_of_none():
        found = asker.held_against_the_days_around(given, wanted)
    parts.progress.done()
    return asker.result(_meeting(found, given))


def fetch_by_invoice(parts: Parts, invoice_numbers: Iterable[str], *, answered: bool = False) -> FetchedAsns:
    """The ASNs with these invoice numbers, one request each; raises as `fetch_asns`.

    answered: the service has answered the same caller before; then a search that it does not answer is only a doubt.
    """
    numbers = list(invoice_numbers)
    asker = _Asker(parts, answered=answered)
    together: list[FetchedAsns] = []
    parts.progress.start("Searching by invoice number", len(numbers))
    for number in numbers:
        together.append(asker.gather(_Question({"invoice_number": number})))
        parts.progress.advance()
    parts.progress.done()
    return asker.result(_union(together))


def record_identity(record: Record) -> str:
    """Under what a record is known again in other answers of the same night.

    Without an id by its content, less its last change: a service may write the minute of the request there.
    """
    return record_digest({name: value for name, value in record.items() if not name.startswith("modified")})


def asn_summary(record: Record) -> tuple[str, ...]:
    """An ASN in one line: invoice number, supplier, site, status, delivery date, number of lines."""
    header = asn_header(record)
    supplier, site = header.supplier_name or header.supplier, header.site_name or header.site
    lines = str(len(find_lines(record)))
    return header.invoice_number, supplier, site, header.status, header.delivery_date, lines


@dataclass(frozen=True, slots=True)
class _Question:
    """One search: filters, and a range of dates unless they name an invoice number."""

    filters: Mapping[str, str]
    range: AsnRange | None = None

    @property
    def query(self) -> dict[str, str]:
        """The search as the service takes it."""
        if self.range is None:
            return dict(self.filters)
        by, ends = self.range.by, (self.range.date_from.isoformat(), self.range.date_to.isoformat())
        return {**self.filters, f"{by}_date_start": ends[0], f"{by}_date_end": ends[1]}

    def pieces(self) -> "list[_Question]":
        """What it falls into: halves of the range, or the statuses of one day."""
        if self.range is None:
            return []
        first, last = self.range.date_from, self.range.date_to
        if first < last:
            middle = first + timedelta(days=(last - first).days // 2)
            return [self.of_days(first, middle), self.of_days(middle + _DAY, last)]
        if self.filters.get("status"):
            return []
        return [replace(self, filters={**self.filters, "status": status}) for status in _STATUSES]

    def around_created(self, records: Iterable[Record]) -> "list[_Question]":
        """Of one day of delivery, what was created before and after the records that were shown."""
        days = [asn_header(record).created_date[:10] for record in records]
        if self.range is None or self.range.by != "delivery" or not days or not all(days):
            return []
        try:
            first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
        except ValueError:
            return []
        spans = (first - _FAR, first - _DAY), (last + _DAY, last + _FAR)
        ends = [{"created_date_start": str(begin), "created_date_end": str(end)} for begin, end in spans]
        return [replace(self, filters={**self.filters, **each}) for each in ends]

    def of_days(self, first: date, last: date) -> "_Question":
        """The same for other days."""
        return replace(self, range=self.range and replace(self.range, date_from=first, date_to=last))

    def __str__(self) -> str:
        status = f", status {self.filters['status']}" if self.filters.get("status") else ""
        asked = str(self.range) if self.range else f"invoice number {self.filters.get('invoice_number', '')}"
        return f"{asked}{status}"


def _union(together: Iterable[FetchedAsns]) -> FetchedAsns:
    parts = list(together)
    return FetchedAsns(
        {identity: record for part in parts for identity, record in part.by_identity.items()},
        all(part.complete for part in parts),
        tuple(note for part in parts for note in part.notes),
    )


def _meeting(found: FetchedAsns, filters: Mapping[str, str]) -> FetchedAsns:
    """Without the records that show something else than was asked for: services are seen to match names in part."""
    meets = {identity: record for identity, record in found.by_identity.items() if _meets(record, filters)}
    others = len(found.by_identity) - len(meets)
    note = (f"{others} other ASNs that the service returned do not meet the filters and are left out.",)
    return replace(found, by_identity=meets, notes=(*found.notes, *(note if others else ())))


def _meets(record: Record, filters: Mapping[str, str]) -> bool:
    """Whether a record shows nothing that contradicts the filters; a description may be given in part (API §4.1)."""
    header = asn_header(record)
    for name, wanted in filters.items():
        shown, asked = getattr(header, name).strip().casefold(), wanted.strip().casefold()
        if shown and not (asked in shown if name == "description" else asked == shown):
            return False
    return True


class _SaysNone(ServiceMisaddressed):
    """404 with the service's own FAIL: it has no such ASN, or its address is wrong."""


class _Asker:
    """Asks the service and keeps every raw reply."""

    def __init__(self, parts: Parts, *, answered: bool = False) -> None:
        self._parts = parts
        self._requests = 0
        self._tested = 0  # rows of the longest answer that was held against its pieces
        self._cap: int | None = None  # so many rows an answer had that turned out to be cut
        self._answered = answered
        self._failed: list[LogisticsBatchError] = []  # in a row, since the last answer
        self._unasked = 0
        stamp = parts.clock.now().strftime("%Y%m%d-%H%M%S")
        self._folder = parts.files / "asn-replies" / f"{stamp}-{secrets.token_hex(2)}"

    def result(self, found: FetchedAsns) -> FetchedAsns:
        """What was gathered, as callers see it. Raises the first failure if nothing was answered."""
        if self._failed and not self._answered:
            raise self._failed[0]
        if self._unasked:
            found = found.doubted(
                f"After {_UNANSWERED} questions without an answer, {self._unasked} more were not asked."
            )
        folder = self._folder if self._requests else None
        return replace(found, requests=self._requests, folder=folder)

    def is_told_of_none(self) -> bool:
        """Whether every question was answered with a 404 of the service's own."""
        return bool(self._failed) and not self._answered and all(isinstance(one, _SaysNone) for one in self._failed)

    def held_against_the_days_around(self, filters: Mapping[str, str], wanted: AsnRange) -> FetchedAsns:
        """None, where the service answers the same question for more days and shows no ASN of the range itself."""
        said, self._failed, self._answered, self._unasked = self._failed[0].message, [], True, 0
        page = self._page_of_days(_Question(filters, wanted), wanted.date_from - _AROUND, wanted.date_to + _AROUND)
        if isinstance(page, ReadFailed):
            wrong = "service.base_url or service.paths is wrong"
            return FetchedAsns().doubted(f"{said}: whether it has none, or {wrong}, cannot be told.")
        days = [getattr(asn_header(record), f"{wanted.by}_date")[:10] for record in page.records]
        inside = sum(not day or f"{wanted.date_from}" <= day <= f"{wanted.date_to}" for day in days)
        if inside:
            return FetchedAsns().doubted(f"{said}, but asked for more days it shows {inside} of the range.")
        return FetchedAsns(notes=(f"{said}: taken for none, since it answers for the days around.",))

    def gather(self, question: _Question) -> FetchedAsns:
        """The records of a question, asked for in smaller pieces where the answer is not surely whole."""
        pieces = question.pieces()
        if len(self._failed) >= _UNANSWERED:
            self._unasked += 1
            return FetchedAsns(complete=False)
        reply = self._ask(question.query, patient=not pieces)
        try:
            page = _page_of(reply, divisible=bool(pieces))
        except (RunStopped, UsageError) as error:
            return self._around_a_failure(error, question, reply)
        if not (reply.failure or reply.truncated):
            self._answered, self._failed = True, []
        found = FetchedAsns({record_identity(record): record for record in page.records})
        rows = len(page.records)
        doubt = _doubt(page, reply)
        if not doubt and self._cap is not None and rows >= self._cap:
            doubt = f"an answer with {self._cap} ASNs was seen to be cut, and this one has {rows}"
        if doubt and not pieces:
            return found.doubted(f"{question}: {doubt}")
        if doubt:
            whole = _union([found, *map(self.gather, pieces)])
            if page.count is not None and len(whole.by_identity) < page.count and whole.complete:
                return whole.doubted(f"{question}: {len(whole.by_identity)} of {page.count} ASNs could be fetched")
            return whole
        if question.range is not None and rows > max(self._tested, 0 if page.count is None else _NEVER_CUT):
            return self._held_against_pieces(found, question)
        return found

    def _around_a_failure(self, error: LogisticsBatchError, question: _Question, reply: Reply) -> FetchedAsns:
        """What the pieces of a question hold to which an error came. Those of one day may not be all of it.

        Raises the error where no other question is worth asking: about the key, or the address of a first one.
        """
        if isinstance(error, KeyRefused) or not (self._answered or type(error) in (RunStopped, _SaysNone)):
            raise error
        self._failed.append(error)
        page, pieces = read_asns(reply), question.pieces()
        own = reply.status is not None and reply.status < 500  # the service's no, and no failure within it
        told = (page.message if own else page.brief) if isinstance(page, ReadFailed) else ""
        why = f"{question}: nothing could be fetched: {told}"
        found = _union(map(self.gather, pieces))
        if not pieces:
            return found.doubted(why)
        if isinstance(error, _SaysNone) and found.by_identity:
            return found.doubted(f"{why}, though parts of it hold ASNs")
        return found.doubted(why) if found.complete and "status" in pieces[0].filters else found

    def _held_against_pieces(self, found: FetchedAsns, question: _Question) -> FetchedAsns:
        """An answer with what its pieces hold beyond it: then it was cut, and so are all of its length.

        Of pieces as long as the whole the first is parted further, down to one day and status.
        """
        rows = self._tested = len(found.by_identity)
        together, lump, pieces = found, question, question.pieces()
        while pieces:
            each = [self.gather(piece) for piece in pieces]
            together = _union([together, *each])
            full = [piece for piece, one in zip(pieces, each, strict=True) if len(one.by_identity) >= rows]
            if len(together.by_identity) > rows or not full:
                break
            lump, pieces = full[0], full[0].pieces()
        if not pieces:
            together = _union([together, *map(self.gather, lump.around_created(found.records))])
        if len(together.by_identity) > rows:
            self._cap = rows
            return _union([together, *map(self.gather, question.pieces())])
        if not pieces and rows > _NEVER_CUT and self._is_cut_in_more_days(question, rows):
            more = f"asked for more days, the service sends no more than {rows} ASNs either, though some lie there"
            return together.doubted(f"{lump}: {more}")
        return together

    def _is_cut_in_more_days(self, question: _Question, rows: int) -> bool:
        """Whether an answer for the days around has no more ASNs, though the days before and after have some."""
        if question.range is None:
            return False
        first, last = question.range.date_from, question.range.date_to
        page = self._page_of_days(question, first - _AROUND, last + _AROUND)
        if isinstance(page, ReadFailed) or len(page.records) > rows:
            return False
        others = (
            self._page_of_days(question, first - _AROUND, first - _DAY),
            self._page_of_days(question, last + _DAY, last + _AROUND),
        )
        return any(not isinstance(one, ReadFailed) and one.records for one in others)

    def _page_of_days(self, question: _Question, first: date, last: date) -> AsnPage | ReadFailed:
        return read_asns(self._ask(question.of_days(first, last).query, patient=False))

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
        raise _SaysNone(f"The service says of all that was asked: {page.message}", remedy=_CHECK_ADDRESS)
    raise_for_every_call(page.meaning, page.brief)
    if is_page(reply) and (reply.status or 0) < 500:  # what a proxy shows while the service is away is no address
        raise_for_every_call(ReplyVerdict.MISADDRESSED, page.brief)
    if page.meaning is ReplyVerdict.REFUSED:
        raise UsageError(f"The service refused the ASN search: {page.message}", remedy="Change dates or filters.")
    away = page.meaning is ReplyVerdict.NOT_SENT
    remedy = "Check the network and service.base_url, then run it again." if away else "Run it again later."
    raise RunStopped(f"The service could not be asked for ASNs: {page.brief}", remedy=remedy)
